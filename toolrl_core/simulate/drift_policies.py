"""What each filter policy leaves of a drifting batch: spikes, largest norm, tokens, and their spread over seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolrl_core.filter_policies import FILTER_POLICIES, apply_filter_policy
from toolrl_core.simulate.drift import DriftBatch, DriftSettings, simulate_drift

__all__ = ["PolicyReading", "PolicyReadings", "note_criterion", "policy_reading", "policy_readings"]

NOTE_SPIKES: Mapping[str, int] = {
    "naive": 526,
    "low_probability": 487,
    "stop_generation": 13,
    "high_ratio": 0,
    "void_veto": 0,
}
"""The spike counts that the SimpleTIR note prints (§10.3, P4), from one seed of its own program."""

MEASURES = ("spikes", "largest_norm", "tokens_kept", "clean_punished")


@dataclass(frozen=True, kw_only=True)
class PolicyReading:
    """Hold what one policy leaves of one batch.

    Parameters
    ----------
    policy : str
        Name of the policy.
    spikes : int
        Trained tokens whose gradient norm exceeds the spike threshold.
    largest_norm : float
        Largest gradient norm of a trained token; 0 if none is trained.
    tokens_kept : int
        Trained tokens.
    clean_punished : int
        Trained tokens of turns before the first void turn of a void rollout: sound text with a negative advantage.
    """

    policy: str
    spikes: int
    largest_norm: float
    tokens_kept: int
    clean_punished: int


@dataclass(frozen=True, eq=False, kw_only=True)
class PolicyReadings:
    """Hold the readings of several policies over several seeds.

    Parameters
    ----------
    settings : DriftSettings
        The assumptions.
    policies : tuple of str
        Names of the policies.
    seeds : tuple of int
        Seeds of the batches.
    values : mapping of str to ndarray, shape (policies, seeds)
        Readings by measure: ``spikes``, ``largest_norm``, ``tokens_kept``, ``clean_punished``.
    void_share : ndarray, shape (seeds,)
        Share of void rollouts of each batch.
    """

    settings: DriftSettings
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    values: Mapping[str, NDArray[np.float64]]
    void_share: NDArray[np.float64]

    def of(self, policy: str, measure: str) -> NDArray[np.float64]:
        """Return the readings of one policy, shape (seeds,).

        Raises
        ------
        ValueError
            Unknown policy or measure; the message lists the valid ones.
        """
        if policy not in self.policies:
            raise ValueError(f"unknown policy {policy!r}: choose from {', '.join(self.policies)}")
        if measure not in self.values:
            raise ValueError(f"unknown measure {measure!r}: choose from {', '.join(self.values)}")
        row: NDArray[np.float64] = self.values[measure][self.policies.index(policy)]
        return row

    def summary(self) -> list[dict[str, Any]]:
        """Return one row per policy and measure: mean, standard deviation over seeds, smallest and largest."""
        rows: list[dict[str, Any]] = []
        for policy in self.policies:
            for measure in self.values:
                row = self.of(policy, measure)
                spread = float(row.std(ddof=1)) if len(row) > 1 else 0.0
                rows.append(
                    {
                        "policy": policy,
                        "measure": measure,
                        "mean": float(row.mean()),
                        "std": spread,
                        "smallest": float(row.min()),
                        "largest": float(row.max()),
                    }
                )
        return rows


def policy_reading(batch: DriftBatch, policy: str) -> PolicyReading:
    """Apply a policy to a batch and read off what it leaves.

    Parameters
    ----------
    batch : DriftBatch
        A simulated batch.
    policy : str
        Name of the policy.

    Returns
    -------
    PolicyReading
        The four measures.

    Raises
    ------
    ValueError
        Unknown policy; the message lists the valid ones.

    Notes
    -----
    SimpleTIR note §10.2, P4 and P6. The veto's zeros are true by construction: spikes and punished early turns need a
    negative advantage, only void rollouts have one here, and the veto masks all of them.

    Examples
    --------
    >>> reading = policy_reading(simulate_drift(seed=0), "void_veto")
    >>> reading.spikes, reading.clean_punished
    (0, 0)
    """
    tokens = batch.tokens()
    trained = apply_filter_policy(policy, tokens, settings=batch.settings.filters).loss_mask > 0
    norm = batch.norm.reshape(trained.shape)[trained]
    early = (tokens.first_void[:, None] >= 0) & (tokens.turn_index < tokens.first_void[:, None])
    return PolicyReading(
        policy=policy,
        spikes=int((norm > batch.settings.spike).sum()),
        largest_norm=float(norm.max(initial=0.0)),
        tokens_kept=int(trained.sum()),
        clean_punished=int((early & trained).sum()),
    )


def policy_readings(
    settings: DriftSettings | None = None,
    *,
    seeds: Iterable[int] = range(60),
    policies: Sequence[str] = tuple(FILTER_POLICIES),
) -> PolicyReadings:
    """Read every policy on the same batches, one batch per seed.

    Parameters
    ----------
    settings : DriftSettings, optional
        The assumptions.
    seeds : iterable of int
        Seeds; a batch depends on its own seed only.
    policies : sequence of str
        Names of the policies.

    Returns
    -------
    PolicyReadings
        The measures by policy and seed.

    Raises
    ------
    ValueError
        Unknown policy, or no seeds.

    Notes
    -----
    SimpleTIR note §10.3 (P4) prints one seed. The spike count of the naive policy varies by more than a quarter of
    itself from seed to seed, because the share of void rollouts moves every advantage, and with it the probability at
    which spikes begin.

    Examples
    --------
    >>> readings = policy_readings(seeds=range(3))
    >>> readings.of("high_ratio", "spikes").tolist()
    [0.0, 0.0, 0.0]
    """
    chosen = tuple(seeds)
    if not chosen:
        raise ValueError("give at least one seed")
    names = tuple(policies)
    values = {measure: np.zeros((len(names), len(chosen))) for measure in MEASURES}
    void_share = np.zeros(len(chosen))
    for column, seed in enumerate(chosen):
        batch = simulate_drift(settings, seed=seed)
        void_share[column] = 1.0 - batch.reward.mean()
        for row, name in enumerate(names):
            reading = policy_reading(batch, name)
            for measure in MEASURES:
                values[measure][row, column] = getattr(reading, measure)
    return PolicyReadings(
        settings=settings or DriftSettings(), policies=names, seeds=chosen, values=values, void_share=void_share
    )


def note_criterion(spikes: Mapping[str, float]) -> dict[str, bool]:
    """Evaluate the note's own ordering of spike counts, link by link.

    The ordering is void veto = 0 < high ratio < low probability <= stop generation <= naive.

    Parameters
    ----------
    spikes : mapping of str to float
        Spike count by policy.

    Returns
    -------
    dict of str to bool
        Whether each of the five links holds. The criterion holds if all of them do.

    Raises
    ------
    KeyError
        A policy is missing.

    Notes
    -----
    SimpleTIR note §10.2 (P4), reported as passed in §10.3.

    Examples
    --------
    The note's printed readings do not meet the note's criterion:

    >>> [link for link, holds in note_criterion(NOTE_SPIKES).items() if not holds]
    ['void_veto < high_ratio', 'low_probability <= stop_generation']
    """
    return {
        "void_veto = 0": spikes["void_veto"] == 0,
        "void_veto < high_ratio": spikes["void_veto"] < spikes["high_ratio"],
        "high_ratio < low_probability": spikes["high_ratio"] < spikes["low_probability"],
        "low_probability <= stop_generation": spikes["low_probability"] <= spikes["stop_generation"],
        "stop_generation <= naive": spikes["stop_generation"] <= spikes["naive"],
    }
