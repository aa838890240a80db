"""Make the parts of the front page: its picture, for wide and for narrow screens, and its three doors."""

from __future__ import annotations

from book._tools import execute, picture


def five_answers_html() -> str:
    """Draw five answers under three rewards as inline SVG, which follows the page's theme."""
    figures = "".join(
        f'<div class="only-{name}">{picture.inline_svg(narrow=name == "narrow")}</div>' for name in ("wide", "narrow")
    )
    return f'<figure class="toolrl-figure">{figures}</figure>'


def doors() -> str:
    """Write the three doors as Markdown; *Try* leads to the playground where the book has one, else to sliders."""
    playground = (execute.ROOT / "book" / "playground.md").exists()
    first = "../notebooks/01_reward_anatomy"
    told = {
        "Read": (
            first,
            "Where each point of a reward comes from, and what a mistake costs. Chapter 1 assumes nothing.",
        ),
        "Try": ("playground", "Put in an answer of your own and see each point that it wins or loses, in this browser.")
        if playground
        else (first, "Move the sliders of chapter 1 and see each point that an answer wins or loses."),
        "Use": (
            "using",
            "Score your rollouts in ten lines, audit the reward you have, hand a better one to your trainer.",
        ),
    }
    cards = (
        f":::{{grid-item-card}} {name}\n:link: {page}\n:link-type: doc\n{words}\n:::"
        for name, (page, words) in told.items()
    )
    return "\n".join(["::::{grid} 1 1 3 3", ":gutter: 3", "", *cards, "::::"])
