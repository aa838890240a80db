"""Void rollouts out of TRL's loss, as SimpleTIR does: they train nothing, and their rewards still count."""

import torch
from trl import GRPOTrainer

from toolrl_core.adapters.loss_masks import rollouts_from_ids, take_out_void, trl_loss_mask


class VoidMaskTrainer(GRPOTrainer):
    """A GRPOTrainer that masks rollouts with a void turn."""

    def _generate_and_score_completions(self, inputs):
        output = super()._generate_and_score_completions(inputs)
        present = output["completion_mask"].cpu().numpy()
        tools = output["tool_mask"].cpu().numpy() if "tool_mask" in output else None
        loss = trl_loss_mask(present, tools)
        ids = output["completion_ids"].cpu().numpy()
        rollouts = rollouts_from_ids(ids, loss, present, self.processing_class.decode)
        left = take_out_void(loss, rollouts, "mask", contract="tool_call")
        output["tool_mask"] = torch.from_numpy(left.loss_mask).to(output["completion_ids"].device)
        return output
