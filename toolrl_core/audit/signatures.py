"""Call any reward function in one way, whatever trainer it was written for, and find it by name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolrl_core.audit.columns import LARGEST
from toolrl_core.ground_truth import parse_ground_truth, single_valued
from toolrl_core.rewards import score
from toolrl_core.spec import RewardSpec

__all__ = ["FORMS", "SIGNATURES", "RewardError", "SilentRewardError", "adapt_reward", "load_reward", "reward_of_spec"]

Reward = Callable[[str, Any], float]
_Filled = tuple[tuple[Any, ...], dict[str, Any]]
_Filler = Callable[[str, Any], _Filled]

FORMS = ("text", "calls", "json", "calls_arguments", "json_arguments")
"""How a reward may want its ground truth: the tagged text; a list of ``{"name": …, "parameters": …}``, the key of
ToolRL's data; that list as JSON text; and the same two with the key ``arguments`` of OpenAI's calls."""

SIGNATURES = ("plain", "verl", "trl", "openrlhf")
"""The ways of calling a reward that `adapt_reward` knows; ms-swift calls as TRL does."""

_COMPLETION_NAMES = ("completion", "solution_str", "response", "prediction", "answer", "output", "text")
_GROUND_TRUTH_NAMES = ("ground_truth", "ground_truths", "solution", "solutions", "label", "labels", "answer", "target")


class RewardError(ValueError):
    """Report a reward that cannot be found, called, or read, and why.

    Examples
    --------
    >>> load_reward("no_such_module:f")
    Traceback (most recent call last):
    ...
    toolrl_core.audit.signatures.RewardError: cannot import 'no_such_module': No module named 'no_such_module'
    """


class SilentRewardError(RewardError):
    """Report a reward that raised the same kind of error on every call.

    Parameters
    ----------
    problem : str
        What it raised.

    Examples
    --------
    >>> print(SilentRewardError("f raised KeyError on every call"))
    f raised KeyError on every call: give it another signature or ground_truth_form if it is called wrongly
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}: give it another signature or ground_truth_form if it is called wrongly")


def reward_of_spec(spec: RewardSpec, *, step: float | None = None) -> Reward:
    """Make a plain reward function of a spec: its total, in points.

    Parameters
    ----------
    spec : RewardSpec
        The reward's options.
    step : float, optional
        Training step, where the schedule needs one.

    Returns
    -------
    callable
        ``reward(completion, ground_truth)``. The released rules get the first accepted value of each parameter.

    Examples
    --------
    >>> reward_of_spec(RewardSpec.preset("released"))("", [{"f": {"a": [1, 2]}}])
    -3.0
    """

    def reward(completion: str, ground_truth: Any) -> float:
        if spec.parser == "released":
            ground_truth = single_valued(ground_truth)
        return score(completion, ground_truth, spec, step=step).total

    reward.__name__ = spec.name or "reward"
    return reward


def adapt_reward(function: Callable[..., Any], signature: str = "auto") -> Reward:
    """Wrap a reward function so that it is called as ``reward(completion, ground_truth)`` and returns a float.

    Parameters
    ----------
    function : callable
        The reward; an instance with ``__call__`` works too, and a class that needs no arguments.
    signature : {"auto", "plain", "verl", "trl", "openrlhf"}
        How it wants to be called. "auto" looks at the parameter names: ``solution_str`` is verl's, ``completions`` is
        TRL's and ms-swift's, ``queries`` is OpenRLHF's; anything else gets completion and ground truth in this order.

    Returns
    -------
    callable
        ``reward(completion, ground_truth) -> float``.

    Raises
    ------
    ValueError
        If the signature is unknown.
    RewardError
        If the function cannot be called in that way: it wants other parameters, or it is asynchronous. A result that
        is no number is reported when it is met.

    Examples
    --------
    >>> def lengths(completions, **columns):
    ...     return [float(len(text)) for text in completions]
    >>> adapt_reward(lengths)("four", "")
    4.0
    >>> adapt_reward(lambda text: 1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    toolrl_core.audit.signatures.RewardError: cannot call '<lambda>' as f(completion, ground_truth): too many ...
    """
    if signature not in ("auto", *SIGNATURES):
        raise ValueError(f"unknown signature {signature!r}: choose from auto, {', '.join(SIGNATURES)}")
    if not callable(function):
        raise RewardError(f"a reward must be callable, found {type(function).__name__}")
    name = str(getattr(function, "__name__", type(function).__name__))
    if inspect.isclass(function):
        try:
            instance: Any = function()
        except TypeError as error:
            raise RewardError(f"cannot make an instance of {name!r} without arguments: {error}") from error
        return adapt_reward(instance, signature)
    parameters = _parameters(function)
    if signature == "auto":
        signature = _guess(parameters)
    fill = _FILLERS[signature](parameters)
    _check_call(function, name, signature, fill("", ""))

    def reward(completion: str, ground_truth: Any) -> float:
        words, keywords = fill(completion, ground_truth)
        return number_of(function(*words, **keywords))

    reward.__name__ = name
    return reward


