"""How fast a study's page opens, and how large it is: as many queries as MS MARCO's dev set, five retrievers.

    python benchmarks/page_opening.py --out page_opening.json

The tables and answers are drawn; every query is in the explorer, its data beside the page. Chromium opens the page from
the disk, five times anew. It is open when its first screen and the explorer's first query are there, and drawn when
every chart is. Seconds are medians; where other work shares the cores, the CPU seconds are what the page takes.
"""

import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from ragrelay.base.io.hashing import text_hash
from ragrelay.report.display.script_json import script_json
from ragrelay.report.page import render_page
from ragrelay.report.query_explorer.write import INDEX
from ragrelay.report.reading import read_study

from benchmarks.shared import record
from tests.support.report_study import GRID, write_study

RETRIEVERS = {"bm25": "bm25", "dense": "dense", "hybrid": "fusion", "rel": "oracle", "nrel": "oracle"}
WORDS = "heart blood pump vessel body cell tea grows leaf water light year city river king law".split()  # noqa: SIM905


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    grid = GRID | {"retrievers": list(RETRIEVERS), "kinds": RETRIEVERS}
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report"
        files = write_study(Path(name) / "study", grid=grid, n=given.queries)
        files["sections"][0]["explorer"] = write_queries(report / "explorer", grid, given.queries)
        page = report / "index.html"
        started = time.perf_counter()
        page.write_text(render_page(read_study(**files), path=page), encoding="utf-8")
        rendered = time.perf_counter() - started
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            found = [opening(browser, page) for _ in range(given.rounds)]
            browser.close()
        opened, cpu, drawn = ([one[place] for one in found] for place in range(3))
        figures = {
            "size of the page": record.figure(page.stat().st_size / 2**20, "MiB", "<= 15"),
            "time to open the page": record.figure(statistics.median(opened), "s", "<= 2", opened),
            "CPU time of the page's browser process until the page is open": record.figure(
                statistics.median(cpu), "s", "", cpu
            ),
            "time until every chart is drawn": record.figure(statistics.median(drawn), "s", "", drawn),
            "time to write the page": record.figure(rendered, "s"),
        }
    record.write_record(
        given,
        f"a simulated study with {given.queries:,} queries and {len(RETRIEVERS)} retrievers",
        figures,
        ["vl-convert-python"],
    )


def opening(browser: Browser, page: Path) -> tuple[float, float, float]:
    """Seconds until the first screen and first query are there, CPU seconds by then, and seconds until all is drawn."""
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    started = time.perf_counter()
    tab.goto(page.as_uri())
    tab.wait_for_selector(".lead-figure svg")
    tab.wait_for_selector("#explored[data-qid]", state="attached")
    opened = time.perf_counter() - started
    metrics = tab.context.new_cdp_session(tab)
    metrics.send("Performance.enable")
    cpu = {one["name"]: one["value"] for one in metrics.send("Performance.getMetrics")["metrics"]}["ProcessTime"]
    tab.wait_for_selector("html[data-charts=drawn]", timeout=120_000)
    drawn = time.perf_counter() - started
    tab.close()
    return opened, cpu, drawn


def write_queries(folder: Path, grid: dict[str, list[str]], queries: int) -> Path:
    """The explorer's data with drawn texts: an answer of 60 words per cell and seed, five passages of 60 words."""
    folder.mkdir(parents=True)
    listed = []
    for place in range(queries):
        qid = str(1000 + place)
        texts = [" ".join(WORDS[(place + one * word) % len(WORDS)] for word in range(60)) for one in range(6)]
        cells = [
            {"retriever": retriever, "ordering": ordering, "k": k, "context": list(range(k)),
             "answers": [[seed, 0, "stop", 60, 0] for seed in grid["seeds"]], "scores": {"lenient": [[0.5, 1]] * 3},
             "means": {"lenient": [0.5, 0.4, 0.25]}, "measures": {"nDCG": 0.5}}
            for retriever in grid["retrievers"] for ordering in grid["orderings"] for k in grid["k"]
        ]  # fmt: skip
        value = {"qid": qid, "query": f"what is {texts[0][:40]}", "answers": texts[5:], "cells": cells,
                 "passages": [[f"d{place}-{one}", one % 3, text] for one, text in enumerate(texts[:5])]}  # fmt: skip
        path, text = folder / f"{text_hash(qid)}.js", f"ragrelay.query({script_json(value)});\n"
        path.write_text(text, encoding="utf-8")
        listed.append({"qid": qid, "query": value["query"], "file": path.name, "bytes": len(text)})
    (folder / INDEX).write_text(json.dumps({"total": queries, "queries": listed}), encoding="utf-8")
    return folder


if __name__ == "__main__":
    main()
