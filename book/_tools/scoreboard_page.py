"""Make the parts of the scoreboard page from the executed notebooks: tables, corrected figures, files to download."""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from functools import cache
from html import escape
from pathlib import Path

from book._tools import execute
from toolrl_core.explain.claims import shown_text
from toolrl_core.explain.ledger import CLAIM, DIRECTION, DIRECTION_VERDICTS, VERDICTS
from toolrl_core.explain.scoreboard import UNDECIDED, Scoreboard, ScoreboardRow, collect, scoreboard

FILES = ("scoreboard.csv", "scoreboard.json")
NOUNS = {CLAIM: "claims", DIRECTION: "directions"}


def copies() -> list[Path]:
    """List the executed notebooks that the scoreboard is read from."""
    return [execute.target_of(source) for source in execute.sources()]


def board() -> Scoreboard:
    """Read the scoreboard from the executed notebooks as they are now."""
    return _board(tuple((copy, copy.stat().st_mtime_ns) for copy in copies()))


@cache
def _board(read: tuple[tuple[Path, int], ...]) -> Scoreboard:
    return scoreboard(collect(copy for copy, _ in read))


def row_of(claim: str) -> ScoreboardRow:
    """Find the row of a claim or of a direction.

    Raises
    ------
    ValueError
        If the ledger has no such claim, or its chapter left no record of it.
    """
    rows = {row.claim.id: row for row in (*board().rows, *board().directions)}
    if claim not in rows:
        raise ValueError(f"the ledger has no claim {claim!r}")
    if rows[claim].record is None:
        raise ValueError(f"no executed notebook has a record of the claim {claim!r}")
    return rows[claim]


def count_of(verdict: str) -> int:
    """Count the claims or the directions with a verdict; ``"all"`` counts claims alone, ``"directions"`` those.

    ``"not decided"`` counts the claims without a verdict, ``"not tested"`` the directions without one.

    Raises
    ------
    ValueError
        If there is no such verdict.
    """
    known = (*VERDICTS, UNDECIDED[CLAIM], *DIRECTION_VERDICTS, UNDECIDED[DIRECTION])
    counts = dict.fromkeys(known, 0) | board().counts | board().direction_counts
    counts |= {"all": len(board().rows), NOUNS[DIRECTION]: len(board().directions)}
    if verdict not in counts:
        raise ValueError(f"there is no verdict {verdict!r}; valid: {', '.join(counts)}")
    return counts[verdict]


def controls_html(kind: str) -> str:
    """Write the form that filters a table; a script shows it, since without one it would do nothing."""
    rows = board().rows if kind == CLAIM else board().directions
    verdicts = (*VERDICTS, *DIRECTION_VERDICTS, *UNDECIDED.values())
    fields = {
        "verdict": [verdict for verdict in verdicts if any(row.verdict == verdict for row in rows)],
        "note": sorted({row.claim.note for row in rows}),
        "level": sorted({row.claim.level for row in rows}),
        "chapter": sorted({row.claim.decided_by for row in rows}),
    }
    choices = "".join(
        f'<label>{name.capitalize()} <select name="{name}"><option value="">all</option>'
        + "".join(f"<option>{escape(value)}</option>" for value in values)
        + "</select></label>"
        for name, values in fields.items()
    )
    return (
        f'<form class="scoreboard-controls" data-kind="{kind}" data-noun="{NOUNS[kind]}" '
        f'aria-label="Filter the {NOUNS[kind]}" hidden>'
        f'{choices}<label>Words <input type="search" name="words"></label>'
        '<button type="reset">Show all</button><output aria-live="polite"></output></form>'
    )


def table_html(kind: str = CLAIM) -> str:
    """Write the table of all claims, or of all directions; each row links to the row of the chapter that decides it."""
    if kind == DIRECTION and not board().directions:
        return "<p>No direction has been tested yet.</p>"
    table = board().to_html(page="../notebooks/{notebook}.html", kind=kind)
    return controls_html(kind) + re.sub(r">(\d\d)_\w+</a>", lambda found: f">chapter {int(found[1])}</a>", table)


