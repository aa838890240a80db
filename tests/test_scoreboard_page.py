"""The scoreboard page: every entry has a verdict that a notebook reached, and the files say what the tables say."""

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
from toolrl_core.explain.ledger import (
    DIRECTION_VERDICTS,
    MINIATURES,
    NOTEBOOKS,
    VERDICTS,
    load_claims,
    load_directions,
    load_ledger,
    read_entries,
)
from toolrl_core.explain.scoreboard import CollectedRecord, collect, scoreboard

COUNTS = {"reproduced": 75, "reproduced with a correction": 51, "not reproduced": 17, "quoted only": 43}
"""How the claims fare. A change here is a change of a published verdict: CHANGELOG.md has to say which and why."""
DIRECTIONS = {
    "toolrl.5.2.equal_max_direction": "direction depends",
    "toolrl.5.2.two_stage_direction": "direction depends",
    "toolrl.5.2.two_stage_worst_direction": "direction depends",
    "toolrl.5.2.dynamic_direction": "direction depends",
    "toolrl.5.1.refusal_direction": "direction does not come out",
    "toolrl.5.2.abrupt_direction": "direction does not come out",
    "toolrl.5.3.coarse_direction": "direction depends",
    "toolrl.5.3.order_direction": "direction does not come out",
    "toolrl.5.3.weak_direction": "direction depends",
    "toolrl.5.4.length_direction": "direction depends",
    "toolrl.5.4.length_growing_direction": "direction does not come out",
    "toolrl.5.4.length_weak_direction": "direction does not come out",
    "toolrl.5.4.thoughts_grow_direction": "direction agrees",
    "simpletir.6.5.veto_direction": "direction depends",
    "simpletir.6.5.low_probability_direction": "direction agrees",
    "simpletir.6.5.high_ratio_direction": "direction depends",
    "simpletir.6.5.stop_direction": "direction depends",
    "simpletir.5.2.single_turn_direction": "direction depends",
    "simpletir.1.1.spikes_direction": "direction does not come out",
}
"""How each direction fares in the miniature, by its id; published in the same way."""

CLAIMS = ".scoreboard[data-kind=claim]"


@pytest.fixture(scope="module")
def board():
    """The scoreboard of the executed notebooks."""
    missing = [copy.name for copy in scoreboard_page.copies() if not copy.exists()]
    if missing:
        pytest.fail(f"not executed: {', '.join(missing)}; run `make book`")
    return scoreboard_page.board()


def test_every_claim_has_a_record_that_decides_it(board):
    assert board.undecided == ()


def test_every_direction_has_a_record_that_tests_it(board):
    assert board.untested == ()
    assert [row.claim.id for row in board.directions if row.claim.correction == "Provisional."] == []


def test_the_verdicts_are_the_published_ones(board):
    assert board.counts == COUNTS


def test_the_ledger_expects_the_published_verdicts():
    assert Counter(claim.verdict for claim in load_claims().values()) == COUNTS
    assert set(COUNTS) == set(VERDICTS)


def test_the_directions_fare_as_published():
    fares = {direction.id: direction.verdict for direction in load_directions().values()}
    chapters = {source.stem for source in execute.sources()} & set(MINIATURES)
    assert fares == DIRECTIONS or not (fares or chapters)
    assert set(DIRECTIONS.values()) <= set(DIRECTION_VERDICTS)


def test_a_claim_that_loses_its_record_is_seen(board, tmp_path):
    stem = next(row.record.notebook for row in board.rows if row.record)
    (tmp_path / "changed.ipynb").write_text(
        json.dumps({"cells": []}),
        encoding="utf8",
    )
    kept = [copy for copy in scoreboard_page.copies() if copy.stem != stem]
    lost = scoreboard(collect([*kept, tmp_path / "changed.ipynb"]))
    assert set(lost.undecided) >= {claim.id for claim in load_claims().values() if claim.decided_by == stem}


def test_every_notebook_that_decides_something_is_a_chapter():
    deciding = {entry.decided_by for entry in load_ledger().values()} - {"quoted"}
    assert deciding <= set(NOTEBOOKS) & {source.stem for source in execute.sources()}


def test_each_row_links_to_a_row_of_its_chapter(board):
    html = board.to_html(page="{notebook}") + board.to_html(page="{notebook}", kind="direction")
    for row in (*board.rows, *board.directions):
        if row.record is None:
            continue
        assert f'href="{row.claim.decided_by}#{row.claim.anchor}"' in html
        chapter = execute.target_of(execute.ROOT / "notebooks" / f"{row.claim.decided_by}.ipynb")
        assert f'id=\\"{row.claim.anchor}\\"' in chapter.read_text(encoding="utf8")


def test_the_files_hold_every_row_of_the_table(board):
    rows = list(csv.DictReader(io.StringIO(scoreboard_page.file_text("scoreboard.csv"))))
    assert rows == json.loads(scoreboard_page.file_text("scoreboard.json")) == board.to_dicts()
    assert Counter(row["kind"] for row in rows) == Counter(claim=sum(COUNTS.values()), direction=len(load_directions()))


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


@pytest.fixture
def invented(monkeypatch):
    """The page with three invented directions, of which one has no record."""
    common = {"note": "toolrl", "section": "5.2", "level": "B", "statement": "It goes up.", "printed": "no figure"}
    rows = [
        common | {"id": "toolrl.5.2.a_direction", "decided_by": "13_ratio_of_scales", "verdict": "direction agrees"},
        common | {"id": "toolrl.5.2.b_direction", "decided_by": "13_ratio_of_scales", "verdict": "direction agrees"},
        common
        | {
            "id": "toolrl.5.3.c_direction",
            "decided_by": "14_hits_and_budgets",
            "verdict": "direction depends",
            "correction": "On the base.",
        },
    ]
    ledger = load_claims() | read_entries(rows, kind="direction")
    told = {"ours": "agrees in 9 of 9 settings", "holds": True, "cell": "claims"}
    records = {
        id_: CollectedRecord(claim=id_, notebook=ledger[id_].decided_by, **told)
        for id_ in ("toolrl.5.2.a_direction", "toolrl.5.3.c_direction")
    }
    made = scoreboard(records, ledger=ledger)
    monkeypatch.setattr(scoreboard_page, "board", lambda: made)
    return made


