"""Rows of the shapes that ToolRL's own files have: each ground truth, as its own completion, earns the maximum."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from toolrl_core.batch import score_many
from toolrl_core.ground_truth import parse_ground_truth, render_completion
from toolrl_core.rewards import score
from toolrl_core.spec import RewardSpec

PRESETS = RewardSpec.presets()
THOUGHT = "<think> I should use the appropriate tool. </think>"


def calls(*objects: dict[str, Any]) -> str:
    lines = [json.dumps(each, ensure_ascii=False) for each in objects]
    return "\n".join(["<tool_call>", *lines, "</tool_call>"])


def call(name: str, /, **parameters: Any) -> dict[str, Any]:
    return {"name": name, "parameters": parameters}


ONE = f"{THOUGHT}\n{calls(call('current_time', zone='Europe/Oslo'))}"
TWO = f"{THOUGHT}\n{calls(call('find_flights', origin='OSL', stops=0), call('find_hotels', city='Bodø', stars=4.5))}"
REPEATED = f"{THOUGHT}\n{calls(call('is_prime', n=7), call('is_prime', n=8), call('is_prime', n=7))}"
BARE = f"{THOUGHT}\n{calls(call('list_alarms'))}"
NESTED = (
    THOUGHT
    + "\n"
    + calls(
        call("plot", points=[[0, 1.5], [1, -2]], style={"colours": ["red"], "grid": None}, title="a < b", show=True)
    )
)
RESPONSE = "<think> No tool fits the question. </think>\n<response> Which city do you mean? </response>"
CALL_AND_RESPONSE = f"{ONE}\n<response> I look it up. </response>"
CHINESE = f"<think> 我需要查询天气。 </think>\n{calls(call('weather', city='上海', days=3))}"
MENTIONED = ONE.replace("I should use", "I answer inside <tool_call> and use")
RL_ROWS = {
    "one call": ONE,
    "two names": TWO,
    "one name three times": REPEATED,
    "no arguments": BARE,
    "nested values": NESTED,
    "response": RESPONSE,
    "call and response": CALL_AND_RESPONSE,
    "other script": CHINESE,
}


def row(ground_truth: str) -> dict[str, Any]:
    """Return a row of a training file: the ground truth stands inside the model of the reward."""
    return {
        "data_source": "own",
        "prompt": [{"role": "system", "content": "Tools: …"}, {"role": "user", "content": "…"}],
        "ability": "tool",
        "reward_model": {"style": "rule", "ground_truth": ground_truth},
        "extra_info": {"split": "test", "index": 0},
    }


@pytest.mark.parametrize("preset", PRESETS)
def test_every_ground_truth_as_its_own_completion_earns_the_maximum(preset: str) -> None:
    frame = pd.DataFrame([row(text) for text in RL_ROWS.values()])
    truths = [model["ground_truth"] for model in frame["reward_model"]]
    spec = PRESETS[preset]
    low, high = spec.schedule.at().correctness
    for completions in (truths, [render_completion(text) for text in truths]):
        table = score_many(completions, truths, spec)
        expected = [0 if spec.no_call == "zero" and text == RESPONSE else high for text in truths]
        assert table["correctness"].tolist() == expected
        assert table["format"].tolist() == [1] * len(truths)
        assert set(table["reasons"]) == {""}
    refused = score_many([""] * len(truths), truths, spec)
    floor = dict.fromkeys(truths, low) | {RESPONSE: 0 if spec.no_call == "zero" else high}
    assert refused["correctness"].tolist() == [floor[text] for text in truths]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_thought_that_names_the_call_tag_loses_everything_under_the_released_rules_alone(preset: str) -> None:
    result = score(MENTIONED, MENTIONED, PRESETS[preset])
    low, high = result.scales.correctness
    if preset.startswith("released"):
        assert (result.format, result.correctness) == (0, low)
        assert {finding.code for finding in result.reasons} == {"released_unreadable", "released_pattern_not_met"}
    else:
        assert (result.format, result.correctness) == (1, high)
        assert {finding.code for finding in result.reasons} == {"tag_in_think"}


def test_rows_of_instructions_hold_the_ground_truth_as_their_output() -> None:
    rows = json.loads(json.dumps([{"instruction": "…", "input": "", "output": text} for text in RL_ROWS.values()]))
    requires = [parse_ground_truth(each["output"]).requires for each in rows]
    both = ("thought", "tool_call")
    assert requires == [both] * 5 + [("thought", "response"), (*both, "response"), both]


def test_values_keep_their_types() -> None:
    (plot,) = parse_ground_truth(NESTED).calls
    assert dict(plot.arguments) == {  # type: ignore[union-attr]
        "points": [[0, 1.5], [1, -2]],
        "style": {"colours": ["red"], "grid": None},
        "title": "a < b",
        "show": True,
    }
    assert [type(value) for value in plot.arguments["points"][0]] == [int, float]  # type: ignore[union-attr]
    assert [dict(each.arguments) for each in parse_ground_truth(REPEATED).calls] == [  # type: ignore[union-attr]
        {"n": 7},
        {"n": 8},
        {"n": 7},
    ]


def test_a_set_of_which_nothing_was_parsed_has_the_mean_that_was_once_reported() -> None:
    # 80 rows, 71 of them with calls: 71 * (-3) / 80
    truths = [ONE] * 71 + [RESPONSE] * 9
    table = score_many(["no tags"] * 80, truths, PRESETS["released"])
    assert table["correctness"].mean() == -2.6625
    assert table["format"].sum() == 0


def test_repeated_names_are_matched_by_their_values() -> None:
    text = f"{THOUGHT}\n{calls(call('is_prime', n=8), call('is_prime', n=7))}"
    # names 2/3 of the multiset, two calls right, maximum 1 + 3 + 3
    for preset in ("released", "robust"):
        assert score(text, REPEATED, PRESETS[preset]).correctness == pytest.approx(-3 + 6 * (2 / 3 + 4) / 7)
    assert score(text, REPEATED).correctness == pytest.approx(-3 + 6 * 5 / 7)


def test_a_column_of_messages_from_a_columnar_file_is_scored(tmp_path: Any) -> None:
    pytest.importorskip("pyarrow")
    message = {"role": "assistant", "content": ONE, "tool_calls": None}
    frame = pd.DataFrame({"completion": [[message]], "ground_truth": [[call("current_time", zone="Europe/Oslo")]]})
    frame.to_parquet(tmp_path / "rows.parquet")
    read = pd.read_parquet(tmp_path / "rows.parquet")
    assert score_many(read["completion"], read["ground_truth"], PRESETS["robust"])["correctness"].tolist() == [3]
