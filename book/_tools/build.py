"""Build the book: browser files, executed notebooks, pages; `make book` runs this.

A build whose inputs have not changed since the last one ends at once.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml

from book._tools import execute, vendor

ROOT = execute.ROOT
HTML = ROOT / "_build" / "html"
STAMP = ROOT / "_build" / "html.inputs"


def pages() -> list[str]:
    """List the pages of _toc.yml in reading order, each as its path without an ending."""
    found: list[str] = []

    def walk(node: object) -> None:
        if isinstance(node, dict):
            found.extend(str(node[key]) for key in ("root", "file") if key in node)
            for key in ("parts", "chapters", "sections"):
                walk(node.get(key))
        elif isinstance(node, list):
            for entry in node:
                walk(entry)

    walk(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8")))
    return found


def inputs() -> str:
    """Digest everything that the pages are made from."""
    digest = hashlib.sha256()
    notebooks = [path for source in execute.sources() for path in (source, execute.target_of(source))]
    prose = (path for path in (ROOT / "book").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    versions = [package.place / f"version-{package.version}" for package in vendor.PACKAGES]
    settings = [ROOT / name for name in ("_config.yml", "_toc.yml", "requirements.txt")]
    package = [path for path in (ROOT / "toolrl_core").rglob("*") if path.suffix in {".py", ".json"}]
    for path in [*settings, *versions, *sorted(prose), *notebooks, *sorted(package)]:
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current() -> bool:
    """Tell whether the pages were built from the inputs as they are now."""
    copies = all(execute.is_current(source) for source in execute.sources())
    return copies and STAMP.exists() and not missing_pages() and STAMP.read_text(encoding="utf8") == inputs()


def missing_pages() -> list[str]:
    """List the pages of _toc.yml that have no HTML."""
    return [page for page in pages() if not (HTML / f"{page}.html").exists()]


def build() -> None:
    """Bring everything up to date, or stop with the reason."""
    begun = time.monotonic()
    vendor.fetch_missing()
    execute.execute_all(execute.sources())
    if not is_current():
        print("pages: building with jupyter-book", flush=True)
        STAMP.unlink(missing_ok=True)
        made_from = inputs()
        command = [Path(sys.executable).with_name("jupyter-book"), "build", "-W", "-n", "--keep-going", "."]
        if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
            shutil.rmtree(ROOT / "_build" / ".doctrees", ignore_errors=True)  # else the next build would warn no more
            raise SystemExit(code)
        if missing := missing_pages():
            raise SystemExit(f"jupyter-book built no page for {', '.join(missing)}, which _toc.yml lists")
        STAMP.write_text(made_from, encoding="utf8")
    start = Path("_build", "html", "index.html")
    print(f"The book is ready ({len(pages())} pages, {time.monotonic() - begun:.0f} s). Open {start} in a browser.")


if __name__ == "__main__":
    build()
