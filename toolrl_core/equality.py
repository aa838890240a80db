"""Decide when two argument values are equal: five named policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolrl_core.calls import Alternatives

EQUALITY_POLICIES = ("json", "json_strict", "python", "bfcl", "schema")
"""Names of the policies of `equal`, from typed JSON to what BFCL's checker accepts."""
Comparison = Callable[[Any, Any], bool]
_DROPPED = str.maketrans("", "", " ,./-_*^")
_INTEGER = re.compile(r"[+-]?\d{1,400}\Z", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d{1,400}\.?\d{0,400}|\.\d{1,400})(?:[eE][+-]?\d{1,3})?\Z", re.ASCII)


def json_equal(a: Any, b: Any) -> bool:
    """Compare as typed JSON: a bool never equals a number, 1 equals 1.0, objects are unordered, NaN equals NaN."""
    kind = type(a)
    if kind is type(b):
        if kind is str or kind is int or kind is bool or a is None:
            return bool(a == b)
        if kind is dict:
            return _json_equal_objects(a, b)
        if kind is list:
            return len(a) == len(b) and all(map(json_equal, a, b))
        if kind is float:
            return bool(a == b or (a != a and b != b))
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or (a != a and b != b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return len(a) == len(b) and all(key in b and json_equal(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(json_equal, a, b))
    return isinstance(a, str) and isinstance(b, str) and a == b


def _json_equal_objects(a: dict[str, Any], b: dict[str, Any]) -> bool:
    if len(a) != len(b):
        return False
    for key, value in a.items():
        if key not in b:
            return False
        if type(value) is str:
            if value != b[key]:
                return False
        elif not json_equal(value, b[key]):
            return False
    return True


def json_strict_equal(a: Any, b: Any) -> bool:
    """Compare as typed JSON where, in addition, an integer differs from a float."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return len(a) == len(b) and all(key in b and json_strict_equal(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(json_strict_equal, a, b))
    return isinstance(a, float) == isinstance(b, float) and json_equal(a, b)


def python_equal(a: Any, b: Any) -> bool:
    """Compare with Python's ``==``: True equals 1, NaN differs from NaN."""
    return bool(a == b)


def bfcl_equal(a: Any, b: Any) -> bool:
    """Compare by the Berkeley leaderboard's rules: types exact, strings without case and ``space , . / - _ * ^``.

    An integer equals a float at the top level only. The string rule makes "-5" equal "5".
    """
    if type(a) is float and type(b) is int:
        return a == b
    return _bfcl_nested(a, b)


def _bfcl_nested(a: Any, b: Any) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return _bfcl_string(a) == _bfcl_string(b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return len(a) == len(b) and all(key in b and _bfcl_nested(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_bfcl_nested, a, b))
    return type(a) is type(b) and json_equal(a, b)


def _bfcl_string(text: str) -> str:
    return text.translate(_DROPPED).lower().replace("'", '"')


_COMPARISONS: dict[str, Comparison] = {
    "json": json_equal,
    "json_strict": json_strict_equal,
    "python": python_equal,
    "bfcl": bfcl_equal,
    "schema": json_equal,
}


def comparison(policy: str) -> Comparison:
    """Return the two-value comparison of a policy (for ``schema``: after `coerce` of both sides).

    Raises
    ------
    ValueError
        If the policy is unknown.
    """
    try:
        return _COMPARISONS[policy]
    except KeyError:
        raise ValueError(f"unknown equality policy {policy!r}: choose from {', '.join(EQUALITY_POLICIES)}") from None


def equal(
    a: Any, b: Any, policy: str = "json", *, schema: Mapping[str, Any] | None = None, unordered: bool = False
) -> bool:
    """Tell whether two argument values are equal under a named policy.

    Parameters
    ----------
    a, b : JSON value
        The ground truth's value and the predicted value.
    policy : {"json", "json_strict", "python", "bfcl", "schema"}
        ``json`` is typed: a bool never equals a number, numbers compare by value, strings exactly, lists in
        order, objects without order, NaN equals NaN. ``json_strict``: an integer also differs from a float.
        ``python``: Python's ``==``. ``bfcl``: the Berkeley leaderboard's checker, string normalisation included.
        ``schema``: ``json`` after a coercion that the declared schema directs, never the looks of a value.
    schema : mapping, optional
        JSON schema of the parameter, for the policy ``schema``.
    unordered : bool
        Compare lists (the outermost level) without order.

    Returns
    -------
    bool
        Whether they are equal.

    Raises
    ------
    ValueError
        If the policy is unknown.

    Notes
    -----
    The note writes ``=`` (ToolRL note §6.1); the released code uses Python's ``==``.

    Examples
    --------
    >>> equal(1, True), equal(1, True, "python"), equal("-5", "5", "bfcl")
    (False, True, True)
    >>> equal(1, "1", "schema", schema={"type": "integer"})
    True
    """
    compare = comparison(policy)
    if policy == "schema" and schema is not None:
        a, b = coerce(a, schema), coerce(b, schema)
    if unordered and isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return unordered_equal(a, b, compare)
    return compare(a, b)


def unordered_equal(a: Sequence[Any], b: Sequence[Any], compare: Comparison) -> bool:
    """Compare two lists as multisets under a comparison (each item is used once)."""
    if len(a) != len(b):
        return False
    rest = list(b)
    for item in a:
        index = next((i for i, other in enumerate(rest) if compare(item, other)), None)
        if index is None:
            return False
        del rest[index]
    return True


def accepts(option: Any, value: Any, compare: Comparison) -> bool:
    """Tell whether a value is what one accepted value of a ground truth stands for.

    Parameters
    ----------
    option : JSON value or Alternatives
        An accepted value; alternatives inside it are tried in turn.
    value : JSON value
        The predicted value.
    compare : callable
        The comparison of two literal values.

    Examples
    --------
    >>> from toolrl_core.calls import Alternatives
    >>> accepts(Alternatives({"a": (1, 2), "b": ("", 3)}), {"a": 2}, json_equal)
    True
    """
    if isinstance(option, Alternatives):
        if not isinstance(value, Mapping) or any(key not in option.fields for key in value):
            return False
        for key, options in option.fields.items():
            if key not in value:
                if "" not in options:
                    return False
            elif not any(accepts(each, value[key], compare) for each in options):
                return False
        return True
    if isinstance(option, list) and any(isinstance(item, (Alternatives, list)) for item in option):
        if not isinstance(value, (list, tuple)) or len(value) != len(option):
            return False
        return all(accepts(each, item, compare) for each, item in zip(option, value, strict=True))
    return compare(option, value)


def coerce(value: Any, schema: Mapping[str, Any]) -> Any:
    """Convert a scalar to the type that a JSON schema declares, where that loses nothing.

    Parameters
    ----------
    value : JSON value
        The value as written.
    schema : mapping
        A JSON schema; ``type``, ``items`` and ``properties`` are read.

    Returns
    -------
    JSON value
        A numeric string as a number, "true" and "false" as bools, an integer as the text of a declared string;
        anything else unchanged.

    Examples
    --------
    >>> coerce("7", {"type": "integer"}), coerce("7", {"type": "string"}), coerce(7, {"type": "string"})
    (7, '7', '7')
    """
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, (list, tuple)) else [kinds]
    if isinstance(value, str):
        if "string" in kinds:
            return value
        if "integer" in kinds and _INTEGER.match(value):
            return int(value)
        if "number" in kinds and _NUMBER.match(value):
            return int(value) if _INTEGER.match(value) else float(value)
        if "boolean" in kinds and value.lower() in ("true", "false"):
            return value.lower() == "true"
        return value
    if type(value) is int and "string" in kinds and not {"integer", "number"} & set(kinds):
        return str(value) if abs(value) < 10**400 else value
    items, properties = schema.get("items"), schema.get("properties")
    if isinstance(value, (list, tuple)) and isinstance(items, Mapping):
        return [coerce(item, items) for item in value]
    if isinstance(value, Mapping) and isinstance(properties, Mapping):
        return {
            key: coerce(item, properties[key]) if isinstance(properties.get(key), Mapping) else item
            for key, item in value.items()
        }
    return value
