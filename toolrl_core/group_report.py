"""Find the groups of rollouts that teach nothing, and the rows that nobody scored."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolrl_core.groups import GroupedRewards, Groups, Rewards, group_moments, read_groups, shown

__all__ = [
    "GroupReport",
    "GroupSummary",
    "diagnose_groups",
    "drop_zero_std_groups",
    "unscored_share",
    "zero_std_share",
]

NO_SIGNAL = "no learning signal in this group"
NEARLY_EQUAL = 1e-6


@dataclass(frozen=True, kw_only=True)
class GroupSummary:
    """Describe one group of rollouts.

    Parameters
    ----------
    key : hashable
        The group's key.
    rows : int
        Number of rollouts.
    scored : int
        Number of rollouts that take part in the statistics.
    mean, std : float
        Mean and population standard deviation of their rewards in points; NaN without any.
    """

    key: Hashable
    rows: int
    scored: int
    mean: float
    std: float


@dataclass(frozen=True, kw_only=True)
class GroupReport:
    """State what the groups of a batch can and cannot teach.

    Parameters
    ----------
    groups : tuple of GroupSummary
        Every group, in order of first appearance.
    zero_std_share : float
        Share of the groups without any spread, as :func:`zero_std_share` counts it.
    unscored_share : float
        Share of the valid rows without a reward.
    equal_groups, singleton_groups, empty_groups, nearly_equal_groups : tuple of hashable
        Keys of groups with two or more equal rewards, with one usable row, with none, and with a spread of up to 1e-6.
    unscored_rows, invalid_rows : tuple of int
        Rows without a reward, and rows that the mask leaves out.
    ragged : bool
        Whether the groups differ in size.
    constant_reward : bool
        Whether two or more usable rewards are all equal over the whole batch.
    warnings : tuple of str
        The findings in plain words; empty when there is nothing to report.
    """

    groups: tuple[GroupSummary, ...]
    zero_std_share: float
    unscored_share: float
    equal_groups: tuple[Hashable, ...]
    singleton_groups: tuple[Hashable, ...]
    empty_groups: tuple[Hashable, ...]
    nearly_equal_groups: tuple[Hashable, ...]
    unscored_rows: tuple[int, ...]
    invalid_rows: tuple[int, ...]
    ragged: bool
    constant_reward: bool
    warnings: tuple[str, ...]

    @property
    def mean_by_group(self) -> Mapping[Hashable, float]:
        """Map each group's key to its mean reward in points."""
        return {group.key: group.mean for group in self.groups}

    def to_dict(self) -> dict[str, Any]:
        """Return the report without the list of groups, as plain values for a log."""
        return {
            "groups": len(self.groups),
            "rows": sum(group.rows for group in self.groups),
            "zero_std_share": self.zero_std_share,
            "unscored_share": self.unscored_share,
            "singleton_groups": len(self.singleton_groups),
            "empty_groups": len(self.empty_groups),
            "ragged": self.ragged,
            "constant_reward": self.constant_reward,
            "warnings": list(self.warnings),
        }


def zero_std_share(
    rewards: Rewards, groups: Groups, *, valid: ArrayLike | None = None, threshold: float = 0.0
) -> float:
    r"""Measure the share of groups whose rewards do not differ.

    .. math:: \frac{1}{|Q|} \sum_{q \in Q} 1[\sigma_q \le \text{threshold}]

    Parameters
    ----------
    rewards : sequence of float or None, shape (rollouts,)
        Rewards in points; None or NaN where a rollout was not scored.
    groups : sequence of hashable, shape (rollouts,)
        Key of each rollout's group.
    valid : array of bool or token counts, shape (rollouts,), optional
        Rollouts to leave out of the statistics.
    threshold : float
        Largest population standard deviation, in points, that still counts as zero.

    Returns
    -------
    float
        A share between 0 and 1. A group with fewer than two usable rewards has no spread and counts.

    Raises
    ------
    ValueError
        If there are no rows, the shapes differ, or `threshold` is negative.

    Notes
    -----
    ToolRL note §6.5 and DAPO (arXiv 2503.14476, §3.2): a group of equal rewards has advantage zero everywhere.

    Examples
    --------
    >>> zero_std_share([3.0, 3.0, 3.0, -3.0], ["a", "a", "b", "b"])
    0.5
    """
    grouped = read_groups(rewards, groups, valid=valid)
    if not grouped.keys:
        raise ValueError("there are no rows, so no share of groups either")
    return float(_zero_std(grouped, threshold).mean())


