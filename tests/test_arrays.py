"""Array engine: hand fractions, brute force over permutations, and agreement with the scorer that works on calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core.array_assignment import MATCHINGS, assignment_totals, greedy_totals, optimal_totals
from toolrl_core.array_scores import pair_scores, score_arrays
from toolrl_core.arrays import CallArrays, CaseArrays, draw_cases, to_calls
from toolrl_core.ground_truth import parse_ground_truth
from toolrl_core.rewards import score
from toolrl_core.schedules import constant, dynamic
from toolrl_core.spec import RewardSpec

Call = tuple[str, dict[str, Any]]
Case = tuple[list[Call], list[Call]]


def encode(*cases: Case) -> CaseArrays:
    """Turn small written-out cases into arrays; ids are given in order of appearance."""
    names: dict[str, int] = {}
    keys: dict[str, int] = {}
    values: dict[tuple[str, str], int] = {}
    for side in (side for case in cases for side in case):
        for name, arguments in side:
            names.setdefault(name, len(names))
            for key, value in arguments.items():
                keys.setdefault(key, len(keys))
                values.setdefault((key, repr(value)), len(values))

    def arrays(sides: list[list[Call]]) -> CallArrays:
        width = max((len(side) for side in sides), default=0)
        ids = np.full((len(sides), width), -1)
        table = np.full((len(sides), width, len(keys)), -1)
        for case, side in enumerate(sides):
            for call, (name, arguments) in enumerate(side):
                ids[case, call] = names[name]
                for key, value in arguments.items():
                    table[case, call, keys[key]] = values[key, repr(value)]
        return CallArrays(ids, table)

    return CaseArrays(arrays([case[0] for case in cases]), arrays([case[1] for case in cases]))


def options(*, correctness: tuple[float, float] = (-3.0, 3.0), **changes: Any) -> RewardSpec:
    """Return the paper's options with changes."""
    return RewardSpec(schedule=constant(correctness=correctness), **changes)


RELEASED = {"names": "multiset", "same_name": True, "matching": "greedy_ground_truth"}
ROBUST = {"names": "multiset", "same_name": True, "extra_calls": "counted"}
F1, F2, F9, G2 = ("f", {"a": 1}), ("f", {"a": 2}), ("f", {"a": 9}), ("g", {"b": 2})
SEARCH, CALC = ("search", {"query": "x"}), ("calc", {})
F12, F123 = ("f", {"a": 1, "b": 2}), ("f", {"a": 1, "b": 2, "c": 3})
NAMES_SWAPPED: Case = ([F1, G2], [("g", {"a": 1}), ("f", {"b": 2})])
ALPHA_BETA: Case = (
    [("alpha", {"a": 1}), ("beta", {"b": 1, "c": 2})],
    [("alpha", {"a": 1, "b": 1, "c": 2}), ("alpha", {"a": 2})],
)

