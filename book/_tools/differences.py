"""Write the page of differences from the list of them: one table of all, then a section for each."""

from __future__ import annotations

from book._tools import difference_values as given
from book._tools.difference_list import DIFFERENCES, Difference
from toolrl_core.explain.ledger import load_claims


def page() -> str:
    """Write the points as Markdown: one table of all, then a section for each."""
    return "\n\n".join([overview(), *map(section, DIFFERENCES)])


def overview() -> str:
    """List all points in one table, each with its values."""
    head = "| point and smallest input | values |\n|---|---|"
    rows = (f"| [{made.topic}](#{made.id})<br>{made.example} | {_inline(made)} |" for made in DIFFERENCES)
    return "\n".join([head, *rows])


def _inline(made: Difference) -> str:
    return "<br>".join(f"{_side(name)} **{given.shown(value)}**" for name, value in made.values().items())


def _side(name: str) -> str:
    return f"`{name}`" if "_" in name and " " not in name else name


def section(made: Difference) -> str:
    """Write one point."""
    sources = (("Paper", made.paper), ("Note", made.note), ("Released code", _code(made)), ("Trainers", made.ports))
    told = "\n".join(f"{name}\n: {text}\n" for name, text in sources if text)
    values = made.values()
    head = "| " + " | ".join(_side(name) for name in values) + " |\n|" + "---|" * len(values)
    row = "| " + " | ".join(given.shown(value) for value in values.values()) + " |"
    title = f"({made.id})=\n## {made.topic}"
    example = f"{made.example} *Values: {made.unit}.*"
    parts = [title, told.rstrip(), example, f"{head}\n{row}", *_session(made), _decided(made)]
    return "\n\n".join(parts)


def _session(made: Difference) -> list[str]:
    if not isinstance(made.values, given.Correctness | given.Formats):
        return []
    return [f"````{{admonition}} Compute it\n:class: dropdown\n```python\n{made.values.code()}\n```\n````"]


def _code(made: Difference) -> str:
    links = ", ".join(f"[{label}]({address})" for label, address in made.links)
    return f"{made.code} {links}" if made.code else ""


def _decided(made: Difference) -> str:
    more = f"More in [](../notebooks/{made.chapter}.ipynb)."
    if not made.claim:
        return more
    claim = load_claims()[made.claim]
    return f"The note's figure: {claim.printed}; verdict: [{claim.verdict}](scoreboard.md). {more}"
