"""The grid of dots that shows verdicts, and the same verdicts as words."""

import pandas as pd
import pytest

from toolrl_core.explain.figures import colour, to_svg
from toolrl_core.explain.verdicts import draw_verdicts, in_words

TABLE = pd.DataFrame({"strict": [True, False], "released": [True, True]}, index=["complete", "two thoughts"])
HUES = {"strict": "green", "released": "orange"}


def test_a_yes_is_a_filled_dot_and_a_no_is_a_ring():
    strict, released = draw_verdicts(TABLE, hues=HUES).axes[0].collections
    assert [bool(face[3]) for face in strict.get_facecolors()] == [True, False]
    assert [bool(face[3]) for face in released.get_facecolors()] == [True, True]


def test_every_row_and_column_is_named_in_order():
    axes = draw_verdicts(TABLE, hues=HUES).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["complete", "two thoughts"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["strict", "released"]
    low, high = axes.get_ylim()
    assert low > high  # the first row stands on top


def test_colours_follow_the_page_and_the_height_follows_the_rows():
    svg = to_svg(draw_verdicts(TABLE, hues=HUES), alt="Two rules on two completions.")
    assert f"var(--toolrl-green, {colour('green')})" in svg
    tall = draw_verdicts(pd.concat([TABLE] * 4, keys=range(4)), hues=HUES)
    assert tall.get_figheight() - draw_verdicts(TABLE, hues=HUES).get_figheight() == pytest.approx(6 * 0.2)


def test_a_line_parts_groups_of_rows():
    assert len(draw_verdicts(TABLE, hues=HUES, lines_after=["complete"]).axes[0].lines) == 1
    with pytest.raises(ValueError, match="there is no row 'three thoughts'"):
        draw_verdicts(TABLE, hues=HUES, lines_after=["three thoughts"])


def test_a_column_without_a_colour_is_refused_by_name():
    with pytest.raises(ValueError, match=r"no colour for the column 'released'; hues has: strict"):
        draw_verdicts(TABLE, hues={"strict": "green"})


def test_words_replace_truth_values_and_nothing_else():
    table = TABLE.assign(cases=[1, 0])
    assert in_words(table, yes="equal", no="differs").to_numpy().tolist() == [
        ["equal", "equal", 1],
        ["differs", "equal", 0],
    ]
