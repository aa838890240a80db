"""Find fenced code blocks: complete or cut off, and how they depart from what the released SimpleTIR code sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Fence", "find_fences", "find_inline_fences", "released_block"]

_TICKS = re.compile(r"`{3,}")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_FENCE_START = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RELEASED_OPENING = re.compile(r"```(?:py|python)?\n")


@dataclass(frozen=True, slots=True)
class Fence:
    """Hold one fenced code block.

    Parameters
    ----------
    start, end : int
        Offsets of its first fence character and after its closing fence (end of the text if it is not closed).
    label : str
        First word of the info string after the opening fence, as written.
    body : str
        The lines between the fences; empty if it is not closed.
    closed : bool
        Whether a closing fence was found.
    variant : str
        What keeps the released pattern from seeing the block, in words; empty if nothing does.
    """

    start: int
    end: int
    label: str
    body: str
    closed: bool
    variant: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    mark: str  # "`", "~" or "": the character of a fence run at the beginning of the line
    run: int  # its length
    indented: bool


def find_fences(text: str) -> tuple[Fence, ...]:
    r"""Find the fenced code blocks of a text from left to right, without overlap.

    An opening fence is a run of at least three backticks with no further backtick on its line (anywhere on the line),
    or a run of at least three tildes at the beginning of a line. It closes at the next line that begins, after optional
    indentation, with at least as long a run of the same character, whatever follows.

    Parameters
    ----------
    text : str
        Any text; lines end in LF or CRLF.

    Returns
    -------
    tuple of Fence
        Complete blocks, and openings that are never closed (`closed` is False).

    Notes
    -----
    Linear time. The released expression is described in :func:`released_block`.

    Examples
    --------
    >>> fence, = find_fences("```python3\nprint(1)\n```")
    >>> fence.label, fence.body, fence.closed, fence.variant
    ('python3', 'print(1)', True, "label 'python3'")
    """
    lines = [_read_line(text, match) for match in _LINE.finditer(text) if match[0]]
    longest_later = {"`": [0] * (len(lines) + 1), "~": [0] * (len(lines) + 1)}
    for mark, longest in longest_later.items():
        for i in range(len(lines) - 1, -1, -1):
            longest[i] = max(longest[i + 1], lines[i].run if lines[i].mark == mark else 0)
    fences: list[Fence] = []
    i = 0
    while i < len(lines):
        opening = _read_opening(text, lines[i])
        if opening is None:
            i += 1
            continue
        start, mark, run, info = opening
        body_start = lines[i].end
        if longest_later[mark][i + 1] < run:
            fences.append(Fence(start, len(text), _label(info), "", closed=False))
            i += 1
            continue
        close = next(k for k in range(i + 1, len(lines)) if lines[k].mark == mark and lines[k].run >= run)
        body = text[body_start : lines[close].start]
        variant = _variant(mark, info, body, lines[close])
        end = lines[close].end
        code = body.removesuffix("\n").removesuffix("\r")
        fences.append(Fence(start, end, _label(info), code, closed=True, variant=variant))
        i = close + 1
    return tuple(fences)


def find_inline_fences(text: str) -> Iterator[int]:
    """Yield the offset of every line with a code span in triple backticks, which opens no block.

    Parameters
    ----------
    text : str
        Any text.

    Yields
    ------
    int
        Offset of the first backtick of the span.

    Examples
    --------
    >>> list(find_inline_fences("so ```print(1)``` it is"))
    [3]
    """
    for line in _LINE.finditer(text):
        runs = _TICKS.finditer(text, line.start(), line.end())
        first, second = next(runs, None), next(runs, None)
        if first and second:
            yield first.start()


def released_block(text: str) -> str | None:
    r"""Return the code that the released SimpleTIR code finds in a turn.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str or None
        Content of the first match without surrounding white space (possibly ``""``), or None without a match.

    Notes
    -----
    The pattern of ltzheng/SimpleTIR@e7b5b44, agent_utils.py L570-604: three backticks, nothing or ``py`` or ``python``,
    a line feed; then the shortest text up to a line feed and three backticks. It is searched anywhere, so a closing
    fence may serve as an opening one. If the first opening finds no end, no later one does, which makes this linear.

    Examples
    --------
    >>> released_block("```python\nprint(1)\n```"), released_block("```Python\nprint(1)\n```")
    ('print(1)', None)
    """
    opening = _RELEASED_OPENING.search(text)
    end = text.find("\n```", opening.end()) if opening else -1
    return text[opening.end() : end].strip() if opening and end >= 0 else None


def _read_line(text: str, match: re.Match[str]) -> _Line:
    run = _FENCE_START.match(text, match.start(), match.end())
    if run is None:
        return _Line(match.start(), match.end(), "", 0, indented=False)
    return _Line(match.start(), match.end(), run[1][0], len(run[1]), indented=run.start(1) > match.start())


def _read_opening(text: str, line: _Line) -> tuple[int, str, int, str] | None:
    """Return start, character, length and info string of the fence that a line opens, or None."""
    content = text[line.start : line.end].removesuffix("\n")
    if line.mark == "~":
        start = line.start + content.index("~")
        return start, "~", line.run, content[start - line.start + line.run :]
    runs = list(_TICKS.finditer(content))
    if len(runs) % 2 == 0:  # none, or code spans within the line
        return None
    last = runs[-1]
    info = content[last.end() :]
    return None if "`" in info else (line.start + last.start(), "`", len(last[0]), info)


def _label(info: str) -> str:
    words = info.split()
    return words[0] if words else ""


def _variant(mark: str, info: str, body: str, close: _Line) -> str:
    """Say what keeps the released pattern from matching a complete block."""
    written = info.removesuffix("\r")
    if mark == "~":
        return "tilde fence"
    if written.strip() not in ("", "py", "python"):
        return f"label {written.strip()!r}"
    if written != written.strip():
        return "space around the label"
    if info.endswith("\r"):
        return "carriage return before the line feed"
    if close.indented:
        return "indented closing fence"
    return "" if body else "no line between the fences"
