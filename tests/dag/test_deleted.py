"""What is deleted of a finished study comes back by the same command, also where what was made of it is there."""

import shutil
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox

DELETED = {
    "small/utility/minilm/demo-lm.parquet": "compute_utility",
    "small/analysis/minilm/demo-lm/variance.csv": "decompose_variance",
    "small/analysis/minilm/demo-lm/gain.csv": "analyse_transmission",
    "small/described/answers/demo-lm/cost.csv": "describe_answers",
    "small/retrieval/rel.parquet": "measure_retrieval",
    "report/tables/cells_small_demo-lm_minilm.csv": "write_tables",
    "report/tables/left_out.csv": "write_tables",
    "report/figures/utility_small_demo-lm_minilm.pdf": "draw_figures",
    "report/provenance.json": "gather_provenance",
    "report/explorer/small_demo-lm_minilm": "explore_queries",
}
"""File or folder of the results → the rule that makes it."""


@pytest.fixture(scope="module")
def study(finished: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return finished.copied_to(tmp_path_factory.mktemp("deleted") / "study")


@pytest.mark.parametrize("name", DELETED)
def test_what_is_deleted_is_made_again(study: Sandbox, tmp_path: Path, name: str) -> None:
    path, aside = study.results / name, tmp_path / "aside"
    shutil.move(path, aside)
    try:
        assert study.planned().get(DELETED[name]) == 1
    finally:
        shutil.move(aside, path)


def test_nothing_else_runs(study: Sandbox) -> None:
    assert study.planned() == {}
