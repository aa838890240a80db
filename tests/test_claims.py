"""The ledger of claims and directions, a chapter's records, and the scoreboard made from executed notebooks."""

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from toolrl_core.explain.claims import MIME_TYPE, ChapterClaims, ClaimError, ClaimRecord, ClaimTable
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
from toolrl_core.explain.quoted import load_quoted
from toolrl_core.explain.scoreboard import collect, scoreboard
from toolrl_core.studies import agreement
from toolrl_core.studies.definitions import load_studies

COUNTEREXAMPLE = "toolrl.P2.counterexample"
UP = {
    "id": "toolrl.5.2.up_direction",
    "note": "toolrl",
    "section": "5.2",
    "level": "B",
    "statement": "One scale ends above another.",
    "printed": "40.0 to 50.0",
    "decided_by": "13_ratio_of_scales",
    "verdict": "direction agrees",
}
DOWN = UP | {"id": "toolrl.5.2.down_direction", "verdict": "direction depends", "correction": "Only for a weak base."}
LEVEL = UP | {
    "id": "toolrl.5.2.level_direction",
    "verdict": "direction does not come out",
    "correction": "Both end level.",
}
INVENTED = read_entries([UP, DOWN, LEVEL], kind="direction")


def _deciding(ledger=None) -> list[str]:
    """List the notebooks that decide an entry, in the order of the chapters."""
    deciding = {entry.decided_by for entry in (ledger or load_ledger()).values()}
    return [stem for stem in NOTEBOOKS if stem in deciding]


def _recorded_chapter(notebook: str, ledger=None) -> ChapterClaims:
    """Record each of a chapter's entries with the ledger's own figure."""
    entries = ledger or load_ledger()
    ledger = ChapterClaims(notebook, ledger=entries)
    for id_ in ledger.missing:
        claim = entries[id_]
        numbers = claim.right_numbers or claim.printed_numbers
        wrong = claim.verdict == "not reproduced" and not claim.right_numbers
        ledger.record(id_, ours=[n + (100 if wrong else 0) for n in numbers] if numbers else "words", check=True)
    return ledger


def _write_notebook(path, table: dict, *, cell: str = "claims") -> None:
    output = {"output_type": "execute_result", "data": {"text/html": "", MIME_TYPE: table}, "metadata": {}}
    cells = [{"id": "title", "cell_type": "markdown"}, {"id": cell, "cell_type": "code", "outputs": [output]}]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")


# ------------------------------------------------------------------------------------------------ the ledger


def test_every_entry_is_complete():
    for claim in load_ledger().values():
        assert claim.statement.endswith((".", "?")), claim.id
        assert all((claim.printed, claim.section)), claim.id
        assert claim.level in {"A", "B", "C", "D"}, claim.id
        assert claim.note in {"toolrl", "simpletir"}, claim.id
        assert claim.id.startswith(claim.note + "."), claim.id
        assert re.fullmatch(r"[a-z]+\.[0-9P][0-9.ab]*\.[a-z0-9_]+", claim.id), claim.id


def test_every_verdict_but_reproduced_says_what_is_right():
    silent = [c.id for c in load_claims().values() if c.verdict in VERDICTS[1:3] and not c.correction]
    assert silent == []


def test_every_chapter_decides_something_and_every_prediction_has_a_verdict():
    decided = {claim.decided_by for claim in load_claims().values()}
    assert decided == {*NOTEBOOKS, "quoted"} - {*MINIATURES}
    tested = {direction.decided_by for direction in load_directions().values()}
    assert tested in (set(), {*MINIATURES})
    predictions = {id_.split(".")[1] for id_ in load_claims() if id_.startswith("toolrl.P")}
    assert predictions == {"P1", "P2", "P3", "P4", "P5a", "P5b"}
    predictions = {id_.split(".")[1] for id_ in load_claims() if id_.startswith("simpletir.P")}
    assert predictions == {"P1", "P2", "P3", "P4", "P5", "P6"}


