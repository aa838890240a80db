"""Score completions against a ground truth: correctness, format, length, and their sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.calls import AcceptedCall, GroundTruthError, ToolCall
from toolrl_core.explanation import explain
from toolrl_core.formats import format_holds, with_opening_tag
from toolrl_core.json_calls import RawCall, plain_json, read_call
from toolrl_core.matching import Assignment, assign
from toolrl_core.pairs import (
    Target,
    canonical_names,
    common_names,
    is_perfect,
    match_by_name,
    name_score,
    prepare_target,
    score_table,
    with_stand_ins,
)
from toolrl_core.parsing import read_completion
from toolrl_core.points import NO_PAIRS, Comparison, Outcome
from toolrl_core.reading import Reading
from toolrl_core.reasons import Finding, Reason
from toolrl_core.released import read_released
from toolrl_core.schedules import Scales
from toolrl_core.spec import RewardSpec

PAPER = RewardSpec.preset("paper")
_NOT_SCORED = Comparison(0.0, 0.0, 1.0, NO_PAIRS)


def score(
    completion: Any, ground_truth: Any, spec: RewardSpec = PAPER, *, step: float | None = None
) -> RewardBreakdown:
    r"""Score a completion against a ground truth and account for every point.

    .. math:: R = R_{\text{format}} + \left(R_{\text{low}} +
        (R_{\text{high}} - R_{\text{low}}) \frac{R_{\max}}{S_{\max}}\right)

    Parameters
    ----------
    completion : str or list
        The model's own text; or a list of calls; or chat messages, of which the assistant's count. Calls and
        messages have no format: it is None, and the total is the correctness.
    ground_truth : any form of `parse_ground_truth`
        What the completion should do.
    spec : RewardSpec
        The reward's options; the paper's by default.
    step : float, optional
        Training step, needed by schedules that change.

    Returns
    -------
    RewardBreakdown
        Total, parts and reasons. In a notebook it shows itself as a ladder of points.

    Raises
    ------
    GroundTruthError
        If the ground truth cannot be used.
    ValueError
        If the schedule needs a step, or the released rules meet a ground truth with several accepted values.
    TypeError
        If the completion is neither text nor a list, or the spec is no `RewardSpec`.

    Notes
    -----
    ToolRL note §3.3, §5.0 and §6.1; arXiv 2504.13958 §3.3.

    Examples
    --------
    The note's example, one of two calls missing. The name term falls too, which the note overlooks:

    >>> gold = [{"name": "search", "parameters": {"query": "x"}}, {"name": "calc", "parameters": {}}]
    >>> score([{"name": "search", "parameters": {"query": "x"}}], gold).correctness
    0.75

    Exchanged names earn everything under the paper's formula:

    >>> gold = [{"name": "f", "parameters": {"a": 1}}, {"name": "g", "parameters": {"b": 2}}]
    >>> swapped = [{"name": "g", "parameters": {"a": 1}}, {"name": "f", "parameters": {"b": 2}}]
    >>> score(swapped, gold).correctness, score(swapped, gold, RewardSpec.preset("robust")).correctness
    (3.0, -1.8)
    """
    check_spec(spec)
    target = prepare_target(ground_truth, spec)
    scales = spec.schedule.at(step)
    reading, text = read_any(completion, spec)
    outcome = evaluate(reading, text, target, spec, scales, step)
    return explain(outcome, reading, target, spec, scales, step)


def check_spec(spec: Any) -> None:
    """Refuse what is no spec, such as the name of a preset, with a message that says how to make one."""
    if not isinstance(spec, RewardSpec):
        hint = f"RewardSpec.preset({spec!r})" if isinstance(spec, str) else "RewardSpec.preset('robust')"
        raise TypeError(f"spec must be a RewardSpec, found {type(spec).__name__}: use {hint}")


def iter_scores(
    pairs: Iterable[tuple[Any, Any]], spec: RewardSpec = PAPER, *, step: float | None = None
) -> Iterator[RewardBreakdown]:
    """Score a stream of (completion, ground truth) pairs, one at a time, in bounded memory.

    Parameters
    ----------
    pairs : iterable of (completion, ground truth)
        As for `score`.
    spec : RewardSpec
        The reward's options.
    step : float, optional
        Training step.

    Yields
    ------
    RewardBreakdown
        One for each pair, in order.

    Raises
    ------
    GroundTruthError
        If a ground truth cannot be used; the message names the row.

    Examples
    --------
    >>> [b.total for b in iter_scores([("", []), ([], [])], RewardSpec.preset("robust"))]
    [3.0, 3.0]
    """
    for row, (completion, ground_truth) in enumerate(pairs):
        try:
            yield score(completion, ground_truth, spec, step=step)
        except GroundTruthError as error:
            raise GroundTruthError(f"row {row}: {error.problem}", index=error.index, field=error.field) from None


def read_any(completion: Any, spec: RewardSpec) -> tuple[Reading, str | None]:
    """Read a completion in any form; the text is None where it has none (calls or messages)."""
    if isinstance(completion, str):
        return text_reader(spec)(completion), completion
    completion = _listed(completion)
    if not isinstance(completion, (list, tuple)):
        raise TypeError(f"a completion must be text or a list of calls or messages, found {type(completion).__name__}")
    return _read_list(completion, spec), None


def text_reader(spec: RewardSpec) -> Callable[[str], Reading]:
    """Return the function that reads a text under a spec."""
    if spec.parser == "released":
        return read_released
    if not (spec.accept_python_literals or spec.prefilled_thought):
        return read_completion
    return partial(
        read_completion,
        accept_python_literals=spec.accept_python_literals,
        prefilled_thought=spec.prefilled_thought,
    )


def _listed(value: Any) -> Any:
    """Return an array-like (columnar files give them) as a list."""
    return value.tolist() if hasattr(value, "tolist") else value


def _read_list(items: Sequence[Any], spec: RewardSpec) -> Reading:
    reading = Reading("")
    for item in items:
        if isinstance(item, Mapping) and isinstance(item.get("role"), str):
            if item["role"] == "assistant":
                _read_message(reading, item, spec)
        else:
            _read_item(reading, item)
    reading.note(Reason.FORMAT_NOT_APPLICABLE, None, "the completion is not text")
    return reading


def _read_message(reading: Reading, message: Mapping[str, Any], spec: RewardSpec) -> None:
    content = _listed(message.get("content"))
    if isinstance(content, list):  # content parts of the chat form
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(text for text in texts if isinstance(text, str))
    if isinstance(content, str) and content:
        inner, _ = read_any(content, spec.replace(parser="tolerant"))
        reading.calls.extend(inner.calls)
        reading.malformed += inner.malformed
        reading.findings.extend(f for f in inner.findings if f.reason not in _TEXT_ONLY)
        reading.thought = inner.thought if reading.thought is None else reading.thought
        reading.response = inner.response if reading.response is None else reading.response
    calls = _listed(message.get("tool_calls"))
    for call in calls if isinstance(calls, (list, tuple)) else ():
        _read_item(reading, call)


_TEXT_ONLY = {Reason.MISSING_THOUGHT, Reason.TEXT_OUTSIDE}


def _read_item(reading: Reading, item: Any) -> None:
    call = item.first() if isinstance(item, AcceptedCall) else item
    if isinstance(call, ToolCall):
        call = call.to_dict()
    if not isinstance(call, Mapping):
        reading.note(Reason.NOT_AN_OBJECT, None, f"found {type(item).__name__} among the calls")
        return
    try:
        plain = _plain_item(call)
    except ValueError as error:
        reading.note(Reason.ARGUMENTS_NOT_AN_OBJECT, None, str(error))
        return
    raw = read_call(plain, 0, _quiet(reading))
    if raw is not None:
        source = {"name": raw.name, "parameters": raw.arguments}
        reading.calls.append(RawCall(raw.name, raw.arguments, source, 0))


def _plain_item(item: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a call with its arguments as plain JSON."""
    plain = _plain_arguments(item)
    if isinstance(plain.get("function"), Mapping):
        plain["function"] = _plain_arguments(plain["function"])
    return plain


