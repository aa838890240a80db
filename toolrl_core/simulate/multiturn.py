"""Train a policy of many turns under feedback drift, with each of the filter policies side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolrl_core.field_checks import check_real
from toolrl_core.filter_policies import FILTER_POLICIES, FilterSettings, TokenBatch, apply_filter_policy
from toolrl_core.simulate.answers import Booleans, Floats
from toolrl_core.simulate.histories import History
from toolrl_core.simulate.seeds import (
    EVALUATION,
    TRAINING,
    progress_bar,
    run_seeds,
    seed_generator,
)
from toolrl_core.simulate.training import (
    GrpoSettings,
    Optimiser,
    check_kinds,
    normalise_groups,
)
from toolrl_core.simulate.turn_rollouts import (
    FIRST_ROWS,
    Rollouts,
    TurnWorld,
    initial_turn_logits,
    roll_out,
    token_log_probabilities,
)

__all__ = ["TURN_SETTINGS", "TokenGradient", "token_gradient", "train_policies"]

_STOPPING = ("stop_generation", "void_veto")
TURN_SETTINGS = GrpoSettings(
    steps=60, prompts=8, group_size=8, passes=4, learning_rate=0.03, dialect="trl", evaluation_prompts=64
)
"""How the miniature of turns is trained unless told otherwise."""


class TokenGradient(NamedTuple):
    """Hold the gradient of a pass and what stands beside it.

    Parameters
    ----------
    gradient : ndarray, shape (A, S, 2, rows, V)
        Direction of increase, a mean over the trained tokens.
    ratio : ndarray, shape (A, S)
        Largest ratio of a token of the model, trained or not.
    clipped : ndarray, shape (A, S)
        Share of trained tokens whose gradient the clip removes.
    trained : ndarray, shape (A, S)
        Share of the model's tokens that are trained.
    """

    gradient: Floats
    ratio: Floats
    clipped: Floats
    trained: Floats


def token_gradient(
    logits: Floats,
    rollouts: Rollouts,
    advantages: Floats,
    policies: Sequence[str],
    *,
    clip: tuple[float, float],
    filters: FilterSettings | None = None,
) -> TokenGradient:
    """Return the gradient of the clipped surrogate, a mean over the trained tokens of each arm and seed.

    Parameters
    ----------
    logits : ndarray, shape (A, S, 2, rows, V)
        The policies that are improved.
    rollouts : Rollouts
        The samples.
    advantages : ndarray, shape (A, N)
        One for each rollout.
    policies : sequence of str, length A
        Filter policy of each arm, see `toolrl_core.filter_policies.apply_filter_policy`.
    clip : tuple of (low, high)
        Ratios are clipped at 1 - low and 1 + high.
    filters : FilterSettings, optional
        Thresholds of the filter policies.

    Returns
    -------
    TokenGradient
    """
    table = token_log_probabilities(logits, rollouts.seed, rollouts.row, rollouts.drift, rollouts.shift)
    new = np.take_along_axis(table, rollouts.token[..., np.newaxis], axis=3)[..., 0]
    ratio = np.exp(np.clip(new - rollouts.log_probability, -20, 20))
    advantage = advantages[..., np.newaxis]
    kept = np.where(advantage > 0, ratio <= 1 + clip[1], ratio >= 1 - clip[0])
    arms, seeds = logits.shape[:2]
    cells = seeds * logits.shape[3]
    gradient = np.zeros((arms, 2, cells, logits.shape[4]))
    largest, clipped, shares = (np.zeros((arms, seeds)) for _ in range(3))
    for arm, policy in enumerate(policies):
        trained = _trained(policy, rollouts, ratio[arm], arm, filters)
        counts = np.bincount(rollouts.seed, trained.sum(axis=1), seeds)
        weight = np.where(trained & kept[arm], ratio[arm] * advantage[arm], 0.0)
        weight /= np.maximum(counts, 1)[rollouts.seed, np.newaxis]
        pull = -weight[..., np.newaxis] * np.exp(table[arm])
        np.put_along_axis(
            pull,
            rollouts.token[arm][..., np.newaxis],
            np.take_along_axis(pull, rollouts.token[arm][..., np.newaxis], axis=2) + weight[..., np.newaxis],
            axis=2,
        )
        place = (rollouts.seed[:, np.newaxis] * logits.shape[3] + rollouts.row[arm]).ravel()
        for token in range(logits.shape[4]):
            level = pull[..., token].ravel()
            gradient[arm, 0, :, token] = np.bincount(place, level, cells)
            gradient[arm, 1, :, token] = np.bincount(place, level * rollouts.drift[arm].ravel(), cells)
        np.maximum.at(largest[arm], rollouts.seed, np.where(rollouts.present[arm], ratio[arm], 0.0).max(axis=1))
        removed = np.bincount(rollouts.seed, (trained & ~kept[arm]).sum(axis=1), seeds)
        clipped[arm] = removed / np.maximum(counts, 1)
        shares[arm] = counts / np.bincount(rollouts.seed, rollouts.present[arm].sum(axis=1), seeds)
    shaped = gradient.reshape(arms, 2, seeds, *logits.shape[3:]).swapaxes(1, 2)
    return TokenGradient(shaped, largest, clipped, shares)


def _trained(policy: str, rollouts: Rollouts, ratio: Floats, arm: int, filters: FilterSettings | None) -> Booleans:
    """Tell which tokens a filter policy trains on, shape (N, T)."""
    present: NDArray[np.int64] = rollouts.present[arm].astype(np.int64)
    # A turn has one row of each kind; the first rows mark its start.
    turn = np.cumsum(rollouts.row[arm] < FIRST_ROWS, axis=1) - 1
    batch = TokenBatch(
        loss_mask=present,
        probability=np.exp(rollouts.log_probability[arm]),
        ratio=ratio,
        turn_index=np.where(present == 1, turn, -1),
        first_void=rollouts.first_void[arm],
    )
    return np.asarray(apply_filter_policy(policy, batch, settings=filters).loss_mask == 1)


def train_policies(
    policies: Sequence[str] = tuple(FILTER_POLICIES),
    *,
    world: TurnWorld | None = None,
    settings: GrpoSettings = TURN_SETTINGS,
    clip_high: float = 0.28,
    filters: FilterSettings | None = None,
    seeds: int = 20,
    seed: int = 0,
    workers: int = 1,
    progress: bool = False,
) -> History:
    """Train one policy for each filter policy and seed, on the same prompts and random numbers.

    Parameters
    ----------
    policies : sequence of str
        Filter policies; "stop_generation" and "void_veto" also stop generating at a void turn.
    world : TurnWorld, optional
        The assumptions.
    settings : GrpoSettings
        How to train; its clip is the lower one. Every step ends with an evaluation on `evaluation_prompts` rollouts.
        KL and the other fields of the evaluation are not used.
    clip_high : float
        Upper clip of the ratios.
    filters : FilterSettings, optional
        Thresholds of the filter policies.
    seeds, seed, workers, progress
        As in `toolrl_core.simulate.training.train`.

    Returns
    -------
    History
        Metrics after every step. On held-out rollouts, the same for all arms and steps, in which nobody stops at a
        void turn: "success", "sound_success" (right answers without a void turn, which is all that is left if
        everybody stops there), "void" (share with a void turn), "turns", "multi_turn" (share with code first). Of the
        step itself: "own_success" (its rollouts, in which each policy stops or goes on as it does in training),
        "gradient_norm" and "largest_ratio" (the largest of the passes), "gradient_norm_all" (the norm if the sum were
        divided by all of the model's tokens, the untrained ones included).

    Raises
    ------
    ValueError
        If a policy is unknown or named twice, or there is none, or an argument is of the wrong kind or out of range.

    Notes
    -----
    SimpleTIR note §5.3 and §6.5, arXiv 2509.02479 table 2. The miniature tests directions under named assumptions.

    Examples
    --------
    >>> brief = GrpoSettings(steps=2, prompts=4, group_size=4)
    >>> train_policies(["naive", "void_veto"], settings=brief, seeds=2).metrics["success"].shape
    (2, 2, 2)
    """
    world = TurnWorld() if world is None else world
    check_kinds(world=(world, TurnWorld), settings=(settings, GrpoSettings))
    check_real("clip_high", clip_high, low=0)
    if filters is not None:
        check_kinds(filters=(filters, FilterSettings))
    if isinstance(policies, str) or not isinstance(policies, Sequence):
        raise ValueError(f"policies must be a list of names, found {policies!r}")
    for policy in policies:
        if not isinstance(policy, str) or policy not in FILTER_POLICIES:
            raise ValueError(f"unknown filter policy {policy!r}: choose from {', '.join(FILTER_POLICIES)}")
    if not policies:
        raise ValueError(f"give at least one policy of {', '.join(FILTER_POLICIES)}")
    if len(set(policies)) < len(policies):
        raise ValueError(f"each policy can be trained once, found {', '.join(policies)}")
    alone = progress and (workers == 1 or seeds == 1)
    run = partial(
        _train_seeds,
        policies=tuple(policies),
        world=world,
        settings=settings,
        clip_high=clip_high,
        filters=filters,
        seed=seed,
        progress=alone,
    )
    return run_seeds(run, seed=seed, seeds=seeds, workers=workers, progress=progress)


def _train_seeds(
    numbers: Sequence[int],
    *,
    policies: Sequence[str],
    world: TurnWorld,
    settings: GrpoSettings,
    clip_high: float,
    filters: FilterSettings | None,
    seed: int,
    progress: bool,
) -> History:
    generators = [seed_generator(seed, number, TRAINING) for number in numbers]
    seeds = len(numbers)
    logits = np.tile(initial_turn_logits(world), (len(policies), seeds, 1, 1, 1))
    optimiser = Optimiser(settings, logits.shape)
    measured: list[dict[str, Floats]] = []
    steps: Iterable[int] = range(1, settings.steps + 1)
    for step in progress_bar(steps, settings.steps, "steps") if progress else steps:
        rollouts = roll_out(
            generators,
            logits,
            world,
            prompts=settings.prompts,
            group_size=settings.group_size,
            stops=[policy in _STOPPING for policy in policies],
        )
        grouped = rollouts.reward.reshape(len(policies), -1, settings.group_size)
        advantages = normalise_groups(grouped, settings).reshape(rollouts.reward.shape)
        if step == settings.reset_at:
            optimiser.clear()
        norms, whole, ratios, shares = [], [], [], []
        for _ in range(settings.passes):
            gradient, ratio, clipped, trained = token_gradient(
                logits, rollouts, advantages, policies, clip=(settings.clip, clip_high), filters=filters
            )
            if not world.closing_learnable:
                gradient[:, :, :, -1] = 0.0
            norms.append(np.sqrt((gradient.reshape(*gradient.shape[:2], -1) ** 2).sum(axis=2)))
            whole.append(norms[-1] * trained)
            ratios.append(ratio)
            shares.append(clipped)
            logits = logits + optimiser.update(gradient)
        equal = (grouped.max(axis=2) == grouped.min(axis=2)).reshape(len(policies), seeds, -1)
        measured.append(
            {
                **_evaluate(logits, world, settings, seed, numbers),
                "own_success": rollouts.reward.reshape(len(policies), seeds, -1).mean(axis=2),
                "gradient_norm": np.max(norms, axis=0),
                "gradient_norm_all": np.max(whole, axis=0),
                "largest_ratio": np.max(ratios, axis=0),
                "silent": equal.mean(axis=2),
                "clipped": np.mean(shares, axis=0),
            }
        )
    metrics = {name: np.stack([values[name] for values in measured], axis=2) for name in measured[0]}
    return History(
        arms=tuple(policies),
        seed=seed,
        numbers=tuple(numbers),
        steps=np.arange(1, settings.steps + 1),
        silent_groups=metrics.pop("silent"),
        clipped=metrics.pop("clipped"),
        metrics=metrics,
        logits=logits.reshape(len(policies), seeds, -1),
    )


def _evaluate(
    logits: Floats, world: TurnWorld, settings: GrpoSettings, seed: int, numbers: Sequence[int]
) -> dict[str, Floats]:
    """Measure policies on the same held-out rollouts, in which nobody stops at a void turn."""
    rollouts = roll_out(
        [seed_generator(seed, number, EVALUATION) for number in numbers],
        logits,
        world,
        prompts=settings.evaluation_prompts,
        group_size=1,
        stops=[False] * len(logits),
    )
    void = rollouts.first_void >= 0
    values = {
        "success": rollouts.reward,
        # Up to its first void turn a rollout that stops there is the same, and then it earns nothing.
        "sound_success": np.where(void, 0.0, rollouts.reward),
        "void": void,
        "turns": rollouts.present.sum(axis=2) / (world.content + 2),
        "multi_turn": rollouts.multi_turn,
    }
    return {name: value.reshape(len(value), len(numbers), -1).mean(axis=2) for name, value in values.items()}
