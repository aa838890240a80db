"""Reward functions for the verifiers library: a Rubric function (0.1.9), and the score of a trace (0.4.0).

With 0.4, inside a task::

    class BookTask(vf.Task[BookData]):
        @vf.reward(weight=1.0)
        async def toolrl(self, trace: vf.Trace) -> float:
            return score_trace(trace, self.data.ground_truth)

        @vf.metric
        async def toolrl_parts(self, trace: vf.Trace) -> dict[str, float]:
            return trace_metrics(trace, self.data.ground_truth)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any

from toolrl_core.adapters.rows import RowError, as_spec, extras, require_step, score_row, without_nulls
from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.spec import RewardSpec

RubricFunction = Callable[..., float]


def rubric_function(
    spec: RewardSpec | str | Mapping[str, Any] = "robust", *, name: str = "toolrl_reward"
) -> RubricFunction:
    """Make a function for ``verifiers.Rubric(funcs=[…], weights=[…])``.

    Parameters
    ----------
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name.
    name : str
        The name under which the rubric logs it.

    Returns
    -------
    callable
        ``f(completion, answer, state, info) -> float``. The ground truth is ``answer``, or ``info["ground_truth"]``.
        No parser is needed. The parts of the score stand in ``state["toolrl"]``.

    Raises
    ------
    ValueError
        If the spec is unknown, or changes over steps: the library passes none.

    Notes
    -----
    The library turns an exception and None into 0.0 without a word, so a row that cannot be scored gives NaN
    here, with the problem in ``state["toolrl"]["problem"]``. Advantages of its whole group are then NaN too: run
    `check_ground_truths` over the data set before training.

    Examples
    --------
    >>> reward = rubric_function("paper")
    >>> state = {}
    >>> reward(completion="", answer="[]", state=state), state["toolrl"]["scored"]
    (3.0, True)
    """
    chosen = as_spec(spec)
    require_step(chosen, None, "verifiers", "score with toolrl_core.score(…, step=…) yourself")

    def reward(
        completion: Any, answer: Any = None, state: MutableMapping[str, Any] | None = None, info: Any = None
    ) -> float:
        truth = answer
        if _is_missing(truth) and isinstance(info, Mapping):
            truth = info.get("ground_truth")
        row = score_row(completion, None if _is_missing(truth) else without_nulls(truth), chosen)
        if state is not None:
            parts = {} if row.breakdown is None else extras(row.breakdown)
            state["toolrl"] = {"scored": row.breakdown is not None, "problem": row.problem, **parts}
        return math.nan if row.breakdown is None else row.breakdown.total

    reward.__name__ = reward.__qualname__ = name
    return reward


def score_trace(trace: Any, ground_truth: Any, spec: RewardSpec | str | Mapping[str, Any] = "robust") -> float:
    """Score a trace of verifiers 0.4: return it from a task's ``@vf.reward`` method.

    Parameters
    ----------
    trace : object
        A trace. Its ``assistant_messages`` are scored: what the model wrote, without examples in the prompt.
    ground_truth : any form of `parse_ground_truth`
        The task's ground truth.
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name.

    Returns
    -------
    float
        Points.

    Raises
    ------
    RowError
        If the ground truth cannot be used. The library records an error on the trace, and the reward stays None.
    ValueError
        If the spec is unknown, or changes over steps: the library passes none.

    Examples
    --------
    >>> class Trace:
    ...     assistant_messages = [{"role": "assistant", "content": "<think> t </think>"}]
    >>> score_trace(Trace(), [], "paper")
    3.0
    """
    return _score_trace(trace, ground_truth, spec).total


def trace_metrics(
    trace: Any, ground_truth: Any, spec: RewardSpec | str | Mapping[str, Any] = "robust"
) -> dict[str, float]:
    """Return the parts of a trace's score: return them from a task's ``@vf.metric`` method.

    From a ``@vf.reward`` method the library would add every one of them to the reward.

    Parameters
    ----------
    trace, ground_truth, spec
        As for `score_trace`.

    Returns
    -------
    dict of str to float
        The numeric extras, under names that begin with ``toolrl_``.

    Raises
    ------
    RowError, ValueError
        As for `score_trace`.

    Examples
    --------
    >>> class Trace:
    ...     assistant_messages = [{"role": "assistant", "content": "<think> t </think>"}]
    >>> trace_metrics(Trace(), [], "paper")["toolrl_correctness"]
    3.0
    """
    return {f"toolrl_{name}": value for name, value in extras(_score_trace(trace, ground_truth, spec)).items()}


def _score_trace(trace: Any, ground_truth: Any, spec: RewardSpec | str | Mapping[str, Any]) -> RewardBreakdown:
    chosen = as_spec(spec)
    require_step(chosen, None, "verifiers", "score with toolrl_core.score(…, step=…) yourself")
    messages: Iterable[Any] = trace.assistant_messages
    row = score_row([_plain(message) for message in messages], without_nulls(ground_truth), chosen)
    if row.breakdown is None:
        raise RowError(None, row.problem)
    return row.breakdown


def _is_missing(truth: Any) -> bool:
    return truth is None or (isinstance(truth, str) and not truth)


def _plain(message: Any) -> dict[str, Any]:
    """Return a message as a dictionary, whether it is one or a model of one."""
    if isinstance(message, Mapping):
        return dict(message)
    dump = getattr(message, "model_dump", None)
    return dict(dump()) if callable(dump) else {}
