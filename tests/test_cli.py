"""The command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolrl_core.audit.cli import main

ROOT = Path(__file__).parent.parent
GOLD = [{"name": "f", "arguments": {"a": 1}}]
TEXT = '<think> x </think>\n<tool_call>\n{"name": "f", "parameters": {"a": 1}}\n</tool_call>'


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.jsonl"
    lines = [{"completion": text, "ground_truth": GOLD, "group": "=g"} for text in (TEXT, "hm")]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"nothing": 1}]), encoding="utf-8")
    return path


def test_audit_prints_findings_and_writes_its_files_into_one_folder(rows: Path, capsys: Any) -> None:
    assert main(["audit", str(rows)]) == 0
    printed = capsys.readouterr().out
    # robust: 4 and -3
    assert "Under robust the mean of 2 of 3 rows is 0.5 points." in printed
    assert "rows.audit/report.html" in printed
    folder = rows.parent / "rows.audit"
    assert sorted(path.name for path in folder.iterdir()) == [
        "bad_rows.jsonl",
        "report.html",
        "report.json",
        "report.md",
        "rows.csv",
    ]
    (bad,) = [json.loads(line) for line in (folder / "bad_rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert bad["line"] == 3
    assert bad["reason"].startswith("no ground truth")
    scored = list(csv.DictReader(io.StringIO((folder / "rows.csv").read_text(encoding="utf-8"))))
    assert [row["robust"] for row in scored] == ["4.0", "-3.0"]
    assert scored[0]["group"] == "'=g"  # no formula for a spreadsheet
    assert sorted(path.name for path in rows.parent.iterdir()) == ["rows.audit", "rows.jsonl"]


def test_a_link_in_the_output_folder_is_replaced_and_not_followed(rows: Path, tmp_path: Path) -> None:
    outside = tmp_path / "precious.txt"
    outside.write_text("untouched", encoding="utf-8")
    folder = tmp_path / "out"
    folder.mkdir()
    for name in ("report.html", "rows.csv", "bad_rows.jsonl"):
        (folder / name).symlink_to(outside)
    assert main(["audit", str(rows), "--out", str(folder)]) == 0
    assert outside.read_text(encoding="utf-8") == "untouched"
    assert not (folder / "report.html").is_symlink()


def test_row_scores_can_be_parquet(rows: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert main(["audit", str(rows), "--rows", "parquet"]) == 0
    table = parquet.read_table(rows.parent / "rows.audit" / "rows.parquet").to_pylist()
    assert [row["robust"] for row in table] == [4.0, -3.0]
    assert [row["line"] for row in table] == [1, 2]
    assert (table[0]["explained"], table[0]["lost"]) == ("robust", "")


def test_strict_stops_at_the_first_bad_row_and_leaves_no_half_written_file(rows: Path, capsys: Any) -> None:
    assert main(["audit", str(rows), "--strict"]) == 3
    assert "toolrl: line 3: no ground truth" in capsys.readouterr().err
    assert list((rows.parent / "rows.audit").iterdir()) == []


def test_without_files_bad_rows_are_listed_on_the_error_stream(rows: Path, capsys: Any) -> None:
    assert main(["audit", str(rows), "--no-files", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["rows"] == 3
    assert "line 3 left out: no ground truth" in captured.err
    assert [path.name for path in rows.parent.iterdir()] == ["rows.jsonl"]


def test_fail_on_turns_findings_into_an_exit_code(rows: Path) -> None:
    assert main(["audit", str(rows), "--no-files", "--fail-on", "serious"]) == 1  # a third of the rows is unusable
    good = rows.with_name("good.jsonl")
    good.write_text(rows.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert main(["audit", str(good), "--no-files", "--fail-on", "serious"]) == 0


DOTTED = [{"name": name, "arguments": {"a": 1}} for name in ("math.sqrt", "math.sine")]
UNDERSCORES = (
    '<think> x </think>\n<tool_call>\n{"name": "math_sqrt", "parameters": {"a": 1}}\n'
    '{"name": "math_sine", "parameters": {"a": 1}}\n</tool_call>'
)


@pytest.fixture
def spelt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose tools' names have underscores for dots."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "spelt.jsonl"
    path.write_text(json.dumps({"completion": UNDERSCORES, "ground_truth": DOTTED}) + "\n", encoding="utf-8")
    return path


def totals(capsys: Any, words: list[str]) -> list[float]:
    presets = [word for name in ("paper", "released", "robust") for word in ("--preset", name)]
    assert main(["score", "spelt.jsonl", *presets, *words]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return [float(row[name]) for name in ("paper", "released", "robust")]


@pytest.mark.usefixtures("spelt")
def test_another_spelling_of_a_name_counts_where_it_is_declared(tmp_path: Path, capsys: Any) -> None:
    pairs = {"math_sqrt": "math.sqrt", "math_sine": "math.sine"}
    # paper: 4 of 5 raw points, for it pairs calls whatever their names; the others pair none, but the format holds
    assert totals(capsys, []) == pytest.approx([1 - 3 + 6 * 4 / 5, -2, -2])
    words = [word for item in pairs.items() for word in ("--name-alias", "=".join(item))]
    assert totals(capsys, words) == [4, 4, 4]
    (tmp_path / "aliases.json").write_text(json.dumps(pairs), encoding="utf-8")
    assert totals(capsys, ["--name-alias", "aliases.json"]) == [4, 4, 4]
    (tmp_path / "a=b.json").write_text(json.dumps(pairs), encoding="utf-8")
    assert totals(capsys, ["--name-alias", "a=b.json", "--name-alias", "unused=other"]) == [4, 4, 4]
    # one name of two: the names earn 1 of 3, the pair 1 + 1; robust adds 1 to S for the call that is not expected
    assert totals(capsys, ["--name-alias", "math_sqrt=math.sqrt"])[1:] == pytest.approx(
        [1 - 3 + 6 * (1 / 3 + 2) / 5, 1 - 3 + 6 * (1 / 3 + 2) / 6]
    )


@pytest.mark.usefixtures("spelt")
def test_an_audit_reports_the_spellings_that_it_was_given(capsys: Any) -> None:
    words = ["--name-alias", "math_sqrt=math.sqrt", "--name-alias", "math_sine=math.sine"]
    assert main(["audit", "spelt.jsonl", "--no-files", "--json", *words]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [report["rewards"][name]["mean"] for name in ("paper", "released", "robust")] == [4, 4, 4]
    aliases = {"math_sqrt": "math.sqrt", "math_sine": "math.sine"}
    assert all(spec["name_aliases"] == aliases for spec in report["specs"].values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"f": 5}', "aliases.json: the name for 'f' must be non-empty text, found 5"),
        ('{"f": ""}', "aliases.json: the name for 'f' must be non-empty text, found ''"),
        ('{"": "f"}', "aliases.json: the spelling is empty"),
        ('{"f": "g", "f": "h"}', "aliases.json: 'f' stands for 'h', but it stands for 'g' already"),
        ('["f"]', "aliases.json: must hold one object of names by spelling"),
        ("{f: g}", "aliases.json: not a JSON file of names by spelling: Expecting property name"),
        (None, "aliases.json: No such file or directory"),
    ],
)
@pytest.mark.parametrize("command", ["audit", "score"])
def test_spellings_that_cannot_be_used_end_with_2_and_name_file_and_key(
    spelt: Path, command: str, text: str | None, message: str, capsys: Any
) -> None:
    if text is not None:
        spelt.with_name("aliases.json").write_text(text, encoding="utf-8")
    assert main([command, "spelt.jsonl", "--name-alias", "aliases.json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"toolrl: {message}")
    assert captured.err.count("\n") == 1
    assert not spelt.with_name("spelt.audit").exists()


@pytest.mark.usefixtures("spelt")
def test_pairs_of_spelling_and_name_that_cannot_be_used_are_named(capsys: Any) -> None:
    for words, message in (
        (["=f"], "name alias '=f': the spelling is empty"),
        (["f="], "name alias 'f=': the name for 'f' must be non-empty text, found ''"),
        (["f=g", "f=h"], "name alias 'f=h': 'f' stands for 'h', but it stands for 'g' already"),
    ):
        assert main(["score", "spelt.jsonl", *(part for word in words for part in ("--name-alias", word))]) == 2
        assert f"toolrl: {message}" in capsys.readouterr().err


def test_a_reported_mean_is_explained(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "test.jsonl"
    truths = [GOLD] * 71 + [[]] * 9
    path.write_text("".join(json.dumps({"ground_truth": truth}) + "\n" for truth in truths), encoding="utf-8")
    assert main(["audit", str(path), "--mean", "-2.6625", "--no-files"]) == 0
    assert "exactly the floor of this data set under the released rules" in capsys.readouterr().out


def test_score_prints_one_line_a_row(rows: Path, capsys: Any) -> None:
    assert main(["score", str(rows), "--preset", "paper", "--preset", "coarse"]) == 0
    captured = capsys.readouterr()
    printed = list(csv.DictReader(io.StringIO(captured.out)))
    assert [(row["paper"], row["coarse"]) for row in printed] == [("4.0", "4.0"), ("-3.0", "-3.0")]
    assert "line 3 left out" in captured.err
    assert main(["score", str(rows), "--json"]) == 0
    assert [json.loads(line)["paper"] for line in capsys.readouterr().out.splitlines()] == [4.0, -3.0]


def test_the_columns_of_a_row_say_whose_parts_they_are_and_what_was_lost(rows: Path, capsys: Any) -> None:
    wrong = TEXT.replace('"a": 1', '"a": 2').replace("</tool_call>", "</tool_call><|im_end|>")
    rows.write_text(json.dumps({"completion": wrong, "ground_truth": GOLD}) + "\n", encoding="utf-8")
    assert main(["score", str(rows), "--preset", "robust", "--preset", "coarse"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    # one of the three raw points (name, key, value) is lost: a third of 6 points
    assert (row["explained"], row["format"], row["correctness"], row["floor"]) == ("robust", "1.0", "1.0", "-3.0")
    assert row["reading_reasons"] == "special_token_tail"
    assert row["lost"] == "wrong_value 2"
    assert "reasons" not in row
    for command in ("audit", "score"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "reading_reasons" in capsys.readouterr().out


def test_score_says_where_a_reward_gave_no_number(rows: Path, capsys: Any) -> None:
    rows.with_name("mine.py").write_text(
        "def picky(completion, ground_truth):\n    if completion == 'hm':\n        raise RuntimeError('boom')\n"
        "    return 1.0\n",
        encoding="utf-8",
    )
    assert main(["score", str(rows), "--reward", "mine.py:picky"]) == 1
    captured = capsys.readouterr()
    assert [row["picky"] for row in csv.DictReader(io.StringIO(captured.out))] == ["1.0", ""]
    assert "toolrl: picky gave no number on 1 of 2 rows: RuntimeError: boom." in captured.err


def test_probe_ends_with_1_where_a_property_fails(capsys: Any) -> None:
    assert main(["probe", "robust", "--only", "truth_values"]) == 0
    assert main(["probe", "released", "--only", "truth_values"]) == 1
    assert "FAILS   truth_values" in capsys.readouterr().out


def test_probe_loads_a_function_from_a_file(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def compute_score(data_source, solution_str, ground_truth, extra_info):\n    return 0\n")
    assert main(["probe", f"{file}:compute_score", "--only", "identity", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held"] is True


def test_an_output_folder_that_cannot_be_made_is_told_before_anything_is_read(rows: Path, capsys: Any) -> None:
    assert main(["audit", str(rows), "--out", str(rows)]) == 2
    assert "it is a file, name a folder with --out" in capsys.readouterr().err
    assert main(["audit", str(rows), "--out", str(rows / "below")]) == 2
    error = capsys.readouterr().err
    assert "cannot make the folder" in error
    assert "Errno" not in error


def test_a_reward_that_is_called_wrongly_ends_with_2_and_a_suggestion(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def reward(completion, ground_truth):\n    return float(ground_truth.get('x', 0))\n", encoding="utf-8"
    )
    assert main(["probe", f"{file}:reward"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "AttributeError: 'str' object has no attribute 'get'" in captured.err
    assert "try --signature or --ground-truth-form" in captured.err
    with pytest.raises(SystemExit) as ended:
        main(["probe", "robust", "--seconds", "-1"])
    assert ended.value.code == 2
    assert "must be positive, found -1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["audit", "nowhere.jsonl"], "there is no file 'nowhere.jsonl'"),
        (["probe", "nothing"], "'nothing' is neither module:function"),
        (["probe", "no_such_module:f"], "cannot import 'no_such_module'"),
    ],
)
def test_input_that_cannot_be_used_ends_with_2_and_one_line(words: list[str], message: str, capsys: Any) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"toolrl: {message}")
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", ["audit", "score"])
def test_a_file_without_one_usable_row_ends_with_2_and_the_reason(command: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("completion", "ground_truth"), (TEXT, str(GOLD)), ("hm", str(GOLD))])
    files = ["--out", str(tmp_path / "out")] if command == "audit" else []
    assert main([command, str(path), *files]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert (
        "toolrl: rows.csv: none of 2 rows can be used; the first, line 2: ground truth cannot be used" in captured.err
    )
    assert "with json.dumps, not with str" in captured.err
    assert not list((tmp_path / "out").glob("*"))


@pytest.mark.parametrize("option", ["completion", "ground-truth", "group", "step", "recorded", "tools"])
@pytest.mark.parametrize("command", ["audit", "score"])
def test_a_named_column_that_is_not_there_ends_with_2(rows: Path, command: str, option: str, capsys: Any) -> None:
    assert main([command, str(rows), f"--{option}", "foo"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "toolrl: rows.jsonl: there is no column 'foo'" in captured.err
    assert "there are: completion, ground_truth, group, nothing" in captured.err
    assert not (rows.parent / "rows.audit").exists()


@pytest.mark.parametrize("command", ["audit", "score", "probe"])
def test_help_shows_examples_and_exit_codes(command: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert ("--name-alias" in text) == (command != "probe")
    assert f"toolrl {command} " in text.split("examples:")[1]
    assert "exit codes:" in text


def test_the_module_runs_and_a_closed_pipe_is_no_error(rows: Path) -> None:
    command = [sys.executable, "-m", "toolrl_core", "score", str(rows)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.startswith("line,id,group,step,paper,")
    read, write = os.pipe()
    os.close(read)
    closed = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    os.close(write)
    assert "Traceback" not in closed.stderr
