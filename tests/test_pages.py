"""The pages around the chapters: what they generate, and the values that they show."""

import ast
import doctest
import importlib.util
import re
import shutil
import tomllib
from fractions import Fraction
from types import SimpleNamespace

import nbformat
import pytest
import yaml

import toolrl_core
from book._tools import (
    build,
    chapters,
    difference_list,
    differences,
    execute,
    generated,
    new_chapter,
    publish,
    reference,
)
from book._tools.difference_values import shown
from toolrl_core.explain.ledger import load_claims

ROOT = execute.ROOT
PROSE = sorted(path for path in (ROOT / "book").rglob("*.md") if "_" not in path.parent.name)


class TestDifferences:
    @pytest.mark.parametrize(
        ("point", "values"),
        [
            # Two keys a call, S = 1 + 2 * 3 = 7... first call's pair: keys 1 + k 1 = 2; optimal takes the second: 3.
            # paper: names 1 + best pair 3 = 4 of 7: -3 + 24/7; released: 1/2 + greedy 2 = 5/2 of 7: -3 + 15/7.
            ("matching", {"paper": Fraction(3, 7), "released": Fraction(-6, 7), "robust": 0}),
            ("name-condition", {"paper": 3, "released": Fraction(-9, 5), "robust": Fraction(-9, 5)}),
            ("names", {"paper": Fraction(3, 5), "released": 0, "robust": 0}),
            ("no-arguments", {"paper": 0, "released": -3, "robust": -3}),
            # Keys 1/2 instead of 1: 5/2 of 3 points.
            ("extra-arguments", {"paper": 2, "released": 2, "robust": 2}),
            ("extra-calls", {"paper": 3, "released": Fraction(7, 5), "robust": Fraction(-39, 35)}),
            ("equality", {"paper": 1, "released": 3, "robust": 1}),
            ("no-call-expected", {"paper": -3, "released": 0, "robust": -3}),
            ("pretty-printed", {"paper": 3, "released": -3, "robust": 3}),
            ("arguments", {"paper": 3, "released": -3, "robust": 3}),
            ("thought-names-tag", {"paper": 3, "released": -3, "robust": 3}),
            ("length", {"formula": Fraction(510, 512), "released": 1}),
            # Names in another order lose their point: 4 of 5, -3 + 24/5.
            (
                "tiers",
                {"finegrained": 3, "released_refined": Fraction(9, 5), "coarse": 3, "released_coarse": -3},
            ),
            ("switch", {"step 29": 1, "step 30": 3}),
            ("dynamic", {"formula, step 150": 3, "released run, step 104": 2 + Fraction(104, 150)}),
            ("singleton", {"paper": 0, "released": 0.7, "verl": 0.7, "trl": 0, "dr_grpo": 0, "rloo": 0}),
        ],
    )
    def test_both_sides_have_the_values_of_hand_arithmetic(self, point, values):
        (made,) = [made for made in difference_list.DIFFERENCES if made.id == point]
        assert dict(made.values()) == pytest.approx({side: float(value) for side, value in values.items()})

    def test_the_readings_of_the_format_rule_part_on_each_of_its_points(self):
        values = {made.id: list(made.values().values()) for made in difference_list.DIFFERENCES}
        assert values["text-between"] == values["repeated-block"] == [1, 1, 0, 0]
        assert values["one-field-missing"] == [0, 1, 0, 0]

    def test_void_rewards_and_kl_have_the_known_advantages(self):
        values = {made.id: list(made.values().values()) for made in difference_list.DIFFERENCES}
        # Three right of eight: (5/8) / sqrt(15/56); without the void ones (1/4) / (1/2).
        assert values["void-rewards"] == pytest.approx([0.5, 0.625 / (15 / 56) ** 0.5], rel=1e-5)
        # KL 20, 30, 25, 40: mean 28.75; .00875 over the sample deviation sqrt(2.1875e-4 / 3) + 1e-6.
        assert values["kl"] == pytest.approx([0, 0.00875 / ((2.1875e-4 / 3) ** 0.5 + 1e-6)])
        # 4 * root(.95^2 + 49 (.95/49)^2), and nothing behind the dual clip.
        assert values["dual-clip"] == pytest.approx([4 * 0.95 * (50 / 49) ** 0.5, 0])
        assert values["deviation"] == pytest.approx([4.5 / 27**0.5 * 2, 1.5, 1.5, 1.5, 4.5, 6], rel=1e-4)

    def test_the_void_rule_is_both_too_strict_and_too_lax(self):
        values = {made.id: list(made.values().values()) for made in difference_list.DIFFERENCES}
        assert values["final-answer"] == ["sound", "void", "void"]
        assert values["open-box"] == ["void", "sound", "void"]

    def test_code_is_linked_at_a_commit_and_never_at_a_branch(self):
        links = re.findall(r"\((https://[^)]+)\)", differences.page())
        assert links
        assert not [link for link in links if not re.search(r"/(?:blob|tree)/[0-9a-f]{7,40}/", link)]

    def test_points_have_names_of_their_own_and_known_claims_and_chapters(self):
        assert len({made.id for made in difference_list.DIFFERENCES}) == len(difference_list.DIFFERENCES)
        stems = {source.stem for source in execute.sources()}
        assert {made.chapter for made in difference_list.DIFFERENCES} <= stems
        assert {made.claim for made in difference_list.DIFFERENCES} - {""} <= set(load_claims())

    def test_values_are_written_exactly_where_a_fraction_is_simple(self):
        assert [shown(value) for value in (-9 / 5, 3.0, 0.9960937, "void")] == ["−9/5", "3", "0.9961", "void"]

    def test_each_session_on_the_page_gives_the_values_beside_it(self):
        sessions = re.findall(r"```python\n(.*?)\n```", differences.page(), re.DOTALL)
        assert len(sessions) >= 14
        for text in sessions:
            example = doctest.DocTestParser().get_doctest(f"{text}\n", {}, "session", None, 0)
            assert doctest.DocTestRunner().run(example).failed == 0, text

    def test_a_missing_value_stops_the_build(self):
        with pytest.raises(ValueError, match="nan"):
            shown(float("nan"))


