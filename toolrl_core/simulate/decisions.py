"""Compare paying every decision with paying only a complete answer, in the smallest model that can show it.

An answer is *k* independent decisions, each right with probability *p*. Credit ``"partial"`` pays for each right
decision, credit ``"exact"`` only for an answer in which all are right.
"""

from __future__ import annotations

import math

__all__ = ["decision_correlation", "decision_zero_advantage"]

_CREDITS = ("partial", "exact")


def decision_correlation(decisions: int, ability: float, *, credit: str = "partial") -> float:
    r"""Return the correlation between the reward of an answer and one of its decisions.

    .. math::

        \rho_{\text{partial}} = \frac{1}{\sqrt{k}}, \qquad
        \rho_{\text{exact}} = \sqrt{\frac{p^{k-1} (1 - p)}{1 - p^k}}

    A policy gradient moves a decision by how much the reward co-varies with it. Normalised advantages have variance
    one, so the correlation is what is left of a decision's signal.

    Parameters
    ----------
    decisions : int
        Number of decisions *k*, at least 1.
    ability : float
        Chance *p* of each, strictly between 0 and 1.
    credit : {"partial", "exact"}

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    With *X* the decision and *R* the reward, cov(X, R) is p (1 - p) under partial credit, where var R = k p (1 - p);
    under exact credit cov(X, R) = p^k (1 - p) and var R = p^k (1 - p^k). As p -> 1 the exact correlation rises to
    1/sqrt(k): for a strong policy the two rewards teach alike, for a weak one the exact reward teaches next to nothing.
    This is arithmetic on the conjecture of the ToolRL note §5.3 that strong bases need granularity less (level D
    there); it trains nothing.

    Examples
    --------
    >>> weak, strong = (decision_correlation(8, p, credit="exact") * 8**0.5 for p in (0.3, 0.95))
    >>> round(weak, 3), round(strong, 3)
    (0.035, 0.911)
    """
    _check(decisions, credit)
    if not 0.0 < ability < 1.0:
        raise ValueError(f"ability: {ability} lies outside (0, 1), where nothing varies")
    if credit == "partial":
        return 1.0 / math.sqrt(decisions)
    return math.sqrt(ability ** (decisions - 1) * (1.0 - ability) / (1.0 - ability**decisions))


def decision_zero_advantage(decisions: int, ability: float, *, group_size: int, credit: str = "partial") -> float:
    r"""Return the probability that a group of answers earns one and the same reward.

    .. math::

        \sum_{j=0}^{k} \left[\binom{k}{j} p^j (1 - p)^{k-j}\right]^G
        \quad\text{or}\quad (1 - p^k)^G + p^{kG}

    Parameters
    ----------
    decisions : int
        Number of decisions *k*, at least 1.
    ability : float
        Chance *p* of each, 0 to 1.
    group_size : int
        Number of answers *G* to one prompt, at least 1.
    credit : {"partial", "exact"}

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> [round(decision_zero_advantage(4, 0.5, group_size=4, credit=credit), 4) for credit in ("partial", "exact")]
    [0.0276, 0.7725]
    """
    _check(decisions, credit)
    if not 0.0 <= ability <= 1.0:
        raise ValueError(f"ability: {ability} is not a probability; expected 0 to 1")
    if group_size < 1:
        raise ValueError(f"group_size: {group_size} is not a positive number of answers")
    if credit == "exact":
        return (1.0 - ability**decisions) ** group_size + ability ** (decisions * group_size)
    return math.fsum(
        (math.comb(decisions, right) * ability**right * (1.0 - ability) ** (decisions - right)) ** group_size
        for right in range(decisions + 1)
    )


def _check(decisions: int, credit: str) -> None:
    if decisions < 1:
        raise ValueError(f"decisions: {decisions} is not a positive number")
    if credit not in _CREDITS:
        raise ValueError(f"credit: unknown {credit!r}; valid: {', '.join(_CREDITS)}")
