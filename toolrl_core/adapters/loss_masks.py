"""Take void rollouts out of a trainer's loss: masks in, masks out, all of them numpy arrays.

A trainer holds token ids and masks, not turns. Every run of ones in a loss mask is one turn of the model, so that
the turns can be decoded again and judged::

    loss = trl_loss_mask(completion_mask, tool_mask)      # verl: loss = response_mask
    rollouts = rollouts_from_ids(completion_ids, loss, completion_mask, tokenizer.decode)
    left = take_out_void(loss, rollouts, "mask", contract="tool_call")

`left.loss_mask` goes back as verl's ``response_mask`` or TRL's ``tool_mask``; TRL's ``completion_mask`` must stay as it
is, since attention uses it too. `left.counted` is for `group_advantages`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolrl_core.masks import (
    MaskedBatch,
    ShapeMismatchError,
    checked_mask,
    drop_void_groups,
    filter_void,
    mask_after_void,
    mask_void,
)
from toolrl_core.token_masks import first_void_turns, void_rollouts
from toolrl_core.trajectories import Trajectory, Turn

__all__ = ["OPERATIONS", "rollouts_from_ids", "take_out_void", "trl_loss_mask", "turn_index"]

OPERATIONS = ("mask", "filter", "drop_group", "mask_after")
"""What can be done with void rollouts (see `toolrl_core.masks`)."""


def trl_loss_mask(completion_mask: ArrayLike, tool_mask: ArrayLike | None = None) -> NDArray[np.int64]:
    """Return the tokens that TRL trains: those of the completion that no tool wrote.

    Parameters
    ----------
    completion_mask : array_like of int, shape (rollouts, tokens)
        1 for tokens of the completion, 0 for padding at the end.
    tool_mask : array_like of int, shape (rollouts, tokens), optional
        0 for tokens that a tool wrote. TRL pads it with **ones**, so it is no loss mask by itself.

    Returns
    -------
    ndarray of int, shape (rollouts, tokens)
        1 for the model's own tokens.

    Raises
    ------
    ShapeMismatchError
        The masks differ in shape; both shapes are named.

    Notes
    -----
    TRL 1.16.0, grpo_trainer.py L2497. The feedback mask of the SimpleTIR note §5.1.

    Examples
    --------
    >>> trl_loss_mask([[1, 1, 1, 0]], [[1, 0, 1, 1]]).tolist()
    [[1, 0, 1, 0]]
    """
    completion = checked_mask(completion_mask)
    tools = np.ones_like(completion) if tool_mask is None else np.asarray(tool_mask)
    if tools.shape != completion.shape:
        raise ShapeMismatchError(f"completion_mask has shape {completion.shape}, tool_mask has shape {tools.shape}")
    return np.where((completion != 0) & (tools != 0), 1, 0)


def turn_index(loss_mask: ArrayLike) -> NDArray[np.int64]:
    """Count the model's turns along a loss mask: each run of ones is one turn.

    Parameters
    ----------
    loss_mask : array_like, shape (rollouts, tokens)
        1 for the model's own tokens.

    Returns
    -------
    ndarray of int, shape (rollouts, tokens)
        Turn of each token, counted from 0; -1 for all other tokens.

    Raises
    ------
    ShapeMismatchError
        The mask does not have two axes.

    Notes
    -----
    Two turns without any token between them are one run. Trainers put at least the markup of a tool's message there.

    Examples
    --------
    >>> turn_index([[1, 1, 0, 1, 0, 0]]).tolist()
    [[0, 0, -1, 1, -1, -1]]
    """
    own = checked_mask(loss_mask) != 0
    starts = own & ~np.pad(own, ((0, 0), (1, 0)))[:, :-1]
    counted: NDArray[np.int64] = np.where(own, starts.cumsum(axis=1) - 1, -1).astype(np.int64)
    return counted


def rollouts_from_ids(
    token_ids: ArrayLike, loss_mask: ArrayLike, attention_mask: ArrayLike, decode: Callable[[list[int]], str]
) -> list[Trajectory]:
    """Cut a batch of token ids into turns, the model's and the tools'.

    Parameters
    ----------
    token_ids : array_like of int, shape (rollouts, tokens)
        The response's tokens, padded at the end.
    loss_mask : array_like, shape (rollouts, tokens)
        1 for the model's own tokens: verl's ``response_mask``, or `trl_loss_mask`.
    attention_mask : array_like, shape (rollouts, tokens)
        0 for padding: TRL's ``completion_mask``; of verl's ``attention_mask`` the columns of the response.
    decode : callable
        A tokenizer's ``decode``.

    Returns
    -------
    list of Trajectory
        One for each row, with the token ids of each turn.

    Raises
    ------
    ShapeMismatchError
        The arrays differ in shape; both shapes are named.

    Examples
    --------
    >>> ids, own, present = [[104, 105, 33, 111, 0]], [[1, 1, 0, 1, 0]], [[1, 1, 1, 1, 0]]
    >>> rollout, = rollouts_from_ids(ids, own, present, lambda ids: bytes(ids).decode())
    >>> [(turn.role, turn.text) for turn in rollout.turns]
    [('assistant', 'hi'), ('tool', '!'), ('assistant', 'o')]
    """
    own = checked_mask(loss_mask) != 0
    ids, present = np.asarray(token_ids), np.asarray(attention_mask) != 0
    for name, array in (("token_ids", ids), ("attention_mask", present)):
        if array.shape != own.shape:
            raise ShapeMismatchError(f"loss_mask has shape {own.shape}, {name} has shape {array.shape}")
    return [Trajectory(tuple(_turns(*row, decode))) for row in zip(ids, own, present | own, strict=True)]


def _turns(
    ids: NDArray[Any], own: NDArray[np.bool_], present: NDArray[np.bool_], decode: Callable[[list[int]], str]
) -> list[Turn]:
    kept, owners = ids[present].tolist(), own[present]
    cuts = [0, *(np.flatnonzero(owners[1:] != owners[:-1]) + 1).tolist(), len(kept)]
    return [
        Turn(decode(kept[start:end]), "assistant" if owners[start] else "tool", token_ids=tuple(kept[start:end]))
        for start, end in pairwise(cuts)
        if end > start
    ]


def take_out_void(
    loss_mask: ArrayLike,
    rollouts: Sequence[Trajectory],
    operation: str = "mask",
    *,
    contract: str = "code",
    groups: Sequence[Hashable] | NDArray[Any] | None = None,
) -> MaskedBatch:
    r"""Take void rollouts out of a batch in one of four ways.

    Parameters
    ----------
    loss_mask : array_like, shape (rollouts, tokens)
        1 for the model's own tokens.
    rollouts : sequence of Trajectory
        The same rollouts in turns (see `rollouts_from_ids`, `trajectory_from_messages`).
    operation : {"mask", "filter", "drop_group", "mask_after"}
        Train nothing on them but count their rewards; leave them out before advantages; drop their whole group; or
        train only on the turns before the first void one.
    contract : str
        When a turn is void (see `toolrl_core.contracts.CONTRACTS`).
    groups : sequence of hashable, shape (rollouts,), optional
        Group of each rollout; needed to drop groups.

    Returns
    -------
    MaskedBatch
        The new loss mask, and which rollouts count for their group.

    Raises
    ------
    ValueError
        Unknown operation or contract; or groups are to be dropped and none are given.
    ShapeMismatchError
        Numbers of rollouts differ, or a rollout has another number of turns than its mask has runs.

    Notes
    -----
    SimpleTIR note §5.3. In the released code it is ``mask`` (ltzheng/SimpleTIR@e7b5b44).

    Examples
    --------
    >>> sound, void = Trajectory((Turn("```python\n1\n```"),)), Trajectory((Turn("hm"),))
    >>> take_out_void([[1, 1], [1, 0]], [sound, void], "mask").loss_mask.tolist()
    [[1, 1], [0, 0]]
    """
    if operation not in OPERATIONS:
        raise ValueError(f"unknown operation {operation!r}: choose from {', '.join(OPERATIONS)}")
    mask = checked_mask(loss_mask)
    if len(rollouts) != len(mask):
        raise ShapeMismatchError(f"loss_mask has shape {mask.shape}, but there are {len(rollouts)} rollouts")
    if operation == "mask_after":
        index = turn_index(mask)
        for row, (rollout, runs) in enumerate(zip(rollouts, index.max(axis=1, initial=-1) + 1, strict=True)):
            turns = len(rollout.model_turns)
            if turns != runs:
                raise ShapeMismatchError(f"rollout {row} has {turns} turns of the model, its mask {runs} runs of ones")
        return mask_after_void(mask, index, first_void_turns(rollouts, contract))
    void = void_rollouts(rollouts, contract)
    if operation == "drop_group":
        if groups is None:
            raise ValueError("drop_group needs groups: the group of each rollout")
        return drop_void_groups(mask, void, groups)
    return mask_void(mask, void) if operation == "mask" else filter_void(mask, void, groups=groups)
