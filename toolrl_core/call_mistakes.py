"""Single mistakes made in a list of calls, as functions of the calls and a random generator.

Chapters, probes and benchmarks reach these through the registry in `toolrl_core.mistakes`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from toolrl_core.calls import ToolCall
from toolrl_core.equality import json_equal

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")


class NotApplicable(ValueError):  # noqa: N818 - an answer to a question, not a fault
    """Report that a mistake cannot be made in this answer, and why.

    Examples
    --------
    >>> str(NotApplicable("wrong_value", "no call has an argument"))
    'wrong_value does not apply: no call has an argument'
    """

    def __init__(self, mistake: str, why: str) -> None:
        self.mistake, self.why = mistake, why
        super().__init__(f"{mistake} does not apply: {why}")


def change_value(value: Any) -> Any:
    """Make a wrong value of the same JSON type.

    Parameters
    ----------
    value : JSON value
        The right value; it is not changed in place.

    Returns
    -------
    JSON value
        A truth value is negated, a number grows by 1 (or changes its sign where adding 1 is lost in rounding), a text
        gets ``"not "`` in front, null becomes 0, a list has its last item changed, an object its first value.
        An empty list becomes ``[null]``, an empty object ``{"invented": null}``.

    Examples
    --------
    >>> change_value({"city": "Oslo", "days": [1, True]})
    {'city': 'not Oslo', 'days': [1, True]}
    >>> change_value([1, True]), change_value(1e300), change_value(None)
    ([1, False], -1e+300, 0)
    """
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return _other_number(value)
    if isinstance(value, str):
        return f"not {value}"
    if isinstance(value, dict):
        changed = copy.deepcopy(value)
        first = next(iter(changed), "invented")
        changed[first] = change_value(changed[first]) if changed else None
        return changed
    if isinstance(value, (list, tuple)):
        items = copy.deepcopy(list(value))
        return [*items[:-1], change_value(items[-1])] if items else [None]
    return 0


def change_type(value: Any) -> Any:
    """Write a value in a neighbouring JSON type, as models do.

    Parameters
    ----------
    value : JSON value
        The right value; it is not changed in place.

    Returns
    -------
    JSON value
        A truth value becomes 0 or 1, a number or null its JSON text, a list or an object its JSON text, a text that
        spells a number that number, any other text a list of it.

    Examples
    --------
    >>> change_type(True), change_type(3), change_type("3"), change_type("x"), change_type([1])
    (1, '3', 3, ['x'], '[1]')
    """
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        return [value]
    return decoded if isinstance(decoded, (int, float)) and not isinstance(decoded, bool) else [value]


def drop_call(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Leave out one call."""
    gone = _pick_index(calls, rng, "drop_call", "there is no call")
    return [call for index, call in enumerate(calls) if index != gone]


