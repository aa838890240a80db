"""Sphinx hooks of the pages around the chapters: generated parts, roles for claims, files to download."""

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxRole

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import toolrl_core  # noqa: E402  (the project's root is no installed package)
from book._tools import generated, scoreboard_page  # noqa: E402

WORDS_A_MINUTE = 200
GLUED_MINUS = re.compile(r'(<span class="pasted-text">)-(?=\d)')


def fill_in(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the marked lines of a page by what is computed for them."""
    if docname.startswith("book/") and generated.MARK.search(source[0]):
        source[0] = generated.fill_in(source[0])
        for path in generated.inputs():
            app.env.note_dependency(str(path))


class CountOfClaims(SphinxRole):
    """The number of claims with a verdict: ``{claims}`not reproduced` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Count them in the executed notebooks."""
        for copy in scoreboard_page.copies():
            self.env.note_dependency(str(copy))
        return [nodes.Text(str(scoreboard_page.count_of(self.text)))], []


class ClaimInText(SphinxRole):
    """What a chapter computed for a claim, linked to its row there: ``{ours}`toolrl.P2.counterexample` ``."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Find the record in the executed notebooks."""
        for copy in scoreboard_page.copies():
            self.env.note_dependency(str(copy))
        row = scoreboard_page.row_of(self.text)
        up = "../" * self.env.docname.count("/")
        address = f"{up}notebooks/{row.claim.decided_by}.html#{row.claim.anchor}"
        shown = row.record.ours.replace("-", "−") if row.record else ""
        return [nodes.reference("", shown, refuri=address, internal=True)], []


def find_name(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Resolve a name in a docstring: link a public one, show another one of the package as it is."""
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"].removeprefix("~").rpartition(".")[2]
    if name in toolrl_core.__all__ and node["reftarget"] != f"toolrl_core.{name}":
        python = env.get_domain("py")
        wanted = f"toolrl_core.{name}"
        return python.resolve_xref(env, node["refdoc"], app.builder, "obj", wanted, node, content)  # type: ignore[arg-type]
    by_hand = node.get("reftype") in {"func", "data", "meth", "exc", "attr"}
    return None if by_hand and name not in defined_names() else content


@cache
def defined_names() -> frozenset[str]:
    """List the functions, classes and variables that the modules of the package define."""
    found: set[str] = set()
    for path in (ROOT / "toolrl_core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)


def write_files(app: Sphinx, problem: Exception | None) -> None:
    """Write the files that the scoreboard page offers, beside it."""
    if problem is None and app.builder.name == "html":
        for name in scoreboard_page.FILES:
            (Path(app.outdir) / "book" / name).write_text(scoreboard_page.file_text(name), encoding="utf8")


def offer_launching(app: Sphinx, config: Config) -> None:
    """Give each chapter buttons for Binder and Colab where the public repository's address is known."""
    if config.toolrl_repository:
        config.html_theme_options |= {
            "repository_url": config.toolrl_repository,
            "repository_branch": config.toolrl_revision,
            "path_to_docs": "",
            "use_repository_button": True,
            "launch_buttons": {
                "notebook_interface": "jupyterlab",
                "binderhub_url": "https://mybinder.org",
                "colab_url": "https://colab.research.google.com",
            },
        }


def finish_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Say how long a page takes to read, give glued numbers a true minus, load the scoreboard's script there alone."""
    if pagename == "book/scoreboard":
        app.add_js_file("scoreboard.js", loading_method="defer")
    if doctree is not None and context.get("body"):
        words = sum(len(paragraph.astext().split()) for paragraph in doctree.findall(nodes.paragraph))
        minutes = max(1, round(words / WORDS_A_MINUTE))
        shown = f'<p class="reading-time">{minutes} min read</p>'
        body = context["body"].replace("</h1>", f"</h1>{shown}", 1)
        context["body"] = GLUED_MINUS.sub(r"\1−", body)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the hooks."""
    app.add_config_value("toolrl_repository", "", "env")
    app.add_config_value("toolrl_revision", "main", "env")
    app.connect("config-inited", offer_launching)
    app.connect("source-read", fill_in)
    app.connect("missing-reference", find_name)
    app.connect("html-page-context", finish_page)
    app.connect("build-finished", write_files)
    app.add_role("claims", CountOfClaims())
    app.add_role("ours", ClaimInText())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
