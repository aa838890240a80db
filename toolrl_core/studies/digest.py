"""Digest the code that a result depends on, so that a stale result can be told from a fresh one."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

__all__ = ["NAMING_MODULES", "RESULT_MODULES", "code_digest", "modules_behind", "significant_lines"]

RESULT_MODULES = ("toolrl_core.studies.cells",)
"""What produces the rows; everything that it imports from the package counts too."""
NAMING_MODULES = (
    "toolrl_core.studies.definitions",
    "toolrl_core.studies.design",
    "toolrl_core.equality",
    "toolrl_core.formats",
    "toolrl_core.matching",
    "toolrl_core.parsing",
)
"""Modules that are left out: what the first two make of a definition has a digest of its own, `Study.plan`, and from
the others a reward takes only the names of its options, for answers of the miniature are never read as text."""
_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def code_digest(start: tuple[str, ...] = RESULT_MODULES) -> str:
    """Digest the modules that stand behind a result.

    Parameters
    ----------
    start : tuple of str
        Modules of the package; what they import from it is added.

    Returns
    -------
    str
        Sixteen hexadecimal digits. Docstrings, blank lines and comments on lines of their own do not count; a comment
        behind code does.

    Notes
    -----
    How rows are laid out in files is not behind the digest: each file holds a digest of its own content.

    Examples
    --------
    >>> len(code_digest())
    16
    """
    digest = hashlib.sha256()
    for module in modules_behind(start):
        digest.update(f"{module}\0".encode())
        digest.update("\n".join(significant_lines(_path_of(module).read_text(encoding="utf8"))).encode())
    return digest.hexdigest()[:16]


def modules_behind(start: tuple[str, ...] = RESULT_MODULES) -> list[str]:
    """List modules and everything that they import from the package, sorted; `NAMING_MODULES` are left out.

    Parameters
    ----------
    start : tuple of str
        Where to begin.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "toolrl_core.advantages" in modules_behind(), "toolrl_core.audit.run" in modules_behind()
    (True, False)
    """
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        module = waiting.pop()
        if module in found or module in NAMING_MODULES:
            continue
        found.add(module)
        for node in ast.walk(ast.parse(_path_of(module).read_text(encoding="utf8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            waiting += [name for name in names if _is_module(name)]
    return sorted(found)


def significant_lines(source: str) -> list[str]:
    r"""Give the lines of a module without docstrings, comments on lines of their own, and blank lines.

    Parameters
    ----------
    source : str
        Python.

    Returns
    -------
    list of str
        The same for every version of Python. A comment behind code stays.

    Examples
    --------
    >>> significant_lines('def one():\n    "Return it."\n\n    # easy\n    return 1\n')
    ['def one():', '    return 1']
    """
    hidden: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if text and isinstance(statement.value.value, str):
                hidden.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    lines = enumerate(source.splitlines(), start=1)
    return [
        line for number, line in lines if number not in hidden and line.strip() and not line.strip().startswith("#")
    ]


def _is_module(name: str) -> bool:
    """Tell whether a dotted name is a module of the package; packages themselves only name what they hold."""
    return name.startswith("toolrl_core.") and _path_of(name).exists()


def _path_of(module: str) -> Path:
    return _PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
