"""Rollouts from chat messages and files: only model text counts, and errors name their place."""

import json

import pytest

from toolrl_core.calls import ToolCall
from toolrl_core.trajectories import Trajectory, TrajectoryError, Turn
from toolrl_core.trajectory_files import (
    iter_trajectories,
    read_trajectories,
    trajectory_from_messages,
    trajectory_from_record,
)


def call_message(name: str, arguments: object, content: str | None = None) -> dict:
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": content, "tool_calls": [call]}


# Three rollouts in the message form of tau-bench result files.
REFUND = [
    {"role": "system", "content": "You help airline customers."},
    {"role": "user", "content": "Please cancel reservation Q7."},
    call_message("get_reservation", '{"reservation_id": "Q7"}'),
    {"role": "tool", "tool_call_id": "1", "name": "get_reservation", "content": '{"status": "booked"}'},
    {"role": "assistant", "content": "I found it. Shall I cancel it?"},
    {"role": "user", "content": "Yes."},
    call_message("cancel", {"reservation_id": "Q7"}),
    {"role": "tool", "content": "done"},
    {"role": "assistant", "content": "It is cancelled."},
]
BROKEN = [
    {"role": "user", "content": "Cancel Q7."},
    call_message("cancel", '{"reservation_id": '),
    {"role": "tool", "content": "Error: arguments are no JSON"},
    {"role": "assistant", "content": ""},
]
TAU_BENCH = [
    {"task_id": 4, "trial": 0, "reward": 1.0, "info": {}, "traj": REFUND},
    {"task_id": 4, "trial": 1, "reward": 0.0, "info": {}, "traj": BROKEN},
    {"task_id": 5, "trial": 0, "reward": 1, "info": {}, "traj": REFUND[:5]},
]


def test_two_turn_case_has_its_second_turn_void():
    rollout = Trajectory((Turn("```python\nprint(1)\n```"), Turn("1", "tool"), Turn("hmm let me think")))
    assert rollout.void_turns("code") == (False, True)
    assert (rollout.first_void("code"), rollout.has_void("code")) == (1, True)


def test_tool_observations_never_count_as_model_text():
    rollout = trajectory_from_messages(
        [
            {"role": "assistant", "content": "<tool_call>..."},
            {"role": "tool", "content": "ANSWER 42 \\boxed{42}"},
            {"role": "assistant", "content": "ok"},
        ]
    )
    assert rollout.model_text == "<tool_call>...\nok"
    assert "42" not in rollout.model_text
    assert rollout.void_turns("code") == (True, True)


def test_tau_bench_messages_load_with_their_calls():
    rollout = trajectory_from_messages(REFUND)
    assert rollout.calls == (
        ToolCall("get_reservation", {"reservation_id": "Q7"}),
        ToolCall("cancel", {"reservation_id": "Q7"}),
    )
    assert [turn.role for turn in rollout.turns].count("assistant") == 4
    assert rollout.void_turns("message") == (False, False, False, False)


def test_arguments_are_decoded_exactly_once():
    rollout = trajectory_from_messages([call_message("say", json.dumps({"text": '{"a": 1}'}))])
    assert rollout.calls == (ToolCall("say", {"text": '{"a": 1}'}),)
    twice = trajectory_from_messages([call_message("say", json.dumps(json.dumps({"a": 1})))])
    assert twice.calls == ()


def test_undecodable_call_makes_a_turn_void_with_its_reason():
    verdicts = trajectory_from_messages(BROKEN).verdicts("message")
    assert [verdict.void for verdict in verdicts] == [True, True]
    assert [f.reason.value for f in verdicts[0].reasons] == ["empty_turn", "malformed_call"]
    assert "cancel" in verdicts[0].reasons[1].detail


def test_parsed_call_is_an_action_under_the_tool_call_contract_and_none_under_code():
    turn = trajectory_from_messages([call_message("f", "{}")]).turns[0]
    assert (turn.verdict("tool_call").action, turn.verdict("tool_call").reasons) == ("f", ())
    assert turn.verdict("code").void


def test_text_cut_at_the_length_limit_is_no_answer():
    message = {"role": "assistant", "content": "Your flight is", "finish_reason": "length"}
    rollout = trajectory_from_messages([message])
    verdict = rollout.verdicts("message")[0]
    assert (rollout.truncated, verdict.void) == (True, True)
    assert [(f.reason.value, f.position) for f in verdict.reasons] == [("truncated_turn", 14)]


