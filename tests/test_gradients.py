"""The surprise norm, the clip's gates and proposition 3.1, against hand arithmetic and finite differences."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolrl_core.gradients import (
    DistributionError,
    SampledTokenError,
    clip_gate,
    logit_gradient,
    logit_gradient_norm,
    policy_gradient_logits,
    surprise_norm,
    surprise_norm_naive,
    surrogate,
    surrogate_of_logits,
)

SHARP = [0.999, 0.001]


def exact_norm(probabilities: list[float], sampled: int) -> float:
    """Compute the norm with rational arithmetic from the probabilities of all tokens but the sampled one."""
    others = [Fraction(p) for j, p in enumerate(probabilities) if j != sampled]
    square = sum(others) ** 2 + sum(p * p for p in others)
    with localcontext() as context:
        context.prec = 60
        return float((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def random_distribution(rng: np.random.Generator) -> tuple[np.ndarray, int]:
    size = int(rng.integers(2, 61))
    logits = rng.normal(0, rng.choice([0.1, 1.0, 10.0, 30.0]), size)
    weights = np.exp(logits - logits.max())
    return weights / weights.sum(), int(rng.integers(size))


@pytest.mark.parametrize(
    ("probabilities", "sampled", "expected"),
    [
        (SHARP, 1, 0.999 * math.sqrt(2)),
        (SHARP, 0, 0.001 * math.sqrt(2)),
        ([0.3, 0.7], 0, 0.7 * math.sqrt(2)),
        ([0.1] * 10, 3, math.sqrt(0.9)),
        ([0.01] * 100, 7, math.sqrt(0.99)),
        ([1.0, 0.0, 0.0], 0, 0.0),
        ([1.0, 0.0, 0.0], 2, math.sqrt(2)),
        ([0.0, 0.25, 0.25, 0.25, 0.25], 0, math.sqrt(1.25)),
        ([1.0], 0, 0.0),
    ],
)
def test_surprise_norm_matches_hand_arithmetic(probabilities, sampled, expected):
    assert float(surprise_norm(probabilities, sampled)) == pytest.approx(expected, abs=1e-15)


def test_printed_values_of_the_sharp_distribution():
    tail, mode = float(surprise_norm(SHARP, 1)), float(surprise_norm(SHARP, 0))
    assert f"{tail:.6f}" == "1.412799"
    assert f"{mode:.6f}" == "0.001414"
    assert tail / mode == pytest.approx(999, abs=1e-9)


def test_norm_is_not_monotone_in_the_sampled_probability_alone():
    likelier, rarer = surprise_norm([0.3, 0.7], 0), surprise_norm([0.1] * 10, 0)
    assert (round(float(likelier), 4), round(float(rarer), 4)) == (0.9899, 0.9487)
    assert likelier > rarer


def test_impossible_token_of_a_uniform_vocabulary_is_near_one_not_root_two():
    assert f"{float(surprise_norm([0.01] * 100, 0)):.3f}" == "0.995"


def test_stable_form_agrees_with_exact_fractions_to_double_precision():
    rng = np.random.default_rng(0)
    worst_relative = 0.0
    for _ in range(2000):
        probabilities, sampled = random_distribution(rng)
        exact = exact_norm(probabilities.tolist(), sampled)
        if exact:
            error = abs(float(surprise_norm(probabilities, sampled)) - exact) / exact
            worst_relative = max(worst_relative, error)
    assert worst_relative < 2e-15


def test_printed_form_loses_half_the_digits_near_certainty():
    almost_sure = [1 - 1e-9, 1e-9]
    assert float(surprise_norm(almost_sure, 0)) == pytest.approx(math.sqrt(2) * 1e-9, rel=1e-12)
    assert abs(float(surprise_norm_naive(almost_sure, 0)) - math.sqrt(2) * 1e-9) > 1e-10


def test_tiny_rest_does_not_underflow():
    assert float(surprise_norm([1.0, 1e-200], 0)) == pytest.approx(math.sqrt(2) * 1e-200, rel=1e-14)


def test_both_forms_agree_away_from_certainty():
    rng = np.random.default_rng(1)
    probabilities = rng.dirichlet(np.ones(8), size=500)
    sampled = probabilities.argmin(axis=-1)
    assert np.abs(surprise_norm(probabilities, sampled) - surprise_norm_naive(probabilities, sampled)).max() < 1e-14


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any), st.data())
def test_norm_stays_between_zero_and_root_two(weights, data):
    probabilities = [w / sum(weights) for w in weights]
    sampled = data.draw(st.integers(0, len(weights) - 1))
    assert 0 <= float(surprise_norm(probabilities, sampled)) <= math.sqrt(2) * (1 + 1e-15)


@given(st.integers(2, 40), st.integers(1, 10_000))
def test_with_the_shape_fixed_a_rarer_token_pushes_harder(others, step):
    """Scaling the others' shares up and down, their proportions fixed, the norm falls as P(c) rises."""
    shape = np.arange(1, others + 1) / np.arange(1, others + 1).sum()
    rarer, likelier = step / 20_001, (step + 1) / 20_001
    norms = [float(surprise_norm([p, *((1 - p) * shape)], 0)) for p in (rarer, likelier)]
    assert norms[0] > norms[1]


