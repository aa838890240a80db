"""What Adam remembers when a gradient changes its size: how long a step stays too small or too large."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from toolrl_core.field_checks import check_real
from toolrl_core.simulate.answers import Floats, Integers
from toolrl_core.simulate.training import GrpoSettings, Optimiser

__all__ = ["adam_step_after_switch", "simulate_adam_switch", "updates_until_settled"]


def adam_step_after_switch(
    before: ArrayLike,
    after: ArrayLike,
    *,
    updates_before: ArrayLike,
    updates_after: ArrayLike,
    learning_rate: float = 1.0,
    beta1: float = 0.0,
    beta2: float = 0.999,
    noise_before: ArrayLike = 0.0,
    noise_after: ArrayLike = 0.0,
    cleared: bool = False,
) -> Floats:
    r"""Return the step of a parameter whose gradient was g₁ for s updates and has been g₂ for n updates since.

    .. math::
        \gamma\, \frac{\hat m}{\sqrt{\hat v}}, \qquad
        \hat v = \frac{g_1^2 (1 - \beta_2^s)\, \beta_2^n + g_2^2 (1 - \beta_2^n)}{1 - \beta_2^{s+n}}

    and likewise the first moment with β₁ and unsquared gradients; β₁ = 0 makes it g₂.

    Parameters
    ----------
    before, after : array_like
        Mean gradients g₁ and g₂ before and after the switch.
    updates_before, updates_after : array_like of int
        Updates s before the switch, at least 0, and n since, at least 1.
    learning_rate : float
        Size γ of a settled step.
    beta1, beta2 : float
        Decay of Adam's first and second moment, in [0, 1).
    noise_before, noise_after : array_like
        Standard deviation of a gradient about its mean. Both moments are then replaced by their expectations.
    cleared : bool
        Whether the moments and the count of updates are cleared at the switch.

    Returns
    -------
    ndarray
        The step of the n-th update, in the common shape of the arguments; 0 where the second moment is 0.

    Raises
    ------
    ValueError
        If a decay lies outside [0, 1), a count or a deviation is too small, or a number is not finite.

    Notes
    -----
    ToolRL note §5.2 asks why an abrupt switch of scale is worse than none. Group normalisation turns a switch of scale
    into a switch of the share that each part of the reward has in the gradient, and Adam divides by what it remembers.
    The constant 1e-8 of Adam's denominator is left out.

    Examples
    --------
    A gradient falls to a quarter after 60 updates. 150 updates later its step is still less than half of what it will
    be; with a shorter memory, or with cleared moments, it is not:

    >>> late = {"updates_before": 60, "updates_after": 150}
    >>> [float(adam_step_after_switch(4, 1, beta2=beta2, **late).round(2)) for beta2 in (0.999, 0.9)]
    [0.45, 1.0]
    >>> float(adam_step_after_switch(4, 1, cleared=True, **late))
    1.0

    A gradient that was silent for as long starts with steps that are much too large:

    >>> float(adam_step_after_switch(0, 1, updates_before=60, updates_after=10, beta1=0.9).round(2))
    1.7
    """
    _check_decay(beta1=beta1, beta2=beta2)
    s, n = _counts(updates_before, updates_after)
    if cleared:
        s = np.zeros_like(s)
    g1, g2 = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    d1, d2 = np.asarray(noise_before, dtype=np.float64), np.asarray(noise_after, dtype=np.float64)
    check_real("learning_rate", learning_rate, low=0)
    if not (np.isfinite(g1).all() and np.isfinite(g2).all()):
        raise ValueError(f"before and after must be finite, found {before!r} and {after!r}")
    if not ((d1 >= 0).all() and (d2 >= 0).all()):
        raise ValueError(f"noise must not be negative, found {noise_before!r} and {noise_after!r}")
    mean = _moment(g1, g2, s, n, beta1)
    deviation = np.sqrt(_moment(g1**2 + d1**2, g2**2 + d2**2, s, n, beta2))
    step: Floats = learning_rate * np.divide(mean, deviation, out=np.zeros_like(mean + deviation), where=deviation > 0)
    return step


def updates_until_settled(
    ratio: ArrayLike,
    *,
    updates_before: ArrayLike,
    beta2: float = 0.999,
    share: float = 0.5,
    cleared: bool = False,
) -> Integers:
    r"""Return how many updates a shrunken gradient needs until its step is a given share of its settled size.

    .. math::
        n = \left\lceil \frac{\ln x}{\ln \beta_2} \right\rceil, \qquad
        x = \frac{K - 1}{r^2 (1 - \beta_2^s) - 1 + K \beta_2^s}, \qquad K = \text{share}^{-2}

    Parameters
    ----------
    ratio : array_like
        Size r of the gradient before the switch over its size after it, root mean squares if it is noisy.
    updates_before : array_like of int
        Updates s before the switch, at least 0.
    beta2 : float
        Decay of the second moment, in [0, 1). The first moment is taken to follow at once (β₁ = 0).
    share : float
        Share of the settled step, in (0, 1).
    cleared : bool
        Whether the moments are cleared at the switch.

    Returns
    -------
    ndarray of int
        Number of the first update since the switch with such a step, at least 1, in the common shape of the arguments.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    ToolRL note §5.2. While s + n is short against 1 / (1 - β₂), Adam's second moment is the plain mean of all squares
    so far, and the wait is s (r² - K) / (K - 1): it grows with the time spent before the switch, whatever β₂ is. Only
    a run that is long against 1 / (1 - β₂) waits ln((r² - 1) / (K - 1)) / (1 - β₂), whatever s is.

    Examples
    --------
    A gradient falls to a quarter: the wait is about three times what came before, as long as that is short against the
    1000 updates of 1 / (1 - β₂). A short memory waits the same whatever came before, cleared moments not at all:

    >>> updates_until_settled(4, updates_before=[60, 120, 100_000]).tolist()
    [210, 374, 1609]
    >>> updates_until_settled(4, updates_before=[60, 120, 100_000], beta2=0.9).tolist()
    [16, 16, 16]
    >>> int(updates_until_settled(4, updates_before=60, cleared=True))
    1
    """
    _check_decay(beta2=beta2)
    if not 0 < share < 1:
        raise ValueError(f"share must lie strictly between 0 and 1, found {share!r}")
    size = np.asarray(ratio, dtype=np.float64)
    if not ((size >= 0) & np.isfinite(size)).all():
        raise ValueError(f"ratio must be finite and not negative, found {ratio!r}")
    s, _ = _counts(updates_before, 1)
    if cleared:
        s = np.zeros_like(s)
    kept, most = beta2**s, share**-2
    memory = size**2 * (1 - kept) - 1 + most * kept
    # Where the memory does not exceed what is allowed, the first step is large enough already.
    waits = memory > most - 1
    left = np.where(waits, (most - 1) / np.where(waits, memory, 1.0), 1.0)
    if beta2 == 0:
        return np.ones(left.shape, np.int64)
    exact = np.log(left) / np.log(beta2)
    result: Integers = np.maximum(np.ceil(exact - 1e-9), 1).astype(np.int64)
    return result


def simulate_adam_switch(
    before: float,
    after: float,
    *,
    updates_before: int,
    updates_after: int,
    generator: np.random.Generator,
    noise: float = 0.0,
    parameters: int = 1,
    settings: GrpoSettings | None = None,
    cleared: bool = False,
) -> Floats:
    """Run the optimiser of the miniature on gradients that change their size once.

    Parameters
    ----------
    before, after : float
        Mean gradients before and after the switch.
    updates_before, updates_after : int
        Updates before the switch, at least 0, and after it, at least 1.
    generator : numpy.random.Generator
        Source of the noise.
    noise : float
        Standard deviation of a gradient about its mean.
    parameters : int
        Parameters that go through this side by side, each with its own noise.
    settings : GrpoSettings, optional
        Which optimiser, and its constants.
    cleared : bool
        Whether the moments are cleared at the switch.

    Returns
    -------
    ndarray, shape (updates_before + updates_after, parameters)
        The change of each parameter by each update.

    Raises
    ------
    ValueError
        If a count or the noise is too small.

    Notes
    -----
    ToolRL note §5.2. It drives `toolrl_core.simulate.training.Optimiser`, so that the closed form and the training of
    the chapters cannot part ways.

    Examples
    --------
    The same gradient before and after, but drowned in noise: its step is far smaller than the learning rate throughout.

    >>> run = {"updates_before": 0, "updates_after": 200, "generator": np.random.default_rng(0)}
    >>> steps = simulate_adam_switch(1, 1, noise=10, parameters=1000, settings=GrpoSettings(learning_rate=1), **run)
    >>> float(steps[-1].mean().round(1))
    0.1
    """
    _counts(updates_before, updates_after)
    if not noise >= 0 or parameters < 1:
        raise ValueError(f"noise must not be negative and parameters at least 1, found {noise!r} and {parameters!r}")
    optimiser = Optimiser(GrpoSettings() if settings is None else settings, (parameters,))
    steps = np.empty((updates_before + updates_after, parameters))
    for update in range(len(steps)):
        if cleared and update == updates_before:
            optimiser.clear()
        mean = before if update < updates_before else after
        steps[update] = optimiser.update(mean + noise * generator.standard_normal(parameters))
    return steps


def _moment(before: Floats, after: Floats, s: Integers, n: Integers, decay: float) -> Floats:
    """Return the bias-corrected running mean of a value that changes once."""
    past, recent = decay**n * (1 - decay**s), 1 - decay**n
    moment: Floats = (before * past + after * recent) / (1 - decay ** (s + n))
    return moment


def _counts(updates_before: ArrayLike, updates_after: ArrayLike) -> tuple[Integers, Integers]:
    s, n = np.asarray(updates_before, dtype=np.int64), np.asarray(updates_after, dtype=np.int64)
    if not ((s >= 0).all() and (n >= 1).all()):
        raise ValueError(
            "updates_before must be at least 0 and updates_after at least 1, "
            f"found {updates_before!r} and {updates_after!r}"
        )
    return s, n


def _check_decay(**decays: float) -> None:
    for name, decay in decays.items():
        if not 0 <= decay < 1:
            raise ValueError(f"{name} must lie in [0, 1), found {decay!r}")
