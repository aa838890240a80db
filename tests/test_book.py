"""The built book in a real browser that reaches no other host: every page, light, dark and narrow.

Needs `make book` first, and a Chrome or Chromium; without one these tests are skipped loudly, and fail where CI=true.
"""

import base64
import csv
import gzip
import io
import json
import os
import re
import shutil
import warnings
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest

from book._tools import build, execute
from tests import browser as real

pytestmark = pytest.mark.book

PAGES = build.pages()
LARGEST_PAGE = 1_500_000
"""Most bytes of one page with its own pictures, compressed as a server would."""

OF_THE_THEME = {
    "aria-required-children": ".citation-list",
}
"""Findings of axe-core in parts that Sphinx and its theme make: rule and the elements that it may concern."""

each_page = pytest.mark.parametrize("path", PAGES)


@pytest.fixture(scope="module")
def html():
    """The folder of the built pages, made from the sources as they are now."""
    if not build.is_current():
        pytest.fail("the built book is older than its sources: run `make book`")
    return build.HTML


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests."""
    try:
        with real.open_browser() as opened:
            yield opened
    except real.NoBrowserError as error:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(str(error))
        warnings.warn(f"THE BOOK WAS NOT TESTED IN A BROWSER: {error}", pytest.PytestWarning, stacklevel=1)
        pytest.skip(f"THE BOOK WAS NOT TESTED IN A BROWSER: {error}")


@pytest.fixture(scope="module")
def site(html):
    """The address of the book on this machine."""
    with real.serve(html) as address:
        yield address


@pytest.fixture
def page(browser, site):
    """An empty page; any error, failed request or request to another host fails the test."""
    with real.open_page(browser, site) as (opened, problems):
        yield opened
    assert problems == []


@pytest.fixture
def dark_page(browser, site):
    """The same in the dark theme."""
    with real.open_page(browser, site, dark=True) as (opened, problems):
        yield opened
    assert problems == []


@pytest.fixture
def narrow_page(browser, site):
    """The same on a telephone's screen."""
    with real.open_page(browser, site, width=390) as (opened, problems):
        yield opened
    assert problems == []


