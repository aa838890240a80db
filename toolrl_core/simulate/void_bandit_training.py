"""Train the bandit of one turn and many: on its expected gradient, and on sampled groups."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from toolrl_core.advantages import group_advantages
from toolrl_core.field_checks import check_real, check_whole
from toolrl_core.masks import filter_void, mask_void
from toolrl_core.simulate.answers import Floats
from toolrl_core.simulate.void_bandit import VoidBandit, check_start, check_treatment, expected_drift

__all__ = ["follow_drift", "train_bandit"]


def follow_drift(
    bandit: VoidBandit,
    *,
    treatment: str = "plain",
    start: float = 0.5,
    steps: int = 200,
    learning_rate: float = 1.0,
    group_size: int | None = None,
) -> Floats:
    """Train the bandit on its expected gradient, without random numbers.

    Parameters
    ----------
    bandit : VoidBandit
        The chances.
    treatment : {"plain", "mask", "filter"}
        What happens to void rollouts.
    start : float
        Share of rollouts with many turns before training, strictly between 0 and 1.
    steps : int
        Updates of the logit, at least 0.
    learning_rate : float
        Factor on the gradient.
    group_size : int, optional
        Rollouts of a group; by default the limit of large groups.

    Returns
    -------
    ndarray, shape (steps + 1,)
        Share of rollouts with many turns before each update and after the last.

    Raises
    ------
    ValueError
        If an argument is out of range or the treatment unknown.

    Notes
    -----
    SimpleTIR note §5.3 and §6.5.

    Examples
    --------
    Where many turns win anyway, the mask only hastens it: after 20 updates it is ahead, after 2000 it is not.

    >>> easy = VoidBandit(single=0.5, multi=0.9, void=0.3)
    >>> for steps in (20, 2000):
    ...     print([float(follow_drift(easy, treatment=name, steps=steps)[-1].round(2)) for name in ("plain", "mask")])
    [0.77, 0.9]
    [1.0, 1.0]
    """
    check_start(start)
    check_whole("steps", steps)
    check_real("learning_rate", learning_rate, low=0)
    shares, logit = np.full(steps + 1, start), math.log(start / (1 - start))
    for step in range(1, steps + 1):
        slope = expected_drift(bandit, shares[step - 1], treatment=treatment, group_size=group_size)
        logit += learning_rate * float(slope)
        shares[step] = _share(logit)
    return shares


def train_bandit(
    bandit: VoidBandit,
    *,
    treatment: str = "plain",
    start: float = 0.5,
    steps: int = 200,
    learning_rate: float = 1.0,
    group_size: int = 8,
    groups: int = 8,
    seeds: int = 20,
    seed: int = 0,
) -> Floats:
    """Train the bandit on sampled groups, with the package's own masks and advantages.

    Parameters
    ----------
    bandit : VoidBandit
        The chances.
    treatment : {"plain", "mask", "filter"}
        What happens to void rollouts.
    start : float
        Share of rollouts with many turns before training, strictly between 0 and 1.
    steps : int
        Updates of the logit, at least 0.
    learning_rate : float
        Factor on the gradient, a mean over all rollouts of a step.
    group_size, groups : int
        Rollouts of a group, and groups of a step.
    seeds : int
        Independent repetitions.
    seed : int
        Seed of the random numbers; all treatments see the same ones.

    Returns
    -------
    ndarray, shape (steps + 1, seeds)
        Share of rollouts with many turns before each update and after the last.

    Raises
    ------
    ValueError
        If an argument is out of range or the treatment unknown.

    Notes
    -----
    SimpleTIR note §5.3 and §6.5: `toolrl_core.masks.mask_void` is the veto of the released code, `filter_void` that of
    the note.

    Examples
    --------
    >>> bandit = VoidBandit(single=0.8, multi=0.9, void=0.5)
    >>> for treatment in ("plain", "mask", "filter"):
    ...     shares = train_bandit(bandit, treatment=treatment, steps=400, groups=32, seeds=4)
    ...     print(treatment, float(shares[-1].mean().round(1)))
    plain 0.0
    mask 0.3
    filter 1.0
    """
    check_treatment(treatment)
    check_start(start)
    for name, count in (("group_size", group_size), ("groups", groups), ("seeds", seeds)):
        check_whole(name, count, lowest=1)
    check_whole("steps", steps)
    check_whole("seed", seed)
    check_real("learning_rate", learning_rate, low=0)
    generator = np.random.default_rng(seed)
    per_seed = groups * group_size
    group = np.repeat(np.arange(seeds * groups), group_size)
    loss_mask = np.ones((seeds * per_seed, 1), dtype=np.int64)
    shares, logits = np.full((steps + 1, seeds), start), np.full(seeds, math.log(start / (1 - start)))
    for step in range(1, steps + 1):
        policy = np.repeat(shares[step - 1], per_seed)
        choice, fate, luck = generator.random((3, seeds * per_seed))
        multi = choice < policy
        void = multi & (fate < bandit.void)
        reward = (~void & (luck < np.where(multi, bandit.multi, bandit.single))).astype(np.float64)
        if treatment == "plain":
            trained, counted = loss_mask, None
        else:
            left = (mask_void if treatment == "mask" else filter_void)(loss_mask, void)
            trained, counted = left.loss_mask, left.counted
        push = trained[:, 0] * group_advantages(reward, group, valid=counted) * (multi - policy)
        logits = logits + learning_rate * push.reshape(seeds, per_seed).mean(axis=1)
        shares[step] = _share(logits)
    return shares


def _share(logit: ArrayLike) -> Floats:
    share: Floats = 0.5 * (1 + np.tanh(0.5 * np.asarray(logit)))
    return share
