"""Run the studies: ``python -m toolrl_core.studies [NAME ...]``."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from toolrl_core.studies.agreement import judge_all
from toolrl_core.studies.definitions import StudyError, load_studies
from toolrl_core.studies.results import load_results
from toolrl_core.studies.run import run_studies

INTERRUPTED = 130
"""Exit code of a command that was interrupted: 128 and the number of the signal."""


def main(arguments: list[str] | None = None) -> int:
    """Run the studies whose results are stale, and say what came out."""
    parser = argparse.ArgumentParser(prog="python -m toolrl_core.studies", description=main.__doc__)
    parser.add_argument("names", nargs="*", help="studies to run (all by default)")
    parser.add_argument("--definitions", default="studies", help="folder of the definitions")
    parser.add_argument("--results", default="results", help="folder of the results")
    parser.add_argument("--cache", default="_build/studies", help="folder of finished settings")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--anew", action="store_true", help="run also what is current")
    given = parser.parse_args(arguments)
    try:
        _run(given)
    except StudyError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted: run again to go on", file=sys.stderr)
        return INTERRUPTED
    return 0


def _run(given: argparse.Namespace) -> None:
    studies = load_studies(given.definitions)
    unknown = set(given.names) - set(studies)
    if unknown:
        raise StudyError(f"unknown study {', '.join(sorted(unknown))}: choose from {', '.join(studies)}")
    chosen = [study for name, study in studies.items() if not given.names or name in given.names]
    for study in chosen:
        done = run_studies(
            [study],
            results=given.results,
            cache=given.cache,
            workers=given.workers,
            progress=sys.stderr.isatty() and find_spec("tqdm") is not None,
            anew=given.anew,
        )
        print(f"{study.name}: {len(study.cells())} settings, {'run' if done else 'current'}", flush=True)
        for judgement in judge_all(study, load_results(Path(given.results), study)).values():
            print(f"  {judgement}")


if __name__ == "__main__":
    sys.exit(main())
