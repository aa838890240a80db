"""A reward for any trainer: one completion and its ground truth in, one number out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolrl_core.adapters.options import as_spec, require_step
from toolrl_core.adapters.rows import RowError, score_row, without_nulls
from toolrl_core.spec import RewardSpec

__all__ = ["GenericReward", "reward_function"]


class GenericReward:
    """Score one completion with a fixed spec; it can be pickled and has a name.

    Parameters
    ----------
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name.

    Raises
    ------
    ValueError
        If the preset or an option is unknown.
    """

    def __init__(self, spec: RewardSpec | str | Mapping[str, Any] = "robust") -> None:
        self.spec = as_spec(spec)
        self.__name__ = f"toolrl_{self.spec.name or 'reward'}"

    def __call__(self, completion: Any, ground_truth: Any, step: float | None = None) -> float:
        """Return the score.

        Parameters
        ----------
        completion : str or list
            Text, calls or chat messages.
        ground_truth : any form of `parse_ground_truth`
            The ground truth.
        step : float, optional
            Training step.

        Returns
        -------
        float
            Points.

        Raises
        ------
        RowError
            If the ground truth cannot be used: that is no zero.
        ValueError
            If the reward changes over steps and there is no step.
        """
        require_step(self.spec, step, "this call", "pass step=…")
        result = score_row(completion, without_nulls(ground_truth), self.spec, step=step)
        if result.breakdown is None:
            raise RowError(None, result.problem)
        return result.breakdown.total


def reward_function(spec: RewardSpec | str | Mapping[str, Any] = "robust") -> GenericReward:
    """Make ``f(completion, ground_truth, step=None) -> float`` for a trainer that has no adapter here.

    Parameters
    ----------
    spec : RewardSpec, str or mapping
        The reward's options or a preset's name.

    Returns
    -------
    GenericReward
        The function.

    Raises
    ------
    ValueError
        If the preset or an option is unknown.

    Examples
    --------
    >>> reward = reward_function("paper")
    >>> reward("", "[]"), reward.__name__
    (3.0, 'toolrl_paper')
    """
    return GenericReward(spec)
