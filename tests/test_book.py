"""The built book in a real browser that reaches no other host: every page, light, dark and narrow.

Needs `make book` first, and a Chrome or Chromium; without one these tests are skipped loudly, and fail where CI=true.
"""

import base64
import csv
import gzip
import io
import json
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

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


@dataclass(frozen=True)
class Opened:
    """A loaded page of the book, and what went wrong on it."""

    page: Page
    path: str
    problems: list[str]

    def checked(self):
        """Hand the page to one test and fail that test on any error, failed request or request to another host."""
        yield self
        problems = list(self.problems)
        self.problems.clear()
        assert problems == []


@contextmanager
def opened(browser, site, path, **options):
    """Load one page once for all tests that look at it."""
    with real.open_page(browser, site, **options) as (page, problems):
        real.load(page, f"{path}.html")
        yield Opened(page, path, problems)


@pytest.fixture(scope="module", params=PAGES)
def light_page(request, browser, site):
    with opened(browser, site, request.param) as page:
        yield page


@pytest.fixture(scope="module", params=PAGES)
def dark_page(request, browser, site):
    with opened(browser, site, request.param, dark=True) as page:
        yield page


@pytest.fixture(scope="module", params=PAGES)
def narrow_page(request, browser, site):
    with opened(browser, site, request.param, width=390) as page:
        yield page


@pytest.fixture
def light(light_page):
    """A page on a computer's screen in the light theme."""
    yield from light_page.checked()


@pytest.fixture
def dark(dark_page):
    """The same in the dark theme."""
    yield from dark_page.checked()


@pytest.fixture
def narrow(narrow_page):
    """The same on a telephone's screen."""
    yield from narrow_page.checked()


