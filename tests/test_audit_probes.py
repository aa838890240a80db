"""Probes of any reward: `robust` passes them all, the others fail the ones that hand arithmetic says they fail."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from toolrl_core.audit.probe_cases import TRUTHS, Truth, changed_values, same_call
from toolrl_core.audit.probes import ProbeReport, audit_reward, probe_names
from toolrl_core.audit.signatures import RewardError, SilentRewardError, adapt_reward, load_reward, write_ground_truth
from toolrl_core.calls import ToolCall
from toolrl_core.spec import RewardSpec

QUICK = [name for name in probe_names() if name != "bounded_time"]


@pytest.fixture(scope="module")
def reports() -> dict[str, ProbeReport]:
    return {name: audit_reward(name, only=QUICK) for name in ("paper", "released", "robust")}


def test_robust_passes_every_probe() -> None:
    report = audit_reward("robust", seconds=60.0)
    assert report.failed == ()
    assert report.held
    assert [result.name for result in report.results] == list(probe_names())


def test_paper_fails_what_its_formula_cannot_see(reports: dict[str, ProbeReport]) -> None:
    # Names are a set and no pair asks for equal names: copies, junk beside a wrong name, and exchanged names are free;
    # the format needs opening tags only.
    assert set(reports["paper"].failed) == {
        "unexpected_call",
        "malformed_call",
        "further_call",
        "second_block",
        "omitted_call",
        "added_call",
        "swapped_names",
        "floor",
    }


def test_released_fails_what_its_parser_and_its_greedy_matching_lose(reports: dict[str, ProbeReport]) -> None:
    assert set(reports["released"].failed) == {
        "layout",
        "alias",
        "second_block",
        "fixed_value",
        "dropped_argument",
        "truth_values",
        "unneeded_call",
        "floor",
        "tag_in_thought",
    }


@pytest.mark.parametrize(
    ("preset", "probe", "before", "after"),
    [
        ("paper", "further_call", 4.0, 4.0),  # format 1 + correctness 3, twice the one call
        ("paper", "second_block", 4.0, 4.0),
        ("paper", "swapped_names", 4.0, 4.0),
        ("paper", "floor", -3.0, -2.0),  # bare tags earn the format point above the floor
        ("released", "layout", 4.0, -2.0),  # one array on a line: the minimum, and the format holds
        ("released", "alias", 4.0, -2.0),
        ("released", "truth_values", 4.0, 4.0),
        ("released", "second_block", 3.0, 3.0),  # after prose the format is lost already, and the rest is free
        ("released", "unneeded_call", 1.0, 1.0),  # correctness 0 whatever is called, format 1
        ("released", "tag_in_thought", 4.0, -3.0),
        ("released", "floor", -3.0, -2.0),
    ],
)
def test_the_smallest_counterexample_has_the_scores_of_hand_arithmetic(
    reports: dict[str, ProbeReport], preset: str, probe: str, before: float, after: float
) -> None:
    example = reports[preset][probe].counterexample
    assert example is not None
    assert (example.before_score, example.after_score) == (before, after)


def test_no_failure_of_a_probe_is_smaller_than_the_one_shown(reports: dict[str, ProbeReport]) -> None:
    example = reports["paper"]["further_call"].counterexample
    assert example is not None
    assert example.ground_truth == '<think> plan </think>\n<tool_call>\n{"name": "f", "parameters": {}}\n</tool_call>'
    assert example.after.count('{"name": "f", "parameters": {}}') == 2


def test_right_keys_with_wrong_values_earn_the_share_of_the_formula(reports: dict[str, ProbeReport]) -> None:
    # (1 + n) / (1 + n + K): one call with one key 2/3, one call with two keys 2/4, two calls with one key each 3/5.
    shares = dict(reports["robust"].keys_right_values_wrong or audit_reward("robust").keys_right_values_wrong)
    assert shares["f(a)"] == pytest.approx(2 / 3)
    assert shares["f(a, b)"] == pytest.approx(1 / 2)
    assert shares["f(a), g(b)"] == pytest.approx(3 / 5)


def calls_in(text: str) -> list[dict[str, Any]]:
    block = re.search(r"<tool_call>\n(.*?)\n</tool_call>", text, re.DOTALL)
    return [json.loads(line) for line in block[1].splitlines()] if block else []


def forgets_missing_arguments(completion: str, ground_truth: str) -> float:
    """Compare only the arguments that the call gives: the flaw that one public run learned to use."""
    try:
        predicted, expected = calls_in(completion), calls_in(ground_truth)
    except ValueError:
        return 0.0
    if [call.get("name") for call in predicted] != [call["name"] for call in expected] or not expected:
        return 0.0
    total = 0.0
    for call, wanted in zip(predicted, expected, strict=True):
        given = call.get("parameters", {})
        wrong = sum(wanted["parameters"].get(key) != value for key, value in given.items())
        total += 1 / (1 + wrong)
    return total / len(expected)


def test_a_reward_that_forgets_missing_arguments_is_caught() -> None:
    report = audit_reward(forgets_missing_arguments, only=["key_changes", "dropped_argument", "name_only"])
    assert report.failed == ("key_changes", "dropped_argument", "name_only")
    example = report["dropped_argument"].counterexample
    assert example is not None
    assert (example.before_score, example.after_score) == (0.5, 1.0)  # one wrong value, then none to be wrong


@pytest.mark.parametrize("reward", ["paper", "released", "robust", "coarse", forgets_missing_arguments])
def test_each_probe_alone_gives_the_verdict_of_the_full_run(reward: Any, reports: dict[str, ProbeReport]) -> None:
    known = reports.get(reward) if isinstance(reward, str) else None
    whole = known or audit_reward(reward, only=QUICK)
    for name in QUICK:
        alone = audit_reward(reward, only=[name])[name]
        assert (name, alone.held, alone.failures) == (name, whole[name].held, whole[name].failures)
        assert alone.counterexample == whole[name].counterexample


def test_names_alone_hold_under_robust_also_when_no_other_probe_is_run() -> None:
    assert audit_reward("robust", only=["name_only"]).held
    assert audit_reward("robust", only=["refusal", "floor"]).held


def test_a_constant_reward_fails_the_probes_that_ask_for_a_difference() -> None:
    report = audit_reward(lambda completion, ground_truth: 0.0, only=QUICK, name="constant")
    assert {"call_changes", "value_changes", "unneeded_call", "added_call"} <= set(report.failed)
    assert {"identity", "layout", "fixed_value", "floor", "determinism"}.isdisjoint(report.failed)


def test_an_exception_of_the_reward_is_a_counterexample_and_stops_nothing() -> None:
    def fragile(completion: str, ground_truth: str) -> float:
        return float(len(calls_in(completion)))

    report = audit_reward(fragile, only=["numbers", "determinism"])
    assert report.failed == ("numbers",)
    example = report["numbers"].counterexample
    assert example is not None
    assert example.after_score is None
    assert example.error is not None
    assert example.error.startswith(("JSONDecodeError", "ValueError", "RecursionError"))


def test_a_reward_that_never_scores_is_given_up_with_its_error() -> None:
    asked: list[Any] = []

    def lost(completion: str, ground_truth: Any) -> float:
        asked.append(completion)
        return float(ground_truth[0]["parameters"]["nothing"])

    with pytest.raises(SilentRewardError, match="lost gave no number on any of 200 calls; the first said TypeError"):
        audit_reward(lost)
    assert len(asked) == 200
    with pytest.raises(SilentRewardError, match="the reward returned None"):
        audit_reward(lambda completion, ground_truth: None, only=["truth_values"])


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_the_time_limit_must_be_positive(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds must be positive"):
        audit_reward("robust", seconds=seconds)


def test_a_reward_that_changes_its_mind_is_caught() -> None:
    scores = iter(range(10_000))
    assert audit_reward(lambda c, g: float(next(scores)), only=["determinism"]).failed == ("determinism",)


def test_a_slow_reward_fails_within_the_time_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    from toolrl_core.audit import probes

    now = iter(range(0, 10_000, 3))  # every reading of the clock is three seconds later
    monkeypatch.setattr(probes.time, "perf_counter", lambda: float(next(now)))
    report = audit_reward(lambda c, g: 0.0, only=["bounded_time"], seconds=2.0)
    assert report.failed == ("bounded_time",)
    example = report["bounded_time"].counterexample
    assert example is not None
    assert example.change == "16 kB of opening tags"


def test_unknown_probes_and_presets_are_named() -> None:
    with pytest.raises(ValueError, match="unknown probe 'speling': choose from identity"):
        audit_reward("robust", only=["speling"])
    with pytest.raises(ValueError, match="unknown preset 'robbust'"):
        audit_reward("robbust")


def test_every_changed_value_is_wrong_as_json() -> None:
    for truth in TRUTHS:
        for call in truth.calls:
            for key, value in call.arguments.items():
                for _, wrong in changed_values(value):
                    assert not same_call(call, ToolCall(call.name, {**call.arguments, key: wrong}))


def test_rewards_of_every_trainer_are_called_in_their_own_way() -> None:
    seen: list[Any] = []

    def verl(data_source: str, solution_str: str, ground_truth: Any, extra_info: Any = None) -> dict[str, float]:
        seen.append((solution_str, ground_truth))
        return {"score": 1.5, "other": 0.0}

    def trl(completions: list[str], solution: list[Any], **columns: Any) -> list[float | None]:
        seen.append((completions[0], solution[0]))
        return [2.5]

    def openrlhf(queries: list[str], prompts: list[str], labels: list[Any]) -> dict[str, list[float]]:
        seen.append((queries[0], labels[0]))
        return {"rewards": [3.5], "scores": [3.5]}

    class Swift:
        def __call__(self, completions: list[str], **columns: Any) -> list[float]:
            seen.append((completions[0], columns["ground_truth"][0]))
            return [4.5]

    def plain(answer: str, label: str) -> float:
        seen.append((answer, label))
        return 5.5

    rewards = [adapt_reward(function) for function in (verl, trl, openrlhf, Swift(), plain)]
    assert [reward("completion", "truth") for reward in rewards] == [1.5, 2.5, 3.5, 4.5, 5.5]
    assert seen == [("completion", "truth")] * 5


def test_a_reward_that_wants_other_parameters_is_refused_before_it_is_called() -> None:
    async def later(completion: str, ground_truth: Any) -> float:
        raise AssertionError

    class Later:
        async def __call__(self, completion: str, ground_truth: Any) -> float:
            raise AssertionError

    class Picky:
        def __init__(self, scale: float) -> None:
            raise AssertionError

    def tested(completions: list[str], unit_tests: list[Any]) -> list[float]:
        raise AssertionError

    cases: list[tuple[Any, str]] = [
        (lambda text: 1.0, r"cannot call '<lambda>' as f\(completion, ground_truth\): too many .* taken as plain"),
        (lambda a, b, c: 1.0, r"missing a required argument: 'c'"),
        (tested, r"cannot call 'tested' as f\(completions\): .*'unit_tests'.*taken as trl"),
        (later, "'later' is asynchronous"),
        (Later(), "'Later' is asynchronous"),
        (Picky, "cannot make an instance of 'Picky' without arguments"),
        (5, "a reward must be callable, found int"),
    ]
    for function, message in cases:
        with pytest.raises(RewardError, match=message):
            adapt_reward(function)


@pytest.mark.parametrize("value", [None, "1.0", float("nan"), [1.0, 2.0], {"points": 1.0}])
def test_a_result_that_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(RewardError, match="the reward returned"):
        adapt_reward(lambda completion, ground_truth: value)("", "")


def test_the_ground_truth_comes_in_the_form_that_the_reward_wants() -> None:
    text = Truth((ToolCall("f", {"a": 1}),)).text
    assert write_ground_truth(text, "text") == text
    assert write_ground_truth(text, "calls") == [{"name": "f", "parameters": {"a": 1}}]
    assert json.loads(write_ground_truth(text, "json")) == [{"name": "f", "parameters": {"a": 1}}]
    assert write_ground_truth(text, "calls_arguments") == [{"name": "f", "arguments": {"a": 1}}]
    assert json.loads(write_ground_truth(text, "json_arguments")) == [{"name": "f", "arguments": {"a": 1}}]
    forms: list[Any] = []
    audit_reward(lambda c, g: forms.append(g) or 0.0, ground_truth_form="calls", only=["determinism"])
    assert [] in forms  # the ground truth without calls
    assert [{"name": "f", "parameters": {"a": 1}}] in forms


def test_a_reward_is_found_in_a_file_or_a_module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "my_reward.py"
    file.write_text("def always(completion, ground_truth):\n    return 1\n", encoding="utf-8")
    assert load_reward(f"{file}:always")("", "") == 1.0
    monkeypatch.syspath_prepend(tmp_path)
    assert load_reward("my_reward:always")("", "") == 1.0
    with pytest.raises(RewardError, match="has no 'never'"):
        load_reward(f"{file}:never")
    with pytest.raises(RewardError, match=r"there is no file 'nowhere\.py'"):
        load_reward("nowhere.py:f")
    (tmp_path / "broken_reward.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(RewardError, match=r"running .* raised ZeroDivisionError: division by zero"):
        load_reward(f"{tmp_path / 'broken_reward.py'}:f")
    with pytest.raises(RewardError, match="importing 'broken_reward' raised ZeroDivisionError"):
        load_reward("broken_reward:f")


def test_a_preset_is_a_reward() -> None:
    gold = '<think> plan </think>\n<tool_call>\n{"name": "f", "parameters": {"a": 1}}\n</tool_call>'
    assert [load_reward(name)(gold, gold) for name in RewardSpec.presets()] == [
        *(2.0 if name.endswith("equal_max") else 4.0 for name in RewardSpec.presets())
    ]


def test_the_text_shows_each_failure_with_its_scores(reports: dict[str, ProbeReport]) -> None:
    text = reports["released"].to_text()
    assert text.startswith("released: 17 of 26 properties hold")
    assert "FAILS   truth_values" in text
    assert '{"name": "f", "parameters": {"a": true}}' in text
    assert json.loads(json.dumps(reports["released"].to_dict()))["failed"][0] == "layout"
