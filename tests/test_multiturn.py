"""Miniature training of many turns: gradient, filter policies, common random numbers."""

import numpy as np
import pytest

from toolrl_core.filter_policies import FILTER_POLICIES, FilterSettings
from toolrl_core.simulate.multiturn import token_gradient, train_policies
from toolrl_core.simulate.training import GrpoSettings
from toolrl_core.simulate.turn_rollouts import TurnWorld, initial_turn_logits, roll_out, token_log_probabilities

SHORT = GrpoSettings(steps=5, prompts=4, group_size=4, passes=3, learning_rate=0.05, dialect="trl")


def draw(world, *, arms=2, seeds=2, stops=(False, True), spread=1.0, prompts=6):
    rng = np.random.default_rng(5)
    logits = np.tile(rng.normal(0, spread, (2, world.rows, world.vocabulary)), (arms, seeds, 1, 1, 1))
    logits[:, :, 0, :, 0] += 2.0
    generators = [np.random.default_rng([1, seed]) for seed in range(seeds)]
    return logits, roll_out(generators, logits, world, prompts=prompts, group_size=4, stops=stops)


def chosen(logits, rollouts):
    table = token_log_probabilities(logits, rollouts.seed, rollouts.row, rollouts.drift, rollouts.shift)
    return np.take_along_axis(table, rollouts.token[..., np.newaxis], axis=3)[..., 0]


@pytest.mark.parametrize("moved", [0.0, 0.2])
def test_analytic_gradient_agrees_with_finite_differences(moved):
    world = TurnWorld(turns=3, vocabulary=4, noise=1.0)
    logits, rollouts = draw(world, spread=0.5)
    rng = np.random.default_rng(2)
    here = logits + moved * rng.normal(size=logits.shape)
    advantages = rng.normal(size=rollouts.reward.shape)
    trained = np.stack([rollouts.present[0], rollouts.present[1] & (rollouts.first_void[1] < 0)[:, np.newaxis]])
    found = token_gradient(here, rollouts, advantages, ["naive", "void_veto"], clip=(0.2, 0.28))
    gradient, clipped = found.gradient, found.clipped
    assert found.trained[0].tolist() == [1.0, 1.0]
    kept = [
        trained[1][rollouts.seed == seed].sum() / rollouts.present[1][rollouts.seed == seed].sum() for seed in (0, 1)
    ]
    assert found.trained[1] == pytest.approx(kept)
    assert (clipped > 0).any() == (moved > 0)

    def surrogate(logits):
        ratio, advantage = np.exp(chosen(logits, rollouts) - rollouts.log_probability), advantages[..., np.newaxis]
        value = np.minimum(ratio * advantage, np.clip(ratio, 0.8, 1.28) * advantage)
        parts = [
            (np.where(trained, value, 0)[:, rollouts.seed == seed].sum((1, 2)))
            / trained[:, rollouts.seed == seed].sum((1, 2))
            for seed in range(2)
        ]
        return np.stack(parts, axis=1)

    for place in np.ndindex(2, world.rows, world.vocabulary):
        step = np.zeros(logits.shape[2:])
        step[place] = 1e-5
        expected = (surrogate(here + step) - surrogate(here - step)) / 2e-5
        np.testing.assert_allclose(gradient[(slice(None), slice(None), *place)], expected, rtol=0, atol=1e-9)


def test_sampled_log_probabilities_are_those_of_the_policy():
    logits, rollouts = draw(TurnWorld())
    assert rollouts.log_probability == pytest.approx(chosen(logits, rollouts), abs=1e-12)


def test_a_void_turn_ends_the_rollout_only_where_the_policy_stops():
    world = TurnWorld()
    _, rollouts = draw(world, prompts=40)
    turns = rollouts.present.sum(axis=2) / 4
    void = rollouts.first_void[1] >= 0
    assert void.any()
    assert (turns[1][void] == rollouts.first_void[1][void] + 1).all()
    assert (rollouts.reward[1][void] == 0).all()
    # Both arms are the same up to the first void turn, and one goes on.
    assert (rollouts.first_void[0] == rollouts.first_void[1]).all()
    assert (turns[0] >= turns[1]).all()
    assert (turns[0] > turns[1]).any()
    assert (rollouts.reward[0] == rollouts.reward[1])[~void].all()


