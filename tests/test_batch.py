"""Tables of scores: the same numbers as one score at a time, the same columns on every row."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.mutated_texts import mutated
from toolrl_core.batch import COLUMNS, score_many, score_rows
from toolrl_core.breakdown import package_version
from toolrl_core.calls import AcceptedCall, GroundTruthError, ToolCall
from toolrl_core.ground_truth import render_completion
from toolrl_core.rewards import iter_scores, score
from toolrl_core.schedules import LengthReward, dynamic, two_stage
from toolrl_core.spec import RewardSpec

F1 = {"name": "f", "parameters": {"a": 1}}
GOLD = [F1]
RIGHT = render_completion(GOLD)
GROUND_TRUTHS: list[Any] = [
    GOLD,
    [],
    render_completion([F1, {"name": "g", "parameters": {"b": [1, {"c": None}]}}]),
    "<think> t </think>\n<response> r </response>",
    f"{RIGHT}\n<response> r </response>",
    "<think> maybe <response> </think>\n<tool_call>\n" + '{"name": "f", "parameters": {}}\n</tool_call>',
    [ToolCall("f", {"a": float("nan")}), ToolCall("f", {"a": 1})],
]
ACCEPTED = [AcceptedCall("f", {"a": [1, 2], "b": ["", {"k": [1]}]}, defaults={"c": 3}), F1]


def same(a: float | None, b: float) -> bool:
    return (a is None and math.isnan(b)) or a == b


def assert_rows_equal_scores(
    completions: Sequence[Any], ground_truths: Sequence[Any], spec: RewardSpec, step: Any
) -> None:
    table = score_many(completions, ground_truths, spec, step=step)
    assert list(table.columns) == list(COLUMNS)
    for row, (completion, truth) in enumerate(zip(completions, ground_truths, strict=True)):
        result = score(completion, truth, spec, step=step)
        found = table.iloc[row]
        for column in ("total", "format", "correctness", "length", "name_score", "matched", "maximum"):
            assert same(getattr(result, column), found[column]), (column, completion, truth)
        counts = (found["n_ground_truth"], found["n_predicted"], found["n_malformed"])
        assert counts == (len(result.pairs), result.n_predicted, result.n_malformed)
        codes = [finding.code for finding in result.reasons]
        assert set(found["reasons"].split()) <= set(codes)
        assert len(found["reasons"].split()) == len(set(found["reasons"].split()))


OPTIONS: dict[str, dict[str, Any]] = {
    "length": {"length_reward": LengthReward(target=5)},
    "grown length": {"length_reward": LengthReward(target=5, growth=10, rounded=True), "parser": "released"},
    "dynamic": {"schedule": dynamic()},
    "released format": {"format_rule": "released"},
    "literal format": {"format_rule": "literal"},
    "strict format, released parser": {"format_rule": "strict", "parser": "released"},
    "no format": {"format_rule": "none"},
    "prefilled": {"prefilled_thought": True, "format_rule": "strict"},
    "literals": {"accept_python_literals": True},
    "schema": {"equality": "schema", "schemas": {"f": {"a": {"type": "integer"}}}},
    "aliases": {"name_aliases": {"g": "f"}, "same_name": True},
    "bfcl": {"equality": "bfcl"},
    "unordered": {"unordered": ("b",)},
    "ordered": {"credit": "exact", "ordered": True},
    "zero": {"no_call": "zero", "granularity": "answer"},
}


@pytest.mark.parametrize("preset", RewardSpec.presets())
def test_rows_equal_scores_under_every_preset(preset: str) -> None:
    rng = random.Random(f"rows {preset}")
    completions = [mutated(rng) for _ in range(250)] * 2  # every text twice, for what is remembered
    truths = [rng.choice(GROUND_TRUTHS) for _ in completions]
    assert_rows_equal_scores(completions, truths, RewardSpec.preset(preset), None)


@pytest.mark.parametrize("name", OPTIONS)
def test_rows_equal_scores_under_other_options(name: str) -> None:
    rng = random.Random(f"rows {name}")
    spec = RewardSpec(**OPTIONS[name])
    completions = [mutated(rng) for _ in range(200)] * 2
    truths = [
        rng.choice(GROUND_TRUTHS if spec.parser == "released" else [*GROUND_TRUTHS, ACCEPTED]) for _ in completions
    ]
    assert_rows_equal_scores(completions, truths, spec, 40 if spec.needs_step else None)


def test_rows_equal_scores_of_calls_and_messages() -> None:
    message = [{"role": "assistant", "content": RIGHT, "tool_calls": [F1]}]
    completions: list[Any] = [[], [F1], [ToolCall("f", {"a": 1})], [F1, 5, None], message, RIGHT, ""]
    for spec in RewardSpec.presets().values():
        assert_rows_equal_scores(completions, [GOLD] * len(completions), spec, None)


def test_the_columns_have_the_same_types_on_every_table() -> None:
    for table in (
        score_many([], []),
        score_many([[]], [[]]),
        score_many([RIGHT, [F1], ""], [GOLD, GOLD, GOLD]),
        score_many([RIGHT], [GOLD], RewardSpec.preset("released")),
    ):
        assert list(table.columns) == list(COLUMNS)
        assert [str(kind) for kind in table.dtypes][:10] == ["float64"] * 7 + ["int64"] * 3
        assert table.index.equals(pd.RangeIndex(len(table)))
        assert all(isinstance(reasons, str) for reasons in table["reasons"])


def test_a_missing_format_is_not_a_number() -> None:
    table = score_many([[F1], RIGHT], [GOLD, GOLD])
    assert table["format"].isna().tolist() == [True, False]
    assert table["total"].tolist() == [3, 4]


def test_a_table_carries_the_options_and_the_version() -> None:
    table = score_many([RIGHT], [GOLD], RewardSpec.preset("robust"))
    assert table.attrs["spec"]["preset"] == "robust"
    assert table.attrs["version"] == package_version()


def test_every_row_may_have_its_own_step() -> None:
    spec = RewardSpec(schedule=two_stage())
    for steps in ([1, 29, 30], (1, 29, 30), np.array([1, 29, 30]), pd.Series([1, 29, 30]), range(29, 32)):
        table = score_many([RIGHT] * 3, [GOLD] * 3, spec, step=steps)
        assert table["correctness"].tolist() == [1 if step < 30 else 3 for step in steps]
    assert score_many([RIGHT] * 3, [GOLD] * 3, spec, step=np.int64(30))["correctness"].tolist() == [3, 3, 3]


def test_columns_of_a_table_are_taken_as_they_are() -> None:
    frame = pd.DataFrame({"completion": [RIGHT, ""], "gold": [RIGHT, RIGHT]})
    assert score_many(frame["completion"], frame["gold"])["total"].tolist() == [4, -3]
    assert score_many((text for text in [RIGHT, ""]), (text for text in [RIGHT, RIGHT]))["total"].tolist() == [4, -3]


def test_a_progress_bar_changes_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    quiet, shown = (score_many([RIGHT, ""], [GOLD, GOLD], progress=progress) for progress in (False, True))
    pd.testing.assert_frame_equal(quiet, shown)
    assert "2/2" in capsys.readouterr().err


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="2 completions but 1 ground truths"):
        score_many([RIGHT, RIGHT], [GOLD])
    with pytest.raises(ValueError, match="2 rows but 3 steps"):
        score_many([RIGHT, RIGHT], [GOLD, GOLD], RewardSpec(schedule=two_stage()), step=[1, 2, 3])


def test_a_missing_step_is_refused_even_for_no_rows() -> None:
    for rows in (0, 1):
        with pytest.raises(ValueError, match="'two_stage' changes with the training step, but no step was given"):
            score_many([RIGHT] * rows, [GOLD] * rows, RewardSpec(schedule=two_stage()))


def test_a_bad_ground_truth_names_its_row_its_call_and_its_field() -> None:
    for run in (score_many, lambda a, b: list(iter_scores(zip(a, b, strict=True)))):
        with pytest.raises(GroundTruthError, match="row 1: must be non-empty text, found 5") as caught:
            run([RIGHT, RIGHT], [GOLD, [F1, {"name": 5}]])
        assert (caught.value.index, caught.value.field) == (1, "name")


def test_a_bad_completion_names_its_row_and_so_does_a_truth_that_the_released_rules_cannot_read() -> None:
    with pytest.raises(TypeError, match="row 1: a completion must be text or a list of calls or messages, found int"):
        score_many([RIGHT, 5], [GOLD, GOLD])
    with pytest.raises(ValueError, match="row 1: ground truth call 0 \\('f'\\) accepts several values"):
        score_many([RIGHT, RIGHT], [GOLD, ACCEPTED], RewardSpec.preset("released"))


def test_a_bad_row_can_be_kept_without_a_score_and_loses_no_other_row() -> None:
    completions = [RIGHT, RIGHT, None, "", RIGHT]
    truths = [GOLD, [F1, {"name": 5}], GOLD, GOLD, "no tags"]
    table = score_many(completions, truths, errors="record")
    assert list(table.columns) == [*COLUMNS, "problem"]
    assert table["total"].fillna(-99).tolist() == [4, -99, -99, -3, -99]
    assert table["problem"].tolist() == [
        "",
        "ground truth call 1, field 'name': must be non-empty text, found 5",
        "a completion must be text or a list of calls or messages, found NoneType",
        "",
        "ground truth: has no <think>, <tool_call> or <response> block: 'no tags'",
    ]
    bad = table[table["problem"] != ""].drop(columns=["reasons", "problem"])
    assert bad.isna().all(axis=None)
    assert table["reasons"].tolist()[1] == ""
    several = score_many([RIGHT, RIGHT], [ACCEPTED, GOLD], RewardSpec.preset("released"), errors="record")
    assert several["total"].isna().tolist() == [True, False]
    assert "accepts several values" in several["problem"][0]


def test_a_table_that_may_keep_bad_rows_has_the_same_types_with_and_without_one() -> None:
    for rows in (([], []), ([RIGHT], [GOLD]), ([RIGHT, RIGHT], [GOLD, None])):
        table = score_many(*rows, errors="record")
        assert [str(kind) for kind in table.dtypes][:10] == ["float64"] * 10
        assert table.index.equals(pd.RangeIndex(len(rows[0])))
    plain = score_many([RIGHT, ""], [GOLD, GOLD])
    kept = score_many([RIGHT, ""], [GOLD, GOLD], errors="record")
    pd.testing.assert_frame_equal(kept[list(COLUMNS)], plain, check_dtype=False)


def test_an_unknown_way_with_errors_is_named_and_options_still_raise() -> None:
    with pytest.raises(ValueError, match="unknown errors 'ignore': choose from raise, record"):
        score_many([], [], errors="ignore")
    with pytest.raises(ValueError, match="no step was given"):
        score_many([RIGHT], [GOLD], RewardSpec(schedule=two_stage()), errors="record")
    with pytest.raises(ValueError, match="2 completions but 1 ground truths"):
        score_many([RIGHT, RIGHT], [GOLD], errors="record")


def test_ground_truths_are_told_apart_by_value_or_identity() -> None:
    one, other = [dict(F1)], [{"name": "g", "parameters": {}}]
    totals = score_many([[F1]] * 4, [one, other, list(one), other])["total"].tolist()
    assert totals == [3, -3, 3, -3]


def test_rows_stream_without_pandas() -> None:
    rows = score_rows(iter([(RIGHT, GOLD), ("", GOLD)]), RewardSpec())
    assert next(rows)[:3] == (4, 1, 3)
    assert next(rows)[:3] == (-3, 0, -3)
    with pytest.raises(StopIteration):
        next(rows)
