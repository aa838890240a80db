"""Run an audit: stream the rows, score them in one process or several, and gather the report."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from toolrl_core.audit.aggregate import Aggregate, Lints
from toolrl_core.audit.column_checks import check_columns
from toolrl_core.audit.columns import BadRow, Columns, Rollout, read_record, recognise_columns
from toolrl_core.audit.report import AuditReport, build_report
from toolrl_core.audit.rollouts import CHUNK_ROWS, Chunk, RolloutsFile, iter_chunks, open_rollouts, read_chunk
from toolrl_core.audit.row_scores import RowScorer, RowScores
from toolrl_core.audit.signatures import Reward, adapt_reward, load_reward
from toolrl_core.contracts import find_contract
from toolrl_core.spec import RewardSpec

__all__ = ["PRESETS", "BadRowError", "audit"]

PRESETS = ("paper", "released", "robust", "finegrained", "intermediate", "coarse")
"""The rewards that an audit compares by default: three readings of the reward, and the paper's coarser tiers."""


class BadRowError(ValueError):
    """Report the row that stopped a strict audit."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Hold what every process of an audit needs.

    Parameters
    ----------
    source : RolloutsFile or None
        How to read undecoded rows.
    specs : dict of str to RewardSpec
        The rewards.
    functions : dict of str to object
        Further rewards: callables for `adapt_reward`, or references for `load_reward`.
    explained : str
        The spec whose points are accounted for.
    contract : str
        What counts as a complete turn.
    want_rows : bool
        Whether each row's scores are wanted.
    """

    source: RolloutsFile | None
    specs: dict[str, RewardSpec]
    functions: dict[str, Any] = field(default_factory=dict)
    explained: str = "robust"
    contract: str = "tool_call"
    want_rows: bool = False


class _Result(NamedTuple):
    aggregate: Aggregate
    rows: list[dict[str, Any]]
    bad: list[BadRow]


