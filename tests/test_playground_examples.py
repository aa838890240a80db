"""The examples to try: what each is worth under three presets, by hand, and which turns are void."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from toolrl_core import CONTRACTS, RewardSpec, is_void_turn, score, single_valued
from toolrl_core.examples import SCORING_EXAMPLES, TURN_EXAMPLES, example_rows

F = Fraction

# Correctness and format under paper, released and robust. `book` has S_max = 1 + 1 + 2 = 4; correctness is 6 R / S - 3.
WORTH = {
    # names 1/2, search 1 + 1, calc nothing: 5/2 of 4
    "one_missing": ((F(3, 4), 1), (F(3, 4), 1), (F(3, 4), 1)),
    # names 1/2, pairs 1 + 8/3 of 6; by name the first alpha is best for alpha (1/3 + 1), and beta has no partner:
    # multiset names 1/3 give 5/3 of 6, and of 7 where the second alpha counts
    "greedy": ((F(7, 6), 1), (F(-4, 3), 1), (F(-11, 7), 1)),
    # paper: everything; by name both pairs share no key, so that 1 of 5 is left
    "exchanged_names": ((3, 1), (F(-9, 5), 1), (F(-9, 5), 1)),
    # multiset names 1/3 + 3 of 4; robust counts two further calls: 10/3 of 6
    "repeated_call": ((3, 1), (2, 1), (F(1, 3), 1)),
    "unneeded_call": ((-3, 0), (0, 0), (-3, 0)),
    "all_right": ((3, 1), (3, 1), (3, 1)),
    # the released rules are given the first spelling, Oslo: names and key, no value, 2 of 3
    "accepted_values": ((3, 1), (1, 1), (3, 1)),
    # first values: two calls for Paris, one of them answered by Rome: 1 + 2 + 1 of 5 and 6 * 4/5 - 3
    "overlapping_values": ((3, 1), (F(9, 5), 1), (3, 1)),
    "other_order": ((3, 1), (3, 1), (3, 1)),
    # names and key, no value: 2 of 3
    "loose_text": ((1, 1), (1, 1), (1, 1)),
    "pretty_printed": ((3, 1), (-3, 1), (3, 1)),
    "arguments_key": ((3, 1), (-3, 1), (3, 1)),
    # set and multiset names 1/2 + 3 of 4; robust counts the second call: 7/2 of 5
    "second_block": ((F(9, 4), 1), (3, 0), (F(6, 5), 0)),
    "tag_in_thought": ((3, 1), (-3, 0), (3, 1)),
    "python_literal": ((-3, 1), (-3, 1), (-3, 0)),
    "truncated": ((-3, 1), (-3, 0), (-3, 0)),
    "arguments_as_text": ((3, 1), (-3, 1), (3, 1)),
    "end_tag_in_value": ((3, 1), (-3, 0), (3, 1)),
    "wrong_key_for_name": ((-3, 1), (-3, 1), (-3, 0)),
    "text_after": ((3, 1), (3, 0), (3, 0)),
    # names 1, keys 1/2, one value: 5/2 of 4
    "dropped_argument": ((F(3, 4), 1), (F(3, 4), 1), (F(3, 4), 1)),
    # names 1, keys 2/3, two values: 11/3 of 4
    "made_up_argument": ((F(5, 2), 1), (F(5, 2), 1), (F(5, 2), 1)),
    # names 1, keys 1, one value: 3 of 4
    "number_as_text": ((F(3, 2), 1), (F(3, 2), 1), (F(3, 2), 1)),
    "no_tags": ((-3, 0), (-3, 0), (-3, 0)),
}

VOID = {
    "python3": {"code_released", "tool_call", "search"},
    "python": {"tool_call", "search"},
    "unclosed": {"code", "code_released", "tool_call", "search"},
    "empty_box": {"code", "tool_call", "search"},
    "box_in_code": {"code", "tool_call", "search"},
    "prose": {"code", "code_released", "tool_call", "search"},
    "prose_final_answer": {"code", "code_released", "tool_call", "search"},
    "tool_call": {"code", "code_released", "search"},
    "broken_call": {"code", "code_released", "tool_call", "search"},
    "search": {"code", "code_released", "tool_call"},
}


def test_every_example_is_in_these_tables():
    assert list(SCORING_EXAMPLES) == list(WORTH)
    assert list(TURN_EXAMPLES) == list(VOID)


@pytest.mark.parametrize("name", WORTH)
def test_an_example_is_worth_what_hand_arithmetic_says(name):
    example = SCORING_EXAMPLES[name]
    for preset, (correctness, form) in zip(("paper", "released", "robust"), WORTH[name], strict=True):
        truth = single_valued(example.ground_truth) if preset == "released" else example.ground_truth
        result = score(example.completion, truth, RewardSpec.preset(preset))
        assert result.correctness == pytest.approx(float(correctness), abs=1e-12), preset
        assert result.format == form, preset


def test_the_loose_text_is_equal_under_the_leaderboards_rule():
    example = SCORING_EXAMPLES["loose_text"]
    assert example.options == {"equality": "bfcl"}
    assert score(example.completion, example.ground_truth, RewardSpec(equality="bfcl")).total == 4


def test_the_advice_of_the_examples_holds():
    greedy = SCORING_EXAMPLES["greedy"]
    spec = RewardSpec(matching="greedy_ground_truth")
    assert score(greedy.completion, greedy.ground_truth, spec).correctness == pytest.approx(-7 / 6)  # 1/2 + 4/3 of 6
    literal = SCORING_EXAMPLES["python_literal"]
    robust = RewardSpec.preset("robust").replace(accept_python_literals=True)
    assert score(literal.completion, literal.ground_truth, robust).correctness == 3
    number = SCORING_EXAMPLES["number_as_text"]
    schema = RewardSpec(equality="schema", schemas={"book": {"nights": {"type": "integer"}}})
    assert score(number.completion, number.ground_truth, schema).correctness == 3
    dropped = SCORING_EXAMPLES["dropped_argument"]
    longer = dropped.ground_truth.replace('"risk": "low"', '"risk": "low", "user": "me"')
    answer = dropped.completion.replace('"risk": "low"', '"risk": "low", "user": "me"')
    result = score(answer, longer, RewardSpec.preset("robust"))
    assert result.correctness == pytest.approx(6 * (1 + 2 / 3 + 2) / 5 - 3)  # a loss of 1.6 points, not of 2.25


@pytest.mark.parametrize("name", VOID)
def test_a_turn_is_void_where_its_contract_says_so(name):
    assert {contract for contract in CONTRACTS if is_void_turn(TURN_EXAMPLES[name].text, contract)} == VOID[name]


def test_the_examples_are_named_and_explained():
    for example in (*SCORING_EXAMPLES.values(), *TURN_EXAMPLES.values()):
        assert example.title
        assert example.shows.endswith(".")


def test_the_rows_are_the_examples():
    rows = [json.loads(line) for line in example_rows().splitlines()]
    assert [row["completion"] for row in rows] == [example.completion for example in SCORING_EXAMPLES.values()]
    assert set(rows[0]) == {"example", "completion", "ground_truth"}
