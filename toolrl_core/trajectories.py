"""Multi-turn rollouts: turns of model text and tool observations."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from toolrl_core.calls import ToolCall
from toolrl_core.turns import TurnFinding, TurnReason, TurnVerdict, turn_verdict

__all__ = ["ROLES", "Trajectory", "TrajectoryError", "Turn"]

ROLES = ("system", "user", "assistant", "tool")
"""Who can speak in a turn. Only ``assistant`` text is the model's own."""

_STRUCTURED = ("tool_call", "message")


class TrajectoryError(ValueError):
    """Say which line, message and field of a trajectory cannot be read, and why."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Hold what one speaker said at once.

    Parameters
    ----------
    text : str
        The text.
    role : {"assistant", "tool", "user", "system"}
        Who said it. Only an assistant's turn is the model's own.
    calls : tuple of ToolCall
        Calls that arrived already parsed, beside the text.
    call_faults : tuple of str
        One entry per call that could not be decoded: why.
    token_count : int or None
        Length in tokens, where known.
    token_ids : tuple of int or None
        The tokens, where known; `token_count` then follows from them.
    truncated : bool
        Whether generation was cut off at a length limit.

    Raises
    ------
    TrajectoryError
        Unknown role, text that is no string, or a token count that is negative or contradicts the token ids.

    Examples
    --------
    >>> Turn("The observation is 42.", "tool").is_model
    False
    """

    text: str
    role: str = "assistant"
    calls: tuple[ToolCall, ...] = ()
    call_faults: tuple[str, ...] = ()
    token_count: int | None = None
    token_ids: tuple[int, ...] | None = None
    truncated: bool = False

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise TrajectoryError(f"unknown role {self.role!r}: choose from {', '.join(ROLES)}")
        if not isinstance(self.text, str):
            raise TrajectoryError(f"text must be a string, found {type(self.text).__name__}")
        if self.token_ids is not None:
            if self.token_count not in (None, len(self.token_ids)):
                raise TrajectoryError(f"token_count {self.token_count} contradicts {len(self.token_ids)} token_ids")
            object.__setattr__(self, "token_count", len(self.token_ids))
        if self.token_count is not None and (type(self.token_count) is not int or self.token_count < 0):
            raise TrajectoryError(f"token_count must be an integer >= 0, found {self.token_count!r}")

    @property
    def is_model(self) -> bool:
        """Tell whether the model wrote this turn."""
        return self.role == "assistant"

    def verdict(self, contract: str) -> TurnVerdict:
        """Judge the turn under a contract.

        Parameters
        ----------
        contract : str
            Name of the contract; see :data:`toolrl_core.contracts.CONTRACTS`.

        Returns
        -------
        TurnVerdict
            As :func:`toolrl_core.turns.turn_verdict` for the text. Under ``tool_call`` and ``message`` a call that
            arrived parsed is a complete action too; under ``message`` text that was cut off is no answer.

        Raises
        ------
        TrajectoryError
            The turn is not the model's.
        ValueError
            Unknown contract.
        """
        if not self.is_model:
            raise TrajectoryError(f"only the model's turns have a verdict, this one has role {self.role!r}")
        read = turn_verdict(self.text, contract)
        action, answer, reasons = read.action, read.answer, list(read.reasons)
        if contract in _STRUCTURED:
            reasons += [TurnFinding(TurnReason.MALFORMED_CALL, None, fault) for fault in self.call_faults]
            if action is None and self.calls:
                action = self.calls[0].name
        if self.truncated:
            reasons.append(TurnFinding(TurnReason.TRUNCATED_TURN, len(self.text)))
            if contract == "message":
                answer = None
        if action is not None or answer is not None:
            empty = (TurnReason.EMPTY_TURN, TurnReason.NOTHING_COMPLETE)
            reasons = [finding for finding in reasons if finding.reason not in empty]
        return TurnVerdict(action is None and answer is None, action, answer, tuple(reasons), contract)


@dataclass(frozen=True, slots=True)
class Trajectory:
    r"""Hold one multi-turn rollout.

    Parameters
    ----------
    turns : tuple of Turn
        All turns in order, the model's and the others'.
    reward : float or None
        Reward at the end, in points; None where it was not scored.
    group : hashable or None
        Key of the group, usually the prompt.
    name : str
        Name of the rollout, for messages and tables.

    Examples
    --------
    The observation belongs to the rollout, but never to the model's text:

    >>> turns = (Turn("I look it up."), Turn("ANSWER 42", "tool"), Turn("ok"))
    >>> Trajectory(turns).model_text
    'I look it up.\nok'
    """

    turns: tuple[Turn, ...]
    reward: float | None = None
    group: Hashable = None
    name: str = ""

    @property
    def model_turns(self) -> tuple[Turn, ...]:
        """Return the model's own turns in order."""
        return tuple(turn for turn in self.turns if turn.is_model)

    @property
    def model_text(self) -> str:
        """Return the model's own text, one turn a line; tool observations are no part of it."""
        return "\n".join(turn.text for turn in self.model_turns)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the model's turns that arrived parsed, in order."""
        return tuple(call for turn in self.model_turns for call in turn.calls)

    @property
    def truncated(self) -> bool:
        """Tell whether generation was cut off in any of the model's turns."""
        return any(turn.truncated for turn in self.model_turns)

    def verdicts(self, contract: str) -> tuple[TurnVerdict, ...]:
        """Judge each of the model's turns under a contract (SimpleTIR note §5.3)."""
        return tuple(turn.verdict(contract) for turn in self.model_turns)

    def void_turns(self, contract: str) -> tuple[bool, ...]:
        """Mark which of the model's turns are void under a contract."""
        return tuple(verdict.void for verdict in self.verdicts(contract))

    def first_void(self, contract: str) -> int | None:
        """Return the position of the first void turn among the model's turns, counted from 0, or None."""
        return next((i for i, void in enumerate(self.void_turns(contract)) if void), None)

    def has_void(self, contract: str) -> bool:
        """Tell whether any of the model's turns is void under a contract."""
        return self.first_void(contract) is not None

    def to_record(self) -> dict[str, Any]:
        """Return the rollout as plain data, which ``trajectory_from_record`` reads back."""
        messages = []
        for turn in self.turns:
            message: dict[str, Any] = {"role": turn.role, "content": turn.text}
            if turn.calls:
                message["tool_calls"] = [
                    {"type": "function", "function": {"name": c.name, "arguments": json.dumps(dict(c.arguments))}}
                    for c in turn.calls
                ]
            if turn.token_ids is not None:
                message["token_ids"] = list(turn.token_ids)
            elif turn.token_count is not None:
                message["token_count"] = turn.token_count
            if turn.truncated:
                message["truncated"] = True
            messages.append(message)
        return {"name": self.name, "group": self.group, "reward": self.reward, "messages": messages}