# case, paper, released, pairs only with equal names, ground-truth order greedy, equal names and multiset
HAND: dict[str, tuple[Case, str, str, str, str, str]] = {
    "all right": (([SEARCH, CALC], [SEARCH, CALC]), "3", "3", "3", "3", "3"),
    "one call missing": (([SEARCH, CALC], [SEARCH]), "3/4", "3/4", "3/4", "3/4", "3/4"),
    "one call missing, value wrong": (([SEARCH, CALC], [("search", {"query": "y"})]), *["-3/4"] * 5),
    "value wrong beside a right call": (([SEARCH, CALC], [("search", {"query": "y"}), CALC]), *["3/2"] * 5),
    "note 6.2": (ALPHA_BETA, "7/6", "-4/3", "-7/6", "-7/6", "-4/3"),
    "nothing asked, nothing called": (([], []), "3", "3", "3", "3", "3"),
    "nothing asked, one call": (([], [("f", {})]), "-3", "-3", "-3", "-3", "-3"),
    "no arguments on either side": (([("f", {})], [("f", {})]), "3", "3", "3", "3", "3"),
    "an argument where none is asked": (([("f", {})], [("f", {"z": 1})]), "0", "0", "0", "0", "0"),
    "wrong name, right arguments": (([F12], [("g", {"a": 1, "b": 2})]), "3/2", "-3", "-3", "3/2", "-3"),
    "key missing": (([F12], [F1]), "3/4", "3/4", "3/4", "3/4", "3/4"),
    "key renamed": (([F1], [("f", {"b": 1})]), "-1", "-1", "-1", "-1", "-1"),
    "twenty extra keys": (([F1], [("f", {"a": 1} | {f"k{k}": 0 for k in range(20)})]), *["23/21"] * 5),
    "calls in another order": (([F1, G2], [G2, F1]), "3", "3", "3", "3", "3"),
    "extra call of the same name": (([F1], [F1, F9]), "3", "2", "3", "3", "2"),
    "twenty copies": (([F1], [F1] * 20), "3", "11/10", "3", "3", "11/10"),
    "one of two equal calls": (([F1, F1], [F1]), "3/5", "0", "3/5", "3/5", "0"),
    "names swapped": (NAMES_SWAPPED, "3", "-9/5", "-9/5", "3", "-9/5"),
    "all one name": (([F1, G2], [F1, ("f", {"b": 2})]), "12/5", "-1/5", "0", "12/5", "-1/5"),
    "merged": (([F1, G2], [F12]), "-3/5", "-3/5", "-3/5", "-3/5", "-3/5"),
    "merged, same name": (([F1, ("f", {"b": 2})], [F12]), "0", "-3/5", "0", "0", "-3/5"),
    "greedy trap": (([F1, F12], [F12, ("f", {"c": 1})]), "1", "-1/2", "1", "-1/2", "1"),
    "greedy trap of three": (([F1, F12, F123], [F123, F12]), "9/5", "-1/10", "9/5", "1/10", "8/5"),
    "same name in another order": (([F1, F2], [F2, F1]), "3", "3", "3", "3", "3"),
    "first of two dropped": (
        ([("f", {"a": 1, "k": 0}), ("f", {"a": 2, "k": 0})], [("f", {"a": 2, "k": 0})]),
        *("3/7", "-6/7", "3/7", "-3/7", "0"),
    ),
    "half of twelve keys": (
        ([("f", {k: i for i, k in enumerate("abcdefghijkl")})], [("f", {"acegik"[i]: 2 * i for i in range(6)})]),
        *["3/14"] * 5,
    ),
    "three crossed": (
        (
            [F1, ("g", {"a": 1, "b": 2}), ("h", {"b": 2, "c": 3})],
            [("f", {"b": 2, "c": 3}), ("g", {"a": 1}), ("h", {"a": 1, "b": 2})],
        ),
        *("3", "-4/9", "-4/9", "3", "-4/9"),
    ),
    "seven rotated": (
        ([("f", {"i": i, "k": i % 2}) for i in range(7)], [("f", {"i": (i + 1) % 7, "k": i % 2}) for i in range(7)]),
        *["15/11"] * 5,
    ),
}  # fmt: skip
COLUMNS: tuple[dict[str, Any], ...] = (
    {},
    RELEASED,
    {"same_name": True},
    {"matching": "greedy_ground_truth"},
    {"same_name": True, "names": "multiset"},
)


@pytest.mark.parametrize("label", HAND)
def test_correctness_is_the_hand_fraction(label: str) -> None:
    case, *expected = HAND[label]
    for changes, fraction in zip(COLUMNS, expected, strict=True):
        result = score_arrays(encode(case), options(**changes))
        assert result.correctness.item() == pytest.approx(float(Fraction(fraction)), abs=1e-12)


