"""Hold every checkable statement of the two notes against what the chapters compute.

:mod:`toolrl_core.explain.ledger` lists the claims with the verdict that is expected of each. A chapter records
what it computed and shows the table; the table leaves its data in the executed notebook, from where the
scoreboard is made (:mod:`toolrl_core.explain.scoreboard`). The claims cell of a chapter reads::

    ledger = ChapterClaims("01_reward_anatomy")
    ledger.record("toolrl.6.1.call_missing", ours=Fraction(3, 4))          # the ledger knows the right value
    ledger.record("toolrl.P1.range", ours="0 of 1,000,000 outside", check=outside == 0)
    ledger.finish()                                                        # last line of the cell: the table

A chapter that tests directions in a miniature (one of ``MINIATURES``) records them in the same way, with a check that
bears out the ledger's verdict::

    ledger.record("toolrl.5.3.coarse_direction", ours="agrees in 3 of 9 settings", check=0 < agreeing < 9)

``finish`` raises if one of the chapter's entries has no record, so none can be forgotten silently.
Only the standard library is used.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from numbers import Integral, Real
from typing import Any, Final

from toolrl_core.explain.ledger import DIRECTION, NOTEBOOKS, QUOTED, Claim, ClaimError, load_claims, load_ledger

__all__ = ["MIME_TYPE", "ChapterClaims", "Claim", "ClaimError", "ClaimRecord", "ClaimTable", "load_claims"]

MIME_TYPE: Final = "application/vnd.toolrl.claims+json"
LEVELS: Final = (
    "The level is the credibility that the note itself gives: A copied from the paper, B reported by the paper, "
    "C derived and checked by the note's program, D conjecture."
)
MINIATURE: Final = (
    "Each is the direction of an effect that a paper reports, tested in a miniature under the assumptions that the "
    "chapter names. It is not a reproduction: the sizes are the miniature's own."
)
ROW_HEADER: Final = 'style="font-weight: normal; text-align: left"'
_COLUMNS: Final = ("Claim", "The note's figure", "Ours", "Verdict")
_DIRECTION_COLUMNS: Final = ("Direction", "The paper's figures, as the note quotes them", "In the miniature", "Verdict")


@dataclass(frozen=True, kw_only=True)
class ClaimRecord:
    """Hold what a chapter computed for one claim or direction.

    Parameters
    ----------
    claim
        The entry of the ledger.
    ours
        Our value as text.
    holds
        Whether the verdict expected by the ledger was borne out.
    depends
        Why the verdict may change with the notebook's parameters; empty where it may not.
    remark
        A sentence for the reader, or nothing.
    """

    claim: Claim
    ours: str
    holds: bool
    depends: str = ""
    remark: str = ""

    @property
    def verdict(self) -> str:
        """Give the verdict, or say that it does not hold with these parameters."""
        return self.claim.verdict if self.holds else "does not hold with these parameters"

    def to_dict(self) -> dict[str, Any]:
        """Give the record as plain data, as it is stored in the executed notebook."""
        return {
            "claim": self.claim.id,
            "verdict": self.verdict,
            "ours": self.ours,
            "holds": self.holds,
            "depends": self.depends,
            "remark": self.remark,
        }

    def _ipython_display_(self) -> None:
        """Show nothing: the chapter's table shows the record, once."""


