"""What the probes ask: pairs of completions, and which of the two must score higher.

Every check yields comparisons. A comparison names two completions for one ground truth and a relation between their
scores; `toolrl_core.audit.probes` evaluates the reward and judges.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from toolrl_core.audit.probe_cases import (
    MALFORMED_LINE,
    NO_CALL,
    TRUTHS,
    UNEXPECTED,
    WRONG,
    Calls,
    Truth,
    answers,
    block,
    changed_values,
    count,
    exact_partners,
    line,
    refusal,
    replaced,
    same_call,
    with_argument,
    without_argument,
    write,
)
from toolrl_core.calls import ToolCall
from toolrl_core.equality import json_equal

__all__ = ["PROBES", "RELATIONS", "Comparison", "Probe"]

RELATIONS = {
    "costs": "must score lower",
    "costs_above_floor": "must score lower, or stay where nothing more can be lost",
    "gains": "must score higher",
    "not_higher": "must not score higher",
    "not_lower": "must not score lower",
    "same": "must score the same",
    "maximum": "must be the highest score of its ground truth",
    "floor": "must be the lowest score of its ground truth",
    "share": "must not score more than its share",
    "number": "must get a finite number",
}
"""What each relation demands of the second completion, compared with the first."""


class Comparison(NamedTuple):
    """Name two completions for one ground truth, and what their scores must do.

    Parameters
    ----------
    truth : Truth
        The ground truth.
    relation : str
        A key of `RELATIONS`; it speaks about `after`.
    after : str
        The completion that is judged.
    before : str
        The completion that it is compared with; the perfect one where the relation needs none.
    change : str
        What was done, in a few words.
    share : float
        For the relation "share": the part of the way from `before` to the maximum that may be earned.
    """

    truth: Truth
    relation: str
    after: str
    before: str
    change: str
    share: float = 0.0


class Probe(NamedTuple):
    """Describe one property that a sound reward has.

    Parameters
    ----------
    name : str
        Its stable name.
    statement : str
        The property, as a sentence.
    topic : str
        What it is about: "right answers", "any answer", "look-alikes", "no call", "text".
    comparisons : callable
        Yields the comparisons that must hold.
    """

    name: str
    statement: str
    topic: str
    comparisons: Callable[[], Iterator[Comparison]]


Changes = Callable[[Truth], Iterator[tuple[str, str]]]
Comparisons = Callable[[], Iterator[Comparison]]


def _perfect(relation: str) -> Callable[[Changes], Comparisons]:
    """Turn a function that changes a perfect answer into one that compares it with the answer before."""

    def wrap(changes: Changes) -> Comparisons:
        def comparisons() -> Iterator[Comparison]:
            for truth in TRUTHS:
                for after, change in changes(truth):
                    yield Comparison(truth, relation, after, truth.text, change)

        return comparisons

    return wrap


def _identity() -> Iterator[Comparison]:
    for truth in (NO_CALL, *TRUTHS):
        yield Comparison(truth, "maximum", truth.text, truth.text, "the ground truth itself")


def _determinism() -> Iterator[Comparison]:
    for truth in (NO_CALL, *TRUTHS):
        yield Comparison(truth, "same", truth.text, truth.text, "asked again")


def _numbers() -> Iterator[Comparison]:
    deep = "[" * 20_000
    odd = {
        "nothing": "",
        "a lone surrogate and a null character": "\ud800\x00",
        "20,000 opening brackets": write([], extra=[deep]),
        "a number of 5,000 digits": write([], extra=['{"name": "f", "parameters": {"a": ' + "9" * 5000 + "}}"]),
        "NaN and Infinity": write([], extra=['{"name": "f", "parameters": {"a": NaN, "b": -Infinity}}']),
        "calls that are no objects": write([], extra=["null", "3", '"f"', "[[]]"]),
        "arguments that are no object": write([], extra=['{"name": "f", "parameters": 3}']),
        "a name that is no text": write([], extra=['{"name": {"f": 1}, "parameters": {}}']),
        "tags in the wrong order": "</tool_call><think><tool_call></think>",
    }
    for truth in (NO_CALL, TRUTHS[1]):
        for label, text in odd.items():
            yield Comparison(truth, "number", text, truth.text, label)


@_perfect("costs")
def _call_changes(truth: Truth) -> Iterator[tuple[str, str]]:
    for index, call in enumerate(truth.calls):
        yield write(replaced(truth.calls, index)), f"call {index} left out"
        yield write(replaced(truth.calls, index, ToolCall("other_tool", call.arguments))), f"call {index} renamed"
        for other in truth.calls:
            if other.name != call.name:
                renamed = ToolCall(other.name, call.arguments)
                yield write(replaced(truth.calls, index, renamed)), f"call {index} named {other.name}"


@_perfect("costs")
def _key_changes(truth: Truth) -> Iterator[tuple[str, str]]:
    for index, call in enumerate(truth.calls):
        for key, value in call.arguments.items():
            gone = without_argument(call, key)
            yield write(replaced(truth.calls, index, gone)), f"argument {key} left out"
            yield write(replaced(truth.calls, index, with_argument(gone, f"{key}_id", value))), f"{key} renamed"
        yield write(replaced(truth.calls, index, with_argument(call, "invented", 1))), "an argument invented"


@_perfect("costs")
def _value_changes(truth: Truth) -> Iterator[tuple[str, str]]:
    for index, call in enumerate(truth.calls):
        for key, value in call.arguments.items():
            for label, wrong in changed_values(value):
                if not (_is_one_or_zero(value) and _is_one_or_zero(wrong)):
                    yield write(replaced(truth.calls, index, with_argument(call, key, wrong))), f"{key}: {label}"


@_perfect("costs")
def _truth_values(truth: Truth) -> Iterator[tuple[str, str]]:
    for index, call in enumerate(truth.calls):
        for key, value in call.arguments.items():
            if _is_one_or_zero(value):
                other = int(value) if isinstance(value, bool) else bool(value)
                text = write(replaced(truth.calls, index, with_argument(call, key, other)))
                yield text, f"{key}: {json.dumps(other)} for {json.dumps(value)}"


def _is_one_or_zero(value: object) -> bool:
    return isinstance(value, (bool, int)) and value in (0, 1)


@_perfect("costs")
def _swapped_names(truth: Truth) -> Iterator[tuple[str, str]]:
    for (i, first), (j, second) in itertools.combinations(enumerate(truth.calls), 2):
        if first.name != second.name and not json_equal(dict(first.arguments), dict(second.arguments)):
            calls = replaced(truth.calls, i, ToolCall(second.name, first.arguments))
            yield write(replaced(calls, j, ToolCall(first.name, second.arguments))), "names exchanged"


@_perfect("same")
def _call_order(truth: Truth) -> Iterator[tuple[str, str]]:
    for order in itertools.permutations(truth.calls):
        if order != truth.calls:
            yield write(order), "calls in another order"


@_perfect("same")
def _key_order(truth: Truth) -> Iterator[tuple[str, str]]:
    calls = [ToolCall(call.name, dict(reversed(list(call.arguments.items())))) for call in truth.calls]
    if any(len(call.arguments) > 1 for call in calls):
        yield write(calls), "keys in another order"


@_perfect("same")
def _layout(truth: Truth) -> Iterator[tuple[str, str]]:
    objects = [{"name": call.name, "parameters": dict(call.arguments)} for call in truth.calls]
    thought = "<think> plan </think>\n"
    yield thought + block(json.dumps(item, indent=2) for item in objects), "JSON over several lines"
    yield thought + block([json.dumps(objects)]), "calls in one JSON array"
    yield thought + block(json.dumps(item, separators=(",", ":")) for item in objects), "JSON without spaces"
    yield (thought + block(map(line, truth.calls))).replace("\n", "\r\n"), "line ends of Windows"


@_perfect("same")
def _alias(truth: Truth) -> Iterator[tuple[str, str]]:
    lines = [line(call, key="arguments") for call in truth.calls]
    yield "<think> plan </think>\n" + block(lines), "'arguments' for 'parameters'"


@_perfect("same")
def _tag_in_thought(truth: Truth) -> Iterator[tuple[str, str]]:
    for tag in ("<tool_call>", "</tool_call>", "<response>"):
        yield write(truth.calls, thought=f"now comes {tag} with the call"), f"the thought mentions {tag}"


def _from_any(relation: str, change: Callable[[Truth, Calls], Iterator[tuple[str, str]]]) -> Iterator[Comparison]:
    for truth in TRUTHS:
        for answer in answers(truth):
            before = write(answer)
            for after, label in change(truth, answer):
                yield Comparison(truth, relation, after, before, label)


def _unexpected(_truth: Truth, answer: Calls) -> Iterator[tuple[str, str]]:
    if answer:
        yield write((*answer, ToolCall("another_tool", {}))), "an unexpected call added"


def _malformed(_truth: Truth, answer: Calls) -> Iterator[tuple[str, str]]:
    if answer:
        yield write(answer, extra=[MALFORMED_LINE]), "an unreadable call added"


def _further(truth: Truth, answer: Calls) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(call.name for call in truth.calls):
        if exact_partners(truth, answer, name):
            first = truth.named(name)[0]
            yield write((*answer, first)), f"a second copy of a call of {name}"
            yield write((*answer, ToolCall(name, {"a": WRONG}))), f"a further, wrong call of {name}"


def _second_block() -> Iterator[Comparison]:
    junk = "\n" + block([line(UNEXPECTED)])
    for truth in TRUTHS:
        for prefix, where in (("", ""), ("Sure.\n", ", after some prose")):
            before = prefix + truth.text
            yield Comparison(truth, "costs", before + junk, before, f"a second block with an unexpected call{where}")
            copy = "\n" + block(map(line, truth.calls))
            yield Comparison(truth, "costs", before + copy, before, f"the whole block twice{where}")


def _fixed_value(truth: Truth, answer: Calls) -> Iterator[tuple[str, str]]:
    for index, call in enumerate(answer):
        named = truth.named(call.name)
        for key, value in call.arguments.items():
            right = [expected.arguments[key] for expected in named if key in expected.arguments]
            if right and not any(json_equal(good, value) for good in right):
                for good in right:
                    yield write(replaced(answer, index, with_argument(call, key, good))), f"{key} put right"


def _omitted(truth: Truth, answer: Calls) -> Iterator[tuple[str, str]]:
    for index, call in enumerate(answer):
        exact = any(same_call(expected, call) for expected in truth.calls)
        if exact and count(answer, lambda c, call=call: c.name == call.name) <= len(truth.named(call.name)):  # type: ignore[misc]
            yield write(replaced(answer, index)), f"an exact call of {call.name} left out"


def _added(truth: Truth, answer: Calls) -> Iterator[tuple[str, str]]:
    for expected in truth.calls:

        def equals(call: ToolCall, expected: ToolCall = expected) -> bool:
            return same_call(expected, call)

        named = count(answer, lambda call, expected=expected: call.name == expected.name)  # type: ignore[misc]
        if named < len(truth.named(expected.name)) and count(answer, equals) < count(truth.calls, equals):
            yield write((*answer, expected)), f"a missing exact call of {expected.name} added"


def _invented(_truth: Truth, answer: Calls) -> Iterator[tuple[str, str]]:
    for index, call in enumerate(answer):
        yield write(replaced(answer, index, with_argument(call, "made_up", 1))), f"an argument of {call.name} invented"


def _dropped(truth: Truth, answer: Calls) -> Iterator[tuple[str, str]]:
    for index, call in enumerate(answer):
        named = truth.named(call.name)
        for key in call.arguments if named else ():
            if all(key in expected.arguments for expected in named):
                yield write(replaced(answer, index, without_argument(call, key))), f"argument {key} dropped"


def _refusal_is_best() -> Iterator[Comparison]:
    yield Comparison(NO_CALL, "maximum", refusal(), refusal(), "no call, and a response")


def _unneeded_call() -> Iterator[Comparison]:
    right, calls = refusal(), block([line(UNEXPECTED)])
    head, tail = right.split("\n")
    yield Comparison(NO_CALL, "costs", f"{head}\n{calls}", right, "a call for the response")
    yield Comparison(NO_CALL, "costs", f"{head}\n{calls}\n{tail}", right, "a call before the response")
    yield Comparison(NO_CALL, "costs", f"{head}\n{calls}\n{right}", right, "a call between two thoughts")


def _floor() -> Iterator[Comparison]:
    empty = {
        "nothing": "",
        "tags only": "<think>\n</think>\n<tool_call>\n</tool_call>",
        "tags around an empty line": "<think>\n</think>\n<tool_call>\n\n</tool_call>",
        "a boxed answer only": "\\boxed{42}",
    }
    for truth in TRUTHS:
        for label, text in empty.items():
            yield Comparison(truth, "floor", text, truth.text, label)


def _name_only() -> Iterator[Comparison]:
    for truth in TRUTHS:
        if not any(call.arguments for call in truth.calls):
            continue
        nothing = write([ToolCall(f"other_tool_{i}", {"invented": 1}) for i in range(len(truth.calls))])
        names = write([ToolCall(call.name, {}) for call in truth.calls])
        bare = count(truth.calls, lambda call: not call.arguments)
        reachable = 1 + len(truth.calls) + sum(len(call.arguments) for call in truth.calls)
        yield Comparison(truth, "share", names, nothing, "names without arguments", (1 + bare) / reachable)


def _any(
    relation: str, change: Callable[[Truth, Calls], Iterator[tuple[str, str]]]
) -> Callable[[], Iterator[Comparison]]:
    return lambda: _from_any(relation, change)


PROBES: tuple[Probe, ...] = (
    Probe("identity", "The ground truth, written as a completion, scores the maximum.", "right answers", _identity),
    Probe("call_changes", "Leaving out or renaming a call of a right answer costs.", "right answers", _call_changes),
    Probe("key_changes", "Leaving out, renaming or inventing an argument costs.", "right answers", _key_changes),
    Probe("value_changes", "Changing a value of a right answer costs.", "right answers", _value_changes),
    Probe("call_order", "The order of the calls does not matter.", "right answers", _call_order),
    Probe("key_order", "The order of the arguments does not matter.", "right answers", _key_order),
    Probe("layout", "Line breaks, spaces and an array around the calls do not matter.", "right answers", _layout),
    Probe("alias", "'arguments' for 'parameters' does not matter.", "right answers", _alias),
    Probe("unexpected_call", "A call of a tool that is not expected never pays.", "any answer",
          _any("costs_above_floor", _unexpected)),
    Probe("malformed_call", "A call that cannot be read never pays.", "any answer",
          _any("costs_above_floor", _malformed)),
    Probe("further_call", "A further call of a tool whose calls are all right never pays: no duplicates.",
          "any answer", _any("costs_above_floor", _further)),
    Probe("second_block", "A second block of calls never pays.", "any answer", _second_block),
    Probe("fixed_value", "Putting a wrong value right never lowers the score.", "any answer",
          _any("not_lower", _fixed_value)),
    Probe("omitted_call", "Leaving out an exact call costs, unless its tool is called too often.", "any answer",
          _any("costs", _omitted)),
    Probe("added_call", "Adding a missing exact call gains, where its tool is called too rarely.", "any answer",
          _any("gains", _added)),
    Probe("invented_argument", "Inventing an argument never helps.", "any answer", _any("not_higher", _invented)),
    Probe("dropped_argument", "Dropping an expected argument never helps, even one with a wrong value.", "any answer",
          _any("not_higher", _dropped)),
    Probe("swapped_names", "Exchanging the names of two calls costs.", "look-alikes", _swapped_names),
    Probe("truth_values", "true for 1, or 1 for true, costs.", "look-alikes", _truth_values),
    Probe("refusal", "Where no call is expected, calling nothing scores the maximum.", "no call", _refusal_is_best),
    Probe("unneeded_call", "Where no call is expected, a call costs.", "no call", _unneeded_call),
    Probe("floor", "Where calls are expected, an empty answer, bare tags and a boxed answer score the minimum.",
          "no call", _floor),
    Probe("name_only", "Names without arguments earn the points for names and no more.", "no call", _name_only),
    Probe("tag_in_thought", "A thought that mentions a tag changes nothing.", "text", _tag_in_thought),
    Probe("numbers", "Every text gets a finite number, never an exception.", "text", _numbers),
    Probe("determinism", "The same completion scores the same when asked again.", "text", _determinism),
)  # fmt: skip
"""Every probe but the one for bounded time, which measures (see `toolrl_core.audit.probes`)."""