def test_one_batch_holds_cases_of_every_size() -> None:
    small = [(label, entry) for label, entry in HAND.items() if label not in {"twenty copies", "seven rotated"}]
    arrays = encode(*(entry[0] for _, entry in small))
    for column, changes in enumerate(COLUMNS):
        expected = [float(Fraction(entry[1 + column])) for _, entry in small]
        np.testing.assert_allclose(score_arrays(arrays, options(**changes), chunk=5).correctness, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("case", "changes", "correctness"),
    [
        # Five copies of the one right call: R = 1/5 + 2 of S = 3 + 4.
        (([F1], [F1] * 5), ROBUST, "-39/35"),
        (([F1], [F1] * 5), RELEASED, "7/5"),
        # Names swapped: R = 1 of S = 5 and no call in surplus.
        (NAMES_SWAPPED, ROBUST, "-9/5"),
        # One unexpected call: R = 1/2 + 2 of S = 3 + 1.
        (([F1], [F1, G2]), ROBUST, "3/4"),
        (([F1], [F1, G2]), ROBUST | {"granularity": "call"}, "0"),
        # Nothing asked: one call has nothing to earn, and the maximum grows to 2.
        (([], [F1]), ROBUST, "-3"),
        (([], []), ROBUST, "3"),
        (([], [F1]), RELEASED | {"no_call": "zero"}, "0"),
        (([], []), RELEASED | {"no_call": "zero"}, "0"),
        (([F1], []), RELEASED | {"no_call": "zero"}, "-3"),
        # Keys not all right: the key term is zero, both right values still score. R = 1 + 2 of 4.
        (([F12], [F123]), {"credit": "exact"}, "3/2"),
        (([F12], [F123]), {"credit": "partial"}, "5/2"),
        # Names {f} for {f, g}: exact names give 0, the set Jaccard 1/2; the pair 1 + 1, of 5.
        (([F1, G2], [F1]), {"credit": "exact"}, "-3/5"),
        (([F1, G2], [F1]), {"credit": "exact", "name_credit": "partial"}, "0"),
        (([F1, G2], [F1]), {"credit": "partial", "name_credit": "exact"}, "-3/5"),
        # Exact name *sets* do not see a surplus copy, exact multisets do.
        (([F1], [F1, F1]), {"credit": "exact"}, "3"),
        (([F1], [F1, F1]), {"credit": "exact", "names": "multiset"}, "1"),
        # Calls: names 1, one of two argument objects right, of 3.
        (([F1, G2], [F1, ("g", {"b": 3})]), {"granularity": "call", "credit": "exact"}, "1"),
        # Swapped names: without the gate both argument objects are right.
        (NAMES_SWAPPED, {"granularity": "call", "credit": "exact"}, "3"),
        (NAMES_SWAPPED, {"granularity": "call", "credit": "exact", "same_name": True}, "-1"),
        # Call by call with partial credit: names 1, pair (1/2 + 1)/(1 + 2) = 1/2, of 2.
        (([F12], [F1]), {"granularity": "call"}, "3/2"),
        # Whole answer with partial credit: names 1/2 times the mean pair share (1 + 0)/2.
        (([F1, G2], [F1]), {"granularity": "answer"}, "-3/2"),
        (([], [F1]), {"granularity": "answer"}, "-3"),
        (([], []), {"granularity": "answer"}, "3"),
        (([F1, G2], [G2, F1]), {"granularity": "answer", "credit": "exact"}, "3"),
        (([F1, G2], [G2, F1]), {"granularity": "answer", "credit": "exact", "ordered": True}, "-3"),
        (([F1, G2], [F1, G2]), {"granularity": "answer", "credit": "exact", "ordered": True}, "3"),
        (([F1], [F1, F1]), {"granularity": "answer", "credit": "exact"}, "-3"),
        (NAMES_SWAPPED, {"granularity": "answer", "credit": "exact"}, "-3"),
        (([], []), {"granularity": "answer", "credit": "exact"}, "3"),
        (([], [F1]), {"granularity": "answer", "credit": "exact"}, "-3"),
        # Released REFINED flag: lists of names are compared in order, so swapped calls lose the name term: 3 of 4, and
        # 5 of 6 where both calls have a key; two calls of one name may change places.
        (([F1, ("g", {"b": 2})], [G2, F1]), RELEASED | {"credit": "exact", "ordered": True}, "9/5"),
        (([CALC, SEARCH], [SEARCH, CALC]), RELEASED | {"credit": "exact", "ordered": True}, "3/2"),
        (([F1, F2], [F2, F1]), RELEASED | {"credit": "exact", "ordered": True}, "3"),
        # Equal maxima: range (-1, 1).
        (([SEARCH, CALC], [SEARCH]), {"correctness": (-1.0, 1.0)}, "1/4"),
    ],
)
def test_every_option_gives_the_reward_computed_by_hand(case: Case, changes: dict[str, Any], correctness: str) -> None:
    result = score_arrays(encode(case), options(**changes))
    assert result.correctness.item() == pytest.approx(float(Fraction(correctness)), abs=1e-12)


def test_parts_of_the_reward_are_reported() -> None:
    result = score_arrays(encode(ALPHA_BETA), options())
    assert result.name_score.item() == 1 / 2
    assert result.pair_total.item() == pytest.approx(11 / 3, abs=1e-12)
    assert result.matched.item() == pytest.approx(25 / 6, abs=1e-12)
    assert result.maximum.item() == 6
    assert len(result) == 1


