"""Compute the exact distribution of a reward under a random policy, and what follows from it.

The calls of an answer are independent given the prompt, so the distribution is a convolution over calls. Everything is
summed, nothing is sampled; results are exact up to rounding of double precision.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from toolrl_core.simulate.policies import PolicySettings, Prompt, prompts
from toolrl_core.simulate.reward_states import DECIMALS, PARTS, FloatArray, JointDistribution, prompt_joint

if TYPE_CHECKING:
    from toolrl_core.spec import RewardSpec

__all__ = [
    "PARTS",
    "JointDistribution",
    "RewardDistribution",
    "granularity_tiers",
    "joint_distribution",
    "prompt_distributions",
    "rank_correlation",
    "reward_distribution",
    "zero_advantage_probability",
    "zero_reward_rate",
]


_GRID: Final = {
    "original": ("parameter", "partial"),
    "finegrained": ("parameter", "exact"),
    "intermediate": ("call", "exact"),
    "coarse": ("answer", "exact"),
    "call_partial": ("call", "partial"),
    "answer_partial": ("answer", "partial"),
}


@dataclass(frozen=True, eq=False)
class RewardDistribution:
    """Hold a discrete distribution of rewards.

    Parameters
    ----------
    values : ndarray of float64, shape (values,)
        Rewards in points, ascending.
    probabilities : ndarray of float64, shape (values,)
        They sum to 1.

    Examples
    --------
    >>> fair = RewardDistribution(np.array([-3.0, 3.0]), np.array([0.5, 0.5]))
    >>> fair.mean, fair.variance, fair.zero_advantage_probability(4)
    (0.0, 9.0, 0.125)
    """

    values: FloatArray
    probabilities: FloatArray

    @property
    def mean(self) -> float:
        """Mean reward in points."""
        return math.fsum(self.values * self.probabilities)

    @property
    def variance(self) -> float:
        """Variance of the reward in points squared."""
        return math.fsum((self.values - self.mean) ** 2 * self.probabilities)

    def zero_advantage_probability(self, group_size: int) -> float:
        r"""Return the chance that a group gets one and the same reward, :math:`\sum_k p_k^G`.

        Parameters
        ----------
        group_size : int
            Number of rollouts *G* of the group.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If `group_size` is less than 1.
        """
        if group_size < 1:
            raise ValueError(f"group_size: {group_size} is not a positive number of rollouts")
        return math.fsum(self.probabilities**group_size)


def granularity_tiers(base: RewardSpec, *, name_credit: str | None = "partial") -> dict[str, RewardSpec]:
    """Return one spec for each cell of the granularity x credit grid, the paper's four tiers first.

    Parameters
    ----------
    base : RewardSpec
        Supplies every other option.
    name_credit : {"partial", "exact"} or None
        How names are paid in all cells; None: as the other parts of the cell. ``"partial"`` is the reading that comes
        nearest to the zero-reward rates of the ToolRL note §10.3.

    Returns
    -------
    dict of str to RewardSpec
        ``original``, ``finegrained``, ``intermediate``, ``coarse``, ``call_partial``, ``answer_partial``.

    Notes
    -----
    The paper's axis (arXiv 2504.13958 §5.3; ToolRL note §5.3, §9.2) changes granularity and strictness together. The
    last two cells are not in the paper; they separate the two.

    Examples
    --------
    >>> from toolrl_core.spec import RewardSpec
    >>> tier = granularity_tiers(RewardSpec.preset("paper"))["intermediate"]
    >>> tier.granularity, tier.credit, tier.name_credit
    ('call', 'exact', 'partial')
    """
    return {
        name: base.replace(granularity=granularity, credit=credit, name_credit=name_credit)
        for name, (granularity, credit) in _GRID.items()
    }


def prompt_distributions(
    ability: float, settings: PolicySettings, spec: RewardSpec, *, normalised: bool = True
) -> tuple[tuple[Prompt, RewardDistribution], ...]:
    """Return the reward distribution on each kind of prompt.

    Parameters
    ----------
    ability : float
        Mean ability, 0 to 1.
    settings : PolicySettings
    spec : RewardSpec
        Read for names, same_name, granularity, credit, name_credit, call_equality, extra_calls and the correctness
        range. Matching and order do not matter: an answer keeps the order of its ground truth, and only calls of the
        same place share keys.
    normalised : bool
        Whether credit is scaled to the range of the spec (correctness); False: the credit itself (the notes' R_max).

    Returns
    -------
    tuple of (Prompt, RewardDistribution)

    Raises
    ------
    ValueError
        If `ability` is no probability or the schedule of the spec needs a step.

    Notes
    -----
    ToolRL note §6.1, §6.5; the granularity and credit of a pair are those of `toolrl_core.array_scores.score_arrays`.
    """
    listed = []
    for prompt in prompts(ability, settings):
        joint = prompt_joint(prompt, settings, spec, (), normalised=normalised)
        listed.append((prompt, _marginal(joint.rewards, joint.probabilities)))
    return tuple(listed)


def reward_distribution(
    ability: float, settings: PolicySettings, spec: RewardSpec, *, normalised: bool = True
) -> RewardDistribution:
    """Return the distribution of the reward over prompts and answers.

    Parameters
    ----------
    ability : float
        Mean ability, 0 to 1.
    settings : PolicySettings
    spec : RewardSpec
    normalised : bool
        As in `prompt_distributions`.

    Returns
    -------
    RewardDistribution

    Raises
    ------
    ValueError
        As `prompt_distributions`.

    Examples
    --------
    One call without parameters, its name right half of the time. The arguments agree as two empty objects do, so even a
    wrong name leaves the middle of the range:

    >>> from toolrl_core.spec import RewardSpec
    >>> reward_distribution(0.3, PolicySettings(calls=1, parameters=0), RewardSpec.preset("paper")).values
    array([0., 3.])
    """
    parts = prompt_distributions(ability, settings, spec, normalised=normalised)
    values = np.concatenate([distribution.values for _, distribution in parts])
    weights = np.concatenate([prompt.weight * distribution.probabilities for prompt, distribution in parts])
    return _marginal(values, weights)


def zero_reward_rate(ability: float, settings: PolicySettings, spec: RewardSpec) -> float:
    r"""Return the probability that an answer earns no credit at all (matched = 0, the floor of the range).

    Parameters
    ----------
    ability : float
        Mean ability, 0 to 1.
    settings : PolicySettings
    spec : RewardSpec

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `prompt_distributions`.

    Notes
    -----
    ToolRL note §10.2, P5.a. That the rate grows from tier to tier is no finding but a theorem. Take one answer and one
    reading of the name term. If parameter x partial gives it no credit, no key is right in any pair, so no value is,
    and no pair is complete: parameter x exact gives none. If parameter x exact gives none, no value is right and no
    pair has all keys right: call x exact gives none. If call x exact gives none, some call is incomplete: answer x
    exact gives none. The events are nested, so their probabilities are ordered under every policy, ability and size of
    answer.

    With one size *m* and wrong names that are new, the rate is a mean of powers :math:`z^n` over the number of calls,
    where *z* is the chance that a single call earns nothing.

    Examples
    --------
    The coarse verdict is blind to almost everything that this policy does:

    >>> from toolrl_core.spec import RewardSpec
    >>> round(100 * zero_reward_rate(0.3, PolicySettings(), RewardSpec.preset("coarse")), 4)
    99.7263
    """
    total = 0.0
    for prompt, distribution in prompt_distributions(ability, settings, spec, normalised=False):
        total += prompt.weight * math.fsum(distribution.probabilities[distribution.values == 0.0])
    return total


def zero_advantage_probability(
    ability: float, settings: PolicySettings, spec: RewardSpec, *, group_size: int, floor_only: bool = False
) -> float:
    r"""Return the probability that all rollouts of a group earn the same reward, so that none has an advantage.

    .. math::

        \sum_x w_x \sum_k p_{k \mid x}^{\,G}

    where prompt *x* is asked with probability :math:`w_x` and :math:`p_{k \mid x}` is the probability of the *k*-th
    reward value on it. The rollouts of a group answer one prompt: taking the powers of the distribution over all
    prompts instead would call a group with answers of different sizes unanimous too rarely.

    Parameters
    ----------
    ability : float
        Mean ability, 0 to 1.
    settings : PolicySettings
    spec : RewardSpec
    group_size : int
        Number of rollouts *G* of a prompt.
    floor_only : bool
        Count only the groups in which every rollout is at the floor.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `prompt_distributions`, or if `group_size` is less than 1.

    Examples
    --------
    >>> from toolrl_core.spec import RewardSpec
    >>> spec = RewardSpec.preset("coarse")
    >>> round(zero_advantage_probability(0.3, PolicySettings(), spec, group_size=4), 3)
    0.989
    """
    total = 0.0
    for prompt, distribution in prompt_distributions(ability, settings, spec, normalised=False):
        if floor_only:
            total += prompt.weight * math.fsum(distribution.probabilities[distribution.values == 0.0]) ** group_size
        else:
            total += prompt.weight * distribution.zero_advantage_probability(group_size)
    return total


def joint_distribution(
    ability: float,
    settings: PolicySettings,
    spec: RewardSpec,
    *,
    parts: Collection[str] = PARTS,
    share: bool = False,
    normalised: bool = True,
) -> JointDistribution:
    """Return the joint distribution of the reward and of the number of right parts.

    Parameters
    ----------
    ability : float
        Mean ability, 0 to 1.
    settings : PolicySettings
    spec : RewardSpec
    parts : collection of str
        What is counted: any of ``"names"``, ``"keys"``, ``"values"``.
    share : bool
        Whether the number is divided by how many such parts the ground truth has (0 / 0 = 1).
    normalised : bool
        As in `prompt_distributions`.

    Returns
    -------
    JointDistribution

    Raises
    ------
    ValueError
        If `parts` is empty or names an unknown part, or as `prompt_distributions`.
    """
    chosen = tuple(part for part in PARTS if part in parts)
    if not chosen or set(parts) - set(PARTS):
        raise ValueError(f"parts: {sorted(parts)!r}; expected one or more of {', '.join(PARTS)}")
    rewards, right, probabilities = [], [], []
    for prompt in prompts(ability, settings):
        joint = prompt_joint(prompt, settings, spec, chosen, normalised=normalised)
        number = sum(prompt.calls if part == "names" else sum(prompt.parameters) for part in chosen)
        rewards.append(joint.rewards)
        right.append((joint.right / number if number else np.ones_like(joint.right)) if share else joint.right)
        probabilities.append(prompt.weight * joint.probabilities)
    return JointDistribution(np.concatenate(rewards), np.concatenate(right), np.concatenate(probabilities))


def rank_correlation(joint: JointDistribution) -> float:
    r"""Return Spearman's rank correlation of reward and right parts, ties at their middle rank.

    .. math::

        \rho = \frac{\operatorname{cov}(F(R), H(T))}{\sqrt{\operatorname{var} F(R) \, \operatorname{var} H(T)}},
        \qquad F(r) = P(R < r) + \tfrac12 P(R = r)

    and *H* likewise. This is the limit that the sample coefficient approaches, and it needs no sample.

    Parameters
    ----------
    joint : JointDistribution

    Returns
    -------
    float
        Between -1 and 1; NaN if the reward or the number of right parts never varies.

    Notes
    -----
    ToolRL note §10.3, P5.b. Ranks do not change under increasing functions, so no argument about logarithms can explain
    a rank correlation (ToolRL note §10.3 and §12 item 7 offer one).

    Examples
    --------
    Taking logarithms of the rewards changes nothing:

    >>> right, chances = np.array([0.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3])
    >>> rewards = np.array([1.0, 100.0, 10.0])
    >>> plain = rank_correlation(JointDistribution(rewards, right, chances))
    >>> plain == rank_correlation(JointDistribution(np.log(rewards), right, chances))
    True
    """
    first, second = (_middle_ranks(values, joint.probabilities) for values in (joint.rewards, joint.right))
    first, second = first - 0.5, second - 0.5  # the mean middle rank is always one half
    covariance = math.fsum(joint.probabilities * first * second)
    spread = math.fsum(joint.probabilities * first**2) * math.fsum(joint.probabilities * second**2)
    return covariance / math.sqrt(spread) if spread > 1e-24 else math.nan


def _marginal(values: FloatArray, weights: FloatArray) -> RewardDistribution:
    distinct, place = np.unique(np.round(values, DECIMALS), return_inverse=True)
    mass = np.bincount(place, weights=weights, minlength=len(distinct))
    return RewardDistribution(distinct, mass.astype(np.float64))


def _middle_ranks(values: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return P(V < v) + P(V = v) / 2 for each v."""
    _, place = np.unique(np.round(values, DECIMALS), return_inverse=True)
    mass = np.bincount(place, weights=probabilities)
    return np.asarray((np.cumsum(mass) - mass / 2)[place], dtype=np.float64)
