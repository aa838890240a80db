"""What void turns cost: the share of rollouts and the share of generated turns that are thrown away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["VoidCost", "simulate_void_cost", "void_trajectory_share", "wasted_turn_share"]


@dataclass(frozen=True, kw_only=True)
class VoidCost:
    """Hold what one simulated batch lost to void turns.

    Parameters
    ----------
    void_trajectories : float
        Share of rollouts with a void turn.
    wasted_turns : float
        Share of the generated turns that belong to those rollouts.
    trajectories : int
        Number of simulated rollouts.
    """

    void_trajectories: float
    wasted_turns: float
    trajectories: int


def void_trajectory_share(rate: float, turns: int) -> float:
    r"""Compute the share of rollouts that have a void turn.

    .. math:: 1 - (1 - \lambda)^K

    Parameters
    ----------
    rate : float
        Probability lambda that a turn is void, independent of all others, in [0, 1].
    turns : int
        Number of turns K that a rollout without a void turn takes, at least 1.

    Returns
    -------
    float
        Expected share of rollouts, in [0, 1].

    Raises
    ------
    ValueError
        `rate` or `turns` is out of range.

    Notes
    -----
    SimpleTIR note §9.5 and P5 (§10.2).

    Examples
    --------
    >>> round(void_trajectory_share(0.05, 5), 6), round(void_trajectory_share(0.05, 10), 6)
    (0.226219, 0.401263)
    """
    _check(rate, turns)
    return float(-np.expm1(turns * np.log1p(-rate))) if rate < 1 else 1.0


def wasted_turn_share(rate: float, turns: int) -> float:
    r"""Compute the share of generated turns that is thrown away if generation stops at a void turn.

    .. math:: \frac{1 - q^K (1 + K \lambda)}{1 - q^K}, \qquad q = 1 - \lambda

    Parameters
    ----------
    rate : float
        Probability lambda that a turn is void, independent of all others, in [0, 1].
    turns : int
        Number of turns K that a rollout without a void turn takes, at least 1.

    Returns
    -------
    float
        Expected turns of void rollouts over expected turns of all rollouts, in [0, 1].

    Raises
    ------
    ValueError
        `rate` or `turns` is out of range.

    Notes
    -----
    A rollout takes k turns and is void with probability lambda q^(k-1), so void rollouts take
    (1 - q^K (1 + K lambda)) / lambda turns each in expectation, and all rollouts (1 - q^K) / lambda. The SimpleTIR
    note §10.3 speaks of four tenths of the rollouts run for nothing; that counts trajectories, and the release stops at
    a void turn, so of the turns only a quarter is lost.

    Examples
    --------
    >>> round(wasted_turn_share(0.05, 5), 3), round(wasted_turn_share(0.05, 10), 3)
    (0.145, 0.254)
    """
    _check(rate, turns)
    if rate == 0:
        return 0.0
    # sums of positive terms, so that a small rate costs no digits
    k = np.arange(1, turns + 1)
    survival = (1.0 - rate) ** (k - 1)
    return float(rate * (k * survival).sum() / survival.sum())


def simulate_void_cost(rate: float, turns: int, *, trajectories: int = 100_000, seed: int = 0) -> VoidCost:
    """Simulate rollouts that stop at their first void turn.

    Parameters
    ----------
    rate : float
        Probability that a turn is void.
    turns : int
        Number of turns of a rollout without a void turn.
    trajectories : int
        Number of rollouts.
    seed : int
        Seed of the random numbers; the same seed gives the same result.

    Returns
    -------
    VoidCost
        The two shares.

    Raises
    ------
    ValueError
        An argument is out of range.

    Notes
    -----
    SimpleTIR note P5. The standard error of the first share is sqrt(s (1 - s) / trajectories): 0.13 percentage points
    at s = 0.226 and 1e5 rollouts, so the note's tolerance of 0.1 points is less than one standard error.

    Examples
    --------
    >>> cost = simulate_void_cost(0.05, 5, trajectories=20_000)
    >>> abs(cost.void_trajectories - void_trajectory_share(0.05, 5)) < 0.01
    True
    """
    _check(rate, turns)
    if trajectories < 1:
        raise ValueError(f"trajectories must be at least 1, got {trajectories}")
    first = np.random.default_rng(seed).geometric(rate, trajectories) if rate > 0 else np.full(trajectories, turns + 1)
    void = first <= turns
    taken = np.minimum(first, turns)
    return VoidCost(
        void_trajectories=float(void.mean()),
        wasted_turns=float(taken[void].sum() / taken.sum()),
        trajectories=trajectories,
    )


def _check(rate: float, turns: int) -> None:
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie in [0, 1], got {rate}")
    if turns < 1:
        raise ValueError(f"turns must be at least 1, got {turns}")
