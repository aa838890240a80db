"""Read a completion of the plain shape quickly: a thought, one block of calls one a line, maybe a response.

The general scanner of `toolrl_core.parsing` reads every text; this shortcut answers only where it would give
the same reading, and leaves everything unusual to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from toolrl_core.json_calls import MAX_CALLS, MAX_DEPTH, RawCall, repeats_a_key
from toolrl_core.reading import Block, Reading
from toolrl_core.reasons import Reason

_scan: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder())["scan_once"]
_new = tuple.__new__  # a named tuple made from a tuple, without its own slower constructor
_OPENING = "</think>\n<tool_call>\n"
_CLOSING = "\n</tool_call>"
_RESPONSE = "\n<response>"
_RESPONSE_END = "</response>"
_KINDS = ("thought", "tool_call")
_KINDS_ANSWERED = ("thought", "tool_call", "response")
_TAGS = ("<think>", "<tool_call>", "<response>")

PlainParts = tuple[int, int, int, tuple[str, ...], bool, bool]
"""The parts of a plain text: offset of the thought's end tag, offsets of the first call and after the last one,
the kinds of the blocks, whether no ``<`` occurs but in the tags, and whether the thought mentions an opening tag."""


def plain_parts(text: str) -> PlainParts | None:
    """Find the parts of a text of the plain shape; None for any other shape. Calls are not yet decoded."""
    if not text.startswith("<think>"):
        return None
    tagged = False
    thought_end = text.find("<", 7)  # one character is found much faster than a tag
    bare = text.startswith(_OPENING, thought_end)
    if not bare:
        thought_end = text.find("</think>", 7)
        if thought_end < 0 or not text.startswith(_OPENING, thought_end):
            return None
        tagged = any(text.find(tag, 7, thought_end) >= 0 for tag in _TAGS)
    first = thought_end + 21
    last = text.find("<", first) - 1
    if last < first or not text.startswith(_CLOSING, last):
        bare = False
        last = text.find(_CLOSING, first)
        if last < 0:
            return None
    after = last + 13
    if after == len(text):
        return thought_end, first, last, _KINDS, bare, tagged
    end = len(text) - 11
    if not text.startswith(_RESPONSE, after) or text.find(_RESPONSE_END, after + 11) != end:
        return None
    return thought_end, first, last, _KINDS_ANSWERED, bare and text.find("<", after + 11) == end, tagged


def read_plain(text: str) -> Reading | None:
    """Read a text of the plain shape; None for any other shape. Only tags in the thought can be unusual about it."""
    parts = plain_parts(text)
    if parts is None:
        return None
    thought_end, first, last, kinds, _, tagged = parts
    calls = read_lines(text, first, last)
    if calls is None:
        return None
    reading = Reading(text)
    reading.thought = text[7:thought_end]
    reading.calls = calls
    reading.kinds = kinds
    if tagged:
        reading.note(Reason.TAG_IN_THOUGHT, 0)
    if kinds is _KINDS_ANSWERED:
        reading.response = text[last + 24 : -11]
    return reading


def read_lines(text: str, start: int, stop: int) -> list[RawCall] | None:
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
            calls.append(_new(RawCall, (name, arguments, value, position)))
            if after == stop:
                break
            if after > stop or not text.startswith("\n{", after):
                return None
            position = after + 1
    except (StopIteration, ValueError, KeyError, RecursionError):
        return None
    if len(calls) > MAX_CALLS:
        return None
    block = text[start:stop]
    if "[" not in block and block.count(":") == keys:
        return calls  # no colon is left for a key that is repeated or nested deeper
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
