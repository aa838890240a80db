"""Store what studies found as small tables with their provenance, and read them back."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

import numpy as np

from toolrl_core.breakdown import package_version
from toolrl_core.simulate.answers import Floats
from toolrl_core.simulate.histories import Interval
from toolrl_core.studies.cells import CellRows
from toolrl_core.studies.definitions import Study, StudyError
from toolrl_core.studies.digest import code_digest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COMMAND", "Results", "is_current", "load_results", "provenance", "write_results"]

COMMAND = "make studies"
"""What makes the results anew."""
_VALUE_COLUMNS = ("block", "setting", "arm", "metric", "moment")
_CURVE_COLUMNS = ("block", "setting", "arm", "metric", "statistic")
_STATISTICS = ("mean", "half_width")
_CONTENT = "content"


@dataclass(frozen=True, eq=False, kw_only=True)
class Results:
    """Hold the stored results of a study.

    Parameters
    ----------
    name : str
        Name of the study.
    provenance : mapping of str to str
        Digests, seeds and versions.
    values : pandas.DataFrame
        Block, setting, arm, metric, moment, and one column for each seed.
    curves : pandas.DataFrame
        Block, setting, arm, metric, statistic ("mean" or "half_width"), and one column for each step.
    """

    name: str
    provenance: Mapping[str, str]
    values: pd.DataFrame
    curves: pd.DataFrame

    def seed_values(self, block: str, setting: str, arm: str, metric: str, moment: str = "final") -> Floats:
        """Return the value of each seed, shape (seeds,).

        Raises
        ------
        StudyError
            If there is no such row; the message names what there is.
        """
        row = self.values
        for column, wanted in zip(_VALUE_COLUMNS, (block, setting, arm, metric, moment), strict=True):
            kept = row[row[column] == wanted]
            if kept.empty:
                known = ", ".join(map(repr, row[column].unique()[:8]))
                raise StudyError(f"{self.name} has no {column} {wanted!r} here: there are {known}")
            row = kept
        return row.iloc[0, len(_VALUE_COLUMNS) :].to_numpy(dtype=np.float64)

    def level(self, block: str, setting: str, arm: str, metric: str, moment: str = "final") -> Interval:
        """Return an arm's mean over seeds with its 95 % interval."""
        return Interval.of(self.seed_values(block, setting, arm, metric, moment))

    def paired(self, block: str, setting: str, a: str, b: str, metric: str, moment: str = "final") -> Interval:
        """Return the mean of a - b over seeds with its 95 % interval."""
        first, second = (self.seed_values(block, setting, arm, metric, moment) for arm in (a, b))
        return Interval.of(first - second)

    def curve(self, block: str, setting: str, arm: str, metric: str) -> pd.DataFrame:
        """Return step, mean and half_width of a learning curve."""
        table = self.curves
        chosen = (table["block"] == block) & (table["setting"] == setting)
        lines = table[chosen & (table["arm"] == arm) & (table["metric"] == metric)].set_index("statistic")
        if lines.empty:
            raise StudyError(f"{self.name} has no curve of {arm!r}, {metric!r} in {block!r}, {setting!r}")
        curve = lines.iloc[:, len(_CURVE_COLUMNS) - 1 :].T.dropna(how="all")
        curve.index = curve.index.astype(int)
        named: pd.DataFrame = curve.rename_axis(index="step", columns=None).reset_index()
        return named


def provenance(study: Study) -> dict[str, str]:
    """Tell what results of a study depend on.

    Parameters
    ----------
    study : Study
        The definition.

    Returns
    -------
    dict of str to str
        "definition", "plan" and "code" are digests; the rest is for the reader.

    Examples
    --------
    >>> from toolrl_core.studies.definitions import parse_study
    >>> study = parse_study('''
    ... title = "Veto"
    ... source = "Table 2"
    ... engine = "turns"
    ... seed = 1
    ... seeds = 2
    ... metrics = ["success"]
    ... [arms]
    ... naive = {}
    ... [[blocks]]
    ... name = "own"
    ... about = "The study's own setting."
    ... ''', name="example")
    >>> list(provenance(study))
    ['study', 'definition', 'plan', 'code', 'seed', 'seeds', 'python', 'numpy', 'toolrl_core', 'command']
    """
    return {
        "study": study.name,
        "definition": study.digest,
        "plan": study.plan,
        "code": code_digest(),
        "seed": str(study.seed),
        "seeds": str(study.seeds),
        "python": python_version(),
        "numpy": version("numpy"),
        "toolrl_core": package_version(),
        "command": COMMAND,
    }


