"""Stream the rows of a rollouts file: JSON Lines, a JSON array, CSV or Parquet, in bounded memory.

Nothing in a file is executed: JSON and CSV are decoded by the standard library, Parquet by pyarrow, and pickled data
are never read.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from toolrl_core.audit.column_checks import check_columns
from toolrl_core.audit.columns import BadRow, Columns, Rollout, preview, read_record, recognise_columns

__all__ = ["FORMATS", "Chunk", "RolloutsFile", "iter_chunks", "open_rollouts", "read_chunk"]

FORMATS = ("jsonl", "json", "csv", "parquet")
"""The file formats that can be read."""

CHUNK_ROWS = 1024
MAX_LINE = 64 * 1024 * 1024
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_SAMPLE = 20


class RolloutsError(ValueError):
    """Report a file that cannot be read as rollouts, and why."""


class Chunk(NamedTuple):
    """Hold some consecutive rows of a file, decoded or not.

    Parameters
    ----------
    number : int
        Position of the chunk, counted from 0.
    rows : list of (int, object)
        Line and content: bytes of JSON, a decoded record, or a `BadRow`.
    """

    number: int
    rows: list[tuple[int, Any]]


@dataclass(frozen=True, kw_only=True)
class RolloutsFile:
    """Say how to read a rollouts file.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        One of `FORMATS`.
    columns : Columns
        Where to find what.
    answers : mapping or None
        Ground truths and tools by row id, where another file holds them.
    answers_path : Path or None
        That file.
    """

    path: Path
    format: str
    columns: Columns
    answers: Mapping[str, Mapping[str, Any]] | None = None
    answers_path: Path | None = None

    def __iter__(self) -> Iterator[Rollout | BadRow]:
        for chunk in iter_chunks(self.path, self.format):
            yield from read_chunk(chunk, self)

    def to_dict(self) -> dict[str, Any]:
        """Return what was recognised as plain values, for provenance."""
        answers = None if self.answers_path is None else self.answers_path.name
        return {
            "file": self.path.name,
            "format": self.format,
            "columns": self.columns.to_dict(),
            "ground_truths": answers,
        }


def open_rollouts(
    path: Path | str,
    *,
    columns: Columns | None = None,
    format: str | None = None,  # noqa: A002 - the word that a user looks for
    answers: Path | str | None = None,
) -> RolloutsFile:
    """Find out how a rollouts file is to be read.

    Parameters
    ----------
    path : path
        The file.
    columns : Columns, optional
        Column names that differ from the usual ones.
    format : str, optional
        One of `FORMATS`; by default the file's suffix says it. A ``.json`` file may hold JSON Lines, as BFCL's do.
    answers : path, optional
        A file with ``id`` and ``ground_truth`` for rows that have only an ``id``. For the leaderboard's own files it is
        found beside them.

    Returns
    -------
    RolloutsFile
        Iterating over it streams `Rollout` and `BadRow` in the order of the file.

    Raises
    ------
    RolloutsError
        If there is no such file, its format is unknown, it has no rows, a column that was named is in none of them,
        or no ground truth can be recognised.
    """
    path = Path(path)
    _check_file(path)
    kind = format or _SUFFIXES.get(path.suffix.lower())
    if kind not in FORMATS:
        problem = f"unknown format {format!r}" if format else "cannot tell the format from the name"
        raise RolloutsError(f"{path.name}: {problem}: choose from {', '.join(FORMATS)} with the option --format")
    if kind == "json" and _first_character(path) == b"{":
        kind = "jsonl"
    sample, problems = _sample(path, kind)
    if not sample:
        if _first_character(path) == b"":
            raise RolloutsError(f"{path.name} is empty")
        first = f": line {problems[0].line}: {problems[0].reason}" if problems else ""
        raise RolloutsError(f"{path.name}: none of the first rows can be read{first}")
    try:
        check_columns(columns, _records(path, kind))
    except ValueError as error:
        raise RolloutsError(f"{path.name}: {error}") from None
    found = recognise_columns(sample, given=columns)
    answers_path, known = Path(answers) if answers else _bfcl_companion(path, sample), None
    if answers_path is not None:
        known = _read_answers(answers_path)
        if path.parent.name == "possible_answer" and answers is None:
            known = {key: {**value, "ground_truth": None} for key, value in known.items()}
    if found.ground_truth is None and known is None:
        keys = ", ".join(list(dict.fromkeys(key for record in sample for key in record))[:20])
        raise RolloutsError(
            f"{path.name}: no column with a ground truth among {keys}; name it with the option --ground-truth"
        )
    return RolloutsFile(path=path, format=kind, columns=found, answers=known, answers_path=answers_path)


def iter_chunks(path: Path, format: str, *, size: int = CHUNK_ROWS) -> Iterator[Chunk]:  # noqa: A002
    """Cut a file into chunks of consecutive rows; JSON Lines stay undecoded, for other processes to decode.

    Parameters
    ----------
    path : Path
        The file.
    format : str
        One of `FORMATS`.
    size : int
        Rows in a chunk; the cuts depend on nothing else.

    Yields
    ------
    Chunk
        In order.
    """
    rows = {"jsonl": _json_lines, "json": _json_items, "csv": _csv_rows, "parquet": _parquet_rows}[format](path)
    held: list[tuple[int, Any]] = []
    index = 0
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield Chunk(index, held)
            index, held = index + 1, []
    if held:
        yield Chunk(index, held)


def read_chunk(chunk: Chunk, source: RolloutsFile) -> Iterator[Rollout | BadRow]:
    """Decode and read the rows of a chunk.

    Parameters
    ----------
    chunk : Chunk
        The rows.
    source : RolloutsFile
        How to read them.

    Yields
    ------
    Rollout or BadRow
        One for each row.
    """
    for line, content in chunk.rows:
        record = _decode(line, content) if isinstance(content, bytes) else content
        if isinstance(record, BadRow):
            yield record
        else:
            yield read_record(record, line, source.columns, answers=source.answers)


def _decode(line: int, content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        return BadRow(line, f"not UTF-8: byte {error.start}", preview(content.decode("utf-8", "replace")))
    except RecursionError:
        return BadRow(line, "JSON nests too deeply", preview(content[:400].decode("utf-8", "replace")))
    except ValueError as error:
        return BadRow(line, f"not JSON: {str(error)[:120]}", preview(content.decode("utf-8", "replace")))


def _json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(_bounded_lines(file), start=1):
            if line is None:
                yield number, BadRow(number, f"longer than {MAX_LINE // 1024 // 1024} MB")
                continue
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if content.strip():
                yield number, content


def _bounded_lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Give the lines of a file; one that is too long is skipped without being held, and stands as None."""
    while line := file.readline(MAX_LINE):
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def _json_items(path: Path) -> Iterator[tuple[int, Any]]:
    """Give the items of a JSON array one by one; after an item that cannot be decoded nothing more can be found."""
    decoder = json.JSONDecoder()
    with io.TextIOWrapper(path.open("rb"), encoding="utf-8-sig", errors="replace") as file:
        buffer, item, started, wanted = "", 0, False, 1 << 16
        while True:
            more = file.read(wanted)
            buffer = (buffer + more).lstrip()
            if not started and buffer:
                if buffer[0] != "[":
                    yield 1, BadRow(1, "not a JSON array", preview(buffer[:400]))
                    return
                buffer, started = buffer[1:].lstrip(), True
            while buffer and not buffer.startswith("]"):
                try:
                    record, end = decoder.raw_decode(buffer)
                except (ValueError, RecursionError) as error:
                    if more and len(buffer) < MAX_LINE and not isinstance(error, RecursionError):
                        wanted = max(wanted, len(buffer))  # doubling keeps the work linear
                        break
                    yield item + 1, BadRow(item + 1, f"the rest is not JSON: {str(error)[:100]}", preview(buffer[:400]))
                    return
                rest = buffer[end:].lstrip()
                if not rest and more:  # a number may go on in the next piece
                    break
                item += 1
                yield item, record
                buffer = rest.removeprefix(",").lstrip()
            if buffer.startswith("]") or not more:
                return


