"""Advantages: dialects, groups, missing rewards and the report on groups that teach nothing."""

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolrl_core.advantages import (
    DIALECTS,
    diagnose_groups,
    drop_zero_std_groups,
    group_advantages,
    kl_in_reward,
    normalise_each_then_sum,
    unscored_share,
    zero_std_share,
)

NAMES = tuple(DIALECTS)
WITH_STD = ("paper", "released", "verl", "trl")
Q4 = ["q"] * 4

rewards_in_points = st.floats(-4, 4).map(lambda value: round(value, 3))
batches = st.lists(st.tuples(st.sampled_from("abc"), rewards_in_points), min_size=1, max_size=24)


# --- values by hand ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("paper", [math.sqrt(3), -1 / math.sqrt(3), -1 / math.sqrt(3), -1 / math.sqrt(3)]),
        ("released", [1.5, -0.5, -0.5, -0.5]),
        ("verl", [1.5, -0.5, -0.5, -0.5]),
        ("trl", [1.5, -0.5, -0.5, -0.5]),
        ("dr_grpo", [0.75, -0.25, -0.25, -0.25]),
        ("rloo", [1.0, -1 / 3, -1 / 3, -1 / 3]),
    ],
)
def test_one_right_answer_of_four_in_every_dialect(dialect, expected):
    tolerance = 4e-4 if dialect == "trl" else 4e-6 if dialect in WITH_STD else 1e-15
    assert group_advantages([1, 0, 0, 0], Q4, dialect=dialect) == pytest.approx(expected, abs=tolerance)


def test_eta_is_added_to_the_standard_deviation():
    # population std of 1,0,0,0 is sqrt(3)/4; with eta 1 the right answer has 0.75 / (sqrt(3)/4 + 1)
    expected = 0.75 / (math.sqrt(3) / 4 + 1)
    assert group_advantages([1, 0, 0, 0], Q4, eta=1.0)[0] == pytest.approx(expected, rel=1e-14)


def test_default_eta_is_the_dialects_own():
    assert group_advantages([1, 0, 0, 0], Q4, dialect="trl")[0] == pytest.approx(0.75 / (0.5 + 1e-4), rel=1e-14)
    assert group_advantages([1, 0, 0, 0], Q4, dialect="verl")[0] == pytest.approx(0.75 / (0.5 + 1e-6), rel=1e-14)


@pytest.mark.parametrize(("eta", "largest"), [(1e-6, 0.50), (1e-4, 0.0075), (1e-8, 1.47)])
def test_eta_decides_how_much_a_millionth_of_a_point_is_worth(eta, largest):
    advantages = group_advantages([1, 1, 1, 1 + 1e-6], Q4, dialect="released", eta=eta)
    assert advantages.max() == pytest.approx(largest, abs=0.005 if largest > 0.1 else 5e-5)


def test_eta_hardly_matters_for_a_reward_gap_of_a_hundredth_of_a_point():
    # sample std of a gap g at one of four is g/2: relative change eta / (g/2 + eta) = 2e-4 for g = .01 and eta = 1e-6
    with_eta = group_advantages([0, 0, 0, 0.01], Q4, dialect="released")
    without = group_advantages([0, 0, 0, 0.01], Q4, dialect="released", eta=0.0)
    assert 1 - with_eta.max() / without.max() == pytest.approx(1e-6 / (0.005 + 1e-6), rel=1e-6)


def test_released_kl_in_the_reward_ranks_four_perfect_answers():
    penalised = kl_in_reward([4, 4, 4, 4], [20, 30, 25, 40])
    assert penalised == pytest.approx([3.98, 3.97, 3.975, 3.96], abs=1e-12)
    # deviations .00875, -.00125, .00375, -.01125; sample variance 2.1875e-4 / 3
    divisor = math.sqrt(2.1875e-4 / 3) + 1e-6
    expected = [0.00875 / divisor, -0.00125 / divisor, 0.00375 / divisor, -0.01125 / divisor]
    assert group_advantages(penalised, Q4, dialect="released") == pytest.approx(expected, rel=1e-9)
    assert [round(value, 2) for value in expected] == [1.02, -0.15, 0.44, -1.32]


