"""Show a breakdown as a ladder: a table of the points won and lost, and why."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

from toolrl_core.points import KeyScore, PairScore, Part

if TYPE_CHECKING:
    from toolrl_core.breakdown import RewardBreakdown

_STATES = {
    "right": "right",
    "wrong_value": "wrong value",
    "missing": "missing",
    "extra": "extra key",
    "free": "optional, free",
    "wrong_optional_value": "wrong optional value",
}
_STYLE = (
    "<style>.toolrl-ladder{border-collapse:collapse;font-size:.92em;margin:0;max-width:46em}"
    ".toolrl-ladder caption{text-align:left;font-weight:600;padding:.3em 0}"
    ".toolrl-ladder th,.toolrl-ladder td{padding:.15em .6em;text-align:left;vertical-align:top;"
    "border-bottom:1px solid #8884}"
    ".toolrl-ladder .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".toolrl-ladder code{overflow-wrap:anywhere}</style>"
)


def ladder_html(breakdown: RewardBreakdown) -> str:
    """Write a breakdown as an HTML table whose steps add up to the total.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.

    Returns
    -------
    str
        HTML without scripts; all text from the completion is escaped.

    Examples
    --------
    >>> from toolrl_core.rewards import score
    >>> wrong, right = {"name": "f", "parameters": {"a": 2}}, {"name": "f", "parameters": {"a": 1}}
    >>> "wrong value" in ladder_html(score([wrong], [right]))
    True
    """
    rows = []
    level = 0.0
    for label, part, why in _steps(breakdown):
        level += part.points
        rows.append(
            f'<tr><th scope="row">{escape(label)}</th><td class="n">{_number(part.points, "+.3f")}</td>'
            f'<td class="n">{_available(part)}</td><td class="n">{_number(level, ".3f")}</td><td>{why}</td></tr>'
        )
    caption = f"Total {_number(breakdown.total, '.3f')} points ({escape(_title(breakdown))})"
    head = "".join(f'<th scope="col">{text}</th>' for text in ("Step", "Points", "Of", "Sum", "Why"))
    html = (
        f'{_STYLE}<table class="toolrl-ladder"><caption>{caption}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{_reasons(breakdown)}"
    )
    return html.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair cannot be shown


def _number(value: float, form: str) -> str:
    return format(value, form).replace("-", "−")


def _title(breakdown: RewardBreakdown) -> str:
    spec = breakdown.spec
    name = spec.name or "own options"
    return f"{name}, {breakdown.matched:.4g} of {breakdown.maximum:.4g} raw points"


def _available(part: Part) -> str:
    return "" if part.label == "floor" else f"{part.available:.3f}"


def _steps(breakdown: RewardBreakdown) -> list[tuple[str, Part, str]]:
    steps = []
    for part in breakdown.parts():
        pair, rest = None, ""
        if part.label.startswith("call "):
            pair = breakdown.pairs[int(part.label.split(" ", 2)[1])]
            rest = part.label.removeprefix(f"call {pair.ground_truth_index} {pair.name}").removeprefix(": ")
        steps.append((part.label, part, _why(breakdown, part, pair, rest)))
    return steps


def _why(breakdown: RewardBreakdown, part: Part, pair: PairScore | None, rest: str) -> str:
    if part.label == "floor":
        return "where correctness starts"
    if part.label == "names":
        return _names(breakdown)
    if part.label == "format":
        return f"rule {escape(breakdown.spec.format_rule)}: {'holds' if part.points == part.available else 'broken'}"
    if part.label == "extra calls":
        return "calls beyond the expected names raise the maximum"
    if pair is None:
        return ""
    if pair.predicted_index is None:
        return "no partner"
    key = next((key for key in pair.keys if rest == f"value of {key.key}"), None)
    if key is not None:
        return _value(key)
    other = [key for key in pair.keys if key.state not in ("right", "wrong_value")]
    partner = f"paired with predicted call {pair.predicted_index} {escape(str(pair.predicted_name))}"
    return partner + "".join(f"; <code>{escape(key.key)}</code> {_STATES[key.state]}" for key in other)


def _names(breakdown: RewardBreakdown) -> str:
    wanted = ", ".join(pair.name for pair in breakdown.pairs) or "none"
    given = [pair.predicted_name for pair in breakdown.pairs if pair.predicted_name is not None]
    given += [call.name for call in breakdown.unmatched]
    shown = ", ".join(given[:8]) or "none"
    malformed = f" and {breakdown.n_malformed} malformed" if breakdown.n_malformed else ""
    return f"expected {escape(wanted)}; found {escape(shown)}{malformed}"


def _value(key: KeyScore) -> str:
    if key.state == "right":
        return f"<code>{_json(key.found)}</code>"
    if key.state == "missing":
        return f"missing; expected <code>{_json(key.expected)}</code>"
    return f"wrong value <code>{_json(key.found)}</code>; expected <code>{_json(key.expected)}</code>"


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or thousands of levels
        text = f"a {type(value).__name__} too large to show"
    return escape(text if len(text) <= 80 else text[:77] + "…")


def _reasons(breakdown: RewardBreakdown) -> str:
    if not breakdown.reasons:
        return ""
    items = "".join(f"<li>{escape(str(finding))}</li>" for finding in breakdown.reasons[:30])
    more = len(breakdown.reasons) - 30
    items += f"<li>and {more} more</li>" if more > 0 else ""
    summary = f"<summary>Reasons ({len(breakdown.reasons)})</summary>"
    return f'<details class="toolrl-reasons">{summary}<ul>{items}</ul></details>'
