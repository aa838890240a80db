"""The small ground truths and answers that the probes ask a reward about, smallest first, and how they are written."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolrl_core.call_mistakes import change_type, change_value
from toolrl_core.calls import ToolCall
from toolrl_core.equality import json_equal

__all__ = ["NO_CALL", "TRUTHS", "Truth", "answers", "changed_values", "same_call", "write"]

THOUGHT = "plan"
UNEXPECTED = ToolCall("unexpected_tool", {})
MALFORMED_LINE = '{"name": "f", "parameters": {"a": '
WRONG = "wrong"
Calls = tuple[ToolCall, ...]


@dataclass(frozen=True)
class Truth:
    """Hold one ground truth of the probes.

    Parameters
    ----------
    calls : tuple of ToolCall
        The expected calls.
    """

    calls: Calls

    @property
    def text(self) -> str:
        """Return it as tagged text, which is also the perfect completion."""
        return write(self.calls) if self.calls else refusal()

    def named(self, name: str) -> list[ToolCall]:
        """Return the expected calls of one tool."""
        return [call for call in self.calls if call.name == name]


def _truth(*calls: tuple[str, Mapping[str, Any]]) -> Truth:
    return Truth(tuple(ToolCall(name, arguments) for name, arguments in calls))


NO_CALL = Truth(())
TRUTHS: tuple[Truth, ...] = (
    _truth(("f", {})),
    _truth(("f", {"a": 1})),
    _truth(("f", {"a": "x"})),
    _truth(("f", {"a": None})),
    _truth(("f", {"a": -5})),
    _truth(("f", {"a": True})),
    _truth(("f", {"a": "New York, NY"})),
    _truth(("f", {"a": [1, 2]})),
    _truth(("f", {"a": {"k": "v", "n": 0}})),
    _truth(("f", {"a": 1, "b": 2})),
    _truth(("bash", {"command": "pytest", "risk": "LOW"})),
    _truth(("f", {}), ("g", {"a": 1})),
    _truth(("f", {"a": 1}), ("f", {"a": 2})),
    _truth(("f", {"a": 1}), ("g", {"b": 2})),
    _truth(("f", {"a": 1}), ("f", {"a": 1, "b": 2})),
    _truth(("f", {"a": 1}), ("f", {"a": 1, "b": 2}), ("f", {"a": 1, "b": 2, "c": 3})),
)
"""Ground truths with calls: no argument, every JSON type, names and calls that repeat, and one whose calls nest."""


def refusal(thought: str = THOUGHT) -> str:
    """Return the completion that calls nothing and says so.

    Examples
    --------
    >>> print(refusal())
    <think> plan </think>
    <response> No tool is needed. </response>
    """
    return f"<think> {thought} </think>\n<response> No tool is needed. </response>"


def line(call: ToolCall, *, key: str = "parameters") -> str:
    """Write one call as a line of JSON.

    Examples
    --------
    >>> line(ToolCall("f", {"a": True}))
    '{"name": "f", "parameters": {"a": true}}'
    """
    return json.dumps({"name": call.name, key: dict(call.arguments)}, ensure_ascii=False)


def block(lines: Iterable[str]) -> str:
    """Write lines as one tool-call block.

    Examples
    --------
    >>> print(block(["{}"]))
    <tool_call>
    {}
    </tool_call>
    """
    return "\n".join(["<tool_call>", *lines, "</tool_call>"])


def write(calls: Sequence[ToolCall], *, thought: str = THOUGHT, extra: Sequence[str] = ()) -> str:
    """Write an answer as a completion with a thought and one block of calls.

    Parameters
    ----------
    calls : sequence of ToolCall
        The calls; without any the answer is its thought alone.
    thought : str
        The thought.
    extra : sequence of str
        Further lines for the block.

    Returns
    -------
    str
        The completion.

    Examples
    --------
    >>> write([])
    '<think> plan </think>'
    """
    lines = [*map(line, calls), *extra]
    return f"<think> {thought} </think>" + ("\n" + block(lines) if lines else "")


def same_call(first: ToolCall, second: ToolCall) -> bool:
    """Tell whether two calls are equal as JSON.

    Examples
    --------
    >>> same_call(ToolCall("f", {"a": 1}), ToolCall("f", {"a": True}))
    False
    """
    return first.name == second.name and json_equal(dict(first.arguments), dict(second.arguments))


def with_argument(call: ToolCall, key: str, value: Any) -> ToolCall:
    """Return a call with one argument set."""
    return ToolCall(call.name, {**call.arguments, key: value})


def without_argument(call: ToolCall, key: str) -> ToolCall:
    """Return a call without one argument."""
    return ToolCall(call.name, {k: v for k, v in call.arguments.items() if k != key})


def replaced(calls: Calls, index: int, *new: ToolCall) -> Calls:
    """Return the calls with one of them replaced (by nothing: removed)."""
    return (*calls[:index], *new, *calls[index + 1 :])


def changed_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Give wrong values near a right one, each with a word for what was done.

    Parameters
    ----------
    value : JSON value
        The right value.

    Yields
    ------
    tuple of (str, JSON value)
        What was done, and the wrong value; it never equals the right one as JSON.

    Examples
    --------
    >>> list(changed_values("Oslo"))
    [('changed', 'not Oslo'), ('another type', ['Oslo']), ('other letter case', 'oSLO'), ('emptied', '')]
    """
    changes: list[tuple[str, Any]] = [("changed", change_value(value)), ("another type", change_type(value))]
    if isinstance(value, str):
        changes += [("other letter case", value.swapcase()), ("emptied", "")]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        changes.append(("other sign", -value))
    elif isinstance(value, list):
        changes.append(("other order", value[::-1]))
    if not isinstance(value, str):
        changes.append(("null", None))
    for label, wrong in changes:
        if not json_equal(value, wrong):
            yield label, wrong


