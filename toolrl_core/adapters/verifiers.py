"""Reward functions for the verifiers library: a Rubric function (0.1.9), and a score of a trace (0.4.0)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from toolrl_core.adapters.rows import as_spec, extras, require_step, score_row, without_nulls
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
    here, with the problem in ``state["toolrl"]["problem"]``.

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
        if truth in (None, "") and isinstance(info, Mapping):
            truth = info.get("ground_truth")
        row = score_row(completion, without_nulls(truth) if truth != "" else None, chosen)
        if state is not None:
            parts = {} if row.breakdown is None else extras(row.breakdown)
            state["toolrl"] = {"scored": row.breakdown is not None, "problem": row.problem, **parts}
        return math.nan if row.breakdown is None else row.breakdown.total

    reward.__name__ = reward.__qualname__ = name
    return reward


def score_trace(trace: Any, ground_truth: Any, spec: RewardSpec | str | Mapping[str, Any] = "robust") -> float:
    """Score a trace of verifiers 0.4: use it inside a task's ``@vf.reward`` method.

    Parameters
    ----------
    trace : object
        A trace with ``messages``; the assistant's are scored.
    ground_truth : any form of `parse_ground_truth`
        The task's ground truth.
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name.

    Returns
    -------
    float
        Points; NaN for a row that cannot be scored.

    Examples
    --------
    >>> class Trace:
    ...     messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<think> t </think>"}]
    >>> score_trace(Trace(), [], "paper")
    3.0
    """
    chosen = as_spec(spec)
    require_step(chosen, None, "verifiers", "score with toolrl_core.score(…, step=…) yourself")
    plain = [_plain(message) for message in trace.messages]
    row = score_row([message for message in plain if message.get("role") == "assistant"], ground_truth, chosen)
    return math.nan if row.breakdown is None else row.breakdown.total


def _plain(message: Any) -> dict[str, Any]:
    """Return a message as a dictionary, whether it is one or a model of one."""
    if isinstance(message, Mapping):
        return dict(message)
    dump = getattr(message, "model_dump", None)
    return dict(dump()) if callable(dump) else {}
