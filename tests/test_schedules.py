"""Reward scales over training steps, and the reward for long thoughts."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from toolrl_core.schedules import LengthReward, Scales, Schedule, constant, dynamic, equal_max, linear, two_stage


def test_the_papers_scales_are_constant() -> None:
    assert constant().at() == Scales((0, 1), (-3, 3))
    assert constant().at(7) == constant().at(None)
    assert not constant().needs_step
    assert constant(format=(0, 2), correctness=(-5, -1)).at() == Scales((0, 2), (-5, -1))
    assert constant(correctness=(2, 2)).at().correctness == (2, 2)


def test_equal_max_gives_correctness_the_maximum_of_format() -> None:
    scales = equal_max().at()
    assert scales == Scales((0, 1), (-1, 1))
    assert scales.format[1] == scales.correctness[1]


def test_contrast_between_right_and_wrong_is_six_points_or_two() -> None:
    for schedule, contrast in ((constant(), 6), (equal_max(), 2)):
        low, high = schedule.at().correctness
        assert high - low == contrast
    # full, format with correctness 0, format with all wrong
    for schedule, totals in ((constant(), (4, 1, -2)), (equal_max(), (2, 1, 0))):
        scales = schedule.at()
        best = scales.format[1]
        assert (best + scales.correctness[1], best + 0, best + scales.correctness[0]) == totals


@pytest.mark.parametrize(
    ("switch", "step", "scales"),
    [
        (30, 0, Scales((0, 1), (-1, 1))),
        (30, 29.5, Scales((0, 1), (-1, 1))),
        (30, 30, Scales((0, 0.5), (-3, 3))),
        (30, 1e9, Scales((0, 0.5), (-3, 3))),
        (0, 0, Scales((0, 0.5), (-3, 3))),
        (1, 0, Scales((0, 1), (-1, 1))),
    ],
)
def test_two_stages_switch_at_one_step(switch: float, step: float, scales: Scales) -> None:
    assert two_stage(switch).at(step) == scales


def test_two_stages_triple_the_correctness_whatever_its_maximum() -> None:
    schedule = two_stage(10, correctness_max=1)
    assert schedule.at(9).correctness == (pytest.approx(-1 / 3), pytest.approx(1 / 3))
    assert schedule.at(10).correctness == (-1, 1)


@pytest.mark.parametrize(
    ("time", "scales"),
    [
        (0, Scales((-2, 2), (-2, 2))),
        (0.1, Scales((-1.8, 1.9), (-2.1, 2.1))),
        (0.5, Scales((-1, 1.5), (-2.5, 2.5))),
        (0.7, Scales((-1, 1.3), (-2.7, 2.7))),
        (1, Scales((-1, 1), (-3, 3))),
        (5, Scales((-1, 1), (-3, 3))),
    ],
)
def test_the_dynamic_schedule_moves_format_down_and_correctness_up(time: float, scales: Scales) -> None:
    for horizon in (150, 20):
        found = dynamic(horizon=horizon).at(time * horizon)
        for got, wanted in zip(found, scales, strict=True):
            assert got == pytest.approx(wanted)


def test_the_dynamic_schedule_of_a_maximum_of_one_has_no_floor() -> None:
    schedule = dynamic(correctness_max=1)
    assert [schedule.at(step).correctness[1] for step in (0, 150, 300, 450)] == pytest.approx([2, 1, 0, -1])


def test_the_planned_run_stops_before_the_dynamic_schedule_ends() -> None:
    # 3,920 samples in batches of 512, the last one dropped, 15 epochs
    steps = 3920 // 512 * 15
    assert steps == 105
    assert dynamic().at(steps).correctness[1] == pytest.approx(2.7)
    assert dynamic().at(steps - 1).correctness[1] == pytest.approx(2.6933333333)
    assert dynamic().at(steps - 1).format[1] == pytest.approx(1.3066666667)


def test_a_straight_line_is_the_general_form() -> None:
    schedule = linear(Scales((0, 1), (-1, 1)), Scales((0, 0.5), (-3, 3)), 10)
    assert schedule.at(0) == Scales((0, 1), (-1, 1))
    assert schedule.at(5) == Scales((0, 0.75), (-2, 2))
    assert schedule.at(10) == schedule.at(99) == Scales((0, 0.5), (-3, 3))


SCHEDULES: list[Callable[[], Schedule]] = [two_stage, dynamic, lambda: linear(constant().at(), equal_max().at(), 5)]


@pytest.mark.parametrize("make", SCHEDULES)
def test_a_schedule_that_changes_refuses_to_go_without_a_step(make: Callable[[], Schedule]) -> None:
    schedule = make()
    assert schedule.needs_step
    with pytest.raises(ValueError, match=rf"'{schedule.kind}' changes with the training step, but no step was given"):
        schedule.at()
    for step in (-1, math.nan, math.inf):
        with pytest.raises(ValueError, match="step must be a finite number of at least 0, found"):
            schedule.at(step)


@pytest.mark.parametrize("make", [constant, equal_max, *SCHEDULES])
def test_schedules_survive_pickling_and_equal_their_twins(make: Callable[[], Schedule]) -> None:
    assert pickle.loads(pickle.dumps(make())) == make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constant(format=(1, 0)), r"format range must be finite with low <= high, found \(1, 0\)"),
        (lambda: constant(correctness=(0, math.inf)), "correctness range must be finite"),
        (lambda: constant(correctness=(math.nan, 1)), "correctness range must be finite"),
        (lambda: constant(correctness=(1,)), r"correctness range must be two numbers \(low, high\), found \(1,\)"),
        (lambda: constant(correctness=3), "correctness range must be two numbers"),
        (lambda: constant(correctness=("low", "high")), "correctness range must be two numbers"),
        (lambda: constant(format=None), "format range must be two numbers"),
        (lambda: two_stage(-1), "switch must be a finite number of at least 0, found -1"),
        (lambda: two_stage(math.nan), "switch must be a finite number"),
        (lambda: two_stage(correctness_max=-1), "correctness range must be finite with low <= high"),
        (lambda: dynamic(horizon=0), "horizon must be a finite positive number, found 0"),
        (lambda: dynamic(correctness_max=math.nan), "correctness_max must be finite, found nan"),
        (lambda: linear(constant().at(), constant().at(), -5), "horizon must be a finite positive number, found -5"),
        (lambda: linear(Scales((1, 0), (0, 1)), constant().at(), 5), "start format range must be finite"),
        (lambda: linear(constant().at(), Scales((0, 1), (1, 0)), 5), "end correctness range must be finite"),
        (lambda: LengthReward(target=0), "target and horizon must be positive, found 0 and 105"),
        (lambda: LengthReward(target=math.nan), "target and horizon must be positive"),
        (lambda: LengthReward(horizon=-1), "target and horizon must be positive, found 512 and -1"),
    ],
)
def test_unusable_numbers_are_refused_by_name(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("words", "plain", "rounded"),
    [
        (0, 0.0, 0.0),
        (1, 1 / 512, 0.0),
        (2, 2 / 512, 0.0),
        (3, 3 / 512, 0.01),
        (256, 0.5, 0.5),
        (509, 509 / 512, 0.99),
        (510, 510 / 512, 1.0),
        (512, 1.0, 1.0),
        (5000, 1.0, 1.0),
    ],
)
def test_the_length_reward_is_a_share_of_the_target(words: int, plain: float, rounded: float) -> None:
    thought = "w " * words
    assert LengthReward()(thought) == plain
    assert LengthReward(rounded=True)(thought) == rounded


def test_words_are_what_white_space_separates() -> None:
    reward = LengthReward(target=4)
    assert reward("one\ttwo\nthree\u3000four") == 1
    assert reward("你好世界") == 0.25
    assert reward("   ") == reward("") == reward(None) == 0


def test_the_target_may_grow_and_then_needs_a_step() -> None:
    reward = LengthReward(target=384, growth=256)
    assert reward.needs_step
    assert not LengthReward().needs_step
    assert [reward("w " * 320, step) for step in (0, 105)] == pytest.approx([320 / 384, 320 / 640])
    with pytest.raises(ValueError, match="the length target grows with the training step, but no step was given"):
        reward("w")
