"""The drift simulation against its closed forms, and the readings of the five policies."""

import math

import numpy as np
import pytest

from toolrl_core.filter_policies import FilterSettings
from toolrl_core.gradients import logit_gradient_norm
from toolrl_core.simulate.drift import DriftSettings, simulate_drift
from toolrl_core.simulate.drift_exact import (
    batch_advantages,
    exact_void_rate,
    exact_void_share,
    expected_clean_tokens,
    expected_smallest_probability,
    spike_probability,
)
from toolrl_core.simulate.drift_policies import NOTE_SPIKES, note_criterion, policy_reading, policy_readings
from toolrl_core.simulate.void_cost import simulate_void_cost, void_trajectory_share, wasted_turn_share


def test_expected_smallest_probability_by_turn():
    assert expected_smallest_probability().tolist() == pytest.approx([0.6189, 0.4332, 0.3161, 0.2393, 0.1870], abs=5e-5)


def test_void_rate_by_turn():
    rates = exact_void_rate()
    assert rates[:4].tolist() == [0, 0, 0, 0]
    assert rates[4] == pytest.approx(0.16748, abs=5e-6)
    assert exact_void_share() == pytest.approx(0.16748, abs=5e-6)


def test_void_rate_matches_an_expanded_polynomial_for_a_single_count():
    """With n = 2 tokens, base in (1/2, 1), decay in (1/4, 1/2) and turn 2: integrate (2 - 2 tau/d)^2 by hand."""
    settings = DriftSettings(turns=2, tokens=(2, 2), base=(0.5, 1.0), decay=(0.25, 0.5), void_threshold=0.125)
    # tau/d runs from 1/2 to 1/4; where it is below 1/2 the token is sound for sure, so no turn is void.
    assert exact_void_rate(settings).tolist() == pytest.approx([0, 0], abs=1e-15)
    harder = settings.replace(void_threshold=0.25)
    # tau/d runs from 1 down to 1/2: P(sound) = (2 - 1/(2 d))^2; its mean over (1/4, 1/2) is
    # 4 [4 d - 2 ln d - 1/(4 d)] between the bounds = 4 (1 - 2 ln 2 + 1/2) = 6 - 8 ln 2.
    assert exact_void_rate(harder)[1] == pytest.approx(1 - (6 - 8 * math.log(2)), abs=1e-14)


def test_simulation_agrees_with_the_closed_forms():
    batches = [simulate_drift(seed=seed) for seed in range(40)]
    means = np.mean([batch.smallest_probability.mean(axis=0) for batch in batches], axis=0)
    assert np.abs(means - expected_smallest_probability()).max() < 0.003
    rates = np.mean([batch.void_turn.mean(axis=0) for batch in batches], axis=0)
    assert np.abs(rates - exact_void_rate()).max() < 0.006  # standard error 0.0019


def test_closed_forms_hold_where_several_turns_can_be_void():
    settings = DriftSettings(decay=(0.3, 0.7), turns=4, void_threshold=0.1)
    batches = [simulate_drift(settings, seed=seed) for seed in range(40)]
    assert np.abs(np.mean([b.void_turn.mean(axis=0) for b in batches], axis=0) - exact_void_rate(settings)).max() < 0.01
    assert abs(np.mean([1 - b.reward.mean() for b in batches]) - exact_void_share(settings)) < 0.01
    clean = [policy_reading(b, "naive").clean_punished for b in batches]
    standard_error = np.std(clean, ddof=1) / math.sqrt(len(clean))
    assert abs(np.mean(clean) - expected_clean_tokens(settings)) < 4 * standard_error


def test_fixed_base_and_fixed_decay_are_allowed():
    settings = DriftSettings(base=(0.8, 0.8), decay=(0.5, 0.5), void_threshold=0.15)
    assert expected_smallest_probability(settings).tolist() == pytest.approx([0.8, 0.4, 0.2, 0.1, 0.05])
    assert exact_void_rate(settings).tolist() == [0, 0, 0, 1, 1]


def test_same_seed_same_batch_and_another_seed_another():
    first, again, other = (simulate_drift(seed=seed) for seed in (3, 3, 4))
    assert (first.probability == again.probability).all()
    assert not (first.probability == other.probability).all()