class ChapterClaims:
    """Collect the records of one chapter and render them.

    Parameters
    ----------
    notebook
        Stem of the notebook, one of ``NOTEBOOKS``.
    ledger
        The entries, by id; by default those of the package.

    Raises
    ------
    ClaimError
        If no entry of the ledger is decided by this notebook.

    Examples
    --------
    The note prints 2.3 points for a difference that is exactly 7/3. A value near the printed one is refused,
    since the ledger holds the right one:

    >>> from fractions import Fraction
    >>> ledger = ChapterClaims("02_greedy_vs_optimal")
    >>> ledger.record("toolrl.P2.counterexample", ours=Fraction(7, 3)).verdict
    'reproduced with a correction'
    >>> ChapterClaims("02_greedy_vs_optimal").record("toolrl.P2.counterexample", ours=2.3)
    Traceback (most recent call last):
      ...
    toolrl_core.explain.ledger.ClaimError: toolrl.P2.counterexample: expected 'reproduced with a correction' \
(printed 2.3, right 7/3), but ours is 2.3 points
    """

    def __init__(self, notebook: str, *, ledger: Mapping[str, Claim] | None = None) -> None:
        self.notebook = notebook
        self._ledger = load_ledger() if ledger is None else ledger
        self._claims = {claim.id: claim for claim in self._ledger.values() if claim.decided_by == notebook}
        self._records: dict[str, ClaimRecord] = {}
        if notebook == QUOTED or not self._claims:
            deciding = {claim.decided_by for claim in self._ledger.values()}
            valid = ", ".join(stem for stem in NOTEBOOKS if stem in deciding)
            raise ClaimError(f"no claim or direction is decided by the notebook {notebook!r}; valid: {valid}")

    @property
    def missing(self) -> tuple[str, ...]:
        """List the ids of the chapter's claims or directions that have no record yet."""
        return tuple(id_ for id_ in self._claims if id_ not in self._records)

    def record(
        self,
        claim_id: str,
        *,
        ours: float | Fraction | str | Iterable[float | Fraction],
        check: object = None,
        verdict: str | None = None,
        shown: str | None = None,
        remark: str = "",
        depends: str = "",
    ) -> ClaimRecord:
        """Record what this chapter computed for a claim, and hold it against the ledger.

        Where the ledger has numbers, `ours` must be numbers in the same order, and they are compared within the claim's
        tolerance: *reproduced* wants the printed numbers, *with a correction* the right ones, *not reproduced* the
        right ones too, or where the ledger has none, others than printed. `check` adds a condition of the chapter's
        own; without numbers in the ledger it is required. It states the evidence *for the expected verdict*: for a
        claim that is *not reproduced* it is true when the failure was seen, for a direction that *does not come out*
        when it did not. A direction has no numbers in the ledger.

        Parameters
        ----------
        claim_id
            Id of a claim or direction that this notebook decides.
        ours
            Our value, in the unit of the claim: a number, several numbers, or words.
        check
            Truth value of the chapter's own condition.
        verdict
            The verdict the chapter expects, where it wants to state it; must equal the ledger's.
        shown
            Text shown in place of `ours`.
        remark
            A sentence shown under the verdict.
        depends
            Why the condition may fail under other parameters (fewer samples, another seed). With it a failure is
            recorded and shown; without it a failure raises.

        Returns
        -------
        ClaimRecord
            Shows nothing by itself; the chapter's table shows it.

        Raises
        ------
        ClaimError
            If the claim is unknown, belongs to another notebook or was recorded before, if the verdict differs from
            the ledger's, if nothing can be compared, or if the comparison fails.
        """
        claim = self._require(claim_id)
        if verdict is not None and verdict != claim.verdict:
            raise ClaimError(f"{claim_id}: the chapter says {verdict!r}, the ledger expects {claim.verdict!r}")
        values = _values(ours)
        numbers = tuple(map(_exact, values))
        text = shown or (_text(values, claim.unit) if values else str(ours))
        wanted = claim.right_numbers or claim.printed_numbers
        if wanted and not numbers:
            raise ClaimError(f"{claim_id}: give numbers as ours (the ledger has {claim.printed!r}), and words as shown")
        if not wanted and check is None:
            raise ClaimError(f"{claim_id}: nothing to compare ours with; give a check (the note has {claim.printed!r})")
        agrees = not wanted or _agrees(claim, numbers)
        holds = agrees and (check is None or bool(check))
        if not holds and not depends:
            right = f", right {', '.join(map(str, claim.right_numbers))}" if claim.right_numbers else ""
            failed = "" if check is None or check else ", and the chapter's check failed"
            message = f"expected {claim.verdict!r} (printed {claim.printed}{right}), but ours is {text}{failed}"
            raise ClaimError(f"{claim_id}: {message}")
        made = ClaimRecord(claim=claim, ours=text, holds=holds, depends=depends, remark=remark)
        self._records[claim_id] = made
        return made

    def finish(self) -> "ClaimTable":
        """Return the chapter's table; raise if one of its claims has no record.

        Returns
        -------
        ClaimTable
            To be the last expression of the claims cell.

        Raises
        ------
        ClaimError
            Naming the claims without a record.
        """
        if self.missing:
            raise ClaimError(f"{self.notebook} has no record of: {', '.join(self.missing)}")
        return ClaimTable(self.notebook, tuple(self._records[id_] for id_ in self._claims))

    def _require(self, claim_id: str) -> Claim:
        if claim_id in self._records:
            raise ClaimError(f"{claim_id} was recorded before")
        if claim_id in self._claims:
            return self._claims[claim_id]
        if claim_id in self._ledger:
            raise ClaimError(f"{claim_id} is decided by {self._ledger[claim_id].decided_by!r}, not {self.notebook!r}")
        raise ClaimError(f"unknown claim {claim_id!r}; {self.notebook} decides: {', '.join(self._claims)}")

    def __repr__(self) -> str:
        return f"<{self.notebook}: {len(self._records)} of {len(self._claims)} claims recorded>"


