"""Miniature training: invariances, common random numbers, optimisers, and paired comparisons."""

import itertools
import math
import re

import numpy as np
import pytest

from toolrl_core.schedules import LengthReward, constant, dynamic, equal_max, two_stage
from toolrl_core.simulate.answer_policy import LOGITS, METRICS, BaseStrength, initial_logits
from toolrl_core.simulate.answers import World
from toolrl_core.simulate.histories import History, Interval, join_seeds
from toolrl_core.simulate.training import GrpoSettings, train
from toolrl_core.spec import RewardSpec

SHORT = GrpoSettings(steps=12, prompts=16, evaluate_every=5, evaluation_prompts=40)
SCALES = {
    "original": RewardSpec(),
    "equal_max": RewardSpec(schedule=equal_max()),
    "two_stage": RewardSpec(schedule=two_stage(6)),
    "dynamic": RewardSpec(schedule=dynamic()),
}


def short(**changes):
    return GrpoSettings(**{**{name: getattr(SHORT, name) for name in SHORT.__dataclass_fields__}, **changes})


def same(first, second):
    return all(np.array_equal(first.metrics[name], second.metrics[name], equal_nan=True) for name in METRICS) and bool(
        (first.logits == second.logits).all()
    )


def largest_difference(history):
    return np.abs(history.logits - history.logits[:1]).max()


def test_tripling_the_total_changes_nothing_under_a_standard_deviation():
    triple = RewardSpec(schedule=constant(format=(0, 3), correctness=(-9, 9)))
    third = RewardSpec(schedule=constant(format=(0, 1 / 3), correctness=(-1, 1)))
    history = train({"once": RewardSpec(), "triple": triple, "third": third}, settings=SHORT, seeds=3)
    assert largest_difference(history) < 1e-5
    assert np.abs(history.logits - initial_logits(BaseStrength())).max() > 0.1


def test_without_a_standard_deviation_tripling_the_total_triples_the_rate():
    triple = RewardSpec(schedule=constant(format=(0, 3), correctness=(-9, 9)))
    settings = short(dialect="dr_grpo", optimiser="sgd", learning_rate=0.3)
    slow = train({"once": RewardSpec(), "triple": triple}, settings=settings, seeds=3)
    assert largest_difference(slow) > 0.01
    fast = train({"once": RewardSpec()}, settings=short(dialect="dr_grpo", optimiser="sgd", learning_rate=0.9), seeds=3)
    assert np.abs(fast.logits[0] - slow.logits[1]).max() < 1e-9


@pytest.mark.parametrize("rule", ["none", "literal"])
def test_all_scales_coincide_where_the_format_is_constant(rule):
    arms = {name: spec.replace(format_rule=rule) for name, spec in SCALES.items()}
    always = BaseStrength(format_logit=60.0)
    assert largest_difference(train(arms, settings=SHORT, base=always, seeds=3)) < 1e-5


def test_scales_differ_where_the_format_asks_for_a_call_or_a_response():
    always = BaseStrength(format_logit=60.0)
    assert largest_difference(train(SCALES, settings=SHORT, base=always, seeds=3)) > 1e-3


def test_released_scales_coincide_where_no_prompt_needs_a_call():
    """Correctness is 0 there and only the format bit is left, whatever its scale."""
    arms = {name: spec.replace(no_call="zero") for name, spec in SCALES.items()}
    history = train(arms, settings=SHORT, world=World(no_call_share=1.0), seeds=3)
    assert largest_difference(history) < 1e-5
    scored = train(SCALES, settings=SHORT, world=World(no_call_share=1.0), seeds=3)
    assert largest_difference(scored) > 1e-3


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_identical_arms_have_identical_histories(optimiser):
    settings = short(optimiser=optimiser, learning_rate=0.05, kl_coefficient=0.01, dialect="trl")
    world = World(budget_share=0.5)
    spec = RewardSpec(length_reward=LengthReward(384, growth=256.0))
    history = train({"a": spec, "b": RewardSpec(), "c": spec}, settings=settings, world=world, seeds=2)
    for name in METRICS:
        assert (history.metrics[name][0] == history.metrics[name][2]).all()
    assert (history.logits[0] == history.logits[2]).all()
    assert history.paired("a", "c", "exact") == Interval(mean=0.0, half_width=0.0, seeds=2)


def test_an_arm_has_the_same_history_alone():
    beside = train(SCALES, settings=SHORT, seeds=2)
    alone = train({"dynamic": SCALES["dynamic"]}, settings=SHORT, seeds=2)
    assert (beside.logits[3] == alone.logits[0]).all()


def test_a_seed_has_the_same_history_in_any_company_and_on_any_worker():
    few = train(SCALES, settings=SHORT, seeds=2, seed=9)
    many = train(SCALES, settings=SHORT, seeds=5, seed=9)
    assert (many.logits[:, :2] == few.logits).all()
    pytest.importorskip("joblib")
    assert same(train(SCALES, settings=SHORT, seeds=5, seed=9, workers=2), many)