def _csv_rows(path: Path) -> Iterator[tuple[int, Any]]:
    csv.field_size_limit(min(sys.maxsize, MAX_LINE))
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        reader = csv.DictReader(file, delimiter=delimiter)
        with contextlib.suppress(csv.Error):
            _ = reader.fieldnames  # reads the header now, so that the first row has its own line number
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield line, BadRow(line, f"not CSV: {error}")
                continue
            if None in row or None in row.values():
                yield line, BadRow(line, "not as many cells as the header has names", preview(list(row.values())))
                continue
            yield line, dict(row)


def _parquet_rows(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise RolloutsError("Parquet files need the package pyarrow: install toolrl-core[audit]") from None
    try:
        opened = parquet.ParquetFile(path)
    except ValueError as error:
        raise RolloutsError(f"{path.name}: not Parquet: {error}") from None
    with opened as file:
        row = 0
        for batch in file.iter_batches(batch_size=CHUNK_ROWS):
            for record in batch.to_pylist():
                row += 1
                yield row, record


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise RolloutsError(f"{str(path)!r} is a folder, not a file")
    if not path.is_file():
        raise RolloutsError(f"there is no file {str(path)!r}")
    if path.stat().st_size == 0:
        raise RolloutsError(f"{path.name} is empty")


def _first_character(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def _sample(path: Path, kind: str) -> tuple[list[Mapping[str, Any]], list[BadRow]]:
    records: list[Mapping[str, Any]] = []
    problems: list[BadRow] = []
    for chunk in iter_chunks(path, kind, size=_SAMPLE):
        for line, content in chunk.rows:
            record = _decode(line, content) if isinstance(content, bytes) else content
            if isinstance(record, Mapping):
                records.append(record)
            else:
                problems.append(record if isinstance(record, BadRow) else BadRow(line, "not an object"))
        if len(records) >= _SAMPLE or chunk.number >= 50:
            break
    return records, problems


def _records(path: Path, kind: str) -> Iterator[Any]:
    for chunk in iter_chunks(path, kind, size=_SAMPLE):
        for line, content in chunk.rows:
            yield _decode(line, content) if isinstance(content, bytes) else content


def _bfcl_companion(path: Path, sample: Iterable[Mapping[str, Any]]) -> Path | None:
    """Find the file that holds the other half of one of the leaderboard's own files."""
    if not path.name.startswith("BFCL_") or not all("id" in record for record in sample):
        return None
    other = path.parent.parent / path.name if path.parent.name == "possible_answer" else _below(path)
    return other if other.is_file() else (path if "irrelevance" in path.name else None)


def _below(path: Path) -> Path:
    return path.parent / "possible_answer" / path.name


def _read_answers(path: Path) -> dict[str, dict[str, Any]]:
    _check_file(path)
    kind = _SUFFIXES.get(path.suffix.lower(), "jsonl")
    if kind == "json" and _first_character(path) == b"{":
        kind = "jsonl"
    found: dict[str, dict[str, Any]] = {}
    for chunk in iter_chunks(path, kind):
        for line, content in chunk.rows:
            record = _decode(line, content) if isinstance(content, bytes) else content
            if isinstance(record, Mapping) and record.get("id") is not None:
                truth = record.get("ground_truth", record.get("possible_answer"))
                found[str(record["id"])] = {"ground_truth": truth, "tools": record.get("function", record.get("tools"))}
    return found
