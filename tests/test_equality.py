"""When two argument values are equal: five policies, value by value."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference_reward import canonical
from toolrl_core.calls import nested_alternatives
from toolrl_core.equality import EQUALITY_POLICIES, accepts, coerce, comparison, equal, json_equal

NAN = math.nan


@pytest.mark.parametrize(
    ("a", "b", "verdicts"),
    [  # verdicts under json, json_strict, python, bfcl
        (1, 1, "yes yes yes yes"),
        (1, 1.0, "yes no yes no"),
        (1.0, 1, "yes no yes yes"),  # the Berkeley checker takes an integer for a float, not the reverse
        ([1.0], [1], "yes no yes no"),  # and at the top level alone
        (1, True, "no no yes no"),
        (0, False, "no no yes no"),
        (1.0, True, "no no yes no"),
        ([1], [True], "no no yes no"),
        ({"k": 1}, {"k": True}, "no no yes no"),
        (True, True, "yes yes yes yes"),
        (True, False, "no no no no"),
        (0.1 + 0.2, 0.3, "no no no no"),
        (-0.0, 0, "yes no yes yes"),
        (2**53 + 1, float(2**53), "no no no no"),
        (2**53, float(2**53), "yes no yes no"),
        (10**400, 10**400 + 1, "no no no no"),
        (10**400, math.inf, "no no no no"),
        (math.inf, math.inf, "yes yes yes yes"),
        (math.inf, -math.inf, "no no no no"),
        (None, None, "yes yes yes yes"),
        (None, 0, "no no no no"),
        (None, "", "no no no no"),
        (None, False, "no no no no"),
        (None, "null", "no no no no"),
        ("x", "x", "yes yes yes yes"),
        ("x", "X", "no no no yes"),
        ("x", "x ", "no no no yes"),
        ("5", "-5", "no no no yes"),
        ("1.5", "15", "no no no yes"),
        ("2024-1-11", "2024-11-1", "no no no yes"),
        ("it's", 'it"s', "no no no yes"),
        ("a", "b", "no no no no"),
        ("1", 1, "no no no no"),
        ("true", True, "no no no no"),
        ("\u00e9", "e\u0301", "no no no no"),
        ([1, 2], [1, 2], "yes yes yes yes"),
        ([1, 2], [2, 1], "no no no no"),
        ([1, 2], [1], "no no no no"),
        ([], [], "yes yes yes yes"),
        ([], {}, "no no no no"),
        ([[]], [[], []], "no no no no"),
        (["A b"], ["ab"], "no no no yes"),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, "yes yes yes yes"),
        ({"x": 1}, {"x": 1, "y": 2}, "no no no no"),
        ({"x": 1}, {"X": 1}, "no no no no"),
        ({"x": {"y": [1, {"z": None}]}}, {"x": {"y": [1, {"z": None}]}}, "yes yes yes yes"),
        ({"x": {"y": [1, {"z": None}]}}, {"x": {"y": [1, {"z": 0}]}}, "no no no no"),
        ({"x": "1.5"}, {"x": "15"}, "no no no yes"),
    ],
)
def test_each_policy_has_its_verdict(a: Any, b: Any, verdicts: str) -> None:
    for policy, verdict in zip(EQUALITY_POLICIES, verdicts.split(), strict=False):
        assert equal(a, b, policy) == (verdict == "yes"), policy
    assert equal(a, b, "schema") == equal(a, b, "json")


def test_not_a_number_equals_itself_in_json_and_not_in_python() -> None:
    for a, b in ((NAN, float("nan")), ([NAN], [float("nan")]), ({"x": NAN}, {"x": float("nan")})):
        assert [equal(a, b, policy) for policy in EQUALITY_POLICIES] == [True, True, False, True, True]
    assert not equal(NAN, 1.0)
    assert not equal(NAN, "NaN")


def test_tuples_and_other_mappings_are_lists_and_objects() -> None:
    assert equal((1, (2,)), [1, [2]])
    assert equal((1, 2), [1, 2], "bfcl")
    assert not equal((1, 2), [1, 2], "python")


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.0, 1.0, 0.5, NAN]), st.sampled_from("ab1")
)
VALUES = st.recursive(
    LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from("kl"), v, max_size=2), max_leaves=6
)


@settings(max_examples=300, deadline=None)
@given(VALUES, VALUES)
def test_json_equality_is_equality_of_a_canonical_form(a: Any, b: Any) -> None:
    assert equal(a, b) == (canonical(a) == canonical(b))
    assert equal(a, b, "json_strict") == (canonical(a, strict=True) == canonical(b, strict=True))


@settings(max_examples=200, deadline=None)
@given(VALUES, VALUES, st.sampled_from(EQUALITY_POLICIES))
def test_every_value_equals_itself_and_the_strict_policy_is_the_narrowest(a: Any, b: Any, policy: str) -> None:
    assert equal(a, a, policy) or policy == "python"
    if policy != "bfcl":
        assert equal(a, b, policy) == equal(b, a, policy)
    assert not equal(a, b, "json_strict") or equal(a, b, "json")


@pytest.mark.parametrize(
    ("value", "schema", "coerced"),
    [
        ("7", {"type": "integer"}, 7),
        ("-7", {"type": "integer"}, -7),
        ("+7", {"type": "integer"}, 7),
        ("007", {"type": "integer"}, 7),
        ("7.0", {"type": "integer"}, "7.0"),
        ("7 ", {"type": "integer"}, "7 "),
        ("7\n", {"type": "integer"}, "7\n"),
        ("٧", {"type": "integer"}, "٧"),
        ("", {"type": "integer"}, ""),
        ("7.5", {"type": "number"}, 7.5),
        ("7", {"type": "number"}, 7),
        (".5", {"type": "number"}, 0.5),
        ("1e3", {"type": "number"}, 1000.0),
        ("nan", {"type": "number"}, "nan"),
        ("inf", {"type": "number"}, "inf"),
        ("1_000", {"type": "integer"}, "1_000"),
        ("0x10", {"type": "integer"}, "0x10"),
        ("1" * 401, {"type": "integer"}, "1" * 401),
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ("yes", {"type": "boolean"}, "yes"),
        ("1", {"type": "boolean"}, "1"),
        (1, {"type": "boolean"}, 1),
        ("7", {"type": "string"}, "7"),
        (7, {"type": "string"}, "7"),
        (True, {"type": "string"}, True),
        (7.5, {"type": "string"}, 7.5),
        (7, {"type": ["string", "integer"]}, 7),
        ("7", {"type": ["string", "integer"]}, "7"),
        ("7", {"type": ["integer", "null"]}, 7),
        ("7", {}, "7"),
        ("7", {"type": None}, "7"),
        (None, {"type": "integer"}, None),
        (["1", "x"], {"type": "array", "items": {"type": "integer"}}, [1, "x"]),
        ({"a": "1", "b": "2"}, {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1, "b": "2"}),
        ({"a": ["1"]}, {"properties": {"a": {"items": {"type": "number"}}}}, {"a": [1]}),
        (["1"], {"type": "array", "items": True}, ["1"]),
        ({"a": "1"}, {"properties": {"a": True}}, {"a": "1"}),
    ],
)
def test_coercion_follows_the_declared_type_and_never_the_looks(value: Any, schema: Any, coerced: Any) -> None:
    result = coerce(value, schema)
    assert (type(result), result) == (type(coerced), coerced)


def test_schemas_coerce_both_sides() -> None:
    integer, text = {"type": "integer"}, {"type": "string"}
    assert equal(1, "1", "schema", schema=integer)
    assert equal("1", 1, "schema", schema=integer)
    assert not equal("02134", 2134, "schema", schema=text)
    assert equal("2134", 2134, "schema", schema=text)
    assert not equal(1, "1", "schema")
    assert not equal(1, "1", "json", schema=integer)
    assert not equal(1, True, "schema", schema=integer)


def test_lists_without_order_are_compared_as_multisets_at_the_outermost_level() -> None:
    assert equal([1, 2, 2], [2, 1, 2], unordered=True)
    assert not equal([1, 2, 2], [1, 1, 2], unordered=True)
    assert not equal([1, 2], [1], unordered=True)
    assert not equal([[1, 2]], [[2, 1]], unordered=True)
    assert not equal([1, 2], [2, True], unordered=True)
    assert equal([1, 2], [2, True], "python", unordered=True)
    assert equal("ab", "ab", unordered=True)
    assert not equal("ab", "ba", unordered=True)
    assert equal(["1", 2], ["2", "1"], "schema", schema={"items": {"type": "integer"}}, unordered=True)


@pytest.mark.parametrize(
    ("option", "value", "verdict"),
    [
        ({"a": [1, 2]}, {"a": 2}, True),
        ({"a": [1, 2]}, {"a": 3}, False),
        ({"a": [1, 2]}, {"a": [1, 2]}, False),
        ({"a": [1], "b": ["", 2]}, {"a": 1}, True),
        ({"a": [1], "b": ["", 2]}, {"a": 1, "b": 2}, True),
        ({"a": [1], "b": ["", 2]}, {"a": 1, "b": 3}, False),
        ({"a": [1], "b": ["", 2]}, {"b": 2}, False),
        ({"a": [1]}, {"a": 1, "z": 0}, False),
        ({"a": [1]}, [1], False),
        ({"a": [1]}, None, False),
        ({"a": [{"b": [1, 2]}]}, {"a": {"b": 2}}, True),
        ([{"a": [1, 2]}, 5], [{"a": 2}, 5], True),
        ([{"a": [1, 2]}, 5], [{"a": 2}], False),
        ([{"a": [1, 2]}], {"a": 2}, False),
        ([[1, {"a": [1]}]], [[1, {"a": 1}]], True),
        ([[1]], [[True]], False),
        ({"a": 1, "b": [2]}, {"a": 1, "b": [2]}, True),
    ],
)
def test_nested_alternatives_accept_one_value_for_each_field(option: Any, value: Any, verdict: bool) -> None:
    assert accepts(nested_alternatives(option), value, json_equal) == verdict


def test_an_unknown_policy_lists_the_known_ones() -> None:
    for call in (lambda: equal(1, 1, "fuzzy"), lambda: comparison("fuzzy")):
        with pytest.raises(
            ValueError, match="unknown equality policy 'fuzzy': choose from json, json_strict, python, bfcl, schema"
        ):
            call()