def test_the_statements_are_in_plain_ascii_english():
    text = "".join(c.statement + c.printed + c.correction + c.unit for c in load_ledger().values())
    assert text.isascii()


def test_every_direction_is_named_as_one_and_quotes_cells_that_the_notes_print():
    cells = {str(cell.value) for cell in load_quoted()}
    for direction in load_directions().values():
        assert direction.id.endswith("_direction")
        assert direction.level == "B", direction.id  # what a paper reports of its training runs
        figures = re.findall(r"\d+\.\d+(?![\dB])", direction.printed)
        assert set(figures) <= cells, direction.id


def test_every_direction_has_a_study_that_judges_it_by_the_same_verdicts():
    assert agreement.VERDICTS == DIRECTION_VERDICTS
    studies = load_studies(Path(__file__).parents[1] / "studies").values()
    studied = {direction.id for study in studies for direction in study.directions}
    assert set(load_directions()) in (set(), {id_ for id_ in studied if not id_.startswith("own.")})


def test_the_kinds_share_neither_an_id_nor_a_verdict():
    assert [entry.kind for entry in load_ledger().values()] == ["claim"] * 186 + ["direction"] * len(load_directions())
    assert not set(load_claims()) & set(load_directions())
    assert not set(VERDICTS) & set(DIRECTION_VERDICTS)


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        (
            [UP | {"verdict": "reproduced"}],
            "direction",
            "valid: direction agrees, direction depends, direction does not",
        ),
        ([UP], "claim", "has the verdict 'direction agrees'; valid: reproduced"),
        ([UP | {"decided_by": "quoted"}], "direction", "names the notebook 'quoted'; valid: 13_ratio_of_scales"),
        ([UP | {"decided_by": "03_scale_contrast"}], "direction", "valid: 13_ratio_of_scales, 14_hits_and_budgets"),
        ([UP | {"verdict": "reproduced"}], "claim", "claim 'toolrl.5.2.up_direction' names the notebook '13_ratio"),
        ([UP | {"printed_numbers": ["50"]}], "direction", "has numbers or a unit"),
        ([UP | {"right_numbers": ["50"]}], "direction", "has numbers or a unit"),
        ([UP | {"unit": "points"}], "direction", "has numbers or a unit"),
        ([DOWN | {"correction": ""}], "direction", "'direction depends' needs a correction"),
        ([LEVEL | {"correction": ""}], "direction", "'direction does not come out' needs a correction"),
        ([DOWN | {"correction": "Reproduced in part."}], "direction", "'correction' speaks of reproducing"),
        ([UP | {"statement": "It reproduces."}], "direction", "'statement' speaks of reproducing"),
        ([UP, UP], "direction", "'toolrl.5.2.up_direction' is listed twice"),
        ([UP], "table", "there is no kind 'table'; valid: claim, direction"),
    ],
)
def test_an_entry_that_does_not_fit_its_kind_is_refused_by_name(rows, kind, message):
    with pytest.raises(ClaimError, match=re.escape(message)):
        read_entries(rows, kind=kind)


def test_an_id_of_a_claim_is_not_given_to_a_direction():
    with pytest.raises(ClaimError, match=r"direction 'toolrl\.P2\.counterexample' is listed twice"):
        read_entries([UP | {"id": COUNTEREXAMPLE}], kind="direction", taken=load_claims())


def test_the_anchors_of_the_rows_are_unique():
    anchors = [claim.anchor for claim in load_claims().values()]
    assert len(anchors) == len(set(anchors))
    assert load_claims()[COUNTEREXAMPLE].anchor == "claim-toolrl-p2-counterexample"


