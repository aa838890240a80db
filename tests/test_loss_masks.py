"""Void rollouts in the masks of two trainers: token ids in, a new loss mask out."""

import numpy as np
import pytest

from toolrl_core.adapters.loss_masks import rollouts_from_ids, take_out_void, trl_loss_mask, turn_index
from toolrl_core.advantages import group_advantages
from toolrl_core.masks import ShapeMismatchError
from toolrl_core.trajectories import Trajectory, Turn

# A tokenizer of words: three rollouts of two groups, as a trainer holds them (ids padded with 0 at the end).
CALL = '<tool_call>{"name": "f", "parameters": {}}</tool_call>'
WORDS = ["<pad>", CALL, "hm", "result", "<response> done </response>"]
IDS = np.array([[1, 3, 4, 0], [1, 3, 2, 2], [2, 0, 0, 0]])
PRESENT = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0]])
OWN = np.array([[1, 0, 1, 0], [1, 0, 1, 1], [1, 0, 0, 0]])
TRL_TOOL_MASK = np.array([[1, 0, 1, 1], [1, 0, 1, 1], [1, 1, 1, 1]])  # padded with ones
GROUPS = ["a", "a", "b"]


def decode(ids):
    return " ".join(WORDS[i] for i in ids)


def rollouts():
    return rollouts_from_ids(IDS, OWN, PRESENT, decode)


def test_the_tool_mask_of_trl_is_no_loss_mask_by_itself():
    assert trl_loss_mask(PRESENT, TRL_TOOL_MASK).tolist() == OWN.tolist()
    assert trl_loss_mask(PRESENT).tolist() == PRESENT.tolist()


def test_every_run_of_ones_is_a_turn():
    assert turn_index(OWN).tolist() == [[0, -1, 1, -1], [0, -1, 1, 1], [0, -1, -1, -1]]
    assert turn_index(np.zeros((2, 0), dtype=int)).shape == (2, 0)


def test_turns_are_decoded_from_the_ids_without_padding():
    turns = [[(turn.role, turn.text) for turn in rollout.turns] for rollout in rollouts()]
    assert turns == [
        [("assistant", CALL), ("tool", "result"), ("assistant", "<response> done </response>")],
        [("assistant", CALL), ("tool", "result"), ("assistant", "hm hm")],
        [("assistant", "hm")],
    ]
    assert rollouts()[1].turns[2].token_ids == (2, 2)


@pytest.mark.parametrize(
    ("operation", "mask", "counted"),
    [
        ("mask", [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [True, True, True]),
        ("filter", [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [True, False, False]),
        ("drop_group", [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], [False, False, False]),
        ("mask_after", [[1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]], [True, True, True]),
    ],
)
def test_the_four_operations_on_one_batch(operation, mask, counted):
    left = take_out_void(OWN, rollouts(), operation, contract="tool_call", groups=GROUPS)
    assert left.loss_mask.tolist() == mask
    assert left.counted.tolist() == counted


def test_a_verl_batch_has_its_prompt_in_the_attention_mask():
    attention = np.hstack([np.ones((3, 2), dtype=int), PRESENT])  # two tokens of prompt before the response
    response = rollouts_from_ids(IDS, OWN, attention[:, -IDS.shape[1] :], decode)
    left = take_out_void(OWN, response, "mask", contract="tool_call")
    assert left.loss_mask.sum() == 2  # the call and the response of the first rollout


def test_filtering_changes_advantages_and_masking_does_not():
    rewards = [1.0, 0.0, 0.0]
    for operation, wanted in (("mask", [0.5, -0.5]), ("filter", [0.0, 0.0])):
        left = take_out_void(OWN, rollouts(), operation, contract="tool_call", groups=GROUPS)
        found = group_advantages(rewards, GROUPS, dialect="dr_grpo", valid=left.counted)
        assert found[:2].tolist() == pytest.approx(wanted), operation


def test_a_rollout_that_the_trainer_cut_off_has_no_turn_and_is_not_void():
    cleared = np.zeros_like(OWN)
    left = take_out_void(cleared, rollouts_from_ids(IDS, cleared, cleared, decode), "filter", contract="tool_call")
    assert left.counted.all()


def test_the_masks_that_came_in_stay_as_they_were():
    before = OWN.copy()
    take_out_void(OWN, rollouts(), "mask_after", contract="tool_call")
    assert (before == OWN).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: take_out_void(OWN, rollouts(), "drop"),
            ValueError,
            "unknown operation 'drop': choose from mask, filter",
        ),
        (lambda: take_out_void(OWN, rollouts(), "drop_group"), ValueError, "needs groups"),
        (lambda: take_out_void(OWN, rollouts()[:2]), ShapeMismatchError, "there are 2 rollouts"),
        (lambda: trl_loss_mask(PRESENT, OWN[:, :2]), ShapeMismatchError, r"\(3, 4\), tool_mask has shape \(3, 2\)"),
        (lambda: rollouts_from_ids(IDS[:, :3], OWN, PRESENT, decode), ShapeMismatchError, "token_ids has shape"),
        (
            lambda: take_out_void(OWN, [Trajectory((Turn("a"),))] * 3, "mask_after"),
            ShapeMismatchError,
            "rollout 0 has 1 turns of the model, its mask 2 runs",
        ),
    ],
)
def test_what_does_not_fit_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
