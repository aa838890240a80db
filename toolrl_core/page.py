"""Answer what a web page asks: a request as JSON text comes in, messages as JSON text go out.

The book runs this module in the reader's browser. It needs the standard library alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.contracts import CONTRACTS
from toolrl_core.ground_truth import single_valued
from toolrl_core.matching_picture import matching_html
from toolrl_core.page_html import comparison_html, score_summary, turn_html, turn_summary
from toolrl_core.pairs import canonical_names, prepare_target, score_table
from toolrl_core.rewards import read_any, score
from toolrl_core.schedules import LengthReward, Schedule, constant, dynamic, equal_max, two_stage
from toolrl_core.spec import RewardSpec
from toolrl_core.turns import turn_verdict

__all__ = ["COMPARED", "DEEPEST", "JSON_OPTIONS", "SCHEDULES", "check_depth", "respond", "spec_of"]

COMPARED = ("paper", "released", "robust")
"""The presets that are shown side by side."""

SCHEDULES: Mapping[str, Callable[[], Schedule]] = {
    "constant": constant,
    "equal_max": equal_max,
    "two_stage": two_stage,
    "dynamic": dynamic,
}
"""The schedules that a request can name."""

JSON_OPTIONS = ("unordered", "name_aliases", "schemas")
"""The options that a request may give as JSON text."""

DEEPEST = 500
"""Most brackets that may be open at one place of a text."""

_BRACKETS = re.compile(r"[\[\]{}]")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
Message = dict[str, Any]


def respond(request: str, send: Callable[[str], object]) -> None:
    """Answer one request.

    Parameters
    ----------
    request : str
        A JSON object with ``kind``: "score" (with ``completion``, ``ground_truth``, ``preset``, ``options``,
        ``step``), "turn" (with ``text``) or "rows" (with ``text``: JSON Lines, or a JSON array).
    send : callable
        Is called with each message, a JSON object: ``{"done": rows}`` while rows are scored, at the end
        ``{"result": …}``, or ``{"error": {"type", "text"}}`` with the words of the exception.

    Examples
    --------
    >>> respond('{"kind": "score", "completion": "", "ground_truth": "hello"}', print)
    {"error": {"type": "GroundTruthError", "text": "ground truth: has no <think>, <tool_call> or <response> \
block: 'hello'"}}
    """

    def tell(message: Message) -> None:
        send(json.dumps(message, allow_nan=False))

    try:
        asked = json.loads(request)
        tell({"result": _answer_of(asked)(asked, tell)})
    except Exception as error:  # noqa: BLE001 (whoever asks sees whatever goes wrong, in its own words)
        tell({"error": {"type": type(error).__name__, "text": str(error)}})


def _answer_of(asked: Any) -> Callable[[Message, Callable[[Message], None]], Message]:
    kind = asked.get("kind") if isinstance(asked, dict) else None
    if not isinstance(kind, str) or kind not in _ANSWERS:
        raise ValueError(f"unknown kind {kind!r}: choose from {', '.join(_ANSWERS)}")
    for field in _FIELDS[kind]:
        if not isinstance(asked.get(field), str):
            raise TypeError(f"{field} must be text, found {type(asked.get(field)).__name__}")
    return _ANSWERS[kind]


def spec_of(preset: str, options: Mapping[str, Any]) -> RewardSpec:
    """Build a spec from a preset and options as JSON has them.

    Parameters
    ----------
    preset : str
        One of `RewardSpec.presets`.
    options : mapping
        Options that differ; ``schedule`` is a name of `SCHEDULES`, ``length_reward`` true or false, those of
        `JSON_OPTIONS` may be JSON text.

    Returns
    -------
    RewardSpec
        The preset itself where no option is given.

    Raises
    ------
    ValueError
        For an unknown preset, option, schedule or value.

    Examples
    --------
    >>> spec_of("robust", {"equality": "bfcl"}).equality
    'bfcl'
    """
    spec = RewardSpec.preset(preset)
    changes = dict(options)
    name = changes.get("schedule")
    if name is not None:
        if name not in SCHEDULES:
            raise ValueError(f"unknown schedule {name!r}: choose from {', '.join(SCHEDULES)}")
        changes["schedule"] = SCHEDULES[name]()
    for option in JSON_OPTIONS:
        if isinstance(changes.get(option), str):
            try:
                changes[option] = json.loads(changes[option])
            except ValueError as error:
                raise ValueError(f"{option} must be JSON: {error}") from None
    if "length_reward" in changes:
        changes["length_reward"] = LengthReward() if changes["length_reward"] else None
    return spec.replace(**changes) if changes else spec


def check_depth(field: str, text: str) -> None:
    """Refuse a text whose brackets nest too deeply: a browser's stack is small, and running out of it ends Python.

    Parameters
    ----------
    field : str
        What the text is, for the message.
    text : str
        The text.

    Raises
    ------
    ValueError
        If more than `DEEPEST` brackets are open at one place.

    Examples
    --------
    >>> check_depth("completion", "[" * 501)
    Traceback (most recent call last):
    ...
    ValueError: completion opens more than 500 brackets within one another, which is too deep for Python in a page
    """
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for bracket in _BRACKETS.findall(text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        if depth > DEEPEST:
            raise ValueError(
                f"{field} opens more than {DEEPEST} brackets within one another, which is too deep for Python in a page"
            )


def _score(asked: Message, _tell: Callable[[Message], None]) -> Message:
    completion, truth = asked["completion"], asked["ground_truth"]
    check_depth("completion", completion)
    check_depth("ground_truth", truth)
    spec = spec_of(asked.get("preset", "paper"), asked.get("options") or {})
    step = asked.get("step")
    result = score(completion, truth, spec, step=step)
    reading, _ = read_any(completion, spec)
    target = prepare_target(truth, spec)
    table = score_table(target, reading.calls, canonical_names(reading.calls, spec)) if reading.calls else []
    columns = dict(_compared(completion, truth, step))
    if spec.name not in COMPARED:
        columns[spec.name or "your options"] = result
    return {
        "breakdown": result.to_dict(),
        "ladder": result._repr_html_(),
        "matching": matching_html(result, table),
        "comparison": comparison_html(columns),
        "summary": score_summary(result, columns),
    }


def _compared(completion: Any, truth: Any, step: float | None) -> Iterator[tuple[str, RewardBreakdown]]:
    for name in COMPARED:
        spec = RewardSpec.preset(name)
        yield name, score(completion, single_valued(truth) if spec.parser == "released" else truth, spec, step=step)


def _turn(asked: Message, _tell: Callable[[Message], None]) -> Message:
    check_depth("text", asked["text"])
    verdicts = [turn_verdict(asked["text"], name) for name in CONTRACTS]
    return {
        "verdicts": [verdict.to_dict() for verdict in verdicts],
        "html": turn_html(verdicts),
        "summary": turn_summary(verdicts),
    }


def _rows(asked: Message, tell: Callable[[Message], None]) -> Message:
    import tempfile

    from toolrl_core.audit.run import audit
    from toolrl_core.audit.sections import headline_sentence
    from toolrl_core.page_html import rows_html

    text = asked["text"]
    if not text.strip():
        raise ValueError("no rows: paste JSON Lines, one object with a completion and a ground truth on each line")
    if text.lstrip().startswith("["):
        check_depth("rows", _STRINGS.sub("", text))
        text = "\n".join(json.dumps(record) for record in json.loads(text))
    for number, line in enumerate(text.splitlines(), 1):
        check_depth(f"line {number}", line)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text(text, encoding="utf-8", errors="replace")
        report = audit(path, presets=COMPARED, on_progress=lambda done: tell({"done": done}))
    return {
        "report": report.to_dict(),
        "html": rows_html(report),
        "summary": headline_sentence(report.data),
        "file": report.to_html(),
    }


_FIELDS: Mapping[str, tuple[str, ...]] = {
    "score": ("completion", "ground_truth"),
    "turn": ("text",),
    "rows": ("text",),
}
_ANSWERS: Mapping[str, Callable[[Message, Callable[[Message], None]], Message]] = {
    "score": _score,
    "turn": _turn,
    "rows": _rows,
}
