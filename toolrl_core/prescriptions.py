"""Three prescriptions for rollouts that go wrong late: delete them, resample every state, keep accounts per turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolrl_core.action_trees import Action, ActionCredit, resample_credit
from toolrl_core.advantages import group_advantages
from toolrl_core.masks import ShapeMismatchError

__all__ = [
    "PRESCRIPTIONS",
    "Action",
    "ActionCredit",
    "Prescription",
    "PrescriptionCost",
    "account_credit",
    "prescription_cost",
    "resample_credit",
    "veto_credit",
]


@dataclass(frozen=True, kw_only=True)
class Prescription:
    """Name one prescription and say what it compares.

    Parameters
    ----------
    name : str
        Name under which :func:`prescription_cost` accepts it.
    method : str
        The method that the note takes it from.
    summary : str
        What it does, in words.
    compared_with : str
        What a turn's outcome is compared with.
    needs : str
        Which signal it cannot do without.
    """

    name: str
    method: str
    summary: str
    compared_with: str
    needs: str


PRESCRIPTIONS: Mapping[str, Prescription] = MappingProxyType(
    {
        prescription.name: prescription
        for prescription in (
            Prescription(
                name="delete",
                method="SimpleTIR",
                summary="mask every rollout with a void turn, give one advantage to all turns of the others",
                compared_with="the end rewards of the group's rollouts",
                needs="an end reward, and yes or no on the form of each turn",
            ),
            Prescription(
                name="resample",
                method="MT-GRPO",
                summary="sample a group of actions at every state, give each action an advantage of its own",
                compared_with="the other actions at the same state",
                needs="a value for every turn, here the mean end reward of the rollouts that go on from it",
            ),
            Prescription(
                name="accounts",
                method="TARA",
                summary="reward every turn, standardise it over the rollouts at the same position, pass a gate",
                compared_with="the turns at the same position of other rollouts",
                needs="a reward for every turn",
            ),
        )
    }
)
"""The prescriptions by name, as the SimpleTIR note §1.3, §6.4 and §8.1 describe them."""


@dataclass(frozen=True, kw_only=True)
class PrescriptionCost:
    """Hold what one prompt costs if no turn is void.

    Parameters
    ----------
    rollouts : int
        Complete rollouts, from the first turn to the last.
    groups : int
        Groups within which outcomes are compared.
    last_turn_groups : int
        Those of them at the last turn.
    generated_turns : int
        Turns that the model writes.
    end_rewards, turn_rewards, form_checks : int
        Judgements that are asked for: of a whole rollout, of a turn's worth, of a turn's form.
    """

    rollouts: int
    groups: int
    last_turn_groups: int
    generated_turns: int
    end_rewards: int
    turn_rewards: int
    form_checks: int


def veto_credit(
    rewards: ArrayLike, void_turns: ArrayLike, present: ArrayLike, *, dialect: str = "paper"
) -> NDArray[np.float64]:
    """Compute what each turn receives if rollouts with a void turn are masked.

    Parameters
    ----------
    rewards : array_like of float, shape (rollouts,)
        End reward of each rollout of one group, in points.
    void_turns : array_like of bool, shape (rollouts, turns)
        Whether a turn is void. All False gives the advantages without any veto.
    present : array_like of bool, shape (rollouts, turns)
        Whether a rollout has that turn.
    dialect : str
        Advantage dialect.

    Returns
    -------
    ndarray of float, shape (rollouts, turns)
        The advantage of each turn's tokens; 0 in void rollouts, NaN where there is no turn.

    Raises
    ------
    ShapeMismatchError
        Shapes do not fit; both are named.

    Notes
    -----
    SimpleTIR note §5.3 and §6.4. Void rollouts stay in the group's mean and deviation, as in the released code.

    Examples
    --------
    The second rollout lost its way in its third turn, and its sound turns receive nothing:

    >>> void = [[False] * 3, [False, False, True], [False] * 3]
    >>> veto_credit([1, 0, 0], void, np.ones((3, 3), dtype=bool)).round(3).tolist()
    [[1.414, 1.414, 1.414], [0.0, 0.0, 0.0], [-0.707, -0.707, -0.707]]
    """
    there, void = _fitting(present, "present"), _fitting(void_turns, "void_turns")
    points = np.asarray(rewards, dtype=np.float64)
    if void.shape != there.shape or points.shape != there.shape[:1]:
        shapes = f"rewards {points.shape}, void_turns {void.shape}"
        raise ShapeMismatchError(f"present has shape {there.shape}, which does not fit {shapes}")
    advantage = group_advantages(points, [0] * len(points), dialect=dialect)
    advantage = np.where((void & there).any(axis=1), 0.0, advantage)
    return np.where(there, advantage[:, None], np.nan)


def account_credit(
    turn_rewards: ArrayLike, *, gate: ArrayLike | None = None, dialect: str = "paper"
) -> NDArray[np.float64]:
    r"""Compute what each turn receives if every turn has an account of its own.

    .. math:: A_{i,k} = g_{i,k} \, \frac{r_{i,k} - \mathrm{mean}_j\, r_{j,k}}{\mathrm{std}_j\, r_{j,k} + \eta}

    Parameters
    ----------
    turn_rewards : array_like of float, shape (rollouts, turns)
        Reward of each turn, in points; NaN where a rollout has no such turn. It is then in no mean.
    gate : array_like of bool, shape (rollouts, turns), optional
        Whether a turn's account passes; by default all do. A closed gate gives 0 and leaves the statistics alone.
    dialect : str
        Advantage dialect.

    Returns
    -------
    ndarray of float, shape (rollouts, turns)
        The advantage of each turn's tokens; NaN where there is no turn.

    Raises
    ------
    ShapeMismatchError
        Shapes do not fit; both are named.

    Notes
    -----
    SimpleTIR note §6.4 and §8.1, on TARA: standardise a turn over the rollouts at the same position, then a gate. The
    note does not state the gate's rule, so it is an input here.

    Examples
    --------
    Two rollouts begin alike, and one of them ends badly; only the end is held against it:

    >>> account_credit([[1, 1, 1], [1, 1, 0], [0, 1, 0]]).round(3).tolist()
    [[0.707, 0.0, 1.414], [0.707, 0.0, -0.707], [-1.414, 0.0, -0.707]]
    """
    rewards = np.asarray(turn_rewards, dtype=np.float64)
    if rewards.ndim != 2:
        raise ShapeMismatchError(f"turn_rewards has shape {rewards.shape}, expected (rollouts, turns)")
    credit = np.full(rewards.shape, np.nan)
    for turn in range(rewards.shape[1]):
        there = ~np.isnan(rewards[:, turn])
        column = rewards[there, turn]
        credit[there, turn] = group_advantages(column, [0] * len(column), dialect=dialect)
    if gate is None:
        return credit
    passes = _fitting(gate, "gate")
    if passes.shape != rewards.shape:
        raise ShapeMismatchError(f"turn_rewards has shape {rewards.shape}, gate has shape {passes.shape}: they differ")
    return np.where(passes | np.isnan(credit), credit, 0.0)


def prescription_cost(name: str, *, group: int, turns: int) -> PrescriptionCost:
    r"""Count what a prescription costs for one prompt, if no turn is void.

    .. math:: \text{delete, accounts: } G K \text{ turns}, \qquad
              \text{resample: } \sum_{k=1}^{K} G^k = \frac{G (G^K - 1)}{G - 1} \text{ turns}

    Parameters
    ----------
    name : {"delete", "resample", "accounts"}
        The prescription.
    group : int
        Rollouts of a group, or actions sampled at a state, G, at least 1.
    turns : int
        Turns of a rollout, K, at least 1.

    Returns
    -------
    PrescriptionCost
        Exact counts.

    Raises
    ------
    ValueError
        Unknown prescription, or a count below 1.

    Notes
    -----
    SimpleTIR note §8.1: resampling costs G^(K-1), accounts are linear. At the last turn there are G^(K-1) states with a
    group each, and G^(K-1) times as many rollouts as in one group.

    Examples
    --------
    >>> [prescription_cost(name, group=8, turns=5).generated_turns for name in PRESCRIPTIONS]
    [40, 37448, 40]
    """
    if name not in PRESCRIPTIONS:
        raise ValueError(f"unknown prescription {name!r}: choose from {', '.join(PRESCRIPTIONS)}")
    if group < 1 or turns < 1:
        raise ValueError(f"group and turns must be at least 1, got {group} and {turns}")
    if name == "resample":
        states = sum(group**turn for turn in range(turns))
        return PrescriptionCost(
            rollouts=group**turns,
            groups=states,
            last_turn_groups=group ** (turns - 1),
            generated_turns=group * states,
            end_rewards=group**turns,
            turn_rewards=0,
            form_checks=0,
        )
    accounts = name == "accounts"
    return PrescriptionCost(
        rollouts=group,
        groups=turns if accounts else 1,
        last_turn_groups=1,
        generated_turns=group * turns,
        end_rewards=0 if accounts else group,
        turn_rewards=group * turns if accounts else 0,
        form_checks=0 if accounts else group * turns,
    )


def _fitting(flags: ArrayLike, name: str) -> NDArray[np.bool_]:
    """Read flags by rollout and turn."""
    given = np.asarray(flags)
    if given.ndim != 2:
        raise ShapeMismatchError(f"{name} has shape {given.shape}, expected (rollouts, turns)")
    return given.astype(bool)
