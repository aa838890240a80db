"""Keep the table cells that the two notes quote from the papers, and check their arithmetic.

The cells stand in ``quoted.csv`` beside this module, with the section of the note that prints them. Nothing here
is recomputed: these are results of training runs. What can be checked is whether the differences that the notes
print follow from the cells, and whether the cells agree with each other. Only the standard library is used.
"""

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from importlib import resources

__all__ = [
    "Inconsistency",
    "PrintedDifference",
    "QuotedCell",
    "inconsistencies",
    "load_quoted",
    "printed_differences",
    "quoted_value",
]


@dataclass(frozen=True, kw_only=True)
class QuotedCell:
    """Hold one cell of a paper's table as a note quotes it.

    Parameters
    ----------
    note
        ``"toolrl"`` or ``"simpletir"``.
    table
        The paper's table or figure, for instance ``"Table 6"``.
    section
        Section of the note that prints the cell.
    model, variant, metric
        Row, column and quantity.
    value
        As printed, so that ``46.20`` keeps its zero.
    unit
        Unit of the value.
    """

    note: str
    table: str
    section: str
    model: str
    variant: str
    metric: str
    value: Decimal
    unit: str

    def to_dict(self) -> dict[str, str | float]:
        """Give the cell as plain data with a float value, a row for a data frame."""
        return asdict(self) | {"value": float(self.value)}


@cache
def load_quoted(*, note: str | None = None, table: str | None = None) -> tuple[QuotedCell, ...]:
    """Load the quoted cells, all or those of one note and table.

    Parameters
    ----------
    note
        ``"toolrl"`` or ``"simpletir"``; both if None.
    table
        For instance ``"Table 7"``; all if None.

    Returns
    -------
    tuple of QuotedCell
        In the order of the tables.

    Raises
    ------
    ValueError
        If there is no such cell; the message lists the valid pairs of note and table.

    Examples
    --------
    The notes print few cells: of the paper's Table 2 only one model's row, and the same number for another model.

    >>> [(cell.model, str(cell.value)) for cell in load_quoted(note="toolrl", table="Table 2")]
    [('Qwen2.5-3B', '34.08'), ('Qwen2.5-7B', '34.08')]
    """
    cells = [
        QuotedCell(**{key: text for key, text in row.items() if key != "value"}, value=Decimal(row["value"]))
        for row in _read("quoted.csv")
    ]
    found = tuple(cell for cell in cells if note in (None, cell.note) and table in (None, cell.table))
    if not found:
        valid = ", ".join(sorted({f"{cell.note} {cell.table}" for cell in cells}))
        raise ValueError(f"nothing is quoted for note={note!r}, table={table!r}; valid: {valid}")
    return found


def _read(name: str) -> list[dict[str, str]]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def quoted_value(note: str, model: str, variant: str, metric: str, *, table: str | None = None) -> Decimal:
    """Give one quoted figure, from whichever table holds it.

    Parameters
    ----------
    note, model, variant, metric
        As in :class:`QuotedCell`.
    table
        The table to look in; all of the note if None.

    Returns
    -------
    Decimal
        As printed.

    Raises
    ------
    ValueError
        If no cell fits, or if tables print different values for it.

    Examples
    --------
    The original reward's row stands in three tables; the 3B model's is printed beside Table 7 alone.

    >>> quoted_value("toolrl", "Qwen2.5-3B", "original", "BFCL overall")
    Decimal('52.98')
    """
    wanted = (model, variant, metric)
    values = {c.value for c in load_quoted(note=note, table=table) if (c.model, c.variant, c.metric) == wanted}
    if len(values) != 1:
        found = ", ".join(map(str, sorted(values))) or "nothing"
        raise ValueError(f"{note}, {table or 'all tables'}: {', '.join(wanted)} is quoted as {found}")
    return values.pop()


@dataclass(frozen=True, kw_only=True)
class PrintedDifference:
    """Compare a difference or ratio that a note prints with the cells it is taken from.

    Parameters
    ----------
    claim
        Id of the claim in the ledger.
    section
        Section of the note that prints the difference.
    what
        What is compared with what.
    printed
        The printed figure; None where the note prints the cells only.
    computed
        The figure that follows from the cells, exactly.
    """

    claim: str
    section: str
    what: str
    printed: Decimal | None
    computed: Decimal

    @property
    def agrees(self) -> bool | None:
        """Tell whether the printed figure is the computed one, rounded to the printed digits; None without one."""
        if self.printed is None:
            return None
        return self.computed.quantize(self.printed) == self.printed


def printed_differences() -> tuple[PrintedDifference, ...]:
    """Recompute each difference of quoted cells that the notes print or imply.

    Returns
    -------
    tuple of PrintedDifference
        Every printed one agrees with its cells. That says nothing about the cells.

    Examples
    --------
    >>> {str(row.computed): row.agrees for row in printed_differences() if row.claim.startswith("toolrl.5.4")}
    {'-12.97': True, '-17.69': True}
    """
    rows = []
    for row in _read("quoted_differences.csv"):
        values = [quoted_value(row["note"], row["model"], row[side], row["metric"]) for side in ("first", "second")]
        made = PrintedDifference(
            claim=row["claim"],
            section=row["section"],
            what=f"{row['model']}, {row['metric']}: {row['first']} to {row['second']}",
            printed=Decimal(row["printed"]) if row["printed"] else None,
            computed=values[1] - values[0],
        )
        rows.append(made)
    return tuple(rows)


