"""List every checkable statement of the two notes, with the verdict that is expected of each.

The data stand in ``claims.json`` beside this module; :mod:`toolrl_core.explain.claims` holds the chapters'
computed values against them. Only the standard library is used.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

__all__ = ["NOTEBOOKS", "QUOTED", "VERDICTS", "Claim", "ClaimError", "load_claims"]

VERDICTS: Final = ("reproduced", "reproduced with a correction", "not reproduced", "quoted only")
NOTEBOOKS: Final = (
    "01_reward_anatomy",
    "02_greedy_vs_optimal",
    "03_scale_contrast",
    "04_granularity_density",
    "05_equality_and_format",
    "06_advantages",
    "07_rare_tokens_push_hardest",
    "08_drift_and_void_turns",
    "09_veto_mask_or_drop",
    "10_three_prescriptions",
)
QUOTED: Final = "quoted"


class ClaimError(ValueError):
    """Say that a record contradicts the ledger, or that a claim has none."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """State one checkable claim of a note and the verdict expected of it.

    Parameters
    ----------
    id
        Stable name, for instance ``"toolrl.P1.range"``.
    note
        ``"toolrl"`` or ``"simpletir"``.
    section
        Section of the note, or of several, for instance ``"6.2"``.
    level
        Credibility the note itself gives (its section 13): A transcribed from the paper, B reported by the
        paper, C derived and checked by a program, D conjecture.
    statement
        The claim in our own words.
    printed
        The note's figure, as printed.
    decided_by
        Stem of the notebook that decides the claim, or ``"quoted"``.
    verdict
        One of ``VERDICTS``.
    correction
        What is right instead, or what the printed figure leaves out.
    unit
        Unit of the numbers, for instance ``"points"`` or ``"%"``.
    printed_numbers, right_numbers
        The printed and the right figures as exact numbers; empty where there are none. Only a claim that is
        reproduced with a correction, or not reproduced, has right numbers.
    tolerance
        Largest allowed absolute difference of each number.
    """

    id: str
    note: str
    section: str
    level: str
    statement: str
    printed: str
    decided_by: str
    verdict: str
    correction: str = ""
    unit: str = ""
    printed_numbers: tuple[Fraction, ...] = ()
    right_numbers: tuple[Fraction, ...] = ()
    tolerance: Fraction = Fraction(1, 10**9)

    @property
    def anchor(self) -> str:
        """Give the HTML id of the claim's row in its chapter."""
        return "claim-" + self.id.replace(".", "-").replace("_", "-").lower()


@cache
def load_claims() -> Mapping[str, Claim]:
    """Load the ledger: every claim of the two notes by its id, in the order of the notes.

    Returns
    -------
    Mapping of str to Claim
        Read-only.

    Raises
    ------
    ClaimError
        If the data file names an id twice, an unknown verdict or notebook, or right numbers without a correction.

    Examples
    --------
    >>> claim = load_claims()["toolrl.P2.counterexample"]
    >>> claim.printed, str(claim.right_numbers[0]), claim.verdict
    ('2.3', '7/3', 'reproduced with a correction')
    """
    text = resources.files(__package__).joinpath("claims.json").read_text(encoding="utf-8")
    claims: dict[str, Claim] = {}
    for row in json.loads(text):
        claim = _claim(row)
        _require_valid(claim, claims)
        claims[claim.id] = claim
    return MappingProxyType(claims)


def _claim(row: Mapping[str, Any]) -> Claim:
    fields = dict(row)
    for key in ("printed_numbers", "right_numbers"):
        fields[key] = tuple(map(Fraction, fields.get(key, ())))
    fields["tolerance"] = Fraction(fields.get("tolerance", "1e-9"))
    return Claim(**fields)


def _require_valid(claim: Claim, earlier: Mapping[str, Claim]) -> None:
    if claim.id in earlier:
        raise ClaimError(f"claim {claim.id!r} is listed twice")
    if claim.verdict not in VERDICTS:
        raise ClaimError(f"claim {claim.id!r} has the verdict {claim.verdict!r}; valid: {', '.join(VERDICTS)}")
    if claim.decided_by not in (*NOTEBOOKS, QUOTED):
        raise ClaimError(f"claim {claim.id!r} names the notebook {claim.decided_by!r}; valid: {', '.join(NOTEBOOKS)}")
    if claim.right_numbers and (claim.verdict not in VERDICTS[1:3] or claim.right_numbers == claim.printed_numbers):
        raise ClaimError(f"claim {claim.id!r}: right numbers go with a correction, and differ from the printed ones")
    if (claim.verdict == "quoted only") != (claim.decided_by == QUOTED):
        raise ClaimError(f"claim {claim.id!r}: 'quoted only' and decided_by='quoted' go together")
