"""Fixtures that several test files share."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "agg")  # figures are drawn without a screen

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="session")
def small_chapter() -> Path:
    """A notebook with a parameters cell, glued values, a figure and an explorer."""
    return FIXTURES / "small_chapter.ipynb"


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    """Leave no figure open after a test that drew one."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
