"""verifiers 0.1 itself: a rubric with this package's function, for single rollouts and for groups."""

import asyncio
import json
import math
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import verifiers as vf
from verifiers.types import State

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))

from verifiers_rubric import make_rubric  # noqa: E402

GOLD = [{"name": "book", "parameters": {"city": "Oslo", "n": 2}}]
RIGHT = '<think> t </think>\n<tool_call>\n{"name": "book", "parameters": {"city": "Oslo", "n": 2}}\n</tool_call>'
WRONG = RIGHT.replace('"n": 2', '"n": 3')
CALL = {"id": "1", "type": "function", "function": {"name": "book", "arguments": '{"city": "Oslo", "n": 2}'}}


def state(completion, answer=None, info=None):
    """A rollout as an environment leaves it."""
    return State(
        prompt=[{"role": "user", "content": "Book two nights in Oslo."}],
        completion=completion,
        answer=json.dumps(GOLD) if answer is None else answer,
        task="default",
        info=info or {},
        trajectory=[],
        timing={"scoring_ms": 0.0, "total_ms": 0.0},
    )


def message(text):
    return [{"role": "assistant", "content": text}]


def scored(rollout, spec="robust"):
    asyncio.run(make_rubric(spec).score_rollout(rollout, score_sem=nullcontext()))
    return rollout


@pytest.mark.parametrize(
    ("completion", "reward"),
    [
        (message(RIGHT), 4.0),
        (message(WRONG), 2.5),
        (RIGHT, 4.0),
        (message(""), -3.0),
        ([{"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "tool", "content": WRONG}], 3.0),
    ],
    ids=["message", "wrong value", "text", "empty", "parsed call"],
)
def test_the_rubric_gives_the_score_of_score(completion, reward):
    rollout = scored(state(completion))
    assert rollout["reward"] == reward
    assert rollout["metrics"] == {"toolrl_reward": reward}


def test_it_needs_no_parser_and_none_changes_the_score():
    rollout = state(message(RIGHT))
    rubric = make_rubric()
    rubric.parser = rubric.class_objects["parser"] = vf.XMLParser(fields=["answer"])
    asyncio.run(rubric.score_rollout(rollout, score_sem=nullcontext()))
    assert rollout["reward"] == 4.0


def test_the_parts_of_the_score_stand_in_the_state():
    assert scored(state(message(WRONG)))["toolrl"]["correctness"] == 1.5


def test_a_group_gets_its_advantages():
    rollouts = [state(message(RIGHT)), state(message(WRONG))]
    asyncio.run(make_rubric().score_group(rollouts, score_sem=nullcontext()))
    assert [rollout["reward"] for rollout in rollouts] == [4.0, 2.5]
    assert [rollout["advantage"] for rollout in rollouts] == [0.75, -0.75]


def test_the_ground_truth_may_stand_in_info():
    assert scored(state(message(RIGHT), answer="", info={"ground_truth": GOLD}))["reward"] == 4.0


def test_a_row_that_cannot_be_scored_is_nan_and_not_zero():
    rollout = scored(state(message(RIGHT), answer="no tags"))
    assert math.isnan(rollout["reward"])
    assert rollout["toolrl"]["scored"] is False
    assert "ground truth" in rollout["toolrl"]["problem"]


def test_an_exception_would_have_been_a_silent_zero():
    def failing(completion):
        raise ValueError("bad gold")

    rollout = state(message(RIGHT))
    asyncio.run(vf.Rubric(funcs=[failing]).score_rollout(rollout, score_sem=nullcontext()))
    assert rollout["reward"] == 0.0
