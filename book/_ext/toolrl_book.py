"""Sphinx hooks of the book: executed notebooks, Python in the page, browser files of its own, no Thebe."""

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from book._tools import execute, playground, vendor  # noqa: E402  (the project's root is no installed package)


def require_preparation(app: Sphinx) -> None:
    """Stop with one sentence where a page could not be built from what is there."""
    stale = [source.stem for source in execute.sources() if not execute.is_current(source)]
    if stale or not all(package.is_current for package in vendor.PACKAGES):
        missing = f"executed copies of {', '.join(stale)}" if stale else "browser files"
        raise SystemExit(f"The book lacks current {missing}: run `make book`, which prepares and builds everything.")


def use_executed(app: Sphinx, docname: str, source: list[str]) -> None:
    """Build a notebook's page from the copy that papermill executed."""
    if docname.startswith("notebooks/"):
        executed = execute.EXECUTED / f"{Path(docname).name}.ipynb"
        app.env.note_dependency(str(executed))
        source[0] = executed.read_text(encoding="utf8")


def leave_out_unused(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Leave out Thebe, which wants a server that runs code, and MathJax where the page itself has no equation."""
    unused = ["thebe"] if app.env.domaindata["math"]["has_equations"].get(pagename) else ["thebe", "mathjax"]
    for kind in ("script_files", "css_files"):
        context[kind] = [asset for asset in context[kind] if not any(word in _described(asset) for word in unused)]


def _described(asset: Any) -> str:
    """Name and content of a script or style sheet, in lower case."""
    return f"{getattr(asset, 'filename', '')} {getattr(asset, 'attributes', {}).get('body', '')}".lower()


class Playground(SphinxDirective):
    """The forms that run the package in the page: ``{playground}``."""

    def run(self) -> list[nodes.Node]:
        """Write the three tabs."""
        for path in playground.sources():
            self.env.note_dependency(str(path))
        up = "../" * self.env.docname.count("/")
        return [nodes.raw("", playground.playground(f"{up}_static/"), format="html")]


class TryHere(SphinxDirective):
    """One form for a chapter, with the named examples to choose from: ``{try-it} name …``."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Write the form."""
        for path in playground.sources():
            self.env.note_dependency(str(path))
        number = self.env.new_serialno("try-it") + 1
        up = "../" * self.env.docname.count("/")
        try:
            form = playground.panel(f"{up}_static/", self.arguments[0].split(), number, f"{up}book/playground.html")
        except ValueError as error:
            raise self.error(str(error)) from None
        return [nodes.raw("", form, format="html")]


def write_archive(app: Sphinx, exception: Exception | None) -> None:
    """Put the package beside the scripts that run it in the page."""
    if exception is None and app.builder.format == "html":
        Path(app.outdir, "_static", playground.ARCHIVE).write_bytes(playground.archive())


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the hooks."""
    app.connect("builder-inited", require_preparation)
    app.connect("source-read", use_executed)
    app.connect("html-page-context", leave_out_unused, priority=999)
    app.add_directive("playground", Playground)
    app.add_directive("try-it", TryHere)
    app.connect("build-finished", write_archive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
