"""A reward function for OpenRLHF (contract read in openrlhf 0.11, utils/agent.py L191-345).

Put this into a file and give its path as ``--reward.remote_url``::

    from toolrl_core.adapters.openrlhf import make_reward_func
    reward_func = make_reward_func("robust")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolrl_core.adapters.rows import EXTRAS, RowError, as_spec, extras, require_step, score_row
from toolrl_core.spec import RewardSpec


def make_reward_func(spec: RewardSpec | str | Mapping[str, Any] = "robust") -> Callable[..., dict[str, Any]]:
    """Make ``reward_func(queries, prompts, labels)`` for OpenRLHF.

    Parameters
    ----------
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name.

    Returns
    -------
    callable
        Returns ``rewards``, ``scores`` and ``extra_logs``: tensors where torch is installed, else lists.
        A query holds prompt and response; the prompt is cut off before scoring.

    Raises
    ------
    ValueError
        If the spec is unknown, or changes over steps: the trainer passes none.

    Examples
    --------
    >>> reward_func = make_reward_func("paper")
    >>> [float(r) for r in reward_func(["Q<think> t </think>"], ["Q"], ["[]"])["rewards"]]
    [3.0]
    """
    chosen = as_spec(spec)
    require_step(chosen, None, "OpenRLHF", "score with toolrl_core.score(…, step=…) yourself")

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
        if not len(queries) == len(prompts) == len(labels):
            raise RowError(None, f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels")
        totals, parts = [], []
        for row, (query, prompt, label) in enumerate(zip(queries, prompts, labels, strict=True)):
            result = score_row(query.removeprefix(prompt), label, chosen)
            if result.breakdown is None:
                raise RowError(row, result.problem)
            totals.append(result.breakdown.total)
            parts.append(extras(result.breakdown))
        logs = {name: _tensor([part[name] for part in parts]) for name in EXTRAS}
        return {"rewards": _tensor(totals), "scores": _tensor(totals), "extra_logs": logs}

    return reward_func


def _tensor(values: list[float]) -> Any:
    try:
        import torch
    except ImportError:
        return values
    return torch.tensor(values, dtype=torch.float32)
