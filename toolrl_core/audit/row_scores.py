"""Score one row under several rewards at once: the text is read once, the points of one reward are explained."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from toolrl_core.audit.columns import Rollout, read_tools
from toolrl_core.audit.gold_lint import Lint, highest
from toolrl_core.audit.lost_points import Loss, outcome_losses
from toolrl_core.audit.signatures import number_of
from toolrl_core.audit.tallies import Scored
from toolrl_core.calls import AcceptedCall
from toolrl_core.ground_truth import GroundTruth, parse_ground_truth, render_completion, single_valued
from toolrl_core.pairs import Target, prepare_target
from toolrl_core.plain import plain_parts
from toolrl_core.points import Outcome
from toolrl_core.reading import Reading
from toolrl_core.reasons import Reason
from toolrl_core.rewards import evaluate, read_any
from toolrl_core.spec import RewardSpec

__all__ = ["Prepared", "RowScorer", "RowScores", "as_text"]

_KEPT = 4000
_ANSWERS = 8


class RowScores(NamedTuple):
    """Hold what a row's rewards are.

    Parameters
    ----------
    prepared : Prepared
        The row's ground truth.
    scored : dict of str to Scored
        By reward: the specs, the functions, and "recorded" where the row has a recorded reward.
    errors : dict of str to str
        What functions raised instead of scoring.
    reasons : tuple of str
        Reason codes of reading the text, without repetition.
    n_predicted, n_malformed : int
        Calls that could be read, and calls that could not.
    losses : tuple of Loss
        What the explained reward lost, and where.
    reversed_difference : dict of str to float
        For specs with greedy matching: the score with the ground truth reversed, minus the score as it is.
    """

    prepared: Prepared
    scored: dict[str, Scored]
    errors: dict[str, str]
    reasons: tuple[str, ...]
    n_predicted: int
    n_malformed: int
    losses: tuple[Loss, ...]
    reversed_difference: dict[str, float]


@dataclass(eq=False)
class Prepared:
    """Hold a ground truth that is ready for every spec, with some answers that were met before.

    Parameters
    ----------
    truth : GroundTruth
        The ground truth.
    schemas : mapping or None
        Parameter schemas of the tools on offer, by tool.
    targets, reversed_targets : dict of str to Target
        By spec; the latter hold the calls in reverse order, where they were needed.
    """

    truth: GroundTruth
    schemas: Mapping[str, Any] | None
    targets: dict[str, Target]
    reversed_targets: dict[str, Target]
    bounds: dict[float | None, dict[str, Scored]] = field(default_factory=dict)
    answers: dict[tuple[Any, ...], RowScores] = field(default_factory=dict)

    @cached_property
    def tools(self) -> frozenset[str]:
        """Return the names of the expected tools."""
        return frozenset(call.name for call in self.truth.calls)

    @cached_property
    def accepts_several(self) -> bool:
        """Tell whether some parameter has several accepted values."""
        return any(isinstance(call, AcceptedCall) and not call.is_single_valued() for call in self.truth.calls)


class RowScorer:
    """Score rows under named specs and functions.

    Parameters
    ----------
    specs : mapping of str to RewardSpec
        The rewards that are computed here.
    functions : mapping of str to callable
        Further rewards, called with the completion and the ground truth as the file holds it (see `adapt_reward`).
    explained : str
        The spec whose points are accounted for.

    Examples
    --------
    >>> scorer = RowScorer({"paper": RewardSpec.preset("paper")}, explained="paper")
    >>> scorer(Rollout(1, "", [])).scored["paper"].total
    3.0
    """

    def __init__(
        self,
        specs: Mapping[str, RewardSpec],
        functions: Mapping[str, Callable[[Any, Any], float]] | None = None,
        *,
        explained: str,
    ) -> None:
        self.specs = dict(specs)
        self.functions = dict(functions or {})
        self.explained = explained
        self.known: dict[str, Prepared] = {}
        self.ways = {name: _how(spec) for name, spec in self.specs.items()}
        self.greedy = {n for n, spec in self.specs.items() if spec.matching.startswith("greedy") and not spec.ordered}
        self.needs_step = any(spec.needs_step for spec in self.specs.values())
        self.repeats = all(spec.length_reward is None for spec in self.specs.values())

    def prepare(self, rollout: Rollout) -> Prepared:
        """Read a row's ground truth, or recall it.

        Raises
        ------
        GroundTruthError
            If it cannot be used.
        """
        given, tools = rollout.ground_truth, rollout.tools
        plain = isinstance(given, str) and tools is None
        key = given if plain else json.dumps((given, tools), default=repr)
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= _KEPT:
                self.known.clear()
            found = self.known[key] = self._prepare(given, None if tools is None else read_tools(tools))
        return found

    def _prepare(self, given: Any, schemas: Mapping[str, Any] | None) -> Prepared:
        truth = parse_ground_truth(_readable(given, schemas), schemas=schemas)
        plain = single_valued(truth) if any(s.parser == "released" for s in self.specs.values()) else truth
        targets = {
            name: prepare_target(plain if spec.parser == "released" else truth, spec)
            for name, spec in self.specs.items()
        }
        return Prepared(truth, schemas, targets, {})

    def _reversed(self, name: str, prepared: Prepared) -> Target:
        """Return the ground truth with its calls in reverse order, prepared for a spec."""
        found = prepared.reversed_targets.get(name)
        if found is None:
            gold = prepared.targets[name].truth
            back = GroundTruth(gold.calls[::-1], gold.requires, gold.thought, gold.response, gold.text)
            found = prepared.reversed_targets[name] = prepare_target(back, self.specs[name])
        return found

    def unreachable(self, prepared: Prepared, step: float | None) -> Iterator[Lint]:
        """Say under which specs the ground truth itself, written as a completion, misses the maximum.

        Parameters
        ----------
        prepared : Prepared
            The ground truth.
        step : float or None
            Training step.

        Yields
        ------
        Lint
            One for each such spec.
        """
        truth = prepared.truth
        text = truth.text if truth.text is not None else render_completion(truth)
        readings: dict[tuple[Any, ...], Reading] = {}
        for name, spec in self.specs.items():
            how = _how(spec)
            if how not in readings:
                readings[how] = read_any(text, spec)[0]
            scales = spec.schedule.at(step)
            outcome = evaluate(readings[how], text, prepared.targets[name], spec, scales, step)
            reached, ceiling = outcome.total - outcome.length, highest(truth, spec, scales)
            if reached < ceiling - 1e-9:
                yield Lint("unreachable", f"{name}: {reached:g} of {ceiling:g} points")

    def __call__(self, rollout: Rollout, prepared: Prepared | None = None) -> RowScores:
        """Score one row that has a completion.

        Parameters
        ----------
        rollout : Rollout
            The row.
        prepared : Prepared, optional
            Its ground truth, where it has been read already.

        Returns
        -------
        RowScores
            Every score.

        Raises
        ------
        GroundTruthError
            If its ground truth cannot be used.
        ValueError
            If a schedule needs a step that the row has not.
        """
        prepared = prepared or self.prepare(rollout)
        key = self._key(rollout)
        known = prepared.answers.get(key) if key is not None else None
        if known is None:
            known = self._score(rollout, prepared)
            if key is not None and len(prepared.answers) < _ANSWERS:
                prepared.answers[key] = known
        if not self.functions and rollout.reward is None:
            return known
        scored, errors = dict(known.scored), {}
        for name, function in self.functions.items():
            try:
                scored[name] = Scored(number_of(function(rollout.completion, rollout.ground_truth)))
            except Exception as error:  # noqa: BLE001 - a foreign reward may raise anything, and that is a finding
                errors[name] = f"{type(error).__name__}: {error}"[:200]
        if rollout.reward is not None:
            scored["recorded"] = Scored(rollout.reward)
        return known._replace(scored=scored, errors=errors)

    def bounds(self, prepared: Prepared, step: float | None) -> dict[str, Scored]:
        """Return the floor and ceiling of a ground truth under every spec (see `bounds`)."""
        at = step if self.needs_step else None
        found = prepared.bounds.get(at)
        if found is None:
            found = {name: bounds(prepared.truth, spec, at) for name, spec in self.specs.items()}
            if len(prepared.bounds) < _ANSWERS:
                prepared.bounds[at] = found
        return found

    def _key(self, rollout: Rollout) -> tuple[Any, ...] | None:
        """Name an answer whose thought makes no difference; None for any other.

        Its text has the plain shape, and no ``<`` but in its tags: every parser and format rule sees the same blocks.
        Rollouts of one prompt often repeat the calls of another word for word, with another thought before them.
        """
        parts = plain_parts(rollout.completion) if self.repeats and isinstance(rollout.completion, str) else None
        if parts is None or not parts[4]:
            return None
        _, first, last, kinds, _, _ = parts
        return rollout.completion[first:last], kinds, rollout.step if self.needs_step else None

    def _score(self, rollout: Rollout, prepared: Prepared) -> RowScores:
        completion, step = rollout.completion, rollout.step
        readings: dict[tuple[Any, ...], tuple[Reading, str | None]] = {}
        scored: dict[str, Scored] = {}
        turned: dict[str, float] = {}
        losses: tuple[Loss, ...] = ()
        limits = self.bounds(prepared, step)
        for name, spec in self.specs.items():
            how = self.ways[name]
            held = readings.get(how)
            if held is None:
                held = readings[how] = read_any(completion, spec)
            reading, text = held
            target = prepared.targets[name]
            scales = spec.schedule.at(step)
            outcome = evaluate(reading, text, target, spec, scales, step)
            row = scored[name] = _scored(outcome, spec, limits[name], text is not None)
            if name == self.explained and row.ceiling is not None and row.total < row.ceiling - 1e-12:
                losses = outcome_losses(outcome, reading, target, spec, scales, step)
            if name in self.greedy and len(target.calls) > 1 and len(reading.calls) > 1:
                turned[name] = 0.0  # greedy matching never denies a perfect answer
                if outcome.correctness < scales.correctness[1]:
                    back = evaluate(reading, text, self._reversed(name, prepared), spec, scales, step)
                    turned[name] = back.correctness - outcome.correctness
        reading = _tolerant(readings, completion)
        codes = tuple(dict.fromkeys(f.reason.value for f in reading.findings if f.reason not in _NO_FINDING))
        return RowScores(prepared, scored, {}, codes, len(reading.calls), reading.malformed, losses, turned)


def _how(spec: RewardSpec) -> tuple[Any, ...]:
    """Name the way of reading a text: specs that share it share the reading."""
    return spec.parser, spec.accept_python_literals, spec.prefilled_thought


_NO_FINDING = {Reason.FORMAT_NOT_APPLICABLE}
_READ_AS_IS = ("tolerant", False, False)


def _tolerant(readings: Mapping[tuple[Any, ...], tuple[Reading, str | None]], completion: Any) -> Reading:
    found = readings.get(_READ_AS_IS)
    found = found or next((value for how, value in readings.items() if how[0] == "tolerant"), None)
    return found[0] if found else read_any(completion, RewardSpec())[0]


def _scored(outcome: Outcome, spec: RewardSpec, limits: Scored, is_text: bool) -> Scored:
    low, high = limits.correctness_floor, limits.correctness_ceiling
    floor, ceiling = limits.floor, limits.ceiling
    if not is_text and low is not None and high is not None:  # calls and messages have no format
        floor, ceiling = low, high + (0.0 if spec.length_reward is None else 1.0)
    shown = outcome.format if spec.format_rule != "none" else None
    return Scored(outcome.total, shown, outcome.correctness, floor, ceiling, low, high)


def bounds(truth: GroundTruth, spec: RewardSpec, step: float | None) -> Scored:
    """Return the floor and ceiling that a ground truth has without any completion; the total is the ceiling.

    Examples
    --------
    >>> bounds(parse_ground_truth([]), RewardSpec.preset("released"), None).floor
    0.0
    """
    scales = spec.schedule.at(step)
    counted = bool(truth.calls) or spec.no_call == "scored"
    low, high = scales.correctness if counted else (0.0, 0.0)
    formatted = spec.format_rule != "none"
    ceiling = highest(truth, spec, scales) + (1.0 if spec.length_reward is not None else 0.0)
    return Scored(ceiling, None, None, low + (scales.format[0] if formatted else 0.0), ceiling, low, high)


def _readable(given: Any, schemas: Mapping[str, Any] | None) -> Any:
    """Read the leaderboard's empty list of accepted values for an array parameter as the empty array."""
    if not schemas or not isinstance(given, (list, tuple)):
        return given
    return [_readable_call(item, schemas) for item in given]


def _readable_call(item: Any, schemas: Mapping[str, Any]) -> Any:
    if not isinstance(item, Mapping) or len(item) != 1:
        return item
    name, accepted = next(iter(item.items()))
    declared = schemas.get(name, {}).get("properties", {})
    if not isinstance(accepted, Mapping) or all(options != [] for options in accepted.values()):
        return item
    return {
        name: {
            key: [[]] if options == [] and declared.get(key, {}).get("type") == "array" else options
            for key, options in accepted.items()
        }
    }


def as_text(value: Any) -> str:
    """Write a completion or a ground truth as text.

    Examples
    --------
    >>> as_text([{"name": "f", "arguments": {}}])
    '[{"name": "f", "arguments": {}}]'
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
