"""Trees of sampled turns: a group of actions at every state, and the credit that their ends give each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toolrl_core.advantages import group_advantages

__all__ = ["Action", "ActionCredit", "resample_credit"]


@dataclass(frozen=True)
class Action:
    """Hold one sampled turn: it ends the rollout, or leads to a state at which further turns were sampled.

    Parameters
    ----------
    name : str
        What the model did.
    reward : float or None
        End reward, if the rollout ends here.
    then : tuple of Action
        The turns that were sampled at the state it leads to.

    Raises
    ------
    ValueError
        Both or neither of `reward` and `then` are given.
    """

    name: str
    reward: float | None = None
    then: tuple[Action, ...] = ()

    def __post_init__(self) -> None:
        if (self.reward is None) != bool(self.then):
            raise ValueError(f"action {self.name!r} needs either a reward or further actions, and not both")

    @property
    def value(self) -> float:
        """Return the end reward, or the mean value of the turns that follow."""
        if self.reward is not None:
            return self.reward
        return float(np.mean([action.value for action in self.then]))


@dataclass(frozen=True, kw_only=True)
class ActionCredit:
    """Hold what one turn of a tree receives.

    Parameters
    ----------
    path : tuple of str
        Names from the first turn to this one.
    value : float
        Mean end reward of what follows, in points.
    advantage : float
        Standardised among the turns sampled at the same state.
    """

    path: tuple[str, ...]
    value: float
    advantage: float


def resample_credit(actions: Sequence[Action], *, dialect: str = "paper") -> tuple[ActionCredit, ...]:
    """Compute what each turn receives if a group of turns is sampled at every state.

    Parameters
    ----------
    actions : sequence of Action
        The turns sampled at the first state.
    dialect : str
        Advantage dialect.

    Returns
    -------
    tuple of ActionCredit
        One for every turn of the tree, depth first.

    Raises
    ------
    ValueError
        Unknown dialect.

    Notes
    -----
    SimpleTIR note §6.4 and §8.1, on MT-GRPO: every state samples a group of actions. The method needs a reward signal
    for turns, says the note; here it is the mean end reward of what follows a turn, so no turn is judged by itself.

    Examples
    --------
    The first turn decides, though nobody judged it:

    >>> tree = [Action("look up", then=(Action("right", 1.0), Action("wrong", 0.0))), Action("guess", 0.0)]
    >>> [(" > ".join(turn.path), turn.value, round(turn.advantage, 3)) for turn in resample_credit(tree)]
    [('look up', 0.5, 1.0), ('look up > right', 1.0, 1.0), ('look up > wrong', 0.0, -1.0), ('guess', 0.0, -1.0)]
    """
    return tuple(_credits(tuple(actions), (), dialect))


def _credits(actions: tuple[Action, ...], before: tuple[str, ...], dialect: str) -> list[ActionCredit]:
    values = [action.value for action in actions]
    advantages = group_advantages(values, [0] * len(values), dialect=dialect)
    found: list[ActionCredit] = []
    for action, value, advantage in zip(actions, values, advantages, strict=True):
        path = (*before, action.name)
        found.append(ActionCredit(path=path, value=value, advantage=float(advantage)))
        found += _credits(action.then, path, dialect) if action.then else []
    return found
