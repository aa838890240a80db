"""Drift: token probabilities decay from turn to turn, and a turn is void once its rarest token is too rare."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolrl_core.advantages import group_advantages
from toolrl_core.filter_policies import FilterSettings, TokenBatch

__all__ = ["DriftBatch", "DriftSettings", "simulate_drift"]


@dataclass(frozen=True, kw_only=True)
class DriftSettings:
    r"""State every assumption of the drift simulation.

    Rollout i draws a decay :math:`d_i`. Its token at turn t (counted from 1) draws a base probability b and has

    .. math:: P = b\, d_i^{\,t - 1}

    Parameters
    ----------
    trajectories : int
        Rollouts of one batch.
    turns : int
        Turns of every rollout.
    decay : tuple of (low, high)
        Uniform range of a rollout's decay.
    base : tuple of (low, high)
        Uniform range of a token's base probability.
    tokens : tuple of (fewest, most)
        Uniform range of the number of tokens of a turn, both ends included.
    void_threshold : float
        A turn is void if its smallest token probability is below this.
    other_tokens : int
        Number of tokens that share the remaining probability evenly; the surprise norm depends on it.
    ratio_growth : float
        The importance ratio of a token with a negative advantage is max(1, growth · ln(1/P)).
    clip_high : float
        With a positive advantage that ratio is clipped at 1 + clip_high.
    spike : float
        A token's gradient norm above this is a spike.
    dialect : str
        Advantage dialect; the whole batch is one group.
    filters : FilterSettings
        Thresholds of the filter policies.

    Raises
    ------
    ValueError
        A field is out of range; the message names it.

    Notes
    -----
    SimpleTIR note §3.5 and §10.2 (P3, P4, P6). The note's program is not printed; these values come nearest to its
    printed readings. The relation of drift and void turns is an assumption of the model, not a finding.

    Examples
    --------
    >>> DriftSettings(decay=(0.9, 0.4))
    Traceback (most recent call last):
        ...
    ValueError: decay must satisfy 0 < low <= high <= 1, got (0.9, 0.4)
    """

    trajectories: int = 1000
    turns: int = 5
    decay: tuple[float, float] = (0.45, 0.95)
    base: tuple[float, float] = (0.56, 1.0)
    tokens: tuple[int, int] = (4, 10)
    void_threshold: float = 0.05
    other_tokens: int = 49
    ratio_growth: float = 1.5
    clip_high: float = 0.2
    spike: float = 10.0
    dialect: str = "paper"
    filters: FilterSettings = field(default_factory=FilterSettings)

    def __post_init__(self) -> None:
        for name in ("decay", "base"):
            low, high = getattr(self, name)
            if not 0 < low <= high <= 1:
                raise ValueError(f"{name} must satisfy 0 < low <= high <= 1, got {(low, high)}")
        fewest, most = self.tokens
        if not 1 <= fewest <= most:
            raise ValueError(f"tokens must satisfy 1 <= fewest <= most, got {self.tokens}")
        for name in ("trajectories", "turns", "other_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.void_threshold <= 1:
            raise ValueError(f"void_threshold must lie in [0, 1], got {self.void_threshold}")
        for name in ("ratio_growth", "clip_high"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be finite and not negative, got {getattr(self, name)}")

    def replace(self, **changes: Any) -> DriftSettings:
        """Return settings with some fields changed.

        Raises
        ------
        ValueError
            Unknown field; the message lists the valid ones.
        """
        valid = [option.name for option in fields(self)]
        unknown = [name for name in changes if name not in valid]
        if unknown:
            raise ValueError(f"unknown drift setting {unknown[0]!r}: choose from {', '.join(valid)}")
        return replace(self, **changes)


@dataclass(frozen=True, eq=False, kw_only=True)
class DriftBatch:
    """Hold one simulated batch; N rollouts, K turns, at most T tokens a turn.

    Parameters
    ----------
    settings : DriftSettings
        The assumptions.
    decay : ndarray, shape (N,)
        Decay of each rollout.
    probability : ndarray, shape (N, K, T)
        Probability of each sampled token; 1 at places without a token.
    present : ndarray of bool, shape (N, K, T)
        Whether there is a token.
    void_turn : ndarray of bool, shape (N, K)
        Whether a turn is void.
    reward : ndarray, shape (N,)
        1 without a void turn, else 0.
    advantage : ndarray, shape (N,)
        Advantage of each rollout, the batch being one group.
    ratio : ndarray, shape (N, K, T)
        Importance ratio of each token.
    norm : ndarray, shape (N, K, T)
        Gradient norm |A| · ratio · surprise norm of each token, before any policy; 0 without a token.
    """

    settings: DriftSettings
    decay: NDArray[np.float64]
    probability: NDArray[np.float64]
    present: NDArray[np.bool_]
    void_turn: NDArray[np.bool_]
    reward: NDArray[np.float64]
    advantage: NDArray[np.float64]
    ratio: NDArray[np.float64]
    norm: NDArray[np.float64]

    @property
    def first_void(self) -> NDArray[np.int64]:
        """Return each rollout's first void turn, counted from 0; -1 without one."""
        return np.where(self.void_turn.any(axis=1), self.void_turn.argmax(axis=1), -1).astype(np.int64)

    @property
    def smallest_probability(self) -> NDArray[np.float64]:
        """Return the smallest token probability of every turn, shape (N, K)."""
        smallest: NDArray[np.float64] = self.probability.min(axis=2)
        return smallest

    def tokens(self) -> TokenBatch:
        """Return the batch token by token, as the filter policies take it."""
        rollouts, turns, width = self.present.shape
        index = np.broadcast_to(np.arange(turns)[None, :, None], self.present.shape)
        shape = (rollouts, turns * width)
        return TokenBatch(
            loss_mask=self.present.reshape(shape).astype(np.int64),
            probability=self.probability.reshape(shape),
            ratio=self.ratio.reshape(shape),
            turn_index=np.where(self.present, index, -1).reshape(shape).astype(np.int64),
            first_void=self.first_void,
        )


