"""Show what an audit of many rollouts costs: speed against `score_many`, and memory against rows and groups.

::

    python benchmarks/audit.py                        # a million rows, generated into a temporary folder
    python benchmarks/audit.py --rows 100000 --jobs 2 # fewer, in two processes

*Speed* is the time of `score_many` summed over what an audit evaluates on each row (six presets, and the one with
greedy matching twice, to see whether the order matters), divided by the time of the audit, which also reads the file,
explains the lost points, checks the ground truths and compares the presets. Both use one core and the same rows.

*Memory* is the peak of the audit's own process (the first one, where there are several) over files of the same rows: a
tenth of them, all of them in as few groups, and all of them in groups of eight. Only the number of groups should make a
difference.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from toolrl_core.arrays import draw_cases, to_calls
from toolrl_core.audit.run import PRESETS, audit
from toolrl_core.batch import score_many
from toolrl_core.calls import ToolCall
from toolrl_core.ground_truth import parse_ground_truth, render_completion
from toolrl_core.mistakes import corrupt
from toolrl_core.spec import RewardSpec

ROOT = Path(__file__).resolve().parents[1]
MEASURED = """\
import pathlib, resource, sys
from toolrl_core.audit.cli import main
main()
status = pathlib.Path("/proc/self/status")  # Linux counts the parent's memory in ru_maxrss
if status.exists():
    peak = next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak, file=sys.stderr)
"""
GROUP_SIZE = 8
POOL = 8000
SPEED_ROWS = 8000


@dataclass(frozen=True)
class Memory:
    """State the peak memory of one audit."""

    rows: int
    groups: int
    megabytes: float


def records(rng: np.random.Generator, rows: int, groups: int) -> Iterator[dict[str, object]]:
    """Draw rollouts: a pool of ground truths with eight damaged answers each, repeated as often as is needed."""
    arrays = draw_cases(rng, POOL // GROUP_SIZE)
    truths = [parse_ground_truth(list(to_calls(arrays, index)[0])) for index in range(len(arrays))]
    pool = []
    for truth in truths:
        right = [call for call in truth.calls if isinstance(call, ToolCall)]
        for answer in range(GROUP_SIZE):
            text = render_completion(truth, calls=corrupt(right, rng), thought=f"This is attempt {answer}.")
            pool.append((text, render_completion(truth)))
    for row in range(rows):
        completion, text = pool[row % len(pool)]
        yield {"completion": completion, "ground_truth": text, "group": row % groups, "reward": row % 7 / 2}


def write(path: Path, rng: np.random.Generator, rows: int, groups: int) -> Path:
    """Write a rollouts file without holding it."""
    with path.open("w", encoding="utf-8") as file:
        for record in records(rng, rows, groups):
            file.write(json.dumps(record) + "\n")
    return path


def peak_memory(path: Path, rows: int, groups: int, *, jobs: int, presets: Sequence[str]) -> Memory:
    """Audit a file in a process of its own and return that process's peak memory."""
    options = [word for preset in presets for word in ("--preset", preset)]
    command = [sys.executable, "-c", MEASURED, "audit", str(path), "--no-files", "--json", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([*command, "--jobs", str(jobs)], capture_output=True, text=True, check=True, env=environment)
    report = json.loads(run.stdout)
    if (report["scored_rows"], report["groups"]["groups"]) != (rows, groups):
        raise ValueError(f"expected {rows} rows in {groups} groups, audited {report['scored_rows']}")
    return Memory(rows, groups, int(run.stderr.split()[-1]) / 2**20)


def evaluated() -> list[RewardSpec]:
    """List what an audit evaluates on a row: every preset, and greedy matching once more with the calls reversed."""
    specs = [RewardSpec.preset(name) for name in PRESETS]
    return specs + [spec for spec in specs if spec.matching != "optimal"]


def relative_speed(path: Path, rng: np.random.Generator, rows: int) -> float:
    """Return the time of `score_many` over all evaluations divided by the time of the audit, on one core."""
    write(path, rng, rows, rows // GROUP_SIZE)
    rollouts = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    completions, truths = ([row[key] for row in rollouts] for key in ("completion", "ground_truth"))
    start = time.process_time()
    for spec in evaluated():
        score_many(completions, truths, spec)
    scoring = time.process_time() - start
    start = time.process_time()
    audit(path)
    return scoring / (time.process_time() - start)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparisons and print them."""
    parser = argparse.ArgumentParser(description="Show what an audit of many rollouts costs.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--preset", action="append", choices=PRESETS, help="for the memory; default: robust alone")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    few = max(options.rows // 1000, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rollouts.jsonl"
        speed = relative_speed(path, np.random.default_rng(options.seed), min(SPEED_ROWS, options.rows))
        found = []
        for rows, groups in (
            (options.rows // 10, few),
            (options.rows, few),
            (options.rows, options.rows // GROUP_SIZE),
        ):
            write(path, np.random.default_rng(options.seed), rows, groups)
            presets = options.preset or ["robust"]
            found.append(peak_memory(path, rows, groups, jobs=options.jobs, presets=presets))
    if options.json:
        print(json.dumps({"relative_speed": speed, "memory": [asdict(each) for each in found]}))
        return 0
    print(f"speed of the audit, as a share of score_many's over {len(evaluated())} evaluations a row: {speed:.0%}")
    print(f"{'rows':>12}{'groups':>12}{'peak memory (MB)':>20}")
    for each in found:
        print(f"{each.rows:>12,}{each.groups:>12,}{each.megabytes:>20.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