def corrections() -> list[ScoreboardRow]:
    """List the claims whose printed figure is a number, and wrong."""
    return [row for row in board().rows if row.claim.right_numbers and row.claim.printed_numbers and row.record]


def corrections_html() -> str:
    """Write the table of wrong figures: the note's, ours, and why."""
    rows = "".join(_correction_row(row) for row in corrections())
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Claim", "The note has", "Computed", "Why"))
    return (
        '<div class="claims" role="region" tabindex="0" aria-label="Corrected figures" style="overflow-x: auto">'
        '<table class="toolrl-table"><caption>Figures of the notes that the chapters correct</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _correction_row(row: ScoreboardRow) -> str:
    claim = row.claim
    address = f"../notebooks/{claim.decided_by}.html#{claim.anchor}"
    note = "ToolRL" if claim.note == "toolrl" else "SimpleTIR"
    unit = f" {claim.unit}" if claim.unit else ""
    return (
        f'<tr style="vertical-align: top"><th scope="row" style="font-weight: normal; text-align: left">'
        f'<a href="{address}">{shown_text(claim.statement)}</a><br><small>{note} note, section {escape(claim.section)}'
        f"</small></th><td>{escape(_numbers(claim.printed_numbers) + unit)}</td>"
        f"<td>{shown_text(row.record.ours if row.record else '')}</td><td>{shown_text(claim.correction)}</td></tr>"
    )


def _numbers(values: tuple[Fraction, ...]) -> str:
    words = (str(value) if value.denominator in (1, 2, 3, 4, 6) else f"{float(value):g}" for value in values)
    return ", ".join(words).replace("-", "−")


def file_text(name: str) -> str:
    """Write one of the files to download; they hold the rows of both tables.

    Raises
    ------
    ValueError
        If the name is neither of the two.
    """
    rows = board().to_dicts()
    if name == "scoreboard.json":
        return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"
    if name != "scoreboard.csv":
        raise ValueError(f"there is no file {name!r}; valid: {', '.join(FILES)}")
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def in_one_line() -> str:
    """Say in HTML how the claims fared, each count linked to its rows."""
    *first, last = (
        f'<a href="scoreboard.html?verdict={verdict.replace(" ", "+")}"><strong>{count}</strong> {escape(verdict)}</a>'
        for verdict, count in board().counts.items()
    )
    told = f"{', '.join(first)}, and {last}"
    return f"<p>Of <strong>{count_of('all')}</strong> checkable statements of the two notes: {told}.</p>"


def directions_in_one_line() -> str:
    """Say in HTML how the directions fared, linked to their rows; nothing where there are none."""
    if not board().directions:
        return ""
    fares = board().direction_fares
    links = ", ".join(
        f'<a href="scoreboard.html?verdict={verdict.replace(" ", "+")}#directions">{escape(fare)}</a>'
        for verdict, fare in fares.items()
    )
    told = escape(board().direction_summary).replace(", ".join(fares.values()), links)
    told = re.sub(r"\b(\d+)(?= )", r"<strong>\1</strong>", told)
    return f'<p class="scoreboard-directions">Besides, {told}.</p>'


def bar_html() -> str:
    """Write the scoreboard as one bar whose parts are as wide as the verdicts are frequent."""
    total = count_of("all")
    parts = "".join(
        f'<i class="verdict-{verdict.replace(" ", "-")}" style="flex-grow: {count}"></i>'
        for verdict, count in board().counts.items()
        if count
    )
    words = ", ".join(f"{count} {verdict}" for verdict, count in board().counts.items())
    return f'<div class="scoreboard-bar" role="img" aria-label="Of {total} statements: {escape(words)}.">{parts}</div>'
