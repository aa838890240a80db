"""Format rules: when a completion has the shape that the ground truth asks for."""

from __future__ import annotations

from collections.abc import Collection

from toolrl_core.parsing import read_completion
from toolrl_core.plain import plain_blocks
from toolrl_core.reading import Reading
from toolrl_core.reasons import Finding, Reason
from toolrl_core.released import released_pattern_matches, released_text

FORMAT_RULES = ("ordered_tags", "literal", "released", "strict")
"""Names of the readings of the format rule, each with a function of its own."""
FIELDS = ("thought", "tool_call", "response")
_TAGS = {"thought": "<think>", "tool_call": "<tool_call>", "response": "<response>"}


def ordered_tags_format(text: str, requires: Collection[str]) -> bool:
    """Tell whether the opening tags of the required fields occur in order, whatever stands between them.

    Parameters
    ----------
    text : str
        The completion.
    requires : collection of str
        Required fields among "thought", "tool_call" and "response"; the thought is always required.

    Returns
    -------
    bool
        Whether the tags are a subsequence of the text.

    Raises
    ------
    ValueError
        If a field is unknown.

    Notes
    -----
    ToolRL note §3.4 and §6.3, with the required fields taken from the ground truth (its P3).

    Examples
    --------
    >>> ordered_tags_format("<think> a <tool_call> b <response>", ["tool_call"])
    True
    """
    position = 0
    for field in _required(requires):
        found = text.find(_TAGS[field], position)
        if found < 0:
            return False
        position = found + len(_TAGS[field])
    return True


def literal_format(text: str, requires: Collection[str] = ()) -> bool:
    """Tell whether a thought is followed by a tool call, a response, or both in that order.

    This reads the note's sentence literally: either field may be missing, whatever the ground truth has.

    Parameters
    ----------
    text : str
        The completion.
    requires : collection of str
        Not used; all rules are called alike.

    Returns
    -------
    bool
        Whether the tags occur in that order.

    Notes
    -----
    ToolRL note §6.3; it contradicts the note's own P3, where a missing field earns 0.

    Examples
    --------
    >>> literal_format("<think> a </think> <response> b </response>", ["tool_call"])
    True
    """
    _required(requires)
    thought = text.find(_TAGS["thought"])
    if thought < 0:
        return False
    given = [field for field in ("tool_call", "response") if _TAGS[field] in text]
    return bool(given) and ordered_tags_format(text, given)


def released_format(text: str, requires: Collection[str]) -> bool:
    r"""Tell whether a completion has the anchored form of the released code.

    Parameters
    ----------
    text : str
        The completion; what precedes the last assistant marker is cut off.
    requires : collection of str
        Required fields.

    Returns
    -------
    bool
        Whether the whole text is a thought and the required blocks, each on lines of its own.

    Notes
    -----
    qiancheng0/ToolRL@8cee13e, rlla.py L75-90: tool-call and response tags occur exactly once; a repeated
    thought passes, and so does junk in place of JSON.

    Examples
    --------
    >>> released_format("<think> a </think>\n<tool_call>\noops\n</tool_call>", ["tool_call"])
    True
    """
    return released_pattern_matches(released_text(text), _required(requires))


def strict_format(text: str, requires: Collection[str], *, prefilled_thought: bool = False) -> bool:
    """Tell whether a completion is exactly the required blocks, well formed, in order, and nothing else.

    Parameters
    ----------
    text : str
        The completion; stop tokens at the end do not count.
    requires : collection of str
        Required fields.
    prefilled_thought : bool
        The chat template already opened the thought, so that its end tag alone counts.

    Returns
    -------
    bool
        Whether there is one closed block of each required kind, in order, no other block, and only white
        space outside. A tool-call block is well formed if it holds at least one call and nothing malformed.

    Notes
    -----
    This rule is the project's own: it leaves no free text that could be farmed or hidden.

    Examples
    --------
    >>> strict_format("<think> a </think> <response> b </response> Bye.", ["response"])
    False
    """
    return not strict_findings(read_completion(text, prefilled_thought=prefilled_thought), _required(requires))