def test_pair_scores_of_the_two_call_example() -> None:
    arrays = encode(ALPHA_BETA)
    np.testing.assert_allclose(pair_scores(arrays)[0], [[4 / 3, 1], [8 / 3, 0]], atol=1e-15)
    np.testing.assert_allclose(pair_scores(arrays, same_name=True)[0], [[4 / 3, 1], [0, 0]], atol=1e-15)
    np.testing.assert_allclose(pair_scores(arrays, credit="exact")[0], [[1, 1], [2, 0]], atol=1e-15)
    np.testing.assert_allclose(pair_scores(arrays, granularity="call")[0], [[2 / 3, 1 / 2], [8 / 9, 0]], atol=1e-15)
    assert not pair_scores(arrays, granularity="call", credit="exact").any()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 9), (2, 5), (5, 2), (4, 4), (5, 5), (5, 6)])
def test_optimal_total_is_the_best_of_all_permutations(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 7, size=(12, *shape)) * rng.random((12, 1, 1)).round(2)
    tall = scores if shape[0] <= shape[1] else scores.transpose(0, 2, 1)
    picks = list(permutations(range(tall.shape[2]), tall.shape[1]))
    best = [max(sum(matrix[row, column] for row, column in enumerate(pick)) for pick in picks) for matrix in tall]
    np.testing.assert_allclose(optimal_totals(scores), best, atol=1e-12)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=4))
def test_greedy_never_beats_optimal_and_takes_at_least_half(rows: list[list[int]]) -> None:
    matrix = np.array([rows], dtype=float)
    optimal = optimal_totals(matrix).item()
    for order in ("ground_truth", "prediction", "best"):
        assert greedy_totals(matrix, order).item() <= optimal
    assert greedy_totals(matrix, "best").item() >= optimal / 2


@pytest.mark.parametrize(
    ("order", "total"),
    # Row 0 prefers column 0 (3 before the later 3); what is left for the others depends on who chooses.
    [("ground_truth", 3 + 1 + 0), ("prediction", 5 + 3 + 0), ("best", 5 + 3 + 0)],
)
def test_greedy_orders_choose_as_written(order: str, total: int) -> None:
    scores = np.array([[[3, 3, 0], [5, 1, 0], [5, 0, 0]]], dtype=float)
    assert greedy_totals(scores, order).item() == total


def test_greedy_ties_go_to_the_first_pair() -> None:
    # Taking column 0 first leaves column 1 (worth 2) to the second row; taking column 1 first would leave 1.
    assert greedy_totals([[[1.0, 1.0], [1.0, 2.0]]], "ground_truth").item() == 3
    assert greedy_totals([[[1.0, 1.0], [2.0, 1.0]]], "ground_truth").item() == 2
    assert greedy_totals([[[1.0, 1.0], [0.0, 1.0]]], "best").item() == 2
    assert greedy_totals([[[1.0, 1.0], [1.0, 0.0]]], "best").item() == 1


def test_greedy_leaves_a_worthless_partner_free() -> None:
    assert greedy_totals([[[0.0, 0.0], [4.0, 0.0]]]).item() == 4


