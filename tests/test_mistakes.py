"""Typical mistakes: each does what its name says, once, reproducibly and without touching the right answer."""

from __future__ import annotations

import copy
import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core import bfcl
from toolrl_core.calls import ToolCall
from toolrl_core.ground_truth import parse_ground_truth, render_completion, single_valued
from toolrl_core.mistakes import MISTAKES, NotApplicable, apply_mistake, change_type, change_value, corrupt
from toolrl_core.parsing import parse_completion
from toolrl_core.rewards import score
from toolrl_core.spec import RewardSpec

DATA = Path(__file__).parent.parent / "_build" / "bfcl"
needs_data = pytest.mark.skipif(
    not bfcl.is_complete(DATA) and not os.environ.get("CI"), reason="no BFCL data here: run `make data` to fetch them"
)
ON_CALLS = [name for name, mistake in MISTAKES.items() if mistake.level == "calls"]
ON_TEXT = [name for name, mistake in MISTAKES.items() if mistake.level == "text"]

F = ToolCall("f", {"a": 1})
G = ToolCall("g", {"b": None, "c": "x"})
TEXT = (
    "<think> I look. </think>\n"
    "<tool_call>\n"
    '{"name": "f", "parameters": {"a": 1}}\n'
    '{"name": "g", "parameters": {"b": null, "c": "x"}}\n'
    "</tool_call>"
)
ONE_CALL = '<think> I look. </think>\n<tool_call>\n{"name": "f", "parameters": {"a": 1}}\n</tool_call>'
NO_CALL = "<think> No tool. </think>\n<response> Hello. </response>"

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=6,
)
CALLS = st.lists(
    st.builds(ToolCall, st.sampled_from(["f", "g", "h"]), st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)),
    max_size=4,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def results(name: str, answer, seeds: int = 60) -> list:
    """Collect the different results of a mistake over many seeds."""
    made = [apply_mistake(name, answer, rng(seed)) for seed in range(seeds)]
    return list({repr(result): result for result in made}.values())


def as_text(calls) -> list[str]:
    """Write calls so that 1, 1.0 and true differ, keys without order."""
    return [json.dumps([call.name, call.arguments], sort_keys=True) for call in calls]


# Calls


def test_drop_call_can_leave_out_any_one_call():
    found = results("drop_call", [F, G])
    assert len(found) == 2
    assert [F] in found
    assert [G] in found


def test_a_duplicated_call_stands_right_after_the_original():
    found = results("duplicated_call", [F, G])
    assert len(found) == 2
    assert [F, F, G] in found
    assert [F, G, G] in found


def test_an_extra_call_has_a_name_of_its_own_and_can_be_made_where_no_call_is_expected():
    assert apply_mistake("extra_call", [], rng()) == [ToolCall("unexpected_tool", {})]
    extra = ToolCall("unexpected_tool", {})
    assert extra in results("extra_call", [F])[0]
    assert sorted(call.name for call in apply_mistake("extra_call", [extra], rng())) == [
        "unexpected_tool",
        "unexpected_tool_",
    ]


def test_a_renamed_tool_never_has_the_name_of_another_call():
    other = ToolCall("f_v2", {})
    found = results("renamed_tool", [F, other])
    assert len(found) == 2
    assert [ToolCall("f_v2_", {"a": 1}), other] in found
    assert [F, ToolCall("f_v2_v2", {})] in found


def test_swapped_names_exchanges_the_names_and_keeps_the_arguments():
    assert apply_mistake("swapped_names", [F, G], rng()) == [
        ToolCall("g", {"a": 1}),
        ToolCall("f", {"b": None, "c": "x"}),
    ]


def test_swapped_names_needs_two_calls_that_differ_in_name_and_arguments():
    for calls in ([F], [F, ToolCall("f", {"a": 2})], [F, ToolCall("g", {"a": 1})]):
        with pytest.raises(NotApplicable, match="no two calls differ"):
            apply_mistake("swapped_names", calls, rng())


def test_one_and_one_point_zero_count_as_the_same_argument():
    with pytest.raises(NotApplicable):
        apply_mistake("swapped_names", [F, ToolCall("g", {"a": 1.0})], rng())
    with pytest.raises(NotApplicable):
        apply_mistake("reordered_calls", [F, ToolCall("f", {"a": 1.0})], rng())


def test_true_and_one_count_as_different_arguments():
    made = apply_mistake("swapped_names", [F, ToolCall("g", {"a": True})], rng())
    assert as_text(made) == as_text([ToolCall("g", {"a": 1}), ToolCall("f", {"a": True})])


