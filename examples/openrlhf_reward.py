"""A reward for tool calls in OpenRLHF: `--reward.remote_url openrlhf_reward.py`."""

from toolrl_core.adapters.openrlhf import make_reward_func

reward_func = make_reward_func("robust", stop_tokens=("<|im_end|>", "<|endoftext|>"))
