"""The scoreboard page: every claim has a verdict that a notebook reached, and the files say what the table says."""

import csv
import io
import json
import os
import re
import shutil
from collections import Counter

import pytest

from book._tools import build, execute, scoreboard_page
from tests import browser as real
from toolrl_core.explain.ledger import NOTEBOOKS, VERDICTS, load_claims
from toolrl_core.explain.scoreboard import collect, scoreboard

COUNTS = {"reproduced": 75, "reproduced with a correction": 51, "not reproduced": 17, "quoted only": 43}
"""How the claims fare. A change here is a change of a published verdict: CHANGELOG.md has to say which and why."""


@pytest.fixture(scope="module")
def board():
    """The scoreboard of the executed notebooks."""
    missing = [copy.name for copy in scoreboard_page.copies() if not copy.exists()]
    if missing:
        pytest.fail(f"not executed: {', '.join(missing)}; run `make book`")
    return scoreboard_page.board()


def test_every_claim_has_a_record_that_decides_it(board):
    assert board.undecided == ()


def test_the_verdicts_are_the_published_ones(board):
    assert board.counts == COUNTS


def test_the_ledger_expects_the_published_verdicts():
    assert Counter(claim.verdict for claim in load_claims().values()) == COUNTS
    assert set(COUNTS) == set(VERDICTS)


def test_a_claim_that_loses_its_record_is_seen(board, tmp_path):
    stem = next(row.record.notebook for row in board.rows if row.record)
    (tmp_path / "changed.ipynb").write_text(
        json.dumps({"cells": []}),
        encoding="utf8",
    )
    kept = [copy for copy in scoreboard_page.copies() if copy.stem != stem]
    lost = scoreboard(collect([*kept, tmp_path / "changed.ipynb"]))
    assert set(lost.undecided) >= {claim.id for claim in load_claims().values() if claim.decided_by == stem}


def test_every_notebook_of_the_ledger_is_a_chapter():
    assert set(NOTEBOOKS) <= {source.stem for source in execute.sources()}


def test_each_row_links_to_a_row_of_its_chapter(board):
    html = board.to_html(page="{notebook}")
    for row in board.rows:
        if row.record is None:
            continue
        assert f'href="{row.claim.decided_by}#{row.claim.anchor}"' in html
        chapter = execute.target_of(execute.ROOT / "notebooks" / f"{row.claim.decided_by}.ipynb")
        assert f'id=\\"{row.claim.anchor}\\"' in chapter.read_text(encoding="utf8")


def test_the_files_hold_every_row_of_the_table(board):
    rows = list(csv.DictReader(io.StringIO(scoreboard_page.file_text("scoreboard.csv"))))
    assert rows == json.loads(scoreboard_page.file_text("scoreboard.json")) == board.to_dicts()
    assert len(rows) == sum(COUNTS.values())


def test_a_file_of_another_name_is_refused():
    with pytest.raises(ValueError, match=r"no file 'scoreboard\.xml'; valid: scoreboard\.csv, scoreboard\.json"):
        scoreboard_page.file_text("scoreboard.xml")


def test_the_line_of_the_front_page_has_the_counts(board):
    line = scoreboard_page.in_one_line()
    assert re.findall(r"<strong>(\d+)</strong>", line) == [str(n) for n in (sum(COUNTS.values()), *COUNTS.values())]
    assert f"Of {sum(COUNTS.values())} statements: 75 reproduced" in scoreboard_page.bar_html()


def test_the_corrected_figures_show_the_notes_value_and_ours(board):
    html = scoreboard_page.corrections_html()
    # 6.2: the true name term is 1/2, so greedy has 4/3 + 1/2 of 6 points: 6 * (11/6) / 6 - 3 = -7/6, not -2/3.
    row = next(part for part in html.split("<tr") if "toolrl-6-2-greedy-reward" in part)
    assert "<td>−2/3 points</td>" in row
    assert "−7/6" in row


