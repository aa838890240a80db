"""Right answers that differ: what a ground truth with one value per parameter denies credit to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from toolrl_core.bfcl import BfclRow, realise
from toolrl_core.calls import AcceptedCall, Alternatives, ToolCall
from toolrl_core.equality import json_equal

__all__ = ["Freedom", "count_freedom", "deviation_share", "vary_answer"]


def vary_answer(
    row: BfclRow, rng: np.random.Generator, *, values: bool = True, optional: bool = True
) -> list[ToolCall]:
    """Draw a right answer to a question, using some of the freedom that its accepted answers leave.

    Parameters
    ----------
    row : BfclRow
        The question.
    rng : numpy.random.Generator
        Source of the draws.
    values : bool
        Draw each value uniformly among the accepted ones; without it the first is taken. Fields of an accepted
        object count as values.
    optional : bool
        Give each parameter that may be omitted with probability 1/2, with a value drawn among the accepted ones;
        without it all are omitted.

    Returns
    -------
    list of ToolCall
        One call for each expected one, all of them right.

    Notes
    -----
    With both, this is `toolrl_core.bfcl.realise`. The same generator state gives the same draws whichever freedom
    is used, so that answers of two kinds can be compared row by row.

    Examples
    --------
    >>> accepted = ({"mix": {"colour": ["red", "scarlet"], "litres": [1, ""]}},)
    >>> tool = {"name": "mix", "parameters": {"properties": {"colour": {"type": "string"}, "litres": {}}}}
    >>> row = BfclRow("example", "simple_python", (), (tool,), accepted)
    >>> vary_answer(row, np.random.default_rng(5), values=False)
    [ToolCall(name='mix', arguments={'colour': 'red', 'litres': 1})]
    >>> vary_answer(row, np.random.default_rng(5), optional=False)
    [ToolCall(name='mix', arguments={'colour': 'scarlet'})]
    """
    answer = []
    for plain, drawn in zip(realise(row), realise(row, rng), strict=True):
        arguments = {
            key: value if values or key not in plain.arguments else plain.arguments[key]
            for key, value in drawn.arguments.items()
            if optional or key in plain.arguments
        }
        answer.append(ToolCall(drawn.name, arguments))
    return answer


@dataclass(frozen=True)
class Freedom:
    """Count the places where a right answer may depart from the first accepted one.

    Parameters
    ----------
    values : int
        Parameters that must be given and accept several values.
    optional : int
        Parameters that may be omitted.
    """

    values: int
    optional: int

    @property
    def total(self) -> int:
        """Return the number of places of both kinds."""
        return self.values + self.optional


def count_freedom(row: BfclRow) -> Freedom:
    """Count where the accepted answers of a question leave a choice.

    Parameters
    ----------
    row : BfclRow
        The question.

    Returns
    -------
    Freedom
        Choices over all expected calls. Values that are equal as JSON, such as 1 and 1.0, are no choice. A parameter
        that its tool's schema requires counts as given, whatever the accepted answers say.

    Examples
    --------
    >>> accepted = ({"mix": {"colour": ["red", "scarlet"], "litres": [1, ""], "parts": [1, 1.0]}},)
    >>> tool = {"name": "mix", "parameters": {"properties": {}, "required": ["colour"]}}
    >>> count_freedom(BfclRow("example", "simple_python", (), (tool,), accepted))
    Freedom(values=1, optional=1)
    """
    required = {tool["name"]: tool["parameters"].get("required", ()) for tool in row.functions}
    values = optional = 0
    for call in row.ground_truth.calls:
        if isinstance(call, AcceptedCall):
            more, fewer = _choices(call, required.get(call.name, ()))
            values, optional = values + more, optional + fewer
    return Freedom(values, optional)


def _choices(call: AcceptedCall, required: Collection[str]) -> tuple[int, int]:
    """Count the choices of one call."""
    values = optional = 0
    for key, options in call.accepted.items():
        given = [option for option in options if not _is_empty(option)]
        if len(given) < len(options) and key not in required:
            optional += bool(given)
        else:
            values += _leaves_choice(given)
    return values, optional


def _leaves_choice(options: Sequence[Any]) -> bool:
    """Tell whether accepted values can be realised as two different JSON values."""
    if any(_has_choice(option) for option in options):
        return True
    return any(not json_equal(_literal(options[0]), _literal(option)) for option in options[1:])


def _has_choice(option: Any) -> bool:
    if isinstance(option, Alternatives):
        return any(
            (any(map(_is_empty, options)) and len(options) > 1) or _leaves_choice(options)
            for options in option.fields.values()
        )
    return isinstance(option, list) and any(map(_has_choice, option))


def _literal(option: Any) -> Any:
    """Write an accepted value without choice as plain JSON."""
    if isinstance(option, Alternatives):
        return {key: _literal(options[0]) for key, options in option.fields.items()}
    return [_literal(item) for item in option] if isinstance(option, list) else option


def _is_empty(option: Any) -> bool:
    return isinstance(option, str) and option == ""


def deviation_share(choices: Iterable[int], probability: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Give the share of right answers that differ from the first accepted one.

    Parameters
    ----------
    choices : iterable of int
        Number of choices of each question.
    probability : array_like of float
        Probability that a single choice departs from the first accepted value, independently of the others.

    Returns
    -------
    numpy.ndarray
        Share for each probability, in the shape of `probability`.

    Raises
    ------
    ValueError
        If there is no question.

    Notes
    -----
    The mean of :math:`1 - (1 - q)^{k}` over questions with :math:`k` choices.

    Examples
    --------
    One question leaves no choice and one leaves two:

    >>> deviation_share([0, 2], [0.0, 0.5, 1.0]).tolist()
    [0.0, 0.375, 0.5]
    """
    counts = np.array(list(choices), dtype=float)
    if not counts.size:
        raise ValueError("choices is empty: give the number of choices of at least one question")
    kept = (1.0 - np.asarray(probability, dtype=float))[..., None] ** counts
    share: npt.NDArray[np.float64] = 1.0 - kept.mean(axis=-1)
    return share
