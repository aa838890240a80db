"""List where paper, note, released code and trainers part; each point has a smallest input and its values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from book._tools import difference_values as given
from book._tools.difference_values import PLAN, Values, call

TOOLRL = "https://github.com/qiancheng0/ToolRL/blob/8cee13e/verl/"
SIMPLETIR = "https://github.com/ltzheng/SimpleTIR/blob/e7b5b44/"
SWIFT = (
    "https://github.com/modelscope/ms-swift/blob/e84ab60bb63ce248ea1e45fb474f2278dde614c6/"
    "examples/train/grpo/plugin/plugin.py"
)
RLLA = TOOLRL + "utils/reward_score/rlla.py"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One point on which the sources part.

    Parameters
    ----------
    id
        Anchor on the page.
    topic
        Heading.
    paper, note, code
        What each says or does, in Markdown; an empty text leaves the line out.
    links
        Lines of the released code: label and commit-pinned address.
    ports
        What trainers' versions of it do; may be empty.
    example
        The smallest input, in Markdown.
    unit
        What the values are.
    values
        Computes the values, by side.
    chapter
        Stem of the chapter that explains the point.
    claim
        Id of the claim of the ledger that this point decides, if there is one.
    """

    id: str
    topic: str
    paper: str = ""
    note: str = ""
    code: str = ""
    links: tuple[tuple[str, str], ...] = ()
    ports: str = ""
    example: str
    unit: str = "correctness, points from −3 to 3"
    values: Callable[[], Values] = field(repr=False)
    chapter: str
    claim: str = ""


def rlla(lines: str) -> tuple[tuple[str, str], ...]:
    """Link lines of the released reward."""
    return ((f"rlla.py {lines}", f"{RLLA}#{lines}"),)


