"""Where the points went: every point between a score and its ceiling gets a cause, a tool and a parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.equality import comparison
from toolrl_core.explanation import explain
from toolrl_core.json_calls import RawCall
from toolrl_core.pairs import Target, canonical_names, count_pair, key_score
from toolrl_core.points import Comparison, Outcome, PairScore
from toolrl_core.reading import Reading
from toolrl_core.schedules import Scales
from toolrl_core.spec import RewardSpec

__all__ = ["CAUSES", "Loss", "lost_points", "outcome_losses"]

CAUSES = {
    "format": "the format rule does not hold",
    "names": "names missing, wrong or too many",
    "missing_call": "an expected call that no predicted call could be paired with",
    "missing_argument": "an expected argument left out: its key and its value",
    "wrong_value": "an expected argument with a wrong value",
    "extra_argument": "an argument that is not expected",
    "extra_call": "a call beyond the expected ones",
    "wrong_call": "a call that is not right as a whole (tiers that do not look inside)",
    "length": "the thought is shorter than the target",
}
"""The causes of lost points, in words."""


class Loss(NamedTuple):
    """State some lost points.

    Parameters
    ----------
    cause : str
        A key of `CAUSES`.
    points : float
        How many, in points of the reward.
    tool, parameter : str
        Where; empty where the loss belongs to no tool or no parameter of the ground truth.
    """

    cause: str
    points: float
    tool: str = ""
    parameter: str = ""


def lost_points(breakdown: RewardBreakdown) -> list[Loss]:
    """Take apart what a completion lost.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.

    Returns
    -------
    list of Loss
        The losses; their points add up to the ceiling less the total, within 1e-9. The key score of a pair is a
        Jaccard index, so its loss is shared between missing and extra keys in proportion to their number.

    Notes
    -----
    ToolRL note §6.1 defines the terms.

    Examples
    --------
    One wrong value of two: 6 points over S = 4 raw points are 1.5 each.

    >>> from toolrl_core.rewards import score
    >>> gold = [{"name": "f", "parameters": {"a": 1, "b": 2}}]
    >>> lost_points(score([{"name": "f", "parameters": {"a": 1, "b": 3}}], gold))
    [Loss(cause='wrong_value', points=1.5, tool='f', parameter='b')]
    """
    return [loss for loss in _losses(breakdown) if loss.points > 1e-12]


def outcome_losses(
    outcome: Outcome, reading: Reading, target: Target, spec: RewardSpec, scales: Scales, step: float | None
) -> tuple[Loss, ...]:
    """Take apart what a completion lost, from the numbers of its score.

    Parameters
    ----------
    outcome, reading, target, spec, scales, step
        As `toolrl_core.explanation.explain` takes them.

    Returns
    -------
    tuple of Loss
        Those of `lost_points`, without the detour over an account of every point where the options are usual.
    """
    compared = outcome.comparison
    usual = spec.granularity == "parameter" and spec.credit == "partial" and not compared.shortcut
    usual = usual and spec.same_name  # else an explanation chooses among equally good matchings
    counted = bool(target.calls) or spec.no_call == "scored"
    if not usual or compared.failed or not counted:
        return tuple(lost_points(explain(outcome, reading, target, spec, scales, step)))
    low, high = scales.correctness
    point = (high - low) / compared.maximum
    found = []
    if outcome.format is not None and spec.format_rule != "none":
        found.append(Loss("format", scales.format[1] - outcome.format))
    if spec.length_reward is not None:
        found.append(Loss("length", 1.0 - outcome.length))
    if compared.matched < compared.maximum:
        found.append(Loss("names", point * (1 - compared.name_score)))
        found += _call_losses(compared, reading.calls, target, spec, point)
        found.append(Loss("extra_call", point * (compared.maximum - target.maximum)))
    return tuple([loss for loss in found if loss.points > 1e-12])


def _call_losses(
    compared: Comparison, calls: Sequence[RawCall], target: Target, spec: RewardSpec, point: float
) -> Iterator[Loss]:
    scored = dict(compared.assignment.pairs)
    taken = set(scored.values())
    names = canonical_names(calls, spec)
    compare = comparison(spec.equality)
    for j, expected in enumerate(target.calls):
        i = scored.get(j)
        if i is None:  # a pair without points is shown with a free call of its name, as in an explanation
            i = next((i for i, name in enumerate(names) if i not in taken and name == expected.name), None)
            taken |= set() if i is None else {i}
        name, required = expected.call.name, expected.required
        if i is None or i >= len(calls):
            score = 0.0 if i is None else target.score_pair(expected, _NOTHING)
            yield Loss("missing_call", point * (1 + len(required) - score), name)
            continue
        arguments, is_scored = calls[i].arguments or {}, j in scored
        shared, right, given = count_pair(expected, arguments, compare)
        if is_scored and shared == right == given == len(required):
            continue
        extra = given - shared
        missing = len(required) - shared
        gap = point * (1 - (key_score(shared, given, len(required)) if is_scored else 0.0))
        each = gap / (missing + extra) if missing or extra else 0.0
        for key, value in required.items():
            if key not in arguments:
                yield Loss("missing_argument", each + point, name, key)
                continue
            found = arguments[key]
            good = compare(value, found) if expected.values is not None else expected.matchers[key](found)
            if not (good and is_scored):
                yield Loss("wrong_value", point, name, key)
        yield Loss("extra_argument", each * extra, name)
        if not missing and not extra:
            yield Loss("missing_call", gap, name)


_NOTHING = RawCall("", {}, None, 0)


def _losses(breakdown: RewardBreakdown) -> Iterator[Loss]:
    spec, point = breakdown.spec, breakdown.point
    if breakdown.format is not None and spec.format_rule != "none":
        yield Loss("format", breakdown.scales.format[1] - breakdown.format)
    if spec.length_reward is not None:
        yield Loss("length", 1.0 - breakdown.length)
    if not breakdown.scored:
        return
    gap = point * (breakdown.maximum - breakdown.matched)
    if breakdown.shortcut or spec.granularity == "answer":
        yield Loss("wrong_call", gap)
        return
    yield Loss("names", point * (1 - breakdown.name_score))
    available = 0.0
    for pair in breakdown.pairs:
        available += pair.available
        if pair.predicted_index is None:
            yield Loss("missing_call", point * (pair.available - pair.score), pair.name)
        elif spec.granularity == "call":
            yield Loss("wrong_call", point * (1 - pair.score), pair.name)
        else:
            yield from _pair_losses(pair, point)
    yield Loss("extra_call", point * (breakdown.maximum - 1 - available))


def _pair_losses(pair: PairScore, point: float) -> Iterator[Loss]:
    missing = [key.key for key in pair.keys if key.state == "missing"]
    extra = [key.key for key in pair.keys if key.state in ("extra", "wrong_optional_value")]
    gap = point * (1 - pair.key_score)
    each = gap / (len(missing) + len(extra)) if missing or extra else 0.0
    for key in pair.keys:
        if key.state == "missing":
            yield Loss("missing_argument", each + point, pair.name, key.key)
        elif key.state in ("right", "wrong_value") and key.value_score < 1:
            yield Loss("wrong_value", point * (1 - key.value_score), pair.name, key.key)
    yield Loss("extra_argument", each * len(extra), pair.name)
    if not missing and not extra:  # a pair that scored nothing: its name differs
        yield Loss("missing_call", gap, pair.name)
