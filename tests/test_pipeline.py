"""The executor runs each notebook once, in bounded time, and says clearly why one failed; the build stops early."""

import base64
import doctest
import hashlib
import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from book._tools import build, execute, picture, vendor

ROOT = Path(__file__).resolve().parents[1]


def notebook(folder: Path, *cells: str) -> Path:
    """Write a notebook whose cells are called cell-0, cell-1, …"""
    path = folder / "written.ipynb"
    written = [new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(cells)]
    nbformat.write(new_notebook(cells=written), path)
    return path


@pytest.fixture(scope="module")
def executed(small_chapter, tmp_path_factory):
    """The small chapter, executed into a folder of its own."""
    return execute.execute(small_chapter, folder=tmp_path_factory.mktemp("executed"))


@pytest.mark.notebook
class TestAFailureIsClearAndBounded:
    def test_an_endless_cell_is_stopped_by_the_limit_for_a_cell(self, tmp_path):
        with pytest.raises(execute.NotebookError, match=r"(?s)written.ipynb, cell 'cell-1'.*timed out.*5 seconds"):
            execute.execute(notebook(tmp_path, "1", "while True: pass"), cell_seconds=5, folder=tmp_path / "out")

    def test_a_slow_notebook_is_stopped_by_the_limit_for_the_whole_and_its_kernel_ends(self, tmp_path):
        source = notebook(
            tmp_path, "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))", "time.sleep(600)"
        )
        with pytest.raises(execute.NotebookError, match=r"cell 'cell-1': the notebook took longer than 8 s"):
            execute.execute(source, notebook_seconds=8, folder=tmp_path / "out")
        kernel = int((tmp_path / "pid").read_text())
        for _ in range(200):
            if not alive(kernel):
                return
            time.sleep(0.1)
        pytest.fail("the kernel outlived its notebook")

    def test_a_killed_kernel_is_named_as_the_cause(self, tmp_path):
        source = notebook(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
        with pytest.raises(execute.NotebookError, match=r"cell 'cell-0': the kernel died"):
            execute.execute(source, notebook_seconds=60, folder=tmp_path / "out")

    def test_a_cell_that_asks_for_input_fails(self, tmp_path):
        with pytest.raises(execute.NotebookError, match=r"(?s)cell 'cell-0'.*input"):
            execute.execute(notebook(tmp_path, "input()"), notebook_seconds=60, folder=tmp_path / "out")

    def test_a_failing_cell_gives_its_traceback_without_colours(self, tmp_path):
        with pytest.raises(execute.NotebookError, match=r"(?s)cell 'cell-0'.*ZeroDivisionError") as caught:
            execute.execute(notebook(tmp_path, "1 / 0"), folder=tmp_path / "out")
        assert "\x1b" not in str(caught.value)

    def test_a_failed_run_leaves_no_copy_that_the_book_would_take(self, tmp_path):
        source = notebook(tmp_path, "1 / 0")
        with pytest.raises(execute.NotebookError):
            execute.execute(source, folder=tmp_path / "out")
        assert not execute.is_current(source, folder=tmp_path / "out")
        assert not (tmp_path / "out" / source.name).exists()


def alive(process: int) -> bool:
    """Tell whether a process runs; one that only waits to be reaped does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


@pytest.mark.notebook
class TestAnExecutedCopy:
    def test_a_notebook_saved_with_another_machines_kernel_runs(self, executed, small_chapter):
        assert nbformat.read(small_chapter, as_version=4).metadata.kernelspec.name == "kernel-of-another-machine"
        assert all(cell.execution_count for cell in executed.cells if cell.cell_type == "code")

    def test_glued_values_come_back_as_numbers_and_texts(self, executed):
        assert execute.glued(executed) == {"points": 3.0, "name": "paper"}

    def test_widget_state_survives_with_every_frame_drawn(self, executed):
        state = executed.metadata.widgets["application/vnd.jupyter.widget-state+json"].state
        frames = [model.state.value for model in state.values() if model.model_name == "HTMLModel"]
        assert len(frames) == 4 * 3
        assert all("<svg role=" in frame and "<table" in frame for frame in frames)

    def test_an_explorer_without_widgets_is_still_words_and_a_picture(self, executed):
        (output,) = next(cell for cell in executed.cells if cell.id == "sliders").outputs
        assert output.data["text/plain"].startswith("[explorer with 2 slider(s): missing arguments: 0, 1, 2, 3;")
        assert "a lower one with 1 missing arguments, preset paper." in output.data["text/html"]

    def test_the_executor_alone_asks_for_baked_frames(self, tmp_path):
        source = notebook(
            tmp_path, "import os\nfrom myst_nb import glue\nglue('bake', os.environ['TOOLRL_BAKE'], display=False)"
        )
        assert execute.glued(execute.execute(source, folder=tmp_path / "out")) == {"bake": "1"}
        assert "TOOLRL_BAKE" not in os.environ

    def test_other_parameters_go_to_another_folder(self, small_chapter, tmp_path):
        changed = execute.execute(small_chapter, {"POINTS": 2.0}, folder=tmp_path)
        assert execute.glued(changed)["points"] == 2.0
        assert not (tmp_path / small_chapter.name).exists()
        assert execute.is_current(small_chapter, {"POINTS": 2.0}, folder=tmp_path)

    def test_a_current_copy_is_not_made_again_and_a_changed_source_is(self, tmp_path):
        source = notebook(tmp_path, "1")
        execute.execute(source, folder=tmp_path / "out")
        copy = execute.target_of(source, folder=tmp_path / "out")
        made = copy.stat().st_mtime_ns
        execute.execute(source, folder=tmp_path / "out")
        assert copy.stat().st_mtime_ns == made
        notebook(tmp_path, "2")
        assert not execute.is_current(source, folder=tmp_path / "out")


class TestParameters:
    def test_an_undeclared_parameter_is_an_error_that_lists_the_declared_ones(self, small_chapter, tmp_path):
        with pytest.raises(ValueError, match=r"does not declare POINT; declared parameters: POINTS, SEED"):
            execute.execute(small_chapter, {"POINT": 2.0}, folder=tmp_path)

    def test_annotated_and_multi_line_parameters_are_seen(self, tmp_path):
        path = tmp_path / "written.ipynb"
        cell = new_code_cell("LIMIT: int = 3\nNAMES = [\n    'a',\n]\nother.x = 1", metadata={"tags": ["parameters"]})
        nbformat.write(new_notebook(cells=[cell]), path)
        assert execute.declared_parameters(path) == {"LIMIT", "NAMES"}


class TestTheBuild:
    def test_jupyter_book_is_pinned_below_version_2(self):
        pins = re.findall(r"(?m)^jupyter-book==(\d+)\.", (ROOT / "requirements.txt").read_text())
        assert pins == ["1"]

    def test_jupyter_book_alone_stops_with_one_sentence_that_says_what_to_run(self, small_chapter, tmp_path):
        for name in ("book", "toolrl_core"):
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("_config.yml", "_toc.yml", "requirements.txt"):
            shutil.copy(ROOT / name, tmp_path)
        (tmp_path / "notebooks").mkdir()
        shutil.copy(small_chapter, tmp_path / "notebooks" / "01_small.ipynb")
        (tmp_path / "_build" / "vendor").mkdir(parents=True)
        program = Path(sys.executable).with_name("jupyter-book")
        done = subprocess.run([program, "build", "."], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "The book lacks current executed copies of 01_small: run `make book`" in done.stderr
        assert "Traceback" not in done.stdout + done.stderr

    def test_every_page_of_a_nested_table_of_contents_is_listed(self, tmp_path, monkeypatch):
        (tmp_path / "_toc.yml").write_text(
            "root: book/index\nparts:\n- caption: One\n  chapters:\n  - file: notebooks/01\n    sections:\n"
            "    - file: book/more\n- chapters:\n  - file: book/end\n"
        )
        monkeypatch.setattr(build, "ROOT", tmp_path)
        monkeypatch.setattr(build, "HTML", tmp_path)
        assert build.pages() == ["book/index", "notebooks/01", "book/more", "book/end"]
        (tmp_path / "book").mkdir()
        (tmp_path / "book" / "more.html").touch()
        assert build.missing_pages() == ["book/index", "notebooks/01", "book/end"]

    def test_every_notebook_is_a_page_of_the_book(self):
        assert [f"notebooks/{source.stem}" for source in execute.sources()] == [
            page for page in build.pages() if page.startswith("notebooks/")
        ]


class TestBrowserFiles:
    @pytest.fixture
    def package(self, tmp_path):
        archive = tmp_path / "thing-1.0.0.tgz"
        with tarfile.open(archive, "w:gz") as tar:
            for name in ("package/dist/a.js", "package/dist/fonts/b.woff2", "package/dist/unwanted.js"):
                member = tarfile.TarInfo(name)
                member.size = 1
                tar.addfile(member, io.BytesIO(b"x"))
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        return archive, vendor.Package("thing", "1.0.0", digest, "dist", ("a.js", "fonts/"))

    def test_only_the_wanted_files_are_kept(self, package, tmp_path):
        vendor.unpack(package[0], tmp_path / "out", package[1])
        kept = {
            path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()
        }
        assert kept == {"a.js", "fonts/b.woff2", "version-1.0.0"}

    def test_a_package_that_lacks_a_file_is_refused(self, package, tmp_path):
        lacking = vendor.Package("thing", "1.0.0", "", "dist", ("a.js", "gone.js"))
        with pytest.raises(SystemExit, match=r"thing 1.0.0 lacks gone.js"):
            vendor.unpack(package[0], tmp_path / "out", lacking)

    def test_every_package_is_recorded_with_a_digest_of_64_bytes(self):
        assert {len(base64.b64decode(package.sha512)) for package in vendor.PACKAGES} == {64}


class TestTheReadme:
    def test_its_example_does_what_it_says(self):
        assert doctest.testfile(str(ROOT / "README.md"), module_relative=False).failed == 0

    def test_its_picture_shows_what_the_package_computes(self):
        said = html.unescape(re.search(r'aria-label="([^"]*)"', picture.TARGET.read_text(encoding="utf8"))[1])
        assert said == picture.words(picture.correctness_of_answers()), "run `python -m book._tools.picture`"

    def test_its_picture_shows_the_known_scores(self):
        scores = picture.correctness_of_answers()
        # Swapped names under `released`: no pair counts, names 1 of 5 raw points: -3 + 6 / 5.
        assert scores["two right calls, names swapped"] == pytest.approx(
            {"paper": 3, "released": -9 / 5, "robust": -9 / 5}
        )
        # Five copies under `robust`: 1/5 + 2 of 3 + 4 raw points: -3 + 6 * (11 / 5) / 7.
        assert scores["right call, five times"] == pytest.approx({"paper": 3, "released": 1.4, "robust": -39 / 35})


def test_the_small_chapter_is_clean(small_chapter):
    cells = json.loads(small_chapter.read_text())["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