def test_batches_of_any_shape_give_one_norm_per_row():
    rows = np.tile(np.array(SHARP), (3, 4, 1))
    norms = surprise_norm(rows, np.ones((3, 4), dtype=int))
    assert norms.shape == (3, 4)
    assert norms[2, 3] == pytest.approx(0.999 * math.sqrt(2))


def test_gradient_of_the_log_probability_is_indicator_minus_probabilities():
    assert policy_gradient_logits([0.2, 0.3, 0.5], 2).tolist() == pytest.approx([-0.2, -0.3, 0.5])


def test_gradient_length_equals_the_surprise_norm():
    rng = np.random.default_rng(2)
    probabilities = rng.dirichlet(np.full(6, 0.3), size=50)
    sampled = rng.integers(0, 6, 50)
    lengths = np.linalg.norm(policy_gradient_logits(probabilities, sampled), axis=-1)
    assert np.abs(lengths - surprise_norm(probabilities, sampled)).max() < 1e-14


@pytest.mark.parametrize("advantage", [-1.7, 0.8])
@pytest.mark.parametrize("old", [0.02, 0.1, 0.19, 0.4, 0.9])
@pytest.mark.parametrize("dual_clip", [None, 3.0])
def test_logit_gradient_matches_finite_differences(advantage, old, dual_clip):
    logits = np.array([0.3, -1.2, 0.9, 0.0])
    weights = np.exp(logits)
    probabilities = weights / weights.sum()
    options = {"advantage": advantage, "mask_share": 0.25, "clip": (0.2, 0.28), "dual_clip": dual_clip}
    step, numeric = 1e-6, []
    for j in range(4):
        up, down = logits.copy(), logits.copy()
        up[j] += step
        down[j] -= step
        ends = [float(surrogate_of_logits(z, 0, old_probability=old, **options)) for z in (up, down)]
        numeric.append((ends[0] - ends[1]) / (2 * step))
    ratio = probabilities[0] / old
    assert logit_gradient(probabilities, 0, ratio=ratio, **options).tolist() == pytest.approx(numeric, abs=1e-8)
    norm = float(logit_gradient_norm(probabilities, 0, ratio=ratio, **options))
    assert norm == pytest.approx(math.hypot(*numeric), abs=1e-8)


def test_full_proposition_multiplies_its_five_factors():
    norm = logit_gradient_norm([0.3, 0.7], 0, ratio=1.5, advantage=-2.0, mask_share=0.1)
    assert float(norm) == pytest.approx(0.1 * 1.5 * 2.0 * 0.7 * math.sqrt(2))


def test_ratio_of_ten_passes_for_a_bad_token_and_stops_for_a_good_one():
    norms = logit_gradient_norm([[0.001, 0.999]] * 2, [0, 0], ratio=10.0, advantage=[1.0, -1.0])
    assert norms.tolist() == pytest.approx([0.0, 10 * 0.999 * math.sqrt(2)])


