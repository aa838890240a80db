"""A real browser on the built book, cut off from every other host; the tests and the screenshots use it."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),)


class NoBrowserError(RuntimeError):
    """No Chrome or Chromium is installed."""


def _program() -> str | None:
    """Find an installed Chrome or Chromium; CHROMIUM may name one."""
    named = os.environ.get("CHROMIUM")
    found = (shutil.which(name) for name in PROGRAMS)
    return named or next((path for path in found if path), None) or next((str(p) for p in PLACES if p.exists()), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start the machine's Chrome or Chromium, else the one that `playwright install chromium` brought."""
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=_program(), args=FLAGS)
        except PlaywrightError as error:
            raise NoBrowserError("no Chrome or Chromium: install one, or run `playwright install chromium`") from error
        yield browser
        browser.close()


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serve files and say nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name of the base class)
        """Say nothing."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder to this machine alone; gives the address of the site."""
    handler = functools.partial(_Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def open_page(
    browser: Browser, site: str, *, dark: bool = False, width: int = 1280
) -> Iterator[tuple[Page, list[str]]]:
    """Open an empty page and the list of its problems: errors, failed requests, requests to other hosts."""
    context = browser.new_context(
        base_url=site, color_scheme="dark" if dark else "light", viewport={"width": width, "height": 900}
    )
    context.set_default_timeout(60_000)
    page, problems = context.new_page(), []
    page.on(
        "request",
        lambda r: r.url.startswith((site, "data:", "blob:")) or problems.append(f"request to another host: {r.url}"),
    )
    page.on("response", lambda r: 200 <= r.status < 300 or problems.append(f"status {r.status}: {r.url}"))
    page.on("requestfailed", lambda r: problems.append(f"failed request: {r.url} ({r.failure})"))
    page.on("pageerror", lambda error: problems.append(f"error in the page: {error}"))
    page.on("console", lambda message: message.type == "error" and problems.append(f"console: {message.text}"))
    try:
        yield page, problems
    finally:
        context.close()


def load(page: Page, path: str) -> None:
    """Load a page and wait until its equations and widgets stand."""
    page.goto(path, wait_until="networkidle")
    page.wait_for_function(
        """() => [...document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]')]
            .every(view => view.parentElement.querySelector('.jupyter-widgets'))"""
    )


def screenshots(html: Path, paths: list[str], target: Path) -> None:
    """Picture every page: light, dark and narrow."""
    target.mkdir(parents=True, exist_ok=True)
    with open_browser() as browser, serve(html) as site:
        for name, dark, width in (("light", False, 1280), ("dark", True, 1280), ("narrow", False, 390)):
            with open_page(browser, site, dark=dark, width=width) as (page, _):
                for path in paths:
                    load(page, f"{path}.html")
                    page.screenshot(path=target / f"{path.replace('/', '-')}-{name}.png", full_page=True)
                    print(f"  {path}, {name}", flush=True)


if __name__ == "__main__":
    from book._tools.build import HTML, pages

    screenshots(HTML, sys.argv[1:] or pages(), HTML.parent / "screenshots")
    print(f"The pictures are in {HTML.parent / 'screenshots'}.")
