"""What the released ToolRL code reads and requires of a completion (qiancheng0/ToolRL@8cee13e, rlla.py)."""

from __future__ import annotations

import json
from typing import Any

from toolrl_core.json_calls import RawCall
from toolrl_core.reading import Reading
from toolrl_core.reasons import Finding, Reason

_MARKERS = (
    ("<|im_start|>assistant", "<|im_end|>"),
    ("<|start_header_id|>assistant<|end_header_id|>", "<|eot_id|>"),
)


def released_text(text: str) -> str:
    r"""Return the part of a decoded text that the released code scores.

    That is the text after the last assistant marker, up to the first stop token after it, stripped.

    Parameters
    ----------
    text : str
        A completion, or a whole decoded sequence with chat markers.

    Returns
    -------
    str
        The scored part.

    Notes
    -----
    The released code chooses the marker by the experiment's name; here each marker that occurs is used
    (Qwen's first). A completion can therefore restart itself by printing the marker.

    Examples
    --------
    >>> released_text("junk <|im_start|>assistant\nyes<|im_end|>")
    'yes'
    """
    for marker, stop in _MARKERS:
        if marker in text:
            text = text.rpartition(marker)[2]
        if stop in text:
            text = text.partition(stop)[0]
    return text.strip()


def read_released(text: str) -> Reading:
    """Read a completion as the released code does: any failure at all gives no calls and one finding.

    Parameters
    ----------
    text : str
        The completion.

    Returns
    -------
    Reading
        The calls of the first block, one JSON object a line; a finding `RELEASED_UNREADABLE` on failure.
    """
    body = released_text(text)
    reading = Reading(body)
    thought = body.rpartition("<think>")[2].partition("</think>")[0] if "<think>" in body else None
    reading.thought = thought
    if "<response>" in body:
        reading.response = body.partition("<response>")[2].partition("</response>")[0]
    try:
        calls = _released_calls(body)
    except (ValueError, RecursionError) as error:
        reading.findings.append(Finding(Reason.RELEASED_UNREADABLE, None, str(error)[:120]))
        reading.malformed = 1
        return reading
    reading.calls.extend(calls)
    for call in calls:
        if call.arguments is None:
            reading.findings.append(Finding(Reason.MISSING_ARGUMENTS, None, f"{call.name}: no object under parameters"))
    return reading


def _released_calls(body: str) -> list[RawCall]:
    if "<tool_call>" not in body and "</tool_call>" not in body:
        return []  # the minimum where calls are expected, by the formula too; a right answer where none are
    if "<tool_call>" not in body or "</tool_call>" not in body:
        raise ValueError("half a tool-call block")
    block = body.split("<tool_call>", 2)[1].partition("</tool_call>")[0].strip()
    calls = []
    for number, line in enumerate(block.split("\n")):
        value = json.loads(line)
        if not (isinstance(value, dict) and "name" in value):
            raise ValueError(f"line {number + 1} of the block has no name")
        calls.append(_released_call(value))
    return calls


def _released_call(value: dict[str, Any]) -> RawCall:
    name, arguments = value["name"], value.get("parameters")
    if isinstance(name, (list, dict)):
        raise ValueError("a name cannot be hashed")
    label = name if isinstance(name, str) else f"\x00{name!r}"  # a name that is no text equals no text
    return RawCall(label, arguments if isinstance(arguments, dict) else None, value, 0)


def released_pattern_matches(text: str, requires: tuple[str, ...]) -> bool:
    r"""Tell whether a text has the anchored form that the released format rule asks for.

    Parameters
    ----------
    text : str
        The scored part of the completion (see `released_text`).
    requires : tuple of str
        The fields of the ground truth: "tool_call" and "response" where it has them.

    Returns
    -------
    bool
        True if the whole text is a thought, one newline, and the required blocks, each of which occurs once.
        The tags of the thought are not counted, so a repeated thought passes.

    Notes
    -----
    rlla.py L75-90 of the released code.

    Examples
    --------
    >>> released_pattern_matches("<think> a </think>\n<think> b </think>\n<response> r </response>", ("response",))
    True
    """
    for kind in ("tool_call", "response"):
        if kind in requires and (text.count(f"<{kind}>") != 1 or text.count(f"</{kind}>") != 1):
            return False
    if "tool_call" not in requires and "response" not in requires:
        return text.startswith("<think>") and text.endswith("</think>")
    start = text.find("<tool_call>" if "tool_call" in requires else "<response>")
    if not text.startswith("<think>") or start < 16 or not text.startswith("</think>\n", start - 9):
        return False
    if "tool_call" not in requires:
        return text.endswith("</response>") and len(text) >= start + 21
    last = text.find("</tool_call>")
    if not text.startswith("\n", start + 11) or last - 1 < start + 12 or text[last - 1] != "\n":
        return False
    if "response" not in requires:
        return last + 12 == len(text)
    return text.startswith("\n<response>", last + 12) and text.endswith("</response>")
