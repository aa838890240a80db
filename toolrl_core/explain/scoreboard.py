"""Make the scoreboard of claims from the executed notebooks.

A chapter's claims table leaves its records in the notebook as an output of a media type of its own. They are
read back here, held against the ledger once more, and counted. Only the standard library is used.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

from toolrl_core.explain.claims import MIME_TYPE, ROW_HEADER, shown_text
from toolrl_core.explain.ledger import QUOTED, VERDICTS, Claim, ClaimError, load_claims

__all__ = ["CollectedRecord", "Scoreboard", "ScoreboardRow", "collect", "scoreboard"]

_COLUMNS: Final = ("Claim", "Note, section, level", "The note's figure", "Ours", "Verdict", "Decided in")


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


def collect(notebooks: Iterable[str | Path]) -> dict[str, CollectedRecord]:
    """Read the claims tables of executed notebooks.

    Parameters
    ----------
    notebooks
        Paths of ``.ipynb`` files with outputs. A notebook without a claims table adds nothing.

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
    collected: dict[str, CollectedRecord] = {}
    for path in map(Path, notebooks):
        for cell, table in _tables(path):
            for row in table["records"]:
                place = f"{path.stem}, cell {cell!r}"
                made = _checked(row, notebook=table["notebook"], cell=cell, place=place)
                if made.claim in collected:
                    raise ClaimError(f"{place}: {made.claim} is recorded twice")
                collected[made.claim] = made
    return collected


def _tables(path: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            if MIME_TYPE in output.get("data", {}):
                yield cell.get("id", ""), output["data"][MIME_TYPE]


def _checked(row: Mapping[str, Any], *, notebook: str, cell: str, place: str) -> CollectedRecord:
    claim = load_claims().get(row["claim"])
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
    """Join a claim of the ledger with its record; `record` is None where there is none."""

    claim: Claim
    record: CollectedRecord | None = None

    @property
    def verdict(self) -> str:
        """Give the verdict; ``"not decided"`` where a notebook owes a record or its condition failed."""
        if self.claim.decided_by == QUOTED or (self.record is not None and self.record.holds):
            return self.claim.verdict
        return "not decided"

    def to_dict(self) -> dict[str, str]:
        """Give the row as plain text fields, the same for each row."""
        claim, record = self.claim, self.record
        return {
            "id": claim.id,
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
    """Hold every claim of the ledger with the record that decides it.

    Parameters
    ----------
    rows
        In the order of the ledger.
    """

    rows: tuple[ScoreboardRow, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Count the rows of each verdict; a count of ``"not decided"`` stands last if there is one."""
        found = Counter(row.verdict for row in self.rows)
        undecided = {"not decided": found["not decided"]} if found["not decided"] else {}
        return {verdict: found[verdict] for verdict in VERDICTS} | undecided

    @property
    def undecided(self) -> tuple[str, ...]:
        """List the ids of the claims whose notebook left no record, or one that does not hold."""
        return tuple(row.claim.id for row in self.rows if row.verdict == "not decided")

    @property
    def summary(self) -> str:
        """Give the scoreboard in one line."""
        return ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())

    def to_dicts(self) -> list[dict[str, str]]:
        """Give the rows as plain data, for JSON, CSV or a data frame."""
        return [row.to_dict() for row in self.rows]

    def to_html(self, *, page: str = "{notebook}.html") -> str:
        """Render the scoreboard as one table.

        Parameters
        ----------
        page
            Address of a chapter, with ``{notebook}`` for its stem.

        Returns
        -------
        str
            A table with a caption and scoped headers; each row links to the row of the chapter that decided it,
            and carries ``data-verdict``, ``data-note``, ``data-level`` and ``data-chapter`` for a filter.
        """
        head = "".join(f'<th scope="col">{escape(column)}</th>' for column in _COLUMNS)
        body = "".join(_row_html(row, page) for row in self.rows)
        caption = escape(f"The notes' claims: {self.summary}")
        frame = 'class="claims scoreboard" role="region" tabindex="0" aria-label="Scoreboard" style="overflow-x: auto"'
        return (
            f'<div {frame}><table class="toolrl-table"><caption>{caption}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _repr_html_(self) -> str:
        return self.to_html()


def scoreboard(records: Mapping[str, CollectedRecord], *, claims: Mapping[str, Claim] | None = None) -> Scoreboard:
    """Join the ledger with the records of the executed notebooks.

    Parameters
    ----------
    records
        As :func:`collect` returns them.
    claims
        The ledger; by default that of the package.

    Returns
    -------
    Scoreboard
        One row for each claim, decided or not.

    Examples
    --------
    Without any executed notebook only the claims that need no computation have a verdict:

    >>> board = scoreboard({})
    >>> board.counts["reproduced"], len(board.undecided) + board.counts["quoted only"] == len(board.rows)
    (0, True)
    """
    ledger = load_claims() if claims is None else claims
    return Scoreboard(tuple(ScoreboardRow(claim=claim, record=records.get(id_)) for id_, claim in ledger.items()))


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
