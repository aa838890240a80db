"""Draw scoring cases in named ways.

How often greedy matching is worse than the optimal assignment depends on which of these draws the cases
(`toolrl_core.simulate.matching_loss`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from toolrl_core.arrays import CallArrays, CaseArrays, draw_cases

__all__ = [
    "GENERATORS",
    "CaseGenerator",
    "corrupted",
    "disjoint_keys",
    "distinct_names",
    "note_like",
    "overlapping",
    "parallel_calls",
    "uniform",
]

IdArray = NDArray[np.int8]
BoolArray = NDArray[np.bool_]

_VALUES = 3
_KEYS = 6
_NAMES = 4
_OWN_KEYS = 3


@dataclass(frozen=True, kw_only=True)
class CaseGenerator:
    """Name a way to draw scoring cases.

    Parameters
    ----------
    name : str
        Key in `GENERATORS`.
    description : str
        What is drawn, in one sentence.
    draw : callable
        ``draw(rng, cases, max_calls=5)`` returns `CaseArrays`.
    never_worse : {"", "always", "same_name"}
        When greedy matching cannot lose, by the theorem of `toolrl_core.simulate.matching_loss`: never proved, always,
        or where only calls of the same name may be paired.
    """

    name: str
    description: str
    draw: Callable[..., CaseArrays]
    never_worse: str = ""


def uniform(rng: np.random.Generator, cases: int, *, max_calls: int = 5, min_calls: int = 1) -> CaseArrays:
    """Draw both sides independently: 1 to `max_calls` calls, 4 names, each of 6 keys with probability 1/2, 3 values.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases : int
    max_calls, min_calls : int
        Bounds of the number of calls on each side; ``min_calls=0`` admits empty sides.

    Returns
    -------
    CaseArrays
    """
    return draw_cases(rng, cases, max_calls=max_calls, min_calls=min_calls, keys=_KEYS, names=_NAMES, values=_VALUES)


def corrupted(rng: np.random.Generator, cases: int, *, max_calls: int = 5, argument_right: float = 0.6) -> CaseArrays:
    """Draw predictions that are damaged copies of their ground truth.

    Ground truths have 2 to `max_calls` calls and names from 3, so that names repeat; otherwise they are as in
    `uniform`. Each argument stays with probability `argument_right`. Otherwise, with probability 1/3 each, its value is
    changed to one of the other values, it is dropped, or it is moved to another call of the case, chosen uniformly.
    A moved argument replaces what stands under its key; of several, the one from the
    latest call stays. Calls keep their names. At last the predicted calls are put in uniformly random order.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases : int
    max_calls : int
        At least 2.
    argument_right : float
        Probability that an argument stays as it is.

    Returns
    -------
    CaseArrays

    Notes
    -----
    The array version of `toolrl_core.mistakes.corrupt`.
    """
    truth = draw_cases(rng, cases, min_calls=2, max_calls=max_calls, keys=_KEYS, names=3, values=_VALUES).ground_truth
    draw = rng.random(truth.values.shape)
    bounds = argument_right + (1.0 - argument_right) * np.arange(3) / 3.0
    fate = np.where(truth.values < 0, -1, (draw[..., np.newaxis] >= bounds).sum(axis=-1))
    values = np.where(fate == 0, truth.values, -1).astype(np.int8)
    np.copyto(values, _other_value(rng, truth.values), where=fate == 1)
    case, call, key = np.nonzero(fate == 3)
    shift = rng.integers(1, truth.counts[case])
    values[case, (call + shift) % truth.counts[case], key] = truth.values[case, call, key]
    return CaseArrays(truth, _shuffled(rng, truth.names, values))


def parallel_calls(
    rng: np.random.Generator, cases: int, *, max_calls: int = 5, argument_right: float = 0.6
) -> CaseArrays:
    """Draw several calls of one tool with the same three parameters, and predictions that mix the values up.

    There are 2 to `max_calls` ground-truth calls. A predicted value is right with probability `argument_right`, else
    the value of a uniformly chosen other call of the case, and the calls are put in uniformly random order. Values are
    drawn from 8, so that calls differ.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases : int
    max_calls : int
        At least 2.
    argument_right : float

    Returns
    -------
    CaseArrays
    """
    counts, present = _counts(rng, cases, max_calls, fewest=2)
    names = np.where(present, 0, -1).astype(np.int8)
    values = rng.integers(0, 8, size=(*names.shape, _OWN_KEYS), dtype=np.int8)
    values[~present] = -1
    shift = rng.integers(1, counts[:, np.newaxis, np.newaxis], size=values.shape)
    source = (np.arange(names.shape[1])[:, np.newaxis] + shift) % counts[:, np.newaxis, np.newaxis]
    mixed = np.take_along_axis(values, source, axis=1)
    predicted = np.where(rng.random(values.shape) < argument_right, values, mixed)
    predicted[~present] = -1
    return CaseArrays(CallArrays(names, values), _shuffled(rng, names, predicted))


def distinct_names(rng: np.random.Generator, cases: int, *, max_calls: int = 5) -> CaseArrays:
    """Draw both sides independently with no name twice on a side: 8 names, otherwise as in `uniform`.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases : int
    max_calls : int
        At most 8.

    Returns
    -------
    CaseArrays

    Raises
    ------
    ValueError
        If there are fewer names than calls.

    Notes
    -----
    Where only calls of the same name may be paired, each call has at most one partner, and greedy matching is optimal
    in every order by the theorem of `toolrl_core.simulate.matching_loss`. Without that condition it is not.
    """
    if max_calls > 8:
        raise ValueError(f"max_calls: {max_calls} calls cannot have distinct names; there are 8 names")
    drawn = uniform(rng, cases, max_calls=max_calls)

    def renamed(side: CallArrays) -> CallArrays:
        order = np.argsort(rng.random((cases, 8)), axis=1)[:, :max_calls]
        return CallArrays(np.where(side.names < 0, -1, order).astype(np.int8), side.values)

    return CaseArrays(renamed(drawn.ground_truth), renamed(drawn.predicted))


def overlapping(
    rng: np.random.Generator, cases: int, *, max_calls: int = 5, overlap: float = 0.5, argument_right: float = 0.6
) -> CaseArrays:
    """Draw damaged copies of calls whose keys are shared to a chosen degree.

    Each of the 2 to `max_calls` ground-truth calls has three parameters. The key of each is shared with the other calls
    with probability `overlap`, else its own. The prediction copies every call; an argument stays with probability
    `argument_right`, else half of the time its value is changed and half of the time it is dropped. Names are drawn
    from 4, and the predicted calls are put in uniformly random order.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases : int
    max_calls : int
        At least 2.
    overlap : float
        0: keys are unique to each call, and greedy matching is optimal by the theorem of
        `toolrl_core.simulate.matching_loss`. 1: all calls have the same three keys.
    argument_right : float

    Returns
    -------
    CaseArrays

    Raises
    ------
    ValueError
        If `overlap` is no probability.
    """
    if not 0.0 <= overlap <= 1.0:
        raise ValueError(f"overlap: {overlap} is not a probability; expected 0 to 1")
    _, present = _counts(rng, cases, max_calls, fewest=2)
    names = np.where(present, rng.integers(0, _NAMES, size=present.shape), -1).astype(np.int8)
    content = rng.integers(0, _VALUES, size=(*present.shape, _OWN_KEYS), dtype=np.int8)
    draw = rng.random(content.shape)
    copied = np.where(draw < argument_right, content, _other_value(rng, content))
    copied = np.where(draw < (1.0 + argument_right) / 2.0, copied, -1)
    shared = rng.random(content.shape) < overlap
    sides = []
    for side in (content, copied):
        values = np.full((*present.shape, _OWN_KEYS * (1 + max_calls)), -1, dtype=np.int8)
        values[:, :, :_OWN_KEYS] = np.where(shared, side, -1)
        for call in range(max_calls):
            own = _OWN_KEYS * (1 + call)
            values[:, call, own : own + _OWN_KEYS] = np.where(shared[:, call], -1, side[:, call])
        values[~present] = -1
        sides.append(values)
    return CaseArrays(CallArrays(names, sides[0]), _shuffled(rng, names, sides[1]))


def disjoint_keys(rng: np.random.Generator, cases: int, *, max_calls: int = 5) -> CaseArrays:
    """Draw damaged copies of calls whose keys are unique to each call: `overlapping` with ``overlap=0``.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases : int
    max_calls : int

    Returns
    -------
    CaseArrays

    Notes
    -----
    A predicted call shares keys with one ground-truth call only, and no ground-truth call is without keys, so greedy
    matching is optimal in every order by the theorem of `toolrl_core.simulate.matching_loss`.
    """
    return overlapping(rng, cases, max_calls=max_calls, overlap=0.0)


def note_like(rng: np.random.Generator, cases: int, *, max_calls: int = 5) -> CaseArrays:
    """Draw answers of the random policy behind the zero-reward rates, with ability 0.3, 0.6 or 0.9.

    There are 1 to `max_calls` ground-truth calls with distinct names and three parameters each, whose keys are unique
    to the call; the answer has the same calls in the same order. A name is right with probability 1/2, else new. A
    parameter is right with the ability *p*, has a wrong value with probability 0.2 (1 - p), else a new key.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases : int
    max_calls : int

    Returns
    -------
    CaseArrays

    Notes
    -----
    The ToolRL note's own generator is not printed; this one comes nearest to its P5 readings (§10.3), and on it the
    note's "0 %" for greedy matching is no observation but a theorem (see `toolrl_core.simulate.matching_loss`).
    """
    _, present = _counts(rng, cases, max_calls, fewest=1)
    order = np.broadcast_to(np.arange(max_calls), present.shape)
    names = np.where(present, order, -1).astype(np.int8)
    called = np.where(rng.random(present.shape) < 0.5, order, order + max_calls)
    ability = rng.choice([0.3, 0.6, 0.9], size=(cases, 1, 1))
    draw = rng.random((*present.shape, _OWN_KEYS))
    truth = np.full((*present.shape, 2 * _OWN_KEYS * max_calls), -1, dtype=np.int8)
    answer = truth.copy()
    for call in range(max_calls):
        own = slice(2 * _OWN_KEYS * call, 2 * _OWN_KEYS * call + _OWN_KEYS)
        new = slice(own.stop, own.stop + _OWN_KEYS)
        truth[:, call, own] = 0
        missed = (draw[:, call] - ability[:, 0]) / (1.0 - ability[:, 0])
        answer[:, call, own] = np.where(missed < 0.0, 0, np.where(missed < 0.2, 1, -1))
        answer[:, call, new] = np.where(missed < 0.2, -1, 0)
    truth[~present] = -1
    answer[~present] = -1
    predicted = CallArrays(np.where(present, called, -1).astype(np.int8), answer)
    return CaseArrays(CallArrays(names, truth), predicted)


def _empty_sides(rng: np.random.Generator, cases: int, *, max_calls: int = 5) -> CaseArrays:
    return uniform(rng, cases, max_calls=max_calls, min_calls=0)


def _counts(
    rng: np.random.Generator, cases: int, max_calls: int, *, fewest: int
) -> tuple[NDArray[np.int64], BoolArray]:
    """Draw numbers of calls, and say which of `max_calls` places hold one."""
    if max_calls < fewest:
        raise ValueError(f"max_calls: {max_calls} is too small; expected at least {fewest}")
    counts = rng.integers(fewest, max_calls + 1, size=cases)
    return counts, np.arange(max_calls) < counts[:, np.newaxis]


def _other_value(rng: np.random.Generator, values: IdArray) -> IdArray:
    """Draw, for each value, one of the other values."""
    shift = rng.integers(1, _VALUES, size=values.shape, dtype=np.int8)
    return ((values + shift) % _VALUES).astype(np.int8)


def _shuffled(rng: np.random.Generator, names: IdArray, values: IdArray) -> CallArrays:
    """Put the present calls of each case in random order."""
    order = np.argsort(np.where(names >= 0, rng.random(names.shape), 2.0), axis=1)
    return CallArrays(
        np.take_along_axis(names, order, axis=1), np.take_along_axis(values, order[:, :, np.newaxis], axis=1)
    )


GENERATORS: Final[Mapping[str, CaseGenerator]] = MappingProxyType(
    {
        generator.name: generator
        for generator in (
            CaseGenerator(
                name="uniform", description="Both sides independent: 6 keys, 4 names, 3 values.", draw=uniform
            ),
            CaseGenerator(
                name="empty_sides", description="As uniform, with sides that may be empty.", draw=_empty_sides
            ),
            CaseGenerator(
                name="corrupted",
                description="Copies with arguments changed, dropped or moved to another call.",
                draw=corrupted,
            ),
            CaseGenerator(
                name="parallel_calls",
                description="One tool called several times, values mixed up between the calls.",
                draw=parallel_calls,
            ),
            CaseGenerator(
                name="overlapping",
                description="Copies of calls that share some of their keys.",
                draw=overlapping,
            ),
            CaseGenerator(
                name="distinct_names",
                description="As uniform, no name twice on a side.",
                draw=distinct_names,
                never_worse="same_name",
            ),
            CaseGenerator(
                name="disjoint_keys",
                description="Copies of calls that share no key.",
                draw=disjoint_keys,
                never_worse="always",
            ),
            CaseGenerator(
                name="note_like",
                description="Answers of the random policy behind the zero-reward rates.",
                draw=note_like,
                never_worse="always",
            ),
        )
    }
)
"""Named generators of scoring cases."""
