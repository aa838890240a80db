"""The benchmark of the audit measures what it says, on a small file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "audit.py"


def test_the_benchmark_reports_speed_and_the_memory_of_three_files() -> None:
    command = [sys.executable, str(SCRIPT), "--rows", "1600", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    assert report["relative_speed"] > 0
    assert [(each["rows"], each["groups"]) for each in report["memory"]] == [(160, 1), (1600, 1), (1600, 200)]
    assert all(each["megabytes"] > 0 for each in report["memory"])
