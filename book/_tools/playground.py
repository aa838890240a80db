"""Forms for Python in the page, and the archive of the package that they run.

The forms are written from the package: its presets, options and examples. `book/_assets/playground.js` gives them life.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from toolrl_core import __name__ as package_name
from toolrl_core.breakdown import package_version
from toolrl_core.examples import SCORING_EXAMPLES, TURN_EXAMPLES, example_rows
from toolrl_core.page import JSON_OPTIONS, SCHEDULES
from toolrl_core.spec import _CHOICES as CHOICES
from toolrl_core.spec import _FLAGS as FLAGS
from toolrl_core.spec import RewardSpec

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "book" / "_assets"
PYODIDE = ROOT / "_build" / "vendor" / "pyodide"
ARCHIVE = "toolrl_core.zip"
COUNTED = ("pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""Files of Pyodide that its loader fetches, and whose bytes the page counts."""
LEFT_OUT = {"adapters", "explain", "simulate"}
"""Parts of the package that the page does not run."""
KINDS = ("score", "turn", "rows")


def archive() -> bytes:
    """Pack the package's sources, with its version, into a zip that is the same for the same sources."""
    held = io.BytesIO()
    version = package_version()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in sorted((ROOT / package_name).rglob("*.py")):
            name = path.relative_to(ROOT)
            if name.parts[1] not in LEFT_OUT:
                packed.writestr(_entry(name.as_posix()), path.read_bytes(), zipfile.ZIP_DEFLATED)
        about = f"Metadata-Version: 2.1\nName: toolrl-core\nVersion: {version}\n"
        packed.writestr(_entry(f"{package_name}-{version}.dist-info/METADATA"), about)
    return held.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def sources() -> list[Path]:
    """List what the forms are written from, and what they run."""
    package = sorted((ROOT / package_name).rglob("*.py"))
    return [Path(__file__), *sorted(ASSETS.glob("playground*")), *package]


