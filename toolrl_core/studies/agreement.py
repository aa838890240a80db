"""Judge the directions of a study by the rule that its definition states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from toolrl_core.simulate.answers import Floats
from toolrl_core.simulate.histories import Interval
from toolrl_core.studies.definitions import Cell, Comparison, Direction, Study, StudyError
from toolrl_core.studies.results import Results

__all__ = ["AGREES", "CONTRADICTS", "LEVEL", "VERDICTS", "Finding", "Judgement", "judge", "judge_all"]

AGREES, LEVEL, CONTRADICTS = "agrees", "level", "contradicts"
VERDICTS = ("direction agrees", "direction depends", "direction does not come out")
CLEAR = 0.9
"""Share of the settings that makes a verdict clear."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Tell what one setting says about a direction.

    Parameters
    ----------
    block, setting : str
        Where; for a comparison of two settings, what they have in common.
    values : mapping of str to str
        Label of each axis.
    interval : Interval
        The difference that decides; positive is the paper's side.
    result : {"agrees", "level", "contradicts"}
        Level: the 95 % interval holds 0, the difference is smaller than what counts, or a value is missing.
    """

    block: str
    setting: str
    values: Mapping[str, str]
    interval: Interval
    result: str


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Hold what a study says about a direction.

    Parameters
    ----------
    direction : Direction
        What was tested.
    findings : tuple of Finding
        One for each setting.
    grids : tuple of str
        Blocks that combine the values of their axes.
    """

    direction: Direction
    findings: tuple[Finding, ...]
    grids: tuple[str, ...]

    def count(self, result: str) -> int:
        """Count the settings with a result."""
        return sum(finding.result == result for finding in self.findings)

    @property
    def verdict(self) -> str:
        """Give the verdict.

        The direction agrees if at least nine settings in ten agree and none contradicts; it does not come out if at
        most one in ten agrees; else it depends on the setting.
        """
        share = self.count(AGREES) / len(self.findings)
        if share >= CLEAR and not self.count(CONTRADICTS):
            return VERDICTS[0]
        return VERDICTS[2] if share <= 1 - CLEAR + 1e-12 else VERDICTS[1]

    @property
    def main_axis(self) -> str:
        """Name the axis that tells most about which settings agree; empty without any.

        It is the axis with the largest sum of squares between its values. Blocks that vary one axis at a time do not
        count, for an axis with extreme values would win there.
        """
        axes = list(dict.fromkeys(axis for finding in self.findings for axis in finding.values))
        weights = {axis: self._between(axis) for axis in axes}
        return max(weights, key=lambda axis: weights[axis]) if weights and max(weights.values()) > 0 else ""

    def _between(self, axis: str) -> float:
        grid = [finding for finding in self.findings if finding.block in self.grids]
        parts = list(_results_by(axis, grid).values())
        everything = [found for part in parts for found in part]
        mean = sum(everything) / max(len(everything), 1)
        return sum(len(part) * (sum(part) / len(part) - mean) ** 2 for part in parts)

    def share_by(self, axis: str) -> dict[str, float]:
        """Give the share of settings that agree, for each value of an axis."""
        return {label: sum(found) / len(found) for label, found in _results_by(axis, self.findings).items()}

    def __str__(self) -> str:
        """Write the counts and the verdict."""
        counts = ", ".join(f"{self.count(result)} {result}" for result in (AGREES, LEVEL, CONTRADICTS))
        return f"{self.direction.id}: {counts} of {len(self.findings)} settings; {self.verdict}"


def _results_by(axis: str, findings: Sequence[Finding]) -> dict[str, list[bool]]:
    """Tell for each value of an axis which settings agree."""
    results: dict[str, list[bool]] = {}
    for finding in findings:
        if axis in finding.values:
            results.setdefault(finding.values[axis], []).append(finding.result == AGREES)
    return results


def judge_all(study: Study, results: Results) -> dict[str, Judgement]:
    """Judge all directions of a study.

    Parameters
    ----------
    study : Study
        The definition.
    results : Results
        What came out.

    Returns
    -------
    dict of str to Judgement
        By id of the direction.
    """
    return {direction.id: judge(study, results, direction) for direction in study.directions}


def judge(study: Study, results: Results, direction: Direction) -> Judgement:
    """Judge a direction in every setting of its blocks.

    Parameters
    ----------
    study : Study
        The definition.
    results : Results
        What came out.
    direction : Direction
        One of the study's directions.

    Returns
    -------
    Judgement

    Raises
    ------
    StudyError
        If the results lack a setting.

    Notes
    -----
    In a setting all comparisons of the direction have to hold. Each is a paired difference over seeds with Student's
    95 % interval: it agrees if the interval lies above 0 and the mean reaches the smallest difference that counts, and
    contradicts on the other side. "At least" agrees if the interval lies above minus that difference, and contradicts
    if it lies below. If the value of a seed is missing (NaN) there is no interval, and the setting is level.
    """
    cells = [cell for block in study.blocks if block.name in direction.blocks for cell in block.cells()]
    places: list[tuple[tuple[Cell, ...], Mapping[str, str]]]
    if direction.across is None:
        places = [((cell,), cell.values) for cell in cells]
    else:
        axis, *labels = direction.across
        places = [
            ((cell, _partner(cells, cell, axis, labels[1])), {k: v for k, v in cell.values.items() if k != axis})
            for cell in cells
            if cell.values.get(axis) == labels[0]
        ]
    if not places:
        raise StudyError(f"{direction.id} is judged nowhere")
    findings = [_finding(results, direction, chosen, values) for chosen, values in places]
    grids = tuple(block.name for block in study.blocks if not block.one_at_a_time)
    return Judgement(direction=direction, findings=tuple(findings), grids=grids)


def _partner(cells: Sequence[Cell], cell: Cell, axis: str, label: str) -> Cell:
    wanted = {**cell.values, axis: label}
    return next(other for other in cells if (other.block, dict(other.values)) == (cell.block, wanted))


def _finding(results: Results, direction: Direction, cells: Sequence[Cell], values: Mapping[str, str]) -> Finding:
    judged = []
    for comparison in direction.comparisons:
        differences = [_difference(results, cell, comparison) for cell in cells]
        interval = Interval.of(differences[0] - differences[1] if len(cells) > 1 else differences[0])
        judged.append((_result(interval, direction.smallest, at_least=comparison.at_least), interval))
    order = (CONTRADICTS, LEVEL, AGREES)
    result, interval = min(judged, key=lambda pair: (order.index(pair[0]), pair[1].mean))
    setting = "; ".join(f"{axis}={label}" for axis, label in values.items())
    return Finding(block=cells[0].block, setting=setting, values=dict(values), interval=interval, result=result)


def _difference(results: Results, cell: Cell, comparison: Comparison) -> Floats:
    higher, lower = (
        results.seed_values(cell.block, cell.setting, arm, comparison.metric, comparison.moment)
        for arm in (comparison.higher, comparison.lower)
    )
    return np.asarray(higher - lower)


def _result(interval: Interval, smallest: float, *, at_least: bool) -> str:
    if at_least:
        if interval.low > -smallest:
            return AGREES
        return CONTRADICTS if interval.high < -smallest else LEVEL
    if interval.low > 0 and interval.mean >= smallest:
        return AGREES
    return CONTRADICTS if interval.high < 0 and interval.mean <= -smallest else LEVEL