def test_kl_coefficient_zero_leaves_the_reward_alone():
    assert kl_in_reward([4.0, 1.0], [20, 30], 0.0).tolist() == [4.0, 1.0]


def test_kl_in_reward_names_both_shapes():
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        kl_in_reward([1, 2], [1, 2, 3])


# --- groups -----------------------------------------------------------------------------------------------------------


def test_interleaved_groups_are_compared_by_key_not_by_position():
    assert diagnose_groups([1, 0, 5, 3], ["a", "b", "a", "b"]).mean_by_group == {"a": 3.0, "b": 1.5}
    assert group_advantages([1, 0, 5, 3], ["a", "b", "a", "b"], dialect="dr_grpo").tolist() == [-2.0, -1.5, 2.0, 1.5]


@pytest.mark.parametrize(
    "keys",
    [
        ["x", "y", "x", "y"],
        [("prompt", 1), ("prompt", 2), ("prompt", 1), ("prompt", 2)],
        [1, "1", 1, "1"],
        [None, frozenset(), None, frozenset()],
        np.array([7, 8, 7, 8]),
        np.array(["x", "y", "x", "y"]),
        np.array([1.5, 2.5, 1.5, 2.5]),
    ],
)
def test_any_hashable_is_a_group_key(keys):
    assert group_advantages([1, 0, 5, 3], keys, dialect="dr_grpo").tolist() == [-2.0, -1.5, 2.0, 1.5]


def test_a_table_column_is_a_sequence_of_rewards():
    import pandas as pd

    frame = pd.DataFrame({"reward": pd.array([1.0, None, 0.0], dtype="Float64"), "prompt": ["a", "a", "a"]})
    result = group_advantages(frame["reward"], frame["prompt"], dialect="trl", eta=0.0)
    assert result == pytest.approx([1 / math.sqrt(2), 0.0, -1 / math.sqrt(2)])


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [("paper", 0.0), ("released", 0.7), ("verl", 0.7), ("trl", 0.0), ("dr_grpo", 0.0), ("rloo", 0.0)],
)
def test_singletons_follow_the_dialect(dialect, expected):
    assert group_advantages([0.7], ["a"], dialect=dialect).tolist() == [expected]
    assert DIALECTS[dialect].singleton == ("raw" if expected else "zero")


def test_a_singleton_is_reported():
    report = diagnose_groups([0.7], ["a"])
    assert report.singleton_groups == ("a",)
    assert any("singleton" in warning for warning in report.warnings)


@pytest.mark.parametrize("dialect", NAMES)
def test_equal_rewards_give_exact_zeros(dialect):
    assert group_advantages([0.3] * 7, ["q"] * 7, dialect=dialect).tolist() == [0.0] * 7


def test_equal_rewards_give_zeros_even_without_eta():
    assert group_advantages([0.1, 0.1, 0.1], ["q"] * 3, eta=0.0).tolist() == [0.0, 0.0, 0.0]


def test_leave_one_out_is_finite_for_a_single_right_answer():
    result = group_advantages([1, 0, 0, 0], [0, 0, 0, 0], dialect="rloo")
    assert np.isfinite(result).all()
    assert abs(result).max() <= 10


def test_leave_one_out_compares_with_the_mean_of_the_others():
    # others of 6: (2 + 1) / 2; of 2: (6 + 1) / 2; of 1: (6 + 2) / 2
    assert group_advantages([6, 2, 1], ["q"] * 3, dialect="rloo").tolist() == [4.5, -1.5, -3.0]


@pytest.mark.parametrize("dialect", NAMES)
def test_no_rollouts_give_no_advantages(dialect):
    assert group_advantages([], [], dialect=dialect).tolist() == []


# --- missing and masked rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, math.nan])
def test_trl_leaves_unscored_rollouts_out(missing):
    result = group_advantages([1, missing, 0, 5, missing], ["a", "a", "a", "b", "b"], dialect="trl", eta=0.0)
    assert result == pytest.approx([1 / math.sqrt(2), 0, -1 / math.sqrt(2), 0, 0])


