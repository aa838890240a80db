"""Studies: definitions, the rule of agreement, provenance, and stored results that can be computed again."""

import csv
import dataclasses
import io
import json
import sys

import numpy as np
import pytest

from tests.study_cases import TEXT
from toolrl_core.explain.ledger import DIRECTION_VERDICTS
from toolrl_core.explain.study_figures import agreement_table, describe_ends
from toolrl_core.schedules import LengthReward, equal_max
from toolrl_core.simulate.histories import Interval
from toolrl_core.studies import __main__ as command
from toolrl_core.studies import agreement, cells, digest, results, run
from toolrl_core.studies.__main__ import main
from toolrl_core.studies.definitions import Comparison, Direction, StudyError, load_studies, parse_study

ROOT = digest._PACKAGE.parent
STUDIES = load_studies(ROOT / "studies")


@pytest.fixture(scope="module")
def study():
    return parse_study(TEXT, name="example")


@pytest.fixture(scope="module")
def rows(study):
    return run.run_study(study)


def table(values, *, moment="final"):
    """Stored results of two arms in settings, each with the values of its seeds."""
    lines = [
        [block, setting, arm, "usable", moment, *map(str, numbers)] for (block, setting, arm), numbers in values.items()
    ]
    import pandas as pd

    columns = ["block", "setting", "arm", "metric", "moment", *(f"seed_{n}" for n in range(len(lines[0]) - 5))]
    frame = pd.DataFrame(lines, columns=columns)
    return results.Results(name="example", provenance={}, values=frame, curves=frame)


class TestCells:
    def test_an_arm_is_a_reward_of_the_package(self):
        spec = cells.reward_spec(
            {"preset": "robust", "schedule": {"kind": "equal_max"}, "length_reward": {"target": 384, "growth": 256}}
        )
        assert spec.schedule == equal_max()
        assert spec.length_reward == LengthReward(target=384, growth=256)
        assert spec.same_name is True

    @pytest.mark.parametrize(
        "options",
        [{"schedule": {"kind": "cosine"}}, {"strict": True}, {"preset": "best"}, {"length_reward": {"words": 3}}],
    )
    def test_an_unknown_option_of_an_arm_is_refused(self, options):
        with pytest.raises(StudyError, match="arm"):
            cells.reward_spec(options)

    @pytest.mark.parametrize(
        ("path", "value", "message"),
        [
            ("settings.speed", 1, "speed"),
            ("settings.steps", 0, "steps must be at least 1"),
            (
                "planet.gravity",
                1,
                "planet.gravity is not there: choose from world, base, settings, filters, spec, arms",
            ),
            ("arms.coarse.credit", "exact", "arms.coarse.credit is not there"),
        ],
    )
    def test_a_setting_that_cannot_be_is_refused(self, study, path, value, message):
        cell = dataclasses.replace(study.cells()[0], changes={path: value})
        with pytest.raises(StudyError, match=message):
            cells.run_cell(study, cell)

    def test_a_setting_does_not_change_the_study(self, study):
        wide = dataclasses.replace(study.cells()[0], changes={"arms.equal_max.schedule.kind": "constant"})
        both = cells.run_cell(study, wide).values
        assert both[0][5:] == both[6][5:]  # equal-max became the original scale
        assert study.arms["equal_max"] == {"schedule": {"kind": "equal_max"}}

    def test_moments_reduce_a_curve_as_they_say(self):
        curve, steps = np.array([[1.0, 2.0, 9.0, 3.0, 5.0, 4.0, 6.0, 8.0]]), np.arange(8) * 5
        expected = {"final": 8.0, "mean": 4.75, "late": 7.0, "peak": 9 / 4.5, "15": 3.0}
        found = {moment: cells._reduced(curve, steps, moment)[0] for moment in expected}
        assert found == pytest.approx(expected)
        with pytest.raises(StudyError, match="no evaluation after step 7"):
            cells._reduced(curve, steps, "7")

    def test_a_thinned_curve_averages_what_lies_between_its_points(self):
        curve = np.array([[0.0, 2.0, 4.0, 6.0], [2.0, 4.0, 6.0, 8.0]])
        rows = cells._thinned(curve, np.array([1, 2, 3, 4]), 2)
        assert [row[:2] for row in rows] == [["2", "2"], ["4", "6"]]
        # two seeds that differ by 2: standard deviation sqrt 2, over sqrt 2, times t = 12.706
        assert [row[2] for row in rows] == ["13", "13"]


