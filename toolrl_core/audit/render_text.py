"""Write the short report for a terminal."""

from __future__ import annotations

import textwrap

from toolrl_core.audit.layout import number, percent
from toolrl_core.audit.sections import Report, headline_sentence

__all__ = ["printable", "to_text"]

_WIDTH = 100
_MARKS = {"serious": "!!", "warning": "! ", "note": "- "}


def to_text(report: Report) -> str:
    """Write headline, findings and the table of means.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    str
        Lines of about 100 characters; control characters from the file are shown as escapes.
    """
    data = report.data
    lines = [*textwrap.wrap(headline_sentence(data), _WIDTH), ""]
    for finding in report.warnings:
        text = f"{finding.text} {finding.advice}".strip()
        wrapped = textwrap.wrap(text, _WIDTH - 3)
        lines += [f"{_MARKS[finding.level]} {wrapped[0]}", *(f"   {row}" for row in wrapped[1:])]
    if not report.warnings:
        lines.append("Nothing unusual was found.")
    lines.append("")
    if data["scored_rows"]:
        zero = data["groups"]["zero_std"]
        lines.append(f"{'':<16}{'mean':>10}{'floor':>10}{'ceiling':>10}{'at floor':>11}{'zero-std groups':>18}")
        for name, reward in report.rewards.items():
            if reward["rows"]:
                share = zero[name]["share"] if zero.get(name, {}).get("groups") else None
                values = "".join(f"{number(reward[key]):>10}" for key in ("mean", "floor", "ceiling"))
                lines.append(f"{name:<16}{values}{percent(reward['share_at_floor']):>11}{percent(share):>18}")
            elif reward["errors"]:
                lines.append(f"{name:<16}{'no row scored':>20}")
        lines.append("")
        causes = [f"{i['cause'].replace('_', ' ')} {number(i['per_row'])}" for i in data["lost"]["by_cause"][:6]]
        if causes:
            lines += textwrap.wrap(f"Points lost a row under {data['explained']}: {', '.join(causes)}.", _WIDTH)
        reasons = [f"{name} {count:,}" for name, count in data["reasons"][:6]]
        lines += textwrap.wrap(f"Reading the texts met: {', '.join(reasons)} (rows).", _WIDTH)
    else:
        lines.append(f"{'':<16}{'floor':>10}{'ceiling':>10}")
        for name, bounds in data["bounds"].items():
            lines.append(f"{name:<16}{number(bounds['floor']):>10}{number(bounds['ceiling']):>10}")
    return printable("\n".join(lines))


def printable(text: str) -> str:
    r"""Show control characters as escapes, so that no row of a file can steer the terminal.

    Examples
    --------
    >>> printable("a\x1b[31mb\n")
    'a\\x1b[31mb\n'
    """
    return "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)
