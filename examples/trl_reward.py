"""A reward for tool calls in TRL's GRPOTrainer."""

import json

from datasets import Dataset
from trl import GRPOTrainer

from toolrl_core.adapters.trl import reward_function

ROWS = [("Two nights in Oslo.", [{"name": "book", "parameters": {"city": "Oslo", "nights": 2}}])]


def make_trainer(model, config, tokenizer, rows=ROWS):
    """Make a trainer; the ground truth is a column of JSON text."""
    columns = [{"prompt": prompt, "ground_truth": json.dumps(calls)} for prompt, calls in rows]
    return GRPOTrainer(
        model=model,
        args=config,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(columns),
        reward_funcs=[reward_function("robust")],
    )
