"""Void turns under every contract: verdicts, actions, answers, reasons and their positions."""

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolrl_core.boxed import boxed_answer, find_boxes
from toolrl_core.fences import find_fences, released_block
from toolrl_core.turns import CONTRACTS, TurnReason, is_void_turn, turn_verdict

BLOCK = "Let me compute.\n```python\nprint(1)\n```"
PIECES = st.lists(
    st.sampled_from(
        ["```", "`", "~~~", "python", "py", "python3", "\n", "\r\n", " ", "\\boxed{", "\\boxed", "{", "}", "\\", "x",
         "final_answer(", "<search>", "</search>", "<answer>", "</answer>", "<tool_call>", "</tool_call>",
         '{"name": "f", "arguments": {}}', "<response>", "</response>", "<think>", "</think>"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


def codes(text: str, contract: str = "code") -> list[str]:
    return [finding.reason.value for finding in turn_verdict(text, contract).reasons]


@pytest.mark.parametrize("label", ["", "py", "python"])
def test_the_three_released_fences_are_no_void_under_both_code_contracts(label):
    text = f"Let me compute.\n```{label}\nprint(1)\n```"
    for contract in ("code", "code_released"):
        verdict = turn_verdict(text, contract)
        assert (verdict.void, verdict.action, verdict.answer, verdict.reasons) == (False, "print(1)", None, ())


@pytest.mark.parametrize(
    ("turn", "detail"),
    [
        ("Let me compute.\n```python3\nprint(1)\n```", "label 'python3'"),
        ("```Python\nprint(1)\n```", "label 'Python'"),
        ("```json\n{}\n```", "label 'json'"),
        ("```python \nprint(1)\n```", "space around the label"),
        ("```python\r\nprint(1)\r\n```", "carriage return before the line feed"),
        ("```\r\nprint(1)\r\n```\r\n", "carriage return before the line feed"),
        ("~~~python\nprint(1)\n~~~", "tilde fence"),
        ("1. First:\n   ```python\n   print(1)\n   ```", "indented closing fence"),
    ],
)
def test_fence_variants_are_void_in_the_released_code_only(turn, detail):
    ours, released = turn_verdict(turn, "code"), turn_verdict(turn, "code_released")
    assert (ours.void, released.void) == (False, True)
    for verdict in (ours, released):
        finding = next(f for f in verdict.reasons if f.reason is TurnReason.FENCE_VARIANT)
        assert (finding.position, finding.detail) == (turn.index("`" if "`" in turn else "~"), detail)


def test_variant_position_points_at_the_fence():
    finding = turn_verdict("Let me compute.\n```python3\nprint(1)\n```").reasons[0]
    assert str(finding) == "fence_variant at character 16: label 'python3'"


@pytest.mark.parametrize("contract", ["code", "code_released"])
@pytest.mark.parametrize("turn", ["```python\nprint(1)", "```python\nprint(1)```", "text ```python\nprint(1)\n``"])
def test_unclosed_fence_is_void_under_both(turn, contract):
    verdict = turn_verdict(turn, contract)
    assert verdict.void
    assert (verdict.reasons[0].reason, verdict.reasons[0].position) == (TurnReason.UNCLOSED_FENCE, turn.index("`"))


def test_four_backticks_close_only_with_four():
    turn = "````python\nprint(1)\n```"
    assert is_void_turn(turn, "code")
    assert not is_void_turn(turn, "code_released")
    assert not is_void_turn(turn + "\n````", "code")


def test_empty_block_is_no_action_for_us_and_one_for_the_release():
    assert codes("```python\n\n```") == ["empty_fence"]
    assert (is_void_turn("```python\n\n```"), is_void_turn("```python\n\n```", "code_released")) == (True, False)
    assert (is_void_turn("```python\n```"), is_void_turn("```python\n```", "code_released")) == (True, True)


def test_code_that_would_raise_is_not_void():
    for contract in ("code", "code_released"):
        assert not is_void_turn("```python\n1/0\n```", contract)


def test_unlabelled_fence_with_prose_counts_as_code():
    for contract in ("code", "code_released"):
        assert not is_void_turn("```\njust words\n```", contract)


def test_code_on_one_line_is_a_span_not_a_block():
    assert is_void_turn("Run ```print(1)``` now.")
    assert codes("Run ```print(1)``` now.") == ["inline_fence"]


def test_released_code_may_take_a_closing_fence_for_an_opening_one():
    turn = "```json\n{}\n```\nsome prose\n```"
    assert turn_verdict(turn, "code_released").action == "some prose"
    assert turn_verdict(turn, "code").action == "{}"


def test_first_complete_block_is_the_action():
    assert turn_verdict("```py\na\n```\n```py\nb\n```").action == "a"
    assert turn_verdict("```py\n\n```\n```py\nb\n```").action == "b"


def test_text_after_the_closing_fence_does_not_reopen_it():
    assert turn_verdict("```python\nprint(1)\n```<|im_end|>").action == "print(1)"


def test_languages_narrow_the_code_contract():
    turn = "```json\n{}\n```"
    assert codes(turn) == ["fence_variant", "other_language"]
    assert not is_void_turn(turn)
    assert is_void_turn(turn, languages=["python"])
    assert not is_void_turn("```Python3\nx\n```", languages=["py"])
    assert not is_void_turn("```\nx\n```", languages=["python"])


@pytest.mark.parametrize(
    ("turn", "ours", "released", "reasons"),
    [
        ("I think so.\\boxed{}", True, False, ["empty_boxed"]),
        ("I think so.\\boxed{ }", True, False, ["empty_boxed"]),
        ("So \\boxed{3}.", False, False, []),
        ("So \\boxed {3}.", False, True, []),
        ("So \\boxed{3", True, False, ["unbalanced_boxed"]),
        ("qwpo \\boxed{ zzz", True, False, ["unbalanced_boxed"]),
        ("So \\boxed 3.", True, True, ["nothing_complete"]),
        ("\\boxed{1} or \\boxed{2}", False, False, ["several_boxed"]),
        ("```python\n# \\boxed{3}\nfor i in", True, False, ["unclosed_fence", "boxed_in_code"]),
        ("```python\nprint('\\\\boxed{3}')\n```", False, False, ["boxed_in_code"]),
        ("The answer is final_answer(3).", True, True, ["prose_final_answer"]),
        ("```python\nfinal_answer(3)\n```", False, False, []),
        ("hmm let me think", True, True, ["nothing_complete"]),
        (" \n", True, True, ["empty_turn"]),
        ("", True, True, ["empty_turn"]),
    ],
)
def test_verdicts_of_the_two_code_contracts(turn, ours, released, reasons):
    assert (is_void_turn(turn, "code"), is_void_turn(turn, "code_released")) == (ours, released)
    assert codes(turn) == reasons


def test_box_inside_code_is_no_answer_and_a_box_outside_is():
    verdict = turn_verdict("```python\nprint('\\boxed{1}')\n```\nSo \\boxed{2}")
    assert (verdict.action, verdict.answer) == ("print('\\boxed{1}')", "2")


def test_second_turn_of_the_two_turn_case_is_void():
    assert [is_void_turn(turn) for turn in ("```python\nprint(1)\n```", "hmm let me think")] == [False, True]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\\boxed{\\frac{\\sqrt{\\frac{1}{2}}}{3}}", "\\frac{\\sqrt{\\frac{1}{2}}}{3}"),
        ("\\boxed{2} no, wait: \\boxed{3}", "3"),
        ("Mark your solution with \\boxed", None),
        ("\\boxed{2} then \\boxed{3", "2"),
        ("\\boxed{1 \\boxed{2}", "2"),
        ("\\boxed{\\boxed{3}}", "3"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\boxed{\\left\\{x\\right.}", "\\left\\{x\\right."),
        ("a set {1, 2 and \\boxed{7}", "7"),
        ("} } \\boxed{7}", "7"),
        ("\\boxed{}", ""),
        ("\\\\boxed{3}", "3"),
        ("\\boxed{a\\\\}", "a\\\\"),
        ("boxed{3}", None),
        ("", None),
    ],
)
def test_boxed_answer_is_the_last_balanced_box(text, answer):
    assert boxed_answer(text) == answer


def test_a_million_nested_braces_are_read_at_once():
    assert boxed_answer("\\boxed{" * 100_000 + "x" + "}" * 100_000) == "x"
    assert boxed_answer("{" * 1_000_000) is None


@pytest.mark.parametrize(
    ("turn", "void", "action", "answer", "reasons"),
    [
        ('<think> t </think>\n<tool_call>\n{"name": "f", "parameters": {}}\n</tool_call>', False, "f", None, []),
        ("<think> t </think>\n<response> done </response>", False, None, "done", []),
        ("<think> t </think>\n<response> </response>", True, None, None, ["empty_tag"]),
        ("<think> t </think>\n<response> cut", True, None, None, ["unclosed_tag"]),
        ("<tool_call>\n{'name': 'f'}\n</tool_call>", True, None, None, ["malformed_call"]),
        ('<tool_call>\n{"name": "f", "parameters": {', True, None, None, ["unclosed_tag", "malformed_call"]),
        ("I will call f now.", True, None, None, ["nothing_complete"]),
        ('<think> <tool_call>{"name": "f"}</tool_call> </think>', True, None, None, ["nothing_complete"]),
    ],
)
def test_tool_call_contract_wants_a_decodable_call_or_a_response(turn, void, action, answer, reasons):
    verdict = turn_verdict(turn, "tool_call")
    assert (verdict.void, verdict.action, verdict.answer) == (void, action, answer)
    assert [finding.reason.value for finding in verdict.reasons] == reasons


@pytest.mark.parametrize(
    ("turn", "void", "action", "answer", "reasons"),
    [
        ("<think>x</think><search> capital of Norway </search>", False, "capital of Norway", None, []),
        ("<answer>Oslo</answer>", False, None, "Oslo", []),
        ("<search></search>", True, None, None, ["empty_tag"]),
        ("<search>capital of", True, None, None, ["unclosed_tag"]),
        ("<search>capital</answer>", True, None, None, ["unclosed_tag"]),
        ("I use the <search> tag: <search>x</search>", False, "x", None, []),
        ("```python\nprint(1)\n```", True, None, None, ["nothing_complete"]),
    ],
)
def test_search_contract_wants_a_query_or_an_answer(turn, void, action, answer, reasons):
    verdict = turn_verdict(turn, "search")
    assert (verdict.void, verdict.action, verdict.answer) == (void, action, answer)
    assert [finding.reason.value for finding in verdict.reasons] == reasons


def test_message_contract_takes_text_to_the_user_as_an_answer():
    assert turn_verdict("<think>hm</think> Your flight is booked.", "message").answer == "Your flight is booked."
    assert is_void_turn("<think>hm</think>", "message")
    assert is_void_turn("<think>cut off", "message")


def test_verdict_as_plain_data_carries_contract_and_positions():
    assert turn_verdict("x \\boxed{}").to_dict() == {
        "void": True,
        "action": None,
        "answer": None,
        "reasons": [{"reason": "empty_boxed", "position": 2, "detail": ""}],
        "contract": "code",
    }


def test_unknown_contract_is_named_with_the_valid_ones():
    with pytest.raises(ValueError, match="unknown contract 'math': choose from code, code_released, tool_call, search"):
        is_void_turn("x", "math")


def test_languages_belong_to_the_code_contract_only():
    with pytest.raises(ValueError, match="languages applies to contract 'code' only, not to 'search'"):
        is_void_turn("x", "search", languages=["python"])


def test_a_turn_must_be_text():
    with pytest.raises(TypeError, match="a turn must be text, found NoneType"):
        is_void_turn(None)


@given(PIECES, st.sampled_from(sorted(CONTRACTS)))
@settings(max_examples=300, deadline=None)
def test_verdict_is_total_and_void_exactly_without_action_and_answer(text, contract):
    verdict = turn_verdict(text, contract)
    assert verdict.void == (verdict.action is None and verdict.answer is None)
    assert all(f.position is None or 0 <= f.position <= len(text) for f in verdict.reasons)
    assert verdict.reasons or not verdict.void


@given(PIECES)
@settings(max_examples=300, deadline=None)
def test_released_block_equals_the_released_expression(text):
    match = re.search(r"```(?:py|python)?\n(.*?)\n```", text, re.DOTALL)
    assert released_block(text) == (match[1].strip() if match else None)


@given(PIECES)
@settings(max_examples=300, deadline=None)
def test_a_block_without_variant_is_seen_by_the_release(text):
    if any(f.closed and not f.variant for f in find_fences(text)):
        assert released_block(text) is not None


@given(PIECES)
@settings(max_examples=200, deadline=None)
def test_every_balanced_box_ends_with_its_brace(text):
    for box in find_boxes(text):
        assert text.startswith("\\boxed", box.start)
        if box.inner is not None:
            assert text[box.end - 1] == "}"


def test_one_megabyte_of_repetition_gives_a_verdict_under_every_contract():
    for piece in ("x```\n", "\n```", "\\boxed{", "<search>", "<tool_call>{", "final_answer(", "```a\n~~~\n"):
        text = piece * (300_000 // len(piece))
        for contract in CONTRACTS:
            assert turn_verdict(text, contract).contract == contract


def test_judging_a_turn_and_loading_a_rollout_import_no_array_library():
    program = (
        "import sys; from toolrl_core.turns import is_void_turn; import toolrl_core.trajectory_files; "
        "is_void_turn('x', 'tool_call'); print(sorted({'numpy', 'scipy', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