def test_the_directions_have_a_table_and_a_form_of_their_own(invented):
    html = scoreboard_page.table_html("direction")
    assert html.startswith('<form class="scoreboard-controls" data-kind="direction" data-noun="directions"')
    assert '<div class="claims scoreboard" data-kind="direction"' in html
    verdicts = html.split('name="verdict">')[1].split("</select>")[0]
    assert re.findall(r"<option>([^<]+)", verdicts) == ["direction agrees", "direction depends", "not tested"]
    assert '<a href="../notebooks/13_ratio_of_scales.html#claim-toolrl-5-2-a-direction">chapter 13</a>' in html
    assert re.findall(r"<code>([^<]+)", html) == [row.claim.id for row in invented.directions]
    assert "_direction" not in scoreboard_page.table_html()
    assert "direction" not in scoreboard_page.in_one_line() + scoreboard_page.bar_html()


def test_the_line_of_directions_links_each_count_to_its_rows(invented):
    line = scoreboard_page.directions_in_one_line()
    assert re.sub("<[^>]+>", "", line) == (
        "Besides, 2 directions tested in the miniature: 1 agrees, 1 depends, 0 do not come out; 1 not tested."
    )
    assert 'href="scoreboard.html?verdict=direction+does+not+come+out#directions"' in line


def test_directions_are_counted_and_found_by_name(invented):
    assert scoreboard_page.count_of("all") == sum(COUNTS.values())
    names = ("directions", "direction agrees", "direction does not come out", "not tested")
    assert [scoreboard_page.count_of(name) for name in names] == [3, 1, 0, 1]
    assert scoreboard_page.row_of("toolrl.5.2.a_direction").record.ours == "agrees in 9 of 9 settings"
    with pytest.raises(ValueError, match="no executed notebook has a record"):
        scoreboard_page.row_of("toolrl.5.2.b_direction")


def test_the_files_tell_the_kinds_apart_in_the_same_columns(invented):
    rows = list(csv.DictReader(io.StringIO(scoreboard_page.file_text("scoreboard.csv"))))
    assert rows == json.loads(scoreboard_page.file_text("scoreboard.json")) == invented.to_dicts()
    assert Counter(row["kind"] for row in rows) == {"claim": 186, "direction": 3}


def test_a_page_without_directions_says_so(monkeypatch):
    alone = scoreboard({}, ledger=load_claims())
    monkeypatch.setattr(scoreboard_page, "board", lambda: alone)
    assert scoreboard_page.directions_in_one_line() == ""
    assert scoreboard_page.table_html("direction") == "<p>No direction has been tested yet.</p>"


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
        form = page.locator(".scoreboard-controls[data-kind=claim]")
        form.get_by_label("Verdict").select_option("not reproduced")
        assert page.locator(f"{CLAIMS} tbody tr:visible").count() == COUNTS["not reproduced"]
        assert form.locator("output").inner_text() == "17 of 186 claims"
        form.get_by_label("Words").fill("criterion")
        assert 0 < page.locator(f"{CLAIMS} tbody tr:visible").count() < COUNTS["not reproduced"]
        form.get_by_role("button", name="Show all").click()
        page.wait_for_function(
            "document.querySelectorAll('.scoreboard[data-kind=claim] tbody tr:not([hidden])').length === 186"
        )
        assert real_problems(problems) == []

    @pytest.mark.skipif(not load_directions(), reason="no direction has been tested yet")
    def test_the_directions_are_filtered_by_a_form_of_their_own(self, table):
        page, problems = table
        verdict, count = Counter(DIRECTIONS.values()).most_common(1)[0]
        rows = page.locator(".scoreboard[data-kind=direction] tbody tr:visible")
        told = page.locator(".scoreboard-controls[data-kind=direction] output")
        real.load(page, "book/index.html")
        page.locator(f'main a[href*="{verdict.replace(" ", "+")}"]').click()
        page.wait_for_selector(".scoreboard-controls[data-kind=direction]:visible")
        assert rows.count() == count
        assert told.inner_text() == f"{count} of {len(DIRECTIONS)} directions"
        assert page.locator(f"{CLAIMS} tbody tr:visible").count() == 186
        page.locator(".scoreboard-controls[data-kind=direction]").get_by_role("button", name="Show all").click()
        page.wait_for_function(
            "n => document.querySelectorAll('.scoreboard[data-kind=direction] tbody tr:not([hidden])').length === n",
            arg=len(DIRECTIONS),
        )
        assert real_problems(problems) == []

    def test_the_address_carries_a_filter_from_the_front_page(self, table):
        page, problems = table
        real.load(page, "book/index.html")
        page.locator("main a", has_text="reproduced with a correction").first.click()
        page.wait_for_selector(".scoreboard-controls[data-kind=claim]:visible")
        assert page.locator(f"{CLAIMS} tbody tr:visible").count() == COUNTS["reproduced with a correction"]
        assert real_problems(problems) == []

    def test_a_header_sorts_up_and_then_down_with_the_keyboard_too(self, table):
        page, problems = table
        real.load(page, "book/scoreboard.html")
        ids = page.locator(f"{CLAIMS} tbody tr th code")
        header = page.locator(f"{CLAIMS} thead th").first
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
