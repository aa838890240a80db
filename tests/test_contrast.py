"""What a reward scale makes worth doing."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolrl_core.contrast import (
    LearningCurve,
    break_even_share,
    contrast,
    expected_total,
    format_variance_share,
    switch_jump,
    words_per_point,
)
from toolrl_core.explain.downloads import offer_csv
from toolrl_core.schedules import Scales, constant, dynamic, equal_max, two_stage

ORIGINAL, EQUAL = constant().at(), equal_max().at()
SHARES = st.floats(0, 1)
RANGES = st.tuples(st.floats(-5, 5), st.floats(0.1, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def test_the_totals_of_the_two_scales_are_those_of_hand_arithmetic():
    # full content, half of it, none; format right throughout: 1 + 3, 1 + 0, 1 - 3 and 1 + 1, 1 + 0, 1 - 1
    assert [expected_total(ORIGINAL, share=x) for x in (1, 0.5, 0)] == [4, 1, -2]
    assert [expected_total(EQUAL, share=x) for x in (1, 0.5, 0)] == [2, 1, 0]
    assert expected_total(ORIGINAL, share=0, format_rate=0) == -3


def test_the_contrast_is_six_points_and_two():
    assert (contrast(ORIGINAL), contrast(EQUAL), contrast(two_stage().at(30))) == (6, 2, 6)


def test_form_alone_pays_up_to_a_twelfth_a_quarter_or_half_of_the_content():
    rates = [break_even_share(s, format_rate=0.5) for s in (ORIGINAL, EQUAL, two_stage().at(30), dynamic().at(0))]
    assert rates == pytest.approx([1 / 12, 1 / 4, 1 / 24, 1 / 2])


@given(form=RANGES, content=RANGES, rate=SHARES, factor=st.floats(0.1, 10))
def test_the_break_even_share_does_not_change_when_all_points_are_scaled(form, content, rate, factor):
    scaled = Scales(*((low * factor, high * factor) for low, high in (form, content)))
    given_scales = Scales(form, content)
    assert break_even_share(scaled, format_rate=rate) == pytest.approx(break_even_share(given_scales, format_rate=rate))


@given(form=RANGES, content=RANGES, rate=SHARES)
def test_at_the_break_even_share_both_policies_earn_the_same(form, content, rate):
    scales = Scales(form, content)
    share = break_even_share(scales, format_rate=rate)
    if share <= 1:
        trying = expected_total(scales, share=share, format_rate=rate)
        assert trying == pytest.approx(expected_total(scales, share=0), abs=1e-9)


def test_length_cannot_buy_an_argument_of_a_small_answer_on_the_original_scale():
    assert [words_per_point(ORIGINAL, maximum=m) for m in (4, 6, 12)] == [768, 512, 256]
    assert words_per_point(EQUAL, maximum=12, target=384) == 64


def test_the_format_share_of_the_variance_agrees_with_a_simulation():
    rng = np.random.default_rng(7)
    form = rng.random(400_000) < 0.8
    content = (rng.random((400_000, 5)) < 0.3).mean(axis=1)
    simulated = np.var(1.0 * form) / np.var(1.0 * form + 2 * content)
    assert format_variance_share(EQUAL, share=0.3, format_rate=0.8, parts=5) == pytest.approx(simulated, abs=0.01)


def test_a_reward_without_variance_has_no_share():
    assert math.isnan(format_variance_share(ORIGINAL, share=1, format_rate=1, parts=3))


def test_the_learning_curve_starts_and_ends_where_it_says():
    curve = LearningCurve(format_start=0.2, share_start=0.1, share_end=0.9)
    assert curve.at(0) == pytest.approx((0.2, 0.1))
    assert curve.at(1e9) == pytest.approx((1.0, 0.9))


@pytest.mark.parametrize("switch", [5, 30, 60])
def test_the_switch_jumps_by_what_the_two_ranges_differ(switch):
    form, content = LearningCurve().at(switch)
    # format 1 -> 1/2 and correctness -1 + 2x -> -3 + 6x
    jump = switch_jump(two_stage(switch), LearningCurve(), step=switch)
    assert jump == pytest.approx(-form / 2 - 2 + 4 * content)
    assert switch_jump(two_stage(switch), LearningCurve(), step=switch - 1) == 0


def test_the_dynamic_scale_moves_a_hundredth_where_two_stage_jumps():
    steps = range(1, 105)
    largest = max(abs(switch_jump(dynamic(), LearningCurve(), step=step)) for step in steps)
    assert largest < 0.02
    assert abs(switch_jump(two_stage(), LearningCurve(), step=30)) > 0.4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_total(ORIGINAL, share=1.5), "share must lie between 0 and 1, found 1.5"),
        (lambda: expected_total(ORIGINAL, share=math.nan), "share must lie between 0 and 1, found nan"),
        (lambda: break_even_share(ORIGINAL, format_rate=-1), "format_rate must lie between"),
        (lambda: break_even_share(Scales((0, 1), (2, 2)), format_rate=0.5), r"worth nothing on the scale \(2, 2\)"),
        (lambda: words_per_point(ORIGINAL, maximum=0), "maximum and target must be positive, found 0 and 512"),
        (lambda: format_variance_share(ORIGINAL, share=0, format_rate=0, parts=0), "parts must be at least 1, found 0"),
        (lambda: LearningCurve(share_end=2), "share_end must lie between 0 and 1, found 2"),
        (lambda: LearningCurve(share_steps=0), "steps must be positive, found 10.0 and 0"),
        (lambda: switch_jump(two_stage(), LearningCurve(), step=0), "step must be at least 1, found 0"),
        (lambda: offer_csv(pd.DataFrame(), "table.txt"), r"must end in \.csv, found 'table.txt'"),
    ],
)
def test_an_impossible_number_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_offered_file_holds_the_table_and_its_name_is_escaped():
    made = offer_csv(pd.DataFrame({"step": [1, 2], "total": [0.5, 1.0]}), 'a"b.csv')
    assert made.text == "step,total\n1,0.5\n2,1.0\n"
    assert 'download="a&quot;b.csv"' in made._repr_html_()
    assert "c3RlcCx0b3RhbAoxLDAuNQoyLDEuMAo=" in made._repr_html_()
    assert "(2 rows)" in made._repr_html_()
