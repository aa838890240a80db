"""Run the studies whose results are stale, several settings at a time; an interrupted run goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from toolrl_core.field_checks import check_whole
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
        If a definition names something unknown, a count of workers is not at least 1, a folder cannot be made, or
        joblib or tqdm is needed and missing.
    """
    _check_workers(workers)
    done = []
    for study in studies:
        if anew or not is_current(results, study):
            _make_folder(Path(results))
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
    _check_workers(workers)
    cells = study.cells()
    folder = None if cache is None else Path(cache) / study.name
    if folder is not None:
        _make_folder(folder)
    if workers == 1:
        found: Iterable[CellRows] = (_finished(study, cell, folder) for cell in cells)
    else:
        try:
            joblib: Any = import_module("joblib")
        except ImportError:
            raise StudyError("workers above 1 need the package joblib") from None
        tasks = [joblib.delayed(_finished)(study, cell, folder) for cell in cells]
        found = joblib.Parallel(n_jobs=workers, return_as="generator")(tasks)
    if not progress:
        return list(found)
    try:
        shown = progress_bar(found, len(cells), study.name)
    except ValueError as error:
        raise StudyError(str(error)) from None
    return list(shown)


def _check_workers(workers: int) -> None:
    try:
        check_whole("workers", workers, lowest=1)
    except ValueError as error:
        raise StudyError(str(error)) from None


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"the folder {folder} cannot be made: {error}") from None


def _finished(study: Study, cell: Cell, folder: Path | None) -> CellRows:
    """Take the rows of a setting from the cache, or run it and leave them there."""
    if folder is None:
        return run_cell(study, cell)
    path = folder / f"{_key(study, cell)}.json"
    kept = _kept(study, cell, path)
    if kept is not None:
        return kept
    rows = run_cell(study, cell)
    # Several runs may be at work on the same setting: each writes a file of its own before it takes the place.
    partial = path.with_suffix(f".{os.getpid()}.partial")
    try:
        partial.write_text(json.dumps(rows._asdict()), encoding="utf8")
        partial.replace(path)
    except OSError as error:
        raise StudyError(f"a finished setting cannot be kept: {error}") from None
    finally:
        partial.unlink(missing_ok=True)
    return rows


def _kept(study: Study, cell: Cell, path: Path) -> CellRows | None:
    """Read the rows of a finished setting; a file that is damaged counts as none."""
    try:
        rows = CellRows(**json.loads(path.read_text(encoding="utf8")))
        places = [tuple(line[:5]) for line in rows.values]
        whole = all(len(line) == 5 + study.seeds for line in rows.values) and all(
            len(line) == 7 for line in rows.curves
        )
    except (OSError, ValueError, TypeError):
        return None
    wanted = [
        (cell.block, cell.setting, arm, metric, moment)
        for arm in study.arms_of(cell.block)
        for metric in study.metrics
        for moment in study.moments
    ]
    return rows if whole and places == wanted and rows.curves else None


def _key(study: Study, cell: Cell) -> str:
    """Digest everything that the rows of a setting depend on."""
    parts = [
        code_digest(), study.engine, study.seed, study.seeds, study.metrics, study.moments, study.curve_every,
        study.defaults, {arm: study.arms[arm] for arm in study.arms_of(cell.block)},
        cell.block, cell.setting, cell.changes,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]
