"""Store what studies found as small tables with their provenance, and read them back."""

from __future__ import annotations

import csv
import io
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
        import pandas as pd

        table = self.curves
        chosen = (table["block"] == block) & (table["setting"] == setting)
        lines = table[chosen & (table["arm"] == arm) & (table["metric"] == metric)].set_index("statistic")
        if lines.empty:
            raise StudyError(f"{self.name} has no curve of {arm!r}, {metric!r} in {block!r}, {setting!r}")
        curve = lines.iloc[:, len(_CURVE_COLUMNS) - 1 :].T.apply(pd.to_numeric).dropna(how="all")
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
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    values, curves = ([line for part in parts for line in part] for parts in zip(*rows, strict=True))
    seeds = [f"seed_{number}" for number in range(study.seeds)]
    steps = sorted({int(line[4]) for line in curves})
    header = "".join(f"# {key}: {value}\n" for key, value in provenance(study).items())
    for name, columns, lines in (
        (f"{study.name}.csv", (*_VALUE_COLUMNS, *seeds), values),
        (f"{study.name}_curves.csv", (*_CURVE_COLUMNS, *map(str, steps)), _wide(curves, steps)),
    ):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(lines)
        (folder / name).write_text(header + text.getvalue(), encoding="utf8")


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
        If they are missing or were made by another definition or other code; the message names the command.
    """
    import pandas as pd

    folder = Path(folder)
    paths = [folder / f"{study.name}.csv", folder / f"{study.name}_curves.csv"]
    for path in paths:
        if not path.exists():
            raise StudyError(f"{path.name} is missing: run `{COMMAND}`")
    stored = _stored_provenance(paths[0])
    _require_current(study, stored)
    # A setting without axes is an empty text, not a missing value.
    tables = [pd.read_csv(path, comment="#", keep_default_na=False) for path in paths]
    return Results(name=study.name, provenance=stored, values=tables[0], curves=tables[1])


def is_current(folder: str | Path, study: Study) -> bool:
    """Tell whether stored results exist and belong to the definition and the code as they are now."""
    paths = [Path(folder) / f"{study.name}{end}.csv" for end in ("", "_curves")]
    try:
        for path in paths:
            _require_current(study, _stored_provenance(path))
    except (OSError, StudyError):
        return False
    return True


def _require_current(study: Study, stored: Mapping[str, str]) -> None:
    now = provenance(study)
    for key, what in (("definition", "another definition"), ("plan", "another plan"), ("code", "other code")):
        if stored.get(key) != now[key]:
            raise StudyError(f"the results of {study.name} were made by {what}: run `{COMMAND}`")


def _stored_provenance(path: Path) -> dict[str, str]:
    with path.open(encoding="utf8") as lines:
        pairs = [line[2:].strip().partition(": ") for line in lines if line.startswith("# ")]
    return {key: value for key, _, value in pairs}
