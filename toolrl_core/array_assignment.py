"""Assign predicted calls to ground-truth calls for many cases at once.

Every function takes a stack of score matrices and returns one total per matrix. There is no loop over cases: each step
of the dynamic programme (or of the greedy rule) is one NumPy operation on a whole block of cases, with the case on the
last, contiguous axis.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["GREEDY_ORDERS", "MATCHINGS", "MAX_SMALLER_SIDE", "assignment_totals", "greedy_totals", "optimal_totals"]

FloatArray = NDArray[np.float64]

GREEDY_ORDERS = ("ground_truth", "prediction", "best")
MATCHINGS = ("optimal", "greedy_ground_truth", "greedy_prediction", "greedy_best")
MAX_SMALLER_SIDE = 10
_BLOCK = 8192


def optimal_totals(scores: ArrayLike) -> FloatArray:
    r"""Return the largest total that any assignment reaches, for each score matrix.

    .. math::

        \max_{\sigma} \sum_{j} s_{j\,\sigma(j)}

    where :math:`\sigma` uses every row and every column at most once. Scores below zero count as zero, since leaving a
    pair out is always allowed.

    Parameters
    ----------
    scores : array_like of float, shape (cases, n, m)
        Pair scores; row *j* is a ground-truth call, column *i* a predicted call.

    Returns
    -------
    ndarray of float64, shape (cases,)

    Raises
    ------
    ValueError
        If `scores` is not three-dimensional, holds a NaN, or has more than `MAX_SMALLER_SIDE` rows *and* columns.

    Notes
    -----
    Dynamic programme over the subsets of the smaller side, vectorised over cases. In a square matrix a subset of size
    *k* is needed after *k* steps only, which keeps the work small. The one-case counterpart is
    `toolrl_core.matching.optimal_assignment`. ToolRL note §6.1 (R_max), paper arXiv 2504.13958.

    Examples
    --------
    The largest pair is not part of the best assignment:

    >>> optimal_totals([[[3.0, 2.0], [2.0, 0.0]]])
    array([4.])
    """
    return _by_block(scores, optimal_block)


def greedy_totals(scores: ArrayLike, order: str = "ground_truth") -> FloatArray:
    """Return the total that greedy matching collects, for each score matrix.

    Parameters
    ----------
    scores : array_like of float, shape (cases, n, m)
        Pair scores; row *j* is a ground-truth call, column *i* a predicted call.
    order : {"ground_truth", "prediction", "best"}
        Who chooses: each ground-truth call in turn, each predicted call in turn, or the largest remaining pair of the
        whole matrix. Ties go to the first pair in row-major order; a pair must score above zero to be taken.

    Returns
    -------
    ndarray of float64, shape (cases,)

    Raises
    ------
    ValueError
        If `order` is unknown, or `scores` is not three-dimensional or holds a NaN.

    Notes
    -----
    ToolRL note §6.2 (property P2). The released code uses ``"ground_truth"``
    (qiancheng0/ToolRL@8cee13e, rlla.py#L149-192).

    Examples
    --------
    In ground-truth order the first call takes the partner that the second one needs:

    >>> matrix = [[[2.0, 1.0], [3.0, 0.0]]]
    >>> greedy_totals(matrix, "ground_truth")
    array([2.])
    >>> greedy_totals(matrix, "prediction")
    array([4.])
    """
    if order not in GREEDY_ORDERS:
        raise ValueError(f"unknown greedy order {order!r}; valid orders: {', '.join(GREEDY_ORDERS)}")
    return _by_block(scores, _BLOCK_FUNCTIONS[f"greedy_{order}"])


def assignment_totals(scores: ArrayLike, matching: str = "optimal") -> FloatArray:
    """Return the total of each score matrix under a named matching rule.

    Parameters
    ----------
    scores : array_like of float, shape (cases, n, m)
        Pair scores.
    matching : {"optimal", "greedy_ground_truth", "greedy_prediction", "greedy_best"}
        The value of `RewardSpec.matching`.

    Returns
    -------
    ndarray of float64, shape (cases,)

    Raises
    ------
    ValueError
        If `matching` is unknown, or as in `optimal_totals`.

    Examples
    --------
    >>> assignment_totals([[[3.0, 2.0], [2.0, 0.0]]], "greedy_best")
    array([3.])
    """
    return _by_block(scores, block_function(matching))


def block_function(matching: str) -> Callable[[FloatArray], FloatArray]:
    """Return the kernel of a matching rule: it maps a block (n, m, cases) of scores >= 0 to totals (cases,).

    Parameters
    ----------
    matching : str
        One of `MATCHINGS`.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If `matching` is unknown.
    """
    if matching not in _BLOCK_FUNCTIONS:
        raise ValueError(f"unknown matching {matching!r}; valid matchings: {', '.join(MATCHINGS)}")
    return _BLOCK_FUNCTIONS[matching]


def optimal_block(block: FloatArray) -> FloatArray:
    """Return the optimal totals of a block of scores >= 0 with the case on the last axis.

    Parameters
    ----------
    block : ndarray of float64, shape (n, m, cases)
        Pair scores, none negative.

    Returns
    -------
    ndarray of float64, shape (cases,)

    Raises
    ------
    ValueError
        If both sides are longer than `MAX_SMALLER_SIDE`.
    """
    if block.shape[0] > block.shape[1]:
        block = block.transpose(1, 0, 2)
    smaller, larger, cases = block.shape
    if smaller > MAX_SMALLER_SIDE:
        raise ValueError(
            f"scores: {smaller} x {larger} calls; batched optimal assignment takes at most {MAX_SMALLER_SIDE} calls on "
            "the smaller side; use toolrl_core.optimal_assignment one case at a time"
        )
    totals: dict[int, FloatArray] = {0: np.zeros(cases)}
    for step in range(larger):
        fewest = max(0, smaller - (larger - step - 1))  # scores are >= 0: a subset that cannot fill up is never needed
        column = block[:, step]
        following: dict[int, FloatArray] = {}
        for subset in range(1 << smaller):
            if not fewest <= subset.bit_count() <= step + 1:
                continue
            best = totals.get(subset)  # this column stays without a partner
            for row in range(smaller):
                before = totals.get(subset ^ (1 << row)) if subset >> row & 1 else None
                if before is not None:
                    candidate = before + column[row]
                    best = candidate if best is None else np.maximum(best, candidate, out=candidate)
            if best is not None:
                following[subset] = best
        totals = following
    return totals[(1 << smaller) - 1]


def _greedy_rows(block: FloatArray) -> FloatArray:
    """Let each row in turn take its first largest free column above zero."""
    total = np.zeros(block.shape[2])
    if block.shape[1] == 0:
        return total
    free = np.ones(block.shape[1:], dtype=np.bool_)
    for row in block:
        candidates = row * free
        best = candidates.max(axis=0)
        total += best
        unpaired = best > 0.0
        for column, candidate in enumerate(candidates):
            taken = (candidate == best) & unpaired
            free[column] ^= taken
            unpaired ^= taken
    return total


def _greedy_columns(block: FloatArray) -> FloatArray:
    """Let each column in turn take its first largest free row above zero."""
    return _greedy_rows(block.transpose(1, 0, 2))


def _greedy_best(block: FloatArray) -> FloatArray:
    """Take the largest remaining pair above zero, first in row-major order, until none is left."""
    rows, columns, cases = block.shape
    total = np.zeros(cases)
    if rows == 0 or columns == 0:
        return total
    remaining = block.copy()
    for _ in range(min(rows, columns)):
        best = remaining.max(axis=(0, 1))
        total += best
        unpaired = best > 0.0
        row_free = np.ones((rows, 1, cases), dtype=np.bool_)
        column_free = np.ones((1, columns, cases), dtype=np.bool_)
        for row in range(rows):
            for column in range(columns):
                taken = (remaining[row, column] == best) & unpaired
                row_free[row, 0] ^= taken
                column_free[0, column] ^= taken
                unpaired ^= taken
        remaining *= row_free & column_free
    return total


_BLOCK_FUNCTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "optimal": optimal_block,
    "greedy_ground_truth": _greedy_rows,
    "greedy_prediction": _greedy_columns,
    "greedy_best": _greedy_best,
}


def _by_block(scores: ArrayLike, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Apply a block kernel to slices of a (cases, n, m) stack that fit the cache."""
    stack = np.asarray(scores, dtype=np.float64)
    if stack.ndim != 3:
        raise ValueError(f"scores: shape {stack.shape}; expected three axes (cases, n, m)")
    totals = np.empty(stack.shape[0])
    for start in range(0, stack.shape[0], _BLOCK):
        block = np.maximum(np.moveaxis(stack[start : start + _BLOCK], 0, -1), 0.0, order="C")
        if np.isnan(block).any():
            row, column, case = (int(index[0]) for index in np.nonzero(np.isnan(block)))
            raise ValueError(f"scores[{start + case}, {row}, {column}]: NaN is not a pair score")
        totals[start : start + _BLOCK] = function(block)
    return totals
