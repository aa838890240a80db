"""A chat template that opens the thought: the reward has to be told, and then every rule knows."""

import pytest

from toolrl_core import RewardSpec, score

GOLD = [{"name": "f", "parameters": {}}]
TEXT = ' plan </think>\n<tool_call>\n{"name": "f", "parameters": {}}\n</tool_call>'


@pytest.mark.parametrize("preset", ["paper", "released", "robust"])
def test_a_template_that_opened_the_thought_costs_the_format_until_the_reward_is_told(preset):
    spec = RewardSpec.preset(preset)
    assert score(TEXT, GOLD, spec).format == 0.0
    assert score(TEXT, GOLD, spec.replace(prefilled_thought=True)).format == 1.0


@pytest.mark.parametrize("preset", ["paper", "released", "robust"])
def test_a_bare_end_tag_is_no_format(preset):
    assert score("</think> anything", GOLD, RewardSpec.preset(preset).replace(prefilled_thought=True)).format == 0.0
