"""Take the pictures of docs/images from a finished demo: python tools/page_pictures.py [PAGE]."""

import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {"report": (1400, 900), "report-phone": (390, 1688)}
"""Width and height of the first screen of each; a phone's are two screens."""


def main(page: Path) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (width, height) in PICTURES.items():
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.goto(page.resolve().as_uri())
            tab.wait_for_selector("html[data-charts=drawn]")
            path = ROOT / "docs" / "images" / f"{name}.png"
            tab.screenshot(path=path)
            Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(path, optimize=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results" / "demo" / "report" / "index.html")
