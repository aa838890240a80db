"""Reading completions: what every shape of text means, that nothing raises, and that the time stays bounded."""

from __future__ import annotations

import json
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.mutated_texts import mutated
from toolrl_core import parsing
from toolrl_core.calls import ToolCall
from toolrl_core.formats import strict_findings
from toolrl_core.json_calls import MAX_CALLS
from toolrl_core.parsing import parse_completion, read_completion
from toolrl_core.plain import plain_blocks, read_plain
from toolrl_core.reading import Reading
from toolrl_core.reasons import Finding, Reason
from toolrl_core.rewards import score
from toolrl_core.spec import RewardSpec

F = '{"name": "f", "parameters": {"a": 1}}'
G = '{"name": "g", "parameters": {}}'
F_CALL, G_CALL = ToolCall("f", {"a": 1}), ToolCall("g", {})


def block(body: str) -> str:
    return f"<think> t </think>\n<tool_call>\n{body}\n</tool_call>"


def codes(text: str, **options: Any) -> list[str]:
    return [finding.code for finding in parse_completion(text, **options).reasons]


# What is read


@pytest.mark.parametrize(
    ("body", "calls", "reasons"),
    [
        (F, [F_CALL], []),
        (f"{F}\n{G}", [F_CALL, G_CALL], []),
        (f"{F} {G}", [F_CALL, G_CALL], []),
        (f"{F}{G}", [F_CALL, G_CALL], []),
        (f"\n\n{F}\n\n\n{G}\n", [F_CALL, G_CALL], []),
        (f"{F}\r\n{G}\r", [F_CALL, G_CALL], []),
        (json.dumps(json.loads(F), indent=4), [F_CALL], []),
        (f"[{F}, {G}]", [F_CALL, G_CALL], ["json_array"]),
        (f"[{F}]\n{G}", [F_CALL, G_CALL], ["json_array"]),
        (f"{F},\n{G}, {G}", [F_CALL, G_CALL, G_CALL], ["comma_separated"]),
        ('{"name": "f", "arguments": {"a": 1}}', [F_CALL], ["arguments_key"]),
        (
            '{"name": "f", "parameters": {"a": 2}, "arguments": {"a": 1}}',
            [F_CALL],
            ["both_argument_keys"],
        ),
        ('{"name": "g"}', [G_CALL], ["missing_arguments"]),
        ('{"name": "g", "parameters": null}', [G_CALL], ["missing_arguments"]),
        ('{"name": "f", "parameters": "{\\"a\\": 1}"}', [F_CALL], ["stringified_arguments"]),
        ('{"name": "f", "arguments": " {\\"a\\": 1} "}', [F_CALL], ["arguments_key", "stringified_arguments"]),
        ('{"name": "f", "parameters": {"a": 2, "a": 1}}', [F_CALL], ["duplicate_key"]),
        ('{"name": "g", "name": "f", "parameters": {"a": 1}}', [F_CALL], ["duplicate_key"]),
        (
            '{"name": "f", "parameters": "{\\"a\\": 2, \\"a\\": 1}"}',
            [F_CALL],
            ["stringified_arguments", "duplicate_key"],
        ),
        ('{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}', [F_CALL], ["arguments_key"]),
        ('{"parameters": {"a": 1}, "id": 7, "name": "f"}', [F_CALL], []),
        ('{"name": "f", "parameters": {"a": 1e0}}', [ToolCall("f", {"a": 1.0})], []),
        ('{"name": "g", "parameters": {"\\u0061": "\\u4f60"}}', [ToolCall("g", {"a": "你"})], []),
        ('{"name": "g", "parameters": {"a": "\\ud83d\\ude00"}}', [ToolCall("g", {"a": "😀"})], []),
        (
            '{"name": "g", "parameters": {"a": "<tool_call></tool_call>"}}',
            [ToolCall("g", {"a": "<tool_call></tool_call>"})],
            [],
        ),
        ('{"name": "g", "parameters": {"a": "</think><response>"}}', [ToolCall("g", {"a": "</think><response>"})], []),
        ('{"name": "g", "parameters": {"a": "\\\\\\"}{"}}', [ToolCall("g", {"a": '\\"}{'})], []),
    ],
)
def test_every_json_value_of_a_block_is_read(body: str, calls: list[ToolCall], reasons: list[str]) -> None:
    parsed = parse_completion(block(body))
    assert list(parsed.calls) == calls
    assert [finding.code for finding in parsed.reasons] == reasons
    assert (parsed.thought, parsed.response, parsed.n_malformed) == (" t ", None, 0)
    assert [each.kind for each in parsed.blocks] == ["thought", "tool_call"]


