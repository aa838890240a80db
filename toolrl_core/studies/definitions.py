"""Read the definition of a study: what is varied, what is measured, and what would count as agreement.

A definition is a small TOML file that is written before the study runs. It names the arms, the blocks of settings,
the metrics and the directions that are tested; `toolrl_core.studies.cells` turns it into runs.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = [
    "MOMENTS",
    "Block",
    "Cell",
    "Comparison",
    "Direction",
    "Study",
    "StudyError",
    "load_studies",
    "load_study",
    "parse_study",
]

ENGINES = ("answers", "turns")
MOMENTS = ("final", "late", "mean", "peak", "burst")
"""What a curve is reduced to, beside the value at a step: its last value, the mean of its last quarter, the mean of all
of it, and its largest value over its median, in the whole run and after its first quarter."""


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
        Axes with their values: from a label to what is changed.
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


def load_study(path: str | Path) -> Study:
    """Read the definition of a study.

    Parameters
    ----------
    path : str or Path
        A TOML file.

    Returns
    -------
    Study

    Raises
    ------
    StudyError
        If the file is no TOML or states something that cannot be; the message names the file and the field.
    """
    path = Path(path)
    try:
        return parse_study(path.read_text(encoding="utf8"), name=path.stem)
    except (tomllib.TOMLDecodeError, StudyError) as error:
        raise StudyError(f"{path.name}: {error}") from None


def load_studies(folder: str | Path) -> dict[str, Study]:
    """Read all definitions of a folder, by name.

    Raises
    ------
    StudyError
        As `load_study`, and if there is none.
    """
    studies = {path.stem: load_study(path) for path in sorted(Path(folder).glob("*.toml"))}
    if not studies:
        raise StudyError(f"no definition of a study in {folder}")
    return studies


def parse_study(text: str, *, name: str) -> Study:
    """Read a definition from its text.

    Parameters
    ----------
    text : str
        TOML.
    name : str
        Name of the study.

    Returns
    -------
    Study

    Raises
    ------
    StudyError
        If a field is missing, unknown or contradicts another.

    Examples
    --------
    A block has a setting for every combination of its axes, and a value may change several things at once:

    >>> study = parse_study('''
    ... title = "Scale"
    ... source = "Table 6"
    ... engine = "answers"
    ... seed = 1
    ... seeds = 2
    ... metrics = ["usable"]
    ... [arms]
    ... original = {}
    ... equal_max = { schedule = { kind = "equal_max" } }
    ... [[blocks]]
    ... name = "grid"
    ... about = "How good the base is, and how it is trained."
    ... [blocks.axes]
    ... strength = { path = "base.strength", values = [0, 1] }
    ... memory.short = { "settings.beta2" = 0.9 }
    ... memory.long = { "settings.beta2" = 0.999 }
    ... ''', name="example")
    >>> [cell.setting for cell in study.cells()][:2]
    ['strength=0; memory=short', 'strength=0; memory=long']
    >>> dict(study.cells()[1].changes)
    {'base.strength': 0, 'settings.beta2': 0.999}
    """
    given = dict(tomllib.loads(text))
    arms = _take(given, "arms", dict)
    blocks = tuple(_block(item, arms) for item in _take(given, "blocks", list))
    if len({block.name for block in blocks}) < len(blocks):
        raise StudyError("two blocks have the same name")
    metrics = tuple(_take(given, "metrics", list))
    moments = tuple(map(str, given.pop("moments", ["final"])))
    smallest = float(given.pop("smallest", 0.0))
    directions = tuple(
        _direction(item, arms, blocks, metrics, moments, smallest) for item in given.pop("directions", [])
    )
    study = Study(
        name=name,
        title=_take(given, "title", str),
        source=_take(given, "source", str),
        engine=_take(given, "engine", str),
        seed=_take(given, "seed", int),
        seeds=_take(given, "seeds", int),
        metrics=metrics,
        moments=moments,
        curve_every=int(given.pop("curve_every", 1)),
        defaults={key: given.pop(key, {}) for key in ("world", "base", "settings", "filters", "spec")},
        arms=arms,
        blocks=blocks,
        directions=directions,
        digest=hashlib.sha256(text.encode()).hexdigest()[:16],
    )
    if given:
        raise StudyError(f"unknown field {', '.join(sorted(given))}")
    _one_of("engine", study.engine, ENGINES)
    for moment in moments:
        if not moment.isdigit():
            _one_of("moments", moment, MOMENTS)
    return study


def _take(given: dict[str, Any], key: str, kind: type) -> Any:
    if key not in given:
        raise StudyError(f"the field {key} is missing")
    value = given.pop(key)
    if not isinstance(value, kind) or value in ({}, [], ""):
        raise StudyError(f"{key} must be a {kind.__name__} that is not empty, found {value!r}")
    return value


def _one_of(field_name: str, value: str, known: Iterable[str]) -> None:
    if value not in (known := list(known)):
        raise StudyError(f"{field_name} names {value!r}: choose from {', '.join(known)}")


def _block(given: dict[str, Any], arms: Mapping[str, Any]) -> Block:
    name = _take(given, "name", str)
    axes = {axis: _axis(axis, values) for axis, values in given.pop("axes", {}).items()}
    block = Block(
        name=name,
        about=_take(given, "about", str),
        changes=given.pop("changes", {}),
        axes=axes,
        one_at_a_time=bool(given.pop("one_at_a_time", False)),
        arms=tuple(given.pop("arms", ())),
    )
    for arm in block.arms:
        _one_of(f"block {name}, arms", arm, arms)
    if given:
        raise StudyError(f"block {name}: unknown field {', '.join(sorted(given))}")
    return block


def _axis(axis: str, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Read an axis: a path with values, or a mapping from labels to what they change."""
    if set(values) == {"path", "values"}:
        return {_label(value): {values["path"]: value} for value in values["values"]}
    if not all(isinstance(change, Mapping) for change in values.values()):
        raise StudyError(f"axis {axis}: give path and values, or a table of changes for each label")
    return {label: dict(change) for label, change in values.items()}


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _direction(
    given: dict[str, Any],
    arms: Mapping[str, Any],
    blocks: tuple[Block, ...],
    metrics: tuple[str, ...],
    moments: tuple[str, ...],
    smallest: float,
) -> Direction:
    id_ = _take(given, "id", str)
    chosen = tuple(_take(given, "blocks", list))
    comparisons = []
    for item in _take(given, "comparisons", list):
        comparison = Comparison(**{**item, "moment": str(item.get("moment", "final"))})
        for arm in (comparison.higher, comparison.lower):
            _one_of(f"direction {id_}", arm, arms)
        _one_of(f"direction {id_}", comparison.metric, metrics)
        _one_of(f"direction {id_}", comparison.moment, moments)
        comparisons.append(comparison)
    across = given.pop("across", None)
    for name in chosen:
        _one_of(f"direction {id_}", name, [block.name for block in blocks])
        axes = next(block.axes for block in blocks if block.name == name)
        if across is not None:
            _one_of(f"direction {id_}", across[0], axes)
            for label in across[1:]:
                _one_of(f"direction {id_}", label, axes[across[0]])
    direction = Direction(
        id=id_,
        paper=_take(given, "paper", str),
        comparisons=tuple(comparisons),
        blocks=chosen,
        smallest=float(given.pop("smallest", smallest)),
        across=tuple(across) if across is not None else None,
    )
    if given:
        raise StudyError(f"direction {id_}: unknown field {', '.join(sorted(given))}")
    return direction