def load_reward(reference: str, *, signature: str = "auto") -> Reward:
    """Find a reward by the name of a preset, by ``module:function``, or by ``path/to/file.py:function``.

    Parameters
    ----------
    reference : str
        What to load. The module or file is executed, as an import does: name only code that you trust.
    signature : str
        As for `adapt_reward`.

    Returns
    -------
    callable
        ``reward(completion, ground_truth) -> float``.

    Raises
    ------
    RewardError
        If there is no such preset, module, file or function.

    Examples
    --------
    >>> load_reward("robust")("", [])
    3.0
    >>> load_reward("rubust")
    Traceback (most recent call last):
    ...
    toolrl_core.audit.signatures.RewardError: 'rubust' is neither module:function, nor file.py:function, nor a preset \
(paper, released, robust, equal_max, finegrained, intermediate, coarse, released_refined, released_intermediate, \
released_coarse, released_equal_max)
    """
    presets = RewardSpec.presets()
    if reference in presets:
        return reward_of_spec(presets[reference])
    place, colon, name = reference.rpartition(":")
    if not colon or not place or not name:
        raise RewardError(
            f"{reference!r} is neither module:function, nor file.py:function, nor a preset ({', '.join(presets)})"
        )
    found: Any = _module(place)
    for part in name.split("."):
        if not hasattr(found, part):
            raise RewardError(f"{place!r} has no {name!r}")
        found = getattr(found, part)
    return adapt_reward(found, signature)


def write_ground_truth(text: str, form: str) -> Any:
    """Give a ground truth in the form that a reward wants.

    Parameters
    ----------
    text : str
        The ground truth as tagged text.
    form : {"text", "calls", "json", "calls_arguments", "json_arguments"}
        One of `FORMS`.

    Returns
    -------
    str or list of dict
        The same ground truth.

    Raises
    ------
    ValueError
        If the form is unknown.

    Examples
    --------
    >>> text = '<think> x </think><tool_call>{"name": "f", "parameters": {}}</tool_call>'
    >>> write_ground_truth(text, "calls"), write_ground_truth(text, "json_arguments")
    ([{'name': 'f', 'parameters': {}}], '[{"name": "f", "arguments": {}}]')
    """
    if form not in FORMS:
        raise ValueError(f"unknown form {form!r}: choose from {', '.join(FORMS)}")
    if form == "text":
        return text
    key = "arguments" if form.endswith("_arguments") else "parameters"
    truth = single_valued(parse_ground_truth(text))
    calls = [{"name": call.name, key: dict(call.arguments)} for call in truth.calls]  # type: ignore[union-attr]
    return calls if form.startswith("calls") else json.dumps(calls, ensure_ascii=False)


def _module(place: str) -> Any:
    if not place.endswith(".py"):
        try:
            return importlib.import_module(place)
        except ImportError as error:
            raise RewardError(f"cannot import {place!r}: {error}") from error
        except Exception as error:
            raise RewardError(f"importing {place!r} raised {type(error).__name__}: {error}") from error
    path = Path(place)
    if not path.is_file():
        raise RewardError(f"there is no file {place!r}")
    name = f"toolrl_reward_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RewardError(f"{place!r} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # a dataclass in the file looks its own module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise RewardError(f"running {place!r} raised {type(error).__name__}: {error}") from error
    return module


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in callables have none
        return {}


