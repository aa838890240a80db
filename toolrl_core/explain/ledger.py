"""List every checkable statement of the two notes, with the verdict that is expected of each.

The ledger has entries of two kinds. A *claim* is a statement of a note that can be checked as it stands. A *direction*
is what a training table of a paper says goes up or down; a chapter tests it in a miniature, under assumptions that it
names. Their verdicts are words apart, so that a direction is never counted as a claim.

The data stand in ``claims.json`` and ``directions.json`` beside this module; :mod:`toolrl_core.explain.claims` holds
what the chapters compute against them. Only the standard library is used.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

__all__ = [
    "CLAIM",
    "DIRECTION",
    "DIRECTION_VERDICTS",
    "MINIATURES",
    "NOTEBOOKS",
    "QUOTED",
    "VERDICTS",
    "Claim",
    "ClaimError",
    "load_claims",
    "load_directions",
    "load_ledger",
    "read_entries",
]

CLAIM: Final = "claim"
DIRECTION: Final = "direction"
VERDICTS: Final = ("reproduced", "reproduced with a correction", "not reproduced", "quoted only")
DIRECTION_VERDICTS: Final = ("direction agrees", "direction depends", "direction does not come out")
MINIATURES: Final = ("13_ratio_of_scales", "14_hits_and_budgets", "15_what_the_veto_buys")
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
    *MINIATURES,
)
QUOTED: Final = "quoted"


class ClaimError(ValueError):
    """Say that an entry or a record contradicts the ledger, or that a claim has no record."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """State one checkable claim of a note, or one direction of a paper's table, and the verdict expected of it.

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
        Stem of the notebook that decides the claim, or ``"quoted"``. A direction is decided by one of ``MINIATURES``,
        a claim by none of them.
    verdict
        One of ``VERDICTS``; of a direction one of ``DIRECTION_VERDICTS``.
    correction
        What is right instead, or what the printed figure leaves out; for a direction what it depends on, or what came
        out instead.
    unit
        Unit of the numbers, for instance ``"points"`` or ``"%"``.
    printed_numbers, right_numbers
        The printed and the right figures as exact numbers; empty where there are none. Only a claim that is
        reproduced with a correction, or not reproduced, has right numbers.
    tolerance
        Largest allowed absolute difference of each number.
    kind
        ``"claim"`` or ``"direction"``. A direction has no numbers: the size of an effect is the miniature's own.
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
    kind: str = CLAIM

    @property
    def anchor(self) -> str:
        """Give the HTML id of the entry's row in its chapter."""
        return "claim-" + self.id.replace(".", "-").replace("_", "-").lower()


@cache
def load_ledger() -> Mapping[str, Claim]:
    """Load every entry by its id: first the claims of the two notes, in their order, then the directions.

    Returns
    -------
    Mapping of str to Claim
        Read-only.

    Raises
    ------
    ClaimError
        If a data file contradicts itself, as :func:`read_entries` says.
    """
    entries: dict[str, Claim] = {}
    for file, kind in (("claims.json", CLAIM), ("directions.json", DIRECTION)):
        text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
        entries |= read_entries(json.loads(text), kind=kind, taken=entries)
    return MappingProxyType(entries)


@cache
def load_claims() -> Mapping[str, Claim]:
    """Load every claim of the two notes by its id, in the order of the notes; no direction is among them.

    Returns
    -------
    Mapping of str to Claim
        Read-only.

    Raises
    ------
    ClaimError
        If a data file contradicts itself, as :func:`read_entries` says.

    Examples
    --------
    >>> claim = load_claims()["toolrl.P2.counterexample"]
    >>> claim.printed, str(claim.right_numbers[0]), claim.verdict
    ('2.3', '7/3', 'reproduced with a correction')
    """
    return _of_kind(CLAIM)


@cache
def load_directions() -> Mapping[str, Claim]:
    """Load every direction that a chapter tests in the miniature, by its id.

    Returns
    -------
    Mapping of str to Claim
        Read-only.

    Raises
    ------
    ClaimError
        If a data file contradicts itself, as :func:`read_entries` says.

    Examples
    --------
    A direction is no claim of the ledger, and says nothing about sizes:

    >>> set(load_directions()) & set(load_claims())
    set()
    >>> any(direction.printed_numbers for direction in load_directions().values())
    False
    """
    return _of_kind(DIRECTION)


