"""Completions and turns worth trying: the notes' own, the leaderboard's ground truths, and what models really write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = ["SCORING_EXAMPLES", "TURN_EXAMPLES", "ScoringExample", "TurnExample", "example_rows"]


@dataclass(frozen=True, slots=True)
class ScoringExample:
    """Hold a completion with its ground truth, and what the pair shows.

    Parameters
    ----------
    topic : str
        What it belongs to.
    title : str
        Its name, in a few words.
    shows : str
        What to look for.
    completion : str
        The model's text.
    ground_truth : str
        The ground truth as text, in a form of `parse_ground_truth`.
    preset : str
        The reward to begin with.
    options : mapping
        Options of `RewardSpec` that differ from the preset.
    """

    topic: str
    title: str
    shows: str
    completion: str
    ground_truth: str
    preset: str = "paper"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnExample:
    """Hold one turn of a conversation with tools, and what it shows.

    Parameters
    ----------
    title : str
        Its name, in a few words.
    shows : str
        What to look for.
    text : str
        The model's text.
    """

    title: str
    shows: str
    text: str


def _call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "parameters": arguments}, ensure_ascii=False)


def _answer(*lines: str, thought: str = "I call a tool.", after: str = "") -> str:
    return "\n".join([f"<think> {thought} </think>", "<tool_call>", *lines, f"</tool_call>{after}"])


def _list(*calls: str) -> str:
    return "[" + ",\n ".join(calls) + "]"


_NOTE, _BOARD, _WRITTEN = "Formula of the ToolRL note", "Ground truths of the leaderboard", "What models write"
_SEARCH, _CALC = _call("search", query="x"), _call("calc")
_BOOK = _call("book", city="Oslo", nights=2)
_TIMERS = _list(_call("timer", minutes=5, label="tea"), _call("timer", minutes=9, label="egg"))
_WEATHER = json.dumps([{"weather": {"city": ["Oslo", "Oslo, Norway"], "unit": ["celsius", ""]}}])

SCORING_EXAMPLES: Mapping[str, ScoringExample] = MappingProxyType(
    {
        "one_missing": ScoringExample(
            _NOTE,
            "One of two calls is missing",
            "The missing call loses its own point, and half of the point for the names (note §5.0 and §6.1).",
            _answer(_SEARCH),
            _list(_SEARCH, _CALC),
        ),
        "greedy": ScoringExample(
            _NOTE,
            "Greedy matching loses",
            "Each call is best served by the first prediction, but only one can have it. Choose matching "
            "greedy_ground_truth among the options and see the pairs change (note §6.2).",
            _answer(_call("alpha", a=1, b=1, c=2), _call("alpha", a=2)),
            _list(_call("alpha", a=1), _call("beta", b=1, c=2)),
        ),
        "exchanged_names": ScoringExample(
            _NOTE,
            "Exchanged names",
            "The paper's formula compares names as one set and pairs calls by their arguments alone: it pays in full.",
            _answer(_call("sell", a=1), _call("buy", b=2)),
            _list(_call("buy", a=1), _call("sell", b=2)),
        ),
        "repeated_call": ScoringExample(
            _NOTE,
            "The right call, three times",
            "The set of names does not see repetitions. The robust preset counts every call beyond the expected ones.",
            _answer(_BOOK, _BOOK, _BOOK),
            _list(_BOOK),
        ),
        "unneeded_call": ScoringExample(
            _NOTE,
            "A call where none is needed",
            "Only the released rules leave the correctness at 0, whatever is called.",
            _answer(_BOOK),
            "<think> A greeting needs no tool. </think>\n<response> Hello. </response>",
        ),
        "all_right": ScoringExample(
            _NOTE,
            "All right",
            "Every point that there is. Change a value, a key or a name and see what it costs.",
            _answer(_SEARCH, _CALC),
            _list(_SEARCH, _CALC),
        ),
        "accepted_values": ScoringExample(
            _BOARD,
            "Several accepted values",
            "Two spellings of the city are accepted, and the empty text makes the unit optional.",
            _answer(_call("weather", city="Oslo, Norway")),
            _WEATHER,
        ),
        "overlapping_values": ScoringExample(
            _BOARD,
            "Accepted values that overlap",
            "Paris fits both calls and Rome one: taking the first fit spends Paris on the wrong call.",
            _answer(_call("visit", city="Paris"), _call("visit", city="Rome")),
            json.dumps([{"visit": {"city": ["Paris", "Rome"]}}, {"visit": {"city": ["Paris"]}}]),
        ),
        "other_order": ScoringExample(
            _BOARD,
            "Parallel calls in another order",
            "Calls that can run at once have no order, and the three presets see none.",
            _answer(_call("timer", minutes=9, label="egg"), _call("timer", minutes=5, label="tea")),
            _TIMERS,
        ),
        "loose_text": ScoringExample(
            _BOARD,
            "Minus five equals five",
            "The leaderboard compares texts without punctuation, so that the sign is lost. Set equality to json.",
            _answer(_call("set_level", level="-5")),
            json.dumps([{"set_level": {"level": ["5"]}}]),
            options={"equality": "bfcl"},
        ),
        "pretty_printed": ScoringExample(
            _WRITTEN,
            "Pretty-printed JSON",
            "The released parser decodes line by line, and no line here is JSON.",
            _answer(json.dumps({"name": "book", "parameters": {"city": "Oslo", "nights": 2}}, indent=2)),
            _list(_BOOK),
        ),
        "arguments_key": ScoringExample(
            _WRITTEN,
            "arguments for parameters",
            "Most chat templates say arguments, ToolRL says parameters. The released code fails on the missing key "
            "and pays the minimum.",
            _answer(_BOOK.replace("parameters", "arguments")),
            _list(_BOOK),
        ),
        "second_block": ScoringExample(
            _WRITTEN,
            "A second block",
            "The released code reads the first block alone: whatever follows costs nothing but the format.",
            _answer(_BOOK, after="\n<tool_call>\n" + _call("delete_all") + "\n</tool_call>"),
            _list(_BOOK),
        ),
        "tag_in_thought": ScoringExample(
            _WRITTEN,
            "A tag in the thought",
            "The released code splits at the first <tool_call>, which stands in the thought.",
            _answer(_BOOK, thought="I open <tool_call> next."),
            _list(_BOOK),
        ),
        "python_literal": ScoringExample(
            _WRITTEN,
            "A Python dictionary",
            "Single quotes are no JSON. Switch accept_python_literals on to count the call.",
            _answer("{'name': 'book', 'parameters': {'city': 'Oslo', 'nights': 2}}"),
            _list(_BOOK),
            "robust",
        ),
        "truncated": ScoringExample(
            _WRITTEN,
            "Cut off at the length limit",
            "The reason says truncated, which is another thing than wrong.",
            '<think> I book it. </think>\n<tool_call>\n{"name": "book", "parameters": {"city": "Os',
            _list(_BOOK),
            "robust",
        ),
        "arguments_as_text": ScoringExample(
            _WRITTEN,
            "Arguments as text within JSON",
            "Some interfaces carry the arguments as a JSON text. It is decoded once, and the reasons mention it.",
            _answer(json.dumps({"name": "book", "parameters": '{"city": "Oslo", "nights": 2}'})),
            _list(_BOOK),
            "robust",
        ),
        "end_tag_in_value": ScoringExample(
            _WRITTEN,
            "An end tag inside a value",
            "A parser that looks for the tag first cuts the JSON in two.",
            _answer(_call("write", text="close it with </tool_call> here")),
            _list(_call("write", text="close it with </tool_call> here")),
        ),
        "wrong_key_for_name": ScoringExample(
            _WRITTEN,
            "tool for name",
            "A call without a name is malformed. The reasons say which keys it has.",
            _answer(_BOOK.replace('"name"', '"tool"')),
            _list(_BOOK),
            "robust",
        ),
        "text_after": ScoringExample(
            _WRITTEN,
            "Words after the last tag",
            "Only the format can lose by it. The rules differ: compare ordered_tags, released and strict.",
            _answer(_BOOK, after="\nDone."),
            _list(_BOOK),
            "robust",
        ),
        "dropped_argument": ScoringExample(
            _WRITTEN,
            "An argument left out",
            "One key and one value are missing. In the second line of the ground truth, add a third parameter: "
            "the same omission becomes cheaper.",
            _answer(_call("run", risk="low")),
            _list(_call("run", command="pytest", risk="low")),
            "robust",
        ),
        "made_up_argument": ScoringExample(
            _WRITTEN,
            "A made-up argument",
            "It widens the union of the keys and costs a share of the key point, never more than that point.",
            _answer(_call("book", city="Oslo", nights=2, view="sea")),
            _list(_BOOK),
        ),
        "number_as_text": ScoringExample(
            _WRITTEN,
            "A number as text",
            "The text 2 is not the number 2. Equality schema reads it as a number where the schema declares one.",
            _answer(_call("book", city="Oslo", nights="2")),
            _list(_BOOK),
        ),
        "no_tags": ScoringExample(
            _WRITTEN,
            "Calls without any tag",
            "The parser finds no block, so that a right call earns what no call earns: the floor.",
            "book(city='Oslo', nights=2)",
            _list(_BOOK),
            "robust",
        ),
    }
)
"""Completions with their ground truths, by name.

