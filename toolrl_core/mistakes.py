"""Typical mistakes of tool-calling models, by name: made in a right answer, they show what a reward notices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from toolrl_core import call_mistakes, text_mistakes
from toolrl_core.call_mistakes import NotApplicable, change_type, change_value
from toolrl_core.calls import ToolCall

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "MISTAKES",
    "Mistake",
    "NotApplicable",
    "apply_mistake",
    "change_type",
    "change_value",
    "corrupt",
]

Part = Literal["correctness", "format"]


@dataclass(frozen=True, slots=True)
class Mistake:
    """Describe one mistake and make it.

    Parameters
    ----------
    name : str
        Its name in `MISTAKES`.
    level : {"calls", "text"}
        What it is made in: a list of calls, or the text of a completion.
    summary : str
        What it does, in a sentence.
    costs : tuple of {"correctness", "format"}
        Which parts of the score a right answer loses by it under the recommended preset ``robust``; empty for a
        variation that leaves the answer right.  Dropping the only call, or adding one where none is expected, costs the
        format too.
    apply : callable
        ``apply(calls, rng)`` returns a new list of calls, ``apply(completion, rng)`` a new text; `NotApplicable` is
        raised where the mistake cannot be made.

    Examples
    --------
    >>> MISTAKES["true_for_one"].costs, MISTAKES["pretty_printed"].costs
    (('correctness',), ())
    """

    name: str
    level: Literal["calls", "text"]
    summary: str
    costs: tuple[Part, ...]
    apply: Callable[[Any, np.random.Generator], Any]


def _calls(function: Callable[..., list[ToolCall]], *costs: Part) -> Mistake:
    return Mistake(function.__name__, "calls", _first_line(function), costs, function)


def _text(function: Callable[..., str], *costs: Part) -> Mistake:
    return Mistake(function.__name__, "text", _first_line(function), costs, function)


def _first_line(function: Callable[..., Any]) -> str:
    return (function.__doc__ or function.__name__).strip().splitlines()[0]


MISTAKES: Mapping[str, Mistake] = MappingProxyType(
    {
        mistake.name: mistake
        for mistake in (
            _calls(call_mistakes.drop_call, "correctness"),
            _calls(call_mistakes.duplicated_call, "correctness"),
            _calls(call_mistakes.extra_call, "correctness"),
            _calls(call_mistakes.renamed_tool, "correctness"),
            _calls(call_mistakes.swapped_names, "correctness"),
            _calls(call_mistakes.wrong_value, "correctness"),
            _calls(call_mistakes.wrong_type, "correctness"),
            _calls(call_mistakes.true_for_one, "correctness"),
            _calls(call_mistakes.missing_key, "correctness"),
            _calls(call_mistakes.invented_key, "correctness"),
            _calls(call_mistakes.renamed_key, "correctness"),
            _calls(call_mistakes.reordered_calls),
            _calls(call_mistakes.reordered_keys),
            _text(text_mistakes.pretty_printed),
            _text(text_mistakes.json_array),
            _text(text_mistakes.one_line),
            _text(text_mistakes.arguments_alias),
            _text(text_mistakes.stringified_arguments),
            _text(text_mistakes.crlf),
            _text(text_mistakes.tag_in_thought),
            _text(text_mistakes.stop_token),
            _text(text_mistakes.trailing_text, "format"),
            _text(text_mistakes.missing_thought, "format"),
            _text(text_mistakes.unopened_thought, "format"),
            _text(text_mistakes.split_blocks, "format"),
            _text(text_mistakes.repeated_block, "correctness", "format"),
            _text(text_mistakes.second_block, "correctness", "format"),
            _text(text_mistakes.missing_tags, "correctness", "format"),
            _text(text_mistakes.truncated, "correctness", "format"),
            _text(text_mistakes.fenced, "correctness", "format"),
            _text(text_mistakes.python_literal, "correctness", "format"),
        )
    }
)
"""The mistakes of `apply_mistake` by name: what each does, and whether a reward should charge it."""


@overload
def apply_mistake(name: str, answer: str, rng: np.random.Generator) -> str: ...
@overload
def apply_mistake(name: str, answer: Sequence[ToolCall], rng: np.random.Generator) -> list[ToolCall]: ...
def apply_mistake(name: str, answer: str | Sequence[ToolCall], rng: np.random.Generator) -> str | list[ToolCall]:
    """Make a named mistake in a right answer.

    Parameters
    ----------
    name : str
        A key of `MISTAKES`.
    answer : sequence of ToolCall or str
        The right calls for a mistake of level ``calls``, the right completion for one of level ``text``.  It is never
        changed in place.
    rng : numpy.random.Generator
        Chooses where the mistake is made; the same generator state gives the same result.

    Returns
    -------
    list of ToolCall or str
        The answer with the mistake, of the same kind as `answer`.

    Raises
    ------
    ValueError
        If the name is unknown.
    TypeError
        If the answer is of the other kind.
    NotApplicable
        If the mistake cannot be made in this answer, for example a wrong value where no call has an argument.

    Notes
    -----
    The mistakes are the ones that public reports about rewards name and that the ToolRL note's §6.1 and §12.2 discuss.
    Where a ground truth accepts several values, the changed answer may by chance be another accepted one; where the
    right answer gives an optional parameter, leaving it out is no mistake.

    Examples
    --------
    >>> import numpy as np
    >>> calls = [ToolCall("light", {"level": 1})]
    >>> apply_mistake("true_for_one", calls, np.random.default_rng(0))
    [ToolCall(name='light', arguments={'level': True})]
    >>> True == 1  # which is why a comparison with == does not notice
    True
    """
    if name not in MISTAKES:
        raise ValueError(f"unknown mistake {name!r}; valid are {', '.join(MISTAKES)}")
    mistake = MISTAKES[name]
    if (mistake.level == "text") != isinstance(answer, str):
        wanted = "the text of a completion" if mistake.level == "text" else "a list of ToolCall"
        raise TypeError(f"mistake {name!r} needs {wanted}, found {type(answer).__name__}")
    made: str | list[ToolCall] = mistake.apply(answer, rng)
    return made


def corrupt(calls: Sequence[ToolCall], rng: np.random.Generator, *, argument_right: float = 0.6) -> list[ToolCall]:
    r"""Draw a prediction that is a damaged copy of the right calls.

    Parameters
    ----------
    calls : sequence of ToolCall
        The right calls, n of them.  They are not changed.
    rng : numpy.random.Generator
        Source of all draws.
    argument_right : float
        Probability that an argument stays as it is.

    Returns
    -------
    list of ToolCall
        n calls with the same names, in random order.

    Raises
    ------
    ValueError
        If `argument_right` is not a probability.

    Notes
    -----
    The exact definition, argument by argument in the order of the calls:

    1. With probability `argument_right` the argument stays.
    2. Otherwise one of three things happens with probability 1/3 each: its value is changed (`change_value`), it is
       dropped, or it is moved to one of the other n − 1 calls, chosen uniformly.  With n = 1 a moved argument is
       dropped.
    3. When all arguments have been treated, the moved ones are put in their new calls in the order in which they left;
       one that finds its key taken replaces the value there.
    4. The calls are put in an order drawn uniformly from all n! orders.

    Each call keeps its name, so calls of one tool are confused with each other where names repeat.  This is the kind of
    prediction on which greedy matching loses (ToolRL note §6.2 and §10.3, which uses another generator).

    Examples
    --------
    >>> import numpy as np
    >>> calls = [ToolCall("f", {"a": 1}), ToolCall("f", {"a": 2})]
    >>> corrupt(calls, np.random.default_rng(0), argument_right=1.0) in (calls, calls[::-1])
    True
    """
    if not 0.0 <= argument_right <= 1.0:
        raise ValueError(f"argument_right must be a probability between 0 and 1, found {argument_right!r}")
    kept: list[dict[str, Any]] = [{} for _ in calls]
    moved: list[tuple[int, str, Any]] = []
    for index, call in enumerate(calls):
        for key, value in call.arguments.items():
            if rng.random() < argument_right:
                kept[index][key] = value
                continue
            fate = int(rng.integers(3))
            if fate == 0:
                kept[index][key] = change_value(value)
            elif fate == 1 and len(calls) > 1:
                other = int(rng.integers(len(calls) - 1))
                moved.append((other + (other >= index), key, value))
    for receiver, key, value in moved:
        kept[receiver][key] = value
    return [ToolCall(calls[int(index)].name, kept[int(index)]) for index in rng.permutation(len(calls))]
