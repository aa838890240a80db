"""What holds for every answer: bounds, order, duplicates, fixes, and the probes that the robust preset passes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.reference_reward import canonical
from toolrl_core.calls import AcceptedCall, ToolCall
from toolrl_core.ground_truth import render_completion
from toolrl_core.matching import GREEDY_ORDERS
from toolrl_core.rewards import score
from toolrl_core.schedules import LengthReward, constant
from toolrl_core.spec import RewardSpec

EXAMPLES = 120
property_test = settings(max_examples=EXAMPLES, deadline=None)
PRESETS = RewardSpec.presets()
ROBUST = PRESETS["robust"]
OPTIMAL = [spec for spec in PRESETS.values() if spec.matching == "optimal"]
MARGIN = 1e-9

SCALARS = st.sampled_from([0, 1, 2, 1.5, True, False, None, "", "1", "x", "</tool_call>"])
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(st.sampled_from("kl"), SCALARS, max_size=2))
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
CALL = st.builds(ToolCall, st.sampled_from("fgh"), ARGUMENTS)
CALLS = st.lists(CALL, max_size=4)
SOME_CALLS = st.lists(CALL, min_size=1, max_size=4)
ACCEPTED = st.builds(
    AcceptedCall,
    st.sampled_from("fgh"),
    st.dictionaries(st.sampled_from("abc"), st.lists(VALUES, min_size=1, max_size=3), max_size=3),
    defaults=st.dictionaries(st.sampled_from("cd"), SCALARS, max_size=1),
)
EXPECTED = st.lists(st.one_of(CALL, ACCEPTED), max_size=4)


def correctness(answer: Any, expected: Any, spec: RewardSpec = ROBUST) -> float:
    return score(answer, expected, spec).correctness


@st.composite
def answered(draw: st.DrawFn, least: int = 0) -> tuple[list[ToolCall], list[ToolCall]]:
    """Draw a ground truth and an answer that is right in part."""
    expected = draw(st.lists(CALL, min_size=least, max_size=4))
    answer = []
    for call in expected:
        arguments = {key: value for key, value in call.arguments.items() if draw(st.booleans()) or draw(st.booleans())}
        if draw(st.integers(0, 3)) == 0:
            arguments |= draw(ARGUMENTS)
        if draw(st.integers(0, 4)):
            answer.append(ToolCall(call.name if draw(st.integers(0, 5)) else draw(st.sampled_from("fgh")), arguments))
    answer += draw(st.lists(CALL, max_size=2))
    return expected, list(draw(st.permutations(answer)))


def names(calls: list[ToolCall]) -> Counter[str]:
    return Counter(call.name for call in calls)


def as_multiset(calls: list[ToolCall]) -> Counter[Any]:
    return Counter((call.name, canonical(dict(call.arguments))) for call in calls)


def at_floor(answer: list[ToolCall], expected: list[ToolCall]) -> bool:
    return score(answer, expected, ROBUST).matched == 0


# Every preset


@property_test
@given(EXPECTED, CALLS, st.sampled_from(list(PRESETS)), st.booleans())
def test_the_parts_add_up_to_the_total_and_every_part_stays_in_its_range(
    expected: list[Any], answer: list[ToolCall], preset: str, as_text: bool
) -> None:
    spec = PRESETS[preset].replace(length_reward=LengthReward(target=10))
    if spec.parser == "released":
        expected = [call.first() if isinstance(call, AcceptedCall) else call for call in expected]
    completion: Any = render_completion(expected, calls=answer, thought="a b c") if as_text else answer
    result = score(completion, expected, spec)
    parts = result.parts()
    assert abs(sum(part.points for part in parts) - result.total) < 1e-12
    low, high = result.scales.correctness
    assert low <= result.correctness <= high
    assert 0 <= result.matched <= result.maximum
    assert 0 <= result.name_score <= 1
    assert all(part.label == "floor" or -MARGIN <= part.points <= part.available + MARGIN for part in parts)
    assert len(result.pairs) == len(expected)
    assert {pair.predicted_index for pair in result.pairs} - {None} <= set(range(len(answer)))
    used = [pair.predicted_index for pair in result.pairs if pair.predicted_index is not None]
    assert len(used) == len(set(used))
    assert len(result.unmatched) == result.n_predicted - len(used)


@property_test
@given(answered(), st.sampled_from(OPTIMAL), st.randoms())
def test_the_order_of_calls_and_of_keys_does_not_matter(
    case: tuple[list[ToolCall], list[ToolCall]], spec: RewardSpec, rng: Any
) -> None:
    expected, answer = case

    def shuffled(calls: list[ToolCall]) -> list[ToolCall]:
        changed = [ToolCall(c.name, dict(rng.sample(list(c.arguments.items()), len(c.arguments)))) for c in calls]
        return rng.sample(changed, len(changed))

    before = correctness(answer, expected, spec)
    assert abs(correctness(shuffled(answer), expected, spec) - before) < MARGIN
    assert abs(correctness(answer, shuffled(expected), spec) - before) < MARGIN


@property_test
@given(answered(), st.sampled_from(list(PRESETS)))
def test_no_greedy_order_beats_the_optimal_matching(case: tuple[list[ToolCall], list[ToolCall]], preset: str) -> None:
    expected, answer = case
    spec = PRESETS[preset]
    best = correctness(answer, expected, spec.replace(matching="optimal"))
    for order in GREEDY_ORDERS:
        assert correctness(answer, expected, spec.replace(matching=f"greedy_{order}")) <= best + MARGIN


@property_test
@given(answered(), st.sampled_from(["parameter", "call", "answer"]), st.booleans())
def test_exact_credit_never_earns_more_than_partial_credit(
    case: tuple[list[ToolCall], list[ToolCall]], granularity: str, same_name: bool
) -> None:
    expected, answer = case
    partial = RewardSpec(granularity=granularity, same_name=same_name)
    assert correctness(answer, expected, partial.replace(credit="exact")) <= (
        correctness(answer, expected, partial) + MARGIN
    )


@property_test
@given(answered(), st.sampled_from(list(PRESETS)), st.floats(-10, 10), st.floats(0, 10))
def test_the_scale_moves_and_stretches_the_correctness(
    case: tuple[list[ToolCall], list[ToolCall]], preset: str, low: float, width: float
) -> None:
    expected, answer = case
    spec = PRESETS[preset].replace(no_call="scored")
    share = correctness(answer, expected, spec.replace(schedule=constant(correctness=(0, 1))))
    scaled = correctness(answer, expected, spec.replace(schedule=constant(correctness=(low, low + width))))
    assert abs(scaled - (low + width * share)) < MARGIN


@property_test
@given(EXPECTED, st.sampled_from(OPTIMAL))
def test_the_ground_truth_as_its_own_completion_earns_the_maximum(expected: list[Any], spec: RewardSpec) -> None:
    result = score(render_completion(expected), expected, spec)
    assert (result.format, result.correctness) == (1, result.scales.correctness[1])
    assert result.reasons == ()


@property_test
@given(st.lists(ACCEPTED, min_size=1, max_size=3), CALLS, SCALARS, st.sampled_from(OPTIMAL))
def test_accepting_one_value_more_never_takes_points(
    expected: list[AcceptedCall], answer: list[ToolCall], value: Any, spec: RewardSpec
) -> None:
    assume(value != "" and expected[0].accepted)
    key = next(iter(expected[0].accepted))
    first = expected[0]
    wider = AcceptedCall(
        first.name, {**first.accepted, key: [*first.accepted[key], value]}, first.optional, first.defaults
    )
    assert correctness(answer, [wider, *expected[1:]], spec) >= correctness(answer, expected, spec) - MARGIN


# The robust preset


@property_test
@given(answered())
def test_robust_gives_the_maximum_to_the_right_answer_in_any_order_and_to_nothing_else(
    case: tuple[list[ToolCall], list[ToolCall]],
) -> None:
    expected, answer = case
    assert (correctness(answer, expected) == 3) == (as_multiset(answer) == as_multiset(expected))


@property_test
@given(SOME_CALLS, st.data())
def test_any_change_to_a_right_answer_costs(expected: list[ToolCall], data: st.DataObject) -> None:
    j = data.draw(st.integers(0, len(expected) - 1))
    call = expected[j]
    rest = [*expected[:j], *expected[j + 1 :]]
    changes: list[list[ToolCall]] = [[], [call, call], [ToolCall("other", call.arguments)]]
    changes.append([ToolCall(call.name, {**call.arguments, "invented": 1})])
    for key, value in call.arguments.items():
        others = {name: found for name, found in call.arguments.items() if name != key}
        changes += [[ToolCall(call.name, others)], [ToolCall(call.name, {**others, f"{key}_": value})]]
        changes += [[ToolCall(call.name, {**call.arguments, key: [value]})]]
        if type(value) is int:
            changes += [[ToolCall(call.name, {**call.arguments, key: str(value)})]]
            changes += [[ToolCall(call.name, {**call.arguments, key: bool(value)})]]
    for changed in changes:
        assert correctness([*rest, *changed], expected) < 3 - MARGIN


@property_test
@given(CALLS, ARGUMENTS, ARGUMENTS)
def test_exchanging_the_names_of_two_calls_costs(
    others: list[ToolCall], first: dict[str, Any], second: dict[str, Any]
) -> None:
    expected = [ToolCall("f", first), ToolCall("g", second), *others]
    answer = [ToolCall("g", first), ToolCall("f", second), *others]
    assume(as_multiset(answer) != as_multiset(expected))
    assert correctness(answer, expected) < 3 - MARGIN


@property_test
@given(answered(), ARGUMENTS)
def test_an_unexpected_or_malformed_call_costs_unless_nothing_is_left_to_lose(
    case: tuple[list[ToolCall], list[ToolCall]], arguments: dict[str, Any]
) -> None:
    expected, answer = case
    before = correctness(answer, expected)
    for junk in (ToolCall("unexpected", arguments), {"no": "name"}):
        after = correctness([*answer, junk], expected)
        assert after == before == -3 if at_floor(answer, expected) else after < before - MARGIN


@property_test
@given(answered(least=1), ARGUMENTS, st.data())
def test_a_further_call_of_a_name_whose_calls_all_have_exact_partners_costs(
    case: tuple[list[ToolCall], list[ToolCall]], arguments: dict[str, Any], data: st.DataObject
) -> None:
    expected, answer = case
    name = data.draw(st.sampled_from([call.name for call in expected]))
    answer += [call for call in expected if call.name == name]
    before = correctness(answer, expected)
    copies = [call for call in answer if call.name == name]
    for call in (ToolCall(name, arguments), *copies):
        assert correctness([*answer, call], expected) < before - MARGIN


@property_test
@given(answered(least=1), st.data())
def test_fixing_a_value_that_no_expected_call_of_the_name_wants_never_lowers(
    case: tuple[list[ToolCall], list[ToolCall]], data: st.DataObject
) -> None:
    expected, answer = case
    places = [
        (i, key)
        for i, call in enumerate(answer)
        for key, value in call.arguments.items()
        if any(key in other.arguments for other in expected if other.name == call.name)
        and all(
            key not in other.arguments or canonical(other.arguments[key]) != canonical(value)
            for other in expected
            if other.name == call.name
        )
    ]
    assume(places)
    i, key = data.draw(st.sampled_from(places))
    wanted = [c.arguments[key] for c in expected if c.name == answer[i].name and key in c.arguments]
    fixed = ToolCall(answer[i].name, {**answer[i].arguments, key: data.draw(st.sampled_from(wanted))})
    changed = [*answer[:i], fixed, *answer[i + 1 :]]
    for spec in (ROBUST, PRESETS["paper"].replace(same_name=True)):
        assert correctness(changed, expected, spec) >= correctness(answer, expected, spec) - MARGIN


@property_test
@given(answered(least=1), st.data())
def test_leaving_out_an_exact_call_costs_and_adding_a_missing_one_gains(
    case: tuple[list[ToolCall], list[ToolCall]], data: st.DataObject
) -> None:
    expected, answer = case
    call = data.draw(st.sampled_from(expected))
    assume(names(answer)[call.name] < names(expected)[call.name])
    assert correctness([*answer, call], expected) > correctness(answer, expected) + MARGIN


@property_test
@given(answered(least=1), st.integers(0, 5), VALUES)
def test_inventing_an_argument_never_helps(case: tuple[list[ToolCall], list[ToolCall]], i: int, value: Any) -> None:
    expected, answer = case
    assume(i < len(answer))
    changed = list(answer)
    changed[i] = ToolCall(answer[i].name, {**answer[i].arguments, "invented": value})
    for spec in OPTIMAL:
        assert correctness(changed, expected, spec) <= correctness(answer, expected, spec) + MARGIN


@property_test
@given(CALLS)
def test_names_alone_earn_the_name_term_and_the_calls_without_arguments_and_no_more(expected: list[ToolCall]) -> None:
    answer = [ToolCall(call.name) for call in expected]
    keys = sum(len(call.arguments) for call in expected)
    bare = sum(not call.arguments for call in expected)
    share = (1 + bare) / (1 + len(expected) + keys)
    assert abs(correctness(answer, expected) - (-3 + 6 * share)) < MARGIN


@property_test
@given(CALLS)
def test_all_keys_right_and_all_values_wrong_earns_names_and_keys(expected: list[ToolCall]) -> None:
    answer = [ToolCall(call.name, dict.fromkeys(call.arguments, "wrong")) for call in expected]
    keys = sum(len(call.arguments) for call in expected)
    share = (1 + len(expected)) / (1 + len(expected) + keys)
    assert abs(correctness(answer, expected) - (-3 + 6 * share)) < MARGIN


@property_test
@given(SOME_CALLS)
def test_where_no_call_is_expected_silence_is_right_and_every_call_is_the_floor(calls: list[ToolCall]) -> None:
    assert (correctness([], []), correctness(calls, [])) == (3, -3)
    refusal = render_completion([], response="No tool fits.")
    assert score(refusal, [], ROBUST).total == 4
    assert score(render_completion(calls), [], ROBUST).total == -3


@property_test
@given(SOME_CALLS, st.sampled_from(["", "<think></think>", r"\boxed{1}", "<tool_call>\n</tool_call>", "<tool_call>{}"]))
def test_where_calls_are_expected_an_empty_answer_is_the_floor(expected: list[ToolCall], text: str) -> None:
    assert score(text, expected, ROBUST).total == -3


WORDS = st.lists(
    st.sampled_from(["<think>", "<tool_call>", "<response>", "</tool_call>", "</response>", "</think> so", "{", "a"])
)


@property_test
@given(answered(), WORDS)
def test_a_thought_that_mentions_tags_changes_nothing(
    case: tuple[list[ToolCall], list[ToolCall]], words: list[str]
) -> None:
    expected, answer = case
    text = render_completion(expected, calls=answer, thought="so")
    mentioned = render_completion(expected, calls=answer, thought=" a ".join(["so", *words, "so"]))
    assert score(mentioned, expected, ROBUST).total == score(text, expected, ROBUST).total


@property_test
@given(SOME_CALLS, SOME_CALLS)
def test_the_way_calls_are_written_does_not_matter(expected: list[ToolCall], answer: list[ToolCall]) -> None:
    plain = render_completion(expected, calls=answer)
    total = score(plain, expected, ROBUST).total
    thought = plain.split("\n", 1)[0]
    aliased = [call.to_dict() for call in answer]
    wire = [
        {"function": {"name": c.name, "arguments": json.dumps(dict(c.arguments))}, "type": "function"} for c in answer
    ]
    for blocks in (
        [json.dumps(aliased)],
        [json.dumps(aliased, indent=2)],
        [json.dumps(wire)],
        [" ".join(map(json.dumps, aliased))],
        ["\n\n".join(json.dumps(call, indent=1) for call in aliased)],
        ["\r\n".join(json.dumps(call, sort_keys=True) for call in aliased)],
        [json.dumps(aliased).replace("/", "\\u002f")],
    ):
        text = f"{thought}\n<tool_call>\n{blocks[0]}\n</tool_call>"
        assert score(text, expected, ROBUST).total == total
    apart = "\n".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in aliased)
    assert score(f"{thought}\n{apart}", expected, ROBUST).correctness == total - 1
    assert score(aliased, expected, ROBUST).total == score(wire, expected, ROBUST).total == total - 1
