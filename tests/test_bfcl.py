"""The leaderboard data: fetching, reading, schemas and right answers.

Everything runs offline on small files written here in the data set's form; the tests on the real data run where
`make data` has fetched them, and may not be skipped in continuous integration.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from toolrl_core import bfcl, bfcl_files
from toolrl_core.bfcl import BfclDataError, BfclRow, load, normalise_schema, realise, schemas
from toolrl_core.calls import ToolCall
from toolrl_core.rewards import score
from toolrl_core.spec import RewardSpec

DATA = Path(__file__).parent.parent / "_build" / "bfcl"
needs_data = pytest.mark.skipif(
    not bfcl.is_complete(DATA) and not os.environ.get("CI"), reason="no BFCL data here: run `make data` to fetch them"
)

WEATHER = {
    "name": "weather.get",
    "description": "Give the weather.",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "default": "1"},
            "when": {"type": "dict", "properties": {"from": {"type": "float"}, "to": {"type": "float"}}},
            "stations": {"type": "array", "items": {"type": "dict", "properties": {"id": {"type": "integer"}}}},
            "tags": {"type": "tuple", "items": {"type": "any"}},
        },
        "required": ["city", "days"],
    },
}


def question(name: str, *functions: dict) -> dict:
    return {"id": name, "question": [[{"role": "user", "content": "Rain?"}]], "function": list(functions)}


def write_lines(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")


def row_of(*accepted: dict) -> BfclRow:
    return BfclRow("r", "parallel", (), (WEATHER,), accepted)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    write_lines(tmp_path / "BFCL_v4_simple_python.json", [question("s_0", WEATHER), question("s_1", WEATHER)])
    write_lines(
        tmp_path / "possible_answer" / "BFCL_v4_simple_python.json",
        [
            {"id": "s_1", "ground_truth": [{"weather.get": {"city": ["Bergen"]}}]},
            {"id": "s_0", "ground_truth": [{"weather.get": {"city": ["Oslo", "Oslo, NO"], "days": [2, ""]}}]},
        ],
    )
    write_lines(tmp_path / "BFCL_v4_irrelevance.json", [question("i_0", WEATHER)])
    return tmp_path


def test_rows_keep_the_order_of_the_questions_and_find_their_answers_by_id(small):
    rows = load(["simple_python"], folder=small, verify=False)
    assert [row.id for row in rows] == ["s_0", "s_1"]
    assert rows[0].category == "simple_python"
    assert rows[0].question == ({"role": "user", "content": "Rain?"},)
    assert rows[0].functions == (WEATHER,)
    assert rows[1].accepted == ({"weather.get": {"city": ["Bergen"]}},)


def test_a_single_category_may_be_given_as_text(small):
    assert [row.id for row in load("irrelevance", folder=small, verify=False)] == ["i_0"]


def test_a_row_of_an_irrelevance_category_expects_no_call_but_a_response(small):
    (row,) = load("irrelevance", folder=small, verify=False)
    assert row.ground_truth.calls == ()
    assert row.ground_truth.requires == ("thought", "response")
    assert realise(row) == []


def test_the_ground_truth_has_the_accepted_values_the_optional_names_and_the_defaults(small):
    row = load("simple_python", folder=small, verify=False)[0]
    (call,) = row.ground_truth.calls
    assert call.name == "weather.get"
    assert list(call.accepted["city"]) == ["Oslo", "Oslo, NO"]
    assert set(call.optional) == {"days"}
    assert call.defaults == {"days": 1}
    assert row.ground_truth is row.ground_truth


def test_rows_can_be_put_in_a_set(small):
    rows = load(["simple_python", "irrelevance"], folder=small, verify=False)
    assert len({*rows, *rows}) == 3


def test_an_unknown_category_is_named_and_the_valid_ones_are_listed(small):
    with pytest.raises(BfclDataError, match=r"unknown BFCL category 'simple'; valid are simple_python, .*live_irrel"):
        load(["simple"], folder=small)


def test_a_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(BfclDataError, match=r"BFCL_v4_parallel\.json is missing; run `python -m toolrl_core\.bfcl`"):
        load(["parallel"], folder=tmp_path)


def test_a_changed_file_is_refused_with_both_digests(small):
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    (small / "BFCL_v4_irrelevance.json").write_bytes(b"")
    with pytest.raises(BfclDataError, match=f"digest {empty}, expected 2b6ed4c2e9.*; run `python -m toolrl_core"):
        load(["irrelevance"], folder=small)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "irrelevance.json, line 1: not JSON"),
        ("[]", "line 1: no 'id'; a row needs id, question, function"),
        ('{"id": "i", "question": [[]]}', "line 1: no 'function'"),
        ('{"id": "i", "question": [[], []], "function": []}', "row 'i' has 2 turns, expected one"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_line(small, line, message):
    (small / "BFCL_v4_irrelevance.json").write_text(line, encoding="utf-8")
    with pytest.raises(BfclDataError, match=message):
        load(["irrelevance"], folder=small, verify=False)


def test_a_question_without_accepted_answers_is_an_error(small):
    write_lines(small / "possible_answer" / "BFCL_v4_simple_python.json", [{"id": "s_0", "ground_truth": []}])
    with pytest.raises(BfclDataError, match="row 's_1' has no accepted answers"):
        load("simple_python", folder=small, verify=False)


def test_schemas_use_the_type_names_of_json_schema_at_every_depth():
    parameters = schemas(row_of())["weather.get"]
    assert parameters["city"] == {"type": "string"}
    assert parameters["days"] == {"type": "integer", "default": 1}
    assert parameters["when"]["type"] == "object"
    assert parameters["when"]["properties"] == {"from": {"type": "number"}, "to": {"type": "number"}}
    assert parameters["stations"]["items"] == {"type": "object", "properties": {"id": {"type": "integer"}}}
    assert parameters["tags"] == {"type": "array", "items": {}}


@pytest.mark.parametrize(
    ("declared", "written", "default"),
    [
        ("boolean", "False", False),
        ("boolean", "dontcare", "dontcare"),
        ("boolean", "1", "1"),
        ("integer", "3", 3),
        ("integer", "true", "true"),
        ("integer", "1.5", "1.5"),
        ("float", "1.2", 1.2),
        ("float", None, None),
        ("string", "5", "5"),
        ("array", [1], [1]),
    ],
)
def test_a_default_is_decoded_only_where_its_declared_type_says_so(declared, written, default):
    result = normalise_schema({"type": declared, "default": written})["default"]
    assert result == default
    assert type(result) is type(default)


def test_a_schema_is_never_shared_with_the_row():
    row = row_of()
    schemas(row)["weather.get"]["stations"]["items"]["properties"]["id"]["type"] = "string"
    assert schemas(row)["weather.get"]["stations"]["items"]["properties"]["id"]["type"] == "integer"


def test_the_plain_answer_takes_first_values_and_leaves_out_what_it_may():
    row = row_of({"weather.get": {"city": ["Oslo", "Oslo, NO"], "tags": ["", ["a"]]}}, {"weather.get": {"city": ["X"]}})
    assert realise(row) == [ToolCall("weather.get", {"city": "Oslo"}), ToolCall("weather.get", {"city": "X"})]


def test_nested_alternatives_are_resolved_and_other_dicts_are_literal():
    accepted = {
        "city": ["Oslo"],
        "when": [{"from": [1.5, 2.0], "to": ["", 3.0], "place": [{"x": 1.0, "y": 2.0}]}],
        "stations": [[{"id": [7, 8]}, {"id": [9]}]],
    }
    expected = {
        "city": "Oslo",
        "when": {"from": 1.5, "place": {"x": 1.0, "y": 2.0}},
        "stations": [{"id": 7}, {"id": 9}],
    }
    assert realise(row_of({"weather.get": accepted})) == [ToolCall("weather.get", expected)]


def test_what_the_schema_requires_is_given_even_if_the_answers_allow_to_omit_it():
    assert realise(row_of({"weather.get": {"city": [""], "days": ["", 5]}})) == [
        ToolCall("weather.get", {"city": "", "days": 5})
    ]


def test_an_empty_list_of_accepted_arrays_means_the_empty_array():
    row = row_of({"weather.get": {"city": ["Oslo"], "stations": []}})
    assert realise(row) == [ToolCall("weather.get", {"city": "Oslo", "stations": []})]
    assert list(row.ground_truth.calls[0].accepted["stations"]) == [[]]
    assert row.accepted[0]["weather.get"]["stations"] == []


def test_a_random_answer_uses_every_accepted_value_and_repeats_with_its_seed():
    row = row_of({"weather.get": {"city": ["Oslo", "Oslo, NO"], "tags": ["", ["a"]]}})
    drawn = [realise(row, np.random.default_rng(seed))[0].arguments for seed in range(40)]
    assert drawn == [realise(row, np.random.default_rng(seed))[0].arguments for seed in range(40)]
    assert {arguments["city"] for arguments in drawn} == {"Oslo", "Oslo, NO"}
    assert {tuple(arguments) for arguments in drawn} == {("city",), ("city", "tags")}


def test_an_answer_shares_no_value_with_the_accepted_ones():
    row = row_of({"weather.get": {"city": ["Oslo"], "tags": [["a"]]}})
    realise(row)[0].arguments["tags"].append("b")
    assert row.accepted[0]["weather.get"]["tags"] == [["a"]]


# Fetching


def fake_installer(tmp_path: Path, files: dict[str, str], *, status: int = 0) -> list[str]:
    """Write a program that unpacks `files` as an installer with ``--target FOLDER`` would."""
    program = tmp_path / "installer.py"
    program.write_text(
        "import pathlib, sys\n"
        "target = pathlib.Path(sys.argv[sys.argv.index('--target') + 1]) / 'bfcl_eval' / 'data'\n"
        f"for name, text in {files!r}.items():\n"
        "    path = target / name\n"
        "    path.parent.mkdir(parents=True, exist_ok=True)\n"
        "    path.write_text(text)\n"
        "sys.stderr.write('no route to host\\n')\n"
        f"sys.exit({status})\n",
        encoding="utf-8",
    )
    return [sys.executable, str(program)]


@pytest.fixture
def digests(monkeypatch):
    """Expect two files that hold the texts "a" and "b"."""
    expected = {
        "BFCL_v4_parallel.json": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        "possible_answer/BFCL_v4_parallel.json": "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",
    }
    monkeypatch.setattr(bfcl_files, "DIGESTS", expected)
    return expected


def test_fetching_puts_the_files_in_place_and_a_second_time_asks_nobody(tmp_path, monkeypatch, digests):
    files = {"BFCL_v4_parallel.json": "a", "possible_answer/BFCL_v4_parallel.json": "b", "other.json": "c"}
    monkeypatch.setattr(bfcl_files, "_installer", lambda: ("pip", fake_installer(tmp_path, files)))
    lines: list[str] = []
    folder = bfcl_files.fetch(tmp_path / "data", report=lines.append)
    assert sorted(path.name for path in folder.rglob("*")) == [
        "BFCL_v4_parallel.json",
        "BFCL_v4_parallel.json",
        "possible_answer",
    ]
    assert (folder / "possible_answer" / "BFCL_v4_parallel.json").read_text(encoding="utf-8") == "b"
    assert [line[:3] for line in lines] == ["1/3", "2/3", "3/3"]

    def nobody():
        raise AssertionError("the second call must not look for an installer")

    monkeypatch.setattr(bfcl_files, "_installer", nobody)
    bfcl_files.fetch(folder, report=lines.append)
    assert lines[-1].startswith("nothing to do: 2 files")


def test_fetching_repairs_a_damaged_file(tmp_path, monkeypatch, digests):
    files = {"BFCL_v4_parallel.json": "a", "possible_answer/BFCL_v4_parallel.json": "b"}
    monkeypatch.setattr(bfcl_files, "_installer", lambda: ("pip", fake_installer(tmp_path, files)))
    folder = bfcl_files.fetch(tmp_path / "data")
    (folder / "BFCL_v4_parallel.json").write_text("changed", encoding="utf-8")
    assert not bfcl_files.is_complete(folder)
    bfcl_files.fetch(folder)
    assert (folder / "BFCL_v4_parallel.json").read_text(encoding="utf-8") == "a"


def test_the_installer_gets_the_pinned_version_its_digest_and_no_dependencies(tmp_path, monkeypatch, digests):
    seen: list[list[str]] = []

    def run(command, **options):
        requirement = Path(command[command.index("-r") + 1]).read_text(encoding="utf-8")
        seen.append([*command, requirement])
        return subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(bfcl_files.subprocess, "run", run)
    with pytest.raises(BfclDataError):
        bfcl_files.fetch(tmp_path)
    (command,) = seen
    assert {"--no-deps", "--require-hashes", "--only-binary"} <= set(command)
    assert command[-1] == (
        "bfcl-eval==2026.3.23 --hash=sha256:3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a\n"
    )


def test_without_a_network_the_error_says_what_to_do_and_what_the_installer_said(tmp_path, monkeypatch, digests):
    monkeypatch.setattr(bfcl_files, "_installer", lambda: ("pip", fake_installer(tmp_path, {}, status=1)))
    with pytest.raises(BfclDataError, match=r"check the network .*python -m toolrl_core\.bfcl.*no route to host"):
        bfcl_files.fetch(tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []


def test_a_package_index_that_does_not_answer_is_given_up_after_the_timeout(tmp_path, monkeypatch, digests):
    program = tmp_path / "wait.py"
    program.write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    monkeypatch.setattr(bfcl_files, "_installer", lambda: ("pip", [sys.executable, str(program)]))
    with pytest.raises(BfclDataError, match=r"within 0\.2 seconds"):
        bfcl_files.fetch(tmp_path / "data", timeout=0.2)


def test_an_installer_that_cannot_be_started_is_named(tmp_path, monkeypatch, digests):
    monkeypatch.setattr(bfcl_files, "_installer", lambda: ("uv", [str(tmp_path / "no-such-uv")]))
    with pytest.raises(BfclDataError, match=r"cannot start .*no-such-uv"):
        bfcl_files.fetch(tmp_path / "data")


def test_a_wheel_with_other_files_leaves_the_folder_as_it_was(tmp_path, monkeypatch, digests):
    files = {"BFCL_v4_parallel.json": "a", "possible_answer/BFCL_v4_parallel.json": "something else"}
    monkeypatch.setattr(bfcl_files, "_installer", lambda: ("pip", fake_installer(tmp_path, files)))
    with pytest.raises(BfclDataError, match="is not the expected one"):
        bfcl_files.fetch(tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []


def test_without_pip_uv_is_used_and_without_both_the_error_names_them(monkeypatch):
    monkeypatch.setattr(bfcl_files.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(bfcl_files.shutil, "which", lambda name: "/somewhere/uv")
    assert bfcl_files._installer() == ("uv", ["/somewhere/uv", "pip", "install", "--python", sys.executable])
    monkeypatch.setattr(bfcl_files.shutil, "which", lambda name: None)
    with pytest.raises(BfclDataError, match="neither pip nor uv"):
        bfcl_files._installer()


def test_the_default_folder_belongs_to_the_project_around_the_start(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "notebooks" / "deep").mkdir(parents=True)
    assert bfcl.default_folder(tmp_path / "notebooks" / "deep") == tmp_path / "_build" / "bfcl"
    assert bfcl.default_folder(DATA.parent.parent / "tests") == DATA


def test_the_command_line_reports_an_error_and_its_exit_status(tmp_path, monkeypatch, capsys, digests):
    monkeypatch.setattr(bfcl_files, "_installer", lambda: ("pip", fake_installer(tmp_path, {}, status=1)))
    assert bfcl.main(["--folder", str(tmp_path / "data")]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("1/3 getting bfcl-eval 2026.3.23 with pip")
    assert captured.err.startswith("error: bfcl-eval 2026.3.23 cannot be had")


# The real data


@pytest.fixture(scope="module")
def rows() -> list[BfclRow]:
    return load(folder=DATA)


@needs_data
def test_the_command_line_on_real_data_is_quick_to_say_that_there_is_nothing_to_do(capsys):
    assert bfcl.is_complete(DATA), "run `make data` first"
    assert bfcl.main(["--folder", str(DATA)]) == 0
    assert capsys.readouterr().out.startswith("nothing to do: 18 files")


@needs_data
def test_the_real_data_have_the_published_number_of_rows_in_each_category(rows):
    assert Counter(row.category for row in rows) == {
        "simple_python": 400,
        "multiple": 200,
        "parallel": 200,
        "parallel_multiple": 200,
        "irrelevance": 240,
        "live_simple": 258,
        "live_multiple": 1053,
        "live_parallel": 16,
        "live_parallel_multiple": 24,
        "live_irrelevance": 884,
    }
    assert len({row.id for row in rows}) == 3475


@needs_data
def test_every_real_ground_truth_can_be_read(rows):
    calls = Counter(len(row.ground_truth.calls) for row in rows)
    assert calls == {0: 1124, 1: 1911, 2: 206, 3: 121, 4: 107, 5: 2, 6: 2, 8: 2}
    assert sum(len(call.accepted) == 0 for row in rows for call in row.ground_truth.calls) == 26


@needs_data
def test_the_plain_answer_to_a_real_row_has_the_values_of_its_question(rows):
    by_id = {row.id: row for row in rows}
    assert realise(by_id["simple_python_0"]) == [ToolCall("calculate_triangle_area", {"base": 10, "height": 5})]
    people = [{"name": "Chester", "age": 42}, {"name": "Jane", "age": 43}]
    assert realise(by_id["live_simple_189-114-0"])[0].arguments["data"] == people
    ego = {"position": {"lateral": 10.5, "longitudinal": 50}, "orientation": 30}
    assert realise(by_id["live_multiple_121-46-0"])[0].arguments["ego_info"] == ego
    assert len(realise(by_id["parallel_158"])) == 4


@needs_data
def test_real_answers_hold_only_accepted_or_nested_values_and_everything_required(rows):
    rng = np.random.default_rng(0)
    for row in rows:
        for call, expected in zip(realise(row, rng), row.accepted, strict=True):
            ((name, accepted),) = expected.items()
            assert call.name == name
            assert {key for key, values in accepted.items() if "" not in values} <= set(call.arguments) <= set(accepted)
            for key, value in call.arguments.items():
                nested = isinstance(value, (dict, list)) and "{" in json.dumps(accepted[key])
                assert nested or value in accepted[key] or (value == [] and accepted[key] == []), (row.id, key, value)


@needs_data
def test_every_right_answer_to_a_real_row_earns_the_maximum(rows):
    presets = [RewardSpec.preset(name) for name in ("paper", "robust")]
    generator = np.random.default_rng(1)
    for row in rows:
        for answer in (realise(row), realise(row, generator)):
            assert [score(answer, row.ground_truth, spec).correctness for spec in presets] == [3.0, 3.0], row.id


@needs_data
def test_the_real_schemas_use_only_type_names_of_json_schema(rows):
    def types(schema):
        yield schema.get("type")
        for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
            yield from types(inner)

    found = {
        name
        for row in rows
        for parameters in schemas(row).values()
        for schema in parameters.values()
        for name in types(schema)
    }
    assert found == {"string", "integer", "number", "boolean", "array", "object", None}
