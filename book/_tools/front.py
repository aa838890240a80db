"""Draw the picture of the front page, once for wide and once for narrow screens."""

from __future__ import annotations

from book._tools import picture


def five_answers_html() -> str:
    """Draw five answers under three rewards as inline SVG, which follows the page's theme."""
    figures = "".join(
        f'<div class="only-{name}">{picture.inline_svg(narrow=name == "narrow")}</div>' for name in ("wide", "narrow")
    )
    return f'<figure class="toolrl-figure">{figures}</figure>'