def _plain_arguments(item: Mapping[Any, Any]) -> dict[Any, Any]:
    plain = dict(item)
    for field in ("arguments", "parameters"):
        if field in plain:
            plain[field] = plain_json(plain[field])
    return plain


def _quiet(reading: Reading) -> Any:
    """Note only what is unusual in a parsed call: both argument keys are usual there, and there is no position."""

    def note(reason: Reason, _position: int | None, detail: str = "") -> None:
        if reason is not Reason.ARGUMENTS_KEY:
            reading.note(reason, None, detail)

    return note


def evaluate(
    reading: Reading,
    text: str | None,
    target: Target,
    spec: RewardSpec,
    scales: Scales,
    step: float | None,
) -> Outcome:
    """Compute the numbers of a score from a completion that has been read.

    Parameters
    ----------
    reading : Reading
        The completion as read.
    text : str or None
        Its text, None for calls and messages.
    target : Target
        The prepared ground truth.
    spec : RewardSpec
        The options.
    scales : Scales
        Ranges of format and correctness.
    step : float or None
        Training step.

    Returns
    -------
    Outcome
        Format, correctness and length, in points.
    """
    format_value: float | None = None
    findings: list[Finding] = []
    if text is not None and spec.format_rule != "none":
        strict = reading
        if spec.format_rule == "strict" and spec.parser == "released":
            strict = read_completion(text, prefilled_thought=spec.prefilled_thought)
        if spec.prefilled_thought and spec.format_rule != "strict":
            text = with_opening_tag(text)
        holds, findings = format_holds(spec.format_rule, strict, text, target.truth.requires, target.truth.text)
        format_value = scales.format[1] if holds else scales.format[0]
    elif text is not None:
        format_value = 0.0
    length = 0.0 if spec.length_reward is None else spec.length_reward(reading.thought, step)
    if not target.calls and spec.no_call == "zero":
        return Outcome(format_value, 0.0, length, _NOT_SCORED, findings)
    compared = compare_calls(reading.calls, reading.malformed, target, spec)
    correctness = correctness_points(compared.matched, compared.maximum, scales)
    return Outcome(format_value, correctness, length, compared, findings)