def test_norms_are_those_of_the_full_proposition():
    batch = simulate_drift(DriftSettings(trajectories=40, turns=5), seed=0)
    place = np.argwhere(batch.present)[:: max(1, int(batch.present.sum()) // 50)]
    for i, k, t in place:
        probability = batch.probability[i, k, t]
        row = np.full(50, (1 - probability) / 49)
        row[0] = probability
        expected = logit_gradient_norm(
            row, 0, ratio=batch.ratio[i, k, t], advantage=batch.advantage[i], mask_share=1.0, clip=(0.2, 0.2)
        )
        assert batch.norm[i, k, t] == pytest.approx(float(expected), rel=1e-9)


def test_largest_clean_norm_is_half_a_point_and_void_rollouts_push_many_times_harder():
    batch = simulate_drift(seed=0)
    void = batch.first_void >= 0
    clean_norm, void_norm = batch.norm[~void].max(), batch.norm[void].max()
    assert 0.4 < clean_norm < 0.6
    assert void_norm > 5 * clean_norm


def test_reading_of_one_batch_by_hand():
    """Two rollouts of one token a turn, decay fixed: the second turn is void exactly where b < 0.8."""
    settings = DriftSettings(trajectories=50, turns=2, tokens=(1, 1), decay=(0.1, 0.1), void_threshold=0.08)
    batch = simulate_drift(settings, seed=1)
    void = batch.probability[:, 1, 0] < 0.08
    assert (batch.first_void == np.where(void, 1, -1)).all()
    naive, veto = policy_reading(batch, "naive"), policy_reading(batch, "void_veto")
    assert (naive.tokens_kept, naive.clean_punished) == (100, int(void.sum()))
    assert (veto.tokens_kept, veto.clean_punished) == (2 * int((~void).sum()), 0)


def test_expected_advantages_of_a_batch():
    assert batch_advantages(0.5) == pytest.approx((-1.0, 1.0))
    assert batch_advantages(0.2) == pytest.approx((-2.0, 0.5))


def test_spikes_begin_at_the_solved_probability():
    share = exact_void_share()
    edge = spike_probability(share)
    assert edge == pytest.approx(0.0451, abs=5e-5)
    advantage = batch_advantages(share)[0]
    norm = -advantage * 1.5 * math.log(1 / edge) * (1 - edge) * math.sqrt(1 + 1 / 49)
    assert norm == pytest.approx(10.0, abs=1e-9)


def test_high_ratio_mask_leaves_no_spike_by_algebra():
    """The norm is at most |A| · 2 · sqrt(1 + 1/49), below 10 for every advantage above -4.94."""
    readings = policy_readings(seeds=range(20))
    assert readings.of("high_ratio", "spikes").tolist() == [0] * 20
    worst = max(-batch_advantages(share)[0] for share in readings.void_share) * 2 * math.sqrt(50 / 49)
    assert readings.of("high_ratio", "largest_norm").max() <= worst + 1e-9 < 10


def test_probability_mask_removes_exactly_the_tokens_below_its_threshold():
    """Every token below 0.03 is a spike, and stands in turn 5: P(b d^4 < 0.03), integrated by the midpoint rule."""
    readings = policy_readings(seeds=range(60))
    removed = readings.of("naive", "spikes") - readings.of("low_probability", "spikes")
    decay = np.linspace(0.45, 0.95, 200_001)
    rare = np.clip((0.03 / ((decay[:-1] + decay[1:]) / 2) ** 4 - 0.56) / 0.44, 0, 1).mean()
    standard_error = removed.std(ddof=1) / math.sqrt(60)
    assert abs(removed.mean() - 1000 * 7 * rare) < 4 * standard_error
    assert removed.mean() < readings.of("naive", "spikes").mean() / 4


def test_the_notes_spike_counts_lie_within_the_spread_over_seeds():
    readings = policy_readings(seeds=range(60))
    for policy in ("naive", "low_probability"):
        spikes = readings.of(policy, "spikes")
        assert abs(spikes.mean() - NOTE_SPIKES[policy]) < spikes.std(ddof=1)
        assert spikes.std(ddof=1) > 100


def test_stopping_changes_nothing_where_only_the_last_turn_can_be_void():
    readings = policy_readings(seeds=range(5))
    for measure in ("spikes", "largest_norm", "tokens_kept"):
        assert (readings.of("stop_generation", measure) == readings.of("naive", measure)).all()


def test_veto_leaves_no_spike_and_a_largest_norm_of_the_clipped_ratio():
    """With v = 0.167 sound rollouts have advantage sqrt(v / (1 - v)) = 0.4485, times 1.2 and the root below 1.0102."""
    readings = policy_readings(seeds=range(60))
    assert (readings.of("void_veto", "spikes") == 0).all()
    assert readings.of("void_veto", "largest_norm").mean() == pytest.approx(0.4485 * 1.2 * 1.0102 * 0.955, rel=0.02)


def test_stopping_before_the_void_turn_leaves_hardly_a_spike():
    settings = DriftSettings(filters=FilterSettings(keep_void_turn=False))
    spikes = policy_readings(settings, seeds=range(60), policies=["stop_generation"]).of("stop_generation", "spikes")
    assert spikes.min() == 0
    assert 0 < spikes.max() < NOTE_SPIKES["naive"] / 10


def test_a_vocabulary_of_twenty_gives_the_larger_count():
    """An independent program with 19 other tokens found 629 spikes, 156 the deviation over 60 seeds."""
    few = policy_readings(DriftSettings(other_tokens=19), seeds=range(60), policies=["naive"]).of("naive", "spikes")
    assert abs(few.mean() - 629) < 4 * 156 * math.sqrt(2 / 60)


def test_clean_early_tokens_are_punished_until_the_veto():
    readings = policy_readings(seeds=range(60), policies=["naive", "void_veto"])
    punished = readings.of("naive", "clean_punished")
    assert expected_clean_tokens() == pytest.approx(1000 * 0.167481 * 4 * 7, abs=0.1)
    assert abs(punished.mean() - expected_clean_tokens()) < 4 * punished.std(ddof=1) / math.sqrt(60)
    assert (readings.of("void_veto", "clean_punished") == 0).all()


def test_the_notes_criterion_fails_on_the_notes_readings():
    assert NOTE_SPIKES == {"naive": 526, "low_probability": 487, "stop_generation": 13, "high_ratio": 0, "void_veto": 0}
    assert note_criterion(NOTE_SPIKES) == {
        "void_veto = 0": True,
        "void_veto < high_ratio": False,
        "high_ratio < low_probability": True,
        "low_probability <= stop_generation": False,
        "stop_generation <= naive": True,
    }


def test_summary_has_one_row_per_policy_and_measure():
    rows = policy_readings(seeds=[0, 1], policies=["naive", "void_veto"]).summary()
    assert [(row["policy"], row["measure"]) for row in rows[:2]] == [("naive", "spikes"), ("naive", "largest_norm")]
    assert len(rows) == 8
    assert rows[4]["mean"] == rows[4]["std"] == 0


@pytest.mark.parametrize(
    ("rate", "turns", "trajectories", "wasted"),
    [
        (0.05, 5, 0.226219, 0.144876),
        (0.05, 10, 0.401263, 0.253935),
        (0.5, 1, 0.5, 0.5),
        (0.5, 2, 0.75, 2 / 3),
        (0, 5, 0, 0),
    ],
)
def test_void_cost_in_closed_form(rate, turns, trajectories, wasted):
    """For rate 1/2 and two turns: 1 turn wasted w.p. 1/2, 2 w.p. 1/4, of 3/2 turns expected: (1/2 + 1/2) / (3/2)."""
    assert void_trajectory_share(rate, turns) == pytest.approx(trajectories, abs=1e-6)
    assert wasted_turn_share(rate, turns) == pytest.approx(wasted, abs=1e-6)


@pytest.mark.parametrize("turns", [1, 3, 10])
def test_wasted_turns_equal_the_printed_closed_form(turns):
    for rate in (0.01, 0.2, 0.9):
        q = 1 - rate
        printed = (1 - q**turns * (1 + turns * rate)) / (1 - q**turns)
        assert wasted_turn_share(rate, turns) == pytest.approx(printed, abs=1e-12)


def test_simulated_void_cost_agrees_with_the_closed_form():
    cost = simulate_void_cost(0.05, 10, trajectories=200_000, seed=5)
    assert abs(cost.void_trajectories - 0.401263) < 4 * math.sqrt(0.4013 * 0.5987 / 200_000)
    assert abs(cost.wasted_turns - 0.253935) < 0.004
    assert simulate_void_cost(0.05, 10, trajectories=200_000, seed=5) == cost
    assert simulate_void_cost(0, 3, trajectories=10).wasted_turns == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decay": (0.9, 0.4)}, r"decay must satisfy 0 < low <= high <= 1, got \(0.9, 0.4\)"),
        ({"base": (0, 1)}, "base must satisfy"),
        ({"tokens": (0, 3)}, "tokens must satisfy 1 <= fewest <= most"),
        ({"turns": 0}, "turns must be at least 1, got 0"),
        ({"void_threshold": 2}, r"void_threshold must lie in \[0, 1\], got 2"),
        ({"ratio_growth": math.inf}, "ratio_growth must be finite"),
        ({"horizon": 3}, "unknown drift setting 'horizon': choose from trajectories, turns, decay"),
    ],
)
def test_settings_out_of_range_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        DriftSettings().replace(**changes)


