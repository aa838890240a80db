"""Questions that are asked twice, of this machine's Python and of the page's."""

from __future__ import annotations

import itertools
import json

from toolrl_core import RewardSpec
from toolrl_core.examples import SCORING_EXAMPLES, TURN_EXAMPLES, example_rows
from toolrl_core.page import SCHEDULES
from toolrl_core.spec import _CHOICES, _FLAGS

TEXTS = ("greedy", "second_block", "pretty_printed", "arguments_key", "number_as_text")
CALLS = (
    '{"name": "book", "parameters": {"city": "Tromsø", "nights": 2, "extras": ["sauna", "北極光"]}}\n'
    '{"name": "pay", "parameters": {"amount": 1e2, "note": "\\u4f60\\u597d \\ud83d\\ude00", "ok": true, "tip": null}}'
)
ANSWER = f"<think> Größe 🙂 </think>\n<tool_call>\n{CALLS}\n</tool_call>"
TWO = json.dumps([json.loads(line) for line in CALLS.splitlines()])

GROUND_TRUTHS = {
    "text": ANSWER,
    "text with a response": "<think> no tool </think>\n<response> hi </response>",
    "list of calls": TWO,
    "one call": CALLS.splitlines()[0],
    "arguments key": TWO.replace("parameters", "arguments"),
    "accepted values": '[{"book": {"city": ["Tromsø", "Oslo"], "nights": [2, 3], "extras": ["", ["sauna"]]}}]',
    "tool_calls": json.dumps(
        {"tool_calls": [{"type": "function", "function": {"name": "book", "arguments": '{"city": "Tromsø"}'}}]}
    ),
    "empty": "[]",
}

BAD_TRUTHS = (
    "",
    "hello",
    "{",
    "[1]",
    "[{}]",
    '[{"name": ""}]',
    '[{"name": 7}]',
    '[{"name": "f", "parameters": [1]}]',
    '[{"name": "f", "arguments": "{oops"}]',
    '[{"name": "f", "parameters": {}},]',
    "<tool_call></tool_call>",
    "<think> never closed",
    '[{"f": {"a": []}}]',
    "[" * 600,
)

COMPLETIONS = (
    "",
    " \n\t",
    "plain words",
    "\ud800 half of a pair",
    "\x00\x07\x1b",
    "a" * 20_000,
    "<think></think>",
    "</think></tool_call></response>",
    "<tool_call>{</tool_call>",
    '<tool_call>{"name": "book",}</tool_call>',
    '<tool_call>{"name": "book", "parameters": {"re": "\\d+"}}</tool_call>',
    '<tool_call>{"name": "book", "parameters": {"n": NaN, "m": -Infinity, "k": 12345678901234567890}}</tool_call>',
    '<tool_call>{"name": "book", "name": "pay", "parameters": {"a": 1, "a": 2}}</tool_call>',
    '<tool_call>[{"name": "book", "parameters": {}}, 3, null]</tool_call>',
    "<tool_call>{'name': 'book', 'parameters': {'ok': True, 'none': None}}</tool_call>",
    '<tool_call>{"name": "book", "parameters": {"city": "Os',
    f"{ANSWER}<|im_end|>",
    f"{ANSWER}\n{ANSWER}",
    ANSWER.replace("\n", "\r\n"),
    "<tool_call>" + '{"name": "f", "parameters": {"a": ' + "[" * 100 + "]" * 100 + "}}</tool_call>",
    "<tool_call>" + '{"name": "f", "parameters": {"n": ' + "9" * 5000 + "}}</tool_call>",
)


def _asked(completion: str, ground_truth: str, preset: str = "paper", **more: object) -> dict[str, object]:
    return {"kind": "score", "completion": completion, "ground_truth": ground_truth, "preset": preset, **more}


def cases() -> list[dict[str, object]]:
    """List all questions."""
    examples = [SCORING_EXAMPLES[name] for name in TEXTS]
    found = [
        _asked(e.completion, e.ground_truth, preset) for e, preset in itertools.product(examples, RewardSpec.presets())
    ]
    found += [
        _asked(e.completion, e.ground_truth, e.preset, options=dict(e.options)) for e in SCORING_EXAMPLES.values()
    ]
    found += [
        _asked(ANSWER, truth, preset) for truth in GROUND_TRUTHS.values() for preset in ("paper", "released", "robust")
    ]
    found += [_asked(ANSWER, truth) for truth in BAD_TRUTHS]
    found += [_asked(text, TWO, preset) for text in COMPLETIONS for preset in ("paper", "released", "robust")]
    choices = {**_CHOICES, **dict.fromkeys(_FLAGS, (True, False)), "length_reward": (True, False)}
    for option, values in choices.items():
        found += [_asked(ANSWER, TWO, options={option: value}) for value in values]
    for granularity, credit in itertools.product(("parameter", "call", "answer"), ("partial", "exact")):
        found.append(_asked(examples[0].completion, TWO, options={"granularity": granularity, "credit": credit}))
    found += [
        _asked(ANSWER, TWO, options={"schedule": name}, step=step) for name in SCHEDULES for step in (0, 31, 10_000)
    ]
    found += [
        _asked(ANSWER, TWO, options={"unordered": '["extras"]', "name_aliases": '{"reserve": "book"}'}),
        _asked(ANSWER, TWO, options={"equality": "schema", "schemas": '{"book": {"nights": {"type": "integer"}}}'}),
        _asked(ANSWER, TWO, options={"schemas": "{"}),
        _asked(ANSWER, TWO, options={"invented": 1}),
        _asked(ANSWER, TWO, preset="invented"),
        {"kind": "invented"},
    ]
    found += [{"kind": "turn", "text": text} for text in (*COMPLETIONS, *(e.text for e in TURN_EXAMPLES.values()))]
    found += [{"kind": "rows", "text": text} for text in ("", "{", example_rows(), f"{example_rows()}\n{{bad\n[]")]
    return found
