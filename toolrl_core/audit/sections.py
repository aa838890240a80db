"""Lay a report out as sections of sentences, tables, bars and examples, for every rendering to share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from toolrl_core.audit.findings import Finding
from toolrl_core.audit.gold_lint import LINTS
from toolrl_core.audit.layout import Bars, Section, Table, number, percent
from toolrl_core.audit.lost_points import CAUSES

__all__ = ["Report", "headline_sentence", "sections"]

_ROWS = 15


class Report(Protocol):
    """Name what a rendering reads of a report; `toolrl_core.audit.report.AuditReport` has it."""

    @property
    def data(self) -> Mapping[str, Any]:
        """Every number as plain values."""

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings in plain words."""

    @property
    def rewards(self) -> Mapping[str, Mapping[str, Any]]:
        """Mean, floor, ceiling and shares of each reward."""


def headline_sentence(data: Mapping[str, Any]) -> str:
    """Say in one or two sentences where the mean stands between floor and ceiling.

    Parameters
    ----------
    data : mapping
        A report's plain data.

    Returns
    -------
    str
        The sentence.
    """
    name = data["explained"]
    bounds = data["bounds"][name]
    rows = f"{data['scored_rows']:,} of {data['rows']:,} rows"
    usable = data["rows"] - sum(data["bad_rows"]["by_reason"].values())
    if not usable:
        return f"None of the {data['rows']:,} rows can be used."
    if not data["scored_rows"]:
        return (
            f"{usable:,} ground {'truth' if usable == 1 else 'truths'}, {data['with_calls']:,} of which "
            f"{'expects' if data['with_calls'] == 1 else 'expect'} a call. Under {name} a completion "
            f"for them scores between {number(bounds['floor'])} and {number(bounds['ceiling'])} points on average."
        )
    reward = data["rewards"][name]
    floor, ceiling = reward["floor"], reward["ceiling"]
    if ceiling <= floor:
        return (
            f"Under {name} the mean of {rows} is {number(reward['mean'])} points, the least and the most that these "
            "rows could get: whatever they hold, they score the same."
        )
    place = (reward["mean"] - floor) / (ceiling - floor)
    return (
        f"Under {name} the mean of {rows} is {number(reward['mean'])} points. The least that these rows could get is "
        f"{number(floor)}, the most {number(ceiling)}: the mean stands at {percent(place)} of the way. "
        f"{percent(reward['share_at_floor'])} of the rows are at their floor, {percent(reward['share_at_ceiling'])} at "
        "their ceiling."
    )


def sections(data: Mapping[str, Any]) -> list[Section]:
    """List the sections of a report.

    Parameters
    ----------
    data : mapping
        A report's plain data.

    Returns
    -------
    list of Section
        Those that have something to show.
    """
    found: Iterable[Section | None]
    if data["scored_rows"]:
        found = (
            _rewards(data),
            _distribution(data),
            _reading(data),
            _lost(data),
            _disagreement(data),
            _groups(data),
            _order(data),
            _lengths(data),
            _steps(data),
            _void(data),
        )
    else:
        found = (_bounds(data),)
    return [section for section in (*found, _gold(data), _bad(data)) if section is not None]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> Table:
    return Table(header=tuple(header), rows=tuple(tuple(row) for row in rows), caption=caption)


def _rewards(data: Mapping[str, Any]) -> Section:
    header = ("reward", "mean", "floor", "ceiling", "at floor", "at ceiling", "mean correctness", "its floor", "format")
    rows = [
        (
            name,
            number(r["mean"]),
            number(r["floor"]),
            number(r["ceiling"]),
            percent(r["share_at_floor"]),
            percent(r["share_at_ceiling"]),
            number(r["mean_correctness"]),
            number(r["correctness_floor"]),
            number(r["mean_format"]),
        )
        for name, r in data["rewards"].items()
        if r["rows"]
    ]
    text = (
        "Each row was scored under every reward. A mean says little without the least and the most that the same rows "
        "could have got: floor and ceiling. Where they differ, a mean at its floor means that no row earned anything."
    )
    errors = [(name, error, f"{count}") for name, r in data["rewards"].items() for error, count in r["errors"].items()]
    parts = [_table(header, rows, "Points, averaged over the rows.")]
    if errors:
        parts.append(_table(("reward", "error (text)", "rows"), errors[:_ROWS], "Where a reward gave no number."))
    return Section(title="Mean, floor and ceiling", text=text, parts=tuple(parts))


def _bounds(data: Mapping[str, Any]) -> Section:
    rows = [(name, number(b["floor"]), number(b["ceiling"])) for name, b in data["bounds"].items()]
    text = "No completion is needed to know the least and the most that this data set can give."
    return Section(title="Floor and ceiling", text=text, parts=(_table(("reward", "floor", "ceiling"), rows),))


