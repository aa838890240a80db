"""Name what each implementation makes of "reward minus group mean over group standard deviation"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["DIALECTS", "Dialect", "choose_eta", "find_dialect"]


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """Name how one implementation turns a group's rewards into advantages.

    Parameters
    ----------
    name : str
        Name of the dialect.
    baseline : {"mean", "leave_one_out"}
        What is subtracted: the group's mean, or the mean of the other rollouts.
    uses_std : bool
        Whether the difference is divided by the group's standard deviation plus eta.
    ddof : int or None
        1 for the sample standard deviation, 0 for the population's; None without one.
    eta : float or None
        Constant added to the standard deviation, in points; None without one.
    singleton : {"zero", "raw"}
        Advantage of a group with one usable rollout: 0, or its reward.
    missing : {"raise", "exclude"}
        Whether an unscored rollout is an error, or left out with advantage 0.
    source : str
        Where this is stated.
    """

    name: str
    baseline: Literal["mean", "leave_one_out"]
    uses_std: bool
    ddof: int | None
    eta: float | None
    singleton: Literal["zero", "raw"]
    missing: Literal["raise", "exclude"]
    source: str


def _dialects(*dialects: Dialect) -> Mapping[str, Dialect]:
    return MappingProxyType({dialect.name: dialect for dialect in dialects})


DIALECTS: Mapping[str, Dialect] = _dialects(
    Dialect(
        name="paper",
        baseline="mean",
        uses_std=True,
        ddof=0,
        eta=1e-6,
        singleton="zero",
        missing="raise",
        source="arXiv 2504.13958 §3.4 (ToolRL note §3.4); eta is not printed there, the released value is used",
    ),
    Dialect(
        name="released",
        baseline="mean",
        uses_std=True,
        ddof=1,
        eta=1e-6,
        singleton="raw",
        missing="raise",
        source="qiancheng0/ToolRL@8cee13e verl/trainer/ppo/core_algos.py#L114 and #L152",
    ),
    Dialect(
        name="verl",
        baseline="mean",
        uses_std=True,
        ddof=1,
        eta=1e-6,
        singleton="raw",
        missing="raise",
        source="verl 0.9.1 verl/trainer/ppo/core_algos.py#L268-L331",
    ),
    Dialect(
        name="trl",
        baseline="mean",
        uses_std=True,
        ddof=1,
        eta=1e-4,
        singleton="zero",
        missing="exclude",
        source="TRL 1.16.0 trl/trainer/grpo_trainer.py#L2759-L2810, scale_rewards='group'",
    ),
    Dialect(
        name="dr_grpo",
        baseline="mean",
        uses_std=False,
        ddof=None,
        eta=None,
        singleton="zero",
        missing="raise",
        source="arXiv 2503.20783 §3.2",
    ),
    Dialect(
        name="rloo",
        baseline="leave_one_out",
        uses_std=False,
        ddof=None,
        eta=None,
        singleton="zero",
        missing="raise",
        source="arXiv 2402.14740; a leave-one-out mean of one rollout does not exist",
    ),
)
"""The dialects of `group_advantages` by name, each with the place where it is stated."""


def find_dialect(name: str) -> Dialect:
    """Look up a dialect by name.

    Parameters
    ----------
    name : str
        A key of :data:`DIALECTS`.

    Returns
    -------
    Dialect
        Its rules.

    Raises
    ------
    ValueError
        If there is no such dialect; the message lists them all.

    Examples
    --------
    >>> find_dialect("trl").eta, find_dialect("verl").eta
    (0.0001, 1e-06)
    """
    if name not in DIALECTS:
        raise ValueError(f"unknown dialect {name!r}; choose one of {', '.join(map(repr, DIALECTS))}")
    return DIALECTS[name]


def choose_eta(dialect: Dialect, eta: float | None) -> float:
    """Return the given constant, or the dialect's own.

    Parameters
    ----------
    dialect : Dialect
        Rules that may or may not use the constant.
    eta : float or None
        Constant added to the standard deviation, in points; None for the dialect's own.

    Returns
    -------
    float
        The constant in points; 0 for a dialect without a standard deviation.

    Raises
    ------
    ValueError
        If `eta` is negative or not finite, or if the dialect has no use for it.

    Examples
    --------
    >>> choose_eta(find_dialect("trl"), None)
    0.0001
    """
    if eta is None:
        return dialect.eta or 0.0
    if not dialect.uses_std:
        raise ValueError(f"eta={eta!r} has no use: dialect {dialect.name!r} does not divide by a standard deviation")
    if not (math.isfinite(eta) and eta >= 0):
        raise ValueError(f"eta is {eta!r}: give a finite number of points, 0 or more")
    return float(eta)
