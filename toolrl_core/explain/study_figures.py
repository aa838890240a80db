"""Draw what stored studies found: learning curves with bands, paired differences, and the table of agreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from toolrl_core.explain.figures import PALETTE, ROLES, colour, label_of, line_style
from toolrl_core.simulate.answers import Floats
from toolrl_core.simulate.histories import History, Interval
from toolrl_core.studies.agreement import AGREES, CONTRADICTS, LEVEL, VERDICTS, Judgement
from toolrl_core.studies.results import Results

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AXIS_LABELS",
    "METRIC_LABELS",
    "agreement_table",
    "describe_ends",
    "draw_differences",
    "draw_history",
    "draw_intervals",
    "draw_shares",
    "draw_stored",
    "scale_of",
    "sign",
]

METRIC_LABELS: Mapping[str, str] = {
    "exact": "exact answers (%)",
    "usable": "exact and well-formed (%)",
    "refusal": "refusals where none fits (%)",
    "recall": "calls where one is due (%)",
    "format": "well-formed answers (%)",
    "thought_length": "length of a thought (words)",
    "success": "right answers (%)",
    "sound_success": "right answers without a void turn (%)",
    "own_success": "right answers in training (%)",
    "void": "rollouts with a void turn (%)",
    "turns": "turns of a rollout",
    "multi_turn": "rollouts of several turns (%)",
    "gradient_norm": "gradient norm",
    "gradient_norm_all": "gradient norm over all tokens",
    "largest_ratio": "largest ratio",
}
"""What stands beside the axis of a metric; a share is shown in percent."""
AXIS_LABELS: Mapping[str, str] = {
    "strength": "strength of the base",
    "budget_share": "how often a limit of tokens applies",
    "prompts": "prompts of a step",
    "switch": "step of the switch",
    "direct": "how good a direct answer is",
    "noise": "strength of the drift",
    "voids": "whether void turns last",
}
"""What an axis of a study is called in a table; others by their own name."""


def scale_of(metric: str) -> float:
    """Give the factor between a stored value and its label's unit: 100 for a share, else 1."""
    return 100.0 if METRIC_LABELS[metric].endswith("(%)") else 1.0


def sign(value: float, digits: int = 1) -> str:
    """Write a number with a true minus sign.

    Examples
    --------
    >>> sign(-1.25)
    '−1.2'
    """
    return f"{value:.{digits}f}".replace("-", "−")


def draw_stored(axes: Axes, results: Results, block: str, setting: str, arms: Iterable[str], metric: str) -> None:
    """Draw stored learning curves with their 95 % bands.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    results : Results
        Stored results of a study.
    block, setting : str
        Which setting.
    arms : iterable of str
        Arms to draw; a name that is no role of the house style gets a colour that is free.
    metric : str
        A key of `METRIC_LABELS`.

    Raises
    ------
    StudyError
        If there is no such curve.
    """
    for arm in arms:
        curve = results.curve(block, setting, arm, metric)
        steps, mean, half = (curve[column].to_numpy(dtype=np.float64) for column in ("step", "mean", "half_width"))
        _draw_band(axes, arm, steps, mean * scale_of(metric), half * scale_of(metric))
    _label(axes, metric)


def draw_history(axes: Axes, history: History, metric: str, *, window: int = 1) -> None:
    """Draw the learning curves of a live run with their 95 % bands.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    history : History
        The run.
    metric : str
        A key of `METRIC_LABELS`.
    window : int
        Evaluations that are averaged to a point.
    """
    for arm, values in zip(history.arms, history.metrics[metric], strict=True):
        ends = range((len(history.steps) - 1) % window, len(history.steps), window)
        parts = [values[:, max(0, end - window + 1) : end + 1].mean(axis=1) for end in ends]
        intervals = [Interval.of(part) for part in parts]
        mean = np.array([interval.mean for interval in intervals]) * scale_of(metric)
        half = np.array([interval.half_width for interval in intervals]) * scale_of(metric)
        _draw_band(axes, arm, history.steps[list(ends)].astype(np.float64), mean, half)
    _label(axes, metric)