@pytest.mark.parametrize(
    ("ratio", "advantage", "dual_clip", "is_open"),
    [
        (1.21, 1.0, None, False),
        (1.19, 1.0, None, True),
        (0.01, 1.0, None, True),
        (0.79, -1.0, None, False),
        (0.81, -1.0, None, True),
        (1000.0, -1.0, None, True),
        (2.9, -1.0, 3.0, True),
        (3.1, -1.0, 3.0, False),
        (3.1, 1.0, 3.0, False),
        (0.5, 0.0, None, True),
    ],
)
def test_clip_gate_closes_on_the_side_that_the_sign_decides(ratio, advantage, dual_clip, is_open):
    assert bool(clip_gate(ratio, advantage, dual_clip=dual_clip)) is is_open


def test_high_clip_width_moves_only_the_positive_side():
    assert clip_gate([1.25, 1.25], [1.0, -1.0], clip=(0.2, 0.28)).tolist() == [True, True]
    assert clip_gate([1.25, 1.25], [1.0, -1.0], clip=(0.2, 0.2)).tolist() == [False, True]


@pytest.mark.parametrize(
    ("ratio", "advantage", "dual_clip", "expected"),
    [
        (10.0, 1.0, None, 1.2),
        (10.0, -1.0, None, -10.0),
        (10.0, -1.0, 3.0, -3.0),
        (0.5, 1.0, None, 0.5),
        (0.5, -1.0, None, -0.8),
        (1.1, -2.0, 3.0, -2.2),
    ],
)
def test_surrogate_takes_the_smaller_of_free_and_clipped(ratio, advantage, dual_clip, expected):
    assert float(surrogate(ratio, advantage, dual_clip=dual_clip)) == pytest.approx(expected)


@given(st.floats(0.01, 20), st.floats(-3, 3), st.sampled_from([None, 1.5, 3.0]))
def test_gate_is_open_exactly_where_the_surrogate_has_a_slope(ratio, advantage, dual_clip):
    kinks = [0.8, 1.2, dual_clip or 0.8]
    if abs(advantage) < 1e-3 or min(abs(ratio - k) for k in kinks) < 1e-4:
        return
    ends = surrogate([ratio + 1e-6, ratio - 1e-6], advantage, dual_clip=dual_clip)
    has_slope = abs(float(ends[0] - ends[1])) > 1e-12
    assert bool(clip_gate(ratio, advantage, dual_clip=dual_clip)) is has_slope


@pytest.mark.parametrize(
    ("probabilities", "sampled", "error", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.2]], [0, 0], DistributionError, r"row 1: probabilities sum to 0\.7, not to 1"),
        ([[0.5, 0.5], [1.5, -0.5]], [0, 0], DistributionError, "row 1: probability -0.5 of token 1"),
        ([[0.5, math.nan]], [0], DistributionError, "row 0: probability nan of token 1"),
        ([[[1.0, 0.0], [0.9, 0.0]]], [[0, 0]], DistributionError, "row 0, 1: probabilities sum to 0.9"),
        (0.5, 0, DistributionError, "vocabulary axis"),
        ([[0.5, 0.5], [0.5, 0.5]], [0, 2], SampledTokenError, "row 1: sampled token 2 is outside the vocabulary 0..1"),
        ([0.5, 0.5], -1, SampledTokenError, "row 0: sampled token -1"),
        ([0.5, 0.5], 0.0, SampledTokenError, "integer token indices, got dtype float64"),
        ([0.5, 0.5], [0], SampledTokenError, r"sampled has shape \(1,\), the rows of the distribution have \(\)"),
    ],
)
def test_bad_rows_are_named(probabilities, sampled, error, message):
    with pytest.raises(error, match=message):
        surprise_norm(probabilities, sampled)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clip": (-0.1, 0.2)}, "clip must be"),
        ({"clip": (0.2, math.inf)}, "clip must be"),
        ({"dual_clip": 1.0}, "dual_clip must be None or larger than 1, got 1.0"),
        ({"ratio": -1.0}, "ratio must be finite and not negative"),
        ({"mask_share": 1.5}, r"mask_share must lie in \[0, 1\], got 1.5"),
    ],
)
def test_options_out_of_range_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        logit_gradient_norm([0.5, 0.5], 0, **{"ratio": 1.0, "advantage": 1.0, **options})


def test_old_probability_of_zero_is_refused():
    with pytest.raises(ValueError, match=r"old_probability must lie in \(0, 1\]"):
        surrogate_of_logits([0.0, 0.0], 0, old_probability=0.0, advantage=1.0)
