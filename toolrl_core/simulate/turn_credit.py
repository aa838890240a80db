"""What right and bad turns receive under each prescription, in a world where every turn must be right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolrl_core.prescriptions import prescription_cost

__all__ = ["TREATMENTS", "CreditShares", "TurnWorld", "simulate_credit"]

TREATMENTS = ("naive", "delete", "accounts", "accounts_void_masked", "resample")
"""What :func:`simulate_credit` compares; the fourth keeps accounts and masks the void turns alone."""

_ETA = 1e-6
_NOTHING = 1e-9
"""Advantages smaller than this push nothing; they are rounding."""


@dataclass(frozen=True, kw_only=True)
class TurnWorld:
    """State every assumption: a rollout earns 1 if all its turns are right, else 0, and ends at a void turn.

    Parameters
    ----------
    turns : int
        Turns of a rollout without a void turn.
    right : float
        Probability that a turn is right, whatever happened before.
    void : float
        Probability that a turn is void; the remaining turns are wrong.
    judge_error : float
        Probability that the reward of a turn that is not void is the opposite of what it should be.

    Raises
    ------
    ValueError
        A field is out of range; the message names it.

    Examples
    --------
    >>> TurnWorld(right=0.8, void=0.3)
    Traceback (most recent call last):
        ...
    ValueError: right + void must not exceed 1, got 0.8 + 0.3
    """

    turns: int = 3
    right: float = 0.7
    void: float = 0.1
    judge_error: float = 0.0

    def __post_init__(self) -> None:
        if self.turns < 1:
            raise ValueError(f"turns must be at least 1, got {self.turns}")
        for name in ("right", "void", "judge_error"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie in [0, 1], got {getattr(self, name)}")
        if self.right + self.void > 1 + 1e-12:
            raise ValueError(f"right + void must not exceed 1, got {self.right} + {self.void}")


@dataclass(frozen=True, kw_only=True)
class CreditShares:
    """Hold what turns received, as shares of the turns of their kind.

    Parameters
    ----------
    treatment : str
        One of :data:`TREATMENTS`.
    right_up, right_nothing, right_down : float
        Right turns that are pushed up, not at all, or down; they add up to 1.
    bad_up, bad_nothing, bad_down : float
        The same of the wrong and void turns.
    void_down : float
        Void turns that are pushed down: the tokens that spike.
    generated_turns : float
        Turns written for one prompt, on average.
    """

    treatment: str
    right_up: float
    right_nothing: float
    right_down: float
    bad_up: float
    bad_nothing: float
    bad_down: float
    void_down: float
    generated_turns: float


def simulate_credit(
    treatment: str, world: TurnWorld | None = None, *, group: int = 4, prompts: int = 1000, seed: int = 0
) -> CreditShares:
    """Draw groups of rollouts, or trees of turns, and count what right and bad turns receive.

    Parameters
    ----------
    treatment : {"naive", "delete", "accounts", "accounts_void_masked", "resample"}
        What is done.
    world : TurnWorld, optional
        The assumptions.
    group : int
        Rollouts of a group, or actions sampled at a state.
    prompts : int
        Groups, or trees.
    seed : int
        Seed of the random numbers; the same seed gives the same result, and all treatments but ``resample`` see the
        same rollouts.

    Returns
    -------
    CreditShares
        Shares of right and bad turns. NaN where there is no such turn.

    Raises
    ------
    ValueError
        Unknown treatment, fewer than two per group, no prompts, or a tree of more than a million turns a prompt.

    Notes
    -----
    SimpleTIR note §8.1 and §8.2. The note gives no simulation of the three prescriptions; this world is ours, chosen so
    small that nothing but the comparison decides. A void turn is seen without a judge and has turn reward 0.

    Examples
    --------
    With a perfect judge accounts never push a right turn down; deleting void rollouts does not prevent it:

    >>> [round(simulate_credit(name, prompts=500).right_down, 2) for name in ("naive", "delete", "accounts")]
    [0.33, 0.26, 0.0]
    """
    if treatment not in TREATMENTS:
        raise ValueError(f"unknown treatment {treatment!r}: choose from {', '.join(TREATMENTS)}")
    if group < 2 or prompts < 1:
        raise ValueError(f"group must be at least 2 and prompts at least 1, got {group} and {prompts}")
    chosen = world or TurnWorld()
    rng = np.random.default_rng(seed)
    if treatment == "resample":
        return _tree(chosen, group, prompts, rng)
    shape = (prompts, group, chosen.turns)
    right, void = _draw(chosen, shape, rng)
    flipped = rng.random(shape) < chosen.judge_error
    present: NDArray[np.bool_] = np.cumsum(void, axis=2) - void == 0
    if treatment.startswith("accounts"):
        rewards = ((right != flipped) & ~void).astype(np.float64)
        credit = _standardised(rewards, present, axis=1)
        if treatment == "accounts_void_masked":
            credit = np.where(void, 0.0, credit)
    else:
        ends = np.asarray(right.all(axis=2), dtype=np.float64)
        advantage = _standardised(ends, np.ones(ends.shape, dtype=bool), axis=1)
        kept = ~void.any(axis=2) if treatment == "delete" else np.ones(ends.shape, dtype=bool)
        credit = np.broadcast_to((advantage * kept)[..., None], shape)
    return _shares(treatment, credit[present], right[present], void[present], prompts)


def _draw(
    world: TurnWorld, shape: tuple[int, ...], rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Draw which turns are right and which are void."""
    number = rng.random(shape)
    return number < world.right, number >= 1.0 - world.void


