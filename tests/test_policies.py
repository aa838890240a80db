"""Random policies: exact reward distributions against enumeration through the scorer, samples and hand arithmetic."""

import itertools
import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from toolrl_core.calls import ToolCall
from toolrl_core.rewards import score
from toolrl_core.simulate.decisions import decision_correlation, decision_zero_advantage
from toolrl_core.simulate.policies import POLICY_SPACES, PolicySettings, call_outcomes, policy_space, prompts
from toolrl_core.simulate.policy_rewards import (
    RewardDistribution,
    granularity_tiers,
    joint_distribution,
    prompt_distributions,
    rank_correlation,
    reward_distribution,
    zero_advantage_probability,
    zero_reward_rate,
)
from toolrl_core.simulate.policy_samples import sample_calls
from toolrl_core.spec import RewardSpec

PAPER = RewardSpec.preset("paper")
TIERS = granularity_tiers(PAPER)
SPECS = {
    **TIERS,
    **{f"{name}, exact names": tier for name, tier in granularity_tiers(PAPER, name_credit=None).items()},
    "robust": RewardSpec.preset("robust"),
    "gated multiset": PAPER.replace(same_name=True, names="multiset"),
    "counted, whole calls": PAPER.replace(granularity="call", credit="exact", extra_calls="counted"),
    "whole objects": PAPER.replace(granularity="call", credit="exact", call_equality="object"),
}
SMALL = {
    "distinct": PolicySettings(calls=(1, 2), parameters=(0, 2), name_right=0.75, wrong_value=0.5),
    "repeated": PolicySettings(calls=(1, 2), parameters=(0, 2), name_right=0.75, wrong_value=0.5, tools="repeated"),
    "every part": PolicySettings(calls=(1, 2), parameters=(1, 2), name_right=None, wrong_value=None),
    "hard and easy": PolicySettings(calls=2, parameters=1, name_right=None, wrong_value=0.5, difficulty="mixed"),
}


def enumerate_answers(ability, policy):
    """Yield weight, ground truth, answer and number of right parts for each possible answer, built call by call."""
    levels = [(1.0, ability)] if policy.difficulty == "equal" else [(0.5, ability**2), (0.5, 1 - (1 - ability) ** 2)]
    for (share, p), (n, n_chance) in itertools.product(levels, policy.calls):
        for sizes in itertools.product(policy.parameters, repeat=n):
            weight = share * n_chance * math.prod(chance for _, chance in sizes)
            options = [list(one_call(p, policy, index, size)) for index, (size, _) in enumerate(sizes)]
            for chosen in itertools.product(*options):
                chances, truth, answer, right = zip(*chosen, strict=True)
                yield weight * math.prod(chances), list(truth), list(answer), sum(right)


def one_call(p, policy, index, size):
    if policy.wrong_value is None:
        chances = {"right": p * p, "value": p * (1 - p), "key": 1 - p}
    else:
        chances = {
            "right": p,
            "value": (1 - p) * policy.wrong_value,
            "key": (1 - p) * (1 - policy.wrong_value),
        }
    name_chance = p if policy.name_right is None else policy.name_right
    name = "same" if policy.tools == "repeated" else f"tool{index}"
    truth = ToolCall(name, {f"k{index}{j}": j for j in range(size)})
    for name_right in (True, False):
        for outcome in itertools.product(chances, repeat=size):
            arguments = {
                (f"k{index}{j}" if what != "key" else f"other{index}{j}"): (j if what == "right" else -1)
                for j, what in enumerate(outcome)
            }
            answer = ToolCall(name if name_right else f"new{index}", arguments)
            parts = {"right": 2, "value": 1, "key": 0}
            weight = (name_chance if name_right else 1 - name_chance) * math.prod(chances[what] for what in outcome)
            yield weight, truth, answer, name_right + sum(parts[what] for what in outcome)


