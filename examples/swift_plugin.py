"""A reward for tool calls in ms-swift: `--external_plugins swift_plugin.py --reward_funcs toolrl`."""

from swift.rewards import orms

from toolrl_core.adapters.swift import ToolReward


class BookingReward(ToolReward):
    """Score the calls against the column `solution`."""

    spec = "robust"
    ground_truth = "solution"


orms["toolrl"] = BookingReward
