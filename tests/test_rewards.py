"""Scores against tables of facts, against exact fractions by brute force, and under every option."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from tests.reference_reward import Expected, Options, Predicted, Reference, reference
from tests.reward_cases import (
    BOTH,
    CALL,
    CALL_CASES,
    CALL_ONLY,
    RESPONSE,
    SMALL_INPUTS,
    TEXT_CASES,
    THOUGHT,
    CallCase,
    Calls,
    SmallInput,
    TextCase,
)
from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.calls import AcceptedCall, GroundTruthError, ToolCall
from toolrl_core.ground_truth import render_completion, single_valued
from toolrl_core.pairs import pair_scores
from toolrl_core.reasons import Reason
from toolrl_core.rewards import iter_scores, score
from toolrl_core.schedules import LengthReward, constant, two_stage
from toolrl_core.spec import RewardSpec

PAPER = RewardSpec.preset("paper")
RELEASED = RewardSpec.preset("released")
ROBUST = RewardSpec.preset("robust")
RELEASED_ON_CALLS = RELEASED.replace(no_call="scored")
TOLERANCE = 1e-12

F1 = {"name": "f", "parameters": {"a": 1}}


def dicts(calls: Calls) -> list[dict[str, Any]]:
    return [{"name": name, "parameters": arguments} for name, arguments in calls]


def value(text: str) -> float:
    return float(Fraction(text))


def codes(breakdown: RewardBreakdown) -> set[str]:
    return {finding.code for finding in breakdown.reasons}


def completion(*lines: str) -> str:
    return "\n".join([THOUGHT, "<tool_call>", *lines, "</tool_call>"])


# The tables of facts


@pytest.mark.parametrize("case", CALL_CASES, ids=lambda case: case.label)
def test_correctness_has_the_value_of_the_table_under_each_rule(case: CallCase) -> None:
    expected, predicted = dicts(case.expected), dicts(case.predicted)
    paper = score(predicted, expected)
    assert (paper.maximum, paper.matched) == (case.maximum, pytest.approx(value(case.matched), abs=TOLERANCE))
    gated = PAPER.replace(same_name=True)
    for spec, text in (
        (PAPER, case.paper),
        (gated, case.gated),
        (PAPER.replace(matching="greedy_ground_truth"), case.greedy),
        (gated.replace(names="multiset"), case.gated_multiset),
        (RELEASED_ON_CALLS, case.released),
        (PAPER.replace(equality="python"), case.python_equality or case.paper),
    ):
        assert score(predicted, expected, spec).correctness == pytest.approx(value(text), abs=TOLERANCE), spec


@pytest.mark.parametrize("case", SMALL_INPUTS, ids=lambda case: case.label)
def test_paper_and_released_code_disagree_on_small_inputs(case: SmallInput) -> None:
    expected, predicted = dicts(case.expected), dicts(case.predicted)
    assert score(predicted, expected).correctness == pytest.approx(value(case.paper), abs=TOLERANCE)
    assert score(predicted, expected, RELEASED).correctness == pytest.approx(value(case.released), abs=TOLERANCE)
    text = completion(*render_completion(expected, calls=[ToolCall(n, a) for n, a in case.predicted]).split("\n")[2:-1])
    assert score(text, expected, RELEASED).correctness == pytest.approx(value(case.released), abs=TOLERANCE)
    assert score(text, expected).correctness == pytest.approx(value(case.paper), abs=TOLERANCE)


@pytest.mark.parametrize("case", TEXT_CASES, ids=lambda case: case.label)
def test_format_rules_and_the_released_scorer_read_a_text_as_the_table_says(case: TextCase) -> None:
    assert score(case.completion, case.ground_truth).format == float(case.ordered_tags)
    assert score(case.completion, case.ground_truth, PAPER.replace(format_rule="literal")).format == float(case.literal)
    released = score(case.completion, case.ground_truth, RELEASED)
    assert (released.format, released.correctness) == (case.released_format, case.released_correctness)
    assert released.total == case.released_format + case.released_correctness


@pytest.mark.parametrize(
    ("expected", "predicted", "robust"),
    [
        # five copies of the one right call of one key: names 1/5, pair 2, maximum 3 + 4
        ([("f", {"a": 1})], [("f", {"a": 1})] * 5, "-39/35"),
        # a junk call beside the right one: names 1/2, pair 2, maximum 3 + 1
        ([("f", {"a": 1})], [("f", {"a": 1}), ("junk", {})], "3/4"),
        # names exchanged between calls: names 1, keys and values nothing, maximum 5
        ([("f", {"a": 1}), ("g", {"b": 2})], [("g", {"a": 1}), ("f", {"b": 2})], "-9/5"),
        ([("f", {"a": 1})], [("f", {"a": True})], "1"),
        ([("f", {"a": 1})], [], "-3"),
        ([], [], "3"),
        ([], [("f", {})], "-3"),
        # all keys right and all values wrong: (1 + n) / (1 + n + K) with n = 2, K = 3
        ([("f", {"a": 1}), ("g", {"b": 2, "c": 3})], [("f", {"a": 0}), ("g", {"b": 0, "c": 0})], "0"),
        # names alone, no arguments: the name term, and one point for each call that expects none
        ([("f", {"a": 1}), ("g", {})], [("f", {}), ("g", {})], "0"),
    ],
)
def test_robust_counts_every_call_beyond_the_expected_names(expected: Calls, predicted: Calls, robust: str) -> None:
    assert score(dicts(predicted), dicts(expected), ROBUST).correctness == pytest.approx(value(robust), abs=TOLERANCE)


@pytest.mark.parametrize(
    ("preset", "correctness"), [("paper", "3"), ("released", "7/5"), ("robust", "-39/35"), ("equal_max", "1")]
)
def test_five_copies_of_the_right_call_earn_what_each_preset_says(preset: str, correctness: str) -> None:
    spec = RewardSpec.preset(preset)
    assert score([F1] * 5, [F1], spec).correctness == pytest.approx(value(correctness), abs=TOLERANCE)


# Other tiers


@pytest.mark.parametrize(
    ("expected", "predicted", "finegrained", "intermediate", "coarse"),
    [
        ([("f", {"a": 1})], [("f", {"a": 1})], "3", "3", "3"),
        # a wrong value: names 1, keys 1, value 0 of 3; no call right of 2; the answer wrong
        ([("f", {"a": 1})], [("f", {"a": 2})], "1", "0", "-3"),
        # a key too many: the key term falls to 0, the value is still scored
        ([("f", {"a": 1})], [("f", {"a": 1, "z": 0})], "1", "0", "-3"),
        # one call of two missing: the exact name term falls to 0
        ([("f", {"a": 1}), ("g", {})], [("f", {"a": 1})], "0", "-1", "-3"),
        ([("f", {"a": 1}), ("g", {})], [("g", {}), ("f", {"a": 1})], "3", "3", "3"),
        # exchanged names pair without a gate, save in the tier of whole answers
        ([("f", {"a": 1}), ("g", {"b": 2})], [("g", {"a": 1}), ("f", {"b": 2})], "3", "3", "-3"),
        ([], [], "3", "3", "3"),
        ([], [("f", {})], "-3", "-3", "-3"),
    ],
)
def test_stricter_tiers_give_all_or_nothing_at_their_own_level(
    expected: Calls, predicted: Calls, finegrained: str, intermediate: str, coarse: str
) -> None:
    for preset, text in (("finegrained", finegrained), ("intermediate", intermediate), ("coarse", coarse)):
        result = score(dicts(predicted), dicts(expected), RewardSpec.preset(preset))
        assert result.correctness == pytest.approx(value(text), abs=TOLERANCE), preset


def test_partial_credit_of_a_whole_call_is_its_share_of_raw_points() -> None:
    # keys 1/2, value 1 of 2: (1/2 + 1) / (1 + 2) = 1/2; with the name 3/2 of 2
    spec = PAPER.replace(granularity="call")
    assert score([F1], [{"name": "f", "parameters": {"a": 1, "b": 2}}], spec).correctness == pytest.approx(1.5)


def test_partial_credit_of_a_whole_answer_is_the_name_term_times_the_mean_share_of_a_call() -> None:
    # names 1/2; calls 1 and 0: 1/2 * 1/2 = 1/4
    expected = [F1, {"name": "g", "parameters": {"b": 2}}]
    assert score([F1], expected, PAPER.replace(granularity="answer")).correctness == pytest.approx(-1.5)


def test_an_exact_name_term_beside_partial_credit_falls_to_zero_alone() -> None:
    # names 0 instead of 1/2, first call 2 of 3: 2 / 5
    expected = [F1, {"name": "g", "parameters": {"b": 2}}]
    spec = PAPER.replace(name_credit="exact")
    assert score([F1], expected, spec).correctness == pytest.approx(-0.6)


# Published failures, reduced


ONE = [{"name": "book", "parameters": {"city": "Oslo", "n": 2}}]
BOOK = '{"name": "book", "parameters": {"city": "Oslo", "n": 2}}'


@pytest.mark.parametrize(
    ("expected", "predicted", "spec", "correctness"),
    [
        # gold order takes the wrong one of two partners (multiset names 1/2, maximum 5)
        ([("f", {"x": 1}), ("f", {"x": 2})], [("f", {"x": 2})], ROBUST, "0"),
        ([("f", {"x": 1}), ("f", {"x": 2})], [("f", {"x": 2})], RELEASED, "-6/5"),
        # a longer call must not take the shorter one's place
        (
            [("A", {"x": 1}), ("A", {"x": 1, "y": 2})],
            [("A", {"x": 1, "y": 2}), ("A", {"x": 1})],
            ROBUST,
            "3",
        ),
        # two equal expected calls
        ([("w", {"t": "9"})] * 2, [("w", {"t": "9"})] * 2, ROBUST, "3"),
        # one right value given twice: 1 + 2 + 1 of 5
        ([("w", {"c": "NY"}), ("w", {"c": "SH"})], [("w", {"c": "SH"})] * 2, ROBUST, "9/5"),
        # calls without parameters, in another order
        ([("a", {}), ("b", {})], [("b", {}), ("a", {})], ROBUST, "3"),
        # a name that ends alike is another name
        ([("add", {"a": 1})], [("subtract_add", {"a": 1})], ROBUST, "-3"),
        # taking the best pair first is greedy too: 1 + 3/2 + 1 of 5 against 1 + 3/2 + 0
        ([("f", {"b": 1}), ("f", {"a": 1})], [("f", {"b": 2}), ("f", {"a": 1, "b": 1})], ROBUST, "6/5"),
        (
            [("f", {"b": 1}), ("f", {"a": 1})],
            [("f", {"b": 2}), ("f", {"a": 1, "b": 1})],
            ROBUST.replace(matching="greedy_ground_truth"),
            "0",
        ),
        (
            [("f", {"b": 1}), ("f", {"a": 1})],
            [("f", {"b": 2}), ("f", {"a": 1, "b": 1})],
            ROBUST.replace(matching="greedy_best"),
            "0",
        ),
        # numbers inside lists
        ([("avg", {"v": [12.0, 15.0]})], [("avg", {"v": [12, 15]})], ROBUST, "3"),
        ([("avg", {"v": [12.0, 15.0]})], [("avg", {"v": [12, 15]})], ROBUST.replace(equality="json_strict"), "1"),
        # text for a number: only a declared schema makes it one
        ([("s", {"x": 1})], [("s", {"x": "1"})], ROBUST, "1"),
        (
            [("s", {"x": 1})],
            [("s", {"x": "1"})],
            ROBUST.replace(equality="schema", schemas={"s": {"x": {"type": "integer"}}}),
            "3",
        ),
        # a leading zero is lost for good
        (
            [("z", {"zip": "02134"})],
            [("z", {"zip": 2134})],
            ROBUST.replace(equality="schema", schemas={"z": {"zip": {"type": "string"}}}),
            "1",
        ),
        # the Berkeley checker drops the sign
        ([("s", {"x": "5"})], [("s", {"x": "-5"})], ROBUST, "1"),
        ([("s", {"x": "5"})], [("s", {"x": "-5"})], ROBUST.replace(equality="bfcl"), "3"),
        # lists that stand for sets
        ([("ret", {"ids": ["1", "2"]})], [("ret", {"ids": ["2", "1"]})], ROBUST, "1"),
        ([("ret", {"ids": ["1", "2"]})], [("ret", {"ids": ["2", "1"]})], ROBUST.replace(unordered=("ids",)), "3"),
        ([("ret", {"ids": ["1", "2"]})], [("ret", {"ids": ["2", "1"]})], ROBUST.replace(unordered=("ret.ids",)), "3"),
        ([("ret", {"ids": ["1", "2"]})], [("ret", {"ids": ["2", "1"]})], ROBUST.replace(unordered=("other.ids",)), "1"),
        # an explicit default equals leaving it out, where a schema declares it
        ([("t", {"x": "a"})], [("t", {"x": "a", "u": "C"})], ROBUST, "2"),
        (
            [("t", {"x": "a"})],
            [("t", {"x": "a", "u": "C"})],
            ROBUST.replace(schemas={"t": {"x": {"type": "string"}, "u": {"type": "string", "default": "C"}}}),
            "3",
        ),
        (
            [("t", {"x": "a"})],
            [("t", {"x": "a", "u": "F"})],
            ROBUST.replace(schemas={"t": {"u": {"type": "string", "default": "C"}}}),
            "2",
        ),
        # an invented argument: 1 + 1/2 + 1 of 3
        ([("t", {"x": "a"})], [("t", {"x": "a", "bogus": 1})], ROBUST, "2"),
        ([("pow", {"base": 10})], [("pow", {"base": 999})], ROBUST, "1"),
        # nothing is partly right inside a value
        ([("o", {"opts": {"a": 1, "b": 2, "c": 3}})], [("o", {"opts": {"a": 1, "b": 2, "c": 4}})], ROBUST, "1"),
        # no prediction is the floor
        ([("book", {"city": "Oslo", "n": 2})], [], ROBUST, "-3"),
        # a lost argument earns less than a nearly right one
        ([("bash", {"command": "x", "risk": "LOW"})], [("bash", {"risk": "LOW"})], ROBUST, "3/4"),
        ([("bash", {"command": "x", "risk": "LOW"})], [("bash", {"command": "y", "risk": "LOW"})], ROBUST, "3/2"),
    ],
)
def test_failures_met_in_public_score_as_they_should(
    expected: Calls, predicted: Calls, spec: RewardSpec, correctness: str
) -> None:
    result = score(dicts(predicted), dicts(expected), spec)
    assert result.correctness == pytest.approx(value(correctness), abs=TOLERANCE)


@pytest.mark.parametrize(
    ("text", "calls", "correctness", "format_value", "reason"),
    [
        # a second call that nothing asks for: names 1/2, call 3, maximum 4 + 1
        (completion(BOOK, '{"name": "pay", "parameters": {"id": "A1"}}'), 2, "6/5", 1, Reason.UNEXPECTED_CALL),
        (completion(BOOK.replace("name", "tool")), 0, "-3", 0, Reason.MISSING_NAME),
        (completion(BOOK.replace("parameters", "arguments")), 1, "3", 1, Reason.ARGUMENTS_KEY),
        (
            completion('{"name": "book", "parameters": "{\\"city\\": \\"Oslo\\", \\"n\\": 2}"}'),
            1,
            "3",
            1,
            Reason.STRINGIFIED_ARGUMENTS,
        ),
        (completion(BOOK.replace('"', "'")), 0, "-3", 0, Reason.PYTHON_LITERAL),
        (completion('{"name": "grep", "parameters": {"re": "\\d+"}}'), 0, "-3", 0, Reason.JSON_DECODE),
        (completion(BOOK)[:-27], 0, "-3", 0, Reason.TRUNCATED),
        (
            completion(BOOK) + '\n<tool_call>\n{"name": "wipe", "parameters": {}}\n</tool_call>',
            2,
            "6/5",
            0,
            Reason.MULTIPLE_BLOCKS,
        ),
        (completion(BOOK).replace(" t ", " I will emit <tool_call> now "), 1, "3", 1, Reason.TAG_IN_THOUGHT),
        (completion(BOOK).replace(" t ", " docs say `</think>` ends it "), 1, "3", 1, Reason.QUOTED_THOUGHT_END),
        (f"{THOUGHT}\n{completion(BOOK)}", 1, "3", 0, Reason.REPEATED_THOUGHT),
        (completion(BOOK) + "\nDone.", 1, "3", 0, Reason.TEXT_OUTSIDE),
        (completion(BOOK) + "<|im_end|>", 1, "3", 1, Reason.SPECIAL_TOKEN_TAIL),
        (completion(BOOK.replace("Oslo", "\\u004fslo")), 1, "3", 1, None),
        (completion(f"[{BOOK}]"), 1, "3", 1, Reason.JSON_ARRAY),
        (completion(BOOK.replace(", ", ",\n  ")), 1, "3", 1, None),
        (completion(BOOK).replace("\n", "\r\n"), 1, "3", 1, None),
        ("", 0, "-3", 0, Reason.MISSING_CALL),
        (r"\boxed{book Oslo 2}", 0, "-3", 0, Reason.MISSING_THOUGHT),
        ("<think></think><tool_call></tool_call>", 0, "-3", 0, Reason.EMPTY_BLOCK),
    ],
)
def test_robust_reads_real_completions(
    text: str, calls: int, correctness: str, format_value: float, reason: Reason | None
) -> None:
    result = score(text, ONE, ROBUST)
    assert (result.n_predicted, result.format) == (calls, format_value)
    assert result.correctness == pytest.approx(value(correctness), abs=TOLERANCE)
    assert reason is None or reason in {finding.reason for finding in result.reasons}


def test_two_objects_in_one_block_are_two_calls() -> None:
    pay = {"name": "pay", "parameters": {"id": "A1"}}
    for block in (
        f'{BOOK}\n{{"name": "pay", "parameters": {{"id": "A1"}}}}',
        f'{BOOK}{{"name": "pay", "parameters": {{"id": "A1"}}}}',
        f'[{BOOK}, {{"name": "pay", "parameters": {{"id": "A1"}}}}]',
        f'{BOOK},\n\n{{"name": "pay", "parameters": {{"id": "A1"}}}}',
    ):
        result = score(completion(block), [*ONE, pay], ROBUST)
        assert (result.correctness, result.format, result.n_predicted) == (3, 1, 2)


def test_an_end_tag_inside_a_value_is_text() -> None:
    write = {"name": "write", "parameters": {"path": "a.md", "text": "close with </tool_call> here"}}
    result = score(render_completion([write]), [write], ROBUST)
    assert (result.correctness, result.format, result.n_predicted) == (3, 1, 1)


def test_python_literals_count_only_where_they_are_accepted() -> None:
    for text in (completion(BOOK.replace('"', "'")), completion(BOOK.replace("2}", "2, 'full': True}"))):
        refused = score(text, ONE, ROBUST)
        assert (refused.n_predicted, refused.n_malformed, refused.correctness) == (0, 1, -3)
        assert score(text, ONE, ROBUST.replace(accept_python_literals=True)).n_predicted == 1
    accepted = score(completion(BOOK.replace('"', "'")), ONE, ROBUST.replace(accept_python_literals=True))
    assert (accepted.correctness, accepted.format) == (3, 1)


def test_overlapping_accepted_values_are_matched_as_a_whole() -> None:
    expected = [{"f": {"c": ["Paris", "Rome"]}}, {"f": {"c": ["Paris"]}}]
    predicted = [{"name": "f", "parameters": {"c": "Paris"}}, {"name": "f", "parameters": {"c": "Rome"}}]
    assert score(predicted, expected, ROBUST).correctness == 3
    greedy = score(predicted, expected, ROBUST.replace(matching="greedy_ground_truth"))
    assert greedy.correctness == pytest.approx(1.8)  # 1 + 2 + 1 of 5
    assert "greedy_loss" in codes(greedy)


def test_a_call_where_a_response_is_expected_is_named_and_judged_by_each_preset() -> None:
    expected, text = f"{THOUGHT}\n{RESPONSE}", completion(BOOK)
    released, robust = score(text, expected, RELEASED), score(text, expected, ROBUST)
    assert (released.format, released.correctness) == (0, 0)
    assert (robust.format, robust.correctness) == (0, -3)
    assert "unneeded_tool_call" in codes(released) & codes(robust)
    refusal = score(expected, expected, ROBUST)
    assert (refusal.format, refusal.correctness, refusal.total) == (1, 3, 4)


# Completions without text


def test_calls_and_messages_have_no_format() -> None:
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}],
    }
    for answer in ([F1], (F1,), [ToolCall("f", {"a": 1})], [message]):
        result = score(answer, [F1], ROBUST)
        assert (result.format, result.correctness, result.total, result.n_predicted) == (None, 3, 3, 1)
        assert "format_not_applicable" in codes(result)


def test_tool_observations_and_prompts_never_count_as_the_models_text() -> None:
    call = '<tool_call>{"name": "f", "parameters": {"a": 1}}</tool_call>'
    messages = [
        {"role": "user", "content": call},
        {"role": "assistant", "content": "no"},
        {"role": "tool", "content": call},
    ]
    assert score(messages, [F1], ROBUST).correctness == -3
    messages.append({"role": "assistant", "content": call})
    assert score(messages, [F1], ROBUST).correctness == 3


def test_all_assistant_messages_count_in_order() -> None:
    messages = [
        {"role": "assistant", "content": "<think> a b </think>", "tool_calls": [F1]},
        {"role": "tool", "content": "7"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "g", "arguments": '{"b": 2}'}}]},
    ]
    result = score(messages, [F1, {"name": "g", "parameters": {"b": 2}}], ROBUST)
    assert (result.correctness, result.n_predicted) == (3, 2)
    assert "stringified_arguments" in codes(result)
    assert score(messages, [F1], PAPER.replace(length_reward=LengthReward(target=4))).length == 0.5


def test_content_parts_and_arrays_of_messages_are_read() -> None:
    numpy = pytest.importorskip("numpy")
    part = {"type": "text", "text": '<tool_call>{"name": "f", "parameters": {"a": 1}}</tool_call>'}
    assert score([{"role": "assistant", "content": [part, 7, {"text": None}]}], [F1], ROBUST).correctness == 3
    calls = numpy.array([{"name": "f", "arguments": {"a": numpy.int64(1)}}])
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    assert score(numpy.array([message]), [F1], ROBUST).correctness == 3


GARBAGE: list[Any] = [
    *(None, 7, 1.5, True, "text", b"bytes", object(), [], {}, [[[]]], {"a"}),
    *({"name": None}, {"name": ""}, {"name": 3, "arguments": {}}, {"name": ["f"]}, {"arguments": {}}),
    *({"name": "f", "arguments": value} for value in (None, 7, "no json", "[1]", '"x"', [1], {1: 2}, {None: 1})),
    *({"name": "f", "arguments": {"a": value}} for value in (object(), {1, 2}, b"x", 10**5000, float("nan"), 1j)),
    {"function": 5},
    {"function": {"name": None}},
    {"function": {"function": {"name": "f"}}},
    {"name": "f", "parameters": 3, "arguments": None},
    {"role": "assistant"},
    {"role": "assistant", "content": 5, "tool_calls": 5},
    {"role": "assistant", "content": [None, {"text": 5}], "tool_calls": [None, 5, {}]},
    {"role": 5, "content": "x"},
    {5: 6},
]


@pytest.mark.parametrize("item", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_among_calls_and_messages_never_raises(item: Any) -> None:
    for spec in (PAPER, RELEASED, ROBUST, RewardSpec.preset("released_coarse")):
        for answer in ([item], [F1, item], [{"role": "assistant", "tool_calls": [item]}]):
            result = score(answer, [F1], spec)
            assert -3 <= result.correctness <= 3
            assert result.to_dict()["n_predicted"] == result.n_predicted
            assert "<table" in result._repr_html_()


def test_arguments_that_refer_to_themselves_are_malformed_not_endless() -> None:
    loop: dict[str, Any] = {}
    loop["a"] = loop
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for arguments in (loop, {"a": deep}, {"a": [loop]}):
        result = score([{"name": "f", "arguments": arguments}], [F1], ROBUST)
        assert (result.n_predicted, result.n_malformed) == (0, 1)
    own = {"name": None}
    own["function"] = own  # type: ignore[assignment]
    assert score([own], [F1], ROBUST).n_malformed == 1


def test_a_completion_must_be_text_or_a_list() -> None:
    for answer in (None, 5, F1, ToolCall("f")):
        with pytest.raises(TypeError, match="a completion must be text or a list of calls or messages, found"):
            score(answer, [F1])


# Options that change the sum


def test_total_is_the_sum_of_format_correctness_and_length() -> None:
    spec = PAPER.replace(length_reward=LengthReward(target=4), schedule=constant(format=(0.5, 2), correctness=(-1, 5)))
    result = score(CALL_ONLY, CALL_ONLY, spec)
    assert (result.format, result.correctness, result.length) == (2, 5, 0.25)
    assert result.total == 7.25
    wrong = score("nothing", CALL_ONLY, spec)
    assert (wrong.format, wrong.correctness, wrong.length) == (0.5, -1, 0)


def test_without_a_format_rule_there_is_no_format_reward() -> None:
    result = score("no tags at all", CALL_ONLY, PAPER.replace(format_rule="none"))
    assert (result.format, result.total) == (0, -3)


def test_a_schedule_without_a_step_refuses() -> None:
    spec = PAPER.replace(schedule=two_stage())
    with pytest.raises(ValueError, match="'two_stage' changes with the training step, but no step was given"):
        score([F1], [F1], spec)
    assert score([F1], [F1], spec, step=29).correctness == 1
    assert score([F1], [F1], spec, step=30).correctness == 3


def test_a_growing_length_target_without_a_step_refuses() -> None:
    spec = PAPER.replace(length_reward=LengthReward(target=384, growth=256))
    with pytest.raises(ValueError, match="the length target grows with the training step, but no step was given"):
        score(CALL_ONLY, CALL_ONLY, spec)


def test_names_are_matched_by_declared_aliases_only() -> None:
    expected, predicted = [{"name": "math.sum", "parameters": {}}], [{"name": "math_sum", "parameters": {}}]
    assert score(predicted, expected, ROBUST).correctness == -3
    assert score(predicted, expected, ROBUST.replace(name_aliases={"math_sum": "math.sum"})).correctness == 3
    assert score(predicted, expected, ROBUST.replace(name_aliases={"math.sum": "math_sum"})).correctness == 3


# Several accepted values


WEATHER = AcceptedCall("weather", {"city": ["Oslo", "oslo"], "unit": ["C", ""]}, defaults={"days": 3})


@pytest.mark.parametrize(
    ("arguments", "matched"),
    [
        ({"city": "Oslo"}, 3),
        ({"city": "oslo"}, 3),
        ({"city": "Oslo", "unit": "C"}, 3),
        ({"city": "Oslo", "unit": ""}, 3),  # the literal empty text is accepted too
        ({"city": "Oslo", "unit": "C", "days": 3}, 3),
        ({"city": "Oslo", "unit": "F"}, 2.5),  # a wrong optional value is a key too many
        ({"city": "Oslo", "days": 4}, 2.5),
        ({"city": "Oslo", "days": 4, "unit": "F"}, 2 + 1 / 3),
        ({"unit": "C"}, 1),
        ({"city": "Bergen"}, 2),
    ],
)
def test_optional_parameters_are_free_when_right_and_extra_keys_when_wrong(
    arguments: dict[str, Any], matched: float
) -> None:
    result = score([{"name": "weather", "arguments": arguments}], [WEATHER])
    assert result.maximum == 3
    assert result.matched == pytest.approx(matched, abs=TOLERANCE)


def test_nested_alternatives_are_read_field_by_field() -> None:
    expected = [{"go": {"to": [{"city": ["Oslo", "Bergen"], "zip": ["", 150]}, "home"]}}]
    for right in ({"city": "Bergen"}, {"city": "Oslo", "zip": 150}, "home", {"city": "Oslo", "zip": ""}):
        assert score([{"name": "go", "arguments": {"to": right}}], expected).correctness == 3
    for wrong in ({"city": "Rome"}, {}, {"zip": 150}, {"city": "Oslo", "zip": 1}, {"city": "Oslo", "x": 1}, "Home"):
        assert score([{"name": "go", "arguments": {"to": wrong}}], expected).correctness == 1


def test_an_object_of_lists_in_a_single_valued_ground_truth_is_literal() -> None:
    expected = [{"name": "f", "parameters": {"o": {"a": [1, 2]}}}]
    for spec in (PAPER, PAPER.replace(equality="schema"), PAPER.replace(schemas={"f": {"o": {"type": "object"}}})):
        assert score([{"name": "f", "parameters": {"o": {"a": [1, 2]}}}], expected, spec).correctness == 3
        assert score([{"name": "f", "parameters": {"o": {"a": 1}}}], expected, spec).correctness == 1


def test_released_rules_refuse_several_accepted_values_and_name_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"call 0 \('weather'\) accepts several values.*single_valued"):
        score([], [WEATHER], RELEASED)
    assert score([{"name": "weather", "parameters": {"city": "Oslo"}}], single_valued([WEATHER]), RELEASED).total == 3
    assert score([F1], [{"f": {"a": [1]}}], RELEASED).total == 3


def test_a_bad_ground_truth_in_a_stream_names_its_row() -> None:
    rows = iter_scores([([], []), ([], [F1]), ([], [{"name": 3}])])
    assert [next(rows).total, next(rows).total] == [3, -3]
    with pytest.raises(GroundTruthError, match="ground truth call 0, field 'name': row 2: must be non-empty text"):
        next(rows)


def test_pair_scores_show_the_terms_that_a_matching_adds_up() -> None:
    expected = [ToolCall("alpha", {"a": 1}), ToolCall("beta", {"b": 1, "c": 2})]
    predicted = [ToolCall("alpha", {"a": 1, "b": 1, "c": 2}), ToolCall("alpha", {"a": 2})]
    assert pair_scores(expected, predicted) == [[pytest.approx(4 / 3), 1], [pytest.approx(8 / 3), 0]]
    assert pair_scores(expected, predicted, ROBUST) == [[pytest.approx(4 / 3), 1], [0, 0]]


# Exact fractions by brute force


PRESET_OPTIONS = {
    "paper": Options(),
    "robust": Options(same_name=True, names="multiset", extra_calls="counted"),
    "equal_max": Options(low=Fraction(-1), high=Fraction(1)),
    "finegrained": Options(credit="exact"),
    "intermediate": Options(granularity="call", credit="exact"),
    "coarse": Options(granularity="answer", credit="exact"),
    "released": Options("greedy_ground_truth", True, "multiset", "python", no_call="zero"),
    "released_equal_max": Options(
        "greedy_ground_truth", True, "multiset", "python", no_call="zero", low=Fraction(-1), high=Fraction(1)
    ),
    "released_refined": Options(
        "greedy_ground_truth", True, "multiset", "python", no_call="zero", credit="exact", ordered=True
    ),
    "released_intermediate": Options(
        *("greedy_ground_truth", True, "multiset", "python", "name_only", "zero", "call", "exact", "partial"),
        call_equality="object",
    ),
    "released_coarse": Options(
        *("greedy_ground_truth", True, "multiset", "python", "name_only", "zero", "answer", "exact"),
        ordered=True,
        call_equality="object",
    ),
}
VALUES: list[Any] = [1, 1.0, True, 0, "1", "", None, 2.5, [1], [True, "x"], {"k": 1}, {"k": [1, 2]}]


def random_call(rng: random.Random) -> Predicted:
    keys = rng.sample("abcd", rng.randint(0, 3))
    return rng.choice("fgh"), {key: rng.choice(VALUES) for key in keys}


def random_expected(rng: random.Random) -> Expected:
    name, arguments = random_call(rng)
    if rng.random() < 0.5:
        return Expected(name, {key: [value] for key, value in arguments.items()}, literal=True)
    nested = {"k": [1, "x"], "m": ["", 2]}
    accepted = {key: rng.sample([*VALUES, nested, [nested, 1]], rng.randint(1, 3)) for key in arguments}
    optional = tuple(key for key in accepted if rng.random() < 0.2)
    defaults = {key: rng.choice(VALUES) for key in "abcde" if rng.random() < 0.2}
    return Expected(name, accepted, optional=optional, defaults=defaults)


def right_value(rng: random.Random, option: Any) -> Any:
    if isinstance(option, dict) and option and all(isinstance(v, list) for v in option.values()):
        return {k: right_value(rng, rng.choice(v)) for k, v in option.items() if "" not in v or rng.random() < 0.5}
    return [right_value(rng, item) for item in option] if isinstance(option, list) else option


def random_answer(rng: random.Random, expected: list[Expected]) -> list[Predicted]:
    """Answer rightly in part: some calls kept, changed, dropped or invented, in any order."""
    answer = []
    for call in expected:
        arguments = {key: right_value(rng, rng.choice(options)) for key, options in call.accepted.items()}
        arguments |= {key: value for key, value in call.defaults.items() if rng.random() < 0.5}
        for key in list(arguments):
            kind = rng.random()
            if kind < 0.15:
                del arguments[key]
            elif kind < 0.3:
                arguments[key] = rng.choice(VALUES)
        name = call.name if rng.random() < 0.85 else rng.choice("fgh")
        answer.append((name, arguments))
    answer = [call for call in answer if rng.random() < 0.85]
    answer += [random_call(rng) for _ in range(rng.choice([0, 0, 1, 2]))]
    rng.shuffle(answer)
    return answer


def ground_truth(expected: list[Expected]) -> list[ToolCall | AcceptedCall]:
    return [
        ToolCall(call.name, {key: values[0] for key, values in call.accepted.items()})
        if call.literal
        else AcceptedCall(call.name, call.accepted, call.optional, call.defaults)
        for call in expected
    ]


def assert_agrees(result: RewardBreakdown, exact: Reference) -> None:
    assert result.correctness == pytest.approx(float(exact.correctness), abs=TOLERANCE)
    assert result.matched == pytest.approx(float(exact.matched), abs=TOLERANCE)
    assert result.name_score == pytest.approx(float(exact.names), abs=TOLERANCE)
    assert result.maximum == exact.maximum
    assert sum(part.points for part in result.parts()) == pytest.approx(result.total, abs=TOLERANCE)


def spec_of(options: Options) -> RewardSpec:
    chosen = options._asdict()
    low, high = chosen.pop("low"), chosen.pop("high")
    return RewardSpec(**chosen, schedule=constant(correctness=(float(low), float(high))))


@pytest.mark.parametrize("preset", RewardSpec.presets())
def test_every_preset_agrees_with_exact_fractions(preset: str) -> None:
    rng = random.Random(f"presets {preset}")
    spec, options = RewardSpec.preset(preset), PRESET_OPTIONS[preset]
    for _ in range(250):
        expected = [random_expected(rng) for _ in range(rng.randint(0, 4))]
        if spec.parser == "released":
            expected = [
                Expected(name, {k: [v] for k, v in arguments.items()}, literal=True)
                for name, arguments in map(random_call, [rng] * rng.randint(0, 4))
            ]
        predicted = random_answer(rng, expected)[:5]
        result = score(dicts(predicted), ground_truth(expected), spec)
        if spec.exact_shortcut and result.shortcut:
            continue
        assert_agrees(result, reference(expected, predicted, options))


def test_every_combination_of_options_agrees_with_exact_fractions() -> None:
    rng = random.Random("options")
    for _ in range(3000):
        options = Options(
            matching=rng.choice(["optimal", "greedy_ground_truth", "greedy_prediction", "greedy_best"]),
            same_name=rng.random() < 0.5,
            names=rng.choice(["set", "multiset"]),
            equality=rng.choice(["json", "json_strict", "python"]),
            extra_calls=rng.choice(["name_only", "counted"]),
            no_call=rng.choice(["scored", "zero"]),
            granularity=rng.choice(["parameter", "parameter", "call", "answer"]),
            credit=rng.choice(["partial", "exact"]),
            name_credit=rng.choice([None, "partial", "exact"]),
            low=Fraction(rng.choice([-3, -1, 0])),
            high=Fraction(rng.choice([1, 3, 5])),
        )
        expected = [random_expected(rng) for _ in range(rng.randint(0, 4))]
        predicted = random_answer(rng, expected)[:5]
        malformed = rng.choice([0, 0, 0, 1, 2])
        answer = [*dicts(predicted), *([{"no": "name"}] * malformed)]
        result = score(answer, ground_truth(expected), spec_of(options))
        assert result.n_malformed == malformed
        assert_agrees(result, reference(expected, predicted, options, malformed))


def test_text_earns_what_its_calls_earn() -> None:
    rng = random.Random("texts")
    for _ in range(200):
        expected = [random_expected(rng) for _ in range(rng.randint(1, 3))]
        predicted = random_answer(rng, expected)
        truth = ground_truth(expected)
        text = render_completion(truth, calls=[ToolCall(name, arguments) for name, arguments in predicted])
        for spec in (PAPER, ROBUST):
            assert score(text, truth, spec).correctness == score(dicts(predicted), truth, spec).correctness


def test_both_ground_truth_forms_of_a_text_agree() -> None:
    assert score(BOTH, [F1]).correctness == score(BOTH, BOTH).correctness == 3
    assert score(f"{THOUGHT}\n{CALL}", [F1]).total == 4
    assert score(f"{THOUGHT}\n{CALL}", BOTH).total == 3  # the response is missing


@pytest.mark.parametrize("spec", ["robust", None, 3])
def test_a_spec_that_is_none_is_refused_with_a_hint(spec):
    with pytest.raises(TypeError, match=r"spec must be a RewardSpec, found \w+: use RewardSpec\.preset\('robust'\)"):
        score("", [], spec)


def test_one_text_is_no_table_of_completions():
    from toolrl_core import score_many

    with pytest.raises(TypeError, match="completions must have one entry for each row, found one text"):
        score_many("text", ["[]"])
