"""The files that people copy, as their trainers load them; what needs a trainer is tested by `make contract`."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from toolrl_core.adapters.rows import RowError

EXAMPLES = Path(__file__).parents[1] / "examples"
GOLD = '[{"name": "book", "parameters": {"city": "Oslo", "n": 2}}]'
RIGHT = '<think> t </think>\n<tool_call>\n{"name": "book", "parameters": {"city": "Oslo", "n": 2}}\n</tool_call>'
WRONG = RIGHT.replace('"n": 2', '"n": 3')


def load(name):
    """Load a file by its path, as trainers do."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_block_for_any_trainer():
    module = load("any_trainer")
    module.check([GOLD, GOLD])
    assert module.score_batch([RIGHT, WRONG], [GOLD, GOLD], step=1) == [4.0, 2.5]
    with pytest.raises(ValueError, match="row 1 cannot be scored"):
        module.check([GOLD, "no tags"])


def test_openrlhf_finds_its_function_in_the_file_and_gets_one_row_at_a_time():
    reward_func = load("openrlhf_reward").reward_func
    result = reward_func(["<|im_start|>Ask: " + RIGHT + "<|im_end|>"], ["<|im_start|>Ask: "], [GOLD])
    assert [float(value) for value in result["rewards"]] == [4.0]
    assert {len(values) for values in result["extra_logs"].values()} == {1}


@pytest.fixture
def orms(monkeypatch):
    """The table in which ms-swift keeps its rewards."""
    table = {}
    package, rewards = ModuleType("swift"), ModuleType("swift.rewards")
    rewards.orms = table
    monkeypatch.setitem(sys.modules, "swift", package)
    monkeypatch.setitem(sys.modules, "swift.rewards", rewards)
    return table


def test_swift_makes_the_reward_from_its_table_and_calls_it_with_its_columns(orms):
    load("swift_plugin")
    reward = orms["toolrl"](args=SimpleNamespace(num_generations=2))
    columns = {  # what ms-swift 4.6 passes: rl_core/data.py, to_reward_row
        "trainer_state": SimpleNamespace(global_step=3),
        "messages": [[{"role": "user", "content": "q"}]] * 2,
        "prompt_id": ["p", "p"],
        "request_id": ["r1", "r2"],
        "finish_reason": ["stop", "stop"],
        "is_truncated": [False, False],
        "rollout_infos": [{}, {}],
        "response_token_ids": [[], []],
        "solution": [GOLD, GOLD],
    }
    assert reward([RIGHT, WRONG], **columns) == [4.0, 2.5]
    with pytest.raises(RowError, match="column 'solution'"):
        reward([RIGHT], **{**columns, "solution": None})


def test_verl_finds_its_function_where_the_configuration_says():
    block = yaml.safe_load((EXAMPLES / "verl_reward.yaml").read_text(encoding="utf8"))
    chosen = block["reward"]["custom_reward_function"]
    module = importlib.import_module(chosen["path"].removeprefix("pkg://"))
    row = getattr(module, chosen["name"])(
        data_source="toolrl", solution_str=RIGHT, ground_truth=GOLD, extra_info={"index": 0}, **chosen["reward_kwargs"]
    )
    assert row["score"] == 4.0
