"""Choose between one turn and many: what masking or filtering void rollouts makes of the choice.

A bandit with two arms. One turn is right with probability p₁. Many turns are void with probability v, and right with
probability p₂ if not. The policy is one logit: the share m that takes many turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from toolrl_core.simulate.answers import Floats

__all__ = [
    "VOID_TREATMENTS",
    "VoidBandit",
    "bandit_success",
    "expected_drift",
    "settled_share",
    "value_lost",
]

VOID_TREATMENTS = ("plain", "mask", "filter")
"""Train on void rollouts; mask them (their reward stays in the group); filter them (they leave before the mean)."""


@dataclass(frozen=True, kw_only=True)
class VoidBandit:
    """State the chances of the two arms.

    Parameters
    ----------
    single : float
        Chance p₁ that one turn ends right.
    multi : float
        Chance p₂ that many turns end right if none of them is void.
    void : float
        Chance v that one of the many turns is void; such a rollout earns 0.

    Raises
    ------
    ValueError
        If a chance lies outside 0 to 1.

    Notes
    -----
    SimpleTIR note §5.2 and §5.3. Training cannot change the chances, only the choice: v is what drift leaves over.

    Examples
    --------
    >>> VoidBandit(single=0.6, multi=0.9, void=0.5).multi_value
    0.45
    """

    single: float
    multi: float
    void: float

    def __post_init__(self) -> None:
        for name in ("single", "multi", "void"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie between 0 and 1, found {getattr(self, name)!r}")

    @property
    def multi_value(self) -> float:
        """Return the chance (1 - v) p₂ that many turns end right, void or not."""
        return (1 - self.void) * self.multi


def bandit_success(bandit: VoidBandit, share: ArrayLike) -> Floats:
    r"""Return the chance that a rollout ends right.

    .. math:: \mu = m (1 - v) p_2 + (1 - m) p_1

    Parameters
    ----------
    bandit : VoidBandit
        The chances.
    share : array_like
        Share m of rollouts with many turns, 0 to 1.

    Returns
    -------
    ndarray
        In the shape of `share`.

    Raises
    ------
    ValueError
        If a share lies outside 0 to 1.

    Notes
    -----
    SimpleTIR note §5.2.

    Examples
    --------
    Void turns that stay make one turn the better policy, whatever many turns could do without them:

    >>> bandit_success(VoidBandit(single=0.6, multi=0.9, void=0.5), [0, 1]).tolist()
    [0.6, 0.45]
    """
    m = np.asarray(share, dtype=np.float64)
    if not ((m >= 0) & (m <= 1)).all():
        raise ValueError(f"share must lie between 0 and 1, found {share!r}")
    result: Floats = m * bandit.multi_value + (1 - m) * bandit.single
    return result


def expected_drift(
    bandit: VoidBandit, share: ArrayLike, *, treatment: str = "plain", group_size: int | None = None
) -> Floats:
    r"""Return the expected policy gradient of the logit, for a rollout of a group.

    With q = (1 - v) p₂, success μ and, for "filter", the success μ' = μ / (1 - m v) of the rollouts that are not void,

    .. math::
        \frac{m (1 - m)}{\sqrt{\mu (1 - \mu)}}\,(q - p_1), \qquad
        \frac{m (1 - m)}{\sqrt{\mu (1 - \mu)}}\,(q - p_1 + v \mu), \qquad
        \frac{m (1 - m)}{\sqrt{\mu' (1 - \mu')}}\,\frac{(1 - v)(p_2 - p_1)}{1 - m v}

    for "plain", "mask" and "filter" in large groups.

    Parameters
    ----------
    bandit : VoidBandit
        The chances.
    share : array_like
        Share m of rollouts with many turns, 0 to 1.
    treatment : {"plain", "mask", "filter"}
        What happens to void rollouts.
    group_size : int, optional
        Rollouts of a group; by default the limit of large groups. Exact in either case (without eta).

    Returns
    -------
    ndarray
        In the shape of `share`. Positive where training takes more turns.

    Raises
    ------
    ValueError
        If an argument is out of range or the treatment unknown; the message lists the valid ones.

    Notes
    -----
    SimpleTIR note §5.2, §5.3 and §6.4; arXiv 2509.02479 §3.3. Dividing by the number of trained rollouts instead of all
    multiplies the last two by 1 / (1 - m v) in large batches and changes no sign.

    "filter" compares p₂ with p₁. "mask" does so only while many turns are rare: in a group with void rollouts the mean
    is low, so whatever is trained has a positive advantage on average, one turn as well. Since all rewards are 0 or 1,
    the deviation of a group of G enters as one factor, and no sign depends on G.

    Examples
    --------
    Void rollouts make many turns worse than one turn, 0.45 against 0.8. Plain training notices. The filter does not.
    The mask takes more turns while they are rare, and fewer when they are common:

    >>> bandit = VoidBandit(single=0.8, multi=0.9, void=0.5)
    >>> for treatment in ("plain", "mask", "filter"):
    ...     print(treatment, expected_drift(bandit, [0.1, 0.9], treatment=treatment).round(3).tolist())
    plain [-0.074, -0.063]
    mask [0.007, -0.019]
    filter [0.012, 0.025]
    """
    check_treatment(treatment)
    if group_size is not None and group_size < 1:
        raise ValueError(f"group_size must be at least 1, found {group_size!r}")
    mean, m = bandit_success(bandit, share), np.asarray(share, dtype=np.float64)
    if treatment == "filter":
        kept = 1 - m * bandit.void
        success = np.clip(np.divide(mean, kept, out=np.zeros_like(mean), where=kept > 0), 0, 1)
        preference = (1 - bandit.void) * (bandit.multi - bandit.single)
        over = np.where(kept > 0, kept, 1.0)
        filtered: Floats = m * (1 - m) * preference / over**2 * _kept_deviation(success, kept, group_size)
        return filtered
    # What the mask adds is the positive mean advantage of whatever is still trained.
    raised = bandit.void * mean if treatment == "mask" else np.zeros_like(mean)
    drift: Floats = m * (1 - m) * (bandit.multi_value - bandit.single + raised) * _relative_deviation(mean, group_size)
    return drift


def settled_share(bandit: VoidBandit, *, treatment: str = "plain", start: float = 0.5) -> float:
    r"""Return the share of rollouts with many turns at which training settles.

    "plain" goes to 1 if (1 - v) p₂ > p₁ and to 0 if it is less, "filter" to 1 if p₂ > p₁ and to 0 if it is less. "mask"
    goes to 1 if (1 - v²) p₂ ≥ p₁, to 0 if p₂ ≤ p₁, and in between to a mixture:

    .. math:: m^* = \frac{(1 - v)(p_2 - p_1)}{v\,(p_1 - (1 - v) p_2)}

    Parameters
    ----------
    bandit : VoidBandit
        The chances.
    treatment : {"plain", "mask", "filter"}
        What happens to void rollouts.
    start : float
        Share before training, strictly between 0 and 1; it matters only where the drift is 0 everywhere.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    ValueError
        If the treatment is unknown or `start` out of range.

    Notes
    -----
    SimpleTIR note §5.2, §5.3 and §6.5. The veto of the released code is "mask"; the note describes "filter". The plain
    conditions on p₂ and p₁ alone belong to the filter.

    Examples
    --------
    >>> bandit = VoidBandit(single=0.8, multi=0.9, void=0.5)
    >>> [round(settled_share(bandit, treatment=treatment), 3) for treatment in ("plain", "mask", "filter")]
    [0.0, 0.286, 1.0]
    """
    check_treatment(treatment)
    check_start(start)
    single, multi, void = bandit.single, bandit.multi, bandit.void
    if treatment == "plain" or void == 0:
        gain = bandit.multi_value - single
    elif treatment == "filter":
        gain = (1 - void) * (multi - single)
    else:
        # The drift's sign is that of a straight line between these two values; it never rises through 0.
        first, last = (1 - void) * (multi - single), (1 - void**2) * multi - single
        if first > 0 > last:
            return first / (first - last)
        gain = first + last
    return start if gain == 0 else float(gain > 0)


def value_lost(bandit: VoidBandit, *, treatment: str = "plain", start: float = 0.5) -> float:
    r"""Return how much success the settled policy gives away against the better arm.

    .. math:: \max(p_1, (1 - v) p_2) - \mu(m^*)

    Parameters
    ----------
    bandit : VoidBandit
        The chances.
    treatment : {"plain", "mask", "filter"}
        What happens to void rollouts.
    start : float
        Share before training, strictly between 0 and 1.

    Returns
    -------
    float
        In successes a rollout; 0 for plain training, whose collapse to one turn is rational.

    Raises
    ------
    ValueError
        If the treatment is unknown or `start` out of range.

    Notes
    -----
    SimpleTIR note §5.2 calls the collapse to one turn misaligned credit. As long as void turns stay as they are, it is
    the right answer; a veto pays if training with many turns makes them rarer or better, which a bandit cannot show.

    Examples
    --------
    >>> bandit = VoidBandit(single=0.8, multi=0.9, void=0.5)
    >>> [round(value_lost(bandit, treatment=treatment), 2) for treatment in ("plain", "mask", "filter")]
    [0.0, 0.1, 0.35]
    """
    settled = settled_share(bandit, treatment=treatment, start=start)
    return max(bandit.single, bandit.multi_value) - float(bandit_success(bandit, settled))


def _relative_deviation(success: Floats, group_size: int | None) -> Floats:
    """Return the expected deviation of a group over the variance of one reward of 0 or 1; 0 without variance."""
    variance = success * (1 - success)
    deviation = np.sqrt(variance)
    if group_size is not None:
        deviation = np.zeros_like(variance)
        for right in range(1, group_size):
            among = math.comb(group_size, right) * success**right * (1 - success) ** (group_size - right)
            deviation = deviation + among * math.sqrt(right * (group_size - right)) / group_size
    result: Floats = np.divide(deviation, variance, out=np.zeros_like(variance), where=variance > 0)
    return result


def _kept_deviation(success: Floats, kept: Floats, group_size: int | None) -> Floats:
    """Return the same for the rollouts that a filter keeps, weighted with their share of the group."""
    if group_size is None:
        result: Floats = kept * _relative_deviation(success, None)
        return result
    total = np.zeros_like(success)
    for count in range(2, group_size + 1):
        chance = math.comb(group_size, count) * kept**count * (1 - kept) ** (group_size - count)
        total = total + chance * count / group_size * _relative_deviation(success, count)
    return total


def check_treatment(treatment: str) -> None:
    """Refuse a treatment that does not exist."""
    if treatment not in VOID_TREATMENTS:
        raise ValueError(f"unknown treatment {treatment!r}: choose from {', '.join(VOID_TREATMENTS)}")


def check_start(start: float) -> None:
    """Refuse a share from which a logit cannot start."""
    if not 0 < start < 1:
        raise ValueError(f"start must lie strictly between 0 and 1, found {start!r}")