class TestGeneratedParts:
    def test_every_mark_of_a_page_is_known(self):
        marks = {name for path in PROSE for name in generated.MARK.findall(path.read_text(encoding="utf8"))}
        assert marks == set(generated.PARTS)

    def test_an_unknown_mark_stops_the_build(self):
        with pytest.raises(ValueError, match="nothing is generated under the name 'weather'; valid: "):
            generated.fill_in("# Title\n\n% generated: weather\n")

    def test_numbers_in_the_prose_of_these_pages_come_from_notebooks_that_glue_them(self):
        for path in PROSE:
            for stem, name in re.findall(r"\{glue:text\}`\.\./notebooks/(\w+)\.ipynb::(\w+)", path.read_text("utf8")):
                copy = execute.target_of(ROOT / "notebooks" / f"{stem}.ipynb")
                assert name in execute.glued(nbformat.read(copy, as_version=4)), f"{path.name}: {stem}::{name}"

    @pytest.mark.parametrize("path", PROSE, ids=lambda path: path.stem)
    def test_the_examples_on_the_page_do_what_they_say(self, path):
        assert doctest.testfile(str(path), module_relative=False).failed == 0


class TestReference:
    def test_every_public_name_stands_on_one_page_with_a_summary_and_a_chapter(self):
        listed = [name for page in reference.PAGES for name in reference.names_of(page)]
        assert sorted(listed) == sorted(toolrl_core.__all__)
        for name in listed:
            assert reference.summary_of(name).endswith((".", "…")), name
            assert reference.chapters_of(name), name

    def test_every_public_function_has_an_example(self):
        functions = [name for name in toolrl_core.__all__ if reference.kind_of(name) == "function"]
        assert [name for name in functions if ">>>" not in (getattr(toolrl_core, name).__doc__ or "")] == []

    def test_an_unknown_page_is_refused(self):
        with pytest.raises(ValueError, match="there is no page 'weather'"):
            reference.names_of("weather")

    def test_names_are_found_in_the_chapters_that_use_them(self):
        assert "02_greedy_vs_optimal" in reference.chapters_of("optimal_assignment")


class TestChapters:
    def test_titles_and_parameters_are_those_of_the_notebooks(self, small_chapter):
        assert chapters.title_of(small_chapter) == "Missing arguments cost credit"
        assert chapters.parameters_of(small_chapter) == {"SEED": "0", "POINTS": "3.0"}

    def test_every_chapter_has_a_row(self):
        table = chapters.parameters_table()
        assert [source.name for source in execute.sources() if source.name not in table] == []


