"""Write a report as Markdown; whatever comes from the file is escaped or stands in a code block."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolrl_core.audit.layout import Bars, Section, Table, number
from toolrl_core.audit.render_text import printable
from toolrl_core.audit.sections import Report, headline_sentence, sections

__all__ = ["to_markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")
_LEVELS = {"serious": "**Serious.**", "warning": "**Warning.**", "note": "Note."}


def to_markdown(report: Report) -> str:
    """Write the whole report as Markdown.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    str
        Markdown; bars become tables.
    """
    data = report.data
    lines = ["# Audit of rollouts", "", escape(headline_sentence(data)), ""]
    if data["source"]:
        lines += [f"File: {escape(str(data['source']['file']))}. toolrl-core {data['version']}.", ""]
    lines += ["## Findings", ""]
    for finding in report.warnings:
        lines.append(f"- {_LEVELS[finding.level]} {escape(finding.text)} {escape(finding.advice)}".rstrip())
    if not report.warnings:
        lines.append("Nothing unusual was found.")
    for section in sections(data):
        lines += ["", *_section(section)]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    r"""Escape what Markdown or HTML could read as markup, and put the text on one line.

    Examples
    --------
    >>> print(escape("<b>|x"))
    \<b\>\|x
    """
    return _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.title}"
    yield ""
    yield escape(section.text)
    for part in section.parts:
        yield ""
        if isinstance(part, Table):
            yield from _table(part)
        elif isinstance(part, Bars):
            rows = tuple((label, number(value)) for label, value in part.bars)
            yield from _table(Table(header=(part.title, part.unit), rows=rows))
        else:
            yield f"**{escape(part['title'])}**"
            yield ""
            yield from _code(part["completion"])
            yield ""
            yield "with the ground truth"
            yield ""
            yield from _code(part["ground_truth"])


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield escape(table.caption)
        yield ""
    yield "| " + " | ".join(escape(name.removesuffix(" (text)")) for name in table.header) + " |"
    texts = [i == 0 or name.endswith("(text)") for i, name in enumerate(table.header)]
    yield "| " + " | ".join(":--" if text else "--:" for text in texts) + " |"
    for row in table.rows:
        yield "| " + " | ".join(escape(cell) for cell in row) + " |"


def _code(text: str) -> Iterator[str]:
    """Indent every line: no fence can be closed from inside."""
    yield from (f"    {line}" for line in printable(text).split("\n"))