@pytest.mark.parametrize(
    ("body", "calls", "reasons"),
    [
        ('{"tool": "f", "parameters": {}}', [], ["missing_name"]),
        ('{"name": null, "parameters": {}}', [], ["missing_name"]),
        ('{"name": "", "parameters": {}}', [], ["missing_name"]),
        ('{"name": 5}', [], ["missing_name"]),
        ("{}", [], ["missing_name"]),
        ('{"name": "f", "parameters": 5}', [], ["arguments_not_an_object"]),
        ('{"name": "f", "parameters": [1]}', [], ["arguments_not_an_object"]),
        ('{"name": "f", "parameters": "no json"}', [], ["arguments_not_an_object"]),
        ('{"name": "f", "parameters": "\\"twice\\""}', [], ["arguments_not_an_object"]),
        ('{"name": "f", "parameters": "{} {}"}', [], ["arguments_not_an_object"]),
        ("oops", [], ["json_decode"]),
        ('"text"', [], ["json_decode"]),
        ("7", [], ["json_decode"]),
        (f"oops\n{F}", [F_CALL], ["json_decode"]),
        (f"{F}\noops", [F_CALL], ["json_decode"]),
        (f'{{"name": \n{F}\n{{"name": "f"', [F_CALL], ["json_decode", "json_decode"]),
        ('{"name": "f", "parameters": {"re": "\\d+"}}', [], ["json_decode"]),
        ('{"name": "f", "parameters": {"a": "line\nbreak"}}', [], ["json_decode"]),
        (f"[{F}, 5]", [F_CALL], ["json_array", "not_an_object"]),
        ("[1, null]", [], ["json_array", "not_an_object", "not_an_object"]),
        ("[]", [], ["json_array", "empty_block"]),
        ("", [], ["empty_block"]),
        (" \n\t ", [], ["empty_block"]),
        (f", {F}", [], ["json_decode"]),
        ("{'name': 'f', 'parameters': {'a': 1}}", [], ["python_literal"]),
        ('{"name": "f", "parameters": {"a": True}}', [], ["python_literal"]),
        (f"{{'name': 'g'}}\n{F}", [F_CALL], ["python_literal"]),
        ('{"name": "f", "parameters": {"a": ' + "[" * 64 + "]" * 64 + "}}", [], ["too_deep"]),
        ("[" * 70 + "]" * 70 + f"\n{F}", [], ["too_deep"]),
        ('{"name": "f", "parameters": {"a": ' + "1" * 5000 + f"}}}}\n{F}", [F_CALL], ["too_large"]),
    ],
)
def test_what_cannot_be_decoded_is_one_malformed_call_and_spares_its_siblings(
    body: str, calls: list[ToolCall], reasons: list[str]
) -> None:
    parsed = parse_completion(block(body))
    assert list(parsed.calls) == calls
    assert [finding.code for finding in parsed.reasons] == reasons
    harmless = {"json_array", "empty_block"}
    assert parsed.n_malformed == len([code for code in reasons if code not in harmless])
    assert not [each for each in parsed.blocks if each.kind == "tool_call" and each.well_formed]


def test_sixty_four_levels_are_read_and_sixty_five_are_not() -> None:
    for levels, read in ((62, 1), (63, 0)):  # the object and its arguments are two levels more
        for text in (
            block(f'{{"name": "f", "parameters": {{"a": {"[" * levels}{"]" * levels}}}}}') + end for end in ("", " ")
        ):
            assert parse_completion(text).n_predicted == read


def test_brackets_inside_a_text_value_are_no_levels() -> None:
    value = '[{\\"' * 100
    assert parse_completion(block(f'{{"name": "f", "parameters": {{"a": "{value}"}}}}')).n_predicted == 1


