"""Recognise the columns of a rollouts file, and read one record as a rollout."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from toolrl_core.bfcl import normalise_schema

__all__ = [
    "CANDIDATES",
    "BadRow",
    "Columns",
    "Rollout",
    "read_record",
    "read_tools",
    "recognise_columns",
]

CANDIDATES: Mapping[str, tuple[str, ...]] = {
    "completion": (
        "completion",
        "completions",
        "solution_str",
        "response",
        "responses",
        "model_output",
        "generation",
        "generated_text",
        "output",
        "prediction",
        "result",
        "messages",
        "traj",
        "turns",
    ),
    "ground_truth": (
        "ground_truth",
        "reward_model.ground_truth",
        "ground_truths",
        "possible_answer",
        "gold",
        "expected",
        "reference",
        "solution",
        "answer",
        "label",
        "labels",
        "target",
        "gts",
    ),
    "group": ("group", "group_id", "uid", "prompt_id", "question_id", "task_id", "extra_info.index", "id"),
    "step": ("step", "global_step", "training_step", "extra_info.step"),
    "reward": ("reward", "score", "total_reward", "recorded_reward"),
    "prompt": ("prompt", "question", "input", "instruction"),
    "tools": ("tools", "functions", "function", "extra_info.tools"),
}
"""The names under which each column is looked for, the first that occurs wins; a dot leads into an object."""

_TURN_COLUMNS = ("messages", "traj", "turns")
_PREVIEW = 200
LARGEST = 1e100
"""Larger numbers are no rewards; their sums and squares would not be numbers either."""


class Rollout(NamedTuple):
    """Hold one row of a rollouts file.

    Parameters
    ----------
    line : int
        Line (or row, or item) of the file, counted from 1.
    completion : str, list or None
        The model's text, its calls or its messages; None where the row has none.
    ground_truth : object
        The ground truth in any form of `parse_ground_truth`.
    group : str or None
        Key of the row's group.
    step : float or None
        Training step.
    reward : float or None
        Recorded reward, in points.
    tools : object
        The tools on offer as the file declares them; `read_tools` reads them.
    row_id : str
        The row's id, where it has one.
    unread : tuple of (str, str)
        For "step" and "reward": what stands there where it is no number that can be used.
    """

    line: int
    completion: Any
    ground_truth: Any
    group: str | None = None
    step: float | None = None
    reward: float | None = None
    tools: Any = None
    row_id: str = ""
    unread: tuple[tuple[str, str], ...] = ()


class BadRow(NamedTuple):
    """State a row that cannot be used.

    Parameters
    ----------
    line : int
        Line (or row, or item) of the file, counted from 1.
    reason : str
        Why, in words.
    preview : str
        The beginning of the row.
    """

    line: int
    reason: str
    preview: str = ""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Name the columns of a rollouts file; a dot leads into an object, None is a column that the file has not.

    Parameters
    ----------
    completion, ground_truth, group, step, reward, prompt, tools : str or None
        The column of each.
    """

    completion: str | None = None
    ground_truth: str | None = None
    group: str | None = None
    step: str | None = None
    reward: str | None = None
    prompt: str | None = None
    tools: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Return the names as plain values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def recognise_columns(records: Iterable[Mapping[str, Any]], *, given: Columns | None = None) -> Columns:
    """Find the columns in the first records of a file.

    Parameters
    ----------
    records : iterable of mapping
        Some records; a name counts as soon as one of them has a value under it.
    given : Columns, optional
        Names that the caller knows; only the others are looked for.

    Returns
    -------
    Columns
        Every column that was given or found.

    Examples
    --------
    The layout of verl, which ToolRL's data have; such a file holds no completions:

    >>> recognise_columns([{"prompt": [], "reward_model": {"ground_truth": "…"}, "extra_info": {"index": 3}}])
    Columns(completion=None, ground_truth='reward_model.ground_truth', group='extra_info.index', step=None, \
reward=None, prompt='prompt', tools=None)
    """
    sample = list(records)
    found: dict[str, str | None] = {}
    taken: set[str] = set()
    for column, names in CANDIDATES.items():
        known = None if given is None else getattr(given, column)
        if known is None:
            free = [name for name in names if name not in taken]
            known = next((n for n in free if any(lookup(record, n) not in (None, "") for record in sample)), None)
            if known is None and column == "completion":  # answers may all be empty
                known = next((n for n in free if any(lookup(record, n) == "" for record in sample)), None)
        found[column] = known
        taken |= {known} if known else set()
    columns = Columns(**found)
    if columns.group == "id" and len({str(lookup(record, "id")) for record in sample}) == len(sample) > 1:
        columns = replace(columns, group=None) if columns.prompt else columns
    return columns


def lookup(record: Any, path: str) -> Any:
    """Return the value under a dotted path, None where there is none.

    Examples
    --------
    >>> lookup({"reward_model": {"ground_truth": "x"}}, "reward_model.ground_truth")
    'x'
    >>> lookup({"a.b": 1}, "a.b"), lookup({"a": 3}, "a.b")
    (1, None)
    """
    if isinstance(record, Mapping) and path in record:
        return _plain(record[path])
    for part in path.split("."):
        if not isinstance(record, Mapping) or part not in record:
            return None
        record = record[part]
    return _plain(record)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist") and not isinstance(value, (str, Mapping)):
        return value.tolist()
    return None if isinstance(value, float) and math.isnan(value) else value


