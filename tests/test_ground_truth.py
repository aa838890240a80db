"""Ground truths: every form that data sets use, and what is said about the ones that cannot be used."""

from __future__ import annotations

import json
import pickle
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core.calls import AcceptedCall, GroundTruthError, ToolCall
from toolrl_core.ground_truth import (
    PLACEHOLDER_RESPONSE,
    PLACEHOLDER_THOUGHT,
    GroundTruth,
    parse_ground_truth,
    render_calls,
    render_completion,
    single_valued,
    with_schema,
)
from toolrl_core.parsing import parse_completion

F, G = ToolCall("f", {"a": 1}), ToolCall("g", {})
THOUGHT, RESPONSE = "<think> t </think>", "<response> r </response>"
CALLS = '<tool_call>\n{"name": "f", "parameters": {"a": 1}}\n{"name": "g", "parameters": {}}\n</tool_call>'


# The forms


@pytest.mark.parametrize(
    ("text", "calls", "requires"),
    [
        (f"{THOUGHT}\n{CALLS}", (F, G), ("thought", "tool_call")),
        (f"{THOUGHT}\n{RESPONSE}", (), ("thought", "response")),
        (f"{THOUGHT}\n{CALLS}\n{RESPONSE}", (F, G), ("thought", "tool_call", "response")),
        (f"\n {THOUGHT}{CALLS} {RESPONSE}\n", (F, G), ("thought", "tool_call", "response")),
        (CALLS, (F, G), ("thought", "tool_call")),
        (RESPONSE, (), ("thought", "response")),
        (THOUGHT, (), ("thought",)),
        (f"<think> I write <tool_call> </think>\n{CALLS}", (F, G), ("thought", "tool_call")),
        (f"{THOUGHT}\n{CALLS}<|im_end|>", (F, G), ("thought", "tool_call")),
    ],
)
def test_a_text_says_by_its_blocks_what_it_requires(
    text: str, calls: tuple[Any, ...], requires: tuple[str, ...]
) -> None:
    truth = parse_ground_truth(text)
    assert (truth.calls, truth.requires, truth.text) == (calls, requires, text)
    assert truth.response == (" r " if "response" in requires else None)


