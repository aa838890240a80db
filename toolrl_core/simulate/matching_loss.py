r"""Count how often, and by how much, greedy matching loses credit on generated cases.

How often greedy matching is strictly worse than the optimal assignment is a property of the generator, not of matching.
Two of the generators make it impossible, by the following theorem.

**Theorem.** Let :math:`s_{ji} \ge 0` be the pair scores. If every predicted call scores with at most one ground-truth
call (each column has at most one entry above zero), greedy matching in ground-truth order and best pair first are
optimal. If every ground-truth call scores with at most one predicted call, greedy matching in prediction order and best
pair first are optimal.

**Proof.** Take the first case. No two rows want the same column, so whatever was matched before, the best column of row
*j* is still free when *j* chooses, and greedy matching collects :math:`\sum_j \max_i s_{ji}`. No assignment can collect
more, since it collects at most :math:`\max_i s_{ji}` from each row. Best pair first takes the same pairs in another
order. The second case is the first one transposed. ∎

Keys that are unique to each call make both conditions true (`disjoint_keys`, `note_like`): a predicted call shares keys
with one ground-truth call only, and without a common key there is neither a key score nor a right value. So do distinct
names on both sides once only calls of the same name may be paired (`distinct_names` with ``same_name=True``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolrl_core.array_assignment import GREEDY_ORDERS, greedy_totals, optimal_totals
from toolrl_core.array_scores import pair_scores
from toolrl_core.arrays import CaseArrays
from toolrl_core.simulate.generators import GENERATORS, CaseGenerator

__all__ = ["GreedyLoss", "greedy_loss", "share_strictly_worse"]

FloatArray = NDArray[np.float64]

_BLOCK = 25_000
_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True)
class GreedyLoss:
    """Hold how often, and by how much, greedy matching earns less than the optimal assignment.

    Parameters
    ----------
    cases : int
        Number of cases compared.
    share : float
        Share of the cases in which greedy matching is strictly worse.
    standard_error : float
        Binomial standard error of the share.
    mean_loss : float
        Mean loss over all cases, in points of correctness on the range (-3, 3).
    largest_loss : float
        Largest loss, in the same points.
    """

    cases: int
    share: float
    standard_error: float
    mean_loss: float
    largest_loss: float


def share_strictly_worse(
    generator: str | CaseGenerator,
    rng: np.random.Generator,
    cases: int,
    *,
    order: str = "ground_truth",
    same_name: bool = False,
    **options: float,
) -> GreedyLoss:
    """Count how often greedy matching is strictly worse than the optimal assignment.

    Parameters
    ----------
    generator : str or CaseGenerator
        A name in `GENERATORS`, or a generator of your own.
    rng : numpy.random.Generator
        Source of all randomness.
    cases : int
        Number of cases, at least 1.
    order : {"ground_truth", "prediction", "best"}
        Order in which greedy matching picks pairs.
    same_name : bool
        Whether only calls of the same name may be paired.
    **options
        Passed to the generator, for example ``max_calls`` or ``overlap``.

    Returns
    -------
    GreedyLoss

    Raises
    ------
    ValueError
        If the generator or the order is unknown, or `cases` is not positive.

    Notes
    -----
    ToolRL note §6.2 and §10.3 (property P2), where the share is reported as 0 %. Differences up to 1e-9 count as none.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> share_strictly_worse("uniform", rng, 1000).share > 0.3, share_strictly_worse("note_like", rng, 1000).share
    (True, 0.0)
    """
    if isinstance(generator, str):
        if generator not in GENERATORS:
            raise ValueError(f"unknown generator {generator!r}; valid generators: {', '.join(GENERATORS)}")
        generator = GENERATORS[generator]
    if cases < 1:
        raise ValueError(f"cases: {cases} is not a positive number")
    worse, total, largest = 0, 0.0, 0.0
    for start in range(0, cases, _BLOCK):
        drawn = generator.draw(rng, min(_BLOCK, cases - start), **options)
        loss = greedy_loss(drawn, order=order, same_name=same_name)
        worse += int(np.count_nonzero(loss))
        total += float(loss.sum())
        largest = max(largest, float(loss.max()))
    share = worse / cases
    error = math.sqrt(share * (1.0 - share) / cases)
    return GreedyLoss(cases=cases, share=share, standard_error=error, mean_loss=total / cases, largest_loss=largest)


def greedy_loss(arrays: CaseArrays, *, order: str = "ground_truth", same_name: bool = False) -> FloatArray:
    """Return what greedy matching loses on each case, in points of correctness on the range (-3, 3).

    Parameters
    ----------
    arrays : CaseArrays
    order : {"ground_truth", "prediction", "best"}
    same_name : bool
        Whether only calls of the same name may be paired.

    Returns
    -------
    ndarray of float64, shape (cases,)
        Zero where greedy matching finds the optimum.

    Raises
    ------
    ValueError
        If `order` is unknown.

    Notes
    -----
    The name score is the same under every matching, so the loss is 6 / maximum times the difference of the pair totals
    (ToolRL note §6.1).
    """
    if order not in GREEDY_ORDERS:
        raise ValueError(f"unknown greedy order {order!r}; valid orders: {', '.join(GREEDY_ORDERS)}")
    scores = pair_scores(arrays, same_name=same_name)
    lost = optimal_totals(scores) - greedy_totals(scores, order)
    truth = arrays.ground_truth
    maximum = 1 + truth.counts + np.count_nonzero(truth.values >= 0, axis=(1, 2))
    return np.where(lost > _TOLERANCE, 6.0 * lost / maximum, 0.0)