class TestAgreement:
    @pytest.mark.parametrize(
        ("mean", "half_width", "at_least", "expected"),
        [
            (0.02, 0.005, False, "agrees"),
            (0.02, 0.03, False, "level"),  # the interval holds 0
            (0.008, 0.001, False, "level"),  # too small to count
            (-0.02, 0.005, False, "contradicts"),
            (-0.008, 0.001, False, "level"),
            (-0.008, 0.001, True, "agrees"),  # not lower by what counts
            (-0.008, 0.004, True, "level"),
            (-0.02, 0.005, True, "contradicts"),
            (0.5, 0.1, True, "agrees"),
        ],
    )
    def test_a_setting_is_judged_by_interval_and_size(self, mean, half_width, at_least, expected):
        interval = Interval(mean=mean, half_width=half_width, seeds=9)
        assert agreement._result(interval, 0.01, at_least=at_least) == expected

    def test_a_missing_value_leaves_a_setting_level(self, study):
        stored = table(
            {
                ("grid", f"strength={strength}; memory=short", arm): values
                for strength in ("-1", "2")
                for arm, values in {"original": [0.9, "nan", 0.9], "equal_max": [0.1, 0.1, 0.1]}.items()
            }
        )
        only = dataclasses.replace(study.directions[0], blocks=("grid",))
        assert [finding.result for finding in agreement.judge(study, stored, only).findings] == ["level", "level"]

    def test_all_comparisons_have_to_hold_and_the_weakest_is_shown(self, study):
        chain = Direction(
            id="chain",
            paper="Original above equal-max, and not below it.",
            blocks=("grid",),
            smallest=0.01,
            comparisons=(
                Comparison(higher="original", lower="equal_max", metric="usable"),
                Comparison(higher="equal_max", lower="original", metric="usable"),
            ),
        )
        stored = table(
            {
                ("grid", f"strength={strength}; memory=short", arm): values
                for strength in ("-1", "2")
                for arm, values in {"original": [0.5, 0.6, 0.7], "equal_max": [0.39, 0.5, 0.61]}.items()
            }
        )
        found = agreement.judge(study, stored, chain).findings[0]
        assert found.result == "contradicts"
        assert found.interval.mean == pytest.approx(-0.1)

    def test_across_two_settings_the_difference_of_the_differences_is_judged(self, study):
        weak = {"original": [0.5, 0.6, 0.7], "equal_max": [0.3, 0.41, 0.49]}  # 0.2, 0.19, 0.21
        strong = {"original": [0.9, 0.9, 0.9], "equal_max": [0.85, 0.85, 0.85]}
        stored = table(
            {
                ("grid", f"strength={label}; memory=short", arm): values
                for label, arms in {"-1": weak, "2": strong}.items()
                for arm, values in arms.items()
            }
        )
        (finding,) = agreement.judge(study, stored, study.directions[1]).findings
        assert (finding.setting, finding.result) == ("memory=short", "agrees")
        assert finding.interval.mean == pytest.approx(0.15)

    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            ("a" * 9 + "l", "direction agrees"),
            ("a" * 9 + "c", "direction depends"),
            ("a" * 8 + "ll", "direction depends"),
            ("a" + "l" * 9, "direction does not come out"),
            ("aa" + "c" * 8, "direction depends"),
            ("c" * 10, "direction does not come out"),
        ],
    )
    def test_the_verdict_counts_settings(self, study, found, expected):
        names = {"a": "agrees", "l": "level", "c": "contradicts"}
        assert judgement(study, [(names[letter], {}) for letter in found]).verdict == expected

    def test_the_main_axis_is_not_one_that_was_varied_alone(self, study):
        grid = [("agrees" if memory == "long" else "level", {"memory": memory}) for memory in ["long", "short"] * 4]
        once = [("level", {"strength": "9"}), ("agrees", {"strength": "0"})] * 9
        judged = judgement(study, grid, alone=once)
        assert judged.main_axis == "memory"
        assert judged.share_by("memory") == {"long": 1.0, "short": 0.0}
        assert judgement(study, [("agrees", {"strength": "1"}), ("agrees", {"strength": "2"})]).main_axis == ""
        assert judgement(study, [], alone=once).main_axis == ""

    def test_the_words_of_the_verdicts_are_those_of_the_ledger(self):
        assert agreement.VERDICTS == DIRECTION_VERDICTS

    def test_the_table_of_agreement_names_the_axis_only_where_it_matters(self, study):
        depends = judgement(study, [("agrees", {"strength": "1"}), ("contradicts", {"strength": "2"})])
        clear = judgement(study, [("agrees", {"strength": "1"})])
        alone = judgement(study, [], alone=[("agrees", {"strength": "1"}), ("level", {"strength": "2"})])
        shown = agreement_table([depends, clear, alone])
        assert shown["depends most on"].tolist() == ["strength of the base", "–", "–"]
        assert shown[["agrees", "level", "contradicts"]].to_numpy().tolist() == [[1, 0, 1], [1, 0, 0], [1, 1, 0]]