def unscored_share(rewards: Rewards, *, valid: ArrayLike | None = None) -> float:
    """Measure the share of rollouts that carry no reward.

    Parameters
    ----------
    rewards : sequence of float or None, shape (rollouts,)
        Rewards in points; None or NaN where a rollout was not scored.
    valid : array of bool or token counts, shape (rollouts,), optional
        Rollouts to leave out of the count.

    Returns
    -------
    float
        A share between 0 and 1.

    Raises
    ------
    ValueError
        If no valid row is left.

    Examples
    --------
    A reward of 0 is a score; only a missing one counts:

    >>> unscored_share([0.0, None, 1.0, float("nan")])
    0.5
    """
    grouped = read_groups(rewards, [0] * len(rewards), valid=valid)
    if not grouped.valid.any():
        raise ValueError("there are no valid rows, so no share of unscored ones either")
    return float(grouped.unscored.sum() / grouped.valid.sum())


def drop_zero_std_groups(
    rewards: Rewards,
    groups: Groups,
    *,
    threshold: float = 0.0,
    valid: ArrayLike | None = None,
    keep_singletons: bool = False,
) -> NDArray[np.bool_]:
    r"""Mark the rollouts whose group has a spread, as DAPO's dynamic sampling keeps them.

    .. math:: \text{keep}_i = 1[\sigma_{q(i)} > \text{threshold}]

    Parameters
    ----------
    rewards : sequence of float or None, shape (rollouts,)
        Rewards in points; None or NaN where a rollout was not scored.
    groups : sequence of hashable, shape (rollouts,)
        Key of each rollout's group.
    threshold : float
        Largest population standard deviation, in points, that still counts as zero.
    valid : array of bool or token counts, shape (rollouts,), optional
        Rollouts to leave out of the statistics.
    keep_singletons : bool
        Whether to keep a group with exactly one usable reward.

    Returns
    -------
    array of bool, shape (rollouts,)
        True for every row of a group that stays.

    Raises
    ------
    ValueError
        If the shapes differ or `threshold` is negative.

    Notes
    -----
    DAPO (arXiv 2503.14476, §3.2) states the rule for right-or-wrong answers: neither all right nor all wrong. verl's
    recipe asks for a positive population standard deviation and keeps singletons. SimpleTIR drops below 1e-3
    (ltzheng/SimpleTIR@e7b5b44 recipe/simpletir/simpletir_ray_trainer.py#L1261).

    Examples
    --------
    Four perfect answers are dropped just as four hopeless ones are:

    >>> drop_zero_std_groups([4, 4, -2, -2, 4, -2], ["easy", "easy", "hard", "hard", "fair", "fair"]).tolist()
    [False, False, False, False, True, True]
    """
    grouped = read_groups(rewards, groups, valid=valid)
    keep = ~_zero_std(grouped, threshold)
    if keep_singletons:
        keep |= group_moments(grouped).counts == 1
    return keep[grouped.codes]