def test_a_wrong_value_keeps_the_type_of_the_right_one():
    found = results("wrong_value", [F, G])
    assert len(found) == 3
    assert [ToolCall("f", {"a": 2}), G] in found
    assert [F, ToolCall("g", {"b": 0, "c": "x"})] in found
    assert [F, ToolCall("g", {"b": None, "c": "not x"})] in found


@pytest.mark.parametrize(
    ("value", "changed"),
    [
        (True, False),
        (3, 4),
        (2.5, 3.5),
        (10**400, 10**400 + 1),
        (1e300, -1e300),
        (math.inf, -math.inf),
        ("", "not "),
        (None, 0),
        ([], [None]),
        ([1, "x"], [1, "not x"]),
        ([[0], [1]], [[0], [2]]),
        ({}, {"invented": None}),
        ({"a": {"b": True}, "c": 1}, {"a": {"b": False}, "c": 1}),
    ],
)
def test_a_changed_value_is_the_stated_one(value, changed):
    result = change_value(value)
    assert result == changed
    assert type(result) is type(changed)


def test_not_a_number_is_changed_to_a_number():
    assert change_value(math.nan) == 0


@pytest.mark.parametrize(
    ("value", "changed"),
    [
        (True, 1),
        (False, 0),
        (1, "1"),
        (2.5, "2.5"),
        (None, "null"),
        ("7", 7),
        ("true", ["true"]),
        ("Oslo", ["Oslo"]),
        ([1, "ø"], '[1, "ø"]'),
        ({"a": 1}, '{"a": 1}'),
    ],
)
def test_a_changed_type_is_the_stated_one(value, changed):
    result = change_type(value)
    assert result == changed
    assert type(result) is type(changed)


def test_true_for_one_touches_only_zeros_and_ones():
    call = ToolCall("f", {"a": 1, "b": 0.0, "c": True, "d": 2, "e": "1"})
    found = [made[0].arguments for made in results("true_for_one", [call])]
    changed = sorted(key for arguments in found for key in call.arguments if arguments[key] is not call.arguments[key])
    assert changed == ["a", "b"]
    with pytest.raises(NotApplicable, match="no argument is 0 or 1"):
        apply_mistake("true_for_one", [G], rng())


def test_missing_invented_and_renamed_keys_change_one_key():
    assert apply_mistake("missing_key", [F], rng()) == [ToolCall("f", {})]
    assert apply_mistake("invented_key", [F], rng()) == [ToolCall("f", {"a": 1, "invented_argument": "invented"})]
    assert apply_mistake("renamed_key", [F], rng()) == [ToolCall("f", {"a_value": 1})]


def test_a_renamed_key_stays_in_its_place_and_takes_no_name_in_use():
    call = ToolCall("f", {"a": 1, "a_value": 2})
    found = [list(made[0].arguments.items()) for made in results("renamed_key", [call])]
    assert sorted(found) == [[("a", 1), ("a_value_value", 2)], [("a_value_", 1), ("a_value", 2)]]


def test_reordered_calls_always_changes_the_order_and_reaches_every_other_one():
    h = ToolCall("h", {})
    found = [[call.name for call in made] for made in results("reordered_calls", [F, G, h])]
    assert sorted("".join(names) for names in found) == ["fhg", "gfh", "ghf", "hfg", "hgf"]


def test_equal_calls_cannot_be_reordered():
    for calls in ([], [F], [F, F]):
        with pytest.raises(NotApplicable, match="no two different calls"):
            apply_mistake("reordered_calls", calls, rng())


def test_reordered_keys_changes_the_written_order_and_nothing_else():
    (made,) = apply_mistake("reordered_keys", [G], rng())
    assert list(made.arguments) == ["c", "b"]
    assert made == G
    with pytest.raises(NotApplicable, match="no call has two arguments"):
        apply_mistake("reordered_keys", [F], rng())


@pytest.mark.parametrize("name", [name for name in ON_CALLS if name != "extra_call"])
def test_nothing_but_an_extra_call_can_go_wrong_where_there_is_no_call(name):
    with pytest.raises(NotApplicable, match=f"^{name} does not apply"):
        apply_mistake(name, [], rng())


