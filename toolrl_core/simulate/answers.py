"""Draw prompts for structured answers: what a miniature model has to decide, and how hard each decision is.

A prompt asks for one to five calls, or for a plain response. An answer is a list of decisions: whether the format
holds, whether to call, which of the calls to write, each name, each parameter, how many calls too many, and how long to
think. `toolrl_core.simulate.answer_policy` samples them and `toolrl_core.simulate.answer_rewards` pays for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolrl_core.field_checks import check_real

__all__ = ["THOUGHT_WORDS", "Prompts", "World", "draw_prompts"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

THOUGHT_WORDS: Floats = np.array([32.0, 64.0, 128.0, 256.0, 384.0, 512.0, 640.0])
"""Lengths that a thought can have, in words."""
OPENING_COST, CALL_COST, PARAMETER_COST, EXTRA_COST = 20, 20, 12, 32
"""Tokens of the tags, of a call without its parameters, of a parameter, and of a call that is not asked for."""
PARAMETER_KINDS = 3


@dataclass(frozen=True, kw_only=True)
class World:
    """State every assumption about the prompts.

    Parameters
    ----------
    no_call_share : float
        Chance that a prompt asks for a plain response.
    difficulty_spread : float
        Standard deviation of a prompt's difficulty, in units of 0.7 logits.
    decision_spread : float
        Standard deviation of a decision's own difficulty, in logits, times `difficulty_spread`.
    cue_noise : float
        Standard deviation of the cue that tells whether a tool is needed; without noise it is 1 or -1.
    same_name_share : float
        Chance that all calls of a prompt go to one tool.
    budget_share : float
        Chance that an answer meets a limit of tokens; calls beyond it are not written. 0 lets long thoughts cost
        nothing.
    budget : tuple of (low, high)
        Uniform range of that limit, in tokens (a word of the thought counts as one).
    calls : tuple of float
        Chances of 1, 2, … calls on a prompt that needs one.
    parameters : tuple of float
        Chances of 1, 2, … parameters of a call.

    Raises
    ------
    ValueError
        If a field is out of range; the message names it.

    Notes
    -----
    All numbers are invented: they state a model, and say nothing about a benchmark. Every call has a parameter, and no
    two calls of a prompt share a parameter's name. A predicted call can therefore earn points at its own place only
    (see `answer_rewards`), which is what makes the reward a closed form.

    Examples
    --------
    >>> World(budget_share=1.5)
    Traceback (most recent call last):
        ...
    ValueError: budget_share must lie in [0, 1], found 1.5
    """

    no_call_share: float = 0.15
    difficulty_spread: float = 1.0
    decision_spread: float = 0.7
    cue_noise: float = 0.5
    same_name_share: float = 0.5
    budget_share: float = 0.0
    budget: tuple[float, float] = (350.0, 750.0)
    calls: tuple[float, ...] = (0.53, 0.32, 0.10, 0.04, 0.01)
    parameters: tuple[float, ...] = (0.54, 0.29, 0.11, 0.03, 0.03)

    def __post_init__(self) -> None:
        for name in ("no_call_share", "same_name_share", "budget_share"):
            check_real(name, getattr(self, name), low=0, high=1)
        for name in ("difficulty_spread", "decision_spread", "cue_noise"):
            check_real(name, getattr(self, name), low=0)
        if not isinstance(self.budget, Sequence) or len(self.budget) != 2:
            raise ValueError(f"budget must be a pair of low and high, found {self.budget!r}")
        for name, bound in zip(("budget low", "budget high"), self.budget, strict=True):
            check_real(name, bound, low=0, open_low=True)
        if self.budget[0] > self.budget[1]:
            raise ValueError(f"budget must satisfy 0 < low <= high, found {self.budget!r}")
        for name in ("calls", "parameters"):
            shares = getattr(self, name)
            if isinstance(shares, str) or not isinstance(shares, Sequence) or not 1 <= len(shares) <= 5:
                raise ValueError(f"{name} must be one to five chances that add up to 1, found {shares!r}")
            for share in shares:
                check_real(f"each of {name}", share, low=0, high=1)
            if abs(sum(shares) - 1) > 1e-9:
                raise ValueError(f"{name} must be one to five chances that add up to 1, found {shares!r}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Prompts:
    """Hold the prompts of several seeds in flat arrays: Q prompts with N calls and M parameters in all.

    Parameters
    ----------
    seeds, per_seed : int
        Q = seeds · per_seed; the prompts of one seed are neighbours.
    calls : ndarray of int, shape (Q,)
        Calls that each prompt asks for; 0 for a plain response.
    same_name : ndarray of bool, shape (Q,)
        Whether all of them go to one tool.
    cue : ndarray, shape (Q,)
        Noisy sign of whether a tool is needed.
    budget : ndarray, shape (Q,)
        Tokens that an answer may have where the limit applies.
    format_offset : ndarray, shape (Q,)
        Ease of the format, in logits.
    call_offset, name_offset : ndarray, shape (N,)
        Ease of writing a call, and of its name, in logits.
    parameters : ndarray of int, shape (N,)
        Parameters of each call, at least 1.
    kind : ndarray of int, shape (M,)
        Kind of each parameter, 0 to 2.
    parameter_offset : ndarray, shape (M,)
        Ease of each parameter, in logits.

    Examples
    --------
    >>> prompts = draw_prompts([np.random.default_rng(0)], 4, World(no_call_share=1.0))
    >>> prompts.calls.tolist(), len(prompts.kind)
    ([0, 0, 0, 0], 0)
    """

    seeds: int
    per_seed: int
    calls: Integers
    same_name: Booleans
    cue: Floats
    budget: Floats
    format_offset: Floats
    call_offset: Floats
    name_offset: Floats
    parameters: Integers
    kind: Integers
    parameter_offset: Floats

    def __len__(self) -> int:
        """Return the number of prompts of all seeds."""
        return len(self.calls)

    @property
    def needs_call(self) -> Booleans:
        """Whether each prompt asks for calls, shape (Q,)."""
        return self.calls > 0

    @property
    def prompt_seed(self) -> Integers:
        """Seed of each prompt, shape (Q,)."""
        return np.repeat(np.arange(self.seeds), self.per_seed)

    @property
    def call_prompt(self) -> Integers:
        """Prompt of each call, shape (N,)."""
        return np.repeat(np.arange(len(self)), self.calls)

    @property
    def call_place(self) -> Integers:
        """Place of each call in its prompt, counted from 0, shape (N,)."""
        starts = np.cumsum(self.calls) - self.calls
        place: Integers = np.arange(len(self.parameters)) - starts[self.call_prompt]
        return place

    @property
    def parameter_call(self) -> Integers:
        """Call of each parameter, shape (M,)."""
        return np.repeat(np.arange(len(self.parameters)), self.parameters)

    @property
    def call_cost(self) -> Integers:
        """Tokens of each call, shape (N,)."""
        cost: Integers = CALL_COST + PARAMETER_COST * self.parameters
        return cost

    def sum_calls(self, values: NDArray[np.generic]) -> Floats:
        """Add up values of calls, shape (arms, N, …), to values of prompts, shape (arms, Q, …)."""
        return _sum_runs(values, self.calls)

    def sum_parameters(self, values: NDArray[np.generic]) -> Floats:
        """Add up values of parameters, shape (arms, M, …), to values of calls, shape (arms, N, …)."""
        return _sum_runs(values, self.parameters)


def _sum_runs(values: NDArray[np.generic], lengths: Integers) -> Floats:
    """Add up runs of neighbours along axis 1; each sum is the same whatever the other runs are."""
    result = np.zeros((values.shape[0], len(lengths), *values.shape[2:]))
    filled = np.flatnonzero(lengths)
    if filled.size:
        starts = (np.cumsum(lengths) - lengths)[filled]
        result[:, filled] = np.add.reduceat(values.astype(np.float64), starts, axis=1)
    return result


def draw_prompts(
    generators: Sequence[np.random.Generator], per_seed: int, world: World, *, no_call_share: float | None = None
) -> Prompts:
    """Draw prompts for several seeds, each from its own generator.

    Parameters
    ----------
    generators : sequence of numpy.random.Generator
        One for each seed; a seed's prompts do not depend on the other seeds.
    per_seed : int
        Prompts of each seed.
    world : World
        The assumptions.
    no_call_share : float, optional
        Chance of a plain response, in place of the world's (an evaluation wants more of them).

    Returns
    -------
    Prompts

    Raises
    ------
    ValueError
        If there is no generator or no prompt.

    Examples
    --------
    A seed keeps its prompts when it is drawn alone:

    >>> both = draw_prompts([np.random.default_rng(1), np.random.default_rng(2)], 5, World())
    >>> alone = draw_prompts([np.random.default_rng(2)], 5, World())
    >>> bool((both.cue[5:] == alone.cue).all())
    True
    """
    if not generators or per_seed < 1:
        raise ValueError(f"draw at least one prompt for at least one seed, found {per_seed} for {len(generators)}")
    share = world.no_call_share if no_call_share is None else no_call_share
    drawn: list[tuple[NDArray[Any], ...]] = [_draw_seed(rng, per_seed, world, share) for rng in generators]
    joined = [np.concatenate(parts) for parts in zip(*drawn, strict=True)]
    calls, same, cue, budget, formats, further, names, parameters, kind, offset = joined
    return Prompts(
        seeds=len(generators),
        per_seed=per_seed,
        calls=calls.astype(np.int64),
        same_name=same.astype(np.bool_),
        cue=cue,
        budget=budget,
        format_offset=formats,
        call_offset=further,
        name_offset=names,
        parameters=parameters.astype(np.int64),
        kind=kind.astype(np.int64),
        parameter_offset=offset,
    )


def _draw_seed(rng: np.random.Generator, count: int, world: World, no_call_share: float) -> tuple[NDArray[Any], ...]:
    needs = rng.random(count) >= no_call_share
    calls = np.where(needs, 1 + rng.choice(len(world.calls), count, p=world.calls), 0)
    same = rng.random(count) < world.same_name_share
    difficulty = 0.7 * world.difficulty_spread * rng.normal(size=count)
    own = world.decision_spread * world.difficulty_spread
    formats = 0.5 * difficulty + 0.5 * own * rng.normal(size=count)
    cue = np.where(needs, 1.0, -1.0) + world.cue_noise * rng.normal(size=count)
    budget = rng.uniform(*world.budget, count)
    total = int(calls.sum())
    of_call = np.repeat(difficulty, calls)
    parameters = 1 + rng.choice(len(world.parameters), total, p=world.parameters)
    further, names = of_call + own * rng.normal(size=total), of_call + own * rng.normal(size=total)
    kind = rng.integers(0, PARAMETER_KINDS, int(parameters.sum()))
    offset = np.repeat(of_call, parameters) + own * rng.normal(size=len(kind))
    return calls, same, cue, budget, formats, further, names, parameters, kind, offset