def test_other_errors_are_named():
    with pytest.raises(ValueError, match="rate must lie in"):
        void_trajectory_share(1.5, 2)
    with pytest.raises(ValueError, match="turns must be at least 1"):
        wasted_turn_share(0.5, 0)
    with pytest.raises(ValueError, match="trajectories must be at least 1"):
        simulate_void_cost(0.5, 1, trajectories=0)
    with pytest.raises(ValueError, match="give at least one seed"):
        policy_readings(seeds=[])
    with pytest.raises(ValueError, match="void_share must lie strictly between 0 and 1"):
        batch_advantages(0)
    readings = policy_readings(seeds=[0], policies=["naive"])
    with pytest.raises(ValueError, match="unknown measure 'peaks': choose from spikes"):
        readings.of("naive", "peaks")
    with pytest.raises(ValueError, match="unknown policy 'void_veto': choose from naive"):
        readings.of("void_veto", "spikes")


def test_a_rate_of_void_turns_is_a_probability_whatever_the_rounding():
    # Here the rate of the first turns is 0, and one minus the quadrature is -2e-16.
    rates = exact_void_rate(DriftSettings(decay=(0.3, 0.95), base=(0.5, 1.0), void_threshold=0.02))
    assert rates.min() == 0
    assert ((rates >= 0) & (rates <= 1)).all()
