"""Draw the picture of the README, `book/_assets/five-answers.svg`: five answers under three rewards.

`python -m book._tools.picture` writes it anew.
"""

from __future__ import annotations

import json

import matplotlib.pyplot as plt

from book._tools.execute import ROOT
from toolrl_core import RewardSpec, score
from toolrl_core.explain.figures import line_style, to_svg, use_style

TARGET = ROOT / "book" / "_assets" / "five-answers.svg"
STYLE_SHEET = ROOT / "book" / "_assets" / "book.css"
PRESETS = ("paper", "released", "robust")

ONE = [{"name": "set_alarm", "parameters": {"hour": 1}}]
TWO = [{"name": "book", "parameters": {"city": "Oslo"}}, {"name": "pay", "parameters": {"order": 7}}]
ANSWERS: dict[str, tuple[list[dict[str, object]], str]] = {
    "right call, JSON over several lines": (ONE, json.dumps(ONE[0], indent=2)),
    "two right calls, names swapped": (
        TWO,
        '{"name": "pay", "parameters": {"city": "Oslo"}}\n{"name": "book", "parameters": {"order": 7}}',
    ),
    "true where 1 was expected": (ONE, '{"name": "set_alarm", "parameters": {"hour": true}}'),
    "right call, five times": (ONE, "\n".join([json.dumps(ONE[0])] * 5)),
    "one of two calls": (TWO, json.dumps(TWO[0])),
}
"""What the answer is like: the ground truth and the text between the tags of the tool call."""


def correctness_of_answers() -> dict[str, dict[str, float]]:
    """Score every answer under every preset: correctness in points, from -3 to 3."""
    return {
        name: {
            preset: score(
                f"<think> plan </think>\n<tool_call>\n{calls}\n</tool_call>", truth, RewardSpec.preset(preset)
            ).correctness
            for preset in PRESETS
        }
        for name, (truth, calls) in ANSWERS.items()
    }


def words(scores: dict[str, dict[str, float]]) -> str:
    """Say what the picture shows."""
    rows = (
        f"{name}: " + ", ".join(f"{preset} {value:.2f}" for preset, value in row.items())
        for name, row in scores.items()
    )
    return f"Correctness of five answers under three rewards, from -3 to 3 points. {'; '.join(rows)}."


def inline_svg(*, narrow: bool = False) -> str:
    """Draw the picture for a page; the narrow one is for telephones and has its labels above the points."""
    scores = correctness_of_answers()
    use_style()
    figure, axes = plt.subplots(figsize=(3.9, 4.6) if narrow else (7.2, 3.4))
    for shift, preset in zip((0.22, 0.0, -0.22), PRESETS, strict=True):
        style = line_style(preset) | {"linestyle": "none", "markersize": 8}
        places = [place + shift for place in range(len(scores))]
        axes.plot([row[preset] for row in scores.values()], places, **style)
    if narrow:
        for place, name in enumerate(scores):
            axes.text(-3.2, place - 0.42, name, va="center")
    axes.set_yticks(range(len(scores)), [""] * len(scores) if narrow else list(scores))
    axes.invert_yaxis()
    axes.set(xlim=(-3.2, 3.2), xlabel="correctness (points)")
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    figure.legend(loc="outside upper right", ncols=len(PRESETS))
    return to_svg(figure, alt=words(scores))


def draw() -> str:
    """Draw the picture as an SVG file that follows the reader's light or dark theme."""
    svg = inline_svg()
    dark = STYLE_SHEET.read_text(encoding="utf8").partition('html[data-theme="dark"] {')[2].partition("}")[0]
    theme = f"svg{{color:#1f2328}}@media(prefers-color-scheme:dark){{svg{{color:#e6edf3;{' '.join(dark.split())}}}}}"
    head, _, rest = svg.partition(">")
    return f"{head}><style>{theme}</style>{rest}\n"


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf8")
    print(f"wrote {TARGET.relative_to(ROOT)}")