def correctness_points(matched: float, maximum: float, scales: Scales) -> float:
    """Map raw points to the range of correctness; all of them give its upper end exactly."""
    low, high = scales.correctness
    return high if matched == maximum else low + (high - low) * matched / maximum


def compare_calls(calls: Sequence[RawCall], malformed: int, target: Target, spec: RewardSpec) -> Comparison:
    """Compare predicted calls with the expected ones.

    Parameters
    ----------
    calls : sequence of RawCall
        The predicted calls.
    malformed : int
        Number of malformed calls beside them.
    target : Target
        The prepared ground truth.
    spec : RewardSpec
        The options.

    Returns
    -------
    Comparison
        Raw points and pairs.
    """
    maximum: float = target.maximum
    names = canonical_names(calls, spec)
    in_order = names == target.names and not malformed
    if in_order and calls and is_perfect(target, calls):
        identity = Assignment(float(maximum - 1), tuple([(j, j) for j in range(len(calls))]))
        return Comparison(1.0, maximum, maximum, identity)
    if spec.parser == "released" and (malformed or _released_failure(target, calls, names, spec)):
        return Comparison(0.0, 0.0, maximum, NO_PAIRS, failed=True)
    predicted = len(calls) + malformed
    counted = spec.extra_calls == "counted" and spec.granularity != "answer"
    named, common = 1.0, None
    if not in_order:
        common = None if spec.names == "set" and not counted else common_names(target.names, names)
        named = name_score(target.names, names, malformed, spec, common)
        if counted and common is not None:
            maximum += predicted - common
    assignment = NO_PAIRS
    if target.calls and predicted and not (target.gated and common == 0):  # else no pair can score
        if malformed and not spec.same_name:
            calls, names = with_stand_ins(calls, names, malformed, target)
        by_name = match_by_name(target, calls, names) if target.gated else None
        assignment = by_name or assign(score_table(target, calls, names), spec.matching)
    if spec.granularity == "answer":
        matched = _whole_answer(named, assignment, len(target.calls), predicted, spec, target, calls)
    else:
        matched = named + assignment.total
    if spec.exact_shortcut and in_order and matched < maximum and target.sources == [call.source for call in calls]:
        return Comparison(named, maximum, maximum, assignment, shortcut=maximum - matched)
    # The same as Comparison(named, matched, maximum, assignment), without its slower constructor.
    return tuple.__new__(Comparison, (named, matched, maximum, assignment, 0.0, False))


def _whole_answer(
    named: float,
    assignment: Assignment,
    expected: int,
    predicted: int,
    spec: RewardSpec,
    target: Target,
    calls: Sequence[RawCall],
) -> float:
    """Return the raw points of an answer that is judged as a whole."""
    if spec.credit == "partial":
        return named * (assignment.total / expected if expected else 1.0)
    if spec.ordered:
        return float(expected == predicted and target.sources == [call.source for call in calls])
    return float(expected == predicted and len(assignment.pairs) == expected)


def _released_failure(target: Target, calls: Sequence[RawCall], names: Sequence[str], spec: RewardSpec) -> bool:
    """Tell whether the released loop would meet a call without an object under ``parameters``.

    It looks at the arguments of every call whose name is expected, and at no others.
    """
    if spec.granularity != "parameter":
        return False
    without = [name for call, name in zip(calls, names, strict=True) if call.arguments is None]
    return any(name in target.names for name in without) if without else False
