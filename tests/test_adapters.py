"""The rewards for trainers: what arrives, what is returned, and what is refused."""

import json
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from toolrl_core import LengthReward, RewardSpec, two_stage
from toolrl_core.adapters import openrlhf, reward_function, swift, trl, verifiers, verl
from toolrl_core.adapters.rows import RowError, as_completion, as_spec, check_ground_truths, extras, without_nulls

GOLD = [{"name": "book", "parameters": {"city": "Oslo", "n": 2}}]
RIGHT = '<think> t </think>\n<tool_call>\n{"name": "book", "parameters": {"city": "Oslo", "n": 2}}\n</tool_call>'
WRONG = RIGHT.replace('"n": 2', '"n": 3')
TOTALS = [4.0, 2.5, -3.0]  # 1 + 3; one value of four raw points wrong: 1 + 6 * 3 / 4 - 3; the floor
ANSWERS = [RIGHT, WRONG, ""]
SWITCHING = RewardSpec.preset("robust").replace(schedule=two_stage(30))


FLAT_MESSAGE = {  # a message of verifiers 0.4, dumped: name and arguments stand beside the id
    "role": "assistant",
    "content": None,
    "reasoning_content": "t",
    "tool_calls": [{"id": "1", "type": "function", "name": "book", "arguments": '{"city": "Oslo", "n": 2}'}],
    "provider_state": None,
}


def parsed_message(arguments):
    """A chat message as TRL gives it with tools: the call is parsed and the tags are gone."""
    call = {"type": "function", "function": {"name": "book", "arguments": arguments}}
    return [{"role": "assistant", "content": "", "tool_calls": [call]}]


class TestTrl:
    def test_texts_get_one_reward_each(self):
        reward = trl.reward_function("robust")
        assert (
            reward(prompts=["q"] * 3, completions=ANSWERS, completion_ids=[[1]] * 3, ground_truth=[GOLD] * 3) == TOTALS
        )

    def test_conversations_with_one_text_get_the_format_too(self):
        reward = trl.reward_function("robust")
        completions = [[{"role": "assistant", "content": text}] for text in ANSWERS]
        assert reward(completions=completions, ground_truth=[json.dumps(GOLD)] * 3) == TOTALS

    @pytest.mark.parametrize("arguments", [{"city": "Oslo", "n": 2}, '{"city": "Oslo", "n": 2}'])
    def test_parsed_tool_calls_get_their_correctness(self, arguments):
        assert trl.reward_function()(completions=[parsed_message(arguments)], ground_truth=[GOLD]) == [3.0]

    def test_a_thought_that_was_taken_out_of_the_text_leaves_no_format_to_judge(self):
        message = {"role": "assistant", "content": RIGHT.partition("</think>")[2], "reasoning_content": "t"}
        assert trl.reward_function()(completions=[[message]], ground_truth=[GOLD]) == [3.0]

    def test_without_a_format_rule_rows_with_and_without_parsed_calls_are_comparable(self):
        reward = trl.reward_function({"preset": "robust", "format_rule": "none"})
        texts = [[{"role": "assistant", "content": text}] for text in (RIGHT, "")]
        completions = [parsed_message({"city": "Oslo", "n": 2}), *texts]
        assert reward(completions=completions, ground_truth=[GOLD] * 3) == [3.0, 3.0, -3.0]

    def test_tool_observations_never_count(self):
        completion = [
            {"role": "assistant", "content": "I look it up."},
            {"role": "tool", "content": RIGHT},
            {"role": "assistant", "content": "Done."},
        ]
        assert trl.reward_function()(completions=[completion], ground_truth=[GOLD]) == [-3.0]

    def test_null_keys_of_columns_are_ignored(self):
        padded = [{"name": "book", "parameters": {"city": "Oslo", "n": 2, "zip": None}, "arguments": None}]
        assert trl.reward_function()(completions=[RIGHT], ground_truth=[padded]) == [4.0]

    def test_bad_ground_truth_is_none_and_not_zero(self):
        metrics = {}
        rewards = trl.reward_function()(
            completions=ANSWERS, ground_truth=[GOLD, None, "no tags"], log_metric=metrics.__setitem__
        )
        assert rewards == [4.0, None, None]
        assert metrics["toolrl_robust/unscored"] == pytest.approx(2 / 3)

    def test_the_step_comes_from_the_trainer(self):
        reward = trl.TrlReward(SWITCHING)
        before = reward(completions=[WRONG], ground_truth=[GOLD], trainer_state=SimpleNamespace(global_step=29))
        after = reward(completions=[WRONG], ground_truth=[GOLD], trainer_state=SimpleNamespace(global_step=30))
        assert (before, after) == ([1 + 0.5], [0.5 + 1.5])

    def test_a_schedule_without_a_step_is_refused(self):
        with pytest.raises(ValueError, match=r"training step.*trainer_state"):
            trl.TrlReward(SWITCHING)(completions=[WRONG], ground_truth=[GOLD])

    def test_it_is_picklable_and_has_a_name(self):
        reward = pickle.loads(pickle.dumps(trl.reward_function("paper", name="mine")))
        assert reward.__name__ == "mine"
        assert reward(completions=[RIGHT], ground_truth=[GOLD]) == [4.0]

    def test_a_missing_column_names_those_that_arrived(self):
        with pytest.raises(RowError, match="no column 'gold' arrived; columns: answer"):
            trl.TrlReward(ground_truth="gold")(completions=[RIGHT], answer=[GOLD])

    def test_extras_are_logged_once_for_each_completion(self):
        logged = {}
        trl.reward_function()(completions=ANSWERS, ground_truth=[GOLD, GOLD, None], log_extra=logged.__setitem__)
        assert logged["toolrl_robust/correctness"] == [3.0, 1.5, None]


