"""Refuse a definition whose settings, arms or directions would do nothing, or less than they seem to."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

from toolrl_core.filter_policies import FILTER_POLICIES, FilterSettings
from toolrl_core.simulate.answer_policy import BaseStrength
from toolrl_core.simulate.answers import World
from toolrl_core.simulate.training import GrpoSettings
from toolrl_core.simulate.turn_rollouts import TurnWorld
from toolrl_core.spec import RewardSpec
from toolrl_core.studies.definition_fields import canonical, one_of
from toolrl_core.studies.design import Block, Cell, Direction, Study, StudyError

__all__ = ["check_study", "known_fields"]

_TABLES: Mapping[str, Mapping[str, type]] = {
    "answers": {"world": World, "base": BaseStrength, "settings": GrpoSettings},
    "turns": {"world": TurnWorld, "settings": GrpoSettings, "filters": FilterSettings},
}
_OPTIONS = ("preset", *RewardSpec().options())
_NESTED = ("schedule", "length_reward", "name_aliases", "schemas")
"""Options of a reward that are tables themselves."""


def known_fields(engine: str) -> dict[str, tuple[str, ...]]:
    """Tell which tables a study with this engine reads, and their fields.

    Parameters
    ----------
    engine : {"answers", "turns"}
        Which miniature.

    Returns
    -------
    dict of str to tuple of str
        Arms are not listed: in "answers" each has the fields of "spec", in "turns" none.

    Examples
    --------
    >>> list(known_fields("turns")), known_fields("answers")["spec"][:2]
    (['world', 'settings', 'filters'], ('preset', 'parser'))
    """
    fields = {name: tuple(field.name for field in dataclasses.fields(kind)) for name, kind in _TABLES[engine].items()}
    return {**fields, "spec": _OPTIONS} if engine == "answers" else fields


def check_study(study: Study) -> None:
    """Refuse a study with settings that are not read, that are the same, or that hide each other.

    Parameters
    ----------
    study : Study
        A definition whose fields have the right types.

    Raises
    ------
    StudyError
        Naming the block, direction or field and what there is instead.
    """
    known = known_fields(study.engine)
    for name, table in study.defaults.items():
        if table and name not in known:
            raise StudyError(f"{name} is not read by the engine {study.engine}: choose from {', '.join(known)}")
        for field in table:
            one_of(name, field, known[name])
    _check_arms(study)
    _refuse_twice("two blocks have the same name", [block.name for block in study.blocks])
    for block in study.blocks:
        _check_block(study, block)
    _refuse_twice("two directions have the same id", [direction.id for direction in study.directions])
    for direction in study.directions:
        _check_direction(study, direction)


def _refuse_twice(message: str, found: list[str]) -> None:
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise StudyError(f"{message}: {', '.join(map(repr, twice))}")


def _check_arms(study: Study) -> None:
    for name, options in study.arms.items():
        if study.engine == "turns":
            one_of("arms", name, FILTER_POLICIES)
            if options:
                raise StudyError(f"arm {name}: the engine turns reads names of arms alone, found {', '.join(options)}")
        for option in options:
            one_of(f"arm {name}", option, _OPTIONS)


def _check_block(study: Study, block: Block) -> None:
    where = f"block {block.name}"
    arms = study.arms_of(block.name)
    for arm in arms:
        one_of(f"{where}, arms", arm, study.arms)
    paths = [
        *block.changes,
        *(path for _, values in block.axes.items() for change in values.values() for path in change),
    ]
    for path in dict.fromkeys(paths):
        _check_path(study, arms, path, where)
        option = path.split(".")[1]
        if path.startswith("spec.") and all(option in study.arms[arm] for arm in arms):
            raise StudyError(f"{where}: {path!r} changes nothing, for every arm states its own {option}")
    if not block.one_at_a_time:
        _check_combined(block, where)
    cells = block.cells()
    _refuse_twice(f"{where}: two settings are written alike", [cell.setting or "own setting" for cell in cells])
    seen: dict[str, Cell] = {}
    for cell in cells:
        _check_nested(study, cell, where)
        other = seen.setdefault(canonical(cell.changes), cell)
        if other is not cell:
            pair = " and ".join(repr(one.setting or "own setting") for one in (other, cell))
            raise StudyError(f"{where}: the settings {pair} are the same")


def _check_path(study: Study, arms: tuple[str, ...], path: str, where: str) -> None:
    """Refuse a path to what the engine does not read."""
    known = known_fields(study.engine)
    first, *rest = path.split(".")
    if first == "arms" and study.engine == "answers":
        if len(rest) < 2:
            raise StudyError(f"{where}: {path!r} must name an arm and an option, arms.NAME.OPTION")
        one_of(f"{where}: the path {path!r}", rest[0], arms)
        options, deeper = _OPTIONS, rest[1:]
    else:
        tables = [*known, "arms"] if study.engine == "answers" else [*known]
        one_of(f"{where}: the path {path!r}", first, tables)
        options, deeper = known[first], rest
    if not deeper:
        raise StudyError(f"{where}: {path!r} must name a field, {first}.FIELD (with the whole path in quotes)")
    one_of(f"{where}: the path {path!r}", deeper[0], options)
    if len(deeper) > 1 and (first not in ("arms", "spec") or deeper[0] not in _NESTED):
        raise StudyError(f"{where}: {path!r} goes on below {deeper[0]}, which is no table")


def _check_combined(block: Block, where: str) -> None:
    """Refuse axes that would undo each other, and block changes that every value of an axis replaces."""
    paths = {axis: {path for change in values.values() for path in change} for axis, values in block.axes.items()}
    for one, other in itertools.combinations(paths, 2):
        for path, again in itertools.product(sorted(paths[one]), sorted(paths[other])):
            if _overlap(path, again):
                raise StudyError(f"{where}: the axes {one} and {other} both change {path}")
    for path in block.changes:
        for axis, values in block.axes.items():
            if all(any(_above(changed, path) for changed in change) for change in values.values()):
                raise StudyError(f"{where}: every value of the axis {axis} replaces {path}, which the block changes")


def _above(path: str, other: str) -> bool:
    """Tell whether a path is another one or leads to it."""
    return f"{other}.".startswith(f"{path}.")


def _overlap(path: str, other: str) -> bool:
    return _above(path, other) or _above(other, path)


def _check_nested(study: Study, cell: Cell, where: str) -> None:
    """Refuse a change within a table that the arm does not have, and one whole table that undoes a part of it."""
    for path, other in itertools.permutations(cell.changes, 2):
        if path != other and _above(path, other):
            raise StudyError(
                f"{where}: {path!r} and {other!r} change the same table in {cell.setting or 'own setting'!r}"
            )
    tables: Mapping[str, Any] = {**study.defaults, "arms": study.arms}
    for path in cell.changes:
        place: Any = tables
        *ways, _ = path.split(".")
        for way in ways:
            if not isinstance(place, Mapping) or way not in place:
                raise StudyError(f"{where}: {path!r} is within {way}, which is not given there")
            place = place[way]
        if not isinstance(place, Mapping):
            raise StudyError(f"{where}: {path!r} is within {ways[-1]}, which is no table but {place!r}")


def _check_direction(study: Study, direction: Direction) -> None:
    where = f"direction {direction.id}"
    blocks = {block.name: block for block in study.blocks}
    for comparison in direction.comparisons:
        for arm in (comparison.higher, comparison.lower):
            one_of(where, arm, study.arms)
        one_of(where, comparison.metric, study.metrics)
        one_of(where, comparison.moment, study.moments)
        if comparison.higher == comparison.lower:
            raise StudyError(f"{where} compares {comparison.higher!r} with itself")
    for name in direction.blocks:
        one_of(where, name, blocks)
        for comparison in direction.comparisons:
            for arm in (comparison.higher, comparison.lower):
                one_of(f"{where}, block {name},", arm, study.arms_of(name))
        if direction.across is not None:
            axis, *labels = direction.across
            one_of(where, axis, blocks[name].axes)
            for label in labels:
                one_of(where, label, blocks[name].axes[axis])
            if labels[0] == labels[1]:
                raise StudyError(f"{where} compares {labels[0]!r} with itself across {axis}")