class TestANewChapter:
    @pytest.fixture
    def root(self, tmp_path):
        for folder in ("notebooks", "tests/chapters"):
            (tmp_path / folder).mkdir(parents=True)
        shutil.copy(ROOT / "_toc.yml", tmp_path)
        return tmp_path

    @pytest.mark.notebook
    def test_it_runs_and_reports_the_numbers_that_its_file_expects(self, root):
        source, numbers, _ = new_chapter.write("77_missing_values", "A missing value", root=root)
        expected = tomllib.loads(numbers.read_text(encoding="utf8"))
        values = execute.glued(execute.execute(source, folder=root / "out"))
        assert {name: values[name] for name in expected["glued"]} == pytest.approx(expected["glued"])
        assert set(expected["other_parameters"]) <= execute.declared_parameters(source)

    def test_its_source_keeps_the_rules_of_the_house(self, root):
        source, _, _ = new_chapter.write("77_missing_values", "A missing value", root=root)
        notebook = nbformat.read(source, as_version=4)
        nbformat.validate(notebook)
        assert notebook.cells[0].source.startswith("# A missing value\n")
        for cell in notebook.cells:
            assert re.fullmatch(r"[a-z][a-z0-9-]*", cell.id)
            assert not cell.get("outputs")
            if cell.cell_type == "code":
                ast.parse(cell.source)
                assert len(cell.source.splitlines()) <= 25
                assert max(map(len, cell.source.splitlines())) <= 88

    def test_it_stands_after_the_last_chapter_in_the_table_of_contents(self, root):
        _, _, contents = new_chapter.write("77_missing_values", "A missing value", root=root)
        before, after = build.pages(), []

        def walk(node):
            if isinstance(node, dict):
                after.extend(node[key] for key in ("root", "file") if key in node)
                for key in ("parts", "chapters", "sections"):
                    walk(node.get(key))
            for entry in node if isinstance(node, list) else ():
                walk(entry)

        walk(yaml.safe_load(contents.read_text(encoding="utf8")))
        last = max(place for place, page in enumerate(before) if page.startswith("notebooks/"))
        assert after == [*before[: last + 1], "notebooks/77_missing_values", *before[last + 1 :]]

    @pytest.mark.parametrize(
        ("stem", "message"),
        [("Missing", "is no name of a chapter"), ("77-missing", "is no name of a chapter")],
    )
    def test_a_bad_name_is_refused(self, root, stem, message):
        with pytest.raises(ValueError, match=message):
            new_chapter.write(stem, "A missing value", root=root)

    def test_a_number_that_is_taken_is_refused(self, root):
        new_chapter.write("77_missing_values", "A missing value", root=root)
        with pytest.raises(ValueError, match=r"the number 77 is taken by 77_missing_values\.ipynb"):
            new_chapter.write("77_other", "Another", root=root)


class TestPublication:
    CONFIG = (ROOT / "_config.yml").read_text(encoding="utf8")

    def test_the_address_is_filled_into_one_setting(self):
        text = publish.filled_in(self.CONFIG, "https://github.com/owner/name", "0123abc")
        settings = yaml.safe_load(text)["sphinx"]["config"]
        assert settings["toolrl_repository"] == "https://github.com/owner/name"
        assert settings["toolrl_revision"] == "0123abc"
        assert len(text.splitlines()) == len(self.CONFIG.splitlines())

    @pytest.mark.parametrize("address", ["", "name", "https://example.org/owner/name", "https://github.com/owner"])
    def test_what_is_no_address_is_refused(self, address):
        with pytest.raises(ValueError, match="is no address of a repository"):
            publish.filled_in(self.CONFIG, address, "main")

    def test_a_configuration_without_the_setting_is_refused(self):
        with pytest.raises(ValueError, match="needs one line for toolrl_repository, found 0"):
            publish.filled_in("title: x\n", "https://github.com/owner/name", "main")

    def test_chapters_get_buttons_only_where_the_address_is_known(self):
        path = ROOT / "book" / "_ext" / "toolrl_pages.py"
        spec = importlib.util.spec_from_file_location("toolrl_pages", path)
        extension = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(extension)
        for address in ("", "https://github.com/owner/name"):
            config = SimpleNamespace(toolrl_repository=address, toolrl_revision="0123abc", html_theme_options={})
            extension.offer_launching(None, config)
            assert bool(config.html_theme_options.get("launch_buttons")) == bool(address)
            assert config.html_theme_options.get("repository_url", "") == address

    def test_the_workflow_runs_the_two_commands_and_uploads_the_site(self):
        workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf8"))
        steps = workflow["jobs"]["build"]["steps"]
        commands = [step["run"] for step in steps if "run" in step]
        assert commands[-2:] == ["make book", "make test"]
        assert steps[-1]["with"]["path"] == build.HTML.relative_to(ROOT).as_posix()
