"""The clip of the policy gradient: what the objective is worth, and which side of it stays open."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["clip_gate", "surrogate"]


def surrogate(
    ratio: ArrayLike,
    advantage: ArrayLike,
    *,
    clip: tuple[float, float] = (0.2, 0.2),
    dual_clip: float | None = None,
) -> NDArray[np.float64]:
    r"""Evaluate the clipped surrogate objective of one token.

    .. math:: L = \min\bigl(\rho A,\ \mathrm{clip}(\rho, 1 - \epsilon_{low}, 1 + \epsilon_{high})\, A\bigr),
              \qquad A < 0:\ L \leftarrow \max(L, c A)\ \text{with dual clip}\ c

    Parameters
    ----------
    ratio : array_like of float, shape (...)
        Importance ratio: new over old probability of the sampled token.
    advantage : array_like of float, shape (...)
        Advantage of the token; broadcasts against `ratio`.
    clip : tuple of (low, high), default (0.2, 0.2)
        Widths of the clip range below and above 1.
    dual_clip : float or None, default None
        Largest ratio that a negative advantage is multiplied by; None leaves it unbounded.

    Returns
    -------
    ndarray of float, shape (...)
        Value of the objective, to be maximised.

    Raises
    ------
    ValueError
        `clip` or `dual_clip` is out of range; the message names the value.

    Notes
    -----
    SimpleTIR note §6.1, equation (2) of arXiv 2509.02479. The released trainer uses ``dual_clip=3.0``
    (ltzheng/SimpleTIR@e7b5b44, core_algos.py L311-315), which the note does not mention.

    Examples
    --------
    The minimum bounds the gain of a good token, and leaves the loss of a bad one unbounded:

    >>> surrogate([10.0, 10.0], [1.0, -1.0]).tolist()
    [1.2, -10.0]
    >>> float(surrogate(10.0, -1.0, dual_clip=3.0))
    -3.0
    """
    low, high = _checked_clip(clip, dual_clip)
    rho, adv = np.asarray(ratio, dtype=np.float64), np.asarray(advantage, dtype=np.float64)
    value = np.minimum(rho * adv, np.clip(rho, 1.0 - low, 1.0 + high) * adv)
    if dual_clip is not None:
        value = np.where(adv < 0, np.maximum(value, dual_clip * adv), value)
    result: NDArray[np.float64] = value[()]
    return result


def clip_gate(
    ratio: ArrayLike,
    advantage: ArrayLike,
    *,
    clip: tuple[float, float] = (0.2, 0.2),
    dual_clip: float | None = None,
) -> NDArray[np.bool_]:
    r"""Tell whether the clipped surrogate lets the gradient of a token through.

    Parameters
    ----------
    ratio : array_like of float, shape (...)
        Importance ratio of the sampled token.
    advantage : array_like of float, shape (...)
        Advantage of the token; broadcasts against `ratio`.
    clip : tuple of (low, high), default (0.2, 0.2)
        Widths of the clip range below and above 1.
    dual_clip : float or None, default None
        Ratio above which a negative advantage is closed as well.

    Returns
    -------
    ndarray of bool, shape (...)
        True where the gradient passes.

        ==========  ==========================  =====================================
        advantage   closed                      open without limit
        ==========  ==========================  =====================================
        positive    ratio > 1 + high            ratio towards 0
        negative    ratio < 1 - low             ratio towards infinity (no dual clip)
        negative    ratio > dual_clip           nothing
        ==========  ==========================  =====================================

        On a boundary, where the objective has a kink, the gate counts as open; so it does at advantage 0, where the
        gradient vanishes anyway.

    Raises
    ------
    ValueError
        `clip` or `dual_clip` is out of range; the message names the value.

    Notes
    -----
    SimpleTIR note §3.4 and §6.3, which say that the clip acts on positive advantages only. It acts on both signs, on
    opposite sides: for a negative advantage it closes *below* ``1 - low``.

    Examples
    --------
    >>> clip_gate([0.5, 1.0, 2.0], 1.0).tolist(), clip_gate([0.5, 1.0, 2.0], -1.0).tolist()
    ([True, True, False], [False, True, True])
    """
    low, high = _checked_clip(clip, dual_clip)
    rho, adv = np.asarray(ratio, dtype=np.float64), np.asarray(advantage, dtype=np.float64)
    closed = ((adv > 0) & (rho > 1.0 + high)) | ((adv < 0) & (rho < 1.0 - low))
    if dual_clip is not None:
        closed |= (adv < 0) & (rho > dual_clip)
    gate: NDArray[np.bool_] = (~closed)[()]
    return gate


def _checked_clip(clip: tuple[float, float], dual_clip: float | None) -> tuple[float, float]:
    low, high = clip
    if not (0 <= low <= 1 and 0 <= high < math.inf):
        raise ValueError(f"clip must be (low in [0, 1], high >= 0 and finite), got {clip!r}")
    if dual_clip is not None and not dual_clip > 1:
        raise ValueError(f"dual_clip must be None or larger than 1, got {dual_clip!r}")
    return low, high