@pytest.mark.parametrize(
    ("id_", "hand"),
    [
        # worked example: name 1/2, keys 1, value 1; then 6 x / 4 - 3
        ("toolrl.6.1.call_missing", [Fraction(5, 2), 6 * Fraction(5, 2) / 4 - 3]),
        ("toolrl.6.1.one_call_value_wrong", [Fraction(1, 2) + 1, 6 * Fraction(3, 2) / 4 - 3]),
        ("toolrl.6.1.loss", [3 - Fraction(3, 4)]),
        ("toolrl.6.1.extra_key_free", [6 * (1 + Fraction(1, 2) + 1 + 1) / 4 - 3]),
        ("toolrl.6.1.extra_call_free", [6 * (Fraction(2, 3) + 2 + 1) / 4 - 3]),
        # counterexample: keys {a} of {a, b, c}; alpha of {alpha, beta}; maximum 6
        ("toolrl.6.2.pair_11", [Fraction(1, 3) + 1]),
        ("toolrl.6.2.greedy_total", [Fraction(4, 3) + Fraction(1, 2)]),
        ("toolrl.6.2.greedy_reward", [6 * Fraction(11, 6) / 6 - 3]),
        ("toolrl.6.2.optimal_total", [Fraction(8, 3) + 1 + Fraction(1, 2)]),
        ("toolrl.6.2.optimal_reward", [6 * Fraction(25, 6) / 6 - 3]),
        ("toolrl.P2.counterexample", [Fraction(8, 3) + 1 - Fraction(4, 3)]),
        ("toolrl.6.4.contrast", [3 - (-3), 1 - (-1)]),
        ("toolrl.5.2.dynamic_arrives", [2 + Fraction(104, 150), 2 - Fraction(104, 150)]),
        ("simpletir.P3.turn_four", [Fraction(56, 100) * Fraction(45, 100) ** 3]),
        ("simpletir.10.3.worst", [Fraction(45, 100) ** 4]),
    ],
)
def test_the_right_figures_follow_from_hand_arithmetic(id_, hand):
    claim = load_claims()[id_]
    assert all(abs(n - h) <= claim.tolerance for n, h in zip(claim.right_numbers, hand, strict=True))


def test_the_filtered_share_and_the_wasted_turns_follow_from_the_closed_forms():
    claims, q = load_claims(), Fraction(95, 100)
    for printed, turns in zip(claims["simpletir.P5.share"].printed_numbers, (5, 10), strict=True):
        assert abs(printed - 100 * (1 - q**turns)) <= claims["simpletir.P5.share"].tolerance
    # turns spent on void trajectories over all turns, when generation stops at the void turn
    spent = sum(k * q ** (k - 1) / 20 for k in range(1, 11))
    everything = sum(q ** (k - 1) for k in range(1, 11))
    claim = claims["simpletir.P5.compute"]
    assert abs(claim.right_numbers[0] - 100 * spent / everything) <= claim.tolerance


# ------------------------------------------------------------------------------------------------ recording


def test_the_right_value_is_accepted_and_the_printed_one_refused():
    made = ChapterClaims("02_greedy_vs_optimal").record(COUNTEREXAMPLE, ours=Fraction(7, 3))
    assert (made.holds, made.ours, made.verdict) == (True, "7/3 points", "reproduced with a correction")
    with pytest.raises(ClaimError, match=r"printed 2\.3, right 7/3\), but ours is 2\.3 points"):
        ChapterClaims("02_greedy_vs_optimal").record(COUNTEREXAMPLE, ours=2.3)


def test_a_claim_that_is_not_reproduced_refuses_the_printed_value():
    with pytest.raises(ClaimError, match="not reproduced"):
        ChapterClaims("09_veto_mask_or_drop").record("simpletir.P5.simulated", ours=22.92)
    assert ChapterClaims("09_veto_mask_or_drop").record("simpletir.P5.simulated", ours=22.6219).holds


