"""Reading rollouts files: every format, the usual layouts, and rows that nobody can use."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from toolrl_core.audit.columns import BadRow, Columns, Rollout, read_tools, recognise_columns
from toolrl_core.audit.rollouts import RolloutsError, iter_chunks, open_rollouts
from toolrl_core.audit.run import audit

GOLD = [{"name": "f", "arguments": {"a": 1}}]
TEXT = '<think> x </think>\n<tool_call>\n{"name": "f", "parameters": {"a": 1}}\n</tool_call>'
ROWS = [{"completion": TEXT, "ground_truth": GOLD, "group": f"g{i // 2}", "reward": i / 2} for i in range(5)]


def write_lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rollouts(path: Path, **options: Any) -> list[Rollout | BadRow]:
    return list(open_rollouts(path, **options))


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    lines = write_lines(tmp_path / "rows.jsonl", ROWS)
    (tmp_path / "rows.json").write_text(json.dumps(ROWS, indent=2), encoding="utf-8")
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    with (tmp_path / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows([{**row, "ground_truth": json.dumps(row["ground_truth"])} for row in ROWS])
    expected = rollouts(lines)
    assert [row.line for row in expected] == [1, 2, 3, 4, 5]
    assert [row.reward for row in expected if isinstance(row, Rollout)] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert rollouts(tmp_path / "rows.json") == expected
    assert rollouts(tmp_path / "rows.parquet") == expected
    from_csv = audit(tmp_path / "rows.csv", presets=["robust"])
    assert from_csv.rewards["robust"]["mean"] == 4.0
    assert from_csv.rewards["recorded"]["mean"] == 1.0
    assert from_csv.data["groups"]["sizes"] == [[1, 1], [2, 2]]


def test_the_layout_of_verl_is_recognised() -> None:
    record = {
        "data_source": "rlla",
        "prompt": [{"role": "user", "content": "?"}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": TEXT},
        "extra_info": {"index": 3, "split": "test"},
        "solution_str": TEXT,
    }
    columns = recognise_columns([record])
    assert columns == Columns(
        completion="solution_str", ground_truth="reward_model.ground_truth", group="extra_info.index", prompt="prompt"
    )


def test_an_unknown_name_can_be_given() -> None:
    rows = [{"mine": TEXT, "right": {"deep": GOLD}}]
    report = audit(rows, columns=Columns(completion="mine", ground_truth="right.deep"), presets=["robust"])
    assert report.rewards["robust"]["mean"] == 4.0


@pytest.mark.parametrize(
    ("option", "meaning"),
    [
        ("completion", "the completion"),
        ("ground_truth", "the ground truth"),
        ("group", "the group"),
        ("step", "the step"),
        ("reward", "the recorded reward"),
        ("tools", "the declared tools"),
    ],
)
def test_a_named_column_that_does_not_exist_is_refused(option: str, meaning: str, tmp_path: Path) -> None:
    record = {"completion": TEXT, "ground_truth": GOLD, "extra": {"index": 1}}
    columns = Columns(**{option: "extra.foo"})
    message = f"there is no column 'extra.foo', named for {meaning}; there are: completion, ground_truth, extra"
    with pytest.raises(RolloutsError, match=message):
        open_rollouts(write_lines(tmp_path / "rows.jsonl", [record]), columns=columns)
    with pytest.raises(ValueError, match=message):
        audit([record], columns=columns)


def test_answers_that_are_all_empty_are_answers() -> None:
    report = audit([{"completion": "", "ground_truth": GOLD, "answer": ""}] * 3, presets=["robust"])
    assert report.rewards["robust"]["mean"] == -3.0
    assert report.warnings[0].code == "everything_at_floor"


def test_a_named_column_may_begin_late_and_may_hold_nothing(tmp_path: Path) -> None:
    first = {"completion": TEXT, "ground_truth": GOLD}
    path = write_lines(tmp_path / "rows.jsonl", [*[first] * 30, {**first, "mine": 0.5}, {**first, "group": None}])
    report = audit(path, columns=Columns(reward="mine", group="group"), presets=["robust"])
    assert report.rewards["recorded"]["mean"] == 0.5


def test_a_step_or_a_recorded_reward_that_is_no_number_is_told() -> None:
    row = {"completion": TEXT, "ground_truth": GOLD}
    rows = [{**row, "reward": "abc", "step": 1}, {**row, "reward": "", "step": "zz"}, {**row, "reward": None}]
    report = audit(rows, presets=["robust"])
    told = {finding.code: finding.text for finding in report.warnings}
    assert told["unread_reward"] == (
        "The recorded reward of 1 of 3 rows is no number that can be used (first in line 1: abc)."
    )
    assert "The step of 1 of 3 rows" in told["unread_step"]
    assert "line 2: zz" in told["unread_step"]


def bfcl_folder(folder: Path) -> Path:
    tool = {
        "name": "math.gcd",
        "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    }
    (folder / "possible_answer").mkdir()
    name = "BFCL_v4_simple_python.json"
    question = [[{"role": "user", "content": "?"}]]
    write_lines(folder / name, [{"id": "s_0", "question": question, "function": [tool]}])
    write_lines(folder / "possible_answer" / name, [{"id": "s_0", "ground_truth": [{"math.gcd": {"a": [4, 5]}}]}])
    return folder


def test_the_files_of_the_leaderboard_work_without_options(tmp_path: Path) -> None:
    folder = bfcl_folder(tmp_path)
    for path in ("BFCL_v4_simple_python.json", "possible_answer/BFCL_v4_simple_python.json"):
        (row,) = rollouts(folder / path)
        assert isinstance(row, Rollout)
        assert row.ground_truth == [{"math.gcd": {"a": [4, 5]}}]
        assert read_tools(row.tools) == {
            "math.gcd": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
        }
        report = audit(folder / path)
        assert report.data["without_completion"] == 1
        assert report.data["gold"] == {}


def test_results_of_the_leaderboard_are_joined_with_their_answers_by_id(tmp_path: Path) -> None:
    folder = bfcl_folder(tmp_path)
    results = write_lines(
        folder / "results.jsonl",
        [
            {"id": "s_0", "result": [{"math.gcd": '{"a": 5}'}]},
            {"id": "s_0", "result": "[math.gcd(a=5)]"},
            {"id": "unknown", "result": ""},
        ],
    )
    report = audit(results, answers=folder / "possible_answer" / "BFCL_v4_simple_python.json", presets=["robust"])
    assert report.data["bad_rows"]["by_reason"] == {"no ground truth": 1}
    # The parsed call is right (correctness 3, no format), the text is not read (-3).
    assert report.rewards["robust"]["mean_correctness"] == 0.0


def test_rows_that_cannot_be_used_are_listed_with_line_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    good = json.dumps(ROWS[0]).encode()
    deep = b'{"completion": ' + b"[" * 100_000 + b"}"
    path.write_bytes(b"\n".join([good, b"", b"{broken", b'{"completion": "\xff"}', deep, b"[1]", good]))
    report = audit(path)
    bad = report.data["bad_rows"]["first"]
    assert [row["line"] for row in bad] == [3, 4, 5, 6]
    assert [row["reason"].split(":")[0] for row in bad] == [
        "not JSON",
        "not UTF-8",
        "JSON nests too deeply",
        "not an object but list",
    ]
    assert report.data["scored_rows"] == 2


def test_a_json_array_is_read_item_by_item_and_its_broken_end_is_one_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    text = json.dumps([*ROWS, {"completion": "x" * 200_000, "ground_truth": GOLD}])
    path.write_text(text[:-1] + ", {broken, {}]", encoding="utf-8")
    rows = rollouts(path)
    assert len(rows) == 7
    assert isinstance(rows[5], Rollout)
    assert isinstance(rows[6], BadRow)
    assert rows[6].line == 7
    assert rows[6].reason.startswith("the rest is not JSON")


def test_a_number_that_crosses_a_piece_of_the_file_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text("[" + " " * (65536 - 4) + "12345]", encoding="utf-8")
    assert [row for chunk in iter_chunks(path, "json") for _, row in chunk.rows] == [12345]


def test_a_csv_row_with_too_few_cells_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('completion,ground_truth\nx,"[]"\nonly one\nx,"[]",three\n', encoding="utf-8")
    rows = rollouts(path)
    assert isinstance(rows[0], Rollout)
    assert [row.line for row in rows[1:] if isinstance(row, BadRow)] == [3, 4]


def test_an_empty_cell_is_an_empty_answer_but_no_reward_and_no_group(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('completion,ground_truth,group,reward\nx,"[]",a,1\n,"[]",,\nx,,,\n', encoding="utf-8")
    _, second, third = rollouts(path)
    assert isinstance(second, Rollout)
    assert (second.completion, second.group, second.reward) == ("", None, None)
    assert isinstance(third, BadRow)


def test_pickled_data_are_never_read(tmp_path: Path) -> None:
    for name in ("rows.pkl", "rows.pt", "rows.npy"):
        (tmp_path / name).write_bytes(b"\x80\x04.")
        with pytest.raises(RolloutsError, match="choose from jsonl, json, csv, parquet with the option --format"):
            open_rollouts(tmp_path / name)


def test_a_file_that_is_no_rollouts_file_says_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(RolloutsError, match="there is no file"):
        open_rollouts(tmp_path / "none.jsonl")
    with pytest.raises(RolloutsError, match="no column with a ground truth among x, y"):
        open_rollouts(write_lines(tmp_path / "rows.jsonl", [{"x": 1, "y": 2}]))
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(RolloutsError, match=r"empty\.jsonl is empty"):
        open_rollouts(tmp_path / "empty.jsonl")
    (tmp_path / "blank.jsonl").write_text("\n \n", encoding="utf-8")
    with pytest.raises(RolloutsError, match=r"blank\.jsonl is empty"):
        open_rollouts(tmp_path / "blank.jsonl")
    with pytest.raises(RolloutsError, match="is a folder, not a file"):
        open_rollouts(tmp_path)
    (tmp_path / "broken.jsonl").write_text("not json\n", encoding="utf-8")
    with pytest.raises(RolloutsError, match="none of the first rows can be read: line 1: not JSON"):
        open_rollouts(tmp_path / "broken.jsonl")


def test_messages_stored_as_text_are_messages_and_other_text_is_text(tmp_path: Path) -> None:
    chat = json.dumps([{"role": "assistant", "content": TEXT}])
    bare = json.dumps(GOLD)
    path = write_lines(tmp_path / "rows.jsonl", [{"completion": text, "ground_truth": GOLD} for text in (chat, bare)])
    first, second = rollouts(path)
    assert isinstance(first, Rollout)
    assert isinstance(second, Rollout)
    assert first.completion == [{"role": "assistant", "content": TEXT}]
    assert second.completion == bare


def test_a_reward_that_other_processes_cannot_find_is_refused_at_once(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "rows.jsonl", ROWS)
    with pytest.raises(ValueError, match="a reward must be known by name"):
        audit(path, lambda completion, ground_truth: 0.0, jobs=2)


def test_the_report_is_the_same_for_any_number_of_processes(tmp_path: Path) -> None:
    wrong = TEXT.replace("1}", "true}")
    rows = [
        {"completion": wrong if i % 3 else TEXT, "ground_truth": GOLD, "group": str(i // 7), "reward": i * 0.1}
        for i in range(2500)
    ]
    path = write_lines(tmp_path / "rows.jsonl", [*rows, {"nothing": 1}])
    seen: dict[int, list[Any]] = {1: [], 2: []}
    reports = [audit(path, jobs=jobs, on_row=seen[jobs].append).to_json() for jobs in (1, 2)]
    assert reports[0] == reports[1]
    assert seen[1] == seen[2]
    assert [row["line"] for row in seen[1]] == list(range(1, 2501))
