"""Train a model to call a tool, with the reward of this package, on a laptop.

    python examples/train_with_trl.py                                    about a minute, no network
    python examples/train_with_trl.py --model Qwen/Qwen2.5-0.5B-Instruct   a model from the hub; wants a GPU

Needs `pip install . trl matplotlib`. Draws the reward over the steps into a picture at the end.
"""

import argparse
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch
from tiny_model import booking_rows, make_model, make_tokenizer, warm_up, written
from transformers import AutoTokenizer
from transformers.trainer_callback import PrinterCallback
from trl import GRPOConfig
from trl_reward import make_trainer

SYSTEM = """You book hotels with the tool book(city: string, nights: integer). Answer in this form:
<think> your thought </think>
<tool_call>
{"name": "book", "parameters": {"city": "...", "nights": 1}}
</tool_call>"""


def prepare(name, seed, warm_up_steps=200):
    """Return a model, its tokenizer, and prompts with the calls that they want."""
    rows = booking_rows()
    if name == "tiny":
        torch.set_num_threads(1)  # threads would only wait for each other in a model this small
        tokenizer = make_tokenizer([prompt + written(calls) for prompt, calls in rows])
        model = warm_up(make_model(tokenizer, seed=seed), tokenizer, rows, steps=warm_up_steps, seed=seed)
        return model, tokenizer, rows
    system = {"role": "system", "content": SYSTEM}
    chats = [([system, {"role": "user", "content": prompt}], calls) for prompt, calls in rows]
    return name, AutoTokenizer.from_pretrained(name), chats


def configure(name, steps, folder, seed):
    """Return the trainer's options: one group of eight answers for each of four prompts in a step."""
    return GRPOConfig(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=32,
        num_generations=8,
        max_completion_length=64 if name == "tiny" else 128,
        learning_rate=5e-4 if name == "tiny" else 1e-6,
        lr_scheduler_type="constant",
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        seed=seed,
        use_cpu=not torch.cuda.is_available(),
        bf16=torch.cuda.is_available(),
    )


def draw(history, path):
    """Draw the mean reward, its parts and the share of groups without contrast."""
    logs = [entry for entry in history if "reward" in entry]
    steps = [entry["step"] for entry in logs]
    _, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    rewards = np.array([entry["reward"] for entry in logs])
    window = min(10, len(rewards))
    smooth = np.convolve(rewards, np.ones(window) / window, mode="valid")
    upper.plot(steps, rewards, color="#0072b2", alpha=0.4, linewidth=1)
    upper.plot(steps[window - 1 :], smooth, color="#0072b2", linewidth=2, label=f"mean of {window} steps")
    upper.legend(loc="lower right")
    upper.axhline(4, color="grey", linestyle=":", linewidth=1)
    upper.set_ylabel("mean reward (points)")
    lower.plot(steps, [entry["frac_reward_zero_std"] for entry in logs], color="#d55e00")
    lower.set_ylabel("groups without contrast (share)")
    lower.set_xlabel("training step")
    plt.savefig(path, dpi=120)


def main():
    """Read the command line, train, and draw."""
    parser = argparse.ArgumentParser(description="Train a model to call a tool, and plot its reward.")
    parser.add_argument("--model", default="tiny", help="tiny, or a model's name on the hub (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=80, help="training steps (default: %(default)s)")
    parser.add_argument("--warm-up", type=int, default=200, help="steps that show the tiny model damaged answers")
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="where results go (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    model, tokenizer, rows = prepare(arguments.model, arguments.seed, arguments.warm_up)
    config = configure(arguments.model, arguments.steps, arguments.folder, arguments.seed)
    trainer = make_trainer(model, config, tokenizer, rows)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    picture = arguments.folder / "reward.png"
    draw(trainer.state.log_history, picture)
    rewards = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    first, last = sum(rewards[:10]) / len(rewards[:10]), sum(rewards[-10:]) / len(rewards[-10:])
    sys.stdout.write(f"mean reward: {first:.2f} in the first ten steps, {last:.2f} in the last ten; see {picture}\n")


if __name__ == "__main__":
    main()
