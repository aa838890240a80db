"""Draw scores as ladders: how each step of a score adds points, and which points stay on the table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.explain.figures import ROLES, colour
from toolrl_core.points import PairScore

__all__ = ["LadderStep", "ladder_alt", "ladder_figure", "ladder_grid", "ladder_steps", "ladder_table"]

_GROUPS = ("correctness", "format", "length")
_OTHER_HUE = "sky"
_ROW = 0.27  # inches of one row
_LONGEST = 26  # characters of a label


@dataclass(frozen=True)
class LadderStep:
    """Hold one step of a ladder.

    Parameters
    ----------
    group : {"correctness", "format", "length"}
        The part of the total that the step belongs to.
    label : str
        A short name, such as ``"search: query"``.
    points, available : float
        What the step adds and what it could add, in points.
    start : float
        Sum of the steps before, in points.
    """

    group: str
    label: str
    points: float
    available: float
    start: float

    @property
    def sum(self) -> float:
        """Give the sum of all steps up to this one, in points."""
        return self.start + self.points


def ladder_steps(breakdown: RewardBreakdown) -> tuple[LadderStep, ...]:
    """List the steps of a score from its lowest value to its total, with short labels.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.

    Returns
    -------
    tuple of LadderStep
        As `RewardBreakdown.parts` lists them; the last sum is the total.

    Notes
    -----
    ToolRL note §6.1. A call is named by its tool, with a number where several calls have the same name; of a name
    with dots the last part is kept. Labels are at most 26 characters long.

    Examples
    --------
    A wrong value keeps the points of its key:

    >>> from toolrl_core import score
    >>> gold = [{"name": "search", "parameters": {"query": "x"}}]
    >>> wrong = score([{"name": "search", "parameters": {"query": "y"}}], gold)
    >>> [(step.label, step.points) for step in ladder_steps(wrong)]
    [('floor', -3.0), ('names', 2.0), ('search: keys', 2.0), ('search: query', 0.0)]
    """
    short = _short_labels(breakdown.pairs)
    steps: list[LadderStep] = []
    level = 0.0
    for part in breakdown.parts():
        group = part.label if part.label in ("format", "length") else "correctness"
        label = short.get(part.label, part.label)
        steps.append(LadderStep(group, label, part.points, part.available, level))
        level += part.points
    return tuple(steps)


def _short_labels(pairs: Sequence[PairScore]) -> dict[str, str]:
    """Give the short label of every part that belongs to a call, by the part's own label."""
    names = [pair.name.rpartition(".")[2] or pair.name for pair in pairs]
    several, seen = Counter(names), Counter[str]()
    labels = {}
    for pair, name in zip(pairs, names, strict=True):
        seen[name] += 1
        shown = f"{name} #{seen[name]}" if several[name] > 1 else name
        own = f"call {pair.ground_truth_index} {pair.name}"
        labels[own] = _cut(shown, "")
        labels[f"{own}: keys"] = _cut(shown, ": keys")
        for key in pair.keys:
            labels[f"{own}: value of {key.key}"] = _cut(shown, f": {key.key}")
    return labels


def _cut(name: str, rest: str) -> str:
    """Join a name and what follows it, shortened to the longest label; what follows is cut only if it must."""
    room = max(_LONGEST - len(rest), 8)
    name = name if len(name) <= room else f"{name[: room - 1]}…"
    label = name + rest
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def ladder_table(breakdown: RewardBreakdown) -> pd.DataFrame:
    """List the steps of a score as a table.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.

    Returns
    -------
    pandas.DataFrame
        Columns ``step``, ``points``, ``of`` (the points available) and ``sum``, one row for each step.

    Examples
    --------
    >>> from toolrl_core import score
    >>> ladder_table(score([], [{"name": "f", "parameters": {}}]))["sum"].tolist()
    [-3.0, -3.0, -3.0]
    """
    rows = [(step.label, step.points, step.available, step.sum) for step in ladder_steps(breakdown)]
    table = pd.DataFrame(rows, columns=["step", "points", "of", "sum"])
    table.loc[table["step"] == "floor", "of"] = math.nan
    return table


def ladder_alt(breakdown: RewardBreakdown) -> str:
    """Say in a sentence or two what a ladder shows, as its alternative text.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.

    Returns
    -------
    str
        The total, and every step that earned less than it could.

    Examples
    --------
    >>> from toolrl_core import score
    >>> gold = [{"name": "search", "parameters": {"query": "x"}}]
    >>> ladder_alt(score([{"name": "search", "parameters": {"query": "y"}}], gold))
    'Ladder of 4 steps to a total of 1 points. Points lost: search: query 2.'
    """
    steps = ladder_steps(breakdown)
    lost = [
        f"{step.label} {_number(step.available - step.points)}"
        for step in steps
        if step.label != "floor" and step.available - step.points > 1e-9
    ]
    words = f"Points lost: {', '.join(lost)}." if lost else "Every step earns all it can."
    return f"Ladder of {len(steps)} steps to a total of {_number(breakdown.total)} points. {words}"


