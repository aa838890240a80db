"""Read a ground truth in any of the forms that data sets use, and write it as a completion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolrl_core.calls import AcceptedCall, GroundTruthError, ToolCall
from toolrl_core.parsing import read_completion
from toolrl_core.reasons import MALFORMED, Reason

PLACEHOLDER_THOUGHT = "I should use the appropriate tool with proper parameters."
PLACEHOLDER_RESPONSE = "No tool is needed."
_BROKEN = MALFORMED | {
    Reason.UNCLOSED_THOUGHT,
    Reason.UNCLOSED_BLOCK,
    Reason.UNCLOSED_RESPONSE,
    Reason.PYTHON_LITERAL,
}
Schemas = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class GroundTruth:
    """Hold what a completion should do.

    Parameters
    ----------
    calls : tuple of ToolCall or AcceptedCall
        The expected calls.
    requires : tuple of str
        Fields that the format asks for, in order: "thought", then "tool_call" and "response" as needed.
    thought, response : str or None
        Their texts, where the ground truth has them.
    text : str or None
        The ground truth's own text, where it was given as text.
    """

    calls: tuple[ToolCall | AcceptedCall, ...]
    requires: tuple[str, ...]
    thought: str | None = None
    response: str | None = None
    text: str | None = None


def parse_ground_truth(obj: Any, *, schemas: Schemas | None = None) -> GroundTruth:
    """Read a ground truth in any of its forms.

    Parameters
    ----------
    obj : str, list, dict or GroundTruth
        One of: a text with ``<think>``, ``<tool_call>`` and ``<response>`` blocks; a list of calls with a name and
        ``parameters`` or ``arguments``; a list of ``{function: {parameter: [accepted values]}}`` (Berkeley
        leaderboard; ``""`` among the values makes a parameter optional); OpenAI ``tool_calls``; any of the
        latter as a JSON text. A single call may stand for a list of one.
    schemas : mapping, optional
        JSON schemas of the parameters by function name: ``{function: {parameter: schema}}``, or the function's
        own object schema with ``type`` and ``properties``. A parameter that has a declared default and is not
        expected may be given with that default.

    Returns
    -------
    GroundTruth
        The calls and the fields that the format asks for.

    Raises
    ------
    GroundTruthError
        If it cannot be used: the error names the call, the field and what was found.

    Notes
    -----
    ToolRL note §3.3 and §5.0. A ground truth without text asks for a thought and tool calls if it has calls,
    else for a thought and a response.

    Examples
    --------
    >>> truth = parse_ground_truth([{"weather": {"city": ["Oslo"], "unit": ["C", ""]}}])
    >>> truth.calls[0].optional, truth.requires
    (frozenset({'unit'}), ('thought', 'tool_call'))
    """
    if isinstance(obj, GroundTruth):
        return obj
    obj = _plain(obj)
    if isinstance(obj, str):
        stripped = obj.strip()
        if not stripped.startswith(("[", "{")):
            return _from_text(obj, schemas)
        try:
            obj = json.loads(stripped)
        except (ValueError, RecursionError) as error:
            raise GroundTruthError(f"is not JSON and has no tags: {str(error)[:80]}") from None
    if isinstance(obj, Mapping) and isinstance(obj.get("tool_calls"), list):
        obj = obj["tool_calls"]
    if isinstance(obj, (ToolCall, AcceptedCall, Mapping)):
        obj = [obj]
    if not isinstance(obj, (list, tuple)):
        raise GroundTruthError(f"must be text, a list of calls or a call, found {type(obj).__name__}: {obj!r}"[:200])
    calls = tuple(_call(item, index, schemas) for index, item in enumerate(obj))
    return GroundTruth(calls, ("thought", "tool_call") if calls else ("thought", "response"))


def _plain(obj: Any) -> Any:
    """Return array-likes (as columnar files give them) as lists."""
    if hasattr(obj, "tolist") and not isinstance(obj, (str, Mapping)):
        return obj.tolist()
    return obj


def _from_text(text: str, schemas: Schemas | None) -> GroundTruth:
    reading = read_completion(text)
    kinds = set(reading.kinds or (block.kind for block in reading.blocks))
    if not kinds:
        raise GroundTruthError(f"has no <think>, <tool_call> or <response> block: {text[:60]!r}")
    for finding in reading.findings:
        if finding.reason in _BROKEN:
            index = len([call for call in reading.calls if call.position < (finding.position or 0)])
            raise GroundTruthError(str(finding), index=index)
    if "tool_call" in kinds and not reading.calls:
        raise GroundTruthError("has a tool-call block without a call", field="tool_call")
    requires = ("thought", *(kind for kind in ("tool_call", "response") if kind in kinds))
    calls = tuple(_call(ToolCall(c.name, c.arguments or {}), j, schemas) for j, c in enumerate(reading.calls))
    return GroundTruth(calls, requires, reading.thought, reading.response, text)


def _call(item: Any, index: int, schemas: Schemas | None) -> ToolCall | AcceptedCall:
    try:
        call = _read_call(_plain(item))
    except GroundTruthError as error:
        raise GroundTruthError(error.problem, index=index, field=error.field) from None
    except RecursionError:
        raise GroundTruthError("nests too deeply to be read", index=index) from None
    return call if schemas is None else with_schema(call, schemas)


def _read_call(item: Any) -> ToolCall | AcceptedCall:
    if isinstance(item, (ToolCall, AcceptedCall)):
        return item
    if not isinstance(item, Mapping):
        raise GroundTruthError(f"must be a call, found {type(item).__name__}: {item!r}"[:200])
    if isinstance(item.get("function"), Mapping) and (item.get("type", "function") == "function"):
        item = item["function"]
    if not isinstance(item.get("name"), str) and len(item) == 1 and not {"parameters", "arguments"} & set(item):
        name, accepted = next(iter(item.items()))
        if isinstance(accepted, Mapping) and isinstance(name, str):
            return AcceptedCall(name, {key: _json(options, key) for key, options in accepted.items()})
    name = item.get("name")
    if not isinstance(name, str) or not name:
        found = f"found {name!r}" if "name" in item else f"found the keys {', '.join(map(str, item)) or 'none'}"
        raise GroundTruthError(f"must be non-empty text, {found}"[:200], field="name")
    return ToolCall(name, _one_of_two(item))


_BESIDE_ARGUMENTS = {"name", "parameters", "arguments", "id", "type", "index", "description"}


def _one_of_two(item: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments from ``arguments`` or ``parameters``; a null there is what columnar files add."""
    given = {field: item[field] for field in ("arguments", "parameters") if item.get(field) is not None}
    values = {field: _arguments(value, field) for field, value in given.items()}
    if len(values) == 2 and values["arguments"] != values["parameters"]:
        raise GroundTruthError("has both arguments and parameters, and they differ", field="arguments")
    unknown = [str(key) for key in item if key not in _BESIDE_ARGUMENTS and item[key] is not None]
    if not values and unknown:
        raise GroundTruthError(f"is missing; found the keys {', '.join(unknown)}"[:200], field="parameters")
    return next(iter(values.values()), {})


