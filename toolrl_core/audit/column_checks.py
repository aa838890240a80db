"""Check the columns that a caller names against those that a file has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolrl_core.audit.columns import Columns

__all__ = ["check_columns"]

_COLUMNS_SHOWN = 40


def _holds(record: Any, path: str) -> bool:
    """Tell whether a record has a dotted path, whatever lies there."""
    if isinstance(record, Mapping) and path in record:
        return True
    for part in path.split("."):
        if not isinstance(record, Mapping) or part not in record:
            return False
        record = record[part]
    return True


_MEANINGS = {
    "completion": "the completion",
    "ground_truth": "the ground truth",
    "group": "the group",
    "step": "the step",
    "reward": "the recorded reward",
    "prompt": "the prompt",
    "tools": "the declared tools",
}


def check_columns(given: Columns | None, records: Iterable[Any]) -> None:
    """Refuse a column that was named and that no record has.

    Parameters
    ----------
    given : Columns or None
        The names that the caller gave.
    records : iterable
        Records; reading stops as soon as every name has been seen.

    Raises
    ------
    ValueError
        With the columns that there are.

    Examples
    --------
    >>> check_columns(Columns(reward="foo"), [{"score": 1, "extra": {"index": 0}}])
    Traceback (most recent call last):
    ...
    ValueError: there is no column 'foo', named for the recorded reward; there are: score, extra, extra.index
    """
    wanted = {} if given is None else {path: name for name, path in given.to_dict().items() if path}
    seen: dict[str, None] = {}
    for record in records:
        if not wanted:
            return
        wanted = {path: name for path, name in wanted.items() if not _holds(record, path)}
        if isinstance(record, Mapping) and len(seen) < _COLUMNS_SHOWN:
            for key, value in record.items():
                seen[str(key)] = None
                seen.update({f"{key}.{inner}": None for inner in value} if isinstance(value, Mapping) else {})
    if wanted:
        named = "; ".join(f"there is no column {path!r}, named for {_MEANINGS[name]}" for path, name in wanted.items())
        raise ValueError(f"{named}; there are: {', '.join(list(seen)[:_COLUMNS_SHOWN]) or 'none'}")
