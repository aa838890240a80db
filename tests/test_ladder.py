"""The account of a score: what each step says, that nothing in it is markup, and its plain form."""

from __future__ import annotations

import copy
import json
import math
import pickle
from html.parser import HTMLParser

import pytest

from toolrl_core.breakdown import RewardBreakdown, package_version
from toolrl_core.calls import AcceptedCall, ToolCall
from toolrl_core.ground_truth import render_completion
from toolrl_core.ladder import ladder_html
from toolrl_core.rewards import score
from toolrl_core.schedules import LengthReward, two_stage
from toolrl_core.spec import RewardSpec

PAPER, ROBUST, RELEASED = (RewardSpec.preset(name) for name in ("paper", "robust", "released"))
F1 = {"name": "f", "parameters": {"a": 1}}
G = {"name": "g", "parameters": {"b": 2, "c": 3}}


class Table(HTMLParser):
    """Read an HTML table: its rows of text, every tag and every attribute."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
            self.cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self.cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.cell:
            self.rows[-1][-1] += data


def steps(breakdown: RewardBreakdown) -> list[list[str]]:
    return Table(ladder_html(breakdown)).rows[1:]


def test_every_step_says_what_it_gave_what_it_could_give_and_why() -> None:
    answer = render_completion([F1, G], calls=[ToolCall("f", {"a": 2, "z": 0}), ToolCall("g", {"b": 2})])
    # names 1; f: keys 1/2, value 0; g: keys 1/2, values 1 and 0: 3 of 6 raw points, one point each
    assert steps(score(answer, [F1, G])) == [
        ["floor", "−3.000", "", "−3.000", "where correctness starts"],
        ["names", "+1.000", "1.000", "−2.000", "expected f, g; found f, g"],
        ["call 0 f: keys", "+0.500", "1.000", "−1.500", "paired with predicted call 0 f; z extra key"],
        ["call 0 f: value of a", "+0.000", "1.000", "−1.500", "wrong value 2; expected 1"],
        ["call 1 g: keys", "+0.500", "1.000", "−1.000", "paired with predicted call 1 g; c missing"],
        ["call 1 g: value of b", "+1.000", "1.000", "0.000", "2"],
        ["call 1 g: value of c", "+0.000", "1.000", "0.000", "missing; expected 3"],
        ["format", "+1.000", "1.000", "1.000", "rule ordered_tags: holds"],
    ]


def test_extra_and_missing_calls_and_broken_formats_have_their_steps() -> None:
    result = score("oops <tool_call>" + json.dumps([F1, {"name": "h"}, 5]) + "</tool_call>", [F1, G], ROBUST)
    # names 1/4, f 2, maximum 6 + 2
    assert steps(result) == [
        ["floor", "−3.000", "", "−3.000", "where correctness starts"],
        ["names", "+0.188", "0.750", "−2.812", "expected f, g; found f, h and 1 malformed"],
        ["call 0 f: keys", "+0.750", "0.750", "−2.062", "paired with predicted call 0 f"],
        ["call 0 f: value of a", "+0.750", "0.750", "−1.312", "1"],
        ["call 1 g: keys", "+0.000", "0.750", "−1.312", "no partner"],
        ["call 1 g: value of b", "+0.000", "0.750", "−1.312", "no partner"],
        ["call 1 g: value of c", "+0.000", "0.750", "−1.312", "no partner"],
        ["extra calls", "+0.000", "1.500", "−1.312", "calls beyond the expected names raise the maximum"],
        ["format", "+0.000", "1.000", "−1.312", "rule strict: broken"],
    ]


def test_optional_values_are_shown_as_free_or_wrong() -> None:
    expected = [AcceptedCall("f", {"a": [1], "b": ["x", ""], "c": ["y", ""]})]
    (keys,) = [
        row for row in steps(score([ToolCall("f", {"a": 1, "b": "x", "c": "no"})], expected)) if "keys" in row[0]
    ]
    assert keys[4] == "paired with predicted call 0 f; b optional, free; c wrong optional value"


@pytest.mark.parametrize(
    ("preset", "labels"),
    [
        ("intermediate", ["floor", "names", "call 0 f", "call 1 g", "format"]),
        ("coarse", ["floor", "answer", "format"]),
    ],
)
def test_coarser_granularities_have_fewer_steps(preset: str, labels: list[str]) -> None:
    result = score(render_completion([F1, G]), [F1, G], RewardSpec.preset(preset))
    assert [row[0] for row in steps(result)] == labels


def test_the_caption_names_the_preset_and_the_raw_points() -> None:
    assert "Total 3.000 points (paper, 3 of 3 raw points)" in ladder_html(score([F1], [F1]))
    assert "(own options, " in ladder_html(score([F1], [F1], PAPER.replace(names="multiset")))


def test_a_ground_truth_that_is_not_scored_has_no_steps_of_correctness() -> None:
    result = score(render_completion([]), [], RELEASED.replace(length_reward=LengthReward(target=20)))
    assert [row[0] for row in steps(result)] == ["format", "length"]


def test_keys_and_names_with_colons_are_explained_too() -> None:
    expected = [{"name": "f: g", "parameters": {"a: b": 1}}]
    rows = steps(score([{"name": "f: g", "parameters": {"a: b": 2}}], expected))
    assert rows[3] == ["call 0 f: g: value of a: b", "+0.000", "2.000", "1.000", "wrong value 2; expected 1"]


NASTY = "<script>alert('x')</script><img src=x onerror=\"y\">&amp;"


@pytest.mark.parametrize("spec", [PAPER, ROBUST, RELEASED], ids=["paper", "robust", "released"])
def test_nothing_from_a_completion_or_a_ground_truth_is_markup(spec: RewardSpec) -> None:
    call = {"name": NASTY, "parameters": {NASTY: NASTY, "o": {NASTY: [NASTY]}}}
    other = {"name": NASTY, "parameters": {NASTY: 1, "k" + NASTY: NASTY}}
    junk = f"{NASTY} <tool_call>{NASTY}</tool_call><think>{NASTY}</think>"
    for completion, truth in (
        (junk, [call]),
        ([other, {"name": "j" + NASTY, "parameters": {NASTY: 1}}], [call, call]),
        ([{NASTY: NASTY}, NASTY], [call]),
        (render_completion([call]), [call]),
        (render_completion([other]), [call]),
        (render_completion([other]), [AcceptedCall(NASTY, {NASTY: [NASTY, {NASTY: [NASTY]}], "z": [""]})]),
    ):
        if spec is RELEASED and isinstance(truth[0], AcceptedCall):
            continue
        table = Table(ladder_html(score(completion, truth, spec)))
        assert table.tags <= {"style", "table", "caption", "thead", "tbody", "tr", "th", "td", "code"} | {
            *("details", "summary", "ul", "li")
        }
        assert table.attributes <= {"class", "scope"}
        assert "<script>alert" in table.text


def test_a_ladder_can_be_sent_as_utf_8_whatever_it_holds() -> None:
    for value in ("\ud800", "\0", "\u202e", "😀", float("nan"), math.inf, 10**5000, "x" * 10_000):
        result = score([ToolCall("f", {"a": value})], [F1])
        assert len(result._repr_html_().encode("utf-8")) < 20_000


def test_many_reasons_are_counted_and_the_first_ones_shown() -> None:
    html = ladder_html(score([5] * 100, [F1]))
    assert "Reasons (102)" in html
    assert html.count("<li>") == 31
    assert "and 72 more" in html


def test_a_right_answer_has_no_reasons() -> None:
    assert "Reasons" not in ladder_html(score(render_completion([F1]), [F1]))


# The plain form


@pytest.mark.parametrize("preset", RewardSpec.presets())
def test_the_dictionary_is_strict_json_and_carries_options_and_version(preset: str) -> None:
    nan = {"name": "f", "parameters": {"a": math.nan, "b": [math.inf, {"c": -math.inf}]}}
    for completion, truth in (
        (render_completion([F1]), [F1]),
        ([nan, {"name": "g", "parameters": {"x": math.nan}}, None], [nan]),
        ("\ud800 oops", [F1]),
        ("", []),
    ):
        result = score(completion, truth, RewardSpec.preset(preset))
        plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert plain["total"] == result.total
        assert plain["spec"]["preset"] == preset
        assert plain["version"] == package_version()
        assert sum(part["points"] for part in plain["parts"]) == pytest.approx(result.total, abs=1e-12)
        assert len(plain["pairs"]) == plain["n_ground_truth"]
    assert json.dumps(plain["reasons"]).startswith("[")


def test_numbers_without_a_json_form_are_text_in_the_dictionary() -> None:
    truth = [{"name": "f", "parameters": {"a": math.nan, "b": [math.inf]}}]
    (pair,) = score([{"name": "f", "parameters": {"a": -math.inf, "b": 1}}], truth).to_dict()["pairs"]
    assert [(key["expected"], key["found"]) for key in pair["keys"]] == [("NaN", "-Infinity"), (["Infinity"], 1)]


def test_every_key_of_a_pair_has_a_state() -> None:
    expected = [AcceptedCall("f", {"a": [1], "b": [2], "c": [3], "d": ["", 4], "e": ["", 5]})]
    (pair,) = score([ToolCall("f", {"a": 1, "b": 0, "d": 4, "e": 0, "z": 9})], expected).pairs
    assert {key.key: key.state for key in pair.keys} == {
        "a": "right",
        "b": "wrong_value",
        "c": "missing",
        "d": "free",
        "e": "wrong_optional_value",
        "z": "extra",
    }
    assert (pair.score, pair.available) == (pytest.approx(2 / 5 + 1), 4)


def test_reasons_name_every_point_that_was_lost() -> None:
    result = score(
        [ToolCall("f", {"a": 2, "z": 0}), ToolCall("h", {})], [F1, G, {"name": "k", "parameters": {}}], ROBUST
    )
    assert [str(finding) for finding in result.reasons] == [
        "format_not_applicable: the completion is not text",
        "wrong_value: call 0 f, a: expected 1, found 2",
        "extra_key: call 0 f, z: found 0",
        "missing_call: call 1 g",
        "missing_call: call 2 k",
        "unexpected_call: h",
    ]


def test_calls_are_shown_with_their_namesakes_where_pairs_ignore_names() -> None:
    expected = [{"name": "f", "parameters": {}}, {"name": "g", "parameters": {}}, {"name": "h", "parameters": {}}]
    for answer in (["g", "h", "f"], ["h", "g", "f"], ["x", "h", "g", "f"]):
        result = score([{"name": name, "parameters": {}} for name in answer], expected)
        assert [pair.predicted_name for pair in result.pairs] == ["f", "g", "h"]
        assert not [finding for finding in result.reasons if finding.code == "wrong_name"]
        assert sum(part.points for part in result.parts()) == pytest.approx(result.total, abs=1e-12)
    # better arguments win over the name
    result = score([{"name": "g", "parameters": {"a": 1}}, F1 | {"parameters": {}}], [F1])
    assert result.pairs[0].predicted_name == "g"


def test_a_breakdown_survives_copying_and_pickling() -> None:
    result = score(render_completion([F1]), [AcceptedCall("f", {"a": [1, {"b": [2]}]})], ROBUST)
    for twin in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert twin == result
        assert ladder_html(twin) == ladder_html(result)


def test_the_ladder_of_a_step_of_training_uses_its_scales() -> None:
    spec = PAPER.replace(schedule=two_stage())
    assert "Total 1.000 points" in ladder_html(score([F1], [F1], spec, step=1))
    assert "Total 3.000 points" in ladder_html(score([F1], [F1], spec, step=30))


def test_values_that_are_long_are_cut() -> None:
    rows = steps(score([ToolCall("f", {"a": ["x" * 50] * 50})], [F1]))
    assert len(rows[3][4]) < 120
    assert rows[3][4].endswith("expected 1")