def _arguments(arguments: Any, field: str) -> dict[str, Any]:
    """Read the arguments of an expected call: an object, or one as JSON text; none at all is an empty one."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            raise GroundTruthError(f"is text that is not JSON: {arguments[:60]!r}", field=field) from None
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise GroundTruthError(f"must be an object, found {type(arguments).__name__}: {arguments!r}"[:200], field=field)
    for key in arguments:
        if not isinstance(key, str):
            raise GroundTruthError(f"argument names must be text, found {key!r}", field=field)
    return {key: _json(value, key) for key, value in arguments.items()}


def _json(value: Any, field: str) -> Any:
    """Return a value as plain JSON; anything else in a ground truth is the user's error."""
    value = _plain(value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [_json(item, field) for item in value]
    if isinstance(value, Mapping):
        if any(not isinstance(key, str) for key in value):
            raise GroundTruthError("has an object key that is not text", field=field)
        return {key: _json(item, field) for key, item in value.items()}
    raise GroundTruthError(f"must be a JSON value, found {type(value).__name__}: {value!r}"[:200], field=field)


def with_schema(call: ToolCall | AcceptedCall, schemas: Schemas) -> ToolCall | AcceptedCall:
    """Attach a function's declared parameter schemas and defaults to an expected call.

    Parameters
    ----------
    call : ToolCall or AcceptedCall
        The expected call.
    schemas : mapping
        Schemas by function name, as for `parse_ground_truth`.

    Returns
    -------
    ToolCall or AcceptedCall
        The call itself where nothing is declared for it.

    Examples
    --------
    >>> with_schema(ToolCall("t", {"x": "a"}), {"t": {"u": {"type": "string", "default": "C"}}}).defaults
    {'u': 'C'}
    """
    declared = schemas.get(call.name)
    if not isinstance(declared, Mapping):
        return call
    is_object = isinstance(declared.get("type"), str) and isinstance(declared.get("properties"), Mapping)
    properties = declared["properties"] if is_object else declared
    parameters = {key: value for key, value in properties.items() if isinstance(value, Mapping)}
    defaults = {key: value["default"] for key, value in parameters.items() if "default" in value}
    if isinstance(call, AcceptedCall):
        accepted, optional = call.accepted, frozenset(call.optional)
        defaults, parameters = {**defaults, **call.defaults}, {**parameters, **call.schema}
    else:  # literal values: an object of lists in them is no set of alternatives, and "" makes nothing optional
        accepted, optional = {key: (value,) for key, value in call.arguments.items()}, frozenset()
    prepared = object.__new__(AcceptedCall)
    for name, value in (
        ("name", call.name),
        ("accepted", accepted),
        ("optional", optional | (set(defaults) - set(accepted))),
        ("defaults", defaults),
        ("schema", parameters),
    ):
        object.__setattr__(prepared, name, value)
    return prepared


def single_valued(ground_truth: Any) -> GroundTruth:
    """Reduce a ground truth to one literal value per parameter, optional parameters left out.

    Parameters
    ----------
    ground_truth : any form of `parse_ground_truth`
        The ground truth.

    Returns
    -------
    GroundTruth
        With `ToolCall` entries only; the released scorer reads nothing else.

    Examples
    --------
    >>> single_valued([{"f": {"a": [1, 2], "b": ["", 3]}}]).calls
    (ToolCall(name='f', arguments={'a': 1}),)
    """
    truth = parse_ground_truth(ground_truth)
    calls = tuple(call.first() if isinstance(call, AcceptedCall) else call for call in truth.calls)
    return GroundTruth(calls, truth.requires, truth.thought, truth.response, truth.text)


def render_calls(calls: Any) -> str:
    """Write calls as a tool-call block, one JSON object a line.

    Parameters
    ----------
    calls : sequence of ToolCall
        The calls.

    Returns
    -------
    str
        The block with its tags.

    Examples
    --------
    >>> print(render_calls([ToolCall("f", {"a": 1})]))
    <tool_call>
    {"name": "f", "parameters": {"a": 1}}
    </tool_call>
    """
    lines = [json.dumps({"name": c.name, "parameters": dict(c.arguments)}, ensure_ascii=False) for c in calls]
    return "\n".join(["<tool_call>", *lines, "</tool_call>"])


def render_completion(
    ground_truth: Any, *, calls: Any = None, thought: str | None = None, response: str | None = None
) -> str:
    """Write a ground truth as a completion in the form that every format rule accepts.

    Parameters
    ----------
    ground_truth : any form of `parse_ground_truth`
        The ground truth; accepted values stand for their first, optional parameters are left out.
    calls : sequence of ToolCall, optional
        Calls to write instead of the ground truth's.
    thought, response : str, optional
        Texts to write instead of the ground truth's.

    Returns
    -------
    str
        The completion.

    Examples
    --------
    >>> print(render_completion([], thought="No tool fits.", response="Hello."))
    <think> No tool fits. </think>
    <response> Hello. </response>
    """
    truth = single_valued(ground_truth)
    chosen = truth.calls if calls is None else calls
    thought = thought if thought is not None else truth.thought
    parts = [f"<think> {(PLACEHOLDER_THOUGHT if thought is None else thought).strip()} </think>"]
    if chosen or (calls is not None and "tool_call" in truth.requires):
        parts.append(render_calls(chosen))
    if "response" in truth.requires or response is not None:
        text = response if response is not None else truth.response
        parts.append(f"<response> {(PLACEHOLDER_RESPONSE if text is None else text).strip()} </response>")
    return "\n".join(parts)
