"""Scores of a table equal scores of single rows, whichever way a text was read."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core import parsing
from toolrl_core.batch import score_many
from toolrl_core.calls import ToolCall
from toolrl_core.ground_truth import render_completion
from toolrl_core.rewards import score
from toolrl_core.schedules import LengthReward
from toolrl_core.spec import RewardSpec

CHANGED = {
    "json_strict": RewardSpec(equality="json_strict"),
    "bfcl": RewardSpec(equality="bfcl", format_rule="literal"),
    "python, gated": RewardSpec(equality="python", same_name=True, extra_calls="counted"),
    "greedy": RewardSpec(matching="greedy_best", names="multiset", format_rule="released"),
    "schema": RewardSpec(equality="schema", schemas={"f": {"a": {"type": "integer", "default": 1}}}),
    "unordered": RewardSpec(unordered=["a", "g.b"], matching="greedy_prediction"),
    "aliases": RewardSpec(name_aliases={"h": "f"}, same_name=True, format_rule="strict"),
    "prefilled": RewardSpec(prefilled_thought=True, format_rule="strict"),
    "length": RewardSpec(length_reward=LengthReward(4), format_rule="none"),
    "released parser": RewardSpec(parser="released", format_rule="strict", length_reward=LengthReward(4)),
    "released without shortcut": RewardSpec.preset("released").replace(exact_shortcut=False, no_call="scored"),
}
SPECS = {**RewardSpec.presets(), **CHANGED}
FRAGMENTS = [
    *'"{}[]:,\\<1 é\n\r\t\x0b', "</", "true", "null", "NaN", "{}", "[[]]", "\n{", " :", '"a": 1, ', '"a" : 1, ',
    '"name"', '"parameters"', '"arguments"', '\n{"name": "f", "parameters": {}}', "\n<response> r </response>",
    "<think>", "</think>", "<tool_call>", "</tool_call>", "\n</tool_call>", "<response>", "</response>",
    "<|im_end|>", "<|im_start|>assistant",
]  # fmt: skip
COLUMNS = ["total", "format", "correctness", "length", "name_score", "matched", "maximum", "n_predicted", "n_malformed"]

values = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, -2, 2.5, float("nan"), "", "1", "x", "a: b", '"a": 1', "é", "<b>"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)
calls = st.builds(
    ToolCall, st.sampled_from(["f", "g", "h"]), st.dictionaries(st.sampled_from("abc"), values, max_size=3)
)
answers = st.lists(calls, max_size=3)
thoughts = st.sampled_from(["t", "two words", "1 < 2", "</response>", "<think> again", "see <tool_call>", ""])


@st.composite
def rows(draw: st.DrawFn) -> tuple[str, object]:
    """Draw a completion, often a damaged copy of the ground truth, and the ground truth as text or as calls."""
    truth = draw(answers)
    answer = draw(st.none() | st.sampled_from(["r", "a <b> c", "see </tool_call>"])) if truth else None
    gold = render_completion(truth, thought=draw(thoughts.filter(lambda t: "<" not in t)), response=answer)
    predicted = draw(st.permutations(truth)) if draw(st.booleans()) else draw(answers)
    text = render_completion(
        truth, calls=predicted, thought=draw(thoughts), response=draw(st.sampled_from([answer, None, "r"]))
    )
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(FRAGMENTS)) + text[at + draw(st.sampled_from([0, 0, 1, 5])) :]
    return text, draw(st.sampled_from([gold, truth]))


def assert_equal_to_single_rows(completions: list[str], truths: list[object], spec: RewardSpec) -> None:
    """Compare every column of `score_many` with `score` of each row."""
    table = score_many(completions, truths, spec)
    single = [score(text, truth, spec) for text, truth in zip(completions, truths, strict=True)]
    wanted = pd.DataFrame([[getattr(result, column) for column in COLUMNS] for result in single], columns=COLUMNS)
    pd.testing.assert_frame_equal(table[COLUMNS], wanted, check_exact=True, check_dtype=False)


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=40, deadline=None)
@given(st.lists(rows(), min_size=1, max_size=4))
def test_a_table_has_the_scores_of_its_rows(name: str, drawn: list[tuple[str, object]]) -> None:
    completions, truths = [row[0] for row in drawn], [row[1] for row in drawn]
    # Twice in one table, so that what was kept from the first time is used the second time.
    assert_equal_to_single_rows(completions * 2, truths * 2, SPECS[name])


@settings(max_examples=400, deadline=None)
@given(rows())
def test_the_shortcut_reads_a_text_as_the_general_scanner_does(row: tuple[str, object]) -> None:
    read = parsing.parse_completion(row[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "read_plain", lambda text: None)
        assert repr(parsing.parse_completion(row[0])) == repr(read)  # by repr, for NaN equals nothing


@pytest.mark.parametrize("name", ["paper", "released", "robust"])
def test_usual_texts_need_no_general_reading(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = render_completion([ToolCall("f", {"a": 1, "b": "x: y"}), ToolCall("g", {"c": [1]})], thought="t")
    wrong = gold.replace("x: y", "z")
    monkeypatch.setattr("toolrl_core.batch.evaluate", None)
    table = score_many([gold, wrong, wrong], [gold] * 3, RewardSpec.preset(name))
    # S_max = 1 + (1 + 2) + (1 + 1) = 6; one wrong value leaves 5 of 6, so -3 + 6 * 5 / 6 = 2.
    assert table["correctness"].tolist() == [3.0, 2.0, 2.0]
    assert table["format"].tolist() == [1.0, 1.0, 1.0]