@pytest.mark.parametrize("name", ["wrong_value", "wrong_type", "missing_key", "renamed_key"])
def test_a_call_without_arguments_cannot_have_a_wrong_one(name):
    with pytest.raises(NotApplicable, match="no call has an argument"):
        apply_mistake(name, [ToolCall("f", {})], rng())


@settings(deadline=None)
@given(calls=CALLS, name=st.sampled_from(ON_CALLS), seed=st.integers(0, 2**32 - 1))
def test_a_mistake_changes_the_answer_unless_it_is_harmless_and_never_its_input(calls, name, seed):
    before = copy.deepcopy(calls)
    try:
        made = apply_mistake(name, calls, rng(seed))
    except NotApplicable:
        return
    assert as_text(calls) == as_text(before)
    assert as_text(made) == as_text(apply_mistake(name, calls, rng(seed)))
    same = Counter(as_text(made)) == Counter(as_text(calls))
    assert same == (MISTAKES[name].costs == ())


# Text


@pytest.mark.parametrize("name", [name for name in ON_TEXT if MISTAKES[name].costs == ()])
def test_a_harmless_variation_of_the_text_is_read_as_the_same_calls(name):
    made = apply_mistake(name, TEXT, rng())
    assert made != TEXT
    parsed = parse_completion(made)
    assert as_text(parsed.calls) == as_text([F, G])
    assert parsed.n_malformed == 0
    assert parsed.thought is not None


def test_pretty_printed_calls_take_several_lines():
    expected = (
        '<think> I look. </think>\n<tool_call>\n{\n  "name": "f",\n  "parameters": {\n    "a": 1\n  }\n}\n</tool_call>'
    )
    assert apply_mistake("pretty_printed", ONE_CALL, rng()) == expected


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("json_array", '[{"name": "f", "parameters": {"a": 1}}, {"name": "g", "parameters": {"b": null, "c": "x"}}]'),
        ("one_line", '{"name": "f", "parameters": {"a": 1}} {"name": "g", "parameters": {"b": null, "c": "x"}}'),
        (
            "arguments_alias",
            '{"name": "f", "arguments": {"a": 1}}\n{"name": "g", "arguments": {"b": null, "c": "x"}}',
        ),
        (
            "stringified_arguments",
            (
                '{"name": "f", "parameters": "{\\"a\\": 1}"}\n'
                '{"name": "g", "parameters": "{\\"b\\": null, \\"c\\": \\"x\\"}"}'
            ),
        ),
        (
            "python_literal",
            "{'name': 'f', 'parameters': {'a': 1}}\n{'name': 'g', 'parameters': {'b': None, 'c': 'x'}}",
        ),
        (
            "fenced",
            '```json\n{"name": "f", "parameters": {"a": 1}}\n{"name": "g", "parameters": {"b": null, "c": "x"}}\n```',
        ),
        (
            "split_blocks",
            (
                '{"name": "f", "parameters": {"a": 1}}\n</tool_call>\n<tool_call>\n'
                '{"name": "g", "parameters": {"b": null, "c": "x"}}'
            ),
        ),
    ],
)
def test_a_rewritten_body_is_the_stated_one(name, body):
    assert apply_mistake(name, TEXT, rng()) == f"<think> I look. </think>\n<tool_call>\n{body}\n</tool_call>"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("trailing_text", ONE_CALL + "\nThat should do it."),
        ("stop_token", ONE_CALL + "<|im_end|>"),
        ("missing_thought", '<tool_call>\n{"name": "f", "parameters": {"a": 1}}\n</tool_call>'),
        ("unopened_thought", ONE_CALL.removeprefix("<think>")),
        ("tag_in_thought", ONE_CALL.replace("look. ", "look. A <tool_call> block is next. ")),
        ("crlf", ONE_CALL.replace("\n", "\r\n")),
        ("missing_tags", '<think> I look. </think>\n{"name": "f", "parameters": {"a": 1}}'),
        (
            "repeated_block",
            ONE_CALL + '\n<tool_call>\n{"name": "f", "parameters": {"a": 1}}\n</tool_call>',
        ),
        (
            "second_block",
            ONE_CALL + '\n<tool_call>\n{"name": "unexpected_tool", "parameters": {}}\n</tool_call>',
        ),
    ],
)
def test_a_changed_completion_is_the_stated_one(name, expected):
    assert apply_mistake(name, ONE_CALL, rng()) == expected


