"""Options of a reward as a configuration file can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from toolrl_core.schedules import LengthReward, Scales, Schedule
from toolrl_core.spec import RewardSpec

__all__ = ["as_spec", "require_step"]


def as_spec(spec: RewardSpec | str | Mapping[str, Any]) -> RewardSpec:
    """Return a spec from a spec, a preset's name, or a mapping of options (with ``preset`` as their base).

    Parameters
    ----------
    spec : RewardSpec, str or mapping
        What a configuration file can hold, such as the result of `RewardSpec.to_dict`.

    Returns
    -------
    RewardSpec
        The spec.

    Raises
    ------
    ValueError
        If the preset or an option is unknown; the message lists the valid ones.

    Examples
    --------
    >>> as_spec({"preset": "robust", "equality": "json_strict"}).extra_calls
    'counted'
    >>> spec = RewardSpec.preset("equal_max")
    >>> as_spec(spec.to_dict()) == spec
    True
    """
    if isinstance(spec, RewardSpec):
        return spec
    if isinstance(spec, str):
        return RewardSpec.preset(spec)
    options = {str(key): _plain(value) for key, value in spec.items()}
    base = options.pop("preset", None)
    if isinstance(options.get("schedule"), dict):
        options["schedule"] = _schedule(options["schedule"])
    if isinstance(options.get("length_reward"), dict):
        options["length_reward"] = LengthReward(**_known(options["length_reward"], LengthReward, "length_reward"))
    return RewardSpec.preset(base).replace(**options) if base is not None else RewardSpec(**options)


def require_step(spec: RewardSpec, step: float | None, trainer: str, remedy: str) -> None:
    """Refuse a reward that changes over training steps where no step arrives.

    Parameters
    ----------
    spec : RewardSpec
        The reward's options.
    step : float or None
        The training step, where there is one.
    trainer : str
        Who passes none, for the message.
    remedy : str
        What to do about it, for the message.

    Raises
    ------
    ValueError
        If the spec needs a step and there is none; the message says what to do.
    """
    if spec.needs_step and step is None:
        raise ValueError(
            f"the reward changes with the training step, but {trainer} passes no step to it: {remedy}, "
            "or choose a constant scale"
        )


def _plain(value: Any) -> Any:
    """Return the containers of a configuration library as plain ones."""
    if isinstance(value, (str, Scales)):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return value


def _schedule(fields: dict[str, Any]) -> Schedule:
    known = _known(fields, Schedule, "schedule")
    for side in ("start", "end"):
        if side not in known:
            raise ValueError(f"schedule needs {side!r}: the ranges of format and correctness")
        ranges = known[side]
        low_high = ranges if isinstance(ranges, Mapping) else dict(zip(Scales._fields, ranges, strict=True))
        known[side] = Scales(**{part: (float(low), float(high)) for part, (low, high) in low_high.items()})
    if known.get("when") is None:
        known["when"] = math.inf
    return Schedule(**known)


def _known(fields: Mapping[str, Any], kind: type[Schedule] | type[LengthReward], option: str) -> dict[str, Any]:
    names = kind.__dataclass_fields__
    for field in fields:
        if field not in names:
            raise ValueError(f"unknown field {field!r} of {option}: choose from {', '.join(names)}")
    return dict(fields)