@pytest.mark.parametrize(
    ("text", "thought", "reasons"),
    [
        ("<think>a</think><response>r</response>", "a", []),
        ("<think>a</think> \n\t<response>r</response>", "a", []),
        (
            "<think>see </think> there</think><response>r</response>",
            "see </think> there",
            ["nested_or_quoted_think_close"],
        ),
        ("<think>see </think> there</think>", "see </think> there", ["nested_or_quoted_think_close"]),
        ("<think>a</think> b", "a", ["text_outside_blocks"]),
        ("<think>a</think> b</think> c", "a", ["text_outside_blocks", "stray_end_tag", "text_outside_blocks"]),
        ("<think>a <tool_call> b</think>", "a <tool_call> b", ["tag_in_think"]),
        ("<think>a <think> b</think>", "a <think> b", ["tag_in_think"]),
        ("<think>a", "a", ["unclosed_thought"]),
        ("<think>a<tool_call>{}</tool_call>", "a<tool_call>{}</tool_call>", ["unclosed_thought", "tag_in_think"]),
        ("<think>a</think><think>b</think>", "a", ["repeated_thought"]),
        ("<think></think>", "", []),
        ("a", None, ["text_outside_blocks", "missing_thought"]),
        ("", None, ["missing_thought"]),
        (" \n", None, ["missing_thought"]),
        ("<response>r</response>", None, ["missing_thought"]),
        ("</think>", None, ["stray_end_tag", "missing_thought"]),
        ("<Think>a</Think>", None, ["text_outside_blocks", "missing_thought"]),
    ],
)
def test_a_thought_ends_where_another_block_or_the_text_can_follow(
    text: str, thought: str | None, reasons: list[str]
) -> None:
    parsed = parse_completion(text)
    assert parsed.thought == thought
    assert [finding.code for finding in parsed.reasons] == reasons


def test_the_block_opened_first_owns_its_content() -> None:
    parsed = parse_completion(f"<think>t</think><response> <tool_call>\n{F}\n</tool_call> </response>")
    assert (parsed.calls, parsed.response) == ((), f" <tool_call>\n{F}\n</tool_call> ")
    assert [each.kind for each in parsed.blocks] == ["thought", "response"]


def test_every_tool_call_block_is_read() -> None:
    parsed = parse_completion(f"{block(F)}\nmore\n<tool_call>{G}</tool_call>")
    assert parsed.calls == (F_CALL, G_CALL)
    assert [finding.code for finding in parsed.reasons] == ["text_outside_blocks", "multiple_blocks"]