class TestVerl:
    def test_every_row_has_the_same_numeric_keys(self):
        rows = [verl.compute_score("toolrl", text, GOLD, {"index": 0}) for text in ANSWERS]
        assert [row["score"] for row in rows] == TOTALS
        assert len({tuple(row) for row in rows}) == 1
        assert all(isinstance(value, float) for row in rows for value in row.values())

    def test_options_come_from_the_configuration(self):
        spec = {"preset": "paper", "names": "multiset"}
        assert verl.compute_score(data_source="", solution_str=RIGHT, ground_truth=GOLD, spec=spec)["score"] == 4.0

    def test_bad_ground_truth_is_an_error_that_names_the_row(self):
        with pytest.raises(RowError, match="row 17 cannot be scored: ground truth"):
            verl.compute_score("", RIGHT, "no tags", {"index": 17})

    def test_a_schedule_without_a_step_is_refused(self):
        with pytest.raises(ValueError, match="verl passes no step to it: give step through reward_kwargs"):
            verl.compute_score("", RIGHT, GOLD, spec=SWITCHING)
        assert verl.compute_score("", RIGHT, GOLD, spec=SWITCHING, step=3)["score"] == 2.0

    def test_a_misspelt_option_is_an_error(self):
        with pytest.raises(TypeError, match="specs"):
            verl.compute_score("", RIGHT, GOLD, specs="paper")

    def test_what_verl_passes_beside_a_reward_model_is_taken(self):
        extra = {"reward_router_address": "http://x", "reward_model_tokenizer": None}
        assert verl.compute_score(data_source="", solution_str=RIGHT, ground_truth=GOLD, **extra)["score"] == 4.0

    def test_a_schedule_that_arrives_as_plain_data_is_refused_too(self):
        with pytest.raises(ValueError, match="verl passes no step"):
            verl.compute_score("", RIGHT, GOLD, spec=json.loads(json.dumps(SWITCHING.to_dict())))

    def test_the_function_is_picklable(self):
        assert pickle.loads(pickle.dumps(verl.compute_score)) is verl.compute_score


