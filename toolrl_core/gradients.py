"""How hard one sampled token pushes on the logits: SimpleTIR's proposition 3.1, term by term."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from toolrl_core.clipping import clip_gate, surrogate
from toolrl_core.distributions import DistributionError, SampledTokenError, checked_rows, checked_tokens

__all__ = [
    "DistributionError",
    "SampledTokenError",
    "clip_gate",
    "logit_gradient",
    "logit_gradient_norm",
    "policy_gradient_logits",
    "surprise_norm",
    "surprise_norm_naive",
    "surrogate",
    "surrogate_of_logits",
]

FloatArray: TypeAlias = NDArray[np.float64]


def surprise_norm(probabilities: ArrayLike, sampled: ArrayLike) -> FloatArray:
    r"""Measure how unlike the distribution the sampled token is: the length of ``e_c - P``.

    .. math:: \lVert e_c - P \rVert_2 = \sqrt{r^2 + \sum_{j \ne c} P(j)^2}, \qquad r = \sum_{j \ne c} P(j)

    Parameters
    ----------
    probabilities : array_like of float, shape (..., vocabulary)
        One distribution over the vocabulary per row.
    sampled : array_like of int, shape (...)
        Index of the sampled token of each row.

    Returns
    -------
    ndarray of float, shape (...)
        The surprise norm of each row, in [0, sqrt(2)]; a NumPy scalar for a single row.

    Raises
    ------
    DistributionError
        A row is negative somewhere, not finite, or does not sum to 1; the message names the row.
    SampledTokenError
        A sampled index is not an integer in [0, vocabulary); the message names the row.

    Notes
    -----
    SimpleTIR note §3.2 and §6.2; arXiv 2509.02479, proposition 3.1, where the same length is written
    :math:`\sqrt{1 - 2P(c) + \sum_j P(j)^2}` (:func:`surprise_norm_naive`). That form subtracts numbers close to 1
    under a root when ``P(c)`` is close to 1; this one only adds, so it keeps full double precision.

    The norm is not a function of ``P(c)`` alone: how the rest is spread matters as well.

    Examples
    --------
    In one sharp distribution the tail token pushes 999 times as hard as the mode:

    >>> tail, mode = surprise_norm([[0.999, 0.001], [0.999, 0.001]], [1, 0])
    >>> round(float(tail / mode), 6)
    999.0

    The *rarer* token can push less: probability 0.3 against one rival, 0.1 against nine equal ones.

    >>> round(float(surprise_norm([0.3, 0.7], 0)), 4), round(float(surprise_norm([0.1] * 10, 0)), 4)
    (0.9899, 0.9487)
    """
    distribution, index = checked_rows(probabilities, sampled)
    others = distribution.copy()
    np.put_along_axis(others, index[..., None], 0.0, axis=-1)
    rest = others.sum(axis=-1)
    # Dividing by the rest keeps squares of tiny probabilities from vanishing (1e-200 squared is 0 in floating point).
    shares = np.divide(others, rest[..., None], out=np.zeros_like(others), where=rest[..., None] > 0)
    return _unwrap(rest * np.sqrt(1.0 + (shares * shares).sum(axis=-1)))


def surprise_norm_naive(probabilities: ArrayLike, sampled: ArrayLike) -> FloatArray:
    r"""Evaluate the surprise norm as printed, cancellation and all, for comparison.

    .. math:: \sqrt{1 - 2 P(c) + \sum_j P(j)^2}

    Parameters
    ----------
    probabilities : array_like of float, shape (..., vocabulary)
        One distribution over the vocabulary per row.
    sampled : array_like of int, shape (...)
        Index of the sampled token of each row.

    Returns
    -------
    ndarray of float, shape (...)
        The same quantity as :func:`surprise_norm`, up to rounding; a radicand below 0 gives 0.

    Raises
    ------
    DistributionError, SampledTokenError
        As :func:`surprise_norm`.

    Notes
    -----
    SimpleTIR note §3.2, last equation. Rounding of size 1e-16 under the root becomes 1e-8 after it, which is why the
    note had to loosen its own criterion P1 from 1e-9 to 1e-6 (§10.3).

    Examples
    --------
    >>> almost_sure = [1 - 1e-9, 1e-9]
    >>> f'{surprise_norm_naive(almost_sure, 0):.3e}', f'{surprise_norm(almost_sure, 0):.3e}'
    ('0.000e+00', '1.414e-09')
    """
    distribution, index = checked_rows(probabilities, sampled)
    chosen = np.take_along_axis(distribution, index[..., None], axis=-1)[..., 0]
    radicand = 1.0 - 2.0 * chosen + (distribution * distribution).sum(axis=-1)
    return _unwrap(np.sqrt(np.maximum(radicand, 0.0)))


def policy_gradient_logits(probabilities: ArrayLike, sampled: ArrayLike) -> FloatArray:
    r"""Differentiate the log-probability of the sampled token by the logits: the indicator minus the probabilities.

    .. math:: \nabla_z \log P(c) = e_c - P

    Parameters
    ----------
    probabilities : array_like of float, shape (..., vocabulary)
        One distribution over the vocabulary per row.
    sampled : array_like of int, shape (...)
        Index of the sampled token of each row.

    Returns
    -------
    ndarray of float, shape (..., vocabulary)
        The gradient. Its entries sum to 0 in every row.

    Raises
    ------
    DistributionError, SampledTokenError
        As :func:`surprise_norm`.

    Notes
    -----
    SimpleTIR note §3.3. The entry of the sampled token is computed as the sum of all other probabilities.

    Examples
    --------
    >>> policy_gradient_logits([0.5, 0.25, 0.25], 1).tolist()
    [-0.5, 0.75, -0.25]
    """
    distribution, index = checked_rows(probabilities, sampled)
    gradient = -distribution
    np.put_along_axis(gradient, index[..., None], 0.0, axis=-1)
    np.put_along_axis(gradient, index[..., None], -gradient.sum(axis=-1)[..., None], axis=-1)
    return gradient


def logit_gradient(
    probabilities: ArrayLike,
    sampled: ArrayLike,
    *,
    ratio: ArrayLike,
    advantage: ArrayLike,
    mask_share: ArrayLike = 1.0,
    clip: tuple[float, float] = (0.2, 0.2),
    dual_clip: float | None = None,
) -> FloatArray:
    r"""Differentiate the objective by the logits of one token position.

    .. math:: \nabla_z J = \frac{m}{\sum m}\, g\, \rho\, A\, (e_c - P)

    Parameters
    ----------
    probabilities : array_like of float, shape (..., vocabulary)
        Current distribution at each position.
    sampled : array_like of int, shape (...)
        Index of the sampled token at each position.
    ratio, advantage, mask_share, clip, dual_clip
        As :func:`logit_gradient_norm`.

    Returns
    -------
    ndarray of float, shape (..., vocabulary)
        Direction in which an ascent step moves the logits.

    Raises
    ------
    DistributionError, SampledTokenError, ValueError
        As :func:`logit_gradient_norm`.

    Notes
    -----
    SimpleTIR note §6.2, first step. The note calls this a first-order term; it is the exact derivative, because the
    ratio is itself proportional to P(c). The note's minus sign belongs to the loss, not to the objective.

    Examples
    --------
    >>> logit_gradient([0.5, 0.5], 0, ratio=1.0, advantage=-2.0).tolist()
    [-1.0, 1.0]
    """
    factor = _factor(ratio, advantage, mask_share, clip, dual_clip)
    gradient: FloatArray = factor[..., None] * policy_gradient_logits(probabilities, sampled)
    return gradient


def logit_gradient_norm(
    probabilities: ArrayLike,
    sampled: ArrayLike,
    *,
    ratio: ArrayLike,
    advantage: ArrayLike,
    mask_share: ArrayLike = 1.0,
    clip: tuple[float, float] = (0.2, 0.2),
    dual_clip: float | None = None,
) -> FloatArray:
    r"""Measure how hard one token pushes on its logits: proposition 3.1 in full.

    .. math:: \lVert \nabla_z J \rVert_2 = \frac{m}{\sum m} \cdot \rho \cdot g \cdot |A| \cdot \lVert e_c - P \rVert_2

    Parameters
    ----------
    probabilities : array_like of float, shape (..., vocabulary)
        Current distribution at each position.
    sampled : array_like of int, shape (...)
        Index of the sampled token at each position.
    ratio : array_like of float, shape (...)
        Importance ratio rho: new over old probability of the sampled token, not negative.
    advantage : array_like of float, shape (...)
        Advantage A of the token.
    mask_share : array_like of float, shape (...), default 1.0
        m / sum of m over the trajectory: 0 for masked tokens, else one over the number of trained tokens.
    clip : tuple of (low, high), default (0.2, 0.2)
        Widths of the clip range below and above 1.
    dual_clip : float or None, default None
        Ratio above which a negative advantage is closed as well.

    Returns
    -------
    ndarray of float, shape (...)
        Length of the gradient of the objective by the logits, one per position.

    Raises
    ------
    DistributionError, SampledTokenError
        As :func:`surprise_norm`.
    ValueError
        `clip` or `dual_clip` is out of range, a ratio is negative, or a mask share is outside [0, 1].

    Notes
    -----
    SimpleTIR note §6.2; arXiv 2509.02479, proposition 3.1 (equation 3). This is the norm for one trajectory: equation
    (1) averages over G of them, so the whole objective carries a further 1/G that the printed norm leaves out. The
    gate is :func:`clip_gate`.

    Examples
    --------
    Old probability 1e-4, new 1e-3: a ratio of 10 is stopped for a good token and passes for a bad one.

    >>> rare = [0.001, 0.999]
    >>> good, bad = logit_gradient_norm([rare, rare], [0, 0], ratio=10.0, advantage=[1.0, -1.0])
    >>> float(good), round(float(bad), 3)
    (0.0, 14.128)
    """
    factor = np.abs(_factor(ratio, advantage, mask_share, clip, dual_clip))
    return _unwrap(np.asarray(factor * surprise_norm(probabilities, sampled)))


def surrogate_of_logits(
    logits: ArrayLike,
    sampled: ArrayLike,
    *,
    old_probability: ArrayLike,
    advantage: ArrayLike,
    mask_share: ArrayLike = 1.0,
    clip: tuple[float, float] = (0.2, 0.2),
    dual_clip: float | None = None,
) -> FloatArray:
    """Evaluate the objective as a function of the logits, so that finite differences can check the gradient.

    Parameters
    ----------
    logits : array_like of float, shape (..., vocabulary)
        Scores before the softmax.
    sampled : array_like of int, shape (...)
        Index of the sampled token of each row.
    old_probability : array_like of float, shape (...)
        Probability of the sampled token under the policy that sampled it, in (0, 1].
    advantage, mask_share, clip, dual_clip
        As :func:`logit_gradient_norm`.

    Returns
    -------
    ndarray of float, shape (...)
        Mask share times the clipped surrogate at ratio = softmax(logits)[sampled] / old_probability.

    Raises
    ------
    SampledTokenError, ValueError
        As :func:`logit_gradient_norm`; also an old probability outside (0, 1].

    Notes
    -----
    SimpleTIR note §6.1 and §6.2: the objective whose gradient proposition 3.1 measures.

    Examples
    --------
    >>> float(surrogate_of_logits([0.0, 0.0], 0, old_probability=0.5, advantage=3.0))
    3.0
    """
    scores = np.asarray(logits, dtype=np.float64)
    if scores.ndim == 0 or scores.shape[-1] == 0 or not np.isfinite(scores).all():
        raise ValueError(f"logits must be finite with a vocabulary axis, got shape {scores.shape}")
    old = np.asarray(old_probability, dtype=np.float64)
    if not ((old > 0) & (old <= 1)).all():
        raise ValueError(f"old_probability must lie in (0, 1], got {old.tolist()}")
    index = checked_tokens(sampled, scores.shape)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    log_probability = np.take_along_axis(shifted, index[..., None], axis=-1)[..., 0] - np.log(
        np.exp(shifted).sum(axis=-1)
    )
    value = surrogate(np.exp(log_probability) / old, advantage, clip=clip, dual_clip=dual_clip)
    return _unwrap(np.asarray(np.asarray(mask_share, dtype=np.float64) * value))


def _factor(
    ratio: ArrayLike,
    advantage: ArrayLike,
    mask_share: ArrayLike,
    clip: tuple[float, float],
    dual_clip: float | None,
) -> FloatArray:
    """Multiply mask share, gate, ratio and advantage: everything in front of ``e_c - P``."""
    rho, adv = np.asarray(ratio, dtype=np.float64), np.asarray(advantage, dtype=np.float64)
    share = np.asarray(mask_share, dtype=np.float64)
    if not ((rho >= 0) & np.isfinite(rho)).all():
        raise ValueError(f"ratio must be finite and not negative, got {rho.tolist()}")
    if not ((share >= 0) & (share <= 1)).all():
        raise ValueError(f"mask_share must lie in [0, 1], got {share.tolist()}")
    return np.asarray(share * clip_gate(rho, adv, clip=clip, dual_clip=dual_clip) * rho * adv, dtype=np.float64)


def _unwrap(values: FloatArray) -> FloatArray:
    """Turn a zero-dimensional array into a NumPy scalar, and leave every other array as it is."""
    result: FloatArray = values[()]
    return result
