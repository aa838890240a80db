"""Write what an audit found into one folder, and nowhere else.

Every file has a fixed name, so no path is ever taken from the data. A file is written under a temporary name and then
put in place: a link that lies there is replaced, not followed, and a broken run leaves no half-written file.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from toolrl_core.audit.columns import BadRow, number
from toolrl_core.audit.report import AuditReport

__all__ = ["ROW_FORMATS", "BadRowWriter", "CsvRows", "ParquetRows", "save_report"]

ROW_FORMATS = ("csv", "parquet", "none")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_BATCH = 4096


class _Placed:
    """A text file that appears under its name when it is complete."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.place = folder / name
        self.file = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed by __exit__
            "w", encoding="utf-8", errors="backslashreplace", newline="", dir=folder, prefix=".partial-", delete=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()
        partial = Path(self.file.name)
        if kind is None:
            partial.chmod(0o644)
            partial.replace(self.place)
        else:
            partial.unlink(missing_ok=True)


class BadRowWriter(_Placed):
    """Write the rows that could not be used as JSON Lines: line, reason, and the beginning of the row.

    Parameters
    ----------
    folder : Path
        Where to put ``bad_rows.jsonl``.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "bad_rows.jsonl")

    def __call__(self, row: BadRow) -> None:
        """Write one row."""
        self.file.write(json.dumps(row._asdict(), ensure_ascii=False) + "\n")


class CsvRows(_Placed):
    """Write each row's scores as CSV.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.

    Parameters
    ----------
    folder : Path
        Where to put ``rows.csv``.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "rows.csv")
        self.writer: csv.DictWriter[str] | None = None

    def __call__(self, row: Mapping[str, Any]) -> None:
        """Write one row; the first one gives the columns."""
        if self.writer is None:
            self.writer = csv.DictWriter(self.file, list(row), lineterminator="\n")
            self.writer.writeheader()
        self.writer.writerow({key: plain_cell(value) for key, value in row.items()})


class ParquetRows:
    """Write each row's scores as Parquet (needs pyarrow).

    Parameters
    ----------
    folder : Path
        Where to put ``rows.parquet``.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.arrow, self.parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise ValueError("Parquet files need the package pyarrow: install toolrl-core[audit]") from None
        folder.mkdir(parents=True, exist_ok=True)
        self.place, self.partial = folder / "rows.parquet", folder / ".partial-rows.parquet"
        self.partial.unlink(missing_ok=True)
        self.held: list[dict[str, Any]] = []
        self.writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, row: dict[str, Any]) -> None:
        """Hold one row; full batches are written."""
        self.held.append(row)
        if len(self.held) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if not self.held:
            return
        if self.writer is None:
            self.writer = self.parquet.ParquetWriter(self.partial, self._schema(self.held[0]))
        self.writer.write_table(self.arrow.Table.from_pylist(self.held, schema=self.writer.schema))
        self.held = []

    def _schema(self, row: Mapping[str, Any]) -> Any:
        kinds = dict.fromkeys(("id", "group", "explained", "reading_reasons", "lost"), "string") | {"line": "int64"}
        kinds |= {key: "int64" for key in row if key.startswith("n_")}
        types = {"string": self.arrow.string(), "int64": self.arrow.int64()}
        return self.arrow.schema([(key, types.get(kinds.get(key, ""), self.arrow.float64())) for key in row])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._flush()
        if self.writer is not None:
            self.writer.close()
            if kind is None:
                self.partial.replace(self.place)
        self.partial.unlink(missing_ok=True)


def plain_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> plain_cell("=cmd()"), plain_cell("-1.5"), plain_cell(-3.0)
    ("'=cmd()", '-1.5', -3.0)
    """
    if isinstance(value, str) and value.startswith(_FORMULA) and number(value) is None:
        return f"'{value}"
    return value


def save_report(report: AuditReport, folder: Path | str, *, formats: Sequence[str] = ("html", "md", "json")) -> Path:
    """Write a report as ``report.html``, ``report.md`` and ``report.json``.

    Parameters
    ----------
    report : AuditReport
        The report.
    folder : path
        Where to put them; it is made where it is not there.
    formats : sequence of str
        Which of them.

    Returns
    -------
    Path
        The folder.
    """
    folder = Path(folder)
    written = {"html": report.to_html, "md": report.to_markdown, "json": report.to_json}
    for kind in formats:
        with _Placed(folder, f"report.{kind}") as placed:
            placed.file.write(written[kind]())
    return folder
