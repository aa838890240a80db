"""Find ground truths that mislead a reward: they cannot reach the maximum, repeat themselves, or break their schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolrl_core.calls import AcceptedCall, GroundTruthError, ToolCall, first_value
from toolrl_core.equality import json_equal
from toolrl_core.ground_truth import GroundTruth, parse_ground_truth, render_completion, single_valued
from toolrl_core.rewards import score
from toolrl_core.schedules import Scales
from toolrl_core.spec import RewardSpec

__all__ = ["LINTS", "Lint", "lint_ground_truth"]

LINTS = {
    "unreachable": "the ground truth itself, written as a completion, does not score the maximum",
    "duplicate_call": "the same call is expected twice",
    "numeric_text": "a number is expected as text, so a model that writes the number is wrong",
    "null_argument": "an argument is expected to be null; columnar files fill missing arguments so",
    "wrong_type": "an expected value has not the type that the tool's schema declares",
    "missing_required": "the tool's schema requires an argument that is not expected",
    "undeclared_argument": "the tool's schema does not know an expected argument",
    "undeclared_tool": "the tool is not among those on offer",
    "tag_in_value": "an expected value holds a tag of the format, which the released parser cuts at",
    "tag_in_thought": "the thought of the ground truth mentions <tool_call>, where the released code fails",
    "unreadable": "the ground truth cannot be read",
}
"""What `lint_ground_truth` looks for, in words."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}
_TAGS = ("<tool_call>", "</tool_call>", "<response>", "</response>", "<think>", "</think>")


class Lint(NamedTuple):
    """State one fault of a ground truth.

    Parameters
    ----------
    code : str
        A key of `LINTS`.
    detail : str
        Where, and what was found.
    """

    code: str
    detail: str


def lint_ground_truth(
    ground_truth: Any,
    *,
    schemas: Mapping[str, Any] | None = None,
    specs: Mapping[str, RewardSpec] | None = None,
    step: float | None = None,
) -> tuple[Lint, ...]:
    """List the faults of one ground truth.

    Parameters
    ----------
    ground_truth : any form of `parse_ground_truth`
        The ground truth.
    schemas : mapping, optional
        Parameter schemas of the tools on offer, by tool.
    specs : mapping of str to RewardSpec, optional
        Rewards whose maximum must be reachable; paper, released and robust by default.
    step : float, optional
        Training step for schedules.

    Returns
    -------
    tuple of Lint
        The faults; empty where there are none.

    Examples
    --------
    >>> lint_ground_truth([{"name": "news", "parameters": {"page": "1"}}])
    (Lint(code='numeric_text', detail="call 0 news, page: '1'"),)
    >>> lint_ground_truth([{"name": "f", "parameters": {"a": 1}}] * 2)[0].code
    'duplicate_call'
    """
    try:
        truth = parse_ground_truth(ground_truth)
    except GroundTruthError as error:
        return (Lint("unreadable", str(error)),)
    found = [*_repeated(truth), *_tags(truth), *_values(truth, schemas)]
    found += _unreachable(truth, specs, step)
    return tuple(dict.fromkeys(found))


def _unreachable(truth: GroundTruth, specs: Mapping[str, RewardSpec] | None, step: float | None) -> Iterator[Lint]:
    if specs is None:
        specs = {name: RewardSpec.preset(name) for name in ("paper", "released", "robust")}
    text = truth.text if truth.text is not None else render_completion(truth)
    for name, spec in specs.items():
        gold = single_valued(truth) if spec.parser == "released" else truth
        reached = score(text, gold, spec.replace(length_reward=None), step=step)
        ceiling = highest(truth, spec, reached.scales)
        if reached.total < ceiling - 1e-9:
            yield Lint("unreachable", f"{name}: {reached.total:g} of {ceiling:g} points")


