"""Draw ground truths and answers of a random policy as tool calls: a check on the exact distributions."""

from __future__ import annotations

import numpy as np

from toolrl_core.calls import ToolCall
from toolrl_core.simulate.policies import PolicySettings, ability_levels, parameter_chances

__all__ = ["sample_calls"]


def sample_calls(
    rng: np.random.Generator, ability: float, settings: PolicySettings, *, answers: int
) -> list[tuple[list[ToolCall], list[ToolCall]]]:
    """Draw ground truths and answers as tool calls, to be scored like any other.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of all randomness.
    ability : float
        Mean ability, 0 to 1.
    settings : PolicySettings
    answers : int
        How many to draw.

    Returns
    -------
    list of (ground truth, answer)
        Each a list of `ToolCall`. The right value of a parameter is 1, a wrong one 0.

    Raises
    ------
    ValueError
        If `ability` is no probability or `answers` is negative.

    Examples
    --------
    >>> import numpy as np
    >>> settings = PolicySettings(calls=1, parameters=1, name_right=0.0)
    >>> sample_calls(np.random.default_rng(0), 1.0, settings, answers=1)[0][1]
    [ToolCall(name='unknown_0', arguments={'key_0_0': 1})]
    """
    if answers < 0:
        raise ValueError(f"answers: {answers} is negative")
    shares, levels = zip(*ability_levels(ability, settings), strict=True)
    call_numbers, call_chances = zip(*settings.call_counts, strict=True)
    numbers, chances = zip(*settings.parameter_counts, strict=True)
    drawn = []
    for level, calls in zip(
        rng.choice(levels, size=answers, p=shares).tolist(),
        rng.choice(call_numbers, size=answers, p=call_chances).tolist(),
        strict=True,
    ):
        sizes = rng.choice(numbers, size=calls, p=chances).tolist()
        pairs = [_sample_call(rng, level, settings, index, size) for index, size in enumerate(sizes)]
        drawn.append(([truth for truth, _ in pairs], [answer for _, answer in pairs]))
    return drawn


def _sample_call(
    rng: np.random.Generator, ability: float, settings: PolicySettings, index: int, size: int
) -> tuple[ToolCall, ToolCall]:
    """Draw one predicted call beside its ground truth."""
    right, wrong_value, _ = parameter_chances(ability, settings)
    name = "tool" if settings.tools == "repeated" else f"tool_{index}"
    arguments: dict[str, int] = {}
    for parameter, draw in enumerate(rng.random(size).tolist()):
        if draw < right + wrong_value:
            arguments[f"key_{index}_{parameter}"] = int(draw < right)
        else:
            arguments[f"unknown_{index}_{parameter}"] = 1
    name_chance = ability if settings.name_right is None else settings.name_right
    called = name if rng.random() < name_chance else f"unknown_{index}"
    truth = ToolCall(name, {f"key_{index}_{parameter}": 1 for parameter in range(size)})
    return truth, ToolCall(called, arguments)
