"""Draw every figure in one style: one colour for one idea, readable on light and dark pages, with alternative text.

A figure becomes inline SVG: its black follows the colour of the page's text, its palette follows the page's theme, and
its alternative text travels with it.
"""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
from cycler import cycler
from matplotlib.figure import Figure

__all__ = [
    "PALETTE",
    "ROLES",
    "Picture",
    "Role",
    "colour",
    "label_of",
    "line_style",
    "show",
    "to_svg",
    "to_table",
    "use_style",
]

PALETTE: Mapping[str, str] = MappingProxyType(
    {
        "blue": "#1d5196",
        "orange": "#ca6c03",
        "green": "#2c824f",
        "purple": "#4e004c",
        "gold": "#504000",
        "sky": "#149fd5",
        "pink": "#610129",
        "grey": "#8d9298",
    }
)
"""Hues of the book by name; all stay apart for colour-blind readers. The book's style sheet has their dark versions."""


@dataclass(frozen=True)
class Role:
    """How one idea looks in every figure: hue, marker and line, so that colour never carries the meaning alone.

    Parameters
    ----------
    hue : str
        A name in `PALETTE`.
    marker, line : str
        Marker and line style as matplotlib spells them.
    """

    hue: str
    marker: str
    line: str


ROLES: Mapping[str, Role] = MappingProxyType(
    {
        # reward presets
        "paper": Role("blue", "o", "-"),
        "released": Role("orange", "s", "--"),
        "robust": Role("green", "D", "-."),
        # tiers of granularity, fine to coarse
        "original": Role("blue", "o", "-"),
        "finegrained": Role("orange", "s", "--"),
        "intermediate": Role("purple", "^", "-."),
        "coarse": Role("grey", "v", ":"),
        # scales and schedules; "original" above is the constant one
        "equal_max": Role("purple", "s", "--"),
        "two_stage": Role("gold", "^", "-."),
        "dynamic": Role("pink", "v", ":"),
        "early": Role("purple", "s", "--"),
        "late": Role("sky", "D", "-"),
        # length rewards
        "none": Role("blue", "o", "-"),
        "fixed": Role("orange", "s", "--"),
        "growing": Role("purple", "^", "-."),
        # what is done about void turns
        "naive": Role("grey", "o", ":"),
        "low_probability": Role("gold", "s", "--"),
        "high_ratio": Role("purple", "^", "-."),
        "stop_generation": Role("sky", "v", ":"),
        "void_veto": Role("green", "D", "-."),
        "mask": Role("blue", "P", "-"),
        "filter": Role("orange", "X", "--"),
        "drop_group": Role("pink", "*", "-."),
    }
)
"""What each preset, tier and void-turn policy looks like."""

_STYLE: Mapping[str, object] = MappingProxyType(
    {
        "figure.figsize": (5.0, 3.0),
        "figure.constrained_layout.use": True,
        "font.family": ["sans-serif"],
        "font.sans-serif": ["DejaVu Sans", "Verdana"],  # written into every label: the shorter, the smaller the page
        "font.size": 10.0,
        "axes.titlesize": 10.0,
        "axes.titlelocation": "left",
        "axes.labelsize": 10.0,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "black",
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.axisbelow": True,
        "grid.color": "black",
        "grid.alpha": 0.15,
        "grid.linewidth": 0.8,
        "lines.linewidth": 1.8,
        "lines.markersize": 5.0,
        "legend.frameon": False,
        "axes.prop_cycle": cycler(color=list(PALETTE.values())),
    }
)


def colour(name: str) -> str:
    """Look up the colour of an idea or of a hue.

    Parameters
    ----------
    name : str
        A key of `ROLES` ("paper", "coarse", "mask", …) or of `PALETTE` ("blue", …).

    Returns
    -------
    str
        The colour as ``#rrggbb``.

    Raises
    ------
    ValueError
        If `name` is neither; the message lists both.

    Examples
    --------
    A preset keeps its colour in every chapter:

    >>> colour("robust") == colour("green")
    True
    """
    if name in ROLES:
        return PALETTE[ROLES[name].hue]
    if name in PALETTE:
        return PALETTE[name]
    raise ValueError(f"unknown colour {name!r}; roles: {', '.join(ROLES)}; hues: {', '.join(PALETTE)}")


def label_of(name: str) -> str:
    """Write the name of an idea as a page writes it: "equal-max", "drop group".

    Parameters
    ----------
    name : str
        A name as code spells it.

    Returns
    -------
    str

    Examples
    --------
    >>> label_of("equal_max"), label_of("drop_group")
    ('equal-max', 'drop group')
    """
    return name.replace("_", "-" if name in ("equal_max", "two_stage") else " ")


def line_style(name: str) -> dict[str, str]:
    """Give the keywords that draw an idea as a line, for matplotlib's ``Axes.plot``.

    Parameters
    ----------
    name : str
        A key of `ROLES`.

    Returns
    -------
    dict of str to str
        ``color``, ``marker``, ``linestyle`` and ``label``.

    Raises
    ------
    ValueError
        If `name` is no role; the message lists them.

    Examples
    --------
    >>> line_style("released")["linestyle"], line_style("drop_group")["label"]
    ('--', 'drop group')
    """
    if name not in ROLES:
        raise ValueError(f"unknown role {name!r}; roles: {', '.join(ROLES)}")
    role = ROLES[name]
    return {
        "color": PALETTE[role.hue],
        "marker": role.marker,
        "linestyle": role.line,
        "label": label_of(name),
    }


