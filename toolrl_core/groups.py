"""Read rewards that belong to groups of rollouts, and say what is wrong with the groups.

A *group* is the set of rollouts of one prompt. Rows are grouped by key, never by position, so interleaved batches and
groups of different sizes need no preparation. :mod:`toolrl_core.advantages` builds on this module.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["GroupMoments", "GroupedRewards", "group_moments", "read_groups", "shown"]

Rewards = Sequence[float | None] | NDArray[Any]
Groups = Sequence[Hashable] | NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupedRewards:
    """Hold one batch of rewards with its groups, checked and coded.

    Parameters
    ----------
    rewards : array of float64, shape (rollouts,)
        Rewards in points; NaN where a rollout was not scored.
    codes : array of int, shape (rollouts,)
        Position of each row's group in `keys`.
    keys : tuple of hashable
        Group keys in order of first appearance.
    valid : array of bool, shape (rollouts,)
        False where a rollout has no trainable tokens.
    """

    rewards: NDArray[np.float64]
    codes: NDArray[np.intp]
    keys: tuple[Hashable, ...]
    valid: NDArray[np.bool_]

    @property
    def unscored(self) -> NDArray[np.bool_]:
        """Mark the valid rows that carry no reward."""
        return self.valid & np.isnan(self.rewards)

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Mark the rows that take part in their group's statistics."""
        return self.valid & ~np.isnan(self.rewards)


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupMoments:
    """Hold the first two moments of every group, each scaled by a power of two of its own.

    Parameters
    ----------
    counts : array of int, shape (groups,)
        Number of usable rows.
    exponents : array of int, shape (groups,)
        Numbers of the group are stored divided by 2 to this power, so that no square overflows or vanishes.
    means : array of float64, shape (groups,)
        Mean reward in points, not scaled; NaN for a group without usable rows.
    squares : array of float64, shape (groups,)
        Scaled sum of squared deviations.
    rows : array of int, shape (usable rows,)
        Row numbers, sorted by group.
    deviations : array of float64, shape (usable rows,)
        Scaled deviation of those rows from their group's mean.
    """

    counts: NDArray[np.intp]
    exponents: NDArray[np.intp]
    means: NDArray[np.float64]
    squares: NDArray[np.float64]
    rows: NDArray[np.intp]
    deviations: NDArray[np.float64]

    def scaled_std(self, ddof: int) -> NDArray[np.float64]:
        """Return each group's scaled standard deviation with `ddof` degrees of freedom taken off (0 for one row)."""
        std: NDArray[np.float64] = np.sqrt(self.squares / np.maximum(self.counts - ddof, 1))
        return std

    def std(self, ddof: int = 0) -> NDArray[np.float64]:
        """Return each group's standard deviation in points; NaN for a group without usable rows."""
        with np.errstate(over="ignore", under="ignore"):
            std: NDArray[np.float64] = np.ldexp(self.scaled_std(ddof), self.exponents)
        return np.where(self.counts > 0, std, math.nan)