@dataclass(frozen=True)
class ClaimTable:
    """Render a chapter's records, and leave them in the notebook as data.

    Parameters
    ----------
    notebook
        Stem of the notebook.
    records
        One record for each claim or direction that the notebook decides; a notebook decides one kind only.
    """

    notebook: str
    records: tuple[ClaimRecord, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the table as plain data, the content of the notebook's output of type ``MIME_TYPE``."""
        return {"notebook": self.notebook, "records": [made.to_dict() for made in self.records]}

    def __str__(self) -> str:
        return "\n".join(f"{made.claim.id}: {made.ours} ({made.verdict})" for made in self.records)

    def _repr_html_(self) -> str:
        return _table_html(self.records)

    def _repr_mimebundle_(self, **_options: object) -> dict[str, Any]:
        return {"text/plain": str(self), "text/html": self._repr_html_(), MIME_TYPE: self.to_dict()}


def _values(ours: object) -> tuple[object, ...]:
    """Read `ours` as a tuple of numbers; nothing for words."""
    if isinstance(ours, str | bool):
        return ()
    return tuple(ours) if isinstance(ours, Iterable) else (ours,)


def _exact(value: object) -> Fraction | None:
    """Read one number exactly; None where it is not finite."""
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Real):
        return Fraction(float(value)) if math.isfinite(value) else None
    raise ClaimError(f"ours must be numbers or words, not {type(value).__name__}")


def _text(values: Sequence[object], unit: str) -> str:
    words = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values]
    return ", ".join(words) + (f" {unit}" if unit else "")


def _agrees(claim: Claim, numbers: Sequence[Fraction | None]) -> bool:
    wanted = claim.right_numbers or claim.printed_numbers
    if len(wanted) != len(numbers):
        raise ClaimError(f"{claim.id} wants {len(wanted)} numbers ({', '.join(map(str, wanted))}), got {len(numbers)}")
    pairs = zip(numbers, wanted, strict=True)
    near = all(number is not None and abs(number - figure) <= claim.tolerance for number, figure in pairs)
    return near is not (claim.verdict == "not reproduced" and not claim.right_numbers)


def shown_text(text: str) -> str:
    """Escape a text for HTML, and give it true signs for minus, at most and at least.

    Parameters
    ----------
    text
        A figure or a sentence.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    A range of sections and an exponent keep their hyphens.

    >>> shown_text("-7/6 < 0, sections 5.2-5.4, error 9e-16")
    '−7/6 &lt; 0, sections 5.2-5.4, error 9e-16'
    >>> shown_text("487 <= 13")
    '487 ≤ 13'
    """
    signs = escape(text).replace("&lt;=", "≤").replace("&gt;=", "≥")
    return re.sub(r"(?<!\w)-(?=\d)", "−", signs)


def _row_html(made: ClaimRecord) -> str:
    claim = made.claim
    remarks = (claim.correction, made.remark, "" if made.holds else made.depends)
    details = "".join(f"<br><small>{shown_text(text)}</small>" for text in remarks if text)
    where = f"{claim.note} note, section {claim.section}, level {claim.level}"
    return (
        f'<tr id="{escape(claim.anchor)}" style="vertical-align: top"><th scope="row" {ROW_HEADER}>'
        f"<code>{escape(claim.id)}</code><br>{shown_text(claim.statement)}<br><small>{escape(where)}</small></th>"
        f"<td>{shown_text(claim.printed)}</td><td>{shown_text(made.ours)}</td>"
        f"<td>{escape(made.verdict)}{details}</td></tr>"
    )


def _table_html(records: Sequence[ClaimRecord]) -> str:
    directions = any(made.claim.kind == DIRECTION for made in records)
    caption = "The directions that this chapter tests" if directions else "The notes' claims that this chapter decides"
    told = f"{caption}. {MINIATURE} {LEVELS}" if directions else f"{caption}. {LEVELS}"
    columns = _DIRECTION_COLUMNS if directions else _COLUMNS
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(map(_row_html, records))
    return (
        f'<div class="claims" role="region" tabindex="0" aria-label="{escape(caption)}" style="overflow-x: auto">'
        f'<table class="toolrl-table"><caption>{escape(told, quote=False)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
