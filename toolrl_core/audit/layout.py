"""The pieces that a report is laid out from, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Bars", "Section", "Table", "number", "percent"]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Hold a table whose cells are ready text.

    Parameters
    ----------
    header : tuple of str
        Names of the columns; those after the first hold numbers unless they say otherwise.
    rows : tuple of tuple of str
        The cells.
    caption : str
        What the table shows.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Hold a bar chart.

    Parameters
    ----------
    title : str
        What it shows.
    unit : str
        What the lengths mean.
    bars : tuple of (str, float)
        Label and length of each.
    """

    title: str
    unit: str
    bars: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """Hold one section of a report.

    Parameters
    ----------
    title : str
        Its title.
    text : str
        An introduction for a newcomer.
    parts : tuple
        Tables, bars and examples (mappings) in order.
    """

    title: str
    text: str
    parts: tuple[Table | Bars | Mapping[str, Any], ...] = ()


def number(value: float | None) -> str:
    """Write a number with up to four digits after the point; a dash for a missing one.

    Examples
    --------
    >>> number(-2.6625), number(3.0), number(None)
    ('-2.6625', '3', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def percent(value: float | None) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent(0.276), percent(None)
    ('27.6 %', '–')
    """
    return "–" if value is None else f"{100 * value:.1f} %"


def counted(count: int, one: str, many: str) -> str:
    """Write a count with what is counted, in the singular or the plural.

    Examples
    --------
    >>> counted(1, "row has", "rows have"), counted(1200, "row has", "rows have")
    ('1 row has', '1200 rows have')
    """
    return f"{count} {one if count == 1 else many}"