@pytest.mark.parametrize("dialect", [name for name in NAMES if name != "trl"])
def test_other_dialects_refuse_missing_rewards_and_name_the_rows(dialect):
    with pytest.raises(ValueError, match=r"missing in rows 1, 3.*trl"):
        group_advantages([1, None, 0, math.nan], Q4, dialect=dialect)


@pytest.mark.parametrize("dialect", NAMES)
def test_a_masked_row_may_lack_its_reward(dialect):
    result = group_advantages([1, None, 0], ["q"] * 3, dialect=dialect, valid=[True, False, True])
    assert result.tolist() == [-result[2], 0.0, result[2]]
    assert result[0] > 0


def test_a_completion_without_trainable_tokens_does_not_shift_its_sibling():
    tokens = [0, 2]
    assert group_advantages([100.0, 1.0], ["q", "q"], valid=tokens).tolist() == [0.0, 0.0]
    assert group_advantages([100.0, 1.0, 3.0], ["q"] * 3, dialect="dr_grpo", valid=[0, 2, 9]).tolist() == [0.0, -1, 1]


def test_masking_void_rollouts_is_not_the_same_as_filtering_them():
    # 3 right, 1 wrong, 4 void: masked after, mean 3/8; filtered before, mean 3/4 and sample std 1/2
    rewards, scored = [1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]
    masked = group_advantages(rewards, ["q"] * 8, dialect="released")
    filtered = group_advantages(rewards, ["q"] * 8, dialect="released", valid=scored)
    assert masked[[0, 3]] == pytest.approx([1.208, -0.725], abs=5e-4)
    assert filtered == pytest.approx([0.5, 0.5, 0.5, -1.5, 0, 0, 0, 0], abs=1e-5)


# --- components -------------------------------------------------------------------------------------------------------


def test_one_missing_component_poisons_nothing_and_is_reported():
    result = normalise_each_then_sum([[None, 1, 0, 1], [1, 1, 0, 0]], Q4, eta=0.0)
    # first component over three rows: mean 2/3, population std sqrt(2)/3 -> 1/sqrt 2, -sqrt 2, 1/sqrt 2
    low = 1 / math.sqrt(2)
    assert result.advantages == pytest.approx([1.0, low + 1, -math.sqrt(2) - 1, low - 1])
    assert "1 of 8 component rewards missing" in result.warnings[0]
    assert result.missing == {"0": (0,), "1": ()}


def test_missing_components_may_be_an_error():
    with pytest.raises(ValueError, match=r"component 'format': rows 0"):
        normalise_each_then_sum({"format": [None, 1], "correctness": [1, 0]}, ["q", "q"], missing="raise")


def test_normalising_each_component_separates_mixtures_that_a_sum_confuses():
    # totals 1, 1, 0 and 3: format counts 1 point, correctness 2
    format_reward, correctness = [1, 1, 0, 1], [0, 0, 0, 2]
    each = normalise_each_then_sum({"format": format_reward, "correctness": correctness}, Q4, eta=0.0)
    root3 = math.sqrt(3)
    assert each.components["format"] == pytest.approx([1 / root3, 1 / root3, -root3, 1 / root3])
    assert each.components["correctness"] == pytest.approx([-1 / root3, -1 / root3, -1 / root3, root3])
    assert each.advantages == pytest.approx([0, 0, -4 / root3, 4 / root3], abs=1e-12)


def test_component_weights_scale_advantages():
    parts = {"format": [1, 0], "correctness": [0, 1]}
    assert normalise_each_then_sum(parts, ["q", "q"], weights={"format": 3.0}, eta=0.0).advantages.tolist() == [2, -2]


def test_a_weight_for_no_component_is_an_error():
    with pytest.raises(ValueError, match=r"'length'.*'format'"):
        normalise_each_then_sum({"format": [1, 0]}, ["q", "q"], weights={"length": 1.0})


