"""Gather what an audit needs, in memory that grows with the number of groups only, and merge two halves of a file."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

from toolrl_core.audit.columns import BadRow, Rollout
from toolrl_core.audit.gold_lint import Lint, lint_ground_truth
from toolrl_core.audit.row_scores import Prepared, RowScorer, RowScores, as_text
from toolrl_core.audit.tallies import Example, LengthTally, PairTally, Tally, example, merge_counts, smaller
from toolrl_core.audit.void_tally import VoidTally
from toolrl_core.calls import GroundTruthError
from toolrl_core.spec import RewardSpec

__all__ = ["Aggregate", "GroupTable", "Lints"]

BAD_ROWS_SHOWN = 50
COMPARED = ("paper", "released", "robust")
SAME = 1e-4  # recorded rewards are often rounded
MOST_STEPS = 5000


class GroupTable:
    """Keep, for each group, its number of rows and the lowest and highest value of each reward.

    Parameters
    ----------
    names : sequence of str
        The rewards.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.rows: dict[tuple[str, float | None], array[float]] = {}

    def add(self, key: tuple[str, float | None], scored: Mapping[str, Any]) -> None:
        """Count one row of a group."""
        held = self.rows.get(key)
        if held is None:
            held = self.rows[key] = array("d", [0.0] + [0.0, float("inf"), float("-inf")] * len(self.names))
        held[0] += 1
        for place, name in enumerate(self.names):
            value = scored.get(name)
            if value is not None:
                start = 1 + 3 * place
                held[start] += 1
                held[start + 1] = min(held[start + 1], value.total)
                held[start + 2] = max(held[start + 2], value.total)

    def merge(self, other: GroupTable) -> None:
        """Add the groups of another table with the same rewards."""
        for key, theirs in other.rows.items():
            mine = self.rows.get(key)
            if mine is None:
                self.rows[key] = theirs
                continue
            mine[0] += theirs[0]
            for start in range(1, len(mine), 3):
                mine[start] += theirs[start]
                mine[start + 1] = min(mine[start + 1], theirs[start + 1])
                mine[start + 2] = max(mine[start + 2], theirs[start + 2])

    def to_dict(self) -> dict[str, Any]:
        """Return numbers of groups and shares of zero-std groups as plain values."""
        sizes = Counter(int(held[0]) for held in self.rows.values())
        zero = {}
        for place, name in enumerate(self.names):
            start = 1 + 3 * place
            usable = [held for held in self.rows.values() if held[start] > 0]
            equal = sum(held[start] < 2 or held[start + 1] == held[start + 2] for held in usable)
            zero[name] = {"groups": len(usable), "zero_std": equal, "share": equal / len(usable) if usable else None}
        return {
            "groups": len(self.rows),
            "sizes": [[size, count] for size, count in sorted(sizes.items())],
            "singletons": sizes.get(1, 0),
            "ragged": len(sizes) > 1,
            "zero_std": zero,
        }


