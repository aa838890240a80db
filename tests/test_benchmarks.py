"""The benchmark script measures what it says."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from toolrl_core.calls import ToolCall

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "run.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_run", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its own module up by name.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "benchmark_run", module)
        spec.loader.exec_module(module)
    return module


def test_the_ratio_is_the_quotient_of_the_least_times(benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    # Three rounds of (start, end) readings of the clock: 4 against 2, 9 against 3, 8 against 1.
    readings = iter([0, 4, 0, 2, 0, 9, 0, 3, 0, 8, 0, 1])
    monkeypatch.setattr(benchmark.time, "process_time", lambda: next(readings))
    ratio = benchmark.compare("a / b", lambda: None, lambda: None, rounds=3)
    assert (ratio.ratio, ratio.lowest, ratio.highest) == (4 / 1, 4 / 2, 8 / 1)


def test_both_sides_run_once_more_than_there_are_rounds(benchmark: ModuleType) -> None:
    runs: list[str] = []
    benchmark.compare("a / b", lambda: runs.append("a"), lambda: runs.append("b"), rounds=2)
    assert runs == ["a", "b"] * 3


def test_every_comparison_gives_a_positive_ratio(benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [[ToolCall("f", {"a": 1}), ToolCall("g", {})]]
    monkeypatch.setattr(benchmark, "text_rows", lambda rng: ("two calls", calls, calls))
    rng = np.random.default_rng(0)
    ratios = [*benchmark.from_text(rng, rounds=1), *benchmark.array_engine(rng, rounds=1, singles=3, cases=50)]
    assert [ratio.what for ratio in ratios] == [
        "score_many, paper, two calls / json.loads",
        "score_many, released, two calls / json.loads",
        "score_many, robust, two calls / json.loads",
        "score_many, paper, two calls, every completion distinct / json.loads",
        "score_many, released, two calls, every completion distinct / json.loads",
        "score_many, robust, two calls, every completion distinct / json.loads",
        "score / score_arrays, paper",
        "score / score_arrays, released",
        "score / score_arrays, robust",
        "score_arrays, optimal / greedy matching",
    ]
    assert all(0 < ratio.lowest <= ratio.ratio <= ratio.highest for ratio in ratios)


def test_the_yardstick_decodes_every_call_of_a_text(benchmark: ModuleType) -> None:
    text = benchmark.render_completion([ToolCall("f", {"a": "{"}), ToolCall("g", {})])
    assert [json.loads(line)["name"] for line in benchmark._json_lines(text)] == ["f", "g"]


def test_the_distinct_variant_gives_each_row_values_of_its_own(benchmark: ModuleType) -> None:
    changed = [benchmark._unlike_any(call, 7) for call in (ToolCall("f", {"a": 1, "b": 2}), ToolCall("g", {}))]
    assert changed == [ToolCall("f", {"a": "1 of row 7", "b": 2}), ToolCall("g", {"row": "None of row 7"})]