def test_batch_normalisation_follows_the_sum():
    # groups give -1, 1 and -1, 1; twice that over the batch has sample std 2 * sqrt(4/3)
    parts = [[0, 1, 0, 5], [0, 1, 0, 5]]
    result = normalise_each_then_sum(parts, [0, 0, 1, 1], dialect="paper", eta=0.0, normalise_batch=True)
    assert result.advantages == pytest.approx([-1, 1, -1, 1])
    sample = normalise_each_then_sum(parts, [0, 0, 1, 1], dialect="trl", eta=0.0, normalise_batch=True)
    assert sample.advantages == pytest.approx(np.array([-1, 1, -1, 1]) * math.sqrt(3) / 2)


def test_components_need_a_known_rule_for_missing_rewards():
    with pytest.raises(ValueError, match=r"'ignore'.*'exclude'.*'raise'"):
        normalise_each_then_sum([[1, 0]], ["q", "q"], missing="ignore")
    with pytest.raises(ValueError, match="at least one"):
        normalise_each_then_sum([], ["q", "q"])


# --- shares, filter, report -------------------------------------------------------------------------------------------


def test_a_constant_reward_is_called_by_its_name():
    report = diagnose_groups([0.3] * 4, Q4)
    assert report.zero_std_share == 1.0
    assert report.constant_reward
    assert any("no learning signal in this group" in warning for warning in report.warnings)
    assert any("constant reward" in warning and "0.3" in warning for warning in report.warnings)


def test_a_healthy_batch_draws_no_warning():
    report = diagnose_groups([1, 0, 0, 1], ["a", "a", "b", "b"])
    assert report.warnings == ()
    assert report.to_dict()["zero_std_share"] == 0.0


def test_the_report_names_groups_and_rows():
    rewards = [1, 1, None, 2, 3, None, 5, 5 + 1e-9]
    groups = ["same", "same", "same", "lone", "mixed", "mixed", "near", "near"]
    report = diagnose_groups(rewards, groups, valid=[1, 1, 1, 1, 0, 1, 1, 1])
    assert report.equal_groups == ("same",)
    assert report.singleton_groups == ("lone",)
    assert report.empty_groups == ("mixed",)
    assert report.nearly_equal_groups == ("near",)
    assert report.unscored_rows == (2, 5)
    assert report.invalid_rows == (4,)
    assert report.ragged
    assert report.unscored_share == pytest.approx(2 / 7)
    assert report.zero_std_share == 0.75
    assert len(report.warnings) == 7
    assert math.isnan(report.mean_by_group["mixed"])


def test_zero_std_share_counts_groups_not_rows():
    assert zero_std_share([3, 3, 3, -3, 1], ["a", "a", "b", "b", "c"]) == pytest.approx(2 / 3)
    assert zero_std_share([3, 3 + 1e-9], ["a", "a"]) == 0.0
    assert zero_std_share([3, 3 + 1e-9], ["a", "a"], threshold=1e-6) == 1.0


def test_zero_is_a_score_and_none_is_not():
    assert unscored_share([0.0, None, 1.0, math.nan]) == 0.5
    assert unscored_share([0.0, None, 1.0, math.nan], valid=[1, 1, 1, 0]) == pytest.approx(1 / 3)


def test_dynamic_sampling_drops_all_right_and_all_wrong_groups():
    rewards, groups = [4, -2, 4, -2, 4, -2], ["easy", "hard", "easy", "hard", "fair", "fair"]
    assert drop_zero_std_groups(rewards, groups).tolist() == [False] * 4 + [True] * 2


def test_dynamic_sampling_may_keep_singletons():
    assert drop_zero_std_groups([1, 2, 2], ["a", "b", "b"]).tolist() == [False] * 3
    assert drop_zero_std_groups([1, 2, 2], ["a", "b", "b"], keep_singletons=True).tolist() == [True, False, False]


def test_the_threshold_is_a_standard_deviation_in_points():
    # population std of (0, 1) is 1/2
    assert drop_zero_std_groups([0, 1], ["q", "q"], threshold=0.5).tolist() == [False, False]
    assert drop_zero_std_groups([0, 1], ["q", "q"], threshold=0.499).tolist() == [True, True]
    with pytest.raises(ValueError, match="threshold"):
        drop_zero_std_groups([0, 1], ["q", "q"], threshold=-1.0)