def _tree(world: TurnWorld, group: int, prompts: int, rng: np.random.Generator) -> CreditShares:
    """Sample a group of turns at every state, level by level, and give values back from the ends."""
    per_prompt = prescription_cost("resample", group=group, turns=world.turns).generated_turns
    if per_prompt > 1_000_000:
        raise ValueError(f"{per_prompt} turns for one prompt are too many: take a smaller group or fewer turns")
    rights, voids, presents = [], [], []
    alive = np.ones((prompts,), dtype=bool)
    for level in range(1, world.turns + 1):
        shape = (prompts, *[group] * level)
        right, void = _draw(world, shape, rng)
        present = np.broadcast_to(alive[..., None], shape)
        rights.append(right)
        voids.append(void)
        presents.append(present)
        alive = present & ~void
    value: NDArray[np.float64] = np.ones((prompts, *[group] * world.turns))
    levels: list[NDArray[np.float64]] = []
    for right, present in zip(reversed(rights), reversed(presents), strict=True):
        value = np.where(right & present, value, 0.0)
        levels.append(_standardised(value, present, axis=-1))
        value = value.mean(axis=-1)
    credit = np.concatenate([level[there] for level, there in zip(reversed(levels), presents, strict=True)])
    is_right = np.concatenate([level[there] for level, there in zip(rights, presents, strict=True)])
    is_void = np.concatenate([level[there] for level, there in zip(voids, presents, strict=True)])
    return _shares("resample", credit, is_right, is_void, prompts)


def _standardised(values: NDArray[np.float64], there: NDArray[np.bool_], *, axis: int) -> NDArray[np.float64]:
    """Standardise along an axis, among those that are there."""
    count = np.maximum(there.sum(axis=axis, keepdims=True), 1)
    mean = np.where(there, values, 0.0).sum(axis=axis, keepdims=True) / count
    off = np.where(there, values - mean, 0.0)
    deviation = np.sqrt((off**2).sum(axis=axis, keepdims=True) / count)
    result: NDArray[np.float64] = off / (deviation + _ETA)
    return result


def _shares(
    treatment: str,
    credit: NDArray[np.float64],
    right: NDArray[np.bool_],
    void: NDArray[np.bool_],
    prompts: int,
) -> CreditShares:
    """Count signs."""
    up, down = credit > _NOTHING, credit < -_NOTHING

    def share(where: NDArray[np.bool_], of: NDArray[np.bool_]) -> float:
        return float(where[of].mean()) if of.any() else float("nan")

    return CreditShares(
        treatment=treatment,
        right_up=share(up, right),
        right_nothing=share(~up & ~down, right),
        right_down=share(down, right),
        bad_up=share(up, ~right),
        bad_nothing=share(~up & ~down, ~right),
        bad_down=share(down, ~right),
        void_down=share(down, void),
        generated_turns=len(credit) / prompts,
    )