def test_a_truncated_completion_ends_inside_the_calls_and_loses_at_least_the_last_one():
    first, last = TEXT.index('{"name": "f"') + 1, TEXT.index("\n</tool_call>") - 1
    lengths = {len(apply_mistake("truncated", TEXT, rng(seed))) for seed in range(2000)}
    assert lengths == set(range(first, last + 1))
    for length in lengths:
        assert len(parse_completion(TEXT[:length]).calls) < 2


def test_the_calls_are_found_behind_a_thought_that_names_the_tag_and_in_strings_that_close_it():
    tricky = apply_mistake("tag_in_thought", ONE_CALL.replace('"a": 1', '"a": "</tool_call> {"'), rng())
    made = apply_mistake("arguments_alias", tricky, rng())
    assert parse_completion(made).calls == (ToolCall("f", {"a": "</tool_call> {"}),)
    assert apply_mistake("arguments_alias", made, rng()) == tricky


def test_the_alias_is_exchanged_in_both_directions():
    there = apply_mistake("arguments_alias", TEXT, rng())
    assert apply_mistake("arguments_alias", there, rng()) == TEXT


def test_what_follows_the_calls_is_kept():
    text = f"{ONE_CALL}\n<response> Done. </response>"
    for name in ("pretty_printed", "json_array", "second_block", "missing_tags"):
        assert apply_mistake(name, text, rng()).endswith("\n<response> Done. </response>")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("pretty_printed", NO_CALL, "no tool-call block"),
        ("truncated", NO_CALL, "no tool-call block"),
        ("one_line", ONE_CALL, "only one call"),
        ("split_blocks", ONE_CALL, "only one call"),
        ("json_array", "<tool_call>\n</tool_call>", "block is empty"),
        ("json_array", "<tool_call>\n[1]\n</tool_call>", "not a JSON object"),
        ("json_array", '<tool_call>\n{"name": "f"\n</tool_call>', "not one JSON object after another"),
        ("json_array", '<tool_call>\n{"name": "f"}', "not one JSON object after another"),
        ("missing_thought", "<tool_call>\n{}\n</tool_call>", "does not begin with a closed thought"),
        ("tag_in_thought", "<think> and", "does not begin with a closed thought"),
        ("crlf", "<think> </think>", "one line"),
    ],
)
def test_a_text_mistake_says_why_it_does_not_apply(name, text, why):
    with pytest.raises(NotApplicable, match=rf"^{name} does not apply: .*{why}"):
        apply_mistake(name, text, rng())


# The registry


def test_an_unknown_mistake_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"unknown mistake 'typo'; valid are drop_call, .*python_literal"):
        apply_mistake("typo", [F], rng())


def test_a_mistake_refuses_an_answer_of_the_other_kind():
    with pytest.raises(TypeError, match="'crlf' needs the text of a completion, found list"):
        apply_mistake("crlf", [F], rng())
    with pytest.raises(TypeError, match="'drop_call' needs a list of ToolCall, found str"):
        apply_mistake("drop_call", TEXT, rng())


def test_every_mistake_has_a_sentence_that_says_what_it_does():
    assert len(MISTAKES) == 31
    for name, mistake in MISTAKES.items():
        assert mistake.name == name
        assert mistake.summary[0].isupper()
        assert mistake.summary.endswith(".")


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        MISTAKES["new"] = MISTAKES["crlf"]


def test_the_modules_need_only_the_standard_library():
    heavy = "import sys; print(sorted({'numpy', 'scipy', 'pandas', 'matplotlib', 'ipywidgets'} & set(sys.modules)))"
    program = f"import toolrl_core.mistakes, toolrl_core.bfcl; {heavy}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Corrupted answers


def test_with_probability_one_only_the_order_changes():
    h = ToolCall("h", {})
    orders = {"".join(call.name for call in corrupt([F, G, h], rng(seed), argument_right=1.0)) for seed in range(60)}
    assert orders == {"fgh", "fhg", "gfh", "ghf", "hfg", "hgf"}


def test_a_single_argument_of_a_single_call_is_kept_changed_or_dropped_with_the_stated_probabilities():
    # kept .6, changed .4/3 = .1333, dropped or moved nowhere 2 * .4/3 = .2667
    generator = rng(3)
    drawn = Counter(json.dumps(corrupt([F], generator)[0].arguments) for _ in range(30_000))
    assert set(drawn) == {'{"a": 1}', '{"a": 2}', "{}"}
    assert drawn['{"a": 1}'] / 30_000 == pytest.approx(0.6, abs=0.012)
    assert drawn['{"a": 2}'] / 30_000 == pytest.approx(0.4 / 3, abs=0.009)
    assert drawn["{}"] / 30_000 == pytest.approx(0.8 / 3, abs=0.011)


