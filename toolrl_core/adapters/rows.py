"""What all trainers' rewards share: reading a row, scoring it, and telling a failure from a zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolrl_core.adapters.options import as_spec, require_step
from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.calls import GroundTruthError
from toolrl_core.ground_truth import GroundTruth, parse_ground_truth
from toolrl_core.rewards import score
from toolrl_core.spec import RewardSpec

__all__ = [
    "EXTRAS",
    "RowError",
    "RowScore",
    "as_completion",
    "as_spec",
    "check_ground_truths",
    "extras",
    "require_step",
    "score_row",
    "without_nulls",
]

EXTRAS = ("format", "correctness", "length", "n_predicted", "n_malformed")
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")


class RowError(ValueError):
    """Report a row that cannot be scored because of its ground truth or its form, not because of the model.

    Parameters
    ----------
    row : int or str or None
        Which row: its place in the batch, or its own index.
    problem : str
        What is wrong.

    Examples
    --------
    >>> print(RowError(3, "ground truth is empty"))
    row 3 cannot be scored: ground truth is empty
    """

    def __init__(self, row: int | str | None, problem: str) -> None:
        self.row, self.problem = row, problem
        super().__init__(f"{'a row' if row is None else f'row {row}'} cannot be scored: {problem}")

    def __reduce__(self) -> tuple[Any, ...]:
        return RowError, (self.row, self.problem)


class RowScore(NamedTuple):
    """Hold the score of one row, or why there is none.

    Parameters
    ----------
    breakdown : RewardBreakdown or None
        The account of the score; None where the row cannot be scored.
    problem : str
        Why not, empty for a scored row.
    """

    breakdown: RewardBreakdown | None
    problem: str = ""


def score_row(completion: Any, ground_truth: Any, spec: RewardSpec, *, step: float | None = None) -> RowScore:
    """Score one row; a ground truth that cannot be used gives no score, never a zero.

    Parameters
    ----------
    completion : str or list
        Text, calls or chat messages (see `as_completion`).
    ground_truth : any form of `parse_ground_truth`
        The ground truth, JSON text included.
    spec : RewardSpec
        The reward's options.
    step : float, optional
        Training step.

    Returns
    -------
    RowScore
        The breakdown, or the problem.

    Examples
    --------
    >>> score_row("", None, RewardSpec.preset("robust"))
    RowScore(breakdown=None, problem='ground truth: is missing')
    """
    if ground_truth is None:
        return RowScore(None, "ground truth: is missing")
    try:
        return RowScore(score(as_completion(completion), ground_truth, spec, step=step))
    except GroundTruthError as error:
        return RowScore(None, str(error))
    except TypeError as error:
        return RowScore(None, str(error))


def as_completion(completion: Any) -> Any:
    """Return what a trainer calls a completion in the form that `score` reads.

    A single assistant message that holds text alone becomes that text, so that the format rule applies. Messages
    stay messages, which have no format, where there are several turns or where the trainer has already taken the
    text apart (``tool_calls``, or a thought in a field of its own): the tags are gone there.

    Parameters
    ----------
    completion : str or list
        A text, or chat messages.

    Returns
    -------
    str or list
        A text where there is one.

    Examples
    --------
    >>> as_completion([{"role": "assistant", "content": "<think> t </think>"}])
    '<think> t </think>'
    >>> as_completion([{"role": "assistant", "content": "Hi.", "reasoning_content": "t"}])
    [{'role': 'assistant', 'content': 'Hi.', 'reasoning_content': 't'}]
    """
    if not isinstance(completion, Sequence) or isinstance(completion, str) or len(completion) != 1:
        return completion
    message = completion[0]
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        return completion
    if message.get("tool_calls") or any(message.get(field) for field in _THOUGHT_FIELDS):
        return completion
    content = message.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        parts = [part.get("text") if isinstance(part, Mapping) else None for part in content]
        content = "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else list(completion)


def without_nulls(ground_truth: Any) -> Any:
    """Drop the null keys that columnar data sets add to objects of unlike keys.

    A data set kept as columns gives every object the keys of all rows, with null where a row has none. Keep the
    ground truth as JSON text instead where a null is meant.

    Parameters
    ----------
    ground_truth : any form of `parse_ground_truth`
        A value from a data set's column.

    Returns
    -------
    object
        The same without null keys; texts unchanged.

    Examples
    --------
    >>> without_nulls([{"name": "f", "parameters": {"a": 1, "b": None}, "arguments": None}])
    [{'name': 'f', 'parameters': {'a': 1}}]
    """
    if isinstance(ground_truth, (str, GroundTruth)):
        return ground_truth
    if hasattr(ground_truth, "tolist"):
        ground_truth = ground_truth.tolist()
    if isinstance(ground_truth, Mapping):
        return {key: without_nulls(value) for key, value in ground_truth.items() if value is not None}
    if isinstance(ground_truth, (list, tuple)):
        return [without_nulls(item) for item in ground_truth]
    return ground_truth


def extras(breakdown: RewardBreakdown) -> dict[str, float]:
    """Return the numeric extras of a score: the same keys on every row.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.

    Returns
    -------
    dict of str to float
        Format (NaN where it does not apply), correctness, length, decoded and malformed calls.

    Examples
    --------
    >>> extras(score("", []))["correctness"]
    3.0
    """
    return {
        "format": float("nan") if breakdown.format is None else breakdown.format,
        "correctness": breakdown.correctness,
        "length": breakdown.length,
        "n_predicted": float(breakdown.n_predicted),
        "n_malformed": float(breakdown.n_malformed),
    }


def check_ground_truths(ground_truths: Sequence[Any]) -> list[RowError]:
    """List the rows of a data set whose ground truth cannot be used, before a run starts.

    Parameters
    ----------
    ground_truths : sequence
        The data set's column.

    Returns
    -------
    list of RowError
        One for each bad row, empty for a sound data set.

    Examples
    --------
    >>> [error.row for error in check_ground_truths([[], "no tags", [{"name": "f"}]])]
    [1]
    """
    errors = []
    for row, ground_truth in enumerate(ground_truths):
        try:
            parse_ground_truth(without_nulls(ground_truth))
        except GroundTruthError as error:
            errors.append(RowError(row, str(error)))
    return errors
