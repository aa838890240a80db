"""The four format rules, each on the same table of texts."""

from __future__ import annotations

import pytest

from toolrl_core.formats import FORMAT_RULES, literal_format, ordered_tags_format, released_format, strict_format
from toolrl_core.rewards import score
from toolrl_core.schedules import constant
from toolrl_core.spec import RewardSpec

T, R = "<think> t </think>", "<response> r </response>"
C = '<tool_call>\n{"name": "f", "parameters": {}}\n</tool_call>'
CALL, ANSWER, BOTH = ("thought", "tool_call"), ("thought", "response"), ("thought", "tool_call", "response")
JSON = '{"name": "f", "parameters": {}}'

TABLE = [
    # text, required fields, and the verdicts of ordered tags, literal, released, strict
    ("all fields", f"{T}\n{C}\n{R}", BOTH, "yes yes yes yes"),
    ("call alone", f"{T}\n{C}", CALL, "yes yes yes yes"),
    ("response alone", f"{T}\n{R}", ANSWER, "yes yes yes yes"),
    ("thought alone where it is all that is asked", T, ("thought",), "yes no yes yes"),
    ("response missing", f"{T}\n{C}", BOTH, "no yes no no"),
    ("call missing", f"{T}\n{R}", BOTH, "no yes no no"),
    ("thought missing", f"{C}\n{R}", BOTH, "no no no no"),
    ("thought last", f"{C}\n{R}\n{T}", BOTH, "no no no no"),
    ("response before the call", f"{T}\n{R}\n{C}", BOTH, "no no no no"),
    ("response not asked for", f"{T}\n{C}\n{R}", CALL, "yes yes no no"),
    ("call not asked for", f"{T}\n{C}\n{R}", ANSWER, "yes yes no no"),
    ("call instead of a response", f"{T}\n{C}", ANSWER, "no yes no no"),
    ("thought repeated", f"{T}\n{T}\n{C}", CALL, "yes yes yes no"),
    ("call block repeated", f"{T}\n{C}\n{C}", CALL, "yes yes no no"),
    ("response repeated", f"{T}\n{R}\n{R}", ANSWER, "yes yes no no"),
    ("text before", f"Sure. {T}\n{C}", CALL, "yes yes no no"),
    ("text between", f"{T}\nso\n{C}", CALL, "yes yes no no"),
    ("text after", f"{T}\n{C}\nDone.", CALL, "yes yes no no"),
    ("white space around", f" \n{T}\n{C}\n ", CALL, "yes yes yes yes"),
    ("no line break", f"{T}{C}", CALL, "yes yes no yes"),
    ("two line breaks", f"{T}\n\n{C}", CALL, "yes yes no yes"),
    ("call on one line with its tags", f"{T}\n<tool_call>{JSON}</tool_call>", CALL, "yes yes no yes"),
    ("call block empty", f"{T}\n<tool_call>\n\n</tool_call>", CALL, "yes yes yes no"),
    ("call malformed", f"{T}\n<tool_call>\noops\n</tool_call>", CALL, "yes yes yes no"),
    ("call and a malformed one", f"{T}\n<tool_call>\n{JSON}\noops\n</tool_call>", CALL, "yes yes yes no"),
    ("thought unclosed", f"<think> t\n{C}", CALL, "yes yes no no"),
    ("call block unclosed", f"{T}\n<tool_call>\n{JSON}", CALL, "yes yes no no"),
    ("response unclosed", f"{T}\n<response> r", ANSWER, "yes yes no no"),
    ("tags alone", "<think><tool_call>", CALL, "yes yes no no"),
    ("empty blocks", "<think></think>\n<response></response>", ANSWER, "yes yes yes yes"),
    ("thought mentions the call tag", f"<think> <tool_call> </think>\n{C}", CALL, "yes yes no yes"),
    ("thought mentions the response tag", f"<think> <response> </think>\n{C}", CALL, "yes no yes yes"),
    ("thought mentions its end", f"<think> </think> is the end </think>\n{C}", CALL, "yes yes yes yes"),
    ("response holds a call", f"{T}\n<response> {C} </response>", ANSWER, "yes no yes yes"),
    ("stop token", f"{T}\n{C}<|im_end|>", CALL, "yes yes yes yes"),
    ("another stop token", f"{T}\n{C}</s>", CALL, "yes yes no yes"),
    ("marker of a new start", f"junk<|im_start|>assistant\n{T}\n{C}", CALL, "yes yes yes no"),
    ("nothing", "", CALL, "no no no no"),
    ("stray end tag", f"{T}\n</response>{C}", CALL, "yes yes no no"),
    ("upper case", f"{T}\n{C}".upper(), CALL, "no no no no"),
    ("line breaks of another system", f"{T}\r\n{C}", CALL, "yes yes no yes"),
]


