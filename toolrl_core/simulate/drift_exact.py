"""Closed forms of the drift simulation: smallest probability and void rate by turn, without a random number."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from toolrl_core.simulate.drift import DriftSettings

__all__ = [
    "batch_advantages",
    "exact_void_rate",
    "exact_void_share",
    "expected_clean_tokens",
    "expected_smallest_probability",
    "spike_probability",
]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def expected_smallest_probability(settings: DriftSettings | None = None) -> NDArray[np.float64]:
    r"""Compute the expected smallest token probability of every turn.

    .. math:: \Bigl(a + (b - a)\, \mathrm{mean}_n \tfrac{1}{n + 1}\Bigr) \cdot
              \frac{h^t - l^t}{t\, (h - l)}

    for base probabilities in (a, b), decay in (l, h), turn t counted from 1, and n tokens in a turn.

    Parameters
    ----------
    settings : DriftSettings, optional
        The assumptions of the simulation.

    Returns
    -------
    ndarray of float, shape (turns,)
        Expectation by turn.

    Notes
    -----
    SimpleTIR note §10.3 (P3) prints simulated means 0.620, 0.431, 0.317, 0.245, 0.188. The smallest of n uniform
    numbers in (a, b) has mean a + (b - a)/(n + 1), and it is independent of the decay. The fall from turn to turn is a
    theorem, not a finding: decay below 1 multiplies.

    Examples
    --------
    >>> expected_smallest_probability().round(4).tolist()
    [0.6189, 0.4332, 0.3161, 0.2393, 0.187]
    """
    s = settings or DriftSettings()
    counts = np.arange(s.tokens[0], s.tokens[1] + 1)
    low, high = s.base
    smallest = low + (high - low) * float(np.mean(1.0 / (counts + 1)))
    return smallest * np.array([_mean_over_decay(s, partial(_decayed, t)) for t in range(s.turns)])


def exact_void_rate(settings: DriftSettings | None = None) -> NDArray[np.float64]:
    r"""Compute the probability that a turn is void, for every turn.

    .. math:: 1 - \mathrm{mean}_n\, \frac{1}{h - l} \int_l^h
              \Bigl(\mathrm{clip}\bigl(\tfrac{b - \tau\, d^{1 - t}}{b - a}, 0, 1\bigr)\Bigr)^n \mathrm{d}d

    Parameters
    ----------
    settings : DriftSettings, optional
        The assumptions of the simulation.

    Returns
    -------
    ndarray of float, shape (turns,)
        Void rate by turn.

    Notes
    -----
    SimpleTIR note §10.3 (P3) prints 0, 0, 0, 0 and 16.2 % from one simulation. A turn can be void only if the smallest
    possible probability a · l^(t-1) is below the threshold, which is why the first four rates are exactly 0. The
    integral is a polynomial in a power of d between two bounds; Gauss-Legendre quadrature gives it to full precision.

    Examples
    --------
    >>> (100 * exact_void_rate()).round(3).tolist()
    [0.0, 0.0, 0.0, 0.0, 16.748]
    """
    s = settings or DriftSettings()
    sound = [_mean_over_decay(s, partial(_sound_turn, s, t)) for t in range(s.turns)]
    return np.clip(1.0 - np.array(sound), 0.0, 1.0)


def exact_void_share(settings: DriftSettings | None = None) -> float:
    """Compute the share of rollouts with a void turn.

    Parameters
    ----------
    settings : DriftSettings, optional
        The assumptions of the simulation.

    Returns
    -------
    float
        Probability that at least one turn is void. Turns of one rollout share its decay, so this is not a product.

    Notes
    -----
    SimpleTIR note §10.2 (P4): this share decides how negative the advantage of a void rollout is.

    Examples
    --------
    >>> round(exact_void_share(), 5)
    0.16748
    """
    s = settings or DriftSettings()

    def sound_rollout(decay: NDArray[np.float64]) -> NDArray[np.float64]:
        product: NDArray[np.float64] = np.prod([_sound_turn(s, t, decay) for t in range(s.turns)], axis=0)
        return product

    return 1.0 - _mean_over_decay(s, sound_rollout)


def expected_clean_tokens(settings: DriftSettings | None = None) -> float:
    """Compute the expected number of tokens in the turns before the first void turn of void rollouts.

    Parameters
    ----------
    settings : DriftSettings, optional
        The assumptions of the simulation.

    Returns
    -------
    float
        Tokens of a batch that did nothing wrong and carry a negative advantage without the veto.

    Notes
    -----
    SimpleTIR note P6 (§10.3) counts 4641 of them in one simulated batch, and 0 after the veto, which is true by
    construction: the veto masks whole rollouts.

    Examples
    --------
    >>> round(expected_clean_tokens(), 1)
    4689.4
    """
    s = settings or DriftSettings()

    def before_first_void(decay: NDArray[np.float64]) -> NDArray[np.float64]:
        total, reached, clean = np.zeros_like(decay), np.ones_like(decay), np.zeros_like(decay)
        for t in range(s.turns):
            sound, tokens = _sound(s, decay, t)
            total += reached * (1.0 - sound) * clean
            reached = reached * sound
            clean = clean + np.divide(tokens, sound, out=np.zeros_like(decay), where=sound > 0)
        return total

    return s.trajectories * _mean_over_decay(s, before_first_void)


def batch_advantages(void_share: float) -> tuple[float, float]:
    r"""Compute the advantages of void and of sound rollouts, the whole batch being one group with rewards 0 and 1.

    .. math:: A_{void} = -\sqrt{\tfrac{1 - v}{v}}, \qquad A_{sound} = \sqrt{\tfrac{v}{1 - v}}

    Parameters
    ----------
    void_share : float
        Share v of void rollouts, strictly between 0 and 1.

    Returns
    -------
    void, sound : float
        The two advantages (population standard deviation, no eta).

    Raises
    ------
    ValueError
        The share is not strictly between 0 and 1: there is then nothing to compare.

    Notes
    -----
    SimpleTIR note §10.2 (P4). The rarer void turns are, the harder each of their tokens pushes.

    Examples
    --------
    >>> [round(advantage, 3) for advantage in batch_advantages(0.01)]
    [-9.95, 0.101]
    """
    if not 0 < void_share < 1:
        raise ValueError(f"void_share must lie strictly between 0 and 1, got {void_share}")
    odds = void_share / (1.0 - void_share)
    return -1.0 / math.sqrt(odds), math.sqrt(odds)


def spike_probability(void_share: float, settings: DriftSettings | None = None) -> float:
    r"""Compute the token probability below which a token of a void rollout is a spike.

    .. math:: |A_{void}| \cdot g \ln\tfrac{1}{P} \cdot (1 - P) \sqrt{1 + \tfrac{1}{o}} = \text{spike}

    Parameters
    ----------
    void_share : float
        Share of void rollouts in the batch, strictly between 0 and 1.
    settings : DriftSettings, optional
        Growth g of the ratio, number o of other tokens and spike threshold.

    Returns
    -------
    float
        The solution P of the equation, found by bisection (the left side falls as P rises).

    Raises
    ------
    ValueError
        The share is not strictly between 0 and 1.

    Notes
    -----
    SimpleTIR note §10.3 (P4). A probability mask below this value leaves spikes, one above it leaves none: what the
    low-probability policy removes is decided by its threshold alone. Tokens below 1/e^(1/g) only are considered, where
    the ratio exceeds 1.

    Examples
    --------
    With the default settings a mask at 0.03 must leave spikes, because they begin below 0.0451:

    >>> round(spike_probability(exact_void_share()), 4)
    0.0451
    """
    s = settings or DriftSettings()
    scale = -batch_advantages(void_share)[0] * math.sqrt(1.0 + 1.0 / s.other_tokens)
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle == 0.0:
            break
        ratio = max(1.0, -s.ratio_growth * math.log(middle))
        if scale * ratio * (1.0 - middle) > s.spike:
            low = middle
        else:
            high = middle
    return low


def _decayed(turn: int, decay: NDArray[np.float64]) -> NDArray[np.float64]:
    return decay**turn


def _sound_turn(s: DriftSettings, turn: int, decay: NDArray[np.float64]) -> NDArray[np.float64]:
    return _sound(s, decay, turn)[0]


def _sound(s: DriftSettings, decay: NDArray[np.float64], turn: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, given the decay, the probability that a turn is not void, and the expected tokens of such a turn."""
    low, high = s.base
    needed = s.void_threshold / decay**turn
    spread = high - low
    token = np.clip((high - needed) / spread, 0.0, 1.0) if spread > 0 else (needed <= low).astype(np.float64)
    counts = np.arange(s.tokens[0], s.tokens[1] + 1)
    powers = token[..., None] ** counts
    return powers.mean(axis=-1), (counts * powers).mean(axis=-1)


def _mean_over_decay(s: DriftSettings, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    """Integrate a piecewise polynomial of the decay exactly, piece by piece, and divide by the range."""
    low, high = s.decay
    if high == low:
        return float(function(np.array([low]))[0])
    bounds = {(s.void_threshold / edge) ** (1.0 / t) for edge in s.base for t in range(1, s.turns)}
    edges = [low, *sorted(bound for bound in bounds if low < bound < high), high]
    total = 0.0
    for left, right in pairwise(edges):
        half = 0.5 * (right - left)
        total += half * float(_WEIGHTS @ function(left + half * (_NODES + 1.0)))
    return total / (high - low)