def sideways(page):
    """Pixels that the page reaches beyond its window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@each_page
def test_the_page_loads_from_this_site_alone_with_title_and_words_for_every_picture(page, path):
    real.load(page, f"{path}.html")
    assert page.title().strip()
    assert page.locator("h1:visible").count() == 1
    silent = page.evaluate(
        """() => [...document.querySelectorAll('main img, main svg:not([aria-hidden])')]
            .filter(picture => !picture.closest('[aria-hidden="true"], button, mjx-container, .noUi-target'))
            .filter(picture => !(picture.getAttribute('alt') ?? picture.getAttribute('aria-label') ?? '').trim())
            .map(picture => picture.outerHTML.slice(0, 200))"""
    )
    assert silent == []


@each_page
def test_every_slider_moves_its_picture_and_speaks_the_value_that_it_shows(page, path):
    real.load(page, f"{path}.html")
    handles = page.locator(".toolrl-explorer .noUi-handle")
    for index in range(handles.count()):
        handle = handles.nth(index)
        explorer = handle.locator("xpath=ancestor::*[contains(@class, 'toolrl-explorer')]")
        row = handle.locator("xpath=ancestor::*[contains(@class, 'widget-inline-hbox')]")
        label, before = row.locator(".widget-label").inner_text(), explorer.locator(".toolrl-frame").inner_html()
        at_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
        handle.press("ArrowLeft" if at_end else "ArrowRight")
        page.wait_for_function(
            "([box, before]) => box.querySelector('.toolrl-frame')?.innerHTML !== before",
            arg=[explorer.element_handle(), before],
        )
        spoken = row.locator(".widget-readout").inner_text()
        assert handle.get_attribute("aria-valuetext") == spoken, label
        assert page.get_by_role("slider", name=label, exact=True).count() >= 1
        assert explorer.locator(".toolrl-frame").count() == 1, label


@each_page
def test_every_explorer_of_the_notebook_stands_on_its_page(page, path):
    if not path.startswith("notebooks/"):
        pytest.skip("not a notebook")
    notebook = execute.execute(execute.ROOT / f"{path}.ipynb")
    made = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.get("data", {}).get("text/plain", "").startswith("[explorer with")
    ]
    real.load(page, f"{path}.html")
    assert page.locator(".toolrl-explorer").count() == len(made)


@each_page
def test_equations_are_typeset_and_mathjax_loads_only_where_there_are_some(page, path):
    loaded = []
    page.on("request", lambda request: "mathjax" in request.url and loaded.append(request.url))
    real.load(page, f"{path}.html")
    equations = page.locator("main .math").count()
    assert bool(loaded) == bool(equations)
    if equations:
        page.wait_for_function("() => document.querySelectorAll('main .math mjx-container').length > 0")
        assert page.locator("mjx-merror").count() == 0


@each_page
def test_the_dark_page_has_a_dark_ground_and_light_words_and_pictures(dark_page, path):
    real.load(dark_page, f"{path}.html")
    light, ground = dark_page.evaluate(
        """() => [getComputedStyle(document.querySelector('main h1')), getComputedStyle(document.body)]
            .map((style, i) => (i ? style.backgroundColor : style.color).match(/\\d+/g).slice(0, 3).map(Number))"""
    )
    assert min(light) > 150
    assert max(ground) < 60
    unreadable = dark_page.evaluate(
        """() => [...document.querySelectorAll('main .toolrl-figure > svg, main .toolrl-frame > svg')]
            .filter(svg => Math.min(...getComputedStyle(svg).color.match(/\\d+/g).slice(0, 3).map(Number)) < 150)
            .map(svg => svg.getAttribute('aria-label'))"""
    )
    assert unreadable == []
    assert sideways(dark_page) <= 0


@each_page
def test_the_narrow_page_does_not_scroll_sideways(narrow_page, path):
    real.load(narrow_page, f"{path}.html")
    assert sideways(narrow_page) <= 0


@each_page
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(browser, site, path, theme):
    from axe_playwright_python.sync_playwright import Axe

    with real.open_page(browser, site, dark=theme == "dark") as (page, _):
        real.load(page, f"{path}.html")
        found = Axe().run(page).response["violations"]
        faults = [
            (violation["id"], node["target"], node["failureSummary"])
            for violation in found
            if violation["impact"] in {"serious", "critical"}
            for node in violation["nodes"]
            if not of_the_theme(page, violation["id"], node["target"][0])
        ]
    assert faults == []


def of_the_theme(page, rule, target):
    """Tell whether a finding concerns a part that the theme makes."""
    return rule in OF_THE_THEME and page.evaluate(
        "([target, theme]) => document.querySelector(target).matches(theme)", [target, OF_THE_THEME[rule]]
    )


@each_page
def test_the_page_is_small_when_compressed(html, path):
    text = (html / f"{path}.html").read_bytes()
    images = set(re.findall(rb'(?:src|data)="([^":?]*_images/[^"?]+)"', text))
    pictures = sum((html / path).parent.joinpath(image.decode()).stat().st_size for image in images)
    assert len(gzip.compress(text)) + pictures < LARGEST_PAGE


@each_page
def test_every_link_within_the_book_leads_somewhere(page, html, path):
    real.load(page, f"{path}.html")
    links = page.evaluate("() => [...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))")
    dead = []
    for link in links:
        address, fragment = urldefrag(urljoin(f"/{path}.html", link))
        if urlparse(link).scheme:
            continue
        target = html / unquote(urlparse(address).path).lstrip("/")
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or (fragment and fragment not in anchors(target)):
            dead.append(link)
    assert dead == []


def anchors(target):
    """List the ids of a page."""
    return set(re.findall(r'(?:id|name)="([^"]+)"', target.read_text(encoding="utf8")))


@each_page
def test_a_notebook_is_offered_clean_and_tables_as_csv(page, html, path):
    real.load(page, f"{path}.html")
    if path.startswith("notebooks/"):
        (offered,) = {
            link
            for link in page.evaluate("() => [...document.querySelectorAll('a[href$=\".ipynb\"]')].map(a => a.href)")
            if link.endswith(f"{Path(path).name}.ipynb")
        }
        cells = json.loads((html / urlparse(offered).path.lstrip("/")).read_text(encoding="utf8"))["cells"]
        assert cells
        assert not any(cell.get("outputs") for cell in cells)
    links = page.evaluate("() => [...document.querySelectorAll('main a[href^=\"data:text/csv\"]')].map(a => a.href)")
    for link in links:
        text = base64.b64decode(link.partition("base64,")[2]).decode("utf8")
        rows = list(csv.reader(io.StringIO(text)))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1


@each_page
def test_no_page_needs_a_server_that_runs_code(html, path):
    text = (html / f"{path}.html").read_text(encoding="utf8").lower()
    assert not re.search(r"""(?:src|href)=["'][^"']*(?:thebe|binder|colab|jupyterhub)""", text)
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//[^"']+\.(?:js|css|woff2?)["']""", text)


def test_the_book_opens_from_its_file_too(browser, html):
    """Without a server: pages, styles, equations and sliders work from the folder."""
    with real.open_page(browser, "file://") as (page, problems):
        for path in PAGES:
            page.goto((html / f"{path}.html").as_uri(), wait_until="networkidle")
            assert page.locator("h1:visible").count() == 1
            explorers = page.locator('script[type="application/vnd.jupyter.widget-view+json"]').count()
            page.wait_for_function(
                "n => document.querySelectorAll('.jupyter-widgets.widget-container').length >= n", arg=explorers
            )
    assert problems == []


def test_the_front_address_leads_to_the_first_page(page):
    with page.expect_navigation(url=f"**/{PAGES[0]}.html"):
        page.goto("index.html", wait_until="commit")


def test_a_missing_page_fails_the_check_of_pages(html, tmp_path, monkeypatch):
    """The check that every page was built can fail."""
    shutil.copytree(html / "book", tmp_path / "book")
    (tmp_path / f"{PAGES[0]}.html").unlink()
    monkeypatch.setattr(build, "HTML", tmp_path)
    assert PAGES[0] in build.missing_pages()
