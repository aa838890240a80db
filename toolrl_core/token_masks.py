"""Align masks with tokens: which tokens are the model's own, in which turn they stand, and which were cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolrl_core.masks import ShapeMismatchError
from toolrl_core.trajectories import Trajectory

__all__ = ["TokenMasks", "clear_truncated", "first_void_turns", "token_masks", "void_rollouts"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TokenMasks:
    """Hold the masks of a batch of rollouts, aligned with its tokens and padded at the end.

    Parameters
    ----------
    loss_mask : ndarray of int, shape (rollouts, tokens)
        1 for the model's own tokens, 0 for prompts, observations and padding.
    turn_index : ndarray of int, shape (rollouts, tokens)
        Which of the model's turns a token belongs to, counted from 0; -1 for all other tokens.
    attention_mask : ndarray of int, shape (rollouts, tokens)
        1 for every token of the rollout, 0 for padding.
    """

    loss_mask: NDArray[np.int64]
    turn_index: NDArray[np.int64]
    attention_mask: NDArray[np.int64]


def token_masks(trajectories: Sequence[Trajectory], *, length: int | None = None) -> TokenMasks:
    """Lay a batch of rollouts out in tokens.

    Parameters
    ----------
    trajectories : sequence of Trajectory
        Rollouts whose turns all carry `token_count` or `token_ids`.
    length : int, optional
        Number of token columns; by default that of the longest rollout.

    Returns
    -------
    TokenMasks
        The aligned masks.

    Raises
    ------
    ValueError
        A turn has no token count (rollout and turn are named).
    ShapeMismatchError
        A rollout is longer than `length`; both lengths are named.

    Notes
    -----
    SimpleTIR note §5.1: the feedback mask is 1 on the model's output and 0 on what the environment returned.

    Examples
    --------
    >>> from toolrl_core.trajectories import Turn
    >>> rollout = Trajectory((Turn("a b", token_count=2), Turn("42", "tool", token_count=1), Turn("c", token_count=1)))
    >>> masks = token_masks([rollout])
    >>> masks.loss_mask.tolist(), masks.turn_index.tolist()
    ([[1, 1, 0, 1]], [[0, 0, -1, 1]])
    """
    rows: list[list[int]] = []
    for i, rollout in enumerate(trajectories):
        row: list[int] = []
        model_turn = -1
        for k, turn in enumerate(rollout.turns):
            if turn.token_count is None:
                raise ValueError(f"rollout {i}, turn {k} ({turn.role}): no token_count and no token_ids")
            model_turn += turn.is_model
            row += [model_turn if turn.is_model else -1] * turn.token_count
        rows.append(row)
    longest = max(map(len, rows), default=0)
    columns = longest if length is None else length
    if longest > columns:
        place = next(i for i, row in enumerate(rows) if len(row) > columns)
        raise ShapeMismatchError(f"rollout {place} has {len(rows[place])} tokens, the mask has {columns} columns")
    turn_index = np.full((len(rows), columns), -1, dtype=np.int64)
    attention = np.zeros((len(rows), columns), dtype=np.int64)
    for i, row in enumerate(rows):
        turn_index[i, : len(row)] = row
        attention[i, : len(row)] = 1
    return TokenMasks(loss_mask=(turn_index >= 0).astype(np.int64), turn_index=turn_index, attention_mask=attention)


def void_rollouts(trajectories: Sequence[Trajectory], contract: str) -> NDArray[np.bool_]:
    """Mark the rollouts that have a void turn under a contract.

    Parameters
    ----------
    trajectories : sequence of Trajectory
        The rollouts.
    contract : str
        Name of the contract.

    Returns
    -------
    ndarray of bool, shape (rollouts,)
        The flags that ``mask_void`` and ``filter_void`` take.

    Raises
    ------
    ValueError
        Unknown contract.

    Notes
    -----
    SimpleTIR note §5.3. Observations are never read.

    Examples
    --------
    >>> from toolrl_core.trajectories import Turn
    >>> void_rollouts([Trajectory((Turn("hm"), Turn("boxed", "tool"))), Trajectory(())], "code").tolist()
    [True, False]
    """
    return np.array([rollout.has_void(contract) for rollout in trajectories], dtype=bool)


def first_void_turns(trajectories: Sequence[Trajectory], contract: str) -> NDArray[np.int64]:
    r"""Find the first void turn of each rollout.

    Parameters
    ----------
    trajectories : sequence of Trajectory
        The rollouts.
    contract : str
        Name of the contract.

    Returns
    -------
    ndarray of int, shape (rollouts,)
        Position among the model's turns, counted from 0; -1 without a void turn.

    Raises
    ------
    ValueError
        Unknown contract.

    Notes
    -----
    SimpleTIR note §5.3 and, for ``mask_after_void``, §12.

    Examples
    --------
    >>> from toolrl_core.trajectories import Turn
    >>> turns = (Turn("```python\n1\n```"), Turn("hm"))
    >>> first_void_turns([Trajectory(turns), Trajectory(turns[:1])], "code").tolist()
    [1, -1]
    """
    found = (rollout.first_void(contract) for rollout in trajectories)
    return np.array([-1 if first is None else first for first in found], dtype=np.int64)


def clear_truncated(truncated: ArrayLike, **masks: ArrayLike) -> dict[str, NDArray[Any]]:
    """Clear every mask of the rollouts that were cut off at a length limit.

    Parameters
    ----------
    truncated : array_like of bool, shape (rollouts,) or a single bool
        Whether a rollout was cut off.
    **masks : array_like, shape (rollouts, tokens), or (tokens,) for a single rollout
        The masks by name, such as ``completion_mask`` and ``tool_mask``.

    Returns
    -------
    dict of str to ndarray
        New masks by name.

    Raises
    ------
    ShapeMismatchError
        A mask does not fit `truncated`, or two masks differ; both shapes are named.

    Notes
    -----
    A trainer that clears the completion mask and forgets the tool mask goes on training on a part of the rollout
    (huggingface/trl pull request 4976).

    Examples
    --------
    >>> cleared = clear_truncated(True, completion_mask=[1, 1, 1], tool_mask=[1, 1, 0])
    >>> {name: mask.tolist() for name, mask in cleared.items()}
    {'completion_mask': [0, 0, 0], 'tool_mask': [0, 0, 0]}
    """
    flags = np.asarray(truncated, dtype=bool)
    cleared: dict[str, NDArray[Any]] = {}
    previous: tuple[str, tuple[int, ...]] | None = None
    for name, given in masks.items():
        mask = np.asarray(given)
        if mask.ndim != flags.ndim + 1 or mask.shape[:-1] != flags.shape:
            raise ShapeMismatchError(f"{name} has shape {mask.shape}, truncated has shape {flags.shape}")
        if previous is not None and mask.shape != previous[1]:
            raise ShapeMismatchError(f"{previous[0]} has shape {previous[1]}, {name} has shape {mask.shape}")
        previous = (name, mask.shape)
        cleared[name] = np.where(flags[..., None], np.zeros_like(mask), mask)
    return cleared
