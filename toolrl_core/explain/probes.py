"""Small inputs on which rules disagree: pairs of values for equality, completions for the format."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from toolrl_core.equality import EQUALITY_POLICIES, equal
from toolrl_core.formats import FIELDS, literal_format, ordered_tags_format, released_format, strict_format

__all__ = [
    "EQUALITY_COLUMNS",
    "EQUALITY_PROBES",
    "FORMAT_CASES",
    "FORMAT_COLUMNS",
    "EqualityProbe",
    "FormatCase",
    "equality_verdicts",
    "format_verdicts",
]

EQUALITY_COLUMNS: tuple[str, ...] = (*EQUALITY_POLICIES, "unordered")
"""The named policies, and ``json`` with lists compared without order."""


@dataclass(frozen=True, kw_only=True)
class EqualityProbe:
    """Hold two values as JSON texts, and the schema that a tool would declare for them.

    Parameters
    ----------
    kind : str
        What the two values are about.
    ground_truth, predicted : str
        The two values as JSON texts, so that escapes, big integers and NaN stand as a model writes them.
    schema : mapping
        JSON schema of the parameter; the policy ``schema`` alone reads it.
    words : str
        The pair in words, where its texts are too long for a figure.
    """

    kind: str
    ground_truth: str
    predicted: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""

    @property
    def name(self) -> str:
        """Return both texts, the ground truth's first, or the pair in words."""
        return self.words or f"{self.ground_truth} / {self.predicted}"

    def verdict(self, column: str) -> bool:
        """Tell whether the two values are equal under one of `EQUALITY_COLUMNS`.

        Examples
        --------
        >>> EqualityProbe(kind="", ground_truth='"-5"', predicted='"5"').verdict("bfcl")
        True
        """
        policy, unordered = ("json", True) if column == "unordered" else (column, False)
        ours, theirs = json.loads(self.ground_truth), json.loads(self.predicted)
        return equal(ours, theirs, policy, schema=self.schema, unordered=unordered)


def _probes() -> Iterable[EqualityProbe]:
    integer, number, text = {"type": "integer"}, {"type": "number"}, {"type": "string"}
    truth, numbers = {"type": "boolean"}, {"type": "array", "items": {"type": "number"}}
    rows: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {
        "numbers": [
            ("1", "1.0", integer),
            ("1.0", "1", number),
            ("100", "1e2", integer),
            ("0.3", "0.30000000000000004", number),
            ("9007199254740993", "9007199254740992.0", integer),
            ("-5", "5", integer),
            ("NaN", "NaN", number),
        ],
        "truth values": [
            ("1", "true", integer),
            ("false", "0", truth),
            ("true", '"true"', truth),
            ("true", '"yes"', truth),
        ],
        "numbers as text": [
            ("1", '"1"', integer),
            ('"1"', "1", text),
            ('"02134"', "2134", text),
            ("1.5", '"1.50"', number),
        ],
        "nothing": [("null", '"null"', text), ("null", '""', text), ("[]", "null", numbers)],
        "text": [
            ('"\\u00e9"', '"é"', text),
            ('"\\u00e9"', '"e\\u0301"', text),
            ('"New York, NY"', '"new york ny"', text),
            ('"Oslo"', '"Oslo "', text),
            ('"-5"', '"5"', text),
            ('"1.5"', '"15"', text),
            ('"2024-1-11"', '"2024-11-1"', text),
            ('"Straße"', '"strasse"', text),
        ],
        "lists": [
            ("[1, 2]", "[2, 1]", numbers),
            ("[1, 1, 2]", "[1, 2, 2]", numbers),
            ("[[1,2],[3]]", "[[3],[2,1]]", {"type": "array", "items": numbers}),
            ("[1.0]", "[1]", numbers),
            ('["1.5"]', '["15"]', {"type": "array", "items": text}),
        ],
        "objects": [
            ('{"a":1,"b":2}', '{"b":2,"a":1}', {"type": "object"}),
            ('{"a":1}', '{"a":1,"b":null}', {"type": "object"}),
            ('[{"a":1}]', '[{"a":true}]', {"type": "array"}),
            ('{"a":1}', '{"a":"1"}', {"type": "object", "properties": {"a": integer}}),
        ],
    }
    words = {"9007199254740993": "2⁵³ + 1 / 2⁵³ as a float"}
    for kind, pairs in rows.items():
        for ours, theirs, schema in pairs:
            label = words.get(ours, "")
            yield EqualityProbe(kind=kind, ground_truth=ours, predicted=theirs, schema=schema, words=label)