def duplicated_call(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Make one call twice, the copy right after the original."""
    twice = _pick_index(calls, rng, "duplicated_call", "there is no call")
    return [*calls[: twice + 1], calls[twice], *calls[twice + 1 :]]


def extra_call(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Add a call of a tool that the answer does not use, without arguments, at any place."""
    place = int(rng.integers(len(calls) + 1))
    name = _unused("unexpected_tool", {call.name for call in calls})
    return [*calls[:place], ToolCall(name, {}), *calls[place:]]


def renamed_tool(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Call one tool by a name that the answer does not use: ``_v2`` is appended."""
    index = _pick_index(calls, rng, "renamed_tool", "there is no call")
    name = _unused(f"{calls[index].name}_v2", {call.name for call in calls})
    return _replaced(calls, index, ToolCall(name, calls[index].arguments))


def swapped_names(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Exchange the names of two calls that differ in name and in arguments."""
    pairs = [
        (i, j)
        for j, second in enumerate(calls)
        for i, first in enumerate(calls[:j])
        if first.name != second.name and not json_equal(first.arguments, second.arguments)
    ]
    i, j = _pick(pairs, rng, "swapped_names", "no two calls differ both in name and in arguments")
    changed = _replaced(calls, i, ToolCall(calls[j].name, calls[i].arguments))
    return _replaced(changed, j, ToolCall(calls[i].name, calls[j].arguments))


def reordered_calls(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Put the calls in another order, drawn uniformly; if the draw changes nothing, two unequal calls swap places."""
    order = [int(index) for index in rng.permutation(len(calls))]
    if all(_same_call(calls[index], call) for index, call in zip(order, calls, strict=True)):
        other = next((index for index, call in enumerate(calls) if not _same_call(call, calls[0])), None)
        if other is None:
            raise NotApplicable("reordered_calls", "there are no two different calls")
        order = list(range(len(calls)))
        order[0], order[other] = other, 0
    return [calls[index] for index in order]


def reordered_keys(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Write the arguments of one call in another order: rotated by a random number of places."""
    several = [index for index, call in enumerate(calls) if len(call.arguments) > 1]
    index = _pick(several, rng, "reordered_keys", "no call has two arguments")
    items = list(calls[index].arguments.items())
    shift = 1 + int(rng.integers(len(items) - 1))
    return _replaced(calls, index, ToolCall(calls[index].name, dict(items[shift:] + items[:shift])))


def wrong_value(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Give one argument a wrong value of the same type (`change_value`)."""
    index, key = _pick_argument(calls, rng, "wrong_value")
    return _with_value(calls, index, key, change_value)


def wrong_type(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Write one argument in another type, a number as text for example (`change_type`)."""
    index, key = _pick_argument(calls, rng, "wrong_type")
    return _with_value(calls, index, key, change_type)


def true_for_one(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Write ``true`` for an argument that is 1, or ``false`` for one that is 0."""
    places = [
        (index, key)
        for index, call in enumerate(calls)
        for key, value in call.arguments.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value in (0, 1)
    ]
    index, key = _pick(places, rng, "true_for_one", "no argument is 0 or 1")
    return _with_value(calls, index, key, bool)


def missing_key(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Leave out one argument."""
    index, gone = _pick_argument(calls, rng, "missing_key")
    rest = {key: value for key, value in calls[index].arguments.items() if key != gone}
    return _replaced(calls, index, ToolCall(calls[index].name, rest))


def invented_key(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Give one call an argument that does not exist."""
    index = _pick_index(calls, rng, "invented_key", "there is no call")
    arguments = calls[index].arguments
    invented = _unused("invented_argument", set(arguments))
    return _replaced(calls, index, ToolCall(calls[index].name, {**arguments, invented: "invented"}))


def renamed_key(calls: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]:
    """Give one argument a name that does not exist, at its place: ``_value`` is appended."""
    index, old = _pick_argument(calls, rng, "renamed_key")
    arguments = calls[index].arguments
    new = _unused(f"{old}_value", set(arguments))
    renamed = {new if key == old else key: value for key, value in arguments.items()}
    return _replaced(calls, index, ToolCall(calls[index].name, renamed))


def _other_number(value: float) -> float:
    if value != value:
        return 0
    return value + 1 if value + 1 != value else -value


def _same_call(first: ToolCall, second: ToolCall) -> bool:
    return first.name == second.name and json_equal(first.arguments, second.arguments)


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _pick(items: Sequence[T], rng: np.random.Generator, mistake: str, why: str) -> T:
    if not items:
        raise NotApplicable(mistake, why)
    return items[int(rng.integers(len(items)))]


def _pick_index(calls: Sequence[ToolCall], rng: np.random.Generator, mistake: str, why: str) -> int:
    return _pick(range(len(calls)), rng, mistake, why)


def _pick_argument(calls: Sequence[ToolCall], rng: np.random.Generator, mistake: str) -> tuple[int, str]:
    places = [(index, key) for index, call in enumerate(calls) for key in call.arguments]
    return _pick(places, rng, mistake, "no call has an argument")


def _replaced(calls: Sequence[ToolCall], index: int, call: ToolCall) -> list[ToolCall]:
    return [*calls[:index], call, *calls[index + 1 :]]


def _with_value(calls: Sequence[ToolCall], index: int, key: str, change: Callable[[Any], Any]) -> list[ToolCall]:
    arguments = dict(calls[index].arguments)
    arguments[key] = change(arguments[key])
    return _replaced(calls, index, ToolCall(calls[index].name, arguments))
