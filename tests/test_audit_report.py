"""What an audit says about rollouts: every number by hand, every warning in the situation that it is for."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core.adapters import generic, swift, trl, verifiers, verl
from toolrl_core.audit.columns import Rollout
from toolrl_core.audit.findings import explain_mean
from toolrl_core.audit.gold_lint import lint_ground_truth
from toolrl_core.audit.headline import headline
from toolrl_core.audit.lost_points import lost_points
from toolrl_core.audit.report import AuditReport
from toolrl_core.audit.row_scores import RowScorer
from toolrl_core.audit.run import BadRowError, audit
from toolrl_core.audit.signatures import RewardError
from toolrl_core.rewards import score
from toolrl_core.schedules import two_stage
from toolrl_core.spec import RewardSpec

ROOT = Path(__file__).parent.parent
GOLD = [{"name": "f", "parameters": {"a": 1}}]
PERFECT = '<think> x </think>\n<tool_call>\n{"name": "f", "parameters": {"a": 1}}\n</tool_call>'
REFUSAL = "<think> x </think>\n<response> No. </response>"


def answer(*calls: dict[str, Any], thought: str = "x") -> str:
    lines = "\n".join(json.dumps(call) for call in calls)
    return f"<think> {thought} </think>\n<tool_call>\n{lines}\n</tool_call>"


def codes(report: AuditReport) -> list[str]:
    return [finding.code for finding in report.warnings]


def finding(report: AuditReport, code: str) -> str:
    return next(f"{found.level}: {found.text} {found.advice}" for found in report.warnings if found.code == code)


# The floor


def unparsed_test_set() -> list[dict[str, Any]]:
    """Eighty rows, 71 of which expect a call, and no answer that holds one."""
    return [{"completion": "I call f with a = 1.", "ground_truth": GOLD if row < 71 else REFUSAL} for row in range(80)]


def test_a_run_that_parsed_nothing_is_named_in_plain_words() -> None:
    report = audit(unparsed_test_set())
    released = report.rewards["released"]
    assert released["mean_correctness"] == pytest.approx(-2.6625)  # 71 * -3 / 80
    assert released["correctness_floor"] == pytest.approx(-2.6625)
    assert released["mean_format"] == 0.0
    assert released["share_correctness_at_floor"] == 1.0
    assert report.warnings[0].code == "everything_at_floor"
    text = finding(report, "everything_at_floor")
    assert text.startswith("serious: ")
    assert "released -2.6625 (floor -2.6625)" in text
    assert "Not one call could be read in 71 of the 71 rows that expect one." in text
    assert "-2.6625" in report.to_text()


def test_right_refusals_are_not_called_unscored_where_the_released_rules_give_no_choice() -> None:
    rows = [{"completion": REFUSAL, "ground_truth": []}] * 5  # released: correctness 0 whatever they hold
    rows += [{"completion": PERFECT, "ground_truth": GOLD}]
    for explained in ("released", "robust"):
        assert {"everything_at_floor", "nothing_right"}.isdisjoint(codes(audit(rows, explained=explained)))
        assert {"everything_at_floor", "nothing_right"}.isdisjoint(codes(audit(rows[:5], explained=explained)))


def test_wrong_answers_that_were_read_are_called_wrong_and_only_under_the_explained_reward() -> None:
    wrong = answer({"name": "f", "parameters": {"a": 2}})
    rows = [{"completion": wrong, "ground_truth": GOLD}] * 4  # coarse: -3, all or nothing; robust: -3 + 6 * 2/3
    assert {"everything_at_floor", "nothing_right"}.isdisjoint(codes(audit(rows)))
    report = audit(rows, explained="coarse")
    assert "everything_at_floor" not in codes(report)
    text = finding(report, "nothing_right")
    assert text.startswith("warning: The correctness of 4 rows is at its floor: mean coarse -3 (floor -3).")
    assert "not scored" not in report.to_html()


def test_a_reward_without_a_choice_has_no_way_between_floor_and_ceiling() -> None:
    bare = {"released": RewardSpec.preset("released").replace(format_rule="none")}
    report = audit([{"completion": REFUSAL, "ground_truth": []}], presets=bare, explained="released")
    assert "whatever they hold, they score the same" in report.to_text().replace("\n", " ")


def test_a_reported_mean_is_explained_without_the_rollouts() -> None:
    (text,) = explain_mean(-2.6625, rows=80, with_calls=71)
    assert "exactly the floor of this data set under the released rules" in text
    assert "71 of 80 rows expect a call and every one of them scored -3" in text
    assert explain_mean(-2.5, rows=80, with_calls=71) == ()
    assert "ceiling" in explain_mean(2.6625, rows=80, with_calls=71)[0]
    assert "never calls a tool" in explain_mean((3 * 9 - 3 * 71) / 80, rows=80, with_calls=71)[0]
    with pytest.raises(ValueError, match="81 rows with calls of 80"):
        explain_mean(0.0, rows=80, with_calls=81)


def test_mean_floor_and_ceiling_are_those_of_hand_arithmetic() -> None:
    wrong = answer({"name": "f", "parameters": {"a": 2}})
    rows = [{"completion": text, "ground_truth": GOLD} for text in (PERFECT, wrong, "")]
    # robust: 1 + 3; 1 + (-3 + 6 * 2/3) = 2; 0 - 3
    reward = audit(rows, presets=["robust"]).rewards["robust"]
    assert (reward["mean"], reward["floor"], reward["ceiling"]) == (pytest.approx(1.0), -3.0, 4.0)
    assert (reward["share_at_floor"], reward["share_at_ceiling"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert reward["histogram"] == [[-3.0, 1], [2.0, 1], [4.0, 1]]


def test_a_file_without_completions_gives_the_bounds_of_its_ground_truths() -> None:
    report = audit([{"ground_truth": GOLD}] * 71 + [{"ground_truth": REFUSAL}] * 9)
    assert report.data["bounds"]["released"]["floor"] == pytest.approx(-2.6625)
    assert report.data["bounds"]["released"]["ceiling"] == pytest.approx(2.6625 + 1)
    assert report.data["bounds"]["robust"] == {"rows": 80, "floor": -3.0, "ceiling": 4.0}
    assert codes(report) == ["no_completions"]
    assert "71 of which expect a call" in report.to_text()


def test_rows_that_cannot_be_used_are_no_ground_truths_in_the_headline() -> None:
    rows = [{"ground_truth": GOLD}] * 3 + [{"ground_truth": "broken"}]
    assert audit(rows).to_text().startswith("3 ground truths, 3 of which expect a call.")
    assert audit(rows[3:]).to_text().startswith("None of the 1 rows can be used.")


# Constant rewards and formats


def test_a_constant_recorded_reward_is_serious() -> None:
    rows = [{"completion": PERFECT, "ground_truth": GOLD, "reward": 0.3, "group": "a"}] * 4
    report = audit(rows)
    text = finding(report, "constant_reward")
    assert text.startswith("serious: ")
    assert "recorded is 0.3 on every one of 4 rows: they teach nothing." in text
    assert codes(report).count("constant_reward") == 1


def test_a_prefilled_thought_is_recognised_by_its_bare_end() -> None:
    rows = [{"completion": PERFECT.removeprefix("<think> "), "ground_truth": GOLD}] * 3
    report = audit(rows)
    assert "prefilled_thought=True" in finding(report, "prefilled_thought")
    assert report.warnings[0].level == "serious"
    prefilled = {"robust": RewardSpec.preset("robust").replace(prefilled_thought=True)}
    assert audit(rows, presets=prefilled).rewards["robust"]["mean"] == 4.0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('<think> x </think>\n<tool_call>\n{"name": "f", "parameters": {"a"', "truncated"),
        (f"{PERFECT}<|im_end|>", "special_token_tail"),
        ("<think> x </think>\n<tool_call>\n{'name': 'f', 'parameters': {'a': 1}}\n</tool_call>", "python_literal"),
        (PERFECT.replace("parameters", "arguments"), "arguments_key"),
        (f"<|im_start|>user\nhm<|im_end|>\n<|im_start|>assistant\n{PERFECT}", "chat_markers"),
    ],
)
def test_what_the_reader_met_is_said(text: str, code: str) -> None:
    rows = [{"completion": text, "ground_truth": GOLD}, {"completion": PERFECT, "ground_truth": GOLD}]
    assert code in codes(audit(rows))


def test_one_is_counted_in_the_singular() -> None:
    call = answer({"name": "f", "parameters": {}})
    rows = [{"completion": f"{PERFECT}<|im_end|>", "ground_truth": GOLD, "group": "a"}, {"ground_truth": GOLD}]
    rows += [
        {"completion": call, "ground_truth": [], "group": "b"},
        {"completion": "", "ground_truth": [], "group": "b"},
    ]
    report = audit(rows)
    assert "1 of 3 completions ends in a stop token." in finding(report, "special_token_tail")
    assert "1 answer calls a tool where none is expected." in finding(report, "unneeded_calls")
    assert "1 row has no completion" in finding(report, "missing_completions")
    assert "1 of 2 groups holds a single row." in finding(report, "singleton_groups")


# Groups


def test_zero_std_groups_are_counted_for_each_tier() -> None:
    wrong_value = answer({"name": "f", "parameters": {"a": 2}})
    renamed_key = answer({"name": "f", "parameters": {"b": 1}})
    rows = [{"completion": text, "ground_truth": GOLD, "group": "one"} for text in (wrong_value, renamed_key)]
    rows += [{"completion": PERFECT, "ground_truth": GOLD, "group": "two"}] * 2
    zero = audit(rows).data["groups"]["zero_std"]
    # paper: 1 + 1 and 1 + 0 raw points, so group one has a spread; the tiers that do not look inside a call see none.
    assert zero["paper"] == {"groups": 2, "zero_std": 1, "share": 0.5}
    assert zero["intermediate"] == {"groups": 2, "zero_std": 2, "share": 1.0}
    assert zero["coarse"]["share"] == 1.0


def test_the_same_prompt_at_another_step_is_another_group() -> None:
    rows = [{"completion": PERFECT, "ground_truth": GOLD, "group": "a", "step": step} for step in (1, 1, 2, 2)]
    assert audit(rows).data["groups"]["sizes"] == [[2, 2]]


def test_ragged_and_singleton_groups_are_named() -> None:
    groups = ["a", "a", "b", "b", "b", "c"]
    rows = [{"completion": PERFECT, "ground_truth": GOLD, "group": group} for group in groups]
    report = audit(rows)
    assert report.data["groups"]["sizes"] == [[1, 1], [2, 1], [3, 1]]
    assert "from 1 to 3 rows" in finding(report, "ragged_groups")
    assert "1 of 3 groups holds a single row" in finding(report, "singleton_groups")


def test_rows_of_one_prompt_are_a_group_where_no_column_names_it() -> None:
    rows = [{"prompt": f"question {i // 2}", "completion": PERFECT, "ground_truth": GOLD} for i in range(6)]
    assert audit(rows).data["groups"]["sizes"] == [[2, 3]]


# Lost points


def test_lost_points_are_shared_out_as_by_hand() -> None:
    gold = [{"name": "bash", "parameters": {"command": "pytest", "risk": "LOW"}}]
    dropped = score(answer({"name": "bash", "parameters": {"risk": "LOW"}}), gold, RewardSpec.preset("robust"))
    assert dropped.correctness == 0.75
    (loss,) = lost_points(dropped)
    # 6 points over S = 4 raw points are 1.5 each; half a key point and one value are lost.
    assert (loss.cause, loss.points, loss.tool, loss.parameter) == ("missing_argument", 2.25, "bash", "command")
    wrong = score(
        answer({"name": "bash", "parameters": {"command": "pytest x", "risk": "LOW"}}),
        gold,
        RewardSpec.preset("robust"),
    )
    assert wrong.correctness == 1.5
    assert [(each.cause, each.points) for each in lost_points(wrong)] == [("wrong_value", 1.5)]


def test_an_extra_argument_takes_its_share_of_the_keys() -> None:
    # Keys {a} against {a, b}: half a key point; S = 3, so 2 points each.
    given_more = score([{"name": "f", "parameters": {"a": 1, "b": 2}}], GOLD, RewardSpec.preset("robust"))
    assert [(each.cause, each.points, each.tool) for each in lost_points(given_more)] == [("extra_argument", 1.0, "f")]


VALUES = st.sampled_from([1, 2, "x"])
CALLS = st.lists(
    st.builds(
        lambda name, arguments: {"name": name, "parameters": arguments},
        st.sampled_from("fgh"),
        st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3),
    ),
    max_size=3,
)


@settings(max_examples=60, deadline=None)
@given(gold=CALLS, predicted=CALLS, preset=st.sampled_from(list(RewardSpec.presets())))
def test_lost_points_add_up_to_ceiling_less_total(gold: Any, predicted: Any, preset: str) -> None:
    text = answer(*predicted) if predicted else REFUSAL
    breakdown = score(text, gold, RewardSpec.preset(preset))
    counted = bool(gold) or breakdown.spec.no_call == "scored"
    ceiling = breakdown.scales.format[1] + (breakdown.scales.correctness[1] if counted else 0.0)
    losses = lost_points(breakdown)
    assert math.fsum(loss.points for loss in losses) == pytest.approx(ceiling - breakdown.total, abs=1e-9)
    assert all(loss.points > 0 for loss in losses)


@settings(max_examples=60, deadline=None)
@given(gold=CALLS, predicted=CALLS, preset=st.sampled_from(list(RewardSpec.presets())), broken=st.booleans())
def test_the_losses_of_a_row_are_those_of_its_explanation(gold: Any, predicted: Any, preset: str, broken: bool) -> None:
    spec = RewardSpec.preset(preset)
    text = answer(*predicted) if predicted else REFUSAL
    text = text.replace("</tool_call>", '{"name": "f", \n</tool_call>') if broken else text
    scorer = RowScorer({preset: spec}, explained=preset)
    found = scorer(Rollout(1, text, gold)).losses
    wanted = lost_points(score(text, gold, spec))
    assert [(loss.cause, loss.tool, loss.parameter) for loss in found] == [
        (loss.cause, loss.tool, loss.parameter) for loss in wanted
    ]
    assert [loss.points for loss in found] == pytest.approx([loss.points for loss in wanted])


def test_the_losses_of_accepted_values_are_those_of_their_explanation() -> None:
    gold = [{"f": {"a": [1, 2], "b": ["x", ""]}}]
    for arguments in ({"a": 2}, {"a": 3, "b": "x"}, {"b": "y"}, {"a": 1, "b": "y", "c": 0}, {}):
        text = answer({"name": "f", "parameters": arguments})
        found = RowScorer({"robust": RewardSpec.preset("robust")}, explained="robust")(Rollout(1, text, gold)).losses
        assert list(found) == lost_points(score(text, gold, RewardSpec.preset("robust")))


@settings(max_examples=25, deadline=None)
@given(gold=CALLS, answers=st.lists(CALLS, min_size=1, max_size=4), step=st.sampled_from([1, 40]))
def test_every_row_scores_what_score_says_also_where_answers_repeat(gold: Any, answers: Any, step: int) -> None:
    specs = {name: RewardSpec.preset(name) for name in ("paper", "released", "robust", "coarse", "released_refined")}
    specs["two_stage"] = RewardSpec(schedule=two_stage())
    texts = [answer(*calls, thought=f"thought {i}") if calls else REFUSAL for i, calls in enumerate(answers * 2)]
    texts += [text.replace("thought", "a <tool_call>") for text in texts] + [f"{text}<|im_end|>" for text in texts]
    rows: list[dict[str, Any]] = []
    audit(
        [{"completion": text, "ground_truth": gold, "step": step} for text in texts], presets=specs, on_row=rows.append
    )
    assert len(rows) == len(texts)
    for row, text in zip(rows, texts, strict=True):
        for name, spec in specs.items():
            assert row[name] == score(text, gold, spec, step=step).total


def test_the_report_ranks_tools_and_parameters() -> None:
    wrong = answer({"name": "f", "parameters": {"a": 2}})
    lost = audit([{"completion": wrong, "ground_truth": GOLD}] * 3, presets=["robust"]).data["lost"]
    assert lost["by_cause"] == [{"cause": "wrong_value", "points": 6.0, "per_row": 2.0}]
    assert lost["by_tool"][0]["tool"] == "f"
    assert lost["by_parameter"] == [{"tool": "f", "parameter": "a", "cause": "wrong_value", "points": 6.0}]


# Disagreement, order, hacks


def test_disagreement_shows_the_smallest_row() -> None:
    twice = answer(*GOLD, *GOLD)
    longer = answer(*GOLD, *GOLD, thought="a longer thought")
    rows = [{"completion": text, "ground_truth": GOLD} for text in (longer, PERFECT, twice)]
    report = audit(rows, presets=["paper", "robust"])
    (pair,) = report.data["disagreement"]
    assert (pair["first"], pair["second"], pair["share_different"]) == ("paper", "robust", pytest.approx(2 / 3))
    assert [shown["line"] for shown in pair["examples"]] == [3]
    # robust: names 1/2, pair 2, S = 3 + 1: -3 + 6 * 2.5/4 = 0.75, format 1
    assert dict(pair["examples"][0]["values"]) == {"paper": 4.0, "robust": 1.75}


def test_the_recorded_reward_is_recognised_as_a_preset() -> None:
    texts = (PERFECT, answer({"name": "f", "parameters": {"a": True}}), answer({"name": "g", "parameters": {}}))
    rows = [
        {"completion": text, "ground_truth": GOLD, "reward": score(text, GOLD, RewardSpec.preset("released")).total}
        for text in texts
    ]
    match = audit(rows).data["recorded_match"]
    assert (match["reward"], match["part"], match["share"]) == ("released", "total", 1.0)


def test_missing_rewards_are_counted_and_never_zero() -> None:
    rows = [
        {"completion": PERFECT, "ground_truth": GOLD, "reward": value} for value in (1.0, None, float("nan"), "high")
    ]
    recorded = audit(rows).rewards["recorded"]
    assert (recorded["rows"], recorded["unscored"], recorded["mean"]) == (1, 3, 1.0)


def test_greedy_order_is_shown_by_reversing_the_ground_truth() -> None:
    # The first of three nested calls is dropped: greedy matching in order gives each partner away.
    gold = [{"name": "f", "parameters": {"a": 1, "k": 0}}, {"name": "f", "parameters": {"a": 2, "k": 0}}]
    calls = [
        {"name": "f", "parameters": {"a": 2, "k": 0}},
        {"name": "f", "parameters": {"a": 9, "k": 0}},
    ]
    report = audit([{"completion": answer(*calls), "ground_truth": gold}], presets=["released", "robust"])
    order = report.data["order"]
    assert list(order) == ["released"]
    assert order["released"]["rows"] == 1
    # In order: the first gold call takes the call with a = 2 (2 raw points, a tie), the second gets 2: R = 1 + 4 of 7.
    # Reversed: 3 + 2, so R = 6 of 7, and 6/7 points more.
    assert order["released"]["largest_difference"] == pytest.approx(6 / 7)
    assert "order_sensitive" in codes(report)


def test_a_reward_that_pays_for_missing_arguments_is_serious() -> None:
    gold = [{"name": "bash", "parameters": {"command": "pytest", "risk": "LOW"}}]
    short = answer({"name": "bash", "parameters": {"risk": "LOW"}})
    full = answer({"name": "bash", "parameters": {"command": "pytest x", "risk": "LOW"}})
    rows = [{"completion": short, "ground_truth": gold, "reward": 0.85, "step": 3}] * 5
    rows += [{"completion": full, "ground_truth": gold, "reward": 0.77, "step": 1 + i % 2} for i in range(6)]
    report = audit(rows)
    text = finding(report, "missing_arguments_pay")
    assert text.startswith("serious: ")
    assert "0.85 against 0.77" in text
    assert "grows from 0 % in the first third of the steps to 100 % in the last" in finding(
        report, "missing_arguments_grow"
    )
    # robust does not pay for it: 1 + 0.75 against 1 + 1.5.
    assert report.data["missing_argument"]["robust"]["mean_with"] == 1.75
    assert report.data["missing_argument"]["robust"]["mean_without"] == 2.5


def test_a_function_of_the_user_is_compared_and_its_errors_are_counted() -> None:
    def half(completion: str, ground_truth: Any) -> float:
        if "boom" in completion:
            raise KeyError("boom")
        return 0.5

    rows = [{"completion": text, "ground_truth": GOLD} for text in (PERFECT, "boom")]
    report = audit(rows, half, presets=["robust"])
    assert report.rewards["half"]["mean"] == 0.5
    assert report.rewards["half"]["errors"] == {"KeyError: 'boom'": 1}
    assert "errors" in report.to_dict()["rewards"]["half"]
    assert finding(report, "reward_errors").startswith("serious: half gave no number on 1 of 2 rows: KeyError: 'boom'.")


def test_a_reward_of_any_trainer_is_called_in_its_own_way() -> None:
    seen: list[Any] = []

    def verl(data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None) -> dict[str, float]:
        seen.append((solution_str, ground_truth))
        return {"score": 1.5}

    def trl(completions: list[str], ground_truth: list[Any], **columns: Any) -> list[float]:
        seen.append((completions[0], ground_truth[0]))
        return [2.5]

    def openrlhf(queries: list[str], prompts: list[str], labels: list[Any]) -> dict[str, list[float]]:
        seen.append((queries[0], labels[0]))
        return {"rewards": [3.5]}

    class Swift:
        def __call__(self, completions: list[str], **columns: Any) -> list[float]:
            seen.append((completions[0], columns["ground_truth"][0]))
            return [4.5]

    def plain(answer: str, label: Any) -> float:
        seen.append((answer, label))
        return 5.5

    rows = [{"completion": PERFECT, "ground_truth": GOLD}]
    rewards = {"verl": verl, "trl": trl, "openrlhf": openrlhf, "instance": Swift(), "class": Swift, "plain": plain}
    found = audit(rows, rewards, presets=["robust"]).rewards
    assert [found[name]["mean"] for name in rewards] == [1.5, 2.5, 3.5, 4.5, 4.5, 5.5]
    assert seen == [(PERFECT, GOLD)] * 6
    assert audit(rows, trl, presets=["robust"]).rewards["trl"]["mean"] == 2.5
    assert headline([(PERFECT, GOLD)], reward=trl).rewards["trl"].mean == 2.5


def test_the_rewards_of_the_adapters_are_audited_as_they_are() -> None:
    rows = [{"completion": text, "ground_truth": GOLD} for text in (PERFECT, "hm")]
    rewards = {
        "trl_reward": trl.reward_function("robust"),
        "verl_reward": verl.compute_score,
        "swift_reward": swift.ToolReward,
        "verifiers_reward": verifiers.rubric_function("robust"),
        "own_loop": generic.reward_function("robust"),
    }
    found = audit(rows, rewards, presets=["robust"]).rewards
    assert [found[name]["mean"] for name in rewards] == [0.5] * len(rewards)  # 4 and -3


def test_a_reward_that_cannot_be_called_is_refused_before_the_first_row() -> None:
    def rows() -> Any:
        raise AssertionError
        yield

    with pytest.raises(RewardError, match=r"cannot call 'short' as f\(completion, ground_truth\): too many"):
        audit(rows(), {"fine": lambda c, g: 0.0, "short": short})
    with pytest.raises(RewardError, match="a reward must be callable, found RewardSpec"):
        audit(rows(), RewardSpec())
    with pytest.raises(RewardError, match="cannot import 'no_such_module'"):
        audit(rows(), {"mine": "no_such_module:f"})


def short(completion: str) -> float:
    raise AssertionError


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "returned None, not a number"), ("1", "returned str, not a number"), (math.nan, "returned nan")],
)
def test_a_reward_that_returns_no_number_is_serious_in_every_rendering(value: Any, said: str) -> None:
    report = audit([{"completion": PERFECT, "ground_truth": GOLD}] * 3, lambda c, g: value, presets=["robust"])
    text = finding(report, "reward_errors")
    assert text.startswith("serious: ")
    assert "gave no number on 3 of 3 rows" in text
    assert said in text
    assert report.rewards["lambda"]["rows"] == 0
    for rendering in (report.to_text(), report.to_html(), report.to_markdown()):
        assert "gave no number on 3 of 3 rows" in " ".join(rendering.split())


def test_absurd_rewards_and_many_messages_stay_bounded() -> None:
    def picky(completion: str, ground_truth: Any) -> float:
        raise ValueError(completion)

    rows = [
        {"completion": str(i), "ground_truth": GOLD, "reward": 1e99 if i else 1.7e308, "step": i} for i in range(300)
    ]
    report = audit(rows, picky, presets=["robust"])
    assert report.rewards["recorded"]["histogram"] == [[1000.0, 299]]
    assert report.rewards["recorded"]["unscored"] == 1  # beyond 1e100: no reward
    errors = report.rewards["picky"]["errors"]
    assert len(errors) == 101
    assert errors["other errors"] == 200
    assert json.loads(report.to_json())["rows"] == 300


def test_several_accepted_values_are_told_where_the_released_rules_get_the_first() -> None:
    rows = [{"completion": PERFECT, "ground_truth": [{"f": {"a": [2, 1]}}]}]
    report = audit(rows)
    assert "1 ground truth accepts several values" in finding(report, "first_value_only")
    assert report.rewards["robust"]["mean"] == 4.0
    assert report.rewards["released"]["mean"] == 2.0  # 2 of 3 raw points: 1, and the format


def test_length_dependence_is_measured() -> None:
    rows = []
    for words in (1, 2, 4, 8, 16, 32):
        rows += [{"completion": " ".join(["w"] * words), "ground_truth": GOLD, "reward": math.log2(words + 1)}] * 6
    report = audit(rows)
    assert report.data["lengths"]["recorded"]["correlation"] == pytest.approx(1.0)
    assert "Longer completions earn more" in finding(report, "length_dependence")


# Multi-turn files


def test_void_turns_are_found_and_filtering_is_shown() -> None:
    call = {"role": "assistant", "content": answer(*GOLD)}
    tool = {"role": "tool", "content": "done"}
    said = {"role": "assistant", "content": "<response> done </response>"}
    void = {"role": "assistant", "content": "hm"}
    rows = [
        {"messages": [call, tool, said], "ground_truth": GOLD, "group": "a", "reward": 1.0},
        {"messages": [call, tool, void], "ground_truth": GOLD, "group": "a", "reward": 0.0},
        {"messages": [call, tool, said], "ground_truth": GOLD, "group": "a", "reward": 1.0},
    ]
    void_data = audit(rows).data["void"]
    assert (void_data["rows"], void_data["with_void_turn"], void_data["turns"]) == (3, 1, 6)
    assert void_data["first_void_turn"] == [[2, 1]]
    assert void_data["mean"] == pytest.approx(2 / 3)
    assert void_data["mean_without_void"] == 1.0
    assert (void_data["zero_std"], void_data["zero_std_after_filter"]) == (0, 1)


# Ground truths


@pytest.mark.parametrize(
    ("gold", "code"),
    [
        (GOLD * 2, "duplicate_call"),
        ([{"name": "news", "parameters": {"page": "1"}}], "numeric_text"),
        ([{"name": "f", "parameters": {"a": None}}], "null_argument"),
        ([{"name": "f", "parameters": {"a": "an </tool_call> inside"}}], "tag_in_value"),
        ("<think> use <tool_call> now </think>\n" + PERFECT.split("\n", 1)[1], "tag_in_thought"),
        ("<think> x </think>\n<tool_call>\n{broken\n</tool_call>", "unreadable"),
    ],
)
def test_faults_of_a_ground_truth_are_named(gold: Any, code: str) -> None:
    assert code in [lint.code for lint in lint_ground_truth(gold)]


def test_a_clean_ground_truth_has_no_fault() -> None:
    assert lint_ground_truth(GOLD) == ()
    assert lint_ground_truth(REFUSAL) == ()
    assert lint_ground_truth([{"f": {"a": [1, 2], "b": ["x", ""]}}]) == ()


def test_a_ground_truth_is_held_against_the_schema() -> None:
    schemas = {
        "f": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "number"}},
            "required": ["a", "b"],
        }
    }
    found = lint_ground_truth([{"name": "f", "parameters": {"a": "1", "c": 2, "d": 0}}], schemas=schemas)
    assert sorted(lint.code for lint in found) == ["missing_required", "undeclared_argument", "wrong_type"]
    assert lint_ground_truth([{"name": "g", "parameters": {}}], schemas=schemas)[0].code == "undeclared_tool"
    assert lint_ground_truth([{"name": "f", "parameters": {"a": 1, "b": "x", "c": 2}}], schemas=schemas) == ()


def test_an_unreachable_maximum_is_reported_with_its_numbers() -> None:
    gold = "<think> x </think>\nSure.\n" + PERFECT.split("\n", 1)[1]  # prose between the blocks: no strict format
    found = [lint for lint in lint_ground_truth(gold) if lint.code == "unreachable"]
    assert "robust: 3 of 4 points" in [lint.detail for lint in found]
    report = audit([{"completion": PERFECT, "ground_truth": gold}], presets=["released", "robust"])
    assert report.data["gold"]["unreachable"] == {
        "rows": 1,
        "line": 1,
        "detail": "released: 3 of 4 points; robust: 3 of 4 points",
    }


# Bad rows


def test_bad_rows_are_counted_and_leave_the_numbers_alone() -> None:
    rows: list[Any] = [
        {"completion": PERFECT, "ground_truth": GOLD},
        "not a row",
        {"completion": PERFECT},
        {"completion": 7, "ground_truth": GOLD},
        {"completion": PERFECT, "ground_truth": [{"name": ""}]},
    ]
    seen: list[Any] = []
    report = audit(rows, on_bad_row=seen.append)
    assert report.data["rows"] == 5
    assert report.rewards["robust"]["mean"] == 4.0
    assert [row.line for row in seen] == [2, 3, 4, 5]
    assert sum(report.data["bad_rows"]["by_reason"].values()) == 4
    assert "4 of 5 rows cannot be used" in finding(report, "bad_rows")
    with pytest.raises(BadRowError, match="line 2: not an object but str"):
        audit(rows, strict=True)


# Safety of the renderings


HOSTILE = '<script>document.title = "hacked"</script><img src=x onerror="document.title=1">\x1b[31m'


def hostile_report() -> AuditReport:
    gold = [{"name": HOSTILE, "parameters": {HOSTILE: 1}}]
    wrong = answer({"name": HOSTILE, "parameters": {HOSTILE: True}}) + HOSTILE
    rows: list[Any] = [{"completion": text, "ground_truth": gold, "group": HOSTILE} for text in (wrong, HOSTILE)]
    return audit([*rows, {"completion": {HOSTILE: 1}, "ground_truth": gold}])


def test_markup_in_the_data_is_text_in_every_rendering() -> None:
    report = hostile_report()
    for rendered in (report.to_html(), report._repr_html_()):
        assert "<script" not in rendered
        assert "<img" not in rendered
        assert "&lt;script&gt;" in rendered
        assert "\x1b" not in rendered
    outside_code = [line for line in report.to_markdown().split("\n") if not line.startswith("    ")]
    assert not any("<script" in line.replace("\\<", "") for line in outside_code)
    assert "\x1b" not in report.to_text()
    assert json.loads(report.to_json())["rows"] == 3


def test_a_script_in_a_completion_does_not_run_in_a_browser(browser: Any, tmp_path: Path) -> None:
    from tests import browser as real

    (tmp_path / "report.html").write_text(hostile_report().to_html(), encoding="utf-8")
    with real.serve(tmp_path) as site, real.open_page(browser, site) as (page, problems):
        page.goto("report.html")
        assert page.title() == "Audit of rollouts"
        assert page.locator("script, img").count() == 0
        assert 'document.title = "hacked"' in page.locator("main").inner_text()
        assert problems == []


# The headline


def test_the_headline_needs_the_standard_library_alone() -> None:
    code = (
        "import sys\n"
        "from toolrl_core.audit.headline import headline\n"
        "head = headline([('hm', [{'name': 'f', 'parameters': {}}])])\n"
        "print(head.sentence)\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'matplotlib', 'tqdm', 'pyarrow', 'multiprocessing'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, cwd=ROOT
    )
    sentence, heavy = run.stdout.splitlines()
    assert heavy == "[]"
    assert sentence.startswith("Under robust the mean of 1 of 1 rows is -3 points.")


def test_the_headline_names_rows_that_the_rewards_see_differently() -> None:
    head = headline([(PERFECT, GOLD), (answer(*GOLD, *GOLD), GOLD)])
    assert head.rewards["paper"].mean == 4.0
    shares = {(each.first, each.second): (each.share, each.row) for each in head.disagreements}
    assert shares["paper", "robust"] == (0.5, 2)
    assert head.reasons == (("clean", 2),)
    assert json.loads(json.dumps(head.to_dict()))["rows"] == 2
