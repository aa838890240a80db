"""Load multi-turn rollouts from chat messages, JSON Lines and tau-bench result files."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolrl_core.calls import ToolCall
from toolrl_core.json_calls import read_call
from toolrl_core.reasons import MALFORMED, Reason
from toolrl_core.trajectories import Trajectory, TrajectoryError, Turn

__all__ = ["iter_trajectories", "read_trajectories", "trajectory_from_messages", "trajectory_from_record"]

_ROLE_ALIASES = {"developer": "system", "function": "tool"}
_MESSAGE_KEYS = ("messages", "traj", "turns")
_GROUP_KEYS = ("group", "task_id")


def trajectory_from_messages(
    messages: Sequence[Mapping[str, Any]], *, reward: float | None = None, group: Hashable = None, name: str = ""
) -> Trajectory:
    """Build a rollout from chat messages, one turn per message.

    Parameters
    ----------
    messages : sequence of mapping
        Messages in the OpenAI form, as tau-bench writes them: ``role``, ``content`` (text, None, or a list of text
        parts) and, for the assistant, ``tool_calls`` whose ``arguments`` are a dict or a JSON string, decoded once.
        ``token_ids``, ``token_count`` and ``truncated`` (or ``finish_reason: "length"``) are read where present.
    reward, group, name
        As :class:`Trajectory`.

    Returns
    -------
    Trajectory
        The rollout. A tool call that cannot be decoded is kept as a fault of its turn, not an error.

    Raises
    ------
    TrajectoryError
        A message is no mapping or has an unknown role or a content of another type; the message's position is named.

    Notes
    -----
    SimpleTIR note §5.1: the feedback mask covers what the environment said.

    Examples
    --------
    >>> call = {"type": "function", "function": {"name": "cancel", "arguments": "{}"}}
    >>> rollout = trajectory_from_messages([
    ...     {"role": "user", "content": "Cancel it."},
    ...     {"role": "assistant", "content": None, "tool_calls": [call]},
    ...     {"role": "tool", "content": "cancelled"},
    ...     {"role": "assistant", "content": ""},
    ... ])
    >>> rollout.void_turns("message")
    (False, True)
    """
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
        raise TrajectoryError(f"messages must be a list of messages, found {type(messages).__name__}")
    return Trajectory(tuple(_read_turn(i, message) for i, message in enumerate(messages)), reward, group, name)


def trajectory_from_record(record: Mapping[str, Any]) -> Trajectory:
    """Build a rollout from one record of a file.

    Parameters
    ----------
    record : mapping
        Messages under ``messages``, ``traj`` (tau-bench) or ``turns``; optionally ``reward``, ``group`` or
        ``task_id``, and ``name``.

    Returns
    -------
    Trajectory
        The rollout.

    Raises
    ------
    TrajectoryError
        No messages, or a reward that is not a number; see also :func:`trajectory_from_messages`.

    Examples
    --------
    >>> trajectory_from_record({"task_id": 3, "reward": 1, "traj": [{"role": "assistant", "content": "Hi."}]}).group
    3
    """
    if not isinstance(record, Mapping):
        raise TrajectoryError(f"a record must be an object, found {type(record).__name__}")
    key = next((key for key in _MESSAGE_KEYS if key in record), None)
    if key is None:
        raise TrajectoryError(f"no messages: expected a field {' or '.join(_MESSAGE_KEYS)}, found {', '.join(record)}")
    reward = record.get("reward")
    if reward is not None and (isinstance(reward, bool) or not isinstance(reward, (int, float))):
        raise TrajectoryError(f"reward must be a number or null, found {reward!r}")
    group = next((record[key] for key in _GROUP_KEYS if record.get(key) is not None), None)
    if not isinstance(group, Hashable):
        raise TrajectoryError(f"the group must be text or a number, found {group!r}")
    name = record.get("name")
    return trajectory_from_messages(
        record[key], reward=None if reward is None else float(reward), group=group, name=str(name or "")
    )


def iter_trajectories(lines: Iterable[str]) -> Iterator[Trajectory]:
    """Read rollouts from JSON Lines, one record a line, without holding them all.

    Parameters
    ----------
    lines : iterable of str
        An open file, or any lines; blank ones are skipped.

    Yields
    ------
    Trajectory
        One rollout per line.

    Raises
    ------
    TrajectoryError
        A line is no JSON or no rollout; the line's number is named, counted from 1.

    Examples
    --------
    >>> [rollout.reward for rollout in iter_trajectories(['{"messages": [], "reward": 0.5}', ""])]
    [0.5]
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise TrajectoryError(f"line {number}: not JSON: {error}") from error
        try:
            rollout = trajectory_from_record(record)
        except TrajectoryError as error:
            raise TrajectoryError(f"line {number}: {error}") from error
        yield rollout


