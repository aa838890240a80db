"""Make the scoreboard of claims, and of directions, from the executed notebooks.

A chapter's claims table leaves its records in the notebook as an output of a media type of its own. They are
read back here, held against the ledger once more, and counted: directions that a miniature tests are counted apart from
the notes' claims. Only the standard library is used.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

from toolrl_core.explain.claims import MIME_TYPE, MINIATURE, ROW_HEADER, shown_text
from toolrl_core.explain.ledger import (
    CLAIM,
    DIRECTION,
    DIRECTION_VERDICTS,
    QUOTED,
    VERDICTS,
    Claim,
    ClaimError,
    load_ledger,
)

__all__ = ["CollectedRecord", "Scoreboard", "ScoreboardRow", "collect", "scoreboard"]

UNDECIDED: Final = {CLAIM: "not decided", DIRECTION: "not tested"}
_COLUMNS: Final = {
    CLAIM: ("Claim", "Note, section, level", "The note's figure", "Ours", "Verdict", "Decided in"),
    DIRECTION: ("Direction", "Note, section, level", "The paper's figures", "In the miniature", "Verdict", "Tested in"),
}
_FARE: Final = (("agrees", "agree"), ("depends", "depend"), ("does not come out", "do not come out"))


@dataclass(frozen=True, kw_only=True)
class CollectedRecord:
    """Hold one record read from an executed notebook.

    Parameters
    ----------
    claim
        Id of the claim.
    notebook, cell
        Stem of the notebook, and id of the cell whose output holds the record.
    ours
        The chapter's value as text.
    holds
        Whether the verdict expected by the ledger was borne out.
    depends, remark
        Why it may fail under other parameters, and a sentence for the reader.
    """

    claim: str
    notebook: str
    cell: str
    ours: str
    holds: bool
    depends: str = ""
    remark: str = ""


def collect(
    notebooks: Iterable[str | Path], *, ledger: Mapping[str, Claim] | None = None
) -> dict[str, CollectedRecord]:
    """Read the claims tables of executed notebooks.

    Parameters
    ----------
    notebooks
        Paths of ``.ipynb`` files with outputs. A notebook without a claims table adds nothing.
    ledger
        The entries, by id; by default those of the package.

    Returns
    -------
    dict of str to CollectedRecord
        By claim id.

    Raises
    ------
    ClaimError
        If a record names an unknown claim, one that another notebook decides, a verdict that is not the ledger's,
        or a claim that was recorded twice; the message names the notebook and the cell.
    """
    entries = load_ledger() if ledger is None else ledger
    collected: dict[str, CollectedRecord] = {}
    for path in map(Path, notebooks):
        for cell, table in _tables(path):
            for row in table["records"]:
                place = f"{path.stem}, cell {cell!r}"
                made = _checked(row, entries, notebook=table["notebook"], cell=cell, place=place)
                if made.claim in collected:
                    raise ClaimError(f"{place}: {made.claim} is recorded twice")
                collected[made.claim] = made
    return collected


def _tables(path: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            if MIME_TYPE in output.get("data", {}):
                yield cell.get("id", ""), output["data"][MIME_TYPE]


def _checked(
    row: Mapping[str, Any], entries: Mapping[str, Claim], *, notebook: str, cell: str, place: str
) -> CollectedRecord:
    claim = entries.get(row["claim"])
    if claim is None:
        raise ClaimError(f"{place}: unknown claim {row['claim']!r}")
    if claim.decided_by != notebook:
        raise ClaimError(f"{place}: {claim.id} is decided by {claim.decided_by!r}, not {notebook!r}")
    if row["holds"] and row["verdict"] != claim.verdict:
        raise ClaimError(
            f"{place}: {claim.id} has the verdict {row['verdict']!r}, the ledger expects {claim.verdict!r}"
        )
    fields = {key: row[key] for key in ("claim", "ours", "holds", "depends", "remark")}
    return CollectedRecord(notebook=notebook, cell=cell, **fields)


@dataclass(frozen=True, kw_only=True)
class ScoreboardRow:
    """Join a claim or direction of the ledger with its record; `record` is None where there is none."""

    claim: Claim
    record: CollectedRecord | None = None

    @property
    def verdict(self) -> str:
        """Give the verdict; ``"not decided"`` where a notebook owes a record or its condition failed.

        A direction in that place is ``"not tested"``.
        """
        if self.claim.decided_by == QUOTED or (self.record is not None and self.record.holds):
            return self.claim.verdict
        return UNDECIDED[self.claim.kind]

    def to_dict(self) -> dict[str, str]:
        """Give the row as plain text fields, the same for each row."""
        claim, record = self.claim, self.record
        return {
            "id": claim.id,
            "kind": claim.kind,
            "note": claim.note,
            "section": claim.section,
            "level": claim.level,
            "statement": claim.statement,
            "printed": claim.printed,
            "ours": record.ours if record else "",
            "verdict": self.verdict,
            "correction": claim.correction,
            "remark": record.remark if record else "",
            "decided_by": claim.decided_by,
            "cell": record.cell if record else "",
            "anchor": claim.anchor,
        }


@dataclass(frozen=True)
class Scoreboard:
    """Hold every claim and every direction of the ledger with the record that decides it.

    Parameters
    ----------
    rows
        The claims, in the order of the ledger.
    directions
        The directions, in the order of the ledger. Nothing about them enters the counts of the claims.
    """

    rows: tuple[ScoreboardRow, ...]
    directions: tuple[ScoreboardRow, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Count the claims of each verdict; a count of ``"not decided"`` stands last if there is one."""
        return _counts(self.rows, VERDICTS, undecided=UNDECIDED[CLAIM])

    @property
    def direction_counts(self) -> dict[str, int]:
        """Count the directions of each verdict; a count of ``"not tested"`` stands last if there is one."""
        return _counts(self.directions, DIRECTION_VERDICTS, undecided=UNDECIDED[DIRECTION])

    @property
    def undecided(self) -> tuple[str, ...]:
        """List the ids of the claims whose notebook left no record, or one that does not hold."""
        return tuple(row.claim.id for row in self.rows if row.verdict == UNDECIDED[CLAIM])

    @property
    def untested(self) -> tuple[str, ...]:
        """List the ids of the directions whose notebook left no record, or one that does not hold."""
        return tuple(row.claim.id for row in self.directions if row.verdict == UNDECIDED[DIRECTION])

    @property
    def summary(self) -> str:
        """Give the claims in one line."""
        return ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())

    @property
    def direction_summary(self) -> str:
        """Give the directions in one line."""
        counts, fares = self.direction_counts, self.direction_fares
        tested = sum(counts[verdict] for verdict in DIRECTION_VERDICTS)
        rest = f"; {len(self.untested)} not tested" if self.untested else ""
        return (
            f"{tested} direction{'' if tested == 1 else 's'} tested in the miniature: {', '.join(fares.values())}{rest}"
        )

    @property
    def direction_fares(self) -> dict[str, str]:
        """Say of each verdict how many directions fare so, for instance ``"3 agree"``."""
        counts = self.direction_counts
        words = zip(DIRECTION_VERDICTS, _FARE, strict=True)
        return {verdict: f"{counts[verdict]} {one if counts[verdict] == 1 else more}" for verdict, (one, more) in words}

    def to_dicts(self) -> list[dict[str, str]]:
        """Give the rows as plain data, for JSON, CSV or a data frame: the claims, then the directions."""
        return [row.to_dict() for row in (*self.rows, *self.directions)]

    def to_html(self, *, page: str = "{notebook}.html", kind: str = CLAIM) -> str:
        """Render the entries of one kind as a table.

        Parameters
        ----------
        page
            Address of a chapter, with ``{notebook}`` for its stem.
        kind
            ``"claim"`` or ``"direction"``.

        Returns
        -------
        str
            A table with a caption and scoped headers, in a box with ``data-kind``; each row links to the row of the
            chapter that decided it, and carries ``data-verdict``, ``data-note``, ``data-level`` and ``data-chapter``
            for a filter.

        Raises
        ------
        ValueError
            If there is no such kind.
        """
        if kind not in _COLUMNS:
            raise ValueError(f"there is no kind {kind!r}; valid: {', '.join(_COLUMNS)}")
        if kind == CLAIM:
            rows, label, told = self.rows, "Scoreboard", f"The notes' claims: {self.summary}"
        else:
            rows, label, told = self.directions, "Directions", f"{self.direction_summary}. {MINIATURE}"
        head = "".join(f'<th scope="col">{escape(column)}</th>' for column in _COLUMNS[kind])
        body = "".join(_row_html(row, page) for row in rows)
        frame = f'class="claims scoreboard" data-kind="{kind}" role="region" tabindex="0" aria-label="{label}"'
        return (
            f'<div {frame} style="overflow-x: auto"><table class="toolrl-table"><caption>{escape(told)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _repr_html_(self) -> str:
        return self.to_html() + (self.to_html(kind=DIRECTION) if self.directions else "")


def _counts(rows: Iterable[ScoreboardRow], verdicts: Iterable[str], *, undecided: str) -> dict[str, int]:
    found = Counter(row.verdict for row in rows)
    rest = {undecided: found[undecided]} if found[undecided] else {}
    return {verdict: found[verdict] for verdict in verdicts} | rest


def scoreboard(records: Mapping[str, CollectedRecord], *, ledger: Mapping[str, Claim] | None = None) -> Scoreboard:
    """Join the ledger with the records of the executed notebooks.

    Parameters
    ----------
    records
        As :func:`collect` returns them.
    ledger
        The entries, by id; by default those of the package.

    Returns
    -------
    Scoreboard
        One row for each claim and each direction, decided or not.

    Examples
    --------
    Without any executed notebook only the claims that need no computation have a verdict:

    >>> board = scoreboard({})
    >>> board.counts["reproduced"], len(board.undecided) + board.counts["quoted only"] == len(board.rows)
    (0, True)
    """
    entries = load_ledger() if ledger is None else ledger
    rows = [ScoreboardRow(claim=claim, record=records.get(id_)) for id_, claim in entries.items()]
    return Scoreboard(
        rows=tuple(row for row in rows if row.claim.kind == CLAIM),
        directions=tuple(row for row in rows if row.claim.kind == DIRECTION),
    )


def _row_html(row: ScoreboardRow, page: str) -> str:
    text = {key: shown_text(value) for key, value in row.to_dict().items()}
    details = "".join(f"<br><small>{text[key]}</small>" for key in ("correction", "remark") if text[key])
    where = "quoted from the note" if row.claim.decided_by == QUOTED else text["decided_by"]
    if row.record is not None:
        address = escape(page.format(notebook=row.claim.decided_by))
        where = f'<a href="{address}#{text["anchor"]}">{where}</a>'
    data = {"verdict": row.verdict, "note": row.claim.note, "level": row.claim.level, "chapter": row.claim.decided_by}
    marks = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    return (
        f'<tr id="{text["anchor"]}"{marks} style="vertical-align: top">'
        f'<th scope="row" {ROW_HEADER}><code>{text["id"]}</code><br>{text["statement"]}</th>'
        f"<td>{text['note']} {text['section']}, {text['level']}</td><td>{text['printed']}</td><td>{text['ours']}</td>"
        f"<td>{text['verdict']}{details}</td><td>{where}</td></tr>"
    )