def simulate_drift(settings: DriftSettings | None = None, *, seed: int = 0) -> DriftBatch:
    """Simulate one batch of rollouts whose token probabilities decay from turn to turn.

    Parameters
    ----------
    settings : DriftSettings, optional
        The assumptions; by default those that come nearest to the note.
    seed : int
        Seed of the random numbers; the same seed gives the same batch.

    Returns
    -------
    DriftBatch
        Probabilities, void turns, rewards, advantages, ratios and gradient norms.

    Raises
    ------
    ValueError
        Unknown advantage dialect.

    Notes
    -----
    SimpleTIR note §10.2: P3 (smallest probability and void turns by turn), P4 (spikes) and P6 (clean early tokens).

    Examples
    --------
    With decay at its mildest, 0.45, void turns are impossible before the fifth turn, whatever the seed:

    >>> simulate_drift(seed=7).void_turn.any(axis=0).tolist()
    [False, False, False, False, True]
    """
    s = settings or DriftSettings()
    rng = np.random.default_rng(seed)
    shape = (s.trajectories, s.turns, s.tokens[1])
    decay = rng.uniform(*s.decay, s.trajectories)
    counts = rng.integers(s.tokens[0], s.tokens[1] + 1, shape[:2])
    base = rng.uniform(*s.base, shape)
    present = np.arange(shape[2]) < counts[..., None]
    factors = decay[:, None] ** np.arange(s.turns)
    probability = np.where(present, base * factors[..., None], 1.0)
    void_turn = probability.min(axis=2) < s.void_threshold
    reward = 1.0 - void_turn.any(axis=1)
    advantage = group_advantages(reward, np.zeros(s.trajectories, dtype=int), dialect=s.dialect)
    ratio = np.maximum(1.0, -s.ratio_growth * np.log(probability))
    positive = (advantage > 0)[:, None, None]
    ratio = np.where(positive, np.minimum(ratio, 1.0 + s.clip_high), ratio)
    rest = 1.0 - probability
    surprise = rest * math.sqrt(1.0 + 1.0 / s.other_tokens)  # the rest is spread evenly: r² + r²/others under the root
    norm = np.where(present, np.abs(advantage)[:, None, None] * ratio * surprise, 0.0)
    return DriftBatch(
        settings=s,
        decay=decay,
        probability=probability,
        present=present,
        void_turn=void_turn,
        reward=reward,
        advantage=advantage,
        ratio=ratio,
        norm=norm,
    )
