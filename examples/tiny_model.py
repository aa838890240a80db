"""A language model small enough for a laptop's processor, made on the spot and without a network."""

import json

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from tqdm.auto import tqdm
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from toolrl_core import ToolCall, corrupt

CITIES = ("Oslo", "Rome", "Cairo", "Lima", "Delhi", "Paris")
TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}<|assistant|>"


def booking_rows():
    """Return prompts, each with the calls that it wants."""
    rows = []
    for city in CITIES:
        for nights in range(1, 6):
            call = {"name": "book", "parameters": {"city": city, "nights": nights}}
            rows.append((f"Book {city} for {nights} nights.\n", [call]))
    return rows


def written(calls):
    """Return a completion in the format of the reward."""
    lines = "\n".join(json.dumps(call) for call in calls)
    return f"<think> I book it. </think>\n<tool_call>\n{lines}\n</tool_call>"


def make_tokenizer(texts, size=400):
    """Train a byte-level tokenizer on some texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|end|>", "<|pad|>", "<|user|>", "<|assistant|>", "<|system|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|end|>",
        pad_token="<|pad|>",
        padding_side="left",
        chat_template=TEMPLATE,
    )


def make_model(tokenizer, *, width=64, layers=2, seed=0):
    """Make a Qwen2 model with random weights."""
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        initializer_range=0.1,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return Qwen2ForCausalLM(config)


def warm_up(model, tokenizer, rows, *, steps=200, seed=0):
    """Show the model damaged answers, so that it knows the form and some of the content."""
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    progress = tqdm(range(steps), desc="warm-up", unit="step")
    for _ in progress:
        texts = []
        for place in rng.integers(len(rows), size=16):
            prompt, calls = rows[place]
            right = [ToolCall(call["name"], call["parameters"]) for call in calls]
            damaged = corrupt(right, rng, argument_right=0.6)
            texts.append(prompt + written([call.to_dict() for call in damaged]) + tokenizer.eos_token)
        batch = tokenizer(texts, return_tensors="pt", padding=True, padding_side="right")
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        progress.set_postfix(loss=f"{loss.item():.2f}")
    return model