def diagnose_groups(
    rewards: Rewards, groups: Groups, *, valid: ArrayLike | None = None, threshold: float = 0.0
) -> GroupReport:
    """Report the groups that teach nothing and the rows that were not scored.

    Parameters
    ----------
    rewards : sequence of float or None, shape (rollouts,)
        Rewards in points; None or NaN where a rollout was not scored.
    groups : sequence of hashable, shape (rollouts,)
        Key of each rollout's group.
    valid : array of bool or token counts, shape (rollouts,), optional
        Rollouts to leave out of the statistics.
    threshold : float
        Largest population standard deviation, in points, that still counts as zero.

    Returns
    -------
    GroupReport
        Shares, group keys, row numbers and warnings.

    Raises
    ------
    ValueError
        If there are no rows, the shapes differ, or `threshold` is negative.

    Examples
    --------
    A constant reward trains on nothing, and no trainer stops for it:

    >>> for line in diagnose_groups([0.3, 0.3, 0.3, 0.3], ["a"] * 4).warnings:
    ...     print(line)
    no learning signal in this group: all rewards are equal in 1 of 1 groups ('a')
    constant reward: every one of the 4 scored rollouts has 0.3
    """
    grouped = read_groups(rewards, groups, valid=valid)
    if not grouped.keys:
        raise ValueError("there are no rows to diagnose")
    moments = group_moments(grouped)
    std = moments.std()
    zero = _zero_std(grouped, threshold)
    rows = np.bincount(grouped.codes, minlength=len(grouped.keys))
    scored = grouped.rewards[grouped.usable]
    constant = bool(scored.size > 1 and scored.min() == scored.max())
    spread = (std > threshold) & (std <= NEARLY_EQUAL)
    found = {
        "equal": _keys(grouped, zero & (moments.counts > 1)),
        "singleton": _keys(grouped, moments.counts == 1),
        "empty": _keys(grouped, moments.counts == 0),
        "nearly equal": _keys(grouped, spread),
    }
    unscored = tuple(np.flatnonzero(grouped.unscored).tolist())
    invalid = tuple(np.flatnonzero(~grouped.valid).tolist())
    notes = _group_warnings(found, len(grouped.keys))
    if rows.min() != rows.max():
        notes.append(f"ragged groups: sizes run from {rows.min()} to {rows.max()} rollouts")
    if unscored:
        notes.append(f"{len(unscored)} of {int(grouped.valid.sum())} rollouts were not scored (rows {shown(unscored)})")
    if invalid:
        notes.append(f"{len(invalid)} of {len(grouped.codes)} rollouts are masked out (rows {shown(invalid)})")
    if constant:
        notes.append(f"constant reward: every one of the {scored.size} scored rollouts has {scored[0]:g}")
    return GroupReport(
        groups=tuple(
            GroupSummary(key=key, rows=size, scored=count, mean=mean, std=deviation)
            for key, size, count, mean, deviation in zip(
                grouped.keys, rows.tolist(), moments.counts.tolist(), moments.means.tolist(), std.tolist(), strict=True
            )
        ),
        zero_std_share=float(zero.mean()),
        unscored_share=len(unscored) / int(grouped.valid.sum()) if grouped.valid.any() else math.nan,
        equal_groups=found["equal"],
        singleton_groups=found["singleton"],
        empty_groups=found["empty"],
        nearly_equal_groups=found["nearly equal"],
        unscored_rows=unscored,
        invalid_rows=invalid,
        ragged=bool(rows.min() != rows.max()),
        constant_reward=constant,
        warnings=tuple(notes),
    )


def _zero_std(grouped: GroupedRewards, threshold: float) -> NDArray[np.bool_]:
    if not (math.isfinite(threshold) and threshold >= 0):
        raise ValueError(f"threshold is {threshold!r}: give a standard deviation in points, 0 or more")
    moments = group_moments(grouped)
    return (moments.counts < 2) | (moments.std() <= threshold)


def _keys(grouped: GroupedRewards, chosen: NDArray[np.bool_]) -> tuple[Hashable, ...]:
    return tuple(grouped.keys[position] for position in np.flatnonzero(chosen))


def _group_warnings(found: Mapping[str, tuple[Hashable, ...]], total: int) -> list[str]:
    texts = {
        "equal": NO_SIGNAL + ": all rewards are equal in {share} ({keys})",
        "singleton": "singleton groups: one scored rollout has nothing to be compared with in {share} ({keys}); "
        "dialects 'released' and 'verl' then use the raw reward, the others 0",
        "empty": NO_SIGNAL + ": no rollout was scored in {share} ({keys})",
        "nearly equal": f"rewards differ by no more than {NEARLY_EQUAL:g} points in {{share}} ({{keys}}): "
        "eta decides the size of their advantages",
    }
    return [
        texts[kind].format(share=f"{len(keys)} of {total} groups", keys=shown(keys))
        for kind, keys in found.items()
        if keys
    ]
