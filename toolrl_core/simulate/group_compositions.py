"""Enumerate the groups that can be drawn, so that expectations over a group of answers need no random numbers.

Answers of a group are independent. Which kinds of answers it holds, and how many of each, decides all its advantages.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from toolrl_core.simulate.answers import Booleans, Floats, Integers

__all__ = ["composition_advantages", "composition_chances", "group_compositions"]

_MOST = 1_000_000


def group_compositions(group_size: int, kinds: int) -> Integers:
    r"""List every way to fill a group with kinds of answers.

    Parameters
    ----------
    group_size : int
        Answers of a group, G, at least 1.
    kinds : int
        Number of kinds K, at least 1.

    Returns
    -------
    ndarray of int, shape (C, K)
        Counts of each kind; rows add up to G, and C is the binomial coefficient of G + K - 1 over K - 1.

    Raises
    ------
    ValueError
        If an argument is below 1, or there are more than a million ways.

    Notes
    -----
    The group of the ToolRL note §3.4.

    Examples
    --------
    Sixteen answers of four kinds make few groups, although there are four billion ways to draw them in order:

    >>> group_compositions(2, 2).tolist(), len(group_compositions(16, 4))
    ([[0, 2], [1, 1], [2, 0]], 969)
    """
    if group_size < 1 or kinds < 1:
        raise ValueError(f"group_size and kinds must be at least 1, found {group_size!r} and {kinds!r}")
    ways = math.comb(group_size + kinds - 1, kinds - 1)
    if ways > _MOST:
        raise ValueError(f"group_size {group_size} and kinds {kinds} make {ways} compositions, more than {_MOST}")
    counts, left = np.zeros((1, 0), np.int64), np.array([group_size])
    for _ in range(kinds - 1):
        repeats = left + 1
        starts = np.repeat(np.cumsum(repeats) - repeats, repeats)
        taken = np.arange(repeats.sum()) - starts
        counts = np.hstack([np.repeat(counts, repeats, axis=0), taken[:, np.newaxis]])
        left = np.repeat(left, repeats) - taken
    return np.hstack([counts, left[:, np.newaxis]])


def composition_chances(compositions: Integers, chances: ArrayLike) -> Floats:
    r"""Return how likely each composition is.

    .. math:: \frac{G!}{\prod_k n_k!} \prod_k p_k^{n_k}

    Parameters
    ----------
    compositions : ndarray of int, shape (C, K)
        From `group_compositions`.
    chances : array_like, shape (..., K)
        Chance of each kind; the last axis adds up to 1.

    Returns
    -------
    ndarray, shape (..., C)
        Chances that add up to 1.

    Raises
    ------
    ValueError
        If the chances are no distribution over the K kinds.

    Notes
    -----
    The multinomial distribution: answers of a group are drawn independently (ToolRL note §3.4).

    Examples
    --------
    >>> composition_chances(group_compositions(2, 2), [0.25, 0.75]).tolist()
    [0.5625, 0.375, 0.0625]
    """
    shares = np.asarray(chances, dtype=np.float64)
    kinds = compositions.shape[1]
    if shares.shape[-1:] != (kinds,) or not (shares >= 0).all() or not np.allclose(shares.sum(axis=-1), 1):
        raise ValueError(f"chances must be {kinds} numbers that are not negative and add up to 1, found {chances!r}")
    group_size = int(compositions[0].sum())
    factorials = np.array([math.factorial(count) for count in range(group_size + 1)], dtype=np.float64)
    orders = factorials[group_size] / factorials[compositions].prod(axis=1)
    result: Floats = orders * (shares[..., np.newaxis, :] ** compositions).prod(axis=-1)
    return result


def composition_advantages(compositions: Integers, rewards: ArrayLike, *, eta: float = 1e-6) -> tuple[Floats, Booleans]:
    r"""Return the advantage that each kind of answer has in each composition.

    Parameters
    ----------
    compositions : ndarray of int, shape (C, K)
        From `group_compositions`.
    rewards : array_like, shape (K,)
        Reward of each kind, in points.
    eta : float
        Constant added to the standard deviation of the group, in points.

    Returns
    -------
    advantages : ndarray, shape (C, K)
        (reward - mean) / (population standard deviation + eta); 0 in groups of equal rewards.
    silent : ndarray of bool, shape (C,)
        Whether all rewards of the group are equal.

    Raises
    ------
    ValueError
        If the numbers of kinds differ, a reward is not finite, or `eta` is negative.

    Notes
    -----
    ToolRL note §3.4, the dialect "paper" of `toolrl_core.advantages.group_advantages`.

    Examples
    --------
    One answer that stands out of four has the same advantage for a tenth of a point as for ten:

    >>> single = np.array([[3, 1]])
    >>> [composition_advantages(single, [0, width], eta=0)[0].round(3).tolist() for width in (0.1, 10)]
    [[[-0.577, 1.732]], [[-0.577, 1.732]]]
    """
    points = np.asarray(rewards, dtype=np.float64)
    if points.shape != compositions.shape[1:] or not np.isfinite(points).all():
        raise ValueError(f"rewards must be {compositions.shape[1]} finite numbers, found {rewards!r}")
    if not 0 <= eta < math.inf:
        raise ValueError(f"eta must be finite and not negative, found {eta!r}")
    group_size = int(compositions[0].sum())
    present = compositions > 0
    silent: Booleans = np.where(present, points, -np.inf).max(axis=1) == np.where(present, points, np.inf).min(axis=1)
    centred = points - (compositions @ points / group_size)[:, np.newaxis]
    deviation = np.sqrt((compositions * centred**2).sum(axis=1) / group_size)
    scale = np.where(silent, 1.0, deviation + eta)
    advantages = np.where(silent[:, np.newaxis], 0.0, centred / scale[:, np.newaxis])
    return advantages, silent
