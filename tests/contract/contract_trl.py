"""TRL itself: two steps of GRPOTrainer, offline and on the processor; the logged rewards are this package's."""

import json
import math
import sys
from pathlib import Path

import pytest
import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))

from tiny_model import make_model, make_tokenizer, written  # noqa: E402
from trl_reward import make_trainer  # noqa: E402
from trl_void_masks import VoidMaskTrainer  # noqa: E402

from toolrl_core import RewardSpec, score, two_stage  # noqa: E402
from toolrl_core.adapters.trl import TrlReward, reward_function  # noqa: E402

GOLD = [{"name": "book", "parameters": {"city": "Oslo", "nights": 2}}]
OTHER = [{"name": "book", "parameters": {"city": "Rome"}}, {"name": "cancel", "parameters": {"code": None}}]
ROWS = [("Book Oslo for 2 nights.", GOLD), ("Book Rome and cancel.", OTHER)]
CHATS = [([{"role": "user", "content": prompt}], calls) for prompt, calls in ROWS]
WRONG = written([{"name": "book", "parameters": {"city": "Oslo", "nights": 3}}])


@pytest.fixture(scope="module")
def tokenizer():
    """A byte-level tokenizer trained here."""
    return make_tokenizer([prompt + written(calls) for prompt, calls in ROWS])


@pytest.fixture
def model(tokenizer):
    """Two layers of width 32 with random weights."""
    return make_model(tokenizer, width=32)


def config(folder, **changes):
    """Two steps of one group of two completions for each of two prompts."""
    options = {
        "max_steps": 2,
        "num_generations": 2,
        "per_device_train_batch_size": 4,
        "max_completion_length": 16,
        "logging_steps": 1,
        "report_to": "none",
        "save_strategy": "no",
        "use_cpu": True,
        "disable_tqdm": True,
        "learning_rate": 1e-2,
    }
    return GRPOConfig(output_dir=str(folder), **{**options, **changes})


class Scripted(GRPOTrainer):
    """A trainer whose model always writes the same texts, so that rewards differ within a group."""

    texts = (written(GOLD), WRONG)

    def _generate_single_turn(self, prompt_ids, *args, **kwargs):
        ending = [self.processing_class.eos_token_id]
        texts = [self.texts[i % len(self.texts)] for i in range(len(prompt_ids))]
        return [self.processing_class(text)["input_ids"] + ending for text in texts], None


def logged(trainer):
    """Rewards by completion, as TRL holds them for its table, and the gold that each completion had."""
    name = trainer.reward_func_names[0]
    prompts = [p if isinstance(p, str) else p[0]["content"] for p in trainer._logs["prompt"]]
    texts = [c if isinstance(c, str) else c[0]["content"] for c in trainer._logs["completion"]]
    gold = dict(ROWS)
    return list(trainer._logs["rewards"][name]), [
        (text, gold[prompt]) for prompt, text in zip(prompts, texts, strict=True)
    ]


def mean_rewards(trainer):
    """Mean reward of each step, as TRL reports it."""
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


@pytest.mark.parametrize("rows", [ROWS, CHATS], ids=["text", "conversation"])
def test_the_rewards_that_trl_logs_are_those_of_score(rows, tmp_path, model, tokenizer):
    trainer = make_trainer(model, config(tmp_path), tokenizer, rows)
    trainer.train()
    rewards, pairs = logged(trainer)
    wanted = [score(text, gold, RewardSpec.preset("robust")).total for text, gold in pairs]
    assert len(rewards) == 4
    assert rewards == pytest.approx(wanted)
    assert len(mean_rewards(trainer)) == 2


