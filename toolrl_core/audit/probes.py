"""Probe any reward for tool calls: which properties of a sound reward hold, and the smallest counterexample of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from toolrl_core.audit.probe_cases import TRUTHS, Truth, with_argument, write
from toolrl_core.audit.probe_checks import PROBES, RELATIONS, Comparison, Probe
from toolrl_core.audit.probe_report import Counterexample, ProbeReport, ProbeResult
from toolrl_core.audit.signatures import Reward, SilentRewardError, adapt_reward, reward_of_spec, write_ground_truth
from toolrl_core.breakdown import package_version
from toolrl_core.calls import ToolCall
from toolrl_core.spec import RewardSpec

__all__ = ["audit_reward", "probe_names"]

BOUNDED_TIME = "bounded_time"
_TOLERANCE = 1e-9
_PATIENCE = 200  # calls without one score, after which a reward is given up
_AGAINST_ALL = ("maximum", "floor", "share")  # judged by the highest or lowest score of all answers of all probes
_SIZES = (16_384, 131_072, 1_048_576)


def probe_names() -> tuple[str, ...]:
    """Name every probe, in the order of the report.

    Examples
    --------
    >>> probe_names()[:3]
    ('identity', 'call_changes', 'key_changes')
    """
    return (*(probe.name for probe in PROBES), BOUNDED_TIME)


def audit_reward(
    reward: Callable[..., Any] | RewardSpec | str,
    *,
    signature: str = "auto",
    ground_truth_form: str = "text",
    only: Sequence[str] | None = None,
    seconds: float = 10.0,
    name: str | None = None,
) -> ProbeReport:
    """Run every probe against a reward and find the smallest counterexample of each property that fails.

    Parameters
    ----------
    reward : callable, RewardSpec or str
        The reward: a function of completion and ground truth, one written for a trainer (see `adapt_reward`), a spec,
        or the name of a preset.
    signature : str
        How to call it, as for `adapt_reward`.
    ground_truth_form : {"text", "calls", "json", "calls_arguments", "json_arguments"}
        How it wants its ground truth: tagged text; a list of ``{"name": …, "parameters": …}``; that list as JSON text;
        or the latter two with the key ``arguments``.
    only : sequence of str, optional
        Names of the probes to run; all by default. A probe gives the same verdict alone as among all: one that asks
        for the highest or lowest score of a ground truth calls the reward on the answers of every probe.
    seconds : float
        Longest time for one megabyte of text; the size grows in steps, and a step that took too long ends the probe.
    name : str, optional
        What to call the reward in the report.

    Returns
    -------
    ProbeReport
        Every result.

    Raises
    ------
    ValueError
        If a probe, preset, signature or form is unknown, or the number of seconds is not positive.
    SilentRewardError
        If the reward raises the same kind of error on every call: it is likely to be called in another way than it
        wants.

    Notes
    -----
    The inputs are enumerated, not drawn: 17 small ground truths, right answers with one change, and every combination
    of right, wrong and missing calls. A property that holds here may still fail on other inputs; one that fails, fails.
    Scores are compared with a tolerance of 1e-9. The total is judged, so format points count: bare tags that earn
    them are above the floor.

    Examples
    --------
    Python's ``==`` makes true equal to 1, and the released rules read every call on a line of its own:

    >>> report = audit_reward("released", only=["truth_values", "layout", "call_order"])
    >>> report.failed
    ('layout', 'truth_values')
    >>> report["truth_values"].counterexample.change
    'a: true for 1'
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, found {seconds:g}")
    if isinstance(reward, str):
        reward = RewardSpec.preset(reward)
    if isinstance(reward, RewardSpec):
        name = name or reward.name or "reward"
        function = reward_of_spec(reward)
    else:
        function = adapt_reward(reward, signature)
    if only is not None:
        for wanted in only:
            if wanted not in probe_names():
                raise ValueError(f"unknown probe {wanted!r}: choose from {', '.join(probe_names())}")
    scorer = _Scorer(function, ground_truth_form)
    chosen = [probe for probe in PROBES if only is None or probe.name in only]
    asked = [list(probe.comparisons()) for probe in chosen]
    if any(comparison.relation in _AGAINST_ALL for comparisons in asked for comparison in comparisons):
        scorer.score_all(comparison for probe in PROBES for comparison in probe.comparisons())
    scorer.score_all(comparison for comparisons in asked for comparison in comparisons)
    results = [_judge(probe, comparisons, scorer) for probe, comparisons in zip(chosen, asked, strict=True)]
    if only is None or BOUNDED_TIME in only:
        results.append(_bounded_time(scorer, seconds))
    return ProbeReport(
        reward=name or str(getattr(function, "__name__", "reward")),
        results=tuple(results),
        keys_right_values_wrong=_values_wrong(scorer) if only is None else (),
        evaluations=scorer.evaluations,
        version=package_version(),
    )


