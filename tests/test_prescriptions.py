"""Three prescriptions, and a small world in which they are compared, against arithmetic by hand."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolrl_core.masks import ShapeMismatchError
from toolrl_core.prescriptions import (
    PRESCRIPTIONS,
    Action,
    account_credit,
    prescription_cost,
    resample_credit,
    veto_credit,
)
from toolrl_core.simulate.turn_credit import TREATMENTS, TurnWorld, simulate_credit

ROOT2 = math.sqrt(2)

# Rollouts right-right-right, right-right-void and wrong-right-wrong, of which the first earns 1.
REWARDS = [1, 0, 0]
VOID = [[False, False, False], [False, False, True], [False, False, False]]
EVERYWHERE = np.ones((3, 3), dtype=bool)
TURN_REWARDS = [[1, 1, 1], [1, 1, 0], [0, 1, 0]]


def test_the_veto_pushes_one_rollout_up_one_down_and_leaves_the_void_one_alone():
    # mean 1/3, deviation sqrt(2)/3: advantages sqrt(2) and -1/sqrt(2)
    credit = veto_credit(REWARDS, VOID, EVERYWHERE)
    assert credit == pytest.approx(np.array([[ROOT2] * 3, [0] * 3, [-1 / ROOT2] * 3]), abs=1e-5)


def test_without_a_void_turn_every_turn_has_its_rollouts_advantage():
    credit = veto_credit(REWARDS, np.zeros((3, 3), dtype=bool), EVERYWHERE)
    assert credit[1] == pytest.approx([-1 / ROOT2] * 3, abs=1e-5)


def test_turns_that_do_not_exist_have_no_credit():
    present = EVERYWHERE.copy()
    present[2, 2] = False
    credit = veto_credit(REWARDS, np.zeros((3, 3), dtype=bool), present)
    assert np.isnan(credit[2, 2])
    assert np.isnan(credit).sum() == 1


def test_a_void_flag_on_a_turn_that_does_not_exist_changes_nothing():
    present, void = EVERYWHERE.copy(), np.zeros((3, 3), dtype=bool)
    present[2, 2], void[2, 2] = False, True
    assert veto_credit(REWARDS, void, present)[2, 0] == pytest.approx(-1 / ROOT2, abs=1e-5)


def test_accounts_compare_turns_at_the_same_position():
    # first column 1, 1, 0: mean 2/3, deviation sqrt(2)/3; second column equal; third column 1, 0, 0
    wanted = [[1 / ROOT2, 0, ROOT2], [1 / ROOT2, 0, -1 / ROOT2], [-ROOT2, 0, -1 / ROOT2]]
    assert account_credit(TURN_REWARDS) == pytest.approx(np.array(wanted), abs=1e-5)


def test_a_closed_gate_gives_nothing_and_leaves_the_other_accounts_alone():
    credit = account_credit(TURN_REWARDS, gate=~np.array(VOID))
    assert credit[1, 2] == 0
    assert credit[0, 2] == pytest.approx(ROOT2, abs=1e-5)


def test_a_missing_turn_is_in_no_mean():
    # second position: rewards 1 and 0 of the two rollouts that have it
    credit = account_credit([[1, 1], [1, 0], [0, np.nan]])
    assert credit[:2, 1] == pytest.approx([1, -1], abs=1e-5)
    assert np.isnan(credit[2, 1])


def test_a_tree_gives_each_turn_the_mean_of_its_ends():
    ends = (Action("right", 1.0), Action("wrong", 0.0), Action("void", 0.0))
    dead = tuple(Action(name, 0.0) for name in ("right", "wrong", "void"))
    tree = [Action("right", then=ends), Action("wrong", then=dead), Action("void", 0.0)]
    found = {credit.path: credit for credit in resample_credit(tree)}
    assert found["right",].value == pytest.approx(1 / 3)
    assert found["right",].advantage == pytest.approx(ROOT2, abs=1e-4)
    assert found["right", "void"].advantage == pytest.approx(-1 / ROOT2, abs=1e-4)
    assert found["wrong", "right"].advantage == 0
    assert len(found) == 9


@pytest.mark.parametrize("arguments", [{}, {"reward": 1.0, "then": (Action("x", 0.0),)}])
def test_an_action_ends_or_goes_on(arguments):
    with pytest.raises(ValueError, match="'look' needs either a reward or further actions"):
        Action("look", **arguments)


@given(group=st.integers(1, 4), turns=st.integers(1, 4))
def test_costs_are_those_of_a_tree_that_is_walked(group, turns):
    def grow(depth):
        return [Action("a", 0.0) if depth == turns else Action("a", then=tuple(grow(depth + 1))) for _ in range(group)]

    walked = resample_credit(grow(1))
    cost = prescription_cost("resample", group=group, turns=turns)
    assert cost.generated_turns == len(walked)
    assert cost.rollouts == sum(len(credit.path) == turns for credit in walked)
    assert cost.last_turn_groups == cost.rollouts / group
    assert cost.groups == 1 + sum(len(credit.path) < turns for credit in walked)


def test_costs_of_eight_rollouts_with_five_turns():
    # 8 + 64 + 512 + 4096 + 32768 turns, and 8^4 groups at the last turn
    tree = prescription_cost("resample", group=8, turns=5)
    assert (tree.generated_turns, tree.last_turn_groups, tree.rollouts) == (37448, 4096, 32768)
    for name, groups, turn_rewards, form_checks in (("delete", 1, 0, 40), ("accounts", 5, 40, 0)):
        cost = prescription_cost(name, group=8, turns=5)
        assert (cost.generated_turns, cost.groups, cost.turn_rewards, cost.form_checks) == (
            40,
            groups,
            turn_rewards,
            form_checks,
        )


def test_faults_name_what_is_wrong():
    with pytest.raises(ValueError, match="unknown prescription 'forget': choose from delete, resample, accounts"):
        prescription_cost("forget", group=2, turns=2)
    with pytest.raises(ValueError, match="got 0 and 2"):
        prescription_cost("delete", group=0, turns=2)
    with pytest.raises(ShapeMismatchError, match=r"present has shape \(3, 3\).*rewards \(2,\)"):
        veto_credit([1, 0], VOID, EVERYWHERE)
    with pytest.raises(ShapeMismatchError, match=r"\(3, 3\), gate has shape \(2, 3\)"):
        account_credit(TURN_REWARDS, gate=VOID[:2])
    with pytest.raises(ShapeMismatchError, match="expected \\(rollouts, turns\\)"):
        account_credit([1, 0])
    with pytest.raises(ValueError, match="unknown treatment 'delet'"):
        simulate_credit("delet")
    with pytest.raises(ValueError, match="too many"):
        simulate_credit("resample", TurnWorld(turns=8), group=8)


def test_every_prescription_says_what_it_needs():
    assert list(PRESCRIPTIONS) == ["delete", "resample", "accounts"]
    assert PRESCRIPTIONS["accounts"].needs == "a reward for every turn"


# The small world, enumerated: two rollouts of two turns; right 1/2, wrong 3/10, void 1/5, judge wrong 1/10.
RIGHT, WRONG, GONE = Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)
ERROR = Fraction(1, 10)


def possible_rollouts():
    """Give every rollout: kinds and turn rewards of its turns, its probability."""
    turns = [("right", 1, RIGHT * (1 - ERROR)), ("right", 0, RIGHT * ERROR)]
    turns += [("wrong", 0, WRONG * (1 - ERROR)), ("wrong", 1, WRONG * ERROR), ("void", 0, GONE)]
    for kind, reward, chance in turns:
        if kind == "void":
            yield (kind,), (reward,), chance
            continue
        for second, second_reward, second_chance in turns:
            yield (kind, second), (reward, second_reward), chance * second_chance


def enumerated(treatment):
    """Share of right turns pushed up and down, and of void turns pushed down, from all pairs of rollouts."""
    total = {"right": Fraction(0), "void": Fraction(0)}
    up, down, void_down = Fraction(0), Fraction(0), Fraction(0)
    for (mine, my_rewards, p), (other, other_rewards, q) in itertools.product(possible_rollouts(), repeat=2):
        for turn, kind in enumerate(mine):
            if treatment == "accounts":
                theirs = other_rewards[turn] if turn < len(other) else my_rewards[turn]
                push = my_rewards[turn] - theirs
            else:
                push = (mine == ("right", "right")) - (other == ("right", "right"))
                push = 0 if treatment == "delete" and "void" in mine else push
            if kind in total:
                total[kind] += p * q
            up += p * q * (kind == "right" and push > 0)
            down += p * q * (kind == "right" and push < 0)
            void_down += p * q * (kind == "void" and push < 0)
    return float(up / total["right"]), float(down / total["right"]), float(void_down / total["void"])


@pytest.mark.parametrize("treatment", ["naive", "delete", "accounts"])
def test_simulated_shares_are_those_of_an_enumeration(treatment):
    world = TurnWorld(turns=2, right=0.5, void=0.2, judge_error=0.1)
    found = simulate_credit(treatment, world, group=2, prompts=40_000, seed=1)
    assert (found.right_up, found.right_down, found.void_down) == pytest.approx(enumerated(treatment), abs=0.01)


def test_with_one_turn_a_right_one_is_pushed_up_unless_all_are_right():
    # 1 - .7^3 in a group of four
    for treatment in ("naive", "delete", "accounts", "resample"):
        found = simulate_credit(treatment, TurnWorld(turns=1, void=0.0), prompts=20_000)
        assert found.right_up == pytest.approx(1 - 0.7**3, abs=0.01)
        assert (found.right_down, found.bad_up) == (0, 0)


def test_generated_turns_stop_at_void_ones():
    # q = .9: chain 3 (1 + q + q^2) turns, tree 3 + 9 q + 27 q^2
    world = TurnWorld(void=0.1)
    chain = simulate_credit("delete", world, group=3, prompts=20_000)
    tree = simulate_credit("resample", world, group=3, prompts=5_000)
    assert chain.generated_turns == pytest.approx(3 * (1 + 0.9 + 0.81), abs=0.05)
    assert tree.generated_turns == pytest.approx(3 + 9 * 0.9 + 27 * 0.81, abs=0.5)


def test_where_all_turns_are_right_nothing_is_pushed():
    for treatment in TREATMENTS:
        found = simulate_credit(treatment, TurnWorld(right=1.0, void=0.0), prompts=20)
        assert found.right_nothing == 1
        assert math.isnan(found.bad_down)


def test_masking_void_turns_alone_keeps_the_accounts_of_the_others():
    plain, masked = (simulate_credit(name, prompts=500) for name in ("accounts", "accounts_void_masked"))
    assert masked.right_up == plain.right_up
    assert masked.void_down == 0 < plain.void_down


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"turns": 0}, "turns"), ({"void": -0.1}, "void"), ({"right": 0.8, "void": 0.3}, "must not exceed 1")],
)
def test_a_world_that_cannot_be_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        TurnWorld(**changes)
