"""Texts for tests that nearly are completions: a right one with a few random edits."""

from __future__ import annotations

import random

F = '{"name": "f", "parameters": {"a": 1}}'
G = '{"name": "g", "parameters": {}}'


def block(body: str) -> str:
    return f"<think> t </think>\n<tool_call>\n{body}\n</tool_call>"


WORDS = [
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<response>", "</response>", "<", ">", "</", "<|im_end|>"),
    *(
        "<|im_start|>assistant",
        "</s>",
        "\n",
        "\r\n",
        " ",
        "\t",
        "\0",
        "\u2028",
        "\u00a0",
        "\ud800",
        "你",
        "😀",
        "\\",
        "\\u",
    ),
    *('"', "'", "{", "}", "[", "]", ",", ":", '"name"', '"parameters"', '"arguments"', '"f"', '"a"', "1", "-", "1e999"),
    *("NaN", "Infinity", "true", "True", "None", "null", "0x1", "1" * 4301, "[" * 70, "{" * 3, F, G, f"[{F}, {G}]"),
    *('{"name": "f", "parameters": "{}"}', '{"name": "f", "arguments": {"a": {"b": [1, {"c": 2}]}}}', "{'name': 'f'}"),
    *('{"name": "f", "parameters": {"a"  : 1, "a" : 2}}', '"a":\n', '" :', "//", "`", "\\boxed{", "...", "x" * 50),
]
SEEDS = [
    block(F),
    block(f"{F}\n{G}"),
    f"{block(F)}\n<response> r </response>",
    block('{"name": "f", "parameters": {"a": {"b": [1, {"c": [2]}]}, "d": [[]], "e": {}}}'),
    block('{"name": "f", "parameters": {"a": "x\\": y", "b": " <tag> "}}\n{"name": "g", "parameters": {"a" : 1}}'),
    "<think> t </think>\n<response> r </response>",
    f"<think> </think> a <tag> </think>\n<tool_call>\n{F}\n</tool_call>",
    block("{'name': 'f', 'parameters': {'a': 1}}"),
    "",
]


def mutated(rng: random.Random) -> str:
    """Return a text with a few random edits: words put in, stretches taken out, repeated or moved."""
    text = rng.choice(SEEDS)
    for _ in range(rng.choice([0, 0, 1, 1, 1, 2, 3, 8])):
        start = rng.randint(0, len(text))
        stop = min(len(text), start + rng.choice([0, 0, 1, 2, 10, 40]))
        kind = rng.random()
        if kind < 0.5:
            text = text[:start] + rng.choice(WORDS) + text[start:]
        elif kind < 0.8:
            text = text[:start] + text[stop:]
        elif kind < 0.9:
            text = text[:stop] + text[start:]
        else:
            text = text[stop:] + text[:stop]
    return text
