"""The picture of a matching: lines, boxes, words, and what stands in the table below it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from toolrl_core import RewardSpec, pair_scores, score
from toolrl_core.matching_picture import matching_html, matching_svg, predicted_names

ALPHA, BETA = {"name": "alpha", "arguments": {"a": 1}}, {"name": "beta", "arguments": {"b": 1, "c": 2}}
FIRST, SECOND = {"name": "alpha", "arguments": {"a": 1, "b": 1, "c": 2}}, {"name": "alpha", "arguments": {"a": 2}}


def drawn(svg):
    root = ET.fromstring(svg)
    kinds = [element.tag.rpartition("}")[2] for element in root]
    return root, kinds.count("line"), kinds.count("rect")


def test_the_notes_counterexample_crosses_its_lines():
    root, lines, boxes = drawn(matching_svg(score([FIRST, SECOND], [ALPHA, BETA])))
    assert (lines, boxes) == (2, 4)
    assert root.get("aria-label") == (
        "expected call 0 alpha: paired with predicted call 1 alpha, 1 of 2 raw points; "
        "expected call 1 beta: paired with predicted call 0 alpha, 2.667 of 3 raw points"
    )
    places = [(line.get("y1"), line.get("y2")) for line in root if line.tag.endswith("line")]
    assert places == [("49", "103"), ("103", "49")]


def test_calls_without_a_partner_are_dashed_and_named():
    spec = RewardSpec.preset("robust")
    root, lines, _ = drawn(matching_svg(score([FIRST, SECOND], [ALPHA, BETA], spec)))
    assert lines == 1
    label = root.get("aria-label")
    assert "expected call 1 beta: no partner" in label
    assert "predicted call 1 alpha: no partner" in label
    assert sum("stroke-dasharray" in element.attrib for element in root) == 2


def test_a_partner_without_points_has_a_dashed_line():
    gold, predicted = [{"name": "f", "arguments": {"a": 1}}], [{"name": "f", "arguments": {"b": 1}}]
    (line,) = (element for element in drawn(matching_svg(score(predicted, gold)))[0] if element.tag.endswith("line"))
    assert line.get("stroke-dasharray")


def test_a_malformed_call_that_wins_points_is_said():
    text = '<think> t </think>\n<tool_call>\n{"name": "f", "parameters": {}}\n{bad\n</tool_call>'
    assert "expected call 1 g: 1 of 1, by a malformed call" in matching_svg(score(text, [{"name": "f"}, {"name": "g"}]))


def test_without_any_call_there_is_no_picture():
    assert matching_svg(score("", [])) == ""
    assert matching_html(score("", [])) == ""


def test_the_table_has_every_pair_and_marks_the_chosen_ones():
    gold, predicted = [ALPHA, BETA], [FIRST, SECOND]
    html = matching_html(score(predicted, gold), pair_scores(gold, predicted))
    assert re.findall(r"<td>(.*?)</td>", html) == ["1.333", "<strong>1</strong>", "<strong>2.667</strong>", "0"]
    assert "<table>" not in matching_html(score(predicted, gold))


def test_names_of_predicted_calls_keep_the_order_of_the_completion():
    calls = [{"name": name, "arguments": {}} for name in ("x", "b", "y", "a")]
    result = score(calls, [{"name": "a"}, {"name": "b"}], RewardSpec.preset("robust"))
    assert predicted_names(result) == ("x", "b", "y", "a")


def test_many_calls_are_drawn_in_part():
    calls = [{"name": "f", "arguments": {"a": i}} for i in range(20)]
    svg = matching_svg(score(calls, calls))
    assert drawn(svg)[1:] == (12, 24)
    assert "and up to 8 more a side" in svg


@given(st.text(min_size=1))
def test_any_name_gives_well_formed_text(name):
    svg = matching_svg(score([{"name": name, "arguments": {}}], [{"name": "f"}]))
    printable = re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", svg)  # what XML can hold at all
    assert drawn(printable)[2] == 2
    svg.encode()