@pytest.mark.parametrize("token", ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>", "</s>\n<|im_end|> \n"])
def test_stop_tokens_at_the_end_are_stripped_and_noted(token: str) -> None:
    for text in (block(F), "<think>t</think><response>r</response>"):
        assert codes(text + token) == ["special_token_tail"]
    assert parse_completion(f"<think>t</think><response>a {token} b</response>").response == f"a {token} b"


@pytest.mark.parametrize("cut", range(len("<think> t </think>\n"), len(block(F))))
def test_a_completion_cut_anywhere_says_that_it_is_cut(cut: int) -> None:
    parsed = parse_completion(block(F)[:cut])
    assert parsed.n_predicted <= 1
    found = {finding.reason for finding in parsed.reasons}
    if cut > len("<think> t </think>\n<tool_call>"):
        assert Reason.UNCLOSED_BLOCK in found
        assert parsed.n_predicted == 1 or found & {Reason.TRUNCATED, Reason.EMPTY_BLOCK}
    elif cut > len("<think> t </think>\n"):
        assert found & {Reason.TEXT_OUTSIDE, Reason.UNCLOSED_BLOCK}


def test_a_cut_call_is_one_malformed_call_and_is_never_repaired() -> None:
    parsed = parse_completion('<think> t </think>\n<tool_call>\n{"name": "write", "parameters": {"text": "abc')
    assert (parsed.n_predicted, parsed.n_malformed) == (0, 1)
    assert [finding.code for finding in parsed.reasons] == ["truncated", "unclosed_block"]


def test_findings_say_where_they_were_met() -> None:
    text = block(f"{F}\noops")
    (finding,) = parse_completion(text).reasons
    assert text[finding.position : finding.position + 4] == "oops" if finding.position is not None else False
    assert str(finding).startswith(f"json_decode at character {text.index('oops')}: expected an object, found 'oops")


def test_a_repeated_key_is_noted_at_its_own_call_only() -> None:
    broken = block('{"name": {"a": 1, "a": 2}, oops')
    assert codes(broken) == ["json_decode"]
    assert codes(block(' {"name": "f", "parameters": {}}')) == []
    parsed = parse_completion(block('{"name": "f", "parameters": {"a": 1, "a": 2}}\n' + G))
    assert [(finding.code, finding.position) for finding in parsed.reasons] == [("duplicate_key", 31)]


# Options


def test_prefilled_thoughts_begin_without_a_tag() -> None:
    text = f"I look. </think>\n<tool_call>\n{F}\n</tool_call>"
    assert codes(text) == ["text_outside_blocks", "stray_end_tag", "missing_thought"]
    parsed = parse_completion(text, prefilled_thought=True)
    assert (parsed.thought, parsed.calls) == ("I look. ", (F_CALL,))
    assert [finding.code for finding in parsed.reasons] == ["prefilled_thought"]
    assert codes(block(F), prefilled_thought=True) == []


@pytest.mark.parametrize(
    ("chunk", "arguments"),
    [
        ("{'name': 'f', 'parameters': {'a': 1}}", {"a": 1}),
        (
            "{'name': 'f', 'arguments': {'a': True, 'b': None, 'c': (1, 2), 3: 'x'}}",
            {"a": True, "b": None, "c": [1, 2], "3": "x"},
        ),
        ('{"name": "f", "parameters": {"a": False}}', {"a": False}),
        ("[{'name': 'f', 'parameters': {}}]", {}),
        ("{'name': 'f',\n 'parameters': {'a': -1.5}}", {"a": -1.5}),
    ],
)
def test_python_literals_are_calls_where_they_are_accepted(chunk: str, arguments: dict[str, Any]) -> None:
    assert parse_completion(block(chunk)).n_malformed == 1
    parsed = parse_completion(block(chunk), accept_python_literals=True)
    assert (parsed.calls, parsed.n_malformed) == ((ToolCall("f", arguments),), 0)
    assert "python_literal" in [finding.code for finding in parsed.reasons]


@pytest.mark.parametrize(
    "chunk",
    [
        "{'name': __import__('os').system('false')}",
        "{'name': 'f', 'parameters': {'a': open('x')}}",
        "{'name': 'f', 'parameters': {'a': 'x' * 10**9}}",
        "{'name': 'f', 'parameters': {'a': 9**9**9}}",
        "{'name': 'f', 'parameters': {'a': [i for i in range(10)]}}",
        "{'name': 'f', 'parameters': {'a': f'{1/0}'}}",
        "{'name': 'f', 'parameters': {'a': lambda: 1}}",
        "{'name': 'f', 'parameters': {'a': {1, 2}}}",
        "{'name': 'f', 'parameters': {'a': b'x'}}",
        "{'name': 'f', 'parameters': {'a': 1j}}",
        "{'name': 'f', 'parameters': {'a': 0x" + "f" * 10_000 + "}}",
        "{'name': 'f', 'parameters': {'a': " + "-" * 19_000 + "1}}",
        "{'name': 'f', 'parameters': {'a': " + "1+" * 9_000 + "1}}",
        "{'name': 'f', 'parameters': {'a': " + "(" * 200 + ")" * 200 + "}}",
        "{'name': 'f', 'parameters': {'a': '" + "x" * 20_001 + "'}}",
        "{'name': 'f', 'parameters': {'a': '\0'}",
        "{'name': 'f', 'parameters': {'a': '\ud800'}",
        "{'name': 'f', 'parameters'",
        "('f', {'a': 1})",
    ],
    ids=range(19),
)
def test_python_expressions_are_never_run_and_stay_malformed(chunk: str) -> None:
    parsed = parse_completion(block(chunk), accept_python_literals=True)
    assert (parsed.n_predicted, parsed.n_malformed) == (0, 1)


def test_the_released_parser_reads_the_first_block_line_by_line_or_nothing() -> None:
    assert parse_completion(block(f"{F}\n{G}"), parser="released").calls == (F_CALL, G_CALL)
    assert parse_completion(f"{block(F)}<tool_call>{G}</tool_call>", parser="released").calls == (F_CALL,)
    for body in (f"[{F}]", f"{F}\n\n{G}", f"{F} {G}", F.replace(",", ",\n"), "", "oops", '{"tool": "f"}', "7"):
        parsed = parse_completion(block(body), parser="released")
        assert (parsed.calls, parsed.n_malformed) == ((), 1)
        assert [finding.code for finding in parsed.reasons] == ["released_unreadable"]


def test_unknown_parsers_and_other_types_are_errors() -> None:
    with pytest.raises(ValueError, match="unknown parser 'strict': choose from tolerant, released"):
        parse_completion("", parser="strict")
    for text in (None, 5, b"x", [F]):
        with pytest.raises(TypeError, match="a completion must be text, found"):
            parse_completion(text)  # type: ignore[arg-type]


# Every text


def test_twelve_thousand_mutated_texts_never_raise() -> None:
    rng = random.Random(20)
    specs = [RewardSpec.preset(name) for name in ("paper", "released", "robust")]
    expected = [{"name": "f", "parameters": {"a": 1}}]
    for number in range(12_000):
        text = mutated(rng)
        options = {"accept_python_literals": rng.random() < 0.5, "prefilled_thought": rng.random() < 0.2}
        parsed = parse_completion(text, **options)
        assert parsed.n_malformed >= 0
        assert all(isinstance(finding, Finding) for finding in parsed.reasons)
        assert all(0 <= each.start <= each.end <= len(text) for each in parsed.blocks)
        assert all(finding.position is None or 0 <= finding.position <= len(text) for finding in parsed.reasons)
        parse_completion(text, parser="released")
        result = score(text, expected, specs[number % 3])
        assert 0 <= result.total + 3 <= 7


def general(text: str, monkeypatch: pytest.MonkeyPatch) -> Reading:
    """Read a text with the general scanner alone."""
    with monkeypatch.context() as patched:
        patched.setattr(parsing, "read_plain", lambda text: None)
        return read_completion(text)


def account(reading: Reading) -> tuple[Any, ...]:
    calls = [(call.name, repr(call.arguments), repr(call.source), call.position) for call in reading.calls]
    blocks = plain_blocks(reading)
    rules = [
        strict_findings(reading, requires)
        for requires in (("thought", "tool_call"), ("thought", "response"), ("thought", "tool_call", "response"))
    ]
    return reading.thought, calls, reading.response, reading.findings, reading.malformed, reading.outside, blocks, rules


def test_the_shortcut_for_plain_texts_reads_as_the_general_scanner_does(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(21)
    plain = 0
    for _ in range(6000):
        text = mutated(rng)
        plain += read_plain(text) is not None
        assert account(read_completion(text)) == account(general(text, monkeypatch)), text
    assert plain > 1000


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "f", "parameters": {"a"  :1, "b": 2, "b": 3}}',
        '{"name": "f", "parameters": {"a"\n:1}}',
        '{"name": "f", "parameters": {"a": {"b": 1}, "a": 2}}',
        '{"name": "f", "parameters": {"a\\": 1": 1}}',
        '{"name": "f", "parameters": {"a": "b\\": c"}}',
        '{"name": "f", "parameters": {"a": ' + "[" * 62 + "{}" + "]" * 62 + "}}",
        '{"name": "f", "parameters": {"a": ' + '{"b"  :' * 70 + "1" + "}" * 70 + "}}",
        '{"name": "f", "parameters": {"a": NaN, "b": -Infinity, "c": 1E400}}',
        '{"name": "f", "parameters": {"a": "</tool_call>"}}',
        '{"name": "f", "parameters": {"a": "\\n</tool_call>"}}',
        '{"name": "", "parameters": {}}',
        '{"name": "f", "parameters": []}',
        '{"name": "f", "parameters": {}, "id": 1}',
        "\n".join([G] * (MAX_CALLS + 5)),
    ],
    ids=range(14),
)
def test_the_shortcut_leaves_everything_unusual_to_the_general_scanner(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (block(body), f"{block(body)}\n<response> r </response>"):
        assert account(read_completion(text)) == account(general(text, monkeypatch))


# Size


@contextmanager
def processor_seconds(limit: int) -> Iterator[None]:
    """Stop a test that has used more seconds of the processor than any linear reading needs by far."""

    def stop(*_: object) -> None:
        raise AssertionError(f"more than {limit} seconds of processor time")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def operations(text: str) -> int:
    """Count the function calls, those into C included, that reading and scoring a text makes."""
    count = 0

    def watch(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        parse_completion(text, accept_python_literals=True)
    finally:
        sys.setprofile(before)
    return count


def repeated(unit: str, start: str = "", end: str = "") -> Callable[[int], str]:
    return lambda size: start + (unit * (size // len(unit) + 1))[:size] + end


LONG = {
    "thought tags": repeated("<think>"),
    "thought ends": repeated("</think>"),
    "thought ends and spaces": repeated("</think> "),
    "call tags": repeated("<tool_call>"),
    "call ends": repeated("</tool_call>"),
    "response tags": repeated("<response>"),
    "response ends": repeated("</response>"),
    "thoughts and text": repeated("<think></think>x"),
    "quoted thought ends": repeated("</think>a", "<think>"),
    "thought end and far text": lambda size: f"<think></think>{' ' * size}x",
    "empty blocks": repeated("<tool_call></tool_call>"),
    "opened calls": repeated("<tool_call>{"),
    "opened calls on lines": repeated('<tool_call>\n{"a":\n'),
    "opened objects": repeated('{"a":', "<tool_call>\n"),
    "opened objects on lines": repeated('{"a":\n', "<tool_call>\n"),
    "opened objects, less deep": repeated('{"a":\n' * 900 + "x\n", "<tool_call>\n"),
    "brackets": repeated("[", "<tool_call>"),
    "brackets on lines": repeated("[\n", "<tool_call>"),
    "nested ten thousand times": lambda _: f"<tool_call>{'[' * 10_000}{']' * 10_000}</tool_call>",
    "unfinished lists": repeated("[[1],\n", "<tool_call>\n"),
    "empty objects": repeated("{}\n", "<tool_call>\n"),
    "empty lists": repeated("[]\n", "<tool_call>\n"),
    "opened strings": repeated('{"a":"\n', "<tool_call>\n"),
    "one long string": repeated("x", '<tool_call>{"a":"'),
    "escapes": repeated("\\", '<tool_call>{"a":"'),
    "digits": repeated("1", "<tool_call>["),
    "long numbers": repeated('{"a":' + "1" * 5000 + "}\n", "<tool_call>\n"),
    "long fractions": repeated("1", "<tool_call>[0.", "]"),
    "Python dictionaries": repeated("{'a':1}\n", "<tool_call>\n"),
    "Python parentheses": repeated("{'a':" + "(" * 60 + "\n", "<tool_call>\n"),
    "commas": repeated(",", '<tool_call>{"name":"f"}'),
    "calls": repeated(F + "\n", "<tool_call>\n"),
    "plain calls": repeated(F + "\n", "<think> </think>\n<tool_call>\n", F + "\n</tool_call>"),
    "calls in a list": repeated(G + ",", "<tool_call>[", "{}]</tool_call>"),
    "repeated keys": repeated('"a":1,', '<tool_call>{"name":"f","parameters":{', '"a":1}}</tool_call>'),
    "stop tokens": repeated("<|im_end|>"),
    "stop tokens and spaces": repeated("</s> "),
    "spaces": repeated(" ", "<tool_call>"),
    "angle brackets": repeated("<"),
    "markers": repeated("<|im_start|>assistant"),
}


@pytest.mark.parametrize("name", LONG)
def test_reading_makes_a_number_of_steps_in_proportion_to_the_length(name: str) -> None:
    small, large = operations(LONG[name](20_000)), operations(LONG[name](40_000))
    assert large <= 2.2 * small + 500


@pytest.mark.parametrize("name", LONG)
def test_a_megabyte_of_repetition_is_read_and_scored_in_bounded_time(name: str) -> None:
    text = LONG[name](1_000_000)
    with processor_seconds(30):
        assert score(text, [{"name": "f", "parameters": {"a": 1}}], RewardSpec.preset("robust")).correctness < 0
        score(text, f"{block(F)}\n<response> r </response>", RewardSpec.preset("released"))


def test_no_more_than_ten_thousand_values_are_decoded_one_by_one() -> None:
    parsed = parse_completion("<tool_call>\n" + f"{G}\n" * (MAX_CALLS + 50) + "</tool_call>")
    assert (parsed.n_predicted, parsed.n_malformed) == (MAX_CALLS, 1)
    assert "too_large" in [finding.code for finding in parsed.reasons]
