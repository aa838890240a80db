"""Show what was changed in an answer, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from html import escape

__all__ = ["changes_html"]

_WORD = re.compile(r"\n|[^\S\n]+|\w+|[^\w\s]")
_STYLE = (
    "<style>.toolrl-answer del{background:#ca6c0340}.toolrl-answer ins{background:#2c824f40;font-weight:700}</style>"
)
_FRAME = "white-space:pre-wrap;overflow-wrap:anywhere;font-size:.8rem;line-height:1.45;margin:.25rem 0 .5rem"


def changes_html(right: str, given: str) -> str:
    r"""Mark what an answer has that the right one has not, and the other way round.

    Parameters
    ----------
    right : str
        The right answer.
    given : str
        The answer that was given.

    Returns
    -------
    str
        One ``<pre>`` with the words of both in order: ``<del>`` holds what was left out, ``<ins>`` what was put in.
        All text is escaped.

    Examples
    --------
    A line break that is left out shows as a mark, since nothing else of it can be seen:

    >>> changes_html("f(1)\ng", "f(2) g").partition("<pre")[2].partition(">")[2]
    'f(<del>1</del><ins>2</ins>)<del>⏎</del><ins> </ins>g</pre>'
    """
    before, after = _WORD.findall(right), _WORD.findall(given)
    pieces = []
    for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        left_out, put_in = "".join(before[i:j]), "".join(after[k:m])
        if kind == "equal":
            pieces.append(escape(put_in, quote=False))
            continue
        if left_out:
            pieces.append(f"<del>{escape(left_out, quote=False).replace(chr(10), '⏎')}</del>")
        if put_in:
            pieces.append(f"<ins>{escape(put_in, quote=False)}</ins>")
    return f'{_STYLE}<pre class="toolrl-answer" style="{_FRAME}">{"".join(pieces)}</pre>'
