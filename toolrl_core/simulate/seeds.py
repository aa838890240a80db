"""Give each repetition a generator of its own, and share repetitions among processes without changing any result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from toolrl_core.field_checks import check_whole
from toolrl_core.simulate.histories import History, join_seeds

__all__ = ["EVALUATION", "TRAINING", "progress_bar", "run_seeds", "seed_generator"]

Item = TypeVar("Item")
TRAINING, EVALUATION = 0, 1
"""What the two streams of random numbers of a repetition are for."""


def seed_generator(seed: int, number: int, purpose: int = TRAINING) -> np.random.Generator:
    """Return the generator of one repetition.

    Parameters
    ----------
    seed : int
        Seed of the run.
    number : int
        Which repetition.
    purpose : int
        Another stream for each purpose: `TRAINING` or `EVALUATION`.

    Returns
    -------
    numpy.random.Generator
        It depends on these three numbers alone.

    Examples
    --------
    >>> bool(seed_generator(0, 3).random() == seed_generator(0, 3).random())
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, purpose)))


def run_seeds(
    run: Callable[[Sequence[int]], History], *, seed: int, seeds: int, workers: int, progress: bool
) -> History:
    """Run repetitions in parts, one part a process.

    Parameters
    ----------
    run : callable
        Function from the numbers of repetitions to their history; it can be pickled.
    seed : int
        Which repetitions.
    seeds : int
        Number of repetitions.
    workers : int
        Processes; more than one needs joblib.
    progress : bool
        Show a progress bar over parts.

    Returns
    -------
    History
        The same for any number of workers, if `run` draws from `seed_generator` alone.

    Raises
    ------
    ValueError
        If the seed is no whole number from 0 on, a count is below 1, or joblib is missing.
    """
    check_whole("seed", seed)
    check_whole("seeds", seeds, lowest=1)
    check_whole("workers", workers, lowest=1)
    parts = [part.tolist() for part in np.array_split(np.arange(seeds), min(workers, seeds))]
    if len(parts) == 1:
        return run(parts[0])
    try:
        joblib: Any = import_module("joblib")
    except ImportError:
        raise ValueError("workers above 1 need the package joblib") from None
    tasks = [joblib.delayed(run)(part) for part in parts]
    done: Iterable[History] = joblib.Parallel(n_jobs=workers, return_as="generator")(tasks)
    return join_seeds(list(progress_bar(done, len(parts), "parts") if progress else done))


def progress_bar(items: Iterable[Item], total: int, unit: str) -> Iterable[Item]:
    """Show progress over items.

    Parameters
    ----------
    items : iterable
        What is worked through.
    total : int
        How many there are.
    unit : str
        What they are called.

    Returns
    -------
    iterable
        The same items.

    Raises
    ------
    ValueError
        If tqdm is missing.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ValueError("progress=True needs the package tqdm") from None
    bar: Iterable[Item] = tqdm(items, total=total, unit=f" {unit}")
    return bar