@cache
def digest() -> str:
    """Return a short digest of all that the page runs, so that no browser mixes old and new files."""
    found = hashlib.sha256(archive())
    for path in sorted(ASSETS.glob("playground*")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def head(static: str) -> str:
    """Write the links to style, script and data that a page needs once."""
    version = digest()
    archive_size = len(archive())
    data = {
        "version": version,
        "archive": f"{ARCHIVE}?v={version}",
        "bytes": archive_size + sum((PYODIDE / name).stat().st_size for name in COUNTED),
        "presets": {name: _plain_options(spec) for name, spec in RewardSpec.presets().items()},
    }
    return (
        f'<link rel="stylesheet" href="{static}playground.css?v={version}">'
        f'<script type="application/json" id="toolrl-try-data">{_json(data)}</script>'
        f'<script defer src="{static}playground.js?v={version}"></script>'
    )


def _plain_options(spec: RewardSpec) -> dict[str, Any]:
    """Return the options of a preset as the form shows them."""
    plain = {key: value for key, value in spec.to_dict().items() if key in (*CHOICES, *FLAGS)}
    plain["schedule"] = next(name for name, make in SCHEDULES.items() if make() == spec.schedule)
    return {**plain, "length_reward": spec.length_reward is not None}


def _json(value: Any) -> str:
    """Write JSON that no HTML parser mistakes for its own."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def playground(static: str) -> str:
    """Write the three tabs of the playground."""
    titles = {"score": "Score a completion", "turn": "Check a turn", "rows": "Score many rows"}
    tabs = "".join(
        f'<button type="button" role="tab" id="tab-{kind}" aria-controls="panel-{kind}" '
        f'aria-selected="{str(kind == "score").lower()}"{"" if kind == "score" else " tabindex=-1"}>{title}</button>'
        for kind, title in titles.items()
    )
    makers = {"score": score_form, "turn": turn_form, "rows": rows_form}
    panels = "".join(
        f'<div role="tabpanel" id="panel-{kind}" aria-labelledby="tab-{kind}"{"" if kind == "score" else " hidden"}>'
        f"{makers[kind]()}</div>"
        for kind in KINDS
    )
    return (
        f'{head(static)}<div class="toolrl-playground"><div role="tablist" aria-label="What to try">{tabs}</div>'
        f"{panels}</div>{_without_scripts()}"
    )


def panel(static: str, names: Sequence[str], number: int, page: str) -> str:
    """Write a panel for a chapter, with some examples to choose from.

    Raises
    ------
    ValueError
        If an example is unknown, or completions and turns are mixed.
    """
    known: Mapping[str, Any] = SCORING_EXAMPLES if names and names[0] in SCORING_EXAMPLES else TURN_EXAMPLES
    for name in names:
        if name not in known:
            raise ValueError(f"unknown example {name!r}: choose from {', '.join(known)}")
    form = score_form if known is SCORING_EXAMPLES else turn_form
    title = f'<p class="try-title" id="try-{number}-title">Try it here</p>'
    start = head(static) if number == 1 else ""
    return (
        f'{start}<div class="toolrl-panel" role="group" aria-labelledby="try-{number}-title">{title}'
        f"{form(names, prefix=f'try-{number}', page=page)}</div>{_without_scripts() if number == 1 else ''}"
    )


def _without_scripts() -> str:
    return "<noscript><p>Python in the page needs scripts: allow them to try it.</p></noscript>"


def score_form(names: Sequence[str] = tuple(SCORING_EXAMPLES), *, prefix: str = "score", page: str = "") -> str:
    """Write the form that scores a completion."""
    examples = {name: SCORING_EXAMPLES[name] for name in names}
    first = examples[names[0]]
    presets = _options(RewardSpec.presets(), first.preset)
    fields = (
        '<div class="try-texts">'
        + _text(prefix, "completion", "Completion (the model's own text)", first.completion)
        + _text(prefix, "ground_truth", "Ground truth (calls, or text with tags)", first.ground_truth)
        + "</div>"
        + '<div class="try-row">'
        + _field(prefix, "preset", "Preset", f'<select id="{prefix}-preset" name="preset">{presets}</select>')
        + _field(
            prefix,
            "step",
            "Training step (for schedules)",
            f'<input id="{prefix}-step" name="step" type="number" min="0" inputmode="numeric">',
        )
        + "</div>"
        + _option_fields(prefix)
    )
    data = {name: asdict(example) for name, example in examples.items()}
    return _form("score", prefix, _chooser(prefix, examples) + fields, "Score", data, page)


def turn_form(names: Sequence[str] = tuple(TURN_EXAMPLES), *, prefix: str = "turn", page: str = "") -> str:
    """Write the form that judges a turn."""
    examples = {name: TURN_EXAMPLES[name] for name in names}
    text = _text(prefix, "text", "One turn (the model's own text)", examples[names[0]].text)
    data = {name: asdict(example) for name, example in examples.items()}
    return _form("turn", prefix, _chooser(prefix, examples) + text, "Check", data, page)


def rows_form(*, prefix: str = "rows") -> str:
    """Write the form that scores many rows."""
    file = (
        f'<div class="try-field"><label for="{prefix}-file">Or read a file (it stays on this computer)</label>'
        f'<input id="{prefix}-file" type="file" accept=".jsonl,.ndjson,.json,application/json"></div>'
    )
    label = "Rows (JSON Lines: one object with a completion and a ground truth on each line)"
    text = _text(prefix, "text", label, example_rows()).replace("<textarea ", '<textarea wrap="off" ')
    return _form("rows", prefix, text + file, "Score all rows", {}, "")


def _form(kind: str, prefix: str, fields: str, action: str, data: Mapping[str, Any], page: str) -> str:
    opens = f'<button type="button" class="try-open" data-page="{escape(page)}">Open in the playground</button>'
    link = opens if page else '<button type="button" class="try-link">Copy link</button>'
    return (
        f'<form class="toolrl-try" data-kind="{kind}" id="{prefix}-form">{fields}'
        f'<div class="try-buttons"><button type="submit" class="try-run">{action}</button>'
        f'<button type="button" class="try-cancel" hidden>Cancel</button>{link}'
        '<button type="button" class="try-copy">Copy Python</button></div>'
        f'<p class="try-status" role="status" id="{prefix}-status"></p>'
        f'<progress class="try-progress" aria-label="Progress" hidden></progress>'
        '<div class="try-error" role="alert" hidden></div><div class="try-result"></div>'
        '<details class="try-python"><summary>The same in Python</summary>'
        '<pre tabindex="0"><code></code></pre></details>'
        f'<script type="application/json" class="try-examples">{_json(data)}</script></form>'
    )


def _field(prefix: str, name: str, label: str, control: str) -> str:
    return f'<div class="try-field"><label for="{prefix}-{name}">{escape(label)}</label>{control}</div>'


def _text(prefix: str, name: str, label: str, value: str) -> str:
    control = (
        f'<textarea id="{prefix}-{name}" name="{name}" rows="8" spellcheck="false" autocapitalize="off" '
        f'autocomplete="off" autocorrect="off">\n{escape(value)}</textarea>'
    )
    return _field(prefix, name, label, control)


def _chooser(prefix: str, examples: Mapping[str, Any]) -> str:
    topics: dict[str, list[str]] = {}
    for name, example in examples.items():
        entry = f'<option value="{name}">{escape(example.title)}</option>'
        topics.setdefault(getattr(example, "topic", ""), []).append(entry)
    inside = "".join(
        f'<optgroup label="{escape(topic)}">{"".join(entries)}</optgroup>'
        if topic and len(topics) > 1
        else "".join(entries)
        for topic, entries in topics.items()
    )
    own = '<option value="">your own</option>'
    control = (
        f'<select id="{prefix}-example" name="example" aria-describedby="{prefix}-shows">{inside}{own}</select>'
        f'<p class="try-shows" id="{prefix}-shows">{escape(next(iter(examples.values())).shows)}</p>'
    )
    return _field(prefix, "example", "Example", control)


def _options(names: Iterable[str], chosen: str = "") -> str:
    return "".join(f"<option{' selected' if name == chosen else ''}>{escape(name)}</option>" for name in names)


def _option_fields(prefix: str) -> str:
    """Write one control for each option of a spec; the first choice leaves the preset's value."""
    summaries = option_summaries()
    fields = []
    for option in RewardSpec().options():
        if option in CHOICES:
            choices: Iterable[str] = [choice for choice in CHOICES[option] if choice is not None]
        elif option in (*FLAGS, "length_reward"):
            choices = ("true", "false")
        elif option == "schedule":
            choices = SCHEDULES
        else:
            continue
        about = f"{prefix}-{option}-about"
        control = (
            f'<select id="{prefix}-{option}" data-option="{option}" aria-describedby="{about}">'
            f'<option value="">as the preset</option>{_options(choices)}</select>'
            f'<p class="try-about" id="{about}">{escape(summaries[option])}</p>'
        )
        fields.append(_field(prefix, option, option, control))
    for option in JSON_OPTIONS:
        about = f"{prefix}-{option}-about"
        control = (
            f'<input id="{prefix}-{option}" data-option="{option}" data-json type="text" spellcheck="false" '
            f'placeholder="JSON" aria-describedby="{about}"><p class="try-about" id="{about}">'
            f"{escape(summaries[option])}</p>"
        )
        fields.append(_field(prefix, option, option, control))
    grid = f'<div class="try-grid">{"".join(fields)}</div>'
    return f'<details class="try-options"><summary>Options</summary>{grid}</details>'


@cache
def option_summaries() -> dict[str, str]:
    """Read what each option is for from the docstring of `RewardSpec`."""
    text = (RewardSpec.__doc__ or "").partition("----------\n")[2].partition("\n\n    Raises")[0]
    found = re.findall(r"^    (\w+) :[^\n]*\n((?:        [^\n]*\n?)+)", text, re.MULTILINE)
    return {name: " ".join(about.split()).replace("`", "") for name, about in found}
