"""Hold many synthetic scoring cases as integer arrays.

A case is a list of ground-truth calls and a list of predicted calls. Names and values are small integer ids, one byte
each, and a key is a place in a table, so that many cases are scored without a Python loop over them (see
`toolrl_core.array_scores`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolrl_core.calls import ToolCall

__all__ = ["CallArrays", "CaseArrays", "draw_cases", "to_calls"]

IdArray = NDArray[np.int8]
_DRAW_BLOCK = 16384
_MAX_KEYS = 255


@dataclass(frozen=True, eq=False)
class CallArrays:
    """Hold the calls of many cases as ids.

    Parameters
    ----------
    names : ndarray of int8, shape (cases, calls)
        Id of the called tool, or -1 where the case has fewer calls. Present calls come first.
    values : ndarray of int8, shape (cases, calls, keys)
        Id of the value given for each key, or -1 where the call does not have the key. Absent calls have no keys.

    Raises
    ------
    TypeError
        If a field does not hold integers.
    ValueError
        If shapes do not fit together, an id lies outside -1..127, a gap precedes a call, or an absent call has a key.

    Notes
    -----
    Two values are equal if and only if their ids are equal; there is no other equality policy here. A key has the same
    place on both sides, so there is no order of keys within a call. The fields are read-only.

    Examples
    --------
    One case with the call ``f(a=2)``, where a second call and a second key are absent:

    >>> import numpy as np
    >>> calls = CallArrays(names=np.array([[0, -1]]), values=np.array([[[2, -1], [-1, -1]]]))
    >>> calls.counts
    array([1])
    """

    names: IdArray
    values: IdArray

    def __post_init__(self) -> None:
        """Check shapes and ids and make both fields read-only int8 arrays."""
        names, values = _ids("names", self.names, 2), _ids("values", self.values, 3)
        if values.shape[:2] != names.shape:
            raise ValueError(
                f"values: shape {values.shape} does not start with the shape {names.shape} of names; "
                "expected names (cases, calls) and values (cases, calls, keys)"
            )
        present = names >= 0
        gaps = present[:, 1:] & ~present[:, :-1]
        if gaps.any():
            case, call = (int(index[0]) for index in np.nonzero(gaps))
            raise ValueError(f"names[{case}, {call}]: absent (-1) before a present call; present calls come first")
        stray = (values >= 0) & ~present[:, :, np.newaxis]
        if stray.any():
            case, call, key = (int(index[0]) for index in np.nonzero(stray))
            raise ValueError(f"values[{case}, {call}, {key}]: an absent call has a key; expected -1")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        """Return the number of cases."""
        return int(self.names.shape[0])

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of calls of each case, shape (cases,)."""
        counts: NDArray[np.int64] = (self.names >= 0).sum(axis=1, dtype=np.int64)
        return counts


@dataclass(frozen=True, eq=False)
class CaseArrays:
    """Hold ground truth and prediction of many cases.

    Parameters
    ----------
    ground_truth, predicted : CallArrays
        Both with the same number of cases and of keys; the number of calls may differ.

    Raises
    ------
    ValueError
        If the numbers of cases or of keys differ.

    Examples
    --------
    >>> import numpy as np
    >>> cases = draw_cases(np.random.default_rng(0), 1000)
    >>> len(cases), cases.predicted.values.shape
    (1000, (1000, 5, 6))
    """

    ground_truth: CallArrays
    predicted: CallArrays

    def __post_init__(self) -> None:
        """Check that both sides describe the same cases and keys."""
        expected, given = self.ground_truth.values.shape, self.predicted.values.shape
        for axis, what in ((0, "cases"), (2, "keys")):
            if expected[axis] != given[axis]:
                raise ValueError(
                    f"predicted: {given[axis]} {what} (values have shape {given}), but ground_truth has "
                    f"{expected[axis]} (values have shape {expected}); both sides need the same {what}"
                )

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self.ground_truth)