class _Scorer:
    """Call a reward, remember what it gave, and know the lowest and highest score of each ground truth."""

    def __init__(self, reward: Reward, form: str) -> None:
        self.reward = reward
        self.given = {truth.text: write_ground_truth(truth.text, form) for truth in TRUTHS}
        self.form = form
        self.known: dict[tuple[str, str], float | str] = {}
        self.lowest: dict[str, tuple[float, str]] = {}
        self.highest: dict[str, tuple[float, str]] = {}
        self.evaluations = 0

    def fresh(self, truth: Truth, completion: str) -> float | str:
        """Score once more; an exception becomes its text."""
        text = truth.text
        if text not in self.given:
            self.given[text] = write_ground_truth(text, self.form)
        self.evaluations += 1
        try:
            return self.reward(completion, self.given[text])
        except Exception as error:  # noqa: BLE001 - a foreign reward may raise anything, and that is a finding
            return f"{type(error).__name__}: {error}"[:200]

    def score(self, truth: Truth, completion: str) -> float | str:
        """Score, or remember the score."""
        key = (truth.text, completion)
        if key not in self.known:
            value = self.known[key] = self.fresh(truth, completion)
            if isinstance(value, float):
                if value < self.lowest.get(truth.text, (value + 1,))[0]:
                    self.lowest[truth.text] = (value, completion)
                if value > self.highest.get(truth.text, (value - 1,))[0]:
                    self.highest[truth.text] = (value, completion)
        return self.known[key]

    def score_all(self, comparisons: Iterable[Comparison]) -> None:
        """Score both sides of every comparison, and for each ground truth itself and an answer without anything right.

        The highest and lowest scores are then those of the same answers, whichever of the probes is judged first.
        """
        for comparison in comparisons:
            truth = comparison.truth
            for text in (truth.text, _nothing_right(truth), comparison.before, comparison.after):
                self.score(truth, text)
                if len(self.known) == _PATIENCE:
                    self._give_up_if_silent()
        self._give_up_if_silent()

    def _give_up_if_silent(self) -> None:
        errors = [value for value in self.known.values() if isinstance(value, str)]
        if errors and len(errors) == len(self.known) and len({text.partition(":")[0] for text in errors}) == 1:
            name = getattr(self.reward, "__name__", "the reward")
            raise SilentRewardError(f"{name} gave no number on any of {len(errors)} calls; the first said {errors[0]}")

    def wrong(self, truth: Truth) -> float | str:
        """Score a well-formed answer with nothing right in it."""
        return self.score(truth, _nothing_right(truth))


def _nothing_right(truth: Truth) -> str:
    return write([ToolCall(f"other_tool_{i}", {"invented": 1}) for i in range(len(truth.calls))])


def _judge(probe: Probe, comparisons: Sequence[Comparison], scorer: _Scorer) -> ProbeResult:
    failures: list[tuple[int, int, Comparison, tuple[float | None]]] = []
    for comparison in comparisons:
        verdict = _verdict(comparison, scorer)
        if verdict is not None:
            failures.append((_size(comparison), len(failures), comparison, verdict))
    smallest = min(failures, key=lambda failure: failure[:2], default=None)
    return ProbeResult(
        name=probe.name,
        statement=probe.statement,
        topic=probe.topic,
        held=smallest is None,
        checked=len(comparisons),
        failures=len(failures),
        counterexample=None if smallest is None else _counterexample(smallest[2], smallest[3], scorer),
    )


def _size(comparison: Comparison) -> int:
    return len(comparison.truth.text) + len(comparison.before) + len(comparison.after)