def test_counts_and_claims_in_the_text_need_a_verdict_and_a_record(board):
    assert scoreboard_page.count_of("all") == len(board.rows)
    assert scoreboard_page.count_of("not decided") == 0
    with pytest.raises(ValueError, match="there is no verdict 'proved'; valid: reproduced"):
        scoreboard_page.count_of("proved")
    with pytest.raises(ValueError, match=r"no claim 'toolrl\.P9'"):
        scoreboard_page.row_of("toolrl.P9")
    with pytest.raises(ValueError, match="no executed notebook has a record"):
        scoreboard_page.row_of("simpletir.12.6.proof")


def test_the_scoreboard_is_read_anew_when_a_notebook_has_changed(board, tmp_path, monkeypatch):
    copy = tmp_path / "copy.ipynb"
    shutil.copy(scoreboard_page.copies()[0], copy)
    monkeypatch.setattr(scoreboard_page, "copies", lambda: [copy])
    before = scoreboard_page.count_of("not decided")
    copy.write_text(json.dumps({"cells": []}), encoding="utf8")
    assert scoreboard_page.count_of("not decided") > before


@pytest.fixture(scope="module")
def table():
    """The built scoreboard in a real browser."""
    built = build.HTML / "book" / "scoreboard.html"
    if not build.is_current() or not built.exists():
        pytest.fail("the built book is older than its sources, or lacks the scoreboard: run `make book`")
    try:
        with real.open_browser() as browser, real.serve(build.HTML) as site, real.open_page(browser, site) as opened:
            yield opened
    except real.NoBrowserError as error:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(str(error))
        pytest.skip(f"THE SCOREBOARD WAS NOT TESTED IN A BROWSER: {error}")


def real_problems(problems):
    """Leave out that a file of an earlier page has not changed since."""
    return [problem for problem in problems if not problem.startswith("status 304")]


@pytest.mark.book
class TestInTheBrowser:
    def test_the_filter_shows_the_rows_of_a_verdict_and_says_how_many(self, table):
        page, problems = table
        real.load(page, "book/scoreboard.html")
        page.get_by_label("Verdict").select_option("not reproduced")
        assert page.locator(".scoreboard tbody tr:visible").count() == COUNTS["not reproduced"]
        assert page.locator(".scoreboard-controls output").inner_text() == "17 of 186 claims"
        page.get_by_label("Words").fill("criterion")
        assert 0 < page.locator(".scoreboard tbody tr:visible").count() < COUNTS["not reproduced"]
        page.get_by_role("button", name="Show all").click()
        page.wait_for_function("document.querySelectorAll('.scoreboard tbody tr:not([hidden])').length === 186")
        assert real_problems(problems) == []

    def test_the_address_carries_a_filter_from_the_front_page(self, table):
        page, problems = table
        real.load(page, "book/index.html")
        page.locator("main a", has_text="reproduced with a correction").first.click()
        page.wait_for_selector(".scoreboard-controls:visible")
        assert page.locator(".scoreboard tbody tr:visible").count() == COUNTS["reproduced with a correction"]
        assert real_problems(problems) == []

    def test_a_header_sorts_up_and_then_down_with_the_keyboard_too(self, table):
        page, problems = table
        real.load(page, "book/scoreboard.html")
        ids = page.locator(".scoreboard tbody tr th code")
        header = page.locator(".scoreboard thead th").first
        header.get_by_role("button").press("Enter")
        up = ids.all_inner_texts()
        assert header.get_attribute("aria-sort") == "ascending"
        header.get_by_role("button").press("Enter")
        assert header.get_attribute("aria-sort") == "descending"
        assert up[0].startswith("simpletir.")
        assert ids.all_inner_texts()[0].startswith("toolrl.")
        assert real_problems(problems) == []

    def test_each_row_leads_to_its_row_in_a_chapter(self, table):
        page, problems = table
        real.load(page, "book/scoreboard.html#claim-toolrl-p2-counterexample")
        row = page.locator("#claim-toolrl-p2-counterexample")
        row.get_by_role("link", name="chapter 2").click()
        page.wait_for_url("**/02_greedy_vs_optimal.html#claim-toolrl-p2-counterexample")
        assert "7/3" in page.locator("#claim-toolrl-p2-counterexample").inner_text()
        assert real_problems(problems) == []

    def test_the_files_beside_the_page_are_those_that_it_offers(self, table):
        for name in scoreboard_page.FILES:
            assert (build.HTML / "book" / name).read_text(encoding="utf8") == scoreboard_page.file_text(name)
