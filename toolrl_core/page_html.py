"""Write the tables of the page: rewards side by side, a turn under each contract, the headline of many rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.turns import TurnVerdict

if TYPE_CHECKING:
    from toolrl_core.audit.report import AuditReport

__all__ = ["comparison_html", "rows_html", "score_summary", "table_html", "turn_html", "turn_summary"]


def table_html(caption: str, head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Write a table whose first column names the rows; cells are ready HTML.

    Examples
    --------
    >>> table_html("Two", ["", "b"], [("a", ["1"])])
    '<table class="toolrl-compared"><caption>Two</caption><thead><tr><td></td><th scope="col">b</th></tr></thead>\
<tbody><tr><th scope="row">a</th><td>1</td></tr></tbody></table>'
    """
    top = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
    body = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>' for name, cells in rows
    )
    return (
        f'<table class="toolrl-compared"><caption>{caption}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def score_summary(result: RewardBreakdown, columns: Mapping[str, RewardBreakdown]) -> str:
    """Say the total in one sentence, with the totals of the other rewards."""
    name = result.spec.name or "your options"
    others = ", ".join(f"{other} {_points(b.total)}" for other, b in columns.items() if other != name)
    return f"{_points(result.total)} points under {name} ({others})."


def comparison_html(columns: Mapping[str, RewardBreakdown]) -> str:
    """Write the scores of one completion under several rewards, a column each."""
    scores = columns.values()
    rows = (
        ("total", [f"<strong>{_points(b.total)}</strong>" for b in scores]),
        ("correctness", [_points(b.correctness) for b in scores]),
        ("format", ["none" if b.format is None else _points(b.format) for b in scores]),
        ("raw points", [f"{b.matched:.3f} of {b.maximum:g}" for b in scores]),
        ("calls read", [_calls(b) for b in scores]),
        ("pairs", [_pairs(b) for b in scores]),
        ("reasons", [_codes(b) for b in scores]),
    )
    return table_html("Points under each reward", ["", *map(escape, columns)], rows)


def _points(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _calls(breakdown: RewardBreakdown) -> str:
    return f"{breakdown.n_predicted}" + (f" and {breakdown.n_malformed} malformed" if breakdown.n_malformed else "")


def _pairs(breakdown: RewardBreakdown) -> str:
    pairs = [p for p in breakdown.pairs if p.predicted_index is not None]
    shown = ", ".join(f"{p.ground_truth_index}–{p.predicted_index}" for p in pairs[:12])
    return f"{shown}, …" if len(pairs) > 12 else shown or "none"


def _codes(breakdown: RewardBreakdown) -> str:
    codes = dict.fromkeys(finding.code for finding in breakdown.reasons)
    return "<br>".join(f"<code>{escape(code)}</code>" for code in codes) or "none"


def turn_summary(verdicts: Sequence[TurnVerdict]) -> str:
    """Say in one sentence under which contracts a turn is void."""
    void = [verdict.contract for verdict in verdicts if verdict.void]
    return f"Void under {len(void)} of {len(verdicts)} contracts" + (f": {', '.join(void)}." if void else ".")


def turn_html(verdicts: Sequence[TurnVerdict]) -> str:
    """Write the verdicts on a turn, a row for each contract."""
    rows = [(verdict.contract, _verdict(verdict)) for verdict in verdicts]
    return table_html("The turn under each contract", ["contract", "verdict", "action", "answer", "reasons"], rows)


def _verdict(verdict: TurnVerdict) -> list[str]:
    reasons = "".join(f"<li>{_shown(str(finding))}</li>" for finding in verdict.reasons[:30])
    return [
        "<strong>void</strong>" if verdict.void else "complete",
        _quoted(verdict.action),
        _quoted(verdict.answer),
        f"<ul>{reasons}</ul>" if reasons else "none",
    ]


def _quoted(text: str | None) -> str:
    if text is None:
        return "none"
    return f"<code>{_shown(text if len(text) <= 60 else text[:59] + '…')}</code>" if text else "empty"


def _shown(text: str) -> str:
    return escape(text.encode("utf-8", "replace").decode("utf-8"))


def rows_html(report: AuditReport) -> str:
    """Write the headline of an audit: findings, floor and ceiling, how the texts were read, disagreement."""
    from toolrl_core.audit.layout import number, percent

    data = report.data
    findings = "".join(
        f"<li><strong>{escape(finding.level)}</strong> {_shown(finding.text)} {_shown(finding.advice)}</li>"
        for finding in report.warnings
    )
    rewards = [
        (
            escape(name),
            [number(r[key]) for key in ("mean", "floor", "ceiling")]
            + [percent(r[key]) for key in ("share_at_floor", "share_at_ceiling")],
        )
        for name, r in data["rewards"].items()
        if r["rows"]
    ]
    pairs = [
        (
            f"{escape(p['first'])} and {escape(p['second'])}",
            [
                percent(p["share_different"]),
                f"{p['first_higher']:,}",
                f"{p['second_higher']:,}",
                number(p["mean_difference"]),
                number(p["largest_difference"]),
            ],
        )
        for p in data["disagreement"]
    ]
    reasons = [(f"<code>{escape(code)}</code>", [f"{rows:,}"]) for code, rows in data["reasons"]]
    bad = [(f"{row['line']:,}", [_shown(row["reason"])]) for row in data["bad_rows"]["first"]]
    parts = [
        f"<ul>{findings}</ul>" if findings else "",
        table_html(
            "Points, averaged over the rows", ["reward", "mean", "floor", "ceiling", "at floor", "at ceiling"], rewards
        ),
        table_html(
            "Where the rewards disagree",
            ["rewards", "rows that differ", "first higher", "second higher", "mean difference", "largest"],
            pairs,
        )
        if pairs
        else "",
        table_html("How the texts were read", ["reason", "rows"], reasons) if reasons else "",
        table_html("Rows that cannot be used (the first of them)", ["line", "why"], bad) if bad else "",
    ]
    return "".join(parts)