def _check_call(function: Callable[..., Any], name: str, signature: str, filled: _Filled) -> None:
    """Say before the first row is read where a function wants other parameters than it would get."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        raise RewardError(f"{name!r} is asynchronous: wrap it in a function that returns the number itself")
    words, keywords = filled
    try:
        wanted = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        wanted.bind(*words, **keywords)
    except TypeError as error:
        given = ", ".join(keywords) or "completion, ground_truth"
        raise RewardError(
            f"cannot call {name!r} as f({given}): {error}. The names of its parameters tell how it is called: "
            "solution_str as verl does, completions as TRL and ms-swift do, queries as OpenRLHF does, "
            f"anything else with completion and ground truth; here it was taken as {signature}"
        ) from None


def _guess(parameters: Mapping[str, inspect.Parameter]) -> str:
    if "solution_str" in parameters:
        return "verl"
    if "completions" in parameters:
        return "trl"
    return "openrlhf" if "queries" in parameters else "plain"


def _accepted(parameters: Mapping[str, inspect.Parameter], offered: dict[str, Any]) -> _Filled:
    """Keep the keywords that a function names, or all where it takes any."""
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return (), offered
    return (), {name: value for name, value in offered.items() if name in parameters}


def _plain(parameters: Mapping[str, inspect.Parameter]) -> _Filler:
    first = next((name for name in _COMPLETION_NAMES if name in parameters), None)
    second = next((name for name in _GROUND_TRUTH_NAMES if name in parameters and name != first), None)
    keyword_only = [name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
    if first is not None and second is not None and (first in keyword_only or second in keyword_only):
        return lambda completion, truth: ((), {first: completion, second: truth})
    return lambda completion, truth: ((completion, truth), {})


def _verl(parameters: Mapping[str, inspect.Parameter]) -> _Filler:
    return lambda completion, truth: _accepted(
        parameters,
        {"data_source": "toolrl", "solution_str": completion, "ground_truth": truth, "extra_info": {}},
    )


def _trl(parameters: Mapping[str, inspect.Parameter]) -> _Filler:
    column = next((name for name in _GROUND_TRUTH_NAMES if name in parameters), "ground_truth")
    return lambda completion, truth: _accepted(
        parameters, {"prompts": [""], "completions": [completion], "completion_ids": [[]], column: [truth]}
    )


def _openrlhf(parameters: Mapping[str, inspect.Parameter]) -> _Filler:
    return lambda completion, truth: _accepted(
        parameters, {"queries": [completion], "prompts": [""], "labels": [truth]}
    )


_FILLERS: dict[str, Callable[[Mapping[str, inspect.Parameter]], _Filler]] = {
    "plain": _plain,
    "verl": _verl,
    "trl": _trl,
    "openrlhf": _openrlhf,
}


def number_of(result: Any) -> float:
    """Read one reward from what a function returned: a number, a mapping with a score, or one item of these.

    Examples
    --------
    >>> number_of({"score": True}), number_of([2])
    (1.0, 2.0)
    """
    result = result.tolist() if hasattr(result, "tolist") else result
    if isinstance(result, Mapping):
        for field in ("score", "scores", "reward", "rewards"):
            if field in result:
                return number_of(result[field])
        raise RewardError(f"the reward returned a mapping without 'score' or 'reward': {', '.join(map(str, result))}")
    if isinstance(result, Sequence) and not isinstance(result, (str, bytes)):
        if len(result) != 1:
            raise RewardError(f"the reward returned {len(result)} values for one completion")
        return number_of(result[0])
    if isinstance(result, (bool, int, float)):
        value = float(result)
        if not abs(value) <= LARGEST:
            raise RewardError(f"the reward returned {value}")
        return value
    kind = "None" if result is None else type(result).__name__
    raise RewardError(f"the reward returned {kind}, not a number")
