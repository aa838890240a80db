"""The same reward in the trainers that people use; no module here imports its trainer.

One file for each trainer: `trl`, `verl`, `swift`, `verifiers` and `openrlhf`; `reward_function` serves any other.
`rows` and `options` hold what they share; `loss_masks` takes void rollouts out of a trainer's loss.
"""

from toolrl_core.adapters.generic import reward_function as reward_function
from toolrl_core.adapters.rows import RowError as RowError
from toolrl_core.adapters.rows import check_ground_truths as check_ground_truths

__all__ = ["RowError", "check_ground_truths", "reward_function"]