def enumerated_joint(ability, policy, spec, *, matched):
    joint = defaultdict(float)
    for weight, truth, answer, right in enumerate_answers(ability, policy):
        result = score(answer, truth, spec)
        joint[round(float(result.matched if matched else result.correctness), 9), right] += weight
    return joint


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("policy", SMALL)
def test_the_exact_distribution_is_the_one_found_by_scoring_every_possible_answer(policy, spec):
    expected = defaultdict(float)
    for (value, _), weight in enumerated_joint(0.4, SMALL[policy], SPECS[spec], matched=False).items():
        expected[value] += weight
    found = reward_distribution(0.4, SMALL[policy], SPECS[spec])
    assert found.values == pytest.approx(sorted(expected), abs=1e-8)
    assert found.probabilities == pytest.approx([expected[value] for value in sorted(expected)], abs=1e-12)
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("tier", TIERS)
def test_the_joint_distribution_counts_names_keys_and_values(tier, normalised):
    expected = enumerated_joint(0.4, SMALL["every part"], TIERS[tier], matched=not normalised)
    joint = joint_distribution(0.4, SMALL["every part"], TIERS[tier], normalised=normalised)
    found = defaultdict(float)
    for reward, right, weight in zip(joint.rewards, joint.right, joint.probabilities, strict=True):
        found[round(float(reward), 9), int(right)] += float(weight)
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_four_zero_rates_follow_from_what_one_call_can_earn():
    key, value, whole = 0.3 + 0.2 * 0.7, 0.3, 0.3**3
    nothing = {
        "original": 0.5 * (1 - key) ** 3,  # wrong name, no right key
        "finegrained": 0.5 * ((1 - value) ** 3 - (key - value) ** 3),  # no right value, not all keys right
        "intermediate": 0.5 * (1 - whole),
    }
    expected = {tier: sum(zero**n for n in range(1, 6)) / 5 for tier, zero in nothing.items()}
    expected["coarse"] = 1 - sum((0.5 * whole) ** n for n in range(1, 6)) / 5
    found = {tier: zero_reward_rate(0.3, POLICY_SPACES["note"], TIERS[tier]) for tier in expected}
    assert found == pytest.approx(expected, abs=1e-12)
    printed = {tier: round(100 * rate, 4) for tier, rate in found.items()}
    assert printed == {"original": 1.9252, "finegrained": 4.0995, "intermediate": 18.432, "coarse": 99.7263}


@settings(max_examples=40, deadline=None)
@given(
    ability=st.floats(0, 1),
    name_right=st.floats(0, 1),
    wrong_value=st.none() | st.floats(0, 1),
    calls=st.integers(1, 3),
    parameters=st.integers(0, 3),
    tools=st.sampled_from(["distinct", "repeated"]),
    names=st.sampled_from(["partial", "exact"]),
)
def test_the_zero_rate_never_falls_from_tier_to_tier(ability, name_right, wrong_value, calls, parameters, tools, names):
    policy = PolicySettings(
        calls=calls, parameters=parameters, name_right=name_right, wrong_value=wrong_value, tools=tools
    )
    tiers = granularity_tiers(PAPER, name_credit=names)
    rates = [zero_reward_rate(ability, policy, tiers[t]) for t in ("original", "finegrained", "intermediate", "coarse")]
    assert all(finer <= coarser + 1e-12 for finer, coarser in itertools.pairwise(rates))


def test_the_coarse_reward_outranks_the_intermediate_only_while_sizes_are_not_normalised():
    policy = policy_space("every_part")
    raw = {
        tier: rank_correlation(joint_distribution(0.9, policy, TIERS[tier], share=True, normalised=False))
        for tier in ("intermediate", "coarse")
    }
    assert {tier: round(value, 3) for tier, value in raw.items()} == {"intermediate": 0.596, "coarse": 0.872}
    scaled = {
        tier: rank_correlation(joint_distribution(0.9, policy, TIERS[tier], share=True))
        for tier in ("intermediate", "coarse")
    }
    assert scaled["coarse"] == raw["coarse"]
    assert scaled["intermediate"] > scaled["coarse"]


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("normalised", [True, False])
def test_the_rank_correlation_is_spearmans_on_a_population_with_exactly_these_frequencies(tier, normalised):
    policy = PolicySettings(calls=(1, 2), parameters=1, name_right=0.5, wrong_value=0.5)
    rewards, rights = [], []
    for (reward, right), weight in enumerated_joint(0.5, policy, TIERS[tier], matched=not normalised).items():
        copies = weight * 2**7  # every probability is a multiple of 2^-7
        assert copies == int(copies)
        rewards += [reward] * int(copies)
        rights += [right] * int(copies)
    joint = joint_distribution(0.5, policy, TIERS[tier], normalised=normalised)
    assert rank_correlation(joint) == pytest.approx(spearmanr(rewards, rights).statistic, abs=1e-12)


