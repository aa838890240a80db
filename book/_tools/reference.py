"""Make the pages of the API reference from the package: which names stand where, and which chapters use them."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import toolrl_core
from book._tools import execute

PAGES: Mapping[str, tuple[str, ...]] = {
    "score": ("rewards", "spec", "breakdown", "batch", "ground_truth", "calls", "parsing", "reasons"),
    "compare": ("equality", "matching", "pairs", "formats", "schedules"),
    "optimise": ("advantages", "dialects", "group_report", "clipping", "gradients"),
    "turns": (
        "turns",
        "contracts",
        "trajectories",
        "trajectory_files",
        "masks",
        "filter_policies",
        "boxed",
        "prescriptions",
        "action_trees",
    ),
    "audit": ("audit",),
    "study": ("mistakes", "arrays", "array_scores", "bfcl"),
}
"""Modules and folders of each page; a module that no page names goes to the last one."""

FIRST = "score"
"""The name that the first page starts with."""

CHAPTER_OF_MODULE: Mapping[str, str] = {
    "rewards": "01_reward_anatomy",
    "spec": "01_reward_anatomy",
    "breakdown": "01_reward_anatomy",
    "batch": "01_reward_anatomy",
    "ground_truth": "01_reward_anatomy",
    "calls": "01_reward_anatomy",
    "parsing": "01_reward_anatomy",
    "reasons": "01_reward_anatomy",
    "mistakes": "01_reward_anatomy",
    "array_scores": "01_reward_anatomy",
    "arrays": "01_reward_anatomy",
    "bfcl": "01_reward_anatomy",
    "matching": "02_greedy_vs_optimal",
    "pairs": "02_greedy_vs_optimal",
    "schedules": "03_scale_contrast",
    "equality": "05_equality_and_format",
    "formats": "05_equality_and_format",
    "advantages": "06_advantages",
    "dialects": "06_advantages",
    "group_report": "06_advantages",
    "clipping": "07_rare_tokens_push_hardest",
    "gradients": "07_rare_tokens_push_hardest",
    "audit": "11_audit_your_rollouts",
    "adapters": "12_use_it_in_your_trainer",
    "boxed": "08_drift_and_void_turns",
    "contracts": "08_drift_and_void_turns",
    "filter_policies": "09_veto_mask_or_drop",
    "prescriptions": "10_three_prescriptions",
    "action_trees": "10_three_prescriptions",
    "masks": "09_veto_mask_or_drop",
    "trajectories": "08_drift_and_void_turns",
    "trajectory_files": "08_drift_and_void_turns",
    "turns": "08_drift_and_void_turns",
}
"""The chapter that explains a module or folder, for names that no notebook uses itself."""


def module_of(name: str) -> str:
    """Give the module that a public name lives in, without the package's name."""
    return str(toolrl_core._HOME_OF[name])  # noqa: SLF001  (the package's own table of its public names)


def page_of(name: str) -> str:
    """Give the page that documents a public name."""
    homes = {module: page for page, modules in PAGES.items() for module in modules}
    module = module_of(name)
    return homes.get(module) or homes.get(module.partition(".")[0], list(PAGES)[-1])


def names_of(page: str) -> list[str]:
    """List the public names of a page, in the order of its modules, then by the alphabet.

    Raises
    ------
    ValueError
        If there is no such page.
    """
    if page not in PAGES:
        raise ValueError(f"there is no page {page!r} of the reference; valid: {', '.join(PAGES)}")
    order = {module: place for place, module in enumerate(PAGES[page])}
    names = [name for name in toolrl_core.__all__ if page_of(name) == page]
    return sorted(names, key=lambda name: (order.get(module_of(name), len(order)), name != FIRST, name.lower()))


def kind_of(name: str) -> str:
    """Say whether a public name is a class, an exception, a function or data."""
    value = getattr(toolrl_core, name)
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isroutine(value) else "data"


@cache
def _used_names(notebook: Path, _changed: int) -> frozenset[str]:
    cells = json.loads(notebook.read_text(encoding="utf8"))["cells"]
    used: set[str] = set()
    for cell in cells:
        if cell["cell_type"] == "code":
            code = re.sub(r"(?m)^[%!].*$", "", "".join(cell["source"]))
            nodes = list(ast.walk(ast.parse(code)))
            used |= {node.id for node in nodes if isinstance(node, ast.Name)}
            used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return frozenset(used)


def chapters_of(name: str) -> list[str]:
    """List the stems of the notebooks that use a public name, else the one that explains its module."""
    using = [path.stem for path in execute.sources() if name in _used_names(path, path.stat().st_mtime_ns)]
    module = module_of(name)
    explaining = CHAPTER_OF_MODULE.get(module) or CHAPTER_OF_MODULE.get(module.partition(".")[0])
    return using or ([explaining] if explaining else [])


def summary_of(name: str) -> str:
    """Give the first sentence of a name's documentation.

    Raises
    ------
    ValueError
        If the name has none.
    """
    text = _data_docstring(name) if kind_of(name) == "data" else inspect.getdoc(getattr(toolrl_core, name))
    if not text:
        raise ValueError(f"the public name {name!r} has no docstring")
    return text.strip().split("\n\n")[0].replace("\n", " ")


@cache
def _data_docstring(name: str) -> str:
    """Read the text below a module's variable."""
    module = importlib.import_module(f"toolrl_core.{module_of(name)}")
    body = ast.parse(inspect.getsource(module)).body
    for node, after in pairwise(body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        if named and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return inspect.cleandoc(str(after.value.value))
    return ""


def overview(page: str) -> str:
    """List the names of a page in one table, each with its summary and its chapters."""
    rows = [
        f"| [`{name}`](#toolrl_core.{name}) | {_markdown(summary_of(name))} | {_chapters(name)} |"
        for name in names_of(page)
    ]
    return "\n".join(["| name | what it does | chapter |", "|---|---|---|", *rows])


def _markdown(text: str) -> str:
    plain = re.sub(r":\w+(?::\w+)?:`~?\.?([^`]+)`", r"`\1`", text)
    return plain.replace("``", "`").replace("|", "\\|")


def _chapters(name: str) -> str:
    return ", ".join(f"[{int(stem[:2])}](../../notebooks/{stem}.ipynb)" for stem in chapters_of(name))


def entries(page: str) -> str:
    """Document the names of a page from their docstrings."""
    return "\n\n".join(_entry(name) for name in names_of(page))


def _entry(name: str) -> str:
    kind = kind_of(name)
    members = "\n   :members:" if kind == "class" else ""
    lines = f".. auto{kind}:: toolrl_core.{name}{members}"
    if kind == "data":
        lines = f".. py:data:: toolrl_core.{name}\n\n" + "\n".join(
            f"   {line}" for line in (_data_docstring(name) or summary_of(name)).splitlines()
        )
    where = ", ".join(f":doc:`/notebooks/{stem}`" for stem in chapters_of(name))
    return f"```{{eval-rst}}\n{lines}\n\n*Used in* {where}.\n```"
