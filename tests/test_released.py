"""The released rules (qiancheng0/ToolRL@8cee13e, rlla.py), one test for each way in which they leave the paper."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from typing import Any

import pytest

from toolrl_core.calls import ToolCall
from toolrl_core.formats import ordered_tags_format, released_format, strict_format
from toolrl_core.ground_truth import render_completion
from toolrl_core.released import read_released, released_pattern_matches, released_text
from toolrl_core.rewards import score
from toolrl_core.schedules import LengthReward, dynamic, two_stage
from toolrl_core.spec import RewardSpec

PAPER = RewardSpec.preset("paper")
RELEASED = RewardSpec.preset("released")
REFINED = RewardSpec.preset("released_refined")
INTERMEDIATE = RewardSpec.preset("released_intermediate")
COARSE = RewardSpec.preset("released_coarse")
F = '{"name": "f", "parameters": {"a": 1}}'
G = '{"name": "g", "parameters": {"b": 2}}'


def text(*lines: str) -> str:
    return "\n".join(["<think> t </think>", "<tool_call>", *lines, "</tool_call>"])


def correctness(lines: list[str], expected: list[str], spec: RewardSpec = RELEASED) -> float:
    return score(text(*lines), text(*expected), spec).correctness


# Matching, names, keys and values


def test_expected_calls_choose_in_their_order_and_may_take_anothers_partner() -> None:
    expected = [F, '{"name": "f", "parameters": {"a": 1, "b": 2}}']
    # the first takes the longer call (1/2 + 1), the second gets the rest: names 1, maximum 6
    lines = ['{"name": "f", "parameters": {"a": 1, "b": 2}}', '{"name": "f", "parameters": {"c": 1}}']
    assert correctness(lines, expected) == pytest.approx(-0.5)
    assert correctness(lines, expected, RELEASED.replace(matching="optimal")) == pytest.approx(1)


def test_the_first_of_equally_good_partners_is_taken() -> None:
    expected = ['{"name": "f", "parameters": {"a": 1, "b": 2}}', F]
    one, other = '{"name": "f", "parameters": {"a": 1}}', '{"name": "f", "parameters": {"b": 2}}'
    # both give the first expected call 1/2 + 1; only the second predicted one leaves the right rest
    assert correctness([one, other], expected) == pytest.approx(-3 + 6 * (1 + 1.5) / 6)
    assert correctness([other, one], expected) == pytest.approx(-3 + 6 * (1 + 1.5 + 2) / 6)


def test_a_pair_without_points_is_no_pair() -> None:
    (pair,) = score(text('{"name": "f", "parameters": {"z": 1}}'), text(F), RELEASED).pairs
    assert (pair.score, pair.keys[0].state) == (0, "missing")


def test_only_calls_of_one_name_are_paired() -> None:
    assert correctness(['{"name": "g", "parameters": {"a": 1}}'], [F]) == -3
    assert correctness(['{"name": "g", "parameters": {"a": 1}}'], [F], RELEASED.replace(same_name=False)) > -3


def test_names_count_as_often_as_they_occur() -> None:
    assert correctness([F, '{"name": "f", "parameters": {"a": 9}}'], [F]) == 2  # 1/2 + 2 of 3
    assert correctness([F], [F, '{"name": "f", "parameters": {"a": 2}}']) == 0  # 1/2 + 2 of 5
    assert correctness([F] * 5, [F]) == pytest.approx(1.4)  # 1/5 + 2 of 3


def test_two_empty_argument_lists_are_equal_and_one_empty_one_shares_nothing() -> None:
    empty, full = '{"name": "f", "parameters": {}}', '{"name": "f", "parameters": {"z": 1}}'
    assert correctness([empty], [empty]) == 3
    assert correctness([full], [empty]) == 0  # the name alone: 1 of 2
    assert correctness([empty], [F]) == -1  # the name alone: 1 of 3


def test_further_keys_lower_the_share_of_keys() -> None:
    assert correctness(['{"name": "f", "parameters": {"a": 1, "z": 0}}'], [F]) == 2  # 1 + 1/2 + 1 of 3


def test_values_are_compared_as_python_does() -> None:
    for value in ("1.0", "true", "1e0"):
        assert correctness([f'{{"name": "f", "parameters": {{"a": {value}}}}}'], [F]) == 3
    assert correctness(['{"name": "f", "parameters": {"a": "1"}}'], [F]) == 1
    lists = ['{"name": "f", "parameters": {"a": [1, 2]}}', '{"name": "f", "parameters": {"a": [2, 1]}}']
    assert correctness(lists[:1], lists[1:]) == 1


def test_not_a_number_is_right_in_an_exact_copy_only() -> None:
    nan = '{"name": "f", "parameters": {"a": NaN}}'
    assert correctness([nan], [nan]) == 3
    copy = score(text(nan), text(nan), RELEASED)
    assert copy.shortcut == 1
    assert [part.label for part in copy.parts()][-2:] == ["exact copy", "format"]
    assert correctness([nan.replace("}}", '}, "id": 1}')], [nan]) == 1
    assert correctness([G, nan], [nan, G]) == pytest.approx(1.8)  # in another order: 1 + 1 + 2 of 5
    assert correctness([nan], [nan], PAPER) == 3


def test_an_exact_copy_is_counted_once_at_every_granularity() -> None:
    nan = text('{"name": "f", "parameters": {"a": NaN}}')
    for granularity, shortcut in (("parameter", 1), ("call", 0.5), ("answer", 0.5)):
        result = score(nan, nan, RELEASED.replace(granularity=granularity))
        assert (result.total, result.shortcut) == (4, shortcut)
        assert sum(part.points for part in result.parts()) == pytest.approx(4, abs=1e-12)


# What cannot be read


def test_nothing_expected_earns_nothing_whatever_is_called() -> None:
    response = "<think> t </think>\n<response> r </response>"
    for completion in (response, text(F), text("oops"), ""):
        result = score(completion, response, RELEASED)
        assert (result.correctness, result.scored) == (0, False)
        assert "ground_truth_without_calls_not_scored" in [finding.code for finding in result.reasons]
    assert score([], [], RELEASED).correctness == 0


@pytest.mark.parametrize(
    "lines",
    [
        ["oops"],
        [F, "oops"],
        [F, "", G],
        [f"[{F}]"],
        [f"{F} {G}"],
        [f"{F},"],
        ['{"name": "f",', '"parameters": {"a": 1}}'],
        ["{'name': 'f', 'parameters': {'a': 1}}"],
        ['{"tool": "f", "parameters": {"a": 1}}'],
        ['{"name": ["f"], "parameters": {"a": 1}}'],
        ['"name"'],
        ["null"],
        [""],
    ],
)
def test_any_failure_to_read_gives_the_minimum(lines: list[str]) -> None:
    result = score(text(*lines), text(F), RELEASED)
    assert (result.correctness, result.matched) == (-3, 0)
    assert "released_unreadable" in [finding.code for finding in result.reasons]
    assert sum(part.points for part in result.parts()) == result.total


def test_no_block_at_all_is_no_call_and_nothing_unreadable() -> None:
    response = "<think> t </think>\n<response> r </response>"
    for spec in (RELEASED, REFINED, INTERMEDIATE, COARSE):
        result = score(response, text(F), spec)
        assert (result.correctness, result.n_malformed) == (-3, 0)
        assert "missing_call" in [finding.code for finding in result.reasons]
        refusal = score(response, response, spec.replace(no_call="scored"))
        assert (refusal.total, refusal.reasons) == (4, ())
        assert score(text(F), response, spec.replace(no_call="scored")).correctness == -3


def test_a_block_cut_off_gives_the_minimum() -> None:
    assert score(text(F).removesuffix("</tool_call>"), text(F), RELEASED).correctness == -3
    assert score(text(F).replace("<tool_call>", ""), text(F), RELEASED).correctness == -3


@pytest.mark.parametrize(
    "call", ['{"name": "%s", "arguments": {"a": 1}}', '{"name": "%s"}', '{"name": "%s", "parameters": 5}']
)
def test_missing_parameters_give_the_minimum_if_the_name_is_expected(call: str) -> None:
    assert correctness([call % "f"], [F]) == -3
    assert correctness([F, call % "f"], [F]) == -3
    assert correctness([F, call % "g"], [F, G]) == -3


def test_missing_parameters_of_another_name_go_unnoticed() -> None:
    # names 1/3 of {f, g} and {f, h}, first call 2 of 5: (1/3 + 2) / 5
    assert correctness([F, '{"name": "h", "arguments": {"a": 1}}'], [F, G]) == pytest.approx(-0.2)
    assert correctness([F, '{"name": 7}'], [F, G]) == pytest.approx(-0.2)


def test_further_fields_of_a_call_do_not_matter() -> None:
    assert correctness(['{"id": "x", "name": "f", "parameters": {"a": 1}}'], [F]) == 3


def test_only_the_first_block_counts() -> None:
    assert score(f"{text(F)}\n<tool_call>\noops\n</tool_call>", text(F), RELEASED).correctness == 3
    assert score(f"{text(F)}\n<tool_call>\n{G}\n</tool_call>", text(F, G), RELEASED).correctness < 3


def test_a_thought_that_names_the_tag_loses_everything() -> None:
    named = text(F).replace(" t ", " I write <tool_call> ")
    assert score(named, text(F), RELEASED).total == -3
    assert score(named, text(F), PAPER).total == 4


def test_an_end_tag_inside_a_value_loses_everything() -> None:
    call = '{"name": "f", "parameters": {"a": "</tool_call>"}}'
    expected = [{"name": "f", "parameters": {"a": "</tool_call>"}}]
    assert score(text(call), expected, RELEASED).total == -3
    assert score(text(call), expected, PAPER).total == 4


def test_correctness_does_not_wait_for_the_format() -> None:
    result = score(f"Sure! {text(F)}", text(F), RELEASED)
    assert (result.format, result.correctness) == (0, 3)


def test_junk_in_a_formal_block_has_the_format() -> None:
    result = score(text("oops"), text(F), RELEASED)
    assert (result.format, result.correctness) == (1, -3)


# The other tiers


TWO_KEYS = '{"name": "g", "parameters": {"b": 2, "c": 3}}'
KEYS_SWAPPED = '{"name": "g", "parameters": {"c": 3, "b": 2}}'


@pytest.mark.parametrize(
    ("lines", "matched"),
    [
        ([F, TWO_KEYS], 6),
        ([TWO_KEYS, F], 5),  # the list of names differs
        ([F, KEYS_SWAPPED], 6),  # the list of keys differs, but the objects are equal: the exact copy is met first
        ([KEYS_SWAPPED, F], 4),
        ([F, '{"name": "g", "parameters": {"b": 2, "c": 4}}'], 5),
        ([F, '{"name": "g", "parameters": {"b": 2, "c": 3, "d": 4}}'], 5),  # keys nothing, values two
        ([F, TWO_KEYS, F], 5),
        ([F], 2),
    ],
)
def test_refined_compares_ordered_lists_of_names_and_of_keys_and_still_scores_values(
    lines: list[str], matched: int
) -> None:
    assert correctness(lines, [F, TWO_KEYS], REFINED) == pytest.approx(-3 + matched)  # six raw points of six
    assert correctness([F, TWO_KEYS], [F, TWO_KEYS], PAPER) == 3


@pytest.mark.parametrize(
    ("lines", "matched"),
    [
        ([F, TWO_KEYS], 3),
        ([TWO_KEYS, F], 3),
        ([F, KEYS_SWAPPED], 3),  # objects have no order
        ([F, '{"name": "g", "parameters": {"b": 2, "c": 4}}'], 2),
        ([F.replace("}}", '}, "id": 1}'), TWO_KEYS], 2),  # a further field makes it another object
        ([F.replace("1", "true"), TWO_KEYS], 3),
        ([F], 1.5),  # names 1/2, one call
        ([F, F], 1 / 3 + 1),
        ([F, '{"name": "g"}'], 2),  # missing parameters are not looked at
    ],
)
def test_intermediate_compares_whole_call_objects_and_keeps_the_partial_name_term(
    lines: list[str], matched: float
) -> None:
    assert correctness(lines, [F, TWO_KEYS], INTERMEDIATE) == pytest.approx(-3 + 6 * matched / 3)


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ([F, TWO_KEYS], 3),
        ([F, KEYS_SWAPPED], 3),
        ([F.replace("1", "1.0"), TWO_KEYS], 3),
        ([TWO_KEYS, F], -3),
        ([F], -3),
        ([F, TWO_KEYS, F], -3),
        ([F.replace("}}", '}, "id": 1}'), TWO_KEYS], -3),
        (["oops"], -3),
    ],
)
def test_coarse_is_one_verdict_on_the_ordered_list(lines: list[str], value: float) -> None:
    assert correctness(lines, [F, TWO_KEYS], COARSE) == value


# Scales


def test_the_maximum_of_one_keeps_a_range_of_one() -> None:
    spec = RewardSpec.preset("released_equal_max")
    assert (correctness([F], [F], spec), correctness([G], [F], spec)) == (1, -1)
    assert correctness(['{"name": "f", "parameters": {"a": 2}}'], [F], spec) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("step", "format_high", "high"), [(0, 1, 1), (1, 1, 1), (29, 1, 1), (30, 0.5, 3), (105, 0.5, 3)]
)
def test_the_two_stage_schedule_switches_at_step_thirty(step: int, format_high: float, high: float) -> None:
    spec = RELEASED.replace(schedule=two_stage())
    right, wrong = score(text(F), text(F), spec, step=step), score("", text(F), spec, step=step)
    assert (right.format, right.correctness) == (format_high, high)
    assert (wrong.format, wrong.correctness) == (0, -high)
    one = RELEASED.replace(schedule=two_stage(correctness_max=1))
    assert score(text(F), text(F), one, step=step).correctness == pytest.approx(high / 3)


@pytest.mark.parametrize(
    ("step", "format_low", "format_high", "high", "high_of_one"),
    [
        (0, -2, 2, 2, 2),
        (15, -1.8, 1.9, 2.1, 1.9),
        (75, -1, 1.5, 2.5, 1.5),  # the floor of the format is reached
        (105, -1, 1.3, 2.7, 1.3),  # the planned end of training
        (150, -1, 1, 3, 1),
        (300, -1, 1, 3, 0),
        (450, -1, 1, 3, -1),  # with a maximum of one, right and wrong change places
    ],
)
def test_the_dynamic_schedule_has_the_released_numbers(
    step: int, format_low: float, format_high: float, high: float, high_of_one: float
) -> None:
    for maximum, value in ((3, high), (1, high_of_one)):
        spec = RELEASED.replace(schedule=dynamic(correctness_max=maximum))
        right, wrong = score(text(F), text(F), spec, step=step), score("", text(F), spec, step=step)
        assert (right.format, wrong.format) == (pytest.approx(format_high), pytest.approx(format_low))
        assert (right.correctness, wrong.correctness) == (pytest.approx(value), pytest.approx(-value))


@pytest.mark.parametrize(
    ("thought", "length"),
    [
        ("w " * 512, 1.0),
        ("w " * 510, 1.0),  # 0.996 is rounded up
        ("w " * 509, 0.99),
        ("w " * 600, 1.0),
        ("w w", 0.0),
        ("w w w", 0.01),
        ("w\tw\nw\u3000w" * 64, 0.38),  # 193 words between any white space
        ("没有空格的一句话" * 100, 0.0),
        ("", 0.0),
    ],
)
def test_the_length_reward_counts_words_of_the_thought(thought: str, length: float) -> None:
    spec = RELEASED.replace(length_reward=LengthReward(rounded=True))
    assert score(f"<think>{thought}</think>", text(F), spec).length == length


def test_the_length_reward_reads_the_last_thought() -> None:
    spec = RELEASED.replace(length_reward=LengthReward(target=4, rounded=True))
    assert score("<think>a b c d</think><think>a</think>", text(F), spec).length == 0.25
    assert score("<think>a</think> b c", text(F), spec).length == 0.25
    assert score("a b c d", text(F), spec).length == 0


def test_the_length_target_may_grow_from_384_to_640_words() -> None:
    spec = RELEASED.replace(length_reward=LengthReward(target=384, rounded=True, growth=256))
    thought = f"<think>{'w ' * 320}</think>"
    lengths = [score(thought, text(F), spec, step=step).length for step in (0, 105, 210)]
    assert lengths == [0.83, 0.5, 0.36]


# The text that is scored


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        ("a", "a"),
        (" a \n", "a"),
        ("prompt<|im_start|>assistant\na<|im_end|>\nrest", "a"),
        ("x<|im_start|>assistant y<|im_start|>assistant z", "z"),
        ("x<|start_header_id|>assistant<|end_header_id|>\n\na<|eot_id|>rest", "a"),
        ("a<|im_end|>b<|im_end|>", "a"),
        ("a<|endoftext|>", "a<|endoftext|>"),
        ("a<|im_end|><|im_start|>assistant b", "b"),
        ("", ""),
    ],
)
def test_only_what_follows_the_last_assistant_marker_is_scored(whole: str, part: str) -> None:
    assert released_text(whole) == part


def test_a_completion_can_restart_itself_with_the_marker() -> None:
    restarted = f"nonsense {text('oops')}<|im_start|>assistant\n{text(F)}<|im_end|>"
    assert score(restarted, text(F), RELEASED).total == 4
    assert score(restarted, text(F), RewardSpec.preset("robust")).total < 3


# The format rule against its regular expression


PATTERNS = {
    ("thought",): r"\A<think>.*?</think>\Z",
    ("thought", "response"): r"\A<think>.*?</think>\n<response>.*?</response>\Z",
    ("thought", "tool_call"): r"\A<think>.*?</think>\n<tool_call>\n.*?\n</tool_call>\Z",
    ("thought", "tool_call", "response"): (
        r"\A<think>.*?</think>\n<tool_call>\n.*?\n</tool_call>\n<response>.*?</response>\Z"
    ),
}


def matches(completion: str, requires: tuple[str, ...]) -> bool:
    for kind in requires[1:]:
        if completion.count(f"<{kind}>") != 1 or completion.count(f"</{kind}>") != 1:
            return False
    return re.search(PATTERNS[requires], completion, re.DOTALL) is not None


PIECES = [
    *("<think>", "</think>", "</think>\n", "</think>\n<tool_call>\n", "<tool_call>\n", "\n</tool_call>"),
    *("</tool_call>\n<response>", "<response>", "</response>", "\n", "x", "</think>\n<response>", "<tool_call>", " "),
    "</tool_call>",
]


SHAPES = [
    ["</think>"],
    ["</think>\n<response>", "</response>"],
    ["</think>\n<tool_call>\n", "x", "\n</tool_call>"],
    ["</think>\n<tool_call>\n", "x", "\n</tool_call>", "\n<response>", "</response>"],
]


def test_the_linear_matcher_agrees_with_the_regular_expression() -> None:
    rng = random.Random(7)
    agreed: Counter[tuple[tuple[str, ...], bool]] = Counter()
    for _ in range(30_000):
        pieces = [rng.choice(PIECES) for _ in range(rng.randint(0, 8))]
        if rng.random() < 0.7:
            pieces = ["<think>", *pieces[:1], "</think>\n", *pieces[1:]]
        if rng.random() < 0.3:
            pieces = ["<think>", *rng.choice(SHAPES)]
            pieces.insert(rng.randint(0, len(pieces)), rng.choice([*PIECES, ""]))
        completion = "".join(pieces).strip()
        for requires in PATTERNS:
            expected = matches(completion, requires)
            assert released_pattern_matches(completion, requires) == expected, completion
            agreed[requires, expected] += 1
    assert all(agreed[requires, verdict] > 50 for requires in PATTERNS for verdict in (True, False))


def test_the_released_format_takes_its_fields_from_the_ground_truths_text() -> None:
    expected = "<think> maybe <response> </think>\n<tool_call>\n" + F + "\n</tool_call>"
    assert score(text(F), expected, RELEASED).format == 0  # its thought names the response's tag
    assert score(text(F), [ToolCall("f", {"a": 1})], RELEASED).format == 1


def test_a_repeated_thought_passes_the_released_format_alone() -> None:
    twice = f"<think> a </think>\n{text(F)}"
    requires = ("thought", "tool_call")
    assert released_format(twice, requires)
    assert ordered_tags_format(twice, requires)
    assert not strict_format(twice, requires)


# The whole scorer against a short one


def released_correctness(answer: str, expected: list[dict[str, Any]], tier: str) -> float:
    """Score as the released code does, from its description: any failure is the minimum."""
    try:
        block = answer[answer.index("<tool_call>") + 11 :].split("<tool_call>")[0]
        answer.index("</tool_call>")
        calls = [json.loads(line) for line in block.split("</tool_call>")[0].strip().split("\n")]
        if expected == calls:
            return 3
        if tier == "coarse":
            return -3
        return -3 + 6 * _released_share(calls, expected, tier)
    except (ValueError, KeyError, TypeError, AttributeError):
        return -3


def _released_share(calls: list[Any], expected: list[dict[str, Any]], tier: str) -> float:
    def share(first: list[Any], second: list[Any]) -> float:
        if first == second:
            return 1
        if tier == "refined":
            return 0
        common = (Counter(first) & Counter(second)).total()
        return common / (len(first) + len(second) - common)

    points = share([call["name"] for call in expected], [call["name"] for call in calls])
    maximum, free = 1, list(range(len(calls)))
    for call in expected:
        wanted = call["parameters"]
        maximum += 1 if tier == "intermediate" else 1 + len(wanted)
        scores = []
        for i in free:
            if calls[i]["name"] != call["name"]:
                continue
            if tier == "intermediate":
                scores.append((float(calls[i] == call), -i))
            else:
                given = calls[i]["parameters"]
                right = sum(key in given and given[key] == value for key, value in wanted.items())
                scores.append((share(list(wanted), list(given.keys())) + right, -i))
        best, i = max(scores, default=(0.0, 0))
        if best > 0:
            points += best
            free.remove(-i)
    return points / maximum


@pytest.mark.parametrize("tier", ["", "refined", "intermediate", "coarse"])
def test_the_whole_released_scorer_agrees_with_a_short_one(tier: str) -> None:
    rng = random.Random(f"released {tier}")
    spec = RewardSpec.preset(f"released_{tier}" if tier else "released")
    values: list[Any] = [1, 1.0, True, "1", None, [1], {"k": 1}, float("nan")]
    seen = set()

    def call() -> dict[str, Any]:
        keys = rng.sample("abc", rng.randint(0, 3))
        return {"name": rng.choice("fgh"), "parameters": {key: rng.choice(values) for key in keys}}

    for _ in range(2500):
        expected = [call() for _ in range(rng.randint(1, 3))]
        lines = [json.dumps(rng.choice([*expected, call()])) for _ in range(rng.randint(0, 4))]
        for _ in range(rng.choice([0, 0, 1])):
            junk = [
                '{"name": "f"}',
                '{"name": "f", "arguments": {}}',
                '{"name": 5, "parameters": {}}',
                "oops",
                "",
                "[]",
            ]
            junk += ['{"name": "g", "parameters": []}', '{"name": "h", "parameters": {}, "id": 2}', "[{}]", '{"a": 1}']
            lines.insert(rng.randint(0, len(lines)), rng.choice(junk))
        answer = text(*lines)
        if rng.random() < 0.2:
            answer = answer.replace(
                rng.choice(["<tool_call>", "</tool_call>", " t "]), rng.choice(["", "<tool_call>"]), 1
            )
        as_text = render_completion([ToolCall(each["name"], each["parameters"]) for each in expected])
        decoded = [json.loads(line) for line in as_text.split("\n")[2:-1]]  # every NaN is the decoder's own
        value = released_correctness(answer, decoded, tier)
        assert score(answer, as_text, spec).correctness == pytest.approx(value, abs=1e-12), (answer, as_text)
        seen.add(round(value, 6))
    assert len(seen) > (1 if tier == "coarse" else 8)


def test_reading_keeps_the_last_thought_and_the_first_response() -> None:
    reading = read_released("<think>a</think><think>b</think><response>c</response><response>d</response>")
    assert (reading.thought, reading.response) == ("b", "c")
    assert read_released("plain").thought is None
