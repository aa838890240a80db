r"""Find the final answers that a text puts into ``\boxed{…}``, by balancing braces in one pass."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Box", "boxed_answer", "find_boxes"]

# A box opens with its name and a brace. An escaped brace is a character of the answer, not a brace; so is a pair of
# backslashes, unless its second half begins a box (answers inside Python strings are written with two).
_TOKEN = re.compile(r"\\boxed[ \t]*\{|\\\\(?!boxed)|\\[{}]|[{}]")
_NOT_SPACE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Box:
    r"""Hold one ``\boxed{`` of a text.

    Parameters
    ----------
    start : int
        Offset of its backslash.
    end : int
        Offset after its closing brace, or of the end of the text if it has none.
    inner : tuple of int or None
        Offsets of the first character between its braces and of the closing brace; None if it is never closed.
    blank : bool
        Whether it is closed with nothing but white space in it.
    """

    start: int
    end: int
    inner: tuple[int, int] | None = None
    blank: bool = False

    def content(self, text: str) -> str | None:
        """Return what stands between the braces, without surrounding white space.

        Parameters
        ----------
        text : str
            The text in which the box was found.

        Returns
        -------
        str or None
            The content; None if the brace is never closed.
        """
        return None if self.inner is None else text[self.inner[0] : self.inner[1]].strip()


def find_boxes(text: str) -> tuple[Box, ...]:
    r"""Find every ``\boxed{`` of a text, closed or not, in the order of their opening.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    tuple of Box
        One entry per opening. A box inside a box is an entry of its own.

    Notes
    -----
    One pass with a stack, so the time is linear in the text and nesting of any depth is fine. A regular expression
    with a fixed number of nested levels, as graders use, misses ``\boxed{\frac{\sqrt{\frac{1}{2}}}{3}}``.

    Examples
    --------
    >>> text = r"\boxed{a_{1}} and \boxed{b"
    >>> [box.content(text) for box in find_boxes(text)]
    ['a_{1}', None]
    """
    boxes: list[Box] = []
    open_braces: list[tuple[int, int] | None] = []  # per open brace: (its place in `boxes`, where its content begins)
    for token in _TOKEN.finditer(text):
        symbol = token[0]
        if symbol == "{":
            open_braces.append(None)
        elif symbol == "}":
            opened = open_braces.pop() if open_braces else None
            if opened is not None:
                place, begin = opened
                blank = _NOT_SPACE.search(text, begin, token.start()) is None
                boxes[place] = Box(boxes[place].start, token.end(), (begin, token.start()), blank)
        elif symbol.startswith("\\boxed"):
            open_braces.append((len(boxes), token.end()))
            boxes.append(Box(token.start(), len(text)))
    return tuple(boxes)


def boxed_answer(text: str) -> str | None:
    r"""Return the content of the last balanced ``\boxed{…}`` of a text.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str or None
        The content without surrounding white space (``""`` for an empty box), or None without a balanced box. Of two
        nested boxes the inner one is the later one.

    Notes
    -----
    SimpleTIR note §5.0 names the box as the channel of the final answer. Linear time; never raises on a string.

    Examples
    --------
    >>> boxed_answer(r"\boxed{2} no, wait: \boxed{3}")
    '3'
    >>> boxed_answer(r"Mark your solution with \boxed") is None
    True
    """
    return next((box.content(text) for box in reversed(find_boxes(text)) if box.inner is not None), None)
