"""Score many completions at once into a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from toolrl_core.breakdown import package_version
from toolrl_core.calls import GroundTruthError
from toolrl_core.formats import required_fields
from toolrl_core.pairs import Target, prepare_target
from toolrl_core.parsing import scan_completion
from toolrl_core.plain import PlainParts, plain_parts, read_lines
from toolrl_core.reading import Reading
from toolrl_core.reasons import Finding, Reason
from toolrl_core.released import read_released
from toolrl_core.rewards import PAPER, check_spec, compare_calls, correctness_points, evaluate, read_any
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


ERRORS = ("raise", "record")
"""What to do at a row that cannot be scored: stop, or keep it without a score."""

_ANSWERS = 8
_GROUND_TRUTHS = 10_000


def score_many(
    completions: Iterable[Any],
    ground_truths: Iterable[Any],
    spec: RewardSpec = PAPER,
    *,
    step: float | Sequence[float] | None = None,
    errors: str = "raise",
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
    errors : {"raise", "record"}
        What to do at a row whose ground truth or completion cannot be used: raise, or keep the row without a score
        and say why in a further column. That is no zero: a bad row says nothing about the model.
    progress : bool
        Show a progress bar (needs tqdm).

    Returns
    -------
    pandas.DataFrame, n rows
        The same columns on every row: total, format (NaN where it does not apply), correctness and length in
        points; name_score, matched and maximum in raw points; n_ground_truth, n_predicted and n_malformed calls;
        reasons, the reason codes of reading and format joined by spaces. ``attrs`` holds the spec and the version.
        With ``errors="record"`` one more column on every row: problem, empty where the row is scored. Where it is
        not, the numbers are NaN and reasons is empty; the counts are floats then, on every such table.

    Raises
    ------
    GroundTruthError
        If a ground truth cannot be used; the message names the row.
    TypeError
        If a completion is neither text nor a list; the message names the row.
    ValueError
        If the lengths differ, the schedule needs a step, a ground truth accepts several values under the released
        rules, or `errors` is unknown.

    Examples
    --------
    >>> gold = [{"name": "f", "parameters": {"a": 1}}]
    >>> score_many([[{"name": "f", "parameters": {"a": 2}}], []], [gold, gold])["correctness"].tolist()
    [1.0, -3.0]
    >>> score_many(["", ""], [[], ""], errors="record")[["total", "problem"]].values.tolist()
    [[3.0, ''], [nan, "ground truth: has no <think>, <tool_call> or <response> block: ''"]]
    """
    import pandas as pd

    check_spec(spec)
    for name, given in (("completions", completions), ("ground_truths", ground_truths)):
        if isinstance(given, (str, bytes)):
            raise TypeError(f"{name} must have one entry for each row, found one text")
    rows = list(score_rows(_paired(completions, ground_truths), spec, step=step, errors=errors, progress=progress))
    names, kinds = list(COLUMNS), ["float64"] * 7 + ["int64"] * 3 + [None]
    if errors == "record":
        names, kinds = [*COLUMNS, "problem"], ["float64"] * 10 + [None] * 2
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    table = pd.DataFrame(
        {name: pd.Series(values, dtype=kind) for name, values, kind in zip(names, columns, kinds, strict=True)}
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
    errors: str = "raise",
    progress: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Score pairs of completion and ground truth into plain rows with the columns of `COLUMNS`.

    Parameters are those of `score_many`; only the standard library is needed (without a progress bar). With
    ``errors="record"`` a row has one entry more, the problem, and one that cannot be scored has None for its numbers.
    """
    if errors not in ERRORS:
        raise ValueError(f"unknown errors {errors!r}: choose from {', '.join(ERRORS)}")
    record = errors == "record"
    prepare, scan = _Targets(spec).prepare, _scanner(spec)
    listed = getattr(step, "tolist", None)
    step = step if listed is None else listed()  # a column of a table has one for each row
    steps = step if isinstance(step, Sequence) else None
    if steps is not None and isinstance(pairs, Sequence) and len(steps) != len(pairs):
        raise ValueError(f"{len(pairs)} rows but {len(steps)} steps")
    at = None if isinstance(step, Sequence) else step
    scales = spec.schedule.at(at) if steps is None else None
    with_format, length_reward = spec.format_rule != "none", spec.length_reward
    for row, (completion, ground_truth) in enumerate(_shown(pairs, progress)):
        try:
            prepared = prepare(ground_truth)
        except ValueError as error:
            if record:
                yield _unscored(error)
                continue
            raise _with_row(error, row) from None
        if steps is not None:
            at = steps[row]
        here = spec.schedule.at(at) if scales is None else scales
        format_value: float | None
        parts = plain_parts(completion) if type(completion) is str else None
        usual = None if parts is None else prepared.compare_usual(completion, parts)
        if usual is not None and parts is not None:
            name_score, matched, maximum, predicted = usual
            format_value = here.format[1] if with_format else 0.0
            correctness = correctness_points(matched, maximum, here)
            length = 0.0 if length_reward is None else length_reward(completion[7 : parts[0]], at)
            malformed, codes = 0, Reason.TAG_IN_THOUGHT.value if parts[5] else ""
        else:
            text = completion if isinstance(completion, str) else None
            try:
                reading = read_any(completion, spec)[0] if text is None else scan(text)
            except TypeError as error:  # no form of a completion
                if record:
                    yield _unscored(error)
                    continue
                raise _with_row(error, row) from None
            format_value, correctness, length, compared, broken = evaluate(
                reading, text, prepared.target, spec, here, at
            )
            name_score, matched, maximum = compared[:3]
            predicted, malformed = len(reading.calls), reading.malformed
            codes = _codes(reading.findings, broken)
        values = (
            correctness + length + (format_value or 0.0),
            format_value,
            correctness,
            length,
            name_score,
            matched,
            maximum,
            prepared.expected,
            predicted,
            malformed,
            codes,
        )
        yield (*values, "") if record else values


def _unscored(error: Exception) -> tuple[Any, ...]:
    return (*[None] * (len(COLUMNS) - 1), "", str(error))


def _with_row(error: Exception, row: int) -> Exception:
    """Return the same error with the row in its message."""
    if isinstance(error, GroundTruthError):
        return GroundTruthError(f"row {row}: {error.problem}", index=error.index, field=error.field)
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"row {row}: {error}")


def _scanner(spec: RewardSpec) -> Callable[[str], Reading]:
    """Return the function that reads any text under a spec, without the shortcut for the plain shape."""
    if spec.parser == "released":
        return read_released
    return partial(
        scan_completion,
        accept_python_literals=spec.accept_python_literals,
        prefilled_thought=spec.prefilled_thought,
    )


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


class _Prepared:
    """Hold a prepared ground truth with the blocks of calls that were compared with it."""

    def __init__(self, target: Target, spec: RewardSpec) -> None:
        self.target = target
        self.spec = spec
        self.expected = len(target.calls)
        self.released = spec.parser == "released"
        self.bare_only = self.released or spec.format_rule == "released"
        self.untagged_only = spec.format_rule == "literal"
        fields = required_fields(spec.format_rule, target.truth.requires, target.truth.text)
        self.kinds = fields if target.calls and not spec.prefilled_thought else None
        self.known: dict[str, tuple[float, float, float, int]] = {}

    def compare_usual(self, text: str, parts: PlainParts) -> tuple[float, float, float, int] | None:
        """Compare the calls of a plain text whose blocks are just the required ones.

        The parsers read it alike and the format rule holds; where either could differ, None leaves it to `evaluate`.
        Rollouts of one prompt often repeat the calls of another word for word, with another thought before them,
        so some blocks of calls are kept with what they gave.

        Returns
        -------
        float, float, float
            Points for the names, points matched and the maximum, all raw.
        int
            Number of calls.
        """
        _, first, last, kinds, bare, tagged = parts
        if kinds != self.kinds or (self.bare_only and not bare) or (self.untagged_only and tagged):
            return None  # the released rules count tags wherever they stand
        block = text[first:last]
        known = self.known.get(block)
        if known is not None:
            return known
        calls = read_lines(text, first, last)
        if calls is None or (self.released and block.count("\n") >= len(calls)):
            return None  # the released parser decodes line by line
        compared = compare_calls(calls, 0, self.target, self.spec)
        result = (*compared[:3], len(calls))
        if len(self.known) < _ANSWERS:
            self.known[block] = result
        return result


class _Targets:
    """Prepare each distinct ground truth once (texts by value, other objects by identity), in bounded memory."""

    def __init__(self, spec: RewardSpec) -> None:
        self.spec = spec
        self.known: dict[Any, tuple[_Prepared, Any]] = {}

    def prepare(self, ground_truth: Any) -> _Prepared:
        """Return a ground truth, prepared."""
        key = ground_truth if type(ground_truth) is str else id(ground_truth)
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= _GROUND_TRUTHS:
                self.known.clear()
            prepared = _Prepared(prepare_target(ground_truth, self.spec), self.spec)
            found = self.known[key] = prepared, ground_truth
        return found[0]