class _Worker:
    """Score chunks, with one memory of ground truths for all of them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        loaded = {name: _adapted(function) for name, function in plan.functions.items()}
        self.scorer = RowScorer(plan.specs, loaded, explained=plan.explained)
        self.lints = Lints()

    def __call__(self, chunk: Chunk) -> _Result:
        plan = self.plan
        aggregate = Aggregate(plan.specs, tuple(plan.functions), explained=plan.explained, contract=plan.contract)
        rows: list[dict[str, Any]] = []
        bad: list[BadRow] = []
        items: Iterable[Rollout | BadRow]
        items = (row for _, row in chunk.rows) if plan.source is None else read_chunk(chunk, plan.source)
        for item in items:
            if isinstance(item, BadRow):
                aggregate.add_bad(item)
                bad.append(item)
                continue
            scores = aggregate.add(item, self.scorer, self.lints)
            if isinstance(scores, BadRow):
                bad.append(scores)
            elif scores is not None and plan.want_rows:
                rows.append(_row(item, scores, aggregate.names, plan.explained))
        return _Result(aggregate, rows, bad)


def _row(rollout: Rollout, scores: RowScores, names: tuple[str, ...], explained: str) -> dict[str, Any]:
    own = scores.scored[explained]
    values = {name: scores.scored[name].total if name in scores.scored else None for name in names}
    return {
        "line": rollout.line,
        "id": rollout.row_id,
        "group": rollout.group,
        "step": rollout.step,
        **values,
        "explained": explained,
        "format": own.format,
        "correctness": own.correctness,
        "floor": own.floor,
        "ceiling": own.ceiling,
        "n_ground_truth": len(scores.prepared.truth.calls),
        "n_predicted": scores.n_predicted,
        "n_malformed": scores.n_malformed,
        "reading_reasons": " ".join(scores.reasons),
        "lost": _lost(scores),
    }


def _lost(scores: RowScores) -> str:
    """Write what the explained reward lost by cause, the most first: ``wrong_value 1.5, format 1``."""
    points: dict[str, float] = {}
    for loss in scores.losses:
        points[loss.cause] = points.get(loss.cause, 0.0) + loss.points
    ranked = sorted(points.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{cause} {lost:.6g}" for cause, lost in ranked)


_WORKER: list[_Worker] = []


def _start(plan: Plan) -> None:
    _WORKER[:] = [_Worker(plan)]


def _work(chunk: Chunk) -> _Result:
    return _WORKER[0](chunk)


def audit(
    rollouts: Path | str | RolloutsFile | Iterable[Mapping[str, Any] | Rollout],
    reward: Any = None,
    *,
    presets: Iterable[str] | Mapping[str, RewardSpec] = PRESETS,
    explained: str = "robust",
    columns: Columns | None = None,
    answers: Path | str | None = None,
    contract: str = "tool_call",
    jobs: int = 1,
    strict: bool = False,
    on_row: Callable[[dict[str, Any]], None] | None = None,
    on_bad_row: Callable[[BadRow], None] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> AuditReport:
    """Audit a file of rollouts under several rewards at once.

    Parameters
    ----------
    rollouts : path, RolloutsFile or iterable of mapping or Rollout
        The file (JSON Lines, JSON, CSV, Parquet), or its records.
    reward : callable, str or mapping, optional
        A further reward, or several by name. Each is a function, an instance with ``__call__``, a class that needs no
        arguments, or a reference for `load_reward`. The names of its parameters tell how it is called, as on the
        command line (see `adapt_reward`): ``solution_str`` as verl calls, ``completions`` (a list) as TRL and ms-swift
        do, ``queries`` (a list) as OpenRLHF does, any others with the completion and the ground truth in this order.
        The ground truth comes as the row holds it.
    presets : iterable of str, or mapping of str to RewardSpec
        The rewards that are computed and compared.
    explained : str
        The one whose lost points are accounted for; it is added if it is not among the presets.
    columns : Columns, optional
        Column names that differ from the usual ones.
    answers : path, optional
        A file with the ground truths by id.
    contract : str
        What counts as a complete turn in multi-turn rows.
    jobs : int
        Number of processes; the result is the same for any.
    strict : bool
        Raise at the first row that cannot be used.
    on_row, on_bad_row, on_progress : callable, optional
        Called in the order of the file: with each row's scores, with each row that cannot be used, with the number
        of rows done. The scores of a row are the total under every reward, and, for the reward that the column
        `explained` names, its format, correctness, floor and ceiling and the points it lost by cause (`lost`);
        `reading_reasons` are what the reader met in the text.

    Returns
    -------
    AuditReport
        The findings.

    Raises
    ------
    BadRowError
        In a strict audit, for the first row that cannot be used.
    RewardError
        If a reward cannot be found, is not callable, or wants other parameters than it would get.
    ValueError
        For an unknown preset or contract, a column that does not exist, or a file that cannot be read at all.

    Examples
    --------
    Two answers that do not parse as calls are at the floor, and the report says so:

    >>> gold = [{"name": "f", "parameters": {"a": 1}}]
    >>> rows = [{"completion": "f(a=1)", "ground_truth": gold}, {"completion": "", "ground_truth": gold}]
    >>> report = audit(rows, presets=["robust"])
    >>> report.rewards["robust"]["mean"], report.rewards["robust"]["floor"], report.warnings[0].code
    (-3.0, -3.0, 'everything_at_floor')

    A reward that was written for a trainer is called as the trainer calls it:

    >>> def lengths(completions, **columns):
    ...     return [len(text) for text in completions]
    >>> audit(rows, lengths).rewards["lengths"]["mean"]
    3.0
    """
    specs = _specs(presets, explained)
    find_contract(contract)
    functions = _functions(reward)
    for name in functions:
        if name in specs or name == "recorded":
            raise ValueError(f"a reward of the name {name!r} is there already: give it another")
    source, chunks = _source(rollouts, columns, answers)
    plan = Plan(
        source=source,
        specs=specs,
        functions=functions,
        explained=explained,
        contract=contract,
        want_rows=on_row is not None,
    )
    whole = Aggregate(specs, tuple(functions), explained=explained, contract=contract)
    for result in _results(chunks, plan, jobs):
        for bad in result.bad:
            if strict:
                raise BadRowError(f"line {bad.line}: {bad.reason}")
            if on_bad_row is not None:
                on_bad_row(bad)
        if on_row is not None:
            for row in result.rows:
                on_row(row)
        whole.merge(result.aggregate)
        if on_progress is not None:
            on_progress(whole.rows)
    return build_report(whole, {} if source is None else source.to_dict())


def _specs(presets: Iterable[str] | Mapping[str, RewardSpec], explained: str) -> dict[str, RewardSpec]:
    if isinstance(presets, Mapping):
        specs = dict(presets)
    else:
        names = [presets] if isinstance(presets, str) else list(presets)
        specs = {name: RewardSpec.preset(name) for name in names}
    if explained not in specs:
        specs[explained] = RewardSpec.preset(explained)
    return specs


def _functions(reward: Any) -> dict[str, Any]:
    if reward is None:
        return {}
    if isinstance(reward, Mapping):
        functions = dict(reward)
    elif isinstance(reward, str):
        functions = {reward.rpartition(":")[2]: reward}
    else:
        functions = {getattr(reward, "__name__", "reward").strip("<>"): reward}
    for function in functions.values():
        _adapted(function)  # a wrong name or signature is told before the first row is read
    return functions


def _adapted(function: Any) -> Reward:
    return load_reward(function) if isinstance(function, str) else adapt_reward(function)


def _source(rollouts: Any, columns: Columns | None, answers: Any) -> tuple[RolloutsFile | None, Iterator[Chunk]]:
    if isinstance(rollouts, (str, Path)):
        rollouts = open_rollouts(rollouts, columns=columns, answers=answers)
    if isinstance(rollouts, RolloutsFile):
        return rollouts, iter_chunks(rollouts.path, rollouts.format)
    return None, _record_chunks(iter(rollouts), columns)


def _record_chunks(records: Iterator[Any], given: Columns | None) -> Iterator[Chunk]:
    columns: Columns | None = None
    number = line = 0
    while held := list(islice(records, CHUNK_ROWS)):
        if columns is None:
            if not any(isinstance(record, Rollout) for record in held):
                check_columns(given, held)
            columns = recognise_columns([r for r in held[:20] if isinstance(r, Mapping)], given=given)
        rows = []
        for record in held:
            line += 1
            rows.append((line, record if isinstance(record, Rollout) else read_record(record, line, columns)))
        yield Chunk(number, rows)
        number += 1


def _check_transport(plan: Plan) -> None:
    """Say so before the first row is read where a reward cannot be handed to another process."""
    try:
        pickle.dumps(plan)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"with several processes a reward must be known by name, 'module:function' or 'file.py:function': {error}"
        ) from None


def _results(chunks: Iterator[Chunk], plan: Plan, jobs: int) -> Iterator[_Result]:
    """Give the results in the order of the chunks, with few chunks in flight."""
    if jobs < 1:
        raise ValueError(f"jobs must be 1 or more, found {jobs}")
    if jobs == 1:
        worker = _Worker(plan)
        yield from map(worker, chunks)
        return
    from concurrent.futures import Future, ProcessPoolExecutor  # a browser's Python has no processes
    from multiprocessing import get_context

    _check_transport(plan)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start, (plan,)) as pool:
        waiting: deque[Future[_Result]] = deque()
        for chunk in chunks:
            waiting.append(pool.submit(_work, chunk))
            if len(waiting) >= 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
