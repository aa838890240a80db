"""Read other spellings of tools' names from the words of the command line and from files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["NameAliasError", "read_name_aliases"]


class NameAliasError(ValueError):
    """Report spellings of names that cannot be used: which file or word, which key, and why.

    Examples
    --------
    >>> read_name_aliases(["=math.sqrt"])
    Traceback (most recent call last):
    ...
    toolrl_core.audit.name_aliases.NameAliasError: name alias '=math.sqrt': the spelling is empty
    """


def read_name_aliases(given: Iterable[str]) -> dict[str, str]:
    """Gather name aliases for `RewardSpec`.

    Parameters
    ----------
    given : iterable of str
        Each a pair ``SPELLING=NAME``, or the path of a JSON file with an object of names by spelling. A path that
        holds an equals sign is a file where there is one.

    Returns
    -------
    dict of str to str
        Names by spelling.

    Raises
    ------
    NameAliasError
        If a file is no JSON object, a spelling or a name is empty or no text, or a spelling stands for two names.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> read_name_aliases(["math_sqrt=math.sqrt", "math_sqrt=math.sqrt"])
    {'math_sqrt': 'math.sqrt'}
    """
    aliases: dict[str, str] = {}
    for word in given:
        pairs, place = _pairs(word)
        for spelling, name in pairs:
            if not spelling:
                raise NameAliasError(f"{place}: the spelling is empty")
            if not isinstance(name, str) or not name:
                raise NameAliasError(f"{place}: the name for {spelling!r} must be non-empty text, found {name!r:.80}")
            if aliases.setdefault(spelling, name) != name:
                raise NameAliasError(
                    f"{place}: {spelling!r} stands for {name!r}, but it stands for {aliases[spelling]!r} already"
                )
    return aliases


def _pairs(word: str) -> tuple[list[tuple[str, Any]], str]:
    spelling, equals, name = word.partition("=")
    if equals and not Path(word).is_file():
        return [(spelling.strip(), name.strip())], f"name alias {word!r}"
    try:
        read = json.loads(Path(word).read_text(encoding="utf-8-sig"), object_pairs_hook=_Object)
    except (ValueError, RecursionError) as error:
        raise NameAliasError(f"{word}: not a JSON file of names by spelling: {error}") from None
    if not isinstance(read, _Object):
        raise NameAliasError(
            f"{word}: must hold one object of names by spelling, such as "
            f'{{"math_sqrt": "math.sqrt"}}, found {type(read).__name__}'
        )
    return list(read), word


class _Object(list[tuple[str, Any]]):
    """Hold the pairs of a JSON object, those of equal keys too."""