def reference(case: Case, spec: RewardSpec) -> Fraction:
    """Score one case with exact fractions, straight from the definitions."""
    truth, predicted = case
    n, m = len(truth), len(predicted)
    name_credit = spec.name_credit or spec.credit
    truth_names, predicted_names = [c[0] for c in truth], [c[0] for c in predicted]
    common = sum((Counter(truth_names) & Counter(predicted_names)).values())
    if spec.names == "set":
        a, b = set(truth_names), set(predicted_names)
        shared, union = len(a & b), len(a | b)
    else:
        shared, union = common, n + m - common
    name = Fraction(shared, union) if union else Fraction(1)
    if name_credit == "exact":
        name = Fraction(truth_names == predicted_names if spec.ordered else name == 1)

    def pair(expected: Call, given: Call) -> Fraction:
        if spec.same_name and expected[0] != given[0]:
            return Fraction(0)
        if spec.granularity != "parameter" and spec.call_equality == "object":
            return Fraction(expected == given)
        if spec.granularity == "call" and spec.credit == "exact":
            return Fraction(expected[1] == given[1])
        keys, others = set(expected[1]), set(given[1])
        key = Fraction(len(keys & others), len(keys | others)) if keys | others else Fraction(1)
        if spec.credit == "exact":
            key = Fraction(keys == others)
        values = sum(k in given[1] and given[1][k] == v for k, v in expected[1].items())
        return (key + values) / (1 if spec.granularity == "parameter" else 1 + len(keys))

    table = [[pair(t, p) for p in predicted] for t in truth]
    total = brute_total(table, n, m, spec.matching)
    keys_expected = sum(len(arguments) for _, arguments in truth)
    if spec.granularity == "answer" and spec.credit == "exact":
        if spec.ordered:
            matched = Fraction(truth == predicted)
        else:
            matched = Fraction(n == m and any(list(order) == truth for order in permutations(predicted)))
        maximum = 1
    elif spec.granularity == "answer":
        matched, maximum = name * (total / n if n else 1), 1
    else:
        matched = name + total
        maximum = 1 + n + (keys_expected if spec.granularity == "parameter" else 0)
        maximum += m - common if spec.extra_calls == "counted" else 0
    if n == 0 and spec.no_call == "zero":
        return Fraction(0)
    return 6 * matched / maximum - 3


def brute_total(table: list[list[Fraction]], n: int, m: int, matching: str) -> Fraction:
    """Match by trying every permutation, or by the greedy rule in words."""
    if n == 0 or m == 0:
        return Fraction(0)
    if matching == "optimal":
        padded = [row + [Fraction(0)] * max(0, n - m) for row in table]
        return max(
            sum((padded[row][column] for row, column in enumerate(pick)), Fraction(0))
            for pick in permutations(range(max(n, m)), n)
        )
    free = {(row, column) for row in range(n) for column in range(m)}

    def take(choices: Iterator[tuple[int, int]]) -> Fraction:
        best = max(((table[r][c], -r, -c) for r, c in choices if (r, c) in free), default=(Fraction(0), 0, 0))
        if best[0] > 0:
            free.difference_update({(r, c) for r, c in free if r == -best[1] or c == -best[2]})
        return best[0]

    if matching == "greedy_ground_truth":
        return sum((take((row, column) for column in range(m)) for row in range(n)), Fraction(0))
    if matching == "greedy_prediction":
        return sum((take((row, column) for row in range(n)) for column in range(m)), Fraction(0))
    return sum((take(iter(sorted(free))) for _ in range(min(n, m))), Fraction(0))


def plain(arrays: CaseArrays, index: int) -> Case:
    """Return one case as plain names and dicts."""
    truth, predicted = to_calls(arrays, index)
    return [(c.name, dict(c.arguments)) for c in truth], [(c.name, dict(c.arguments)) for c in predicted]


OPTIONS = (
    *("names", "same_name", "matching", "granularity", "credit"),
    *("name_credit", "extra_calls", "no_call", "ordered", "call_equality"),
)
EVERY_OPTION = [
    dict(zip(OPTIONS, values, strict=True))
    for values in product(
        ("set", "multiset"),
        (False, True),
        MATCHINGS,
        ("parameter", "call", "answer"),
        ("partial", "exact"),
        (None, "partial", "exact"),
        ("name_only", "counted"),
        ("scored", "zero"),
        (False, True),
        ("arguments", "object"),
    )
]  # fmt: skip


def test_every_combination_of_options_agrees_with_exact_fractions() -> None:
    arrays = draw_cases(np.random.default_rng(11), 12, max_calls=4, keys=3, names=2, values=2, min_calls=0)
    cases = [plain(arrays, index) for index in range(len(arrays))]
    for changes in EVERY_OPTION:
        spec = options(**changes)
        expected = [float(reference(case, spec)) for case in cases]
        np.testing.assert_allclose(score_arrays(arrays, spec).correctness, expected, atol=1e-12, err_msg=str(changes))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), changes=st.sampled_from(EVERY_OPTION), keys=st.integers(0, 18))
def test_random_cases_agree_with_exact_fractions(seed: int, changes: dict[str, Any], keys: int) -> None:
    arrays = draw_cases(np.random.default_rng(seed), 15, keys=keys, names=3, values=2, min_calls=0, key_probability=0.7)
    spec = options(**changes)
    expected = [float(reference(plain(arrays, index), spec)) for index in range(len(arrays))]
    np.testing.assert_allclose(score_arrays(arrays, spec).correctness, expected, atol=1e-12)