def read_trajectories(path: str | Path) -> tuple[Trajectory, ...]:
    """Read all rollouts of a file: JSON Lines, or one JSON array as tau-bench writes it.

    Parameters
    ----------
    path : str or Path
        The file, in UTF-8.

    Returns
    -------
    tuple of Trajectory
        The rollouts in the file's order.

    Raises
    ------
    TrajectoryError
        As :func:`iter_trajectories`; in an array the record's position is named, counted from 0.
    OSError
        The file cannot be read.

    Examples
    --------
    Each message keeps its role; a tool's output is none of the model's turns, whatever it contains:

    >>> from tempfile import TemporaryDirectory
    >>> said = [{"role": "assistant", "content": "Hm."}, {"role": "tool", "content": "42"}]
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "rollouts.jsonl")
    ...     _ = file.write_text(json.dumps({"messages": said}))
    ...     rollouts = read_trajectories(file)
    >>> [(turn.role, turn.text) for turn in rollouts[0].turns]
    [('assistant', 'Hm.'), ('tool', '42')]
    """
    text = Path(path).read_text(encoding="utf-8-sig")
    if not text.lstrip().startswith("["):
        return tuple(iter_trajectories(text.split("\n")))
    try:
        records = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise TrajectoryError(f"not JSON: {error}") from error
    rollouts = []
    for i, record in enumerate(records):
        try:
            rollouts.append(trajectory_from_record(record))
        except TrajectoryError as error:
            raise TrajectoryError(f"record {i}: {error}") from error
    return tuple(rollouts)


def _read_turn(index: int, message: Mapping[str, Any]) -> Turn:
    if not isinstance(message, Mapping):
        raise TrajectoryError(f"message {index}: must be an object, found {type(message).__name__}")
    role = message.get("role")
    role = _ROLE_ALIASES.get(role, role) if isinstance(role, str) else role
    calls: list[ToolCall] = []
    faults: list[str] = []
    for item in message.get("tool_calls") or () if role == "assistant" else ():
        found = _read_parsed_call(item, faults)
        if found is not None:
            calls.append(found)
    ids = message.get("token_ids")
    try:
        return Turn(
            _read_content(message),
            str(role),
            tuple(calls),
            tuple(faults),
            message.get("token_count"),
            None if ids is None else tuple(ids),
            bool(message.get("truncated")) or message.get("finish_reason") == "length",
        )
    except TrajectoryError as error:
        raise TrajectoryError(f"message {index}: {error}") from error


def _read_content(message: Mapping[str, Any]) -> str:
    content = message.get("content", message.get("text"))
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str):
        raise TrajectoryError(f"content must be text, null or a list of parts, found {type(content).__name__}")
    return content


def _read_parsed_call(item: Any, faults: list[str]) -> ToolCall | None:
    if not isinstance(item, Mapping):
        faults.append(f"{Reason.NOT_AN_OBJECT.value}: found {type(item).__name__}")
        return None

    def note(reason: Reason, _position: int | None, detail: str = "") -> None:
        if reason in MALFORMED:
            faults.append(f"{reason.value}: {detail}" if detail else reason.value)

    raw = read_call(dict(item), 0, note)
    return None if raw is None else ToolCall(raw.name, raw.arguments or {})
