"""Account for every point of a scored completion: which call, key and value won or lost it, and why."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from toolrl_core.calls import ToolCall
from toolrl_core.points import PairScore, Part
from toolrl_core.reasons import Finding
from toolrl_core.schedules import Scales
from toolrl_core.spec import RewardSpec


@cache
def package_version() -> str:
    """Return the version of the installed package, or "source" where it is not installed."""
    try:
        return version("toolrl-core")
    except PackageNotFoundError:
        return "source"


@dataclass(frozen=True)
class RewardBreakdown:
    """Hold a score and the account of all its points.

    Parameters
    ----------
    total : float
        Sum of format, correctness and length, in points.
    format : float or None
        Format reward; None where a completion without text has none.
    correctness : float
        Correctness reward.
    length : float
        Length reward (0 without one).
    name_score : float
        Raw points for the names, between 0 and 1.
    pairs : tuple of PairScore
        One entry for each ground-truth call.
    matched, maximum : float
        Raw points reached and reachable (R_max and S_max of the note).
    reasons : tuple of Finding
        Everything unusual in the text and every point lost.
    spec : RewardSpec
        The options that were used.
    scales : Scales
        Ranges of format and correctness at this step.
    step : float or None
        The training step.
    unmatched : tuple of ToolCall
        Predicted calls without a partner.
    n_predicted, n_malformed : int
        Numbers of decoded and of malformed calls.
    shortcut : float
        Raw points that an exact copy was given beyond its pairs (released rules only).
    scored : bool
        Whether the correctness was computed (a ground truth without calls may be left at 0).

    Notes
    -----
    ToolRL note §6.1. `parts` adds up to `total` within 1e-12.
    """

    total: float
    format: float | None
    correctness: float
    length: float
    name_score: float
    pairs: tuple[PairScore, ...]
    matched: float
    maximum: float
    reasons: tuple[Finding, ...]
    spec: RewardSpec
    scales: Scales
    step: float | None = None
    unmatched: tuple[ToolCall, ...] = ()
    n_predicted: int = 0
    n_malformed: int = 0
    shortcut: float = 0.0
    scored: bool = True

    @property
    def point(self) -> float:
        """Return what one raw point is worth, in points of correctness."""
        low, high = self.scales.correctness
        return (high - low) / self.maximum if self.scored else 0.0

    def parts(self) -> tuple[Part, ...]:
        """Return the addends of the total, in points.

        Returns
        -------
        tuple of Part
            The floor of correctness, then names, keys, values and calls, then format and length.
        """
        return tuple(self._parts())

    def _parts(self) -> Iterator[Part]:
        point = self.point
        if self.scored:
            low = self.scales.correctness[0]
            yield Part("floor", low, low)
            if self.spec.granularity == "answer":
                yield Part("answer", point * (self.matched - self.shortcut), point * self.maximum)
            else:
                yield Part("names", point * self.name_score, point)
                for pair in self.pairs:
                    yield from self._pair_parts(pair, point)
            if self.shortcut:
                yield Part("exact copy", point * self.shortcut, point * self.shortcut)
            extra = self.maximum - 1 - sum(pair.available for pair in self.pairs)
            if self.spec.granularity != "answer" and extra > 0:
                yield Part("extra calls", 0.0, point * extra)
        if self.format is not None and self.spec.format_rule != "none":
            yield Part("format", self.format, self.scales.format[1])
        if self.spec.length_reward is not None:
            yield Part("length", self.length, 1.0)

    def _pair_parts(self, pair: PairScore, point: float) -> Iterator[Part]:
        label = f"call {pair.ground_truth_index} {pair.name}"
        if self.spec.granularity == "call":
            yield Part(label, point * pair.score, point)
            return
        yield Part(f"{label}: keys", point * pair.key_score, point)
        for key in pair.keys:
            if key.state in ("right", "wrong_value", "missing"):
                yield Part(f"{label}: value of {key.key}", point * key.value_score, point)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, with the spec and the package version (provenance).

        The values are strict JSON: a NaN or an infinity among the arguments is written as text.
        """
        return {
            "total": self.total,
            "format": self.format,
            "correctness": self.correctness,
            "length": self.length,
            "name_score": self.name_score,
            "matched": self.matched,
            "maximum": self.maximum,
            "n_ground_truth": len(self.pairs),
            "n_predicted": self.n_predicted,
            "n_malformed": self.n_malformed,
            "pairs": [_fields(pair) for pair in self.pairs],
            "unmatched": [_plain(call.to_dict()) for call in self.unmatched],
            "parts": [_fields(part) for part in self.parts()],
            "reasons": [{"reason": f.reason.value, "position": f.position, "detail": f.detail} for f in self.reasons],
            "scales": {"format": list(self.scales.format), "correctness": list(self.scales.correctness)},
            "step": self.step,
            "spec": self.spec.to_dict(),
            "version": package_version(),
        }

    def _repr_html_(self) -> str:
        from toolrl_core.ladder import ladder_html

        return ladder_html(self)


def _fields(record: Any) -> dict[str, Any]:
    plain = {}
    for name in record.__dataclass_fields__:
        value = getattr(record, name)
        plain[name] = [_fields(item) for item in value] if name == "keys" else _plain(value)
    return plain


def _plain(value: Any) -> Any:
    """Return a JSON value whose numbers are all finite: others become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value