@pytest.mark.parametrize(
    "form",
    [
        [{"name": "f", "parameters": {"a": 1}}],
        [{"name": "f", "arguments": {"a": 1}}],
        ({"name": "f", "arguments": {"a": 1}},),
        {"name": "f", "arguments": {"a": 1}},
        [{"name": "f", "parameters": {"a": 1}, "arguments": {"a": 1}}],
        [{"name": "f", "arguments": '{"a": 1}'}],
        [{"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
        [{"function": {"name": "f", "arguments": {"a": 1}}}],
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
        [ToolCall("f", {"a": 1})],
        ToolCall("f", {"a": 1}),
        '[{"name": "f", "parameters": {"a": 1}}]',
        ' {"name": "f", "parameters": {"a": 1}} ',
        '{"tool_calls": [{"function": {"name": "f", "arguments": "{\\"a\\": 1}"}}]}',
    ],
)
def test_lists_of_calls_come_in_many_spellings(form: Any) -> None:
    truth = parse_ground_truth(form)
    assert truth == GroundTruth((F,), ("thought", "tool_call"))
    assert parse_ground_truth(truth) is truth


@pytest.mark.parametrize(
    "form", [[{"name": "g"}], [{"name": "g", "arguments": None}], [{"name": "g", "arguments": "{}"}]]
)
def test_missing_arguments_are_no_arguments(form: Any) -> None:
    assert parse_ground_truth(form).calls == (G,)


@pytest.mark.parametrize("form", [[], (), "[]"])
def test_no_calls_ask_for_a_response(form: Any) -> None:
    assert parse_ground_truth(form) == GroundTruth((), ("thought", "response"))


def test_accepted_values_of_the_berkeley_form_are_kept() -> None:
    (call,) = parse_ground_truth([{"weather": {"city": ["Oslo", "oslo"], "unit": ["C", ""]}}]).calls
    assert isinstance(call, AcceptedCall)
    assert call == AcceptedCall("weather", {"city": ("Oslo", "oslo"), "unit": ("C", "")})
    assert call.optional == {"unit"}
    assert parse_ground_truth('[{"weather": {"city": ["Oslo"]}}]').calls == (
        AcceptedCall("weather", {"city": ["Oslo"]}),
    )
    assert parse_ground_truth([{"f": {}}]).calls == (AcceptedCall("f", {}),)
    assert parse_ground_truth([{"name": {"a": [1]}}]).calls == (AcceptedCall("name", {"a": [1]}),)
    assert parse_ground_truth([call]).calls == (call,)


def test_arrays_and_columns_are_lists() -> None:
    numpy = pytest.importorskip("numpy")
    rows = numpy.array([{"name": "f", "parameters": {"a": numpy.int64(1)}}])
    assert parse_ground_truth(rows).calls == (F,)
    values = numpy.array([1, 2])
    assert parse_ground_truth([{"name": "f", "parameters": {"a": values}}]).calls == (ToolCall("f", {"a": [1, 2]}),)
    assert parse_ground_truth([{"f": {"a": values}}]).calls == (AcceptedCall("f", {"a": [1, 2]}),)


# Schemas


SCHEMA = {"t": {"x": {"type": "string"}, "u": {"type": "string", "default": "C"}, "n": {"default": None}}}


@pytest.mark.parametrize(
    "schemas",
    [SCHEMA, {"t": {"type": "object", "properties": SCHEMA["t"], "required": ["x"]}}],
)
def test_declared_defaults_make_absent_parameters_optional(schemas: Any) -> None:
    (call,) = parse_ground_truth([{"name": "t", "parameters": {"x": "a"}}], schemas=schemas).calls
    assert isinstance(call, AcceptedCall)
    assert (call.accepted, call.optional, call.defaults) == ({"x": ("a",)}, {"u", "n"}, {"u": "C", "n": None})
    assert call.schema["x"] == {"type": "string"}


def test_a_parameter_that_is_expected_stays_required_whatever_its_default() -> None:
    call = with_schema(ToolCall("t", {"u": "C"}), SCHEMA)
    assert isinstance(call, AcceptedCall)
    assert call.optional == {"n"}


def test_a_parameter_called_properties_is_no_schema_of_an_object() -> None:
    call = with_schema(ToolCall("t", {}), {"t": {"properties": {"type": "string", "default": "x"}}})
    assert isinstance(call, AcceptedCall)
    assert call.defaults == {"properties": "x"}


def test_functions_without_a_schema_stay_as_they_are() -> None:
    assert with_schema(F, SCHEMA) is F
    assert parse_ground_truth([F], schemas=SCHEMA).calls == (F,)


def test_literal_values_stay_literal_under_a_schema() -> None:
    call = ToolCall("t", {"x": "", "o": {"a": [1, 2]}})
    once = with_schema(call, SCHEMA)
    twice = with_schema(once, SCHEMA)
    for prepared in (once, twice, pickle.loads(pickle.dumps(once))):
        assert isinstance(prepared, AcceptedCall)
        assert prepared.accepted == {"x": ("",), "o": ({"a": [1, 2]},)}
        assert prepared.optional == {"u", "n"}
        assert prepared.first() == call


def test_own_defaults_and_schemas_win_over_the_declared_ones() -> None:
    own = AcceptedCall("t", {"x": ["a", ""]}, defaults={"u": "F"}, schema={"x": {"type": "integer"}})
    call = with_schema(own, SCHEMA)
    assert isinstance(call, AcceptedCall)
    assert (call.defaults["u"], call.schema["x"]["type"], call.optional) == ("F", "integer", {"x", "u", "n"})


# Rendering


def test_a_rendered_ground_truth_is_read_back() -> None:
    text = render_completion([F, G])
    assert text == f"<think> {PLACEHOLDER_THOUGHT} </think>\n{CALLS}"
    assert parse_ground_truth(text).calls == (F, G)
    assert (
        render_completion([])
        == f"<think> {PLACEHOLDER_THOUGHT} </think>\n<response> {PLACEHOLDER_RESPONSE} </response>"
    )
    assert render_completion(f"{THOUGHT}\n{CALLS}\n{RESPONSE}") == f"{THOUGHT}\n{CALLS}\n{RESPONSE}"
    assert render_completion([F], thought="x", response="y").endswith("</tool_call>\n<response> y </response>")
    assert render_completion([F], calls=[]) == f"<think> {PLACEHOLDER_THOUGHT} </think>\n<tool_call>\n</tool_call>"
    assert render_calls([]) == "<tool_call>\n</tool_call>"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.builds(ToolCall, st.text(min_size=1), st.dictionaries(st.text(), JSON, max_size=3)), min_size=1, max_size=3
    )
)
def test_any_call_survives_rendering_and_reading(calls: list[ToolCall]) -> None:
    assert parse_completion(render_completion(calls)).calls == tuple(calls)
    assert parse_ground_truth(render_completion(calls)).calls == tuple(calls)
    assert parse_ground_truth(json.dumps([call.to_dict() for call in calls])).calls == tuple(calls)


