"""Add up what the calls of one answer earn: the joint distribution of reward and right parts on one prompt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from toolrl_core.simulate.policies import CallOutcomes, PolicySettings, Prompt, call_outcomes

if TYPE_CHECKING:
    from toolrl_core.spec import RewardSpec

__all__ = ["DECIMALS", "PARTS", "JointDistribution", "prompt_joint"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

PARTS: Final = ("names", "keys", "values")
"""Parts of an answer that can be counted as right."""

DECIMALS: Final = 11
"""Rewards are rounded to so many decimals; two rewards of one policy space that differ at all differ by far more."""


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """Hold the joint distribution of the reward and of what is right in the answer.

    Parameters
    ----------
    rewards, right : ndarray of float64, shape (pairs,)
        Reward in points, and number (or share) of right parts.
    probabilities : ndarray of float64, shape (pairs,)
        They sum to 1.
    """

    rewards: FloatArray
    right: FloatArray
    probabilities: FloatArray


def prompt_joint(
    prompt: Prompt, settings: PolicySettings, spec: RewardSpec, parts: tuple[str, ...], *, normalised: bool
) -> JointDistribution:
    """Convolve the outcomes of the calls of one prompt.

    A state packs four integers that add up over calls: right names, complete calls, right parts, pair credit in units
    of 1 / `unit`.
    """
    unit = math.lcm(*(_denominator(spec, size) for size in prompt.parameters))
    right_base = prompt.calls + 1
    parts_base = right_base * (prompt.calls + 1)
    credit_base = parts_base * (prompt.calls + 2 * sum(prompt.parameters) + 1)
    states, chances = np.zeros(1, dtype=np.int64), np.ones(1)
    for size in prompt.parameters:
        outcomes = call_outcomes(prompt.ability, settings, size)
        complete = outcomes.name_right * (outcomes.values_right == size)
        counted = {"names": outcomes.name_right, "keys": outcomes.keys_right, "values": outcomes.values_right}
        step = outcomes.name_right + right_base * complete + parts_base * sum(counted[part] for part in parts)
        step = step + credit_base * _credit_units(outcomes, spec, size, unit)
        states, chances = _sum_out(
            (states[:, None] + step).ravel(), (chances[:, None] * outcomes.probabilities).ravel()
        )
    names, complete = states % right_base, states // right_base % right_base
    right, pairs = states % credit_base // parts_base, states // credit_base / unit
    matched, maximum = _matched(prompt, spec, _name_score(spec, settings, prompt.calls, names), complete, pairs)
    if spec.extra_calls == "counted" and spec.granularity != "answer":
        maximum = maximum + (prompt.calls - names)
    low, high = spec.schedule.at(None).correctness
    rewards = low + (high - low) * matched / maximum if normalised else matched
    return JointDistribution(np.round(rewards, DECIMALS), right.astype(np.float64), chances)


def _name_score(spec: RewardSpec, settings: PolicySettings, calls: int, right: IntArray) -> FloatArray:
    """Return the name term where `right` of `calls` names are right and the others are new."""
    wrong = calls - right
    if spec.exact_names:
        return np.asarray(wrong == 0, dtype=np.float64)
    if spec.names == "set" and settings.tools == "repeated":
        return np.asarray((right > 0) / (1.0 + wrong), dtype=np.float64)
    return np.asarray(right / (calls + wrong), dtype=np.float64)


def _matched(
    prompt: Prompt, spec: RewardSpec, names: FloatArray, complete: IntArray, pairs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return matched credit and its maximum for each state, before extra calls are counted."""
    calls = prompt.calls
    if spec.granularity == "answer":
        matched = (complete == calls).astype(np.float64) if spec.credit == "exact" else names * pairs / calls
        return matched, np.ones(len(matched))
    keys = sum(prompt.parameters) if spec.granularity == "parameter" else 0
    return names + pairs, np.full(len(pairs), 1.0 + calls + keys)


def _credit_units(outcomes: CallOutcomes, spec: RewardSpec, size: int, unit: int) -> IntArray:
    """Return the credit of a pair in whole units of 1 / `unit`."""
    keys, values = outcomes.keys_right, outcomes.values_right
    if spec.credit == "exact":
        complete = (values == size).astype(np.int64)
        credit = unit * (complete if spec.granularity != "parameter" else (keys == size) + values)
    else:
        union = 2 * size - keys
        jaccard = np.where(union > 0, unit * keys // np.maximum(union, 1), unit)
        credit = jaccard + unit * values
        if spec.granularity != "parameter":
            credit = credit // (1 + size)
    gated = spec.same_name or (spec.call_equality == "object" and spec.granularity == "call" and spec.credit == "exact")
    return np.asarray(credit * outcomes.name_right if gated else credit, dtype=np.int64)


def _denominator(spec: RewardSpec, size: int) -> int:
    """Return a number that makes every pair credit of a call with `size` parameters a whole number of units."""
    if spec.credit == "exact":
        return 1
    jaccard = math.lcm(*range(max(1, size), 2 * size + 1))
    return jaccard if spec.granularity == "parameter" else jaccard * (1 + size)


def _sum_out(states: IntArray, chances: FloatArray) -> tuple[IntArray, FloatArray]:
    """Add up the probabilities of equal states."""
    distinct, place = np.unique(states, return_inverse=True)
    return distinct, np.bincount(place, weights=chances, minlength=len(distinct)).astype(np.float64)
