"""The options of a reward: fixed once made, told apart, and refused by name where they are unknown."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from toolrl_core.schedules import LengthReward, constant, dynamic, equal_max, two_stage
from toolrl_core.spec import RewardSpec

PRESETS = [
    *("paper", "released", "robust", "equal_max", "finegrained", "intermediate", "coarse"),
    *("released_refined", "released_intermediate", "released_coarse", "released_equal_max"),
]
OWN = RewardSpec(
    names="multiset",
    unordered=["ids"],
    name_aliases={"a": "b"},
    schemas={"f": {"x": {"type": "integer"}}},
    schedule=two_stage(),
    length_reward=LengthReward(rounded=True),
)


def test_the_papers_rules_are_the_defaults() -> None:
    assert RewardSpec() == RewardSpec.preset("paper")
    spec = RewardSpec()
    assert (spec.parser, spec.matching, spec.same_name, spec.names) == ("tolerant", "optimal", False, "set")
    assert (spec.equality, spec.extra_calls, spec.no_call) == ("json", "name_only", "scored")
    assert (spec.granularity, spec.credit, spec.format_rule) == ("parameter", "partial", "ordered_tags")
    assert (spec.schedule, spec.length_reward) == (constant(), None)


def test_the_released_rules_differ_from_the_paper_in_seven_options_and_the_parser() -> None:
    paper, released = RewardSpec().options(), RewardSpec.preset("released").options()
    assert {option: value for option, value in released.items() if value != paper[option]} == {
        "parser": "released",
        "matching": "greedy_ground_truth",
        "same_name": True,
        "names": "multiset",
        "equality": "python",
        "no_call": "zero",
        "exact_shortcut": True,
        "format_rule": "released",
    }


def test_the_robust_rules_differ_from_the_paper_in_four_options() -> None:
    paper, robust = RewardSpec().options(), RewardSpec.preset("robust").options()
    assert {option: value for option, value in robust.items() if value != paper[option]} == {
        "same_name": True,
        "names": "multiset",
        "extra_calls": "counted",
        "format_rule": "strict",
    }


def test_presets_are_listed_by_name() -> None:
    presets = RewardSpec.presets()
    assert list(presets) == PRESETS
    assert all(spec.name == name for name, spec in presets.items())
    assert repr(presets["robust"]) == "RewardSpec.preset('robust')"
    assert len({json.dumps(spec.to_dict(), sort_keys=True) for spec in presets.values()}) == len(PRESETS)


@pytest.mark.parametrize("spec", [*RewardSpec.presets().values(), OWN], ids=[*PRESETS, "own"])
def test_a_spec_survives_copying_and_pickling(spec: RewardSpec) -> None:
    for twin in (copy.copy(spec), copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):
        assert twin == spec
        assert hash(twin) == hash(spec)
        assert (twin.name, repr(twin), twin.to_dict()) == (spec.name, repr(spec), spec.to_dict())


@pytest.mark.parametrize("spec", [*RewardSpec.presets().values(), OWN], ids=[*PRESETS, "own"])
def test_the_options_are_strict_json_for_provenance(spec: RewardSpec) -> None:
    plain = spec.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)).keys() == plain.keys()
    assert set(plain) == {*spec.options(), "preset"}


def test_a_spec_cannot_be_changed_but_replaced() -> None:
    spec = RewardSpec.preset("robust")
    with pytest.raises(AttributeError, match=r"cannot be changed: use replace\(names=…\)"):
        spec.names = "set"
    with pytest.raises(AttributeError, match="cannot be changed"):
        del spec.names
    with pytest.raises(AttributeError):
        spec.invented = 1  # type: ignore[attr-defined]
    changed = spec.replace(names="set")
    assert (changed.names, spec.names, changed.name) == ("set", "multiset", None)
    assert changed != spec
    assert changed.replace(names="multiset") == spec
    assert repr(changed) == "RewardSpec(same_name=True, extra_calls='counted', format_rule='strict')"


def test_given_mappings_are_copied() -> None:
    aliases = {"a": "b"}
    spec = RewardSpec(name_aliases=aliases)
    aliases["c"] = "d"
    assert dict(spec.name_aliases) == {"a": "b"}
    with pytest.raises(TypeError):
        spec.name_aliases["c"] = "d"  # type: ignore[index]


def test_a_spec_says_whether_it_needs_a_step() -> None:
    assert not RewardSpec().needs_step
    assert not RewardSpec(schedule=equal_max()).needs_step
    assert RewardSpec(schedule=dynamic()).needs_step
    assert RewardSpec(length_reward=LengthReward(growth=256)).needs_step
    assert not RewardSpec(length_reward=LengthReward()).needs_step


def test_the_name_credit_follows_the_credit_unless_it_is_set() -> None:
    assert not RewardSpec().exact_names
    assert RewardSpec(credit="exact").exact_names
    assert not RewardSpec(credit="exact", name_credit="partial").exact_names
    assert RewardSpec(name_credit="exact").exact_names


@pytest.mark.parametrize("option", ["strict_match", "STRICTMATCH", "granularitty", "name", ""])
def test_an_unknown_option_is_an_error_that_lists_the_known_ones(option: str) -> None:
    for make in (RewardSpec, RewardSpec().replace):
        with pytest.raises(ValueError, match=f"unknown option '{option}'.*: choose from parser, .*, length_reward"):
            make(**{option: True})


def test_a_misspelt_option_is_told_the_right_one() -> None:
    with pytest.raises(ValueError, match=r"unknown option 'granularitty' \(did you mean 'granularity'\?\)"):
        RewardSpec(granularitty="call")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("parser", "strict", "unknown parser 'strict': choose from tolerant, released"),
        (
            "matching",
            "hungarian",
            "unknown matching 'hungarian': choose from optimal, greedy_ground_truth, greedy_prediction, greedy_best",
        ),
        ("names", "list", "unknown names 'list': choose from set, multiset"),
        ("equality", "fuzzy", "unknown equality 'fuzzy': choose from json, json_strict, python, bfcl, schema"),
        ("extra_calls", "free", "unknown extra_calls 'free': choose from name_only, counted"),
        ("no_call", None, "unknown no_call None: choose from scored, zero"),
        (
            "format_rule",
            "loose",
            "unknown format_rule 'loose': choose from ordered_tags, literal, released, strict, none",
        ),
        ("granularity", "key", "unknown granularity 'key': choose from parameter, call, answer"),
        ("credit", 1, "unknown credit 1: choose from partial, exact"),
        ("credit", ["exact"], r"unknown credit \['exact'\]: choose from partial, exact"),
        ("name_credit", "some", "unknown name_credit 'some': choose from partial, exact, None"),
        ("call_equality", "id", "unknown call_equality 'id': choose from arguments, object"),
        ("same_name", 1, "same_name must be True or False, found 1"),
        ("exact_shortcut", "yes", "exact_shortcut must be True or False, found 'yes'"),
        ("unordered", "ids", "unordered must be a collection of parameter names, found 'ids'"),
        ("unordered", 5, "unordered must be a collection of parameter names, found 5"),
        ("name_aliases", ["a"], r"name_aliases must be a mapping, found \['a'\]"),
        ("schemas", 5, "schemas must be a mapping, found 5"),
        ("schedule", (0, 1), r"schedule must be a Schedule \(constant, equal_max, two_stage, …\), found \(0, 1\)"),
        ("schedule", None, "schedule must be a Schedule"),
        ("length_reward", 512, "length_reward must be a LengthReward or None, found 512"),
    ],
)
def test_an_unknown_value_is_an_error_that_lists_the_known_ones(option: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RewardSpec(**{option: value})


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"unknown preset 'default': choose from {', '.join(PRESETS)}"):
        RewardSpec.preset("default")
