"""Small sums that can be filled row by row and merged chunk by chunk: the memory of an audit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Example", "LengthTally", "PairTally", "Scored", "Tally", "merge_counts", "smaller"]

TOLERANCE = 1e-9
BIN = 0.25
_OUTERMOST = 1000.0
_MESSAGES = 100
_LONGEST = 4000


class Scored(NamedTuple):
    """Hold what one reward gave to one row, with the lowest and highest value it can give there.

    Parameters
    ----------
    total : float
        The reward, in points.
    format, correctness : float or None
        Its parts; None where it has none.
    floor, ceiling : float or None
        Lowest and highest total of the row; None where they are not known.
    correctness_floor, correctness_ceiling : float or None
        The same of the correctness.
    """

    total: float
    format: float | None = None
    correctness: float | None = None
    floor: float | None = None
    ceiling: float | None = None
    correctness_floor: float | None = None
    correctness_ceiling: float | None = None


class Example(NamedTuple):
    """Show one row of the file.

    Parameters
    ----------
    size : int
        Length of completion and ground truth in characters; the smallest example is kept.
    line : int
        Its line.
    completion, ground_truth : str
        Both as text, shortened where they are very long.
    values : tuple of (str, float)
        What the rewards gave.
    note : str
        What it shows.
    """

    size: int
    line: int
    completion: str
    ground_truth: str
    values: tuple[tuple[str, float], ...] = ()
    note: str = ""


def example(line: int, completion: str, ground_truth: str, values: Mapping[str, float]) -> Example:
    """Make an example of a row.

    Examples
    --------
    >>> example(3, "hm", "[]", {"paper": -3.0}).size
    4
    """
    size = len(completion) + len(ground_truth)
    return Example(size, line, shorten(completion), shorten(ground_truth), tuple(values.items()))


def shorten(text: str) -> str:
    """Cut the middle out of a very long text."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]} … {len(text) - _LONGEST:,} characters … {text[-_LONGEST // 2 :]}"


def smaller(first: Example | None, second: Example | None) -> Example | None:
    """Return the smaller of two examples, the earlier row of equally small ones."""
    if first is None or second is None:
        return first or second
    return min(first, second, key=lambda item: (item.size, item.line))


def merge_counts(into: dict[str, Any], other: dict[str, Any]) -> None:
    """Add the numbers of one mapping to another."""
    for key, value in other.items():
        into[key] = into[key] + value if key in into else value


@dataclass
class Tally:
    """Sum up what one reward gave to many rows."""

    rows: int = 0
    unscored: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    total: float = 0.0
    lowest: float = math.inf
    highest: float = -math.inf
    floor: float = 0.0
    ceiling: float = 0.0
    bounded: int = 0
    at_floor: int = 0
    at_ceiling: int = 0
    format_rows: int = 0
    format: float = 0.0
    format_lowest: float = math.inf
    format_highest: float = -math.inf
    correctness_rows: int = 0
    correctness: float = 0.0
    correctness_floor: float = 0.0
    correctness_ceiling: float = 0.0
    correctness_at_floor: int = 0
    correctness_open: int = 0
    correctness_open_at_floor: int = 0
    totals: Counter[float] = field(default_factory=Counter)

    def add(self, scored: Scored) -> None:
        """Count one row."""
        total, form, correctness, floor, ceiling, low, high = scored
        self.rows += 1
        self.total += total
        self.lowest = min(self.lowest, total)
        self.highest = max(self.highest, total)
        self.totals[histogram_bin(total)] += 1
        if floor is not None and ceiling is not None:
            self.bounded += 1
            self.floor += floor
            self.ceiling += ceiling
            self.at_floor += total <= floor + TOLERANCE
            self.at_ceiling += total >= ceiling - TOLERANCE
        if form is not None:
            self.format_rows += 1
            self.format += form
            self.format_lowest = min(self.format_lowest, form)
            self.format_highest = max(self.format_highest, form)
        if correctness is not None:
            self.correctness_rows += 1
            self.correctness += correctness
            self.correctness_floor += low or 0.0
            self.correctness_ceiling += high or 0.0
            at_floor = correctness <= (low or 0.0) + TOLERANCE
            self.correctness_at_floor += at_floor
            if (high or 0.0) > (low or 0.0) + TOLERANCE:  # a row without a choice says nothing about the answer
                self.correctness_open += 1
                self.correctness_open_at_floor += at_floor

    def bound(self, scored: Scored) -> None:
        """Count the floor and the ceiling of a row alone."""
        self.bounded += 1
        self.floor += scored.floor or 0.0
        self.ceiling += scored.ceiling or 0.0

    def fail(self, error: str) -> None:
        """Count a row that a reward could not score; after 100 different messages the others are counted together."""
        self.errors[error if error in self.errors or len(self.errors) < _MESSAGES else "other errors"] += 1

    def merge(self, other: Tally) -> None:
        """Add the sums of another tally."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if name == "errors":
                for error, count in value.items():
                    known = error in mine or len(mine) < _MESSAGES
                    mine[error if known else "other errors"] += count
            elif name.endswith("lowest"):
                setattr(self, name, min(mine, value))
            elif name.endswith("highest"):
                setattr(self, name, max(mine, value))
            else:
                setattr(self, name, mine + value)

    def to_dict(self) -> dict[str, Any]:
        """Return means, bounds and shares as plain values."""
        return {
            "rows": self.rows,
            "unscored": self.unscored,
            "errors": dict(self.errors.most_common()),
            "mean": share(self.total, self.rows),
            "lowest": None if self.rows == 0 else self.lowest,
            "highest": None if self.rows == 0 else self.highest,
            "floor": share(self.floor, self.bounded),
            "ceiling": share(self.ceiling, self.bounded),
            "share_at_floor": share(self.at_floor, self.bounded),
            "share_at_ceiling": share(self.at_ceiling, self.bounded),
            "mean_format": share(self.format, self.format_rows),
            "format_constant": bool(self.format_rows > 1 and self.format_lowest == self.format_highest),
            "mean_correctness": share(self.correctness, self.correctness_rows),
            "correctness_floor": share(self.correctness_floor, self.correctness_rows),
            "correctness_ceiling": share(self.correctness_ceiling, self.correctness_rows),
            "share_correctness_at_floor": share(self.correctness_at_floor, self.correctness_rows),
            "correctness_open_rows": self.correctness_open,
            "share_correctness_open_at_floor": share(self.correctness_open_at_floor, self.correctness_open),
            "histogram": [[value, count] for value, count in sorted(self.totals.items())],
        }


def share(part: float, whole: float) -> float | None:
    """Divide, or return None where there is nothing to divide by.

    Examples
    --------
    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole and math.isfinite(part / whole) else None