EQUALITY_PROBES: tuple[EqualityProbe, ...] = tuple(_probes())
"""Pairs of values that somebody would call equal and somebody else would not."""


def equality_verdicts(probes: Iterable[EqualityProbe] = EQUALITY_PROBES) -> pd.DataFrame:
    """Ask every equality policy about every probe.

    Parameters
    ----------
    probes : iterable of EqualityProbe
        The probes; all by default.

    Returns
    -------
    pandas.DataFrame
        One row for each probe (index: its name), one column of truth values for each of `EQUALITY_COLUMNS`.

    Notes
    -----
    The ToolRL note writes ``=`` between two values (§6.1) and says no more.

    Examples
    --------
    A float stands for an integer one way round only in the leaderboard's rules:

    >>> equality_verdicts().loc[["1 / 1.0", "1.0 / 1"], ["json", "bfcl"]].to_numpy().tolist()
    [[True, False], [True, True]]
    """
    probes = tuple(probes)
    names = pd.Index([probe.name for probe in probes], name="ground truth / predicted")
    columns = {column: [probe.verdict(column) for probe in probes] for column in EQUALITY_COLUMNS}
    return pd.DataFrame(columns, index=names)


@dataclass(frozen=True, kw_only=True)
class FormatCase:
    """Hold a completion, the fields that its ground truth asks for, and what the note says about it.

    Parameters
    ----------
    name : str
        The case in a few words.
    text : str
        The completion.
    requires : tuple of str
        Required fields, in order.
    note : int or None
        The format point that the ToolRL note gives (its P3); None for a case that the note does not name.
    """

    name: str
    text: str
    requires: tuple[str, ...]
    note: int | None = None


_THOUGHT = "<think> t </think>"
_JSON = '{"name": "f", "parameters": {"a": 1}}'
_CALL = f"<tool_call>\n{_JSON}\n</tool_call>"
_ANSWER = "<response> r </response>"
_CALLS, _ANSWERS = ("thought", "tool_call"), ("thought", "response")