def turns_of(rollouts, arm):
    """Yield each rollout as the list of its turns' four tokens."""
    for tokens, present in zip(rollouts.token[arm], rollouts.present[arm], strict=True):
        yield tokens[present].reshape(-1, 4).tolist()


def is_void(turn):
    return turn[0] > 1 or turn[-1] != 0


def test_drift_adds_up_from_turns_errors_and_voids():
    _, rollouts = draw(TurnWorld(drift=0.5, drift_error=0.8, drift_void=0.3), prompts=20)
    for number, turns in enumerate(turns_of(rollouts, 0)):
        drift = 0.0
        for place, turn in enumerate(turns):
            assert rollouts.drift[0, number, 4 * place : 4 * place + 4] == pytest.approx(drift)
            wrong = (turn[0] > 1) + sum(token != 0 for token in turn[1:])
            drift += 0.5 + 0.8 * wrong / 4 + 0.3 * is_void(turn)


def test_an_answer_is_right_with_enough_good_turns_and_right_content():
    world = TurnWorld(direct=0.0, supported=1.0, careless=0.0, drift=0.0, noise=0.0)
    logits = np.tile(initial_turn_logits(world), (1, 1, 1, 1, 1))
    rollouts = roll_out([np.random.default_rng(3)], logits, world, prompts=400, group_size=4, stops=[False])
    by_good_turns = {0: [], 1: [], 2: []}
    for number, turns in enumerate(turns_of(rollouts, 0)):
        good = sum(turn == [0, 0, 0, 0] for turn in turns[:-1])
        if turns[-1] == [1, 0, 0, 0]:
            by_good_turns[min(good, 2)].append(rollouts.reward[0, number])
        else:
            assert rollouts.reward[0, number] == 0
    assert set(by_good_turns[0]) == {0.0}
    assert set(by_good_turns[2]) == {1.0}
    assert 0.3 < np.mean(by_good_turns[1]) < 0.7  # one turn is enough for half of the prompts


def test_thresholds_that_mask_nothing_leave_the_naive_policy():
    open_filters = FilterSettings(minimum_probability=0.0, maximum_ratio=1e12)
    history = train_policies(["naive", "low_probability", "high_ratio"], settings=SHORT, filters=open_filters, seeds=2)
    assert (history.logits == history.logits[:1]).all()


def test_no_drift_and_no_noise_leave_all_turns_alike():
    world = TurnWorld(drift=0.0, drift_error=0.0, drift_void=0.0)
    _, rollouts = draw(world)
    assert (rollouts.drift == 0).all()


def test_an_arm_has_the_same_history_alone_and_a_seed_in_any_company():
    together = train_policies(settings=SHORT, seeds=3)
    alone = train_policies(["void_veto"], settings=SHORT, seeds=1)
    assert together.arms == tuple(FILTER_POLICIES)
    assert (together.logits[4, :1] == alone.logits[0]).all()
    assert together.metrics["success"].shape == (5, 3, 5)
    pytest.importorskip("joblib")
    shared = train_policies(settings=SHORT, seeds=3, workers=2)
    assert (shared.logits == together.logits).all()
    assert (shared.metrics["gradient_norm"] == together.metrics["gradient_norm"]).all()


def test_a_frozen_closing_token_keeps_its_logits():
    world = TurnWorld(closing_learnable=False)
    history = train_policies(["naive"], world=world, settings=SHORT, seeds=1)
    logits = history.logits.reshape(2, world.rows, world.vocabulary)
    assert logits[0, -1].tolist() == [4.5, *[0.0] * 9]
    assert (logits[1, -1] == 0).all()
    assert (logits[0, 0] != 0).all()


