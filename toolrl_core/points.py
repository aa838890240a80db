"""The pieces that a score is made of: what was compared, and the points of each pair, key and part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from toolrl_core.matching import Assignment
from toolrl_core.reasons import Finding

NO_PAIRS = Assignment(0.0, ())


class Comparison(NamedTuple):
    """Hold what the comparison of predicted and expected calls gave, in raw points.

    Parameters
    ----------
    name_score : float
        Points for the names.
    matched, maximum : float
        Points reached and reachable.
    assignment : Assignment
        The pairs.
    shortcut : float
        Points that an exact copy was given beyond its pairs (released rules).
    failed : bool
        Whether the released code would have failed, which it scores as the minimum.
    """

    name_score: float
    matched: float
    maximum: float
    assignment: Assignment
    shortcut: float = 0.0
    failed: bool = False


class Outcome(NamedTuple):
    """Hold the numbers of one score, before they are explained.

    Parameters
    ----------
    format : float or None
        Format reward, None where there is none.
    correctness, length : float
        The other parts, in points.
    comparison : Comparison
        What the correctness came from.
    format_findings : list of Finding
        Why the format rule does not hold.
    """

    format: float | None
    correctness: float
    length: float
    comparison: Comparison
    format_findings: list[Finding]

    @property
    def total(self) -> float:
        """Return the sum of the parts, in points."""
        return self.correctness + self.length + (self.format or 0.0)


@dataclass(frozen=True, slots=True)
class KeyScore:
    """State what became of one parameter of a pair.

    Parameters
    ----------
    key : str
        The parameter.
    state : {"right", "wrong_value", "missing", "extra", "free", "wrong_optional_value"}
        What became of it.
    expected, found : JSON value
        The ground truth's value (or accepted values) and the predicted one; None where there is none.
    value_score : float
        Raw points for the value (parameter granularity).
    """

    key: str
    state: str
    expected: Any
    found: Any
    value_score: float


@dataclass(frozen=True, slots=True)
class PairScore:
    """State how one ground-truth call fared.

    Parameters
    ----------
    ground_truth_index : int
        Its position in the ground truth.
    predicted_index : int or None
        Position of the predicted call that it was paired with.
    name : str
        Its name.
    predicted_name : str or None
        The partner's name.
    score : float
        Raw points of the pair.
    available : float
        Raw points of a perfect partner.
    key_score : float
        Raw points for the keys (parameter granularity), else 0.
    keys : tuple of KeyScore
        Every parameter of either side.
    """

    ground_truth_index: int
    predicted_index: int | None
    name: str
    predicted_name: str | None
    score: float
    available: float
    key_score: float
    keys: tuple[KeyScore, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Hold one addend of a total.

    Parameters
    ----------
    label : str
        What it is for.
    points : float
        What it adds, in points.
    available : float
        What it could add at most, in points.
    """

    label: str
    points: float
    available: float
