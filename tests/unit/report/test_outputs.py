"""The registry: one entry each adds a figure and a table to the rules, the files and the page."""

import subprocess
import sys
from pathlib import Path

import pytest
from ragrelay.report import page as page_module
from ragrelay.report.display.outputs import SECTION, Figure, Table, available, file_name, modules, resolve
from ragrelay.report.figure_files import draw_figures
from ragrelay.report.outputs import OUTPUTS, PARTS, RESULT_TABLES
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study
from ragrelay.report.table_files import write_tables

from tests.support.report_study import write_study
from tests.support.sandbox import ROOT, Sandbox

pytestmark = pytest.mark.page

FIGURE = Figure(
    "mine", SECTION, "ragrelay.report.figures_by_k:utility_by_k", ("utility",), "tests", "A figure of mine", "Mine."
)
TABLE = Table("mine", SECTION, ("spread",), "A table of mine", "Mine.", "tests",
              "ragrelay.report.answer_tables:cost_table")  # fmt: skip


def test_an_entry_is_on_the_page_and_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = read_study(**write_study(tmp_path / "study", n=8))
    assert "of mine" not in render_page(study)
    monkeypatch.setattr(page_module, "OUTPUTS", (*OUTPUTS, FIGURE, TABLE))
    page = render_page(study)
    assert 'data-chart="s1-mine"' in page and "A figure of mine" in page
    assert 'id="s1-mine-table"' in page and "A table of mine" in page
    section = study.sections[0]
    draw_figures(section, [FIGURE], tmp_path / "figures")
    write_tables(study, [TABLE], tmp_path / "tables")
    made = {path.name for path in tmp_path.glob("*/mine*")}
    assert made == {file_name(output, ending, section.keys) for output in (FIGURE, TABLE) for ending in output.endings}
    assert len(made) == 3 + 2


def test_an_entry_is_an_output_of_a_rule(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path / "study")
    registry = sandbox.folder / "workflow/scripts/ragrelay/report/outputs.py"
    entries = f"\nOUTPUTS = (*OUTPUTS, {FIGURE!r}, {TABLE!r})\n".replace("of='section'", "of=SECTION")
    registry.write_text(registry.read_text(encoding="utf-8") + entries, encoding="utf-8")
    report = f"results/{sandbox.config['study']}/report"
    asked = [f"{report}/figures/mine_small_demo-lm_minilm.svg", f"{report}/tables/mine_small_demo-lm_minilm.csv"]
    planned = sandbox.planned(*asked)
    assert planned["draw_figures"] == planned["write_tables"] == 1


def test_every_entry_names_what_there_is() -> None:
    for output in OUTPUTS:
        assert all(callable(resolve(name)) for name in output.functions)
        assert set(output.needs) <= set(RESULT_TABLES)
        assert output.endings or output.part
        assert output.of != "section" or not output.part or output.part in PARTS
    files = [(output.kind, output.of, output.name, ending) for output in OUTPUTS for ending in output.endings]
    assert len(set(files)) == len(files)
    figures = [output for output in OUTPUTS if output.kind == "figure"]
    assert "ragrelay.report.scatter" in modules(figures)
    assert available(OUTPUTS, []) == []


def test_importing_the_registry_loads_no_library() -> None:
    """Snakemake imports it at every start."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'workflow/scripts')!r})\n"
        "import ragrelay.report.outputs\n"
        "print(*{name.partition('.')[0] for name in sys.modules} & {'polars', 'altair', 'numpy', 'jinja2', 'scipy'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
