"""Compare the speed of the scorers with a yardstick on the same machine, in one run.

::

    python benchmarks/run.py                       # a table of ratios
    python benchmarks/run.py --rounds 9 --json     # more rounds; one JSON object for a program to read

Absolute times say more about a machine than about a scorer, so only ratios are printed. In every round the two sides
of a comparison run one after the other on one core; the ratio is the quotient of the two least processor times over
the rounds, which other work on the machine disturbs least, and the spread gives the smallest and the largest quotient
of a single round.

*From text*: `score_many` on completions and ground truths as text, against ``json.loads`` of every line of the same
completions that holds a call; the ground truths are not part of the yardstick. No scorer that decodes the calls can be
faster than that, so the ratio says what everything else costs. The texts are BFCL answers with damaged arguments
(`toolrl_core.mistakes.corrupt`) if the data are in place (``python -m toolrl_core.bfcl``), else drawn calls, each
ground truth with a group of completions, as in training. Completions of a group that repeat each other's calls are
scored faster, so there is a second variant: *every completion distinct*, where each call has a wrong value that occurs
nowhere else.

*Array engine*: `score` on one case after the other, against `score_arrays` on many, per case.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from toolrl_core.array_scores import score_arrays
from toolrl_core.arrays import draw_cases, to_calls
from toolrl_core.batch import score_many
from toolrl_core.bfcl import is_complete, load, realise
from toolrl_core.calls import ToolCall
from toolrl_core.ground_truth import GroundTruth, parse_ground_truth, render_completion
from toolrl_core.mistakes import corrupt
from toolrl_core.rewards import score
from toolrl_core.spec import RewardSpec

PRESETS = ("paper", "released", "robust")
CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple")
GROUP_SIZE = 4
THOUGHT = " ".join(
    f"Step {number}: look at the request, choose a tool, then fill in its parameters." for number in range(14)
)


@dataclass(frozen=True)
class Ratio:
    """Say how many times longer one piece of work takes than another."""

    what: str
    ratio: float
    lowest: float
    highest: float


def compare(what: str, measured: Callable[[], object], yardstick: Callable[[], object], *, rounds: int) -> Ratio:
    """Time two pieces of work in turn and return the quotient of their least times.

    Parameters
    ----------
    what : str
        Label of the comparison.
    measured, yardstick : callable
        The work; each is run once before timing starts.
    rounds : int
        How often both are timed.

    Returns
    -------
    Ratio
    """
    measured(), yardstick()
    pairs = [(_seconds(measured), _seconds(yardstick)) for _ in range(rounds)]
    quotients = [first / second for first, second in pairs]
    least = [min(times) for times in zip(*pairs, strict=True)]
    return Ratio(what, least[0] / least[1], min(quotients), max(quotients))


def text_rows(rng: np.random.Generator) -> tuple[str, list[list[ToolCall]], list[list[ToolCall]]]:
    """Return where the rows come from, the expected calls and the predicted calls of each row."""
    if is_complete():
        source = "BFCL answers"
        answers = [realise(row) for row in load(CATEGORIES)]
    else:
        source = "drawn calls (no BFCL data)"
        arrays = draw_cases(rng, 1000)
        answers = [list(to_calls(arrays, index)[0]) for index in range(len(arrays))]
    expected = [calls for calls in answers for _ in range(GROUP_SIZE)]
    return source, expected, [corrupt(calls, rng) for calls in expected]


def from_text(rng: np.random.Generator, *, rounds: int) -> list[Ratio]:
    """Compare `score_many` with decoding the calls of the same completions."""
    source, expected, predicted = text_rows(rng)
    truths = [render_completion(calls, thought=THOUGHT) for calls in expected]
    distinct = [[_unlike_any(call, row) for call in calls] for row, calls in enumerate(predicted)]
    ratios = []
    for variant, answers in ((source, predicted), (f"{source}, every completion distinct", distinct)):
        completions = [
            render_completion(truth, calls=calls, thought=f"{THOUGHT} ({row})")
            for row, (truth, calls) in enumerate(zip(expected, answers, strict=True))
        ]
        lines = [line for text in completions for line in _json_lines(text)]
        ratios += [
            compare(
                f"score_many, {preset}, {variant} / json.loads",
                partial(score_many, completions, truths, RewardSpec.preset(preset)),
                partial(_decode, lines),
                rounds=rounds,
            )
            for preset in PRESETS
        ]
    return ratios


def _unlike_any(call: ToolCall, row: int) -> ToolCall:
    """Return a call whose first argument has a value that no other row has."""
    key = next(iter(call.arguments), "row")
    return ToolCall(call.name, {**call.arguments, key: f"{call.arguments.get(key)} of row {row}"})


def _decode(lines: Sequence[str]) -> None:
    for line in lines:
        json.loads(line)


def array_engine(rng: np.random.Generator, *, rounds: int, singles: int = 1000, cases: int = 100_000) -> list[Ratio]:
    """Compare `score` with `score_arrays`, per case."""
    arrays = draw_cases(rng, cases)
    pairs = [to_calls(arrays, index) for index in range(singles)]
    prepared = [(predicted, parse_ground_truth(truth)) for truth, predicted in pairs]
    results = []
    for preset in PRESETS:
        spec = RewardSpec.preset(preset)
        one_by_one = compare(
            f"score / score_arrays, {preset}",
            partial(_score_each, prepared, spec),
            partial(score_arrays, arrays, spec),
            rounds=rounds,
        )
        scale = cases / singles
        results.append(
            Ratio(one_by_one.what, *(scale * x for x in (one_by_one.ratio, one_by_one.lowest, one_by_one.highest)))
        )
    paper = RewardSpec.preset("paper")
    greedy = paper.replace(matching="greedy_ground_truth")
    results.append(
        compare(
            "score_arrays, optimal / greedy matching",
            partial(score_arrays, arrays, paper),
            partial(score_arrays, arrays, greedy),
            rounds=rounds,
        )
    )
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all comparisons and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="how often each side is timed (default 5)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the drawn cases (default 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds must be at least 1, found {options.rounds}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng = np.random.default_rng(options.seed)
    ratios = [*from_text(rng, rounds=options.rounds), *array_engine(rng, rounds=options.rounds)]
    if options.json:
        print(json.dumps({"rounds": options.rounds, "ratios": [asdict(ratio) for ratio in ratios]}))
        return 0
    width = max(len(ratio.what) for ratio in ratios)
    print(f"{'time of a / time of b':<{width}}  {'ratio':>7}  spread over {options.rounds} rounds")
    for ratio in ratios:
        print(f"{ratio.what:<{width}}  {ratio.ratio:7.1f}  {ratio.lowest:.1f} to {ratio.highest:.1f}")
    return 0


def _score_each(pairs: Sequence[tuple[Sequence[ToolCall], GroundTruth]], spec: RewardSpec) -> None:
    for predicted, truth in pairs:
        score(predicted, truth, spec)


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _json_lines(text: str) -> list[str]:
    """Return the lines of a rendered completion that hold a call."""
    return [line for line in text.splitlines() if line.startswith("{")]


if __name__ == "__main__":
    raise SystemExit(main())