def draw_cases(
    rng: np.random.Generator,
    cases: int,
    *,
    max_calls: int = 5,
    keys: int = 6,
    key_probability: float = 0.5,
    names: int = 4,
    values: int = 3,
    min_calls: int = 1,
) -> CaseArrays:
    """Draw cases in which ground truth and prediction are independent and uniform.

    Each side has `min_calls` to `max_calls` calls, all numbers equally likely; each call has a uniform name; each key
    is present with `key_probability` and then has a uniform value.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of all randomness; the same state gives the same cases.
    cases : int
        Number of cases.
    max_calls, min_calls : int
        Bounds of the number of calls on each side.
    keys : int
        Number of keys that exist.
    key_probability : float
        Chance that a call has a given key.
    names, values : int
        Number of tool names, and of values of each key.

    Returns
    -------
    CaseArrays

    Raises
    ------
    ValueError
        If a count or the probability is out of range.

    Notes
    -----
    The defaults are the uniform cases on which ground-truth order greedy is compared with optimal matching (ToolRL note
    §10.3, property P2); ``min_calls=0`` admits empty sides.

    Examples
    --------
    >>> import numpy as np
    >>> cases = draw_cases(np.random.default_rng(7), 4, min_calls=0)
    >>> bool((cases.ground_truth.counts <= 5).all())
    True
    """
    for field, value, lowest, highest in (
        ("cases", cases, 0, None),
        ("max_calls", max_calls, 0, None),
        ("min_calls", min_calls, 0, max_calls),
        ("keys", keys, 0, _MAX_KEYS),
        ("names", names, 1, 128),
        ("values", values, 1, 128),
    ):
        if value < lowest or (highest is not None and value > highest):
            bounds = f"at least {lowest}" if highest is None else f"{lowest} to {highest}"
            raise ValueError(f"{field}: {value} is out of range; expected {bounds}")
    if not 0.0 <= key_probability <= 1.0:
        raise ValueError(f"key_probability: {key_probability} is not a probability; expected 0 to 1")

    def draw_side() -> CallArrays:
        side_names = np.empty((cases, max_calls), dtype=np.int8)
        side_values = np.empty((cases, max_calls, keys), dtype=np.int8)
        for start in range(0, cases, _DRAW_BLOCK):
            part = slice(start, min(start + _DRAW_BLOCK, cases))
            shape = side_values[part].shape
            counts = rng.integers(min_calls, max_calls + 1, size=(shape[0], 1))
            absent = np.arange(max_calls) >= counts
            side_names[part] = rng.integers(0, names, size=shape[:2], dtype=np.int8)
            side_values[part] = rng.integers(0, values, size=shape, dtype=np.int8)
            np.copyto(side_names[part], -1, where=absent)
            np.copyto(side_values[part], -1, where=rng.random(shape) >= key_probability)
            np.copyto(side_values[part], -1, where=absent[:, :, np.newaxis])
        return CallArrays(side_names, side_values)

    return CaseArrays(ground_truth=draw_side(), predicted=draw_side())


def to_calls(arrays: CaseArrays, index: int) -> tuple[tuple[ToolCall, ...], tuple[ToolCall, ...]]:
    """Spell one case out as tool calls, for the scorer that works on calls.

    Parameters
    ----------
    arrays : CaseArrays
    index : int
        Which case; negative numbers count from the end.

    Returns
    -------
    ground_truth, predicted : tuple of ToolCall
        Name id 2 becomes ``"tool_2"``, key 0 ``"argument_0"``; values stay integers.

    Raises
    ------
    IndexError
        If there is no such case.

    Examples
    --------
    >>> import numpy as np
    >>> side = CallArrays(names=np.array([[3]]), values=np.array([[[-1, 1]]]))
    >>> to_calls(CaseArrays(side, side), 0)[0]
    (ToolCall(name='tool_3', arguments={'argument_1': 1}),)
    """
    if not -len(arrays) <= index < len(arrays):
        raise IndexError(f"index: no case {index}; there are {len(arrays)} cases")

    def side(calls: CallArrays) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(f"tool_{name}", {f"argument_{key}": value for key, value in enumerate(row) if value >= 0})
            for name, row in zip(calls.names[index].tolist(), calls.values[index].tolist(), strict=True)
            if name >= 0
        )

    return side(arrays.ground_truth), side(arrays.predicted)


def _ids(field: str, value: NDArray[np.integer], ndim: int) -> IdArray:
    """Return a read-only int8 view (or copy) of an id array, or say what is wrong with it."""
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{field}: dtype {array.dtype}; expected integer ids, with -1 for absent")
    if array.ndim != ndim:
        axes = ("cases", "calls", "keys")[:ndim]
        raise ValueError(f"{field}: shape {array.shape}; expected {ndim} axes ({', '.join(axes)})")
    if array.size and (array.min() < -1 or array.max() > 127):
        raise ValueError(f"{field}: ids from {array.min()} to {array.max()}; expected -1 (absent) to 127")
    if ndim == 3 and array.shape[2] > _MAX_KEYS:
        raise ValueError(f"{field}: {array.shape[2]} keys; at most {_MAX_KEYS}")
    ids = array.astype(np.int8, copy=False).view()
    ids.flags.writeable = False
    return ids