@pytest.mark.parametrize("preset", RewardSpec.presets())
def test_every_preset_agrees_with_the_scorer_of_calls(preset: str) -> None:
    spec = RewardSpec.preset(preset)
    for seed, keys, names in ((0, 6, 4), (1, 2, 2), (2, 0, 3)):
        arrays = draw_cases(np.random.default_rng(seed), 150, keys=keys, names=names, min_calls=0)
        assert_agrees(arrays, spec)


def test_copies_and_single_changes_of_the_ground_truth_agree_with_the_scorer_of_calls() -> None:
    rng = np.random.default_rng(6)
    truth = draw_cases(rng, 200, keys=3, names=2, values=2).ground_truth
    names, values = truth.names.copy(), truth.values.copy()
    for case in range(len(truth)):
        order = rng.permutation(truth.counts[case])
        names[case, : len(order)], values[case, : len(order)] = names[case, order], values[case, order]
        if case % 3:
            values[case, rng.integers(len(order)), rng.integers(3)] = rng.integers(-1, 2)
    arrays = CaseArrays(truth, CallArrays(names, values))
    for spec in RewardSpec.presets().values():
        assert_agrees(arrays, spec)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), changes=st.sampled_from(EVERY_OPTION))
def test_random_options_agree_with_the_scorer_of_calls(seed: int, changes: dict[str, Any]) -> None:
    arrays = draw_cases(np.random.default_rng(seed), 20, keys=3, names=3, values=2, min_calls=0)
    assert_agrees(arrays, options(**changes))


def assert_agrees(arrays: CaseArrays, spec: RewardSpec) -> None:
    """Compare all parts of the reward with the scorer that works on calls."""
    scores = score_arrays(arrays, spec)
    for index in range(len(arrays)):
        truth, predicted = to_calls(arrays, index)
        expected = score(list(predicted), parse_ground_truth(list(truth)), spec)
        for part in ("correctness", "matched", "maximum", "name_score"):
            found = getattr(scores, part)[index]
            assert found == pytest.approx(getattr(expected, part), abs=1e-12), (part, index, truth, predicted)


def test_a_schedule_that_changes_needs_a_step() -> None:
    arrays = encode(([SEARCH, CALC], [SEARCH]))
    spec = RewardSpec(schedule=dynamic())
    # Half of the way to step 150 the range is (-2.5, 2.5); R/S = 5/8.
    assert score_arrays(arrays, spec, step=75).correctness.item() == pytest.approx(5 / 8, abs=1e-12)
    with pytest.raises(ValueError, match="no step was given"):
        score_arrays(arrays, spec)


def test_credit_does_not_depend_on_call_order_under_optimal_matching() -> None:
    arrays = draw_cases(np.random.default_rng(3), 500, min_calls=5)
    shuffled = CallArrays(arrays.predicted.names[:, ::-1], arrays.predicted.values[:, ::-1])
    reversed_order = CaseArrays(arrays.ground_truth, shuffled)
    spec = options(**ROBUST)
    np.testing.assert_allclose(
        score_arrays(arrays, spec).correctness, score_arrays(reversed_order, spec).correctness, atol=1e-12
    )


def test_chunk_size_never_changes_the_result() -> None:
    arrays = draw_cases(np.random.default_rng(8), 300, min_calls=0)
    whole = score_arrays(arrays, options())
    for chunk in (1, 7, 300, 1000):
        np.testing.assert_array_equal(score_arrays(arrays, options(), chunk=chunk).correctness, whole.correctness)


def test_pair_scores_and_totals_rebuild_the_reward() -> None:
    arrays = draw_cases(np.random.default_rng(2), 200, min_calls=0)
    for matching in MATCHINGS:
        parts = score_arrays(arrays, options(matching=matching))
        np.testing.assert_allclose(assignment_totals(pair_scores(arrays), matching), parts.pair_total, atol=1e-12)


def test_the_same_seed_draws_the_same_cases() -> None:
    first, second = (draw_cases(np.random.default_rng(4), 50) for _ in range(2))
    np.testing.assert_array_equal(first.predicted.values, second.predicted.values)
    assert (first.predicted.values != draw_cases(np.random.default_rng(5), 50).predicted.values).any()