@pytest.mark.parametrize("measure", [zero_std_share, diagnose_groups])
def test_nothing_cannot_be_diagnosed(measure):
    with pytest.raises(ValueError, match="no rows"):
        measure([], [])
    with pytest.raises(ValueError, match="no valid rows"):
        unscored_share([])


# --- errors -----------------------------------------------------------------------------------------------------------


def test_shape_errors_name_both_shapes():
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        group_advantages([1, 2], ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"\(2, 2\).*\(4,\)"):
        group_advantages(np.zeros((2, 2)), Q4)
    with pytest.raises(ValueError, match=r"\(1,\).*\(2,\)"):
        group_advantages([1, 2], ["a", "b"], valid=[True])


def test_an_unknown_dialect_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"'grpo'.*'paper', 'released', 'verl', 'trl', 'dr_grpo', 'rloo'"):
        group_advantages([1, 2], ["a", "b"], dialect="grpo")


@pytest.mark.parametrize("dialect", ["dr_grpo", "rloo"])
def test_eta_is_refused_where_nothing_is_divided(dialect):
    with pytest.raises(ValueError, match="no use"):
        group_advantages([1, 0], ["a", "a"], dialect=dialect, eta=1e-6)


@pytest.mark.parametrize("eta", [-1e-6, math.nan, math.inf])
def test_eta_must_be_a_finite_size(eta):
    with pytest.raises(ValueError, match="eta"):
        group_advantages([1, 0], ["a", "a"], eta=eta)


@pytest.mark.parametrize(
    ("rewards", "groups", "error", "text"),
    [
        ([1, math.inf], ["a", "a"], ValueError, "infinite in rows 1"),
        ([1, "2"], ["a", "a"], TypeError, r"rewards\[1\]"),
        ([1, [2]], ["a", "a"], TypeError, r"rewards\[1\] is a list"),
        ([1, 10**400], ["a", "a"], ValueError, r"rewards\[1\]"),
        ([1, 2], ["a", ["b"]], TypeError, r"groups\[1\] is a list"),
        ([1, 2], ["a", math.nan], ValueError, r"groups\[1\] is NaN"),
        (1.0, "a", TypeError, "float"),
    ],
)
def test_bad_rows_are_named(rewards, groups, error, text):
    with pytest.raises(error, match=text):
        group_advantages(rewards, groups)


def test_a_mask_of_words_is_refused():
    with pytest.raises(TypeError, match="bool or token counts"):
        group_advantages([1, 0], ["a", "a"], valid=["yes", "no"])


def test_dialects_cannot_be_changed():
    with pytest.raises(TypeError):
        DIALECTS["paper"] = DIALECTS["trl"]
    with pytest.raises(FrozenInstanceError):
        DIALECTS["paper"].eta = 0.0


def test_every_dialect_names_its_source_and_rules():
    table = {name: (rules.ddof, rules.eta, rules.singleton, rules.missing) for name, rules in DIALECTS.items()}
    assert table == {
        "paper": (0, 1e-6, "zero", "raise"),
        "released": (1, 1e-6, "raw", "raise"),
        "verl": (1, 1e-6, "raw", "raise"),
        "trl": (1, 1e-4, "zero", "exclude"),
        "dr_grpo": (None, None, "zero", "raise"),
        "rloo": (None, None, "zero", "raise"),
    }
    assert all("#L" in rules.source or "arXiv" in rules.source for rules in DIALECTS.values())


# --- numbers at the edge ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e150, 1e300])
def test_without_eta_the_scale_of_the_rewards_does_not_matter(scale):
    assert group_advantages(np.array([1, 0, 0, 0]) * scale, Q4, dialect="verl", eta=0.0) == pytest.approx(
        [1.5, -0.5, -0.5, -0.5], rel=1e-15
    )


def test_rewards_at_both_ends_of_double_precision_stay_finite():
    assert group_advantages([1.7e308, -1.7e308], ["q", "q"]) == pytest.approx([1.0, -1.0])
    assert group_advantages([5e-324, 0.0], ["q", "q"], eta=0.0) == pytest.approx([1.0, -1.0])
    assert group_advantages([5e-324, 0.0], ["q", "q"]).tolist() == [0.0, -0.0]


