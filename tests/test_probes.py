"""The probes of chapter 5: which pairs of values are equal, and which completions are formatted, rule by rule.

Every verdict below was worked out by hand from the rules; 1 is equal or formatted, 0 is not.
"""

import json

import pytest

from toolrl_core.explain.probes import (
    EQUALITY_COLUMNS,
    EQUALITY_PROBES,
    FORMAT_CASES,
    FORMAT_COLUMNS,
    EqualityProbe,
    equality_verdicts,
    format_verdicts,
)

# json, json_strict, python, bfcl, schema, unordered
EQUAL = {
    "1 / 1.0": "101011",
    "1.0 / 1": "101111",
    "100 / 1e2": "101011",
    "0.3 / 0.30000000000000004": "000000",
    "2⁵³ + 1 / 2⁵³ as a float": "000000",
    "-5 / 5": "000000",
    "NaN / NaN": "110111",
    "1 / true": "001000",
    "false / 0": "001000",
    'true / "true"': "000010",
    'true / "yes"': "000000",
    '1 / "1"': "000010",
    '"1" / 1': "000010",
    '"02134" / 2134': "000000",
    '1.5 / "1.50"': "000010",
    'null / "null"': "000000",
    'null / ""': "000000",
    "[] / null": "000000",
    '"\\u00e9" / "é"': "111111",
    '"\\u00e9" / "e\\u0301"': "000000",
    '"New York, NY" / "new york ny"': "000100",
    '"Oslo" / "Oslo "': "000100",
    '"-5" / "5"': "000100",
    '"1.5" / "15"': "000100",
    '"2024-1-11" / "2024-11-1"': "000100",
    '"Straße" / "strasse"': "000000",
    "[1, 2] / [2, 1]": "000001",
    "[1, 1, 2] / [1, 2, 2]": "000000",
    "[[1,2],[3]] / [[3],[2,1]]": "000000",
    "[1.0] / [1]": "101011",
    '["1.5"] / ["15"]': "000100",
    '{"a":1,"b":2} / {"b":2,"a":1}': "111111",
    '{"a":1} / {"a":1,"b":null}': "000000",
    '[{"a":1}] / [{"a":true}]': "001000",
    '{"a":1} / {"a":"1"}': "000010",
}

# all_fields, literal, ordered_tags, released, strict
FORMATTED = {
    "complete, in order": "11111",
    "a field is missing": "01000",
    "order reversed": "00000",
    "no thought": "00000",
    "a block repeated": "11100",
    "text between blocks": "11100",
    "only a call asked for": "01111",
    "only a response asked for": "01111",
    "response instead of call": "01000",
    "call instead of response": "01000",
    "response not asked for": "11100",
    "no line break between": "01101",
    "blank line between": "01101",
    "Windows line ends": "01101",
    "JSON over several lines": "01111",
    "no JSON in the block": "01110",
    "nothing in the block": "01110",
    "two call blocks": "01100",
    "two thoughts": "01110",
    "thought names a tag": "01101",
    "thought quotes its end tag": "01111",
    "end tag inside a string": "01101",
    "cut off inside the call": "01100",
    "opening tags only": "01100",
    "all tags inside the thought": "11100",
    "words before": "01100",
    "words after": "01100",
    "stop token left in": "01111",
    "starts over": "01110",
    "tags in capitals": "00000",
    "thought opened by the prompt": "00000",
    "end of thought, nothing else": "00000",
    "empty": "00000",
}


def bits(row):
    return "".join(str(int(value)) for value in row)


def test_every_equality_probe_gets_the_verdict_worked_out_by_hand():
    table = equality_verdicts()
    assert tuple(table.columns) == EQUALITY_COLUMNS
    assert {name: bits(row) for name, row in zip(table.index, table.to_numpy(), strict=True)} == EQUAL


def test_every_format_case_gets_the_verdict_worked_out_by_hand():
    table = format_verdicts()
    assert tuple(table.columns) == FORMAT_COLUMNS
    assert {name: bits(row) for name, row in zip(table.index, table.to_numpy(), strict=True)} == FORMATTED


def test_the_six_named_cases_of_the_note_come_out_under_the_rule_that_follows_the_ground_truth():
    named = [case for case in FORMAT_CASES if case.note is not None]
    assert [case.note for case in named] == [1, 0, 0, 0, 1, 1]
    table = format_verdicts(named)
    assert table["ordered_tags"].astype(int).tolist() == [1, 0, 0, 0, 1, 1]
    assert table["literal"].astype(int).tolist() == [1, 1, 0, 0, 1, 1]


@pytest.mark.parametrize("column", ["json", "json_strict", "python", "unordered"])
def test_equality_does_not_depend_on_the_direction_except_where_a_rule_says_so(column):
    for probe in EQUALITY_PROBES:
        turned = EqualityProbe(
            kind=probe.kind, ground_truth=probe.predicted, predicted=probe.ground_truth, schema=probe.schema
        )
        assert turned.verdict(column) == probe.verdict(column), probe.name


def test_both_sides_of_every_probe_are_json_texts_with_names_of_their_own():
    for probe in EQUALITY_PROBES:
        json.loads(probe.ground_truth)
        json.loads(probe.predicted)
    assert len({probe.name for probe in EQUALITY_PROBES}) == len(EQUALITY_PROBES)
    assert len({case.name for case in FORMAT_CASES}) == len(FORMAT_CASES)


def test_a_pair_in_words_keeps_its_json_texts():
    (probe,) = [probe for probe in EQUALITY_PROBES if probe.words]
    assert json.loads(probe.ground_truth) == 2**53 + 1
    assert json.loads(probe.predicted) == float(2**53)


def test_an_unknown_column_is_refused_by_name():
    with pytest.raises(ValueError, match=r"'loose'.*json_strict"):
        EQUALITY_PROBES[0].verdict("loose")
