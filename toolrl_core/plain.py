"""Read a completion of the plain shape quickly: a thought, one block of calls one a line, maybe a response.

The general scanner of `toolrl_core.parsing` reads every text; this shortcut answers only where it would give
the same reading, and leaves everything unusual to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from toolrl_core.json_calls import MAX_DEPTH, RawCall

_scan: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder())["scan_once"]
_OPENING = "</think>\n<tool_call>\n"
_CLOSING = "\n</tool_call>"
_RESPONSE = "\n<response>"
_RESPONSE_END = "</response>"


def read_plain_calls(text: str, start: int, stop: int) -> list[RawCall] | None:
    """Decode calls that stand one a line in ``text[start:stop]``; None where anything is unusual.

    Parameters
    ----------
    text : str
        The completion.
    start, stop : int
        Offsets of the first call and after the last.

    Returns
    -------
    list of RawCall or None
        The calls, each an object of a name and an object under ``parameters``, without repeated keys.
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
            if after > stop or text[after : after + 2] != "\n{":
                return None
            position = after + 1
    except (StopIteration, ValueError, KeyError, RecursionError, IndexError):
        return None
    block = text[start:stop]
    if block.count('":') != keys or block.count("[") > MAX_DEPTH:
        return None  # nested objects, or maybe repeated keys, or too deep
    if '" :' in block or '"\n' in block or '"\t' in block or '"\r' in block:
        return None  # a key before a loose colon would not have been counted
    return calls


def plain_shape(text: str) -> tuple[int, int, int, int] | None:
    """Find the parts of a text of the plain shape.

    Parameters
    ----------
    text : str
        The completion.

    Returns
    -------
    tuple of int or None
        Offsets of the end of the thought, of the first call, after the last call, and of the response's text
        (-1 without a response); None for any other shape.
    """
    if not text.startswith("<think>"):
        return None
    thought_end = text.find("</think>")
    if thought_end < 0 or not text.startswith(_OPENING, thought_end):
        return None
    first = thought_end + len(_OPENING)
    last = text.find(_CLOSING, first)
    if last < 0:
        return None
    after = last + len(_CLOSING)
    if after == len(text):
        response = -1
    elif text.startswith(_RESPONSE, after) and text.endswith(_RESPONSE_END):
        response = after + len(_RESPONSE)
        if text.find(_RESPONSE_END, response) != len(text) - len(_RESPONSE_END):
            return None
    else:
        return None
    if text.find("<", 7, thought_end) >= 0:  # maybe a tag that the thought mentions
        return None
    return thought_end, first, last, response
