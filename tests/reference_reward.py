"""The reward once more, in exact fractions and by brute force, for tests: nothing here is shared with the package."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

Predicted = tuple[str, dict[str, Any]]


@dataclass
class Expected:
    """Hold one expected call: accepted values by parameter, as the Berkeley form writes them."""

    name: str
    accepted: dict[str, list[Any]]
    literal: bool = False  # every parameter has one value, which stands for itself
    optional: tuple[str, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def free(self) -> set[str]:
        if self.literal:
            return set()
        marked = {key for key, values in self.accepted.items() if any(isinstance(v, str) and v == "" for v in values)}
        return marked | set(self.optional) | (set(self.defaults) - set(self.accepted))

    @property
    def required(self) -> list[str]:
        return [key for key in self.accepted if key not in self.free]


class Options(NamedTuple):
    """Hold the options of the reward that matter for calls."""

    matching: str = "optimal"
    same_name: bool = False
    names: str = "set"
    equality: str = "json"
    extra_calls: str = "name_only"
    no_call: str = "scored"
    granularity: str = "parameter"
    credit: str = "partial"
    name_credit: str | None = None
    ordered: bool = False
    call_equality: str = "arguments"
    low: Fraction = Fraction(-3)
    high: Fraction = Fraction(3)


class Reference(NamedTuple):
    """Hold exact values."""

    correctness: Fraction
    matched: Fraction
    maximum: int
    names: Fraction


def canonical(value: Any, *, strict: bool = False) -> Any:
    """Return something that two values share exactly if they are equal as typed JSON."""
    if isinstance(value, bool):
        return ("bool", value)
    if value is None:
        return ("null",)
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, (int, float)):
        kind = "float" if strict and isinstance(value, float) else "number"
        return (kind, Fraction(value) if math.isfinite(value) else str(value))
    if isinstance(value, (list, tuple)):
        return ("list", tuple(canonical(item, strict=strict) for item in value))
    return ("object", frozenset((key, canonical(item, strict=strict)) for key, item in value.items()))


def same(a: Any, b: Any, policy: str) -> bool:
    if policy == "python":
        return bool(a == b)
    strict = policy == "json_strict"
    return bool(canonical(a, strict=strict) == canonical(b, strict=strict))


def stands_for(option: Any, value: Any, policy: str) -> bool:
    """Tell whether an accepted value, nested alternatives included, allows a value."""
    if isinstance(option, dict) and option and all(isinstance(v, list) and v for v in option.values()):
        return (
            isinstance(value, dict)
            and set(value) <= set(option)
            and all(
                any(stands_for(o, value[key], policy) for o in options) if key in value else "" in options
                for key, options in option.items()
            )
        )
    if isinstance(option, list):
        return (
            isinstance(value, list)
            and len(value) == len(option)
            and all(stands_for(o, v, policy) for o, v in zip(option, value, strict=True))
        )
    return same(option, value, policy)


def allowed(call: Expected, key: str, value: Any, policy: str) -> bool:
    if call.literal:
        return same(call.accepted[key][0], value, policy)
    options = call.accepted.get(key, [])
    if any(stands_for(option, value, policy) for option in options):
        return True
    return key in call.free and key in call.defaults and same(call.defaults[key], value, policy)


def jaccard(shared: int, first: int, second: int) -> Fraction:
    union = first + second - shared
    return Fraction(shared, union) if union else Fraction(1)


def pair(call: Expected, predicted: Predicted, options: Options) -> Fraction:
    """Score one pair of calls, the gate of names apart."""
    name, arguments = predicted
    if options.granularity != "parameter" and options.call_equality == "object":
        mine = {key: values[0] for key, values in call.accepted.items()}
        return Fraction({"name": call.name, "parameters": mine} == {"name": name, "parameters": arguments})
    required = call.required
    given = {
        key
        for key, value in arguments.items()
        if key in required or key not in call.free or not allowed(call, key, value, options.equality)
    }
    shared = len(given & set(required))
    right = sum(key in arguments and allowed(call, key, arguments[key], options.equality) for key in required)
    if options.credit == "partial":
        score = jaccard(shared, len(required), len(given)) + right
        return score if options.granularity == "parameter" else score / (1 + len(required))
    if options.granularity != "parameter":
        return Fraction(given == set(required) and right == len(required))
    keys_right = list(arguments) == required if options.ordered else given == set(required)
    return Fraction(keys_right) + right


def match(scores: list[list[Fraction]], rule: str) -> tuple[Fraction, int]:
    """Return the matching's total and the number of pairs that score."""
    n, m = len(scores), len(scores[0]) if scores else 0
    if not n or not m:
        return Fraction(0), 0
    if rule == "optimal":
        chosen: list[list[Fraction]] = []
        if n <= m:
            chosen = [[scores[j][i] for j, i in enumerate(columns)] for columns in permutations(range(m), n)]
        else:
            chosen = [[scores[j][i] for i, j in enumerate(rows)] for rows in permutations(range(n), m)]
        return max((sum(values, Fraction(0)), sum(value > 0 for value in values)) for values in chosen)
    cells = [(j, i) for j in range(n) for i in range(m)]
    if rule == "greedy_best":
        cells.sort(key=lambda cell: (-scores[cell[0]][cell[1]], cell))
    elif rule == "greedy_ground_truth":
        cells.sort(key=lambda cell: (cell[0], -scores[cell[0]][cell[1]], cell[1]))
    else:
        cells.sort(key=lambda cell: (cell[1], -scores[cell[0]][cell[1]], cell[0]))
    total, rows, columns = Fraction(0), set(), set()
    for j, i in cells:
        if scores[j][i] > 0 and j not in rows and i not in columns:
            rows.add(j)
            columns.add(i)
            total += scores[j][i]
    return total, len(rows)


