"""Reason codes: why a text was read, or a point was lost, the way it was."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Name everything unusual that reading or scoring a completion can meet.

    The values are stable strings: they appear in tables, reports and JSON.

    Examples
    --------
    >>> Reason("missing_name") is Reason.MISSING_NAME
    True
    """

    # The blocks of the text
    SPECIAL_TOKEN_TAIL = "special_token_tail"
    TEXT_OUTSIDE = "text_outside_blocks"
    STRAY_END_TAG = "stray_end_tag"
    MISSING_THOUGHT = "missing_thought"
    UNCLOSED_THOUGHT = "unclosed_thought"
    REPEATED_THOUGHT = "repeated_thought"
    QUOTED_THOUGHT_END = "nested_or_quoted_think_close"
    TAG_IN_THOUGHT = "tag_in_think"
    PREFILLED_THOUGHT = "prefilled_thought"
    MULTIPLE_BLOCKS = "multiple_blocks"
    EMPTY_BLOCK = "empty_block"
    UNCLOSED_BLOCK = "unclosed_block"
    MISSING_BLOCK = "missing_tool_call_block"
    MULTIPLE_RESPONSES = "multiple_responses"
    MISSING_RESPONSE = "missing_response"
    UNCLOSED_RESPONSE = "unclosed_response"
    UNREQUESTED_BLOCK = "unrequested_block"
    BLOCKS_OUT_OF_ORDER = "blocks_out_of_order"
    RELEASED_PATTERN = "released_pattern_not_met"
    FORMAT_NOT_APPLICABLE = "format_not_applicable"
    # One tool call
    JSON_ARRAY = "json_array"
    COMMA_SEPARATED = "comma_separated"
    ARGUMENTS_KEY = "arguments_key"
    BOTH_ARGUMENT_KEYS = "both_argument_keys"
    MISSING_ARGUMENTS = "missing_arguments"
    STRINGIFIED_ARGUMENTS = "stringified_arguments"
    DUPLICATE_KEY = "duplicate_key"
    PYTHON_LITERAL = "python_literal"
    # What makes a call malformed
    JSON_DECODE = "json_decode"
    TRUNCATED = "truncated"
    MISSING_NAME = "missing_name"
    NOT_AN_OBJECT = "not_an_object"
    ARGUMENTS_NOT_AN_OBJECT = "arguments_not_an_object"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    RELEASED_UNREADABLE = "released_unreadable"
    # What the comparison with the ground truth found
    UNNEEDED_TOOL_CALL = "unneeded_tool_call"
    MISSING_CALL = "missing_call"
    UNEXPECTED_CALL = "unexpected_call"
    WRONG_NAME = "wrong_name"
    MISSING_KEY = "missing_key"
    EXTRA_KEY = "extra_key"
    WRONG_VALUE = "wrong_value"
    WRONG_OPTIONAL_VALUE = "wrong_optional_value"
    ORDER_DIFFERS = "order_differs"
    GREEDY_LOSS = "greedy_loss"
    NO_CALL_NOT_SCORED = "ground_truth_without_calls_not_scored"
    NORMALISED_VALUE = "equal_after_normalisation_only"
    SCHEMA_MISSING = "schema_missing"


MALFORMED = frozenset(
    {
        Reason.JSON_DECODE,
        Reason.TRUNCATED,
        Reason.MISSING_NAME,
        Reason.NOT_AN_OBJECT,
        Reason.ARGUMENTS_NOT_AN_OBJECT,
        Reason.TOO_DEEP,
        Reason.TOO_LARGE,
    }
)
"""The reasons that make one call malformed (with `PYTHON_LITERAL` where literals are not accepted)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """State one reason, where it was met, and what was found there.

    Parameters
    ----------
    reason : Reason
        The reason code.
    position : int or None
        Character offset in the completion, or None where the reason has no place in the text.
    detail : str
        What was found, in a few words.

    Examples
    --------
    >>> print(Finding(Reason.MISSING_NAME, 12, "keys: tool, parameters"))
    missing_name at character 12: keys: tool, parameters
    """

    reason: Reason
    position: int | None = None
    detail: str = ""

    @property
    def code(self) -> str:
        """Return the reason's stable string."""
        return self.reason.value

    def __str__(self) -> str:
        place = "" if self.position is None else f" at character {self.position}"
        return f"{self.reason.value}{place}" + (f": {self.detail}" if self.detail else "")
