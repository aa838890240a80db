"""An outcome reward for ms-swift's GRPO (contract read in ms-swift 4.6, rewards/orm.py, grpo_algorithm.py).

In a plug-in file, given as ``--external_plugins plugin.py --reward_funcs toolrl``::

    from swift.rewards import orms
    from toolrl_core.adapters.swift import ToolReward
    orms["toolrl"] = ToolReward
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolrl_core.adapters.rows import RowError, as_spec, require_step, score_row, without_nulls
from toolrl_core.spec import RewardSpec


class ToolReward:
    """Score a batch of completions for ms-swift; the trainer makes it with its arguments.

    Subclass it to choose another spec or column.

    Parameters
    ----------
    args : object, optional
        The trainer's arguments; not used.

    Attributes
    ----------
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name.
    ground_truth : str
        The data set's column with the ground truth.

    Examples
    --------
    >>> class Paper(ToolReward):
    ...     spec = "paper"
    >>> Paper()(["", ""], ground_truth=["[]", '[{"name": "f"}]'])
    [3.0, -3.0]
    """

    spec: RewardSpec | str | Mapping[str, Any] = "robust"
    ground_truth = "ground_truth"

    def __init__(self, args: Any = None, **_unused: Any) -> None:
        self.args = args

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """Return one reward for each completion.

        Parameters
        ----------
        completions : sequence of str
            The completions.
        **columns
            The data set's columns, and ``trainer_state``, whose ``global_step`` is the training step.

        Returns
        -------
        list of float
            Points.

        Raises
        ------
        RowError
            If the column is missing or a ground truth cannot be used: the trainer sums rewards without the missing
            ones, so that None and NaN would become 0 there.
        ValueError
            If the reward changes over steps and no step arrives.
        """
        chosen = as_spec(self.spec)
        truths = columns.get(self.ground_truth)
        if truths is None or len(truths) != len(completions):
            raise RowError(None, f"column {self.ground_truth!r} must have one value for each completion")
        step = getattr(columns.get("trainer_state"), "global_step", None)
        require_step(chosen, step, "this call", "let the trainer pass trainer_state")
        rewards = []
        for row, (completion, truth) in enumerate(zip(completions, truths, strict=True)):
            result = score_row(completion, without_nulls(truth), chosen, step=step)
            if result.breakdown is None:
                raise RowError(row, result.problem)
            rewards.append(result.breakdown.total)
        return rewards
