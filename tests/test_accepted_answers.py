"""Right answers that differ from the first accepted one, and how often a single-valued ground truth denies them."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolrl_core import RewardSpec, ToolCall, score
from toolrl_core.bfcl import BfclRow, default_folder, is_complete, load, realise
from toolrl_core.simulate.accepted_answers import Freedom, count_freedom, deviation_share, vary_answer

ROBUST = RewardSpec.preset("robust")
needs_data = pytest.mark.skipif(
    not is_complete(default_folder()) and not os.environ.get("CI"),
    reason="no BFCL data here: run `make data` to fetch them",
)


def row(accepted, required=()):
    """A question with one tool; `accepted` is its answer, parameter by parameter."""
    tool = {"name": "f", "parameters": {"properties": {}, "required": list(required)}}
    return BfclRow("made-up", "simple_python", (), (tool,), ({"f": accepted},))


def many(question, **freedom):
    """Fifty answers to a question, as argument mappings."""
    rng = np.random.default_rng(0)
    return [vary_answer(question, rng, **freedom)[0].arguments for _ in range(50)]


def test_with_full_freedom_the_answer_is_the_one_that_realise_draws():
    question = row({"a": [1, 2], "b": ["x", ""], "c": [3]})
    for seed in range(20):
        assert vary_answer(question, np.random.default_rng(seed)) == realise(question, np.random.default_rng(seed))


def test_without_freedom_the_answer_takes_first_values_and_omits_what_it_may():
    question = row({"a": [1, 2], "b": ["x", ""]})
    assert vary_answer(question, np.random.default_rng(3), values=False, optional=False) == [ToolCall("f", {"a": 1})]


def test_values_alone_never_add_a_parameter_and_options_alone_never_change_one():
    question = row({"a": [1, 2], "b": ["x", "y", ""]})
    assert {tuple(arguments.items()) for arguments in many(question, optional=False)} == {(("a", 1),), (("a", 2),)}
    options = {tuple(sorted(arguments.items())) for arguments in many(question, values=False)}
    assert options == {(("a", 1),), (("a", 1), ("b", "x")), (("a", 1), ("b", "y"))}


@pytest.mark.parametrize(
    ("accepted", "required", "expected"),
    [
        ({"a": [1]}, (), Freedom(0, 0)),
        ({"a": [1, 1.0]}, (), Freedom(0, 0)),  # one JSON value, written twice
        ({"a": [1, True]}, (), Freedom(1, 0)),
        ({"a": ["x", ""]}, (), Freedom(0, 1)),
        ({"a": [""]}, (), Freedom(0, 0)),  # may be omitted, and no value is accepted
        ({"a": ["x", ""]}, ("a",), Freedom(0, 0)),  # the tool requires it, so it is always given
        ({"a": ["x", "y", ""]}, ("a",), Freedom(1, 0)),
        ({"a": [{"b": [1], "c": [2, ""]}]}, (), Freedom(1, 0)),  # a field of an object may be omitted
        ({"a": [{"b": [1], "c": [2]}]}, (), Freedom(0, 0)),
        ({"a": [[{"b": [1, 2]}]]}, (), Freedom(1, 0)),
        ({"a": [[1, 2], [2, 1]], "b": [5, 6], "c": [7, ""]}, (), Freedom(2, 1)),
    ],
)
def test_choices_are_counted_once_per_parameter(accepted, required, expected):
    assert count_freedom(row(accepted, required)) == expected


def test_the_total_adds_both_kinds():
    assert Freedom(values=2, optional=3).total == 5


@pytest.mark.parametrize(
    ("choices", "probability", "share"),
    [([0, 0], 0.9, 0.0), ([1], 0.25, 0.25), ([2], 0.5, 0.75), ([0, 1, 2], 0.5, (0 + 0.5 + 0.75) / 3), ([3], 1.0, 1.0)],
)
def test_the_share_is_the_mean_chance_of_any_departure(choices, probability, share):
    assert deviation_share(choices, probability) == pytest.approx(share)


def test_no_question_at_all_is_an_error():
    with pytest.raises(ValueError, match="choices is empty"):
        deviation_share([], 0.5)


VALUES = st.lists(st.sampled_from([0, 1, "x", "y", 2.5]), min_size=1, max_size=3, unique=True)
ACCEPTED = st.dictionaries(
    st.sampled_from("abcd"), st.tuples(VALUES, st.booleans()).map(lambda v: v[0] + [""] * v[1]), max_size=4
)


@given(accepted=ACCEPTED, seed=st.integers(0, 1000), values=st.booleans(), optional=st.booleans())
def test_every_varied_answer_earns_full_credit_from_the_accepted_answers(accepted, seed, values, optional):
    question = row(accepted)
    answer = vary_answer(question, np.random.default_rng(seed), values=values, optional=optional)
    assert score(answer, question.ground_truth, ROBUST).correctness == 3


@given(accepted=ACCEPTED, seed=st.integers(0, 1000))
def test_a_question_without_freedom_has_one_right_answer(accepted, seed):
    question = row(accepted)
    if count_freedom(question).total == 0:
        assert vary_answer(question, np.random.default_rng(seed)) == realise(question)


@needs_data
def test_on_the_real_data_only_questions_with_freedom_can_lose_credit():
    rng = np.random.default_rng(0)
    for question in load(["simple_python", "parallel_multiple"]):
        freedom, single = count_freedom(question), realise(question)
        lost_by_value = score(vary_answer(question, rng, optional=False), single, ROBUST).correctness < 3
        lost_by_option = score(vary_answer(question, rng, values=False), single, ROBUST).correctness < 3
        assert lost_by_value <= (freedom.values > 0), question.id
        assert lost_by_option <= (freedom.optional > 0), question.id
