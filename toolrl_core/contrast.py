"""Say what a reward scale makes worth doing: what a mistake costs, when form alone pays, what a word buys.

The total of an answer is linear in its two parts, so expectations need two numbers of a policy only: how often the
format is right, and which share of the matched score it earns on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from toolrl_core.schedules import Range, Scales, Schedule

__all__ = [
    "LearningCurve",
    "break_even_share",
    "contrast",
    "expected_total",
    "format_variance_share",
    "switch_jump",
    "words_per_point",
]


def _width(bounds: Range) -> float:
    return bounds[1] - bounds[0]


def _require_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1, found {value!r}")


def expected_total(scales: Scales, *, share: float, format_rate: float = 1.0) -> float:
    r"""Return the expected total of a policy under a pair of scales.

    .. math:: F_{\text{low}} + \varphi\,(F_{\text{high}} - F_{\text{low}}) +
        C_{\text{low}} + x\,(C_{\text{high}} - C_{\text{low}})

    Parameters
    ----------
    scales : Scales
        Ranges of format F and correctness C, in points.
    share : float
        The expected matched share x of the maximum, 0 to 1.
    format_rate : float
        How often the format is right, φ, 0 to 1.

    Returns
    -------
    float
        In points.

    Raises
    ------
    ValueError
        If a share lies outside 0 to 1.

    Notes
    -----
    ToolRL note §3.3, §6.1 and §6.4. Exact for any policy, since the total is linear.

    Examples
    --------
    An answer with the right form and nothing else loses 2 points on the original scale, none on equal-max:

    >>> from toolrl_core.schedules import constant, equal_max
    >>> expected_total(constant().at(), share=0), expected_total(equal_max().at(), share=0)
    (-2.0, 0.0)
    """
    _require_share("share", share)
    _require_share("format_rate", format_rate)
    form, content = scales
    return form[0] + format_rate * _width(form) + content[0] + share * _width(content)


def contrast(scales: Scales) -> float:
    """Return how far a perfect answer stands above one that has nothing but its form.

    Parameters
    ----------
    scales : Scales
        Ranges of format and correctness, in points.

    Returns
    -------
    float
        In points: the width of the correctness range.

    Notes
    -----
    ToolRL note §6.4, which measures against an answer of correctness 0 and so prints half of it.

    Examples
    --------
    >>> from toolrl_core.schedules import constant, equal_max
    >>> contrast(constant().at()), contrast(equal_max().at())
    (6.0, 2.0)
    """
    return expected_total(scales, share=1) - expected_total(scales, share=0)


def break_even_share(scales: Scales, *, format_rate: float) -> float:
    r"""Return the matched share from which trying pays more than form alone.

    One policy writes the right form with no content. Another tries the content, matches a share x of it, and so gets
    the form right only with probability φ. They earn the same at

    .. math:: x^* = (1 - \varphi)\,\frac{F_{\text{high}} - F_{\text{low}}}{C_{\text{high}} - C_{\text{low}}}.

    Parameters
    ----------
    scales : Scales
        Ranges of format F and correctness C, in points.
    format_rate : float
        How often the policy that tries gets the form right, φ, 0 to 1.

    Returns
    -------
    float
        The matched share; above 1 where form alone always pays more.

    Raises
    ------
    ValueError
        If the rate lies outside 0 to 1, or correctness is worth nothing.

    Notes
    -----
    ToolRL note §6.4 calls it the expected gain of a format hack. Only the ratio of the widths counts.

    Examples
    --------
    The released dynamic scale begins where form is worth as much as content: trying must match half to pay.

    >>> from toolrl_core.schedules import constant, dynamic
    >>> break_even_share(constant().at(), format_rate=0.5), break_even_share(dynamic().at(0), format_rate=0.5)
    (0.08333333333333333, 0.5)
    """
    _require_share("format_rate", format_rate)
    if _width(scales.correctness) <= 0:
        raise ValueError(f"correctness is worth nothing on the scale {scales.correctness!r}: there is no break-even")
    return (1 - format_rate) * _width(scales.format) / _width(scales.correctness)


def words_per_point(scales: Scales, *, maximum: float, target: float = 512) -> float:
    r"""Return how many words of thought earn as much as one matched point of an answer.

    .. math:: \text{words} = \text{target} \cdot \frac{C_{\text{high}} - C_{\text{low}}}{S_{\max}}

    Parameters
    ----------
    scales : Scales
        Ranges of format and correctness C, in points.
    maximum : float
        The answer's maximum S_max: 1 for the names, 1 for each call, 1 for each argument.
    target : float
        Words that earn the full length reward of 1 point.

    Returns
    -------
    float
        In words. More than `target` words earn no more, so a larger value means that length cannot pay for it.

    Raises
    ------
    ValueError
        If the maximum or the target is not positive.

    Notes
    -----
    ToolRL note §5.4 and §6.1.

    Examples
    --------
    In the note's example length cannot buy the one argument; on the equal-max scale 256 words do:

    >>> from toolrl_core.schedules import constant, equal_max
    >>> words_per_point(constant().at(), maximum=4), words_per_point(equal_max().at(), maximum=4)
    (768.0, 256.0)
    """
    if not (maximum > 0 and target > 0):
        raise ValueError(f"maximum and target must be positive, found {maximum!r} and {target!r}")
    return target * _width(scales.correctness) / maximum


def format_variance_share(scales: Scales, *, share: float, format_rate: float, parts: int) -> float:
    r"""Return which share of the reward's variance between rollouts comes from the format.

    The content has `parts` independent parts, each right with probability x; the format is right with probability φ,
    independently.

    .. math:: \frac{F^2 \varphi (1 - \varphi)}{F^2 \varphi (1 - \varphi) + C^2 x (1 - x) / \text{parts}}

    Parameters
    ----------
    scales : Scales
        Ranges of format (width F) and correctness (width C), in points.
    share, format_rate : float
        The probabilities x and φ, 0 to 1.
    parts : int
        Independent parts of the content, at least 1.

    Returns
    -------
    float
        Between 0 and 1; NaN where the reward has no variance.

    Raises
    ------
    ValueError
        If a probability lies outside 0 to 1, or there are no parts.

    Notes
    -----
    A group-normalised advantage has one unit of variance to share out, so this is what the update hears of the format.

    Examples
    --------
    A policy that gets half of everything right, four parts of content:

    >>> from toolrl_core.schedules import constant, equal_max
    >>> for scales in (constant().at(), equal_max().at()):
    ...     print(round(format_variance_share(scales, share=0.5, format_rate=0.5, parts=4), 3))
    0.1
    0.5
    """
    _require_share("share", share)
    _require_share("format_rate", format_rate)
    if parts < 1:
        raise ValueError(f"parts must be at least 1, found {parts!r}")
    form = _width(scales.format) ** 2 * format_rate * (1 - format_rate)
    content = _width(scales.correctness) ** 2 * share * (1 - share) / parts
    return form / (form + content) if form + content else math.nan


@dataclass(frozen=True, kw_only=True)
class LearningCurve:
    r"""State a learning curve: the form is learned fast, the content slowly.

    .. math:: \varphi(s) = 1 - (1 - \varphi_0)\, e^{-s / a}, \qquad x(s) = x_1 - (x_1 - x_0)\, e^{-s / b}

    Parameters
    ----------
    format_start : float
        Format rate φ₀ at step 0.
    format_steps : float
        Steps a in which the missing part falls to 1/e.
    share_start, share_end : float
        Matched share x₀ at step 0 and x₁ in the limit.
    share_steps : float
        Steps b in which the missing part falls to 1/e.

    Raises
    ------
    ValueError
        If a share lies outside 0 to 1 or a number of steps is not positive.

    Notes
    -----
    An assumption to reckon with, not a fit: the papers print their curves as pictures only.

    Examples
    --------
    >>> [round(value, 3) for value in LearningCurve().at(30)]
    [0.97, 0.497]
    """

    format_start: float = 0.4
    format_steps: float = 10.0
    share_start: float = 0.3
    share_end: float = 0.8
    share_steps: float = 60.0

    def __post_init__(self) -> None:
        """Refuse shares and steps that make no curve."""
        for name in ("format_start", "share_start", "share_end"):
            _require_share(name, getattr(self, name))
        if not (self.format_steps > 0 and self.share_steps > 0):
            raise ValueError(f"steps must be positive, found {self.format_steps!r} and {self.share_steps!r}")

    def at(self, step: float) -> tuple[float, float]:
        """Return the format rate and the matched share at a training step."""
        form = 1 - (1 - self.format_start) * math.exp(-step / self.format_steps)
        content = self.share_end - (self.share_end - self.share_start) * math.exp(-step / self.share_steps)
        return form, content


def switch_jump(schedule: Schedule, curve: LearningCurve, *, step: int) -> float:
    """Return by how much the expected total changes at a step because the scales do, not the policy.

    Parameters
    ----------
    schedule : Schedule
        The scales over training steps.
    curve : LearningCurve
        The policy over training steps.
    step : int
        The step whose scales are compared with those of the step before, at least 1.

    Returns
    -------
    float
        In points, for the policy as it is at `step`.

    Raises
    ------
    ValueError
        If the step is less than 1.

    Notes
    -----
    ToolRL note §5.2 and open question 6: the switch was tried at step 30 only.

    Examples
    --------
    A policy that has learned half of the content loses half a point when two-stage switches:

    >>> from toolrl_core.schedules import two_stage
    >>> round(switch_jump(two_stage(30), LearningCurve(), step=30), 2)
    -0.5
    """
    if step < 1:
        raise ValueError(f"step must be at least 1, found {step!r}")
    form, content = curve.at(step)
    after, before = (
        expected_total(schedule.at(moment), share=content, format_rate=form) for moment in (step, step - 1)
    )
    return after - before
