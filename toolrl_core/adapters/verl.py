"""A custom reward function for verl (contract read in verl 0.9.1, naive.py of both kinds of reward manager).

In the configuration::

    reward.custom_reward_function.path=pkg://toolrl_core.adapters.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.spec=robust

The spec may be a mapping there too: ``reward_kwargs.spec.preset=robust reward_kwargs.spec.equality=schema``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolrl_core.adapters.rows import RowError, as_spec, extras, require_step, score_row, without_nulls
from toolrl_core.spec import RewardSpec


def compute_score(
    data_source: Any = None,
    solution_str: Any = "",
    ground_truth: Any = None,
    extra_info: Mapping[str, Any] | None = None,
    *,
    spec: RewardSpec | str | Mapping[str, Any] = "robust",
    step: float | None = None,
    reward_router_address: Any = None,
    reward_model_tokenizer: Any = None,
) -> dict[str, float]:
    r"""Score one completion for verl.

    Parameters
    ----------
    data_source : object
        Not used.
    solution_str : str
        The decoded response (verl leaves special tokens out).
    ground_truth : any form of `parse_ground_truth`
        From the row's ``reward_model.ground_truth``.
    extra_info : mapping, optional
        Its ``index`` names the row in errors; its ``step`` or ``global_steps`` is used as the training step.
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name, from ``reward_kwargs``.
    step : float, optional
        Training step, from ``reward_kwargs``; verl itself passes none.
    reward_router_address, reward_model_tokenizer : object, optional
        Not used; verl passes them where a reward model runs.

    Returns
    -------
    dict of str to float
        ``score`` and the same numeric extras on every row.

    Raises
    ------
    RowError
        If the ground truth cannot be used: verl has no way to leave a row out, and a zero would teach.
    ValueError
        If the reward changes over steps and there is no step.
    TypeError
        If ``reward_kwargs`` holds an unknown name: a misspelt option must not leave the default in force.

    Examples
    --------
    >>> compute_score("x", "<think> t </think>\n<response> Hi. </response>", [])["score"]
    4.0
    """
    del data_source, reward_router_address, reward_model_tokenizer
    chosen = as_spec(spec)
    info = extra_info or {}
    if step is None:
        step = info.get("step", info.get("global_steps"))
    require_step(chosen, step, "verl", "give step through reward_kwargs or extra_info")
    row = score_row(solution_str, without_nulls(ground_truth), chosen, step=step)
    if row.breakdown is None:
        raise RowError(info.get("index"), row.problem)
    return {"score": row.breakdown.total, **extras(row.breakdown)}
