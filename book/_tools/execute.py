"""Run notebooks headless, once each, into _build/executed/; the book and the tests read the same copies.

`python -m book._tools.execute [STEM ...]` runs those whose inputs changed, several at a time.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[2]
EXECUTED = ROOT / "_build" / "executed"
CELL_SECONDS = 300
NOTEBOOK_SECONDS = 900
PROGRESS_SECONDS = 10
CAUSE = "the notebook stopped:"
"""What stands before the cause in the output of a failed run; the kernel may write anything above it."""


class NotebookError(RuntimeError):
    """A notebook did not run to its end; the message names the notebook, the cell and the cause."""


def sources() -> list[Path]:
    """List the chapters' notebooks in reading order."""
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def fingerprint(source: Path, parameters: Mapping[str, Any] | None = None) -> str:
    """Digest everything that a run of a notebook reads: itself, the package, committed results, pins, parameters."""
    digest = hashlib.sha256(json.dumps(parameters or {}, sort_keys=True).encode())
    package = (path for path in (ROOT / "toolrl_core").rglob("*") if path.suffix in {".py", ".json", ".csv"})
    pins = ROOT.glob("*requirements*.txt"), ROOT.glob("constraints.txt"), (ROOT / "results").rglob("*.csv")
    pins = *pins, (ROOT / "studies").glob("*.toml")
    examples = (path for path in (ROOT / "examples").rglob("*") if path.suffix in {".py", ".yaml"})
    for path in [source, *sorted(package), *sorted(examples), *sorted(path for group in pins for path in group)]:
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def target_of(source: Path, parameters: Mapping[str, Any] | None = None, *, folder: Path = EXECUTED) -> Path:
    """Place of the executed copy; runs with other parameters never touch the book's copy."""
    if not parameters:
        return folder / source.name
    name = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()[:12]
    return folder / f"with-{name}" / source.name


def is_current(source: Path, parameters: Mapping[str, Any] | None = None, *, folder: Path = EXECUTED) -> bool:
    """Tell whether the executed copy exists and was made from the inputs as they are now."""
    target = target_of(source, parameters, folder=folder)
    if not target.exists():
        return False
    made_from = json.loads(target.read_text(encoding="utf8"))["metadata"].get("toolrl", {}).get("inputs")
    return bool(made_from == fingerprint(source, parameters))