def test_a_refuted_claim_with_a_right_value_wants_that_value_and_not_just_another():
    # one needed key and one invented: 6 (1 + 1/2 + 1 + 1) / 4 - 3 = 9/4
    made = ChapterClaims("01_reward_anatomy").record("toolrl.6.1.extra_key_free", ours=Fraction(9, 4))
    assert (made.holds, made.verdict) == (True, "not reproduced")
    for other in (3, 2):
        with pytest.raises(ClaimError, match="right 9/4"):
            ChapterClaims("01_reward_anatomy").record("toolrl.6.1.extra_key_free", ours=other)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_not_finite_reproduces_nothing(value):
    with pytest.raises(ClaimError):
        ChapterClaims("02_greedy_vs_optimal").record(COUNTEREXAMPLE, ours=value)


def test_words_cannot_stand_in_for_numbers_that_the_ledger_has():
    with pytest.raises(ClaimError, match="give numbers as ours"):
        ChapterClaims("02_greedy_vs_optimal").record(COUNTEREXAMPLE, ours="7/3", check=True)


def test_a_claim_without_numbers_needs_a_check():
    with pytest.raises(ClaimError, match="give a check"):
        ChapterClaims("01_reward_anatomy").record("toolrl.6.1.dilution", ours="falls")
    with pytest.raises(ClaimError, match="but ours is rises, and the chapter's check failed"):
        ChapterClaims("01_reward_anatomy").record("toolrl.6.1.dilution", ours="rises", check=False)


def test_a_failed_check_overrules_agreeing_numbers():
    with pytest.raises(ClaimError, match="check failed"):
        ChapterClaims("02_greedy_vs_optimal").record(COUNTEREXAMPLE, ours=Fraction(7, 3), check=False)


def test_a_claim_that_depends_on_the_parameters_is_kept_and_shown_as_not_holding():
    made = ChapterClaims("08_drift_and_void_turns").record(
        "simpletir.P3.void_rates", ours=[0, 0, 0, 0, 25.0], depends="only 40 trajectories were drawn"
    )
    assert (made.holds, made.verdict) == (False, "does not hold with these parameters")
    assert "only 40 trajectories" in ClaimTable("08_drift_and_void_turns", (made,))._repr_html_()


@pytest.mark.parametrize(
    ("claim_id", "options", "message"),
    [
        ("toolrl.P9", {"ours": 1}, "unknown claim 'toolrl.P9'; 02_greedy_vs_optimal decides: toolrl.3.2.permutations"),
        ("toolrl.P1.range", {"ours": 0}, "decided by '01_reward_anatomy', not '02_greedy_vs_optimal'"),
        (COUNTEREXAMPLE, {"ours": [1, 2]}, r"wants 1 numbers \(7/3\), got 2"),
        (COUNTEREXAMPLE, {"ours": [None]}, "ours must be numbers or words, not NoneType"),
        (
            COUNTEREXAMPLE,
            {"ours": Fraction(7, 3), "verdict": "reproduced"},
            "the chapter says 'reproduced', the ledger",
        ),
    ],
)
def test_a_record_that_contradicts_the_ledger_is_refused_by_name(claim_id, options, message):
    with pytest.raises(ClaimError, match=message):
        ChapterClaims("02_greedy_vs_optimal").record(claim_id, **options)


def test_a_claim_is_recorded_once():
    ledger = ChapterClaims("02_greedy_vs_optimal")
    ledger.record(COUNTEREXAMPLE, ours=Fraction(7, 3))
    with pytest.raises(ClaimError, match="recorded before"):
        ledger.record(COUNTEREXAMPLE, ours=Fraction(7, 3))


def test_an_unknown_notebook_is_refused_and_the_valid_ones_listed():
    for notebook in ("01_reward", "quoted"):
        with pytest.raises(ClaimError, match="valid: 01_reward_anatomy, 02_greedy_vs_optimal"):
            ChapterClaims(notebook)


def test_a_forgotten_claim_stops_the_chapter():
    ledger = ChapterClaims("10_three_prescriptions")
    ledger.record("simpletir.8.1.tree", ours="8^4 = 4096", check=True)
    with pytest.raises(ClaimError, match=r"10_three_prescriptions has no record of: simpletir\.8\.1\.linear"):
        ledger.finish()