@pytest.mark.parametrize(("text", "requires", "verdicts"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_each_rule_has_its_verdict(text: str, requires: tuple[str, ...], verdicts: str) -> None:
    rules = (ordered_tags_format, literal_format, released_format, strict_format)
    for rule, verdict in zip(rules, verdicts.split(), strict=True):
        assert rule(text, requires) == (verdict == "yes"), rule.__name__


@pytest.mark.parametrize(("text", "requires", "verdicts"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_a_score_gives_the_upper_end_of_the_range_where_the_rule_holds(
    text: str, requires: tuple[str, ...], verdicts: str
) -> None:
    parts = {"thought": T, "tool_call": C, "response": R}
    expected = "\n".join(parts[field] for field in requires)
    for rule, verdict in zip(FORMAT_RULES, verdicts.split(), strict=True):
        spec = RewardSpec(format_rule=rule, schedule=constant(format=(-0.25, 0.75)))
        result = score(text, expected, spec)
        assert result.format == (0.75 if verdict == "yes" else -0.25), rule
        broken = {"released_pattern_not_met", "blocks_out_of_order", "missing_tool_call_block", "missing_response"}
        if verdict == "no" and rule != "strict":
            assert broken & {finding.code for finding in result.reasons}


def test_the_strict_rule_says_what_keeps_a_text_from_it() -> None:
    for text, requires, reason in (
        (f"{T}\n{C}\nDone.", CALL, "text_outside_blocks"),
        (f"{T}\n{R}", CALL, "missing_tool_call_block"),
        (f"{T}\n{C}", ANSWER, "missing_response"),
        (f"{T}\n{C}", ANSWER, "unrequested_block"),
        (C, CALL, "missing_thought"),
        (f"{T}\n{T}\n{C}", CALL, "multiple_blocks"),
        (f"{C}\n{T}", CALL, "blocks_out_of_order"),
        (f"{T}\n<tool_call>\n{JSON}", CALL, "unclosed_block"),
        (f"{T}\n<tool_call></tool_call>", CALL, "empty_block"),
    ):
        expected = f"{T}\n{C}" if requires == CALL else f"{T}\n{R}"
        result = score(text, expected, RewardSpec.preset("robust"))
        assert result.format == 0
        assert reason in {finding.code for finding in result.reasons}


def test_a_prefilled_thought_needs_its_end_tag_alone() -> None:
    assert strict_format(f"t </think>\n{C}", CALL, prefilled_thought=True)
    assert strict_format(f"{T}\n{C}", CALL, prefilled_thought=True)
    assert not strict_format(f"t </think>\n{C}", CALL)
    assert not strict_format("</think> anything", CALL, prefilled_thought=True)
    assert not strict_format("</think> anything", ("thought",), prefilled_thought=True)
    assert not strict_format(C, CALL, prefilled_thought=True)
    assert not strict_format("docs mention </think> here", ANSWER, prefilled_thought=True)


def test_the_thought_is_always_required() -> None:
    for rule in (ordered_tags_format, released_format, strict_format):
        assert not rule(C, ["tool_call"])
        assert rule(f"{T}\n{C}", ["tool_call"]) == rule(f"{T}\n{C}", ["tool_call", "thought"]) is True


def test_an_unknown_field_lists_the_known_ones() -> None:
    for rule in (ordered_tags_format, literal_format, released_format, strict_format):
        with pytest.raises(ValueError, match="unknown field 'answer': choose from thought, tool_call, response"):
            rule(T, ["answer"])
