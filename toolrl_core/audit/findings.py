"""Say in plain words what an audit found: each finding has a code, a sentence, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolrl_core.audit.gold_lint import LINTS
from toolrl_core.audit.layout import counted
from toolrl_core.audit.reported_mean import explain_mean
from toolrl_core.audit.unusable import literal_hint

__all__ = ["Finding", "explain_mean", "find_all", "reward_errors"]

MOST = 0.99


class Finding(NamedTuple):
    """State one finding.

    Parameters
    ----------
    code : str
        A stable name.
    level : {"serious", "warning", "note"}
        How much it matters.
    text : str
        The finding, with its numbers.
    advice : str
        What to look at or to do.
    """

    code: str
    level: str
    text: str
    advice: str = ""


def find_all(report: Mapping[str, Any]) -> tuple[Finding, ...]:
    """List the findings of a report's plain data, the serious ones first.

    Parameters
    ----------
    report : mapping
        As `toolrl_core.audit.report.AuditReport.to_dict` gives it.

    Returns
    -------
    tuple of Finding
        The findings.
    """
    found = [*_rows(report), *reward_errors(report)]
    if report["scored_rows"]:
        found += [*_at_floor(report), *_format(report), *_reading(report), *_recorded(report), *_groups(report)]
        found += [*_points(report), *_lengths(report), *_void(report)]
    found += _gold(report)
    order = {"serious": 0, "warning": 1, "note": 2}
    return tuple(sorted(found, key=lambda finding: order[finding.level]))


def _percent(share: float | None) -> str:
    if share is None:
        return "–"
    text = f"{100 * share:.1f}"
    return f"{'less than 0.1' if text == '0.0' and share else text.removesuffix('.0')} %"


def _rows(report: Mapping[str, Any]) -> Iterator[Finding]:
    bad = sum(report["bad_rows"]["by_reason"].values())
    if bad:
        most = next(iter(report["bad_rows"]["by_reason"]))
        level = "serious" if bad > 0.01 * report["rows"] else "warning"
        text = f"{bad} of {report['rows']} rows cannot be used; the most frequent reason is: {most}."
        advice = "They are listed with their lines, and left out of every number."
        yield Finding("bad_rows", level, text, f"{advice} {literal_hint(report)}".rstrip())
    for column, held in report["unread"].items():
        meaning = {"step": "step", "reward": "recorded reward"}[column]
        text = (
            f"The {meaning} of {held['rows']} of {report['rows']} rows is no number that can be used "
            f"(first in line {held['line']}: {held['text']})."
        )
        advice = "These rows count as rows without one. Name another column if this is the wrong one."
        yield Finding(f"unread_{column}", "warning", text, advice)
    missing = report["without_completion"]
    if missing and not report["scored_rows"]:
        truths = counted(missing, "ground truth", "ground truths")
        text = f"The file holds no completions: this is an audit of its {truths} alone."
        yield Finding("no_completions", "note", text, "Name the column with --completion if there is one.")
    elif missing:
        text = f"{counted(missing, 'row has', 'rows have')} no completion, and no score."
        yield Finding("missing_completions", "warning", text, "An empty answer should be an empty text.")


def reward_errors(report: Mapping[str, Any]) -> Iterator[Finding]:
    """Say for each further reward on how many rows it gave no number, and why.

    Parameters
    ----------
    report : mapping
        A report's plain data.

    Yields
    ------
    Finding
        One serious finding for each reward that raised an exception or returned no number.

    Examples
    --------
    >>> from toolrl_core.audit.run import audit
    >>> def broken(completion, ground_truth):
    ...     return None
    >>> print(next(reward_errors(audit([{"completion": "hm", "ground_truth": []}], broken).data)).text)
    broken gave no number on 1 of 1 rows: RewardError: the reward returned None, not a number.
    """
    for name in report["functions"]:
        errors = report["rewards"][name]["errors"]
        if not errors:
            continue
        failed = sum(errors.values())
        shown = "; ".join(f"{error} ({count})" for error, count in list(errors.items())[:3])
        if len(errors) == 1:
            shown = next(iter(errors))
        elif len(errors) > 3:
            shown += f"; and {len(errors) - 3} other texts"
        text = f"{name} gave no number on {failed} of {report['scored_rows']} rows: {shown.rstrip('.')}."
        advice = "They are in none of its means. In training such a row stops the run, or counts as 0."
        yield Finding("reward_errors", "serious", text, advice)


def _at_floor(report: Mapping[str, Any]) -> Iterator[Finding]:
    calls, unread = report["scored_with_calls"], report["nothing_parsed"]
    unread_all = bool(calls) and unread >= MOST * calls
    at_floor = [name for name, reward in report["rewards"].items() if _is_at_floor(reward)]
    shown = at_floor if unread_all else [name for name in at_floor if name == report["explained"]]
    means = {name: report["rewards"][name] for name in shown}
    listed = ", ".join(
        f"{name} {reward['mean_correctness']:g} (floor {reward['correctness_floor']:g})"
        for name, reward in means.items()
    )
    head = f"The correctness of {report['scored_rows']} rows is at its floor: mean {listed}."
    if shown and unread_all:
        text = (
            f"{head} Not one call could be read in {unread} of the {calls} rows that expect one. That is "
            "not a bad model but an answer that was not scored, or a model that never calls."
        )
        advice = (
            "Look at one completion: are the tags there, is it the model's own text, is the template the right one?"
        )
        reasons = [name for name, _ in report["reasons"] if name != "clean"][:3]
        yield Finding("everything_at_floor", "serious", text, advice + _seen(reasons))
    elif calls and unread > 0.1 * calls:
        text = (
            f"In {unread} of {calls} rows that expect a call ({_percent(unread / calls)}), not one call could be read."
        )
        yield Finding(
            "nothing_parsed", "serious" if unread_all else "warning", text, "See the reasons of reading below."
        )
    if shown and not unread_all:
        text = f"{head} Calls were read, and nothing in them earned a point."
        advice = "The answers are wrong, or the reward is all or nothing: compare it with a finer one below."
        yield Finding("nothing_right", "warning", text, advice)
    constant: dict[int, list[str]] = {}
    for name, reward in report["rewards"].items():
        if reward["rows"] > 1 and reward["lowest"] == reward["highest"]:
            constant.setdefault(reward["rows"], []).append(f"{name} is {reward['lowest']:g}")
    for rows, said in constant.items():
        teaches = "it teaches nothing" if len(said) == 1 else "they teach nothing"
        text = f"{', '.join(said)} on every one of {rows} rows: {teaches}."
        yield Finding("constant_reward", "serious", text, "A trainer runs on it without complaint.")


def _is_at_floor(reward: Mapping[str, Any]) -> bool:
    """Tell whether nearly no row is above its floor, among the rows whose floor and ceiling differ."""
    return bool(reward["correctness_open_rows"]) and float(reward["share_correctness_open_at_floor"]) >= MOST


def _seen(reasons: list[str]) -> str:
    return f" Reading met: {', '.join(reasons)}." if reasons else ""


def _format(report: Mapping[str, Any]) -> Iterator[Finding]:
    for name in ("paper", "released", "robust"):
        reward = report["rewards"].get(name)
        if reward is None or not reward["format_constant"]:
            continue
        text = f"The format reward of {name} is {reward['mean_format']:g} on every row: it teaches nothing."
        prefilled = report["bare_thought_ends"]
        if reward["mean_format"] == 0 and prefilled > 0.5 * report["scored_rows"]:
            ends = counted(prefilled, "completion ends", "completions end")
            text += f" {ends} a thought without opening it: the template opens it."
            yield Finding(
                "prefilled_thought", "serious", text, "Score with prefilled_thought=True (--prefilled-thought)."
            )
        else:
            yield Finding("format_constant", "warning", text, "")
        return
    if report["bare_thought_ends"] > 0.01 * report["scored_rows"]:
        ends = counted(report["bare_thought_ends"], "completion ends", "completions end")
        text = f"{ends} a thought without opening it."
        advice = "If the template opens it, use prefilled_thought=True (--prefilled-thought)."
        yield Finding("prefilled_thought", "warning", text, advice)


_READING = {
    "truncated": ("break off inside a call: the token limit was met.", "Raise the limit, or mask them."),
    "special_token_tail": ("end in a stop token.", "Decode without special tokens."),
    "python_literal": (
        "write calls as Python dictionaries (single quotes, True, None), which are not JSON.",
        "Count them with accept_python_literals=True (--python-literals), or let the model learn JSON.",
    ),
    "arguments_key": (
        "write 'arguments' where ToolRL's data say 'parameters'; the released code scores them as wrong.",
        "Rewards here read both.",
    ),
    "stringified_arguments": ("write the arguments as JSON text inside JSON.", "It is decoded once."),
    "missing_tool_call_block": ("hold no tool-call block where one is expected.", ""),
}


def _reading(report: Mapping[str, Any]) -> Iterator[Finding]:
    counts, rows = dict(report["reasons"]), report["scored_rows"]
    for reason, (text, advice) in _READING.items():
        count = counts.get(reason, 0)
        if count > 0.005 * rows:
            level = "warning" if count > 0.05 * rows else "note"
            verb, rest = text.split(" ", 1)
            said = f"{count} of {rows} completions {verb}{'s' if count == 1 else ''} {rest}"
            yield Finding(reason, level, said, advice)
    if report["chat_markers"]:
        text = counted(report["chat_markers"], "completion holds", "completions hold")
        text += " chat markers: the prompt seems to be part of the text."
        yield Finding(
            "chat_markers", "warning", text, "Score the model's own text; tags in a prompt count as its calls."
        )
    several = report["several_accepted"]
    if several and any(spec["parser"] == "released" for spec in report["specs"].values()):
        text = counted(several, "ground truth accepts", "ground truths accept")
        text += " several values; the released rules know one, and get the first."
        yield Finding("first_value_only", "note", text, "Their score denies credit to other accepted answers.")
    if report["no_call_rows_with_call"]:
        text = counted(report["no_call_rows_with_call"], "answer calls", "answers call")
        text += " a tool where none is expected."
        released = "The released rules give this the same correctness, 0, as a refusal."
        yield Finding("unneeded_calls", "note", text, released if "released" in report["rewards"] else "")


def _recorded(report: Mapping[str, Any]) -> Iterator[Finding]:
    recorded = report["rewards"].get("recorded")
    if not recorded or not recorded["rows"]:
        return
    if recorded["unscored"]:
        text = counted(recorded["unscored"], "row has", "rows have")
        text += " no recorded reward, or one that is no finite number."
        yield Finding("unscored_rows", "warning", text, "Some trainers turn such rows into 0, others into NaN.")
    match = report["recorded_match"]
    if match and match["share"] >= MOST:
        text = f"The recorded reward is the {match['part']} of {match['reward']} on {_percent(match['share'])} of rows."
        yield Finding("recorded_match", "note", text, "")
    elif match:
        text = (
            f"The recorded reward equals none of the presets; the nearest is the {match['part']} of {match['reward']}, "
        )
        yield Finding("recorded_differs", "note", text + f"on {_percent(match['share'])} of the rows.", "")


def _groups(report: Mapping[str, Any]) -> Iterator[Finding]:
    groups = report["groups"]
    if not groups["groups"]:
        yield Finding(
            "no_groups", "note", "No column names the group of a row, so zero-std groups are not counted.", ""
        )
        return
    if groups["singletons"] == groups["groups"]:
        held = counted(groups["groups"], "group", "groups")
        text = f"Every group holds one row ({held}): there is nothing to compare, or the group column is another."
        yield Finding("singleton_groups", "warning", text, "Name the column with --group.")
        return
    if groups["singletons"]:
        verb = "holds" if groups["singletons"] == 1 else "hold"
        text = f"{groups['singletons']} of {groups['groups']} groups {verb} a single row."
        advice = "Trainers differ there: verl keeps the raw reward as advantage, TRL gives 0."
        yield Finding("singleton_groups", "warning", text, advice)
    if groups["ragged"]:
        sizes = [size for size, _ in groups["sizes"]]
        text = f"Groups differ in size, from {min(sizes)} to {max(sizes)} rows."
        yield Finding("ragged_groups", "warning", text, "Group by key, never by position.")
    for name in ("recorded", report["explained"]):
        zero = groups["zero_std"].get(name)
        if zero and zero["groups"] and zero["share"] > 0.5:
            text = (
                f"{_percent(zero['share'])} of the groups have equal rewards under {name}: no advantage, no gradient."
            )
            yield Finding(
                "zero_std_groups",
                "warning",
                text,
                "Compare the tiers below; harder or finer rewards may separate them.",
            )
            return


def _points(report: Mapping[str, Any]) -> Iterator[Finding]:
    for name, order in report["order"].items():
        if order["rows"] and order["share_different"]:
            text = (
                f"Under {name}, {_percent(order['share_different'])} of the {order['rows']} answers with several calls "
                f"change their score when the ground truth is reversed, by up to {order['largest_difference']:.3g}."
            )
            yield Finding(
                "order_sensitive", "warning", text, "Greedy matching depends on the order; optimal matching does not."
            )
    for name in ("recorded", *report["functions"]):
        held = report["missing_argument"].get(name)
        if held and held["rows_with"] >= 5 and held["rows_without"] >= 5 and held["mean_with"] > held["mean_without"]:
            text = (
                f"Answers that leave out an argument earn more under {name} than answers that give them all: "
                f"{held['mean_with']:.3g} against {held['mean_without']:.3g} points."
            )
            advice = "A reward that compares only what is there can be hacked: let a missing argument lose points."
            yield Finding("missing_arguments_pay", "serious", text, advice)
    growth = report["missing_argument_growth"]
    if growth and growth["last"] > max(2 * growth["first"], growth["first"] + 0.05):
        text = (
            f"The share of answers that leave out an argument grows from {_percent(growth['first'])} in the first "
            f"third of the steps to {_percent(growth['last'])} in the last."
        )
        yield Finding("missing_arguments_grow", "warning", text, "A growing mistake is one that pays.")


def _lengths(report: Mapping[str, Any]) -> Iterator[Finding]:
    name = "recorded" if "recorded" in report["lengths"] else report["explained"]
    value = report["lengths"][name]["correlation"]
    if value is not None and abs(value) > 0.3 and report["scored_rows"] >= 30:
        direction = "Longer" if value > 0 else "Shorter"
        text = (
            f"{direction} completions earn more under {name}: correlation {value:.2f} with the logarithm of the words."
        )
        yield Finding("length_dependence", "note", text, "")


def _void(report: Mapping[str, Any]) -> Iterator[Finding]:
    void = report["void"]
    if void and void["with_void_turn"]:
        verb = "has" if void["with_void_turn"] == 1 else "have"
        text = (
            f"{void['with_void_turn']} of {void['rows']} multi-turn rollouts {verb} a turn with neither a complete "
            f"action nor an answer (contract {void['contract']})."
        )
        if void["groups"]:
            text += (
                f" Filtering them leaves {void['zero_std_after_filter']} of {void['groups']} groups without spread, "
                f"{void['zero_std']} before."
            )
        yield Finding(
            "void_turns", "warning", text, "Masking keeps their reward in the group's mean; filtering does not."
        )


_SERIOUS = {"unreachable", "missing_required", "wrong_type"}


def _gold(report: Mapping[str, Any]) -> Iterator[Finding]:
    rows = report["rows"]
    for code, held in report["gold"].items():
        level = "warning" if code in _SERIOUS else "note"
        detail = f" (first in line {held['line']}" + (f": {held['detail']})" if held["detail"] else ")")
        text = f"Ground truth of {held['rows']} of {rows} rows: {LINTS[code]}{detail}."
        yield Finding(f"gold_{code}", level, text, "")
