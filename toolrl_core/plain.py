"""Read a completion of the plain shape quickly: a thought, one block of calls one a line, maybe a response.

The general scanner of `toolrl_core.parsing` reads every text; this shortcut answers only where it would give
the same reading, and leaves everything unusual to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from toolrl_core.json_calls import MAX_DEPTH, RawCall, repeats_a_key
from toolrl_core.reading import Block, Reading

_scan: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder())["scan_once"]
_OPENING = "</think>\n<tool_call>\n"
_CLOSING = "\n</tool_call>"
_RESPONSE = "\n<response>"
_RESPONSE_END = "</response>"
_KINDS = ("thought", "tool_call")
_KINDS_ANSWERED = ("thought", "tool_call", "response")
_TAGS = ("<think>", "<tool_call>", "<response>")


class PlainParts(NamedTuple):
    """Hold the offsets of the parts of a plain text.

    Parameters
    ----------
    thought_end : int
        Offset of the thought's end tag.
    first, last : int
        Offsets of the first call and after the last one.
    answered : bool
        Whether a response follows.
    """

    thought_end: int
    first: int
    last: int
    answered: bool


def plain_parts(text: str) -> PlainParts | None:
    """Find the parts of a text of the plain shape; None for any other shape. Calls are not yet decoded."""
    if not text.startswith("<think>"):
        return None
    thought_end = text.find("</think>")
    if thought_end < 0 or not text.startswith(_OPENING, thought_end):
        return None
    first = thought_end + 21
    last = text.find(_CLOSING, first)
    if last < 0:
        return None
    after = last + 13
    answered = after != len(text)
    if answered and not _is_response(text, after):
        return None
    if text.find("<", 7, thought_end) >= 0 and any(text.find(tag, 7, thought_end) >= 0 for tag in _TAGS):
        return None
    return PlainParts(thought_end, first, last, answered)


def read_plain(text: str, parts: PlainParts | None = None, calls: list[RawCall] | None = None) -> Reading | None:
    """Read a text of the plain shape; None for any other shape.

    Parameters
    ----------
    text : str
        The completion.
    parts : PlainParts, optional
        Its parts, where they have been found already.
    calls : list of RawCall, optional
        Its calls, where the same block has been decoded already.

    Returns
    -------
    Reading or None
        The reading, without findings, for it has nothing unusual.
    """
    if parts is None:
        parts = plain_parts(text)
        if parts is None:
            return None
    thought_end, first, last, answered = parts
    if calls is None:
        calls = _read_lines(text, first, last)
        if calls is None:
            return None
    reading = Reading(text)
    reading.thought = text[7:thought_end]
    reading.calls = calls
    reading.kinds = _KINDS
    if answered:
        reading.response = text[last + 24 : -11]
        reading.kinds = _KINDS_ANSWERED
    return reading


def _is_response(text: str, after: int) -> bool:
    """Tell whether the rest of a text is one response."""
    if not text.startswith(_RESPONSE, after):
        return False
    return text.find(_RESPONSE_END, after + 11) == len(text) - 11


def _read_lines(text: str, start: int, stop: int) -> list[RawCall] | None:
    """Decode calls that stand one a line in ``text[start:stop]``; None where anything is unusual.

    Each is an object of a name and an object under ``parameters``; no key is repeated.
    """
    calls: list[RawCall] = []
    position, keys = start, 0
    try:
        while True:
            value, after = _scan(text, position)
            if type(value) is not dict or len(value) != 2:
                return None
            name, arguments = value["name"], value["parameters"]
            if type(name) is not str or not name or type(arguments) is not dict:
                return None
            keys += 2 + len(arguments)
            calls.append(RawCall(name, arguments, value, position))
            if after == stop:
                break
            if after > stop or not text.startswith("\n{", after):
                return None
            position = after + 1
    except (StopIteration, ValueError, KeyError, RecursionError):
        return None
    block = text[start:stop]
    if block.count("{") + block.count("[") > MAX_DEPTH:
        return None  # maybe too deep
    loose = '" ' in block or '"\n' in block or '"\t' in block or '"\r' in block
    if (loose or block.count('":') != keys) and repeats_a_key(text, [call.position for call in calls]):
        return None  # where the count of colons does not show that every key occurs once, look again
    return calls


def plain_blocks(reading: Reading) -> tuple[Block, ...]:
    """Return the blocks of a reading; those of a plain text are found again when they are asked for."""
    if reading.kinds is None:
        return tuple(reading.blocks)
    text = reading.text
    thought_end = text.find("</think>")
    block_end = text.find(_CLOSING, thought_end + 21) + 13
    blocks = (Block("thought", 0, thought_end + 8, True), Block("tool_call", thought_end + 9, block_end, True))
    return (*blocks, Block("response", block_end + 1, len(text), True))[: len(reading.kinds)]