def highest(truth: GroundTruth, spec: RewardSpec, scales: Scales, *, text: bool = True) -> float:
    """Return the highest total, without a length reward, that a ground truth offers.

    Parameters
    ----------
    truth : GroundTruth
        The ground truth.
    spec : RewardSpec
        The reward.
    scales : Scales
        Its scales.
    text : bool
        Whether completions are text, and so have a format.

    Returns
    -------
    float
        Points.

    Examples
    --------
    >>> spec = RewardSpec.preset("released")
    >>> highest(parse_ground_truth([]), spec, spec.schedule.at(None))
    1.0
    """
    correctness = scales.correctness[1] if truth.calls or spec.no_call == "scored" else 0.0
    return correctness + (scales.format[1] if text and spec.format_rule != "none" else 0.0)


def _repeated(truth: GroundTruth) -> Iterator[Lint]:
    for index, call in enumerate(truth.calls):
        if any(call.name == other.name and _same(call, other) for other in truth.calls[:index]):
            yield Lint("duplicate_call", f"call {index} {call.name}")


def _same(first: ToolCall | AcceptedCall, second: ToolCall | AcceptedCall) -> bool:
    if isinstance(first, ToolCall) and isinstance(second, ToolCall):
        return json_equal(dict(first.arguments), dict(second.arguments))
    return type(first) is type(second) and first == second


def _tags(truth: GroundTruth) -> Iterator[Lint]:
    for index, call in enumerate(truth.calls):
        for key, options in _options(call):
            written = json.dumps(options, ensure_ascii=False, default=str)
            if "<" in written and any(tag in written for tag in _TAGS):
                yield Lint("tag_in_value", f"call {index} {call.name}, {key}")
    if truth.calls and truth.thought and "<tool_call>" in truth.thought:
        yield Lint("tag_in_thought", "")


def _options(call: ToolCall | AcceptedCall) -> Iterator[tuple[str, list[Any]]]:
    """Give the literal values that each parameter accepts, without the mark of an optional one."""
    if isinstance(call, ToolCall):
        yield from ((key, [value]) for key, value in call.arguments.items())
        return
    for key, options in call.accepted.items():
        literal = [first_value(option) for option in options]
        yield key, [value for value in literal if not (value == "" and isinstance(value, str) and len(literal) > 1)]


def _values(truth: GroundTruth, schemas: Mapping[str, Any] | None) -> Iterator[Lint]:
    for index, call in enumerate(truth.calls):
        where = f"call {index} {call.name}"
        declared = schemas.get(call.name) if schemas else None
        if isinstance(call, ToolCall):
            for key, value in call.arguments.items():
                if value is None:
                    yield Lint("null_argument", f"{where}, {key}")
        if schemas and declared is None:
            yield Lint("undeclared_tool", where)
        if isinstance(declared, Mapping):
            yield from _against_schema(call, declared, where)
            continue
        for key, options in _options(call):
            if len(options) == 1 and isinstance(options[0], str) and _spells_number(options[0]):
                yield Lint("numeric_text", f"{where}, {key}: {options[0]!r}"[:200])


def _spells_number(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _against_schema(call: ToolCall | AcceptedCall, declared: Mapping[str, Any], where: str) -> Iterator[Lint]:
    properties = declared.get("properties", declared)
    given = dict(_options(call))
    required = declared.get("required") or ()
    for key in required if isinstance(required, (list, tuple)) else ():
        if key not in given:
            yield Lint("missing_required", f"{where}, {key}")
    for key, options in given.items():
        schema = properties.get(key)
        if not isinstance(schema, Mapping):
            yield Lint("undeclared_argument", f"{where}, {key}")
            continue
        wanted = schema.get("type")
        if not isinstance(wanted, str) or wanted not in _TYPES:
            continue
        wrong = [value for value in options if not _has_type(value, wanted)]
        if options and len(wrong) == len(options):
            yield Lint("wrong_type", f"{where}, {key}: {wrong[0]!r} is not {wanted}"[:200])


def _has_type(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, _TYPES[wanted]) or (
        wanted == "integer" and isinstance(value, float) and value.is_integer()
    )
