"""Smallest models of scale, Adam's memory, refusal, granularity, length and the veto, against brute force and hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core.advantages import group_advantages
from toolrl_core.simulate.adam_memory import adam_step_after_switch, simulate_adam_switch, updates_until_settled
from toolrl_core.simulate.decisions import decision_correlation
from toolrl_core.simulate.group_compositions import (
    composition_advantages,
    composition_chances,
    group_compositions,
)
from toolrl_core.simulate.long_thoughts import (
    break_even_cut,
    length_harm,
    long_thought_drift,
    settled_long_share,
)
from toolrl_core.simulate.small_models import (
    decision_credit,
    expected_exact_answers,
    refusal_push,
    two_bit_credit,
)
from toolrl_core.simulate.training import GrpoSettings
from toolrl_core.simulate.void_bandit import (
    VOID_TREATMENTS,
    VoidBandit,
    bandit_success,
    expected_drift,
    settled_share,
    value_lost,
)
from toolrl_core.simulate.void_bandit_training import follow_drift, train_bandit

CHANCES = st.floats(0.05, 0.95)


def expectation(chances, rewards, weights, group_size, *, eta=0.0, valid=None):
    """Average (1/G) times the sum of weight times advantage over all ordered groups, one after the other."""
    kinds, total = range(len(chances)), 0.0
    for drawn in itertools.product(kinds, repeat=group_size):
        members = list(drawn)
        chance = math.prod(chances[kind] for kind in members)
        counted = None if valid is None else np.array([valid[kind] for kind in members])
        points = [float(rewards[kind]) for kind in members]
        advantages = group_advantages(points, [0] * group_size, eta=eta, valid=counted)
        total += chance * sum(weights[k] * a for k, a in zip(members, advantages, strict=True)) / group_size
    return total


# Compositions ------------------------------------------------------------------------------------------------------


def test_a_group_of_three_answers_of_three_kinds_has_ten_compositions():
    listed = group_compositions(3, 3)
    assert len({tuple(row) for row in listed.tolist()}) == len(listed) == 10
    assert (listed.sum(axis=1) == 3).all()
    assert group_compositions(5, 1).tolist() == [[5]]


def test_the_chance_of_one_of_each_kind_is_six_orders_of_one_product():
    listed = group_compositions(3, 3)
    chances = composition_chances(listed, [0.2, 0.3, 0.5])
    assert chances[(listed == 1).all(axis=1)] == pytest.approx(6 * 0.2 * 0.3 * 0.5)
    assert chances.sum() == pytest.approx(1)
    assert composition_chances(listed, [[1, 0, 0], [0, 0, 1]]).sum(axis=1).tolist() == [1, 1]


def test_kinds_with_equal_rewards_make_a_silent_group():
    advantages, silent = composition_advantages(np.array([[1, 1, 0], [1, 0, 1]]), [2, 2, 5], eta=0)
    assert silent.tolist() == [True, False]
    assert advantages.tolist() == [[0, 0, 0], [-1, -1, 1]]


def test_compositions_refuse_what_makes_no_group():
    with pytest.raises(ValueError, match="at least 1"):
        group_compositions(0, 2)
    with pytest.raises(ValueError, match="compositions, more than"):
        group_compositions(200, 5)
    with pytest.raises(ValueError, match="add up to 1"):
        composition_chances(group_compositions(2, 2), [0.5, 0.6])
    with pytest.raises(ValueError, match="2 finite numbers"):
        composition_advantages(group_compositions(2, 2), [1, 2, 3])
    with pytest.raises(ValueError, match="eta"):
        composition_advantages(group_compositions(2, 2), [1, 2], eta=-1)


# Two bits ----------------------------------------------------------------------------------------------------------


def test_in_pairs_only_the_order_of_the_four_rewards_counts():
    # Ranks 1 to 4 have the expected advantages -3/4, -1/4, 1/4, 3/4. Content right: ranks 3 and 4, so cov = 1/4.
    # Format right: ranks 2 and 4, so cov = 1/8. Squares over the variance 1/4; four of sixteen pairs are equal.
    for b in (1.1, 6, 600):
        credit = two_bit_credit(1, b, format_rate=0.5, content_rate=0.5, group_size=2, eta=0)
        assert (credit.format_credit, credit.content_credit) == pytest.approx((1 / 16, 1 / 4))
        assert credit.silent == pytest.approx(1 / 4)
        assert credit.unheard == pytest.approx(11 / 16)


def test_equal_points_make_pairs_of_one_right_bit_each_silent_too():
    credit = two_bit_credit(2, 2, format_rate=0.5, content_rate=0.5, group_size=2, eta=0)
    assert credit.silent == pytest.approx((1 + 4 + 1) / 16)
    # One right bit: expected advantage 0. Both: 3/4. So cov = 3/16 for each bit.
    assert credit.format_credit == pytest.approx((3 / 16) ** 2 * 4) == pytest.approx(credit.content_credit)


def test_two_bits_agree_with_all_ordered_groups():
    f, c, a, b, eta = 0.7, 0.2, 1.0, 2.5, 1e-3
    chances, rewards = [(1 - f) * (1 - c), (1 - f) * c, f * (1 - c), f * c], [0, b, a, a + b]
    form = expectation(chances, rewards, [0, 0, 1, 1], 4, eta=eta)
    content = expectation(chances, rewards, [0, 1, 0, 1], 4, eta=eta)
    credit = two_bit_credit(a, b, format_rate=f, content_rate=c, group_size=4, eta=eta)
    assert credit.format_credit == pytest.approx(form**2 / (f * (1 - f)))
    assert credit.content_credit == pytest.approx(content**2 / (c * (1 - c)))
    assert credit.silent == pytest.approx(sum(p**4 for p in chances))


def test_credits_add_up_to_one_in_large_groups_and_to_less_in_small_ones():
    rates = {"format_rate": 0.3, "content_rate": 0.6}
    sums = [1 - two_bit_credit(1, 2, group_size=size, **rates).unheard for size in (2, 4, 8, 16, 60)]
    assert sums == sorted(sums)
    assert sums[0] < 0.4 < 0.97 < sums[-1] < 1
    large = two_bit_credit(1, 2, group_size=60, **rates)
    # 0.21 of variance from the format, 4 * 0.24 from the content
    assert large.large_group_format == pytest.approx(0.21 / 1.17)
    assert large.format_credit == pytest.approx(0.21 / 1.17, abs=0.01)


@given(f=CHANCES, c=CHANCES, ratio=st.floats(0.1, 10), factor=st.floats(0.01, 100), size=st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_only_the_ratio_of_the_points_counts(f, c, ratio, factor, size):
    rest = {"format_rate": f, "content_rate": c, "group_size": size, "eta": 0.0}
    once, scaled = two_bit_credit(1, ratio, **rest), two_bit_credit(factor, factor * ratio, **rest)
    assert once.format_credit == pytest.approx(scaled.format_credit, abs=1e-9)
    assert once.content_credit == pytest.approx(scaled.content_credit, abs=1e-9)
    assert once.format_credit + once.content_credit <= 1 - once.silent + 1e-9


def test_a_bit_that_never_varies_has_no_credit():
    credit = two_bit_credit(1, 3, format_rate=1, content_rate=0.5, group_size=4)
    assert credit.format_credit == 0
    assert credit.silent == pytest.approx(2 / 16)
    assert math.isnan(two_bit_credit(1, 3, format_rate=1, content_rate=0, group_size=2).large_group_format)
    with pytest.raises(ValueError, match="content_points"):
        two_bit_credit(1, -3, format_rate=0.5, content_rate=0.5, group_size=4)


# Refusal -----------------------------------------------------------------------------------------------------------


def test_a_refusal_that_is_not_paid_is_not_learned_whatever_the_format_is_worth():
    for width in (0, 0.5, 1, 100):
        assert refusal_push(0, refusal_rate=0.3, group_size=4, format_points=width, format_rate=0.6) == 0


def test_alone_any_pay_teaches_the_same():
    # Standard deviations of 1, 2, 3 refusals in four: sqrt(3)/4, 1/2, sqrt(3)/4; over the variance 1/4.
    expected = (2 * math.sqrt(3) + 3) / 4
    for paid in (1e-3, 2, 6):
        assert refusal_push(paid, refusal_rate=0.5, group_size=4, eta=0) == pytest.approx(expected)
        assert refusal_push(-paid, refusal_rate=0.5, group_size=4, eta=0) == pytest.approx(-expected)


def test_in_pairs_less_pay_than_format_counts_where_both_formats_agree():
    pair = {"refusal_rate": 0.3, "group_size": 2, "format_points": 1, "format_rate": 0.9, "eta": 0}
    assert refusal_push(6, **pair) == pytest.approx(1)
    assert refusal_push(1, **pair) == pytest.approx(0.81 + 0.01 + 0.09)
    for paid in (0.5, 1e-9):
        assert refusal_push(paid, **pair) == pytest.approx(0.81 + 0.01)


def test_pay_far_below_eta_is_not_heard():
    # One pair in which both advantages are d / 2 over d / 2 + eta
    assert refusal_push(1e-4, refusal_rate=0.5, group_size=2, eta=1e-2) == pytest.approx(5e-5 / (5e-5 + 1e-2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"paid": math.inf}, "paid"),
        ({"refusal_rate": 1}, "refusal_rate"),
        ({"format_points": -1}, "format_points"),
        ({"format_rate": 1.5}, "format_rate"),
    ],
)
def test_refusal_names_the_field_that_is_out_of_range(change, message):
    valid = {"paid": 1, "refusal_rate": 0.5, "group_size": 4}
    with pytest.raises(ValueError, match=message):
        refusal_push(**(valid | change))


# Decisions ---------------------------------------------------------------------------------------------------------


def test_two_even_decisions_in_pairs_come_out_as_by_hand():
    # Partial: E|r - r'| = 3/4, so E[s] = 3/8, over sqrt(1/2), times 1 / sqrt(2). Exact: E[s] = 3/16, over sqrt(3/16),
    # times sqrt(1/3).
    assert decision_credit(2, 0.5, group_size=2) == pytest.approx(3 / 8)
    assert decision_credit(2, 0.5, group_size=2, credit="exact") == pytest.approx(1 / 4)


@pytest.mark.parametrize("credit", ["partial", "exact"])
def test_decision_credit_agrees_with_all_ordered_groups(credit):
    p = 0.3
    answers = list(itertools.product((0, 1), repeat=3))
    chances = [math.prod(p if bit else 1 - p for bit in answer) for answer in answers]
    rewards = [sum(answer) if credit == "partial" else min(answer) for answer in answers]
    covariance = expectation(chances, rewards, [answer[0] for answer in answers], 3)
    assert decision_credit(3, p, group_size=3, credit=credit) == pytest.approx(covariance / math.sqrt(p * (1 - p)))


@pytest.mark.parametrize("credit", ["partial", "exact"])
def test_decision_credit_grows_with_the_group_to_the_correlation(credit):
    values = [decision_credit(4, 0.6, group_size=size, credit=credit) for size in (1, 2, 4, 16, 100)]
    assert values[0] == 0
    assert values == sorted(values)
    assert values[-1] == pytest.approx(decision_correlation(4, 0.6, credit=credit), rel=0.03)


def test_rare_hits_leave_a_power_of_k_minus_a_half():
    for size in (2, 4, 8):
        credit = decision_credit(6, 1e-3, group_size=size, credit="exact")
        assert credit == pytest.approx(math.sqrt(size - 1) * 1e-3**5.5, rel=1e-2)


def test_expected_exact_answers_multiplies_the_chances():
    assert expected_exact_answers(64, [1, 2, 6], 0.5) == pytest.approx([32, 16, 1])
    with pytest.raises(ValueError, match="ability"):
        expected_exact_answers(1, 1, 1.1)
    with pytest.raises(ValueError, match="negative"):
        expected_exact_answers(-1, 1, 0.5)
    with pytest.raises(ValueError, match="group_size"):
        decision_credit(2, 0.5, group_size=0)


# Adam --------------------------------------------------------------------------------------------------------------


def test_one_update_of_four_and_one_of_one_leave_a_second_moment_of_six():
    # 16 / 4 + 1 / 2, over the correction 3/4
    step = adam_step_after_switch(4, 1, updates_before=1, updates_after=1, beta2=0.5, learning_rate=3)
    assert step == pytest.approx(3 / math.sqrt(6))
    # one update later 16 / 8 + 3 / 4, over 7/8: more than half of the settled step
    assert updates_until_settled(4, updates_before=1, beta2=0.5).tolist() == 2


@pytest.mark.parametrize("cleared", [False, True])
@pytest.mark.parametrize(("before", "after"), [(4.0, 1.0), (1.0, -3.0), (0.0, 2.0)])
def test_the_closed_form_is_what_the_optimiser_does(before, after, cleared):
    constants = GrpoSettings(learning_rate=0.02, beta1=0.9, beta2=0.99)
    steps = simulate_adam_switch(
        before,
        after,
        updates_before=30,
        updates_after=50,
        generator=np.random.default_rng(0),
        settings=constants,
        cleared=cleared,
    )
    expected = adam_step_after_switch(
        before,
        after,
        updates_before=30,
        updates_after=np.arange(1, 51),
        learning_rate=0.02,
        beta1=0.9,
        beta2=0.99,
        cleared=cleared,
    )
    assert steps[30:, 0] == pytest.approx(expected, rel=1e-6)


def test_with_cleared_moments_every_step_has_its_settled_size():
    steps = adam_step_after_switch(9, 2, updates_before=50, updates_after=[1, 2, 50], beta1=0.9, cleared=True)
    assert steps == pytest.approx([1, 1, 1])
    assert updates_until_settled([2, 9, 100], updates_before=50, cleared=True).tolist() == [1, 1, 1]


@given(ratio=st.floats(0, 20), before=st.integers(0, 300), beta2=st.sampled_from([0, 0.5, 0.9, 0.999]), share=CHANCES)
def test_the_wait_ends_at_the_first_step_that_is_large_enough(ratio, before, beta2, share):
    wait = int(updates_until_settled(ratio, updates_before=before, beta2=beta2, share=share))
    steps = adam_step_after_switch(ratio, 1, updates_before=before, updates_after=[wait, max(wait - 1, 1)], beta2=beta2)
    assert steps[0] >= share - 1e-9
    assert wait == 1 or steps[1] < share + 1e-9


def test_a_short_run_waits_in_proportion_to_what_came_before():
    # a plain mean of squares: (16 s + n) / (s + n) = 4 at n = 4 s
    assert updates_until_settled(4, updates_before=[10, 60, 120], beta2=1 - 1e-9).tolist() == [40, 240, 480]


def test_a_long_run_waits_for_the_memory_alone():
    # 16 - 15 (1 - x) = 4 at x = 1/5
    assert updates_until_settled(4, updates_before=10**6).tolist() == math.ceil(math.log(5) / -math.log(0.999))


def test_a_gradient_that_was_silent_starts_with_steps_that_are_too_large():
    first = adam_step_after_switch(0, 1, updates_before=99, updates_after=1, beta2=1 - 1e-9)
    assert first == pytest.approx(10, rel=1e-4)
    assert adam_step_after_switch(0, 0, updates_before=3, updates_after=2) == 0


def test_noise_counts_like_size_in_the_second_moment():
    constants = GrpoSettings(learning_rate=1.0, beta1=0.0)
    steps = simulate_adam_switch(
        0.5,
        0.5,
        updates_before=200,
        updates_after=100,
        noise=2,
        parameters=4000,
        generator=np.random.default_rng(3),
        settings=constants,
    )
    expected = adam_step_after_switch(
        0.5, 0.5, updates_before=200, updates_after=100, noise_before=2, noise_after=2, beta1=0
    )
    assert expected == pytest.approx(0.5 / math.sqrt(4.25))
    assert steps[200:].mean() == pytest.approx(expected, abs=0.02)


def test_adam_names_what_is_out_of_range():
    with pytest.raises(ValueError, match="beta2"):
        updates_until_settled(2, updates_before=1, beta2=1)
    with pytest.raises(ValueError, match="share"):
        updates_until_settled(2, updates_before=1, share=1)
    with pytest.raises(ValueError, match="ratio"):
        updates_until_settled(-2, updates_before=1)
    with pytest.raises(ValueError, match="updates_before"):
        adam_step_after_switch(1, 1, updates_before=-1, updates_after=1)
    with pytest.raises(ValueError, match="noise"):
        adam_step_after_switch(1, 1, updates_before=1, updates_after=1, noise_after=-1)
    with pytest.raises(ValueError, match="parameters"):
        simulate_adam_switch(1, 1, updates_before=1, updates_after=1, parameters=0, generator=np.random.default_rng(0))


# Length ------------------------------------------------------------------------------------------------------------


def test_a_long_thought_pays_up_to_bonus_over_cost():
    assert break_even_cut(1, [6, 7, 2]) == pytest.approx([1 / 6, 1 / 7, 1 / 2])
    assert break_even_cut(1, 6, right=0.5) == pytest.approx(1 / 3)


def test_harm_is_largest_in_the_middle_and_bounded_by_bonus_over_cost():
    limits = np.linspace(0, 1, 1001)
    harm = length_harm(limits, cut_when_met=0.5, bonus=1, cost=4)
    assert harm.max() == pytest.approx(0.25, abs=1e-3)
    assert limits[harm.argmax()] == pytest.approx(0.5, abs=2e-3)
    assert harm[0] == harm[-1] == 0


def test_in_pairs_long_thoughts_win_up_to_one_cut_in_two_whatever_they_earn():
    # a pair of one long and one short: the long one wins with 1 - c, loses with c
    for bonus, cost in ((1, 6), (0.01, 6), (1, 1.5)):
        for share, cut in ((0.5, 0.25), (0.2, 0.7)):
            drift = long_thought_drift(share, cut, bonus=bonus, cost=cost, group_size=2, eta=0)
            assert drift == pytest.approx(share * (1 - share) * (1 - 2 * cut))


def test_the_drift_of_long_thoughts_agrees_with_all_ordered_groups():
    m, cut, right = 0.3, 0.25, 0.8
    whole = right * (1 - cut)
    chances = [(1 - m) * (1 - right), (1 - m) * right, m * (1 - whole), m * whole]
    found = expectation(chances, [0, 6, 1, 7], [-m, -m, 1 - m, 1 - m], 4, eta=1e-2)
    drift = long_thought_drift([m, m], cut, bonus=1, cost=6, group_size=4, right=right, eta=1e-2)
    assert drift == pytest.approx([found, found])


def test_large_groups_prefer_what_earns_more():
    for cut, sign in ((0.1, 1), (0.3, -1)):
        drift = long_thought_drift([0.3, 0.7], cut, bonus=1, cost=6, group_size=60)
        assert np.sign(drift).tolist() == [sign, sign]


@pytest.mark.parametrize("size", [3, 8, 16])
def test_the_first_long_thoughts_spread_while_fewer_than_half_are_cut(size):
    for cut, sign in ((0.49, 1), (0.51, -1)):
        assert np.sign(long_thought_drift(1e-6, cut, bonus=1, cost=6, group_size=size, eta=0)) == sign


def test_the_settled_share_is_where_the_drift_vanishes():
    settled = settled_long_share(0.4, bonus=1, cost=6, group_size=4)
    assert 0.6 < settled < 0.7
    around = long_thought_drift([settled - 0.01, settled + 0.01], 0.4, bonus=1, cost=6, group_size=4, eta=0)
    assert around[0] > 0 > around[1]
    for start in (0.05, 0.95):
        assert settled_long_share(0.4, bonus=1, cost=6, group_size=4, start=start) == pytest.approx(settled, abs=1e-9)


def test_the_settled_share_is_all_none_or_where_it_started():
    assert settled_long_share(0.1, bonus=1, cost=6) == 1
    assert settled_long_share(0.2, bonus=1, cost=6) == 0
    assert settled_long_share(0.25, bonus=1, cost=4, start=0.3) == 0.3
    assert settled_long_share(0.5, bonus=1, cost=6, group_size=2, start=0.3) == 0.3
    assert settled_long_share(0.6, bonus=1, cost=6, group_size=8) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cut": 1.5}, "cut"),
        ({"bonus": -1}, "bonus"),
        ({"cost": 0}, "cost"),
        ({"right": 0}, "right"),
        ({"start": 1}, "start"),
    ],
)
def test_length_names_the_field_that_is_out_of_range(change, message):
    with pytest.raises(ValueError, match=message):
        settled_long_share(**({"cut": 0.2, "bonus": 1, "cost": 6} | change))
    with pytest.raises(ValueError, match="limit_share"):
        length_harm(2, cut_when_met=0.5, bonus=1, cost=6)
    with pytest.raises(ValueError, match="long_share"):
        long_thought_drift(2, 0.5, bonus=1, cost=6, group_size=2)


# Veto --------------------------------------------------------------------------------------------------------------

HARD = VoidBandit(single=0.8, multi=0.9, void=0.5)


@pytest.mark.parametrize("bandit", [HARD, VoidBandit(single=0.2, multi=0.7, void=0.4)])
@pytest.mark.parametrize("treatment", VOID_TREATMENTS)
def test_the_drift_agrees_with_all_ordered_groups(bandit, treatment):
    m, v = 0.3, bandit.void
    chances = [
        (1 - m) * bandit.single,
        (1 - m) * (1 - bandit.single),
        m * (1 - v) * bandit.multi,
        m * (1 - v) * (1 - bandit.multi),
        m * v,
    ]
    weights = [-m, -m, 1 - m, 1 - m, 1 - m if treatment == "plain" else 0]
    valid = [True] * 4 + [False] if treatment == "filter" else None
    found = expectation(chances, [1, 0, 1, 0, 0], weights, 4, valid=valid)
    assert expected_drift(bandit, m, treatment=treatment, group_size=4) == pytest.approx(found)


@pytest.mark.parametrize("treatment", VOID_TREATMENTS)
def test_the_drift_in_large_groups_is_the_limit(treatment):
    shares = np.array([0.1, 0.5, 0.9])
    large = expected_drift(HARD, shares, treatment=treatment, group_size=400)
    assert large == pytest.approx(expected_drift(HARD, shares, treatment=treatment), rel=0.02)


@given(p1=CHANCES, p2=CHANCES, v=CHANCES, m=CHANCES, size=st.integers(2, 9))
def test_the_sign_of_the_drift_does_not_depend_on_the_group(p1, p2, v, m, size):
    bandit = VoidBandit(single=p1, multi=p2, void=v)
    q = (1 - v) * p2
    compared = {
        "plain": q - p1,
        "mask": q * (1 + v * m) - p1 * (1 - v + v * m),
        "filter": (1 - v) * (p2 - p1),
    }
    for treatment, difference in compared.items():
        if abs(difference) > 1e-9:
            for group_size in (size, None):
                drift = expected_drift(bandit, m, treatment=treatment, group_size=group_size)
                assert np.sign(drift) == np.sign(difference)


def test_the_mask_settles_at_a_mixture_between_its_two_bounds():
    # 1 - v squared is 3/4, times 0.9 is 0.675
    at = {
        p1: settled_share(VoidBandit(single=p1, multi=0.9, void=0.5), treatment="mask") for p1 in (0.6, 0.68, 0.8, 0.9)
    }
    assert (at[0.6], at[0.9]) == (1, 0)
    assert at[0.8] == pytest.approx(0.5 * 0.1 / (0.5 * 0.35)) == pytest.approx(2 / 7)
    assert at[0.68] == pytest.approx(0.5 * 0.22 / (0.5 * 0.23))
    assert expected_drift(HARD, 2 / 7, treatment="mask") == pytest.approx(0, abs=1e-12)


def test_the_filter_loses_more_than_the_mask_and_plain_training_nothing():
    # 0.8 - 0.45, of which the mask loses two sevenths
    assert [value_lost(HARD, treatment=name) for name in VOID_TREATMENTS] == pytest.approx([0, 0.1, 0.35])


@given(p1=CHANCES, p2=CHANCES, v=CHANCES)
def test_plain_training_never_loses_value(p1, p2, v):
    assert value_lost(VoidBandit(single=p1, multi=p2, void=v)) == pytest.approx(0, abs=1e-12)


def test_without_void_turns_all_treatments_are_one():
    bandit = VoidBandit(single=0.3, multi=0.6, void=0)
    drifts = [expected_drift(bandit, [0.2, 0.8], treatment=name, group_size=6) for name in VOID_TREATMENTS]
    assert drifts[1] == pytest.approx(drifts[0])
    assert drifts[2] == pytest.approx(drifts[0])


def test_if_many_turns_are_always_void_the_filter_is_indifferent_and_the_mask_is_not():
    bandit = VoidBandit(single=0.3, multi=0.6, void=1)
    assert [settled_share(bandit, treatment=name, start=0.4) for name in VOID_TREATMENTS] == [0, 0, 0.4]
    assert expected_drift(bandit, [0, 0.5, 1], treatment="filter").tolist() == [0, 0, 0]


def test_rewards_without_variance_push_nothing():
    sure = VoidBandit(single=1, multi=1, void=0)
    for size in (None, 4):
        assert [float(expected_drift(sure, 0.5, treatment=name, group_size=size)) for name in VOID_TREATMENTS] == [
            0
        ] * 3
    assert settled_share(sure, start=0.3) == 0.3


def test_training_on_samples_follows_the_expected_drift():
    for treatment in VOID_TREATMENTS:
        sampled = train_bandit(HARD, treatment=treatment, steps=60, groups=64, seeds=8, seed=5)
        followed = follow_drift(HARD, treatment=treatment, steps=60, group_size=8)
        assert sampled.shape == (61, 8)
        assert sampled[-1].mean() == pytest.approx(followed[-1], abs=0.02)


def test_the_same_seed_gives_the_same_training():
    runs = [train_bandit(HARD, treatment="mask", steps=5, seeds=3, seed=seed) for seed in (1, 1, 2)]
    assert (runs[0] == runs[1]).all()
    assert (runs[0] != runs[2]).any()


def test_followed_drift_ends_where_it_settles():
    for treatment, expected in (("plain", 0), ("mask", 2 / 7), ("filter", 1)):
        followed = follow_drift(HARD, treatment=treatment, steps=4000, start=0.7)
        assert followed[-1] == pytest.approx(expected, abs=0.01)
        assert followed[0] == 0.7


def test_the_bandit_names_what_is_out_of_range():
    with pytest.raises(ValueError, match="void must lie"):
        VoidBandit(single=0.5, multi=0.5, void=1.5)
    with pytest.raises(ValueError, match="choose from plain, mask, filter"):
        settled_share(HARD, treatment="veto")
    with pytest.raises(ValueError, match="start"):
        train_bandit(HARD, start=1)
    with pytest.raises(ValueError, match="share"):
        bandit_success(HARD, 1.2)
    with pytest.raises(ValueError, match="group_size"):
        expected_drift(HARD, 0.5, group_size=0)
    with pytest.raises(ValueError, match="steps"):
        follow_drift(HARD, steps=-1)
    with pytest.raises(ValueError, match="at least 1"):
        train_bandit(HARD, groups=0)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1.0, "1"])
def test_a_learning_rate_that_cannot_be_is_named(wrong):
    bandit = VoidBandit(single=0.5, multi=0.9, void=0.3)
    for train in (train_bandit, follow_drift):
        with pytest.raises(ValueError, match="learning_rate must be finite and not negative"):
            train(bandit, treatment="mask", learning_rate=wrong)


def test_a_gradient_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="before and after must be finite, found nan and 1"):
        adam_step_after_switch(float("nan"), 1, updates_before=60, updates_after=10)
