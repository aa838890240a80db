"""Read the definition of a study: what is varied, what is measured, and what would count as agreement.

A definition is a small TOML file that is written before the study runs. It names the arms, the blocks of settings,
the metrics and the directions that are tested; `toolrl_core.studies.cells` turns it into runs.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolrl_core.studies import definition_fields as fields
from toolrl_core.studies.definition_checks import check_study
from toolrl_core.studies.definition_fields import canonical, one_of
from toolrl_core.studies.design import ENGINES, MOMENTS, Block, Cell, Comparison, Direction, Study, StudyError

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
        If the file cannot be read, is no TOML or states something that cannot be; the message names the file and the
        field.
    """
    path = Path(path)
    try:
        return parse_study(path.read_text(encoding="utf8"), name=path.stem)
    except (OSError, UnicodeDecodeError, StudyError) as error:
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
        If the text is no TOML; if a field is missing, unknown, of another type, or contradicts another; or if a
        setting would change nothing, because the engine does not read it or another setting is the same.

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
    try:
        given = dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"no TOML: {error}") from None
    fields.plain(given, "")
    if name.endswith("_curves"):
        raise StudyError(f"a study must not be called {name}: its results would take the place of others' curves")
    engine = fields.name_of(given, "engine")
    one_of("engine", engine, ENGINES)
    arms = fields.table(given, "arms", filled=True)
    for arm in arms:
        fields.table(dict(arms), arm, "arms, ")
    smallest = fields.real(given, "smallest", default=0.0)
    blocks = tuple(_block(item) for item in fields.tables(given, "blocks"))
    everywhere = tuple(block.name for block in blocks)
    study = Study(
        name=name,
        title=fields.name_of(given, "title"),
        source=fields.name_of(given, "source"),
        engine=engine,
        seed=fields.whole(given, "seed", lowest=0),
        seeds=fields.whole(given, "seeds", lowest=2),
        metrics=fields.names(given, "metrics"),
        moments=_moments(given),
        curve_every=fields.whole(given, "curve_every", lowest=1, default=1),
        defaults={key: fields.table(given, key) for key in ("world", "base", "settings", "filters", "spec")},
        arms=arms,
        blocks=blocks,
        directions=tuple(
            _direction(item, smallest, everywhere) for item in fields.tables(given, "directions", filled=False)
        ),
        digest=hashlib.sha256(text.encode()).hexdigest()[:16],
    )
    fields.none_left(given)
    check_study(study)
    return study


def _moments(given: dict[str, Any]) -> tuple[str, ...]:
    if "moments" not in given:
        return ("final",)
    if isinstance(given["moments"], list):
        given["moments"] = [_moment(item) for item in given["moments"]]
    moments = fields.names(given, "moments")
    for moment in moments:
        if not _is_step(moment):
            one_of("moments", moment, MOMENTS)
    return moments


def _moment(value: object) -> object:
    """Take a step as a text or as a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _is_step(moment: str) -> bool:
    """Tell whether a text is a step as a number is written: "60", and not "060" or "6²"."""
    return moment.isascii() and moment.isdecimal() and moment == str(int(moment))


def _block(given: dict[str, Any]) -> Block:
    name = fields.name_of(given, "name", "a block: ")
    where = f"block {name}: "
    axes = fields.table(given, "axes", where)
    block = Block(
        name=name,
        about=fields.name_of(given, "about", where),
        changes=fields.table(given, "changes", where),
        axes={axis: _axis(axis, values, where) for axis, values in axes.items()},
        one_at_a_time=fields.flag(given, "one_at_a_time", where),
        arms=fields.names(given, "arms", where) if "arms" in given else (),
    )
    fields.none_left(given, where)
    return block


def _axis(axis: str, values: object, where: str) -> dict[str, dict[str, Any]]:
    """Read an axis: a path with values, or a mapping from labels to what they change."""
    wrong = StudyError(f"{where}axis {axis}: give path and values, or a table of changes for each label")
    if not isinstance(values, dict) or not values:
        raise wrong
    if set(values) == {"path", "values"} and isinstance(values["values"], list):
        path = fields.name_of(values, "path", f"{where}axis {axis}: ")
        found: dict[str, dict[str, Any]] = {}
        for value in values["values"]:
            label = fields.check_name(f"{where}axis {axis}: each value", _label(value))
            if label in found:
                raise StudyError(f"{where}axis {axis}: two values are written {label}, give each a label of its own")
            found[label] = {path: value}
        if not found:
            raise StudyError(f"{where}axis {axis}: there are no values")
        return found
    if not all(isinstance(change, Mapping) for change in values.values()):
        raise wrong
    for label in values:
        fields.check_name(f"{where}axis {axis}: each label", label)
    return {label: dict(change) for label, change in values.items()}


def _label(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}"
    return value if isinstance(value, str) else canonical(value)


def _direction(given: dict[str, Any], smallest: float, everywhere: tuple[str, ...]) -> Direction:
    id_ = fields.name_of(given, "id", "a direction: ")
    where = f"direction {id_}: "
    direction = Direction(
        id=id_,
        paper=fields.name_of(given, "paper", where),
        comparisons=tuple(_comparison(item, where) for item in fields.tables(given, "comparisons", where)),
        blocks=fields.names(given, "blocks", where) if "blocks" in given else everywhere,
        smallest=fields.real(given, "smallest", where, default=smallest),
        across=_across(given, where),
    )
    fields.none_left(given, where)
    return direction


def _comparison(given: dict[str, Any], where: str) -> Comparison:
    where = f"{where}a comparison: "
    if "moment" in given:
        given["moment"] = _moment(given["moment"])
    comparison = Comparison(
        higher=fields.name_of(given, "higher", where),
        lower=fields.name_of(given, "lower", where),
        metric=fields.name_of(given, "metric", where),
        moment=fields.name_of(given, "moment", where, default="final"),
        at_least=fields.flag(given, "at_least", where),
    )
    fields.none_left(given, where)
    return comparison


def _across(given: dict[str, Any], where: str) -> tuple[str, str, str] | None:
    if "across" not in given:
        return None
    found = given.pop("across")
    if not isinstance(found, list) or [type(item) for item in found] != [str, str, str]:
        raise StudyError(f"{where}across must be an axis and two of its labels, three texts, found {found!r}")
    axis, first, second = found
    return axis, first, second
