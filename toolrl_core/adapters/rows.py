"""What all trainers' rewards share: reading a row, scoring it, and telling a failure from a zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.calls import GroundTruthError
from toolrl_core.ground_truth import GroundTruth, parse_ground_truth
from toolrl_core.rewards import score
from toolrl_core.spec import RewardSpec

EXTRAS = ("format", "correctness", "length", "n_predicted", "n_malformed")


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


def as_spec(spec: RewardSpec | str | Mapping[str, Any]) -> RewardSpec:
    """Return a spec from a spec, a preset's name, or a mapping of options (with ``preset`` as their base).

    Parameters
    ----------
    spec : RewardSpec, str or mapping
        What a configuration file can hold.

    Returns
    -------
    RewardSpec
        The spec.

    Raises
    ------
    ValueError
        If the preset or an option is unknown; the message lists the valid ones.

    Examples
    --------
    >>> as_spec({"preset": "robust", "equality": "json_strict"}).extra_calls
    'counted'
    """
    if isinstance(spec, RewardSpec):
        return spec
    if isinstance(spec, str):
        return RewardSpec.preset(spec)
    options = {str(key): value for key, value in spec.items()}
    base = options.pop("preset", None)
    return RewardSpec.preset(base).replace(**options) if base is not None else RewardSpec(**options)


def require_step(spec: RewardSpec, step: float | None, trainer: str, remedy: str) -> None:
    """Refuse a reward that changes over training steps where no step arrives.

    Raises
    ------
    ValueError
        If the spec needs a step and there is none; the message says what to do.
    """
    if spec.needs_step and step is None:
        raise ValueError(
            f"the reward changes with the training step, but {trainer} passes no step to it: {remedy}, "
            "or choose a constant scale"
        )


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

    Messages whose assistant turns hold text alone become that text, so that the format rule applies; messages
    with parsed ``tool_calls``, or with several turns, stay messages, which have no format.

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
    """
    if isinstance(completion, Sequence) and not isinstance(completion, str) and len(completion) == 1:
        message = completion[0]
        if isinstance(message, Mapping) and message.get("role") == "assistant" and not message.get("tool_calls"):
            content = message.get("content")
            return content if isinstance(content, str) else list(completion)
    return completion


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
