"""Fixtures that several test files share."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

os.environ.setdefault("MPLBACKEND", "agg")  # figures are drawn without a screen

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="session")
def small_chapter() -> Path:
    """A notebook with a parameters cell, glued values, a figure and an explorer."""
    return FIXTURES / "small_chapter.ipynb"


@pytest.fixture(scope="module")
def html() -> Path:
    """The folder of the built pages, made from the sources as they are now."""
    from book._tools import build

    if not build.is_current():
        pytest.fail("the built book is older than its sources: run `make book`")
    return build.HTML


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """One browser for all tests of a file; without one they are skipped loudly, and fail where CI=true."""
    from tests import browser as real

    try:
        with real.open_browser() as opened:
            yield opened
    except real.NoBrowserError as error:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(str(error))
        said = f"{request.path.name} WAS NOT TESTED IN A BROWSER: {error}"
        with warnings.catch_warnings():
            warnings.simplefilter("always", pytest.PytestWarning)  # loud, and no error as other warnings are
            warnings.warn(said, pytest.PytestWarning, stacklevel=1)
        pytest.skip(said)


@pytest.fixture(scope="module")
def site(html: Path) -> Iterator[str]:
    """The address of the book on this machine."""
    from tests import browser as real

    with real.serve(html) as address:
        yield address


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    """Leave no figure open after a test that drew one."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
