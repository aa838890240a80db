"""Tool calls: what a model predicts, and what a ground truth accepts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class GroundTruthError(ValueError):
    """Report a ground truth that cannot be used: which call, which field, and what was found.

    Parameters
    ----------
    problem : str
        What is wrong, in words.
    index : int or None
        Position of the call in the ground truth, counted from 0.
    field : str or None
        The field of that call.

    Examples
    --------
    >>> print(GroundTruthError("must be text, found int: 7", index=1, field="name"))
    ground truth call 1, field 'name': must be text, found int: 7
    """

    def __init__(self, problem: str, *, index: int | None = None, field: str | None = None) -> None:
        self.problem, self.index, self.field = problem, index, field
        place = "ground truth" if index is None else f"ground truth call {index}"
        super().__init__(f"{place}: {problem}" if field is None else f"{place}, field {field!r}: {problem}")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Hold one call of a tool: its name and its arguments.

    Parameters
    ----------
    name : str
        The tool's name.
    arguments : mapping of str to JSON value
        Argument values by parameter name.

    Raises
    ------
    TypeError
        If the name is not text or the arguments are not a mapping with text keys.

    Examples
    --------
    >>> ToolCall("search", {"query": "x"})
    ToolCall(name='search', arguments={'query': 'x'})
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"ToolCall name must be text, found {type(self.name).__name__}: {self.name!r}")
        if not isinstance(self.arguments, (dict, Mapping)):  # the check for a dictionary is the quick one
            raise TypeError(f"ToolCall arguments must be a mapping, found {type(self.arguments).__name__}")
        for key in self.arguments:
            if not isinstance(key, str):
                raise TypeError(f"ToolCall argument names must be text, found {type(key).__name__}: {key!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the call as ``{"name": …, "arguments": …}``."""
        return {"name": self.name, "arguments": dict(self.arguments)}


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Hold an object of a ground truth whose every field accepts one of several values.

    Parameters
    ----------
    fields : mapping of str to tuple
        Accepted values by field; ``""`` among them makes the field optional.

    Examples
    --------
    >>> Alternatives({"unit": ("C", "")}).fields["unit"]
    ('C', '')
    """

    fields: Mapping[str, tuple[Any, ...]]

    def first(self) -> dict[str, Any]:
        """Return the object made of the first accepted values, optional fields left out."""
        return {key: first_value(options[0]) for key, options in self.fields.items() if "" not in options}


def first_value(option: Any) -> Any:
    """Return one literal JSON value that an accepted value stands for.

    Parameters
    ----------
    option : JSON value or Alternatives
        An accepted value, possibly with nested alternatives.

    Returns
    -------
    JSON value
        The first literal value.

    Examples
    --------
    >>> first_value([Alternatives({"a": (1, 2)})])
    [{'a': 1}]
    """
    if isinstance(option, Alternatives):
        return option.first()
    if isinstance(option, list):
        return [first_value(item) for item in option]
    return option


def nested_alternatives(value: Any) -> Any:
    """Read nested objects whose values are all lists as sets of alternatives.

    Parameters
    ----------
    value : JSON value
        An accepted value in the form of the Berkeley function-calling leaderboard.

    Returns
    -------
    JSON value or Alternatives
        The value with such objects replaced; any other object stays literal.

    Examples
    --------
    >>> nested_alternatives({"a": [1, 2]})
    Alternatives(fields={'a': (1, 2)})
    >>> nested_alternatives({"a": 1})
    {'a': 1}
    """
    if isinstance(value, Mapping):
        if value and all(isinstance(options, (list, tuple)) and options for options in value.values()):
            return Alternatives(
                {key: tuple(nested_alternatives(option) for option in options) for key, options in value.items()}
            )
        return dict(value)
    if isinstance(value, (list, tuple)):
        return [nested_alternatives(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class AcceptedCall:
    """Hold one call of a ground truth that accepts several values per parameter.

    Single-valued ground truth denies credit to more than a quarter of the real outputs that the
    Berkeley leaderboard's own checker accepts; this form does not.

    Parameters
    ----------
    name : str
        The tool's name.
    accepted : mapping of str to sequence
        Accepted values by parameter. An object whose values are all lists is a nested set of
        alternatives; any other object is literal. ``""`` among the values makes the parameter optional.
    optional : collection of str
        Further parameters that may be left out.
    defaults : mapping of str to JSON value
        Declared defaults: giving one equals leaving the parameter out.
    schema : mapping of str to JSON schema
        Declared schemas by parameter, for the equality policy ``schema``.

    Raises
    ------
    GroundTruthError
        If a parameter's accepted values are not a non-empty sequence.

    Examples
    --------
    >>> call = AcceptedCall("weather", {"city": ["Oslo"], "unit": ["C", ""]})
    >>> sorted(call.optional)
    ['unit']
    """

    name: str
    accepted: Mapping[str, Sequence[Any]]
    optional: Collection[str] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise GroundTruthError(f"must be non-empty text, found {self.name!r}", field="name")
        if not isinstance(self.accepted, Mapping):
            raise GroundTruthError(f"must be a mapping, found {type(self.accepted).__name__}", field="accepted")
        values = {}
        for key, options in self.accepted.items():
            if not isinstance(key, str):
                raise GroundTruthError(f"parameter names must be text, found {key!r}", field="accepted")
            if isinstance(options, (str, bytes)) or not isinstance(options, Sequence) or not options:
                raise GroundTruthError(f"must be a non-empty list of accepted values, found {options!r}", field=key)
            values[key] = tuple(nested_alternatives(option) for option in options)
        object.__setattr__(self, "accepted", values)
        implied = {key for key, options in values.items() if any(o == "" and isinstance(o, str) for o in options)}
        object.__setattr__(self, "optional", frozenset(self.optional) | implied | (set(self.defaults) - set(values)))

    def first(self) -> ToolCall:
        """Return the call made of the first accepted values, optional parameters left out."""
        required = {k: first_value(v[0]) for k, v in self.accepted.items() if k not in self.optional}
        return ToolCall(self.name, required)

    def is_single_valued(self) -> bool:
        """Tell whether the call accepts exactly one literal value for each parameter."""
        return not self.optional and all(
            len(options) == 1 and not _has_alternatives(options[0]) for options in self.accepted.values()
        )


def _has_alternatives(option: Any) -> bool:
    if isinstance(option, Alternatives):
        return True
    return isinstance(option, list) and any(_has_alternatives(item) for item in option)