class TestSwift:
    def test_a_class_scores_a_batch(self):
        assert swift.ToolReward(args=None)(ANSWERS, ground_truth=[json.dumps(GOLD)] * 3) == TOTALS

    def test_bad_ground_truth_names_the_row(self):
        with pytest.raises(RowError, match="row 1 cannot be scored"):
            swift.ToolReward()(ANSWERS, ground_truth=[GOLD, None, GOLD])

    def test_the_step_comes_from_the_trainer(self):
        class Switching(swift.ToolReward):
            spec = SWITCHING

        state = SimpleNamespace(global_step=30)
        assert Switching()([RIGHT], ground_truth=[GOLD], trainer_state=state) == [3.5]
        with pytest.raises(ValueError, match="trainer_state"):
            Switching()([RIGHT], ground_truth=[GOLD])


class TestVerifiers:
    def test_a_rubric_function_needs_no_parser(self):
        state = {}
        completion = [{"role": "assistant", "content": WRONG}]
        assert verifiers.rubric_function()(completion=completion, answer=json.dumps(GOLD), state=state) == 2.5
        assert state["toolrl"]["scored"] is True
        assert state["toolrl"]["correctness"] == 1.5

    def test_the_ground_truth_may_come_as_info(self):
        assert verifiers.rubric_function()(completion=RIGHT, answer="", info={"ground_truth": GOLD}) == 4.0

    def test_a_row_without_ground_truth_is_nan_and_says_why(self):
        state = {}
        assert math.isnan(verifiers.rubric_function()(completion=RIGHT, answer="", state=state))
        assert state["toolrl"] == {"scored": False, "problem": "ground truth: is missing"}

    def test_a_trace_is_scored_by_its_assistant_messages(self):
        call = SimpleNamespace(model_dump=lambda: FLAT_MESSAGE)
        example = {"role": "assistant", "content": WRONG}
        trace = SimpleNamespace(messages=[example, call], assistant_messages=[call])
        assert verifiers.score_trace(trace, GOLD) == 3.0
        assert verifiers.trace_metrics(trace, GOLD)["toolrl_n_predicted"] == 1.0

    def test_a_trace_without_ground_truth_is_an_error(self):
        with pytest.raises(RowError, match="ground truth: is missing"):
            verifiers.score_trace(SimpleNamespace(assistant_messages=[]), None)

    def test_a_schedule_is_refused_when_it_is_made(self):
        with pytest.raises(ValueError, match="verifiers passes no step"):
            verifiers.rubric_function(SWITCHING)


class TestOpenRlhf:
    def test_the_prompt_is_cut_off(self):
        result = openrlhf.make_reward_func()(
            ["Ask: " + text for text in ANSWERS], ["Ask: "] * 3, [json.dumps(GOLD)] * 3
        )
        assert [float(value) for value in result["rewards"]] == TOTALS
        assert [float(value) for value in result["extra_logs"]["format"]] == [1.0, 1.0, 0.0]

    def test_a_bad_label_is_shown(self):
        with pytest.raises(RowError, match=r"row 0 cannot be scored: .*; label: 'no tags'"):
            openrlhf.make_reward_func()(["x"], [""], ["no tags"])

    @pytest.mark.parametrize("ending", ["<|im_end|>", "</s>\n", "<end_of_turn><eos>"])
    def test_stop_tokens_are_left_in_by_the_trainer_and_taken_off(self, ending):
        reward_func = openrlhf.make_reward_func(
            "released", stop_tokens=("<|im_end|>", "</s>", "<end_of_turn>", "<eos>")
        )
        assert [float(value) for value in reward_func(["Ask: " + RIGHT + ending], ["Ask: "], [GOLD])["rewards"]] == [
            4.0
        ]

    def test_a_prompt_cut_off_from_the_left_is_no_part_of_the_response(self):
        prompt = f"Example: {WRONG}\nQuestion: two nights in Oslo\n<|im_start|>assistant\n"
        assert openrlhf.response_of(prompt[30:] + RIGHT, prompt) == RIGHT
        assert openrlhf.response_of("\ufffd" + prompt[30:] + RIGHT, prompt) == RIGHT

    def test_calls_of_an_example_in_the_prompt_are_never_scored(self):
        prompt = f"Example: {RIGHT}\nQuestion: "
        assert [float(v) for v in openrlhf.make_reward_func()([prompt + "hm"], [prompt], [GOLD])["rewards"]] == [-3.0]

    def test_a_query_without_its_prompt_is_an_error(self):
        with pytest.raises(RowError, match="the query does not begin with its prompt"):
            openrlhf.make_reward_func()([RIGHT], ["A prompt of another row"], [GOLD])


