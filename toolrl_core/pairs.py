"""Score pairs of calls and the names of an answer: the terms that a matching adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from toolrl_core.calls import AcceptedCall, ToolCall
from toolrl_core.equality import accepts, coerce, comparison, unordered_equal
from toolrl_core.ground_truth import GroundTruth, parse_ground_truth, with_schema
from toolrl_core.json_calls import RawCall
from toolrl_core.matching import Assignment
from toolrl_core.spec import RewardSpec

_MALFORMED_CALL = RawCall("\x00malformed", {}, None, 0)
Match = Callable[[Any], bool]
Compare = Callable[[Any, Any], bool]


class ExpectedCall:
    """Hold one ground-truth call prepared for many comparisons under one spec."""

    __slots__ = ("call", "defaults", "matchers", "name", "optional", "required", "source", "values")

    def __init__(self, call: ToolCall | AcceptedCall, spec: RewardSpec) -> None:
        if spec.schemas:
            call = with_schema(call, spec.schemas)
        self.call = call
        self.name = spec.name_aliases.get(call.name, call.name)
        self.values: dict[str, Any] | None = None
        self.matchers: dict[str, Match] = {}
        self.optional: frozenset[str] = frozenset()
        self.defaults: Mapping[str, Any] = {}
        self.source: dict[str, Any] | None = None
        plain = spec.equality != "schema" and not spec.unordered
        if isinstance(call, ToolCall):
            self.source = {"name": call.name, "parameters": dict(call.arguments)}
            self.required: dict[str, Any] = dict(call.arguments)
            if plain:
                self.values = self.required
                return
            options: Mapping[str, Sequence[Any]] = {key: (value,) for key, value in call.arguments.items()}
            schema: Mapping[str, Any] = {}
        else:
            self.optional = frozenset(call.optional)
            self.defaults = call.defaults
            self.required = {key: values for key, values in call.accepted.items() if key not in self.optional}
            options, schema = call.accepted, call.schema
        for key in [*options, *(k for k in self.optional if k not in options)]:
            declared = schema.get(key) if spec.equality == "schema" else None
            free = (self.defaults[key],) if key in self.defaults and key in self.optional else ()
            unordered = key in spec.unordered or f"{call.name}.{key}" in spec.unordered
            self.matchers[key] = _matcher((*options.get(key, ()), *free), declared, unordered, spec.equality)

    def matcher(self, key: str) -> Match:
        """Return the test of a predicted value against what this call accepts for a parameter."""
        return self.matchers[key]


def _matcher(options: tuple[Any, ...], schema: Any, unordered: bool, policy: str) -> Match:
    compare = comparison(policy)
    if isinstance(schema, Mapping):
        options = tuple(coerce(option, schema) for option in options)

    def matches(value: Any) -> bool:
        if isinstance(schema, Mapping):
            value = coerce(value, schema)
        for option in options:
            if unordered and isinstance(option, list) and isinstance(value, (list, tuple)):
                if unordered_equal(option, value, lambda a, b: accepts(a, b, compare)):
                    return True
            elif accepts(option, value, compare):
                return True
        return False

    return matches


PairScorer = Callable[[ExpectedCall, RawCall], float]


class Target(NamedTuple):
    """Hold a ground truth prepared for scoring many completions under one spec."""

    truth: GroundTruth
    calls: tuple[ExpectedCall, ...]
    names: list[str]
    maximum: int
    sources: list[Any]
    score_pair: PairScorer
    gated: bool
    quick: Callable[[Any, Any], bool] | None
    distinct: bool


def prepare_target(ground_truth: Any, spec: RewardSpec) -> Target:
    """Prepare a ground truth for scoring under a spec.

    Raises
    ------
    GroundTruthError
        If the ground truth cannot be used.
    ValueError
        If the spec reads single-valued ground truth only (parser "released") and this one accepts several values.
    """
    truth = parse_ground_truth(ground_truth)
    if spec.parser == "released":
        for index, call in enumerate(truth.calls):
            if isinstance(call, AcceptedCall) and not call.is_single_valued():
                raise ValueError(
                    f"ground truth call {index} ({call.name!r}) accepts several values; the released rules read "
                    "single-valued ground truth only: pass single_valued(ground_truth)"
                )
        singles = tuple(call.first() if isinstance(call, AcceptedCall) else call for call in truth.calls)
        truth = GroundTruth(singles, truth.requires, truth.thought, truth.response, truth.text)
    calls = tuple(ExpectedCall(call, spec) for call in truth.calls)
    maximum = 1
    if spec.granularity != "answer":
        maximum += len(calls)
    if spec.granularity == "parameter":
        maximum += sum(len(call.required) for call in calls)
    unusual = spec.ordered or spec.call_equality == "object" or spec.equality == "bfcl" or bool(spec.name_aliases)
    compare = _each_python_equal if spec.equality == "python" else comparison(spec.equality)
    return Target(
        truth,
        calls,
        [call.name for call in calls],
        maximum,
        [call.source for call in calls],
        pair_scorer(spec),
        spec.same_name or (spec.granularity == "answer" and spec.credit == "exact"),
        None if unusual or any(call.values is None for call in calls) else compare,
        len({call.name for call in calls}) == len(calls),
    )


def _each_python_equal(expected: Mapping[str, Any], found: Any) -> bool:
    """Compare value by value, as pairs are: two objects that share a NaN would be equal as a whole."""
    if type(found) is not dict or len(found) != len(expected):
        return False
    return all(key in found and bool(value == found[key]) for key, value in expected.items())


def count_pair(expected: ExpectedCall, arguments: Mapping[str, Any], compare: Compare) -> tuple[int, int, int]:
    """Count what a pair of calls has in common.

    Returns
    -------
    shared : int
        Required keys that the prediction gives.
    right : int
        Required keys with an accepted value.
    given : int
        Predicted keys, less the free optional ones.
    """
    shared = right = 0
    given = len(arguments)
    values = expected.values
    if values is not None:
        for key, value in values.items():
            if key in arguments:
                shared += 1
                if compare(value, arguments[key]):
                    right += 1
        return shared, right, given
    matchers = expected.matchers
    for key, value in arguments.items():
        if key in expected.required:
            shared += 1
            right += matchers[key](value)
        elif key in expected.optional and matchers[key](value):
            given -= 1
    return shared, right, given


def key_score(shared: int, given: int, required: int) -> float:
    """Return the Jaccard index of the key sets (1 for two empty ones)."""
    union = required + given - shared
    return shared / union if union else 1.0


def pair_scorer(spec: RewardSpec) -> PairScorer:
    """Return the function that scores one pair of calls under a spec, the name gate apart (see `pair_scores`)."""
    compare = comparison(spec.equality)
    exact = str if spec.equality != "bfcl" else None  # every other policy compares a text exactly
    by_parameter, partial = spec.granularity == "parameter", spec.credit == "partial"
    if spec.call_equality == "object" and not by_parameter:
        return lambda expected, call: float(expected.source == call.source)

    def partial_credit(expected: ExpectedCall, call: RawCall) -> float:
        arguments = call.arguments or {}
        values = expected.values
        if values is None:
            shared, right, given = count_pair(expected, arguments, compare)
            required = len(expected.required)
        else:  # the same counts for single literal values, written out for speed
            shared = right = 0
            given, required = len(arguments), len(values)
            for key in values:
                if key in arguments:
                    shared += 1
                    value, found = values[key], arguments[key]
                    if value == found if type(value) is exact else compare(value, found):
                        right += 1
            if not shared and (given or required):  # no key in common
                return 0.0
        union = required + given - shared
        score = (shared / union if union else 1.0) + right
        return score if by_parameter else score / (1 + required)

    def exact_credit(expected: ExpectedCall, call: RawCall) -> float:
        shared, right, given = count_pair(expected, call.arguments or {}, compare)
        same_keys = shared == len(expected.required) == given
        if not by_parameter:
            return float(same_keys and right == shared)
        if spec.ordered:
            same_keys = list(expected.required) == list(call.arguments or {})
        return float(same_keys) + right

    return partial_credit if partial else exact_credit


def score_table(target: Target, calls: Sequence[RawCall], names: Sequence[str]) -> list[list[float]]:
    """Score every pair, ground-truth calls by predicted calls; gated pairs score 0."""
    score_pair, table = target.score_pair, []
    if len(calls) == 1 == len(target.calls):
        apart = target.gated and names[0] != target.names[0]
        return [[0.0 if apart else score_pair(target.calls[0], calls[0])]]
    named = list(zip(names, calls, strict=True))
    for expected in target.calls:
        if target.gated:
            wanted = expected.name
            table.append([score_pair(expected, call) if name == wanted else 0.0 for name, call in named])
        else:
            table.append([score_pair(expected, call) for call in calls])
    return table


def pair_scores(
    ground_truth: Any, predicted: Iterable[ToolCall | Mapping[str, Any]], spec: RewardSpec | None = None
) -> list[list[float]]:
    r"""Score every pair of a ground-truth call and a predicted call.

    .. math:: s_{ji} = \frac{|K_j \cap K_i|}{|K_j \cup K_i|} + \sum_{k \in K_j} 1[G_j[k] = P_i[k]]

    Parameters
    ----------
    ground_truth : any form of `parse_ground_truth`
        The n expected calls.
    predicted : iterable of ToolCall or mapping
        The m predicted calls.
    spec : RewardSpec, optional
        Its name gate, equality, granularity and credit apply; the paper's by default.

    Returns
    -------
    list of lists of float, shape (n, m)
        Raw points of each pair. Two empty key sets score 1.

    Raises
    ------
    GroundTruthError
        If a call on either side cannot be used.

    Notes
    -----
    ToolRL note §6.1, arXiv 2504.13958 §3.3: the name is not part of a pair.

    Examples
    --------
    The note's counterexample (§6.2):

    >>> gold = [ToolCall("alpha", {"a": 1}), ToolCall("beta", {"b": 1, "c": 2})]
    >>> predicted = [ToolCall("alpha", {"a": 1, "b": 1, "c": 2}), ToolCall("alpha", {"a": 2})]
    >>> [[round(s, 3) for s in row] for row in pair_scores(gold, predicted)]
    [[1.333, 1.0], [2.667, 0.0]]
    """
    spec = RewardSpec() if spec is None else spec
    target = prepare_target(ground_truth, spec)
    calls = [as_raw(call) for call in parse_ground_truth(list(predicted)).calls]
    return score_table(target, calls, canonical_names(calls, spec))


def as_raw(call: ToolCall | AcceptedCall, position: int = 0) -> RawCall:
    """Return a call as the parsers give it."""
    call = call.first() if isinstance(call, AcceptedCall) else call
    arguments = dict(call.arguments)
    return RawCall(call.name, arguments, {"name": call.name, "parameters": arguments}, position)


def with_stand_ins(
    calls: Sequence[RawCall], names: Sequence[str], malformed: int, target: Target
) -> tuple[list[RawCall], list[str]]:
    """Add a call with a name of its own and no keys for each malformed one, as many as can be matched."""
    stand_ins = [_MALFORMED_CALL] * min(malformed, len(target.calls))
    return [*calls, *stand_ins], [*names, *(call.name for call in stand_ins)]


def canonical_names(calls: Sequence[RawCall], spec: RewardSpec) -> list[str]:
    """Return the predicted names with the declared aliases resolved."""
    aliases = spec.name_aliases
    return [aliases.get(call.name, call.name) for call in calls] if aliases else [call.name for call in calls]


def common_names(expected: Sequence[str], predicted: Sequence[str]) -> int:
    """Return the size of the multiset intersection of two lists of names."""
    if len(expected) == 1:
        return int(expected[0] in predicted)
    if len(expected) * len(predicted) < 100:
        rest = list(predicted)
        for name in expected:
            if name in rest:
                rest.remove(name)
        return len(predicted) - len(rest)
    return sum((Counter(expected) & Counter(predicted)).values())


def name_score(
    expected: Sequence[str], predicted: Sequence[str], malformed: int, spec: RewardSpec, common: int | None = None
) -> float:
    """Score the names of a whole answer, once: Jaccard or all-or-nothing, of sets or multisets.

    A malformed call counts as one further name that occurs nowhere else. `common` is the size of the multiset
    intersection where it is known.
    """
    if spec.ordered and spec.exact_names:
        return float(not malformed and list(expected) == list(predicted))
    if spec.names == "set":
        wanted, given = set(expected), set(predicted)
        common = len(wanted & given)
        union = len(wanted) + len(given) - common + malformed
    else:
        common = common_names(expected, predicted) if common is None else common
        union = len(expected) + len(predicted) + malformed - common
    if spec.exact_names:
        return float(common == union)
    return common / union if union else 1.0


def match_by_name(target: Target, calls: Sequence[RawCall], names: Sequence[str]) -> Assignment | None:
    """Pair calls where gated names leave no choice; None where a name occurs twice on either side.

    Every matching rule gives these pairs then.
    """
    if not target.distinct or len(set(names)) < len(names):
        return None
    pairs, total, score_pair = [], 0.0, target.score_pair
    for j, name in enumerate(target.names):
        if name in names:
            i = names.index(name)
            score = score_pair(target.calls[j], calls[i])
            if score > 0:
                total += score
                pairs.append((j, i))
    return tuple.__new__(Assignment, (total, tuple(pairs)))  # without its own slower constructor


def is_perfect(target: Target, calls: Sequence[RawCall]) -> bool:
    """Tell quickly, for the usual options, that calls with the expected names, in order, are all right.

    False may also mean that the question needs the full comparison.
    """
    compare = target.quick
    if compare is None:
        return False
    for expected, call in zip(target.calls, calls):  # noqa: B905 (as many as the equal names)
        if expected.values != call.arguments or not compare(expected.values, call.arguments):
            return False
    return True