@pytest.mark.parametrize("tier", TIERS)
def test_normalisation_cannot_change_ranks_when_all_answers_have_one_size(tier):
    joints = [
        joint_distribution(0.6, policy_space("one_size"), TIERS[tier], normalised=flag, share=share)
        for flag in (True, False)
        for share in (True, False)
    ]
    ranks = [rank_correlation(joint) for joint in joints]
    assert ranks == pytest.approx([ranks[0]] * 4, abs=1e-12)


def test_a_rank_correlation_without_variation_is_not_a_number():
    joint = joint_distribution(1.0, PolicySettings(calls=1, name_right=1.0), TIERS["original"])
    assert math.isnan(rank_correlation(joint))


def test_a_group_has_no_advantage_when_all_its_rollouts_agree_on_one_prompt():
    # One call, one parameter, name and parameter right w.p. 1/2, misses keep the key: credit 1, 2, 2, 3 of 3.
    policy = PolicySettings(calls=1, parameters=1, wrong_value=1.0)
    assert reward_distribution(0.5, policy, TIERS["original"], normalised=False).values == pytest.approx([1, 2, 3])
    found = zero_advantage_probability(0.5, policy, TIERS["original"], group_size=3)
    assert found == pytest.approx((1 + 8 + 1) / 64)
    coarse = [zero_advantage_probability(0.5, policy, TIERS["coarse"], group_size=3, floor_only=f) for f in (0, 1)]
    assert coarse == pytest.approx([(27 + 1) / 64, 27 / 64])


def test_groups_share_a_prompt_so_the_mixed_distribution_would_give_too_small_a_chance():
    policy = PolicySettings(calls=(1, 2), parameters=0, name_right=1.0)
    spec = PAPER.replace(granularity="parameter")
    mixed = reward_distribution(0.5, policy, spec, normalised=False)
    assert mixed.values == pytest.approx([2, 3])  # an answer to each prompt is always complete
    assert mixed.zero_advantage_probability(2) == pytest.approx(0.5)
    assert zero_advantage_probability(0.5, policy, spec, group_size=2) == pytest.approx(1.0)


@settings(max_examples=25, deadline=None)
@given(ability=st.floats(0, 1), space=st.sampled_from(["note", "every_part", "hard_and_easy"]))
def test_prompts_and_outcomes_have_total_probability_one_and_the_given_mean_ability(ability, space):
    listed = prompts(ability, POLICY_SPACES[space])
    assert math.fsum(prompt.weight for prompt in listed) == pytest.approx(1, abs=1e-12)
    assert math.fsum(prompt.weight * prompt.ability for prompt in listed) == pytest.approx(ability, abs=1e-12)
    outcomes = call_outcomes(ability, POLICY_SPACES[space], 3)
    assert math.fsum(outcomes.probabilities) == pytest.approx(1, abs=1e-12)
    assert all(outcomes.values_right <= outcomes.keys_right)


@pytest.mark.parametrize("space", POLICY_SPACES)
def test_drawn_answers_are_scored_as_often_zero_as_computed(space):
    rng, policy, answers = np.random.default_rng(11), POLICY_SPACES[space], 1500
    drawn = sample_calls(rng, 0.3, policy, answers=answers)
    for tier in ("finegrained", "intermediate"):
        share = np.mean([score(answer, truth, TIERS[tier]).matched == 0 for truth, answer in drawn])
        exact = zero_reward_rate(0.3, policy, TIERS[tier])
        assert abs(share - exact) < 4 * math.sqrt(exact * (1 - exact) / answers) + 1e-12
    rewards = [score(answer, truth, TIERS["original"]).correctness for truth, answer in drawn]
    exact = reward_distribution(0.3, policy, TIERS["original"])
    assert abs(np.mean(rewards) - exact.mean) < 4 * math.sqrt(exact.variance / answers)


def test_the_same_seed_draws_the_same_answers():
    first, second = (sample_calls(np.random.default_rng(3), 0.6, PolicySettings(), answers=20) for _ in range(2))
    assert first == second
    assert sample_calls(np.random.default_rng(4), 0.6, PolicySettings(), answers=20) != first


def test_mean_and_variance_are_those_of_the_distribution():
    distribution = RewardDistribution(np.array([-3.0, 0.0, 3.0]), np.array([0.25, 0.5, 0.25]))
    assert (distribution.mean, distribution.variance) == (0.0, 4.5)


