"""A reward function for TRL's GRPOTrainer (contract read in trl 1.16.0, grpo_trainer.py L1588-1637)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolrl_core.adapters.rows import EXTRAS, RowError, as_spec, extras, require_step, score_row, without_nulls
from toolrl_core.spec import RewardSpec


class TrlReward:
    """Score a batch of completions for TRL: picklable, with a name, one reward or None for each.

    Parameters
    ----------
    spec : RewardSpec, str or mapping
        The reward's options, or a preset's name.
    ground_truth : str
        The data set's column with the ground truth. Keep it as JSON text or as text with tags: objects in columns
        come back with the keys of all rows.
    name : str
        The name under which TRL logs the reward.

    Raises
    ------
    ValueError
        If the preset or an option is unknown.

    Notes
    -----
    A row whose ground truth cannot be used gives None, which TRL leaves out of the group's mean; it is counted in
    the metric ``<name>/unscored``. The training step is ``trainer_state.global_step``.

    With ``tools=`` TRL parses calls and removes their tags, so that such a row has no format, while a row without
    a call keeps its text and is judged on it. Choose ``format_rule="none"`` there: all rows then earn correctness
    alone.

    Examples
    --------
    >>> reward = TrlReward("robust")
    >>> reward.__name__, reward(completions=["", "oops"], ground_truth=["[]", None])
    ('toolrl_robust', [3.0, None])
    """

    def __init__(
        self,
        spec: RewardSpec | str | dict[str, Any] = "robust",
        *,
        ground_truth: str = "ground_truth",
        name: str | None = None,
    ) -> None:
        self.spec = as_spec(spec)
        self.ground_truth = ground_truth
        self.__name__ = name or f"toolrl_{self.spec.name or 'reward'}"

    def __call__(
        self,
        *,
        completions: Sequence[Any],
        prompts: Sequence[Any] | None = None,
        completion_ids: Sequence[Any] | None = None,
        trainer_state: Any = None,
        log_extra: Any = None,
        log_metric: Any = None,
        **columns: Any,
    ) -> list[float | None]:
        """Return one reward for each completion.

        Parameters
        ----------
        completions : sequence of str or of message lists
            As TRL gives them for text or conversational data.
        prompts, completion_ids : sequence, optional
            Not used.
        trainer_state : object, optional
            Its ``global_step`` is the training step.
        log_extra, log_metric : callable, optional
            TRL's loggers; parts of the reward are logged with them.
        **columns
            The data set's columns.

        Returns
        -------
        list of float or None
            Points; None for a row that cannot be scored.

        Raises
        ------
        RowError
            If the column of the ground truth is missing or has another length.
        ValueError
            If the reward changes over steps and no `trainer_state` arrives.
        """
        del prompts, completion_ids
        truths = columns.get(self.ground_truth)
        if truths is None:
            raise RowError(None, f"no column {self.ground_truth!r} arrived; columns: {', '.join(columns) or 'none'}")
        if len(truths) != len(completions):
            raise RowError(None, f"{len(completions)} completions but {len(truths)} values of {self.ground_truth!r}")
        step = getattr(trainer_state, "global_step", None)
        require_step(self.spec, step, "this call", "let the trainer pass trainer_state")
        rows = [
            score_row(completion, without_nulls(truth), self.spec, step=step)
            for completion, truth in zip(completions, truths, strict=True)
        ]
        self._log(rows, log_extra, log_metric)
        return [None if row.breakdown is None else row.breakdown.total for row in rows]

    def _log(self, rows: list[Any], log_extra: Any, log_metric: Any) -> None:
        parts = [None if row.breakdown is None else extras(row.breakdown) for row in rows]
        if log_extra is not None:
            for part in EXTRAS:
                log_extra(f"{self.__name__}/{part}", [None if p is None else p[part] for p in parts])
        if log_metric is not None and rows:
            log_metric(f"{self.__name__}/unscored", sum(p is None for p in parts) / len(rows))
            scored = [p for p in parts if p is not None]
            if scored:
                log_metric(f"{self.__name__}/malformed", sum(p["n_malformed"] > 0 for p in scored) / len(scored))


def reward_function(
    spec: RewardSpec | str | dict[str, Any] = "robust", *, ground_truth: str = "ground_truth", name: str | None = None
) -> TrlReward:
    """Make a reward for ``GRPOTrainer(reward_funcs=[…])``; see `TrlReward`.

    Examples
    --------
    >>> reward_function("paper", name="tool_reward").__name__
    'tool_reward'
    """
    return TrlReward(spec, ground_truth=ground_truth, name=name)
