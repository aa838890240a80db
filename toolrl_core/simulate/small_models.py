"""Share out the advantage of a group among a few independent bits: format and content, refusal, k decisions.

Exact for groups of any size that can be enumerated. `toolrl_core.contrast.format_variance_share` and
`toolrl_core.simulate.decisions` hold what is left of this in large groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from toolrl_core.contrast import format_variance_share
from toolrl_core.schedules import Scales
from toolrl_core.simulate.answers import Floats
from toolrl_core.simulate.decisions import decision_correlation
from toolrl_core.simulate.group_compositions import composition_advantages, composition_chances, group_compositions

__all__ = ["TwoBitCredit", "decision_credit", "expected_exact_answers", "refusal_push", "two_bit_credit"]


@dataclass(frozen=True, kw_only=True)
class TwoBitCredit:
    """Hold how the unit variance of an advantage is shared out between two bits of an answer.

    Parameters
    ----------
    format_credit, content_credit : float
        Squared covariance of the advantage with the format bit and the content bit, each divided by the variance of
        the bit: what of one unit of variance tells of the bit.
    silent : float
        Share of groups whose rewards are all equal.
    large_group_format : float
        The format's credit in the limit of large groups, where both credits add up to 1; NaN without any variance.

    Notes
    -----
    ToolRL note §5.1 and §6.4.
    """

    format_credit: float
    content_credit: float
    silent: float
    large_group_format: float

    @property
    def unheard(self) -> float:
        """Return what of the unit variance tells of neither bit alone, silent groups included."""
        return 1.0 - self.format_credit - self.content_credit


def two_bit_credit(
    format_points: float,
    content_points: float,
    *,
    format_rate: float,
    content_rate: float,
    group_size: int,
    eta: float = 1e-6,
) -> TwoBitCredit:
    r"""Share out the advantage between a format bit f and a content bit c of an answer that earns a f + b c.

    .. math::
        \frac{\mathrm{cov}(A, f)^2}{\mathrm{var} f} \;\to\;
        \frac{a^2\,\mathrm{var} f}{a^2\,\mathrm{var} f + b^2\,\mathrm{var} c}
        \quad (G \to \infty)

    Parameters
    ----------
    format_points, content_points : float
        What the two bits earn, a and b, in points, not negative.
    format_rate, content_rate : float
        Chance that each bit is right, 0 to 1, independent of the other.
    group_size : int
        Answers of a group, G. All compositions of a group are enumerated: 969 for 16 answers.
    eta : float
        Constant added to the standard deviation, in points.

    Returns
    -------
    TwoBitCredit
        Exact up to rounding. A bit that never varies has no credit.

    Raises
    ------
    ValueError
        If a rate lies outside 0 to 1, points are negative or not finite, or there are too many compositions.

    Notes
    -----
    ToolRL note §5.1, §5.2 and §6.4. Only b / a counts (eta aside), so a change of scale can do no more than move credit
    from one bit to the other. In small groups some credit goes to neither: groups without variance say nothing, and the
    deviation of a group fluctuates with its content. `toolrl_core.contrast.format_variance_share` is the limit.

    Examples
    --------
    Three times the points change nothing. Equal points lose more to silence than unequal ones, since a right format
    then hides a wrong content:

    >>> rates = {"format_rate": 0.5, "content_rate": 0.5, "group_size": 4}
    >>> for a, b in ((1, 6), (3, 18), (1, 1)):
    ...     credit = two_bit_credit(a, b, **rates)
    ...     print([round(part, 3) for part in (credit.format_credit, credit.content_credit, credit.silent)])
    [0.033, 0.642, 0.016]
    [0.033, 0.642, 0.016]
    [0.322, 0.322, 0.07]
    """
    for name, points in (("format_points", format_points), ("content_points", content_points)):
        if not 0 <= points < math.inf:
            raise ValueError(f"{name} must be finite and not negative, found {points!r}")
    scales = Scales((0.0, format_points), (0.0, content_points))
    limit = format_variance_share(scales, share=content_rate, format_rate=format_rate, parts=1)
    (form, content), silent = _two_bit_covariances(
        format_points, content_points, format_rate, content_rate, group_size=group_size, eta=eta
    )
    return TwoBitCredit(
        format_credit=_over_variance(form**2, format_rate),
        content_credit=_over_variance(content**2, content_rate),
        silent=silent,
        large_group_format=limit,
    )


def refusal_push(
    paid: float,
    *,
    refusal_rate: float,
    group_size: int,
    format_points: float = 0.0,
    format_rate: float = 1.0,
    eta: float = 1e-6,
) -> float:
    r"""Return how far a refusal's expected advantage stands above that of a call, on a prompt that needs no tool.

    .. math:: E[A \mid \text{refuse}] - E[A \mid \text{call}] = \frac{\mathrm{cov}(A, x)}{\mathrm{var}\, x}

    for the bit x = 1 of a refusal, which earns `paid` points more, beside a format bit that is independent of it.

    Parameters
    ----------
    paid : float
        What a refusal earns more than a call, in points; negative if a call earns more.
    refusal_rate : float
        Share of refusals, strictly between 0 and 1.
    group_size : int
        Answers of a group.
    format_points : float
        What the format bit earns, in points, not negative.
    format_rate : float
        Chance that the format is right, 0 to 1.
    eta : float
        Constant added to the standard deviation, in points.

    Returns
    -------
    float
        In advantages, without a unit.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ToolRL note §5.1 and §6.4, where the lost refusals of the equal-max scale are laid to its smaller contrast. In this
    model no scale makes a difference where nothing but the refusal varies: paid or not is all that counts. Where a
    format bit varies too, `paid` over `format_points` counts; but however little is paid, groups that agree on the
    format hear it in full, so the push does not fall to 0 with the pay.

    Examples
    --------
    A hundredth of a point teaches as much as six, and no point teaches nothing. Beside a format bit of one point that
    is right nine times in ten, the hundredth still teaches two thirds of that:

    >>> [round(refusal_push(paid, refusal_rate=0.3, group_size=4), 2) for paid in (6, 0.01, 0)]
    [1.63, 1.63, 0.0]
    >>> beside = {"refusal_rate": 0.3, "group_size": 4, "format_points": 1, "format_rate": 0.9}
    >>> [round(refusal_push(paid, **beside), 2) for paid in (6, 0.01, 0)]
    [1.63, 1.08, 0.0]
    """
    if not math.isfinite(paid):
        raise ValueError(f"paid must be finite, found {paid!r}")
    if not 0 < refusal_rate < 1:
        raise ValueError(f"refusal_rate must lie strictly between 0 and 1, found {refusal_rate!r}")
    if not 0 <= format_points < math.inf:
        raise ValueError(f"format_points must be finite and not negative, found {format_points!r}")
    if not 0 <= format_rate <= 1:
        raise ValueError(f"format_rate must lie between 0 and 1, found {format_rate!r}")
    if paid == 0:
        return 0.0
    (_, refusal), _ = _two_bit_covariances(
        format_points, paid, format_rate, refusal_rate, group_size=group_size, eta=eta
    )
    return _over_variance(refusal, refusal_rate)


def decision_credit(decisions: int, ability: float, *, group_size: int, credit: str = "partial") -> float:
    r"""Return the covariance of an answer's advantage with one of its decisions, in a finite group.

    .. math::
        \frac{\mathrm{cov}(A, x)}{\sqrt{\mathrm{var}\, x}} = \rho\, \frac{E[s]}{\sigma}

    with the correlation ρ of `toolrl_core.simulate.decisions.decision_correlation`, the reward's standard deviation σ
    and the population standard deviation s of a group's rewards.

    Parameters
    ----------
    decisions : int
        Number of independent decisions k, at least 1.
    ability : float
        Chance p that each is right, strictly between 0 and 1.
    group_size : int
        Answers of a group, at least 1.
    credit : {"partial", "exact"}
        Whether each right decision is paid, or only an answer without a mistake.

    Returns
    -------
    float
        Between 0, where groups teach nothing, and 1.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ToolRL note §5.3. A decision's expectation given the reward is a straight line in the reward under either credit, so
    its covariance with the advantage is that with the standardised reward, times E[s] / σ (eta left out). With rewards
    0 and 1 and rare successes of chance π that factor is about √((G - 1) π): a group must hold a hit to say anything.
    The correlation alone falls with p^((k-1)/2), the credit in a group with p^(k-1/2). For a strong policy both credits
    agree again.

    Examples
    --------
    Eight decisions, each right three times in ten: by correlation alone the exact reward keeps 3.5 % of the partial
    reward's signal, in groups of four answers it keeps 0.06 %. For a strong policy nearly all of it is kept:

    >>> for ability in (0.3, 0.95):
    ...     partial, exact = (
    ...         decision_credit(8, ability, group_size=4, credit=credit) for credit in ("partial", "exact")
    ...     )
    ...     print(round(exact / partial, 4))
    0.0006
    0.9599
    """
    if group_size < 1:
        raise ValueError(f"group_size must be at least 1, found {group_size!r}")
    correlation = decision_correlation(decisions, ability, credit=credit)
    whole = ability**decisions
    if credit == "exact":
        chances, deviation = np.array([1 - whole, whole]), math.sqrt(whole * (1 - whole))
    else:
        right = np.arange(decisions + 1)
        ways = np.array([math.comb(decisions, count) for count in right.tolist()], dtype=np.float64)
        chances = ways * ability**right * (1 - ability) ** (decisions - right)
        deviation = math.sqrt(decisions * ability * (1 - ability))
    return correlation * _expected_group_deviation(chances, group_size) / deviation


def expected_exact_answers(answers: ArrayLike, decisions: ArrayLike, ability: ArrayLike) -> Floats:
    r"""Return how many of some answers are expected to have every decision right.

    .. math:: n\, p^k

    Parameters
    ----------
    answers, decisions : array_like of int
        Number of answers n and of independent decisions k in each.
    ability : array_like
        Chance p that a decision is right, 0 to 1.

    Returns
    -------
    ndarray
        Expected number of answers without a mistake, in the common shape of the arguments.

    Raises
    ------
    ValueError
        If a count is negative or an ability no probability.

    Notes
    -----
    ToolRL note §5.3: an all-or-nothing reward has nothing else to learn from.

    Examples
    --------
    Of 192 answers with eight decisions, about one step in eighty has an exact one if a decision is right three times in
    ten; at nine times in ten 43 % of the answers are exact:

    >>> expected_exact_answers(192, 8, [0.3, 0.9]).round(4).tolist()
    [0.0126, 82.6497]
    """
    count, parts = np.asarray(answers, dtype=np.float64), np.asarray(decisions, dtype=np.float64)
    chance = np.asarray(ability, dtype=np.float64)
    if not ((count >= 0).all() and (parts >= 0).all()):
        raise ValueError(f"answers and decisions must not be negative, found {answers!r} and {decisions!r}")
    if not ((chance >= 0) & (chance <= 1)).all():
        raise ValueError(f"ability must lie between 0 and 1, found {ability!r}")
    result: Floats = count * chance**parts
    return result


def _two_bit_covariances(
    first_points: float, second_points: float, first_rate: float, second_rate: float, *, group_size: int, eta: float
) -> tuple[tuple[float, float], float]:
    """Return the covariance of the advantage with two bits, and the share of silent groups."""
    first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    chances = np.where(first, first_rate, 1 - first_rate) * np.where(second, second_rate, 1 - second_rate)
    groups = group_compositions(group_size, 4)
    weights = composition_chances(groups, chances)
    advantages, silent = composition_advantages(groups, first * first_points + second * second_points, eta=eta)
    mean = weights @ (groups * advantages) / group_size  # of each kind; over all kinds it adds up to 0
    return (float(mean @ first), float(mean @ second)), float(weights @ silent)


def _over_variance(value: float, rate: float) -> float:
    variance = rate * (1 - rate)
    return value / variance if variance else 0.0


def _expected_group_deviation(chances: Floats, group_size: int) -> float:
    """Return the expected population standard deviation of G draws from rewards 0, 1, … with these chances."""
    top = len(chances) - 1
    # The chance of each sum and each sum of squares is all that a deviation needs.
    table = np.zeros((top * group_size + 1, top**2 * group_size + 1))
    table[0, 0] = 1.0
    for _ in range(group_size):
        grown = np.zeros_like(table)
        for level, chance in enumerate(chances):
            rows, columns = table.shape[0] - level, table.shape[1] - level**2
            grown[level:, level**2 :] += chance * table[:rows, :columns]
        table = grown
    sums, squares = np.arange(table.shape[0])[:, np.newaxis], np.arange(table.shape[1])
    variance = np.maximum(group_size * squares - sums**2, 0) / group_size**2
    return float((table * np.sqrt(variance)).sum())
