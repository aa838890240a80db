"""Turn the rewards of a group of rollouts into advantages, in the dialect of each implementation.

The papers and trainers print one formula, reward minus group mean over group standard deviation, and compute six
different things. A :class:`~toolrl_core.dialects.Dialect` names what one of them does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolrl_core.dialects import DIALECTS, Dialect, choose_eta, find_dialect
from toolrl_core.group_report import (
    GroupReport,
    GroupSummary,
    diagnose_groups,
    drop_zero_std_groups,
    unscored_share,
    zero_std_share,
)
from toolrl_core.groups import GroupedRewards, Groups, Rewards, group_moments, read_groups, shown

__all__ = [
    "DIALECTS",
    "ComponentAdvantages",
    "Dialect",
    "GroupReport",
    "GroupSummary",
    "diagnose_groups",
    "drop_zero_std_groups",
    "group_advantages",
    "kl_in_reward",
    "normalise_each_then_sum",
    "unscored_share",
    "zero_std_share",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class ComponentAdvantages:
    """Hold advantages that were normalised for each reward component before they were added.

    Parameters
    ----------
    advantages : array of float64, shape (rollouts,)
        The weighted sum.
    components : mapping of str to array of float64, shape (rollouts,)
        Advantages of each component before weighting.
    missing : mapping of str to tuple of int
        Rows that each component did not score.
    warnings : tuple of str
        The findings in plain words; empty when nothing is missing.
    """

    advantages: NDArray[np.float64]
    components: Mapping[str, NDArray[np.float64]]
    missing: Mapping[str, tuple[int, ...]]
    warnings: tuple[str, ...]


def group_advantages(
    rewards: Rewards,
    groups: Groups,
    *,
    dialect: str = "paper",
    eta: float | None = None,
    valid: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Compare every rollout's reward with its group.

    .. math::

        A_i = \frac{r_i - \mu_{q(i)}}{\sigma_{q(i)} + \eta}
        \qquad
        A_i = r_i - \mu_{q(i)}
        \qquad
        A_i = r_i - \frac{1}{n_{q(i)} - 1} \sum_{j \ne i,\, q(j) = q(i)} r_j

    for the dialects with a standard deviation, for "dr_grpo" and for "rloo".

    Parameters
    ----------
    rewards : sequence of float or None, shape (rollouts,)
        Rewards in points; None or NaN where a rollout was not scored.
    groups : sequence of hashable, shape (rollouts,)
        Key of each rollout's group, usually its prompt. Rows of one group need not be neighbours.
    dialect : {"paper", "released", "verl", "trl", "dr_grpo", "rloo"}
        Whose rules to follow; see :data:`~toolrl_core.dialects.DIALECTS`.
    eta : float, optional
        Constant added to the standard deviation, in points; by default the dialect's own.
    valid : array of bool or token counts, shape (rollouts,), optional
        False or 0 where a rollout has no trainable tokens: it leaves the group's statistics and gets advantage 0.

    Returns
    -------
    array of float64, shape (rollouts,)
        Advantages: without a unit where the dialect divides by a standard deviation, in points otherwise.

    Raises
    ------
    ValueError
        If the dialect is unknown, shapes differ, `eta` is negative or has no use in this dialect, a reward is infinite,
        or a reward is missing in a dialect that has no rule for it (the message names the rows).
    TypeError
        If a reward is not a number or a group key is not hashable.

    Notes
    -----
    ToolRL note §3.4 and §8.2, paper arXiv 2504.13958 §3.4. A group of equal rewards has advantage 0 whatever `eta` is.
    Trainers divide a singleton's raw reward by 1 + eta, one part in a million less than the value given here.

    See Also
    --------
    zero_std_share : Share of groups that teach nothing.
    kl_in_reward : The penalty that the released code leaves inside the reward.

    Examples
    --------
    One right answer of four is worth four different numbers:

    >>> for dialect in ("paper", "trl", "dr_grpo", "rloo"):
    ...     print(dialect, group_advantages([1, 0, 0, 0], ["q"] * 4, dialect=dialect).round(3).tolist())
    paper [1.732, -0.577, -0.577, -0.577]
    trl [1.5, -0.5, -0.5, -0.5]
    dr_grpo [0.75, -0.25, -0.25, -0.25]
    rloo [1.0, -0.333, -0.333, -0.333]

    A reward that differs by a millionth of a point is half an advantage, unless eta is larger:

    >>> nearly = [1, 1, 1, 1 + 1e-6]
    >>> float(group_advantages(nearly, ["q"] * 4, dialect="verl").max().round(2))
    0.5
    >>> float(group_advantages(nearly, ["q"] * 4, dialect="trl").max().round(4))
    0.0075
    """
    rules = find_dialect(dialect)
    constant = choose_eta(rules, eta)
    grouped = read_groups(rewards, groups, valid=valid)
    unscored = np.flatnonzero(grouped.unscored)
    if unscored.size and rules.missing == "raise":
        raise ValueError(
            f"rewards are missing in rows {shown(unscored.tolist())}, and dialect {dialect!r} has no rule for that: "
            "mask them with valid=, or choose dialect='trl', which leaves them out"
        )
    return _advantages(grouped, rules, constant)


