"""Facts about rewards for the tests: small answers with the exact value that each rule gives them.

Every value is a fraction worked out from the definitions: ``correctness = -3 + 6 * matched / maximum``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Calls = list[tuple[str, dict[str, Any]]]


class CallCase(NamedTuple):
    """Hold one pair of answers with its values (fractions as text).

    `paper`, `gated`, `greedy` and `gated_multiset` change one or two options of the paper's rules; `released` is
    the released rule on calls (its text scorer gives 0 where nothing is expected).
    """

    label: str
    expected: Calls
    predicted: Calls
    maximum: int
    matched: str
    paper: str
    gated: str
    greedy: str
    gated_multiset: str
    released: str
    python_equality: str | None = None


SEARCH: tuple[str, dict[str, Any]] = ("search", {"query": "x"})
CALC: tuple[str, dict[str, Any]] = ("calc", {})
F1: tuple[str, dict[str, Any]] = ("f", {"a": 1})
G2: tuple[str, dict[str, Any]] = ("g", {"b": 2})

CALL_CASES = [
    # The note's first worked example (ToolRL note §6.1), its values corrected: a missing call lowers the name term too
    CallCase("both right", [SEARCH, CALC], [SEARCH, CALC], 4, "4", "3", "3", "3", "3", "3"),
    CallCase("second missing", [SEARCH, CALC], [SEARCH], 4, "5/2", "3/4", "3/4", "3/4", "3/4", "3/4"),
    CallCase(
        "second missing, value wrong",
        [SEARCH, CALC],
        [("search", {"query": "y"})],
        4,
        *("3/2", "-3/4", "-3/4", "-3/4", "-3/4", "-3/4"),
    ),
    CallCase("first missing", [SEARCH, CALC], [CALC], 4, "3/2", "-3/4", "-3/4", "-3/4", "-3/4", "-3/4"),
    CallCase(
        "value wrong of two",
        [SEARCH, CALC],
        [("search", {"query": "y"}), CALC],
        4,
        *("3", "3/2", "3/2", "3/2", "3/2", "3/2"),
    ),
    # The note's second worked example (§6.2), with the true name term 1/2
    CallCase(
        "one name twice for two names",
        [("alpha", {"a": 1}), ("beta", {"b": 1, "c": 2})],
        [("alpha", {"a": 1, "b": 1, "c": 2}), ("alpha", {"a": 2})],
        6,
        *("25/6", "7/6", "-7/6", "-7/6", "-4/3", "-4/3"),
    ),
    # Empty sides
    CallCase("nothing expected, nothing given", [], [], 1, "1", "3", "3", "3", "3", "3"),
    CallCase("nothing expected, a call given", [], [("f", {})], 1, "0", "-3", "-3", "-3", "-3", "-3"),
    CallCase("no arguments on either side", [("f", {})], [("f", {})], 2, "2", "3", "3", "3", "3", "3"),
    CallCase("an argument where none is expected", [("f", {})], [("f", {"z": 1})], 2, "1", "0", "0", "0", "0", "0"),
    # One call
    CallCase("nothing in common", [F1], [("g", {"b": 1})], 3, "0", "-3", "-3", "-3", "-3", "-3"),
    CallCase(
        "right arguments under a wrong name",
        [("f", {"a": 1, "b": 2})],
        [("g", {"a": 1, "b": 2})],
        4,
        *("3", "3/2", "-3", "3/2", "-3", "-3"),
    ),
    CallCase("wrong value", [F1], [("f", {"a": 2})], 3, "2", "1", "1", "1", "1", "1"),
    CallCase("one key of two missing", [("f", {"a": 1, "b": 2})], [F1], 4, *("5/2", "3/4", "3/4", "3/4", "3/4", "3/4")),
    CallCase(
        "twenty further keys",
        [F1],
        [("f", {"a": 1} | {f"k{i}": 0 for i in range(20)})],
        3,
        *("43/21", "23/21", "23/21", "23/21", "23/21", "23/21"),
    ),
    CallCase("key renamed", [F1], [("f", {"b": 1})], 3, "1", "-1", "-1", "-1", "-1", "-1"),
    # Order
    CallCase("calls in another order", [F1, G2], [G2, F1], 5, "5", "3", "3", "3", "3", "3"),
    CallCase(
        "keys in another order",
        [("f", {"a": 1, "b": 2})],
        [("f", {"b": 2, "a": 1})],
        4,
        *("4", "3", "3", "3", "3", "3"),
    ),
    # Repeated names
    CallCase("a second call of the name", [F1], [F1, ("f", {"a": 9})], 3, "3", "3", "3", "3", "2", "2"),
    CallCase("twenty copies", [F1], [F1] * 20, 3, "3", "3", "3", "3", "11/10", "11/10"),
    CallCase("one of two with one name", [F1, ("f", {"a": 2})], [F1], 5, "3", "3/5", "3/5", "3/5", "0", "0"),
    CallCase("one of two equal calls", [F1, F1], [F1], 5, "3", "3/5", "3/5", "3/5", "0", "0"),
    CallCase(
        "names exchanged", [F1, G2], [("g", {"a": 1}), ("f", {"b": 2})], 5, *("5", "3", "-9/5", "3", "-9/5", "-9/5")
    ),
    CallCase("one name for both", [F1, G2], [F1, ("f", {"b": 2})], 5, *("9/2", "12/5", "0", "12/5", "-1/5", "-1/5")),
    CallCase(
        "two calls merged", [F1, G2], [("f", {"a": 1, "b": 2})], 5, *("2", "-3/5", "-3/5", "-3/5", "-3/5", "-3/5")
    ),
    CallCase(
        "two calls of one name merged",
        [F1, ("f", {"b": 2})],
        [("f", {"a": 1, "b": 2})],
        5,
        *("5/2", "0", "0", "0", "-3/5", "-3/5"),
    ),
    # Greedy matching in the ground truth's order takes a partner that another call needs
    CallCase(
        "greedy loses with two predictions",
        [F1, ("f", {"a": 1, "b": 2})],
        [("f", {"a": 1, "b": 2}), ("f", {"c": 1})],
        6,
        *("4", "1", "1", "-1/2", "1", "-1/2"),
    ),
    CallCase(
        "greedy loses with three expected",
        [F1, ("f", {"a": 1, "b": 2}), ("f", {"a": 1, "b": 2, "c": 3})],
        [("f", {"a": 1, "b": 2, "c": 3}), ("f", {"a": 1, "b": 2})],
        10,
        *("8", "9/5", "9/5", "1/10", "8/5", "-1/10"),
    ),
    CallCase(
        "one name in another order",
        [F1, ("f", {"a": 2})],
        [("f", {"a": 2}), F1],
        5,
        *("5", "3", "3", "3", "3", "3"),
    ),
    CallCase(
        "first of two dropped",
        [("f", {"a": 1, "k": 0}), ("f", {"a": 2, "k": 0})],
        [("f", {"a": 2, "k": 0})],
        7,
        *("4", "3/7", "3/7", "-3/7", "0", "-6/7"),
    ),
    # Values
    CallCase("true for 1", [F1], [("f", {"a": True})], 3, "2", "1", "1", "1", "1", "3", python_equality="3"),
    CallCase("text for a number", [F1], [("f", {"a": "1"})], 3, "2", "1", "1", "1", "1", "1"),
    CallCase("null for null", [("f", {"a": None})], [("f", {"a": None})], 3, "3", "3", "3", "3", "3", "3"),
    CallCase("nothing for null", [("f", {"a": None})], [("f", {})], 3, "1", "-1", "-1", "-1", "-1", "-1"),
    CallCase("list reversed", [("f", {"a": [1, 2]})], [("f", {"a": [2, 1]})], 3, "2", "1", "1", "1", "1", "1"),
    CallCase(
        "object reversed",
        [("f", {"a": {"x": 1, "y": 2}})],
        [("f", {"a": {"y": 2, "x": 1}})],
        3,
        *("3", "3", "3", "3", "3", "3"),
    ),
    CallCase(
        "name in another case",
        [("Search", {"q": "x"})],
        [("search", {"q": "x"})],
        3,
        *("2", "1", "-3", "1", "-3", "-3"),
    ),
    CallCase("a space more", [("f", {"a": "x"})], [("f", {"a": "x "})], 3, "2", "1", "1", "1", "1", "1"),
    CallCase(
        "integer beyond double precision",
        [("f", {"a": 9007199254740993})],
        [("f", {"a": 9007199254740992.0})],
        3,
        *("2", "1", "1", "1", "1", "1"),
    ),
    CallCase("empty key", [("f", {"": 1})], [("f", {"": 1})], 3, "3", "3", "3", "3", "3", "3"),
    # Size
    CallCase(
        "seven calls, all values of one key shifted",
        [("f", {"i": i, "k": i % 2}) for i in range(7)],
        [("f", {"i": (i + 1) % 7, "k": i % 2}) for i in range(7)],
        22,
        *("16", "15/11", "15/11", "15/11", "15/11", "15/11"),
    ),
    CallCase(
        "twelve keys, every second one given",
        [("f", {key: i for i, key in enumerate("abcdefghijkl")})],
        [("f", {key: 2 * i for i, key in enumerate("acegik")})],
        14,
        *("15/2", "3/14", "3/14", "3/14", "3/14", "3/14"),
    ),
    CallCase(
        "three names rotated",
        [F1, ("g", {"a": 1, "b": 2}), ("h", {"b": 2, "c": 3})],
        [("f", {"b": 2, "c": 3}), ("g", {"a": 1}), ("h", {"a": 1, "b": 2})],
        9,
        *("9", "3", "-4/9", "3", "-4/9", "-4/9"),
    ),
]


class SmallInput(NamedTuple):
    """Hold one of the small answers on which the paper's formula and the released code disagree."""

    label: str
    expected: Calls
    predicted: Calls
    paper: str
    released: str