def test_a_large_common_part_does_not_swallow_the_difference():
    assert group_advantages([1e9, 1e9 + 1, 1e9 + 2], ["q"] * 3, dialect="verl", eta=0.0).tolist() == [-1.0, 0.0, 1.0]


def _exact(rewards, groups, row):
    own = [Fraction(reward) for reward, group in zip(rewards, groups, strict=True) if group == groups[row]]
    return Fraction(rewards[row]) - sum(own) / len(own), own


@given(batches)
def test_doubles_agree_with_exact_fractions(batch):
    groups, rewards = [group for group, _ in batch], [reward for _, reward in batch]
    centred = group_advantages(rewards, groups, dialect="dr_grpo")
    sample = group_advantages(rewards, groups, dialect="trl")
    for row in range(len(batch)):
        deviation, own = _exact(rewards, groups, row)
        assert centred[row] == pytest.approx(float(deviation), abs=1e-12)
        if len(own) > 1:
            variance = sum((value - sum(own) / len(own)) ** 2 for value in own) / (len(own) - 1)
            expected = float(deviation) / (math.sqrt(variance) + 1e-4)
            assert sample[row] == pytest.approx(expected, abs=1e-12)


@given(batches, st.floats(-8, 8), st.sampled_from(["paper", "trl", "dr_grpo", "rloo"]))
def test_a_constant_added_to_every_reward_changes_nothing(batch, shift, dialect):
    groups, rewards = [group for group, _ in batch], np.array([reward for _, reward in batch])
    moved = group_advantages(rewards + shift, groups, dialect=dialect)
    assert moved == pytest.approx(group_advantages(rewards, groups, dialect=dialect), abs=1e-7)


@given(batches, st.sampled_from(["paper", "trl", "dr_grpo", "rloo"]))
def test_advantages_of_a_group_add_up_to_zero(batch, dialect):
    groups, rewards = [group for group, _ in batch], [reward for _, reward in batch]
    advantages = group_advantages(rewards, groups, dialect=dialect)
    for key in set(groups):
        total = math.fsum(value for value, group in zip(advantages, groups, strict=True) if group == key)
        assert total == pytest.approx(0, abs=1e-9)


@given(batches, st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_to_the_last_bit(batch, dialect, random):
    order = list(range(len(batch)))
    random.shuffle(order)
    groups, rewards = [group for group, _ in batch], [reward for _, reward in batch]
    plain = group_advantages(rewards, groups, dialect=dialect)
    mixed = group_advantages([rewards[row] for row in order], [groups[row] for row in order], dialect=dialect)
    assert mixed.tolist() == plain[order].tolist()


@given(batches, st.sampled_from(NAMES))
def test_other_groups_do_not_matter(batch, dialect):
    groups, rewards = [group for group, _ in batch], [reward for _, reward in batch]
    together = group_advantages(rewards, groups, dialect=dialect)
    for key in set(groups):
        rows = [row for row, group in enumerate(groups) if group == key]
        alone = group_advantages([rewards[row] for row in rows], [key] * len(rows), dialect=dialect)
        assert together[rows].tolist() == alone.tolist()


@given(st.lists(rewards_in_points, min_size=4, max_size=4))
def test_four_rollouts_never_exceed_one_and_a_half(rewards):
    # largest |r - mean| over sample std of n values is (n - 1) / sqrt(n): 1.5 for n = 4, sqrt 3 for the population std
    assert abs(group_advantages(rewards, Q4, dialect="released")).max() <= 1.5
    assert abs(group_advantages(rewards, Q4, dialect="paper")).max() <= math.sqrt(3)


@given(batches, st.sampled_from(WITH_STD))
def test_dropped_groups_are_those_whose_advantages_vanish(batch, dialect):
    groups, rewards = [group for group, _ in batch], [reward for _, reward in batch]
    keep = drop_zero_std_groups(rewards, groups, keep_singletons=True)
    several = np.array([groups.count(group) > 1 for group in groups])
    vanishing = group_advantages(rewards, groups, dialect=dialect) == 0
    for key in set(groups):
        rows = np.array([group == key for group in groups]) & several
        if rows.any():
            assert keep[rows].all() != vanishing[rows].all()
