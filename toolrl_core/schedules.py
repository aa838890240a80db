"""Reward scales and how they change over training steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

Range = tuple[float, float]
FORMAT_RANGE: Range = (0.0, 1.0)
CORRECTNESS_RANGE: Range = (-3.0, 3.0)


class Scales(NamedTuple):
    """Hold the reward scales at one step.

    Parameters
    ----------
    format, correctness : tuple of (float, float)
        Lowest and highest value of each part, in points.
    """

    format: Range
    correctness: Range


@dataclass(frozen=True)
class Schedule:
    """Describe how the reward scales change over training steps.

    Use the functions of this module to make one. A schedule that changes needs a step.

    Parameters
    ----------
    kind : {"constant", "two_stage", "dynamic", "linear"}
        The rule.
    start, end : Scales
        Scales before and after the change.
    when : float
        Step of the switch, or the horizon, in steps.
    correctness_max : float
        Highest correctness of the released rules, in points.
    """

    kind: str
    start: Scales
    end: Scales
    when: float = math.inf
    correctness_max: float = field(default=3.0)

    @property
    def needs_step(self) -> bool:
        """Tell whether the scales depend on the step."""
        return self.kind != "constant"

    def at(self, step: float | None = None) -> Scales:
        """Return the scales at a training step.

        Parameters
        ----------
        step : float, optional
            Training step, counted from 1 as trainers do (0 is allowed).

        Returns
        -------
        Scales
            Ranges of format and correctness, in points.

        Raises
        ------
        ValueError
            If the schedule changes over steps and no step is given, or the step is negative or not finite.
        """
        if self.kind == "constant":
            return self.start
        if step is None:
            raise ValueError(
                f"the schedule {self.kind!r} changes with the training step, but no step was given: "
                "pass step=…, or choose a constant scale (some trainers pass no step to the reward)"
            )
        if not (step >= 0 and math.isfinite(step)):
            raise ValueError(f"step must be a finite number of at least 0, found {step!r}")
        if self.kind == "two_stage":
            return self.start if step < self.when else self.end
        if self.kind == "linear":
            share = min(step / self.when, 1.0)
            return Scales(
                _between(self.start.format, self.end.format, share),
                _between(self.start.correctness, self.end.correctness, share),
            )
        return _released_dynamic(step / self.when, self.correctness_max)


def _between(start: Range, end: Range, share: float) -> Range:
    return (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)


def _released_dynamic(time: float, correctness_max: float) -> Scales:
    slope = correctness_max - 2
    return Scales(
        (min(-2 + 2 * time, -1.0), max(2 - time, 1.0)),
        (max(-2 - slope * time, -3.0), min(2 + slope * time, 3.0)),
    )


def constant(*, format: Range = FORMAT_RANGE, correctness: Range = CORRECTNESS_RANGE) -> Schedule:  # noqa: A002
    """Keep the scales the same at every step.

    Parameters
    ----------
    format, correctness : tuple of (float, float)
        Lowest and highest value, in points; the paper's default is (0, 1) and (-3, 3).

    Returns
    -------
    Schedule
        A schedule that needs no step.

    Raises
    ------
    ValueError
        If a range is not two finite numbers, the lower one first.

    Notes
    -----
    ToolRL note §3.3 and §6.1.

    Examples
    --------
    >>> constant().at().correctness
    (-3.0, 3.0)
    """
    scales = Scales(_checked("format", format), _checked("correctness", correctness))
    return Schedule("constant", scales, scales)


def equal_max() -> Schedule:
    """Give correctness the same maximum as format: (-1, 1) beside (0, 1).

    Returns
    -------
    Schedule
        A schedule that needs no step.

    Notes
    -----
    ToolRL note §5.2 and §6.4. Only the maxima are equal; the ranges differ.

    Examples
    --------
    >>> equal_max().at()
    Scales(format=(0.0, 1.0), correctness=(-1.0, 1.0))
    """
    return constant(correctness=(-1.0, 1.0))


def two_stage(switch: float = 30, *, correctness_max: float = 3.0) -> Schedule:
    """Switch the scales at one step: format is halved and correctness tripled.

    Parameters
    ----------
    switch : float
        First step of the second stage.
    correctness_max : float
        Highest correctness of the second stage, in points; the first stage has a third of it.

    Returns
    -------
    Schedule
        A schedule that needs a step.

    Raises
    ------
    ValueError
        If the switch is not a finite number of at least 0.

    Notes
    -----
    ToolRL note §5.2; rlla.py L47 and L205 of the released code, where 30 is fixed and steps count from 1.

    Examples
    --------
    >>> two_stage().at(29).correctness, two_stage().at(30)
    ((-1.0, 1.0), Scales(format=(0.0, 0.5), correctness=(-3.0, 3.0)))
    """
    if not (math.isfinite(switch) and switch >= 0):
        raise ValueError(f"switch must be a finite number of at least 0, found {switch!r}")
    first, second = correctness_max / 3, float(correctness_max)
    before = Scales(FORMAT_RANGE, _checked("correctness", (-first, first)))
    return Schedule("two_stage", before, Scales((0.0, 0.5), (-second, second)), switch, correctness_max)


def dynamic(*, horizon: float = 150, correctness_max: float = 3.0) -> Schedule:
    """Change the scales a little at every step, as the released code does.

    With t = step / horizon: format is (min(-2 + 2t, -1), max(2 - t, 1)), correctness is
    (max(-2 - t, -3), min(2 + t, 3)). For another maximum c the slope is c - 2, with the same limits of ±3.

    Parameters
    ----------
    horizon : float
        The 150 of the released code, in steps.
    correctness_max : float
        Highest correctness, in points. With 1 the correctness range is ±(2 - t), which has no floor.

    Returns
    -------
    Schedule
        A schedule that needs a step.

    Raises
    ------
    ValueError
        If the horizon is not a finite positive number, or the maximum not finite.

    Notes
    -----
    ToolRL note §5.2; released code with ``SCHEDULEREWARD``. The planned run has 105 steps, so the schedule
    stops near t = 0.69 and never reaches its end.

    Examples
    --------
    >>> dynamic().at(75).format, dynamic().at(150).correctness
    ((-1.0, 1.5), (-3.0, 3.0))
    """
    if not (math.isfinite(horizon) and horizon > 0):
        raise ValueError(f"horizon must be a finite positive number, found {horizon!r}")
    if not math.isfinite(correctness_max):
        raise ValueError(f"correctness_max must be finite, found {correctness_max!r}")
    return Schedule(
        "dynamic",
        _released_dynamic(0.0, correctness_max),
        _released_dynamic(math.inf, correctness_max) if correctness_max > 2 else Scales((-1, 1), (0, 0)),
        horizon,
        correctness_max,
    )


def linear(start: Scales, end: Scales, horizon: float) -> Schedule:
    """Move the scales in a straight line from one pair to another, then keep them.

    Parameters
    ----------
    start, end : Scales
        Scales at step 0 and from `horizon` on.
    horizon : float
        Length of the change, in steps.

    Returns
    -------
    Schedule
        A schedule that needs a step.

    Raises
    ------
    ValueError
        If a range or the horizon is unusable.

    Examples
    --------
    >>> linear(equal_max().at(), constant().at(), 100).at(50).correctness
    (-2.0, 2.0)
    """
    if not (math.isfinite(horizon) and horizon > 0):
        raise ValueError(f"horizon must be a finite positive number, found {horizon!r}")
    for name, scales in (("start", start), ("end", end)):
        _checked(f"{name} format", scales[0])
        _checked(f"{name} correctness", scales[1])
    return Schedule("linear", Scales(*start), Scales(*end), horizon)


def _checked(name: str, given: Range) -> Range:
    try:
        low, high = (float(value) for value in given)
    except (TypeError, ValueError):
        raise ValueError(f"{name} range must be two numbers (low, high), found {given!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"{name} range must be finite with low <= high, found {given!r}")
    return low, high


@dataclass(frozen=True)
class LengthReward:
    r"""Describe the length reward: a point for a thought as long as a target.

    .. math:: R_{\text{length}} = \min(\text{words} / \text{target}, 1)

    Parameters
    ----------
    target : float
        Words that earn the full point.
    rounded : bool
        Round to two decimals, as the released code does (510 of 512 words earn the full point, 2 earn nothing).
    growth : float
        Words that the target grows by over `horizon` steps (released: 384 + 256 · step / 105).
    horizon : float
        Steps over which the target grows.

    Notes
    -----
    ToolRL note §5.4. The note counts tokens, the released code white-space words of the last thought, so that
    unspaced Chinese is one word. A count of tokens needs a tokenizer and is left to the caller.

    Raises
    ------
    ValueError
        If the target or the horizon is not positive.

    Examples
    --------
    >>> LengthReward()("one two", step=None)
    0.00390625
    >>> LengthReward(rounded=True)("w " * 510, step=None)
    1.0
    """

    target: float = 512
    rounded: bool = False
    growth: float = 0.0
    horizon: float = 105

    def __post_init__(self) -> None:
        if not (self.target > 0 and self.horizon > 0 and math.isfinite(self.target + self.horizon + self.growth)):
            raise ValueError(f"target and horizon must be positive, found {self.target!r} and {self.horizon!r}")
        if self.growth < 0:
            raise ValueError(f"growth must be at least 0, found {self.growth!r}")

    @property
    def needs_step(self) -> bool:
        """Tell whether the target depends on the step."""
        return self.growth != 0

    def __call__(self, thought: str | None, step: float | None = None) -> float:
        """Return the length reward of a thought, between 0 and 1 points.

        Raises
        ------
        ValueError
            If the target grows and no step is given.
        """
        target = self.target
        if self.growth:
            if step is None:
                raise ValueError("the length target grows with the training step, but no step was given: pass step=…")
            target += self.growth * step / self.horizon
        share = len((thought or "").split()) / target
        return min(round(share, 2) if self.rounded else share, 1.0)
