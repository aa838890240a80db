"""Matchings: the optimal one against brute force, and what the greedy orders lose."""

from __future__ import annotations

import math
import random
import sys
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core.matching import GREEDY_ORDERS, Assignment, assign, greedy_assignment, optimal_assignment

COUNTEREXAMPLE = [[4 / 3, 1.0], [8 / 3, 0.0]]
SCORES = st.sampled_from([0.0, 0.0, 0.5, 1.0, 1 / 3, 2 / 3, 4 / 3, 1.5, 2.0, 8 / 3, 5.25])


@st.composite
def tables(draw: st.DrawFn, most: int = 5) -> list[list[float]]:
    rows, columns = draw(st.integers(0, most)), draw(st.integers(0, most))
    return [[draw(SCORES) for _ in range(columns)] for _ in range(rows)]


def brute_force(scores: list[list[float]]) -> Fraction:
    exact = [[Fraction(value) for value in row] for row in scores]
    if len(exact) > (len(exact[0]) if exact else 0):
        exact = [list(column) for column in zip(*exact, strict=True)]
    width = len(exact[0]) if exact else 0
    choices = permutations(range(width), len(exact))
    return max(sum((row[i] for row, i in zip(exact, chosen, strict=True)), Fraction(0)) for chosen in choices)


def assert_is_a_matching(found: Assignment, scores: list[list[float]]) -> None:
    rows, columns = [j for j, _ in found.pairs], [i for _, i in found.pairs]
    assert rows == sorted(set(rows))
    assert len(columns) == len(set(columns))
    assert all(scores[j][i] > 0 for j, i in found.pairs)
    assert found.total == pytest.approx(math.fsum(scores[j][i] for j, i in found.pairs), abs=1e-12)


@settings(max_examples=400, deadline=None)
@given(tables())
def test_the_optimal_matching_is_the_best_of_all_permutations(scores: list[list[float]]) -> None:
    found = optimal_assignment(scores)
    assert_is_a_matching(found, scores)
    assert found.total == pytest.approx(float(brute_force(scores)), abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(tables(), st.sampled_from(GREEDY_ORDERS))
def test_a_greedy_matching_never_beats_the_optimal_one(scores: list[list[float]], order: str) -> None:
    found = greedy_assignment(scores, order)
    assert_is_a_matching(found, scores)
    best = optimal_assignment(scores).total
    assert found.total <= best + 1e-12
    if order == "best":  # taking the best pair first gives at least half
        assert found.total >= best / 2 - 1e-12


def test_the_counterexample_of_the_note_costs_greedy_what_it_says() -> None:
    assert optimal_assignment(COUNTEREXAMPLE) == (pytest.approx(11 / 3), ((0, 1), (1, 0)))
    assert greedy_assignment(COUNTEREXAMPLE) == (pytest.approx(4 / 3), ((0, 0),))
    assert greedy_assignment(COUNTEREXAMPLE, "prediction") == (pytest.approx(11 / 3), ((0, 1), (1, 0)))
    assert greedy_assignment(COUNTEREXAMPLE, "best") == (pytest.approx(11 / 3), ((0, 1), (1, 0)))


def test_best_first_is_greedy_too() -> None:
    scores = [[1.0, 1.5], [0.0, 1.5]]
    assert optimal_assignment(scores).total == 2.5
    assert greedy_assignment(scores, "best").total == 1.5
    assert greedy_assignment(scores, "ground_truth").total == 1.5
    assert greedy_assignment(scores, "prediction").total == 2.5


def test_the_first_of_equals_is_taken_and_nothing_is_taken_for_nothing() -> None:
    assert greedy_assignment([[1.0, 1.0, 1.0]]).pairs == ((0, 0),)
    assert greedy_assignment([[1.0], [1.0]], "prediction").pairs == ((0, 0),)
    for matching in (optimal_assignment, greedy_assignment):
        assert matching([[0.0, 0.0]]) == (0.0, ())


@pytest.mark.parametrize("scores", [[], [[]], [[], []], [[0.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_nothing_to_match_gives_an_empty_matching(scores: list[list[float]]) -> None:
    for found in (optimal_assignment(scores), *(greedy_assignment(scores, order) for order in GREEDY_ORDERS)):
        assert found == (0.0, ())
        assert isinstance(found.total, float)


def random_table(rng: random.Random, rows: int, columns: int) -> list[list[float]]:
    return [[rng.choice([0, 0, rng.randint(1, 12) / rng.randint(1, 6)]) for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize(
    "shape", [(6, 6), (3, 9), (9, 3), (10, 10), (12, 12), (1, 40), (40, 1), (5, 40), (40, 5), (25, 30)]
)
def test_pure_python_and_scipy_agree_at_every_size(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    rng = random.Random(f"{shape}")
    for _ in range(20):
        scores = random_table(rng, *shape)
        rows, columns = optimize.linear_sum_assignment(scores, maximize=True)
        best = math.fsum(scores[j][i] for j, i in zip(rows, columns, strict=True))
        with monkeypatch.context() as patched:
            found = [optimal_assignment(scores)]
            patched.setitem(sys.modules, "scipy.optimize", None)  # as in a browser
            found.append(optimal_assignment(scores))
        for each in found:
            assert_is_a_matching(each, scores)
            assert each.total == pytest.approx(best, abs=1e-9)


def test_many_equal_calls_are_matched_without_trying_every_order() -> None:
    assert optimal_assignment([[2.0] * 60 for _ in range(60)]).total == 120
    assert optimal_assignment([[2.0] * 3000]).pairs == ((0, 0),)
    assert optimal_assignment([[float(i == j) for i in range(80)] for j in range(80)]).total == 80


@settings(max_examples=150, deadline=None)
@given(tables(4), st.randoms())
def test_the_optimal_total_does_not_depend_on_the_order(scores: list[list[float]], rng: Any) -> None:
    total = optimal_assignment(scores).total
    width = len(scores[0]) if scores else 0
    columns = rng.sample(range(width), width)
    shuffled = [[row[i] for i in columns] for row in rng.sample(scores, len(scores))]
    assert optimal_assignment(shuffled).total == pytest.approx(total, abs=1e-12)
    turned = [list(column) for column in zip(*scores, strict=True)]
    assert optimal_assignment(turned).total == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1.0, 2.0], [1.0]], "row 1 of the scores has 1 columns, row 0 has 2"),
        ([[1.0], [-0.5]], "score in row 1, column 0 must be finite and at least 0, found -0.5"),
        ([[1.0, math.nan]], "score in row 0, column 1 must be finite and at least 0, found nan"),
        ([[math.inf]], "score in row 0, column 0 must be finite and at least 0, found inf"),
    ],
)
def test_a_bad_table_is_refused_with_row_and_column(scores: list[list[float]], message: str) -> None:
    for call in (optimal_assignment, greedy_assignment):
        with pytest.raises(ValueError, match=message):
            call(scores)


def test_an_unknown_order_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown greedy order 'random': choose from ground_truth, prediction, best"):
        greedy_assignment([[1.0]], "random")


def test_rules_of_a_spec_have_the_same_matchings() -> None:
    for matching, order in (
        ("greedy_ground_truth", "ground_truth"),
        ("greedy_prediction", "prediction"),
        ("greedy_best", "best"),
    ):
        assert assign(COUNTEREXAMPLE, matching) == greedy_assignment(COUNTEREXAMPLE, order)
    assert assign(COUNTEREXAMPLE) == optimal_assignment(COUNTEREXAMPLE)
