"""Ladders: the steps of a score as list, table, words and figures; and the view of what an answer changed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolrl_core import LengthReward, RewardSpec, ToolCall, render_completion, score
from toolrl_core.explain.answer_diff import changes_html
from toolrl_core.explain.figures import PALETTE, to_svg
from toolrl_core.explain.ladder_figure import ladder_alt, ladder_figure, ladder_grid, ladder_steps, ladder_table

GOLD = [ToolCall("search", {"query": "x"}), ToolCall("calc", {})]
SEARCH_ONLY = render_completion(GOLD, calls=GOLD[:1])
PAPER = RewardSpec.preset("paper")


def texts(figure):
    """All words that a figure shows."""
    axes = figure.axes[0]
    labels = [*axes.get_yticklabels(), *axes.get_xticklabels(), *axes.texts]
    return [label.get_text() for label in labels]


class TestTheSteps:
    def test_of_the_note_s_example_with_a_call_missing_are_those_by_hand(self):
        # Names 1/2, keys and value of search 1 each, calc nothing; a raw point is worth 6/4 points; format 1.
        steps = ladder_steps(score(SEARCH_ONLY, GOLD))
        assert [(step.group, step.label, step.points, step.available, step.sum) for step in steps] == [
            ("correctness", "floor", -3.0, -3.0, -3.0),
            ("correctness", "names", 0.75, 1.5, -2.25),
            ("correctness", "search: keys", 1.5, 1.5, -0.75),
            ("correctness", "search: query", 1.5, 1.5, 0.75),
            ("correctness", "calc: keys", 0.0, 1.5, 0.75),
            ("format", "format", 1.0, 1.0, 1.75),
        ]

    def test_end_with_the_length_reward_where_there_is_one(self):
        spec = PAPER.replace(length_reward=LengthReward())
        last = ladder_steps(score(render_completion(GOLD, thought="word " * 128), GOLD, spec))[-1]
        assert (last.group, last.points, last.sum) == ("length", 0.25, 4.25)

    def test_number_the_calls_of_one_tool_and_drop_what_stands_before_a_dot(self):
        gold = [ToolCall("maths.sum", {"a": 1}), ToolCall("maths.sum", {"a": 2})]
        labels = [step.label for step in ladder_steps(score(gold, gold))]
        assert labels[2:] == ["sum #1: keys", "sum #1: a", "sum #2: keys", "sum #2: a"]

    def test_have_short_labels_whatever_the_names(self):
        gold = [ToolCall("n" * 60, {"k" * 60: 1, "unit": 2})]
        labels = [step.label for step in ladder_steps(score(gold, gold))]
        assert max(map(len, labels)) <= 26
        assert len(set(labels)) == len(labels)

    def test_say_whole_call_or_whole_answer_under_a_coarser_granularity(self):
        call = [step.label for step in ladder_steps(score(GOLD, GOLD, RewardSpec.preset("intermediate")))]
        answer = [step.label for step in ladder_steps(score(GOLD, GOLD, RewardSpec.preset("coarse")))]
        assert call == ["floor", "names", "search", "calc"]
        assert answer == ["floor", "answer"]

    @given(
        st.lists(st.sampled_from([*GOLD, ToolCall("search", {"query": "y"}), ToolCall("mail", {"to": 1})]), max_size=4),
        st.sampled_from(sorted(RewardSpec.presets())),
    )
    def test_add_up_to_the_total_under_every_preset(self, calls, preset):
        made = score(render_completion(GOLD, calls=calls), GOLD, RewardSpec.preset(preset))
        assert ladder_steps(made)[-1].sum == pytest.approx(made.total, abs=1e-12)


def test_the_table_has_the_numbers_of_the_steps_and_no_goal_for_the_floor():
    table = ladder_table(score(SEARCH_ONLY, GOLD))
    assert table["points"].tolist() == [-3, 0.75, 1.5, 1.5, 0, 1]
    assert table["sum"].iloc[-1] == 1.75
    assert table["of"].isna().tolist() == [True] + [False] * 5


def test_the_alternative_text_names_the_total_and_what_was_lost():
    words = ladder_alt(score(SEARCH_ONLY, GOLD))
    assert words == "Ladder of 6 steps to a total of 1.75 points. Points lost: names 0.75, calc: keys 1.5."
    assert ladder_alt(score(GOLD, GOLD)).endswith("Every step earns all it can.")


class TestTheFigure:
    def test_has_a_row_for_each_step_below_the_name_of_its_part(self):
        shown = texts(ladder_figure(score(SEARCH_ONLY, GOLD)))
        rows = ["Correctness, −3 to 3", "floor", "names", "search: keys", "search: query", "calc: keys"]
        assert shown[: len(rows) + 3] == [*rows, "Format, 0 or 1", "format", "total"]

    def test_writes_at_each_rung_what_it_gave_and_what_it_could_give(self):
        shown = [text.strip() for text in texts(ladder_figure(score(SEARCH_ONLY, GOLD)))]
        assert {"−3", "0.75 of 1.5", "+1.5", "0 of 1.5", "+1", "1.75"} <= set(shown)

    @pytest.mark.parametrize(("preset", "hue"), [("paper", "blue"), ("released", "orange"), ("robust", "green")])
    def test_has_the_colour_of_its_preset(self, preset, hue):
        made = score(SEARCH_ONLY, GOLD, RewardSpec.preset(preset))
        svg = to_svg(ladder_figure(made), alt="Ladder.")
        assert f"var(--toolrl-{hue}, {PALETTE[hue]})" in svg

    def test_takes_the_colour_of_a_role_for_a_spec_without_a_name(self):
        made = score(SEARCH_ONLY, GOLD, PAPER.replace(length_reward=LengthReward()))
        assert "--toolrl-blue" in to_svg(ladder_figure(made, role="paper"), alt="Ladder.")
        assert "--toolrl-blue" not in to_svg(ladder_figure(made), alt="Ladder.")

    def test_refuses_an_unknown_role_and_lists_the_known_ones(self):
        with pytest.raises(ValueError, match=r"unknown colour 'nobody'; roles: paper, "):
            ladder_figure(score(GOLD, GOLD), role="nobody")

    def test_stands_also_where_correctness_was_not_scored(self):
        made = score("<think> a </think>\n<response> b </response>", [], RewardSpec.preset("released"))
        shown = texts(ladder_figure(made))
        assert shown[:3] == ["Format, 0 or 1", "format", "total"]
        assert texts(ladder_figure(score([], [], RewardSpec.preset("released"))))[0] == "total"

    def test_shows_the_whole_range_whatever_the_score(self):
        best, worst = (ladder_figure(score(calls, GOLD)).axes[0].get_xlim() for calls in (GOLD, []))
        assert best == worst
        assert best[0] < -3
        assert best[1] > 3


class TestTheGrid:
    def test_shows_the_points_of_every_box_and_the_total_of_every_answer(self):
        grid = ladder_grid({"right": score(render_completion(GOLD), GOLD), "no calc": score(SEARCH_ONLY, GOLD)})
        shown = texts(grid)
        assert shown[:2] == ["right", "no calc"]
        assert shown.count("1.5") == 6
        assert {"0.75", "+4", "+1.75", "names", "search: query", "format"} <= set(shown)

    def test_names_the_parts_below_their_boxes(self):
        shown = texts(ladder_grid({"right": score(render_completion(GOLD), GOLD)}))
        assert "Format\n0 or 1" in shown
        assert any(text.startswith("Correctness\n−3 to 3") for text in shown)

    def test_refuses_scores_that_do_not_have_the_same_steps(self):
        other = [ToolCall("f", {"a": 1})]
        with pytest.raises(ValueError, match="the 2 scores have 2 different lists of steps"):
            ladder_grid({"one": score(GOLD, GOLD), "two": score(other, other)})
        with pytest.raises(ValueError, match="the 0 scores"):
            ladder_grid({})


class TestTheChanges:
    def test_mark_the_words_left_out_and_put_in(self):
        assert '"y": <del>1</del><ins>2</ins>}' in changes_html('{"y": 1}', '{"y": 2}')

    def test_escape_what_a_model_writes(self):
        assert "<b>" not in changes_html("a", "<b> &")
        assert "&lt;" in changes_html("a", "<b> &")

    @given(st.text("ab \n<&{}", max_size=30), st.text("ab \n<&{}", max_size=30))
    def test_hold_both_texts_whole(self, right, given_text):
        inner = re.sub(r"</?pre[^>]*>", "", changes_html(right, given_text).partition("</style>")[2])
        plain = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}

        def read(leave_out):
            kept = re.sub(rf"<{leave_out}>.*?</{leave_out}>", "", inner, flags=re.DOTALL)
            return re.sub("&(lt|gt|amp);", lambda found: plain[found[0]], re.sub(r"</?(ins|del)>", "", kept))

        assert read("del") == given_text
        assert read("ins").replace("⏎", "\n") == right

    def test_of_equal_texts_are_none(self):
        assert not re.search("<ins>|<del>", changes_html("f(a=1)", "f(a=1)"))
