"""Contracts: what counts as a complete action, and as a final answer, in each environment."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from toolrl_core.boxed import boxed_answer, find_boxes
from toolrl_core.fences import Fence, find_fences, find_inline_fences, released_block
from toolrl_core.parsing import read_completion
from toolrl_core.plain import plain_blocks
from toolrl_core.reasons import MALFORMED, Reason

__all__ = ["CONTRACTS", "Contract", "TurnFinding", "TurnReason", "find_contract", "language_name"]

_FINAL_ANSWER = re.compile(r"\bfinal_answer[ \t]*\(")
_PYTHON_LABEL = re.compile(r"i?py(thon)?[\d.]*")
_SEARCH_TAG = re.compile(r"<(/?)(search|answer)>")


class TurnReason(StrEnum):
    """Name what decided a verdict on a turn, or nearly did.

    Examples
    --------
    >>> TurnReason("fence_variant") is TurnReason.FENCE_VARIANT
    True
    """

    EMPTY_TURN = "empty_turn"
    """Nothing but white space."""
    NOTHING_COMPLETE = "nothing_complete"
    """No trace of an action or an answer: prose only."""
    FENCE_VARIANT = "fence_variant"
    """A complete code block that the released pattern does not see; the detail says why."""
    OTHER_LANGUAGE = "other_language"
    """A complete block whose label names something other than Python."""
    UNCLOSED_FENCE = "unclosed_fence"
    """A code block without its closing fence: cut off, or the closing fence differs."""
    EMPTY_FENCE = "empty_fence"
    """A complete block with no code in it."""
    INLINE_FENCE = "inline_fence"
    """Triple backticks opened and closed on one line: a code span, not a block."""
    EMPTY_BOXED = "empty_boxed"
    r"""A ``\boxed{}`` with nothing in it."""
    UNBALANCED_BOXED = "unbalanced_boxed"
    r"""A ``\boxed{`` whose brace is never closed."""
    BOXED_IN_CODE = "boxed_in_code"
    """A box inside a code block: code, not an answer given to the user."""
    SEVERAL_BOXED = "several_boxed"
    """More than one box; the last balanced one is the answer."""
    PROSE_FINAL_ANSWER = "prose_final_answer"
    """``final_answer(…)`` outside a complete code block: nothing runs it."""
    UNCLOSED_TAG = "unclosed_tag"
    """An opening tag without its closing tag; the detail names it."""
    EMPTY_TAG = "empty_tag"
    """A pair of tags with nothing in it; the detail names it."""
    MALFORMED_CALL = "malformed_call"
    """A tool call that cannot be decoded; the detail says why."""
    TRUNCATED_TURN = "truncated_turn"
    """Generation was cut off at a length limit."""


@dataclass(frozen=True, slots=True)
class TurnFinding:
    """State one reason, where it was met, and what was found there.

    Parameters
    ----------
    reason : TurnReason
        The reason code.
    position : int or None
        Character offset in the turn, or None where the reason has no place in the text.
    detail : str
        What was found, in a few words.
    """

    reason: TurnReason
    position: int | None = None
    detail: str = ""

    def __str__(self) -> str:
        """Return the reason, its place and its detail on one line."""
        place = "" if self.position is None else f" at character {self.position}"
        return f"{self.reason.value}{place}" + (f": {self.detail}" if self.detail else "")


_Reading: TypeAlias = tuple[str | None, str | None, list[TurnFinding]]


@dataclass(frozen=True, slots=True)
class Contract:
    """Define what counts as a complete action and as a final answer.

    Parameters
    ----------
    name : str
        Name under which functions accept the contract.
    action : str
        What a complete action is, in words.
    answer : str
        What a final answer is, in words.
    source : str
        Who defines it.
    read : callable
        Function from (text, languages) to action, answer and findings.
    """

    name: str
    action: str
    answer: str
    source: str
    read: Callable[[str, frozenset[str] | None], _Reading]


def find_contract(name: str) -> Contract:
    """Look a contract up by name.

    Parameters
    ----------
    name : str
        Name of the contract.

    Returns
    -------
    Contract
        Its definition.

    Raises
    ------
    ValueError
        Unknown name; the message lists the valid ones.

    Examples
    --------
    >>> find_contract("codes")
    Traceback (most recent call last):
        ...
    ValueError: unknown contract 'codes': choose from code, code_released, tool_call, search, message
    """
    if name not in CONTRACTS:
        raise ValueError(f"unknown contract {name!r}: choose from {', '.join(CONTRACTS)}")
    return CONTRACTS[name]


def _read_code(text: str, languages: frozenset[str] | None) -> _Reading:
    fences = find_fences(text)
    counted = [f for f in fences if f.closed and f.body.strip()]
    if languages is not None:
        counted = [f for f in counted if not f.label or language_name(f.label) in languages]
    in_code = _CodeSpans(fences)
    answers = [box for box in find_boxes(text) if box.inner and not box.blank and box.start not in in_code]
    return (
        (counted[0].body if counted else None),
        (answers[-1].content(text) if answers else None),
        _code_findings(text, fences),
    )


def _read_code_released(text: str, _languages: frozenset[str] | None) -> _Reading:
    place = text.find("\\boxed{")
    answer = None if place < 0 else boxed_answer(text) or ""
    return released_block(text), answer, _code_findings(text, find_fences(text))


def _code_findings(text: str, fences: tuple[Fence, ...]) -> list[TurnFinding]:
    """List what is unusual about the code blocks and boxes of a turn."""
    findings: list[TurnFinding] = []
    for fence in fences:
        if not fence.closed:
            findings.append(TurnFinding(TurnReason.UNCLOSED_FENCE, fence.start))
            continue
        if not fence.body.strip():
            findings.append(TurnFinding(TurnReason.EMPTY_FENCE, fence.start))
        if fence.variant:
            findings.append(TurnFinding(TurnReason.FENCE_VARIANT, fence.start, fence.variant))
        if fence.label and language_name(fence.label) != "python":
            findings.append(TurnFinding(TurnReason.OTHER_LANGUAGE, fence.start, fence.label))
    findings += [TurnFinding(TurnReason.INLINE_FENCE, place) for place in find_inline_fences(text)]
    answers, in_code = 0, _CodeSpans(fences)
    for box in find_boxes(text):
        if box.start in in_code:
            findings.append(TurnFinding(TurnReason.BOXED_IN_CODE, box.start))
        elif box.inner is None:
            findings.append(TurnFinding(TurnReason.UNBALANCED_BOXED, box.start))
        elif box.blank:
            findings.append(TurnFinding(TurnReason.EMPTY_BOXED, box.start))
        else:
            answers += 1
            if answers == 2:
                findings.append(TurnFinding(TurnReason.SEVERAL_BOXED, box.start))
    in_complete_code = _CodeSpans(fences, unclosed_too=False)
    findings += [
        TurnFinding(TurnReason.PROSE_FINAL_ANSWER, match.start())
        for match in _FINAL_ANSWER.finditer(text)
        if match.start() not in in_complete_code
    ]
    return findings


class _CodeSpans:
    """Tell whether a position lies inside code; an unclosed block reaches to the end of the text."""

    def __init__(self, fences: tuple[Fence, ...], *, unclosed_too: bool = True) -> None:
        closed = [fence for fence in fences if fence.closed]
        self._starts, self._ends = [fence.start for fence in closed], [fence.end for fence in closed]
        unclosed = (fence.start for fence in fences if not fence.closed) if unclosed_too else ()
        self._from = min(unclosed, default=None)

    def __contains__(self, position: int) -> bool:
        if self._from is not None and position >= self._from:
            return True
        i = bisect_right(self._starts, position) - 1
        return i >= 0 and position < self._ends[i]


def language_name(label: str) -> str:
    """Bring the label of a code block to the name of its language, as far as Python is concerned.

    Parameters
    ----------
    label : str
        First word after the opening fence.

    Returns
    -------
    str
        ``"python"`` for every way to write it, else the label in lower case.

    Examples
    --------
    >>> [language_name(label) for label in ("Python3", "{.py}", "JSON")]
    ['python', 'python', 'json']
    """
    plain = label.strip("{}.").casefold()
    return "python" if _PYTHON_LABEL.fullmatch(plain) else plain


def _read_tool_call(text: str, _languages: frozenset[str] | None) -> _Reading:
    reading = read_completion(text)
    findings = [
        TurnFinding(TurnReason.MALFORMED_CALL, finding.position, finding.code)
        for finding in reading.findings
        if finding.reason in MALFORMED or finding.reason is Reason.PYTHON_LITERAL
    ]
    positions = [call.position for call in reading.calls]
    action = answer = None
    for block in plain_blocks(reading):
        if block.kind == "thought":
            continue
        if not block.closed:
            findings.append(TurnFinding(TurnReason.UNCLOSED_TAG, block.start, f"<{block.kind}>"))
        elif block.kind == "tool_call":
            first = bisect_right(positions, block.start)
            if action is None and first < len(positions) and positions[first] < block.end:
                action = reading.calls[first].name
        else:
            content = text[block.start + len("<response>") : block.end - len("</response>")].strip()
            answer = content or answer
            if not content:
                findings.append(TurnFinding(TurnReason.EMPTY_TAG, block.start, "<response>"))
    return action, answer, findings


def _read_search(text: str, _languages: frozenset[str] | None) -> _Reading:
    findings: list[TurnFinding] = []
    found: dict[str, str] = {}
    opened: dict[str, re.Match[str]] = {}
    for tag in _SEARCH_TAG.finditer(text):
        kind = tag[2]
        if not tag[1]:
            opened[kind] = tag
            continue
        start = opened.pop(kind, None)
        if start is None:
            continue
        content = text[start.end() : tag.start()].strip()
        if content:
            found.setdefault(kind, content)
        else:
            findings.append(TurnFinding(TurnReason.EMPTY_TAG, start.start(), f"<{kind}>"))
    findings += [TurnFinding(TurnReason.UNCLOSED_TAG, tag.start(), f"<{kind}>") for kind, tag in opened.items()]
    return found.get("search"), found.get("answer"), findings


def _read_message(text: str, _languages: frozenset[str] | None) -> _Reading:
    spoken = re.sub(r"(?s)\A\s*<think>.*?(?:</think>|\Z)", "", text).strip()
    return None, spoken or None, []


CONTRACTS: Mapping[str, Contract] = MappingProxyType(
    {
        contract.name: contract
        for contract in (
            Contract(
                "code",
                "a closed, non-empty fenced code block of any label, LF or CRLF",
                "a balanced, non-empty \\boxed{…} outside code blocks",
                "this project, after SimpleTIR note §5.3 and §5.4",
                _read_code,
            ),
            Contract(
                "code_released",
                "a fence ```, ```py or ```python with a line feed, closed at the beginning of a line",
                "the characters \\boxed{ anywhere",
                "ltzheng/SimpleTIR@e7b5b44 agent_utils.py L570-604",
                _read_code_released,
            ),
            Contract(
                "tool_call",
                "a closed <tool_call> block with at least one call that can be decoded",
                "a closed, non-empty <response> block",
                "the ToolRL completion format, ToolRL note §3.4; completeness as defined by this project",
                _read_tool_call,
            ),
            Contract(
                "search",
                "a closed, non-empty <search> pair",
                "a closed, non-empty <answer> pair",
                "the tags of PeterGriffinJin/Search-R1@54f5bb8 generation.py postprocess_predictions, which accepts "
                "empty pairs too; the SimpleTIR note §9.4 asks for such a contract",
                _read_search,
            ),
            Contract(
                "message",
                "a tool call that the chat message carries with decodable arguments (seen by Turn, not in the text)",
                "any text to the user after the thought",
                "this project, for chat messages in the OpenAI form",
                _read_message,
            ),
        )
    }
)
"""The contracts by name."""
