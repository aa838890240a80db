"""Put sliders over figures that work with a live kernel and on a page that has none."""

from __future__ import annotations

import html
import inspect
import itertools
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

import ipywidgets as widgets
import pandas as pd
from matplotlib.figure import Figure

from toolrl_core.explain.figures import to_svg, to_table

__all__ = ["MAXIMUM_FRAMES", "Explorer", "explore"]

MAXIMUM_FRAMES = 200
"""Most frames of one explorer: each is drawn when the book is built and travels with the page."""


class Explorer(widgets.VBox):  # type: ignore[misc]
    """Sliders above the frame that they choose; made by `explore`.

    Notes
    -----
    Without JavaScript or a widget manager (a diff view, a plain text terminal) the frame of the start values is shown.
    """

    def __init__(self, sliders: Sequence[widgets.SelectionSlider], stack: widgets.Widget, first: widgets.HTML) -> None:
        super().__init__([*sliders, stack])
        self.add_class("toolrl-explorer")
        self._sliders, self._first = tuple(sliders), first

    def __repr__(self) -> str:
        sliders = "; ".join(f"{slider.description}: {', '.join(_labels(slider))}" for slider in self._sliders)
        return f"[explorer with {len(self._sliders)} slider(s): {sliders}]"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options) or {}
        return {**bundle, "text/plain": repr(self), "text/html": self._first.value}


def explore(
    draw: Callable[..., Any],
    /,
    *,
    alt: str | Callable[..., str] = "",
    labels: Mapping[str, str] | None = None,
    start: Mapping[str, Any] | None = None,
    **axes: Iterable[Any] | Mapping[str, Any],
) -> Explorer:
    """Show one slider for each keyword; moving a slider shows the figure drawn from its value.

    With a kernel a frame is drawn when it is first shown. When the book is built all frames are drawn at once and kept
    in the page, so that the sliders work there without Python; keep the product of the axes to about a hundred frames.

    Parameters
    ----------
    draw : callable
        ``draw(**values)`` with one value for each axis. It returns a matplotlib figure or an HTML string, or a pair of
        either and a `pandas.DataFrame` with the same values, shown as a small table below.
    alt : str or callable
        Alternative text of a frame, the trend included. A text is a format string over the axes, such as
        ``"Credit with {missing} missing arguments."``; a callable is called with the values, as `draw` is.
        Needed when `draw` returns figures; ready HTML brings its own.
    labels : mapping of str to str, optional
        What stands beside a slider, by axis; the axis' own name by default.
    start : mapping of str to value, optional
        Value (or its label) that a slider starts at, by axis; the first value by default.
    **axes : iterable or mapping
        The values of each slider: numbers, strings or truth values, or a mapping from the text to show to any value.

    Returns
    -------
    Explorer
        A widget; make it the last expression of its cell.

    Raises
    ------
    ValueError
        If there is no axis, an axis has fewer than two values or two with the same label, there are more than
        `MAXIMUM_FRAMES` frames, `labels` or `start` name what does not exist, or a figure comes without `alt`.
    TypeError
        If an axis is a text, or `draw` cannot be called with the axes or returns something else than described above.

    Examples
    --------
    >>> def draw(missing, preset):
    ...     return f"<p>{preset}: {3 - missing} points</p>"
    >>> explore(draw, missing=[0, 1, 2], preset=["paper", "robust"], labels={"missing": "missing arguments"})
    [explorer with 2 slider(s): missing arguments: 0, 1, 2; preset: paper, robust]

    A slider with one value would not move:

    >>> explore(draw, missing=[0], preset=["paper", "robust"])
    Traceback (most recent call last):
        ...
    ValueError: axis 'missing' has 1 value(s); a slider needs at least two
    """
    if not axes:
        raise ValueError("explore needs at least one axis, for example missing=[0, 1, 2]")
    grids = {name: _grid(name, values) for name, values in axes.items()}
    count = math.prod(len(grid) for grid in grids.values())
    if count > MAXIMUM_FRAMES:
        sizes = " x ".join(f"{len(grid)} {name}" for name, grid in grids.items())
        raise ValueError(f"{sizes} are {count} frames; at most {MAXIMUM_FRAMES}: take fewer values")
    _check_names("labels", labels or {}, grids)
    _check_names("start", start or {}, grids)
    _check_signature(draw, grids)
    first = tuple(_position(name, grid, (start or {}).get(name)) for name, grid in grids.items())

    descriptions = [(labels or {}).get(name, name.replace("_", " ")) for name in grids]
    width = f"{max(map(len, descriptions)) * 0.62:g}em"  # one width, so that the sliders stand below each other
    sliders = [
        widgets.SelectionSlider(
            options=[(label, index) for index, label in enumerate(grid)],
            index=at,
            description=description,
            style={"description_width": width},
            layout={"width": "100%", "max_width": "36rem"},
        )
        for grid, at, description in zip(grids.values(), first, descriptions, strict=True)
    ]
    places = list(itertools.product(*(range(len(grid)) for grid in grids.values())))
    frames = {place: widgets.HTML() for place in places}

    def fill(place: tuple[int, ...]) -> None:
        if not frames[place].value:
            chosen = {name: list(grid)[index] for (name, grid), index in zip(grids.items(), place, strict=True)}
            values = {name: grids[name][label] for name, label in chosen.items()}
            try:
                frames[place].value = _frame(draw(**values), alt, values, chosen)
            except Exception as error:
                error.add_note(f"while drawing the frame {', '.join(f'{k} = {v}' for k, v in chosen.items())}")
                raise

    for slider in sliders:
        slider.observe(lambda _: fill(tuple(slider.index for slider in sliders)), "index")
    for place in places if os.environ.get("TOOLRL_BAKE") == "1" else [first]:
        fill(place)
    return Explorer(sliders, _stack(sliders, frames, first), frames[first])


