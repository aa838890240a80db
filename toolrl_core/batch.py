"""Score many completions at once into a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from toolrl_core.breakdown import Comparison, package_version
from toolrl_core.calls import GroundTruthError
from toolrl_core.json_calls import RawCall
from toolrl_core.pairs import Target, prepare_target
from toolrl_core.parsing import read_completion
from toolrl_core.plain import plain_parts, read_plain
from toolrl_core.reading import Reading
from toolrl_core.reasons import Finding
from toolrl_core.rewards import PAPER, compare_calls, evaluate, read_any, text_reader
from toolrl_core.spec import RewardSpec

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "total",
    "format",
    "correctness",
    "length",
    "name_score",
    "matched",
    "maximum",
    "n_ground_truth",
    "n_predicted",
    "n_malformed",
    "reasons",
)


Answers = dict[str, tuple[list[RawCall], Comparison]]
_ANSWERS = 8
_GROUND_TRUTHS = 10_000


def score_many(
    completions: Iterable[Any],
    ground_truths: Iterable[Any],
    spec: RewardSpec = PAPER,
    *,
    step: float | Sequence[float] | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Score many completions; the numbers equal those of `score`, without its account of every point.

    Parameters
    ----------
    completions : iterable, length n
        Completions in any form of `score`.
    ground_truths : iterable, length n
        Ground truths in any form of `parse_ground_truth`; each distinct one is read once.
    spec : RewardSpec
        The reward's options.
    step : float or sequence of float, optional
        Training step, one for all or one each.
    progress : bool
        Show a progress bar (needs tqdm).

    Returns
    -------
    pandas.DataFrame, n rows
        The same columns on every row: total, format (NaN where it does not apply), correctness and length in
        points; name_score, matched and maximum in raw points; n_ground_truth, n_predicted and n_malformed calls;
        reasons, the reason codes of reading and format joined by spaces. ``attrs`` holds the spec and the version.

    Raises
    ------
    GroundTruthError
        If a ground truth cannot be used; the message names the row.
    ValueError
        If the lengths differ, or the schedule needs a step.

    Examples
    --------
    >>> gold = [{"name": "f", "parameters": {"a": 1}}]
    >>> score_many([[{"name": "f", "parameters": {"a": 2}}], []], [gold, gold])["correctness"].tolist()
    [1.0, -3.0]
    """
    import pandas as pd

    rows = list(score_rows(_paired(completions, ground_truths), spec, step=step, progress=progress))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    kinds = ["float64"] * 7 + ["int64"] * 3 + [None]
    table = pd.DataFrame(
        {name: pd.Series(values, dtype=kind) for name, values, kind in zip(COLUMNS, columns, kinds, strict=True)}
    )
    table.attrs = {"spec": spec.to_dict(), "version": package_version()}
    return table


def _paired(completions: Iterable[Any], ground_truths: Iterable[Any]) -> list[tuple[Any, Any]]:
    first, second = list(completions), list(ground_truths)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} completions but {len(second)} ground truths")
    return list(zip(first, second, strict=True))


def score_rows(
    pairs: Iterable[tuple[Any, Any]],
    spec: RewardSpec,
    *,
    step: float | Sequence[float] | None = None,
    progress: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Score pairs of completion and ground truth into plain rows with the columns of `COLUMNS`.

    Parameters are those of `score_many`; only the standard library is needed (without a progress bar).
    """
    prepare = _Targets(spec).prepare
    read = text_reader(spec)
    listed = getattr(step, "tolist", None)
    step = step if listed is None else listed()  # a column of a table has one for each row
    steps = step if isinstance(step, Sequence) else None
    if steps is not None and isinstance(pairs, Sequence) and len(steps) != len(pairs):
        raise ValueError(f"{len(pairs)} rows but {len(steps)} steps")
    at = None if isinstance(step, Sequence) else step
    scales = spec.schedule.at(at) if steps is None else None
    for row, (completion, ground_truth) in enumerate(_shown(pairs, progress)):
        try:
            target, answers = prepare(ground_truth)
        except GroundTruthError as error:
            raise GroundTruthError(f"row {row}: {error.problem}", index=error.index, field=error.field) from None
        if steps is not None:
            at = steps[row]
        here = spec.schedule.at(at) if scales is None else scales
        text = completion if isinstance(completion, str) else None
        compared = None
        if text is None:
            reading = read_any(completion, spec)[0]
        elif read is read_completion:
            reading, compared = _read_known(text, answers, target, spec)
        else:
            reading = read(text)
        format_value, correctness, length, compared, broken = evaluate(reading, text, target, spec, here, at, compared)
        yield (
            correctness + length + (format_value or 0.0),
            format_value,
            correctness,
            length,
            compared.name_score,
            compared.matched,
            compared.maximum,
            len(target.calls),
            len(reading.calls),
            reading.malformed,
            _codes(reading.findings, broken) if reading.findings or broken else "",
        )


def _read_known(text: str, answers: Answers, target: Target, spec: RewardSpec) -> tuple[Reading, Comparison | None]:
    """Read a text; where the same block of calls was met before with this ground truth, use what it gave.

    Rollouts of one prompt often repeat the calls of another word for word, with another thought before them.
    """
    parts = plain_parts(text)
    if parts is None:
        return read_completion(text), None
    block = text[parts.first : parts.last]
    known = answers.get(block)
    if known is not None:
        reading = read_plain(text, parts, known[0])
        if reading is not None:
            return reading, known[1]
    reading = read_plain(text, parts)
    if reading is None:
        return read_completion(text), None
    compared = compare_calls(reading.calls, 0, target, spec)
    if len(answers) < _ANSWERS:
        answers[block] = (reading.calls, compared)
    return reading, compared


def _codes(*findings: Iterable[Finding]) -> str:
    return " ".join(dict.fromkeys([finding.reason.value for group in findings for finding in group]))


def _shown(pairs: Iterable[tuple[Any, Any]], progress: bool) -> Iterable[tuple[Any, Any]]:
    if not progress:
        return pairs
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ValueError("progress=True needs the package tqdm") from None
    bar: Iterable[tuple[Any, Any]] = tqdm(pairs, unit="completions", smoothing=0)
    return bar


class _Targets:
    """Prepare each distinct ground truth once (texts by value, other objects by identity), in bounded memory."""

    def __init__(self, spec: RewardSpec) -> None:
        self.spec = spec
        self.known: dict[Any, tuple[tuple[Target, Answers], Any]] = {}

    def prepare(self, ground_truth: Any) -> tuple[Target, Answers]:
        """Return a ground truth's target with the answers that were compared with it."""
        key = ground_truth if type(ground_truth) is str else id(ground_truth)
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= _GROUND_TRUTHS:
                self.known.clear()
            found = self.known[key] = ((prepare_target(ground_truth, self.spec), {}), ground_truth)
        return found[0]
