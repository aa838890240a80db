"""Choose between a short and a long thought: length is paid, and a limit of tokens cuts some long answers.

One bit. A long thought earns some points more, and is cut with some chance; a cut answer loses what its content would
have earned. In large groups the better choice wins. In small groups the normalised advantage has a taste of its own.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from toolrl_core.simulate.answers import Floats
from toolrl_core.simulate.group_compositions import composition_advantages, composition_chances, group_compositions

__all__ = ["break_even_cut", "length_harm", "long_thought_drift", "settled_long_share"]

_GRID = 200


def break_even_cut(bonus: ArrayLike, cost: ArrayLike, *, right: ArrayLike = 1.0) -> Floats:
    r"""Return the chance of a cut up to which a long thought pays.

    .. math:: c^* = \frac{w}{D\,\pi}

    Parameters
    ----------
    bonus : array_like
        What a long thought earns, w, in points, not negative.
    cost : array_like
        What right content earns and a cut answer loses, D, in points, positive.
    right : array_like
        Chance π that the content is right, in (0, 1]; a wrong answer has nothing to lose.

    Returns
    -------
    ndarray
        In the common shape of the arguments; above 1 where a long thought always pays.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ToolRL note §5.4. The share of right answers that is lost at this point is c* π = w / D, whatever the policy can do.

    Examples
    --------
    One point of length against six of content pays up to one cut in six; on the equal-max scale up to one in two:

    >>> break_even_cut(1, [6, 2]).round(4).tolist()
    [0.1667, 0.5]
    """
    points, loss, chance = (np.asarray(value, dtype=np.float64) for value in (bonus, cost, right))
    _check_points(points, loss, chance)
    result: Floats = points / (loss * chance)
    return result


def length_harm(
    limit_share: ArrayLike, *, cut_when_met: ArrayLike, bonus: ArrayLike, cost: ArrayLike, right: ArrayLike = 1.0
) -> Floats:
    r"""Return the share of answers that length costs, if long thoughts are written whenever they pay.

    .. math::
        h(\lambda) = \begin{cases} \lambda q\, \pi & \lambda q < w / (D \pi) \\ 0 & \text{otherwise} \end{cases}

    Parameters
    ----------
    limit_share : array_like
        Share λ of answers that meet a limit of tokens, 0 to 1.
    cut_when_met : array_like
        Chance q that the limit cuts a long answer, 0 to 1. It never cuts a short one.
    bonus, cost, right : array_like
        As in `break_even_cut`.

    Returns
    -------
    ndarray
        Share of all answers that would be right but are cut, in the common shape of the arguments. At the break-even
        point itself both choices earn the same; 0 is given.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ToolRL note §5.4. A limit that is rarely met does little harm, and one that is often met makes thoughts short: the
    harm is largest in between, just before w / D. That holds for the better choice; training in small groups can pass
    this bound, see `settled_long_share`.

    Examples
    --------
    >>> length_harm([0, 0.1, 0.3, 0.4, 1], cut_when_met=0.5, bonus=1, cost=6).tolist()
    [0.0, 0.05, 0.15, 0.0, 0.0]
    """
    limit, met = np.asarray(limit_share, dtype=np.float64), np.asarray(cut_when_met, dtype=np.float64)
    for name, value in (("limit_share", limit), ("cut_when_met", met)):
        if not ((value >= 0) & (value <= 1)).all():
            raise ValueError(f"{name} must lie between 0 and 1, found {value!r}")
    cut = limit * met
    pays = cut < break_even_cut(bonus, cost, right=right)
    result: Floats = np.where(pays, cut * np.asarray(right, dtype=np.float64), 0.0)
    return result


def long_thought_drift(
    long_share: ArrayLike,
    cut: float,
    *,
    bonus: float,
    cost: float,
    group_size: int,
    right: float = 1.0,
    eta: float = 1e-6,
) -> Floats:
    r"""Return the expected policy gradient of the logit of long thoughts, exactly, for an answer of a group.

    .. math:: E\left[\frac{1}{G} \sum_i A_i\,(x_i - m)\right]

    where x is 1 for a long thought and m is its share.

    Parameters
    ----------
    long_share : array_like
        Share m of long thoughts, 0 to 1.
    cut : float
        Chance c that a long answer is cut, 0 to 1.
    bonus, cost : float
        What a long thought earns, and what right content earns and a cut loses, in points.
    group_size : int
        Answers of a group, G; all compositions are enumerated.
    right : float
        Chance that the content is right, in (0, 1].
    eta : float
        Constant added to the standard deviation, in points.

    Returns
    -------
    ndarray
        In the shape of `long_share`. Positive where training makes thoughts longer.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ToolRL note §5.4. In large groups the sign is that of w - c D π. In small ones it is not. In a group without a cut,
    and with contents all right or all wrong, nothing but the bonus varies, and its advantage is as large as that of any
    other difference. In a group with a cut the loss is divided by a deviation that the cut itself makes. So a bonus
    counts for more than it earns. In a group of two the advantage is 1 or -1: if all contents are right, long thoughts
    win up to c = 1/2, whatever w and D are.

    Examples
    --------
    One point of length, six of content, one long answer in four is cut: a loss of half a point on average. Groups of
    four learn to write long ones, groups of sixteen do not:

    >>> for size in (2, 4, 16):
    ...     print(size, float(long_thought_drift(0.5, 0.25, bonus=1, cost=6, group_size=size).round(3)))
    2 0.125
    4 0.147
    16 -0.009
    """
    share = np.asarray(long_share, dtype=np.float64)
    for name, value in (("long_share", share), ("cut", np.asarray(cut))):
        if not ((value >= 0) & (value <= 1)).all():
            raise ValueError(f"{name} must lie between 0 and 1, found {value!r}")
    _check_points(np.asarray(bonus), np.asarray(cost), np.asarray(right))
    whole = right * (1 - cut)
    # Kinds: short and wrong, short and right, long and lost, long and right.
    chances = np.stack([(1 - share) * (1 - right), (1 - share) * right, share * (1 - whole), share * whole], axis=-1)
    groups = group_compositions(group_size, 4)
    advantages, _ = composition_advantages(groups, [0.0, cost, bonus, bonus + cost], eta=eta)
    # Advantages of a group add up to 0, so the share m drops out of the sum.
    of_long = (groups * advantages)[:, 2:].sum(axis=1) / group_size
    result: Floats = composition_chances(groups, chances) @ of_long
    return result


def settled_long_share(
    cut: float,
    *,
    bonus: float,
    cost: float,
    group_size: int | None = None,
    right: float = 1.0,
    start: float = 0.5,
) -> float:
    """Return the share of long thoughts at which training settles.

    Parameters
    ----------
    cut : float
        Chance that a long answer is cut, 0 to 1.
    bonus, cost : float
        What a long thought earns, and what right content earns and a cut loses, in points.
    group_size : int, optional
        Answers of a group; by default the limit of large groups.
    right : float
        Chance that the content is right, in (0, 1].
    start : float
        Share before training, strictly between 0 and 1.

    Returns
    -------
    float
        The nearest share in the direction of the drift at which it changes its sign, 0 or 1 without one; `start` where
        there is no drift. Harm is this share times `cut` times `right`, in answers.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ToolRL note §5.4. While all thoughts are short, a single long one meets a unanimous group, and its advantage is the
    same for a bonus and for a cut but for the sign: it spreads while fewer than half are cut. The more there are, the
    more cuts a group holds, so that training can settle at a mixture, which no choice between two means does.

    Examples
    --------
    Four long answers in ten are cut at six points each, for a bonus of one. In large groups no one writes long; in
    groups of four nearly two thirds do, and a quarter of all answers is lost instead of a sixth at most:

    >>> large, small = (settled_long_share(0.4, bonus=1, cost=6, group_size=size) for size in (None, 4))
    >>> large, round(small, 2), round(0.4 * small, 2)
    (0.0, 0.64, 0.26)

    Where a third of the contents is wrong anyway, groups are less often unanimous, and no one writes long at this rate:

    >>> settled_long_share(0.4, bonus=1, cost=6, group_size=4, right=0.67)
    0.0
    """
    if not 0 < start < 1:
        raise ValueError(f"start must lie strictly between 0 and 1, found {start!r}")

    def slope(share: Floats) -> Floats:
        if group_size is None:
            single = np.sign(break_even_cut(bonus, cost, right=right) - cut)
            return np.broadcast_to(single, share.shape)
        drift = long_thought_drift(share, cut, bonus=bonus, cost=cost, group_size=group_size, right=right, eta=0.0)
        relative = drift / (share * (1 - share))
        return np.where(np.abs(relative) < 1e-12, 0.0, np.sign(relative))

    if not 0 <= cut <= 1:
        raise ValueError(f"cut must lie between 0 and 1, found {cut!r}")
    direction = float(slope(np.array([start]))[0])
    if direction == 0:
        return start
    end = 1.0 if direction > 0 else 0.0
    path = start + (end - start) * np.arange(1, _GRID) / _GRID
    turned = np.flatnonzero(slope(path) != direction)
    if not turned.size:
        return end
    ahead, behind = float(path[turned[0]]), float(path[turned[0] - 1]) if turned[0] else start
    for _ in range(50):
        middle = 0.5 * (ahead + behind)
        if float(slope(np.array([middle]))[0]) == direction:
            behind = middle
        else:
            ahead = middle
    return 0.5 * (ahead + behind)


def _check_points(bonus: Floats, cost: Floats, right: Floats) -> None:
    if not ((bonus >= 0) & np.isfinite(bonus)).all():
        raise ValueError(f"bonus must be finite and not negative, found {bonus!r}")
    if not ((cost > 0) & (cost < math.inf)).all():
        raise ValueError(f"cost must be finite and positive, found {cost!r}")
    if not ((right > 0) & (right <= 1)).all():
        raise ValueError(f"right must lie in (0, 1], found {right!r}")
