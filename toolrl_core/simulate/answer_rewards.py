"""Pay for structured answers: the reward of any spec in closed form, and the text that the real scorer reads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from toolrl_core.simulate.answer_samples import Answers
from toolrl_core.simulate.answers import (
    EXTRA_COST,
    OPENING_COST,
    THOUGHT_WORDS,
    Booleans,
    Floats,
    Prompts,
)
from toolrl_core.spec import RewardSpec

__all__ = ["Findings", "answer_rewards", "check_spec", "examine_answers", "render_answer"]

_UNUSED = ("prefilled_thought", "schemas", "name_aliases", "unordered")


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """Hold what any reward needs to know about sampled answers; C is the axis of calls.

    Parameters
    ----------
    written : ndarray of bool, shape (A, C, G)
        Whether an expected call is in the text.
    named : ndarray of bool, shape (A, C, G)
        Whether it is there with its name.
    key_score : ndarray, shape (A, C, G)
        Jaccard index of the keys.
    right : ndarray, shape (A, C, G)
        Number of right values.
    same_keys, exact : ndarray of bool, shape (A, C, G)
        Whether the keys are the expected ones; whether the arguments are.
    names, wrong_names, surplus : ndarray, shape (A, Q, G)
        Written calls with the right name, with a wrong one, and beyond the expected ones.
    cut : ndarray of bool, shape (A, Q, G)
        Whether the limit of tokens kept a call from being written.
    """

    written: Booleans
    named: Booleans
    key_score: Floats
    right: Floats
    same_keys: Booleans
    exact: Booleans
    names: Floats
    wrong_names: Floats
    surplus: Floats
    cut: Booleans


def examine_answers(answers: Answers, prompts: Prompts) -> Findings:
    """Find out what is right about sampled answers.

    An answer writes its calls in the order of the ground truth, then those nobody asked for. Where the limit of tokens
    applies, it stops before the first call that does not fit and leaves its block open.

    Parameters
    ----------
    answers : Answers
        The samples.
    prompts : Prompts
        What was asked for.

    Returns
    -------
    Findings
    """
    choices = answers.choices
    value = choices["parameter"]
    right, wrong_value, wrong_key = (prompts.sum_parameters(value == outcome) for outcome in (0, 1, 3))
    expected = prompts.parameters[np.newaxis, :, np.newaxis]
    extra_key = choices["extra_key"] == 1
    given = right + wrong_value
    same_keys = (given == expected) & (wrong_key == 0) & ~extra_key

    calling = choices["call"] == 1
    meant = calling[:, prompts.call_prompt] & (choices["further"] == 1)
    cost = meant * prompts.call_cost[np.newaxis, :, np.newaxis]
    spent = np.concatenate([np.zeros((len(cost), 1, cost.shape[2]), np.int64), np.cumsum(cost, axis=1)], axis=1)
    first = np.cumsum(prompts.calls) - prompts.calls
    up_to = spent[:, 1:] - spent[:, first[prompts.call_prompt]]
    room = prompts.budget[:, np.newaxis] - THOUGHT_WORDS[choices["length"]] - OPENING_COST
    room = np.where(answers.limited, room, np.inf)
    written = meant & (up_to <= room[:, prompts.call_prompt])
    unasked = np.where(calling, choices["extra_calls"] + ~prompts.needs_call[:, np.newaxis], 0)
    space = np.floor(np.maximum(room - prompts.sum_calls(cost), 0) / EXTRA_COST)
    surplus = np.minimum(unasked, space)
    cut = (prompts.sum_calls(meant & ~written) > 0) | (surplus < unasked)
    named = written & (choices["name"] == 1)
    return Findings(
        written=written,
        named=named,
        key_score=given / (expected + wrong_key + extra_key),
        right=right,
        same_keys=same_keys,
        exact=same_keys & (right == expected),
        names=prompts.sum_calls(named),
        wrong_names=prompts.sum_calls(written & ~named),
        surplus=surplus,
        cut=cut,
    )


def check_spec(spec: RewardSpec) -> None:
    """Refuse a spec whose reward has no closed form here.

    Raises
    ------
    ValueError
        If the spec has schemas, name aliases, unordered lists or a prefilled thought; the answers have no such thing.

    Examples
    --------
    >>> check_spec(RewardSpec(prefilled_thought=True))
    Traceback (most recent call last):
        ...
    ValueError: structured answers have no use for prefilled_thought=True: leave it at its default
    """
    for option in _UNUSED:
        value = getattr(spec, option)
        if value:
            raise ValueError(f"structured answers have no use for {option}={value!r}: leave it at its default")


def answer_rewards(
    findings: Findings, answers: Answers, prompts: Prompts, spec: RewardSpec, *, arm: int, step: float | None = None
) -> Floats:
    r"""Return the total reward of one arm's answers under a spec, as `score` gives it to the rendered text.

    Parameters
    ----------
    findings : Findings
        See `examine_answers`.
    answers : Answers
        The samples.
    prompts : Prompts
        What was asked for.
    spec : RewardSpec
        Any preset, and any spec that `check_spec` admits.
    arm : int
        Which arm's answers.
    step : float, optional
        Training step, where the spec needs one.

    Returns
    -------
    ndarray, shape (Q, G)
        In points.

    Raises
    ------
    ValueError
        If the spec has no closed form here, or needs a step.

    Notes
    -----
    ToolRL note §3.3, §5 and §6.1. Every expected call has a parameter and its keys occur in no other call, so that a
    predicted call can earn something at its own place alone: every matching rule finds these pairs, and nothing is
    left out. A call without parameters would be the one exception: an empty prediction of another place equals it.
    All equality policies agree on the two values that occur. Where the limit of tokens cuts an answer, the released
    parser finds no block that it can read.
    """
    check_spec(spec)
    scales = spec.schedule.at(step)
    expected = prompts.calls[:, np.newaxis].astype(np.float64)
    matched, maximum = _raw_points(findings, prompts, spec, arm, expected)
    low, high = scales.correctness
    correctness = np.where(matched == maximum, high, low + (high - low) * matched / maximum)
    if spec.parser == "released":
        correctness = np.where(_unreadable(findings, answers, arm), low, correctness)
    if spec.no_call == "zero":
        correctness = np.where(expected == 0, 0.0, correctness)
    total: Floats = correctness
    if spec.format_rule != "none":
        holds = _format_holds(findings, answers, prompts, spec, arm)
        total = total + np.where(holds, scales.format[1], scales.format[0])
    if spec.length_reward is not None:
        points = [spec.length_reward("word " * int(words), step) for words in THOUGHT_WORDS]
        total = total + np.array(points)[answers.choices["length"][arm]]
    return total


def _raw_points(
    findings: Findings, prompts: Prompts, spec: RewardSpec, arm: int, expected: Floats
) -> tuple[Floats, Floats]:
    names, wrong, surplus = findings.names[arm], findings.wrong_names[arm], findings.surplus[arm]
    strange = wrong + surplus
    named = _name_points(names, strange, expected, prompts, spec)
    pairs = prompts.sum_calls(_pair_points(findings, prompts, spec, arm)[np.newaxis])[0]
    if spec.granularity == "answer":
        if spec.credit == "partial":
            return np.where(expected > 0, named * pairs / np.maximum(expected, 1), named), np.ones_like(named)
        perfect = prompts.sum_calls((findings.named & findings.exact)[arm][np.newaxis])[0]
        return ((perfect == expected) & (strange == 0)).astype(np.float64), np.ones_like(named)
    maximum = 1 + expected
    if spec.granularity == "parameter":
        maximum = maximum + prompts.sum_calls(prompts.parameters[np.newaxis])[0][:, np.newaxis]
    if spec.extra_calls == "counted":
        maximum = maximum + strange
    return named + pairs, np.broadcast_to(maximum, named.shape)


def _name_points(names: Floats, strange: Floats, expected: Floats, prompts: Prompts, spec: RewardSpec) -> Floats:
    if spec.names == "set" and not (spec.ordered and spec.exact_names):
        one_tool = prompts.same_name[:, np.newaxis]
        common = np.where(one_tool, np.minimum(names, 1), names)
        union = np.where(one_tool, np.minimum(expected, 1), expected) + strange
    else:
        common, union = names, expected + strange
    if spec.exact_names:
        return np.asarray(common == union, dtype=np.float64)
    return np.where(union > 0, common / np.maximum(union, 1), 1.0)


def _pair_points(findings: Findings, prompts: Prompts, spec: RewardSpec, arm: int) -> Floats:
    """Return the points of each expected call, shape (C, G)."""
    paired = findings.named[arm] if spec.same_name else findings.written[arm]
    exact, right = findings.exact[arm], findings.right[arm]
    if spec.granularity != "parameter" and spec.call_equality == "object":
        return np.asarray(findings.named[arm] & exact, dtype=np.float64)
    if spec.credit == "partial":
        points = findings.key_score[arm] + right
        if spec.granularity != "parameter":
            points = points / (1 + prompts.parameters[:, np.newaxis])
    else:
        points = findings.same_keys[arm] + right if spec.granularity == "parameter" else exact.astype(np.float64)
    return np.where(paired, points, 0.0)


def _unreadable(findings: Findings, answers: Answers, arm: int) -> Booleans:
    """Tell where the released parser reads no call: a block that was left open, or that was left empty."""
    empty = findings.names[arm] + findings.wrong_names[arm] + findings.surplus[arm] == 0
    unreadable: Booleans = findings.cut[arm] & ((answers.choices["format"][arm] == 1) | empty)
    return unreadable


def _format_holds(findings: Findings, answers: Answers, prompts: Prompts, spec: RewardSpec, arm: int) -> Booleans:
    """Tell where the format holds; only the literal rule is indifferent to calling where a response is due."""
    holds: Booleans = answers.choices["format"][arm] == 1
    if spec.format_rule == "literal":
        return holds
    holds = holds & ((answers.choices["call"][arm] == 1) == prompts.needs_call[:, np.newaxis])
    return holds if spec.format_rule == "ordered_tags" else holds & ~findings.cut[arm]


def render_answer(answers: Answers, prompts: Prompts, *, arm: int, prompt: int, rollout: int) -> tuple[str, str]:
    """Write one sampled answer and its ground truth as text.

    A broken format puts the thought behind the calls or the response.

    Parameters
    ----------
    answers : Answers
        The samples.
    prompts : Prompts
        What was asked for.
    arm, prompt, rollout : int
        Which answer.

    Returns
    -------
    completion, ground_truth : str
        Texts for `toolrl_core.score`.
    """
    findings = examine_answers(answers, prompts)
    choices = {family: choice[arm, :, rollout] for family, choice in answers.choices.items()}
    first = int(prompts.calls[:prompt].sum())
    expected: list[dict[str, Any]] = []
    predicted: list[dict[str, Any]] = []
    for place, call in enumerate(range(first, first + int(prompts.calls[prompt]))):
        name = "tool" if prompts.same_name[prompt] else f"tool_{place}"
        begin, count = int(prompts.parameters[:call].sum()), int(prompts.parameters[call])
        keys = [f"call_{place}_key_{key}" for key in range(count)]
        expected.append({"name": name, "parameters": dict.fromkeys(keys, "right")})
        if findings.written[arm, call, rollout]:
            arguments: dict[str, str] = {}
            for key, outcome in zip(keys, choices["parameter"][begin : begin + count].tolist(), strict=True):
                if outcome != 2:
                    arguments[f"not_{key}" if outcome == 3 else key] = "wrong" if outcome == 1 else "right"
            if choices["extra_key"][call]:
                arguments["not_asked_for"] = "right"
            predicted.append({"name": name if choices["name"][call] else f"other_{place}", "parameters": arguments})
    surplus = int(findings.surplus[arm, prompt, rollout])
    predicted += [{"name": f"surplus_{number}", "parameters": {}} for number in range(surplus)]
    words = " ".join(["word"] * int(THOUGHT_WORDS[choices["length"][prompt]]))
    body = _block(predicted, calling=bool(choices["call"][prompt]))
    thought = f"<think>{words}</think>"
    holds = bool(choices["format"][prompt])
    if findings.cut[arm, prompt, rollout] and holds:
        body = body.removesuffix("\n</tool_call>")
    completion = f"{thought}\n{body}" if holds else f"{body}\n{thought}"
    return completion, f"<think>words</think>\n{_block(expected, calling=bool(expected))}"


def _block(calls: list[dict[str, Any]], *, calling: bool) -> str:
    if not calling:
        return "<response>words</response>"
    return "\n".join(["<tool_call>", *map(json.dumps, calls), "</tool_call>"])