def test_a_progress_bar_changes_nothing(capsys):
    quiet, shown = (
        train({"a": RewardSpec()}, settings=SHORT, seeds=1, progress=progress) for progress in (False, True)
    )
    assert same(quiet, shown)
    assert "12/12" in capsys.readouterr().err


def test_another_seed_gives_other_prompts():
    first, second = (train({"paper": RewardSpec()}, settings=SHORT, seeds=1, seed=seed) for seed in (0, 1))
    assert (first.metrics["exact"][..., 0] != second.metrics["exact"][..., 0]).all()


def test_first_update_of_adam_moves_every_touched_logit_by_the_rate():
    history = train({"paper": RewardSpec()}, settings=short(steps=1, passes=1), seeds=2)
    moved = np.abs(history.logits - initial_logits(BaseStrength()))
    assert moved[moved > 1e-6] == pytest.approx(0.02, rel=1e-4)
    assert (moved[..., :3] > 1e-6).all()


def test_clearing_the_moments_makes_the_next_update_a_first_one():
    before = train({"paper": RewardSpec()}, settings=short(steps=6, passes=1), seeds=2)
    after = train({"paper": RewardSpec()}, settings=short(steps=7, passes=1, reset_at=7), seeds=2)
    kept = train({"paper": RewardSpec()}, settings=short(steps=7, passes=1), seeds=2)
    moved = np.abs(after.logits - before.logits)
    assert moved[moved > 1e-6] == pytest.approx(0.02, rel=1e-4)
    assert np.abs(np.abs(kept.logits - before.logits)[moved > 1e-6] - 0.02).max() > 1e-3


def test_second_moment_matters_from_the_second_update_on():
    runs = [
        train({"paper": RewardSpec()}, settings=short(steps=steps, passes=1, beta2=beta2), seeds=1)
        for steps, beta2 in itertools.product((1, 8), (0.9, 0.999))
    ]
    assert runs[0].logits == pytest.approx(runs[1].logits, abs=1e-9)
    assert np.abs(runs[2].logits - runs[3].logits).max() > 1e-3


def test_clip_removes_nothing_in_a_single_pass_and_something_in_many_large_ones():
    once = train({"paper": RewardSpec()}, settings=short(passes=1, learning_rate=0.3), seeds=1)
    often = train({"paper": RewardSpec()}, settings=short(passes=6, learning_rate=0.3), seeds=1)
    assert once.clipped.max() == 0
    assert often.clipped.max() > 0.01


def test_training_with_the_paper_reward_makes_answers_right_and_usable():
    settings = GrpoSettings(steps=50, prompts=48, evaluate_every=50)
    history = train({"paper": RewardSpec(), "idle": RewardSpec()}, settings=settings, seeds=4)
    for metric in ("exact", "usable", "refusal", "format"):
        gain = Interval.of(history.values("paper", metric) - history.values("paper", metric, 0))
        assert gain.low > 0.1
    assert history.silent_groups.min() >= 0
    assert history.silent_groups.max() < 0.6


def test_a_strong_kl_penalty_keeps_the_policy_near_its_base():
    runs = [train({"paper": RewardSpec()}, settings=short(steps=30, kl_coefficient=k), seeds=2) for k in (0.0, 3.0)]
    free, held = (np.abs(run.logits - initial_logits(BaseStrength())).mean() for run in runs)
    assert held < 0.6 * free


def history_of(values, *, seed=0, numbers=(0, 1, 2)):
    shape = (1, len(numbers), 1)
    return History(
        arms=("a", "b"),
        seed=seed,
        numbers=numbers,
        steps=np.array([0, 5]),
        metrics={"exact": np.array(values)},
        silent_groups=np.zeros(shape),
        clipped=np.zeros(shape),
        logits=np.zeros((2, len(numbers), LOGITS)),
    )


VALUES = [[[0.0, 0.3], [0.0, 0.5], [0.0, 0.7]], [[0.0, 0.2], [0.0, 0.3], [0.0, 0.4]]]


def test_paired_difference_and_its_interval_by_hand():
    """Differences 0.1, 0.2, 0.3: mean 0.2, standard deviation 0.1, and t = 4.302653 with two degrees of freedom."""
    interval = history_of(VALUES).paired("a", "b", "exact")
    assert interval.mean == pytest.approx(0.2)
    assert interval.half_width == pytest.approx(4.302653 * 0.1 / math.sqrt(3), rel=1e-6)
    assert not interval.excludes_zero
    assert history_of(VALUES).paired("a", "b", "exact", at="mean").mean == pytest.approx(0.1)
    assert history_of(VALUES).paired("a", "b", "exact", at=0) == Interval(mean=0.0, half_width=0.0, seeds=3)


