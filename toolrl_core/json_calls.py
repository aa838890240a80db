"""Decode untrusted JSON values into calls, with limits on depth and without ever raising."""

from __future__ import annotations

import ast
import json
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from toolrl_core.reasons import Reason

MAX_CALLS = 10_000
MAX_DEPTH = 64
MAX_LITERAL = 20_000
_SCALARS = frozenset({str, int, float, bool})
NoteFunction = Callable[[Reason, int | None, str], None]


class RawCall(NamedTuple):
    """Hold a decoded call with the JSON object that it came from.

    `arguments` is a dictionary, or None where the released code would fail on looking at it.
    """

    name: str
    arguments: dict[str, Any] | None
    source: Any
    position: int


_seen = threading.local()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        _seen.duplicates = True
    return value


_decoder = json.JSONDecoder(object_pairs_hook=_object)


def decode_value(text: str, position: int, end: int) -> tuple[Any, int, tuple[Reason, str] | None, int]:
    """Decode the JSON value that starts at `position`.

    Returns
    -------
    value : JSON value
        The value, None where it could not be decoded.
    after : int
        Offset after the value.
    problem : tuple of (Reason, str) or None
        Why it could not be decoded.
    cost : int
        Number of characters looked at in vain.
    """
    _seen.duplicates = False
    try:
        value, after = _decoder.raw_decode(text, position)
    except RecursionError:
        return None, position, (Reason.TOO_DEEP, f"more than {MAX_DEPTH} levels"), end - position
    except json.JSONDecodeError as error:
        return None, position, (Reason.JSON_DECODE, f"{error.msg} at character {error.pos}"), error.pos - position
    except ValueError as error:  # an integer with thousands of digits
        return None, position, (Reason.TOO_LARGE, str(error)), end - position
    if after > end:
        return None, position, (Reason.JSON_DECODE, "the value runs into a stop token"), 0
    if after - position > MAX_DEPTH and is_too_deep(text, position, after):
        return None, position, (Reason.TOO_DEEP, f"more than {MAX_DEPTH} levels"), after - position
    return value, after, None, 0


def repeats_a_key(text: str, starts: list[int]) -> bool:
    """Tell whether any of the JSON objects that start at these offsets, all of them valid, repeats a key."""
    _seen.duplicates = False
    for start in starts:
        _decoder.raw_decode(text, start)
    found = bool(_seen.duplicates)
    _seen.duplicates = False
    return found


def is_too_deep(text: str, start: int, end: int) -> bool:
    """Tell whether the JSON text nests deeper than the limit (strings are passed over)."""
    if text.count("[", start, end) + text.count("{", start, end) <= MAX_DEPTH:
        return False
    depth = deepest = 0
    inside = escaped = False
    for character in text[start:end]:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest > MAX_DEPTH


def accept_value(value: Any, position: int, calls: list[RawCall], note: NoteFunction) -> None:
    """Append the calls that a decoded value holds, and note what is unusual or malformed about it."""
    _note_duplicates(position, note)
    if type(value) is dict:
        call = read_call(value, position, note)
        if call is not None:
            calls.append(call)
        return
    note(Reason.JSON_ARRAY, position, f"{len(value)} values")
    for item in value:
        if type(item) is dict:
            call = read_call(item, position, note)
            if call is not None:
                calls.append(call)
        else:
            note(Reason.NOT_AN_OBJECT, position, f"found {type(item).__name__} in an array")


def _note_duplicates(position: int, note: NoteFunction) -> None:
    """Note that the value decoded last repeats a key."""
    if getattr(_seen, "duplicates", False):
        _seen.duplicates = False
        note(Reason.DUPLICATE_KEY, position, "the last value of a repeated key counts")


def read_call(value: dict[str, Any], position: int, note: NoteFunction) -> RawCall | None:
    """Read one decoded object as a call; None (with a finding) where it is malformed.

    Parameters
    ----------
    value : dict
        A decoded JSON object, or an item of OpenAI ``tool_calls`` (name and arguments under ``function``).
    position : int
        Offset of the object in the completion.
    note : callable
        Called with a reason, a position and a detail for everything unusual.
    """
    name = value.get("name")
    if name is None and type(value.get("function")) is dict:
        value = value["function"]
        name = value.get("name")
    if type(name) is not str or not name:
        keys = ", ".join(map(str, list(value)[:5]))
        note(Reason.MISSING_NAME, position, f"name {name!r}"[:60] if "name" in value else f"keys: {keys}"[:80])
        return None
    if "arguments" in value:
        arguments = value["arguments"]
        reason = Reason.BOTH_ARGUMENT_KEYS if "parameters" in value else Reason.ARGUMENTS_KEY
        note(reason, position, name)
    else:
        arguments = value.get("parameters")
    if type(arguments) is dict:
        return RawCall(name, arguments, value, position)
    if arguments is None:
        note(Reason.MISSING_ARGUMENTS, position, name)
        return RawCall(name, {}, value, position)
    if type(arguments) is str:
        decoded, after, problem, _ = decode_value(arguments, len(arguments) - len(arguments.lstrip()), len(arguments))
        if problem is None and type(decoded) is dict and not arguments[after:].strip():
            note(Reason.STRINGIFIED_ARGUMENTS, position, name)
            _note_duplicates(position, note)
            return RawCall(name, decoded, value, position)
    note(Reason.ARGUMENTS_NOT_AN_OBJECT, position, f"{name}: found {type(arguments).__name__}")
    return None


def plain_json(value: Any, levels: int = MAX_DEPTH) -> Any:
    """Return a Python value as plain JSON: array-likes and tuples as lists, mappings as dictionaries.

    Parameters
    ----------
    value : object
        An argument of a call that arrives as a Python object.
    levels : int
        Levels of nesting that are allowed.

    Raises
    ------
    ValueError
        If it nests deeper or holds what JSON cannot.
    """
    if value is None or type(value) in _SCALARS:
        return value
    if levels < 0:
        raise ValueError(f"more than {MAX_DEPTH} levels")
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"found a key of type {type(key).__name__}")
        return {key: plain_json(item, levels - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(item, levels - 1) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"found {type(value).__name__}, which is no JSON value")


def literal_value(chunk: str) -> Any:
    """Read a Python literal that stands for a JSON object or array; None where it is none.

    Nothing is executed: only literals are read, within limits on length and depth.
    """
    chunk = chunk.strip()
    if len(chunk) > MAX_LITERAL or not ("'" in chunk or "True" in chunk or "False" in chunk or "None" in chunk):
        return None
    if chunk.count("[") + chunk.count("{") + chunk.count("(") > MAX_DEPTH:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(chunk)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return _as_json(value) if isinstance(value, (dict, list)) else None


def _as_json(value: Any) -> Any:
    """Return a literal as a JSON value, None where it has no JSON form."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return None
