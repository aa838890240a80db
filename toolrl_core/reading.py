"""The working copy of a completion that is being read: its calls, its blocks and what was unusual."""

from __future__ import annotations

from typing import NamedTuple

from toolrl_core.json_calls import RawCall
from toolrl_core.reasons import MALFORMED, Finding, Reason


class Block(NamedTuple):
    """Hold one tagged block of a completion.

    Parameters
    ----------
    kind : {"thought", "tool_call", "response"}
        What the block is.
    start, end : int
        Offsets of the first character of its opening tag and after its closing tag.
    closed : bool
        Whether the closing tag is there.
    well_formed : bool
        For a tool-call block: every value in it is a call, and there is at least one.
    """

    kind: str
    start: int
    end: int
    closed: bool
    well_formed: bool = True


class Reading:
    """Collect what was read from one completion (the mutable working copy of `ParsedCompletion`)."""

    thought: str | None = None
    response: str | None = None
    malformed = 0
    outside = False
    kinds: tuple[str, ...] | None = None
    """The kinds of the blocks where the text has the plain shape; its blocks are made on demand."""
    thought_ends: list[int] | None = None

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = len(text)
        self.calls: list[RawCall] = []
        self.findings: list[Finding] = []
        self.blocks: list[Block] = []

    def note(self, reason: Reason, position: int | None, detail: str = "") -> None:
        """Record a finding; one that makes a call malformed is counted."""
        self.findings.append(Finding(reason, position, detail))
        if reason in MALFORMED:
            self.malformed += 1
