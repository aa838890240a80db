"""The five filter policies of SimpleTIR's ablation, as operations on one batch of tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from toolrl_core.field_checks import check_flag, check_real
from toolrl_core.masks import MaskedBatch, ShapeMismatchError, mask_after_void, mask_void

__all__ = ["FILTER_POLICIES", "FilterPolicy", "FilterSettings", "TokenBatch", "apply_filter_policy"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TokenBatch:
    """Hold what the policies look at, token by token.

    Parameters
    ----------
    loss_mask : ndarray, shape (rollouts, tokens)
        1 for the model's tokens, 0 for observations and padding.
    probability : ndarray of float, shape (rollouts, tokens)
        Probability of each sampled token under the policy that sampled it.
    ratio : ndarray of float, shape (rollouts, tokens)
        Importance ratio of each token.
    turn_index : ndarray of int, shape (rollouts, tokens)
        Which of the model's turns a token belongs to, counted from 0; -1 for other tokens.
    first_void : ndarray of int, shape (rollouts,)
        First void turn of each rollout, counted from 0; -1 without one.

    Raises
    ------
    ShapeMismatchError
        Two arrays do not fit; both shapes are named.
    """

    loss_mask: NDArray[np.int64]
    probability: NDArray[np.float64]
    ratio: NDArray[np.float64]
    turn_index: NDArray[np.int64]
    first_void: NDArray[np.int64]

    def __post_init__(self) -> None:
        shape = self.loss_mask.shape
        for name in ("probability", "ratio", "turn_index"):
            found = getattr(self, name).shape
            if found != shape:
                raise ShapeMismatchError(f"loss_mask has shape {shape}, {name} has shape {found}: they differ")
        if self.first_void.shape != shape[:1]:
            raise ShapeMismatchError(f"loss_mask has shape {shape}, first_void has shape {self.first_void.shape}")


@dataclass(frozen=True, kw_only=True)
class FilterSettings:
    """Hold the thresholds of the policies.

    Parameters
    ----------
    minimum_probability : float
        Tokens below it are masked by ``low_probability``.
    maximum_ratio : float
        Tokens above it are masked by ``high_ratio``.
    keep_void_turn : bool
        Whether ``stop_generation`` trains on the void turn itself. Generation stops because that turn was seen, so by
        default it does; without it the policy equals ``mask_after_void``.

    Raises
    ------
    ValueError
        A threshold is out of range.
    """

    minimum_probability: float = 0.03
    maximum_ratio: float = 2.0
    keep_void_turn: bool = True

    def __post_init__(self) -> None:
        check_real("minimum_probability", self.minimum_probability, low=0, high=1)
        if self.maximum_ratio != math.inf:  # a threshold that nothing exceeds
            check_real("maximum_ratio", self.maximum_ratio, low=0, open_low=True)
        check_flag("keep_void_turn", self.keep_void_turn)


@dataclass(frozen=True, kw_only=True)
class FilterPolicy:
    """Name one policy of the ablation.

    Parameters
    ----------
    name : str
        Name under which :func:`apply_filter_policy` accepts it.
    summary : str
        What it does, in words.
    apply : callable
        Function from (tokens, settings) to :class:`~toolrl_core.masks.MaskedBatch`.
    """

    name: str
    summary: str
    apply: Callable[[TokenBatch, FilterSettings], MaskedBatch]


def apply_filter_policy(name: str, tokens: TokenBatch, *, settings: FilterSettings | None = None) -> MaskedBatch:
    """Apply one policy to a batch of tokens.

    Parameters
    ----------
    name : {"naive", "low_probability", "high_ratio", "stop_generation", "void_veto"}
        The policy.
    tokens : TokenBatch
        The batch.
    settings : FilterSettings, optional
        Thresholds; by default those of the note.

    Returns
    -------
    MaskedBatch
        What is still trained. All five policies count every rollout in the group's statistics.

    Raises
    ------
    ValueError
        Unknown policy; the message lists the valid ones.

    Notes
    -----
    SimpleTIR note §5.3 and §6.5, arXiv 2509.02479 table 2.

    Examples
    --------
    A token of probability 0.04 in a void turn passes the probability mask, and not the veto:

    >>> one = np.ones((1, 1))
    >>> turn = np.zeros((1, 1), dtype=int)
    >>> batch = TokenBatch(loss_mask=one, probability=0.04 * one, ratio=one, turn_index=turn, first_void=turn[0])
    >>> {name: apply_filter_policy(name, batch).tokens_kept for name in FILTER_POLICIES}
    {'naive': 1, 'low_probability': 1, 'high_ratio': 1, 'stop_generation': 1, 'void_veto': 0}
    """
    if name not in FILTER_POLICIES:
        raise ValueError(f"unknown filter policy {name!r}: choose from {', '.join(FILTER_POLICIES)}")
    return FILTER_POLICIES[name].apply(tokens, settings or FilterSettings())


def _naive(tokens: TokenBatch, _settings: FilterSettings) -> MaskedBatch:
    return _masked_where(tokens, np.zeros(tokens.loss_mask.shape, dtype=bool))


def _low_probability(tokens: TokenBatch, settings: FilterSettings) -> MaskedBatch:
    return _masked_where(tokens, tokens.probability < settings.minimum_probability)


def _high_ratio(tokens: TokenBatch, settings: FilterSettings) -> MaskedBatch:
    return _masked_where(tokens, tokens.ratio > settings.maximum_ratio)


def _stop_generation(tokens: TokenBatch, settings: FilterSettings) -> MaskedBatch:
    has_void = tokens.first_void >= 0
    first_masked = np.where(has_void, tokens.first_void + settings.keep_void_turn, -1)
    return mask_after_void(tokens.loss_mask, tokens.turn_index, first_masked)


def _void_veto(tokens: TokenBatch, _settings: FilterSettings) -> MaskedBatch:
    return mask_void(tokens.loss_mask, tokens.first_void >= 0)


def _masked_where(tokens: TokenBatch, where: NDArray[np.bool_]) -> MaskedBatch:
    mask = tokens.loss_mask.copy()
    mask[where] = 0
    return MaskedBatch(loss_mask=mask, counted=np.ones(len(mask), dtype=bool))


FILTER_POLICIES: Mapping[str, FilterPolicy] = MappingProxyType(
    {
        policy.name: policy
        for policy in (
            FilterPolicy(name="naive", summary="train on every token of the model", apply=_naive),
            FilterPolicy(name="low_probability", summary="mask tokens below a probability", apply=_low_probability),
            FilterPolicy(name="high_ratio", summary="mask tokens above an importance ratio", apply=_high_ratio),
            FilterPolicy(
                name="stop_generation",
                summary="stop at the first void turn, train on what is there",
                apply=_stop_generation,
            ),
            FilterPolicy(name="void_veto", summary="mask every rollout with a void turn", apply=_void_veto),
        )
    }
)
"""The policies by name, in the order of the ablation."""
