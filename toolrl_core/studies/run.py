"""Run the studies whose results are stale, several settings at a time; an interrupted run goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from toolrl_core.simulate.seeds import progress_bar
from toolrl_core.studies.cells import CellRows, run_cell
from toolrl_core.studies.definitions import Cell, Study, StudyError
from toolrl_core.studies.digest import code_digest
from toolrl_core.studies.results import is_current, write_results

__all__ = ["run_studies", "run_study"]


def run_studies(
    studies: Iterable[Study],
    *,
    results: str | Path,
    cache: str | Path,
    workers: int = 1,
    progress: bool = False,
    anew: bool = False,
) -> list[str]:
    """Run studies and store their results.

    Parameters
    ----------
    studies : iterable of Study
        The definitions.
    results : str or Path
        Folder of the results.
    cache : str or Path
        Folder of finished settings; a run that was interrupted takes them from there.
    workers : int
        Processes that share the settings (more than one needs joblib).
    progress : bool
        Show a progress bar for each study (needs tqdm).
    anew : bool
        Run also where results are current, and without the finished settings.

    Returns
    -------
    list of str
        Names of the studies that were run.

    Raises
    ------
    StudyError
        If a definition names something unknown, or joblib is missing.
    """
    done = []
    for study in studies:
        if anew or not is_current(results, study):
            rows = run_study(study, cache=None if anew else cache, workers=workers, progress=progress)
            write_results(results, study, rows)
            done.append(study.name)
    return done


def run_study(
    study: Study, *, cache: str | Path | None = None, workers: int = 1, progress: bool = False
) -> list[CellRows]:
    """Run all settings of a study.

    Parameters
    ----------
    study : Study
        The definition.
    cache : str or Path, optional
        Folder of finished settings.
    workers : int
        Processes that share the settings; the result is the same for any number.
    progress : bool
        Show a progress bar over settings.

    Returns
    -------
    list of CellRows
        In the order of the settings.

    Raises
    ------
    StudyError
        As `run_studies`.
    """
    cells = study.cells()
    folder = None if cache is None else Path(cache) / study.name
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    if workers == 1:
        found: Iterable[CellRows] = (_finished(study, cell, folder) for cell in cells)
    else:
        try:
            joblib: Any = import_module("joblib")
        except ImportError:
            raise StudyError("workers above 1 need the package joblib") from None
        tasks = [joblib.delayed(_finished)(study, cell, folder) for cell in cells]
        found = joblib.Parallel(n_jobs=workers, return_as="generator")(tasks)
    return list(progress_bar(found, len(cells), study.name) if progress else found)


def _finished(study: Study, cell: Cell, folder: Path | None) -> CellRows:
    """Take the rows of a setting from the cache, or run it and leave them there."""
    if folder is None:
        return run_cell(study, cell)
    path = folder / f"{_key(study, cell)}.json"
    if path.exists():
        return CellRows(**json.loads(path.read_text(encoding="utf8")))
    rows = run_cell(study, cell)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(rows._asdict()), encoding="utf8")
    partial.replace(path)
    return rows


def _key(study: Study, cell: Cell) -> str:
    """Digest everything that the rows of a setting depend on."""
    parts = [
        code_digest(), study.engine, study.seed, study.seeds, study.metrics, study.moments, study.curve_every,
        study.defaults, {arm: study.arms[arm] for arm in study.arms_of(cell.block)},
        cell.block, cell.setting, cell.changes,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]
