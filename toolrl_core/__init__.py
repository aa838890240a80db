"""Score tool calls as ToolRL does, see every point, and recompute what two research notes claim.

Every public name is imported when it is first used, so that ``import toolrl_core`` and the scoring path load
the standard library alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolrl_core.action_trees import Action as Action
    from toolrl_core.action_trees import resample_credit as resample_credit
    from toolrl_core.advantages import ComponentAdvantages as ComponentAdvantages
    from toolrl_core.advantages import group_advantages as group_advantages
    from toolrl_core.advantages import kl_in_reward as kl_in_reward
    from toolrl_core.advantages import normalise_each_then_sum as normalise_each_then_sum
    from toolrl_core.array_scores import ArrayScores as ArrayScores
    from toolrl_core.array_scores import score_arrays as score_arrays
    from toolrl_core.arrays import CallArrays as CallArrays
    from toolrl_core.arrays import CaseArrays as CaseArrays
    from toolrl_core.arrays import draw_cases as draw_cases
    from toolrl_core.arrays import to_calls as to_calls
    from toolrl_core.audit.gold_lint import lint_ground_truth as lint_ground_truth
    from toolrl_core.audit.headline import Headline as Headline
    from toolrl_core.audit.headline import headline as headline
    from toolrl_core.audit.probe_report import ProbeReport as ProbeReport
    from toolrl_core.audit.probes import audit_reward as audit_reward
    from toolrl_core.audit.report import AuditReport as AuditReport
    from toolrl_core.batch import score_many as score_many
    from toolrl_core.bfcl import BfclDataError as BfclDataError
    from toolrl_core.bfcl import BfclRow as BfclRow
    from toolrl_core.boxed import boxed_answer as boxed_answer
    from toolrl_core.breakdown import RewardBreakdown as RewardBreakdown
    from toolrl_core.calls import AcceptedCall as AcceptedCall
    from toolrl_core.calls import GroundTruthError as GroundTruthError
    from toolrl_core.calls import ToolCall as ToolCall
    from toolrl_core.clipping import clip_gate as clip_gate
    from toolrl_core.contracts import CONTRACTS as CONTRACTS
    from toolrl_core.dialects import DIALECTS as DIALECTS
    from toolrl_core.dialects import Dialect as Dialect
    from toolrl_core.equality import EQUALITY_POLICIES as EQUALITY_POLICIES
    from toolrl_core.equality import equal as equal
    from toolrl_core.filter_policies import FILTER_POLICIES as FILTER_POLICIES
    from toolrl_core.filter_policies import apply_filter_policy as apply_filter_policy
    from toolrl_core.formats import FORMAT_RULES as FORMAT_RULES
    from toolrl_core.formats import literal_format as literal_format
    from toolrl_core.formats import ordered_tags_format as ordered_tags_format
    from toolrl_core.formats import released_format as released_format
    from toolrl_core.formats import strict_format as strict_format
    from toolrl_core.gradients import logit_gradient as logit_gradient
    from toolrl_core.gradients import logit_gradient_norm as logit_gradient_norm
    from toolrl_core.gradients import policy_gradient_logits as policy_gradient_logits
    from toolrl_core.gradients import surprise_norm as surprise_norm
    from toolrl_core.gradients import surprise_norm_naive as surprise_norm_naive
    from toolrl_core.ground_truth import GroundTruth as GroundTruth
    from toolrl_core.ground_truth import parse_ground_truth as parse_ground_truth
    from toolrl_core.ground_truth import render_completion as render_completion
    from toolrl_core.ground_truth import single_valued as single_valued
    from toolrl_core.group_report import GroupReport as GroupReport
    from toolrl_core.group_report import GroupSummary as GroupSummary
    from toolrl_core.group_report import diagnose_groups as diagnose_groups
    from toolrl_core.group_report import drop_zero_std_groups as drop_zero_std_groups
    from toolrl_core.group_report import unscored_share as unscored_share
    from toolrl_core.group_report import zero_std_share as zero_std_share
    from toolrl_core.masks import MaskedBatch as MaskedBatch
    from toolrl_core.masks import ShapeMismatchError as ShapeMismatchError
    from toolrl_core.masks import drop_void_groups as drop_void_groups
    from toolrl_core.masks import filter_accuracy as filter_accuracy
    from toolrl_core.masks import filter_void as filter_void
    from toolrl_core.masks import mask_after_void as mask_after_void
    from toolrl_core.masks import mask_void as mask_void
    from toolrl_core.matching import Assignment as Assignment
    from toolrl_core.matching import greedy_assignment as greedy_assignment
    from toolrl_core.matching import optimal_assignment as optimal_assignment
    from toolrl_core.mistakes import MISTAKES as MISTAKES
    from toolrl_core.mistakes import Mistake as Mistake
    from toolrl_core.mistakes import NotApplicable as NotApplicable
    from toolrl_core.mistakes import apply_mistake as apply_mistake
    from toolrl_core.mistakes import corrupt as corrupt
    from toolrl_core.pairs import pair_scores as pair_scores
    from toolrl_core.parsing import ParsedCompletion as ParsedCompletion
    from toolrl_core.parsing import parse_completion as parse_completion
    from toolrl_core.prescriptions import PRESCRIPTIONS as PRESCRIPTIONS
    from toolrl_core.prescriptions import account_credit as account_credit
    from toolrl_core.prescriptions import prescription_cost as prescription_cost
    from toolrl_core.prescriptions import veto_credit as veto_credit
    from toolrl_core.reasons import Finding as Finding
    from toolrl_core.reasons import Reason as Reason
    from toolrl_core.rewards import iter_scores as iter_scores
    from toolrl_core.rewards import score as score
    from toolrl_core.schedules import LengthReward as LengthReward
    from toolrl_core.schedules import Scales as Scales
    from toolrl_core.schedules import Schedule as Schedule
    from toolrl_core.schedules import constant as constant
    from toolrl_core.schedules import dynamic as dynamic
    from toolrl_core.schedules import equal_max as equal_max
    from toolrl_core.schedules import linear as linear
    from toolrl_core.schedules import two_stage as two_stage
    from toolrl_core.spec import RewardSpec as RewardSpec
    from toolrl_core.trajectories import Trajectory as Trajectory
    from toolrl_core.trajectories import TrajectoryError as TrajectoryError
    from toolrl_core.trajectories import Turn as Turn
    from toolrl_core.trajectory_files import iter_trajectories as iter_trajectories
    from toolrl_core.trajectory_files import read_trajectories as read_trajectories
    from toolrl_core.trajectory_files import trajectory_from_messages as trajectory_from_messages
    from toolrl_core.trajectory_files import trajectory_from_record as trajectory_from_record
    from toolrl_core.turns import TurnVerdict as TurnVerdict
    from toolrl_core.turns import is_void_turn as is_void_turn
    from toolrl_core.turns import turn_verdict as turn_verdict

_HOMES = {
    "action_trees": ("Action", "resample_credit"),
    "advantages": ("ComponentAdvantages", "group_advantages", "kl_in_reward", "normalise_each_then_sum"),
    "array_scores": ("ArrayScores", "score_arrays"),
    "arrays": ("CallArrays", "CaseArrays", "draw_cases", "to_calls"),
    "audit.gold_lint": ("lint_ground_truth",),
    "audit.headline": ("Headline", "headline"),
    "audit.probe_report": ("ProbeReport",),
    "audit.probes": ("audit_reward",),
    "audit.report": ("AuditReport",),
    "batch": ("score_many",),
    "bfcl": ("BfclDataError", "BfclRow"),
    "boxed": ("boxed_answer",),
    "breakdown": ("RewardBreakdown",),
    "calls": ("AcceptedCall", "GroundTruthError", "ToolCall"),
    "clipping": ("clip_gate",),
    "contracts": ("CONTRACTS",),
    "dialects": ("DIALECTS", "Dialect"),
    "equality": ("EQUALITY_POLICIES", "equal"),
    "filter_policies": ("FILTER_POLICIES", "apply_filter_policy"),
    "formats": ("FORMAT_RULES", "literal_format", "ordered_tags_format", "released_format", "strict_format"),
    "gradients": (
        "logit_gradient",
        "logit_gradient_norm",
        "policy_gradient_logits",
        "surprise_norm",
        "surprise_norm_naive",
    ),
    "ground_truth": ("GroundTruth", "parse_ground_truth", "render_completion", "single_valued"),
    "group_report": (
        "GroupReport",
        "GroupSummary",
        "diagnose_groups",
        "drop_zero_std_groups",
        "unscored_share",
        "zero_std_share",
    ),
    "masks": (
        "MaskedBatch",
        "ShapeMismatchError",
        "drop_void_groups",
        "filter_accuracy",
        "filter_void",
        "mask_after_void",
        "mask_void",
    ),
    "matching": ("Assignment", "greedy_assignment", "optimal_assignment"),
    "mistakes": ("MISTAKES", "Mistake", "NotApplicable", "apply_mistake", "corrupt"),
    "pairs": ("pair_scores",),
    "parsing": ("ParsedCompletion", "parse_completion"),
    "prescriptions": ("PRESCRIPTIONS", "account_credit", "prescription_cost", "veto_credit"),
    "reasons": ("Finding", "Reason"),
    "rewards": ("iter_scores", "score"),
    "schedules": ("LengthReward", "Scales", "Schedule", "constant", "dynamic", "equal_max", "linear", "two_stage"),
    "spec": ("RewardSpec",),
    "trajectories": ("Trajectory", "TrajectoryError", "Turn"),
    "trajectory_files": (
        "iter_trajectories",
        "read_trajectories",
        "trajectory_from_messages",
        "trajectory_from_record",
    ),
    "turns": ("TurnVerdict", "is_void_turn", "turn_verdict"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(f"toolrl_core.{_HOME_OF[name]}"), name)
    raise AttributeError(f"module 'toolrl_core' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
