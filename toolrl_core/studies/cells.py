"""Run one setting of a study and reduce what came out to rows that can be stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from toolrl_core.filter_policies import FilterSettings
from toolrl_core.schedules import LengthReward, Schedule, constant, dynamic, equal_max, two_stage
from toolrl_core.simulate.answer_policy import BaseStrength
from toolrl_core.simulate.answers import Floats, Integers, World
from toolrl_core.simulate.histories import History
from toolrl_core.simulate.multiturn import TURN_SETTINGS, train_policies
from toolrl_core.simulate.training import GrpoSettings, train
from toolrl_core.simulate.turn_rollouts import TurnWorld
from toolrl_core.spec import RewardSpec
from toolrl_core.studies.definitions import Cell, Study, StudyError

__all__ = ["CellRows", "reward_spec", "run_cell"]

_SCHEDULES: Mapping[str, Callable[..., Schedule]] = {
    "constant": constant,
    "equal_max": equal_max,
    "two_stage": two_stage,
    "dynamic": dynamic,
}
DIGITS = 4


class CellRows(NamedTuple):
    """Hold the rows of one setting.

    Parameters
    ----------
    values : list of list
        Block, setting, arm, metric, moment, and a value for each seed.
    curves : list of list
        Block, setting, arm, metric, step, mean over seeds, and half the width of its 95 % interval.
    """

    values: list[list[str]]
    curves: list[list[str]]


def reward_spec(options: Mapping[str, Any]) -> RewardSpec:
    """Make a reward from the options of an arm.

    Parameters
    ----------
    options : mapping
        Options of `RewardSpec` by name; "preset" (default "paper") is where they start from, "schedule" is a table
        with "kind" and the arguments of the schedule, "length_reward" a table with those of `LengthReward`.

    Returns
    -------
    RewardSpec

    Raises
    ------
    StudyError
        If an option or a value is unknown.

    Examples
    --------
    >>> reward_spec({"schedule": {"kind": "two_stage", "switch": 10}}).schedule.at(9).correctness
    (-1.0, 1.0)
    >>> reward_spec({"preset": "coarse"}).granularity
    'answer'
    """
    changes = dict(options)
    try:
        spec = RewardSpec.preset(changes.pop("preset", "paper"))
        if "schedule" in changes:
            arguments = dict(changes["schedule"])
            kind = arguments.pop("kind", "constant")
            if kind not in _SCHEDULES:
                raise StudyError(f"unknown schedule {kind!r}: choose from {', '.join(_SCHEDULES)}")
            ranges = {key: tuple(map(float, value)) for key, value in arguments.items() if isinstance(value, list)}
            changes["schedule"] = _SCHEDULES[kind](**{**arguments, **ranges})
        if "length_reward" in changes:
            changes["length_reward"] = LengthReward(**changes["length_reward"])
        return spec.replace(**changes)
    except (TypeError, ValueError) as error:
        raise StudyError(f"arm {dict(options)}: {error}") from None


def run_cell(study: Study, cell: Cell) -> CellRows:
    """Train all arms of a setting and reduce the history.

    Parameters
    ----------
    study : Study
        The definition.
    cell : Cell
        One of its settings.

    Returns
    -------
    CellRows
        Numbers as text with four significant digits.

    Raises
    ------
    StudyError
        If the definition names something unknown.
    """
    history = _train(study, cell)
    values, curves = [], []
    for arm in history.arms:
        for metric in study.metrics:
            if metric not in history.metrics:
                raise StudyError(f"unknown metric {metric!r}: choose from {', '.join(history.metrics)}")
            curve = history.metrics[metric][history.arms.index(arm)]
            where = [cell.block, cell.setting, arm, metric]
            for moment in study.moments:
                by_seed = _reduced(curve, history.steps, moment)
                values.append([*where, moment, *(f"{value:.{DIGITS}g}" for value in by_seed)])
            curves += [[*where, *row] for row in _thinned(curve, history.steps, study.curve_every)]
    return CellRows(values, curves)


def _train(study: Study, cell: Cell) -> History:
    tables: dict[str, Any] = dict(study.defaults)
    tables["arms"] = {name: study.arms[name] for name in study.arms_of(cell.block)}
    for path, value in cell.changes.items():
        _change(tables, path, value)
    arms = tables["arms"]
    try:
        if study.engine == "turns":
            return train_policies(
                tuple(arms),
                world=TurnWorld(**tables["world"]),
                settings=dataclasses.replace(TURN_SETTINGS, **tables["settings"]),
                filters=FilterSettings(**tables["filters"]),
                seeds=study.seeds,
                seed=study.seed,
            )
        return train(
            {name: reward_spec({**tables["spec"], **options}) for name, options in arms.items()},
            world=World(**tables["world"]),
            base=BaseStrength(**tables["base"]),
            settings=GrpoSettings(**tables["settings"]),
            seeds=study.seeds,
            seed=study.seed,
        )
    except (TypeError, ValueError) as error:
        raise StudyError(f"{study.name}, {cell.block}, {cell.setting or 'own setting'}: {error}") from None


def _change(tables: dict[str, Any], path: str, value: object) -> None:
    """Set one field; tables on the way are copied, for the study owns them."""
    *places, last = path.split(".")
    table = tables
    for place in places:
        if place not in table:
            raise StudyError(f"{path} is not there: choose from {', '.join(table)}")
        table[place] = dict(table[place])
        table = table[place]
    table[last] = value


def _reduced(curve: Floats, steps: Integers, moment: str) -> Floats:
    """Reduce curves, shape (seeds, steps), to a value a seed."""
    if moment == "final":
        return np.asarray(curve[:, -1])
    if moment == "mean":
        return np.asarray(curve.mean(axis=1))
    if moment == "late":
        return np.asarray(curve[:, -max(1, len(steps) // 4) :].mean(axis=1))
    if moment == "peak":
        return _over_median(curve)
    if moment == "burst":
        return _over_median(curve[:, len(steps) // 4 :])
    places = np.flatnonzero(steps == int(moment))
    if not places.size:
        raise StudyError(f"no evaluation after step {moment}: choose from {steps.tolist()}")
    return np.asarray(curve[:, places[0]])


def _over_median(curve: Floats) -> Floats:
    """Divide the largest value by the median; missing where the median is next to nothing."""
    median = np.median(curve, axis=1)
    return np.where(median > 1e-6, curve.max(axis=1) / np.maximum(median, 1e-6), np.nan)


def _thinned(curve: Floats, steps: Integers, every: int) -> list[list[str]]:
    """Give points of the mean curve; points between two stored ones are averaged into the later."""
    from scipy.stats import t

    seeds = len(curve)
    factor = t.ppf(0.975, seeds - 1) / np.sqrt(seeds) if seeds > 1 else np.nan
    first = (len(steps) - 1) % every
    rows = []
    for end in range(first, len(steps), every):
        window = curve[:, max(0, end - every + 1) : end + 1].mean(axis=1)
        half = factor * window.std(ddof=1) if seeds > 1 else np.nan
        rows.append([str(steps[end]), f"{window.mean():.{DIGITS}g}", f"{half:.2g}"])
    return rows