def name_term(wanted: list[str], given: list[str], options: Options) -> Fraction:
    exact = (options.name_credit or options.credit) == "exact"
    if exact and options.ordered:
        return Fraction(wanted == given)
    if options.names == "set":
        score = jaccard(len(set(wanted) & set(given)), len(set(wanted)), len(set(given)))
    else:
        score = jaccard((Counter(wanted) & Counter(given)).total(), len(wanted), len(given))
    return Fraction(score == 1) if exact else score


def reference(expected: list[Expected], predicted: list[Predicted], options: Options, malformed: int = 0) -> Reference:
    """Score predicted calls, and malformed ones, which have names of their own and no keys."""
    low, high = options.low, options.high
    if not expected and options.no_call == "zero":
        return Reference(Fraction(0), Fraction(0), 1, Fraction(0))
    predicted = [*predicted, *((f"(malformed {i})", {}) for i in range(malformed))]
    wanted, given = [call.name for call in expected], [name for name, _ in predicted]
    names = name_term(wanted, given, options)
    gated = options.same_name or (options.granularity == "answer" and options.credit == "exact")
    scores = [
        [Fraction(0) if gated and other[0] != call.name else pair(call, other, options) for other in predicted]
        for call in expected
    ]
    total, pairs = match(scores, options.matching)
    extra = len(given) - (Counter(wanted) & Counter(given)).total() if options.extra_calls == "counted" else 0
    if options.granularity == "answer":
        maximum = 1
        if options.credit == "partial":
            matched = names * (total / len(expected) if expected else 1)
        elif options.ordered:
            first = [(call.name, {key: values[0] for key, values in call.accepted.items()}) for call in expected]
            matched = Fraction(first == predicted)
        else:
            matched = Fraction(len(expected) == len(predicted) == pairs)
    else:
        maximum = 1 + len(expected) + extra
        maximum += sum(len(call.required) for call in expected) if options.granularity == "parameter" else 0
        matched = names + total
    return Reference(low + (high - low) * matched / maximum, matched, maximum, names)
