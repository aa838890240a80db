"""What the probes of a reward found, as plain data and as text."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Counterexample", "ProbeReport", "ProbeResult"]


@dataclass(frozen=True, kw_only=True)
class Counterexample:
    """Show the smallest input on which a property fails.

    Parameters
    ----------
    ground_truth : str
        The ground truth as text.
    change : str
        What was done.
    before, after : str
        The completion before and after the change, shortened where they are long.
    before_score, after_score : float or None
        Their scores in the reward's own points; None where it gave none.
    demand : str
        What the score of `after` should have done.
    bound : float or None
        The score that was demanded, where the demand names one: the highest or lowest of the ground truth, or the
        share.
    error : str or None
        What the reward raised instead of scoring.
    """

    ground_truth: str
    change: str
    before: str
    after: str
    before_score: float | None
    after_score: float | None
    demand: str
    bound: float | None = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """State whether one property holds.

    Parameters
    ----------
    name, statement, topic : str
        Which property.
    held : bool
        Whether no counterexample was found.
    checked, failures : int
        Numbers of comparisons and of those that failed.
    counterexample : Counterexample or None
        The smallest failure.
    """

    name: str
    statement: str
    topic: str
    held: bool
    checked: int
    failures: int
    counterexample: Counterexample | None = None


@dataclass(frozen=True, kw_only=True)
class ProbeReport:
    """Hold what the probes found out about a reward.

    Parameters
    ----------
    reward : str
        Its name.
    results : tuple of ProbeResult
        One for each probe.
    keys_right_values_wrong : tuple of (str, float)
        Reported, not judged: for some ground truths, the part of the way from the score of a well-formed but wholly
        wrong answer to the maximum that an answer earns whose names and keys are all right and whose values are all
        wrong.
    evaluations : int
        How often the reward was called.
    version : str
        Version of the package.
    """

    reward: str
    results: tuple[ProbeResult, ...]
    keys_right_values_wrong: tuple[tuple[str, float], ...]
    evaluations: int
    version: str

    @property
    def held(self) -> bool:
        """Tell whether every property holds."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """Name the properties that do not hold."""
        return tuple(result.name for result in self.results if not result.held)

    def __getitem__(self, name: str) -> ProbeResult:
        for result in self.results:
            if result.name == name:
                return result
        raise KeyError(f"no probe {name!r}: choose from {', '.join(result.name for result in self.results)}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**asdict(self), "held": self.held, "failed": list(self.failed)}

    def to_text(self, *, examples: bool = True) -> str:
        """Write the report as plain text, with the smallest counterexample of each property that fails.

        Examples
        --------
        >>> from toolrl_core.audit.probes import audit_reward
        >>> print(audit_reward("robust", only=["truth_values"]).to_text().splitlines()[-1])
        holds   truth_values        true for 1, or 1 for true, costs.
        """
        held = sum(result.held for result in self.results)
        lines = [f"{self.reward}: {held} of {len(self.results)} properties hold ({self.evaluations} evaluations)", ""]
        for result in self.results:
            mark = "holds " if result.held else "FAILS "
            lines.append(f"{mark}  {result.name:<18}  {result.statement}")
            if examples and result.counterexample is not None:
                lines += [f"          {row}" for row in _example_lines(result)]
        for truth, share in self.keys_right_values_wrong:
            if not lines[-1].startswith("  "):
                lines += ["", "All keys right, all values wrong earns (reported, not judged):"]
            lines.append(f"  {100 * share:.0f} % of the points for {truth}")
        return "\n".join(lines)


def _example_lines(result: ProbeResult) -> list[str]:
    example = result.counterexample
    if example is None:
        return []
    rows = [f"{result.failures} of {result.checked} failed; the smallest ({example.change}) {example.demand}"]
    rows.append("ground truth  " + _one_line(example.ground_truth))
    if example.before_score is not None and example.before != example.after:
        rows.append(f"{_points(example.before_score):>12}  {_one_line(example.before)}")
    rows.append(f"{_points(example.after_score):>12}  {_one_line(example.after)}")
    if example.error:
        rows.append(f"{'error':>12}  {example.error}")
    return rows


def _points(value: float | None) -> str:
    return "no score" if value is None else f"{value:g}"


def _one_line(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"')