@pytest.mark.parametrize("notebook", _deciding())
def test_a_chapter_with_all_its_records_gives_a_table(notebook):
    table = _recorded_chapter(notebook).finish()
    expected = [claim.id for claim in load_ledger().values() if claim.decided_by == notebook]
    assert [made["claim"] for made in table.to_dict()["records"]] == expected
    assert json.loads(json.dumps(table.to_dict())) == table.to_dict()


def test_a_direction_takes_its_verdict_from_the_ledger_and_needs_a_check():
    ledger = ChapterClaims("13_ratio_of_scales", ledger=INVENTED)
    made = ledger.record(DOWN["id"], ours="agrees in 3 of 9 settings", check=0 < 3 < 9)
    assert (made.holds, made.verdict, made.ours) == (True, "direction depends", "agrees in 3 of 9 settings")
    with pytest.raises(ClaimError, match="give a check"):
        ledger.record(UP["id"], ours="agrees in 9 of 9 settings")
    with pytest.raises(
        ClaimError, match=r"expected 'direction agrees' .*ours is agrees in 3 of 9 settings, and the chapt"
    ):
        ledger.record(UP["id"], ours="agrees in 3 of 9 settings", check=False)
    with pytest.raises(ClaimError, match="the chapter says 'direction agrees', the ledger expects 'direction does not"):
        ledger.record(LEVEL["id"], ours="level", check=True, verdict="direction agrees")
    with pytest.raises(ClaimError, match=r"no record of: toolrl\.5\.2\.up_direction, toolrl\.5\.2\.level_direction"):
        ledger.finish()


def test_a_direction_that_fails_with_other_parameters_is_kept_and_shown_as_not_holding():
    ledger = ChapterClaims("13_ratio_of_scales", ledger=INVENTED)
    made = ledger.record(UP["id"], ours="agrees in 0 of 1 settings", check=False, depends="one setting was run")
    assert (made.holds, made.verdict) == (False, "does not hold with these parameters")
    assert "one setting was run" in ClaimTable("13_ratio_of_scales", (made,))._repr_html_()


# ------------------------------------------------------------------------------------------------ rendering


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_markup_in_a_record_is_shown_as_text():
    claim = replace(load_claims()[COUNTEREXAMPLE], statement="<script>1</script>", correction='"<b>&')
    record = ClaimRecord(claim=claim, ours="<i>x", holds=False, depends="<u>d", remark="<s>r")
    tags = _Tags(ClaimTable("02_greedy_vs_optimal", (record,))._repr_html_())
    assert {tag for tag, _ in tags.seen}.isdisjoint({"script", "b", "i", "u", "s"})
    assert all(text in tags.text for text in ("<script>1</script>", '"<b>&', "<i>x", "<u>d", "<s>r"))


def test_the_tables_have_a_caption_and_scoped_headers_and_can_be_scrolled_by_keyboard():
    chapter = _recorded_chapter("10_three_prescriptions").finish()._repr_html_()
    miniature = _recorded_chapter("13_ratio_of_scales", INVENTED).finish()._repr_html_()
    directions = scoreboard({}, ledger=INVENTED).to_html(kind="direction")
    for html, columns in ((chapter, 4), (miniature, 4), (scoreboard({}).to_html(), 6), (directions, 6)):
        tags = _Tags(html).seen
        assert [tag for tag, _ in tags][:3] == ["div", "table", "caption"]
        assert tags[0][1]["role"] == "region"
        assert tags[0][1]["tabindex"] == "0"
        assert tags[0][1]["aria-label"]
        scopes = [attributes.get("scope") for tag, attributes in tags if tag == "th"]
        assert scopes[:columns] == ["col"] * columns
        assert set(scopes[columns:]) == {"row"}