@dataclass(frozen=True, kw_only=True)
class Inconsistency:
    """Name two places of a note that cannot both be right.

    Parameters
    ----------
    id
        Short name.
    note, section
        Where the figures stand.
    statement
        What is wrong, in our own words.
    figures
        The figures that clash, by label.
    clash
        Whether the arithmetic confirms it.
    """

    id: str
    note: str
    section: str
    statement: str
    figures: Mapping[str, Decimal]
    clash: bool


def inconsistencies() -> tuple[Inconsistency, ...]:
    """List the places where the quoted figures contradict each other, each confirmed by arithmetic.

    Returns
    -------
    tuple of Inconsistency

    Examples
    --------
    >>> [row.id for row in inconsistencies() if row.note == "simpletir"]
    ['spike_order', 'simulated_share', 'stop_count', 'tolerances']
    >>> all(row.clash for row in inconsistencies())
    True
    """
    return (*_toolrl_inconsistencies(), *_simpletir_inconsistencies())


def _toolrl_inconsistencies() -> tuple[Inconsistency, ...]:
    models = ("Qwen2.5-1.5B", "Qwen2.5-3B", "Qwen2.5-7B", "Llama-3.2-3B")
    panel = {model: quoted_value("toolrl", model, "first panel", "overall") for model in models}
    main = {model: quoted_value("toolrl", model, "GRPO cold start", "BFCL overall") for model in models}
    rows = {model: quoted_value("toolrl", model, "SFT400", "API-Bank overall") for model in models[1:3]}
    changes = printed_differences()
    losses = {row.what.split(",")[0]: row.computed for row in changes if row.claim == "toolrl.5.2.equal_max_losses"}
    level, loss = losses["Qwen2.5-3B"], losses["Llama-3.2-3B"]
    coarse = next(row.computed for row in changes if row.claim == "toolrl.5.3.table7_strong")
    return (
        Inconsistency(
            id="two_bfcl_scores",
            note="toolrl",
            section="5.2-5.4, 5.5, 9.7",
            statement="The same four runs have two BFCL overall scores each, 6 to 17 points apart.",
            figures={f"{m}, {w}": v for m in models for w, v in (("Table 1", main[m]), ("elsewhere", panel[m]))},
            clash=all(main[model] != panel[model] for model in models),
        ),
        Inconsistency(
            id="level_or_loss",
            note="toolrl",
            section="5.1, 5.2",
            statement="Equal-max lowers all three models; two such losses count as losses, a similar third as level.",
            figures=losses,
            clash=all(value < 0 for value in losses.values()) and abs(level - loss) < Decimal("0.5"),
        ),
        Inconsistency(
            id="level_again",
            note="toolrl",
            section="5.2, 5.3",
            statement="A loss under Coarse counts as level that is as large as one counted as a loss under equal-max.",
            figures={"Qwen2.5-3B, Coarse (level)": coarse, "Llama-3.2-3B, equal-max (loss)": loss},
            clash=abs(coarse - loss) < Decimal("0.1"),
        ),
        Inconsistency(
            id="same_row",
            note="toolrl",
            section="5.5, 9.7",
            statement="Two models have the same fine-tuned score in Table 2.",
            figures=rows,
            clash=len(set(rows.values())) == 1,
        ),
        Inconsistency(
            id="saturated_or_rising",
            note="toolrl",
            section="5.2, 5.4",
            statement="The format reward saturates within 20 steps, and is said to be rising fast at step 30.",
            figures={"saturated by step": Decimal(20), "still rising at step": Decimal(30)},
            clash=Decimal(20) < Decimal(30),
        ),
    )


def _simpletir_inconsistencies() -> tuple[Inconsistency, ...]:
    names = ("veto", "high ratio", "low probability", "stop", "naive")
    spikes = dict(zip(names, map(Decimal, ("0", "0", "487", "13", "526")), strict=True))
    veto, ratio, low, stop, naive = spikes.values()
    void_rates = {f"turn {turn}": Decimal(rate) for turn, rate in enumerate(("0", "0", "0", "0", "16.2"), start=1)}
    share = {"formula": Decimal("22.62"), "simulation": Decimal("22.92"), "tolerance": Decimal("0.1")}
    return (
        Inconsistency(
            id="spike_order",
            note="simpletir",
            section="10.2, 10.3",
            statement="The order veto = 0 < high ratio < low probability <= stop <= naive is said to be met.",
            figures=spikes,
            clash=not (veto == 0 < ratio < low <= stop <= naive),
        ),
        Inconsistency(
            id="simulated_share",
            note="simpletir",
            section="10.2, 10.3",
            statement="The simulated share of filtered trajectories is said to be within the tolerance.",
            figures=share,
            clash=abs(share["formula"] - share["simulation"]) > share["tolerance"],
        ),
        Inconsistency(
            id="stop_count",
            note="simpletir",
            section="10.3",
            statement="Stopping after a void turn removes nearly all spikes, though every void turn is the last one.",
            figures={**void_rates, "spikes, stop": stop, "spikes, naive": naive},
            clash=not any(list(void_rates.values())[:-1]) and stop != naive,
        ),
        Inconsistency(
            id="tolerances",
            note="simpletir",
            section="10.2, 10.3",
            statement="Two tolerances are given for one criterion.",
            figures={"beforehand": Decimal("0.1"), "in the report": Decimal("0.2")},
            clash=Decimal("0.1") != Decimal("0.2"),
        ),
    )
