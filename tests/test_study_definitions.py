"""Definitions of studies: what they hold, and what is refused before anything is run."""

import dataclasses
import re
import textwrap

import pytest

from tests.study_cases import NOTHING, SHORT, TEXT, TURNS, TYPES
from toolrl_core.studies import digest
from toolrl_core.studies.cells import run_cell
from toolrl_core.studies.definitions import StudyError, load_studies, load_study, parse_study

STUDIES = load_studies(digest._PACKAGE.parent / "studies")


@pytest.fixture(scope="module")
def study():
    return parse_study(TEXT, name="example")


class TestDefinitions:
    def test_a_block_has_every_combination_and_a_one_at_a_time_block_its_own_setting_first(self, study):
        assert [(cell.block, cell.setting) for cell in study.cells()] == [
            ("grid", "strength=-1; memory=short"),
            ("grid", "strength=2; memory=short"),
            ("settings", ""),
            ("settings", "group_size=2"),
        ]

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('engine = "answers"', 'engine = "tokens"', "engine names 'tokens': choose from answers, turns"),
            ("seeds = 3", "", "the field seeds is missing"),
            ('title = "Scale"', 'title = "Scale"\nhope = 1', "unknown field hope"),
            ('"final", "mean"]', '"final", "best"]', "moments names 'best': choose from final, late, mean, peak"),
            ('lower = "equal_max", metric = "usable" }]\n[[', 'lower = "max", metric = "usable" }]\n[[', "names 'max'"),
            ('metric = "usable" }]\n[[', 'metric = "reward" }]\n[[', "names 'reward': choose from usable, exact"),
            ('across = ["strength", "-1", "2"]', 'across = ["strength", "-1", "3"]', "names '3': choose from -1, 2"),
            ('across = ["strength", "-1", "2"]', 'across = ["size", "-1", "2"]', "choose from strength, memory"),
            ('name = "settings"', 'name = "grid"', "two blocks have the same name"),
            ("one_at_a_time = true", "sometimes = true", "block settings: unknown field sometimes"),
            ('memory.short = { "settings.beta2" = 0.9 }', "memory.short = 0.9", "axis memory: give path and values"),
            ("[arms]\noriginal = {}", "[arms", ""),
        ],
    )
    def test_a_wrong_definition_is_refused_and_the_message_names_the_field(self, tmp_path, old, new, message):
        assert old in TEXT
        path = tmp_path / "wrong.toml"
        path.write_text(TEXT.replace(old, new, 1))
        with pytest.raises(StudyError, match=r"^wrong\.toml: ") as raised:
            load_study(path)
        assert message in str(raised.value)

    @pytest.mark.parametrize(("old", "new", "message"), NOTHING)
    def test_a_change_that_would_do_nothing_is_refused(self, old, new, message):
        assert old in TEXT
        with pytest.raises(StudyError) as raised:
            parse_study(TEXT.replace(old, new, 1), name="wrong")
        assert message in str(raised.value)

    @pytest.mark.parametrize(("old", "new", "message"), TYPES)
    def test_a_field_of_another_type_is_refused_by_name(self, old, new, message):
        assert old in TEXT
        with pytest.raises(StudyError) as raised:
            parse_study(TEXT.replace(old, new, 1), name="wrong")
        assert message in str(raised.value)

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (
                "naive = {}",
                "naive = { minimum_probability = 0.9 }",
                "arm naive: the engine turns reads names of arms alone",
            ),
            ("naive = {}", "filtered = {}", "arms names 'filtered': choose from naive, "),
            ("world.direct", "base.strength", "'base.strength' names 'base': choose from world, settings, filters"),
            ("world.direct", "arms.naive.credit", "names 'arms': choose from world, settings, filters"),
            ("world.direct", "spec.credit", "names 'spec': choose from world, settings, filters"),
            ("world.direct", "filters.least", "names 'least': choose from minimum_probability, maximum_ratio"),
            (
                "[arms]",
                "[base]\nstrength = 1\n[arms]",
                "base is not read by the engine turns: choose from world, settings",
            ),
        ],
    )
    def test_what_training_over_turns_does_not_read_is_refused(self, old, new, message):
        assert old in TURNS
        with pytest.raises(StudyError) as raised:
            parse_study(TURNS.replace(old, new, 1), name="wrong")
        assert message in str(raised.value)

    def test_two_settings_that_are_written_alike_are_refused(self):
        axes = [
            f'{axis}."{label}" = {{ "settings.{field}" = {value} }}'
            for axis, label, field, value in [
                ("a", "1", "clip", 0.1),
                ("a", "1; b=2", "clip", 0.2),
                ("b", "2", "beta2", 0.9),
                ("b", "2; b=2", "beta2", 0.5),
            ]
        ]
        with pytest.raises(StudyError, match="two settings are written alike: 'strength=-1; a=1; b=2; b=2', "):
            parse_study(TEXT.replace(SHORT, "\n".join(axes), 1), name="wrong")

    def test_what_training_over_turns_reads_is_accepted(self):
        for path in ("world.direct", "settings.clip", "filters.minimum_probability"):
            found = parse_study(TURNS.replace("world.direct", path), name="right")
            assert [dict(cell.changes) for cell in found.cells()] == [{path: 0.25}, {path: 0.5}]

    def test_a_text_that_is_no_toml_is_refused(self, tmp_path):
        with pytest.raises(StudyError, match=r"^no TOML: "):
            parse_study("[arms", name="wrong")
        (tmp_path / "wrong.toml").write_bytes(b'title = "\xff"')
        with pytest.raises(StudyError, match=r"^wrong\.toml: 'utf-8' codec"):
            load_study(tmp_path / "wrong.toml")
        with pytest.raises(StudyError, match=r"^none\.toml: .*No such file"):
            load_study(tmp_path / "none.toml")

    def test_a_study_whose_results_would_replace_the_curves_of_another_is_refused(self):
        with pytest.raises(StudyError, match="must not be called scale_curves"):
            parse_study(TEXT, name="scale_curves")

    def test_a_step_may_be_a_number_and_the_burst_is_a_moment(self):
        found = parse_study(TEXT.replace('["2", "final", "mean"]', '[2, "final", "burst"]'), name="right")
        assert found.moments == ("2", "final", "burst")

    def test_a_part_of_a_table_that_an_arm_has_can_be_changed_alone(self):
        path = "arms.equal_max.schedule.kind"
        found = parse_study(
            TEXT.replace('path = "settings.group_size", values = [2]', f'path = "{path}", values = ["constant"]'),
            name="right",
        )
        assert found.cells()[-1].changes == {path: "constant"}

    def test_a_folder_without_definitions_is_refused(self, tmp_path):
        with pytest.raises(StudyError, match="no definition of a study"):
            load_studies(tmp_path)

    @pytest.mark.parametrize("name", STUDIES)
    def test_every_study_says_what_would_count_as_agreement(self, name):
        study = STUDIES[name]
        assert study.directions
        assert all(direction.paper.endswith(".") and direction.smallest > 0 for direction in study.directions)
        assert all(block.about.endswith(".") for block in study.blocks)

    def test_no_two_studies_share_a_seed(self):
        seeds = [study.seed for study in STUDIES.values()]
        assert len(set(seeds)) == len(seeds)


def test_the_definition_that_contributors_read_is_one_and_runs():
    text = (digest._PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf8")
    (block,) = re.findall(r"```toml\n( *title = .*?)```", text, flags=re.DOTALL)
    study = parse_study(textwrap.dedent(block), name="mine")
    assert [cell.setting for cell in study.cells()][:2] == ["strength=-1; memory=short", "strength=-1; memory=long"]
    (direction,) = study.directions
    assert direction.blocks == ("grid",)  # all blocks where it names none
    short = dataclasses.replace(
        study, seeds=2, moments=("final",), defaults={**study.defaults, "settings": {"steps": 2, "prompts": 3}}
    )
    assert {row[2] for row in run_cell(short, study.cells()[0]).values} == {"original", "mine"}


def test_a_direction_is_judged_in_all_blocks_unless_it_names_some():
    named = 'blocks = ["grid", "settings"]\n'
    assert named in TEXT
    study = parse_study(TEXT.replace(named, ""), name="example")
    assert study.directions[0].blocks == ("grid", "settings")
