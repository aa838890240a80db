"""Print the built book into one PDF, `_build/book.pdf`, with an installed Chrome or Chromium: `make pdf`."""

from __future__ import annotations

import io
from pathlib import Path

from playwright.sync_api import Page
from pypdf import PdfReader, PdfWriter

from tests import browser as real

MARGINS = {"top": "15mm", "bottom": "15mm", "left": "13mm", "right": "13mm"}


def print_page(page: Page, path: str) -> bytes:
    """Print one page of the book, tables unfolded, code as the page folds it, in the light theme."""
    real.load(page, f"{path}.html")
    page.evaluate(
        "() => document.querySelectorAll('.bd-content details:not(.hide)').forEach(box => { box.open = true; })"
    )
    return page.pdf(format="A4", margin=MARGINS, print_background=True)


def print_book(html: Path, paths: list[str], target: Path) -> dict[str, int]:
    """Print pages one after another into one file with an outline.

    Parameters
    ----------
    html : Path
        Folder of the built pages.
    paths : list of str
        Pages in reading order.
    target : Path
        The file to write.

    Returns
    -------
    dict of str to int
        Number of printed sheets of each page.
    """
    book, sheets = PdfWriter(), {}
    with real.open_browser() as browser, real.serve(html) as site:
        for path in paths:
            with real.open_page(browser, site) as (page, _):
                printed = PdfReader(io.BytesIO(print_page(page, path)))
                title = page.locator("h1").first.inner_text().removesuffix("#").strip()
            book.append(printed, outline_item=title, import_outline=False)
            sheets[path] = len(printed.pages)
            print(f"  {path}: {len(printed.pages)} sheets", flush=True)
    book.compress_identical_objects()
    book.write(target)
    return sheets


if __name__ == "__main__":
    from book._tools.build import HTML, pages

    printed = print_book(HTML, pages(), HTML.parent / "book.pdf")
    print(f"{sum(printed.values())} sheets are in {HTML.parent / 'book.pdf'}.")
