"""A reward function for OpenRLHF (contract read in openrlhf 0.11, utils/agent.py, samples_generator.py).

Put this into a file and give its path as ``--reward.remote_url``::

    from toolrl_core.adapters.openrlhf import make_reward_func
    reward_func = make_reward_func("robust")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolrl_core.adapters.rows import EXTRAS, RowError, as_spec, extras, require_step, score_row, without_nulls
from toolrl_core.parsing import STOP_TOKENS
from toolrl_core.spec import RewardSpec

SHORTEST_OVERLAP = 16
"""Characters of a prompt that a query must still begin with where the prompt was cut off from the left."""


def make_reward_func(
    spec: RewardSpec | str | Mapping[str, Any] = "robust", *, stop_tokens: Sequence[str] = STOP_TOKENS
) -> Callable[..., dict[str, Any]]:
    """Make ``reward_func(queries, prompts, labels)`` for OpenRLHF.

    Parameters
    ----------
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name.
    stop_tokens : sequence of str
        Texts that end a response. The trainer decodes with special tokens, so they are still there.

    Returns
    -------
    callable
        Returns ``rewards``, ``scores`` and ``extra_logs``: tensors where torch is installed, else lists.

    Raises
    ------
    ValueError
        If the spec is unknown, or changes over steps: the trainer passes none.

    Notes
    -----
    The trainer calls the function with one row at a time. Where the function fails, it writes the error to its log
    and goes on without a reward, until the whole batch stops at the missing one: look for "cannot be scored".

    Examples
    --------
    >>> reward_func = make_reward_func("paper")
    >>> [float(r) for r in reward_func(["Q<think> t </think><|im_end|>"], ["Q"], ["[]"])["rewards"]]
    [3.0]
    """
    chosen = as_spec(spec)
    require_step(chosen, None, "OpenRLHF", "score with toolrl_core.score(…, step=…) yourself")
    endings = tuple(stop_tokens)

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
        if not len(queries) == len(prompts) == len(labels):
            raise RowError(None, f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels")
        totals, parts = [], []
        for row, (query, prompt, label) in enumerate(zip(queries, prompts, labels, strict=True)):
            response = response_of(query, prompt, stop_tokens=endings)
            if response is None:
                raise RowError(row, f"the query does not begin with its prompt: {query[:60]!r}, {prompt[:60]!r}")
            result = score_row(response, without_nulls(label), chosen)
            if result.breakdown is None:
                raise RowError(row, f"{result.problem}; label: {str(label)[:80]!r}")
            totals.append(result.breakdown.total)
            parts.append(extras(result.breakdown))
        logs = {name: _tensor([part[name] for part in parts]) for name in EXTRAS}
        return {"rewards": _tensor(totals), "scores": _tensor(totals), "extra_logs": logs}

    return reward_func


def response_of(query: str, prompt: str, *, stop_tokens: Sequence[str] = STOP_TOKENS) -> str | None:
    """Return the response of a query, which holds prompt and response.

    A prompt that was too long is cut off from the left, so the query may begin with the prompt's end alone.

    Parameters
    ----------
    query : str
        Prompt and response.
    prompt : str
        The prompt.
    stop_tokens : sequence of str
        Texts that end a response.

    Returns
    -------
    str or None
        The response without its last stop tokens; None if the query does not begin with the prompt or its end. To
        score the prompt too would count the calls of its examples.

    Examples
    --------
    >>> response_of("a long prompt, cut off: yes</s>", "This is a long prompt, cut off: ")
    'yes'
    >>> response_of("another text", "a prompt") is None
    True
    """
    found = query if query.startswith(prompt) else query.lstrip("\ufffd")
    starts = range(max(len(prompt) - SHORTEST_OVERLAP, 0) + 1)
    start = next((start for start in starts if found.startswith(prompt[start:])), None)
    if start is None:
        return None
    response = found[len(prompt) - start :]
    while ending := next((token for token in stop_tokens if token and response.rstrip().endswith(token)), None):
        response = response.rstrip().removesuffix(ending)
    return response


def _tensor(values: list[float]) -> Any:
    try:
        import torch
    except ImportError:
        return values
    return torch.tensor(values, dtype=torch.float32)
