"""Draw yes-or-no verdicts as a grid of dots, and write them as words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from toolrl_core.explain.figures import colour

__all__ = ["draw_verdicts", "in_words"]

_ROW_INCHES, _COLUMN_INCHES = 0.2, 0.38
_LETTER_INCHES = 0.072


def draw_verdicts(table: pd.DataFrame, *, hues: Mapping[str, str], lines_after: Collection[str] = ()) -> Figure:
    """Draw a table of truth values: a filled dot is yes, a ring is no.

    Parameters
    ----------
    table : pandas.DataFrame
        Truth values; the index names the rows.
    hues : mapping of str to str
        Colour of each column, by a name that `toolrl_core.explain.figures.colour` knows.
    lines_after : collection of str
        Rows below which a thin line parts the groups.

    Returns
    -------
    matplotlib.figure.Figure
        For `toolrl_core.explain.figures.show`; its height grows with the rows.

    Raises
    ------
    ValueError
        If a column has no colour, or a line is asked for below a row that does not exist.

    Examples
    --------
    >>> table = pd.DataFrame({"json": [True, False]}, index=["1 / 1.0", "1 / true"])
    >>> figure = draw_verdicts(table, hues={"json": "blue"})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['1 / 1.0', '1 / true']
    >>> plt.close(figure)
    """
    rows, columns = list(table.index), list(table.columns)
    if missing := [column for column in columns if column not in hues]:
        raise ValueError(f"no colour for the column {missing[0]!r}; hues has: {', '.join(hues) or 'none'}")
    if unknown := [row for row in lines_after if row not in rows]:
        raise ValueError(f"there is no row {unknown[0]!r} to draw a line below")
    letters = max(map(len, map(str, rows)))
    figure, axes = plt.subplots(
        figsize=(letters * _LETTER_INCHES + len(columns) * _COLUMN_INCHES + 0.6, len(rows) * _ROW_INCHES + 0.9)
    )
    for at, column in enumerate(columns):
        hue = colour(hues[column])
        faces = [hue if value else "none" for value in table[column]]
        axes.scatter([at] * len(rows), range(len(rows)), s=38, c=faces, edgecolors=hue, linewidths=1.1)
    for row in lines_after:
        axes.axhline(rows.index(row) + 0.5, color="black", linewidth=0.6, alpha=0.3)
    names = [column.replace("_", " ") for column in columns]
    axes.set_xticks(range(len(columns)), names, rotation=45, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), [str(row) for row in rows])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.grid(visible=False)
    axes.set_xlim(-0.6, len(columns) - 0.2)
    axes.set_ylim(len(rows) - 0.5, -0.6)
    return figure


def in_words(table: pd.DataFrame, *, yes: str = "yes", no: str = "no") -> pd.DataFrame:
    """Write a table of truth values as words, for a reader and for a file.

    Parameters
    ----------
    table : pandas.DataFrame
        Truth values, possibly beside other columns, which stay as they are.
    yes, no : str
        The two words.

    Returns
    -------
    pandas.DataFrame
        A new table of the same shape.

    Examples
    --------
    >>> in_words(pd.DataFrame({"rule": ["strict"], "holds": [False]}), yes="1", no="0").to_numpy().tolist()
    [['strict', '0']]
    """
    return table.map(lambda value: (yes if value else no) if value is True or value is False else value)
