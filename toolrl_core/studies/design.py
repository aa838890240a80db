"""Hold the definition of a study: settings, comparisons, directions, and all that its runs share."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ENGINES", "MOMENTS", "Block", "Cell", "Comparison", "Direction", "Study", "StudyError"]

ENGINES = ("answers", "turns")
"""Which miniature: `toolrl_core.simulate.training` or `toolrl_core.simulate.multiturn`."""
MOMENTS = ("final", "late", "mean", "peak", "burst")
"""What a curve is reduced to, beside the value at a step: its last value, the mean of its last quarter, the mean of all
of it, its largest value over its median, and the same in its last three quarters."""


class StudyError(ValueError):
    """Say what is wrong with a definition or with stored results."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Name one setting of a study: all arms are trained side by side in it.

    Parameters
    ----------
    block : str
        Block of the study.
    values : mapping of str to str
        Label of each axis that is varied.
    changes : mapping of str to value
        What the setting changes, by path, for instance ``"settings.learning_rate"``.
    """

    block: str
    values: Mapping[str, str]
    changes: Mapping[str, Any]

    @property
    def setting(self) -> str:
        """Write the labels as one text: ``"strength=0; learning_rate=0.02"``."""
        return "; ".join(f"{axis}={label}" for axis, label in self.values.items())


@dataclass(frozen=True, kw_only=True)
class Block:
    """Describe settings that belong together.

    Parameters
    ----------
    name : str
        Name within the study.
    about : str
        What it is for, in a sentence.
    changes : mapping of str to value
        What all its settings change.
    axes : mapping of str to mapping
        Axes with their values: from a label to what is changed, over what the block changes.
    one_at_a_time : bool
        Vary one axis at a time from the study's own setting, which comes first, instead of all combinations.
    arms : tuple of str
        Arms that are trained; empty for all.
    """

    name: str
    about: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    axes: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    one_at_a_time: bool = False
    arms: tuple[str, ...] = ()

    def cells(self) -> list[Cell]:
        """List the settings in order."""
        if self.one_at_a_time:
            return [
                Cell(block=self.name, values={}, changes=self.changes),
                *(
                    Cell(block=self.name, values={axis: label}, changes={**self.changes, **change})
                    for axis, values in self.axes.items()
                    for label, change in values.items()
                ),
            ]
        cells = []
        for labels in itertools.product(*(values for values in self.axes.values())):
            values = dict(zip(self.axes, labels, strict=True))
            changes = dict(self.changes)
            for axis, label in values.items():
                changes.update(self.axes[axis][label])
            cells.append(Cell(block=self.name, values=values, changes=changes))
        return cells


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """State which arm should stand higher.

    Parameters
    ----------
    higher, lower : str
        Names of arms.
    metric : str
        What is compared.
    moment : str
        One of `MOMENTS`, or a step.
    at_least : bool
        Whether it is enough that the first is not lower.
    """

    higher: str
    lower: str
    metric: str
    moment: str = "final"
    at_least: bool = False


@dataclass(frozen=True, kw_only=True)
class Direction:
    """State a direction that is tested.

    Parameters
    ----------
    id : str
        Id of the ledger's entry, or a name of our own.
    paper : str
        What the paper's table says, in a sentence; for a question of our own, what is expected.
    comparisons : tuple of Comparison
        All of them have to hold.
    blocks : tuple of str
        Blocks in which it is judged.
    smallest : float
        Smallest difference that counts, in the unit of the metric.
    across : tuple of (axis, first label, second label), optional
        Compare two settings: the difference has to be larger at the first label than at the second.
    """

    id: str
    paper: str
    comparisons: tuple[Comparison, ...]
    blocks: tuple[str, ...]
    smallest: float
    across: tuple[str, str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Study:
    """Hold the definition of a study.

    Parameters
    ----------
    name, title, source : str
        Name of the file, what is studied, and the table of the paper.
    engine : {"answers", "turns"}
        Which miniature: `toolrl_core.simulate.training` or `toolrl_core.simulate.multiturn`.
    seed, seeds : int
        Which repetitions, and how many.
    metrics : tuple of str
        What is kept.
    moments : tuple of str
        What is kept of each seed.
    curve_every : int
        Evaluations between two stored points of the learning curves.
    defaults : mapping of str to mapping
        The study's own assumptions: "world", "base", "settings", "filters", "spec".
    arms : mapping of str to mapping
        Options of each arm.
    blocks : tuple of Block
        What is varied.
    directions : tuple of Direction
        What is tested.
    digest : str
        Digest of the file.
    """

    name: str
    title: str
    source: str
    engine: str
    seed: int
    seeds: int
    metrics: tuple[str, ...]
    moments: tuple[str, ...]
    curve_every: int
    defaults: Mapping[str, Mapping[str, Any]]
    arms: Mapping[str, Mapping[str, Any]]
    blocks: tuple[Block, ...]
    directions: tuple[Direction, ...]
    digest: str

    def cells(self) -> list[Cell]:
        """List all settings of all blocks."""
        return [cell for block in self.blocks for cell in block.cells()]

    @property
    def plan(self) -> str:
        """Digest what is run: every setting with its arms, and all that they share."""
        shared = [self.engine, self.seed, self.seeds, self.metrics, self.moments, self.curve_every, self.defaults]
        runs = [[cell.block, cell.setting, cell.changes, self.arms_of(cell.block)] for cell in self.cells()]
        text = json.dumps([shared, self.arms, runs], sort_keys=True, default=dict)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def arms_of(self, block: str) -> tuple[str, ...]:
        """Give the arms that are trained in a block."""
        found = next(item for item in self.blocks if item.name == block)
        return found.arms or tuple(self.arms)