def _variants(call: ToolCall, *, few: bool) -> list[Calls]:
    variants: list[Calls] = [(call,), ()]
    if call.arguments:
        first = next(iter(call.arguments))
        variants.append((with_argument(call, first, WRONG),))
        if not few:
            variants.append((without_argument(call, first),))
    if not few:
        variants += [(with_argument(call, "invented", 1),), (ToolCall("other_tool", call.arguments),)]
    return variants


def answers(truth: Truth) -> list[Calls]:
    """List answers to a ground truth: every combination of right, wrong and missing calls, and some with more.

    Parameters
    ----------
    truth : Truth
        The ground truth, with n calls.

    Returns
    -------
    list of tuple of ToolCall
        Each expected call is exact, left out, given a wrong value, robbed of an argument, given an invented one, or
        renamed (the first three for n > 2); each such answer also occurs with an unexpected call and with a second
        copy of the first expected call.

    Examples
    --------
    >>> len(answers(Truth((ToolCall("f", {"a": 1}),))))
    18
    """
    few = len(truth.calls) > 2
    choices = [_variants(call, few=few) for call in truth.calls]
    found = []
    for chosen in itertools.product(*choices):
        calls = tuple(itertools.chain.from_iterable(chosen))
        found += [calls, (*calls, UNEXPECTED), (*calls, truth.calls[0])]
    return found


def exact_partners(truth: Truth, answer: Calls, name: str) -> bool:
    """Tell whether every expected call of a tool has an equal call of its own in an answer."""
    rest = list(answer)
    for expected in truth.named(name):
        place = next((i for i, call in enumerate(rest) if same_call(expected, call)), None)
        if place is None:
            return False
        del rest[place]
    return True


def count(calls: Iterable[ToolCall], holds: Callable[[ToolCall], bool]) -> int:
    """Count the calls for which something holds."""
    return sum(1 for call in calls if holds(call))
