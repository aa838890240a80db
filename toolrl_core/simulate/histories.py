"""Keep what a training run measured, and compare arms seed by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from toolrl_core.simulate.answers import Floats, Integers

__all__ = ["History", "Interval", "join_seeds"]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Hold a mean with its 95 % interval over seeds.

    Parameters
    ----------
    mean : float
        In the unit of the metric.
    half_width : float
        Half the width of the interval; NaN with a single seed.
    seeds : int
        Number of seeds.

    Examples
    --------
    >>> print(Interval(mean=-0.02, half_width=0.005, seeds=24))
    -0.0200 ± 0.0050 (24 seeds)
    """

    mean: float
    half_width: float
    seeds: int

    @classmethod
    def of(cls, values: Floats) -> Interval:
        """Return Student's t interval of the mean of one value a seed."""
        from scipy.stats import t

        count, mean = len(values), float(values.mean())
        if count < 2:
            return cls(mean=mean, half_width=float("nan"), seeds=count)
        half_width = float(t.ppf(0.975, count - 1) * values.std(ddof=1) / np.sqrt(count))
        return cls(mean=mean, half_width=half_width, seeds=count)

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half_width

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        """Write mean and half width."""
        return f"{self.mean:.4f} ± {self.half_width:.4f} ({self.seeds} seeds)"


@dataclass(frozen=True, eq=False, kw_only=True)
class History:
    """Hold the evaluations of A arms and S seeds at T steps.

    Parameters
    ----------
    arms : tuple of str
        Names of the arms.
    seed : int
        The seed of the run.
    numbers : tuple of int
        Which repetitions of that seed.
    steps : ndarray of int, shape (T,)
        Steps after which policies were evaluated; 0 is the base.
    metrics : mapping of str to ndarray, shape (A, S, T)
        Values by name, see `toolrl_core.simulate.answer_policy.evaluate_policy`.
    silent_groups : ndarray, shape (A, S, training steps)
        Share of groups whose rewards are all equal.
    clipped : ndarray, shape (A, S, training steps)
        Share of decisions whose gradient the ratio clip removed.
    logits : ndarray, shape (A, S, 31)
        The trained policies.
    """

    arms: tuple[str, ...]
    seed: int
    numbers: tuple[int, ...]
    steps: Integers
    metrics: Mapping[str, Floats]
    silent_groups: Floats
    clipped: Floats
    logits: Floats

    def values(self, arm: str, metric: str, at: Literal["final", "mean"] | int = "final") -> Floats:
        """Return one value of each seed.

        Parameters
        ----------
        arm : str
            Name of the arm.
        metric : str
            Name of the metric.
        at : {"final", "mean"} or int
            The last evaluation, the mean over all evaluations, or the step of one.

        Returns
        -------
        ndarray, shape (S,)
            In the unit of the metric.

        Raises
        ------
        ValueError
            If the arm, the metric or the step is not there; the message lists those that are.
        """
        if arm not in self.arms:
            raise ValueError(f"unknown arm {arm!r}: choose from {', '.join(self.arms)}")
        if metric not in self.metrics:
            raise ValueError(f"unknown metric {metric!r}: choose from {', '.join(self.metrics)}")
        curves: Floats = self.metrics[metric][self.arms.index(arm)]
        if at == "mean":
            return np.asarray(curves.mean(axis=1))
        if at == "final":
            return np.asarray(curves[:, -1])
        places = np.flatnonzero(self.steps == at)
        if not places.size:
            raise ValueError(f"no evaluation at {at!r}: choose 'final', 'mean' or one of {self.steps.tolist()}")
        return np.asarray(curves[:, places[0]])

    def interval(self, arm: str, metric: str, *, at: Literal["final", "mean"] | int = "final") -> Interval:
        """Return an arm's mean over seeds with its 95 % interval.

        Raises
        ------
        ValueError
            As `values`.
        """
        return Interval.of(self.values(arm, metric, at))

    def paired(
        self,
        a: str,
        b: str,
        metric: str,
        *,
        at: Literal["final", "mean"] | int = "final",
        other: History | None = None,
    ) -> Interval:
        """Return the mean of a - b over seeds with its 95 % interval.

        Parameters
        ----------
        a, b : str
            Names of two arms.
        metric : str
            Name of the metric.
        at : {"final", "mean"} or int
            See `values`.
        other : History, optional
            A run with the same seeds to take `b` from, for instance one with another optimiser.

        Returns
        -------
        Interval
            Student's t interval of the seed-wise differences. It is about seeds of the model, not about models.

        Raises
        ------
        ValueError
            If an arm, the metric or the step is not there, or the other run has other seeds.

        Examples
        --------
        >>> values = {"exact": np.array([[[0.1, 0.5], [0.1, 0.7]], [[0.1, 0.4], [0.1, 0.5]]])}
        >>> history = History(
        ...     arms=("a", "b"), seed=0, numbers=(0, 1), steps=np.array([0, 5]), metrics=values,
        ...     silent_groups=np.zeros((2, 2, 5)), clipped=np.zeros((2, 2, 5)), logits=np.zeros((2, 2, 31)),
        ... )
        >>> print(history.paired("a", "b", "exact"))
        0.1500 ± 0.6353 (2 seeds)
        """
        second = self if other is None else other
        if (second.seed, second.numbers) != (self.seed, self.numbers):
            raise ValueError(
                f"the runs have other seeds: {len(self.numbers)} of seed {self.seed}, "
                f"and {len(second.numbers)} of seed {second.seed}"
            )
        return Interval.of(self.values(a, metric, at) - second.values(b, metric, at))


def join_seeds(parts: Sequence[History]) -> History:
    """Join runs of the same arms with different repetitions, in the order given.

    Raises
    ------
    ValueError
        If there is no part, or arms, seed or steps differ.
    """
    if not parts:
        raise ValueError("give at least one history to join")
    first = parts[0]
    for part in parts[1:]:
        if (part.arms, part.seed, part.steps.tolist()) != (first.arms, first.seed, first.steps.tolist()):
            raise ValueError("only histories with the same arms, seed and steps can be joined")
    return History(
        arms=first.arms,
        seed=first.seed,
        numbers=tuple(number for part in parts for number in part.numbers),
        steps=first.steps,
        metrics={name: np.concatenate([part.metrics[name] for part in parts], axis=1) for name in first.metrics},
        silent_groups=np.concatenate([part.silent_groups for part in parts], axis=1),
        clipped=np.concatenate([part.clipped for part in parts], axis=1),
        logits=np.concatenate([part.logits for part in parts], axis=1),
    )
