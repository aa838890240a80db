"""Tool calls and accepted values: what they hold, and what they refuse."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from toolrl_core.calls import AcceptedCall, Alternatives, GroundTruthError, ToolCall, first_value, nested_alternatives


def test_a_call_holds_its_name_and_arguments() -> None:
    call = ToolCall("f", {"a": 1})
    assert (call.name, call.arguments) == ("f", {"a": 1})
    assert call.to_dict() == {"name": "f", "arguments": {"a": 1}}
    assert ToolCall("f").arguments == {}
    assert ToolCall("f", OrderedDict(a=1)) == ToolCall("f", {"a": 1})
    assert ToolCall("f", MappingProxyType({"a": 1})).to_dict()["arguments"] == {"a": 1}


def test_a_call_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        ToolCall("f").name = "g"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (None, {}, "ToolCall name must be text, found NoneType: None"),
        (5, {}, "ToolCall name must be text, found int: 5"),
        ("f", [("a", 1)], "ToolCall arguments must be a mapping, found list"),
        ("f", None, "ToolCall arguments must be a mapping, found NoneType"),
        ("f", {1: 2}, "ToolCall argument names must be text, found int: 1"),
    ],
)
def test_a_call_of_other_types_is_refused_with_what_was_found(name: Any, arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ToolCall(name, arguments)


def test_the_empty_text_among_accepted_values_makes_a_parameter_optional() -> None:
    call = AcceptedCall("f", {"a": [1], "b": ["x", ""], "c": [0, False]}, optional=["c"], defaults={"d": 5})
    assert call.optional == {"b", "c", "d"}
    assert call.first() == ToolCall("f", {"a": 1})
    assert AcceptedCall("f", {"a": [0, False, None, [], {}]}).optional == frozenset()


def test_a_default_of_a_parameter_that_is_expected_makes_nothing_optional() -> None:
    assert AcceptedCall("f", {"a": [1]}, defaults={"a": 1}).optional == frozenset()


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"a": [1, 2]}, Alternatives({"a": (1, 2)})),
        ({"a": [1], "b": 2}, {"a": [1], "b": 2}),
        ({"a": []}, {"a": []}),
        ({}, {}),
        ([{"a": [1]}, 2], [Alternatives({"a": (1,)}), 2]),
        ({"a": [{"b": [1]}]}, Alternatives({"a": (Alternatives({"b": (1,)}),)})),
        ({"a": {"b": [1]}}, {"a": {"b": [1]}}),
        ((1, 2), [1, 2]),
        ("x", "x"),
    ],
)
def test_only_an_object_of_lists_is_a_set_of_alternatives(value: Any, read: Any) -> None:
    assert nested_alternatives(value) == read
    assert nested_alternatives(read) == read


def test_the_first_value_is_literal_all_the_way_down() -> None:
    option = nested_alternatives([{"a": [{"b": [1, 2], "c": ["", 3]}], "d": [4]}, 5])
    assert first_value(option) == [{"a": {"b": 1}, "d": 4}, 5]


@pytest.mark.parametrize(
    ("accepted", "single"),
    [
        ({}, True),
        ({"a": [1]}, True),
        ({"a": [1, 2]}, False),
        ({"a": [""]}, False),
        ({"a": [{"b": [1]}]}, False),
        ({"a": [[{"b": [1]}]]}, False),
        ({"a": [{"b": 1}]}, True),
    ],
)
def test_a_single_valued_call_accepts_one_literal_value_for_each_parameter(
    accepted: dict[str, list[Any]], single: bool
) -> None:
    assert AcceptedCall("f", accepted).is_single_valued() == single


@pytest.mark.parametrize(
    ("name", "accepted", "field", "found"),
    [
        ("", {}, "name", "found ''"),
        (None, {}, "name", "found None"),
        ("f", [1], "accepted", "found list"),
        ("f", {1: [2]}, "accepted", "found 1"),
        ("f", {"a": []}, "a", r"found \[\]"),
        ("f", {"a": 5}, "a", "found 5"),
        ("f", {"a": "text"}, "a", "found 'text'"),
        ("f", {"a": None}, "a", "found None"),
    ],
)
def test_bad_accepted_values_name_the_field_and_what_was_found(
    name: Any, accepted: Any, field: str, found: str
) -> None:
    with pytest.raises(GroundTruthError, match=found) as caught:
        AcceptedCall(name, accepted)
    assert caught.value.field == field


def test_an_error_states_the_call_the_field_and_the_problem() -> None:
    assert str(GroundTruthError("is wrong")) == "ground truth: is wrong"
    assert str(GroundTruthError("is wrong", field="a")) == "ground truth, field 'a': is wrong"
    assert str(GroundTruthError("is wrong", index=0)) == "ground truth call 0: is wrong"
    error = GroundTruthError("is wrong", index=2, field="a")
    assert str(error) == "ground truth call 2, field 'a': is wrong"
    assert (error.problem, error.index, error.field) == ("is wrong", 2, "a")
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    "call",
    [ToolCall("f", {"a": [1]}), AcceptedCall("f", {"a": [1, {"b": ["x", ""]}], "c": [""]}, defaults={"d": 1})],
)
def test_calls_survive_copying_and_pickling(call: ToolCall | AcceptedCall) -> None:
    for twin in (copy.copy(call), copy.deepcopy(call), pickle.loads(pickle.dumps(call))):
        assert twin == call
