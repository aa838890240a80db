"""Explain a score: turn its numbers into an account of calls, keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.calls import AcceptedCall, ToolCall, first_value
from toolrl_core.equality import comparison, json_equal
from toolrl_core.json_calls import RawCall
from toolrl_core.matching import Assignment, assign
from toolrl_core.pairs import (
    ExpectedCall,
    Target,
    canonical_names,
    count_pair,
    key_score,
    pair_scorer,
    score_table,
    with_stand_ins,
)
from toolrl_core.points import KeyScore, Outcome, PairScore
from toolrl_core.reading import Reading
from toolrl_core.reasons import Finding, Reason
from toolrl_core.schedules import Scales
from toolrl_core.spec import RewardSpec

_NUDGE = 2.0**-40
_KEY_REASONS = {
    "wrong_value": Reason.WRONG_VALUE,
    "missing": Reason.MISSING_KEY,
    "extra": Reason.EXTRA_KEY,
    "wrong_optional_value": Reason.WRONG_OPTIONAL_VALUE,
}


def explain(
    outcome: Outcome, reading: Reading, target: Target, spec: RewardSpec, scales: Scales, step: float | None
) -> RewardBreakdown:
    """Build the breakdown of a score.

    Parameters
    ----------
    outcome : Outcome
        The numbers.
    reading : Reading
        The completion as read.
    target : Target
        The prepared ground truth.
    spec : RewardSpec
        The options.
    scales : Scales
        Ranges of format and correctness at this step.
    step : float or None
        Training step.

    Returns
    -------
    RewardBreakdown
        The numbers with their account.
    """
    names = canonical_names(reading.calls, spec)
    outcome = _prefer_namesakes(outcome, reading, target, names, spec)
    partners = {} if outcome.comparison.failed else _partners(outcome, target, names, len(reading.calls))
    pairs = tuple(
        _pair(j, expected, partners.get(j), reading.calls, outcome, spec) for j, expected in enumerate(target.calls)
    )
    taken = {pair.predicted_index for pair in pairs}
    unmatched = [i for i in range(len(reading.calls)) if i not in taken]
    scored = bool(target.calls) or spec.no_call == "scored"
    known = {finding.reason for finding in reading.findings}
    findings = [*reading.findings, *(f for f in outcome.format_findings if f.reason not in known)]
    if scored and not outcome.comparison.failed:
        findings += _score_findings(outcome, reading, target, pairs, unmatched, names, spec)
    elif not scored:
        findings.append(Finding(Reason.NO_CALL_NOT_SCORED, None, "correctness is 0 whatever is predicted"))
        if reading.calls:
            findings.append(Finding(Reason.UNNEEDED_TOOL_CALL, None, ", ".join(names[:5])))
    return RewardBreakdown(
        total=outcome.total,
        format=outcome.format,
        correctness=outcome.correctness,
        length=outcome.length,
        name_score=outcome.comparison.name_score,
        pairs=pairs,
        matched=outcome.comparison.matched,
        maximum=outcome.comparison.maximum,
        reasons=tuple(findings),
        spec=spec,
        scales=scales,
        step=step,
        unmatched=tuple(_tool_call(reading.calls[i]) for i in unmatched),
        n_predicted=len(reading.calls),
        n_malformed=reading.malformed,
        shortcut=outcome.comparison.shortcut,
        scored=scored,
    )


def _tool_call(call: RawCall) -> ToolCall:
    return ToolCall(call.name, call.arguments or {})


def _prefer_namesakes(
    outcome: Outcome, reading: Reading, target: Target, names: list[str], spec: RewardSpec
) -> Outcome:
    """Show, among matchings that are equally good, one that pairs calls with their namesakes.

    Where pairs ignore names, ties are common: any two calls without arguments are a perfect pair.
    """
    compared = outcome.comparison
    if target.gated or spec.matching != "optimal" or not compared.assignment.pairs:
        return outcome
    calls, given = with_stand_ins(reading.calls, names, reading.malformed, target)
    if all(given[i] == target.names[j] for j, i in compared.assignment.pairs):
        return outcome
    table = score_table(target, calls, given)
    nudged = [
        [value + _NUDGE if value and name == wanted else value for value, name in zip(row, given, strict=True)]
        for row, wanted in zip(table, target.names, strict=True)
    ]
    pairs = assign(nudged).pairs
    total = sum(table[j][i] for j, i in pairs)
    if abs(total - compared.assignment.total) > 1e-12:
        return outcome
    return outcome._replace(comparison=compared._replace(assignment=Assignment(total, pairs)))


def _partners(outcome: Outcome, target: Target, names: list[str], predicted: int) -> dict[int, int]:
    """Return each ground-truth call's partner; one with no points is shown with a free call of its name."""
    partners = dict(outcome.comparison.assignment.pairs)
    taken = set(partners.values())
    for j, expected in enumerate(target.calls):
        if j not in partners:
            free = next((i for i in range(predicted) if i not in taken and names[i] == expected.name), None)
            if free is not None:
                partners[j] = free
                taken.add(free)
    return partners


