"""Every chapter runs headless, reports the numbers that the book states, and is kept without outputs.

The numbers that a chapter must report stand in `tests/chapters/<notebook>.toml`:

    [glued]                # name = value, from hand arithmetic or a source that the comment names
    full_credit = 3.0
    [other_parameters]     # the chapter must also run with these
    SEED = 1
"""

import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest

from book._tools.execute import execute, glued, sources

CHAPTERS = Path(__file__).parent / "chapters"
SOURCES = sources()
LONGEST_CELL = 25


def expected(source):
    """Read what a chapter must report."""
    path = CHAPTERS / f"{source.stem}.toml"
    return tomllib.loads(path.read_text(encoding="utf8")) if path.exists() else {}


def name(source):
    """Name of a notebook in the tests' names."""
    return source.stem


each_chapter = pytest.mark.parametrize("source", SOURCES, ids=name)


@pytest.mark.notebook
@each_chapter
def test_the_chapter_reports_the_expected_numbers(source):
    values = glued(execute(source))
    for key, number in expected(source).get("glued", {}).items():
        assert key in values, f"{source.name} glues no {key!r}; it glues {', '.join(values)}"
        wanted = pytest.approx(number, rel=1e-9, abs=1e-12) if isinstance(number, float) else number
        assert values[key] == wanted, key


@pytest.mark.notebook
@each_chapter
def test_the_chapter_runs_with_other_parameters(source):
    parameters = expected(source).get("other_parameters", {})
    assert execute(source, parameters).cells


@pytest.mark.notebook
@each_chapter
def test_the_chapter_shows_a_figure_once(source):
    shown = [(cell.id, output.get("data", {})) for cell in execute(source).cells for output in cell.get("outputs", [])]
    assert [cell for cell, data in shown if "image/png" in data] == [], "draw and end with show(...) in one cell"
    left_over = ("<matplotlib", "[<matplotlib")
    assert [cell for cell, data in shown if data.get("text/plain", "").startswith(left_over)] == []


@each_chapter
def test_numbers_are_expected_of_every_chapter(source):
    assert expected(source).get("glued"), f"write the chapter's numbers into tests/chapters/{source.stem}.toml"


def test_every_file_of_expected_numbers_has_its_chapter():
    assert {path.stem for path in CHAPTERS.glob("*.toml")} <= {source.stem for source in SOURCES}


@each_chapter
class TestTheSource:
    def test_it_holds_no_outputs(self, source):
        for cell in nbformat.read(source, as_version=4).cells:
            assert not cell.get("outputs"), f"cell {cell.id!r} holds outputs: run `make strip`"
            assert cell.get("execution_count") is None, f"cell {cell.id!r} holds a count: run `make strip`"

    def test_its_cell_ids_are_words_given_by_hand(self, source):
        ids = [cell.get("id", "") for cell in json.loads(source.read_text(encoding="utf8"))["cells"]]
        machine_made = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]+)?$")
        assert [word for word in ids if not re.fullmatch(r"[a-z][a-z0-9-]*", word) or machine_made.match(word)] == []
        assert len(set(ids)) == len(ids)

    def test_it_declares_its_parameters_in_one_tagged_cell(self, source):
        cells = nbformat.read(source, as_version=4).cells
        assert sum("parameters" in cell.metadata.get("tags", []) for cell in cells) == 1

    def test_it_is_valid_and_starts_with_a_title(self, source):
        notebook = nbformat.read(source, as_version=4)
        nbformat.validate(notebook)
        assert notebook.cells[0].cell_type == "markdown"
        assert notebook.cells[0].source.startswith("# ")

    def test_long_code_lives_in_the_package(self, source):
        cells = [cell for cell in nbformat.read(source, as_version=4).cells if cell.cell_type == "code"]
        assert {cell.id: n for cell in cells if (n := len(cell.source.splitlines())) > LONGEST_CELL} == {}