def ladder_figure(breakdown: RewardBreakdown, *, role: str | None = None) -> Figure:
    """Draw one score as a ladder that climbs from the floor of correctness to the total.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.
    role : str, optional
        A key of `figures.ROLES` whose colour the ladder has; the preset's own by default.

    Returns
    -------
    matplotlib.figure.Figure
        One row for each step. Filled: points won. Dashed: points that were there to win. The grey bar is where
        correctness starts. Its alternative text is that of `ladder_alt`.

    Raises
    ------
    ValueError
        If the role is unknown.

    Examples
    --------
    >>> from toolrl_core import score
    >>> figure = ladder_figure(score([], [{"name": "f", "parameters": {}}]))
    >>> figure.axes[0].get_xlabel()
    'total (points)'
    >>> plt.close(figure)
    """
    steps = ladder_steps(breakdown)
    hue = _hue(role, [breakdown])
    rows: list[tuple[str, LadderStep | None]] = []
    for group in _GROUPS:
        own = [step for step in steps if step.group == group]
        rows += [(_title(group, breakdown), None)] * bool(own) + [(step.label, step) for step in own]
    figure, axes = plt.subplots(figsize=(5.2, 0.75 + _ROW * (len(rows) + 1)))
    low, high = _span(breakdown, {step.group for step in steps})
    above = 0
    for row, (_, step) in enumerate(rows):
        if step is not None:
            _draw_step(axes, row, step, hue)
            if above:
                axes.plot([step.start] * 2, [above + 0.3, row - 0.3], color="black", linewidth=0.8, alpha=0.5)
            above = row
    axes.plot([breakdown.total], [len(rows)], marker="D", color=hue, markersize=6)
    _label(axes, breakdown.total, len(rows), _number(breakdown.total), gap=8, fontweight="bold")
    axes.axvline(breakdown.total, color=hue, linewidth=0.8, alpha=0.6, zorder=0)
    axes.set(xlabel="total (points)", xlim=(low - 0.3, high + 0.22 * (high - low)), ylim=(len(rows) + 0.7, -0.7))
    axes.set_yticks(range(len(rows) + 1), [label for label, _ in rows] + ["total"])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x")
    axes.set_xticks(range(math.ceil(low), math.floor(high) + 1))
    for label, (_, step) in zip(axes.get_yticklabels(), [*rows, ("total", None)], strict=True):
        label.set_fontweight("normal" if step else "bold")
    return figure


def _range(group: str, breakdown: RewardBreakdown) -> tuple[float, float]:
    """Give the lowest and the highest value of a part of the total."""
    scales = breakdown.scales
    return {"correctness": scales.correctness, "format": scales.format}.get(group, (0.0, 1.0))


def _span(breakdown: RewardBreakdown, groups: Iterable[str]) -> tuple[float, float]:
    """Give the range that the ladders of a spec share, zero included, so that they can be compared."""
    lows, highs = zip((0.0, 0.0), *(_range(group, breakdown) for group in groups), strict=True)
    return min(0.0, sum(lows)), max(0.0, sum(highs))


def _title(group: str, breakdown: RewardBreakdown) -> str:
    """Name a part of the total with its range."""
    low, high = _range(group, breakdown)
    return f"{group.capitalize()}, {_number(low)} {'or' if group == 'format' else 'to'} {_number(high)}"


def _draw_step(axes: Axes, row: int, step: LadderStep, hue: str) -> None:
    """Draw one rung: what was won, what was there to win, and both as a number."""
    if step.label == "floor":
        axes.barh(row, step.points, left=step.start, height=0.6, color=colour("grey"), alpha=0.5)
        _label(axes, 0.0, row, _number(step.points, sign=True))
        return
    if step.points:
        axes.barh(row, step.points, left=step.start, height=0.6, color=hue)
    lost = step.available - step.points
    if lost > 1e-9:
        axes.barh(row, lost, left=step.sum, height=0.6, fill=False, edgecolor=hue, linestyle=(0, (3, 2)), linewidth=1.2)
    words = _number(step.points, sign=True) if lost <= 1e-9 else f"{_number(step.points)} of {_number(step.available)}"
    _label(axes, step.start + max(step.available, step.points), row, words)


def _label(axes: Axes, place: float, row: int, words: str, *, gap: float = 5, fontweight: str = "normal") -> None:
    """Write to the right of a bar; the gap is in typographic points."""
    size = 9 if fontweight == "normal" else 10
    axes.annotate(
        words,
        (place, row),
        xytext=(gap, 0),
        textcoords="offset points",
        va="center",
        fontsize=size,
        fontweight=fontweight,
    )


