"""Take the pictures of docs/images from finished studies: python tools/page_pictures.py [PAGE NAME], or the demo's."""

import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {"": (1400, 900), "-phone": (390, 1688)}
"""Width and height of the first screen of each; a phone's are two screens."""


def main(page: Path, name: str) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for kind, (width, height) in PICTURES.items():
            tab = browser.new_page(viewport={"width": width, "height": height})
            tab.goto(page.resolve().as_uri())
            tab.wait_for_selector("html[data-charts=drawn]")
            path = ROOT / "docs" / "images" / f"{name}{kind}.png"
            tab.screenshot(path=path)
            Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(path, optimize=True)
        browser.close()


if __name__ == "__main__":
    given = sys.argv[1:] or [ROOT / "results" / "demo_real" / "report" / "index.html", "report"]
    main(Path(given[0]), str(given[1]))
