"""What a page asks and is told: JSON in, JSON out, errors in the package's own words, the standard library alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from toolrl_core import RewardSpec, score
from toolrl_core.examples import SCORING_EXAMPLES, example_rows
from toolrl_core.page import DEEPEST, check_depth, respond, spec_of

HEAVY = ("numpy", "scipy", "pandas", "matplotlib", "ipywidgets", "IPython")
GREEDY = SCORING_EXAMPLES["greedy"]


def told(**asked):
    messages = []
    respond(json.dumps(asked), messages.append)
    return [json.loads(message) for message in messages]


def result(**asked):
    return told(**asked)[-1]["result"]


def error(**asked):
    (message,) = told(**asked)
    return message["error"]


def test_a_score_is_the_same_as_in_a_notebook():
    answer = result(kind="score", completion=GREEDY.completion, ground_truth=GREEDY.ground_truth, preset="paper")
    breakdown = score(GREEDY.completion, GREEDY.ground_truth, RewardSpec.preset("paper"))
    assert answer["breakdown"] == json.loads(json.dumps(breakdown.to_dict()))
    assert answer["ladder"] == breakdown._repr_html_()
    assert answer["summary"] == "2.167 points under paper (released −0.333, robust −0.571)."
    assert "<svg" in answer["matching"]
    assert answer["comparison"].count('<th scope="col">') == 3


def test_options_of_ones_own_have_a_column_of_their_own():
    options = {"matching": "greedy_ground_truth"}
    answer = result(
        kind="score", completion=GREEDY.completion, ground_truth=GREEDY.ground_truth, preset="paper", options=options
    )
    assert answer["breakdown"]["correctness"] == pytest.approx(-7 / 6)
    assert answer["summary"].startswith("−0.167 points under your options (paper 2.167,")
    assert '<th scope="col">your options</th>' in answer["comparison"]


def test_a_turn_is_judged_under_every_contract():
    answer = result(kind="turn", text="```python3\nprint(1)\n```")
    assert {v["contract"]: v["void"] for v in answer["verdicts"]} == {
        "code": False,
        "code_released": True,
        "tool_call": True,
        "search": True,
        "message": False,
    }
    assert answer["summary"] == "Void under 3 of 5 contracts: code_released, tool_call, search."


def test_rows_tell_how_far_they_are_and_then_the_headline():
    messages = told(kind="rows", text=example_rows() + "\n{broken\n")
    assert messages[0] == {"done": 25}
    answer = messages[-1]["result"]
    assert answer["report"]["rows"] == 25
    assert answer["report"]["scored_rows"] == 24
    robust = answer["report"]["rewards"]["robust"]
    assert (robust["floor"], robust["ceiling"]) == (-3, 4)
    assert answer["summary"].startswith("Under robust the mean of 24 of 25 rows is ")
    assert "<code>python_literal</code>" in answer["html"]
    assert "not JSON" in answer["html"]
    assert answer["file"].lower().startswith("<!doctype html>")


def test_rows_may_be_an_array():
    rows = [json.loads(line) for line in example_rows().splitlines()]
    assert result(kind="rows", text=json.dumps(rows, indent=2))["report"]["scored_rows"] == 24


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        (
            {"kind": "score", "completion": "", "ground_truth": '[{"name": 7}]'},
            "GroundTruthError",
            "ground truth call 0, field 'name': must be non-empty text, found 7",
        ),
        (
            {"kind": "score", "completion": "", "ground_truth": "hello"},
            "GroundTruthError",
            "ground truth: has no <think>, <tool_call> or <response> block: 'hello'",
        ),
        (
            {"kind": "score", "completion": "", "ground_truth": '[{"f": {"a": [1, 2]}}]', "preset": "released"},
            "ValueError",
            "accepts several values",
        ),
        ({"kind": "score", "completion": "", "ground_truth": "[]", "preset": "best"}, "ValueError", "unknown preset"),
        (
            {"kind": "score", "completion": "", "ground_truth": "[]", "options": {"schedule": "dynamic"}},
            "ValueError",
            "step",
        ),
        (
            {"kind": "score", "completion": "", "ground_truth": "[]", "options": {"schemas": "{"}},
            "ValueError",
            "schemas must be JSON: ",
        ),
        ({"kind": "score", "completion": 3, "ground_truth": "[]"}, "TypeError", "completion must be text, found int"),
        ({"kind": "rows", "text": "  "}, "ValueError", "no rows: "),
        ({"kind": "train"}, "ValueError", "unknown kind 'train': choose from score, turn, rows"),
        ({"kind": ["score"]}, "ValueError", "unknown kind "),
        ({"kind": "turn", "text": "{" * 501}, "ValueError", "text opens more than 500 brackets"),
    ],
)
def test_errors_come_in_the_packages_words(asked, kind, words):
    found = error(**asked)
    assert found["type"] == kind
    assert words in found["text"]


def test_a_request_that_is_no_object_is_an_error_too():
    for request in ("[]", "{", "7"):
        messages = []
        respond(request, messages.append)
        assert set(json.loads(messages[0])) == {"error"}


def test_options_reach_the_spec():
    assert spec_of("robust", {}) == RewardSpec.preset("robust")
    assert spec_of("robust", {}).name == "robust"
    spec = spec_of("paper", {"unordered": '["ids"]', "schedule": "equal_max", "length_reward": True})
    assert spec.unordered == frozenset({"ids"})
    assert spec.schedule.at(None).correctness == (-1, 1)
    assert spec.length_reward is not None
    with pytest.raises(ValueError, match="unknown schedule 'fast': choose from constant, "):
        spec_of("paper", {"schedule": "fast"})


def test_depth_counts_brackets_that_are_open_at_once():
    check_depth("text", "[]" * 5000)
    check_depth("text", "]" * 5000 + "[" * DEEPEST)
    with pytest.raises(ValueError, match="opens more than 500"):
        check_depth("text", "[{" * 251)


def test_names_and_values_cannot_become_markup():
    attack = "<img src=x onerror=alert(1)>"
    call = json.dumps([{"name": attack, "parameters": {attack: attack}}])
    answer = result(kind="score", completion=f"<tool_call>{call}</tool_call>{attack}", ground_truth=call)
    for part in ("ladder", "matching", "comparison"):
        assert "<img" not in answer[part]
    assert "<img" not in result(kind="turn", text=f"<search>{attack}</search> \\boxed{{{attack}}}")["html"]
    row = json.dumps({"completion": attack, "ground_truth": call, attack: attack})
    assert "<img" not in result(kind="rows", text=f"{row}\n{attack}")["html"]


def test_everything_that_a_page_asks_needs_the_standard_library_alone():
    code = (
        "import json, sys\n"
        "from toolrl_core.examples import example_rows\n"
        "from toolrl_core.page import respond\n"
        "for asked in ({'kind': 'score', 'completion': '', 'ground_truth': '[]'},\n"
        "              {'kind': 'turn', 'text': 'x'}, {'kind': 'rows', 'text': example_rows()}):\n"
        "    told = []\n"
        "    respond(json.dumps(asked), told.append)\n"
        "    assert 'result' in told[-1], told[-1]\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"
