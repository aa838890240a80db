"""Check that rows are probability distributions and that sampled tokens belong to their vocabulary."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["DistributionError", "SampledTokenError", "checked_rows", "checked_tokens"]

SUM_TOLERANCE = 1e-6
"""How far the probabilities of one row may sum from 1 (single precision reaches about 1e-6)."""


class DistributionError(ValueError):
    """Say which row of `probabilities` is not a probability distribution, and why."""


class SampledTokenError(IndexError):
    """Say which row of `sampled` does not index a token of the vocabulary, and why."""


def checked_rows(probabilities: ArrayLike, sampled: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return distributions and sampled tokens as arrays, or say which row is wrong.

    Parameters
    ----------
    probabilities : array_like of float, shape (..., vocabulary)
        One distribution per row.
    sampled : array_like of int, shape (...)
        Index of the sampled token of each row.

    Returns
    -------
    probabilities : ndarray of float, shape (..., vocabulary)
        The distributions in double precision.
    sampled : ndarray of int, shape (...)
        The indices.

    Raises
    ------
    DistributionError
        A row has a negative or non-finite entry, or does not sum to 1 within 1e-6.
    SampledTokenError
        As :func:`checked_tokens`.

    Examples
    --------
    >>> checked_rows([[0.5, 0.5], [0.5, 0.2]], [0, 0])
    Traceback (most recent call last):
        ...
    toolrl_core.distributions.DistributionError: row 1: probabilities sum to 0.7, not to 1
    """
    distribution = np.asarray(probabilities, dtype=np.float64)
    if distribution.ndim == 0 or distribution.shape[-1] == 0:
        raise DistributionError(f"probabilities need a vocabulary axis of at least 1, got shape {distribution.shape}")
    bad_entry = ~np.isfinite(distribution) | (distribution < 0)
    if bad_entry.any():
        row, token = _split(np.argwhere(bad_entry)[0])
        value = distribution[(*row, token)]
        raise DistributionError(f"row {_name(row)}: probability {value!s} of token {token} is not a number >= 0")
    totals = distribution.sum(axis=-1)
    off = np.abs(totals - 1.0) > SUM_TOLERANCE
    if off.any():
        place = tuple(int(i) for i in np.argwhere(off)[0])
        raise DistributionError(f"row {_name(place)}: probabilities sum to {totals[place]!s}, not to 1")
    return distribution, checked_tokens(sampled, distribution.shape)


def checked_tokens(sampled: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return sampled tokens as an index array, or say which row is wrong.

    Parameters
    ----------
    sampled : array_like of int, shape (...)
        Index of the sampled token of each row.
    shape : tuple of int
        Shape of the distributions, vocabulary last.

    Returns
    -------
    ndarray of int, shape (...)
        The indices.

    Raises
    ------
    SampledTokenError
        Not integers, not one per row, or outside the vocabulary (negative indices do not count from the end).

    Examples
    --------
    >>> checked_tokens([0, 7], (2, 5))
    Traceback (most recent call last):
        ...
    toolrl_core.distributions.SampledTokenError: row 1: sampled token 7 is outside the vocabulary 0..4
    """
    given = np.asarray(sampled)
    if given.dtype.kind not in "iu":
        raise SampledTokenError(f"sampled must hold integer token indices, got dtype {given.dtype}")
    if given.shape != shape[:-1]:
        raise SampledTokenError(f"sampled has shape {given.shape}, the rows of the distribution have {shape[:-1]}")
    outside = (given < 0) | (given >= shape[-1])
    if outside.any():
        place = tuple(int(i) for i in np.argwhere(outside)[0])
        raise SampledTokenError(
            f"row {_name(place)}: sampled token {given[place]} is outside the vocabulary 0..{shape[-1] - 1}"
        )
    return given.astype(np.intp)


def _split(position: NDArray[np.intp]) -> tuple[tuple[int, ...], int]:
    *row, token = (int(i) for i in position)
    return tuple(row), token


def _name(row: tuple[int, ...]) -> str:
    return "0" if not row else ", ".join(map(str, row))