def _grid(name: str, values: Iterable[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Values of one axis by the label that the slider shows."""
    if isinstance(values, str):
        raise TypeError(f"axis {name!r} is the text {values!r}; give a list of values")
    if isinstance(values, Mapping):
        pairs = [(str(label), value) for label, value in values.items()]
    else:
        pairs = [(_label(value), value) for value in values]
    if len(pairs) < 2:
        raise ValueError(f"axis {name!r} has {len(pairs)} value(s); a slider needs at least two")
    labels = [label for label, _ in pairs]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ValueError(f"axis {name!r} shows {twice!r} twice; give a mapping from distinct labels to the values")
    return dict(pairs)


def _label(value: Any) -> str:
    """Text that a slider shows for a value."""
    if isinstance(value, str):
        return value
    if isinstance(value, Number) and not isinstance(value, bool | complex):
        return f"{value:g}"
    return str(value)


def _check_names(option: str, given: Mapping[str, Any], grids: Mapping[str, Any]) -> None:
    """Refuse an option for an axis that does not exist."""
    unknown = [name for name in given if name not in grids]
    if unknown:
        raise ValueError(f"{option} names {unknown[0]!r}, which is no axis; axes: {', '.join(grids)}")


def _check_signature(draw: Callable[..., Any], grids: Mapping[str, Any]) -> None:
    """Refuse a function that does not take the axes."""
    try:
        inspect.signature(draw).bind(**grids)
    except TypeError as error:
        raise TypeError(f"draw cannot be called with the axes {', '.join(grids)}: {error}") from None


def _position(name: str, grid: Mapping[str, Any], value: Any) -> int:
    """Index of the start value, given as value or label."""
    if value is None:
        return 0
    for index, (label, known) in enumerate(grid.items()):
        if value is known or _label(value) == label:
            return index
    raise ValueError(f"start[{name!r}] = {value!r} is not on its axis; values: {', '.join(grid)}")


def _stack(
    sliders: Sequence[widgets.SelectionSlider],
    frames: Mapping[tuple[int, ...], widgets.HTML],
    first: tuple[int, ...],
    prefix: tuple[int, ...] = (),
) -> widgets.Widget:
    """Nest one stack per slider, linked in the browser; the leaves are the frames."""
    depth = len(prefix)
    if depth == len(sliders):
        return frames[prefix]
    children = [_stack(sliders, frames, first, (*prefix, index)) for index in range(len(sliders[depth].options))]
    stack = widgets.Stack(children, selected_index=first[depth])
    widgets.jslink((sliders[depth], "index"), (stack, "selected_index"))
    return stack


def _frame(drawn: Any, alt: str | Callable[..., str], values: Mapping[str, Any], chosen: Mapping[str, str]) -> str:
    """HTML of one frame."""
    picture, table = drawn if isinstance(drawn, tuple) and len(drawn) == 2 else (drawn, None)
    if not isinstance(picture, Figure | str) or not isinstance(table, pd.DataFrame | None):
        kinds = " and ".join(type(part).__name__ for part in (drawn if isinstance(drawn, tuple) else (drawn,)))
        raise TypeError(f"draw returned {kinds or 'an empty tuple'}; expected a figure, HTML, or (either, DataFrame)")
    if isinstance(picture, Figure):
        words = alt(**values) if callable(alt) else alt.format(**chosen)
        if not words.strip():
            raise ValueError('draw returned a figure: say what it shows with alt="…" or a function of the values')
        picture = to_svg(picture, alt=words)
    below = to_table(table) if table is not None else ""
    place = html.escape("; ".join(chosen.values()))
    return f'<div class="toolrl-frame" data-frame="{place}">{picture}{below}</div>'


def _labels(slider: widgets.SelectionSlider) -> list[str]:
    """Texts that a slider shows."""
    return [label for label, _ in slider.options]
