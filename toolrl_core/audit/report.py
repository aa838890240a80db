"""The report of an audit: plain data, findings in words, and its renderings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolrl_core.audit.aggregate import Aggregate
from toolrl_core.audit.findings import Finding, find_all
from toolrl_core.audit.render_html import to_fragment, to_html
from toolrl_core.audit.render_markdown import to_markdown
from toolrl_core.audit.render_text import to_text
from toolrl_core.audit.tallies import PairTally, share
from toolrl_core.breakdown import package_version

__all__ = ["AuditReport", "build_report"]


@dataclass(frozen=True)
class AuditReport:
    """Hold what an audit found.

    Parameters
    ----------
    data : mapping
        Every number as plain values; `to_dict` gives it with the warnings.
    """

    data: Mapping[str, Any]

    @cached_property
    def warnings(self) -> tuple[Finding, ...]:
        """Return the findings in plain words, the serious ones first."""
        return find_all(self.data)

    @property
    def rewards(self) -> Mapping[str, Mapping[str, Any]]:
        """Return mean, floor, ceiling and shares of each reward."""
        rewards: Mapping[str, Mapping[str, Any]] = self.data["rewards"]
        return rewards

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with the specs and the package version (provenance)."""
        return {**self.data, "warnings": [finding._asdict() for finding in self.warnings]}

    def to_json(self) -> str:
        """Write everything as JSON; the same rows give the same text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def to_text(self) -> str:
        """Write the headline and the findings for a terminal."""
        return to_text(self)

    def to_markdown(self) -> str:
        """Write the whole report as Markdown."""
        return to_markdown(self)

    def to_html(self) -> str:
        """Write the whole report as one HTML page with figures; everything from the file is escaped."""
        return to_html(self)

    def _repr_html_(self) -> str:
        return to_fragment(self)


def build_report(seen: Aggregate, source: Mapping[str, Any]) -> AuditReport:
    """Turn what was gathered into a report.

    Parameters
    ----------
    seen : Aggregate
        The sums.
    source : mapping
        What was recognised of the file.

    Returns
    -------
    AuditReport
        The report.
    """
    has = {name for name in seen.names if name in seen.specs or seen.tallies[name].rows or seen.tallies[name].errors}
    names = [name for name in seen.names if name in has]
    functions = [name for name in names if name not in seen.specs and name != "recorded"]
    return AuditReport(
        {
            "version": package_version(),
            "source": dict(source),
            "specs": {name: spec.to_dict() for name, spec in seen.specs.items()},
            "explained": seen.explained,
            "functions": functions,
            "rows": seen.rows,
            "scored_rows": seen.scored_rows,
            "with_calls": seen.with_calls,
            "scored_with_calls": seen.scored_with_calls,
            "several_accepted": seen.several_accepted,
            "without_completion": seen.without_completion,
            "bad_rows": {
                "by_reason": dict(seen.bad.most_common()),
                "first": [row._asdict() for row in seen.bad_rows],
            },
            "unread": {
                column: {
                    "rows": count,
                    "line": seen.unread_examples[column][0],
                    "text": seen.unread_examples[column][1],
                }
                for column, count in sorted(seen.unread.items())
            },
            "nothing_parsed": seen.nothing_parsed,
            "malformed_rows": seen.malformed_rows,
            "no_call_rows_with_call": seen.no_call_rows_with_call,
            "chat_markers": seen.chat_markers,
            "bare_thought_ends": seen.bare_thought_ends,
            "reasons": [list(item) for item in sorted(seen.reasons.items(), key=lambda item: (-item[1], item[0]))],
            "rewards": {name: seen.tallies[name].to_dict() for name in names},
            "bounds": {name: _bounds(seen, name) for name in seen.specs},
            "disagreement": [
                {"first": first, "second": second, **tally.to_dict()} for (first, second), tally in _shown_pairs(seen)
            ],
            "recorded_match": _match(seen),
            "groups": {**seen.groups.to_dict(), "rows_without_group": seen.without_group},
            "lost": _lost(seen),
            "order": {
                name: tally.to_dict()
                for name, tally in seen.order.items()
                if seen.specs[name].matching.startswith("greedy")
            },
            "lengths": {name: seen.lengths[name].to_dict() for name in names if name in seen.lengths},
            "missing_argument": {name: _missing(seen.missing_argument[name]) for name in names},
            "missing_argument_growth": _growth(seen),
            "steps": _steps(seen),
            "void": seen.void.to_dict(),
            "gold": {
                code: {"rows": count, "line": seen.lint_examples[code][0], "detail": seen.lint_examples[code][1]}
                for code, count in sorted(seen.lints.items(), key=lambda item: (-item[1], item[0]))
            },
        }
    )


def _bounds(seen: Aggregate, name: str) -> dict[str, Any]:
    tally = seen.bounds[name]
    return {
        "rows": tally.bounded,
        "floor": share(tally.floor, tally.bounded),
        "ceiling": share(tally.ceiling, tally.bounded),
    }


def _shown_pairs(seen: Aggregate) -> list[tuple[tuple[str, str], PairTally]]:
    return [(pair, tally) for pair, tally in seen.pairs.items() if tally.rows]


def _match(seen: Aggregate) -> dict[str, Any] | None:
    """Find the preset whose total or correctness the recorded reward most often equals."""
    best: tuple[float, str, str] | None = None
    for name in seen.specs:
        for part, equal in (("total", seen.equal_total[name]), ("correctness", seen.equal_correctness[name])):
            found = (equal / max(seen.tallies["recorded"].rows, 1), name, part)
            if best is None or found[0] > best[0]:
                best = found
    if best is None or not seen.tallies["recorded"].rows:
        return None
    return {"reward": best[1], "part": best[2], "share": best[0]}


def _lost(seen: Aggregate) -> dict[str, Any]:
    rows = max(seen.scored_rows, 1)

    def ranked(table: Mapping[Any, float]) -> list[tuple[Any, float]]:
        return sorted(table.items(), key=lambda item: (-item[1], item[0]))

    tools: dict[str, float] = {}
    for (tool, _), points in seen.lost_by_tool.items():
        tools[tool] = tools.get(tool, 0.0) + points
    return {
        "by_cause": [{"cause": cause, "points": p, "per_row": p / rows} for cause, p in ranked(seen.lost)],
        "by_tool": [
            {
                "tool": tool,
                "points": points,
                "rows": seen.tool_rows[tool],
                "causes": {cause: p for (name, cause), p in ranked(seen.lost_by_tool) if name == tool},
            }
            for tool, points in ranked(tools)[:100]
        ],
        "by_parameter": [
            {"tool": tool, "parameter": parameter, "cause": cause, "points": points}
            for (tool, parameter, cause), points in ranked(seen.lost_by_parameter)[:100]
        ],
    }


def _missing(held: list[float]) -> dict[str, Any]:
    return {
        "rows_with": int(held[0]),
        "mean_with": share(held[1], held[0]),
        "rows_without": int(held[2]),
        "mean_without": share(held[3], held[2]),
    }


def _growth(seen: Aggregate) -> dict[str, Any] | None:
    """Compare the share of answers with a missing argument in the first and the last third of the steps."""
    steps = sorted(seen.steps)
    third = len(steps) // 3
    if not third:
        return None

    def part(chosen: list[float]) -> float:
        rows = sum(seen.steps[step][0] for step in chosen)
        return sum(seen.steps[step][1] for step in chosen) / rows

    return {"first": part(steps[:third]), "last": part(steps[-third:]), "steps": len(steps)}


def _steps(seen: Aggregate) -> list[dict[str, Any]]:
    has_recorded = bool(seen.tallies["recorded"].rows)
    return [
        {
            "step": step,
            "rows": int(held[0]),
            "share_missing_argument": held[1] / held[0],
            "mean_recorded": held[2] / held[0] if has_recorded else None,
            f"mean_{seen.explained}": held[3] / held[0],
        }
        for step, held in sorted(seen.steps.items())
    ]