def test_a_moved_argument_replaces_the_one_it_meets():
    # Both arguments keep their key: a moved 1 lands on the second call, where the 2 stays only if it was dropped before
    # or is itself replaced.  With argument_right = 0: {changed, dropped, moved}^2, nine equally likely cases.
    calls = [ToolCall("f", {"a": 10}), ToolCall("g", {"a": 20})]
    generator = rng(5)
    drawn: Counter[str] = Counter()
    for _ in range(27_000):
        made = {call.name: dict(call.arguments) for call in corrupt(calls, generator, argument_right=0.0)}
        drawn[json.dumps([made["f"], made["g"]])] += 1
    expected = {
        '[{"a": 11}, {"a": 21}]': 1,  # changed, changed
        '[{"a": 11}, {}]': 1,  # changed, dropped
        '[{"a": 20}, {}]': 2,  # changed or dropped, moved
        '[{}, {"a": 21}]': 1,  # dropped, changed
        "[{}, {}]": 1,  # dropped, dropped
        '[{}, {"a": 10}]': 2,  # moved, changed or dropped
        '[{"a": 20}, {"a": 10}]': 1,  # moved, moved
    }
    assert set(drawn) == set(expected)
    for outcome, cases in expected.items():
        assert drawn[outcome] / 27_000 == pytest.approx(cases / 9, abs=0.012), outcome


def test_a_moved_argument_goes_to_each_other_call_equally_often():
    calls = [ToolCall("f", {"a": 1}), ToolCall("g", {}), ToolCall("h", {})]
    generator = rng(7)
    receivers = Counter(
        call.name
        for _ in range(18_000)
        for call in corrupt(calls, generator, argument_right=0.0)
        if call.name != "f" and call.arguments
    )
    assert receivers["g"] / 18_000 == pytest.approx(1 / 6, abs=0.012)
    assert receivers["h"] / 18_000 == pytest.approx(1 / 6, abs=0.012)


@settings(deadline=None)
@given(calls=CALLS, seed=st.integers(0, 2**32 - 1), right=st.floats(0, 1))
def test_a_corrupted_answer_keeps_the_names_and_its_input(calls, seed, right):
    before = copy.deepcopy(calls)
    made = corrupt(calls, rng(seed), argument_right=right)
    assert sorted(call.name for call in made) == sorted(call.name for call in calls)
    assert as_text(calls) == as_text(before)
    assert as_text(made) == as_text(corrupt(calls, rng(seed), argument_right=right))


@pytest.mark.parametrize("right", [-0.1, 1.1, math.nan])
def test_what_is_no_probability_is_refused(right):
    with pytest.raises(ValueError, match="argument_right must be a probability"):
        corrupt([F], rng(), argument_right=right)


# With the reward


@pytest.mark.parametrize("name", MISTAKES)
def test_under_the_recommended_preset_a_mistake_costs_what_it_says(name):
    spec = RewardSpec.preset("robust")
    truth = parse_ground_truth([F.to_dict(), G.to_dict()])
    text = render_completion(truth)
    for seed in range(20):
        answer = [F, G] if MISTAKES[name].level == "calls" else text
        made = apply_mistake(name, answer, rng(seed))
        result = score(made if isinstance(made, str) else render_completion(truth, calls=made), truth, spec)
        lost = tuple(part for part, best in (("correctness", 3.0), ("format", 1.0)) if getattr(result, part) < best)
        assert lost == MISTAKES[name].costs, (seed, made)


@needs_data
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_real_answer_costs_what_it_says(name):
    spec = RewardSpec.preset("robust")
    generator = rng(11)
    tried = 0
    for row in bfcl.load(["parallel", "parallel_multiple", "live_parallel_multiple"], folder=DATA):
        truth = single_valued(row.ground_truth)  # with several accepted values a changed answer may still be right
        text = render_completion(truth)
        try:
            made = apply_mistake(name, truth.calls if MISTAKES[name].level == "calls" else text, generator)
        except NotApplicable:
            continue
        tried += 1
        result = score(made if isinstance(made, str) else render_completion(truth, calls=made), truth, spec)
        lost = tuple(part for part, best in (("correctness", 3.0), ("format", 1.0)) if getattr(result, part) < best)
        assert lost == MISTAKES[name].costs, (row.id, made)
    assert tried > 20