def use_style() -> None:
    """Switch matplotlib to the house style: small, quiet axes, text in the page's colour.

    Call it once, in the first code cell of a notebook.

    Notes
    -----
    It changes `matplotlib.rcParams` for the whole process, as matplotlib's own ``style.use`` does.

    Examples
    --------
    >>> use_style()
    >>> mpl.rcParams["axes.spines.top"]
    False
    """
    mpl.rcParams.update(dict(_STYLE))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Picture:
    """A finished figure, shown by Jupyter as HTML; as text it is its alternative text.

    Parameters
    ----------
    html : str
        The whole figure: picture, caption and table.
    alt : str
        What the picture shows, in words.
    """

    html: str
    alt: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"[figure: {self.alt}]"


def to_svg(figure: Figure, *, alt: str) -> str:
    """Turn a figure into a small inline SVG, and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure; it is closed, so that a notebook does not show it a second time.
    alt : str
        What the figure shows and the trend in it, in a sentence or two.

    Returns
    -------
    str
        One ``<svg role="img" aria-label=…>`` element. Black is ``currentColor``, colours of `PALETTE` are CSS variables
        with the same colour as fallback, coordinates have two decimals; the text of labels is never changed.

    Raises
    ------
    ValueError
        If `alt` is empty.

    Examples
    --------
    >>> figure, axes = plt.subplots()
    >>> _ = axes.set_title("0.125 stays 0.125")
    >>> svg = to_svg(figure, alt="Empty axes.")
    >>> 'aria-label="Empty axes."' in svg, "0.125 stays 0.125" in svg, "#000000" in svg
    (True, True, False)
    """
    if not alt.strip():
        raise ValueError("alt is empty: say what the figure shows and the trend in it")
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": alt}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    plt.close(figure)
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", lambda tag: _tidy_tag(tag[0]), text)
    text = re.sub(r">\s+<", "><", text).strip()
    used = set(re.findall(r"#([\w-]+)", text))
    text = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", text)
    return text.replace(
        "<svg ",
        f'<svg role="img" aria-label="{html.escape(alt)}" fill="currentColor" style="max-width:100%;height:auto" ',
        1,
    )


def _tidy_tag(tag: str) -> str:
    """Shorten one tag of matplotlib's SVG and let its colours follow the page."""
    tag = re.sub(r"\s+", " ", tag)
    tag = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), tag)
    tag = tag.replace("#000000", "currentColor")
    tag = tag.replace("#ffffff", "var(--pst-color-background, var(--jp-layout-color0, #ffffff))")
    for name, value in PALETTE.items():
        tag = tag.replace(value, f"var(--toolrl-{name}, {value})")
    return tag


def to_table(frame: pd.DataFrame, *, caption: str = "") -> str:
    """Render a small table of the values that a figure shows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The values; the index is left out when it only counts the rows.
    caption : str
        The table's caption; none by default.

    Returns
    -------
    str
        A ``<table>``; numbers have four significant digits, missing values are a dash.

    Examples
    --------
    >>> print(to_table(pd.DataFrame({"preset": ["paper"], "score": [-39 / 35]})))
    <table class="toolrl-table"><thead><tr><th scope="col">preset</th><th scope="col">score</th></tr></thead>\
<tbody><tr><td>paper</td><td>-1.114</td></tr></tbody></table>
    """
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    head = "".join(f'<th scope="col">{html.escape(str(column))}</th>' for column in frame.columns)
    rows = (
        "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row)
        for row in frame.itertuples(index=False, name=None)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f'<table class="toolrl-table">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(value: object) -> str:
    """Write one value of a table."""
    if value is None or value is pd.NA or value is pd.NaT:
        return "–"
    if isinstance(value, float):  # NumPy's double is one too
        return "–" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def show(
    figure: Figure | str, *, alt: str, name: str | None = None, caption: str = "", table: pd.DataFrame | None = None
) -> Picture:
    """Show a figure in a chapter: inline SVG, alternative text, caption, and a table of the same values.

    Make the call the last expression of its cell.

    Parameters
    ----------
    figure : matplotlib.figure.Figure or str
        The figure, or ready HTML whose picture carries its own alternative text.
    alt : str
        What the figure shows and the trend in it, in a sentence or two; a screen reader reads it instead of the figure.
    name : str, optional
        Anchor of the figure: another page links to ``chapter.html#name``.
    caption : str
        A line below the figure; none by default.
    table : pandas.DataFrame, optional
        The values behind the figure, shown below it behind a fold.

    Returns
    -------
    Picture
        Jupyter and the book show it as HTML.

    Raises
    ------
    ValueError
        If `alt` is empty.

    Examples
    --------
    >>> figure, axes = plt.subplots()
    >>> _ = axes.plot([0, 1], [3, -3], **line_style("paper"))
    >>> show(figure, alt="Credit falls from 3 to -3.", name="credit")
    [figure: Credit falls from 3 to -3.]
    """
    picture = figure if isinstance(figure, str) else to_svg(figure, alt=alt)
    anchor = f' id="{html.escape(name)}"' if name else ""
    note = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    values = f"<details><summary>Values</summary>{to_table(table)}</details>" if table is not None else ""
    return Picture(f'<figure class="toolrl-figure"{anchor}>{picture}{note}{values}</figure>', alt)
