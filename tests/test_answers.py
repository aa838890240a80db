"""Structured answers: the closed-form reward against the scorer, the gradient, and the exact evaluation."""

import itertools

import numpy as np
import pytest

from toolrl_core import score
from toolrl_core.schedules import LengthReward, constant, dynamic, equal_max, two_stage
from toolrl_core.simulate.answer_policy import (
    LOGITS,
    BaseStrength,
    decisions,
    evaluate_policy,
    initial_logits,
    log_probabilities,
)
from toolrl_core.simulate.answer_rewards import answer_rewards, check_spec, examine_answers, render_answer
from toolrl_core.simulate.answer_samples import (
    chosen_log_probabilities,
    clipped_gradient,
    sample_answers,
    sum_over_answer,
)
from toolrl_core.simulate.answers import THOUGHT_WORDS, World, draw_prompts
from toolrl_core.spec import RewardSpec

TIGHT = World(budget_share=0.5, no_call_share=0.3, budget=(150.0, 500.0))


def generators(seeds, base=0):
    return [np.random.default_rng([base, seed]) for seed in range(seeds)]


def draw(*, seeds=1, per_seed=8, group_size=4, arms=1, world=TIGHT, strength=0.0, spread=0.0, seed=0):
    rngs = generators(seeds, seed)
    prompts = draw_prompts(rngs, per_seed, world)
    logits = np.tile(initial_logits(BaseStrength(strength=strength)), (arms, seeds, 1))
    logits = logits + spread * np.random.default_rng(seed).normal(size=logits.shape)
    outcomes = log_probabilities(logits, decisions(prompts))
    return prompts, logits, outcomes, sample_answers(rngs, outcomes, prompts, group_size, world)


SPECS = {
    **RewardSpec.presets(),
    **{
        f"{granularity} {credit} {names} gate={gate} name_credit={name_credit} extra={extra}": RewardSpec(
            granularity=granularity,
            credit=credit,
            names=names,
            same_name=gate,
            name_credit=name_credit,
            extra_calls=extra,
        )
        for granularity, credit, names, gate, name_credit, extra in itertools.product(
            ("parameter", "call", "answer"),
            ("partial", "exact"),
            ("set", "multiset"),
            (False, True),
            (None, "exact", "partial"),
            ("name_only", "counted"),
        )
    },
    **{f"format {rule}": RewardSpec(format_rule=rule) for rule in ("ordered_tags", "literal", "released", "strict")},
    **{
        f"ordered {granularity} {equality}": RewardSpec(
            granularity=granularity, credit="exact", ordered=True, call_equality=equality
        )
        for granularity, equality in itertools.product(("parameter", "call", "answer"), ("arguments", "object"))
    },
    **{f"matching {rule}": RewardSpec(matching=rule) for rule in ("greedy_prediction", "greedy_best")},
    **{f"equality {policy}": RewardSpec(equality=policy) for policy in ("json_strict", "python", "bfcl", "schema")},
    "released parser": RewardSpec(parser="released"),
    "released parser, literal format": RewardSpec(parser="released", format_rule="literal", no_call="zero"),
    "no format, no-call 0": RewardSpec(format_rule="none", no_call="zero"),
    "dynamic": RewardSpec(schedule=dynamic()),
    "two-stage": RewardSpec(schedule=two_stage()),
    "length": RewardSpec(length_reward=LengthReward()),
    "released length": RewardSpec.preset("released").replace(length_reward=LengthReward(384, True, 256.0)),
}


@pytest.fixture(scope="module")
def samples():
    prompts, _, _, answers = draw(per_seed=260, group_size=2, strength=0.6, spread=0.4, seed=4)
    texts = [
        [render_answer(answers, prompts, arm=0, prompt=prompt, rollout=rollout) for rollout in range(2)]
        for prompt in range(len(prompts))
    ]
    return prompts, answers, examine_answers(answers, prompts), texts


def test_the_samples_have_what_the_reward_must_tell_apart(samples):
    prompts, answers, findings, _ = samples
    calling = answers.choices["call"][0] == 1
    needs = prompts.needs_call[:, np.newaxis]
    assert (calling & ~needs).any()
    assert (~calling & needs).any()
    assert findings.cut[0].any()
    assert (findings.cut[0] & (findings.names[0] + findings.wrong_names[0] == 0)).any()
    assert (findings.surplus[0] == 2).any()
    holds = answers.choices["format"][0] == 1
    written = findings.names[0] + findings.wrong_names[0] + findings.surplus[0] > 0
    for form, some in itertools.product((holds, ~holds), (written, ~written)):  # what the released parser reads or not
        assert (findings.cut[0] & form & some).any()
    assert (findings.cut[0] & ~needs & ~written).any()
    assert (findings.exact & findings.named).any()
    assert (prompts.same_name & (prompts.calls > 1)).any()


