"""A real browser for the tests of the pages, and a page opened in it under watch."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import wait_for

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync"]  # fmt: skip
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome on the path")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=BROWSER, headless=True, args=ARGUMENTS
        )
        yield context
        context.close()


@contextmanager
def opened(
    browser: Any,
    path: Path,
    width: int = 1280,
    scheme: str = "light",
    beside: tuple[str, ...] = (),
    folded: bool = False,
    listed: Sequence[tuple[str, str]] = (),
) -> Iterator[Any]:
    """The page, drawn; afterwards there must have been no message, no error, no dialog, no request but for the file.

    Its folds are opened unless ``folded``. ``listed``: what the list of the study's pages has.
    Files beside the page may be read where their path, from the page's folder, begins with one of ``beside``.
    """
    tab = browser.new_page()
    tab.set_viewport_size({"width": width, "height": 900})
    tab.emulate_media(color_scheme=scheme)
    trouble: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda message: trouble.append(message.text))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("dialog", lambda dialog: trouble.append(dialog.message))
    tab.on("request", lambda request: requests.append(request.url))
    # A page that no run of Snakemake made has no list of the study's pages beside it.
    tab.route("**/report/pages.js", lambda route: route.fulfill(body=f"ragrelayPages = {json.dumps(listed)}"))
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-charts=drawn]")
    if not folded:
        tab.eval_on_selector_all("details.fold", "(folds) => folds.forEach((one) => { one.open = true; })")
    yield tab
    assert trouble == []
    folder = path.parent.as_uri() + "/"
    others = [
        url
        for url in requests[1:]
        if not url.endswith("/report/pages.js") and not url.removeprefix(folder).startswith(beside or "//")
    ]
    assert requests[0] == path.as_uri()
    assert others == []
    tab.close()


def becomes(tab: Any, expression: str) -> None:
    """Wait until ``expression`` is true in the page, whose policy forbids it to evaluate one by itself."""
    wait_for(expression, lambda: bool(tab.evaluate(expression)), 30)


def steer(tab: Any, chosen: str) -> None:
    """Open the page with what the reader's tools have chosen, as a link keeps it."""
    tab.evaluate("(chosen) => { location.hash = chosen || 'main'; }", chosen)
    tab.wait_for_timeout(50)
    tab.wait_for_selector("html[data-charts=drawn]")


def violations(tab: Any) -> list[str]:
    """The rules of axe-core that what is shown breaks, each with the first elements that do."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(tab).response["violations"]
    return [f"{rule['id']}: {[node['target'] for node in rule['nodes'][:3]]}" for rule in found]
