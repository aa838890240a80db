"""Generated cases: what each generator promises, and how often greedy matching loses on them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core.array_assignment import GREEDY_ORDERS, greedy_totals, optimal_totals
from toolrl_core.arrays import CallArrays, CaseArrays, to_calls
from toolrl_core.mistakes import corrupt
from toolrl_core.rewards import score
from toolrl_core.simulate.generators import (
    GENERATORS,
    CaseGenerator,
    corrupted,
    disjoint_keys,
    distinct_names,
    note_like,
    overlapping,
    parallel_calls,
)
from toolrl_core.simulate.matching_loss import greedy_loss, share_strictly_worse
from toolrl_core.spec import RewardSpec


def present_keys(side, case, call):
    return set(np.flatnonzero(side.values[case, call] >= 0).tolist())


def share(generator, *, cases=40_000, seed=5, **options):
    return share_strictly_worse(generator, np.random.default_rng(seed), cases, **options)


@pytest.mark.parametrize(
    ("generator", "any_name", "same_name"),
    [("uniform", 0.426, 0.122), ("empty_sides", 0.426 * 25 / 36, 0.122 * 25 / 36), ("corrupted", 0.323, 0.144)],
)
def test_how_often_greedy_loses_depends_on_the_generator(generator, any_name, same_name):
    assert share(generator).share == pytest.approx(any_name, abs=0.01)
    assert share(generator, same_name=True).share == pytest.approx(same_name, abs=0.008)


@pytest.mark.parametrize("order", GREEDY_ORDERS)
@pytest.mark.parametrize("generator", GENERATORS)
def test_greedy_never_loses_where_the_theorem_says_so_and_does_lose_elsewhere(generator, order):
    proved = GENERATORS[generator].never_worse
    any_name, same_name = (share(generator, cases=4000, order=order, same_name=gate) for gate in (False, True))
    assert (any_name.share == 0.0) == (proved == "always")
    assert (same_name.share == 0.0) == (proved in ("always", "same_name"))
    assert any_name.largest_loss == 0.0 or any_name.share > 0.0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=4, max_size=4),
    st.permutations(range(4)),
)
def test_greedy_is_optimal_where_each_column_scores_with_one_row_at_most(scores, order):
    matrix = np.zeros((1, 4, 4))
    for column in range(4):
        row = sum(scores[column]) % 4
        matrix[0, row, column] = scores[column][0]
    shuffled = matrix[:, list(order)]
    best = optimal_totals(shuffled)
    assert greedy_totals(shuffled, "ground_truth") == pytest.approx(best)
    assert greedy_totals(shuffled, "best") == pytest.approx(best)
    assert greedy_totals(shuffled.transpose(0, 2, 1), "prediction") == pytest.approx(best)


@pytest.mark.parametrize("same_name", [False, True])
@pytest.mark.parametrize("order", GREEDY_ORDERS)
@pytest.mark.parametrize("generator", GENERATORS)
def test_the_loss_is_the_difference_of_two_scores_of_the_same_calls(generator, order, same_name):
    cases = GENERATORS[generator].draw(np.random.default_rng(2), 40)
    losses = greedy_loss(cases, order=order, same_name=same_name)
    for index, loss in enumerate(losses):
        truth, predicted = to_calls(cases, index)
        best, greedy = (
            score(predicted, truth, RewardSpec(matching=matching, same_name=same_name)).correctness
            for matching in ("optimal", f"greedy_{order}")
        )
        assert loss == pytest.approx(best - greedy, abs=1e-9)


def test_the_counterexample_of_the_note_loses_seven_thirds():
    truth = CallArrays(np.array([[0, 1]]), np.array([[[1, -1, -1], [-1, 1, 2]]]))
    predicted = CallArrays(np.array([[0, 0]]), np.array([[[1, 1, 2], [2, -1, -1]]]))
    cases = CaseArrays(truth, predicted)
    assert greedy_loss(cases) == pytest.approx([7 / 3])
    assert greedy_loss(cases, order="best") == pytest.approx([0])
    assert greedy_loss(cases, same_name=True) == pytest.approx([0])


def test_a_generator_of_ones_own_is_counted_with_its_standard_error_and_loss():
    def half(rng, cases):
        truth = CallArrays(np.array([[0, 1]] * cases), np.array([[[1, -1, -1], [-1, 1, 2]]] * cases))
        bad = np.array([[[1, 1, 2], [2, -1, -1]], [[1, -1, -1], [-1, 1, 2]]] * (cases // 2))
        return CaseArrays(truth, CallArrays(np.array([[0, 0]] * cases), bad))

    found = share(CaseGenerator(name="half", description="Every second case loses.", draw=half), cases=400)
    assert (found.cases, found.share) == (400, 0.5)
    assert found.standard_error == pytest.approx(math.sqrt(0.25 / 400))
    assert (found.mean_loss, found.largest_loss) == (pytest.approx(7 / 6), pytest.approx(7 / 3))


def test_a_corrupted_prediction_keeps_the_names_and_without_damage_the_calls():
    cases = corrupted(np.random.default_rng(0), 500)
    assert np.array_equal(np.sort(cases.ground_truth.names), np.sort(cases.predicted.names))
    whole = corrupted(np.random.default_rng(0), 500, argument_right=1.0)
    for index in range(500):
        truth, predicted = to_calls(whole, index)
        assert sorted(map(repr, truth)) == sorted(map(repr, predicted))


def test_corrupted_arrays_fail_as_often_as_corrupted_calls():
    cases = corrupted(np.random.default_rng(0), 600)
    rng, worse = np.random.default_rng(1), 0
    for index in range(600):
        truth, _ = to_calls(cases, index)
        predicted = corrupt(truth, rng)
        best, greedy = (
            score(predicted, truth, RewardSpec(matching=matching)).correctness
            for matching in ("optimal", "greedy_ground_truth")
        )
        worse += best - greedy > 1e-9
    assert worse / 600 == pytest.approx(share("corrupted").share, abs=4 * math.sqrt(0.33 * 0.67 / 600))


def test_distinct_names_are_distinct_on_each_side():
    cases = distinct_names(np.random.default_rng(0), 300)
    for side in (cases.ground_truth, cases.predicted):
        for row in side.names.tolist():
            given = [name for name in row if name >= 0]
            assert len(set(given)) == len(given)
    with pytest.raises(ValueError, match="max_calls: 9 calls cannot have distinct names"):
        distinct_names(np.random.default_rng(0), 10, max_calls=9)


@pytest.mark.parametrize("draw", [disjoint_keys, note_like])
def test_keys_that_belong_to_one_call_occur_in_no_other(draw):
    cases = draw(np.random.default_rng(0), 200)
    for case in range(200):
        for side in (cases.ground_truth, cases.predicted):
            keys = [present_keys(side, case, call) for call in range(side.counts[case])]
            assert all(not first & second for first, second in itertools.combinations(keys, 2))


def test_full_overlap_means_that_all_calls_have_the_same_three_keys():
    cases = overlapping(np.random.default_rng(0), 200, overlap=1.0)
    for case in range(200):
        for call in range(cases.ground_truth.counts[case]):
            assert present_keys(cases.ground_truth, case, call) == {0, 1, 2}
    with pytest.raises(ValueError, match=r"overlap: 1\.5 is not a probability"):
        overlapping(np.random.default_rng(0), 10, overlap=1.5)


def test_more_overlap_means_more_losses():
    shares = [share("overlapping", cases=8000, overlap=overlap).share for overlap in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert shares[0] == 0.0
    assert all(later > earlier + 0.01 for earlier, later in itertools.pairwise(shares))


def test_parallel_calls_use_one_tool_and_only_values_that_occur_under_the_key():
    cases = parallel_calls(np.random.default_rng(0), 200)
    for case in range(200):
        truth, predicted = to_calls(cases, case)
        assert {call.name for call in (*truth, *predicted)} == {"tool_0"}
        for key in ("argument_0", "argument_1", "argument_2"):
            values = {call.arguments[key] for call in truth}
            assert {call.arguments[key] for call in predicted} <= values
    with pytest.raises(ValueError, match="max_calls: 1 is too small; expected at least 2"):
        parallel_calls(np.random.default_rng(0), 10, max_calls=1)


def test_the_policy_of_the_note_gets_half_of_the_names_right_and_invents_the_others():
    cases = note_like(np.random.default_rng(0), 4000)
    truth, predicted = cases.ground_truth.names, cases.predicted.names
    right = (truth == predicted)[truth >= 0]
    assert right.mean() == pytest.approx(0.5, abs=0.02)
    for case in range(100):
        invented = set(predicted[case].tolist()) - set(truth[case].tolist())
        assert len(invented) == int(((truth[case] != predicted[case]) & (truth[case] >= 0)).sum())


@pytest.mark.parametrize("generator", GENERATORS)
def test_the_same_seed_draws_the_same_cases_and_sizes_can_be_bounded(generator):
    first, second = (GENERATORS[generator].draw(np.random.default_rng(9), 50, max_calls=3) for _ in range(2))
    assert np.array_equal(first.predicted.values, second.predicted.values)
    assert np.array_equal(first.ground_truth.names, second.ground_truth.names)
    assert max(first.ground_truth.counts.max(), first.predicted.counts.max()) <= 3


def test_wrong_arguments_are_named():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="unknown generator 'random'; valid generators: uniform, empty_sides"):
        share_strictly_worse("random", rng, 10)
    with pytest.raises(ValueError, match="cases: 0"):
        share_strictly_worse("uniform", rng, 0)
    with pytest.raises(ValueError, match="unknown greedy order 'last'"):
        share_strictly_worse("uniform", rng, 10, order="last")
