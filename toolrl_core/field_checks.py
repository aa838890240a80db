"""Refuse a field that cannot be, and name it."""

from __future__ import annotations

import math
from numbers import Integral, Real

__all__ = ["check_flag", "check_real", "check_whole"]

_LARGEST = 10**9


def check_whole(name: str, value: object, *, lowest: int = 0) -> None:
    """Refuse what is no whole number, too small, or above a milliard.

    Parameters
    ----------
    name : str
        Name of the field.
    value : object
        What was given.
    lowest : int
        Smallest value.

    Raises
    ------
    ValueError
        Naming the field.

    Examples
    --------
    True is a whole number to Python, but nobody means it as one:

    >>> check_whole("seeds", True, lowest=1)
    Traceback (most recent call last):
        ...
    ValueError: seeds must be at least 1 and a whole number, found True
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not lowest <= int(value) <= _LARGEST:
        raise ValueError(f"{name} must be at least {lowest} and a whole number, found {_short(value)}")


def check_real(
    name: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_high: bool = False,
    open_low: bool = False,
) -> None:
    """Refuse what is no finite number between two bounds.

    Parameters
    ----------
    name : str
        Name of the field.
    value : object
        What was given.
    low, high : float
        Bounds.
    open_low, open_high : bool
        Whether a bound itself is too small or too large.

    Raises
    ------
    ValueError
        Naming the field.

    Examples
    --------
    >>> check_real("beta2", 1.0, low=0, high=1, open_high=True)
    Traceback (most recent call last):
        ...
    ValueError: beta2 must lie in [0, 1), found 1.0
    >>> check_real("noise", float("nan"), low=0)
    Traceback (most recent call last):
        ...
    ValueError: noise must be finite and not negative, found nan
    """
    number = _number(value)
    if number is not None:
        above = number > low if open_low else number >= low
        below = number < high if open_high else number <= high
        if above and below:
            return
    if math.isfinite(high):
        wanted = f"lie in {'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    elif low == 0:
        wanted = "be finite and positive" if open_low else "be finite and not negative"
    else:
        wanted = "be a finite number" if low == -math.inf else f"be finite and at least {low:g}"
    raise ValueError(f"{name} must {wanted}, found {_short(value)}")


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False.

    Raises
    ------
    ValueError
        Naming the field.
    """
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, found {_short(value)}")


def _number(value: object) -> float | None:
    """Read a finite number; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond any double
        return None
    return number if math.isfinite(number) else None


def _short(value: object) -> str:
    if isinstance(value, int) and abs(value) > 10**20:
        return "a number of more than twenty digits"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
