"""What void turns do to multi-turn rollouts, and what leaving them out would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from toolrl_core.audit.columns import Rollout
from toolrl_core.audit.tallies import Scored, share
from toolrl_core.trajectories import TrajectoryError
from toolrl_core.trajectory_files import trajectory_from_messages

__all__ = ["VoidTally"]


class VoidTally:
    """Count void turns, and the groups with and without the rollouts that have one.

    Parameters
    ----------
    contract : str
        What counts as a complete turn; a name in `toolrl_core.contracts.CONTRACTS`.
    """

    def __init__(self, contract: str) -> None:
        self.contract = contract
        self.rows = self.with_void = self.turns = self.void_turns = self.unreadable = 0
        self.first_void: Counter[int] = Counter()
        self.total = self.total_kept = 0.0
        self.groups: dict[tuple[str, float | None], list[float]] = {}

    def add(self, rollout: Rollout, scored: Mapping[str, Scored], explained: str) -> None:
        """Count one row; rows that are no chat, or have a single turn of the model, are left alone."""
        messages = rollout.completion
        if not isinstance(messages, list) or not messages or "role" not in messages[0]:
            return
        try:
            flags = trajectory_from_messages(messages).void_turns(self.contract)
        except TrajectoryError:
            self.unreadable += 1
            return
        if len(flags) < 2:
            return
        void = any(flags)
        value = scored["recorded"] if "recorded" in scored else scored[explained]
        self.rows += 1
        self.with_void += void
        self.turns += len(flags)
        self.void_turns += sum(flags)
        self.total += value.total
        self.total_kept += 0.0 if void else value.total
        if void:
            self.first_void[flags.index(True) + 1] += 1
        if rollout.group is not None:
            held = self.groups.setdefault(
                (rollout.group, rollout.step), [0.0, float("inf"), float("-inf"), 0.0, float("inf"), float("-inf")]
            )
            for start in (0,) if void else (0, 3):
                held[start] += 1
                held[start + 1] = min(held[start + 1], value.total)
                held[start + 2] = max(held[start + 2], value.total)

    def merge(self, other: VoidTally) -> None:
        """Add the counts of another tally."""
        for name in ("rows", "with_void", "turns", "void_turns", "unreadable", "total", "total_kept"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.first_void.update(other.first_void)
        for key, theirs in other.groups.items():
            mine = self.groups.get(key)
            if mine is None:
                self.groups[key] = theirs
                continue
            for start in (0, 3):
                mine[start] += theirs[start]
                mine[start + 1] = min(mine[start + 1], theirs[start + 1])
                mine[start + 2] = max(mine[start + 2], theirs[start + 2])

    def to_dict(self) -> dict[str, Any] | None:
        """Return shares and means as plain values; None for a file without multi-turn rows."""
        if not self.rows:
            return None
        kept = self.rows - self.with_void
        return {
            "contract": self.contract,
            "rows": self.rows,
            "with_void_turn": self.with_void,
            "share_with_void_turn": self.with_void / self.rows,
            "turns": self.turns,
            "void_turns": self.void_turns,
            "first_void_turn": [[turn, count] for turn, count in sorted(self.first_void.items())],
            "mean": self.total / self.rows,
            "mean_without_void": share(self.total_kept, kept),
            "groups": len(self.groups),
            "zero_std": sum(held[0] < 2 or held[1] == held[2] for held in self.groups.values()),
            "zero_std_after_filter": sum(held[3] < 2 or held[4] == held[5] for held in self.groups.values()),
            "empty_after_filter": sum(held[3] == 0 for held in self.groups.values()),
            "dropped_groups": sum(held[0] > held[3] for held in self.groups.values()),
            "unreadable": self.unreadable,
        }