def test_one_value_stands_for_the_accepted_ones() -> None:
    truth = single_valued([{"f": {"a": [1, 2], "b": ["", 3], "c": [{"d": [4, 5], "e": ["", 6]}]}}, F])
    assert truth.calls == (ToolCall("f", {"a": 1, "c": {"d": 4}}), F)
    assert single_valued(f"{THOUGHT}\n{RESPONSE}").requires == ("thought", "response")


# What cannot be used


CASES: list[tuple[Any, int | None, str | None, str]] = [
    # form, index of the call, field, what the message says
    (None, None, None, "must be text, a list of calls or a call, found NoneType: None"),
    (5, None, None, "must be text, a list of calls or a call, found int: 5"),
    ({"a", "b"}, None, None, "must be text, a list of calls or a call, found set"),
    ("", None, None, "has no <think>, <tool_call> or <response> block: ''"),
    ("hello", None, None, "has no <think>, <tool_call> or <response> block: 'hello'"),
    ("[{", None, None, "is not JSON and has no tags"),
    ("[" * 100_000, None, None, "is not JSON and has no tags"),
    ("{}", 0, "name", "must be non-empty text, found the keys none"),
    ("<tool_call></tool_call>", None, "tool_call", "has a tool-call block without a call"),
    (
        f"{THOUGHT}<tool_call>\noops\n</tool_call>",
        0,
        None,
        "json_decode at character 30: expected an object, found 'oops",
    ),
    (
        f'{THOUGHT}<tool_call>{{"name": "f"}}\n{{"tool": 1}}</tool_call>',
        1,
        None,
        "missing_name at character 43: keys: tool",
    ),
    (f'{THOUGHT}<tool_call>{{"name": "f", "parameters": 5}}</tool_call>', 0, None, "arguments_not_an_object"),
    (f"{THOUGHT}<tool_call>{{'name': 'f'}}</tool_call>", 0, None, "python_literal"),
    (f'{THOUGHT}<tool_call>{{"name": "f"}}', 0, None, "unclosed_block"),
    ("<think> t", 0, None, "unclosed_thought"),
    ("<response> t", 0, None, "unclosed_response"),
    ([5], 0, None, "must be a call, found int: 5"),
    ([None], 0, None, "must be a call, found NoneType: None"),
    ([F, "f"], 1, None, "must be a call, found str: 'f'"),
    ([[F]], 0, None, "must be a call, found list"),
    ([{}], 0, "name", "must be non-empty text, found the keys none"),
    ([{"tool": "f", "parameters": {}}], 0, "name", "must be non-empty text, found the keys tool, parameters"),
    ([F, {"name": "", "parameters": {}}], 1, "name", "must be non-empty text, found ''"),
    ([{"name": None, "parameters": {}}], 0, "name", "must be non-empty text, found None"),
    ([{"name": 5}], 0, "name", "must be non-empty text, found 5"),
    ([{"name": "f", "parameters": 5}], 0, "parameters", "must be an object, found int: 5"),
    ([{"name": "f", "arguments": [1]}], 0, "arguments", "must be an object, found list: [1]"),
    ([{"name": "f", "arguments": "no json"}], 0, "arguments", "is text that is not JSON: 'no json'"),
    ([{"name": "f", "arguments": "[1]"}], 0, "arguments", "must be an object, found list: [1]"),
    ([{"name": "f", "arguments": "[" * 100_000}], 0, "arguments", "is text that is not JSON"),
    ([{"name": "f", "parameters": {1: 2}}], 0, "parameters", "argument names must be text, found 1"),
    ([{"name": "f", "parameters": {"a": {1: 2}}}], 0, "a", "has an object key that is not text"),
    ([{"name": "f", "parameters": {"a": {1, 2}}}], 0, "a", "must be a JSON value, found set"),
    ([{"name": "f", "parameters": {"a": [SimpleNamespace()]}}], 0, "a", "must be a JSON value, found SimpleNamespace"),
    ([{"name": "f", "parameters": {"a": b"x"}}], 0, "a", "must be a JSON value, found bytes: b'x'"),
    ([{"f": {"a": 5}}], 0, "a", "must be a non-empty list of accepted values, found 5"),
    ([{"f": {"a": []}}], 0, "a", "must be a non-empty list of accepted values, found []"),
    ([{"f": {"a": "text"}}], 0, "a", "must be a non-empty list of accepted values, found 'text'"),
    ([F, {"f": {"a": None}}], 1, "a", "must be a non-empty list of accepted values, found None"),
    ([{"f": {"a": [{1, 2}]}}], 0, "a", "must be a JSON value, found set"),
    ([{"f": {1: [2]}}], 0, "accepted", "parameter names must be text, found 1"),
    ([{"f": [1]}], 0, "name", "must be non-empty text, found the keys f"),
    ([{"": {"a": [1]}}], 0, "name", "must be non-empty text, found ''"),
    ([{"function": {"arguments": {}}}], 0, "name", "must be non-empty text, found the keys arguments"),
    ({"tool_calls": [5]}, 0, None, "must be a call, found int: 5"),
    ({"role": "assistant", "content": "hello"}, 0, "name", "found the keys role, content"),
]


