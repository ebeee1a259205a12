"""The page's part on processors: of a real study, and of a made-up one in which dense stands for processed bm25."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ragrelay.annexes.processing import page_part, sentences
from ragrelay.annexes.processing.annex import Processing
from ragrelay.annexes.processing.effects import EFFECTS
from ragrelay.annexes.processing.study import ProcessingStudy
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import named, schema_of
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study
from ragrelay.report.study import AnnexPart

from tests.support.approved import approve, not_approved
from tests.support.processed_study import RETRIEVERS
from tests.support.report_study import GRID, PRIMARY, write_study
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
ROW: dict[str, Any] = {
    "retriever": "dense", "of": "bm25", "k": 1, "n_contexts": 36, "n_contexts_same": 0, "n_contexts_emptied": 0,
    "n_passages": 36, "n_changed": 36, "n_emptied": 0, "n_tokens": 36, "tokens_before": 200.4, "tokens_after": 120.2,
    "same_again": True,
}  # fmt: skip
STATES: dict[str, list[dict[str, Any]]] = {
    "shorter": [
        ROW | {"n_contexts_same": 2, "n_contexts_emptied": 1, "n_changed": 30, "n_emptied": 4},
        ROW | {"k": 5, "n_passages": 180, "n_changed": 150, "n_emptied": 30},
    ],
    "longer": [ROW | {"k": 5, "tokens_after": 300.0, "same_again": False}],
    "nothing-changed": [ROW | {"k": 5, "n_contexts_same": 36, "n_changed": 0, "tokens_after": 200.4}],
    "alone": [ROW | {"k": 5, "of": "gone", "n_tokens": 0, "tokens_before": None, "tokens_after": None}],
    "reordered": [ROW | {"k": 5, "n_contexts_same": 1, "n_changed": 0, "n_reordered": 35}],
    "the-other-way": [ROW | {"k": 5, "retriever": "bm25", "of": "dense"}],
}


def read(folder: Path, rows: list[dict[str, Any]]) -> tuple[list[ProcessingStudy], dict[str, Any]]:
    """What the page's part reads, and the study that the rest of the page is of."""
    written = write_study(folder)
    (section,) = written["sections"]
    keys = {name: section[name] for name in ("dataset", "generator", "scorer")}
    table = named(pl.DataFrame(rows, schema_overrides=schema_of(EFFECTS)), keys)
    write_csv(table, folder / "processing.csv")
    paths = {**section["files"], "processing": folder / "processing.csv"}
    files = {name: KeyedFiles(Path(path).name, (Path(path),)) for name, path in paths.items()}
    given = {"grid": GRID, "sections": [keys | {"primary": PRIMARY._asdict(), "references": ["lenient", "strict"]}]}
    return page_part.read(files, None, given), written


@pytest.mark.parametrize("state", STATES)
def test_what_is_said_is_approved(tmp_path: Path, state: str) -> None:
    (study,), _ = read(tmp_path, STATES[state])
    answer = sentences.processing_answer(study)
    said = [answer.question, answer.sentence, *sentences.processing_sentences(study), *page_part.warnings([study])]
    approve(APPROVED / f"{state}.txt", said)


def test_every_sentence_is_approved() -> None:
    assert not_approved(Path(sentences.__file__), APPROVED) == []


def test_the_pair_is_read_in_either_direction(tmp_path: Path) -> None:
    (study,), _ = read(tmp_path / "one", STATES["shorter"])
    (other,), _ = read(tmp_path / "other", STATES["the-other-way"])
    pair, turned = study.rows[1]["pair"], other.rows[0]["pair"]
    assert pair["retriever"] == turned["against_retriever"] == "dense"
    assert pair["mean_difference"] == pytest.approx(-turned["mean_difference"])
    assert (pair["low"], pair["high"]) == pytest.approx((-turned["high"], -turned["low"]))
    before, after = study.rows[1]["means"]
    assert after - before == pytest.approx(pair["mean_difference"], abs=1e-9), "all queries are paired"


def test_the_part_is_on_the_page(tmp_path: Path) -> None:
    part, written = read(tmp_path, STATES["longer"])
    shown = AnnexPart(part, Processing().page_part, Processing.template, Processing.link)
    page = render_page(replace(read_study(**written), parts=[shown]))
    assert '<a href="#processing">Processors</a>' in page and 'id="processing1-table"' in page
    assert "dense’s processor isn’t deterministic on demo" in page[: page.index('id="processing"')], "above all answers"
    assert page_part.processing_table(part[0]).rows[0][:6] == ["dense", "bm25", "5", "200", "300", "−50%"]


def test_a_study_without_a_processor_has_no_part() -> None:
    assert not page_part.read({}, None, None)


@pytest.mark.full
def test_the_page_says_what_the_processors_did(processed: Sandbox) -> None:
    page = (processed.results / "report/index.html").read_text(encoding="utf-8")
    assert "What did the processor do?" in page and "halved, k = 2: of the 16 passages from bm25" in page
    rows = pl.read_csv(processed.results / "small/described/processing/demo-lm.csv").to_dicts()
    assert [(row["retriever"], row["of"], row["k"]) for row in rows] == [
        (name, "bm25", k) for name in RETRIEVERS for k in (1, 2)
    ]
    assert all(row["tokens_after"] < row["tokens_before"] for row in rows if row["n_changed"])
    assert "turned, k = 2: none of the 16 passages from bm25 are shown with different text" in page
    assert "8 are in a different order" in page
