"""Figures of stored studies: intervals over places, and wholes in parts."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from toolrl_core.explain.figures import line_style
from toolrl_core.explain.study_figures import draw_history, draw_intervals, draw_shares
from toolrl_core.simulate.histories import History, Interval


@pytest.fixture
def axes():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_an_interval_stands_at_its_place_in_percent(axes):
    pairs = ((0.5, 0.25), (-0.125, 0.0))
    intervals = [Interval(mean=mean, half_width=half, seeds=16) for mean, half in pairs]
    draw_intervals(axes, [2, 5], intervals, label="gap")
    [drawn] = axes.containers
    line, _, [bars] = drawn
    assert line.get_xydata().tolist() == [[2, 50], [5, -12.5]]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[25, 75], [-12.5, -12.5]]
    assert drawn.get_label() == "gap"


def test_the_parts_of_a_whole_follow_one_another(axes):
    draw_shares(axes, ["first", "second"], {"form": ("orange", [10, 20]), "content": ("blue", [30, 40])})
    form, content = axes.containers
    assert [(bar.get_x(), bar.get_width()) for bar in form] == [(0, 10), (0, 20)]
    assert [(bar.get_x(), bar.get_width()) for bar in content] == [(10, 30), (20, 40)]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["first", "second"]
    assert form[0].get_y() > form[1].get_y()


def test_the_label_of_a_scale_has_its_hyphen():
    assert [line_style(name)["label"] for name in ("equal_max", "two_stage", "void_veto")] == [
        "equal-max",
        "two-stage",
        "void veto",
    ]


def test_an_arm_of_ones_own_gets_a_look_that_is_free(axes):
    history = History(
        arms=("original", "mine", "theirs"),
        seed=0,
        numbers=(0, 1),
        steps=np.array([0, 5]),
        metrics={"exact": np.zeros((3, 2, 2))},
        silent_groups=np.zeros((3, 2, 5)),
        clipped=np.zeros((3, 2, 5)),
        logits=np.zeros((3, 2, 31)),
    )
    draw_history(axes, history, "exact")
    lines = axes.get_lines()
    assert [line.get_label() for line in lines] == ["original", "mine", "theirs"]
    assert len({line.get_color() for line in lines}) == 3
    assert len({line.get_marker() for line in lines}) == 3