def ladder_grid(breakdowns: Mapping[str, RewardBreakdown], *, role: str | None = None) -> Figure:
    """Draw many answers to one ground truth as rows, and the steps of their scores as columns.

    Parameters
    ----------
    breakdowns : mapping of str to RewardBreakdown
        Scores of the same ground truth under the same spec, by what to call the answer.
    role : str, optional
        A key of `figures.ROLES` whose colour the boxes have; the preset's own by default.

    Returns
    -------
    matplotlib.figure.Figure
        A box for each step, filled by the share of its points that was won, with the points as a number; the total
        stands at the end of the row.

    Raises
    ------
    ValueError
        If there is no score, the scores do not have the same steps, or the role is unknown.

    Examples
    --------
    >>> from toolrl_core import score
    >>> gold = [{"name": "f", "parameters": {"a": 1}}]
    >>> figure = ladder_grid({"right": score(gold, gold), "no call": score([], gold)})
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith("f")]
    ['f: keys', 'f: a']
    >>> plt.close(figure)
    """
    ladders = {name: ladder_steps(breakdown) for name, breakdown in breakdowns.items()}
    shapes = {tuple((step.group, step.label) for step in steps) for steps in ladders.values()}
    if len(shapes) != 1:
        raise ValueError(f"the {len(ladders)} scores have {len(shapes)} different lists of steps; expected one")
    columns = [(group, label) for group, label in next(iter(shapes)) if label != "floor"]
    hue = _hue(role, breakdowns.values())
    places = _places([group for group, _ in columns])
    end = places[-1] + 1.0
    figure, axes = plt.subplots(figsize=(5.2, 1.35 + 0.32 * len(ladders)))
    for place, (_, label) in zip(places, columns, strict=True):
        axes.text(place + 0.03, -0.75, label, rotation=35, rotation_mode="anchor", fontsize=9)
    for row, (answer, steps) in enumerate(ladders.items()):
        boxes = [step for step in steps if step.label != "floor"]
        for place, step in zip(places, boxes, strict=True):
            _draw_box(axes, place, row, step, hue)
        total = breakdowns[answer].total
        axes.text(end + 0.12, row, _number(total, sign=True), va="center", fontweight="bold")
    axes.text(end + 0.12, -0.75, "total", fontsize=9, fontweight="bold", rotation=35, rotation_mode="anchor")
    axes.set(xlim=(-0.05, end + 0.8), ylim=(len(ladders) - 0.4, -0.6))
    axes.set_yticks(range(len(ladders)), list(ladders), fontsize=9)
    axes.set_xticks(*_group_ticks(places, columns, next(iter(breakdowns.values()))))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _hue(role: str | None, breakdowns: Iterable[RewardBreakdown]) -> str:
    """Choose the colour: that of the role, of the one preset that all scores have, or another."""
    names = {breakdown.spec.name for breakdown in breakdowns}
    preset = names.pop() if len(names) == 1 else None
    return colour(role or (preset if preset and preset in ROLES else _OTHER_HUE))


def _places(groups: Sequence[str]) -> list[float]:
    """Give the left edge of each column, with a gap between groups."""
    gaps = [0.3 * (index > 0 and group != groups[index - 1]) for index, group in enumerate(groups)]
    return [index + sum(gaps[: index + 1]) for index in range(len(groups))]


def _group_ticks(
    places: Sequence[float], columns: Sequence[tuple[str, str]], breakdown: RewardBreakdown
) -> tuple[list[float], list[str]]:
    """Give centre and title of each group of columns."""
    spans = {
        group: [place for place, column in zip(places, columns, strict=True) if column[0] == group] for group in _GROUPS
    }
    centres = [(min(span) + max(span) + 1) / 2 for span in spans.values() if span]
    titles = [_title(group, breakdown).replace(", ", "\n") for group, span in spans.items() if span]
    if spans["correctness"] and breakdown.scored:
        titles[0] += f",\nstarts at {_number(breakdown.scales.correctness[0])}"
    return centres, titles


def _draw_box(axes: Axes, place: float, row: int, step: LadderStep, hue: str) -> None:
    """Draw one box of the grid, filled by the share that was won."""
    share = step.points / step.available if step.available else 0.0
    axes.barh(row, 0.92 * share, left=place, height=0.72, color=hue, alpha=0.35)
    line = "-" if share >= 1 - 1e-9 else (0, (3, 2))
    axes.barh(row, 0.92, left=place, height=0.72, fill=False, edgecolor=hue, linewidth=1.0, linestyle=line)
    axes.text(place + 0.46, row, _number(step.points), ha="center", va="center", fontsize=9)


def _number(value: float, *, sign: bool = False) -> str:
    """Write points: exactly where that is short, else with three significant digits; the minus sign is a real one."""
    exact = Fraction(value).limit_denominator(1000)
    near = math.isclose(exact, value, abs_tol=1e-9)
    text = f"{float(exact):.4g}" if near and 10000 % exact.denominator == 0 else f"{value:.3g}"
    text = text if text.startswith("-") or not sign else f"+{text}"
    return text.replace("-", "−")