def judgement(study, found, *, alone=()):
    """Judgement of a direction with findings of these results and values, in a grid and one axis at a time."""
    interval = Interval(mean=0.0, half_width=0.0, seeds=3)
    findings = [
        agreement.Finding(block=block, setting="", values=values, interval=interval, result=result)
        for block, part in (("grid", found), ("settings", alone))
        for result, values in part
    ]
    return agreement.Judgement(direction=study.directions[0], findings=tuple(findings), grids=("grid",))


class TestDigest:
    def test_comments_docstrings_and_blank_lines_do_not_count(self):
        dressed = '"""Module."""\n\n# note\ndef f(x):\n    """Say.\n\n    More.\n    """\n    return x  # here\n'
        assert digest.significant_lines(dressed) == ["def f(x):", "    return x  # here"]

    def test_a_comment_behind_code_counts(self):
        assert digest.significant_lines("x = 1\n") != digest.significant_lines("x = 1  # here\n")

    def test_a_text_that_is_no_docstring_counts(self):
        assert digest.significant_lines('TEXT = """one\ntwo"""\n') == ['TEXT = """one', 'two"""']

    def test_everything_that_moves_a_number_is_behind_the_digest(self):
        behind = set(digest.modules_behind())
        assert {
            f"toolrl_core.{name}"
            for name in (
                "advantages", "schedules", "spec", "filter_policies", "masks", "simulate.answers",
                "simulate.answer_policy", "simulate.answer_samples", "simulate.answer_rewards", "simulate.training",
                "simulate.multiturn", "simulate.turn_rollouts", "simulate.seeds", "studies.cells",
            )
        } <= behind  # fmt: skip
        assert not [name for name in behind if ".explain." in name or ".audit." in name]

    def test_changed_code_changes_the_digest(self, tmp_path, monkeypatch):
        package = tmp_path / "toolrl_core"
        package.mkdir()
        (package / "one.py").write_text("from toolrl_core.two import x\n")
        (package / "two.py").write_text("x = 1\n")
        monkeypatch.setattr(digest, "_PACKAGE", package)
        compute = digest.code_digest.__wrapped__
        before = compute(("toolrl_core.one",))
        (package / "two.py").write_text('"""Say."""\n\nx = 1\n')
        assert compute(("toolrl_core.one",)) == before
        (package / "two.py").write_text("x = 2\n")
        assert compute(("toolrl_core.one",)) != before