def histogram_bin(value: float) -> float:
    """Return the lower end of the bin of a value; the bins are 0.25 wide, and the outermost are open.

    Examples
    --------
    >>> histogram_bin(-2.9), histogram_bin(1e300)
    (-3.0, 1000.0)
    """
    if value > _OUTERMOST or value < -_OUTERMOST:
        return _OUTERMOST if value > 0 else -_OUTERMOST
    return math.floor(value / BIN + TOLERANCE) * BIN


@dataclass
class PairTally:
    """Sum up how two rewards differ on the same rows."""

    rows: int = 0
    differ: int = 0
    difference: float = 0.0
    first_higher: int = 0
    largest: float = 0.0
    higher: Example | None = None
    lower: Example | None = None

    def add(self, difference: float) -> None:
        """Count one row; `difference` is the first reward minus the second, in points."""
        self.rows += 1
        if abs(difference) > TOLERANCE:
            self.differ_by(difference)

    def differ_by(self, difference: float) -> None:
        """Count the difference of a row that is counted already."""
        self.differ += 1
        self.difference += difference
        self.first_higher += difference > 0
        self.largest = max(self.largest, abs(difference))

    def merge(self, other: PairTally) -> None:
        """Add the sums of another tally."""
        self.rows += other.rows
        self.differ += other.differ
        self.difference += other.difference
        self.first_higher += other.first_higher
        self.largest = max(self.largest, other.largest)
        self.higher = smaller(self.higher, other.higher)
        self.lower = smaller(self.lower, other.lower)

    def to_dict(self) -> dict[str, Any]:
        """Return shares, means and examples as plain values."""
        return {
            "rows": self.rows,
            "share_different": share(self.differ, self.rows),
            "first_higher": self.first_higher,
            "second_higher": self.differ - self.first_higher,
            "mean_difference": share(self.difference, self.rows),
            "largest_difference": self.largest,
            "examples": [item._asdict() for item in (self.higher, self.lower) if item is not None],
        }


@dataclass
class LengthTally:
    """Sum up how a reward depends on the length of the completion in words."""

    rows: int = 0
    length: float = 0.0
    length_squared: float = 0.0
    total: float = 0.0
    total_squared: float = 0.0
    product: float = 0.0
    by_doubling: dict[int, tuple[int, float]] = field(default_factory=dict)

    def add(self, words: int, total: float) -> None:
        """Count one row."""
        x = math.log2(words + 1)
        self.rows += 1
        self.length += x
        self.length_squared += x * x
        self.total += total
        self.total_squared += total * total
        self.product += x * total
        count, points = self.by_doubling.get(int(x), (0, 0.0))
        self.by_doubling[int(x)] = (count + 1, points + total)

    def merge(self, other: LengthTally) -> None:
        """Add the sums of another tally."""
        for name in ("rows", "length", "length_squared", "total", "total_squared", "product"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for key, (count, points) in other.by_doubling.items():
            mine = self.by_doubling.get(key, (0, 0.0))
            self.by_doubling[key] = (mine[0] + count, mine[1] + points)

    @property
    def correlation(self) -> float | None:
        """Return Pearson's correlation of the reward with the logarithm of the number of words."""
        if self.rows < 2:
            return None
        n = self.rows
        spread_x = self.length_squared / n - (self.length / n) ** 2
        spread_y = self.total_squared / n - (self.total / n) ** 2
        if not (spread_x > 1e-12 and spread_y > 1e-12 and math.isfinite(spread_y)):
            return None
        covariance = self.product / n - self.length / n * (self.total / n)
        return max(-1.0, min(1.0, covariance / math.sqrt(spread_x * spread_y)))

    def to_dict(self) -> dict[str, Any]:
        """Return the correlation, and the mean reward by length, as plain values."""
        rows = [
            {"words_from": 2**key - 1, "words_to": 2 ** (key + 1) - 2, "rows": count, "mean": points / count}
            for key, (count, points) in sorted(self.by_doubling.items())
        ]
        return {"correlation": self.correlation, "by_words": rows}