def test_an_answer_writes_the_calls_that_fit_and_no_more(samples):
    """Tags cost 20 tokens, a call 20 and 12 for each parameter, a call nobody asked for 32."""
    prompts, answers, findings, _ = samples
    last = np.cumsum(prompts.calls)
    for prompt, rollout in itertools.product(range(len(prompts)), range(2)):
        choices = {family: choice[0, :, rollout] for family, choice in answers.choices.items()}
        room = prompts.budget[prompt] if answers.limited[prompt, rollout] else np.inf
        room -= THOUGHT_WORDS[choices["length"][prompt]] + 20
        calls = range(last[prompt] - prompts.calls[prompt], last[prompt])
        costs = [(call, 20 + 12 * prompts.parameters[call]) for call in calls if choices["further"][call]]
        costs += [(None, 32)] * (choices["extra_calls"][prompt] + (not calls))
        written, cut = [], False
        for call, cost in costs if choices["call"][prompt] else []:
            room -= cost
            cut |= room < 0
            written += [] if cut else [call]
        assert np.flatnonzero(findings.written[0, calls, rollout]).tolist() == [
            call - calls.start for call in written if call is not None
        ]
        assert findings.surplus[0, prompt, rollout] == written.count(None)
        assert findings.cut[0, prompt, rollout] == cut


@pytest.mark.parametrize("name", SPECS)
def test_closed_form_reward_is_the_score_of_the_rendered_answer_without_exception(samples, name):
    prompts, answers, findings, texts = samples
    spec = SPECS[name]
    totals = answer_rewards(findings, answers, prompts, spec, arm=0, step=35)
    scored = [[score(*text, spec, step=35).total for text in row] for row in texts]
    np.testing.assert_allclose(totals, scored, rtol=0, atol=1e-9)


def test_the_one_exception_would_be_a_call_without_parameters():
    empty = {"name": "tool", "parameters": {}}
    full = {"name": "tool", "parameters": {"key": "right"}}
    # The first call is not written and the second has lost its key: place by place nothing but the names counts,
    # 1/2 of 4 points, but the matching pairs the empty prediction with the call without parameters: 3/2 of 4.
    assert score([empty], [empty, full], RewardSpec.preset("robust")).correctness == pytest.approx(-3 + 6 * 1.5 / 4)
    with pytest.raises(ValueError, match="parameters must be one to five chances"):
        World(parameters=())


@pytest.mark.parametrize(
    "option", [{"prefilled_thought": True}, {"unordered": ("a",)}, {"name_aliases": {"a": "b"}}, {"schemas": {"f": {}}}]
)
def test_a_spec_without_closed_form_is_refused(option):
    with pytest.raises(ValueError, match=f"no use for {next(iter(option))}"):
        check_spec(RewardSpec(**option))


def surrogate(logits, old, answers, advantages, prompts, clip):
    """The clipped surrogate itself, written out for every decision."""
    table = decisions(prompts)
    new = chosen_log_probabilities(log_probabilities(logits, table), answers)
    by_call = advantages[:, prompts.call_prompt]
    levels = {"prompt": advantages, "call": by_call, "parameter": by_call[:, prompts.parameter_call]}
    total = np.zeros(logits.shape[:2])
    made = np.zeros(logits.shape[:2])
    for family, decision in table.items():
        ratio, advantage = np.exp(new[family] - old[family]), levels[decision.level]
        value = np.minimum(ratio * advantage, np.clip(ratio, 1 - clip, 1 + clip) * advantage)
        for seed in range(prompts.seeds):
            counted = answers.counted[family] & (decision.seed == seed)[np.newaxis, :, np.newaxis]
            total[:, seed] += np.where(counted, value, 0).sum((1, 2))
            made[:, seed] += counted.sum((1, 2))
    return total / made


