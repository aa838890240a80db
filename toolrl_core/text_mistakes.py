"""Single mistakes, and harmless variations, in the text of a completion.

Chapters, probes and benchmarks reach these through the registry in `toolrl_core.mistakes`.  Each function takes a
well-formed completion as `toolrl_core.ground_truth.render_completion` writes it, and a random generator that only
`truncated` uses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolrl_core.call_mistakes import NotApplicable

if TYPE_CHECKING:
    import numpy as np

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_BLOCK_START = re.compile(r"(?:\A|</think>)\s*<tool_call>\s*")
_BLOCK_END = re.compile(r"\s*</tool_call>")
_SPACE = re.compile(r"\s*")
_THOUGHT = re.compile(r"\A\s*<think>(.*?)</think>(?=\s*(?:<tool_call>|<response>|\Z))", re.DOTALL)
_UNEXPECTED = '{"name": "unexpected_tool", "parameters": {}}'


@dataclass(frozen=True, slots=True)
class _Calls:
    """Hold a completion cut around the JSON objects of its tool-call block."""

    before: str
    objects: tuple[str, ...]
    between: str
    after: str

    def with_body(self, body: str) -> str:
        return f"{self.before}{_OPEN}\n{body}\n{_CLOSE}{self.after}"


def pretty_printed(completion: str, _rng: np.random.Generator) -> str:
    """Spread each call over several indented lines."""
    return _rewritten(completion, "pretty_printed", lambda call: json.dumps(call, indent=2, ensure_ascii=False))


def json_array(completion: str, _rng: np.random.Generator) -> str:
    """Write the calls as one JSON array."""
    found = _find_calls(completion, "json_array")
    return found.with_body(f"[{', '.join(found.objects)}]")


def one_line(completion: str, _rng: np.random.Generator) -> str:
    """Write all calls on one line."""
    found = _several(completion, "one_line")
    return found.with_body(" ".join(found.objects))


def arguments_alias(completion: str, _rng: np.random.Generator) -> str:
    """Exchange the field names ``parameters`` and ``arguments``."""
    alias = {"parameters": "arguments", "arguments": "parameters"}
    return _rewritten(
        completion,
        "arguments_alias",
        lambda call: _dumps({alias.get(key, key): value for key, value in call.items()}),
    )


def stringified_arguments(completion: str, _rng: np.random.Generator) -> str:
    """Write the arguments as a text that holds JSON."""
    return _rewritten(
        completion,
        "stringified_arguments",
        lambda call: _dumps({key: _dumps(value) if isinstance(value, dict) else value for key, value in call.items()}),
    )


def python_literal(completion: str, _rng: np.random.Generator) -> str:
    """Write each call as a Python dictionary: single quotes, ``True``, ``None``."""
    return _rewritten(completion, "python_literal", repr)


def fenced(completion: str, _rng: np.random.Generator) -> str:
    """Put the calls into a Markdown code fence inside the block."""
    found = _find_calls(completion, "fenced")
    return found.with_body("```json\n" + "\n".join(found.objects) + "\n```")


def missing_tags(completion: str, _rng: np.random.Generator) -> str:
    """Leave out both tags of the tool-call block."""
    found = _find_calls(completion, "missing_tags")
    return found.before + "\n".join(found.objects) + found.after


def split_blocks(completion: str, _rng: np.random.Generator) -> str:
    """Give each call a block of its own."""
    found = _several(completion, "split_blocks")
    return found.with_body(f"\n{_CLOSE}\n{_OPEN}\n".join(found.objects))


def repeated_block(completion: str, _rng: np.random.Generator) -> str:
    """Write the whole block a second time."""
    found = _find_calls(completion, "repeated_block")
    body = "\n".join(found.objects)
    return found.with_body(f"{body}\n{_CLOSE}\n{_OPEN}\n{body}")


def second_block(completion: str, _rng: np.random.Generator) -> str:
    """Add a second block with a call that nobody asked for."""
    found = _find_calls(completion, "second_block")
    body = "\n".join(found.objects)
    return found.with_body(f"{body}\n{_CLOSE}\n{_OPEN}\n{_UNEXPECTED}")


def truncated(completion: str, rng: np.random.Generator) -> str:
    """Cut the text off inside the calls, as a token limit does, so that at least the last call is lost."""
    found = _find_calls(completion, "truncated")
    start = completion.index(found.objects[0], len(found.before) + len(_OPEN))
    end = len(completion) - len(found.after) - len(_CLOSE) - len(found.between)
    return completion[: int(rng.integers(start + 1, end))]


def trailing_text(completion: str, _rng: np.random.Generator) -> str:
    """Chat on after the end."""
    return completion + "\nThat should do it."


def stop_token(completion: str, _rng: np.random.Generator) -> str:
    """Leave the chat template's stop token at the end."""
    return completion + "<|im_end|>"


def missing_thought(completion: str, _rng: np.random.Generator) -> str:
    """Leave out the thought."""
    return completion[_thought(completion, "missing_thought").end() :].lstrip()


def unopened_thought(completion: str, _rng: np.random.Generator) -> str:
    """Leave out the opening tag of the thought, as a template that prefills it does."""
    return completion[_thought(completion, "unopened_thought").start(1) :]


def tag_in_thought(completion: str, _rng: np.random.Generator) -> str:
    """Mention the opening tag of the tool-call block in the thought."""
    end = _thought(completion, "tag_in_thought").end(1)
    return f"{completion[:end].rstrip()} A {_OPEN} block is next. {completion[end:]}"


def crlf(completion: str, _rng: np.random.Generator) -> str:
    """End lines with carriage return and line feed."""
    if "\n" not in completion:
        raise NotApplicable("crlf", "the completion has one line")
    return completion.replace("\r\n", "\n").replace("\n", "\r\n")


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rewritten(completion: str, mistake: str, write: Callable[[dict[str, Any]], str]) -> str:
    found = _find_calls(completion, mistake)
    return found.with_body("\n".join(write(json.loads(text)) for text in found.objects))


def _several(completion: str, mistake: str) -> _Calls:
    found = _find_calls(completion, mistake)
    if len(found.objects) < 2:
        raise NotApplicable(mistake, "there is only one call")
    return found


def _find_calls(completion: str, mistake: str) -> _Calls:
    opening = _BLOCK_START.search(completion)
    if opening is None:
        raise NotApplicable(mistake, "the completion has no tool-call block after its thought or at its start")
    before = completion[: completion.index(_OPEN, opening.start())]
    decoder, position, objects = json.JSONDecoder(), opening.end(), []
    while True:
        ending = _BLOCK_END.match(completion, position)
        if ending is not None:
            break
        start = _skip_space(completion, position)
        try:
            value, position = decoder.raw_decode(completion, start)
        except ValueError as error:
            raise NotApplicable(
                mistake, f"the tool-call block is not one JSON object after another ({error})"
            ) from None
        if not isinstance(value, dict):
            raise NotApplicable(mistake, "the tool-call block holds something that is not a JSON object")
        objects.append(completion[start:position])
    if not objects:
        raise NotApplicable(mistake, "the tool-call block is empty")
    between = completion[position : ending.end() - len(_CLOSE)]
    return _Calls(before, tuple(objects), between, completion[ending.end() :])


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _thought(completion: str, mistake: str) -> re.Match[str]:
    found = _THOUGHT.match(completion)
    if found is None:
        raise NotApplicable(mistake, "the completion does not begin with a closed thought")
    return found
