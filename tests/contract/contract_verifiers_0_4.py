"""verifiers 0.4 itself: a task whose reward is this package's score of a trace."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
import verifiers.v1 as vf
from verifiers.v1.graph import MessageNode
from verifiers.v1.trace import AgentInfo, TraceTask
from verifiers.v1.types import AssistantMessage, ToolCall, ToolMessage, UserMessage

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))

from verifiers_task import BookingData, BookingTask  # noqa: E402

GOLD = json.dumps([{"name": "book", "parameters": {"city": "Oslo", "n": 2}}])
RIGHT = '<think> t </think>\n<tool_call>\n{"name": "book", "parameters": {"city": "Oslo", "n": 2}}\n</tool_call>'
WRONG = RIGHT.replace('"n": 2', '"n": 3')
CALL = ToolCall(id="1", name="book", arguments='{"city": "Oslo", "n": 2}')


def trace_of(task, *messages):
    """A finished trace: a chain of messages, of which the model's are marked as sampled."""
    nodes = [
        MessageNode(parent=place - 1 if place else None, message=message, sampled=sampled)
        for place, (message, sampled) in enumerate(messages)
    ]
    agent = AgentInfo(config=vf.AgentConfig())
    return vf.Trace(task=TraceTask(type=type(task).__name__, data=task.data), agent=agent, nodes=nodes)


def scored(*messages, ground_truth=GOLD):
    task = BookingTask(BookingData(prompt="Book two nights in Oslo.", ground_truth=ground_truth))
    trace = trace_of(task, (UserMessage(content="Book two nights in Oslo."), False), *messages)
    asyncio.run(task.score(trace))
    return trace


@pytest.mark.parametrize(("text", "reward"), [(RIGHT, 4.0), (WRONG, 2.5), ("", -3.0)])
def test_a_text_gets_the_score_of_score(text, reward):
    trace = scored((AssistantMessage(content=text), True))
    assert trace.reward == reward
    assert trace.rewards["toolrl"].score == reward


def test_a_parsed_call_and_a_thought_of_its_own_get_the_correctness():
    answer = AssistantMessage(content=None, reasoning_content="t", tool_calls=[CALL])
    observation = ToolMessage(tool_call_id="1", content=WRONG)
    assert scored((answer, True), (observation, False), (AssistantMessage(content="Done."), True)).reward == 3.0


def test_an_example_in_the_prompt_is_not_scored():
    assert scored((AssistantMessage(content=RIGHT), False), (AssistantMessage(content=WRONG), True)).reward == 2.5


def test_the_parts_are_metrics_and_are_not_added_up():
    trace = scored((AssistantMessage(content=WRONG), True))
    assert trace.metrics["toolrl_correctness"] == 1.5
    assert trace.metrics["toolrl_format"] == 1.0
    assert list(trace.rewards) == ["toolrl"]


def test_bad_gold_is_an_error_and_leaves_the_reward_open():
    task = BookingTask(BookingData(prompt="p", ground_truth="no tags"))
    trace = trace_of(task, (AssistantMessage(content=RIGHT), True))
    with pytest.raises(vf.TaskError, match="cannot be scored: ground truth"):
        asyncio.run(task.score(trace))
    assert trace.rewards == {"toolrl": None}
