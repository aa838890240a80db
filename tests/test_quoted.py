"""The table cells that the notes quote, and their arithmetic."""

from decimal import Decimal

import pandas as pd
import pytest

from toolrl_core.explain.ledger import load_claims
from toolrl_core.explain.quoted import inconsistencies, load_quoted, printed_differences, quoted_value


def test_the_quoted_cells_become_a_data_frame_with_float_values():
    frame = pd.DataFrame([cell.to_dict() for cell in load_quoted(note="toolrl", table="Table 7")])
    assert list(frame.columns) == ["note", "table", "section", "model", "variant", "metric", "value", "unit"]
    weak = frame[frame.model == "Qwen2.5-1.5B"].set_index("variant").value
    assert weak.to_dict() == {"original": 46.20, "finegrained": 40.71, "intermediate": 37.65, "coarse": 36.72}


def test_a_cell_keeps_the_digits_that_are_printed():
    assert str(quoted_value("toolrl", "Qwen2.5-1.5B", "original", "BFCL overall")) == "46.20"


def test_no_cell_is_listed_twice():
    places = [(c.note, c.table, c.model, c.variant, c.metric) for c in load_quoted()]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("table", ["Table 4", "Table 9"])
def test_a_table_of_which_the_notes_print_no_cell_is_refused_and_the_others_listed(table):
    with pytest.raises(ValueError, match=rf"table='{table}'; valid: simpletir Table 1, .*toolrl Table 8"):
        load_quoted(note="toolrl", table=table)


def test_a_figure_that_is_not_quoted_is_refused():
    # the note says that two models gain under the dynamic scale, and prints one
    with pytest.raises(ValueError, match=r"Qwen2\.5-1\.5B, dynamic, BFCL overall is quoted as nothing"):
        quoted_value("toolrl", "Qwen2.5-1.5B", "dynamic", "BFCL overall")


def test_every_printed_difference_follows_from_its_cells():
    computed = {row.what: (str(row.computed), row.agrees) for row in printed_differences() if row.printed is not None}
    assert computed == {
        "Llama-3.2-3B, BFCL overall: original to dynamic": ("2.75", True),
        "Qwen2.5-1.5B, BFCL overall: original to length reward": ("-12.97", True),
        "Qwen2.5-1.5B, BFCL overall: original to growing length target": ("-17.69", True),
        "Qwen2.5-7B, BFCL overall: raw to SFT400": ("-11.89", True),
        "Qwen2.5-7B, BFCL overall: raw to GRPO cold start": ("2.18", True),
        "7B, AIME24: stopped without filter to SimpleTIR": ("24.4", True),
        "32B, progressive reasoning: ReTool (cold start) to SimpleTIR": ("27.6", True),
        "32B, error correction: ReTool (cold start) to SimpleTIR": ("12.2", True),
    }


def test_the_differences_agree_with_the_figures_of_the_ledger():
    for claim in {row.claim for row in printed_differences()}:
        computed = [row.computed for row in printed_differences() if row.claim == claim]
        figures = load_claims()[claim].right_numbers or load_claims()[claim].printed_numbers
        tolerance = load_claims()[claim].tolerance
        assert all(abs(float(a) - b) <= tolerance for a, b in zip(computed, figures, strict=True)), claim


def test_all_three_models_lose_under_equal_max_though_the_note_counts_two():
    row = next(row for row in inconsistencies() if row.id == "level_or_loss")
    assert sorted(map(str, row.figures.values())) == ["-1.22", "-1.63", "-6.73"]


def test_four_runs_have_two_scores_each_on_one_benchmark():
    figures = next(row for row in inconsistencies() if row.id == "two_bfcl_scores").figures
    apart = [figures[f"{m}, Table 1"] - figures[f"{m}, elsewhere"] for m in ("Qwen2.5-1.5B", "Qwen2.5-7B")]
    assert apart == [Decimal("16.95"), Decimal("6.28")]


def test_each_inconsistency_is_confirmed_by_arithmetic_and_says_what_is_wrong():
    rows = inconsistencies()
    assert [row.id for row in rows if not row.clash] == []
    assert all(row.statement.endswith(".") and len(row.figures) >= 2 for row in rows)
    assert len({row.id for row in rows}) == len(rows) == 9


def test_the_printed_spike_counts_break_the_order_that_was_demanded():
    figures = next(row for row in inconsistencies() if row.id == "spike_order").figures
    assert list(map(int, figures.values())) == [0, 0, 487, 13, 526]