def sideways(page):
    """Pixels that the page reaches beyond its window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def faults(opened):
    """Serious findings of axe-core, but for those in parts that Sphinx and its theme make.

    A picture with role="img" is one thing to a screen reader; its thousands of strokes are set aside meanwhile.
    """
    opened.page.evaluate(
        """() => {
            const pictures = [...document.querySelectorAll('main svg[role="img"][aria-label]')];
            window.strokes = pictures.map(svg => [svg, [...svg.childNodes]]);
            pictures.forEach(svg => svg.replaceChildren());
        }"""
    )
    found = Axe().run(opened.page, options={"preload": False}).response["violations"]
    opened.page.evaluate("() => window.strokes.forEach(([svg, strokes]) => svg.replaceChildren(...strokes))")
    return [
        (violation["id"], node["target"], node["failureSummary"])
        for violation in found
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"]
        if not of_the_theme(opened.page, violation["id"], node["target"][0])
    ]


def of_the_theme(page, rule, target):
    """Tell whether a finding concerns a part that the theme makes."""
    return rule in OF_THE_THEME and page.evaluate(
        "([target, theme]) => document.querySelector(target).matches(theme)", [target, OF_THE_THEME[rule]]
    )


def test_the_page_loads_from_this_site_alone_and_has_one_title(light):
    assert light.page.title().strip()
    assert light.page.locator("h1:visible").count() == 1


def test_every_picture_has_words(light):
    silent = light.page.evaluate(
        """() => [...document.querySelectorAll('main img, main svg:not([aria-hidden])')]
            .filter(picture => !picture.closest('[aria-hidden="true"], button, mjx-container, .noUi-target'))
            .filter(picture => !(picture.getAttribute('alt') ?? picture.getAttribute('aria-label') ?? '').trim())
            .map(picture => picture.outerHTML.slice(0, 200))"""
    )
    assert silent == []


def test_every_slider_moves_its_picture_and_speaks_the_value_that_it_shows(light):
    handles = light.page.locator(".toolrl-explorer .noUi-handle")
    for index in range(handles.count()):
        handle = handles.nth(index)
        explorer = handle.locator("xpath=ancestor::*[contains(@class, 'toolrl-explorer')]")
        row = handle.locator("xpath=ancestor::*[contains(@class, 'widget-inline-hbox')]")
        label, before = row.locator(".widget-label").inner_text(), row.locator(".widget-readout").inner_text()
        at_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
        handle.press("ArrowLeft" if at_end else "ArrowRight")
        light.page.wait_for_function(
            "([readout, before]) => readout.textContent !== before",
            arg=[row.locator(".widget-readout").element_handle(), before],
        )
        chosen = "; ".join(explorer.locator(".widget-readout").all_inner_texts())
        light.page.wait_for_function(
            "([box, chosen]) => box.querySelector('.toolrl-frame')?.dataset.frame === chosen",
            arg=[explorer.element_handle(), chosen],
        )
        assert explorer.locator(".toolrl-frame").count() == 1, label
        assert handle.get_attribute("aria-valuetext") == row.locator(".widget-readout").inner_text() != before
        assert light.page.get_by_role("slider", name=label, exact=True).count() >= 1


def test_every_explorer_of_the_notebook_stands_on_its_page(light):
    made = 0
    if light.path.startswith("notebooks/"):
        copy = execute.target_of(Path(f"{light.path}.ipynb")).read_text(encoding="utf8")
        made = copy.count("[explorer with ")
    assert light.page.locator(".toolrl-explorer").count() == made


def test_equations_are_typeset_and_mathjax_loads_only_where_there_are_some(light):
    loaded = light.page.evaluate("() => performance.getEntriesByType('resource').map(entry => entry.name)")
    equations = light.page.locator("main .math").count()
    assert any("mathjax" in name for name in loaded) == bool(equations)
    light.page.wait_for_function(
        "() => [...document.querySelectorAll('main .math')].every(math => math.querySelector('mjx-container'))"
    )
    assert light.page.locator("mjx-merror").count() == 0


def test_the_light_page_has_no_serious_fault_of_access(light):
    assert faults(light) == []


def test_the_dark_page_has_no_serious_fault_of_access(dark):
    assert faults(dark) == []


def test_the_dark_page_has_a_dark_ground_and_light_words_and_pictures(dark):
    light, ground = dark.page.evaluate(
        """() => [getComputedStyle(document.querySelector('main h1')), getComputedStyle(document.body)]
            .map((style, i) => (i ? style.backgroundColor : style.color).match(/\\d+/g).slice(0, 3).map(Number))"""
    )
    assert min(light) > 150
    assert max(ground) < 60
    unreadable = dark.page.evaluate(
        """() => [...document.querySelectorAll('main .toolrl-figure > svg, main .toolrl-frame > svg')]
            .filter(svg => Math.min(...getComputedStyle(svg).color.match(/\\d+/g).slice(0, 3).map(Number)) < 150)
            .map(svg => svg.getAttribute('aria-label'))"""
    )
    assert unreadable == []


def test_the_narrow_page_does_not_scroll_sideways(narrow):
    assert sideways(narrow.page) <= 0


def test_every_link_within_the_book_leads_somewhere(light, html):
    links = light.page.evaluate("() => [...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))")
    dead = []
    for link in sorted(set(links)):
        address, fragment = urldefrag(urljoin(f"/{light.path}.html", link))
        if urlparse(link).scheme:
            continue
        target = html / unquote(urlparse(address).path).lstrip("/")
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or (fragment and unquote(fragment) not in anchors(target)):
            dead.append(link)
    assert dead == []


@cache
def anchors(target):
    """List the ids of a page."""
    return frozenset(re.findall(r'(?:id|name)="([^"]+)"', target.read_text(encoding="utf8")))


def test_a_notebook_is_offered_clean_and_tables_as_csv(light, html):
    if light.path.startswith("notebooks/"):
        links = light.page.evaluate("() => [...document.querySelectorAll('a[href$=\".ipynb\"]')].map(a => a.href)")
        (offered,) = {link for link in links if link.endswith(f"{Path(light.path).name}.ipynb")}
        cells = json.loads((html / urlparse(offered).path.lstrip("/")).read_text(encoding="utf8"))["cells"]
        assert cells
        assert not any(cell.get("outputs") for cell in cells)
    files = light.page.evaluate(
        "() => [...document.querySelectorAll('main a[href^=\"data:text/csv\"]')].map(a => a.href)"
    )
    for file in files:
        rows = list(csv.reader(io.StringIO(base64.b64decode(file.partition("base64,")[2]).decode("utf8"))))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("path", PAGES)
def test_the_page_is_small_when_compressed(html, path):
    text = (html / f"{path}.html").read_bytes()
    images = set(re.findall(rb'(?:src|data)="([^":?]*_images/[^"?]+)"', text))
    pictures = sum((html / path).parent.joinpath(image.decode()).stat().st_size for image in images)
    assert len(gzip.compress(text)) + pictures < LARGEST_PAGE


@pytest.mark.parametrize("path", PAGES)
def test_no_page_needs_a_server_that_runs_code_or_files_of_another_host(html, path):
    text = (html / f"{path}.html").read_text(encoding="utf8").lower()
    assert not re.search(r"""(?:src|href)=["'][^"']*(?:thebe|jupyterhub)""", text)
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//[^"']+\.(?:js|css|woff2?)["']""", text)


@pytest.mark.parametrize("path", PAGES)
def test_chapters_open_on_binder_and_colab_where_the_repository_is_known_and_nowhere_else(html, path):
    settings = yaml.safe_load((build.ROOT / "_config.yml").read_text(encoding="utf8"))["sphinx"]["config"]
    address, revision = settings["toolrl_repository"], settings["toolrl_revision"]
    text = (html / f"{path}.html").read_text(encoding="utf8")
    found = set(re.findall(r"""href=["'](https://(?:mybinder\.org|colab\.research\.google\.com)[^"']*)""", text))
    expected = set()
    if address and path.startswith("notebooks/"):
        name = address.removeprefix("https://github.com/")
        expected = {
            f"https://mybinder.org/v2/gh/{name}/{revision}?urlpath=lab/tree/{path}.ipynb",
            f"https://colab.research.google.com/github/{name}/blob/{revision}/{path}.ipynb",
        }
    assert found == expected


def test_the_book_opens_from_its_folder_too(browser, html):
    """Without a server: pages, styles, equations and sliders work from the folder."""
    with real.open_page(browser, "file://") as (page, problems):
        for path in PAGES:
            real.load(page, (html / f"{path}.html").as_uri())
            assert page.locator("h1:visible").count() == 1
    assert problems == []


def test_the_front_address_leads_to_the_first_page(browser, site):
    with real.open_page(browser, site) as (page, problems):
        with page.expect_navigation(url=f"**/{PAGES[0]}.html"):
            page.goto("index.html", wait_until="commit")
        page.wait_for_load_state("networkidle")
    assert problems == []


def test_a_missing_page_fails_the_check_of_pages(html, tmp_path, monkeypatch):
    shutil.copytree(html / "book", tmp_path / "book")
    (tmp_path / f"{PAGES[0]}.html").unlink()
    monkeypatch.setattr(build, "HTML", tmp_path)
    assert PAGES[0] in build.missing_pages()


def test_the_page_fixture_reports_an_error_of_the_page_a_missing_file_and_another_host(browser, tmp_path):
    """The watch over the pages can fail."""
    (tmp_path / "bad.html").write_text(
        "<h1>Bad</h1><script>throw Error('oops')</script><img src='gone.png'><img src='http://127.0.0.1:9/elsewhere.png'>"
    )
    with real.serve(tmp_path) as site, real.open_page(browser, site) as (page, problems):
        page.goto("bad.html", wait_until="networkidle")
    said = " ".join(problems)
    assert "error in the page: oops" in said
    assert "status 404" in said
    assert "request to another host: http://127.0.0.1:9/elsewhere.png" in said