SMALL_INPUTS = [
    SmallInput("names exchanged", [F1, G2], [("g", {"a": 1}), ("f", {"b": 2})], "3", "-9/5"),
    SmallInput("wrong name", [("f", {"a": 1, "b": 2})], [("g", {"a": 1, "b": 2})], "3/2", "-3"),
    SmallInput("wrong name, no arguments", [("f", {})], [("g", {})], "0", "-3"),
    SmallInput("a second call", [F1], [F1, ("f", {"a": 9})], "3", "2"),
    SmallInput("one of two with one name", [F1, ("f", {"a": 2})], [F1], "3/5", "0"),
    SmallInput("the longer of two", [F1, ("f", {"a": 1, "b": 2})], [("f", {"a": 1, "b": 2})], "1", "-1"),
    SmallInput(
        "the first of two dropped",
        [("f", {"a": 1, "k": 0}), ("f", {"a": 2, "k": 0})],
        [("f", {"a": 2, "k": 0})],
        "3/7",
        "-6/7",
    ),
    SmallInput(
        "the second of two dropped",
        [("f", {"a": 1, "k": 0}), ("f", {"a": 2, "k": 0})],
        [("f", {"a": 1, "k": 0})],
        "3/7",
        "0",
    ),
    SmallInput("two merged", [F1, ("f", {"b": 2})], [("f", {"a": 1, "b": 2})], "0", "-3/5"),
    SmallInput("one name of two wrong", [F1, G2], [F1, ("g2", {"b": 2})], "11/5", "-1/5"),
    SmallInput("true for 1", [F1], [("f", {"a": True})], "1", "3"),
    SmallInput(
        "the note's section 6.2",
        [("alpha", {"a": 1}), ("beta", {"b": 1, "c": 2})],
        [("alpha", {"a": 1, "b": 1, "c": 2}), ("alpha", {"a": 2})],
        "7/6",
        "-4/3",
    ),
    SmallInput(
        "the two longest of three",
        [F1, ("f", {"a": 1, "b": 2}), ("f", {"a": 1, "b": 2, "c": 3})],
        [("f", {"a": 1, "b": 2, "c": 3}), ("f", {"a": 1, "b": 2})],
        "9/5",
        "-1/10",
    ),
]


