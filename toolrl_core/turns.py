"""Void turns: whether a turn produced a complete action or a final answer, under a named contract."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from toolrl_core.boxed import boxed_answer
from toolrl_core.contracts import CONTRACTS, Contract, TurnFinding, TurnReason, find_contract, language_name

__all__ = [
    "CONTRACTS",
    "Contract",
    "TurnFinding",
    "TurnReason",
    "TurnVerdict",
    "boxed_answer",
    "find_contract",
    "is_void_turn",
    "turn_verdict",
]


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """Hold the verdict on one turn.

    Parameters
    ----------
    void : bool
        True if the turn has neither a complete action nor a final answer.
    action : str or None
        The first complete action: code, name of the called tool, or search query.
    answer : str or None
        The final answer.
    reasons : tuple of TurnFinding
        Everything that decided the verdict or is unusual, in order of position.
    contract : str
        Name of the contract.
    """

    void: bool
    action: str | None
    answer: str | None
    reasons: tuple[TurnFinding, ...]
    contract: str

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, with reasons as ``{"reason", "position", "detail"}``."""
        reasons = [{"reason": f.reason.value, "position": f.position, "detail": f.detail} for f in self.reasons]
        return {
            "void": self.void,
            "action": self.action,
            "answer": self.answer,
            "reasons": reasons,
            "contract": self.contract,
        }


def is_void_turn(text: str, contract: str = "code", *, languages: Collection[str] | None = None) -> bool:
    r"""Tell whether a turn has neither a complete action nor a final answer.

    Parameters
    ----------
    text : str
        The model's own text of one turn; tool observations do not belong into it.
    contract : {"code", "code_released", "tool_call", "search", "message"}
        What counts as complete; see :data:`CONTRACTS`.
    languages : collection of str, optional
        For contract ``code``: labels of blocks that count (unlabelled ones always do); by default every label does.

    Returns
    -------
    bool
        True if the turn is void.

    Raises
    ------
    ValueError
        Unknown contract, or `languages` with a contract other than ``code``; the message lists the valid ones.
    TypeError
        `text` is not a string.

    Notes
    -----
    SimpleTIR note §5.3, arXiv 2509.02479 §3.3. :func:`turn_verdict` says why.

    Examples
    --------
    An info string that the released pattern does not know makes a working turn void; an unfinished box does not:

    >>> is_void_turn("```python3\nprint(1)\n```", "code"), is_void_turn("```python3\nprint(1)\n```", "code_released")
    (False, True)
    >>> is_void_turn(r"It is \boxed{", "code"), is_void_turn(r"It is \boxed{", "code_released")
    (True, False)
    """
    return turn_verdict(text, contract, languages=languages).void


def turn_verdict(text: str, contract: str = "code", *, languages: Collection[str] | None = None) -> TurnVerdict:
    r"""Judge one turn under a contract, with the action, the answer, and every reason and its position.

    Parameters
    ----------
    text : str
        The model's own text of one turn.
    contract : {"code", "code_released", "tool_call", "search", "message"}
        What counts as complete; see :data:`CONTRACTS`.
    languages : collection of str, optional
        For contract ``code``: labels of blocks that count (``"python"`` covers py, python3, Python, …).

    Returns
    -------
    TurnVerdict
        The verdict. Never an exception, whatever the string; time is linear in its length.

    Raises
    ------
    ValueError, TypeError
        As :func:`is_void_turn`.

    Notes
    -----
    SimpleTIR note §5.3 and §5.4.

    Examples
    --------
    A call of ``final_answer`` in prose is void: only code is run.

    >>> verdict = turn_verdict("So I return final_answer(3).")
    >>> verdict.void, [str(finding) for finding in verdict.reasons]
    (True, ['prose_final_answer at character 12'])
    """
    if not isinstance(text, str):
        raise TypeError(f"a turn must be text, found {type(text).__name__}")
    chosen = find_contract(contract)
    if languages is not None and contract != "code":
        raise ValueError(f"languages applies to contract 'code' only, not to {contract!r}")
    accepted = None if languages is None else frozenset(language_name(label) for label in languages)
    action, answer, findings = chosen.read(text, accepted)
    void = action is None and answer is None
    if void and not findings:
        blank = not text.strip()
        findings = [TurnFinding(TurnReason.EMPTY_TURN if blank else TurnReason.NOTHING_COMPLETE)]
    findings.sort(key=lambda finding: -1 if finding.position is None else finding.position)
    return TurnVerdict(void, action, answer, tuple(findings), contract)