def strict_findings(reading: Reading, requires: tuple[str, ...]) -> list[Finding]:
    """List what keeps a completion from the strict format (empty if nothing does)."""
    if reading.kinds == requires:
        return []
    blocks = plain_blocks(reading)
    kinds = [block.kind for block in blocks]
    problems = []
    if reading.outside:
        problems.append(Finding(Reason.TEXT_OUTSIDE))
    for field, reason in (("tool_call", Reason.MISSING_BLOCK), ("response", Reason.MISSING_RESPONSE)):
        if field in requires and field not in kinds:
            problems.append(Finding(reason, None, f"no {_TAGS[field]} block"))
    if "thought" not in kinds:
        problems.append(Finding(Reason.MISSING_THOUGHT, None, "no <think> block"))
    for block in blocks:
        if block.kind not in requires:
            problems.append(Finding(Reason.UNREQUESTED_BLOCK, block.start, block.kind))
        elif not block.closed:
            problems.append(Finding(Reason.UNCLOSED_BLOCK, block.start, block.kind))
        elif not block.well_formed:
            problems.append(Finding(Reason.EMPTY_BLOCK, block.start, "no call, or a malformed one"))
    if not problems and tuple(kinds) != requires:
        reason = Reason.BLOCKS_OUT_OF_ORDER if len(kinds) == len(set(kinds)) else Reason.MULTIPLE_BLOCKS
        problems.append(Finding(reason, None, ", ".join(kinds[:6])))
    return problems


def with_opening_tag(text: str) -> str:
    """Put back the opening tag of a thought that the chat template opened.

    Parameters
    ----------
    text : str
        The completion.

    Returns
    -------
    str
        The completion as the template and the model wrote it together; unchanged if it opens a thought itself.

    Examples
    --------
    >>> with_opening_tag("plan </think>")
    '<think>plan </think>'
    """
    return text if text.lstrip().startswith("<think>") else f"<think>{text}"


def _required(requires: Collection[str]) -> tuple[str, ...]:
    for field in requires:
        if field not in FIELDS:
            raise ValueError(f"unknown field {field!r}: choose from {', '.join(FIELDS)}")
    return tuple(field for field in FIELDS if field == "thought" or field in requires)


def required_fields(rule: str, requires: tuple[str, ...], ground_truth_text: str | None) -> tuple[str, ...]:
    """Return the fields that a format rule asks for: the released one looks for tags in the ground truth's text."""
    if rule != "released" or ground_truth_text is None:
        return requires
    return tuple([field for field in FIELDS if field == "thought" or _TAGS[field] in ground_truth_text])


def format_holds(
    rule: str, reading: Reading, text: str, requires: tuple[str, ...], ground_truth_text: str | None
) -> tuple[bool, list[Finding]]:
    """Apply a format rule to a completion that has been read; findings say why it does not hold.

    Parameters
    ----------
    rule : str
        One of `FORMAT_RULES`.
    reading : Reading
        The completion as read by the tolerant parser (needed by "strict" alone).
    text : str
        The completion.
    requires : tuple of str
        Required fields in order.
    ground_truth_text : str or None
        The ground truth's own text: the released code looks for tags in it, thoughts included.
    """
    if rule == "strict":
        problems = strict_findings(reading, requires)
        return not problems, problems
    if rule == "released":
        holds = released_pattern_matches(released_text(text), required_fields(rule, requires, ground_truth_text))
        return holds, [] if holds else [Finding(Reason.RELEASED_PATTERN)]
    if reading.kinds == requires and not (rule == "literal" and reading.findings):
        return True, []  # tags that a thought mentions count in the literal reading alone
    holds = (ordered_tags_format if rule == "ordered_tags" else literal_format)(text, requires)
    return holds, [] if holds else [Finding(Reason.BLOCKS_OUT_OF_ORDER, None, "required: " + ", ".join(requires))]