def kl_in_reward(rewards: ArrayLike, summed_kl: ArrayLike, coefficient: float = 0.001) -> NDArray[np.float64]:
    r"""Subtract the KL penalty that the released code leaves inside the reward.

    .. math:: r_i' = r_i - \beta \sum_t \bigl(\log \pi_\text{old}(a_t) - \log \pi_\text{ref}(a_t)\bigr)

    Parameters
    ----------
    rewards : array of float, shape (rollouts,)
        Rewards in points.
    summed_kl : array of float, shape (rollouts,)
        Each rollout's log-probability ratio to the reference policy, summed over its tokens, in nats.
    coefficient : float
        The penalty's weight :math:`\beta`, in points a nat.

    Returns
    -------
    array of float64, shape (rollouts,)
        Penalised rewards in points.

    Raises
    ------
    ValueError
        If the two shapes differ.

    Notes
    -----
    ToolRL note §3.4 and §8.2 report that the KL term is removed. The released run switches the KL *loss* off and then
    applies the penalty (qiancheng0/ToolRL@8cee13e verl/trainer/ppo/ray_trainer.py#L687-L690, coefficient in
    run_grpo.sh). A group of equal rewards then no longer has advantage 0.

    Examples
    --------
    Four perfect answers are ranked by nothing but their distance from the reference policy:

    >>> penalised = kl_in_reward([4, 4, 4, 4], [20, 30, 25, 40])
    >>> group_advantages(penalised, ["q"] * 4, dialect="released").round(2).tolist()
    [1.02, -0.15, 0.44, -1.32]
    """
    values, penalties = np.asarray(rewards, dtype=np.float64), np.asarray(summed_kl, dtype=np.float64)
    if values.shape != penalties.shape:
        raise ValueError(f"rewards has shape {values.shape}, summed_kl has shape {penalties.shape}: they must agree")
    penalised: NDArray[np.float64] = values - coefficient * penalties
    return penalised