def test_arms_of_two_runs_are_compared_seed_by_seed():
    other = history_of([VALUES[1], VALUES[0]])
    assert history_of(VALUES).paired("a", "a", "exact", other=other).mean == pytest.approx(0.2)
    with pytest.raises(ValueError, match="other seeds"):
        history_of(VALUES).paired("a", "a", "exact", other=history_of(VALUES, seed=1))


@pytest.mark.parametrize(
    ("arm", "metric", "at", "message"),
    [
        ("c", "exact", "final", "unknown arm 'c': choose from a, b"),
        ("a", "speed", "final", "unknown metric 'speed': choose from exact"),
        ("a", "exact", 3, r"no evaluation at 3: choose 'final', 'mean' or one of \[0, 5\]"),
    ],
)
def test_unknown_arm_metric_or_step_is_named(arm, metric, at, message):
    with pytest.raises(ValueError, match=message):
        history_of(VALUES).values(arm, metric, at)


def test_only_runs_of_the_same_arms_and_seed_are_joined():
    assert join_seeds([history_of(VALUES), history_of(VALUES, numbers=(3, 4, 5))]).numbers == (0, 1, 2, 3, 4, 5)
    with pytest.raises(ValueError, match="same arms, seed and steps"):
        join_seeds([history_of(VALUES), history_of(VALUES, seed=1)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"clip": -0.1}, "clip must be finite"),
        ({"beta2": 1.0}, "beta2 must lie in"),
        ({"optimiser": "lion"}, "unknown optimiser 'lion'"),
        ({"optimiser": "sgd", "reset_at": 3}, "reset_at clears"),
        ({"dialect": "gspo"}, "dialect"),
        ({"dialect": "rloo", "eta": 0.1}, "eta"),
    ],
)
def test_impossible_settings_are_refused_by_field(change, message):
    with pytest.raises(ValueError, match=message):
        GrpoSettings(**change)


def test_no_arm_and_a_spec_without_closed_form_are_refused():
    with pytest.raises(ValueError, match="at least one arm"):
        train({})
    with pytest.raises(ValueError, match="prefilled_thought"):
        train({"a": RewardSpec(prefilled_thought=True)})
    with pytest.raises(ValueError, match="seeds must be at least 1 and a whole number, found 0"):
        train({"a": RewardSpec()}, seeds=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"arms": ["a"]}, "at least one arm: a mapping of names"),
        ({"arms": {"a": "paper"}}, "arm 'a' must be a RewardSpec, found str"),
        ({"arms": {1: RewardSpec()}}, "the name of an arm must be a text that is not empty, found 1"),
        ({"arms": {"": RewardSpec()}}, "the name of an arm must be a text that is not empty, found ''"),
        ({"world": {}}, "world must be a World, found dict"),
        ({"base": 0}, "base must be a BaseStrength, found int"),
        ({"settings": "short"}, "settings must be a GrpoSettings, found str"),
        ({"seed": None}, "seed must be at least 0 and a whole number, found None"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": [1]}, "seed must be at least 0"),
        ({"seeds": True}, "seeds must be at least 1 and a whole number, found True"),
        ({"seeds": 10**400}, "seeds must be at least 1 and a whole number, found a number of more than twenty digits"),
        ({"workers": 0}, "workers must be at least 1"),
    ],
)
def test_an_argument_that_cannot_be_is_named(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        train(**{"arms": {"a": RewardSpec()}, "settings": GrpoSettings(steps=1, prompts=2), **arguments})


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "1", [2], None, True, 10**400])
@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (GrpoSettings, "learning_rate"),
        (GrpoSettings, "clip"),
        (GrpoSettings, "beta2"),
        (GrpoSettings, "steps"),
        (GrpoSettings, "evaluate_every"),
        (GrpoSettings, "group_size"),
        (World, "no_call_share"),
        (World, "difficulty_spread"),
        (World, "budget"),
        (World, "calls"),
        (BaseStrength, "strength"),
        (BaseStrength, "call_bias"),
    ],
)
def test_a_field_that_cannot_be_is_named_whatever_it_is(kind, field, wrong):
    with pytest.raises(ValueError, match=field):
        kind(**{field: wrong})


def test_a_field_of_two_numbers_or_of_chances_is_checked_number_by_number():
    with pytest.raises(ValueError, match="budget low must be finite and positive, found 'a'"):
        World(budget=("a", 3))
    with pytest.raises(ValueError, match="each of calls must lie in"):
        World(calls=(0.5, "0.5"))


def test_moments_cannot_be_cleared_behind_the_last_step():
    assert GrpoSettings(steps=5, reset_at=5).reset_at == 5
    with pytest.raises(ValueError, match="reset_at must not lie behind the last step 5, found 6"):
        GrpoSettings(steps=5, reset_at=6)
    with pytest.raises(ValueError, match="reset_at must be at least 1 and a whole number, found 'x'"):
        GrpoSettings(reset_at="x")


def test_a_lone_answer_has_no_advantage_so_groups_have_two():
    with pytest.raises(ValueError, match="group_size must be at least 2"):
        GrpoSettings(group_size=1)
