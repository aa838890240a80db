"""Sample rollouts of many turns in which feedback makes later tokens drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toolrl_core.field_checks import check_flag, check_real, check_whole
from toolrl_core.simulate.answers import Booleans, Floats, Integers

__all__ = ["FIRST_ROWS", "Rollouts", "TurnWorld", "initial_turn_logits", "roll_out", "token_log_probabilities"]

FIRST_ROWS = 3
"""Rows of logits for the first token of a turn: after 0, 1, and at least 2 good turns of code."""
_CODE, _ANSWER = 0, 1


@dataclass(frozen=True, kw_only=True)
class TurnWorld:
    """State every assumption about tokens, feedback and success.

    A turn is a token that says code or answer, some content tokens (0 is right) and a closing token (0 closes). A turn
    that says neither, or does not close, is void. Feedback after a turn shifts all later logits by noise.

    Parameters
    ----------
    turns : int
        Most turns of a rollout.
    vocabulary, content : int
        Number of tokens; content tokens of a turn.
    drift, drift_error, drift_void : float
        What a turn adds to the drift: always, in proportion to its wrong tokens, and if it is void.
    noise : float
        Standard deviation of the shift of a logit for each unit of drift.
    code_bias : float
        How much more likely code is than an answer at the start, in logits.
    direct, supported : float
        Chance that an answer is right without and with enough good turns of code (one or two are enough).
    careless : float
        Factor on that chance if the answer's content is wrong.
    closing_learnable : bool
        Whether training can change the closing token. If not, void turns remain.

    Raises
    ------
    ValueError
        If a field is out of range; the message names it.

    Notes
    -----
    SimpleTIR note §3.5 and §6; the numbers are invented, and that drift comes from errors is an assumption.
    """

    turns: int = 5
    vocabulary: int = 10
    content: int = 2
    drift: float = 0.5
    drift_error: float = 0.5
    drift_void: float = 0.5
    noise: float = 2.0
    code_bias: float = 1.0
    direct: float = 0.5
    supported: float = 0.95
    careless: float = 0.3
    closing_learnable: bool = True

    def __post_init__(self) -> None:
        for name, lowest in (("turns", 1), ("vocabulary", 3), ("content", 1)):
            check_whole(name, getattr(self, name), lowest=lowest)
        for name in ("direct", "supported", "careless"):
            check_real(name, getattr(self, name), low=0, high=1)
        for name in ("drift", "drift_error", "drift_void", "noise"):
            check_real(name, getattr(self, name), low=0)
        check_real("code_bias", self.code_bias)
        check_flag("closing_learnable", self.closing_learnable)

    @property
    def rows(self) -> int:
        """Rows of logits: the first token for 0, 1, 2 good turns so far, each content token, the closing token."""
        return FIRST_ROWS + self.content + 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Rollouts:
    """Hold sampled rollouts: A arms, N rollouts of all seeds, T tokens, V tokens in the vocabulary.

    Parameters
    ----------
    seed : ndarray of int, shape (N,)
        Seed of each rollout.
    row : ndarray of int, shape (A, N, T)
        Row of logits of each token.
    drift : ndarray, shape (A, N, T)
        Drift at each token.
    shift : ndarray, shape (N, T, V)
        Shift of each logit for each unit of drift; the same for all arms.
    token : ndarray of int, shape (A, N, T)
        Sampled tokens.
    log_probability : ndarray, shape (A, N, T)
        Their log-probabilities, in nats.
    present : ndarray of bool, shape (A, N, T)
        Whether the rollout was still going on.
    first_void : ndarray of int, shape (A, N)
        First void turn, counted from 0; -1 without one.
    reward : ndarray, shape (A, N)
        1 for a right answer.
    multi_turn : ndarray of bool, shape (A, N)
        Whether the first turn is code.
    """

    seed: Integers
    row: Integers
    drift: Floats
    shift: Floats
    token: Integers
    log_probability: Floats
    present: Booleans
    first_void: Integers
    reward: Floats
    multi_turn: Booleans


def initial_turn_logits(world: TurnWorld) -> Floats:
    """Return logits and their slopes over drift before training.

    Parameters
    ----------
    world : TurnWorld
        The assumptions.

    Returns
    -------
    ndarray, shape (2, rows, V)
        A policy that is usually right and closes its turns; without slopes.
    """
    logits = np.zeros((2, world.rows, world.vocabulary))
    for state, bias in enumerate((world.code_bias, world.code_bias - 0.7, world.code_bias - 1.7)):
        logits[0, state, _CODE], logits[0, state, _ANSWER] = 4 + bias / 2, 4 - bias / 2
    logits[0, FIRST_ROWS:-1, 0], logits[0, -1, 0] = 3.6, 4.5
    return logits


def token_log_probabilities(logits: Floats, seed: Integers, row: Integers, drift: Floats, shift: Floats) -> Floats:
    """Return the log-probability of every token of the vocabulary.

    Parameters
    ----------
    logits : ndarray, shape (A, S, 2, rows, V)
        Logits, and their slopes over drift.
    seed, row, drift, shift
        As in `Rollouts`.

    Returns
    -------
    ndarray, shape (A, N, T, V)
        In nats.
    """
    arm, seed = np.arange(len(logits))[:, np.newaxis, np.newaxis], seed[:, np.newaxis]
    scores = logits[arm, seed, 0, row] + drift[..., np.newaxis] * (logits[arm, seed, 1, row] + shift)
    scores -= scores.max(axis=3, keepdims=True)
    result: Floats = scores - np.log(np.exp(scores).sum(axis=3, keepdims=True))
    return result


def roll_out(
    generators: Sequence[np.random.Generator],
    logits: Floats,
    world: TurnWorld,
    *,
    prompts: int,
    group_size: int,
    stops: Sequence[bool],
) -> Rollouts:
    """Sample rollouts; all arms use the same random numbers.

    Parameters
    ----------
    generators : sequence of numpy.random.Generator
        One for each seed.
    logits : ndarray, shape (A, S, 2, rows, V)
        The policies.
    world : TurnWorld
        The assumptions.
    prompts, group_size : int
        Prompts of each seed, and rollouts of each prompt.
    stops : sequence of bool, length A
        Whether an arm stops generating at its first void turn.

    Returns
    -------
    Rollouts
    """
    length, per_seed = world.content + 2, prompts * group_size
    tokens, arms, count = length * world.turns, len(logits), len(generators) * prompts * group_size
    needed = np.concatenate([np.repeat(rng.integers(1, 3, prompts), group_size) for rng in generators])
    shift = np.concatenate([rng.normal(0, world.noise, (per_seed, tokens, world.vocabulary)) for rng in generators])
    uniform = np.concatenate([rng.random((per_seed, tokens)) for rng in generators])
    luck = np.concatenate([rng.random((per_seed, world.turns)) for rng in generators])
    seed = np.repeat(np.arange(len(generators)), per_seed)
    row, token = np.zeros((arms, count, tokens), np.int64), np.zeros((arms, count, tokens), np.int64)
    drifts, chosen = np.zeros((arms, count, tokens)), np.zeros((arms, count, tokens))
    present = np.zeros((arms, count, tokens), np.bool_)
    drift, reward, good = np.zeros((arms, count)), np.zeros((arms, count)), np.zeros((arms, count), np.int64)
    going, first_void = np.ones((arms, count), np.bool_), np.full((arms, count), -1)
    multi_turn = np.zeros((arms, count), np.bool_)
    for turn in range(world.turns):
        span = slice(turn * length, (turn + 1) * length)
        row[:, :, span.start] = np.minimum(good, FIRST_ROWS - 1)
        row[:, :, span.start + 1 : span.stop] = FIRST_ROWS + np.arange(length - 1)
        drifts[:, :, span], present[:, :, span] = drift[..., np.newaxis], going[..., np.newaxis]
        table = token_log_probabilities(logits, seed, row[:, :, span], drifts[:, :, span], shift[:, span])
        picked = (uniform[:, span, np.newaxis] >= np.cumsum(np.exp(table), axis=3)[..., :-1]).sum(axis=3)
        token[:, :, span] = picked
        chosen[:, :, span] = np.take_along_axis(table, picked[..., np.newaxis], axis=3)[..., 0]
        kind, right, closed = picked[..., 0], (picked[..., 1:-1] == 0).all(axis=2), picked[..., -1] == 0
        wrong = (kind > _ANSWER) + (picked[..., 1:] != 0).sum(axis=2)
        void = going & ((kind > _ANSWER) | ~closed)
        first_void = np.where(void & (first_void < 0), turn, first_void)
        answered, coded = going & ~void & (kind == _ANSWER), going & ~void & (kind == _CODE)
        multi_turn |= coded if turn == 0 else False
        chance = np.where(good >= needed, world.supported, world.direct) * np.where(right, 1.0, world.careless)
        reward = np.where(answered, luck[:, turn] < chance, reward)
        good = good + (coded & right)
        going = going & ~answered & ~(void & np.array(stops)[:, np.newaxis])
        drift = drift + world.drift + world.drift_error * wrong / length + world.drift_void * void
    return Rollouts(
        seed=seed,
        row=row,
        drift=drifts,
        shift=shift,
        token=token,
        log_probability=chosen,
        present=present,
        first_void=first_void,
        reward=reward.astype(np.float64),
        multi_turn=multi_turn,
    )