def _of_kind(kind: str) -> Mapping[str, Claim]:
    return MappingProxyType({id_: entry for id_, entry in load_ledger().items() if entry.kind == kind})


def read_entries(
    rows: Iterable[Mapping[str, Any]], *, kind: str = CLAIM, taken: Collection[str] = ()
) -> dict[str, Claim]:
    """Read entries of one kind from plain data.

    Parameters
    ----------
    rows
        The fields of :class:`Claim`; numbers as text that :class:`fractions.Fraction` reads.
    kind
        ``"claim"`` or ``"direction"``.
    taken
        Ids that no entry may have.

    Returns
    -------
    dict of str to Claim
        By id.

    Raises
    ------
    ClaimError
        If an id is listed twice, a verdict or a notebook is not one of the kind's, or numbers and corrections do not
        go with the verdict; if a direction has numbers, does not say what it depends on or what came out instead, or
        speaks of reproducing.

    Examples
    --------
    >>> row = {"id": "toolrl.5.2.up_direction", "note": "toolrl", "section": "5.2", "level": "B"}
    >>> row |= {"statement": "It goes up.", "printed": "no figure", "decided_by": "13_ratio_of_scales"}
    >>> read_entries([row | {"verdict": "reproduced"}], kind="direction")
    Traceback (most recent call last):
      ...
    toolrl_core.explain.ledger.ClaimError: direction 'toolrl.5.2.up_direction' has the verdict 'reproduced'; \
valid: direction agrees, direction depends, direction does not come out
    """
    if kind not in (CLAIM, DIRECTION):
        raise ClaimError(f"there is no kind {kind!r}; valid: {CLAIM}, {DIRECTION}")
    entries: dict[str, Claim] = {}
    for row in rows:
        entry = _entry(row, kind=kind)
        if entry.id in entries or entry.id in taken:
            raise ClaimError(f"{kind} {entry.id!r} is listed twice")
        _require_known_names(entry)
        (_require_valid_claim if kind == CLAIM else _require_valid_direction)(entry)
        entries[entry.id] = entry
    return entries


def _entry(row: Mapping[str, Any], *, kind: str) -> Claim:
    fields = dict(row)
    for key in ("printed_numbers", "right_numbers"):
        fields[key] = tuple(map(Fraction, fields.get(key, ())))
    fields["tolerance"] = Fraction(fields.get("tolerance", "1e-9"))
    return Claim(**fields | {"kind": kind})


def _require_known_names(entry: Claim) -> None:
    """Check the verdict and the notebook against those of the entry's kind."""
    notebooks = tuple(stem for stem in NOTEBOOKS if (stem in MINIATURES) == (entry.kind == DIRECTION))
    quoted = (QUOTED,) if entry.kind == CLAIM else ()
    verdicts = VERDICTS if entry.kind == CLAIM else DIRECTION_VERDICTS
    if entry.verdict not in verdicts:
        raise ClaimError(f"{entry.kind} {entry.id!r} has the verdict {entry.verdict!r}; valid: {', '.join(verdicts)}")
    if entry.decided_by not in notebooks + quoted:
        raise ClaimError(
            f"{entry.kind} {entry.id!r} names the notebook {entry.decided_by!r}; valid: {', '.join(notebooks)}"
        )


def _require_valid_claim(claim: Claim) -> None:
    if claim.right_numbers and (claim.verdict not in VERDICTS[1:3] or claim.right_numbers == claim.printed_numbers):
        raise ClaimError(f"claim {claim.id!r}: right numbers go with a correction, and differ from the printed ones")
    if (claim.verdict == "quoted only") != (claim.decided_by == QUOTED):
        raise ClaimError(f"claim {claim.id!r}: 'quoted only' and decided_by='quoted' go together")


def _require_valid_direction(direction: Claim) -> None:
    name = f"direction {direction.id!r}"
    if direction.printed_numbers or direction.right_numbers or direction.unit:
        raise ClaimError(
            f"{name} has numbers or a unit; a direction says up or down, and its figures stand in 'printed'"
        )
    if direction.verdict != DIRECTION_VERDICTS[0] and not direction.correction:
        raise ClaimError(
            f"{name}: {direction.verdict!r} needs a correction that says on what, or what came out instead"
        )
    for field in ("statement", "printed", "correction"):
        if "reproduc" in getattr(direction, field).lower():
            raise ClaimError(f"{name}: {field!r} speaks of reproducing; a miniature tests a direction")
