"""Read a completion: thought, tool calls and response, from any text, without ever raising."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from toolrl_core.calls import ToolCall
from toolrl_core.json_calls import (
    MAX_CALLS,
    accept_value,
    decode_value,
    literal_value,
)
from toolrl_core.plain import plain_blocks, read_plain
from toolrl_core.reading import Block, Reading
from toolrl_core.reasons import Finding, Reason

PARSERS = ("tolerant", "released")
STOP_TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>")
_TAG = re.compile(r"<(/?)(think|tool_call|response)>")
_OPEN_OR_END = re.compile(r"\s*(?:<(?:think|tool_call|response)>|\Z)")
_NEXT_VALUE = re.compile(r"\n[\[{]|</tool_call>")
_END = "</tool_call>"


@dataclass(frozen=True, slots=True)
class ParsedCompletion:
    """Hold what a completion says: its thought, its calls, its response, and how it was read.

    Parameters
    ----------
    thought : str or None
        Text of the first thought.
    calls : tuple of ToolCall
        Every call that could be decoded, in order.
    response : str or None
        Text of the first response.
    reasons : tuple of Finding
        Everything unusual, with its position.
    n_malformed : int
        Number of calls that could not be decoded.
    blocks : tuple of Block
        The tagged blocks in order.
    """

    thought: str | None
    calls: tuple[ToolCall, ...]
    response: str | None
    reasons: tuple[Finding, ...]
    n_malformed: int = 0
    blocks: tuple[Block, ...] = ()

    @property
    def n_predicted(self) -> int:
        """Return the number of decoded calls."""
        return len(self.calls)


def parse_completion(
    text: str, *, parser: str = "tolerant", accept_python_literals: bool = False, prefilled_thought: bool = False
) -> ParsedCompletion:
    """Read a completion's thought, tool calls and response.

    The tolerant parser scans from left to right; the block that is opened first owns its content.
    Every ``<tool_call>`` block is read, and its JSON values are decoded one after another, so
    pretty-printed JSON, several objects on one line, arrays and an end tag inside a string all work.
    What cannot be decoded is one malformed call up to the next line that starts a value.

    Parameters
    ----------
    text : str
        The model's own text.
    parser : {"tolerant", "released"}
        The tolerant parser, or the rules of the released ToolRL code.
    accept_python_literals : bool
        Count a Python dictionary (single quotes, ``True``, ``None``) as a call instead of a malformed one.
    prefilled_thought : bool
        The chat template already opened the thought, so the text begins inside it.

    Returns
    -------
    ParsedCompletion
        Never an exception, whatever the text.

    Raises
    ------
    TypeError
        If `text` is not a string.
    ValueError
        If `parser` is unknown.

    Notes
    -----
    The format contract is that of the ToolRL note §3.4 and §6.3 (arXiv 2504.13958 §3.3).

    Examples
    --------
    >>> parsed = parse_completion('<think> t </think><tool_call>{"name": "f", "arguments": {}}</tool_call>')
    >>> parsed.calls, [finding.code for finding in parsed.reasons]
    ((ToolCall(name='f', arguments={}),), ['arguments_key'])
    """
    if not isinstance(text, str):
        raise TypeError(f"a completion must be text, found {type(text).__name__}")
    if parser == "released":
        from toolrl_core.released import read_released

        reading = read_released(text)
    elif parser == "tolerant":
        reading = read_completion(
            text, accept_python_literals=accept_python_literals, prefilled_thought=prefilled_thought
        )
    else:
        raise ValueError(f"unknown parser {parser!r}: choose from {', '.join(PARSERS)}")
    calls = tuple(ToolCall(call.name, call.arguments if type(call.arguments) is dict else {}) for call in reading.calls)
    return ParsedCompletion(
        reading.thought, calls, reading.response, tuple(reading.findings), reading.malformed, plain_blocks(reading)
    )


def read_completion(text: str, *, accept_python_literals: bool = False, prefilled_thought: bool = False) -> Reading:
    """Read a completion with the tolerant parser into a working copy.

    Parameters are those of `parse_completion`.
    """
    plain = None if prefilled_thought else read_plain(text)
    if plain is not None:
        return plain
    return scan_completion(text, accept_python_literals=accept_python_literals, prefilled_thought=prefilled_thought)


def scan_completion(text: str, *, accept_python_literals: bool = False, prefilled_thought: bool = False) -> Reading:
    """Read a completion of any shape; `read_completion` gives the same, sooner for the plain shape.

    Parameters are those of `parse_completion`.
    """
    reading = Reading(text)
    reading.end = _strip_stop_tokens(reading)
    position = 0
    if prefilled_thought and not text.lstrip().startswith("<think>"):
        reading.note(Reason.PREFILLED_THOUGHT, 0)
        position = _read_thought(reading, 0, 0)
    while True:
        tag = _TAG.search(text, position, reading.end)
        start = tag.start() if tag else reading.end
        if start > position and not text[position:start].isspace():
            reading.outside = True
            reading.note(Reason.TEXT_OUTSIDE, position)
        if tag is None:
            break
        if tag[1]:
            reading.outside = True
            reading.note(Reason.STRAY_END_TAG, start, tag[0])
            position = tag.end()
        elif tag[2] == "think":
            position = _read_thought(reading, start, tag.end())
        elif tag[2] == "tool_call":
            position = _read_calls(reading, start, tag.end(), accept_python_literals)
        else:
            position = _read_response(reading, start, tag.end())
    _note_structure(reading)
    return reading


def _strip_stop_tokens(reading: Reading) -> int:
    """Return the end of the text without trailing white space and stop tokens."""
    text, end, stripped = reading.text, len(reading.text), False
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        token = next((t for t in STOP_TOKENS if text.endswith(t, 0, end)), None) if text[end - 1 : end] == ">" else None
        if token is None:
            break
        end -= len(token)
        stripped = True
    if stripped:
        reading.note(Reason.SPECIAL_TOKEN_TAIL, end, text[end : end + 40])
    return end


def _read_thought(reading: Reading, start: int, begin: int) -> int:
    """Read a thought: it ends at the first end tag before an opening tag or the end, else at the first."""
    text, end = reading.text, reading.end
    first = text.find("</think>", begin, end)
    if first < 0:
        reading.note(Reason.UNCLOSED_THOUGHT, start)
        return _add_thought(reading, Block("thought", start, end, False), text[begin:end])
    close = first
    if not _OPEN_OR_END.match(text, first + 8, end):
        close = _real_thought_end(reading, first)
        if close != first:
            reading.note(Reason.QUOTED_THOUGHT_END, first)
    return _add_thought(reading, Block("thought", start, close + 8, True), text[begin:close])


def _add_thought(reading: Reading, block: Block, thought: str) -> int:
    tagged = "<" in thought  # one character is found much faster than a tag
    if tagged and ("<tool_call>" in thought or "<response>" in thought or "<think>" in thought):
        reading.note(Reason.TAG_IN_THOUGHT, block.start)
    if reading.thought is None:
        reading.thought = thought
    reading.blocks.append(block)
    return block.end


def _real_thought_end(reading: Reading, first: int) -> int:
    """Find the first end tag from `first` on that an opening tag or the end follows, else `first`."""
    ends = _thought_ends(reading)
    index = bisect_left(ends, first)
    return ends[index] if index < len(ends) else first


def _thought_ends(reading: Reading) -> list[int]:
    """List the end tags that can really end a thought; found once for a text, so that reading stays linear."""
    if reading.thought_ends is None:
        text, end = reading.text, reading.end
        ends = [m.start() for m in re.finditer("</think>", text) if _OPEN_OR_END.match(text, m.end(), end)]
        reading.thought_ends = ends
    return reading.thought_ends


def _read_response(reading: Reading, start: int, begin: int) -> int:
    close = reading.text.find("</response>", begin, reading.end)
    closed = close >= 0
    stop = close if closed else reading.end
    if not closed:
        reading.note(Reason.UNCLOSED_RESPONSE, start)
    if reading.response is None:
        reading.response = reading.text[begin:stop]
    end = stop + 11 if closed else stop
    reading.blocks.append(Block("response", start, end, closed))
    return end


def _read_calls(reading: Reading, start: int, begin: int, literals: bool) -> int:
    """Decode the JSON values of one tool-call block, one after another."""
    text, end = reading.text, reading.end
    position, calls, malformed = begin, len(reading.calls), reading.malformed
    budget = 4 * (end - begin) + 100_000
    closed = separated = False
    while True:
        while position < end and text[position].isspace():
            position += 1
        if position >= end:
            reading.note(Reason.UNCLOSED_BLOCK, start)
            break
        if text.startswith(_END, position):
            closed, position = True, position + len(_END)
            break
        character = text[position]
        if character == "," and len(reading.calls) > calls:
            if not separated:
                reading.note(Reason.COMMA_SEPARATED, position)
            separated, position = True, position + 1
            continue
        if len(reading.calls) + reading.malformed >= MAX_CALLS or budget < 0:
            reading.note(Reason.TOO_LARGE, position, "more values than are read")
            position = _end_tag(text, position, end)
            continue
        if character in "{[":
            value, after, problem, cost = decode_value(text, position, end)
            budget -= cost
            if problem is None:
                accept_value(value, position, reading.calls, reading.note)
                position = after
                continue
        else:
            problem = (Reason.JSON_DECODE, f"expected an object, found {text[position : position + 30]!r}")
        position = _malformed(reading, position, problem, literals)
    if len(reading.calls) == calls and reading.malformed == malformed:
        reading.note(Reason.EMPTY_BLOCK, start)
    sound = closed and reading.malformed == malformed and len(reading.calls) > calls
    reading.blocks.append(Block("tool_call", start, position, closed, sound))
    return position


def _end_tag(text: str, position: int, end: int) -> int:
    found = text.find(_END, position, end)
    return found if found >= 0 else end


def _malformed(reading: Reading, position: int, problem: tuple[Reason, str], literals: bool) -> int:
    """Count one malformed call, or accept a Python literal; return where the next value may start."""
    text, end = reading.text, reading.end
    boundary = _NEXT_VALUE.search(text, position + 1, end)
    stop = boundary.start() if boundary else end
    if problem[0] is Reason.TOO_DEEP:
        stop = _end_tag(text, position, end)
    reason, detail = problem
    if reason is Reason.JSON_DECODE and text[position] in "{[":
        value = literal_value(text[position:stop])
        if value is not None:
            reading.findings.append(Finding(Reason.PYTHON_LITERAL, position))
            if literals:
                accept_value(value, position, reading.calls, reading.note)
            else:
                reading.malformed += 1
            return stop
        if boundary is None:
            reason, detail = Reason.TRUNCATED, "the text ends inside a call"
    reading.note(reason, position, detail)
    return stop


def _note_structure(reading: Reading) -> None:
    """Record what is missing or repeated among the blocks."""
    kinds = [block.kind for block in reading.blocks]
    if "thought" not in kinds:
        reading.note(Reason.MISSING_THOUGHT, None, "no <think> block")
    if len(kinds) > 1:
        repeated: list[tuple[str, Reason]] = [
            ("thought", Reason.REPEATED_THOUGHT),
            ("tool_call", Reason.MULTIPLE_BLOCKS),
            ("response", Reason.MULTIPLE_RESPONSES),
        ]
        for kind, reason in repeated:
            if kinds.count(kind) > 1:
                second = [block for block in reading.blocks if block.kind == kind][1]
                reading.note(reason, second.start, f"{kinds.count(kind)} blocks")
