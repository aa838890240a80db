"""Take void rollouts out of a batch: mask, filter, drop group and mask after void are four different operations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolrl_core.groups import shown

__all__ = [
    "MaskedBatch",
    "ShapeMismatchError",
    "checked_mask",
    "drop_void_groups",
    "filter_accuracy",
    "filter_void",
    "mask_after_void",
    "mask_void",
]

Mask = NDArray[Any]
Groups = Sequence[Hashable] | NDArray[Any]


class ShapeMismatchError(ValueError):
    """Name two arrays that do not fit together, with both of their shapes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MaskedBatch:
    """Hold what is left of a batch: which tokens are trained, and which rollouts their group's statistics count.

    Parameters
    ----------
    loss_mask : ndarray, shape (rollouts, tokens)
        The mask after the operation, in the type of the mask before it. The input is never changed.
    counted : ndarray of bool, shape (rollouts,)
        False where a rollout left the batch before advantages: give it to ``group_advantages`` as `valid`.
    empty_groups : tuple of hashable
        Keys of the groups that lost all their rollouts.
    warnings : tuple of str
        What the caller should know, in plain words.
    """

    loss_mask: Mask
    counted: NDArray[np.bool_]
    empty_groups: tuple[Hashable, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def tokens_kept(self) -> int:
        """Return the number of tokens that are still trained."""
        return int(np.count_nonzero(self.loss_mask))


def mask_void(loss_mask: ArrayLike, void: ArrayLike) -> MaskedBatch:
    """Mask void rollouts: they train nothing, and their rewards stay in the group's mean and deviation.

    Parameters
    ----------
    loss_mask : array_like, shape (rollouts, tokens)
        1 for the model's tokens, 0 for observations and padding.
    void : array_like of bool, shape (rollouts,)
        Whether a rollout has a void turn.

    Returns
    -------
    MaskedBatch
        Every rollout is still counted.

    Raises
    ------
    ShapeMismatchError
        The two do not have the same number of rollouts; both shapes are named.

    Notes
    -----
    This is what the released code does (ltzheng/SimpleTIR@e7b5b44, ray trainer L1162-1165 and L190-193), although the
    SimpleTIR note §5.3 speaks of removal from the batch, which is :func:`filter_void`.

    Examples
    --------
    Three right, one wrong and four void rollouts: the wrong one is only half as bad as it is after filtering.

    >>> from toolrl_core.advantages import group_advantages
    >>> rewards, void = [1, 1, 1, 0, 0, 0, 0, 0], [False] * 4 + [True] * 4
    >>> for operation in (mask_void, filter_void):
    ...     left = operation(np.ones((8, 2)), void)
    ...     advantages = group_advantages(rewards, ["q"] * 8, dialect="released", valid=left.counted)
    ...     print(operation.__name__, advantages[:4].round(3).tolist())
    mask_void [1.208, 1.208, 1.208, -0.725]
    filter_void [0.5, 0.5, 0.5, -1.5]
    """
    mask, flags = _checked_rows(loss_mask, void, "void")
    return MaskedBatch(loss_mask=_zeroed(mask, flags), counted=np.ones(len(mask), dtype=bool))


def filter_void(loss_mask: ArrayLike, void: ArrayLike, *, groups: Groups | None = None) -> MaskedBatch:
    """Filter void rollouts: they leave the batch before advantages are computed.

    Parameters
    ----------
    loss_mask : array_like, shape (rollouts, tokens)
        1 for the model's tokens, 0 for observations and padding.
    void : array_like of bool, shape (rollouts,)
        Whether a rollout has a void turn.
    groups : sequence of hashable, shape (rollouts,), optional
        Group of each rollout, to say which groups became empty; by default one group.

    Returns
    -------
    MaskedBatch
        Rows keep their places: a filtered rollout has a mask of zeros and is not counted.

    Raises
    ------
    ShapeMismatchError
        Numbers of rollouts differ; both shapes are named.

    Notes
    -----
    SimpleTIR note §5.3 describes this operation. An empty group is a warning in the result, not an error.

    Examples
    --------
    >>> filter_void([[1, 1], [1, 0], [1, 1]], [True, True, False], groups=["a", "a", "b"]).warnings
    ("1 group became empty after filtering: 'a'",)
    """
    mask, flags = _checked_rows(loss_mask, void, "void")
    codes, keys = _coded(groups, mask)
    return _without(mask, flags, codes, keys, "filtering")


def drop_void_groups(loss_mask: ArrayLike, void: ArrayLike, groups: Groups) -> MaskedBatch:
    """Drop every group that has a void rollout in it, its sound rollouts included.

    Parameters
    ----------
    loss_mask : array_like, shape (rollouts, tokens)
        1 for the model's tokens, 0 for observations and padding.
    void : array_like of bool, shape (rollouts,)
        Whether a rollout has a void turn.
    groups : sequence of hashable, shape (rollouts,)
        Group of each rollout.

    Returns
    -------
    MaskedBatch
        All rollouts of the dropped groups have a mask of zeros and are not counted.

    Raises
    ------
    ShapeMismatchError
        Numbers of rollouts differ; both shapes are named.

    Notes
    -----
    Neither the note nor the release does this; it is the coarsest of the four operations.

    Examples
    --------
    >>> drop_void_groups([[1], [1], [1]], [True, False, False], ["a", "a", "b"]).loss_mask.tolist()
    [[0], [0], [1]]
    """
    mask, flags = _checked_rows(loss_mask, void, "void")
    codes, keys = _coded(groups, mask)
    affected = np.bincount(codes, weights=flags, minlength=len(keys)) > 0
    return _without(mask, affected[codes], codes, keys, "dropping groups")


def mask_after_void(loss_mask: ArrayLike, turn_index: ArrayLike, first_void: ArrayLike) -> MaskedBatch:
    """Mask only the tokens from the first void turn on, and train on the turns before it.

    Parameters
    ----------
    loss_mask : array_like, shape (rollouts, tokens)
        1 for the model's tokens, 0 for observations and padding.
    turn_index : array_like of int, shape (rollouts, tokens)
        Which of the model's turns each token belongs to, counted from 0; -1 for other tokens.
    first_void : array_like of int, shape (rollouts,)
        The first void turn of each rollout, counted from 0; -1 where there is none.

    Returns
    -------
    MaskedBatch
        Every rollout is still counted, so the early turns of a void rollout carry its advantage.

    Raises
    ------
    ShapeMismatchError
        Shapes do not fit; both are named.
    TypeError
        `turn_index` or `first_void` does not hold integers (flags are not positions).

    Notes
    -----
    SimpleTIR note §12, first open question. With the usual reward the early turns are then *punished*: a void rollout
    has reward 0 and so a negative advantage.

    Examples
    --------
    >>> mask_after_void([[1, 1, 0, 1], [1, 1, 0, 1]], [[0, 0, -1, 1]] * 2, [1, -1]).loss_mask.tolist()
    [[1, 1, 0, 0], [1, 1, 0, 1]]
    """
    mask = checked_mask(loss_mask)
    index = _checked_integers(turn_index, "turn_index")
    if index.shape != mask.shape:
        raise ShapeMismatchError(f"loss_mask has shape {mask.shape}, turn_index has shape {index.shape}: they differ")
    first = _checked_integers(first_void, "first_void")
    _check_rows(mask, first, "first_void")
    after = (first[:, None] >= 0) & (index >= first[:, None])
    return MaskedBatch(loss_mask=_zeroed(mask, after), counted=np.ones(len(mask), dtype=bool))


def filter_accuracy(
    loss_mask: ArrayLike, rewards: ArrayLike, groups: Groups, *, lowest: float, highest: float
) -> MaskedBatch:
    """Filter the groups whose mean reward lies outside a range.

    Parameters
    ----------
    loss_mask : array_like, shape (rollouts, tokens)
        1 for the model's tokens, 0 for observations and padding.
    rewards : array_like of float, shape (rollouts,)
        Reward of each rollout, in points.
    groups : sequence of hashable, shape (rollouts,)
        Group of each rollout.
    lowest, highest : float
        Bounds of the mean reward that a group may have, both included.

    Returns
    -------
    MaskedBatch
        What is left, possibly nothing: an empty batch is a warning, not an error.

    Raises
    ------
    ShapeMismatchError
        Numbers of rollouts differ; both shapes are named.
    ValueError
        `lowest` is larger than `highest`.

    Notes
    -----
    SimpleTIR's release offers such a filter beside the veto. Which groups survive depends on their rewards, so the
    mean reward of the survivors says nothing about the policy (a survivor bias).

    Examples
    --------
    >>> left = filter_accuracy(np.ones((2, 3)), [0, 0], ["a", "a"], lowest=0.1, highest=0.9)
    >>> left.tokens_kept, left.warnings
    (0, ("1 group became empty after the accuracy filter: 'a'", 'no rollout is left in the batch'))
    """
    if not lowest <= highest:
        raise ValueError(f"lowest must not exceed highest, got {lowest} and {highest}")
    mask = checked_mask(loss_mask)
    points = np.asarray(rewards, dtype=np.float64)
    _check_rows(mask, points, "rewards")
    codes, keys = _coded(groups, mask)
    sizes = np.bincount(codes, minlength=len(keys))
    means = np.bincount(codes, weights=points, minlength=len(keys)) / np.maximum(sizes, 1)
    outside = ~((means >= lowest) & (means <= highest))
    return _without(mask, outside[codes], codes, keys, "the accuracy filter")


def checked_mask(loss_mask: ArrayLike) -> Mask:
    """Return a loss mask as an array, or say what is wrong with it.

    Parameters
    ----------
    loss_mask : array_like, shape (rollouts, tokens)
        Zeros and ones (or booleans).

    Returns
    -------
    ndarray, shape (rollouts, tokens)
        The mask.

    Raises
    ------
    ShapeMismatchError
        It does not have two axes.

    Examples
    --------
    >>> checked_mask([[1, 0]]).shape
    (1, 2)
    """
    mask = np.asarray(loss_mask)
    if mask.ndim != 2:
        raise ShapeMismatchError(f"loss_mask has shape {mask.shape}, expected (rollouts, tokens)")
    return mask


def _check_rows(mask: Mask, values: NDArray[Any], name: str) -> None:
    if values.shape != mask.shape[:1]:
        raise ShapeMismatchError(
            f"loss_mask has shape {mask.shape}, {name} has shape {values.shape}: expected {mask.shape[:1]}"
        )


def _checked_rows(loss_mask: ArrayLike, flags: ArrayLike, name: str) -> tuple[Mask, NDArray[np.bool_]]:
    mask = checked_mask(loss_mask)
    rows = np.asarray(flags)
    _check_rows(mask, rows, name)
    if rows.dtype != np.bool_ and rows.size and not np.isin(rows, (0, 1)).all():
        raise TypeError(f"{name} must hold flags (True or False), found {rows.dtype} values such as {rows[0]}")
    return mask, rows.astype(bool)


def _checked_integers(values: ArrayLike, name: str) -> NDArray[np.intp]:
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, found dtype {given.dtype}")
    return given.astype(np.intp)


def _coded(groups: Groups | None, mask: Mask) -> tuple[NDArray[np.intp], list[Hashable]]:
    """Give the groups numbers in the order of their first appearance."""
    if groups is None:
        return np.zeros(len(mask), dtype=np.intp), [0] if len(mask) else []
    if len(groups) != len(mask):
        raise ShapeMismatchError(f"loss_mask has shape {mask.shape}, groups has shape ({len(groups)},)")
    places: dict[Hashable, int] = {}
    listed = groups.tolist() if isinstance(groups, np.ndarray) else groups
    codes = np.array([places.setdefault(key, len(places)) for key in listed], dtype=np.intp)
    return codes, list(places)


def _zeroed(mask: Mask, where: NDArray[np.bool_]) -> Mask:
    result = mask.copy()
    result[where] = 0
    return result


def _without(
    mask: Mask, gone: NDArray[np.bool_], codes: NDArray[np.intp], keys: list[Hashable], cause: str
) -> MaskedBatch:
    """Take rollouts out of the batch and say which groups that empties."""
    left = np.bincount(codes[~gone], minlength=len(keys))
    empty = tuple(key for key, count in zip(keys, left, strict=True) if count == 0)
    warnings = []
    if empty:
        noun = "group" if len(empty) == 1 else "groups"
        warnings.append(f"{len(empty)} {noun} became empty after {cause}: {shown(empty)}")
    if gone.all():
        warnings.append("no rollout is left in the batch")
    return MaskedBatch(loss_mask=_zeroed(mask, gone), counted=~gone, empty_groups=empty, warnings=tuple(warnings))