def write_results(folder: str | Path, study: Study, rows: Iterable[CellRows]) -> None:
    """Write the two tables of a study.

    Parameters
    ----------
    folder : str or Path
        Where they go: ``NAME.csv`` has a value for each seed, ``NAME_curves.csv`` the learning curves.
    study : Study
        The definition.
    rows : iterable of CellRows
        What came out, setting by setting.

    Raises
    ------
    StudyError
        If the rows are not those of the study's settings, or the folder cannot be written.

    Notes
    -----
    A header tells the provenance; its last line, "content", is the SHA-256 of what stands below it. Both files are
    complete before they take the place of older ones.
    """
    rows = list(rows)
    found = [(str(line[0]), str(line[1])) for values, _ in rows for line in values[:1]]
    wanted = [(cell.block, cell.setting) for cell in study.cells()]
    if found != wanted:
        raise StudyError(f"the rows to be stored are not those of the {len(wanted)} settings of {study.name}")
    values, curves = ([line for part in parts for line in part] for parts in zip(*rows, strict=True))
    seeds = [f"seed_{number}" for number in range(study.seeds)]
    steps = sorted({int(line[4]) for line in curves})
    header = "".join(f"# {key}: {value}\n" for key, value in provenance(study).items())
    bodies = [
        _body((*_VALUE_COLUMNS, *seeds), values),
        _body((*_CURVE_COLUMNS, *map(str, steps)), _wide(curves, steps)),
    ]
    paths = _paths(folder, study)
    partial = [path.with_name(f".{path.name}.{os.getpid()}.partial") for path in paths]
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path, body in zip(partial, bodies, strict=True):
            path.write_text(f"{header}# {_CONTENT}: {_digest(body)}\n{body}", encoding="utf8", newline="\n")
        for path, final in zip(partial, paths, strict=True):
            path.replace(final)
    except OSError as error:
        raise StudyError(f"the results of {study.name} cannot be written: {error}") from None
    finally:
        for path in partial:
            _remove(path)


def _remove(path: Path) -> None:
    """Remove a file that an error left behind; there may be none, or no folder."""
    if path.parent.is_dir():
        path.unlink(missing_ok=True)


def _paths(folder: str | Path, study: Study) -> tuple[Path, Path]:
    """Name the file of the values and that of the curves."""
    return Path(folder) / f"{study.name}.csv", Path(folder) / f"{study.name}_curves.csv"


def _body(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(lines)
    return text.getvalue()


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _wide(curves: Sequence[Sequence[str]], steps: Sequence[int]) -> list[list[str]]:
    """Give each curve two lines, its means and its half widths, with a column for each step."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for *where, step, mean, half_width in curves:
        for statistic, value in zip(_STATISTICS, (mean, half_width), strict=True):
            line = lines.setdefault((*where, statistic), [""] * len(steps))
            line[steps.index(int(step))] = value
    return [[*where, *line] for where, line in lines.items()]


def load_results(folder: str | Path, study: Study) -> Results:
    """Read the stored results of a study.

    Parameters
    ----------
    folder : str or Path
        Where they are.
    study : Study
        The definition.

    Returns
    -------
    Results

    Raises
    ------
    StudyError
        If they are missing, damaged, or were made by another definition or other code; the message names the command.
    """
    values, curves = _paths(folder, study)
    stored, lines = _read(values, study)
    return Results(
        name=study.name,
        provenance=stored,
        values=_table(lines, values.name, _VALUE_COLUMNS),
        curves=_table(_read(curves, study)[1], curves.name, _CURVE_COLUMNS),
    )


def is_current(folder: str | Path, study: Study) -> bool:
    """Tell whether stored results exist whole and belong to the definition and the code as they are now."""
    try:
        for path in _paths(folder, study):
            _read(path, study)
    except StudyError:
        return False
    return True


def _read(path: Path, study: Study) -> tuple[dict[str, str], str]:
    """Read the provenance and the body of a stored table that is whole and current."""
    try:
        # Whatever ends its lines on this system: the digest is of lines that end with "\n".
        text = path.read_text(encoding="utf8")
    except FileNotFoundError:
        raise StudyError(f"{path.name} is missing: run `{COMMAND}`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path.name} cannot be read ({error}): run `{COMMAND}`") from None
    lines = text.splitlines(keepends=True)
    header = list(itertools.takewhile(lambda line: line.startswith("# "), lines))
    pairs = [line[2:].strip().partition(": ")[::2] for line in header]
    stored, now = dict(pairs), provenance(study)
    if [key for key, _ in pairs] != [*now, _CONTENT]:
        raise StudyError(f"{path.name} is damaged, its header is not complete: run `{COMMAND}`")
    for key, what in (("definition", "another definition"), ("plan", "another plan"), ("code", "other code")):
        if stored[key] != now[key]:
            raise StudyError(f"{path.name} was made by {what}: run `{COMMAND}`")
    body = "".join(lines[len(header) :])
    if stored.pop(_CONTENT) != _digest(body):
        raise StudyError(f"{path.name} is damaged, it is not what was written: run `{COMMAND}`")
    return stored, body


def _table(body: str, name: str, columns: Sequence[str]) -> pd.DataFrame:
    """Read names as text, even those that look like numbers, and all else as numbers; an empty cell is NaN."""
    import pandas as pd

    try:
        # A setting without axes is an empty text, not a missing value.
        table = pd.read_csv(io.StringIO(body), dtype=str, keep_default_na=False)
        numbers = table.iloc[:, len(columns) :].replace("", "nan").astype(np.float64)
    except ValueError as error:
        raise StudyError(f"{name} is no table of results ({error}): run `{COMMAND}`") from None
    return pd.concat([table.iloc[:, : len(columns)], numbers], axis=1)