def lines_of(content):
    """Header and body of a stored table, line by line."""
    lines = content.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if not line.startswith(b"#"))
    return lines[:first], lines[first:]


def last_digit_changed(content):
    """The same table with another last digit in its last row."""
    digit = content[-2:-1]
    return content[:-2] + (b"7" if digit != b"7" else b"3") + b"\n"


DAMAGES = {
    "nothing": lambda content: b"",
    "a header alone": lambda content: b"".join(lines_of(content)[0]),
    "no rows": lambda content: b"".join([*lines_of(content)[0], lines_of(content)[1][0]]),
    "half of it": lambda content: content[: len(content) // 2],
    "the last row cut": lambda content: content[:-5],
    "a row left out": lambda content: b"".join(lines_of(content)[0] + lines_of(content)[1][:-1]),
    "a row twice": lambda content: content + lines_of(content)[1][-1],
    "a number edited": last_digit_changed,
    "a column renamed": lambda content: content.replace(b",metric,", b",measure,"),
    "a cell more": lambda content: content[:-1] + b",1\n",
    "no digest of its content": lambda content: b"".join(
        line for line in content.splitlines(keepends=True) if not line.startswith(b"# content")
    ),
    "another header before it": lambda content: b"".join(lines_of(content)[0]) + content,
    "a mark of a conflict": lambda content: b"<<<<<<< HEAD\n" + content,
    "the header below": lambda content: b"".join([*lines_of(content)[1], *lines_of(content)[0]]),
    "no text": lambda content: b"\xff\xfe\x00" * 50,
    "no text within": lambda content: content[:-4] + b"\xff\xfe\n",
}


class TestResults:
    def test_results_are_read_as_they_were_written(self, study, rows, tmp_path):
        results.write_results(tmp_path, study, rows)
        stored = results.load_results(tmp_path, study)
        assert stored.provenance["seed"] == "3"
        wanted = [float(value) for value in rows[2].values[0][5:]]
        assert stored.seed_values("settings", "", "original", "usable", "2").tolist() == wanted
        curve = stored.curve("grid", "strength=2; memory=short", "equal_max", "exact")
        assert curve["step"].tolist() == [0, 2, 4]
        where = ["grid", "strength=2; memory=short", "equal_max", "exact"]
        means = [float(row[5]) for row in rows[1].curves if row[:4] == where]
        assert curve["mean"].tolist() == means
        ends = describe_ends(stored, *where[:2], ["equal_max"], "exact")
        assert ends == f"exact answers (%): equal-max from {100 * means[0]:.1f} to {100 * means[-1]:.1f}."

    def test_a_row_that_is_not_there_is_named(self, study, rows, tmp_path):
        results.write_results(tmp_path, study, rows)
        stored = results.load_results(tmp_path, study)
        with pytest.raises(StudyError, match="no arm 'coarse' here: there are 'original', 'equal_max'"):
            stored.level("settings", "", "coarse", "usable")
        with pytest.raises(StudyError, match="no curve of 'coarse'"):
            stored.curve("settings", "", "coarse", "usable")

    @pytest.mark.parametrize(
        ("key", "message"),
        [("definition", "another definition"), ("plan", "another plan"), ("code", "other code")],
    )
    def test_stale_results_are_refused_with_the_command_to_run(self, study, rows, tmp_path, key, message):
        results.write_results(tmp_path, study, rows)
        assert results.is_current(tmp_path, study)
        path = tmp_path / "example.csv"
        path.write_text(path.read_text().replace(f"# {key}: ", f"# {key}: 0"))
        assert not results.is_current(tmp_path, study)
        with pytest.raises(StudyError, match=rf"example\.csv was made by {message}: run `make studies`"):
            results.load_results(tmp_path, study)

    def test_stale_curves_are_refused_too(self, study, rows, tmp_path):
        results.write_results(tmp_path, study, rows)
        path = tmp_path / "example_curves.csv"
        path.write_text(path.read_text().replace("# code: ", "# code: 0"))
        with pytest.raises(StudyError, match=r"example_curves\.csv was made by other code: run `make studies`"):
            results.load_results(tmp_path, study)

    def test_missing_results_are_refused_with_the_command_to_run(self, study, rows, tmp_path):
        with pytest.raises(StudyError, match=r"example\.csv is missing: run `make studies`"):
            results.load_results(tmp_path, study)
        results.write_results(tmp_path, study, rows)
        (tmp_path / "example_curves.csv").unlink()
        with pytest.raises(StudyError, match=r"example_curves\.csv is missing: run `make studies`"):
            results.load_results(tmp_path, study)

    @pytest.mark.parametrize("name", ["example.csv", "example_curves.csv"])
    @pytest.mark.parametrize("what", sorted(DAMAGES))
    def test_damaged_results_are_refused_and_not_current(self, study, rows, tmp_path, name, what):
        results.write_results(tmp_path, study, rows)
        path = tmp_path / name
        whole = path.read_bytes()
        damaged = DAMAGES[what](whole)
        assert damaged != whole
        path.write_bytes(damaged)
        assert not results.is_current(tmp_path, study)
        with pytest.raises(StudyError, match=rf"^{name} .*run `make studies`$"):
            results.load_results(tmp_path, study)

    def test_a_folder_in_the_place_of_a_table_is_refused(self, study, tmp_path):
        (tmp_path / "example.csv").mkdir()
        assert not results.is_current(tmp_path, study)
        with pytest.raises(StudyError, match=r"example\.csv cannot be read"):
            results.load_results(tmp_path, study)

    def test_other_ends_of_lines_are_no_damage(self, study, rows, tmp_path):
        results.write_results(tmp_path, study, rows)
        for path in tmp_path.glob("*.csv"):
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert results.is_current(tmp_path, study)
        assert results.load_results(tmp_path, study).level("settings", "", "original", "usable").seeds == 3

    def test_rows_of_another_plan_are_not_stored(self, study, rows, tmp_path):
        with pytest.raises(StudyError, match="not those of the 4 settings of example"):
            results.write_results(tmp_path, study, rows[1:])
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_cannot_be_written_is_refused(self, study, rows, tmp_path):
        (tmp_path / "results").write_text("")
        with pytest.raises(StudyError, match="the results of example cannot be written"):
            results.write_results(tmp_path / "results", study, rows)

    def test_a_write_that_fails_leaves_older_results_and_nothing_else(self, study, rows, tmp_path, monkeypatch):
        results.write_results(tmp_path, study, rows)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert sorted(before) == ["example.csv", "example_curves.csv"]

        def stop(self, target):
            raise OSError("disk full")

        monkeypatch.setattr(results.Path, "replace", stop)
        with pytest.raises(StudyError, match="disk full"):
            results.write_results(tmp_path, study, rows)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    def test_names_that_look_like_numbers_or_comments_stay_names(self, tmp_path):
        text = TEXT.replace('"2", "final", "mean"]', '"4"]').replace('name = "grid"', 'name = "1"')
        text = (
            text.replace('"grid"', '"1"').replace("\noriginal = {}", '\n"a#1" = {}').replace("equal_max = {", "7 = {")
        )
        text = text.replace('"original"', '"a#1"').replace('lower = "equal_max"', 'lower = "7"')
        odd = parse_study(text.replace('"usable" }', '"usable", moment = 4 }'), name="odd")
        results.write_results(tmp_path, odd, run.run_study(odd))
        stored = results.load_results(tmp_path, odd)
        assert sorted(set(stored.values["arm"])) == ["7", "a#1"]
        assert len(agreement.judge_all(odd, stored)["a"].findings) == 4
        assert stored.curve("1", "strength=2; memory=short", "a#1", "exact")["step"].tolist() == [0, 2, 4]

    def test_an_arm_that_spells_a_missing_value_stays_a_name(self, study, rows, tmp_path):
        text = TEXT.replace("original", "NA")
        odd = parse_study(text, name="odd")
        named = [
            cells.CellRows(
                *([[line[0], line[1], line[2].replace("original", "NA"), *line[3:]] for line in part] for part in row)
            )
            for row in rows
        ]
        results.write_results(tmp_path, odd, named)
        assert results.load_results(tmp_path, odd).level("settings", "", "NA", "usable").seeds == 3


class TestRunning:
    def test_the_result_is_the_same_for_two_workers(self, study, rows):
        pytest.importorskip("joblib")
        assert run.run_study(study, workers=2) == rows

    def test_an_interrupted_run_goes_on_where_it_stopped(self, study, rows, tmp_path, monkeypatch):
        done = []

        def stop_at_the_third(study, cell):
            if len(done) == 2:
                raise KeyboardInterrupt
            done.append(cell.setting)
            return cells.run_cell(study, cell)

        monkeypatch.setattr(run, "run_cell", stop_at_the_third)
        with pytest.raises(KeyboardInterrupt):
            run.run_study(study, cache=tmp_path)
        later = []
        monkeypatch.setattr(
            run, "run_cell", lambda study, cell: later.append(cell.setting) or cells.run_cell(study, cell)
        )
        found = run.run_study(study, cache=tmp_path)
        assert later == ["", "group_size=2"]
        assert [[list(row) for row in part.values] for part in found] == [part.values for part in rows]

    @pytest.mark.parametrize(
        "damage", ["", "{", "[]", '{"values": []}', '{"values": [], "curves": []}', '{"values": 1, "curves": 2}']
    )
    def test_a_damaged_finished_setting_is_run_again(self, study, rows, tmp_path, monkeypatch, damage):
        run.run_study(study, cache=tmp_path)
        first = sorted((tmp_path / "example").iterdir())[0]
        whole = first.read_text()
        first.write_text(damage)
        count = []
        monkeypatch.setattr(run, "run_cell", lambda *given: count.append(1) or cells.run_cell(*given))
        found = run.run_study(study, cache=tmp_path)
        assert len(count) == 1
        assert first.read_text() == whole
        assert [[list(row) for row in part.values] for part in found] == [part.values for part in rows]

    def test_a_finished_setting_with_a_row_too_few_is_run_again(self, study, rows, tmp_path):
        run.run_study(study, cache=tmp_path)
        for path in (tmp_path / "example").iterdir():
            kept = json.loads(path.read_text())
            path.write_text(json.dumps({**kept, "values": kept["values"][1:]}))
        assert [len(part.values) for part in run.run_study(study, cache=tmp_path)] == [
            len(part.values) for part in rows
        ]

    def test_a_run_leaves_finished_settings_alone(self, study, tmp_path):
        run.run_study(study, cache=tmp_path)
        assert {path.suffix for path in (tmp_path / "example").iterdir()} == {".json"}

    @pytest.mark.parametrize("workers", [0, -1, 1.0, True, "2"])
    def test_a_count_of_workers_that_cannot_be_is_refused(self, study, tmp_path, workers):
        with pytest.raises(StudyError, match="workers must be at least 1 and a whole number"):
            run.run_study(study, workers=workers)
        with pytest.raises(StudyError, match="workers must be at least 1 and a whole number"):
            run.run_studies([study], results=tmp_path, cache=tmp_path, workers=workers)

    @pytest.mark.parametrize("place", ["results", "cache"])
    def test_a_file_in_the_place_of_a_folder_is_refused_before_anything_is_run(
        self, study, tmp_path, monkeypatch, place
    ):
        (tmp_path / place).write_text("")
        monkeypatch.setattr(run, "run_cell", lambda *given: pytest.fail("ran"))
        with pytest.raises(StudyError, match=rf"the folder .*{place}.* cannot be made"):
            run.run_studies([study], results=tmp_path / "results", cache=tmp_path / "cache")

    def test_progress_without_its_package_is_refused_but_the_command_does_without(
        self, study, tmp_path, monkeypatch, capsys
    ):
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
        with pytest.raises(StudyError, match="progress=True needs the package tqdm"):
            run.run_study(study, progress=True)
        monkeypatch.setattr(command, "find_spec", lambda name: None)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        (tmp_path / "example.toml").write_text(TEXT)
        folders = [f"--{name}={tmp_path / name}" for name in ("results", "cache")]
        assert main([f"--definitions={tmp_path}", "--workers=1", *folders]) == 0

    def test_an_interrupted_command_says_how_to_go_on(self, tmp_path, monkeypatch, capsys):
        def interrupt(*given):
            raise KeyboardInterrupt

        monkeypatch.setattr(run, "run_cell", interrupt)
        (tmp_path / "example.toml").write_text(TEXT)
        folders = [f"--{name}={tmp_path / name}" for name in ("results", "cache")]
        assert main([f"--definitions={tmp_path}", "--workers=1", *folders]) == 130
        assert capsys.readouterr().err.strip() == "interrupted: run again to go on"

    def test_only_stale_studies_are_run(self, study, tmp_path):
        options = {"results": tmp_path / "results", "cache": tmp_path / "cache"}
        assert run.run_studies([study], **options) == ["example"]
        assert run.run_studies([study], **options) == []
        assert run.run_studies([dataclasses.replace(study, digest="other")], **options) == ["example"]

    def test_the_command_says_what_came_out(self, tmp_path, capsys):
        (tmp_path / "example.toml").write_text(TEXT)
        folders = [f"--{name}={tmp_path / place}" for name, place in (("results", "r"), ("cache", "c"))]
        assert main([f"--definitions={tmp_path}", "--workers=1", *folders]) == 0
        said = capsys.readouterr().out
        assert said.startswith("example: 4 settings, run\n  a: ")
        assert main([f"--definitions={tmp_path}", "--workers=1", *folders, "other"]) == 1
        assert "unknown study other: choose from example" in capsys.readouterr().err


@pytest.mark.parametrize("name", STUDIES)
class TestStoredResults:
    def test_they_belong_to_the_definition_and_the_code_as_they_are(self, name):
        results.load_results(ROOT / "results", STUDIES[name])

    def test_they_are_complete(self, name):
        study = STUDIES[name]
        stored = results.load_results(ROOT / "results", study)
        settings = {(cell.block, cell.setting) for cell in study.cells()}
        assert set(map(tuple, stored.values[["block", "setting"]].to_numpy())) == settings
        arms = sum(len(study.arms_of(cell.block)) for cell in study.cells())
        assert len(stored.values) == arms * len(study.metrics) * len(study.moments)

    def test_one_setting_computed_again_gives_the_stored_values(self, name):
        study = STUDIES[name]
        stored = results.load_results(ROOT / "results", study)
        cell = study.cells()[-1]
        rows = cells.run_cell(study, cell)
        assert rows.values
        for block, setting, arm, metric, moment, *values in rows.values:
            kept = stored.seed_values(block, setting, arm, metric, moment)
            np.testing.assert_allclose(kept, np.array(values, dtype=float), rtol=2e-3, atol=2e-4, err_msg=arm)


def test_the_files_are_plain_tables_below_a_header():
    path = ROOT / "results" / "scale.csv"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    table = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert list(table[0])[:6] == ["block", "setting", "arm", "metric", "moment", "seed_0"]