def _cases() -> Iterable[FormatCase]:
    named = [
        ("complete, in order", f"{_THOUGHT}\n{_CALL}\n{_ANSWER}", 1),
        ("a field is missing", f"{_THOUGHT}\n{_CALL}", 0),
        ("order reversed", f"{_ANSWER}\n{_CALL}\n{_THOUGHT}", 0),
        ("no thought", f"{_CALL}\n{_ANSWER}", 0),
        ("a block repeated", f"{_THOUGHT}\n{_CALL}\n{_ANSWER}\n{_ANSWER}", 1),
        ("text between blocks", f"{_THOUGHT}\nFirst,\n{_CALL}\nthen\n{_ANSWER}", 1),
    ]
    for name, text, point in named:
        yield FormatCase(name=name, text=text, requires=FIELDS, note=point)
    spread = _JSON.replace(", ", ",\n  ")
    quoting = _CALL.replace("1", '"</tool_call>"')
    ours: list[tuple[str, str, tuple[str, ...]]] = [
        ("only a call asked for", f"{_THOUGHT}\n{_CALL}", _CALLS),
        ("only a response asked for", f"{_THOUGHT}\n{_ANSWER}", _ANSWERS),
        ("response instead of call", f"{_THOUGHT}\n{_ANSWER}", _CALLS),
        ("call instead of response", f"{_THOUGHT}\n{_CALL}", _ANSWERS),
        ("response not asked for", f"{_THOUGHT}\n{_CALL}\n{_ANSWER}", _CALLS),
        ("no line break between", f"{_THOUGHT}{_CALL}", _CALLS),
        ("blank line between", f"{_THOUGHT}\n\n{_CALL}", _CALLS),
        ("Windows line ends", f"{_THOUGHT}\n{_CALL}".replace("\n", "\r\n"), _CALLS),
        ("JSON over several lines", f"{_THOUGHT}\n<tool_call>\n{spread}\n</tool_call>", _CALLS),
        ("no JSON in the block", f"{_THOUGHT}\n<tool_call>\noops\n</tool_call>", _CALLS),
        ("nothing in the block", f"{_THOUGHT}\n<tool_call>\n\n</tool_call>", _CALLS),
        ("two call blocks", f"{_THOUGHT}\n{_CALL}\n{_CALL}", _CALLS),
        ("two thoughts", f"{_THOUGHT}\n{_THOUGHT}\n{_CALL}", _CALLS),
        ("thought names a tag", f"<think> I use <tool_call> now </think>\n{_CALL}", _CALLS),
        ("thought quotes its end tag", f"<think> It ends with </think> later. </think>\n{_CALL}", _CALLS),
        ("end tag inside a string", f"{_THOUGHT}\n{quoting}", _CALLS),
        ("cut off inside the call", f"{_THOUGHT}\n{_CALL[:28]}", _CALLS),
        ("opening tags only", "<think><tool_call>", _CALLS),
        ("all tags inside the thought", "<think> <tool_call> <response> </think>", _CALLS),
        ("words before", f"Sure!\n{_THOUGHT}\n{_CALL}", _CALLS),
        ("words after", f"{_THOUGHT}\n{_CALL}\nDone.", _CALLS),
        ("stop token left in", f"{_THOUGHT}\n{_CALL}<|im_end|>", _CALLS),
        ("starts over", f"Hm.<|im_start|>assistant\n{_THOUGHT}\n{_CALL}", _CALLS),
        ("tags in capitals", f"{_THOUGHT}\n{_CALL}".replace("think", "THINK"), _CALLS),
        ("thought opened by the prompt", f"{_THOUGHT[7:]}\n{_CALL}", _CALLS),
        ("end of thought, nothing else", "</think> anything", _CALLS),
        ("empty", "", _CALLS),
    ]
    for name, text, requires in ours:
        yield FormatCase(name=name, text=text, requires=requires)


FORMAT_CASES: tuple[FormatCase, ...] = tuple(_cases())
"""The six cases that the note's P3 names, and those that separate the rules further."""


def _all_fields(text: str, requires: Collection[str]) -> bool:  # noqa: ARG001  (all rules are called alike)
    return ordered_tags_format(text, FIELDS)


_RULES: dict[str, Callable[[str, Collection[str]], bool]] = {
    "all_fields": _all_fields,
    "literal": literal_format,
    "ordered_tags": ordered_tags_format,
    "released": released_format,
    "strict": strict_format,
}
FORMAT_COLUMNS: tuple[str, ...] = tuple(_RULES)
"""The format rules; ``all_fields`` is `ordered_tags_format` with all three fields required of every completion."""


def format_verdicts(cases: Iterable[FormatCase] = FORMAT_CASES) -> pd.DataFrame:
    """Ask every format rule about every case.

    Parameters
    ----------
    cases : iterable of FormatCase
        The cases; all by default.

    Returns
    -------
    pandas.DataFrame
        One row for each case (index: its name), one column of truth values for each of `FORMAT_COLUMNS`.

    Notes
    -----
    ToolRL note §3.4 and §6.3 (``literal``), §10.2 (``all_fields``) and §10.3 (``ordered_tags``), which differ;
    ``released`` is qiancheng0/ToolRL@8cee13e, rlla.py L75-90.

    Examples
    --------
    The note's three readings disagree about one and the same answer:

    >>> format_verdicts().loc["only a call asked for", ["all_fields", "literal", "ordered_tags"]].tolist()
    [False, True, True]
    """
    cases = tuple(cases)
    names = pd.Index([case.name for case in cases], name="completion")
    columns = {rule: [holds(case.text, case.requires) for case in cases] for rule, holds in _RULES.items()}
    return pd.DataFrame(columns, index=names)
