"""Train the miniature policy with GRPO: several rewards side by side on the same prompts and random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from toolrl_core.advantages import group_advantages, kl_in_reward
from toolrl_core.dialects import choose_eta, find_dialect
from toolrl_core.field_checks import check_real, check_whole
from toolrl_core.simulate.answer_policy import (
    METRICS,
    BaseStrength,
    Decision,
    decisions,
    evaluate_policy,
    initial_logits,
    log_probabilities,
)
from toolrl_core.simulate.answer_rewards import answer_rewards, check_spec, examine_answers
from toolrl_core.simulate.answer_samples import (
    Answers,
    chosen_log_probabilities,
    clipped_gradient,
    sample_answers,
    sum_over_answer,
)
from toolrl_core.simulate.answers import Floats, Integers, Prompts, World, draw_prompts
from toolrl_core.simulate.histories import History
from toolrl_core.simulate.seeds import (
    EVALUATION,
    TRAINING,
    progress_bar,
    run_seeds,
    seed_generator,
)
from toolrl_core.spec import RewardSpec

__all__ = ["GrpoSettings", "Optimiser", "check_kinds", "normalise_groups", "train"]

_OPTIMISERS = ("adam", "sgd")


@dataclass(frozen=True, kw_only=True)
class GrpoSettings:
    r"""State how the policy is trained.

    Parameters
    ----------
    steps : int
        Training steps; each draws new prompts.
    prompts : int
        Prompts of a step.
    group_size : int
        Answers to each prompt, G; at least two, since a lone answer has no advantage.
    passes : int
        Updates with each batch; the ratio clip can work from the second on.
    clip : float
        Half width of the interval of ratios.
    optimiser : {"adam", "sgd"}
        How a gradient becomes an update.
    learning_rate : float
        Size of an update; Adam moves a logit by about this much.
    beta1, beta2 : float
        Decay of Adam's first and second moment.
    reset_at : int, optional
        Step before which Adam's moments and its count of updates are cleared.
    dialect : str
        Advantage dialect, see `toolrl_core.advantages.group_advantages`.
    eta : float, optional
        Constant added to the standard deviation, in points; by default the dialect's own.
    kl_coefficient : float
        Weight of the KL penalty in the reward, in points a nat; the reference is the base policy.
    evaluate_every : int
        Steps between two evaluations; the first and the last policy are always evaluated.
    evaluation_prompts : int
        Prompts of an evaluation; each seed has its own, the same for all arms and steps.
    evaluation_no_call_share : float
        Chance that one of them asks for a plain response.

    Raises
    ------
    ValueError
        If a field is out of range; the message names it.

    Examples
    --------
    >>> GrpoSettings(optimiser="lion")
    Traceback (most recent call last):
        ...
    ValueError: unknown optimiser 'lion': choose from adam, sgd
    """

    steps: int = 105
    prompts: int = 48
    group_size: int = 4
    passes: int = 2
    clip: float = 0.2
    optimiser: Literal["adam", "sgd"] = "adam"
    learning_rate: float = 0.02
    beta1: float = 0.9
    beta2: float = 0.999
    reset_at: int | None = None
    dialect: str = "paper"
    eta: float | None = None
    kl_coefficient: float = 0.0
    evaluate_every: int = 5
    evaluation_prompts: int = 150
    evaluation_no_call_share: float = 0.33

    def __post_init__(self) -> None:
        for name in ("steps", "prompts", "passes", "evaluate_every", "evaluation_prompts"):
            check_whole(name, getattr(self, name), lowest=1)
        check_whole("group_size", self.group_size, lowest=2)
        for name in ("clip", "learning_rate", "kl_coefficient"):
            check_real(name, getattr(self, name), low=0)
        for name in ("beta1", "beta2"):
            check_real(name, getattr(self, name), low=0, high=1, open_high=True)
        check_real("evaluation_no_call_share", self.evaluation_no_call_share, low=0, high=1)
        if self.optimiser not in _OPTIMISERS:
            raise ValueError(f"unknown optimiser {self.optimiser!r}: choose from {', '.join(_OPTIMISERS)}")
        if self.reset_at is not None:
            check_whole("reset_at", self.reset_at, lowest=1)
            if self.optimiser != "adam":
                raise ValueError("reset_at clears Adam's moments; optimiser 'sgd' has none")
            if self.reset_at > self.steps:
                raise ValueError(f"reset_at must not lie behind the last step {self.steps}, found {self.reset_at}")
        choose_eta(find_dialect(self.dialect), self.eta)


def train(
    arms: Mapping[str, RewardSpec],
    *,
    world: World | None = None,
    base: BaseStrength | None = None,
    settings: GrpoSettings | None = None,
    seeds: int = 24,
    seed: int = 0,
    workers: int = 1,
    progress: bool = False,
) -> History:
    """Train one policy for each arm and seed, all arms on the same prompts and random numbers.

    Parameters
    ----------
    arms : mapping of str to RewardSpec
        Rewards by the name of their arm.
    world, base, settings : World, BaseStrength, GrpoSettings, optional
        The assumptions; the defaults where none are given.
    seeds : int
        Independent repetitions.
    seed : int
        Which repetitions. Number i depends on `seed` and i alone, so that runs under other settings can be compared
        seed by seed.
    workers : int
        Processes that share the seeds (needs joblib); the result is the same for any number.
    progress : bool
        Show a progress bar (needs tqdm): over steps with one worker, over parts with several.

    Returns
    -------
    History
        Evaluations of every arm and seed, with paired differences.

    Raises
    ------
    ValueError
        If there is no arm, a spec has no closed form (see `check_spec`), a count is below 1, or an optional package
        is missing.

    Notes
    -----
    ToolRL note §3.4, paper arXiv 2504.13958 §3.4: advantages within groups, clipped ratios, no KL loss. Each decision
    takes the place of a token. A miniature tests what follows from the arithmetic under the assumptions that `World`,
    `BaseStrength` and `GrpoSettings` name; its magnitudes are its own.

    Examples
    --------
    Tripling the whole reward changes nothing that a standard deviation does not hide:

    >>> from toolrl_core.schedules import constant
    >>> triple = RewardSpec(schedule=constant(format=(0, 3), correctness=(-9, 9)))
    >>> short = GrpoSettings(steps=10, prompts=12)
    >>> history = train({"once": RewardSpec(), "triple": triple}, settings=short, seeds=3)
    >>> abs(history.paired("triple", "once", "usable").mean) < 1e-6
    True
    """
    world = World() if world is None else world
    base = BaseStrength() if base is None else base
    settings = GrpoSettings() if settings is None else settings
    check_kinds(world=(world, World), base=(base, BaseStrength), settings=(settings, GrpoSettings))
    if not isinstance(arms, Mapping) or not arms:
        raise ValueError("give at least one arm: a mapping of names to reward specs")
    for name, spec in arms.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of an arm must be a text that is not empty, found {name!r}")
        if not isinstance(spec, RewardSpec):
            raise ValueError(f"arm {name!r} must be a RewardSpec, found {type(spec).__name__}")
        check_spec(spec)
    alone = progress and (workers == 1 or seeds == 1)
    run = partial(_train_seeds, arms=arms, world=world, base=base, settings=settings, seed=seed, progress=alone)
    return run_seeds(run, seed=seed, seeds=seeds, workers=workers, progress=progress)


def check_kinds(**given: tuple[object, type]) -> None:
    """Refuse an assumption of another kind than it should be.

    Parameters
    ----------
    **given : (value, type)
        What was given and what it should be, by name.

    Raises
    ------
    ValueError
        Naming the argument.
    """
    for name, (value, kind) in given.items():
        if not isinstance(value, kind):
            raise ValueError(f"{name} must be a {kind.__name__}, found {type(value).__name__}")


class Optimiser:
    """Turn gradients into updates; Adam's moments belong to each arm and seed.

    Parameters
    ----------
    settings : GrpoSettings
        Which optimiser, and its constants.
    shape : tuple of int
        Shape of the parameters.
    """

    def __init__(self, settings: GrpoSettings, shape: tuple[int, ...]) -> None:
        self.settings, self.shape = settings, shape
        self.clear()

    def clear(self) -> None:
        """Forget the moments and the number of updates."""
        self.first, self.second, self.updates = np.zeros(self.shape), np.zeros(self.shape), 0

    def update(self, gradient: Floats) -> Floats:
        """Return the change of the parameters for a direction of increase."""
        rate, beta1, beta2 = self.settings.learning_rate, self.settings.beta1, self.settings.beta2
        if self.settings.optimiser == "sgd":
            return rate * gradient
        self.updates += 1
        self.first = beta1 * self.first + (1 - beta1) * gradient
        self.second = beta2 * self.second + (1 - beta2) * gradient**2
        mean = self.first / (1 - beta1**self.updates)
        deviation = np.sqrt(self.second / (1 - beta2**self.updates))
        change: Floats = rate * mean / (deviation + 1e-8)
        return change


def _train_seeds(
    numbers: Sequence[int],
    *,
    arms: Mapping[str, RewardSpec],
    world: World,
    base: BaseStrength,
    settings: GrpoSettings,
    seed: int,
    progress: bool,
) -> History:
    generators = [seed_generator(seed, number, TRAINING) for number in numbers]
    held_out = draw_prompts(
        [seed_generator(seed, number, EVALUATION) for number in numbers],
        settings.evaluation_prompts,
        world,
        no_call_share=settings.evaluation_no_call_share,
    )
    start = np.tile(initial_logits(base), (len(arms), len(numbers), 1))
    logits, optimiser = start, Optimiser(settings, start.shape)
    evaluations, evaluated, silent, clipped = [evaluate_policy(logits, held_out, world)], [0], [], []
    steps: Iterable[int] = range(1, settings.steps + 1)
    if progress:
        steps = progress_bar(steps, settings.steps, "steps")
    for step in steps:
        prompts = draw_prompts(generators, settings.prompts, world)
        table = decisions(prompts)
        outcomes = log_probabilities(logits, table)
        answers = sample_answers(generators, outcomes, prompts, settings.group_size, world)
        old = chosen_log_probabilities(outcomes, answers)
        rewards = _rewards(arms, answers, prompts, step)
        if settings.kl_coefficient:
            reference = chosen_log_probabilities(log_probabilities(start, table), answers)
            ratio = {family: old[family] - reference[family] for family in old}
            rewards = kl_in_reward(rewards, sum_over_answer(ratio, answers, prompts), settings.kl_coefficient)
        advantages = normalise_groups(rewards, settings)
        if step == settings.reset_at:
            optimiser.clear()
        logits, removed = _improve(logits, old, answers, advantages, prompts, table, settings, optimiser)
        equal = (rewards.max(axis=2) == rewards.min(axis=2)).reshape(len(arms), len(numbers), settings.prompts)
        silent.append(equal.mean(axis=2))
        clipped.append(removed)
        if step % settings.evaluate_every == 0 or step == settings.steps:
            evaluations.append(evaluate_policy(logits, held_out, world))
            evaluated.append(step)
    return History(
        arms=tuple(arms),
        seed=seed,
        numbers=tuple(numbers),
        steps=np.array(evaluated),
        metrics={name: np.stack([values[name] for values in evaluations], axis=2) for name in METRICS},
        silent_groups=np.stack(silent, axis=2),
        clipped=np.stack(clipped, axis=2),
        logits=logits,
    )


def _rewards(arms: Mapping[str, RewardSpec], answers: Answers, prompts: Prompts, step: int) -> Floats:
    findings = examine_answers(answers, prompts)
    return np.stack(
        [answer_rewards(findings, answers, prompts, spec, arm=arm, step=step) for arm, spec in enumerate(arms.values())]
    )


def normalise_groups(rewards: Floats, settings: GrpoSettings) -> Floats:
    """Return the advantages of rewards, shape (arms, groups, G), in the dialect of the settings."""
    groups: Integers = np.repeat(np.arange(rewards.shape[0] * rewards.shape[1]), rewards.shape[2])
    flat = group_advantages(rewards.ravel(), groups, dialect=settings.dialect, eta=settings.eta)
    shaped: Floats = flat.reshape(rewards.shape)
    return shaped


def _improve(
    logits: Floats,
    old: Mapping[str, Floats],
    answers: Answers,
    advantages: Floats,
    prompts: Prompts,
    table: Mapping[str, Decision],
    settings: GrpoSettings,
    optimiser: Optimiser,
) -> tuple[Floats, Floats]:
    """Make the updates of one step; also return the share of decisions that the clip removes, over all passes."""
    removed = np.zeros(logits.shape[:2])
    for _ in range(settings.passes):
        outcomes = log_probabilities(logits, table)
        gradient, clipped = clipped_gradient(outcomes, old, answers, advantages, prompts, table, settings.clip)
        removed += clipped / settings.passes
        logits = logits + optimiser.update(gradient)
    return logits, removed
