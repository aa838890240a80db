"""What importing the package loads: the standard library alone, until something heavier is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toolrl_core

ROOT = Path(__file__).parent.parent
HEAVY = ("numpy", "scipy", "pandas", "matplotlib", "ipywidgets", "IPython", "torch", "trl", "ray", "tqdm", "pyarrow")
REPORT = f"\nimport sys\nprint([name for name in {HEAVY!r} if name in sys.modules])\n"

LIGHT = {
    "import": "import toolrl_core",
    "one score": (
        "from toolrl_core import RewardSpec, score\n"
        'text = \'<think> t </think>\\n<tool_call>\\n{"name": "f", "parameters": {}}\\n</tool_call>\'\n'
        "for spec in RewardSpec.presets().values():\n"
        "    result = score(text, text, spec)\n"
        "    assert result.total == (2 if 'equal' in spec.name else 4)\n"
        "    result.to_dict(), result._repr_html_()"
    ),
    "twelve calls on each side": (
        "from toolrl_core import ToolCall, score\n"
        "calls = [ToolCall('f', {'a': i}) for i in range(9)]\n"
        "assert score(calls[::-1], calls).total == 3"
    ),
    "a stream": (
        "from toolrl_core import iter_scores\n"
        "assert [each.total for each in iter_scores([('', []), ([], [])])] == [3, 3]"
    ),
    "rows": (
        "from toolrl_core.batch import score_rows\n"
        "from toolrl_core import RewardSpec\n"
        "assert next(score_rows([('', [])], RewardSpec()))[0] == 3"
    ),
    "reading": (
        "from toolrl_core import parse_completion, parse_ground_truth, render_completion\n"
        "parse_completion('<tool_call>{}')\n"
        "parse_ground_truth([{'f': {'a': [1, '']}}])\n"
        "render_completion([])"
    ),
    "rules": (
        "from toolrl_core import equal, greedy_assignment, optimal_assignment, pair_scores, strict_format, dynamic\n"
        "equal(1, True), optimal_assignment([[1.0]]), greedy_assignment([[1.0]]), dynamic().at(5)"
    ),
    "a bad name": "import toolrl_core\ntry:\n    toolrl_core.invented\nexcept AttributeError:\n    pass",
}


def loaded(code: str) -> str:
    """Run code in a fresh interpreter; return which heavy packages it loaded."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", code + REPORT], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("code", LIGHT.values(), ids=LIGHT)
def test_scoring_loads_the_standard_library_alone(code: str) -> None:
    assert loaded(code) == "[]"


def test_this_check_can_fail() -> None:
    found = loaded("from toolrl_core import score_many\nscore_many([[]], [[]])")
    assert "'numpy'" in found
    assert "'pandas'" in found


def test_many_calls_are_matched_without_scipy() -> None:
    code = (
        "import sys\n"
        "sys.modules['scipy'] = sys.modules['scipy.optimize'] = None\n"
        "from toolrl_core import ToolCall, score\n"
        "calls = [ToolCall('f', {'a': i}) for i in range(30)]\n"
        "assert score(calls[::-1], calls).total == 3\n"
        "del sys.modules['scipy'], sys.modules['scipy.optimize']"
    )
    assert loaded(code) == "[]"


def test_every_public_name_is_there_and_documented() -> None:
    names: dict[str, Any] = {name: getattr(toolrl_core, name) for name in toolrl_core.__all__}
    assert sorted(names) == list(toolrl_core.__all__)
    assert set(names) <= set(dir(toolrl_core))
    for name, value in names.items():
        if callable(value):
            assert value.__doc__, name
            assert value.__module__.startswith("toolrl_core."), name


def test_a_star_import_brings_the_public_names() -> None:
    names: dict[str, Any] = {}
    exec("from toolrl_core import *", names)
    assert {name for name in names if not name.startswith("__")} == set(toolrl_core.__all__)


def test_an_unknown_attribute_is_an_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="module 'toolrl_core' has no attribute 'scores'"):
        toolrl_core.scores  # noqa: B018
    with pytest.raises(ImportError):
        exec("from toolrl_core import scores", {})
