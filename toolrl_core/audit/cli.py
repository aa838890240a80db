"""The command line: ``toolrl audit``, ``toolrl score`` and ``toolrl probe``."""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from toolrl_core.audit.cli_texts import (
    AUDIT_EXAMPLES,
    COLUMNS,
    EXITS,
    FORM_HELP,
    NAME_ALIAS_HELP,
    PROBE_EXAMPLES,
    SCORE_EXAMPLES,
    SIGNATURE_HELP,
)
from toolrl_core.audit.columns import BadRow, Columns
from toolrl_core.audit.files import ROW_FORMATS, BadRowWriter, CsvRows, ParquetRows, plain_cell, save_report
from toolrl_core.audit.findings import explain_mean, reward_errors
from toolrl_core.audit.name_aliases import read_name_aliases
from toolrl_core.audit.probes import audit_reward, probe_names
from toolrl_core.audit.render_text import printable
from toolrl_core.audit.rollouts import FORMATS, RolloutsFile, open_rollouts
from toolrl_core.audit.run import PRESETS, BadRowError, audit
from toolrl_core.audit.signatures import FORMS, SIGNATURES, SilentRewardError, load_reward
from toolrl_core.audit.unusable import nothing_usable
from toolrl_core.breakdown import package_version
from toolrl_core.contracts import CONTRACTS
from toolrl_core.spec import RewardSpec

__all__ = ["main"]