@pytest.mark.parametrize("moved", [0.0, 0.3])
def test_analytic_gradient_agrees_with_finite_differences(moved):
    prompts, logits, outcomes, answers = draw(seeds=2, arms=2, per_seed=6, spread=0.3, seed=7)
    rng = np.random.default_rng(1)
    advantages = rng.normal(size=answers.choices["call"].shape)
    old = chosen_log_probabilities(outcomes, answers)
    here = logits + moved * rng.normal(size=logits.shape)  # away from the sampling policy, where the clip works
    table = decisions(prompts)
    gradient, clipped = clipped_gradient(
        log_probabilities(here, table), old, answers, advantages, prompts, table, clip=0.2
    )
    assert (clipped > 0).all() == (moved > 0)
    for logit in range(LOGITS):
        step = np.zeros(LOGITS)
        step[logit] = 1e-5
        above, below = (surrogate(here + sign * step, old, answers, advantages, prompts, 0.2) for sign in (1, -1))
        np.testing.assert_allclose(gradient[..., logit], (above - below) / 2e-5, rtol=0, atol=1e-9)


def test_exact_evaluation_agrees_with_many_samples():
    prompts, logits, _, answers = draw(per_seed=12, group_size=20_000, strength=1.5, seed=3)
    exact = evaluate_policy(logits, prompts, TIGHT)
    findings = examine_answers(answers, prompts)
    needs = prompts.needs_call
    whole = prompts.sum_calls(findings.named & findings.exact)[0] == prompts.calls[:, np.newaxis]
    right = (whole & (findings.surplus[0] == 0) & ~findings.cut[0])[needs]
    holds, calling = (answers.choices[family][0] == 1 for family in ("format", "call"))
    sampled = {
        "exact": right.mean(),
        "usable": (right & holds[needs]).mean(),
        "refusal": 1 - calling[~needs].mean(),
        "recall": calling[needs].mean(),
        "format": holds.mean(),
        "thought_length": THOUGHT_WORDS[answers.choices["length"][0]].mean(),
    }
    assert {name: float(values[0, 0]) for name, values in exact.items()} == pytest.approx(sampled, rel=0.02, abs=0.005)


def test_exact_evaluation_of_one_prompt_by_hand():
    """One call with one parameter, no difficulty, every logit 0: five even choices and the two of several outcomes."""
    world = World(
        no_call_share=0.0, difficulty_spread=0.0, cue_noise=0.0, calls=(1.0,), parameters=(1.0,), budget=(179.0, 179.0)
    )
    prompts = draw_prompts(generators(1), 1, world)
    values = evaluate_policy(np.zeros((1, 1, LOGITS)), prompts, world)
    # call 1/2, name 1/2, no extra key 1/2, right value 1/4, no extra call 1/3
    assert values["exact"].item() == pytest.approx(1 / 96)
    assert values["usable"].item() == pytest.approx(1 / 192)
    assert np.isnan(values["refusal"].item())
    assert values["thought_length"].item() == pytest.approx((32 + 64 + 128 + 256 + 384 + 512 + 640) / 7)
    # 20 + 32 tokens of 179 leave room for thoughts of 32 and 64 words, but not of 128: two lengths of seven.
    always = World(**{**{name: getattr(world, name) for name in world.__dataclass_fields__}, "budget_share": 1.0})
    assert evaluate_policy(np.zeros((1, 1, LOGITS)), prompts, always)["exact"].item() == pytest.approx(2 / 7 / 96)


def test_arms_with_equal_logits_sample_equal_answers():
    _, _, _, answers = draw(arms=3, seeds=2)
    for choice in answers.choices.values():
        assert (choice == choice[:1]).all()


def test_sum_over_an_answer_counts_its_decisions():
    prompts, _, _, answers = draw(seeds=2)
    ones = {family: np.ones(choice.shape) for family, choice in answers.choices.items()}
    counted = sum_over_answer(ones, answers, prompts)
    calling = answers.choices["call"] == 1
    assert (counted[~calling] == 3).all()  # format, call and length
    assert counted.sum() == sum(counted.sum() for counted in answers.counted.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"no_call_share": 1.2}, "no_call_share must lie in"),
        ({"cue_noise": -1.0}, "cue_noise must be finite"),
        ({"budget": (5.0, 1.0)}, "budget must satisfy"),
        ({"calls": (0.5, 0.2)}, "calls must be one to five"),
    ],
)
def test_an_impossible_world_is_refused_by_field(change, message):
    with pytest.raises(ValueError, match=message):
        World(**change)


def test_total_reward_of_an_exact_answer_under_two_scales():
    prompts, _, _, answers = draw(per_seed=200, strength=3.0, world=World(no_call_share=0.0))
    findings = examine_answers(answers, prompts)
    best = [
        answer_rewards(findings, answers, prompts, RewardSpec(schedule=schedule), arm=0).max()
        for schedule in (constant(), equal_max())
    ]
    assert best == [4.0, 2.0]
