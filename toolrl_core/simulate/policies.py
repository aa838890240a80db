"""Describe random policies whose answers are right part by part, and draw answers from them.

A policy here is no language model. It is a rule that says, for each name, key and value of a ground truth, with which
probability the answer gets it right. Because the parts are independent, the reward has an exact distribution
(`toolrl_core.simulate.policy_rewards`); drawn answers (`toolrl_core.simulate.policy_samples`) are only a check on it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "POLICY_SPACES",
    "CallOutcomes",
    "PolicySettings",
    "Prompt",
    "ability_levels",
    "call_outcomes",
    "parameter_chances",
    "policy_space",
    "prompts",
]

Counts = int | Sequence[int] | Sequence[tuple[int, float]] | Mapping[int, float]

_TOOLS = ("distinct", "repeated")
_DIFFICULTIES = ("equal", "mixed")


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """Describe the ground truths of a policy space and how the parts of an answer go wrong.

    An answer has as many calls as its ground truth, in the same order. The name of each call is right or is a name that
    occurs nowhere in the ground truth. Each parameter is right, or has the right key with a wrong value, or has a key
    that occurs nowhere in the ground truth. Keys are unique to each call, so a predicted call earns nothing from any
    ground-truth call but its own, and the optimal assignment pairs the calls in order.

    Parameters
    ----------
    calls : int, sequence of int, or mapping of int to float
        Number of ground-truth calls: fixed, uniform over the sequence, or with the given probabilities.
    parameters : int, sequence of int, or mapping of int to float
        Number of parameters, drawn for each call.
    name_right : float or None
        Chance that a name is right; None: the ability.
    wrong_value : float or None
        Of the parameters that are not right, the share whose key is right. None: key and value are two decisions, the
        key right with the ability, then the value right with the ability.
    tools : {"distinct", "repeated"}
        Whether the ground-truth names of an answer all differ, or are all the same. A wrong name is a new one each
        time.
    difficulty : {"equal", "mixed"}
        Whether every prompt has the given ability *p*, or half of the prompts are hard (ability p²) and half easy
        (1 − (1 − p)²), which leaves the mean at *p*.

    Raises
    ------
    ValueError
        If a count, a probability or an option is out of range.

    Notes
    -----
    The defaults come nearest to the four zero-reward rates printed in the ToolRL note §10.3 (property P5). With
    distinct names and *k* of *n* right, set and multiset Jaccard of the names are both k / (2n − k). With one repeated
    name they differ: the multiset value stays k / (2n − k), the set value is 1 / (1 + n − k), or 0 for k = 0.

    Examples
    --------
    >>> PolicySettings(calls=(1, 2), parameters={0: 0.25, 3: 0.75}).calls
    ((1, 0.5), (2, 0.5))
    >>> PolicySettings(tools="any")
    Traceback (most recent call last):
        ...
    ValueError: tools: unknown 'any'; valid: distinct, repeated
    """

    calls: Counts = (1, 2, 3, 4, 5)
    parameters: Counts = 3
    name_right: float | None = 0.5
    wrong_value: float | None = 0.2
    tools: str = "distinct"
    difficulty: str = "equal"

    def __post_init__(self) -> None:
        """Check the fields and spell both counts out as pairs of number and probability."""
        object.__setattr__(self, "calls", _count_distribution("calls", self.calls, lowest=1))
        object.__setattr__(self, "parameters", _count_distribution("parameters", self.parameters, lowest=0))
        for field in ("name_right", "wrong_value"):
            value = getattr(self, field)
            if value is not None:
                _check_probability(field, value)
        for field, valid in (("tools", _TOOLS), ("difficulty", _DIFFICULTIES)):
            if getattr(self, field) not in valid:
                raise ValueError(f"{field}: unknown {getattr(self, field)!r}; valid: {', '.join(valid)}")

    @property
    def call_counts(self) -> tuple[tuple[int, float], ...]:
        """Pairs of number of calls and probability."""
        return self.calls  # type: ignore[return-value]

    @property
    def parameter_counts(self) -> tuple[tuple[int, float], ...]:
        """Pairs of number of parameters of a call and probability."""
        return self.parameters  # type: ignore[return-value]


@dataclass(frozen=True)
class Prompt:
    """Hold one kind of prompt: how often it is asked, the parameters of each call, the ability on it.

    Parameters
    ----------
    weight : float
        Probability of the prompt.
    parameters : tuple of int
        Number of parameters of each ground-truth call, ascending.
    ability : float
        Ability on this prompt.
    """

    weight: float
    parameters: tuple[int, ...]
    ability: float

    @property
    def calls(self) -> int:
        """Number of ground-truth calls."""
        return len(self.parameters)


@dataclass(frozen=True, eq=False)
class CallOutcomes:
    """Hold every outcome of one predicted call: what is right in it, and how probable that is.

    Parameters
    ----------
    name_right, keys_right, values_right : ndarray of int64, shape (outcomes,)
        Whether the name is right (0 or 1), and numbers of right keys and of right values.
    probabilities : ndarray of float64, shape (outcomes,)
        They sum to 1.
    """

    name_right: NDArray[np.int64]
    keys_right: NDArray[np.int64]
    values_right: NDArray[np.int64]
    probabilities: NDArray[np.float64]


def policy_space(name: str) -> PolicySettings:
    """Return a named policy space.

    Parameters
    ----------
    name : str
        A key of `POLICY_SPACES`.

    Returns
    -------
    PolicySettings

    Raises
    ------
    ValueError
        If there is no such space; the message lists the valid names.

    Examples
    --------
    >>> policy_space("one_size").call_counts
    ((3, 1.0),)
    """
    if name not in POLICY_SPACES:
        raise ValueError(f"unknown policy space {name!r}; valid spaces: {', '.join(POLICY_SPACES)}")
    return POLICY_SPACES[name]


def prompts(ability: float, settings: PolicySettings) -> tuple[Prompt, ...]:
    """List the kinds of prompt of a policy space with their probabilities.

    Two prompts that differ only in the order of their calls have the same reward distribution and are listed once.

    Parameters
    ----------
    ability : float
        Mean ability, 0 to 1.
    settings : PolicySettings

    Returns
    -------
    tuple of Prompt
        Their weights sum to 1.

    Raises
    ------
    ValueError
        If `ability` is no probability.

    Examples
    --------
    Two calls with one or two parameters each make three kinds, not four:

    >>> [(prompt.parameters, prompt.weight) for prompt in prompts(0.3, PolicySettings(calls=2, parameters=(1, 2)))]
    [((1, 1), 0.25), ((1, 2), 0.5), ((2, 2), 0.25)]
    """
    listed = []
    for share, level in ability_levels(ability, settings):
        for calls, probability in settings.call_counts:
            for chosen in itertools.combinations_with_replacement(settings.parameter_counts, calls):
                orders = math.factorial(calls) // math.prod(map(math.factorial, Counter(chosen).values()))
                weight = share * probability * orders * math.prod(chance for _, chance in chosen)
                listed.append(Prompt(weight, tuple(number for number, _ in chosen), level))
    return tuple(prompt for prompt in listed if prompt.weight > 0.0)


def call_outcomes(ability: float, settings: PolicySettings, parameters: int) -> CallOutcomes:
    r"""List what can be right in one predicted call.

    With *p* the ability, a parameter is right with probability *p*, has the right key and a wrong value with
    probability :math:`w (1 - p)` (*w* = `wrong_value`), and a wrong key otherwise. With ``wrong_value=None`` the three
    probabilities are :math:`p^2`, :math:`p (1 - p)` and :math:`1 - p`.

    Parameters
    ----------
    ability : float
        Ability on the prompt, 0 to 1.
    settings : PolicySettings
    parameters : int
        Number of parameters of the call.

    Returns
    -------
    CallOutcomes
        Outcomes with probability 0 are left out.

    Raises
    ------
    ValueError
        If `ability` is no probability or `parameters` is negative.

    Notes
    -----
    ToolRL note §6.5 and §10.2 (property P5).

    Examples
    --------
    A call without parameters can only get its name wrong:

    >>> call_outcomes(0.3, PolicySettings(), 0).probabilities
    array([0.5, 0.5])
    """
    _check_probability("ability", ability)
    if parameters < 0:
        raise ValueError(f"parameters: {parameters} is negative")
    right, wrong_value, wrong_key = parameter_chances(ability, settings)
    name = ability if settings.name_right is None else settings.name_right
    rows = []
    for values in range(parameters + 1):
        for keys in range(values, parameters + 1):
            ways = math.comb(parameters, keys) * math.comb(keys, values)
            chance = ways * right**values * wrong_value ** (keys - values) * wrong_key ** (parameters - keys)
            rows += [(1, keys, values, name * chance), (0, keys, values, (1.0 - name) * chance)]
    kept = [row for row in rows if row[3] > 0.0]
    names, keys_right, values_right = (np.array([row[column] for row in kept], dtype=np.int64) for column in range(3))
    return CallOutcomes(names, keys_right, values_right, np.array([row[3] for row in kept]))


def ability_levels(ability: float, settings: PolicySettings) -> tuple[tuple[float, float], ...]:
    """Return the kinds of prompt by difficulty.

    Parameters
    ----------
    ability : float
        Mean ability, 0 to 1.
    settings : PolicySettings

    Returns
    -------
    tuple of (share, ability)
        Share of the prompts, and the ability on them.

    Raises
    ------
    ValueError
        If `ability` is no probability.

    Examples
    --------
    >>> ability_levels(0.5, PolicySettings(difficulty="mixed"))
    ((0.5, 0.25), (0.5, 0.75))
    """
    _check_probability("ability", ability)
    if settings.difficulty == "equal":
        return ((1.0, ability),)
    return ((0.5, ability**2), (0.5, ability * (2.0 - ability)))


def parameter_chances(ability: float, settings: PolicySettings) -> tuple[float, float, float]:
    """Return the chances of the three outcomes of one parameter.

    Parameters
    ----------
    ability : float
        Ability on the prompt, 0 to 1.
    settings : PolicySettings

    Returns
    -------
    right, wrong_value, wrong_key : float
        They sum to 1.

    Examples
    --------
    >>> parameter_chances(0.5, PolicySettings(wrong_value=0.25))
    (0.5, 0.125, 0.375)
    """
    if settings.wrong_value is None:
        return ability**2, ability * (1.0 - ability), 1.0 - ability
    miss = 1.0 - ability
    return ability, settings.wrong_value * miss, (1.0 - settings.wrong_value) * miss


def _check_probability(field: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{field}: {value} is not a probability; expected 0 to 1")


def _count_distribution(field: str, value: Counts, *, lowest: int) -> tuple[tuple[int, float], ...]:
    """Read a count as pairs of number and probability."""
    items = [value] if isinstance(value, int) else list(value.items() if isinstance(value, Mapping) else value)
    pairs = [item if isinstance(item, tuple) else (item, 1.0 / len(items)) for item in items]
    if not pairs:
        raise ValueError(f"{field}: no number given")
    for number, chance in pairs:
        if not isinstance(number, int) or number < lowest:
            raise ValueError(f"{field}: {number!r} is not a whole number of at least {lowest}")
        _check_probability(field, chance)
    total = math.fsum(chance for _, chance in pairs)
    if abs(total - 1.0) > 1e-9:
        raise ValueError(f"{field}: the probabilities sum to {total}, not to 1")
    return tuple(sorted(pairs))


POLICY_SPACES: Final[Mapping[str, PolicySettings]] = MappingProxyType(
    {
        "note": PolicySettings(),
        "every_part": PolicySettings(calls=(1, 2, 3), parameters=(1, 2, 3), name_right=None, wrong_value=None),
        "one_size": PolicySettings(calls=3, parameters=3),
        "known_tools": PolicySettings(calls=(1, 2, 3), parameters=(1, 2, 3, 4), name_right=0.95, wrong_value=0.9),
        "one_tool": PolicySettings(calls=(1, 2, 3), parameters=(1, 2, 3), tools="repeated"),
        "hard_and_easy": PolicySettings(calls=(1, 2, 3), parameters=(1, 2, 3), name_right=None, difficulty="mixed"),
    }
)
"""Named policy spaces: ``note`` (nearest to the note's readings), ``every_part`` (name, key and value right with the
ability, answers of different sizes), ``one_size`` (all answers of one size), ``known_tools`` (names and keys nearly
always right, values not), ``one_tool`` (parallel calls of one tool), ``hard_and_easy`` (two kinds of prompt)."""