def test_a_table_of_directions_says_that_they_are_no_reproductions():
    miniature = _Tags(_recorded_chapter("13_ratio_of_scales", INVENTED).finish()._repr_html_()).text
    board = _Tags(scoreboard({}, ledger=INVENTED).to_html(kind="direction")).text
    for text in (miniature, board):
        assert "under the assumptions that the chapter names. It is not a reproduction" in text
        assert "The notes' claims" not in text
    assert "The note's figure" not in miniature
    chapter = _recorded_chapter("10_three_prescriptions").finish()._repr_html_()
    assert "miniature" not in chapter + scoreboard({}).to_html().split("<tbody>")[0]


# ------------------------------------------------------------------------------------------------ the scoreboard


def test_the_scoreboard_is_read_back_from_executed_notebooks(tmp_path):
    for notebook in _deciding():
        _write_notebook(tmp_path / f"{notebook}.ipynb", _recorded_chapter(notebook).finish().to_dict())
    board = scoreboard(collect(sorted(tmp_path.glob("*.ipynb"))))
    assert board.undecided == board.untested == ()
    assert set(board.counts) == set(VERDICTS)
    assert sum(board.counts.values()) == len(load_claims())
    assert set(board.direction_counts) == set(DIRECTION_VERDICTS)
    assert sum(board.direction_counts.values()) == len(load_directions())
    row = next(row for row in board.to_dicts() if row["id"] == COUNTEREXAMPLE)
    assert (row["cell"], row["ours"], row["printed"]) == ("claims", "7/3 points", "2.3")
    assert 'href="../n/02_greedy_vs_optimal.html#claim-toolrl-p2-counterexample"' in board.to_html(
        page="../n/{notebook}.html"
    )


def test_a_claim_without_a_record_and_one_that_does_not_hold_are_not_decided(tmp_path):
    table = _recorded_chapter("10_three_prescriptions").finish().to_dict()
    table["records"][1].update(holds=False, verdict="does not hold with these parameters")
    table["records"].pop(0)
    _write_notebook(tmp_path / "10.ipynb", table)
    board = scoreboard(collect([tmp_path / "10.ipynb"]))
    assert {"simpletir.8.1.tree", "simpletir.8.1.linear"} <= set(board.undecided)
    assert "simpletir.8.1.lost" not in board.undecided
    assert board.summary.endswith(f"{len(board.undecided)} not decided")


def test_directions_are_counted_apart_from_the_claims(tmp_path):
    ledger = load_claims() | INVENTED
    table = _recorded_chapter("13_ratio_of_scales", INVENTED).finish().to_dict()
    _write_notebook(tmp_path / "13.ipynb", table)
    alone, both = scoreboard({}), scoreboard(collect([tmp_path / "13.ipynb"], ledger=ledger), ledger=ledger)
    assert (both.counts, both.summary, both.undecided) == (alone.counts, alone.summary, alone.undecided)
    assert both.direction_counts == {
        "direction agrees": 1,
        "direction depends": 1,
        "direction does not come out": 1,
    }
    assert both.direction_summary == ("3 directions tested in the miniature: 1 agrees, 1 depends, 1 does not come out")
    assert both.untested == ()
    assert both.to_html() == alone.to_html()
    rows = both.to_dicts()
    assert [row["kind"] for row in rows] == ["claim"] * 186 + ["direction"] * 3
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert (rows[-1]["id"], rows[-1]["verdict"], rows[-1]["cell"]) == (LEVEL["id"], LEVEL["verdict"], "claims")
    html = both.to_html(page="{notebook}.html", kind="direction")
    assert html.count("<tr id=") == 3
    assert 'data-verdict="direction depends"' in html
    assert 'href="13_ratio_of_scales.html#claim-toolrl-5-2-up-direction"' in html


