"""Say what a mean that was reported elsewhere amounts to."""

from __future__ import annotations

__all__ = ["explain_mean"]


def explain_mean(mean: float, *, rows: int, with_calls: int, tolerance: float = 5e-5) -> tuple[str, ...]:
    """Say what a mean correctness that was reported elsewhere amounts to, without the rollouts.

    Parameters
    ----------
    mean : float
        The reported mean, in points.
    rows : int
        Rows of the data set.
    with_calls : int
        Rows whose ground truth expects a call.
    tolerance : float
        Largest difference that counts as rounding.

    Returns
    -------
    tuple of str
        One sentence for each bound that the mean equals; empty where it equals none.

    Notes
    -----
    A row with calls earns −3 at least and 3 at most. A row without calls earns 0 under the released rules
    (qiancheng0/ToolRL@8cee13e, rlla.py#L227), and −3 or 3 under the paper's formula.

    Examples
    --------
    >>> explain_mean(-2.6625, rows=80, with_calls=71)[0]
    'A mean correctness of -2.6625 is exactly the floor of this data set under the released rules: 71 of 80 rows \
expect a call and every one of them scored -3, the other 9 score 0 whatever they hold. No expected call was scored: \
nothing was parsed.'
    """
    if not 0 <= with_calls <= rows or not rows:
        raise ValueError(f"{with_calls} rows with calls of {rows} rows: give whole numbers, 0 <= with_calls <= rows")
    without = rows - with_calls
    mixture = f"{with_calls} of {rows} rows expect a call and every one of them scored"
    head = f"A mean correctness of {mean:g} is exactly the"
    bounds = {
        f"{head} floor of this data set under the released rules: {mixture} -3, the other {without} score 0 whatever "
        "they hold. No expected call was scored: nothing was parsed.": -3 * with_calls / rows,
        f"{head} ceiling of this data set under the released rules: {mixture} 3.": 3 * with_calls / rows,
        f"{head} floor under the paper's formula: every row scored -3.": -3.0,
        f"{head} value of a model that never calls a tool under the paper's formula: {mixture} -3, and the other "
        f"{without} scored 3.": (3 * without - 3 * with_calls) / rows,
    }
    return tuple(text for text, value in bounds.items() if abs(mean - value) <= tolerance)
