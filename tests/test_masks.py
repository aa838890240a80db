"""Mask, filter, drop group and mask after void: four operations, with shapes checked and warnings kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolrl_core.advantages import group_advantages
from toolrl_core.filter_policies import FILTER_POLICIES, FilterSettings, TokenBatch, apply_filter_policy
from toolrl_core.masks import (
    ShapeMismatchError,
    drop_void_groups,
    filter_accuracy,
    filter_void,
    mask_after_void,
    mask_void,
)
from toolrl_core.token_masks import clear_truncated, first_void_turns, token_masks, void_rollouts
from toolrl_core.trajectories import Trajectory, Turn

REWARDS = [1, 1, 1, 0, 0, 0, 0, 0]
VOID = [False] * 4 + [True] * 4
GROUP = ["q"] * 8


def advantages(left, rewards=REWARDS):
    return group_advantages(rewards, ["q"] * len(rewards), dialect="released", valid=left.counted)


def test_masking_leaves_void_rewards_in_the_statistics():
    left = mask_void(np.ones((8, 3)), VOID)
    assert advantages(left)[:4].tolist() == pytest.approx([1.2076, 1.2076, 1.2076, -0.7246], abs=1e-4)
    assert left.loss_mask.sum(axis=1).tolist() == [3, 3, 3, 3, 0, 0, 0, 0]
    assert left.counted.all()


def test_filtering_takes_void_rewards_out_of_the_statistics():
    left = filter_void(np.ones((8, 3)), VOID, groups=GROUP)
    assert advantages(left).tolist() == pytest.approx([0.5, 0.5, 0.5, -1.5, 0, 0, 0, 0], abs=1e-5)
    assert left.loss_mask.sum(axis=1).tolist() == [3, 3, 3, 3, 0, 0, 0, 0]


def test_dropping_groups_takes_the_sound_rollouts_too():
    left = drop_void_groups(np.ones((4, 2)), [True, False, False, False], ["a", "a", "b", "b"])
    assert left.loss_mask.sum(axis=1).tolist() == [0, 0, 2, 2]
    assert left.counted.tolist() == [False, False, True, True]
    assert left.empty_groups == ("a",)


def test_masking_after_the_void_trains_early_turns_with_the_void_advantage():
    turn_index = np.tile([0, 0, -1, 1, 1, -1, 2], (8, 1))
    left = mask_after_void(turn_index >= 0, turn_index, [-1] * 4 + [1, 0, 2, 1])
    assert left.loss_mask.sum(axis=1).tolist() == [5, 5, 5, 5, 2, 0, 4, 2]
    assert advantages(left)[4] == pytest.approx(-0.7246, abs=1e-4)


def test_seven_right_and_one_masked_void_still_push_the_right_ones_up():
    left = mask_void(np.ones((8, 1)), [False] * 7 + [True])
    found = advantages(left, [1] * 7 + [0])
    assert found[:7].tolist() == pytest.approx([0.35355] * 7, abs=1e-4)
    assert (found < 0).sum() == 1
    assert left.loss_mask[7, 0] == 0
    filtered = filter_void(np.ones((8, 1)), [False] * 7 + [True])
    assert advantages(filtered, [1] * 7 + [0]).tolist() == [0] * 8


def test_group_emptied_by_filtering_is_a_warning_not_a_crash():
    left = filter_void(np.ones((3, 2)), [True, True, True], groups=["a", "a", "b"])
    assert left.empty_groups == ("a", "b")
    assert left.warnings == ("2 groups became empty after filtering: 'a', 'b'", "no rollout is left in the batch")
    assert group_advantages([0, 0, 1], ["a", "a", "b"], valid=left.counted).tolist() == [0, 0, 0]


def test_a_batch_without_rollouts_is_no_crash():
    for left in (
        filter_void(np.ones((0, 4)), []),
        mask_void(np.ones((0, 4)), []),
        drop_void_groups([[]] * 0 or np.ones((0, 1)), [], []),
    ):
        assert left.loss_mask.shape[0] == 0


def test_accuracy_filter_empties_groups_that_are_all_right_or_all_wrong():
    rewards = [1, 1, 0, 0, 1, 0]
    left = filter_accuracy(
        np.ones((6, 1)), rewards, ["easy", "easy", "hard", "hard", "mixed", "mixed"], lowest=0.1, highest=0.9
    )
    assert left.counted.tolist() == [False] * 4 + [True] * 2
    assert left.empty_groups == ("easy", "hard")


def test_operations_do_not_change_their_input_and_keep_its_type():
    mask = np.ones((2, 2), dtype=np.int8)
    left = mask_void(mask, [True, False])
    assert (mask.sum(), left.loss_mask.dtype, left.tokens_kept) == (4, np.int8, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mask_void(np.ones((3, 4)), [True, False]), r"loss_mask has shape \(3, 4\), void has shape \(2,\)"),
        (lambda: filter_void(np.ones(3), [True] * 3), r"loss_mask has shape \(3,\), expected \(rollouts, tokens\)"),
        (lambda: filter_void(np.ones((3, 4)), [True] * 3, groups=["a"]), r"shape \(3, 4\), groups has shape \(1,\)"),
        (
            lambda: mask_after_void(np.ones((3, 4)), np.zeros((3, 5), dtype=int), [0, 0, 0]),
            r"loss_mask has shape \(3, 4\), turn_index has shape \(3, 5\)",
        ),
        (
            lambda: mask_after_void(np.ones((3, 4)), np.zeros((3, 4), dtype=int), [0]),
            r"loss_mask has shape \(3, 4\), first_void has shape \(1,\)",
        ),
        (
            lambda: clear_truncated([True, False], tool_mask=[[1, 1, 1]]),
            r"tool_mask has shape \(1, 3\), truncated has shape \(2,\)",
        ),
        (
            lambda: clear_truncated(True, completion_mask=[1, 1], tool_mask=[1, 1, 1]),
            r"completion_mask has shape \(2,\), tool_mask has shape \(3,\)",
        ),
    ],
)
def test_shape_mismatches_name_both_shapes(call, message):
    with pytest.raises(ShapeMismatchError, match=message):
        call()


def test_flags_are_no_positions_and_positions_no_flags():
    with pytest.raises(TypeError, match="first_void must hold integers, found dtype bool"):
        mask_after_void(np.ones((1, 1)), np.zeros((1, 1), dtype=int), [True])
    with pytest.raises(TypeError, match="void must hold flags"):
        mask_void(np.ones((2, 1)), [3, -1])


def test_accuracy_bounds_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match=r"lowest must not exceed highest, got 0\.9 and 0\.1"):
        filter_accuracy(np.ones((1, 1)), [0], ["a"], lowest=0.9, highest=0.1)


def test_truncation_clears_every_mask():
    cleared = clear_truncated(True, completion_mask=[1, 1, 1], tool_mask=[1, 1, 1])
    assert {name: mask.tolist() for name, mask in cleared.items()} == {
        "completion_mask": [0, 0, 0],
        "tool_mask": [0, 0, 0],
    }
    batch = clear_truncated([True, False], completion_mask=[[1, 1], [1, 0]])
    assert batch["completion_mask"].tolist() == [[0, 0], [1, 0]]


def rollout(*turns: Turn) -> Trajectory:
    return Trajectory(turns)


def test_token_masks_leave_out_prompts_observations_and_padding():
    first = rollout(
        Turn("p", "user", token_count=2),
        Turn("```python\n1\n```", token_count=3),
        Turn("1", "tool", token_count=1),
        Turn("hm", token_ids=(8, 9)),
    )
    masks = token_masks([first, rollout(Turn("hm", token_count=1))], length=9)
    assert masks.loss_mask.tolist() == [[0, 0, 1, 1, 1, 0, 1, 1, 0], [1] + [0] * 8]
    assert masks.turn_index.tolist() == [[-1, -1, 0, 0, 0, -1, 1, 1, -1], [0] + [-1] * 8]
    assert masks.attention_mask.sum(axis=1).tolist() == [8, 1]


def test_void_flags_of_real_turns_reach_the_tokens():
    batch = [
        rollout(Turn("```python\n1\n```", token_count=2), Turn("1", "tool", token_count=1), Turn("hm", token_count=1)),
        rollout(Turn("So \\boxed{1}", token_count=3)),
    ]
    masks = token_masks(batch)
    assert void_rollouts(batch, "code").tolist() == [True, False]
    assert first_void_turns(batch, "code").tolist() == [1, -1]
    assert mask_void(masks.loss_mask, void_rollouts(batch, "code")).loss_mask.tolist() == [[0] * 4, [1, 1, 1, 0]]
    after = mask_after_void(masks.loss_mask, masks.turn_index, first_void_turns(batch, "code"))
    assert after.loss_mask.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]


def test_missing_token_counts_and_short_masks_are_named():
    with pytest.raises(ValueError, match=r"rollout 1, turn 0 \(tool\): no token_count and no token_ids"):
        token_masks([rollout(), rollout(Turn("x", "tool"))])
    with pytest.raises(ShapeMismatchError, match="rollout 0 has 3 tokens, the mask has 2 columns"):
        token_masks([rollout(Turn("x", token_count=3))], length=2)


def one_rollout_batch() -> TokenBatch:
    """Three turns of two tokens; the second turn is void."""
    return TokenBatch(
        loss_mask=np.array([[1, 1, 1, 1, 1, 1]]),
        probability=np.array([[0.9, 0.02, 0.5, 0.03, 0.01, 0.2]]),
        ratio=np.array([[1.0, 1.9, 2.0, 2.1, 5.0, 1.0]]),
        turn_index=np.array([[0, 0, 1, 1, 2, 2]]),
        first_void=np.array([1]),
    )


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("naive", [1, 1, 1, 1, 1, 1]),
        ("low_probability", [1, 0, 1, 1, 0, 1]),
        ("high_ratio", [1, 1, 1, 0, 0, 1]),
        ("stop_generation", [1, 1, 1, 1, 0, 0]),
        ("void_veto", [0, 0, 0, 0, 0, 0]),
    ],
)
def test_each_policy_masks_its_own_tokens(policy, expected):
    assert apply_filter_policy(policy, one_rollout_batch()).loss_mask.tolist() == [expected]


def test_stop_generation_without_the_void_turn_is_mask_after_void():
    batch = one_rollout_batch()
    left = apply_filter_policy("stop_generation", batch, settings=FilterSettings(keep_void_turn=False))
    assert left.loss_mask.tolist() == [[1, 1, 0, 0, 0, 0]]
    assert left.loss_mask.tolist() == mask_after_void(batch.loss_mask, batch.turn_index, [1]).loss_mask.tolist()


def test_unknown_policy_and_thresholds_out_of_range_are_named():
    with pytest.raises(
        ValueError, match="unknown filter policy 'veto': choose from naive, low_probability, high_ratio"
    ):
        apply_filter_policy("veto", one_rollout_batch())
    with pytest.raises(ValueError, match=r"minimum_probability must lie in \[0, 1\], found 3"):
        FilterSettings(minimum_probability=3)
    with pytest.raises(ValueError, match="maximum_ratio must be finite and positive, found 0"):
        FilterSettings(maximum_ratio=0)


def test_token_batch_names_both_shapes():
    with pytest.raises(ShapeMismatchError, match=r"loss_mask has shape \(1, 2\), ratio has shape \(1, 3\)"):
        TokenBatch(
            loss_mask=np.ones((1, 2)),
            probability=np.ones((1, 2)),
            ratio=np.ones((1, 3)),
            turn_index=np.zeros((1, 2), dtype=int),
            first_void=np.array([0]),
        )


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=20))
def test_each_coarser_operation_trains_no_more_tokens(rows):
    void, groups = [v for v, _ in rows], [g for _, g in rows]
    mask = np.ones((len(rows), 2), dtype=int)
    turn_index = np.tile([0, 1], (len(rows), 1))
    kept = [
        mask_after_void(mask, turn_index, [1 if v else -1 for v in void]).tokens_kept,
        mask_void(mask, void).tokens_kept,
        filter_void(mask, void, groups=groups).tokens_kept,
        drop_void_groups(mask, void, groups).tokens_kept,
    ]
    assert kept[0] >= kept[1] == kept[2] >= kept[3]


def test_policies_come_in_the_order_of_the_ablation():
    assert list(FILTER_POLICIES) == ["naive", "low_probability", "high_ratio", "stop_generation", "void_veto"]
