"""Pair predicted calls with ground-truth calls: the optimal assignment and three greedy orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

MATCHINGS = ("optimal", "greedy_ground_truth", "greedy_prediction", "greedy_best")
GREEDY_ORDERS = ("ground_truth", "prediction", "best")
_PURE_PYTHON_LIMIT = 10
Scores = Sequence[Sequence[float]]
_ONE_PAIR = ((0, 0),)


class Assignment(NamedTuple):
    """Hold a matching of ground-truth calls and predicted calls.

    Parameters
    ----------
    total : float
        Sum of the scores of the pairs.
    pairs : tuple of (int, int)
        Ground-truth index and predicted index of each pair with a positive score, by ground-truth index.
    """

    total: float
    pairs: tuple[tuple[int, int], ...]


_NO_PAIRS = Assignment(0.0, ())


def optimal_assignment(scores: Scores) -> Assignment:
    r"""Find the matching with the largest total score, each call used at most once.

    .. math:: \max_M \sum_{(j, i) \in M} s_{ji}

    Parameters
    ----------
    scores : sequence of sequences of float, shape (ground-truth calls, predicted calls)
        Score of every pair, at least 0.

    Returns
    -------
    Assignment
        The total and the pairs. The total is exact for any size; up to 10 calls a side, or where scipy cannot
        be imported, it is found in pure Python, above by ``scipy.optimize.linear_sum_assignment``.

    Raises
    ------
    ValueError
        If the rows differ in length, or a score is negative or not finite (row and column are named).

    Notes
    -----
    The paper asks for "the optimal matching" (ToolRL note §3.2 and §6.1, arXiv 2504.13958 §3.3).

    Examples
    --------
    The note's counterexample (§6.2): the first row's favourite is needed by the second.

    >>> optimal_assignment([[4 / 3, 1.0], [8 / 3, 0.0]]).pairs
    ((0, 1), (1, 0))
    """
    _check(scores)
    return assign(scores)


def greedy_assignment(scores: Scores, order: str = "ground_truth") -> Assignment:
    """Match greedily: take the best free partner, the first of equals, only if its score is positive.

    Parameters
    ----------
    scores : sequence of sequences of float, shape (ground-truth calls, predicted calls)
        Score of every pair, at least 0.
    order : {"ground_truth", "prediction", "best"}
        Who chooses first: the ground-truth calls in their order (the released code), the predicted calls in
        theirs, or the best pair of all.

    Returns
    -------
    Assignment
        The total and the pairs.

    Raises
    ------
    ValueError
        If the order is unknown or the scores are not a table of finite numbers of at least 0.

    Examples
    --------
    >>> greedy_assignment([[4 / 3, 1.0], [8 / 3, 0.0]]).pairs
    ((0, 0),)
    >>> greedy_assignment([[4 / 3, 1.0], [8 / 3, 0.0]], "best").pairs
    ((0, 1), (1, 0))
    """
    if order not in GREEDY_ORDERS:
        raise ValueError(f"unknown greedy order {order!r}: choose from {', '.join(GREEDY_ORDERS)}")
    _check(scores)
    return assign(scores, f"greedy_{order}")


def assign(scores: Scores, matching: str = "optimal") -> Assignment:
    """Match by a rule of `MATCHINGS` without checking the scores.

    Parameters
    ----------
    scores : sequence of sequences of float
        Score of every pair, finite and at least 0.
    matching : {"optimal", "greedy_ground_truth", "greedy_prediction", "greedy_best"}
        The rule.
    """
    if len(scores) == 1 == len(scores[0]):
        only = scores[0][0]
        return Assignment(only, _ONE_PAIR) if only > 0 else _NO_PAIRS
    if matching == "optimal":
        easy = _favourites(scores)
        pairs = _optimal_pairs(scores) if easy is None else easy
    elif matching == "greedy_best":
        pairs = _best_pairs(scores)
    elif matching == "greedy_ground_truth":
        pairs = _row_pairs(scores)
    else:
        pairs = sorted((j, i) for i, j in _row_pairs(list(zip(*scores, strict=True))))
    return Assignment(sum([scores[j][i] for j, i in pairs], 0.0), tuple(pairs))


def _check(scores: Scores) -> None:
    width = len(scores[0]) if scores else 0
    for j, row in enumerate(scores):
        if len(row) != width:
            raise ValueError(f"row {j} of the scores has {len(row)} columns, row 0 has {width}")
        for i, value in enumerate(row):
            if not (value >= 0 and math.isfinite(value)):
                raise ValueError(f"score in row {j}, column {i} must be finite and at least 0, found {value!r}")


def _row_pairs(scores: Scores) -> list[tuple[int, int]]:
    used: set[int] = set()
    pairs = []
    for j, row in enumerate(scores):
        best, chosen = 0.0, -1
        for i, value in enumerate(row):
            if value > best and i not in used:
                best, chosen = value, i
        if chosen >= 0:
            used.add(chosen)
            pairs.append((j, chosen))
    return pairs


def _best_pairs(scores: Scores) -> list[tuple[int, int]]:
    ranked = sorted((-value, j, i) for j, row in enumerate(scores) for i, value in enumerate(row) if value > 0)
    rows: set[int] = set()
    columns: set[int] = set()
    pairs = []
    for _, j, i in ranked:
        if j not in rows and i not in columns:
            rows.add(j)
            columns.add(i)
            pairs.append((j, i))
    return sorted(pairs)


def _favourites(scores: Scores) -> list[tuple[int, int]] | None:
    """Find the pairs where every row, or else every column, can have its highest score; else None."""
    pairs = _row_favourites(scores)
    if pairs is None:
        turned = _row_favourites(list(zip(*scores, strict=True)))
        pairs = None if turned is None else sorted([(j, i) for i, j in turned])
    return pairs


def _row_favourites(scores: Scores) -> list[tuple[int, int]] | None:
    """Give every row a column of its highest score, the first free one, which is optimal; None where that fails."""
    pairs: list[tuple[int, int]] = []
    taken: list[int] = []
    for j, row in enumerate(scores):
        best = max(row) if row else 0.0
        if best > 0:
            chosen = row.index(best)
            if chosen in taken:
                chosen = next((i for i, value in enumerate(row) if value == best and i not in taken), -1)
                if chosen < 0:
                    return None
            taken.append(chosen)
            pairs.append((j, chosen))
    return pairs


def _optimal_pairs(scores: Scores) -> list[tuple[int, int]]:
    rows = [j for j, row in enumerate(scores) if any(row)]
    if not rows:
        return []
    columns = _useful_columns(scores, rows)
    table = [[scores[j][i] for i in columns] for j in rows]
    if len(rows) == 2 and len(columns) == 2:
        (a, b), (c, d) = table
        chosen = [(0, 0), (1, 1)] if a + d >= b + c else [(0, 1), (1, 0)]
    elif len(rows) <= len(columns):
        chosen = _solve(table)
    else:
        chosen = [(j, i) for i, j in _solve([list(column) for column in zip(*table, strict=True)])]
    return sorted((rows[j], columns[i]) for j, i in chosen if table[j][i] > 0)


def _useful_columns(scores: Scores, rows: list[int]) -> list[int]:
    """List the columns that some optimal matching may need: the best ones of each row, as many as there are rows."""
    width, count = len(scores[0]), len(rows)
    if width <= 2 * count:
        return [i for i in range(width) if any(scores[j][i] for j in rows)]
    kept: set[int] = set()
    for j in rows:
        row = scores[j]
        kept.update(sorted(range(width), key=lambda i: (-row[i], i))[:count])
    return sorted(kept)


def _solve(table: Scores) -> list[tuple[int, int]]:
    """Solve the assignment for a table with at least as many columns as rows."""
    if len(table[0]) > _PURE_PYTHON_LIMIT:
        try:
            from scipy.optimize import linear_sum_assignment
        except ImportError:  # a browser's Python has no scipy
            return _shortest_augmenting_paths(table)
        chosen_rows, chosen_columns = linear_sum_assignment(list(map(list, table)), maximize=True)
        return list(zip(chosen_rows.tolist(), chosen_columns.tolist(), strict=True))
    return _shortest_augmenting_paths(table)


def _shortest_augmenting_paths(table: Scores) -> list[tuple[int, int]]:
    """Solve the assignment problem by shortest augmenting paths with potentials (Jonker and Volgenant's scheme)."""
    rows, columns = len(table), len(table[0])
    row_potential = [0.0] * rows
    column_potential = [0.0] * columns
    row_of = [-1] * columns
    for start in range(rows):
        distance = [math.inf] * columns
        previous = [-1] * columns
        done = [False] * columns
        row, reached, free = start, 0.0, -1
        while free < 0:
            nearest, closest = math.inf, -1
            for i in range(columns):
                if done[i]:
                    continue
                length = reached - table[row][i] - row_potential[row] - column_potential[i]
                if length < distance[i]:
                    distance[i], previous[i] = length, row
                if distance[i] < nearest or (distance[i] == nearest and row_of[i] < 0):
                    nearest, closest = distance[i], i
            reached = nearest
            done[closest] = True
            if row_of[closest] < 0:
                free = closest
            else:
                row = row_of[closest]
        row_potential[start] += reached
        for i in range(columns):
            if done[i] and row_of[i] >= 0:
                row_potential[row_of[i]] += reached - distance[i]
                column_potential[i] -= reached - distance[i]
        column_potential[free] -= reached - distance[free]
        _augment(row_of, previous, free, start)
    return [(row, i) for i, row in enumerate(row_of) if row >= 0]


def _augment(row_of: list[int], previous: list[int], free: int, start: int) -> None:
    """Move the rows along the path that ends at a free column, back to the row that it started from."""
    row = -1
    while row != start:
        row = previous[free]
        row_of[free], free = row, _partner(row_of, row, free)


def _partner(row_of: list[int], row: int, skip: int) -> int:
    """Return the column that `row` held before it moved to column `skip`, or -1."""
    return next((i for i, owner in enumerate(row_of) if owner == row and i != skip), -1)