def shown(items: Sequence[object], *, limit: int = 5) -> str:
    """Write the first few items of a list for a message.

    Examples
    --------
    >>> shown(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    text = ", ".join(repr(item) for item in items[:limit])
    return text if len(items) <= limit else f"{text} and {len(items) - limit} more"


def read_groups(rewards: Rewards, groups: Groups, *, valid: ArrayLike | None = None) -> GroupedRewards:
    """Check rewards, group keys and mask, and code the groups.

    Parameters
    ----------
    rewards : sequence of float or None, shape (rollouts,)
        One reward a rollout, in points; None or NaN where it was not scored.
    groups : sequence of hashable, shape (rollouts,)
        Key of each rollout's group (a string, a number, a tuple, ...).
    valid : array of bool or token counts, shape (rollouts,), optional
        False or 0 where a rollout has no trainable tokens.

    Returns
    -------
    GroupedRewards
        The checked batch.

    Raises
    ------
    ValueError
        If the shapes differ, a reward is infinite, or a group key is NaN.
    TypeError
        If a reward is not a number, a key is not hashable, or the mask is neither bool nor whole numbers.

    Examples
    --------
    The keys 1 and "1" stay two groups, and rows of one group need not be neighbours:

    >>> read_groups([1.0, 0.0, 5.0], [1, "1", 1]).codes.tolist()
    [0, 1, 0]
    """
    shapes = _shape(rewards), _shape(groups)
    if shapes[0] != shapes[1] or len(shapes[0]) != 1:
        raise ValueError(
            f"rewards has shape {shapes[0]}, groups has shape {shapes[1]}: "
            "give one reward and one group key for each rollout"
        )
    values = _read_rewards(rewards)
    codes, keys = _code_groups(groups)
    if valid is None:
        mask = np.ones(values.shape, dtype=np.bool_)
    else:
        given = np.asarray(valid)
        if given.shape != values.shape:
            raise ValueError(f"valid has shape {given.shape}, rewards has shape {values.shape}: they must agree")
        if given.size and given.dtype.kind not in "biu":
            raise TypeError(f"valid must hold bool or token counts, not {given.dtype}")
        mask = given.astype(np.bool_)
    return GroupedRewards(rewards=values, codes=codes, keys=keys, valid=mask)


def group_moments(grouped: GroupedRewards) -> GroupMoments:
    """Compute every group's mean and squared deviations in two passes of double precision.

    Rows are sorted by group and reward first, so the result does not depend on their order, not even in the last bit.
    Deviations are taken from the group's smallest reward and then from the mean, so equal rewards give exact zeros.

    Parameters
    ----------
    grouped : GroupedRewards
        The batch; rows that are not usable are left out.

    Returns
    -------
    GroupMoments
        Counts, means and scaled deviations.

    Examples
    --------
    Three times 0.1 has no spread at all, although the sum of three 0.1 is not 0.3:

    >>> group_moments(read_groups([0.1, 0.1, 0.1], ["a", "a", "a"])).std().tolist()
    [0.0]
    """
    number = len(grouped.keys)
    usable = np.flatnonzero(grouped.usable)
    order = np.lexsort((grouped.rewards[usable], grouped.codes[usable]))
    rows: NDArray[np.intp] = usable[order]
    counts: NDArray[np.intp] = np.bincount(grouped.codes[rows], minlength=number).astype(np.intp)
    present = np.flatnonzero(counts)
    exponents = np.zeros(number, dtype=np.intp)
    means = np.full(number, math.nan)
    squares = np.zeros(number)
    if rows.size == 0:
        return GroupMoments(
            counts=counts, exponents=exponents, means=means, squares=squares, rows=rows, deviations=np.zeros(0)
        )
    values = grouped.rewards[rows]
    size = counts[present]
    starts = np.concatenate(([0], np.cumsum(size)[:-1]))
    largest = np.maximum.reduceat(np.abs(values), starts)
    exponents[present] = np.frexp(largest)[1]
    scaled = np.ldexp(values, -np.repeat(exponents[present], size))
    lowest = scaled[starts]
    above = scaled - np.repeat(lowest, size)
    middle = np.add.reduceat(above, starts) / size
    deviations = above - np.repeat(middle, size)
    deviations -= np.repeat(np.add.reduceat(deviations, starts) / size, size)
    squares[present] = np.add.reduceat(deviations * deviations, starts)
    means[present] = np.ldexp(lowest + middle, exponents[present])
    return GroupMoments(
        counts=counts, exponents=exponents, means=means, squares=squares, rows=rows, deviations=deviations
    )


def _shape(values: Any) -> tuple[int, ...]:
    if hasattr(values, "shape"):
        return tuple(int(size) for size in values.shape)
    try:
        return (len(values),)
    except TypeError as error:
        raise TypeError(f"rewards and groups must be sequences, not {type(values).__name__}") from error


def _plain(values: Any) -> Any:
    return values.tolist() if hasattr(values, "tolist") else values


def _read_rewards(rewards: Any) -> NDArray[np.float64]:
    if isinstance(rewards, np.ndarray) and rewards.dtype.kind in "biuf":
        values = rewards.astype(np.float64)
    else:
        values = np.array([_number(value, row) for row, value in enumerate(_plain(rewards))], dtype=np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise ValueError(f"rewards must be finite or missing; infinite in rows {shown(infinite.tolist())}")
    return values


def _number(value: Any, row: int) -> float:
    if value is None or type(value).__name__ == "NAType":  # pandas' marker for a missing number
        return math.nan
    if isinstance(value, str | bytes):
        raise TypeError(f"rewards[{row}] is {value!r}: a reward is a number or None")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f"rewards[{row}] is too large for a double") from error
    except (TypeError, ValueError) as error:
        raise TypeError(f"rewards[{row}] is a {type(value).__name__}: a reward is one number or None") from error


def _code_groups(groups: Any) -> tuple[NDArray[np.intp], tuple[Hashable, ...]]:
    keys = _plain(groups)
    known: dict[Hashable, int] = {}
    codes = np.empty(len(keys), dtype=np.intp)
    for row, key in enumerate(keys):
        if isinstance(key, float | np.floating) and math.isnan(key):
            raise ValueError(f"groups[{row}] is NaN, which equals no other key: give every rollout a group")
        try:
            codes[row] = known.setdefault(key, len(known))
        except TypeError as error:
            raise TypeError(f"groups[{row}] is a {type(key).__name__}, which cannot be hashed") from error
    return codes, tuple(known)
