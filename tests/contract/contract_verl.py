"""verl itself: its loading of a custom reward function, and its reward managers, over this package's compute_score."""

import asyncio
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf
from tensordict import TensorDict
from verl import DataProto
from verl.trainer.ppo.metric_utils import process_validation_metrics
from verl.trainer.ppo.reward import get_custom_reward_fn, load_reward_manager
from verl.workers.reward_manager.naive import NaiveRewardManager

from toolrl_core import RewardSpec, score, two_stage
from toolrl_core.adapters.rows import RowError

EXAMPLE = Path(__file__).parents[2] / "examples" / "verl_reward.yaml"
GOLD = [{"name": "book", "parameters": {"city": "Oslo", "n": 2}}]
RIGHT = '<think> t </think>\n<tool_call>\n{"name": "book", "parameters": {"city": "Oslo", "n": 2}}\n</tool_call>'
ANSWERS = [RIGHT, RIGHT.replace('"n": 2', '"n": 3'), "hm"]
TOTALS = [4.0, 2.5, -3.0]
KEYS = ["score", "format", "correctness", "length", "n_predicted", "n_malformed"]
WIDTH = 160


class Bytes:
    """A tokenizer of bytes, with one special token that decoding leaves out."""

    end = 256

    def encode(self, text):
        return [*text.encode(), self.end]

    def decode(self, ids, skip_special_tokens=False):
        assert skip_special_tokens, "verl is expected to leave special tokens out"
        return bytes(int(i) for i in ids if int(i) != self.end).decode()


def config(**reward_kwargs):
    """The example's configuration, with what the trainer's defaults add."""
    defaults = {"reward": {"reward_manager": {"source": "register", "name": "naive"}}}
    merged = OmegaConf.merge(OmegaConf.create(defaults), OmegaConf.load(EXAMPLE))
    if reward_kwargs:
        merged.reward.custom_reward_function.reward_kwargs = reward_kwargs
    return merged


def batch(answers, truths):
    """A batch as the trainer holds it: prompts padded at the start, responses at the end."""
    tokenizer = Bytes()
    prompts = torch.zeros((len(answers), 4), dtype=torch.long)
    responses = torch.zeros((len(answers), WIDTH), dtype=torch.long)
    mask = torch.ones((len(answers), 4 + WIDTH), dtype=torch.long)
    mask[:, 0] = 0
    for row, answer in enumerate(answers):
        ids = tokenizer.encode(answer)
        responses[row, : len(ids)] = torch.tensor(ids)
        mask[row, 4 + len(ids) :] = 0
    tensors = {"prompts": prompts, "responses": responses, "attention_mask": mask}
    plain = {
        "data_source": np.array(["toolrl"] * len(answers), dtype=object),
        "reward_model": np.array([{"style": "rule", "ground_truth": truth} for truth in truths], dtype=object),
        "extra_info": np.array([{"index": row} for row in range(len(answers))], dtype=object),
    }
    return DataProto(batch=TensorDict(tensors, batch_size=[len(answers)]), non_tensor_batch=plain)


def run_single(manager, data):
    return manager.loop.run_until_complete(manager.run_single(data))


@pytest.fixture
def manager():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield load_reward_manager(config(), Bytes())
    loop.close()


def test_the_function_is_loaded_from_the_installed_package():
    compute_score = get_custom_reward_fn(config())
    row = compute_score(data_source="toolrl", solution_str=RIGHT, ground_truth=GOLD, extra_info={})
    assert row["score"] == 4.0
    assert pickle.loads(pickle.dumps(compute_score))("toolrl", RIGHT, GOLD, {}) == row


@pytest.mark.parametrize("truths", [[GOLD] * 3, [json.dumps(GOLD)] * 3], ids=["objects", "text"])
def test_the_reward_loop_gives_the_scores_of_score(truths, manager):
    data = batch(ANSWERS, truths)
    found = [run_single(manager, data[row : row + 1]) for row in range(3)]
    assert [row["reward_score"] for row in found] == TOTALS
    assert [list(row["reward_extra_info"]) for row in found] == [KEYS] * 3
    scores = manager.assemble_rm_scores(data, [row["reward_score"] for row in found])
    assert scores.sum(dim=1).tolist() == TOTALS
    assert scores[0, len(RIGHT)].item() == 4.0  # the token of the end


def test_the_driver_side_manager_gives_them_too():
    naive = NaiveRewardManager(Bytes(), num_examine=0, compute_score=get_custom_reward_fn(config()))
    result = naive(batch(ANSWERS, [GOLD] * 3), return_dict=True)
    assert result["reward_tensor"].sum(dim=1).tolist() == TOTALS
    assert {key: len(values) for key, values in result["reward_extra_info"].items()} == dict.fromkeys(KEYS, 3)


def test_the_other_managers_of_the_reward_loop_take_the_same_function():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    options = config()
    options.reward.reward_manager.name = "dapo"
    options.reward.reward_kwargs = {}
    dapo = load_reward_manager(options, Bytes())
    assert run_single(dapo, batch(ANSWERS[:1], [GOLD]))["reward_score"] == 4.0
    loop.close()


def test_validation_metrics_have_the_parts():
    found = [score(text, GOLD, RewardSpec.preset("robust")) for text in ANSWERS]
    compute_score = get_custom_reward_fn(config())
    rows = [compute_score(data_source="t", solution_str=text, ground_truth=GOLD, extra_info={}) for text in ANSWERS]
    infos = {key: [row[key] for row in rows] for key in KEYS}
    metrics = process_validation_metrics(["t"] * 3, ["a", "b", "c"], infos)["t"]
    assert metrics["score"]["mean@1"] == pytest.approx(sum(TOTALS) / 3)
    assert metrics["correctness"]["mean@1"] == pytest.approx(sum(b.correctness for b in found) / 3)


@pytest.mark.parametrize(
    ("spec", "total"),
    [("paper", 4.0), ({"preset": "equal_max"}, 2.0), ({"preset": "robust", "unordered": ["book.n"]}, 4.0)],
)
def test_options_arrive_as_the_configuration_librarys_containers(spec, total):
    compute_score = get_custom_reward_fn(config(spec=spec))
    assert compute_score(data_source="", solution_str=RIGHT, ground_truth=GOLD, extra_info={})["score"] == total


def test_a_constant_scale_may_stand_in_the_configuration():
    spec = json.loads(json.dumps(RewardSpec.preset("equal_max").to_dict()))
    compute_score = get_custom_reward_fn(config(spec=spec))
    assert compute_score(data_source="", solution_str=RIGHT, ground_truth=GOLD, extra_info={})["score"] == 2.0


def test_a_schedule_is_refused_because_verl_passes_no_step(manager):
    spec = json.loads(json.dumps(RewardSpec(schedule=two_stage(30)).to_dict()))
    manager.compute_score = get_custom_reward_fn(config(spec=spec))
    with pytest.raises(ValueError, match="verl passes no step to it: give step through reward_kwargs"):
        run_single(manager, batch([RIGHT], [GOLD]))


def test_bad_gold_stops_the_run_and_names_the_row(manager):
    with pytest.raises(RowError, match="row 1 cannot be scored"):
        run_single(manager, batch(ANSWERS[:2], [GOLD, "no tags"])[1:2])


def test_a_misspelt_option_stops_the_run(manager):
    manager.compute_score = get_custom_reward_fn(config(specs="paper"))
    with pytest.raises(TypeError, match="specs"):
        run_single(manager, batch([RIGHT], [GOLD]))
