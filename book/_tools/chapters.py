"""Tell about the chapters what their notebooks say: titles and parameters."""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import yaml

from book._tools import execute


def title_of(source: Path) -> str:
    """Give the title of a notebook."""
    return str(nbformat.read(source, as_version=4).cells[0].source.splitlines()[0].removeprefix("# "))


def parameters_of(source: Path) -> dict[str, str]:
    """Give the parameters of a notebook, each with its value as it is written there."""
    cells = nbformat.read(source, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if "parameters" in cell.metadata.get("tags", []))
    found = {}
    for node in ast.parse(code).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and getattr(node, "value", None) is not None:
                found[target.id] = " ".join(ast.unparse(node.value).split())
    return found


def parameters_table() -> str:
    """List the parameters of all chapters as Markdown.

    Raises
    ------
    ValueError
        If a chapter declares none.
    """
    rows = ["| chapter | parameters and their values |", "|---|---|"]
    for source in execute.sources():
        parameters = parameters_of(source)
        if not parameters:
            raise ValueError(f"{source.name} declares no parameters")
        shown = ", ".join(f"`{name}={_short(value)}`" for name, value in parameters.items())
        rows.append(f"| [{title_of(source)}](../notebooks/{source.name}) | {shown} |")
    return "\n".join(rows)


def _short(value: str) -> str:
    return (value if len(value) <= 40 else value[:37] + "…").replace("|", "\\|")


def online() -> str:
    """Tell how to run a chapter online, where the public repository's address is known; else nothing."""
    settings = yaml.safe_load((execute.ROOT / "_config.yml").read_text(encoding="utf8"))["sphinx"]["config"]
    address = settings["toolrl_repository"]
    if not address:
        return ""
    return (
        "## Run a chapter online\n\n"
        "The rocket at the top of a chapter opens it on Binder, where everything is installed, or on Colab, where its "
        f"first cell has to be:\n\n```\n%pip install git+{address}@{settings['toolrl_revision']}\n```"
    )