@pytest.mark.parametrize("rows", [ROWS[:1], CHATS[:1]], ids=["text", "conversation"])
def test_right_and_wrong_answers_earn_what_arithmetic_says(rows, tmp_path, model, tokenizer):
    columns = [{"prompt": prompt, "ground_truth": json.dumps(calls)} for prompt, calls in rows * 2]
    trainer = Scripted(
        model=model,
        args=config(tmp_path, max_completion_length=128),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(columns),
        reward_funcs=[reward_function("robust")],
    )
    trainer.train()
    assert sorted(logged(trainer)[0]) == [2.5, 2.5, 4.0, 4.0]  # 1 + 6 * 3 / 4 - 3, and 1 + 3
    assert mean_rewards(trainer) == pytest.approx([3.25, 3.25])
    last = [entry for entry in trainer.state.log_history if "reward" in entry][-1]
    assert last["toolrl_robust/unscored"] == 0.0
    assert last["frac_reward_zero_std"] == 0.0
    correctness = list(trainer._logs["extra"]["toolrl_robust/correctness"])
    assert sorted(correctness) == [1.5, 1.5, 3.0, 3.0]


def test_a_row_without_gold_is_left_out_and_not_zero(tmp_path, model, tokenizer):
    columns = [{"prompt": ROWS[0][0], "ground_truth": gold} for gold in (json.dumps(GOLD), None)]
    trainer = Scripted(
        model=model,
        args=config(tmp_path, max_completion_length=128),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(columns),
        reward_funcs=[reward_function("robust")],
    )
    trainer.train()
    rewards = logged(trainer)[0]
    assert sum(math.isnan(reward) for reward in rewards) == 2
    assert mean_rewards(trainer)[-1] == pytest.approx(3.25)  # the mean of 4 and 2.5 alone
    assert trainer.state.log_history[-2]["toolrl_robust/unscored"] == 0.5


def test_gold_in_object_columns_survives_the_null_keys_that_they_get(tmp_path, model, tokenizer):
    plain = [[{"name": "a", "parameters": {"x": 1}}], [{"name": "b", "parameters": {"y": "z"}}]]
    dataset = Dataset.from_list([{"prompt": "p", "ground_truth": gold} for gold in plain])
    assert dataset[0]["ground_truth"] == [{"name": "a", "parameters": {"x": 1, "y": None}}]
    trainer = Scripted(
        model=model,
        args=config(tmp_path, max_completion_length=128, shuffle_dataset=False),
        processing_class=tokenizer,
        train_dataset=dataset,
        reward_funcs=[reward_function("robust")],
    )
    trainer.texts = tuple(written(gold) for gold in (plain[0], plain[0], plain[1], plain[1]))
    trainer.train()
    assert list(trainer._logs["rewards"]["toolrl_robust"]) == [4.0] * 4


def test_a_schedule_follows_the_trainers_step(tmp_path, model, tokenizer):
    trainer = Scripted(
        model=model,
        args=config(tmp_path, max_completion_length=128),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([{"prompt": ROWS[0][0], "ground_truth": json.dumps(GOLD)}] * 2),
        reward_funcs=[TrlReward(RewardSpec.preset("robust").replace(schedule=two_stage(1)), name="switching")],
    )
    trainer.texts = (written(GOLD),)
    trainer.train()
    assert mean_rewards(trainer) == [1 + 1, 0.5 + 3]  # step 0, then step 1: the second stage


class ScriptedMasks(VoidMaskTrainer):
    """The same, with masks of void rollouts."""

    texts = ()
    _generate_single_turn = Scripted._generate_single_turn


@pytest.mark.parametrize(("texts", "moves"), [((WRONG, written(OTHER)), True), (("hm", "well, well"), False)])
def test_void_rollouts_move_no_weight(texts, moves, tmp_path, model, tokenizer):
    def by_length(completions, **_columns):
        return [float(len(completion)) for completion in completions]

    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    trainer = ScriptedMasks(
        model=model,
        args=config(tmp_path, max_completion_length=128),
        processing_class=tokenizer,
        train_dataset=Dataset.from_list([{"prompt": ROWS[0][0]}] * 2),
        reward_funcs=[by_length],
    )
    trainer.texts = texts
    trainer.train()
    moved = any(not torch.equal(before[name], weight) for name, weight in trainer.model.state_dict().items())
    assert moved is moves


def test_the_example_script_trains_and_draws(tmp_path, monkeypatch, capsys):
    import train_with_trl

    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", ["train_with_trl.py", "--steps", "2", "--folder", str(tmp_path), "--warm-up", "3"])
    train_with_trl.main()
    assert (tmp_path / "reward.png").stat().st_size > 10_000
    assert "mean reward" in capsys.readouterr().out