def _distribution(data: Mapping[str, Any]) -> Section:
    wanted = [data["explained"]] + (["recorded"] if data["rewards"].get("recorded", {}).get("rows") else [])
    charts = []
    for name in wanted:
        histogram = data["rewards"][name]["histogram"]
        step = max(1, -(-len(histogram) // 32))
        merged = [
            (f"from {number(histogram[i][0])}", float(sum(count for _, count in histogram[i : i + step])))
            for i in range(0, len(histogram), step)
        ]
        charts.append(Bars(title=f"Total of {name}, in points", unit="rows", bars=tuple(merged)))
    text = "How many rows got how much. Two far peaks and nothing between them are an all-or-nothing reward."
    return Section(title="Distribution", text=text, parts=tuple(charts))


def _reading(data: Mapping[str, Any]) -> Section:
    rows = data["scored_rows"]
    reasons = tuple((name, float(count)) for name, count in data["reasons"][:_ROWS])
    text = (
        f"What the reader met in the texts; 'clean' is nothing unusual. In {data['nothing_parsed']:,} of the rows that "
        f"expect a call not one call could be read; {data['malformed_rows']:,} of {rows:,} rows hold a call that could "
        "not."
    )
    return Section(
        title="How the texts were read", text=text, parts=(Bars(title="Rows by reason", unit="rows", bars=reasons),)
    )


def _lost(data: Mapping[str, Any]) -> Section:
    lost = data["lost"]
    causes = tuple((item["cause"].replace("_", " "), item["per_row"]) for item in lost["by_cause"])
    text = (
        f"Every point between the score and its ceiling under {data['explained']}, by cause. The bars add up to the "
        "ceiling less the mean."
    )
    parts: list[Table | Bars] = [Bars(title="Lost points by cause", unit="points a row", bars=causes)]
    parts.append(
        _table(
            ("cause", "meaning (text)", "points a row"),
            [(i["cause"].replace("_", " "), CAUSES[i["cause"]], number(i["per_row"])) for i in lost["by_cause"]],
        )
    )
    if lost["by_tool"]:
        rows = [
            (
                item["tool"],
                f"{item['rows']:,}",
                number(item["points"]),
                next(iter(item["causes"])).replace("_", " "),
            )
            for item in lost["by_tool"][:_ROWS]
        ]
        parts.append(_table(("tool", "rows", "points lost", "mostly by (text)"), rows, "The tools that lose the most."))
    if lost["by_parameter"]:
        places = [
            (f"{item['tool']}, {item['parameter']}", item["cause"].replace("_", " "), number(item["points"]))
            for item in lost["by_parameter"][:_ROWS]
        ]
        parts.append(_table(("parameter", "cause (text)", "points lost"), places, "The parameters that lose the most."))
    return Section(title="Where points are lost", text=text, parts=tuple(parts))


def _disagreement(data: Mapping[str, Any]) -> Section | None:
    wanted = {"paper", "released", "robust", "recorded", data["explained"], *data["functions"]}
    pairs = [p for p in data["disagreement"] if p["first"] in wanted and p["second"] in wanted]
    if not pairs:
        return None
    rows = [
        (
            f"{p['first']} / {p['second']}",
            percent(p["share_different"]),
            f"{p['first_higher']:,}",
            f"{p['second_higher']:,}",
            number(p["mean_difference"]),
            number(p["largest_difference"]),
        )
        for p in pairs
    ]
    header = ("rewards", "rows that differ", "first higher", "second higher", "mean difference", "largest")
    text = "The same rows under two rewards. Where they differ, one of them rewards what the other does not."
    parts: list[Table | Mapping[str, Any]] = [_table(header, rows, "Differences of the totals, in points.")]
    for pair in pairs:
        for shown in pair["examples"]:
            first, second = (f"{name} {number(value)}" for name, value in shown["values"])
            title = f"Smallest row with {first} and {second} (line {shown['line']})"
            parts.append({"title": title, "completion": shown["completion"], "ground_truth": shown["ground_truth"]})
    return Section(title="Where the rewards disagree", text=text, parts=tuple(parts))


def _groups(data: Mapping[str, Any]) -> Section | None:
    groups = data["groups"]
    if not groups["groups"]:
        return None
    rows = [
        (name, f"{z['zero_std']:,} of {z['groups']:,}", percent(z["share"]))
        for name, z in groups["zero_std"].items()
        if z["groups"]
    ]
    sizes = ", ".join(f"{count:,} of {size}" for size, count in groups["sizes"][:8])
    text = (
        f"{groups['groups']:,} groups (number of groups of each size: {sizes}). A group whose rewards are all equal "
        "has advantage 0 everywhere and teaches nothing; coarser rewards have more of them."
    )
    bars = tuple((name, 100 * z["share"]) for name, z in groups["zero_std"].items() if z["groups"])
    chart = Bars(title="Groups without spread", unit="% of groups", bars=bars)
    return Section(title="Groups", text=text, parts=(chart, _table(("reward", "zero-std groups", "share"), rows)))


def _order(data: Mapping[str, Any]) -> Section | None:
    rows = [
        (name, f"{o['rows']:,}", percent(o["share_different"]), number(o["largest_difference"]))
        for name, o in data["order"].items()
        if o["rows"]
    ]
    if not rows:
        return None
    text = "Greedy matching takes the ground truth in its order. These answers were scored again with it reversed."
    parts: list[Table | Mapping[str, Any]] = [
        _table(("reward", "answers with several calls", "that change", "largest change"), rows)
    ]
    for name, order in data["order"].items():
        for shown in order["examples"][:1]:
            title = f"Smallest answer whose score under {name} changes (line {shown['line']})"
            parts.append({"title": title, "completion": shown["completion"], "ground_truth": shown["ground_truth"]})
    return Section(title="Order of the ground truth", text=text, parts=tuple(parts))


def _lengths(data: Mapping[str, Any]) -> Section:
    name = "recorded" if data["rewards"].get("recorded", {}).get("rows") else data["explained"]
    lengths = data["lengths"][name]
    rows = [(f"{i['words_from']}–{i['words_to']}", f"{i['rows']:,}", number(i["mean"])) for i in lengths["by_words"]]
    correlation = "–" if lengths["correlation"] is None else f"{lengths['correlation']:.2f}"
    text = f"Mean total of {name} by length. Correlation with the logarithm of the number of words: {correlation}."
    return Section(title="Length", text=text, parts=(_table(("words", "rows", "mean"), rows),))


def _steps(data: Mapping[str, Any]) -> Section | None:
    steps = data["steps"]
    if len(steps) < 2:
        return None
    size = -(-len(steps) // 12)
    own = f"mean_{data['explained']}"
    rows = []
    for start in range(0, len(steps), size):
        part = steps[start : start + size]
        count = sum(item["rows"] for item in part)
        means = [
            number(sum(item[key] * item["rows"] for item in part) / count) if part[0][key] is not None else "–"
            for key in (own, "mean_recorded")
        ]
        missing = sum(item["share_missing_argument"] * item["rows"] for item in part) / count
        label = f"{number(part[0]['step'])} to {number(part[-1]['step'])}"
        rows.append((label, f"{count:,}", *means, percent(missing)))
    text = "A mistake that becomes more frequent during training is one that pays."
    header = ("steps", "rows", f"mean {data['explained']}", "mean recorded", "answers with a missing argument")
    return Section(title="Over the steps", text=text, parts=(_table(header, rows),))


def _void(data: Mapping[str, Any]) -> Section | None:
    void = data["void"]
    if not void:
        return None
    rows = [
        ("rollouts with several turns", f"{void['rows']:,}"),
        ("with a void turn", f"{void['with_void_turn']:,} ({percent(void['share_with_void_turn'])})"),
        ("void turns", f"{void['void_turns']:,} of {void['turns']:,}"),
        ("mean reward", number(void["mean"])),
        ("mean reward without them", number(void["mean_without_void"])),
        ("groups without spread", f"{void['zero_std']:,} of {void['groups']:,}"),
        ("groups without spread after filtering", f"{void['zero_std_after_filter']:,}"),
        ("groups left empty by filtering", f"{void['empty_after_filter']:,}"),
        ("groups that 'drop group' drops", f"{void['dropped_groups']:,}"),
    ]
    text = (
        f"A turn is void when it has neither a complete action nor an answer under the contract {void['contract']}. "
        "Masking keeps the rollout's reward in its group; filtering and dropping do not."
    )
    return Section(title="Void turns", text=text, parts=(_table(("what", "how many"), rows),))


def _gold(data: Mapping[str, Any]) -> Section | None:
    if not data["gold"]:
        return None
    rows = [
        (code.replace("_", " "), LINTS[code], f"{held['rows']:,}", f"line {held['line']}: {held['detail']}")
        for code, held in data["gold"].items()
    ]
    text = "What in the ground truths makes a right answer lose, or cannot be right."
    table = _table(("fault", "meaning (text)", "rows", "first (text)"), rows)
    return Section(title="Ground truths", text=text, parts=(table,))


def _bad(data: Mapping[str, Any]) -> Section | None:
    bad = data["bad_rows"]
    if not bad["by_reason"]:
        return None
    rows = [(f"{row['line']}", row["reason"], row["preview"]) for row in bad["first"][:_ROWS]]
    total = sum(bad["by_reason"].values())
    text = f"In no number above, because they could not be used: {total:,} of {data['rows']:,} rows. The first of them:"
    return Section(title="Rows left out", text=text, parts=(_table(("line", "reason (text)", "row (text)"), rows),))
