"""Compute both sides of each difference: the smallest inputs, and what the package makes of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from toolrl_core import (
    LengthReward,
    RewardSpec,
    clip_gate,
    dynamic,
    group_advantages,
    is_void_turn,
    kl_in_reward,
    literal_format,
    logit_gradient_norm,
    ordered_tags_format,
    parse_ground_truth,
    released_format,
    score,
    strict_format,
    two_stage,
)

Values = Mapping[str, float | str]
PRESETS = ("paper", "released", "robust")
PLAN = "<think> plan </think>\n"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """Write a call as the data of ToolRL have it."""
    return {"name": name, "parameters": arguments}


def text_of(calls: Sequence[Mapping[str, Any]]) -> str:
    """Write calls as a completion with a thought, one call a line."""
    lines = "\n".join(json.dumps(made) for made in calls)
    return f"{PLAN}<tool_call>\n{lines}\n</tool_call>"


@dataclass(frozen=True)
class Correctness:
    """One answer's correctness under several presets, in points from -3 to 3; a list of calls becomes a completion."""

    truth: Any
    answer: Any
    presets: tuple[str, ...] = PRESETS

    @property
    def completion(self) -> str:
        """The answer as text."""
        return self.answer if isinstance(self.answer, str) else text_of(self.answer)

    def __call__(self) -> Values:
        """Score it."""
        return {
            preset: score(self.completion, self.truth, RewardSpec.preset(preset)).correctness for preset in self.presets
        }

    def code(self) -> str:
        """Write the session that gives the values."""
        steps = (f'score(answer, truth, RewardSpec.preset("{preset}")).correctness' for preset in self.presets)
        return session("RewardSpec, score", self.truth, self.completion, steps, self().values())


RULES = {
    "ordered_tags (note §6.3)": ordered_tags_format,
    "literal (note §6.3, to the letter)": literal_format,
    "released": released_format,
    "strict (robust)": strict_format,
}


@dataclass(frozen=True)
class Formats:
    """One completion under four readings of the format rule: 1 where it holds."""

    truth: Any
    completion: str

    def __call__(self) -> Values:
        """Judge it."""
        requires = parse_ground_truth(self.truth).requires
        return {name: float(rule(self.completion, requires)) for name, rule in RULES.items()}

    def code(self) -> str:
        """Write the session that gives the verdicts."""
        names = [rule.__name__ for rule in RULES.values()]
        steps = (f"{name}(answer, parse_ground_truth(truth).requires)" for name in names)
        imported = ", ".join(sorted([*names, "parse_ground_truth"]))
        return session(imported, self.truth, self.completion, steps, (bool(value) for value in self().values()))


def session(imported: str, truth: Any, answer: str, steps: Iterable[str], results: Iterable[object]) -> str:
    """Write a session in Python that computes results from a ground truth and an answer."""
    shown = (f">>> {step}\n{result!r}" for step, result in zip(steps, results, strict=True))
    first = f">>> from toolrl_core import {imported}\n>>> truth = {truth!r}\n>>> answer = {answer!r}"
    return "\n".join([first, *shown])


def lengths(words: int) -> Values:
    """Score the length of a thought by the formula and as released, which rounds to two decimals."""
    thought = " ".join(["word"] * words)
    return {
        "formula": LengthReward()(thought),
        "released": LengthReward(rounded=True)(thought),
    }


def ends_of_schedules() -> Values:
    """Give the highest correctness of the dynamic scale at the end of its formula and at the last step of the run."""
    return {
        "formula, step 150": dynamic().at(150).correctness[1],
        "released run, step 104": dynamic().at(104).correctness[1],
    }


def around_the_switch() -> Values:
    """Give the highest correctness of the two-stage scale in steps 29 and 30."""
    return {f"step {step}": two_stage().at(step).correctness[1] for step in (29, 30)}


def advantages_with_kl() -> Values:
    """Compare the first advantage of four equal rewards with and without the KL penalty inside the reward."""
    rewards, summed_kl, groups = [4.0] * 4, [20.0, 30.0, 25.0, 40.0], [0] * 4
    return {
        "without (paper)": float(group_advantages(rewards, groups, dialect="paper")[0]),
        "with (released)": float(group_advantages(kl_in_reward(rewards, summed_kl), groups, dialect="released")[0]),
    }


def advantages_of_one_right() -> Values:
    """Give the advantage of one perfect answer of four in each dialect."""
    rewards = [4.0, -2.0, -2.0, -2.0]
    return {
        dialect: float(group_advantages(rewards, [0] * 4, dialect=dialect)[0])
        for dialect in ("paper", "released", "verl", "trl", "dr_grpo", "rloo")
    }


def advantages_alone() -> Values:
    """Give the advantage of a rollout without siblings and with reward 0.7."""
    return {
        dialect: float(group_advantages([0.7], [0], dialect=dialect)[0])
        for dialect in ("paper", "released", "verl", "trl", "dr_grpo", "rloo")
    }


def advantages_of_void() -> Values:
    """Compare a right rollout's advantage where four of eight are void: masked, and removed before."""
    rewards = [1.0] * 3 + [0.0] * 5
    removed = [True] * 4 + [False] * 4
    return {
        "removed before (note)": float(group_advantages(rewards, [0] * 8, dialect="released", valid=removed)[0]),
        "loss masked (released)": float(group_advantages(rewards, [0] * 8, dialect="released")[0]),
    }


def push_at_ratio_four() -> Values:
    """Compare the push of a token of probability 0.05 whose ratio is 4, at advantage -1, without and with dual clip."""
    probabilities = [0.05, *[0.95 / 49] * 49]
    values: dict[str, float | str] = {}
    for name, dual_clip in (("plain clip (paper, note)", None), ("dual clip at 3 (released)", 3.0)):
        gate = bool(clip_gate(4.0, -1.0, dual_clip=dual_clip))
        norm = float(logit_gradient_norm(probabilities, 0, ratio=4.0, advantage=-1.0))
        values[name] = norm if gate else 0.0
    return values


def voids(text: str, note: str) -> Values:
    """Judge one turn: as the note describes the rule, as released, and under this book's contract."""
    return {
        "note": note,
        "released": "void" if is_void_turn(text, "code_released") else "sound",
        "code (this book)": "void" if is_void_turn(text, "code") else "sound",
    }


def shown(value: float | str) -> str:
    """Write a value: a simple fraction exactly, anything else with four digits.

    Raises
    ------
    ValueError
        If the value is missing or not finite.
    """
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        raise ValueError(f"a difference has the value {value!r}")
    near = Fraction(value).limit_denominator(40)
    text = str(near) if abs(float(near) - value) < 1e-9 else f"{value:.4g}"
    return text.replace("-", "−")
