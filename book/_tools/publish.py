"""Fill the public repository's address into _config.yml: `python -m book._tools.publish ADDRESS REVISION`.

The publication workflow runs this before it builds. With the address, each chapter gets buttons that open it on Binder
and Colab; without it there are none.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CONFIG = Path(__file__).resolve().parents[2] / "_config.yml"


def filled_in(text: str, address: str, revision: str) -> str:
    """Put address and revision into the text of the configuration.

    Raises
    ------
    ValueError
        If the address is not that of a repository on GitHub, or the configuration lacks a setting.
    """
    if not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", address):
        raise ValueError(f"{address!r} is no address of a repository, such as https://github.com/owner/name")
    for name, value in (("toolrl_repository", address), ("toolrl_revision", revision)):
        text, found = re.subn(rf"(?m)^(\s+{name}:).*$", rf'\1 "{value}"', text)
        if found != 1:
            raise ValueError(f"the configuration needs one line for {name}, found {found}")
    return text


if __name__ == "__main__":
    CONFIG.write_text(filled_in(CONFIG.read_text(encoding="utf8"), *sys.argv[1:3]), encoding="utf8")