def read_record(
    record: Any, line: int, columns: Columns, *, answers: Mapping[str, Mapping[str, Any]] | None = None
) -> Rollout | BadRow:
    """Read one record as a rollout.

    Parameters
    ----------
    record : mapping
        The record, as decoded from the file.
    line : int
        Its line.
    columns : Columns
        Where to find what.
    answers : mapping, optional
        Ground truths and tools by row id, for files that keep them apart (BFCL).

    Returns
    -------
    Rollout or BadRow
        The rollout, or why there is none. A row without a completion is a rollout whose completion is None.

    Examples
    --------
    >>> read_record({"completion": "hm"}, 7, Columns(completion="completion", ground_truth="answer"))
    BadRow(line=7, reason="no ground truth: nothing under 'answer'", preview='{"completion": "hm"}')
    """
    if not isinstance(record, Mapping):
        return BadRow(line, f"not an object but {type(record).__name__}", preview(record))
    row_id = lookup(record, "id")
    row_id = "" if row_id is None else str(row_id)
    known = (answers or {}).get(row_id, {})
    truth = lookup(record, columns.ground_truth) if columns.ground_truth else None
    truth = known.get("ground_truth") if truth is None else truth
    truth = None if truth == "" else truth
    if truth is None and row_id and answers is not None and "irrelevance" in row_id:
        truth = []
    if truth is None:
        wanted = f"nothing under {columns.ground_truth!r}" if columns.ground_truth else "no such column"
        return BadRow(line, f"no ground truth: {wanted}", preview(record))
    completion = lookup(record, columns.completion) if columns.completion else None
    completion, problem = _completion(completion)
    if problem:
        return BadRow(line, problem, preview(record))
    tools = lookup(record, columns.tools) if columns.tools else None
    return Rollout(
        line,
        completion,
        truth,
        _group(record, columns),
        number(lookup(record, columns.step)) if columns.step else None,
        number(lookup(record, columns.reward)) if columns.reward else None,
        known.get("tools") if tools is None else tools,
        row_id,
        _unread(record, columns),
    )


def _unread(record: Mapping[str, Any], columns: Columns) -> tuple[tuple[str, str], ...]:
    """Return the step and the recorded reward where they hold something that is no number."""
    found = []
    for name, path in (("step", columns.step), ("reward", columns.reward)):
        value = lookup(record, path) if path else None
        if value not in (None, "") and number(value) is None:
            found.append((name, preview(value)[:60]))
    return tuple(found)


def _completion(value: Any) -> tuple[Any, str]:
    if value is None:
        return None, ""
    if isinstance(value, str):
        return _decoded_messages(value), ""
    if isinstance(value, Mapping) and isinstance(value.get("role"), str):
        return [value], ""
    if not isinstance(value, Sequence):
        return None, f"the completion is {type(value).__name__}, neither text nor a list of calls or messages"
    if len(value) == 1 and isinstance(value[0], str):
        return value[0], ""
    if any(not isinstance(item, Mapping) for item in value):
        return None, "the completion is a list that holds something else than calls or messages"
    return [_bfcl_call(item) for item in value], ""


def _decoded_messages(text: str) -> Any:
    """Return chat messages that were stored as JSON text (CSV has no other way); any other text is itself."""
    if not text.startswith("[") or '"role"' not in text:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_chat = isinstance(value, list) and all(isinstance(item, dict) and "role" in item for item in value)
    return value if is_chat and value else text


def _bfcl_call(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``{function: arguments}``, as the leaderboard's result files write a call, with a name and arguments."""
    if len(item) == 1:
        name, arguments = next(iter(item.items()))
        if name not in ("name", "role", "function") and isinstance(arguments, (str, Mapping)):
            return {"name": name, "arguments": arguments}
    return item


def _group(record: Mapping[str, Any], columns: Columns) -> str | None:
    value = lookup(record, columns.group) if columns.group else None
    if value is None and columns.group is None and columns.prompt:
        prompt = lookup(record, columns.prompt)
        if prompt is None:
            return None
        written = prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True, default=str)
        return "prompt " + hashlib.blake2b(written.encode("utf-8", "replace"), digest_size=8).hexdigest()
    if value is None or isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, (int, float)) else json.dumps(value, sort_keys=True, default=str)


def number(value: Any) -> float | None:
    """Read a number, also one written as text; None for anything else, infinite ones and ones above 1e100 included.

    Examples
    --------
    >>> number("0.5"), number(True), number("high"), number(float("inf"))
    (0.5, 1.0, None, None)
    """
    if not isinstance(value, (str, int, float)):
        return None
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if abs(read) <= LARGEST else None


def read_tools(tools: Any) -> dict[str, dict[str, Any]] | None:
    """Read declared tools (BFCL's ``function``, OpenAI's ``tools``, or either as JSON text) into parameter schemas.

    Parameters
    ----------
    tools : object
        The declarations.

    Returns
    -------
    dict or None
        By tool, its object schema; None where nothing usable is declared.

    Examples
    --------
    >>> read_tools([{"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "float"}}}}])
    {'f': {'type': 'object', 'properties': {'a': {'type': 'number'}}}}
    """
    if isinstance(tools, str):
        try:
            tools = json.loads(tools)
        except (ValueError, RecursionError):
            return None
    found = {}
    for tool in tools if isinstance(tools, Sequence) and not isinstance(tools, str) else [tools]:
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            parameters = inner.get("parameters")
            if isinstance(parameters, Mapping) and isinstance(parameters.get("properties"), Mapping):
                try:
                    found[inner["name"]] = normalise_schema({"type": "object", **parameters})
                except (AttributeError, TypeError, ValueError, RecursionError):
                    continue
    return found or None


def preview(record: Any) -> str:
    """Write the beginning of a record on one line."""
    try:
        text = record if isinstance(record, str) else json.dumps(record, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):
        text = type(record).__name__
    text = " ".join(text.split())
    return text if len(text) <= _PREVIEW else text[: _PREVIEW - 1] + "…"
