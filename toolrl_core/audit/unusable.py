"""Say why rows, or all rows of a file, cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["literal_hint", "nothing_usable"]


def nothing_usable(report: Mapping[str, Any]) -> str:
    """Say why not one row can be used; an empty text where some can.

    Parameters
    ----------
    report : mapping
        A report's plain data.

    Returns
    -------
    str
        The reason, with the first row that shows it.

    Examples
    --------
    >>> from toolrl_core.audit.run import audit
    >>> nothing_usable(audit([{"completion": "hm", "ground_truth": None}]).data)
    'none of 1 rows can be used; the first, line 1: no ground truth: no such column.'
    """
    if sum(report["bad_rows"]["by_reason"].values()) < report["rows"]:
        return ""
    if not report["rows"]:
        return "there are no rows"
    first = report["bad_rows"]["first"][0]
    said = f"none of {report['rows']} rows can be used; the first, line {first['line']}: {first['reason']}."
    return f"{said} {literal_hint(report)}".rstrip()


def literal_hint(report: Mapping[str, Any]) -> str:
    """Recognise ground truths that were written with Python's str, and say how to write them.

    Parameters
    ----------
    report : mapping
        A report's plain data.

    Returns
    -------
    str
        A sentence; empty where nothing looks like that.

    Examples
    --------
    >>> row = {"reason": "ground truth cannot be used: …", "preview": "[{'name': 'f'}]"}
    >>> literal_hint({"bad_rows": {"first": [row]}})
    'It looks like a Python literal: write ground truths with json.dumps, not with str.'
    """
    begins = ("{'", "[{'", '["{', "['{")
    if any(
        row["reason"].startswith("ground truth") and row["preview"].startswith(begins)
        for row in report["bad_rows"]["first"]
    ):
        return "It looks like a Python literal: write ground truths with json.dumps, not with str."
    return ""