def _verdict(comparison: Comparison, scorer: _Scorer) -> tuple[float | None] | None:
    """Return None where the demand is met, else the bound that was missed (in a tuple, for it may be None)."""
    truth, relation, after_text, before_text, _, share = comparison
    after, before = scorer.score(truth, after_text), scorer.score(truth, before_text)
    if relation == "same" and after_text == before_text:
        after = scorer.fresh(truth, after_text)
    if not isinstance(after, float) or not isinstance(before, float):
        return (None,)
    bound: float | None = None
    if relation == "maximum":
        bound = scorer.highest[truth.text][0]
        met = after >= bound - _TOLERANCE
    elif relation == "floor":
        bound = scorer.lowest[truth.text][0]
        met = after <= bound + _TOLERANCE
    elif relation == "share":
        best = scorer.highest[truth.text][0]
        bound = before + max(best - before, 0.0) * share
        met = after <= bound + _TOLERANCE
    elif relation == "costs_above_floor":
        wrong = scorer.wrong(truth)
        at_floor = not isinstance(wrong, float) or before <= wrong + _TOLERANCE
        met = after <= before + _TOLERANCE if at_floor else after < before - _TOLERANCE
    else:
        difference = after - before
        met = {
            "costs": difference < -_TOLERANCE,
            "gains": difference > _TOLERANCE,
            "not_higher": difference <= _TOLERANCE,
            "not_lower": difference >= -_TOLERANCE,
            "same": abs(difference) <= _TOLERANCE,
            "number": True,
        }[relation]
    return None if met else (bound,)


def _counterexample(comparison: Comparison, verdict: tuple[float | None], scorer: _Scorer) -> Counterexample:
    truth = comparison.truth
    after, before = scorer.score(truth, comparison.after), scorer.score(truth, comparison.before)
    before_text = comparison.before
    if comparison.relation in ("maximum", "floor") and verdict[0] is not None:
        before, before_text = (scorer.highest if comparison.relation == "maximum" else scorer.lowest)[truth.text]
    error = next((value for value in (after, before) if isinstance(value, str)), None)
    return Counterexample(
        ground_truth=truth.text,
        change=comparison.change,
        before=_short(before_text),
        after=_short(comparison.after),
        before_score=before if isinstance(before, float) else None,
        after_score=after if isinstance(after, float) else None,
        demand=RELATIONS[comparison.relation],
        bound=verdict[0],
        error=error,
    )


def _bounded_time(scorer: _Scorer, seconds: float) -> ProbeResult:
    truth = TRUTHS[1]
    line = '{"name": "f", "parameters": {"a": 1}}\n'
    pieces = {
        "opening tags": ("", "<tool_call>", ""),
        "opening thoughts": ("", "<think>", ""),
        "closing tags": ("<think> plan", "</think>\n", ""),
        "openings of an object": ("<think> plan </think>\n<tool_call>\n", '{"name":', "\n</tool_call>"),
        "opening brackets": ("<think> plan </think>\n<tool_call>\n", "[", "\n</tool_call>"),
        "copies of the right call": ("<think> plan </think>\n<tool_call>\n", line, "</tool_call>"),
        "words": ("<think> ", "again ", "</think>"),
    }
    checked, failures, example = 0, 0, None
    for label, (head, piece, tail) in pieces.items():
        for size in _SIZES:
            text = head + piece * (size // len(piece)) + tail
            start = time.perf_counter()
            value = scorer.fresh(truth, text)
            took = time.perf_counter() - start
            checked += 1
            if took > seconds or isinstance(value, str):
                failures += 1
                example = example or Counterexample(
                    ground_truth=truth.text,
                    change=f"{size // 1024} kB of {label}",
                    before=truth.text,
                    after=_short(text),
                    before_score=None,
                    after_score=value if isinstance(value, float) else None,
                    demand=f"must be scored within {seconds:g} seconds",
                    error=value if isinstance(value, str) else None,
                )
                break
    statement = "A megabyte of repetition is scored in bounded time."
    return ProbeResult(
        name=BOUNDED_TIME,
        statement=statement,
        topic="text",
        held=example is None,
        checked=checked,
        failures=failures,
        counterexample=example,
    )


def _values_wrong(scorer: _Scorer) -> tuple[tuple[str, float], ...]:
    found: list[tuple[str, float]] = []
    for truth in TRUTHS:
        if not all(call.arguments for call in truth.calls) or len(truth.calls) > 2:
            continue
        wrong_calls = []
        for call in truth.calls:
            changed = call
            for key in call.arguments:
                changed = with_argument(changed, key, "all wrong")
            wrong_calls.append(changed)
        nothing, perfect = scorer.wrong(truth), scorer.score(truth, truth.text)
        value = scorer.score(truth, write(wrong_calls))
        if isinstance(nothing, float) and isinstance(perfect, float) and isinstance(value, float) and perfect > nothing:
            shape = ", ".join(f"{call.name}({', '.join(call.arguments)})" for call in truth.calls)
            if shape not in dict(found):
                found.append((shape, (value - nothing) / (perfect - nothing)))
    return tuple(found)


def _short(text: str) -> str:
    return text if len(text) <= 600 else f"{text[:300]} … {len(text) - 400:,} more characters … {text[-100:]}"