def declared_parameters(source: Path) -> set[str]:
    """Names assigned in the cells tagged `parameters`."""
    cells = nbformat.read(source, as_version=4).cells
    trees = [ast.parse(cell.source) for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    statements = [node for tree in trees for node in tree.body]
    targets = [target for node in statements if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in statements if isinstance(node, ast.AnnAssign)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def execute(
    source: Path,
    parameters: Mapping[str, Any] | None = None,
    *,
    cell_seconds: float = CELL_SECONDS,
    notebook_seconds: float = NOTEBOOK_SECONDS,
    folder: Path = EXECUTED,
) -> nbformat.NotebookNode:
    """Run a notebook with papermill, unless its executed copy is current, and return the executed copy.

    Parameters
    ----------
    source : Path
        The notebook; it runs in its own folder.
    parameters : mapping, optional
        New values for names of the `parameters` cell.
    cell_seconds, notebook_seconds : float
        Limits for one cell and for the whole run, the start of the kernel included.
    folder : Path
        Where executed copies are kept.

    Raises
    ------
    ValueError
        If a parameter is not declared in the notebook.
    NotebookError
        If a cell fails, takes too long, asks for input, or kills its kernel.
    """
    unknown = set(parameters or {}) - (declared := declared_parameters(source))
    if unknown:
        known = ", ".join(sorted(declared)) or "none"
        raise ValueError(f"{source.name} does not declare {', '.join(sorted(unknown))}; declared parameters: {known}")
    target = target_of(source, parameters, folder=folder)
    if not is_current(source, parameters, folder=folder):
        partial = _partial(target)
        partial.parent.mkdir(parents=True, exist_ok=True)
        inputs = fingerprint(source, parameters)
        _run(source, partial, parameters or {}, cell_seconds=cell_seconds, notebook_seconds=notebook_seconds)
        notebook = nbformat.read(partial, as_version=4)
        notebook.metadata["toolrl"] = {"inputs": inputs}
        nbformat.write(notebook, partial)
        partial.replace(target)
    return nbformat.read(target, as_version=4)


def _partial(target: Path) -> Path:
    """Place of a copy that is still being made."""
    return target.with_suffix(".partial.ipynb")


def _run(
    source: Path, target: Path, parameters: Mapping[str, Any], *, cell_seconds: float, notebook_seconds: float
) -> None:
    """Run papermill in a process of its own, which can be ended whatever the kernel does."""
    job = {"source": str(source), "target": str(target), "parameters": dict(parameters), "cell_seconds": cell_seconds}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "TOOLRL_BAKE": "1", "PYTHONPATH": path, "JUPYTER_PREFER_ENV_PATH": "1"}
    target.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "book._tools.run_papermill"],
            input=json.dumps(job),
            env=environment,
            cwd=ROOT,
            timeout=notebook_seconds,
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        cause = f"the notebook took longer than {notebook_seconds:g} s"
    else:
        if done.returncode == 0:
            return
        said = done.stderr.rpartition(CAUSE)[2].strip() or f"papermill ended with code {done.returncode}"
        cause = re.sub(r"\x1b\[[0-9;]*m", "", said)
    raise NotebookError(f"{source.name}{_stopped_at(target)}: {cause}")


def _stopped_at(partial: Path) -> str:
    """Name the last cell that a failed run started."""
    try:
        cells = nbformat.read(partial, as_version=4).cells
    except (FileNotFoundError, nbformat.reader.NotJSONError):  # not begun, or being written just now
        return ""
    started = [cell.id for cell in cells if cell.metadata.get("papermill", {}).get("start_time")]
    return f", cell {started[-1]!r}" if started else ""


def glued(notebook: nbformat.NotebookNode) -> dict[str, Any]:
    """Values that a notebook glued: numbers, texts and other Python literals, else the text that was shown."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    values: dict[str, Any] = {}
    for output in outputs:
        if "scrapbook" in output.get("metadata", {}):
            text = next(text for mime, text in output.data.items() if mime.endswith("text/plain"))
            try:
                values[output.metadata.scrapbook.name] = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                values[output.metadata.scrapbook.name] = text
    return values


def execute_all(chosen: Iterable[Path]) -> None:
    """Run notebooks several at a time and say how each is doing.

    Raises
    ------
    SystemExit
        If any failed, after all have ended.
    """
    waiting = [source for source in chosen if not is_current(source)]
    if not waiting:
        print("notebooks: all executed copies are current", flush=True)
        return
    print(f"notebooks: executing {', '.join(source.stem for source in waiting)}", flush=True)
    failures = []
    begun = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running = {pool.submit(execute, source): source for source in waiting}
        while running:
            done, _ = wait(running, timeout=PROGRESS_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                source, error = running.pop(future), future.exception()
                print(f"  {'failed  ' if error else 'executed'} {source.name}", flush=True)
                failures += [str(error)] if isinstance(error, NotebookError) else []
                if error and not isinstance(error, NotebookError):
                    raise error
            if not done:
                now = [f"{source.stem}{_stopped_at(_partial(target_of(source)))}" for source in running.values()]
                print(f"  {time.monotonic() - begun:.0f} s: {'; '.join(now[: os.cpu_count() or 1])}", flush=True)
    if failures:
        raise SystemExit("\n\n".join(failures))


if __name__ == "__main__":
    stems = set(sys.argv[1:])
    execute_all(source for source in sources() if not stems or source.stem in stems)
