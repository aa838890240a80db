"""The longer texts of the command line's help."""

from __future__ import annotations

__all__ = [
    "AUDIT_EXAMPLES",
    "COLUMNS",
    "EXITS",
    "FORM_HELP",
    "NAME_ALIAS_HELP",
    "PROBE_EXAMPLES",
    "SCORE_EXAMPLES",
    "SIGNATURE_HELP",
]

EXITS = """\
exit codes:
  0  done
  1  something was found: a probe failed, a finding of the level of --fail-on, or rows without a score of --reward
  2  the command, the file or the reward cannot be used
  3  --strict, and a row cannot be used
"""
AUDIT_EXAMPLES = """\
examples:
  toolrl audit rollouts.jsonl                            print the findings, write rollouts.audit/report.html
  toolrl audit test.parquet --mean -2.6625               what does this reported mean correctness amount to?
  toolrl audit log.csv --completion out --ground-truth gold --group uid --recorded score
  toolrl audit rollouts.jsonl --reward my_reward.py:compute_score --jobs 8
  toolrl audit results.jsonl --answers possible_answer.json --name-alias aliases.json
  toolrl audit rollouts.jsonl --fail-on serious && start_training

"""
COLUMNS = """\
columns of each row{place}:
  line, id, group, step      where it stands in the file
  paper, robust, ...         its total under every reward, in points
  explained                  the reward that the next columns and `lost` belong to: {explained}
  format, correctness        the parts of its total
  floor, ceiling             the least and the most that the row could have got
  n_ground_truth, n_predicted, n_malformed    calls expected, read, and unreadable
  reading_reasons            what the reader met in the text
  lost                       points lost by cause: `wrong_value 1.5, format 1`

"""
SCORE_EXAMPLES = """\
examples:
  toolrl score rollouts.jsonl --preset paper --preset robust > scores.csv
  toolrl score rollouts.parquet --json | head
  toolrl score rollouts.jsonl --name-alias math_sqrt=math.sqrt --name-alias math_factorial=math.factorial

"""
PROBE_EXAMPLES = """\
examples:
  toolrl probe robust                                    a preset
  toolrl probe my_package.rewards:compute_score          a function of an installed module
  toolrl probe my_reward.py:reward --ground-truth-form calls
  toolrl probe my_reward.py:reward --only second_block --only name_only

A module or file is executed when it is loaded: name only code that you trust.

"""


SIGNATURE_HELP = (
    "how it is called: plain is f(completion, ground_truth); verl is f(data_source, solution_str, ground_truth, "
    "extra_info); trl is f(completions, ground_truth, ...) with lists, also for ms-swift; openrlhf is f(queries, "
    "prompts, labels) with lists; auto (the default) tells it by the names of its parameters"
)
FORM_HELP = (
    "what it gets as the ground truth: text (the default) is the tagged text <think>...<tool_call>...; calls is a list "
    'of {"name": ..., "parameters": {...}}; json is that list as JSON text; calls_arguments and json_arguments are the '
    'same with the key "arguments" for "parameters"'
)
NAME_ALIAS_HELP = (
    "another spelling of a tool's name, for every preset: SPELLING=NAME, or a JSON file with an object such as "
    '{"math_sqrt": "math.sqrt"}; may be repeated. Names are never matched by their looks, so a results file of '
    "the BFCL leaderboard whose names have underscores for dots needs it. Two rewards still see the spelling: "
    "released_intermediate and released_coarse, which compare whole calls as they are written; a reward of --reward "
    "gets the text as it is"
)