def normalise_each_then_sum(
    components: Mapping[str, Rewards] | Sequence[Rewards],
    groups: Groups,
    *,
    weights: Mapping[str, float] | None = None,
    dialect: str = "paper",
    eta: float | None = None,
    valid: ArrayLike | None = None,
    missing: Literal["exclude", "raise"] = "exclude",
    normalise_batch: bool = False,
) -> ComponentAdvantages:
    r"""Normalise each reward component within its group, then add the advantages.

    .. math:: A_i = \sum_k w_k A_i^{(k)}

    Parameters
    ----------
    components : mapping of str to rewards, or sequence of rewards, each of shape (rollouts,)
        Rewards of every component in points, such as format and correctness. Unnamed ones are called "0", "1", ...
    groups : sequence of hashable, shape (rollouts,)
        Key of each rollout's group.
    weights : mapping of str to float, optional
        Weight of each component; 1 where none is given.
    dialect, eta, valid
        As in :func:`group_advantages`.
    missing : {"exclude", "raise"}
        Whether a missing component reward is left out of that component (and reported), or an error.
    normalise_batch : bool
        Whether to normalise the sums once more over the whole batch, as the method's authors, verl and TRL do.

    Returns
    -------
    ComponentAdvantages
        Advantages with their parts, and what was missing.

    Raises
    ------
    ValueError
        If there is no component, a weight names none, an option is unknown, or a reward is missing under "raise".

    Notes
    -----
    GDPO, arXiv 2601.05242: adding first makes different mixtures of components equal; normalising first keeps them
    apart. TRL 1.16.0 calls it ``normalize_then_sum`` (trl/trainer/grpo_trainer.py#L2790-L2799).

    Examples
    --------
    One missing reward poisons nothing, and is reported:

    >>> result = normalise_each_then_sum([[None, 1, 0, 1], [1, 1, 0, 0]], ["q"] * 4)
    >>> result.advantages.round(3).tolist()
    [1.0, 1.707, -2.414, -0.293]
    >>> result.warnings
    ("1 of 8 component rewards missing (component '0': rows 0)",)
    """
    rules = find_dialect(dialect)
    constant = choose_eta(rules, eta)
    if missing not in ("exclude", "raise"):
        raise ValueError(f"unknown missing={missing!r}; choose 'exclude' or 'raise'")
    named = components if isinstance(components, Mapping) else {str(k): part for k, part in enumerate(components)}
    if not named:
        raise ValueError("give at least one reward component")
    unknown = [name for name in weights or {} if name not in named]
    if unknown:
        raise ValueError(f"weights name {shown(unknown)}; the components are {shown(list(named), limit=20)}")
    read = {name: read_groups(part, groups, valid=valid) for name, part in named.items()}
    absent = {name: tuple(np.flatnonzero(part.unscored).tolist()) for name, part in read.items()}
    lacking = [f"component {name!r}: rows {shown(rows)}" for name, rows in absent.items() if rows]
    if lacking and missing == "raise":
        raise ValueError("component rewards are missing: " + "; ".join(lacking))
    parts = {name: _advantages(part, rules, constant) for name, part in read.items()}
    rows = len(groups)
    total = np.zeros(rows)
    for name, part in parts.items():
        total += (weights or {}).get(name, 1.0) * part
    if normalise_batch:
        scored = np.any([part.usable for part in read.values()], axis=0)
        total = _advantages(read_groups(total, [0] * rows, valid=scored), rules, constant)
    warnings: tuple[str, ...] = ()
    if lacking:
        count = sum(len(found) for found in absent.values())
        warnings = (f"{count} of {rows * len(named)} component rewards missing ({'; '.join(lacking)})",)
    return ComponentAdvantages(
        advantages=total, components=MappingProxyType(parts), missing=MappingProxyType(absent), warnings=warnings
    )


def _advantages(grouped: GroupedRewards, rules: Dialect, eta: float) -> NDArray[np.float64]:
    moments = group_moments(grouped)
    result = np.zeros(grouped.rewards.shape)
    codes = grouped.codes[moments.rows]
    if rules.uses_std:
        with np.errstate(over="ignore", under="ignore"):
            divisors = moments.scaled_std(rules.ddof or 0) + np.ldexp(eta, -moments.exponents)
        divisors[divisors == 0] = 1.0
        result[moments.rows] = moments.deviations / divisors[codes]
    else:
        factors = np.ones(len(grouped.keys))
        if rules.baseline == "leave_one_out":
            factors = moments.counts / np.maximum(moments.counts - 1, 1)
        with np.errstate(over="ignore", under="ignore"):
            result[moments.rows] = np.ldexp(moments.deviations * factors[codes], moments.exponents[codes])
    if rules.singleton == "raw":
        alone = moments.rows[moments.counts[codes] == 1]
        result[alone] = grouped.rewards[alone]
    return result