def _pair(
    j: int,
    expected: ExpectedCall,
    partner: int | None,
    calls: list[RawCall],
    outcome: Outcome,
    spec: RewardSpec,
) -> PairScore:
    available = 1.0 + len(expected.required) if spec.granularity == "parameter" else 1.0
    malformed = partner is not None and partner >= len(calls)
    call = RawCall("", {}, None, 0) if partner is None or malformed else calls[partner]
    arguments: Mapping[str, Any] = call.arguments or {}
    compare = comparison(spec.equality)
    scored = j in dict(outcome.comparison.assignment.pairs)
    total = pair_scorer(spec)(expected, call) if scored else 0.0
    keys = tuple(
        _key(key, expected, arguments, compare, partner is not None, scored, spec)
        for key in dict.fromkeys([*expected.required, *arguments])
    )
    values = sum(key.value_score for key in keys)
    parameter = spec.granularity == "parameter"
    keyed = 0.0
    if scored and parameter:
        shared, _, given = count_pair(expected, arguments, compare)
        keyed = key_score(shared, given, len(expected.required))
        keyed = keyed if spec.credit == "partial" else total - values
    return PairScore(
        ground_truth_index=j,
        predicted_index=None if malformed else partner,
        name=expected.call.name,
        predicted_name=None if partner is None or malformed else calls[partner].name,
        score=total,
        available=available,
        key_score=keyed,
        keys=keys,
    )


def _key(
    key: str,
    expected: ExpectedCall,
    arguments: Mapping[str, Any],
    compare: Any,
    paired: bool,
    scored: bool,
    spec: RewardSpec,
) -> KeyScore:
    found = arguments.get(key)
    if key not in expected.required:
        state = "extra"
        if key in expected.optional:
            state = "free" if expected.matchers[key](found) else "wrong_optional_value"
        return KeyScore(key, state, _accepted(expected, key), found, 0.0)
    wanted = _accepted(expected, key)
    if not paired or key not in arguments:
        return KeyScore(key, "missing", wanted, None, 0.0)
    right = compare(expected.required[key], found) if expected.values is not None else expected.matchers[key](found)
    earned = 1.0 if right and scored and spec.granularity == "parameter" else 0.0
    return KeyScore(key, "right" if right else "wrong_value", wanted, found, earned)


def _accepted(expected: ExpectedCall, key: str) -> Any:
    """Return what a ground-truth call accepts for a parameter: one value, or a list where there are several."""
    call = expected.call
    if isinstance(call, AcceptedCall):
        if key not in call.accepted:
            return call.defaults.get(key)
        options = [first_value(option) for option in call.accepted[key]]
        return options[0] if len(options) == 1 else options
    return call.arguments.get(key)


def _score_findings(
    outcome: Outcome,
    reading: Reading,
    target: Target,
    pairs: tuple[PairScore, ...],
    unmatched: list[int],
    names: list[str],
    spec: RewardSpec,
) -> list[Finding]:
    findings = []
    if not target.calls and reading.calls:
        findings.append(Finding(Reason.UNNEEDED_TOOL_CALL, _place(reading, 0), ", ".join(names[:5])))
        return findings
    for pair in pairs:
        label = f"call {pair.ground_truth_index} {pair.name}"
        if pair.predicted_index is None:
            findings.append(Finding(Reason.MISSING_CALL, None, label))
            continue
        position = _place(reading, pair.predicted_index)
        if names[pair.predicted_index] != target.names[pair.ground_truth_index]:
            findings.append(Finding(Reason.WRONG_NAME, position, f"{label}: found {pair.predicted_name}"))
        findings += [
            Finding(_KEY_REASONS[key.state], position, f"{label}, {key.key}: {_shown(key)}")
            for key in pair.keys
            if key.state in _KEY_REASONS
        ]
        if spec.equality == "bfcl":
            findings += [
                Finding(Reason.NORMALISED_VALUE, position, f"{label}, {key.key}: {_shown(key)}")
                for key in pair.keys
                if key.state == "right" and not _plainly_equal(key)
            ]
    findings += [Finding(Reason.UNEXPECTED_CALL, _place(reading, i), reading.calls[i].name) for i in unmatched]
    findings += _rule_findings(outcome, reading, target, names, spec)
    return findings


def _place(reading: Reading, i: int) -> int | None:
    """Return where a predicted call stands in the text; calls that came without a text stand nowhere."""
    return reading.calls[i].position if reading.text else None


def _rule_findings(
    outcome: Outcome, reading: Reading, target: Target, names: list[str], spec: RewardSpec
) -> list[Finding]:
    """State points that the reward's own rules took: a greedy matching, or a comparison of orders."""
    findings = []
    if spec.matching != "optimal" and spec.granularity != "answer" and target.calls and reading.calls:
        best = assign(score_table(target, reading.calls, names)).total
        if best > outcome.comparison.assignment.total + 1e-9 and not outcome.comparison.shortcut:
            loss = best - outcome.comparison.assignment.total
            findings.append(Finding(Reason.GREEDY_LOSS, None, f"{loss:.6g} raw points less than the optimal matching"))
    if spec.ordered and outcome.comparison.matched < outcome.comparison.maximum and len(names) == len(target.names):
        findings.append(Finding(Reason.ORDER_DIFFERS, None, "names, keys and calls are compared in order"))
    if spec.equality == "schema":
        for j, expected in enumerate(target.calls):
            declared = expected.call.schema if isinstance(expected.call, AcceptedCall) else {}
            bare = [key for key in expected.required if key not in declared]
            if bare:
                findings.append(Finding(Reason.SCHEMA_MISSING, None, f"call {j} {expected.name}: {', '.join(bare)}"))
    return findings


def _plainly_equal(key: KeyScore) -> bool:
    options = key.expected if isinstance(key.expected, list) else []
    return any(json_equal(option, key.found) for option in [key.expected, *options])


def _shown(key: KeyScore) -> str:
    if key.state == "missing":
        return f"expected {_short(key.expected)}"
    if key.state == "extra":
        return f"found {_short(key.found)}"
    return f"expected {_short(key.expected)}, found {_short(key.found)}"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or thousands of levels
        text = f"a {type(value).__name__} too large to show"
    return text if len(text) <= 60 else text[:57] + "…"
