"""Write a report as one HTML page: no script, no request to anywhere, and everything from the file escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from toolrl_core.audit.layout import Bars, Section, Table, number
from toolrl_core.audit.sections import Report, headline_sentence, sections

__all__ = ["to_fragment", "to_html"]

_STYLE = """
.audit { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; }
.audit .lead { font-size: 1.1rem; } .audit .muted, .audit caption { opacity: .8; font-size: .9rem; }
.audit .findings { list-style: none; padding: 0; }
.audit .findings li { border-left: .35rem solid #8d9298; padding: .35rem .8rem; margin: .5rem 0;
  background: rgba(128, 136, 146, .12); }
.audit .findings li.serious { border-color: #c2304a; background: rgba(194, 48, 74, .12); }
.audit .findings li.warning { border-color: #ca6c03; background: rgba(202, 108, 3, .12); }
.audit .level { font-weight: 600; }
.audit .scroll { overflow-x: auto; } .audit table { border-collapse: collapse; margin: .6rem 0 1.2rem; }
.audit caption { text-align: left; caption-side: top; padding-bottom: .3rem; }
.audit th, .audit td { padding: .25rem .7rem; border-bottom: 1px solid rgba(128, 136, 146, .4); text-align: right;
  vertical-align: top; white-space: nowrap; font-variant-numeric: tabular-nums; }
.audit th { border-bottom: 2px solid #8d9298; font-weight: 600; }
.audit th.text, .audit td.text { text-align: left; white-space: normal; min-width: 6rem; max-width: 26rem;
  overflow-wrap: break-word; }
.audit pre { background: rgba(128, 136, 146, .12); padding: .6rem .8rem; white-space: pre-wrap;
  overflow-wrap: anywhere; max-height: 22rem; overflow-y: auto; font-size: .85rem; }
.audit figure { margin: 0 0 1rem; } .audit svg { max-width: 100%; height: auto; }
.audit svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
.audit .bar { fill: currentColor; opacity: .6; }
.audit details { margin: .5rem 0; } .audit summary { cursor: pointer; }
"""
_PAGE_STYLE = """
body { margin: 0; padding: 1rem 1.25rem 3rem; color: #1c1f23; background: #fff; }
h1 { font-size: 1.7rem; margin: .5rem 0; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .4rem; }
@media (prefers-color-scheme: dark) { body { color: #e6e8ea; background: #16181b; } }
"""
_LEVELS = {"serious": "Serious:", "warning": "Warning:", "note": "Note:"}


def to_html(report: Report) -> str:
    """Write the whole report as one HTML page.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    str
        A page without scripts and without references to other files; its policy forbids both.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Audit of rollouts</title>\n'
        f"<style>{_PAGE_STYLE}</style>\n</head>\n<body>\n{to_fragment(report, main=True)}\n</body>\n</html>\n"
    )


def to_fragment(report: Report, *, main: bool = False) -> str:
    """Write the report as a piece of HTML, as a notebook shows it.

    Parameters
    ----------
    report : Report
        The report.
    main : bool
        Whether it is the main content of its page.

    Returns
    -------
    str
        HTML with its own style, which applies to nothing else.
    """
    data = report.data
    tag, heading = ("main", "h2") if main else ("div", "h3")  # a notebook's page has a title of its own
    lines = [f"<style>{_STYLE}</style>", f'<{tag} class="audit">']
    if main:
        lines.append("<h1>Audit of rollouts</h1>")
    lines.append(f'<p class="lead">{_safe(headline_sentence(data))}</p>')
    if data["source"]:
        columns = ", ".join(f"{k}: {v}" for k, v in data["source"]["columns"].items() if v)
        about = f"File {data['source']['file']}; columns {columns}; toolrl-core {data['version']}."
        lines.append(f'<p class="muted">{_safe(about)}</p>')
    lines.append(f"<{heading}>Findings</{heading}>")
    if report.warnings:
        lines.append('<ul class="findings">')
        lines += [
            f'<li class="{finding.level}"><span class="level">{_LEVELS[finding.level]}</span> '
            f"{_safe(finding.text)} <span>{_safe(finding.advice)}</span></li>"
            for finding in report.warnings
        ]
        lines.append("</ul>")
    else:
        lines.append("<p>Nothing unusual was found.</p>")
    for section in sections(data):
        lines += _section(section, heading)
    lines.append(f"</{tag}>")
    return "\n".join(lines)


def _safe(text: str) -> str:
    """Escape a text for HTML; a character that HTML may not hold becomes a replacement character."""
    clean = "".join(
        c if c in "\n\t" or (c >= " " and not "\x7f" <= c <= "\x9f" and not "\ud800" <= c <= "\udfff") else "\ufffd"
        for c in text
    )
    return escape(clean, quote=True)


def _section(section: Section, heading: str) -> Iterator[str]:
    yield f"<{heading}>{_safe(section.title)}</{heading}>"
    yield f"<p>{_safe(section.text)}</p>"
    for part in section.parts:
        if isinstance(part, Table):
            yield from _table(part)
        elif isinstance(part, Bars):
            yield _bars(part)
        else:
            yield f"<details><summary>{_safe(part['title'])}</summary>"
            yield f'<p class="muted">Completion</p><pre tabindex="0">{_safe(part["completion"])}</pre>'
            yield f'<p class="muted">Ground truth</p><pre tabindex="0">{_safe(part["ground_truth"])}</pre></details>'


def _table(table: Table) -> Iterator[str]:
    text = [i == 0 or name.endswith("(text)") for i, name in enumerate(table.header)]
    yield '<div class="scroll" tabindex="0"><table>'
    if table.caption:
        yield f"<caption>{_safe(table.caption)}</caption>"
    cells = (
        f'<th scope="col"{_left(is_text)}>{_safe(name.removesuffix(" (text)"))}</th>'
        for name, is_text in zip(table.header, text, strict=True)
    )
    yield f"<thead><tr>{''.join(cells)}</tr></thead><tbody>"
    for row in table.rows:
        cells = (f"<td{_left(is_text)}>{_safe(cell)}</td>" for cell, is_text in zip(row, text, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _left(is_text: bool) -> str:
    return ' class="text"' if is_text else ""


def _bars(chart: Bars) -> str:
    """Draw horizontal bars with their labels and values; the alternative text names the longest."""
    if not chart.bars:
        return ""
    largest = max(value for _, value in chart.bars) or 1.0
    longest = max(chart.bars, key=lambda bar: bar[1])
    spoken = f"{chart.title}. Longest bar: {longest[0]}, {number(longest[1])} {chart.unit}."
    height = 24 * len(chart.bars) + 6
    lines = [
        f'<figure><figcaption class="muted">{_safe(chart.title)} ({_safe(chart.unit)})</figcaption>',
        f'<svg viewBox="0 0 760 {height}" width="760" height="{height}" role="img" aria-label="{_safe(spoken)}">',
    ]
    for place, (label, value) in enumerate(chart.bars):
        y = 24 * place
        width = max(400 * value / largest, 1.0)
        shown = label if len(label) <= 32 else label[:31] + "…"
        lines.append(f'<text x="232" y="{y + 17}" text-anchor="end">{_safe(shown)}</text>')
        lines.append(f'<rect class="bar" x="240" y="{y + 4}" width="{width:.1f}" height="17"/>')
        lines.append(f'<text x="{240 + width + 6:.1f}" y="{y + 17}">{_amount(value)}</text>')
    return "\n".join([*lines, "</svg></figure>"])


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"
