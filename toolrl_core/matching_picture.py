"""Draw which predicted call was paired with which expected call, as SVG and as a table of the points of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from toolrl_core.breakdown import RewardBreakdown
from toolrl_core.points import PairScore

__all__ = ["matching_html", "matching_svg", "predicted_names"]

_SHOWN = 12
_WIDTH, _BOX, _ROW, _TOP = 480, 180, 54, 26
_STYLE = (
    "<style>.toolrl-matching svg{display:block;width:100%;max-width:34em;height:auto}"
    ".toolrl-matching table{border-collapse:collapse;font-size:.92em}"
    ".toolrl-matching caption{text-align:left;padding:.3em 0}"
    ".toolrl-matching th,.toolrl-matching td{padding:.15em .6em;border-bottom:1px solid #8884;text-align:right;"
    "font-variant-numeric:tabular-nums}.toolrl-matching th{text-align:left;overflow-wrap:anywhere}</style>"
)


def predicted_names(breakdown: RewardBreakdown) -> tuple[str, ...]:
    """Return the names of the predicted calls in the order of the completion.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.

    Returns
    -------
    tuple of str
        One name for each call that could be read.

    Examples
    --------
    >>> from toolrl_core.rewards import score
    >>> predicted_names(score([{"name": "g", "arguments": {}}, {"name": "f", "arguments": {}}], [{"name": "f"}]))
    ('g', 'f')
    """
    paired = {pair.predicted_index: pair.predicted_name or "" for pair in breakdown.pairs}
    rest = iter(breakdown.unmatched)
    return tuple(paired[i] if i in paired else next(rest).name for i in range(breakdown.n_predicted))


def matching_svg(breakdown: RewardBreakdown) -> str:
    """Draw expected calls on the left, predicted ones on the right, and a line for each pair.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.

    Returns
    -------
    str
        An SVG element with alternative text; solid lines win points, dashed ones none. Empty without any call.

    Notes
    -----
    ToolRL note §6.2. At most twelve calls a side are drawn; the alternative text is about the same calls.

    Examples
    --------
    >>> from toolrl_core.rewards import score
    >>> svg = matching_svg(score([{"name": "f", "arguments": {}}], [{"name": "f"}, {"name": "g"}]))
    >>> svg.count("<line"), "expected call 1 g: no partner" in svg
    (1, True)
    """
    names = predicted_names(breakdown)
    expected, predicted = breakdown.pairs[:_SHOWN], names[:_SHOWN]
    if not expected and not predicted:
        return ""
    lines = [_line(pair) for pair in expected if pair.predicted_index is not None and pair.predicted_index < _SHOWN]
    partners = {pair.predicted_index: pair.ground_truth_index for pair in breakdown.pairs}
    boxes = [_box(0, j, f"{j} {pair.name}", _gained(pair), won=pair.score > 0) for j, pair in enumerate(expected)]
    for i, name in enumerate(predicted):
        paired = i in partners
        said = f"paired with {partners[i]}" if paired else "no partner"
        boxes.append(_box(_WIDTH - _BOX, i, f"{i} {name}", said, won=paired))
    rows = max(len(expected), len(predicted))
    hidden = max(len(breakdown.pairs), len(names)) - _SHOWN
    height = _TOP + rows * _ROW + (20 if hidden > 0 else 0)
    more = f'<text x="0" y="{height - 6}">and up to {hidden} more a side</text>' if hidden > 0 else ""
    heads = f'<text x="0" y="14">expected</text><text x="{_WIDTH - _BOX}" y="14">predicted</text>'
    return _shown(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(_words(expected, predicted, partners))}" fill="currentColor" font-size="13" '
        f'font-family="sans-serif">{heads}{"".join(lines)}{"".join(boxes)}{more}</svg>'
    )


def _middle(row: int) -> int:
    return _TOP + row * _ROW + (_ROW - 8) // 2


def _line(pair: PairScore) -> str:
    colour = "var(--toolrl-green, #2c824f)" if pair.score > 0 else "currentColor"
    width = 1.0 + 4.0 * pair.score / pair.available if pair.available else 1.0
    dashes = "" if pair.score > 0 else ' stroke-dasharray="5 4"'
    return (
        f'<line x1="{_BOX}" y1="{_middle(pair.ground_truth_index)}" x2="{_WIDTH - _BOX}" '
        f'y2="{_middle(pair.predicted_index or 0)}" stroke="{colour}" stroke-width="{width:.1f}"{dashes}/>'
    )


def _box(x: int, row: int, title: str, below: str, *, won: bool) -> str:
    y, text = _TOP + row * _ROW, x + 10
    dashes = "" if won else ' stroke-dasharray="5 4"'
    return (
        f'<rect x="{x + 1}" y="{y}" width="{_BOX - 2}" height="{_ROW - 8}" rx="5" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.5"{dashes}/><text x="{text}" y="{y + 19}" font-weight="600">{escape(_short(title))}</text>'
        f'<text x="{text}" y="{y + 36}" font-size="12">{escape(below)}</text>'
    )


def _short(text: str) -> str:
    return text if len(text) <= 22 else text[:21] + "…"


def _gained(pair: PairScore) -> str:
    points = f"{_number(pair.score)} of {_number(pair.available)}"
    if pair.predicted_index is None:
        return f"{points}, by a malformed call" if pair.score > 0 else "no partner"
    return f"{points} raw points"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _words(expected: Sequence[PairScore], predicted: Sequence[str], partners: dict[int | None, int]) -> str:
    said = []
    for pair in expected:
        call = f"expected call {pair.ground_truth_index} {pair.name}"
        if pair.predicted_index is None:
            said.append(f"{call}: {_gained(pair)}")
        else:
            said.append(
                f"{call}: paired with predicted call {pair.predicted_index} {pair.predicted_name}, {_gained(pair)}"
            )
    said += [f"predicted call {i} {name}: no partner" for i, name in enumerate(predicted) if i not in partners]
    return "; ".join(said)


def matching_html(breakdown: RewardBreakdown, scores: Sequence[Sequence[float]] = ()) -> str:
    """Write the picture of a matching with the table of all pair scores below it.

    Parameters
    ----------
    breakdown : RewardBreakdown
        A score.
    scores : sequence of sequence of float, shape (n, m)
        Raw points of each pair, as `pair_scores` gives them; without them there is no table.

    Returns
    -------
    str
        HTML without scripts; all text from the completion is escaped. Empty without any call.

    Examples
    --------
    >>> from toolrl_core.pairs import pair_scores
    >>> from toolrl_core.rewards import score
    >>> gold, predicted = [{"name": "f", "arguments": {"a": 1}}], [{"name": "f", "arguments": {"a": 2}}]
    >>> "<td><strong>1</strong></td>" in matching_html(score(predicted, gold), pair_scores(gold, predicted))
    True
    """
    picture = matching_svg(breakdown)
    if not picture:
        return ""
    names = predicted_names(breakdown)[:_SHOWN]
    table = ""
    if scores and names and breakdown.pairs:
        head = "".join(f'<th scope="col">{i} {escape(_short(name))}</th>' for i, name in enumerate(names))
        body = "".join(
            f'<tr><th scope="row">{pair.ground_truth_index} {escape(_short(pair.name))}</th>{_cells(pair, row)}</tr>'
            for pair, row in zip(breakdown.pairs[:_SHOWN], scores, strict=False)
        )
        table = (
            "<table><caption>Raw points of every pair (chosen pairs in bold)</caption>"
            f'<thead><tr><th scope="col">expected</th>{head}</tr></thead><tbody>{body}</tbody></table>'
        )
    return f'{_STYLE}<div class="toolrl-matching">{picture}{_shown(table)}</div>'


def _cells(pair: PairScore, row: Sequence[float]) -> str:
    cells = []
    for i, value in enumerate(row[:_SHOWN]):
        text = _number(value)
        cells.append(f"<td><strong>{text}</strong></td>" if i == pair.predicted_index else f"<td>{text}</td>")
    return "".join(cells)


def _shown(html: str) -> str:
    """Return text that can be encoded: half of a surrogate pair cannot be shown."""
    return html.encode("utf-8", "replace").decode("utf-8")