def test_drawn_cases_have_the_stated_distribution() -> None:
    arrays = draw_cases(np.random.default_rng(0), 40_000)
    for side in (arrays.ground_truth, arrays.predicted):
        present = side.names >= 0
        np.testing.assert_allclose(np.bincount(side.counts, minlength=6) / 40_000, [0, *[0.2] * 5], atol=0.01)
        np.testing.assert_allclose(np.bincount(side.names[present]) / present.sum(), [0.25] * 4, atol=0.01)
        slots = side.values[present]
        values = slots[slots >= 0]
        assert values.size / slots.size == pytest.approx(0.5, abs=0.005)
        np.testing.assert_allclose(np.bincount(values) / values.size, [1 / 3] * 3, atol=0.01)
    assert np.corrcoef(arrays.ground_truth.counts, arrays.predicted.counts)[0, 1] == pytest.approx(0, abs=0.03)


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        ([[0]], [[[0]], [[0]]], r"values: shape \(2, 1, 1\).*names"),
        ([0], [[[0]]], r"names: shape \(1,\); expected 2 axes"),
        ([[-1, 0]], [[[-1], [0]]], r"names\[0, 0\]: absent"),
        ([[-1]], [[[0]]], r"values\[0, 0, 0\]: an absent call has a key"),
        ([[128]], [[[0]]], r"names: ids from 128 to 128"),
        ([[0]], [[[-2]]], r"values: ids from -2 to -2"),
    ],
)
def test_call_arrays_say_what_is_wrong(names: Any, values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CallArrays(np.array(names), np.array(values))


def test_ids_must_be_integers() -> None:
    with pytest.raises(TypeError, match="names: dtype float64"):
        CallArrays(np.array([[0.0]]), np.array([[[0]]]))


def test_both_sides_need_the_same_cases_and_keys() -> None:
    def side(cases: int, keys: int) -> CallArrays:
        return CallArrays(np.zeros((cases, 1), int), np.zeros((cases, 1, keys), int))

    with pytest.raises(ValueError, match=r"predicted: 3 cases .* ground_truth has 2"):
        CaseArrays(side(2, 1), side(3, 1))
    with pytest.raises(ValueError, match=r"predicted: 4 keys .* ground_truth has 1"):
        CaseArrays(side(2, 1), side(2, 4))


def test_fields_are_read_only() -> None:
    arrays = draw_cases(np.random.default_rng(0), 2)
    with pytest.raises(ValueError, match="read-only"):
        arrays.predicted.names[0, 0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"min_calls": 6}, "min_calls: 6 is out of range; expected 0 to 5"),
        ({"names": 0}, "names: 0 is out of range; expected 1 to 128"),
        ({"key_probability": 1.5}, "key_probability: 1.5"),
    ],
)
def test_impossible_draws_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_cases(np.random.default_rng(0), 2, **changes)


def test_unknown_options_are_named_with_the_valid_ones() -> None:
    arrays = draw_cases(np.random.default_rng(0), 2)
    with pytest.raises(ValueError, match="credit: unknown 'half'; valid: partial, exact"):
        pair_scores(arrays, credit="half")
    with pytest.raises(ValueError, match="unknown matching 'hungarian'; valid matchings: optimal"):
        assignment_totals(pair_scores(arrays), "hungarian")
    with pytest.raises(ValueError, match="unknown greedy order 'gold'"):
        greedy_totals(pair_scores(arrays), "gold")
    with pytest.raises(ValueError, match="chunk: 0"):
        score_arrays(arrays, options(), chunk=0)


def test_assignment_refuses_what_is_no_stack_of_scores() -> None:
    with pytest.raises(ValueError, match=r"scores: shape \(2, 2\)"):
        optimal_totals([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"scores\[1, 0, 1\]: NaN"):
        optimal_totals([[[1.0, 0.0]], [[1.0, float("nan")]]])
    with pytest.raises(ValueError, match="at most 10 calls on the smaller side"):
        optimal_totals(np.zeros((1, 11, 11)))


def test_to_calls_spells_a_case_out() -> None:
    arrays = encode(([F1, ("g", {})], [("g", {"b": 2})]))
    assert plain(arrays, 0) == (
        [("tool_0", {"argument_0": 0}), ("tool_1", {})],
        [("tool_1", {"argument_1": 1})],
    )
    with pytest.raises(IndexError, match="no case 1; there are 1 cases"):
        to_calls(arrays, 1)
