"""The figure and the table that CONTRIBUTING.md adds: an entry each and a function, and all else follows from it."""

from collections.abc import Callable

import polars as pl

from tests.support.sandbox import ROOT, Sandbox

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## A figure or a table")[1]
ENTRIES = PAGE.split("```text\n")[1].split("```")[0]
FUNCTIONS = PAGE.split("```python\n")[1].split("```")[0]


def test_an_entry_makes_files_and_a_place_on_the_page(copied: Callable[[], Sandbox]) -> None:
    study = copied()
    report = study.folder / "workflow/scripts/ragrelay/report"
    registry = report / "outputs.py"
    start = "OUTPUTS: tuple[Output, ...] = (\n"
    text = registry.read_text(encoding="utf-8")
    registry.write_text(text.replace(start, start + ENTRIES, 1), encoding="utf-8")
    (report / "my_module.py").write_text(FUNCTIONS, encoding="utf-8")
    study.snakemake()
    stem = "small_demo-lm_minilm"
    for ending in ("svg", "png", "pdf"):
        assert (study.results / f"report/figures/my_figure_{stem}.{ending}").stat().st_size > 1000
    assert pl.read_csv(study.results / f"report/tables/my_table_{stem}.csv")["mean_difference"].is_not_null().any()
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert all(said in page for said in ("Gain against k", "The note under the figure.", "Gain, again"))
    assert study.planned() == {}
