"""The headline of an audit with the standard library alone: floor, ceiling, reasons and disagreement, in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from toolrl_core.audit.columns import Rollout
from toolrl_core.audit.findings import Finding
from toolrl_core.audit.run import audit
from toolrl_core.audit.sections import headline_sentence

__all__ = ["Bounds", "Disagreement", "Headline", "headline"]


@dataclass(frozen=True)
class Bounds:
    """State where a mean stands.

    Parameters
    ----------
    mean, floor, ceiling : float or None
        Mean of the rows, and the means of the least and the most that they could have got, in points.
    share_at_floor, share_at_ceiling : float or None
        Shares of the rows there.
    """

    mean: float | None
    floor: float | None
    ceiling: float | None
    share_at_floor: float | None
    share_at_ceiling: float | None


@dataclass(frozen=True)
class Disagreement:
    """State how two rewards differ on the rows.

    Parameters
    ----------
    first, second : str
        The rewards.
    share : float
        Share of the rows on which they differ.
    largest : float
        Largest difference, in points.
    row : int or None
        The smallest row on which they differ, counted from 1.
    """

    first: str
    second: str
    share: float
    largest: float
    row: int | None


@dataclass(frozen=True)
class Headline:
    """Hold the headline of an audit.

    Parameters
    ----------
    sentence : str
        It, in words.
    rows, bad_rows : int
        Rows, and those of them that cannot be used.
    rewards : mapping of str to Bounds
        By reward.
    reasons : tuple of (str, int)
        Rows by what the reader met, the most frequent first; "clean" is nothing unusual.
    disagreements : tuple of Disagreement
        Pairs of rewards that differ on some row, the most different first.
    findings : tuple of Finding
        What to worry about, the serious findings first.
    """

    sentence: str
    rows: int
    bad_rows: int
    rewards: Mapping[str, Bounds]
    reasons: tuple[tuple[str, int], ...]
    disagreements: tuple[Disagreement, ...]
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**asdict(self), "findings": [finding._asdict() for finding in self.findings]}


def headline(
    pairs: Iterable[tuple[Any, Any]],
    *,
    presets: Iterable[str] = ("paper", "released", "robust"),
    explained: str = "robust",
    reward: Callable[..., Any] | None = None,
) -> Headline:
    """Say where the mean of some completions stands, and whether the rewards agree about them.

    Parameters
    ----------
    pairs : iterable of (completion, ground truth)
        In any form of `score`.
    presets : iterable of str
        The rewards.
    explained : str
        The one that the sentence speaks about.
    reward : callable, optional
        A further reward, called as by `toolrl_core.audit.run.audit`.

    Returns
    -------
    Headline
        The headline.

    Raises
    ------
    ValueError
        If a preset is unknown.

    Examples
    --------
    A call in another form than the tags is not read, and the mean is the floor:

    >>> gold = [{"name": "f", "parameters": {"a": 1}}]
    >>> head = headline([("f(a=1)", gold)])
    >>> head.rewards["released"].mean, head.rewards["released"].floor, head.findings[0].code
    (-3.0, -3.0, 'everything_at_floor')
    """
    rows = (Rollout(line, completion, truth) for line, (completion, truth) in enumerate(pairs, start=1))
    report = audit(rows, reward, presets=presets, explained=explained)
    data = report.data
    pairs_that_differ = sorted(
        (pair for pair in data["disagreement"] if pair["share_different"]),
        key=lambda pair: (-pair["share_different"], pair["first"], pair["second"]),
    )
    wanted = ("mean", "floor", "ceiling", "share_at_floor", "share_at_ceiling")
    return Headline(
        sentence=headline_sentence(data),
        rows=data["rows"],
        bad_rows=sum(data["bad_rows"]["by_reason"].values()),
        rewards={name: Bounds(*(values[key] for key in wanted)) for name, values in data["rewards"].items()},
        reasons=tuple((name, count) for name, count in data["reasons"]),
        disagreements=tuple(
            Disagreement(
                pair["first"],
                pair["second"],
                pair["share_different"],
                pair["largest_difference"],
                min(pair["examples"], key=lambda shown: shown["size"])["line"] if pair["examples"] else None,
            )
            for pair in pairs_that_differ
        ),
        findings=tuple(finding for finding in report.warnings if finding.code != "no_groups"),
    )