def test_a_direction_without_a_record_and_one_that_does_not_hold_are_not_tested(tmp_path):
    table = _recorded_chapter("13_ratio_of_scales", INVENTED).finish().to_dict()
    table["records"][1].update(holds=False, verdict="does not hold with these parameters")
    table["records"].pop(0)
    _write_notebook(tmp_path / "13.ipynb", table)
    board = scoreboard(collect([tmp_path / "13.ipynb"], ledger=INVENTED), ledger=INVENTED)
    assert board.untested == (UP["id"], DOWN["id"])
    assert board.direction_counts["not tested"] == 2
    assert board.direction_summary == (
        "1 direction tested in the miniature: 0 agree, 0 depend, 1 does not come out; 2 not tested"
    )


def test_a_direction_with_another_verdict_in_an_executed_notebook_is_refused(tmp_path):
    table = _recorded_chapter("13_ratio_of_scales", INVENTED).finish().to_dict()
    table["records"][1].update(verdict="direction agrees")
    _write_notebook(tmp_path / "13.ipynb", table)
    with pytest.raises(ClaimError, match="has the verdict 'direction agrees', the ledger expects 'direction depends'"):
        collect([tmp_path / "13.ipynb"], ledger=INVENTED)


def test_a_table_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="there is no kind 'table'; valid: claim, direction"):
        scoreboard({}).to_html(kind="table")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "not reproduced"}, "has the verdict 'not reproduced', the ledger expects 'reproduced'"),
        ({"claim": "simpletir.P9"}, "unknown claim 'simpletir.P9'"),
        ({"claim": "simpletir.P6.masked"}, "decided by '09_veto_mask_or_drop', not '10_three_prescriptions'"),
    ],
)
def test_a_changed_verdict_in_an_executed_notebook_is_refused(tmp_path, change, message):
    table = _recorded_chapter("10_three_prescriptions").finish().to_dict()
    table["records"][0].update(change)
    _write_notebook(tmp_path / "10_three.ipynb", table, cell="verdicts")
    with pytest.raises(ClaimError, match="10_three, cell 'verdicts': .*" + re.escape(message)):
        collect([tmp_path / "10_three.ipynb"])


def test_a_claim_recorded_by_two_notebooks_is_refused(tmp_path):
    table = _recorded_chapter("10_three_prescriptions").finish().to_dict()
    for name in ("a", "b"):
        _write_notebook(tmp_path / f"{name}.ipynb", table)
    with pytest.raises(ClaimError, match=r"b, cell 'claims': simpletir\.8\.1\.tree is recorded twice"):
        collect([tmp_path / "a.ipynb", tmp_path / "b.ipynb"])


@pytest.mark.notebook
def test_the_records_survive_a_real_execution(tmp_path):
    lonely = (
        "from toolrl_core.explain.claims import ChapterClaims\n"
        "ChapterClaims('10_three_prescriptions').record('simpletir.8.2.cancelled', ours=0)"
    )
    source = (
        "from toolrl_core.explain.claims import ChapterClaims\n"
        "ledger = ChapterClaims('10_three_prescriptions')\n"
        "for claim_id in ledger.missing:\n"
        "    ledger.record(claim_id, ours=[0] if claim_id.endswith('cancelled') else 'seen', check=True)\n"
        "ledger.finish()"
    )
    cells = [nbformat.v4.new_code_cell(text, id=name) for name, text in (("lonely", lonely), ("claims", source))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    path = tmp_path / "10_three_prescriptions.ipynb"
    nbformat.write(notebook, path)
    assert not notebook.cells[0].outputs  # a record by itself shows nothing, so no row appears twice
    records = collect([path])
    assert len(records) == 5
    assert {record.cell for record in records.values()} == {"claims"}
    assert records["simpletir.8.1.tree"].ours == "seen"


def test_the_ledger_needs_the_standard_library_alone():
    code = (
        "import sys, toolrl_core.explain.scoreboard as s; s.scoreboard({}).to_html();"
        "heavy = {'numpy', 'pandas', 'scipy', 'matplotlib', 'ipywidgets', 'IPython'} & set(sys.modules);"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