@pytest.mark.parametrize(("form", "index", "field", "message"), CASES, ids=range(len(CASES)))
def test_a_malformed_ground_truth_names_the_call_the_field_and_what_was_found(
    form: Any, index: int | None, field: str | None, message: str
) -> None:
    with pytest.raises(GroundTruthError) as caught:
        parse_ground_truth(form)
    assert (caught.value.index, caught.value.field) == (index, field)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_ground_truth_without_end_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for form in ([{"name": "f", "parameters": {"a": loop}}], [{"f": {"a": [loop]}}]):
        with pytest.raises(GroundTruthError, match="ground truth call 0: nests too deeply to be read"):
            parse_ground_truth(form)


class TestKeysBesideTheName:
    def test_a_misspelt_key_is_an_error_that_names_it(self):
        with pytest.raises(GroundTruthError, match="call 0, field 'parameters': is missing; found the keys parametres"):
            parse_ground_truth([{"name": "f", "parametres": {"a": 1}}])

    def test_two_argument_keys_that_differ_are_an_error(self):
        with pytest.raises(GroundTruthError, match="has both arguments and parameters, and they differ"):
            parse_ground_truth([{"name": "f", "parameters": {"a": 1}, "arguments": {"b": 2}}])

    def test_the_null_key_of_a_columnar_file_gives_way_to_the_other(self):
        truth = parse_ground_truth([{"name": "f", "parameters": {"a": 1}, "arguments": None}])
        assert truth.calls[0].arguments == {"a": 1}

    def test_a_call_without_any_argument_key_has_none(self):
        assert parse_ground_truth([{"name": "f", "id": "call_1", "type": "function"}]).calls[0].arguments == {}
