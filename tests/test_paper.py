"""The book on paper: one PDF, in reading order, with an outline."""

import os

import pytest
from pypdf import PdfReader

from book._tools import build
from tests import browser as real
from tests import paper

pytestmark = pytest.mark.book


def test_pages_are_printed_in_order_with_their_words_and_an_outline(tmp_path):
    if not build.is_current():
        pytest.fail("the built book is older than its sources: run `make book`")
    chosen = [page for page in build.pages() if page in {"book/index", "book/references"}]
    try:
        sheets = paper.print_book(build.HTML, chosen, tmp_path / "book.pdf")
    except real.NoBrowserError as error:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(str(error))
        pytest.skip(f"THE PRINTED BOOK WAS NOT TESTED: {error}")
    printed = PdfReader(tmp_path / "book.pdf")
    assert list(sheets) == chosen
    assert len(printed.pages) == sum(sheets.values())
    assert [entry.title for entry in printed.outline] == ["Rewards for tool calls, taken apart", "References"]
    assert "Did the notes hold up?" in printed.pages[0].extract_text() + printed.pages[1].extract_text()
    assert "ToolRL: reward is all tool learning needs" in " ".join(
        page.extract_text() for page in printed.pages[sheets["book/index"] :]
    ).replace("\n", " ")