def test_training_without_drift_learns_to_succeed():
    settings = GrpoSettings(steps=40, prompts=8, group_size=8, learning_rate=0.05, dialect="trl")
    history = train_policies(["naive"], world=TurnWorld(noise=0.0, direct=0.2), settings=settings, seeds=4)
    success = history.metrics["success"][0].mean(axis=0)
    assert success[-5:].mean() > success[:5].mean() + 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [({"turns": 0}, "turns must be"), ({"direct": 2.0}, "direct must lie"), ({"noise": -1.0}, "noise must be finite")],
)
def test_an_impossible_world_is_refused_by_field(change, message):
    with pytest.raises(ValueError, match=message):
        TurnWorld(**change)


def test_an_unknown_policy_is_named():
    with pytest.raises(ValueError, match="unknown filter policy 'ban': choose from naive"):
        train_policies(["ban"])
    with pytest.raises(ValueError, match="at least one policy"):
        train_policies([])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policies": "naive"}, "policies must be a list of names, found 'naive'"),
        ({"policies": None}, "policies must be a list of names, found None"),
        ({"policies": [["naive"]]}, "unknown filter policy"),
        ({"policies": ["naive", "naive"]}, "each policy can be trained once, found naive, naive"),
        ({"world": {}}, "world must be a TurnWorld, found dict"),
        ({"settings": 3}, "settings must be a GrpoSettings, found int"),
        ({"filters": {}}, "filters must be a FilterSettings, found dict"),
        ({"clip_high": float("nan")}, "clip_high must be finite"),
        ({"seed": None}, "seed must be at least 0"),
    ],
)
def test_an_argument_that_cannot_be_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        train_policies(**{"policies": ["naive"], "settings": SHORT, "seeds": 1, **arguments})


@pytest.mark.parametrize("wrong", [float("nan"), "1", None, [1]])
@pytest.mark.parametrize("field", ["turns", "direct", "noise", "code_bias", "closing_learnable"])
def test_a_field_that_cannot_be_is_named_whatever_it_is(field, wrong):
    with pytest.raises(ValueError, match=field):
        TurnWorld(**{field: wrong})


def test_all_policies_are_measured_on_the_same_rollouts_in_which_nobody_stops():
    """Two policies that do not train are measured alike, though one of them stops at void turns."""
    still = GrpoSettings(steps=3, prompts=4, group_size=4, learning_rate=0.0, dialect="trl", evaluation_prompts=500)
    found = train_policies(["naive", "stop_generation"], settings=still, seeds=2).metrics
    for metric in ("success", "sound_success", "void", "turns", "multi_turn"):
        assert (found[metric] == found[metric][:1, :, :1]).all()  # the same for arms and steps
    # Who stops in training loses the rollouts that would have recovered.
    assert found["own_success"][0].mean() > found["own_success"][1].mean()
    assert (found["sound_success"] < found["success"]).all()
    assert (found["sound_success"] <= 1 - found["void"]).all()


def test_right_answers_without_a_void_turn_are_those_that_stopping_leaves():
    world = TurnWorld()
    logits, _ = draw(world)
    options = {"prompts": 500, "group_size": 1}
    going, stopping = (
        roll_out([np.random.default_rng([9, seed]) for seed in range(2)], logits, world, stops=stops, **options)
        for stops in ([False, False], [True, True])
    )
    assert (stopping.reward == np.where(going.first_void >= 0, 0.0, going.reward)).all()
    assert (going.reward > stopping.reward).any()


def test_a_norm_over_all_tokens_is_smaller_where_some_are_left_out():
    found = train_policies(["naive", "void_veto"], settings=SHORT, seeds=2).metrics
    assert (found["gradient_norm_all"][0] == found["gradient_norm"][0]).all()
    assert (found["gradient_norm_all"][1] < found["gradient_norm"][1]).all()