class TestGeneric:
    def test_one_completion_gives_one_number(self):
        reward = reward_function("robust")
        assert [reward(text, json.dumps(GOLD)) for text in ANSWERS] == TOTALS

    def test_the_step_is_an_argument(self):
        reward = pickle.loads(pickle.dumps(reward_function(SWITCHING)))
        assert (reward(RIGHT, GOLD, 29), reward(RIGHT, GOLD, step=30)) == (2.0, 3.5)
        with pytest.raises(ValueError, match="pass step="):
            reward(RIGHT, GOLD)

    @pytest.mark.parametrize("bad", [None, "no tags", [{"name": ""}]])
    def test_a_bad_ground_truth_is_an_error_and_not_zero(self, bad):
        with pytest.raises(RowError, match="cannot be scored"):
            reward_function()(RIGHT, bad)


class TestRows:
    def test_a_spec_may_be_a_mapping_with_a_preset(self):
        assert as_spec({"preset": "robust", "names": "set"}).names == "set"
        with pytest.raises(ValueError, match="unknown option 'strictmatch'"):
            as_spec({"strictmatch": True})

    @pytest.mark.parametrize(
        "spec", [*RewardSpec.presets().values(), SWITCHING, RewardSpec(length_reward=LengthReward())]
    )
    def test_a_spec_survives_a_configuration_file(self, spec):
        assert as_spec(json.loads(json.dumps(spec.to_dict()))) == spec

    def test_a_schedule_of_a_configuration_file_may_name_its_ranges(self):
        ranges = {"format": [0, 1], "correctness": [-1, 1]}
        spec = as_spec({"schedule": {"kind": "constant", "start": ranges, "end": ranges}})
        assert reward_function(spec)(RIGHT, GOLD) == 2.0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"schedule": {"kind": "constant", "begin": 1}},
                "unknown field 'begin' of schedule: choose from kind, start",
            ),
            ({"schedule": {"kind": "constant"}}, "schedule needs 'start'"),
            ({"length_reward": {"words": 1}}, "unknown field 'words' of length_reward: choose from target"),
        ],
    )
    def test_an_unknown_field_of_a_schedule_is_an_error(self, options, message):
        with pytest.raises(ValueError, match=message):
            as_spec(options)

    def test_content_in_parts_is_one_text(self):
        parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
        assert as_completion([{"role": "assistant", "content": parts}]) == "ab"

    def test_null_keys_are_dropped_from_arrays_too(self):
        column = np.array([{"name": "f", "parameters": {"a": 1, "b": None}}], dtype=object)
        assert without_nulls(column) == [{"name": "f", "parameters": {"a": 1}}]

    def test_several_turns_stay_messages(self):
        turns = [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]
        assert as_completion(turns) == turns

    def test_nulls_inside_json_text_stay(self):
        text = '[{"name": "f", "parameters": {"a": null}}]'
        assert without_nulls(text) == text

    def test_a_data_set_is_checked_before_the_run(self):
        errors = check_ground_truths([GOLD, [{"name": ""}], [{"parameters": {}}]])
        assert [error.row for error in errors] == [1, 2]
        assert "field 'name'" in str(errors[0])

    def test_an_error_survives_pickling(self):
        error = pickle.loads(pickle.dumps(RowError(3, "bad")))
        assert str(error) == "row 3 cannot be scored: bad"

    def test_extras_have_nan_where_there_is_no_format(self):
        from toolrl_core import score

        assert math.isnan(extras(score([], GOLD))["format"])