class TextCase(NamedTuple):
    """Hold one completion with what each format rule and the released scorer say about it."""

    label: str
    ground_truth: str
    completion: str
    ordered_tags: bool
    literal: bool
    released_format: float
    released_correctness: float


THOUGHT = "<think> t </think>"
CALL = '<tool_call>\n{"name":"f","parameters":{"a":1}}\n</tool_call>'
RESPONSE = "<response> r </response>"
BOTH = f"{THOUGHT}\n{CALL}\n{RESPONSE}"
CALL_ONLY = f"{THOUGHT}\n{CALL}"

TEXT_CASES = [
    TextCase("all fields", BOTH, BOTH, True, True, 1, 3),
    TextCase("response missing", BOTH, CALL_ONLY, False, True, 0, 3),
    TextCase("fields reversed", BOTH, f"{RESPONSE}\n{CALL}\n{THOUGHT}", False, False, 0, 3),
    TextCase("response repeated", BOTH, f"{BOTH}\n{RESPONSE}", True, True, 0, 3),
    TextCase("text between", BOTH, f"{THOUGHT}\nsome text\n{CALL}\nmore\n{RESPONSE}", True, True, 0, 3),
    TextCase("thought names a tag", CALL_ONLY, f"<think> use <tool_call> </think>\n{CALL}", True, True, 0, -3),
    TextCase("no line break after the thought", CALL_ONLY, f"{THOUGHT}{CALL}", True, True, 0, 3),
    TextCase("response not asked for", CALL_ONLY, BOTH, True, True, 0, 3),
    TextCase("response alone", f"{THOUGHT}\n{RESPONSE}", f"{THOUGHT}\n{RESPONSE}", True, True, 1, 0),
    TextCase("object on two lines", CALL_ONLY, CALL_ONLY.replace(",", ",\n"), True, True, 1, -3),
    TextCase("array of one", CALL_ONLY, CALL_ONLY.replace("\n{", "\n[{").replace("}}\n", "}}]\n"), True, True, 1, -3),
    TextCase("key repeated", CALL_ONLY, CALL_ONLY.replace('"a":1', '"a":2,"a":1'), True, True, 1, 3),
    TextCase("a line that is no JSON", CALL_ONLY, CALL_ONLY.replace("\n</", "\noops\n</"), True, True, 1, -3),
]
