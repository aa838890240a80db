"""Take the fields of a definition one by one, and refuse what has another type than its field."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from toolrl_core.field_checks import check_whole
from toolrl_core.studies.design import StudyError

__all__ = [
    "canonical",
    "check_name",
    "flag",
    "name_of",
    "names",
    "none_left",
    "one_of",
    "plain",
    "real",
    "table",
    "tables",
    "whole",
]

Given = dict[str, Any]
"""A table of a definition; each field is removed when it is taken, so that what is left is unknown."""


def plain(value: object, where: str) -> None:
    """Refuse dates and times, which no field takes.

    Parameters
    ----------
    value : object
        What TOML holds.
    where : str
        What it is called in the message.

    Raises
    ------
    StudyError
        Naming the field.
    """
    if isinstance(value, dt.date | dt.time):
        raise StudyError(f"{where} is a date or a time, {value}: write it in quotes if it is a name")
    if isinstance(value, Mapping):
        for key, item in value.items():
            plain(item, f"{where}, {key}" if where else key)
    elif isinstance(value, list):
        for item in value:
            plain(item, where)


def canonical(value: object) -> str:
    """Write what TOML holds so that two values are the same text only if they are the same.

    Parameters
    ----------
    value : object
        Tables, lists and plain values.

    Returns
    -------
    str

    Examples
    --------
    To Python, 1 and true are the same:

    >>> canonical({"steps": 1}) == canonical({"steps": True})
    False
    """
    return json.dumps(value, sort_keys=True)


def one_of(where: str, value: object, known: Iterable[str]) -> None:
    """Refuse a name that is not known.

    Raises
    ------
    StudyError
        Naming what is known.
    """
    if value not in (known := list(known)):
        raise StudyError(f"{where} names {value!r}: choose from {', '.join(known)}")


def check_name(where: str, value: object) -> str:
    """Return a name, which is a text of one line that is not empty.

    Raises
    ------
    StudyError
        If it is none.
    """
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise StudyError(f"{where} must be a text of one line that is not empty, found {value!r}")
    return value


def name_of(given: Given, key: str, where: str = "", *, default: str | None = None) -> str:
    """Take a text of one line."""
    return check_name(where + key, _take(given, key, where, default))


def names(given: Given, key: str, where: str = "") -> tuple[str, ...]:
    """Take a list of names, each of them once."""
    found = _take(given, key, where, None)
    if not isinstance(found, list) or not found:
        raise StudyError(f"{where}{key} must be a list of names that is not empty, found {found!r}")
    for item in found:
        check_name(f"each of {where}{key}", item)
    if len(set(found)) < len(found):
        raise StudyError(f"{where}{key} names something twice: {', '.join(found)}")
    return tuple(found)


def whole(given: Given, key: str, where: str = "", *, lowest: int, default: int | None = None) -> int:
    """Take a whole number."""
    found = _take(given, key, where, default)
    try:
        check_whole(f"{where}{key}", found, lowest=lowest)
    except ValueError as error:
        raise StudyError(str(error)) from None
    return int(found)


def real(given: Given, key: str, where: str = "", *, default: float) -> float:
    """Take a finite number that is not negative."""
    found = _take(given, key, where, default)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < math.inf:
        raise StudyError(f"{where}{key} must be a finite number that is not negative, found {found!r}")
    return float(found)


def flag(given: Given, key: str, where: str = "") -> bool:
    """Take true or false; false by default."""
    found = _take(given, key, where, default=False)
    if not isinstance(found, bool):
        raise StudyError(f"{where}{key} must be true or false, found {found!r}")
    return found


def table(given: Given, key: str, where: str = "", *, filled: bool = False) -> Given:
    """Take a table; an empty one by default, unless it has to be filled."""
    found = _take(given, key, where, None if filled else {})
    if not isinstance(found, dict) or (filled and not found):
        raise StudyError(f"{where}{key} must be a table{' that is not empty' if filled else ''}, found {found!r}")
    for name in found:
        check_name(f"each name in {where}{key}", name)
    return found


def tables(given: Given, key: str, where: str = "", *, filled: bool = True) -> list[Given]:
    """Take a list of tables; an empty one by default, unless it has to be filled."""
    found = _take(given, key, where, None if filled else [])
    if not isinstance(found, list) or (filled and not found) or not all(isinstance(item, dict) for item in found):
        raise StudyError(
            f"{where}{key} must be a list of tables{' that is not empty' if filled else ''}, found {found!r}"
        )
    return [dict(item) for item in found]


def none_left(given: Given, where: str = "") -> None:
    """Refuse fields that nobody took.

    Raises
    ------
    StudyError
        Naming them.
    """
    if given:
        raise StudyError(f"{where}unknown field {', '.join(sorted(given))}")


def _take(given: Given, key: str, where: str, default: object) -> Any:
    if key not in given and default is None:
        raise StudyError(f"{where}the field {key} is missing")
    return given.pop(key, default)