def test_content_parts_are_joined_and_developer_speaks_as_system():
    parts = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "b"}]
    rollout = trajectory_from_messages([{"role": "developer", "content": "x"}, {"role": "assistant", "content": parts}])
    assert (rollout.turns[0].role, rollout.model_text) == ("system", "ab")


def test_token_ids_decide_the_token_count():
    assert Turn("a b", token_ids=(5, 6)).token_count == 2
    with pytest.raises(TrajectoryError, match="token_count 3 contradicts 2 token_ids"):
        Turn("a b", token_ids=(5, 6), token_count=3)


def test_tau_bench_file_keeps_reward_and_task_as_group(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(TAU_BENCH), encoding="utf-8")
    rollouts = read_trajectories(path)
    assert [(r.group, r.reward) for r in rollouts] == [(4, 1.0), (4, 0.0), (5, 1.0)]
    assert [r.has_void("message") for r in rollouts] == [False, True, False]


def test_json_lines_and_array_read_the_same(tmp_path):
    lines = tmp_path / "rollouts.jsonl"
    lines.write_text("\n".join(json.dumps(record) for record in TAU_BENCH) + "\n\n", encoding="utf-8")
    array = tmp_path / "rollouts.json"
    array.write_text(json.dumps(TAU_BENCH, indent=1), encoding="utf-8")
    assert read_trajectories(lines) == read_trajectories(array)


def test_line_separators_inside_a_string_do_not_split_a_record(tmp_path):
    record = {"messages": [{"role": "assistant", "content": "a\u2028b\x85c"}]}
    path = tmp_path / "rollouts.jsonl"
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_trajectories(path)[0].model_text == "a\u2028b\x85c"


def test_record_survives_the_round_trip():
    original = trajectory_from_record({**TAU_BENCH[0], "name": "first"})
    assert trajectory_from_record(json.loads(json.dumps(original.to_record()))) == original
    counted = Trajectory((Turn("x", token_count=3, truncated=True), Turn("y", token_ids=(1, 2))), 0.5, "g")
    assert trajectory_from_record(counted.to_record()) == counted


def test_streaming_reads_one_line_at_a_time():
    def lines():
        yield '{"messages": [], "reward": 2}'
        raise AssertionError("the second line was asked for too early")

    assert next(iter_trajectories(lines())).reward == 2.0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["", "{"], "line 2: not JSON"),
        (["[]"], "line 1: a record must be an object, found list"),
        (['{"prompt": "x"}'], "line 1: no messages: expected a field messages or traj or turns, found prompt"),
        (['{"messages": "hi"}'], "line 1: messages must be a list of messages, found str"),
        (['{"messages": [{"role": "assistant"}, 3]}'], "line 1: message 1: must be an object, found int"),
        (['{"messages": [{"role": "robot", "content": ""}]}'], "line 1: message 0: unknown role 'robot': choose from"),
        (['{"messages": [{"content": ""}]}'], "line 1: message 0: unknown role 'None'"),
        (['{"messages": [{"role": "user", "content": 3}]}'], "line 1: message 0: content must be text, null or a list"),
        (['{"messages": [], "reward": "1"}'], "line 1: reward must be a number or null, found '1'"),
        (['{"messages": [], "reward": true}'], "line 1: reward must be a number or null, found True"),
        (['{"messages": [], "group": [1]}'], "line 1: the group must be text or a number"),
        (
            ['{"messages": [{"role": "tool", "content": "", "token_count": -1}]}'],
            "message 0: token_count must be an int",
        ),
    ],
)
def test_errors_name_line_message_and_field(lines, message):
    with pytest.raises(TrajectoryError, match=message):
        list(iter_trajectories(lines))


def test_array_errors_name_the_record(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('[{"messages": []}, {}]', encoding="utf-8")
    with pytest.raises(TrajectoryError, match="record 1: no messages"):
        read_trajectories(path)


def test_a_tool_turn_has_no_verdict():
    with pytest.raises(TrajectoryError, match="only the model's turns have a verdict, this one has role 'tool'"):
        Turn("x", "tool").verdict("code")
