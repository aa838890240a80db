"""One object that states every choice a tool-call reward makes, and the named presets."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from toolrl_core.equality import EQUALITY_POLICIES
from toolrl_core.formats import FORMAT_RULES
from toolrl_core.matching import MATCHINGS
from toolrl_core.parsing import PARSERS
from toolrl_core.schedules import LengthReward, Schedule, constant, equal_max

_CHOICES: dict[str, tuple[str | None, ...]] = {
    "parser": PARSERS,
    "matching": MATCHINGS,
    "names": ("set", "multiset"),
    "equality": EQUALITY_POLICIES,
    "extra_calls": ("name_only", "counted"),
    "no_call": ("scored", "zero"),
    "format_rule": (*FORMAT_RULES, "none"),
    "granularity": ("parameter", "call", "answer"),
    "credit": ("partial", "exact"),
    "name_credit": ("partial", "exact", None),
    "call_equality": ("arguments", "object"),
}
_FLAGS = ("same_name", "exact_shortcut", "accept_python_literals", "prefilled_thought", "ordered")
_DEFAULTS: dict[str, Any] = {
    "parser": "tolerant",
    "accept_python_literals": False,
    "prefilled_thought": False,
    "matching": "optimal",
    "same_name": False,
    "names": "set",
    "equality": "json",
    "unordered": (),
    "name_aliases": {},
    "schemas": {},
    "extra_calls": "name_only",
    "no_call": "scored",
    "exact_shortcut": False,
    "granularity": "parameter",
    "credit": "partial",
    "name_credit": None,
    "ordered": False,
    "call_equality": "arguments",
    "format_rule": "ordered_tags",
    "schedule": constant(),
    "length_reward": None,
}


class RewardSpec:
    r"""State every choice of a tool-call reward; every option has the paper's value as its default.

    Parameters
    ----------
    parser : {"tolerant", "released"}
        How a completion is read.
    accept_python_literals : bool
        Count a Python dictionary as a call (tolerant parser).
    prefilled_thought : bool
        The chat template already opened the thought, so that every format rule takes its opening tag as given.
    matching : {"optimal", "greedy_ground_truth", "greedy_prediction", "greedy_best"}
        How predicted calls are paired with ground-truth calls.
    same_name : bool
        Only calls with equal names can be paired.
    names : {"set", "multiset"}
        Jaccard index of the name sets, or of the name multisets.
    equality : {"json", "json_strict", "python", "bfcl", "schema"}
        When two argument values are equal.
    unordered : collection of str
        Parameters (``name`` or ``function.name``) whose lists compare without order.
    name_aliases : mapping of str to str
        Other spellings of function names, by spelling; names are never matched by looks.
    schemas : mapping
        JSON schemas of the parameters by function name (see `parse_ground_truth`).
    extra_calls : {"name_only", "counted"}
        Whether predicted calls beyond the common names also raise the maximum by 1 each.
    no_call : {"scored", "zero"}
        Whether a ground truth without calls is scored, or earns 0 whatever is predicted.
    exact_shortcut : bool
        Predicted calls that equal the ground truth's in Python earn the maximum at once.
    granularity : {"parameter", "call", "answer"}
        What gets an account of its own.
    credit : {"partial", "exact"}
        Whether a part that is not all right earns its share or nothing.
    name_credit : {"partial", "exact"}, optional
        The same for the name term alone; None follows `credit`.
    ordered : bool
        Exact comparisons see the order of names, keys and calls (the released tiers).
    call_equality : {"arguments", "object"}
        Whether a whole call is right when its arguments are, or when its whole JSON object is.
    format_rule : {"ordered_tags", "literal", "released", "strict", "none"}
        The format rule; "none" gives no format reward.
    schedule : Schedule
        The scales of format and correctness over training steps.
    length_reward : LengthReward, optional
        A reward for long thoughts.

    Raises
    ------
    ValueError
        For an unknown option or value; the message lists the valid ones.

    Notes
    -----
    ToolRL note §3, §5 and §6; the released code's nine environment variables are options here.

    Granularity and credit are two axes. With :math:`J` the name score, :math:`J_p` the Jaccard index of a pair's
    keys, :math:`v_p` its right values and :math:`k_p` the expected ones, R and S are the raw points reached and
    reachable of n expected calls:

    - parameter, partial: :math:`R = J + \sum_p (J_p + v_p)`, :math:`S = 1 + n + \sum_p k_p` (the paper's Original);
      exact (Finegrained): J and each :math:`J_p` count only when they are 1.
    - call, partial (ours): :math:`R = J + \sum_p (J_p + v_p) / (1 + k_p)`, :math:`S = 1 + n`; exact (Intermediate):
      J and each call count only when all of it is right.
    - answer, partial (ours): :math:`R = J \cdot \frac{1}{n} \sum_p (J_p + v_p) / (1 + k_p)`, :math:`S = 1`, with
      R = J where no call is expected; exact (Coarse): 1 only when the calls, names included, are the expected ones.

    `ordered` changes exact comparisons alone; with partial credit it has no effect.

    Examples
    --------
    >>> RewardSpec(names="multiset").names
    'multiset'
    >>> RewardSpec(strict_match=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: unknown option 'strict_match': choose from parser, accept_python_literals, ..., length_reward
    """

    __slots__ = (*_DEFAULTS, "name")

    parser: str
    accept_python_literals: bool
    prefilled_thought: bool
    matching: str
    same_name: bool
    names: str
    equality: str
    unordered: frozenset[str]
    name_aliases: Mapping[str, str]
    schemas: Mapping[str, Mapping[str, Any]]
    extra_calls: str
    no_call: str
    exact_shortcut: bool
    granularity: str
    credit: str
    name_credit: str | None
    ordered: bool
    call_equality: str
    format_rule: str
    schedule: Schedule
    length_reward: LengthReward | None
    name: str | None

    def __init__(self, **options: Any) -> None:
        for option in options:
            if option not in _DEFAULTS:
                close = difflib.get_close_matches(option, _DEFAULTS, 1)
                hint = f" (did you mean {close[0]!r}?)" if close else ""
                raise ValueError(f"unknown option {option!r}{hint}: choose from {', '.join(_DEFAULTS)}")
        for option, default in _DEFAULTS.items():
            object.__setattr__(self, option, _checked(option, options.get(option, default)))
        object.__setattr__(self, "name", None)

    def __setattr__(self, option: str, value: Any) -> None:
        raise AttributeError(f"a RewardSpec cannot be changed: use replace({option}=…)")

    def __delattr__(self, option: str) -> None:
        raise AttributeError("a RewardSpec cannot be changed: use replace(…)")

    def options(self) -> dict[str, Any]:
        """Return every option with its value."""
        return {option: getattr(self, option) for option in _DEFAULTS}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RewardSpec) and self.options() == other.options()

    def __hash__(self) -> int:
        return hash((self.parser, self.matching, self.names, self.equality, self.granularity, self.credit))

    def __repr__(self) -> str:
        changed = {k: v for k, v in self.to_dict().items() if k != "preset" and v != _PAPER_DICT[k]}
        inside = ", ".join(f"{option}={value!r}" for option, value in changed.items())
        return f"RewardSpec({inside})" if self.name is None else f"RewardSpec.preset({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        options = {k: dict(v) if isinstance(v, MappingProxyType) else v for k, v in self.options().items()}
        return _restore, (options, self.name)

    def replace(self, **changes: Any) -> RewardSpec:
        """Return a copy with some options changed.

        Examples
        --------
        >>> RewardSpec.preset("paper").replace(same_name=True)
        RewardSpec(same_name=True)
        """
        return RewardSpec(**{**self.options(), **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, for provenance."""
        plain: dict[str, Any] = {"preset": self.name}
        for option, value in self.options().items():
            if isinstance(value, (Schedule, LengthReward)):
                plain[option] = _plain(value)
            elif isinstance(value, frozenset):
                plain[option] = sorted(value)
            else:
                plain[option] = dict(value) if isinstance(value, Mapping) else value
        return plain

    @property
    def needs_step(self) -> bool:
        """Tell whether the reward depends on the training step."""
        return self.schedule.needs_step or (self.length_reward is not None and self.length_reward.needs_step)

    @property
    def exact_names(self) -> bool:
        """Tell whether names earn their point only when all are right."""
        return (self.name_credit or self.credit) == "exact"

    @classmethod
    def preset(cls, name: str) -> RewardSpec:
        """Return a named preset.

        Parameters
        ----------
        name : str
            One of `RewardSpec.presets`.

        Returns
        -------
        RewardSpec
            The preset's options.

        Raises
        ------
        ValueError
            If the preset is unknown; the message lists the valid ones.

        Examples
        --------
        >>> RewardSpec.preset("robust").extra_calls
        'counted'
        """
        if name not in _PRESETS:
            raise ValueError(f"unknown preset {name!r}: choose from {', '.join(_PRESETS)}")
        return _restore(_PRESETS[name], name)

    @classmethod
    def presets(cls) -> dict[str, RewardSpec]:
        """Return every preset by name."""
        return {name: cls.preset(name) for name in _PRESETS}


def _restore(options: Mapping[str, Any], name: str | None) -> RewardSpec:
    spec = RewardSpec(**options)
    object.__setattr__(spec, "name", name)
    return spec


def _plain(value: Schedule | LengthReward) -> dict[str, Any]:
    """Return the fields; the switch of a schedule that never switches is None."""
    fields = {field: getattr(value, field) for field in value.__dataclass_fields__}
    return {field: None if number == math.inf else number for field, number in fields.items()}


def _checked(option: str, value: Any) -> Any:
    if option in _CHOICES:
        if value not in _CHOICES[option]:
            valid = ", ".join("None" if choice is None else choice for choice in _CHOICES[option])
            raise ValueError(f"unknown {option} {value!r}: choose from {valid}")
        return value
    wanted, is_valid, convert = _CHECKS["flag" if option in _FLAGS else option]
    if not is_valid(value):
        raise ValueError(f"{option} must be {wanted}, found {value!r}")
    return convert(value)


def _frozen(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(value))


def _same(value: Any) -> Any:
    return value


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


_CHECKS: dict[str, tuple[str, Callable[[Any], bool], Callable[[Any], Any]]] = {
    "flag": ("True or False", lambda value: isinstance(value, bool), _same),
    "unordered": (
        "a collection of parameter names",
        lambda value: isinstance(value, Collection) and not isinstance(value, str),
        frozenset,
    ),
    "name_aliases": ("a mapping", _is_mapping, _frozen),
    "schemas": ("a mapping", _is_mapping, _frozen),
    "schedule": (
        "a Schedule (constant, equal_max, two_stage, …)",
        lambda value: isinstance(value, Schedule),
        _same,
    ),
    "length_reward": (
        "a LengthReward or None",
        lambda value: value is None or isinstance(value, LengthReward),
        _same,
    ),
}
_RELEASED: dict[str, Any] = {
    "parser": "released",
    "matching": "greedy_ground_truth",
    "same_name": True,
    "names": "multiset",
    "equality": "python",
    "no_call": "zero",
    "exact_shortcut": True,
    "format_rule": "released",
}
_PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "released": _RELEASED,
    "robust": {"same_name": True, "names": "multiset", "extra_calls": "counted", "format_rule": "strict"},
    "equal_max": {"schedule": equal_max()},
    "finegrained": {"credit": "exact"},
    "intermediate": {"granularity": "call", "credit": "exact"},
    "coarse": {"granularity": "answer", "credit": "exact"},
    "released_refined": {**_RELEASED, "credit": "exact", "ordered": True},
    "released_intermediate": {
        **_RELEASED,
        "granularity": "call",
        "credit": "exact",
        "name_credit": "partial",
        "call_equality": "object",
    },
    "released_coarse": {
        **_RELEASED,
        "granularity": "answer",
        "credit": "exact",
        "ordered": True,
        "call_equality": "object",
    },
    "released_equal_max": {**_RELEASED, "schedule": equal_max()},
}
_PAPER_DICT = RewardSpec().to_dict()