DONE, FOUND, UNUSABLE, BAD_ROW = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``toolrl``, by default those of the process.

    Returns
    -------
    int
        The exit code: 0 done, 1 something was found, 2 unusable input, 3 a row that cannot be used with ``--strict``.
    """
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except BadRowError as error:
        _complain(str(error))
        return BAD_ROW
    except SilentRewardError as error:
        _complain(f"{error.problem}; if it is called wrongly, try --signature or --ground-truth-form")
        return UNUSABLE
    except (ValueError, OSError, BrokenExecutor) as error:
        if isinstance(error, BrokenPipeError):  # the reader, for example `head`, has seen enough
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - until the process ends
            return DONE
        named = isinstance(error, OSError) and error.filename and error.strerror
        _complain(f"{error.filename}: {error.strerror}" if named else str(error))  # type: ignore[union-attr]
        return UNUSABLE
    except KeyboardInterrupt:
        _complain("stopped")
        return 130


def _complain(text: str) -> None:
    sys.stderr.write(printable(f"toolrl: {text}") + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toolrl",
        description="Audit rollouts of a tool-calling model, score them, and probe the reward that trains it.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"toolrl-core {package_version()}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_audit(commands)
    _add_score(commands)
    _add_probe(commands)
    return parser


def _add_command(commands: Any, name: str, run: Callable[..., int], summary: str, examples: str) -> Any:
    parser = commands.add_parser(
        name,
        help=summary[0].lower() + summary[1:].rstrip("."),
        description=summary,
        epilog=examples + EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def _add_audit(commands: Any) -> None:
    summary = "Read a file of rollouts and report what the rewards give, lose and miss."
    parser = _add_command(
        commands,
        "audit",
        _audit,
        summary,
        AUDIT_EXAMPLES + COLUMNS.format(place=" of rows.csv", explained="that of --explain"),
    )
    _add_input(parser)
    parser.add_argument(
        "--explain", default="robust", choices=tuple(RewardSpec.presets()), help="account for the points of this reward"
    )
    parser.add_argument(
        "--reward", metavar="REWARD", help="compare this reward too: module:function or file.py:function"
    )
    parser.add_argument("--contract", default="tool_call", choices=tuple(CONTRACTS), help="when a turn is complete")
    parser.add_argument("--mean", type=float, metavar="POINTS", help="explain a mean correctness reported elsewhere")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where to write (default: NAME.audit beside you)")
    parser.add_argument("--rows", default="csv", choices=ROW_FORMATS, help="format of the scores of each row")
    parser.add_argument("--no-files", action="store_true", help="print only, write nothing")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    levels = ("never", "serious", "warning")
    parser.add_argument("--fail-on", default="never", choices=levels, help="exit with 1 on findings of this level")


def _add_score(commands: Any) -> None:
    summary = "Score every row of a file and print CSV."
    parser = _add_command(
        commands, "score", _score, summary, SCORE_EXAMPLES + COLUMNS.format(place="", explained="the first --preset")
    )
    _add_input(parser)
    parser.add_argument("--reward", metavar="REWARD", help="a further reward: module:function or file.py:function")
    parser.add_argument("--json", action="store_true", help="print JSON Lines instead of CSV")


def _add_input(parser: Any) -> None:
    parser.add_argument("file", type=Path, help="JSON Lines, JSON, CSV or Parquet")
    parser.add_argument(
        "--preset", action="append", choices=tuple(RewardSpec.presets()), help="a reward; may be repeated"
    )
    for option, word in (
        ("--completion", "the model's text"),
        ("--ground-truth", "the ground truth; a dot leads into an object"),
        ("--group", "the group (the prompt) of a row"),
        ("--step", "the training step"),
        ("--recorded", "the recorded reward"),
        ("--tools", "the declared tools"),
    ):
        parser.add_argument(option, metavar="COLUMN", help=f"column of {word}")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="a file with id and ground_truth")
    parser.add_argument("--format", choices=FORMATS, help="the file's format, where its name does not tell")
    parser.add_argument("--prefilled-thought", action="store_true", help="the template opens the thought")
    parser.add_argument("--python-literals", action="store_true", help="count Python dictionaries as calls")
    parser.add_argument("--name-alias", action="append", default=[], metavar="FILE|SPELLING=NAME", help=NAME_ALIAS_HELP)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; the result is the same for any")
    parser.add_argument("--strict", action="store_true", help="stop at the first row that cannot be used")
    parser.add_argument("--no-progress", action="store_true", help="no progress bar")


def _add_probe(commands: Any) -> None:
    summary = "Probe a reward and show the smallest counterexample of each property that fails."
    parser = _add_command(commands, "probe", _probe, summary, PROBE_EXAMPLES)
    parser.add_argument("reward", help="a preset, module:function, or file.py:function")
    parser.add_argument("--signature", default="auto", choices=("auto", *SIGNATURES), help=SIGNATURE_HELP)
    parser.add_argument("--ground-truth-form", default="text", choices=FORMS, help=FORM_HELP)
    parser.add_argument("--only", action="append", choices=probe_names(), metavar="PROBE", help="may be repeated")
    parser.add_argument(
        "--seconds", type=_positive, default=10.0, help="longest time for a megabyte of text (default: 10)"
    )
    parser.add_argument("--no-examples", action="store_true", help="print verdicts only")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"must be positive, found {text}")
    return value


def _open(options: argparse.Namespace) -> RolloutsFile:
    columns = Columns(
        completion=options.completion,
        ground_truth=options.ground_truth,
        group=options.group,
        step=options.step,
        reward=options.recorded,
        tools=options.tools,
    )
    return open_rollouts(options.file, columns=columns, format=options.format, answers=options.answers)


def _specs(names: Sequence[str], options: argparse.Namespace) -> dict[str, RewardSpec]:
    changes = {}
    if options.prefilled_thought:
        changes["prefilled_thought"] = True
    if options.python_literals:
        changes["accept_python_literals"] = True
    specs = {name: RewardSpec.preset(name) for name in names}
    specs = {name: spec.replace(**changes) if spec.parser == "tolerant" else spec for name, spec in specs.items()}
    aliases = read_name_aliases(options.name_alias)
    return {name: spec.replace(name_aliases=aliases) for name, spec in specs.items()} if aliases else specs


def _allow_modules_here(reference: str | None) -> None:
    """Let ``module:function`` name a module of the working folder, after all installed ones."""
    if reference and ":" in reference and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))


def _audit(options: argparse.Namespace) -> int:
    _allow_modules_here(options.reward)
    source = _open(options)
    specs = _specs(list(dict.fromkeys([*(options.preset or PRESETS), options.explain])), options)
    folder = options.out or Path(f"{options.file.stem}.audit")
    with contextlib.ExitStack() as stack:
        on_row: CsvRows | ParquetRows | None = None
        on_bad_row: BadRowWriter | None = None
        if not options.no_files:
            _make(folder)
            on_bad_row = stack.enter_context(BadRowWriter(folder))
            if options.rows == "csv":
                on_row = stack.enter_context(CsvRows(folder))
            elif options.rows == "parquet":
                on_row = stack.enter_context(ParquetRows(folder))
        report = audit(
            source,
            options.reward,
            presets=specs,
            explained=options.explain,
            contract=options.contract,
            jobs=options.jobs,
            strict=options.strict,
            on_row=on_row,
            on_bad_row=on_bad_row or _list_bad_row,
            on_progress=stack.enter_context(_progress(not options.no_progress)),
        )
        _refuse_unusable(options, report.data)
    if not options.no_files:
        save_report(report, folder)
    if options.json:
        sys.stdout.write(report.to_json() + "\n")
    else:
        sys.stdout.write(report.to_text() + "\n")
        _explain_mean(options, report.data)
        if not options.no_files:
            sys.stdout.write(printable(f"\nThe whole report: {folder / 'report.html'}") + "\n")
    levels = {"never": (), "serious": ("serious",), "warning": ("serious", "warning")}[options.fail_on]
    return FOUND if any(finding.level in levels for finding in report.warnings) else DONE


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ValueError(f"cannot write into {str(folder)!r}: it is a file, name a folder with --out") from None
    except OSError as error:
        raise ValueError(f"cannot make the folder {str(folder)!r} of --out: {error.strerror}") from None


def _refuse_unusable(options: argparse.Namespace, data: Any) -> None:
    reason = nothing_usable(data)
    if reason:
        raise ValueError(f"{options.file.name}: {reason}")


def _explain_mean(options: argparse.Namespace, data: Any) -> None:
    if options.mean is None:
        return
    usable = data["rows"] - sum(data["bad_rows"]["by_reason"].values())
    found = explain_mean(options.mean, rows=usable, with_calls=data["with_calls"])
    text = (
        " ".join(found) or f"A mean correctness of {options.mean:g} is neither the floor nor the ceiling of this data."
    )
    sys.stdout.write(f"\n{text}\n")


def _list_bad_row(row: BadRow) -> None:
    _complain(f"line {row.line} left out: {row.reason}")


def _score(options: argparse.Namespace) -> int:
    _allow_modules_here(options.reward)
    source = _open(options)
    names = options.preset or ["paper"]
    writer: Any = None

    def write(row: dict[str, Any]) -> None:
        nonlocal writer
        if options.json:
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
            return
        if writer is None:
            writer = csv.DictWriter(sys.stdout, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow({key: plain_cell(value) for key, value in row.items()})

    with _progress(not options.no_progress) as on_progress:
        report = audit(
            source,
            options.reward,
            presets=_specs(names, options),
            explained=names[0],
            jobs=options.jobs,
            strict=options.strict,
            on_row=write,
            on_bad_row=_list_bad_row,
            on_progress=on_progress,
        )
    _refuse_unusable(options, report.data)
    if not report.data["scored_rows"]:
        _complain("no row has a completion; name its column with --completion")
        return UNUSABLE
    failures = list(reward_errors(report.data))
    for finding in failures:
        _complain(finding.text)
    return FOUND if failures else DONE


def _probe(options: argparse.Namespace) -> int:
    _allow_modules_here(options.reward)
    report = audit_reward(
        load_reward(options.reward, signature=options.signature),
        ground_truth_form=options.ground_truth_form,
        only=options.only,
        seconds=options.seconds,
        name=options.reward,
    )
    if options.json:
        sys.stdout.write(json.dumps(report.to_dict(), ensure_ascii=False, indent=1) + "\n")
    else:
        sys.stdout.write(printable(report.to_text(examples=not options.no_examples)) + "\n")
    return DONE if report.held else FOUND


@contextlib.contextmanager
def _progress(wanted: bool) -> Iterator[Callable[[int], None] | None]:
    """Give a function that shows the number of rows done, where someone looks and tqdm is there."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit=" rows", file=sys.stderr, smoothing=0) as bar:
        yield lambda rows: bar.update(rows - bar.n)