The facts come from the ToolRL note and from public reports: vllm-project/vllm#17790 and #45167, verl-project/verl#7177,
QwenLM/Qwen3#1894, ShishirPatil/gorilla#1343, thinking-machines-lab/tinker-cookbook#937, NVIDIA-NeMo/Gym#3134, and the
code qiancheng0/ToolRL@8cee13e.
"""

TURN_EXAMPLES: Mapping[str, TurnExample] = MappingProxyType(
    {
        "python3": TurnExample(
            "Code under the label python3",
            "A complete block that the released pattern does not see.",
            "Let me compute.\n```python3\nprint(6 * 7)\n```",
        ),
        "python": TurnExample(
            "Code under the label python",
            "Complete under both contracts for code.",
            "Let me compute.\n```python\nprint(6 * 7)\n```",
        ),
        "unclosed": TurnExample(
            "Code that was cut off",
            "The block is never closed: nothing can be run.",
            "Let me compute.\n```python\nfor i in range(10):\n    pri",
        ),
        "empty_box": TurnExample(
            "An empty box",
            "The released rule looks for the opening characters alone.",
            r"So the answer is \boxed{}.",
        ),
        "box_in_code": TurnExample(
            "A box in a comment of unfinished code",
            "Neither code nor answer is complete, yet the released rule is content.",
            "```python\n# the answer goes into \\boxed{x}\nx = ",
        ),
        "prose": TurnExample(
            "Prose only",
            "Void under every contract but the one for chat messages.",
            "I should look at the table first and then decide.",
        ),
        "prose_final_answer": TurnExample(
            "final_answer outside code",
            "Nothing runs it.",
            "So I return final_answer(42).",
        ),
        "tool_call": TurnExample(
            "A tool call",
            "Complete for ToolRL's tags, void for code.",
            _answer(_BOOK),
        ),
        "broken_call": TurnExample(
            "A tool call that cannot be decoded",
            "The block is closed, but there is no call in it.",
            _answer('{"name": "book", "parameters": {"city": "Oslo"'),
        ),
        "search": TurnExample(
            "A search",
            "Complete for the tags of a search engine alone.",
            "<think> I need the year. </think>\n<search> first Norwegian constitution </search>",
        ),
    }
)
"""Turns by name; SimpleTIR note §5.3 and §5.4, ltzheng/SimpleTIR@e7b5b44."""


def example_rows() -> str:
    """Write the scoring examples as rollouts, one JSON object a line.

    Returns
    -------
    str
        JSON Lines with the columns example, completion and ground_truth.

    Examples
    --------
    >>> len(example_rows().splitlines()) == len(SCORING_EXAMPLES)
    True
    """
    rows = (
        {"example": name, "completion": example.completion, "ground_truth": example.ground_truth}
        for name, example in SCORING_EXAMPLES.items()
    )
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