def _draw_band(
    axes: Axes,
    arm: str,
    steps: Floats,
    mean: Floats,
    half: Floats,
) -> None:
    style = line_style(arm) if arm in ROLES else _spare_style(axes, arm)
    axes.fill_between(steps, mean - half, mean + half, color=style["color"], alpha=0.2, linewidth=0)
    axes.plot(steps, mean, markevery=max(1, len(steps) // 8), **style)  # type: ignore[arg-type]


def _label(axes: Axes, metric: str) -> None:
    axes.set(xlabel="training step", ylabel=METRIC_LABELS[metric])


def describe_ends(results: Results, block: str, setting: str, arms: Iterable[str], metric: str) -> str:
    """Say in words where stored learning curves begin and end, for an alternative text.

    Parameters
    ----------
    results, block, setting, arms, metric
        As in `draw_stored`.

    Returns
    -------
    str
    """
    ends = []
    for arm in arms:
        curve = results.curve(block, setting, arm, metric)["mean"].to_numpy(dtype=np.float64) * scale_of(metric)
        ends.append(f"{label_of(arm)} from {sign(curve[0])} to {sign(curve[-1])}")
    return f"{METRIC_LABELS[metric]}: {'; '.join(ends)}."


def draw_differences(
    axes: Axes, rows: Sequence[tuple[str, Interval]], *, metric: str, role: str | None = None, smallest: float = 0.0
) -> None:
    """Draw paired differences with their 95 % intervals, one below the other.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    rows : sequence of (label, Interval)
        From top to bottom, in the unit in which the metric is stored.
    metric : str
        A key of `METRIC_LABELS`.
    role : str, optional
        Role of the house style; black by default.
    smallest : float
        Difference that counts as none; shaded.
    """
    factor = scale_of(metric)
    places = np.arange(len(rows))[::-1]
    means = np.array([interval.mean for _, interval in rows]) * factor
    halves = np.array([interval.half_width for _, interval in rows]) * factor
    if smallest:
        axes.axvspan(-smallest * factor, smallest * factor, color="black", alpha=0.08, linewidth=0)
    axes.axvline(0, color="black", linewidth=0.8)
    style = {"color": colour(role), "marker": ROLES[role].marker} if role else {"color": "black", "marker": "o"}
    axes.errorbar(means, places, xerr=halves, linestyle="none", capsize=2, **style)  # type: ignore[arg-type]
    axes.set_yticks(places, [label for label, _ in rows])
    unit = "percentage points" if factor == 100 else METRIC_LABELS[metric]
    axes.set(xlabel=f"difference ({unit})", ylim=(-0.7, len(rows) - 0.3))
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")


def draw_intervals(
    axes: Axes, places: Sequence[float], intervals: Iterable[Interval], *, factor: float = 100.0, **style: Any
) -> None:
    """Draw 95 % intervals over places, joined by a line.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    places : sequence of float
        Where each interval stands.
    intervals : iterable of Interval
        One for each place.
    factor : float
        Between a stored value and the axis: 100 for a share in percent.
    **style
        Passed on to ``Axes.errorbar``: colour, marker, label and so on.
    """
    found = list(intervals)
    means = [factor * interval.mean for interval in found]
    halves = [factor * interval.half_width for interval in found]
    axes.errorbar(places, means, yerr=halves, **{"capsize": 2, **style})


def draw_shares(axes: Axes, labels: Sequence[str], parts: Mapping[str, tuple[str, Sequence[float]]]) -> None:
    """Draw what wholes consist of, as stacked bars from top to bottom.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    labels : sequence of str
        The wholes.
    parts : mapping of name to (hue, values)
        The parts from left to right: a name of the palette, and a value for each whole.
    """
    places = np.arange(len(labels))[::-1]
    edge = np.zeros(len(labels))
    for part, (hue, values) in parts.items():
        axes.barh(places, values, left=edge, color=colour(hue), height=0.6, label=part)
        edge = edge + np.asarray(values, dtype=np.float64)
    axes.set_yticks(places, labels)
    axes.grid(visible=False)


def _axis_name(axis: str) -> str:
    return AXIS_LABELS.get(axis, axis.replace("_", " "))


def _spare_style(axes: Axes, arm: str) -> dict[str, str]:
    """Give an arm that is no idea of this book the look of a role that is not drawn yet."""
    drawn = {line.get_color() for line in axes.get_lines()}
    free = [name for name, hue in PALETTE.items() if hue not in drawn] or list(PALETTE)
    marker = "osD^vPX*"[len(drawn) % 8]
    return {"color": PALETTE[free[0]], "marker": marker, "linestyle": "-", "label": arm.replace("_", " ")}


def agreement_table(judgements: Mapping[str, Judgement] | Iterable[Judgement]) -> pd.DataFrame:
    """Tabulate which directions come out, in how many settings, and on what it depends.

    Parameters
    ----------
    judgements : mapping or iterable of Judgement
        See `toolrl_core.studies.agreement.judge_all`.

    Returns
    -------
    pandas.DataFrame
        One row a direction: what the paper says, counts of settings, the verdict, and the assumption that matters
        most (none where the direction is clear).
    """
    import pandas as pd

    chosen = judgements.values() if isinstance(judgements, Mapping) else judgements
    rows = []
    for judgement in chosen:
        depends = judgement.verdict == VERDICTS[1]
        rows.append(
            {
                "direction": judgement.direction.paper,
                **{result: judgement.count(result) for result in (AGREES, LEVEL, CONTRADICTS)},
                "verdict": judgement.verdict,
                "depends most on": _axis_name(judgement.main_axis) if depends and judgement.main_axis else "–",
            }
        )
    return pd.DataFrame(rows)
