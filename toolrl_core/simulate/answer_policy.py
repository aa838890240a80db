"""Decide structured answers with 31 logits that all prompts share: probabilities and exact evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from toolrl_core.field_checks import check_real
from toolrl_core.simulate.answers import (
    OPENING_COST,
    THOUGHT_WORDS,
    Booleans,
    Floats,
    Integers,
    Prompts,
    World,
)

__all__ = [
    "LOGITS",
    "METRICS",
    "BaseStrength",
    "Decision",
    "decisions",
    "evaluate_policy",
    "initial_logits",
    "log_probabilities",
]

LOGITS = 31
"""Number of logits of the policy."""
METRICS = ("exact", "usable", "refusal", "recall", "format", "thought_length")
"""What an evaluation measures."""
_FORMAT, _CALL, _CUE, _FURTHER, _NAME, _EXTRA_KEY, _EXTRA_CALLS, _LENGTH, _VALUES = 0, 1, 2, 3, 7, 8, 9, 12, 19
_CERTAIN = 40.0
_OUTCOMES = 4
Level = Literal["prompt", "call", "parameter"]


@dataclass(frozen=True, kw_only=True)
class BaseStrength:
    """State how good the policy is before training.

    Parameters
    ----------
    strength : float
        Shift of all content decisions, in logits; at 0 about one answer in twelve is exact.
    call_bias, call_cue : float
        Logit of calling, and how strongly the cue moves it. A positive bias calls too often.
    format_logit : float, optional
        Logit of the format; by default strength - 1.

    Raises
    ------
    ValueError
        If a field is no finite number; the message names it.

    Examples
    --------
    >>> BaseStrength(strength=2.0).call_bias
    1.3
    """

    strength: float = 0.0
    call_bias: float = 1.3
    call_cue: float = 0.8
    format_logit: float | None = None

    def __post_init__(self) -> None:
        for name in ("strength", "call_bias", "call_cue"):
            check_real(name, getattr(self, name))
        if self.format_logit is not None:
            check_real("format_logit", self.format_logit)


class Decision(NamedTuple):
    """Hold one family of decisions; each entry chooses one of K outcomes.

    Parameters
    ----------
    level : {"prompt", "call", "parameter"}
        What the entries belong to.
    seed : ndarray of int, shape (entries,)
        Seed of each entry.
    terms : tuple of (index, factor), each of shape (entries, K)
        Which logits add up to an outcome's; index 31 stands for none.
    offset : ndarray, shape (entries, K)
        Fixed part of the logits.
    """

    level: Level
    seed: Integers
    terms: tuple[tuple[Integers, Floats], ...]
    offset: Floats


def initial_logits(base: BaseStrength) -> Floats:
    """Return the logits before training.

    Parameters
    ----------
    base : BaseStrength
        How good the policy is.

    Returns
    -------
    ndarray, shape (31,)
        Format; bias and cue of calling; the four further calls; name; extra key; three numbers of extra calls; seven
        lengths; four outcomes of each of three kinds of parameter.

    Notes
    -----
    The numbers are invented; they give a base that is better at names than at values and calls too often.

    Examples
    --------
    >>> initial_logits(BaseStrength(strength=1.0))[:3].tolist()
    [0.0, 1.3, 0.8]
    """
    strength, logits = base.strength, np.zeros(LOGITS)
    logits[_FORMAT] = strength - 1 if base.format_logit is None else base.format_logit
    logits[_CALL], logits[_CUE] = base.call_bias, base.call_cue
    logits[_FURTHER:_NAME] = 0.5 + 0.7 * strength
    logits[_NAME] = 0.8 + 0.8 * strength
    logits[_EXTRA_KEY] = -2 - 0.3 * strength
    logits[_EXTRA_CALLS:_LENGTH] = (0.0, -1.5 - 0.3 * strength, -2.5 - 0.3 * strength)
    logits[_LENGTH:_VALUES] = -0.5 * (np.arange(len(THOUGHT_WORDS)) - 2) ** 2 / 1.2
    for kind, ease in enumerate((0.7, 0.0, -0.9)):
        first = _VALUES + _OUTCOMES * kind
        logits[first : first + _OUTCOMES] = (0.3 + 0.9 * strength + ease, 0.0, -1.0, -1.0)
    return logits


def decisions(prompts: Prompts) -> dict[str, Decision]:
    """List the decisions that prompts ask for, by family.

    Parameters
    ----------
    prompts : Prompts
        What is asked for.

    Returns
    -------
    dict of str to Decision
        The same eight families for every batch of prompts.

    Examples
    --------
    >>> from toolrl_core.simulate.answers import draw_prompts
    >>> sorted(decisions(draw_prompts([np.random.default_rng(0)], 2, World())))[:3]
    ['call', 'extra_calls', 'extra_key']
    """
    by_prompt = prompts.prompt_seed
    by_call = by_prompt[prompts.call_prompt]
    by_parameter = by_call[prompts.parameter_call]
    count, calls, values = len(by_prompt), len(by_call), len(by_parameter)
    further = np.where(prompts.call_place == 0, LOGITS, _FURTHER - 1 + prompts.call_place)
    further_offset = np.where(prompts.call_place == 0, _CERTAIN, prompts.call_offset)
    value_offset = np.zeros((values, _OUTCOMES))
    value_offset[:, 0] = prompts.parameter_offset
    nothing = np.zeros(count)
    return {
        "format": _yes_or_no("prompt", by_prompt, np.full(count, _FORMAT), prompts.format_offset),
        "call": _yes_or_no("prompt", by_prompt, np.full(count, _CALL), nothing, cue=prompts.cue),
        "further": _yes_or_no("call", by_call, further, further_offset),
        "name": _yes_or_no("call", by_call, np.full(calls, _NAME), prompts.name_offset),
        "extra_key": _yes_or_no("call", by_call, np.full(calls, _EXTRA_KEY), np.zeros(calls)),
        "parameter": _choice("parameter", by_parameter, _VALUES + _OUTCOMES * prompts.kind, value_offset),
        "extra_calls": _choice("prompt", by_prompt, np.full(count, _EXTRA_CALLS), np.zeros((count, 3))),
        "length": _choice("prompt", by_prompt, np.full(count, _LENGTH), np.zeros((count, len(THOUGHT_WORDS)))),
    }


def _yes_or_no(level: Level, seed: Integers, index: Integers, offset: Floats, *, cue: Floats | None = None) -> Decision:
    none = np.full(len(seed), LOGITS)
    ones = np.ones((len(seed), 2))
    terms = [(np.stack([none, index], 1), ones)]
    if cue is not None:
        terms.append((np.stack([none, np.full(len(seed), _CUE)], 1), np.stack([np.zeros(len(seed)), cue], 1)))
    return Decision(level, seed, tuple(terms), np.stack([np.zeros(len(seed)), offset], 1))


def _choice(level: Level, seed: Integers, first: Integers, offset: Floats) -> Decision:
    index = first[:, np.newaxis] + np.arange(offset.shape[1])
    return Decision(level, seed, ((index, np.ones(offset.shape)),), offset)


def log_probabilities(logits: Floats, table: Mapping[str, Decision]) -> dict[str, Floats]:
    """Return the log-probability of every outcome of every decision.

    Parameters
    ----------
    logits : ndarray, shape (A, S, 31)
        One policy for each arm and seed.
    table : mapping of str to Decision
        See `decisions`.

    Returns
    -------
    dict of str to ndarray, shape (A, entries, K)
        In nats.
    """
    padded = np.concatenate([logits, np.zeros((*logits.shape[:2], 1))], axis=2)
    result = {}
    for family, decision in table.items():
        scores = np.broadcast_to(decision.offset, (len(logits), *decision.offset.shape)).copy()
        for index, factor in decision.terms:
            scores += padded[:, decision.seed[:, np.newaxis], index] * factor
        scores -= scores.max(axis=2, keepdims=True)
        result[family] = scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))
    return result


def evaluate_policy(logits: Floats, prompts: Prompts, world: World) -> dict[str, Floats]:
    """Evaluate policies exactly, without sampling.

    Parameters
    ----------
    logits : ndarray, shape (A, S, 31)
        One policy for each arm and seed.
    prompts : Prompts
        Prompts of S seeds.
    world : World
        Its `budget_share` is used.

    Returns
    -------
    dict of str to ndarray, shape (A, S)
        Mean probabilities over prompts: "exact" (the calls are the expected ones) and "usable" (exact, and the format
        holds) where calls are needed, "recall" (any call) there, "refusal" (no call) where none is needed, "format"
        (the format decision alone) everywhere; "thought_length" in words. NaN where a seed has no such prompt.
    """
    outcomes = log_probabilities(logits, decisions(prompts))
    call = outcomes["further"][..., 1] + outcomes["name"][..., 1] + outcomes["extra_key"][..., 0]
    call = call + prompts.sum_parameters(outcomes["parameter"][..., 0])
    right = np.exp(outcomes["call"][..., 1] + outcomes["extra_calls"][..., 0] + prompts.sum_calls(call))
    length = np.exp(outcomes["length"])
    needed = OPENING_COST + prompts.sum_calls(prompts.call_cost[np.newaxis])[0]
    fits = needed[:, np.newaxis] + THOUGHT_WORDS <= prompts.budget[:, np.newaxis]
    exact = right * (length * np.where(fits, 1.0, 1.0 - world.budget_share)).sum(axis=2)
    calling, holds = np.exp(outcomes["call"][..., 1]), np.exp(outcomes["format"][..., 1])
    needs, everywhere = prompts.needs_call, np.ones(len(prompts), dtype=np.bool_)

    def mean(values: Floats, where: Booleans) -> Floats:
        by_seed = (len(values), prompts.seeds, prompts.per_seed)
        count = where.reshape(by_seed[1:]).sum(axis=1)
        total = np.where(where, values, 0.0).reshape(by_seed).sum(axis=2)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    return {
        "exact": mean(exact, needs),
        "usable": mean(exact * holds, needs),
        "refusal": mean(1 - calling, ~needs),
        "recall": mean(calling, needs),
        "format": mean(holds, everywhere),
        "thought_length": mean((length * THOUGHT_WORDS).sum(axis=2), everywhere),
    }
