"""Score many cases of integer arrays at once, under every option of the correctness reward.

The arithmetic is that of `toolrl_core.rewards`; only the representation differs. Eight keys of a call are packed into
one 64-bit word, so keys and values of two calls are compared by a handful of bit operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolrl_core.array_assignment import block_function

if TYPE_CHECKING:
    from toolrl_core.arrays import CallArrays, CaseArrays
    from toolrl_core.spec import RewardSpec

__all__ = ["ArrayScores", "pair_scores", "score_arrays"]

BoolArray = NDArray[np.bool_]
ByteArray = NDArray[np.uint8]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
WordArray = NDArray[np.uint64]

_OPTIONS = {
    "granularity": ("parameter", "call", "answer"),
    "credit": ("partial", "exact"),
}
_CHUNK = 8192
_HIGH_BITS = np.uint64(0x8080808080808080)
_LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONE_PER_BYTE = np.uint64(0x0101010101010101)
_SEVEN, _LAST_BYTE = np.uint64(7), np.uint64(56)


@dataclass(frozen=True, eq=False)
class ArrayScores:
    """Hold the correctness reward of many cases and its parts.

    Parameters
    ----------
    correctness : ndarray of float64, shape (cases,)
        Correctness reward, in points on the range of the spec.
    matched : ndarray of float64, shape (cases,)
        Credit earned before scaling (the notes' R_max).
    maximum : ndarray of float64, shape (cases,)
        Credit that a complete answer earns (the notes' S_max).
    name_score : ndarray of float64, shape (cases,)
        Name term of the whole answer, 0 to 1.
    pair_total : ndarray of float64, shape (cases,)
        Sum of the matched pair scores.
    """

    correctness: FloatArray
    matched: FloatArray
    maximum: FloatArray
    name_score: FloatArray
    pair_total: FloatArray

    def __len__(self) -> int:
        """Return the number of cases."""
        return int(self.correctness.shape[0])


def pair_scores(
    arrays: CaseArrays, *, same_name: bool = False, credit: str = "partial", granularity: str = "parameter"
) -> FloatArray:
    r"""Return the score of every pair of a ground-truth call and a predicted call.

    With :math:`q` the key score (Jaccard of the key sets, 1 if both are empty; under ``credit="exact"`` 1 or 0),
    :math:`v` the number of right values and :math:`k` the number of ground-truth keys, a pair scores

    =============  ================================  ======================================
    granularity    ``credit="partial"``              ``credit="exact"``
    =============  ================================  ======================================
    parameter      :math:`q + v`                     :math:`q + v`, q is 1 or 0
    call           :math:`(q + v) / (1 + k)`         1 if all arguments are right, else 0
    answer         :math:`(q + v) / (1 + k)`         1 if name and arguments are right, else 0
    =============  ================================  ======================================

    Parameters
    ----------
    arrays : CaseArrays
    same_name : bool
        Whether pairs of calls with different names score zero.
    credit : {"partial", "exact"}
    granularity : {"parameter", "call", "answer"}

    Returns
    -------
    ndarray of float64, shape (cases, ground-truth calls, predicted calls)
        Zero where either call is absent.

    Raises
    ------
    ValueError
        If an option is unknown.

    Notes
    -----
    ToolRL note §6.1 and §6.3, paper arXiv 2504.13958 §3.3. The cells call x partial and answer x partial are not in the
    paper.

    Examples
    --------
    Two calls without arguments agree completely, whatever their names:

    >>> import numpy as np
    >>> from toolrl_core.arrays import CallArrays, CaseArrays
    >>> empty = np.full((1, 1, 6), -1)
    >>> cases = CaseArrays(CallArrays(np.array([[0]]), empty), CallArrays(np.array([[1]]), empty))
    >>> pair_scores(cases).item(), pair_scores(cases, same_name=True).item()
    (1.0, 0.0)
    """
    _check(credit=credit, granularity=granularity)
    rows, columns = arrays.ground_truth.names.shape[1], arrays.predicted.names.shape[1]
    out = np.empty((rows, columns, len(arrays)))
    for start in range(0, len(arrays), _CHUNK):
        part = slice(start, start + _CHUNK)
        truth, predicted = _pack(arrays.ground_truth, part), _pack(arrays.predicted, part)
        same = _same_name(truth, predicted)
        out[:, :, part] = _pair_block(
            truth, predicted, same, same_name=same_name, credit=credit, granularity=granularity
        )
    return np.moveaxis(out, -1, 0)


def score_arrays(
    arrays: CaseArrays, spec: RewardSpec, *, step: float | None = None, chunk: int = _CHUNK
) -> ArrayScores:
    r"""Return the correctness reward of every case.

    .. math::

        \text{correctness} = \text{low} + (\text{high} - \text{low}) \cdot \text{matched} / \text{maximum}

    For *n* expected calls with *K* keys in all, name score *N*, *A* the total of the matched pairs, and
    *x* = 0 (``extra_calls="name_only"``) or *x* = the number of predicted calls beyond the multiset intersection of
    names (``"counted"``):

    ===================  =============================  =================
    granularity, credit  matched                        maximum
    ===================  =============================  =================
    parameter, any       N + A                          1 + n + K + x
    call, any            N + A                          1 + n + x
    answer, partial      N A / n (N if n = 0)           1
    answer, exact        1 if all calls are right       1
    ===================  =============================  =================

    Under ``call_equality="object"`` a pair of the last three rows scores 1 if name and arguments are right, else 0.

    Parameters
    ----------
    arrays : CaseArrays
    spec : RewardSpec
        Read for names, same_name, matching, granularity, credit, name_credit, call_equality, extra_calls, no_call,
        ordered and the correctness range of the schedule. Parser, format, length and equality policy do not apply:
        there is no text, and two values are equal if and only if their ids are.
    step : float, optional
        Training step, for schedules that need one.
    chunk : int
        Number of cases worked on at a time; changes speed and memory, never the result.

    Returns
    -------
    ArrayScores

    Raises
    ------
    ValueError
        If `chunk` is not positive, or the schedule needs a step and has none.

    Notes
    -----
    ToolRL note §6.1 to §6.3, paper arXiv 2504.13958 §3.3. Agrees with `toolrl_core.score` of the same calls
    (`to_calls`) within 1e-12.

    Examples
    --------
    Names swapped between two otherwise right calls cost nothing under the paper's formula:

    >>> import numpy as np
    >>> from toolrl_core.arrays import CallArrays, CaseArrays
    >>> from toolrl_core.spec import RewardSpec
    >>> values = np.array([[[1, -1], [-1, 2]]])
    >>> cases = CaseArrays(CallArrays(np.array([[0, 1]]), values), CallArrays(np.array([[1, 0]]), values))
    >>> score_arrays(cases, RewardSpec.preset("paper")).correctness.item()
    3.0
    >>> score_arrays(cases, RewardSpec.preset("robust")).correctness.item()
    -1.8
    """
    if chunk < 1:
        raise ValueError(f"chunk: {chunk} is not a positive number of cases")
    low, high = spec.schedule.at(step).correctness
    assign = block_function(spec.matching)
    whole_object = spec.granularity != "parameter" and spec.call_equality == "object"
    gated, pair_credit = spec.same_name or whole_object, "exact" if whole_object else spec.credit
    matched, maximum, name_score, pair_total = np.empty((4, len(arrays)))
    expected = np.empty(len(arrays), dtype=np.int64)
    for start in range(0, len(arrays), chunk):
        part = slice(start, start + chunk)
        truth, predicted = _pack(arrays.ground_truth, part), _pack(arrays.predicted, part)
        same = _same_name(truth, predicted)
        n, m = _count(truth.present), _count(predicted.present)
        expected[part] = n
        names, common = _name_score(truth, predicted, same, spec)
        pairs = _pair_block(truth, predicted, same, same_name=gated, credit=pair_credit, granularity=spec.granularity)
        name_score[part], pair_total[part] = names, (total := assign(pairs))
        if spec.granularity == "answer" and spec.credit == "exact":
            right = _same_list(truth, predicted, whole=True) if spec.ordered else (n == m) & (total == n)
            matched[part], maximum[part] = right, 1.0
        elif spec.granularity == "answer":
            matched[part], maximum[part] = names * np.where(n > 0, total / np.maximum(n, 1), 1.0), 1.0
        else:
            matched[part] = names + total
            keys = truth.sizes.sum(axis=0, dtype=np.int64) if spec.granularity == "parameter" else 0
            extra = m - common if spec.extra_calls == "counted" else 0
            maximum[part] = 1 + n + keys + extra
    correctness = low + (high - low) * matched / maximum
    if spec.no_call == "zero":
        unscored = expected == 0
        correctness[unscored] = matched[unscored] = name_score[unscored] = pair_total[unscored] = 0.0
        maximum[unscored] = 1.0
    return ArrayScores(correctness, matched, maximum, name_score, pair_total)


@dataclass(frozen=True, eq=False)
class _Side:
    """Calls of one chunk, case on the last axis; eight keys a word, the high bit of a byte marks an absent key."""

    names: NDArray[np.int8]  # (calls, cases)
    present: BoolArray  # (calls, cases)
    words: WordArray  # (words, calls, cases)
    keys: WordArray  # (words, calls, cases): high bit of a byte set where the key is present
    sizes: ByteArray  # (calls, cases): number of keys


def _pack(calls: CallArrays, part: slice) -> _Side:
    names = np.ascontiguousarray(calls.names[part].T)
    values = calls.values[part]
    cases, count, keys = values.shape
    words = max(1, -(-keys // 8))
    padded = np.full((cases, count, 8 * words), -1, dtype=np.int8)
    padded[:, :, :keys] = values
    packed = np.ascontiguousarray(np.moveaxis(padded.view(np.uint64), (2, 1), (0, 1)))
    present_keys = ~packed & _HIGH_BITS
    sizes = _high_bits_set(present_keys).sum(axis=0, dtype=np.uint8)
    return _Side(names, names >= 0, packed, present_keys, sizes)


def _same_name(truth: _Side, predicted: _Side) -> BoolArray:
    """Say which pairs of present calls have the same name, shape (n, m, cases)."""
    same: BoolArray = (truth.names[:, np.newaxis] == predicted.names) & truth.present[:, np.newaxis]
    return same


def _pair_block(
    truth: _Side, predicted: _Side, same: BoolArray, *, same_name: bool, credit: str, granularity: str
) -> FloatArray:
    """Return pair scores of a chunk, shape (n, m, cases); one ground-truth call at a time to stay within the cache."""
    block = np.empty(same.shape)
    whole = granularity != "parameter" and credit == "exact"
    gated = same_name or (granularity == "answer" and credit == "exact")
    for row in range(same.shape[0]):
        if whole:
            score = (truth.words[:, row, np.newaxis] == predicted.words).all(axis=0)
        else:
            score = _partial_row(truth, predicted, row, credit)
            if granularity != "parameter":
                score /= 1.0 + truth.sizes[row]
        allowed = same[row] if gated else truth.present[row] & predicted.present
        np.multiply(score, allowed, out=block[row])
    return block


def _partial_row(truth: _Side, predicted: _Side, row: int, credit: str) -> FloatArray:
    """Return key score plus number of right values of one ground-truth call with every predicted call."""
    shared = np.zeros(predicted.sizes.shape, dtype=np.uint8)
    wrong = np.zeros(predicted.sizes.shape, dtype=np.uint8)
    for own, other, own_keys, other_keys in zip(truth.words, predicted.words, truth.keys, predicted.keys, strict=True):
        both = own_keys[row] & other_keys
        # Adding 0x7F carries into a byte's high bit exactly if the byte's low bits differ from zero.
        differ = ((own[row] ^ other) & _LOW_BITS) + _LOW_BITS
        shared += _high_bits_set(both)
        wrong += _high_bits_set(both & differ)
    union = truth.sizes[row] + predicted.sizes - shared
    score: FloatArray
    if credit == "exact":
        score = (shared == union).astype(np.float64)
    else:
        empty = union == 0
        score = np.divide(shared + empty, union + empty, dtype=np.float64)
    score += shared - wrong
    return score


def _name_score(truth: _Side, predicted: _Side, same: BoolArray, spec: RewardSpec) -> tuple[FloatArray, IntArray]:
    """Return the name term and the size of the multiset intersection of names, both of shape (cases,)."""
    occurrence = same.sum(axis=1, dtype=np.int8)  # how often each ground-truth name is predicted
    truth_rank, predicted_rank = _rank(truth), _rank(predicted)
    common = _count(truth_rank < occurrence)
    if spec.names == "set":
        shared = _count((truth_rank == 0) & (occurrence > 0))
        n, m = _count((truth_rank == 0) & truth.present), _count((predicted_rank == 0) & predicted.present)
    else:
        shared, n, m = common, _count(truth.present), _count(predicted.present)
    union = n + m - shared
    if spec.exact_names:
        right = _same_list(truth, predicted, whole=False) if spec.ordered else shared == union
        return right.astype(np.float64), common
    empty = union == 0
    return (shared + empty) / (union + empty), common


def _rank(side: _Side) -> NDArray[np.int8]:
    """Count, for each call, the earlier calls of the same name."""
    rank = np.zeros(side.names.shape, dtype=np.int8)
    for call in range(1, side.names.shape[0]):
        rank[call] = (side.names[:call] == side.names[call]).sum(axis=0, dtype=np.int8)
    return rank


def _same_list(truth: _Side, predicted: _Side, *, whole: bool) -> BoolArray:
    """Say where both sides list the same names (with `whole`, the same calls) in the same order."""
    shared = min(truth.names.shape[0], predicted.names.shape[0])
    equal: BoolArray = _count(truth.present) == _count(predicted.present)
    for call in range(shared):
        equal &= truth.names[call] == predicted.names[call]
        if whole:
            equal &= (truth.words[:, call] == predicted.words[:, call]).all(axis=0)
    return equal


def _high_bits_set(words: WordArray) -> ByteArray:
    """Count the bytes of each word whose high bit is set; no other bit may be set."""
    return ((words >> _SEVEN) * _ONE_PER_BYTE >> _LAST_BYTE).astype(np.uint8)


def _count(flags: BoolArray) -> IntArray:
    """Count true flags over the first axis."""
    counts: IntArray = flags.sum(axis=0, dtype=np.int64)
    return counts


def _check(**options: str) -> None:
    """Raise for an option that is not known, naming the valid ones."""
    for option, value in options.items():
        if value not in _OPTIONS[option]:
            raise ValueError(f"{option}: unknown {value!r}; valid: {', '.join(_OPTIONS[option])}")
