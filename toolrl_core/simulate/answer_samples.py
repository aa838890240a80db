"""Sample structured answers and push their probabilities: common random numbers, and the clipped gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolrl_core.simulate.answer_policy import LOGITS, Decision, Level
from toolrl_core.simulate.answers import Booleans, Floats, Prompts, World

__all__ = ["Answers", "chosen_log_probabilities", "clipped_gradient", "sample_answers", "sum_over_answer"]

_LEVELS: dict[str, Level] = {
    "format": "prompt",
    "call": "prompt",
    "further": "call",
    "name": "call",
    "extra_key": "call",
    "parameter": "parameter",
    "extra_calls": "prompt",
    "length": "prompt",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """Hold sampled answers of A arms, G for each prompt.

    Parameters
    ----------
    choices : mapping of str to ndarray of int, shape (A, entries, G)
        Chosen outcomes of "format", "call", "further", "name", "extra_key" (1 is yes), "parameter" (0 right, 1 wrong
        value, 2 missing, 3 wrong key), "extra_calls" (0 to 2) and "length" (place in `THOUGHT_WORDS`).
    counted : mapping of str to ndarray of bool, shape (A, entries, G)
        Whether the decision was made at all: a response has no names, an unwritten call no parameters.
    limited : ndarray of bool, shape (Q, G)
        Whether the limit of tokens applies; the same for all arms.
    """

    choices: Mapping[str, NDArray[np.int8]]
    counted: Mapping[str, Booleans]
    limited: Booleans


def sample_answers(
    generators: Sequence[np.random.Generator],
    outcomes: Mapping[str, Floats],
    prompts: Prompts,
    group_size: int,
    world: World,
) -> Answers:
    """Sample answers; all arms use the same random numbers.

    Parameters
    ----------
    generators : sequence of numpy.random.Generator
        One for each seed.
    outcomes : mapping of str to ndarray, shape (A, entries, K)
        Log-probabilities of the families of `decisions`.
    prompts : Prompts
        What is asked for.
    group_size : int
        Answers to each prompt, G.
    world : World
        Its `budget_share` is used.

    Returns
    -------
    Answers
        Arms with equal probabilities get equal answers.
    """
    first = np.arange(prompts.seeds + 1) * prompts.per_seed
    call_first = np.concatenate([[0], np.cumsum(prompts.calls)])[first]
    value_first = np.concatenate([[0], np.cumsum(prompts.parameters)])[call_first]
    sizes = {"prompt": np.diff(first), "call": np.diff(call_first), "parameter": np.diff(value_first)}
    choices: dict[str, NDArray[np.int8]] = {}
    for family, log_probability in outcomes.items():
        counts = sizes[_LEVELS[family]]
        uniform = np.concatenate([rng.random((n, group_size)) for rng, n in zip(generators, counts, strict=True)])
        bounds = np.cumsum(np.exp(log_probability), axis=2)[:, :, np.newaxis, :-1]
        choices[family] = (uniform[np.newaxis, :, :, np.newaxis] >= bounds).sum(axis=3, dtype=np.int8)
    limit = [rng.random((prompts.per_seed, group_size)) for rng in generators]
    calling = choices["call"] == 1
    of_call = calling[:, prompts.call_prompt]
    written = of_call & (choices["further"] == 1)
    everywhere = np.ones(calling.shape, dtype=np.bool_)
    counted = {
        "format": everywhere,
        "call": everywhere,
        "further": of_call & (prompts.call_place > 0)[np.newaxis, :, np.newaxis],
        "name": written,
        "extra_key": written,
        "parameter": written[:, prompts.parameter_call],
        "extra_calls": calling,
        "length": everywhere,
    }
    return Answers(choices=choices, counted=counted, limited=np.concatenate(limit) < world.budget_share)


def chosen_log_probabilities(outcomes: Mapping[str, Floats], answers: Answers) -> dict[str, Floats]:
    """Return the log-probability of each sampled decision.

    Parameters
    ----------
    outcomes : mapping of str to ndarray, shape (A, entries, K)
        Log-probabilities of all outcomes.
    answers : Answers
        The samples.

    Returns
    -------
    dict of str to ndarray, shape (A, entries, G)
        In nats, also where a decision was not counted.
    """
    return {
        family: np.take_along_axis(outcomes[family], choice.astype(np.int64), axis=2)
        for family, choice in answers.choices.items()
    }


def sum_over_answer(values: Mapping[str, Floats], answers: Answers, prompts: Prompts) -> Floats:
    """Add up a value of every decision that was made in an answer.

    Parameters
    ----------
    values : mapping of str to ndarray, shape (A, entries, G)
        A value of each decision, for instance its log-probability.
    answers : Answers
        The samples.
    prompts : Prompts
        What was asked for.

    Returns
    -------
    ndarray, shape (A, Q, G)
        In the unit of the values.
    """
    total = np.zeros(answers.choices["call"].shape)
    for family, value in values.items():
        part = np.where(answers.counted[family], value, 0.0)
        if _LEVELS[family] == "parameter":
            part = prompts.sum_parameters(part)
        total += part if _LEVELS[family] == "prompt" else prompts.sum_calls(part)
    return total


def clipped_gradient(
    outcomes: Mapping[str, Floats],
    old: Mapping[str, Floats],
    answers: Answers,
    advantages: Floats,
    prompts: Prompts,
    table: Mapping[str, Decision],
    clip: float,
) -> tuple[Floats, Floats]:
    r"""Return the gradient of the clipped surrogate, a mean over all decisions of a seed.

    .. math:: \frac{1}{n} \sum_t \min\bigl(\rho_t A, \operatorname{clip}(\rho_t, 1 - \epsilon, 1 + \epsilon) A\bigr)

    Parameters
    ----------
    outcomes : mapping of str to ndarray, shape (A, entries, K)
        Log-probabilities under the policy that is improved.
    old : mapping of str to ndarray, shape (A, entries, G)
        Log-probabilities of the sampled decisions under the policy that sampled them.
    answers : Answers
        The samples.
    advantages : ndarray, shape (A, Q, G)
        One for each answer.
    prompts : Prompts
        What was asked for.
    table : mapping of str to Decision
        See `decisions`.
    clip : float
        Half width of the interval of ratios.

    Returns
    -------
    gradient : ndarray, shape (A, S, 31)
        Direction of increase.
    clipped : ndarray, shape (A, S)
        Share of decisions whose gradient the clip removes.

    Notes
    -----
    ToolRL note §3.4; a decision takes the place of a token.
    """
    arms, seeds, width = len(advantages), prompts.seeds, LOGITS + 1
    by_call = advantages[:, prompts.call_prompt]
    spread = {"prompt": advantages, "call": by_call, "parameter": by_call[:, prompts.parameter_call]}
    new = chosen_log_probabilities(outcomes, answers)
    gradient = np.zeros((arms, seeds * width))
    made, removed = np.zeros((arms, seeds)), np.zeros((arms, seeds))
    for family, decision in table.items():
        advantage, counted = spread[decision.level], answers.counted[family]
        ratio = np.exp(np.clip(new[family] - old[family], -20, 20))
        kept = np.where(advantage > 0, ratio <= 1 + clip, ratio >= 1 - clip)
        weight = np.where(counted & kept, ratio * advantage, 0.0)
        pull = -weight.sum(axis=2, keepdims=True) * np.exp(outcomes[family])
        for outcome in range(pull.shape[2]):
            pull[:, :, outcome] += np.where(answers.choices[family] == outcome, weight, 0.0).sum(axis=2)
        for arm in range(arms):
            made[arm] += np.bincount(decision.seed, counted[arm].sum(axis=1), seeds)
            removed[arm] += np.bincount(decision.seed, (counted & ~kept)[arm].sum(axis=1), seeds)
            for index, factor in decision.terms:
                place = (decision.seed[:, np.newaxis] * width + index).ravel()
                gradient[arm] += np.bincount(place, (pull[arm] * factor).ravel(), seeds * width)
    shaped: Floats = gradient.reshape(arms, seeds, width)[:, :, :LOGITS] / made[:, :, np.newaxis]
    return shaped, removed / made