def test_prompt_distributions_keep_the_prompts_apart():
    listed = prompt_distributions(0.5, PolicySettings(calls=(1, 2), parameters=0, name_right=0.5), TIERS["original"])
    assert [prompt.parameters for prompt, _ in listed] == [(0,), (0, 0)]
    assert listed[0][1].values == pytest.approx([0, 3])  # name 0 or 1, pair 1, of 2
    assert listed[1][1].values == pytest.approx([1, 5 / 3, 3])  # name 0, 1/3 or 1, pairs 2, of 3
    assert listed[1][1].probabilities == pytest.approx([0.25, 0.5, 0.25])


def test_settings_can_be_changed_one_field_at_a_time():
    changed = replace(policy_space("note"), calls=2)
    assert (changed.call_counts, changed.parameter_counts) == (((2, 1.0),), ((3, 1.0),))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"calls": 0}, "calls: 0 is not a whole number of at least 1"),
        ({"calls": ()}, "calls: no number given"),
        ({"parameters": {1: 0.5, 2: 0.4}}, "parameters: the probabilities sum to 0.9"),
        ({"parameters": {1: 1.5}}, "parameters: 1.5 is not a probability"),
        ({"name_right": -0.1}, "name_right: -0.1 is not a probability"),
        ({"wrong_value": 2}, "wrong_value: 2 is not a probability"),
        ({"tools": "many"}, "tools: unknown 'many'; valid: distinct, repeated"),
        ({"difficulty": "hard"}, "difficulty: unknown 'hard'; valid: equal, mixed"),
    ],
)
def test_a_wrong_setting_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        PolicySettings(**options)


def test_wrong_arguments_are_named():
    policy = PolicySettings()
    with pytest.raises(ValueError, match="unknown policy space 'x'; valid spaces: note, every_part"):
        policy_space("x")
    with pytest.raises(ValueError, match=r"ability: 1\.2 is not a probability"):
        zero_reward_rate(1.2, policy, PAPER)
    with pytest.raises(ValueError, match="parts"):
        joint_distribution(0.3, policy, PAPER, parts=("name",))
    with pytest.raises(ValueError, match="parts"):
        joint_distribution(0.3, policy, PAPER, parts=())
    with pytest.raises(ValueError, match="group_size: 0"):
        zero_advantage_probability(0.3, policy, PAPER, group_size=0)
    with pytest.raises(ValueError, match="answers: -1"):
        sample_calls(np.random.default_rng(0), 0.3, policy, answers=-1)
    with pytest.raises(ValueError, match="parameters: -1"):
        call_outcomes(0.3, policy, -1)


@pytest.mark.parametrize("credit", ["partial", "exact"])
def test_the_correlation_with_one_decision_is_that_of_the_enumerated_answers(credit):
    k, p = 4, 0.6
    reward, first, weight = [], [], []
    for answer in itertools.product((0, 1), repeat=k):
        reward.append(sum(answer) if credit == "partial" else min(answer))
        first.append(answer[0])
        weight.append(p ** sum(answer) * (1 - p) ** (k - sum(answer)))
    covariance = np.cov(reward, first, aweights=weight, ddof=0)
    expected = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    assert decision_correlation(k, p, credit=credit) == pytest.approx(expected, abs=1e-12)


def test_a_strong_policy_learns_alike_from_both_credits_and_a_weak_one_does_not():
    ratio = [decision_correlation(8, p, credit="exact") / decision_correlation(8, p) for p in (0.3, 0.95, 1 - 1e-9)]
    assert ratio == pytest.approx([0.034997, 0.911001, 1.0], abs=1e-6)
    assert decision_correlation(1, 0.3, credit="exact") == decision_correlation(1, 0.3) == 1.0


def test_a_group_of_answers_agrees_as_often_as_counted_by_hand():
    # Two fair decisions, two answers: partial 1/16 + 1/4 + 1/16, exact 9/16 + 1/16.
    assert decision_zero_advantage(2, 0.5, group_size=2) == pytest.approx(6 / 16)
    assert decision_zero_advantage(2, 0.5, group_size=2, credit="exact") == pytest.approx(10 / 16)


def test_wrong_arguments_of_the_decision_model_are_named():
    with pytest.raises(ValueError, match="decisions: 0"):
        decision_correlation(0, 0.5)
    with pytest.raises(ValueError, match="ability: 1"):
        decision_correlation(2, 1)
    with pytest.raises(ValueError, match="credit: unknown 'full'; valid: partial, exact"):
        decision_correlation(2, 0.5, credit="full")
    with pytest.raises(ValueError, match="group_size: 0"):
        decision_zero_advantage(2, 0.5, group_size=0)
    with pytest.raises(ValueError, match="ability: -1"):
        decision_zero_advantage(2, -1, group_size=2)