class Aggregate:
    """Everything that an audit remembers about the rows it has seen.

    Parameters
    ----------
    specs : mapping of str to RewardSpec
        The specs that are scored.
    functions : sequence of str
        Names of further rewards.
    explained : str
        The spec whose points are accounted for.
    contract : str
        What counts as a complete turn in multi-turn rows.
    """

    def __init__(
        self, specs: Mapping[str, RewardSpec], functions: Sequence[str] = (), *, explained: str, contract: str
    ) -> None:
        self.specs, self.explained = dict(specs), explained
        self.names = (*self.specs, *functions, "recorded")
        self.rows = self.scored_rows = self.without_completion = self.with_calls = self.several_accepted = 0
        self.scored_with_calls = self.nothing_parsed = self.malformed_rows = self.no_call_rows_with_call = 0
        self.chat_markers = self.bare_thought_ends = self.without_group = 0
        self.bad: Counter[str] = Counter()
        self.bad_rows: list[BadRow] = []
        self.reasons: Counter[str] = Counter()
        self.tallies = {name: Tally() for name in self.names}
        self.bounds = {name: Tally() for name in self.specs}
        compared = [name for name in self.names if name not in self.specs or name in {*COMPARED, explained}]
        self.pairs = {pair: PairTally() for pair in combinations(compared, 2)}
        self.groups = GroupTable(self.names)
        self.lost: dict[str, float] = {}
        self.lost_by_tool: dict[tuple[str, str], float] = {}
        self.lost_by_parameter: dict[tuple[str, str, str], float] = {}
        self.tool_rows: Counter[str] = Counter()
        self.order = {name: PairTally() for name in self.specs}
        self.equal_total: Counter[str] = Counter()
        self.equal_correctness: Counter[str] = Counter()
        self.lengths = {name: LengthTally() for name in (explained, *functions, "recorded")}
        self.missing_argument: dict[str, list[float]] = {name: [0.0] * 4 for name in self.names}
        self.steps: dict[float, list[float]] = {}
        self.void = VoidTally(contract)
        self.unread: Counter[str] = Counter()
        self.unread_examples: dict[str, tuple[int, str]] = {}
        self.lints: Counter[str] = Counter()
        self.lint_examples: dict[str, tuple[int, str]] = {}

    def add_bad(self, row: BadRow) -> None:
        """Count a row that cannot be used."""
        self.rows += 1
        self.bad[row.reason.split(":")[0]] += 1
        self.bad_rows.append(row)

    def add(self, rollout: Rollout, scorer: RowScorer, lints: Lints) -> RowScores | BadRow | None:
        """Score and count one row.

        Returns
        -------
        RowScores, BadRow or None
            What it scored; why it cannot be used (it is counted as bad); None where it has no completion.
        """
        try:
            prepared = scorer.prepare(rollout)
            found = lints(prepared, scorer, rollout.step)
            limits = scorer.bounds(prepared, rollout.step)
            scores = None if rollout.completion is None else scorer(rollout, prepared)
        except (GroundTruthError, ValueError, TypeError, RecursionError) as error:
            bad = BadRow(rollout.line, f"{_kind(error)}: {error}"[:300], as_text(rollout.ground_truth)[:200])
            self.add_bad(bad)
            return bad
        self.rows += 1
        for column, text in rollout.unread:
            self.unread[column] += 1
            self.unread_examples.setdefault(column, (rollout.line, text))
        self.with_calls += bool(prepared.truth.calls)
        self.several_accepted += prepared.accepts_several
        for name, value in limits.items():
            self.bounds[name].bound(value)
        for code in dict.fromkeys(lint.code for lint in found):
            self.lints[code] += 1
            if code not in self.lint_examples:
                details = [lint.detail for lint in found if lint.code == code]
                self.lint_examples[code] = (rollout.line, "; ".join(details)[:300])
        if scores is None:
            self.without_completion += 1
            return None
        self._count(rollout, scores)
        return scores

    def _count(self, rollout: Rollout, scores: RowScores) -> None:
        self.scored_rows += 1
        expected = len(scores.prepared.truth.calls)
        self.scored_with_calls += bool(expected)
        self.nothing_parsed += bool(expected and not scores.n_predicted)
        self.malformed_rows += bool(scores.n_malformed)
        self.no_call_rows_with_call += bool(not expected and scores.n_predicted)
        self.reasons.update(scores.reasons or ("clean",))
        text = rollout.completion if isinstance(rollout.completion, str) else None
        if text is not None:
            self.chat_markers += "<|im_start|>" in text or "<|start_header_id|>" in text
            self.bare_thought_ends += "</think>" in text and "<think>" not in text
        words = len((as_text(rollout.completion) if text is None else text).split())
        for name, value in scores.scored.items():
            self.tallies[name].add(value)
            if name in self.lengths:
                self.lengths[name].add(words, value.total)
        for name, error in scores.errors.items():
            self.tallies[name].fail(error)
        if rollout.reward is None:
            self.tallies["recorded"].unscored += 1
        self._compare(rollout, scores)
        if rollout.group is None:
            self.without_group += 1
        else:
            self.groups.add((rollout.group, rollout.step), scores.scored)
        self._lose(rollout, scores)
        self.void.add(rollout, scores.scored, self.explained)

    def _compare(self, rollout: Rollout, scores: RowScores) -> None:
        shown: tuple[str, str] | None = None
        for name in self.specs if rollout.reward is not None else ():
            value, recorded = scores.scored[name], scores.scored["recorded"].total
            self.equal_total[name] += abs(value.total - recorded) <= SAME
            self.equal_correctness[name] += abs((value.correctness or 0.0) - recorded) <= SAME
        for (first, second), tally in self.pairs.items():
            a, b = scores.scored.get(first), scores.scored.get(second)
            if a is None or b is None:
                continue
            tally.rows += 1
            difference = a.total - b.total
            if difference > 1e-9 or difference < -1e-9:
                tally.differ_by(difference)
                shown = shown or (as_text(rollout.completion), as_text(rollout.ground_truth))
                side = "higher" if difference > 0 else "lower"
                held: Example | None = getattr(tally, side)
                if held is None or len(shown[0]) + len(shown[1]) < held.size:
                    values = {first: a.total, second: b.total}
                    setattr(tally, side, example(rollout.line, *shown, values))
        for name, difference in scores.reversed_difference.items():
            tally = self.order[name]
            tally.add(difference)
            if abs(difference) > 1e-9:
                tally.higher = smaller(
                    tally.higher,
                    example(
                        rollout.line,
                        as_text(rollout.completion),
                        as_text(rollout.ground_truth),
                        {"difference": difference},
                    ),
                )

    def _lose(self, rollout: Rollout, scores: RowScores) -> None:
        names = scores.prepared.tools
        self.tool_rows.update(names)
        misses = False
        for cause, points, tool, parameter in scores.losses:
            self.lost[cause] = self.lost.get(cause, 0.0) + points
            misses = misses or cause == "missing_argument"
            if tool:
                key = (tool, cause)
                self.lost_by_tool[key] = self.lost_by_tool.get(key, 0.0) + points
            if parameter:
                place = (tool, parameter, cause)
                self.lost_by_parameter[place] = self.lost_by_parameter.get(place, 0.0) + points
        if scores.n_predicted and names:
            for name, value in scores.scored.items():
                held = self.missing_argument[name]
                held[0 if misses else 2] += 1
                held[1 if misses else 3] += value.total
        if rollout.step is not None and (rollout.step in self.steps or len(self.steps) < MOST_STEPS):
            row = self.steps.setdefault(rollout.step, [0.0, 0.0, 0.0, 0.0])
            row[0] += 1
            row[1] += misses
            recorded, own = scores.scored.get("recorded"), scores.scored.get(self.explained)
            row[2] += recorded.total if recorded else 0.0
            row[3] += own.total if own else 0.0

    def merge(self, other: Aggregate) -> None:
        """Add what another aggregate of the same rewards has seen; the order of merging decides ties only."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, int) and not isinstance(mine, bool):
                setattr(self, name, mine + value)
            elif isinstance(mine, Counter):
                mine.update(value)
            elif name in ("tallies", "bounds", "pairs", "order", "lengths"):
                for key, tally in value.items():
                    mine[key].merge(tally)
            elif name in ("lost", "lost_by_tool", "lost_by_parameter"):
                merge_counts(mine, value)
        self.groups.merge(other.groups)
        self.void.merge(other.void)
        self.bad_rows = (self.bad_rows + other.bad_rows)[:BAD_ROWS_SHOWN]
        _merge_sums(self.missing_argument, other.missing_argument)
        _merge_sums(self.steps, other.steps)
        for own, others in (
            (self.lint_examples, other.lint_examples),
            (self.unread_examples, other.unread_examples),
        ):
            for code, place in others.items():
                own[code] = min(own.get(code, place), place)


class Lints:
    """Lint each distinct ground truth once, in bounded memory."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Prepared, tuple[Lint, ...]]] = {}

    def __call__(self, prepared: Prepared, scorer: RowScorer, step: float | None) -> tuple[Lint, ...]:
        """Return the faults of a ground truth."""
        held = self.known.get(id(prepared))
        if held is None:
            if len(self.known) > 10_000:
                self.known.clear()
            found = lint_ground_truth(prepared.truth, schemas=prepared.schemas, specs={})
            held = self.known[id(prepared)] = (prepared, (*found, *scorer.unreachable(prepared, step)))
        return held[1]


Key = TypeVar("Key")


def _merge_sums(into: dict[Key, list[float]], other: Mapping[Key, list[float]]) -> None:
    for key, sums in other.items():
        held = into.get(key)
        if held is not None:
            into[key] = [a + b for a, b in zip(held, sums, strict=True)]
        elif len(into) < MOST_STEPS:
            into[key] = sums


def _kind(error: Exception) -> str:
    if isinstance(error, GroundTruthError):
        return "ground truth cannot be used"
    return "cannot be scored"
