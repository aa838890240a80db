"""What pages of prose take from the package and from the executed notebooks when the book is built.

A page holds a line ``% generated: name`` for each part, and the line is replaced by Markdown. An unknown name stops the
build.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from book._tools import chapters, differences, execute, front, reference, scoreboard_page
from toolrl_core.explain.ledger import DIRECTION

MARK = re.compile(r"^% generated: (.+)$", re.MULTILINE)


def raw(html: str) -> str:
    """Wrap HTML for a page of Markdown."""
    return f"```{{raw}} html\n{html}\n```"


PARTS: dict[str, Callable[[], str]] = {
    "five answers": lambda: raw(front.five_answers_html()),
    "doors": front.doors,
    "scoreboard in one line": lambda: raw(scoreboard_page.in_one_line() + scoreboard_page.bar_html()),
    "directions in one line": lambda: raw(scoreboard_page.directions_in_one_line()),
    "scoreboard": lambda: raw(scoreboard_page.table_html()),
    "directions": lambda: raw(scoreboard_page.table_html(DIRECTION)),
    "differences": differences.page,
    "online": chapters.online,
    "parameters of the chapters": chapters.parameters_table,
    "corrected figures": lambda: raw(scoreboard_page.corrections_html()),
    **{f"names of {page}": partial(reference.overview, page) for page in reference.PAGES},
    **{f"entries of {page}": partial(reference.entries, page) for page in reference.PAGES},
}
"""The parts by name; each function gives Markdown."""


def fill_in(text: str) -> str:
    """Replace each marked line of a page.

    Raises
    ------
    ValueError
        If a name is unknown, or a value that the part needs does not exist.
    """
    return MARK.sub(lambda found: part(found[1]), text)


def part(name: str) -> str:
    """Make one part.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    if name not in PARTS:
        raise ValueError(f"nothing is generated under the name {name!r}; valid: {', '.join(PARTS)}")
    return PARTS[name]()


def inputs() -> list[Path]:
    """List the files that generated parts depend on."""
    package = [path for path in (execute.ROOT / "toolrl_core").rglob("*") if path.suffix in {".py", ".json", ".csv"}]
    return [*sorted(package), *sorted((execute.ROOT / "book" / "_tools").glob("*.py")), *scoreboard_page.copies()]