SAME_PORT = (
    "The ports in verl 0.9.1 (`verl/utils/reward_score/rlla.py`) and in "
    f"[ms-swift's examples]({SWIFT}) (`ToolUseCorrectnessReward`) do the same."
)
F1 = call("f", a=1)
TWO = [call("f", a=1), call("g", b=2)]
RIGHT = given.text_of([F1])

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        id="matching",
        topic="Which predicted call answers which expected one",
        paper="The best assignment of pairs (§3.3); no algorithm is named.",
        note="Enumeration of all pairings; greedy matching is ruled out (§3.2, §6.2).",
        code="Greedy in the order of the ground truth; the first of equals wins, and only a score above 0 counts.",
        links=rlla("L149-L192"),
        ports=SAME_PORT,
        example="Expected `f(a=1, k=0)` and `f(a=2, k=0)`; the answer has `f(a=2, k=0)` alone.",
        values=given.Correctness([call("f", a=1, k=0), call("f", a=2, k=0)], [call("f", a=2, k=0)]),
        chapter="02_greedy_vs_optimal",
        claim="toolrl.6.2.greedy_unusable",
    ),
    Difference(
        id="name-condition",
        topic="Whether a pair needs the same name",
        paper="No such condition: names count once, for the whole answer.",
        note="The same; that exchanged names then earn the maximum is not noticed (§6.1).",
        code="Only calls of the same name are compared.",
        links=rlla("L165"),
        ports=SAME_PORT,
        example="Expected `f(a=1)` and `g(b=2)`; the answer is `g(a=1)` and `f(b=2)`.",
        values=given.Correctness(TWO, [call("g", a=1), call("f", b=2)]),
        chapter="01_reward_anatomy",
        claim="toolrl.3.3.full_marks",
    ),
    Difference(
        id="names",
        topic="Names as a set or as a multiset",
        paper="The Jaccard index of the *sets* of names.",
        note="The same (§3.1).",
        code="The multiset form: a name counts as often as it occurs.",
        links=rlla("L34-L40"),
        ports=SAME_PORT,
        example="Expected `f(a=1)` and `f(a=2)`; the answer is `f(a=1)`.",
        values=given.Correctness([call("f", a=1), call("f", a=2)], [call("f", a=1)]),
        chapter="01_reward_anatomy",
    ),
    Difference(
        id="no-arguments",
        topic="Calls without arguments",
        paper="The Jaccard index of two empty sets is 0/0, which is not defined there.",
        note="Taken as 1, with a question mark (§6.1, §12 item 3).",
        code="Two equal lists score 1, two empty ones included; one empty list scores 0.",
        links=rlla("L23-L32"),
        ports=SAME_PORT,
        example="Expected `f()`; the answer is `g()`. By the formula the empty arguments still agree.",
        values=given.Correctness([call("f")], [call("g")]),
        chapter="01_reward_anatomy",
        claim="toolrl.6.1.empty_keys",
    ),
    Difference(
        id="extra-arguments",
        topic="An invented argument",
        paper="The union of the keys grows, so the key score falls.",
        note="Said to be free (§6.1, §12 item 2), which it is not.",
        code="As in the formula.",
        links=rlla("L178"),
        ports=SAME_PORT,
        example="Expected `f(a=1)`; the answer is `f(a=1, z=9)`.",
        values=given.Correctness([F1], [call("f", a=1, z=9)]),
        chapter="01_reward_anatomy",
        claim="toolrl.6.1.extra_key_free",
    ),
    Difference(
        id="extra-calls",
        topic="The right call and four copies of it",
        paper="A set of names does not see copies, and only the best pair counts.",
        note="Calls too many are said to be free (§6.1); of another name they are not.",
        code="The multiset of names sees the copies and takes back part of the name point.",
        links=rlla("L34-L40"),
        ports=SAME_PORT,
        example="Expected `f(a=1)`; the answer is five times `f(a=1)`.",
        values=given.Correctness([F1], [F1] * 5),
        chapter="01_reward_anatomy",
        claim="toolrl.6.1.extra_call_free",
    ),
    Difference(
        id="equality",
        topic="When two values are equal",
        paper='"Equal", no more.',
        note="An equals sign.",
        code="Python's `==`: `True == 1 == 1.0`.",
        links=rlla("L132") + rlla("L181"),
        ports=f"{SAME_PORT} BFCL's checker knows types and several accepted values.",
        example="Expected `f(a=1)`; the answer is `f(a=true)`.",
        values=given.Correctness([F1], [call("f", a=True)]),
        chapter="05_equality_and_format",
    ),
    Difference(
        id="no-call-expected",
        topic="No call is expected, and the answer makes one",
        paper="The total lies between −3 and 4.",
        note="The same (§6.1).",
        code="A ground truth without a tool call gives correctness 0, whatever the answer does.",
        links=rlla("L227-L233"),
        ports=SAME_PORT,
        example="Expected a reply and no call; the answer calls `f(a=1)`.",
        values=given.Correctness([], RIGHT),
        chapter="01_reward_anatomy",
        claim="toolrl.6.1.total_range",
    ),
    Difference(
        id="pretty-printed",
        topic="A right call printed over several lines",
        paper="Not mentioned.",
        code="Each *line* between the tags is read as JSON; one failure gives the minimum to the whole answer.",
        links=rlla("L243-L247"),
        ports=(f"The ports in verl 0.9.1 (lines 176 to 187) and in [ms-swift's examples]({SWIFT}) read lines too."),
        example="Expected `f(a=1)`; the answer has the same call, indented over several lines.",
        values=given.Correctness(
            [F1], f'{PLAN}<tool_call>\n{{\n  "name": "f",\n  "parameters": {{"a": 1}}\n}}\n</tool_call>'
        ),
        chapter="01_reward_anatomy",
    ),
    Difference(
        id="arguments",
        topic="`arguments` instead of `parameters`",
        paper="The prompt asks for `parameters`.",
        code="`parameters` alone is known; a call of the right name without it gives the minimum.",
        links=rlla("L177") + rlla("L246-L247"),
        ports=(
            f"verl 0.9.1's port does the same. [ms-swift's]({SWIFT}) catches three kinds of errors, and the KeyError "
            "of a missing `parameters` is not among them: one such call stops the training run. Calls that arrive "
            "parsed, as in TRL, say `arguments`."
        ),
        example='Expected `f(a=1)`; the answer is `{"name": "f", "arguments": {"a": 1}}`.',
        values=given.Correctness([F1], f'{PLAN}<tool_call>\n{{"name": "f", "arguments": {{"a": 1}}}}\n</tool_call>'),
        chapter="01_reward_anatomy",
    ),
    Difference(
        id="thought-names-tag",
        topic="A thought that mentions the tag",
        code="The text is cut at the first `<tool_call>`, wherever it stands.",
        links=rlla("L243"),
        ports=SAME_PORT,
        example="Expected `f(a=1)`; the thought reads *I need a <tool_call> here*, and the call is right.",
        values=given.Correctness([F1], RIGHT.replace(" plan ", " I need a <tool_call> here ")),
        chapter="01_reward_anatomy",
    ),
    Difference(
        id="text-between",
        topic="Words between thought and call",
        paper='"All required fields in the correct order".',
        note="A subsequence of opening tags; text in between is allowed (§3.4, §6.3).",
        code="A pattern that is anchored on the whole text: one newline between the blocks, nothing else.",
        links=rlla("L75-L90"),
        ports="verl 0.9.1's port has the same patterns (lines 57 to 88).",
        example="A right answer with the words *Here it is.* between thought and call.",
        unit="format, 0 or 1 point",
        values=given.Formats([F1], RIGHT.replace("</think>\n", "</think>\nHere it is.\n")),
        chapter="05_equality_and_format",
        claim="toolrl.3.4.text_between",
    ),
    Difference(
        id="repeated-block",
        topic="A field that occurs twice",
        note="A repeated field keeps its point (§6.3).",
        code="Tool-call and response tags must occur once; the thought's tags are not counted.",
        links=rlla("L75-L90"),
        example="A right answer whose block of calls stands twice.",
        unit="format, 0 or 1 point",
        values=given.Formats([F1], RIGHT + RIGHT.removeprefix(PLAN.strip())),
        chapter="05_equality_and_format",
        claim="toolrl.6.3.repeated",
    ),
    Difference(
        id="one-field-missing",
        topic="Which fields are required",
        paper="The fields that the ground truth has.",
        note="Three readings that differ: either block may be missing (§3.4, §6.3), a missing field costs the point "
        "(§10.2), and the ground truth decides (§10.3).",
        code="The ground truth decides.",
        links=rlla("L75-L90"),
        example="A call is expected; the answer is a thought and a response without any call.",
        unit="format, 0 or 1 point",
        values=given.Formats([F1], f"{PLAN}<response> No. </response>"),
        chapter="05_equality_and_format",
        claim="toolrl.3.4.one_may_be_missing",
    ),
    Difference(
        id="length",
        topic="What length is",
        paper="Length of the thought over 512, at most 1.",
        note="Tokens (§5.4).",
        code="White-space words of the last thought, and the share is rounded to two decimals.",
        links=rlla("L117-L120"),
        ports=f"[ms-swift's examples]({SWIFT}) (`ToolUseLengthReward`) count and round the same way. verl 0.9.1's "
        "port has no length reward.",
        example="A thought of 510 words.",
        unit="length reward, 0 to 1 point",
        values=lambda: given.lengths(510),
        chapter="03_scale_contrast",
        claim="toolrl.5.4.length_formula",
    ),
    Difference(
        id="tiers",
        topic="The order of two calls in the coarser tiers",
        paper="Finegrained and Coarse compare names, keys and answers as sets of what is expected.",
        note="The same; a wrong answer in Coarse has no reward (§5.3).",
        code="REFINEDREWARD and COARSEREWARD compare ordered lists; a wrong Coarse answer gets the minimum, −3.",
        links=rlla("L26-L29") + rlla("L137-L140"),
        ports=f"verl 0.9.1's port has none of the tiers; [ms-swift's]({SWIFT}) has the same flags.",
        example="Expected `f(a=1)` and `g(b=2)`; the answer has both, in the other order.",
        values=given.Correctness(TWO, TWO[::-1], ("finegrained", "released_refined", "coarse", "released_coarse")),
        chapter="04_granularity_density",
    ),
    Difference(
        id="switch",
        topic="When the two-stage scale switches",
        paper="At step 30.",
        note="The same; no other step was tried (§12 item 6).",
        code="The first step is 1, so the first stage has 29 steps; 30 is written into the function.",
        links=rlla("L47") + rlla("L205"),
        ports="verl passes no step to a reward function, and its port has no schedules. This book's schedules refuse "
        "to run there.",
        example="The highest correctness just before and at the switch.",
        unit="points",
        values=given.around_the_switch,
        chapter="03_scale_contrast",
        claim="toolrl.5.2.two_stage_rule",
    ),
    Difference(
        id="dynamic",
        topic="Where the dynamic scale ends",
        paper="From one scale to the other over the run.",
        note="A smooth transition (§5.2).",
        code="The formula needs 150 steps, the run has 105 and performs 104 of them.",
        links=rlla("L55-L62") + rlla("L212-L219"),
        example="The highest correctness that the scale reaches.",
        unit="points",
        values=given.ends_of_schedules,
        chapter="03_scale_contrast",
        claim="toolrl.5.2.dynamic_arrives",
    ),
    Difference(
        id="kl",
        topic="The KL penalty",
        paper="KL loss: off.",
        note="Removed (§2, §3.4, §8.2).",
        code="The KL *loss* is off, and a penalty of 0.001 for each nat stays inside the reward, so equal rewards do "
        "not stay equal.",
        links=(("ray_trainer.py L687-L690", f"{TOOLRL}trainer/ppo/ray_trainer.py#L687-L690"),),
        example="Four answers of 4 points; their summed KL is 20, 30, 25 and 40.",
        unit="advantage of the first answer",
        values=given.advantages_with_kl,
        chapter="06_advantages",
        claim="toolrl.3.4.kl_removed",
    ),
    Difference(
        id="deviation",
        topic="Which standard deviation, and what beside it",
        paper="σ + η; neither is specified.",
        note="Three papers are said to write it in three ways (§8.2); η is an open question (§12 item 1).",
        code="The sample deviation, η = 1e-6. SimpleTIR's code has the same.",
        links=(("core_algos.py L114", f"{TOOLRL}trainer/ppo/core_algos.py#L114"),),
        ports="verl as released; TRL adds 1e-4; Dr. GRPO and leave-one-out do not divide at all.",
        example="One perfect answer of four: rewards 4, −2, −2, −2.",
        unit="advantage of the perfect answer",
        values=given.advantages_of_one_right,
        chapter="06_advantages",
        claim="toolrl.8.2.three_ways",
    ),
    Difference(
        id="singleton",
        topic="A rollout without siblings",
        paper="Not mentioned.",
        code="The raw reward is kept, as if it were an advantage.",
        links=(("core_algos.py L114-L152", f"{TOOLRL}trainer/ppo/core_algos.py#L114-L152"),),
        ports="verl keeps the raw reward, TRL gives 0.",
        example="A group of one, reward 0.7.",
        unit="advantage",
        values=given.advantages_alone,
        chapter="06_advantages",
    ),
    Difference(
        id="final-answer",
        topic="What makes a turn void",
        paper="Neither a complete code block nor a final answer.",
        note="An answer through `final_answer(…)` or `\\boxed{…}` counts (§5.0).",
        code="The characters `\\boxed{` or a fence labelled `py`, `python` or not at all. `final_answer` in prose is "
        "void.",
        links=(("agent_utils.py L570-L604", f"{SIMPLETIR}recipe/simpletir/agent_utils.py#L570-L604"),),
        example="A turn that reads *So final_answer(3).*",
        unit="verdict",
        values=lambda: given.voids("So final_answer(3).", "sound"),
        chapter="08_drift_and_void_turns",
        claim="simpletir.5.0.final_answer",
    ),
    Difference(
        id="open-box",
        topic="A box that is never closed",
        paper="Not mentioned.",
        note="A complete answer is asked for (§5.0).",
        code="The characters `\\boxed{` are enough.",
        links=(("agent_utils.py L570-L604", f"{SIMPLETIR}recipe/simpletir/agent_utils.py#L570-L604"),),
        example="A turn that was cut off after *The result is \\boxed{12*.",
        unit="verdict",
        values=lambda: given.voids("The result is \\boxed{12", "void"),
        chapter="08_drift_and_void_turns",
    ),
    Difference(
        id="void-rewards",
        topic="What happens to a void rollout's reward",
        paper="Rollouts with void turns are filtered from the batch.",
        note="Removed before anything is computed (§5.3).",
        code="Only their loss is masked. The reward stays in the group's mean and deviation.",
        links=(
            (
                "simpletir_ray_trainer.py L1162-L1165",
                f"{SIMPLETIR}recipe/simpletir/simpletir_ray_trainer.py#L1162-L1165",
            ),
        ),
        example="Eight rollouts: three right, one wrong, four void.",
        unit="advantage of a right rollout",
        values=given.advantages_of_void,
        chapter="09_veto_mask_or_drop",
        claim="simpletir.5.3.removed",
    ),
    Difference(
        id="dual-clip",
        topic="How far a rare token can be pushed down",
        paper="The clip leaves the negative side open.",
        note="Without bound (§3.4, §6.3).",
        code="A second bound, the dual clip at 3, closes the gradient for larger ratios.",
        links=(("core_algos.py L311-L315", f"{SIMPLETIR}verl/trainer/ppo/core_algos.py#L311-L315"),),
        ports="verl has the same option; ToolRL's release has no dual clip.",
        example="A token of probability 0.05, ratio 4, advantage −1.",
        unit="norm of the gradient by the logits",
        values=given.push_at_ratio_four,
        chapter="07_rare_tokens_push_hardest",
        claim="simpletir.3.4.unbounded",
    ),
)
"""The points in the order of the page."""
