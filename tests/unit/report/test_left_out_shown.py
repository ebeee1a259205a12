"""What real collections lack is no error: it is counted, and the report's page says so."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from ragrelay.analysis.multiplicity import distinct
from ragrelay.base.display.terminal import tell_warnings
from ragrelay.base.io.coverage import data_warnings
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.collection.local import LocalCollection
from ragrelay.collection.prepare import prepare_collection, prepare_references
from ragrelay.generation.imported.imported_answers import UNANSWERED
from ragrelay.report.display.sections import Grid
from ragrelay.report.facts import facts_of
from ragrelay.report.lead_warnings import warnings
from ragrelay.report.missing import last_remarks, missing_answers
from ragrelay.report.origin import origin
from ragrelay.report.page import render_page
from ragrelay.report.provenance import gather_left_out
from ragrelay.report.reading import read_study
from ragrelay.report.study import ReportedStudy
from ragrelay.retrieval.contexts import NO_RESULTS, build_contexts, count_left_out

from tests.support.report_study import GRID, write_study
from tests.unit.conftest import QRELS, QUERIES

pytestmark = pytest.mark.page

EXPECTED = {
    "queries without judgements": 1, "judgements for unknown queries": 1, "judged passages without text": 2,
    "references without text": 1, "queries without a lenient reference": 1, "queries without a strict reference": 1,
    "queries without results": 2, "retrieved passages without text in the top 2": 1,
    "queries with fewer than 2 passages": 1,
}  # fmt: skip


def test_doubtful_data_are_on_the_first_screen(tmp_path: Path) -> None:
    """Once per dataset, with the numbers of all retrievers."""
    what, warning = "queries with the passage of their own id in the top 2", "say what is meant"
    doubt = {"what": what, "count": 1200, "warning": warning}
    paths = [tmp_path / "small/bm25.json", tmp_path / "small/dense.json"]
    paths[0].parent.mkdir()
    for path, count in zip(paths, (1200, 7), strict=True):
        path.write_text(json.dumps([{**doubt, "count": count}, {"what": "queries without results", "count": 1}]))
    none = KeyedFiles("{dataset}", ())
    found = gather_left_out([("contexts", KeyedFiles("{dataset}/{retriever}.json", tuple(paths)))], none, none)
    sentence = f"small: {what}: 1,200 (bm25), 7 (dense); {warning}."
    assert data_warnings(found) == [sentence]
    files = write_study(tmp_path / "study", n=8)
    Path(files["left_out"]).write_text(json.dumps(found))
    study = read_study(**files)
    above, _, below = render_page(study).partition('class="answers-of"')
    assert f'<p class="warning wide">{sentence}</p>' in above and sentence not in below.partition("<details")[0]
    several = [f"small: doubt {number}." for number in range(5)]
    above, _, below = render_page(replace(study, doubts=several)).partition('class="answers-of"')
    assert [said in above for said in several] == [True] * 3 + [False] * 2
    below = below.split('<ul class="warnings">')[1].split("</ul>")[0]
    assert [f'<li class="warning">{said}</li>' in below for said in several] == [False] * 3 + [True] * 2


def test_an_unusable_run_is_on_the_first_screen_and_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sentence per retriever; a run prints it when it measures the retriever, and at its end."""
    sentence = "4 of 12 queries have no results, such as q3 (small/contexts/mine.parquet)"
    counts = [{"what": "queries without results", "count": 4, "sentence": sentence}]
    path = tmp_path / "small/mine.json"
    path.parent.mkdir()
    path.write_text(json.dumps(counts))
    none = KeyedFiles("{dataset}", ())
    found = gather_left_out([("contexts", KeyedFiles("{dataset}/{retriever}.json", (path,)))], none, none)
    files = write_study(tmp_path / "study", n=8)
    Path(files["left_out"]).write_text(json.dumps(found))
    page = render_page(read_study(**files))
    above = page.partition('class="answers-of"')[0]
    assert f'<p class="warning wide">small, mine: {sentence}.</p>' in above
    assert last_remarks([], Path(files["left_out"])) == [f"ragrelay: warning: small, mine: {sentence}."]
    also = last_remarks([], Path(files["left_out"]), iter(["an address"]))
    assert also == ["ragrelay: warning: an address", f"ragrelay: warning: small, mine: {sentence}."]
    tell_warnings("retriever mine", counts)
    assert capsys.readouterr().err == f"ragrelay: warning: retriever mine: {sentence}\n"


def test_every_warning_is_counted_and_shown(write_dataset: Callable[..., Path], tmp_path: Path) -> None:
    qrels = [*QRELS, ("q1", "gone", 3), ("q1", "gone too", 0), ("unknown", "d1", 3), ("q4", "d1", 1)]
    folder = write_dataset(
        queries={**QUERIES, "q3": "never judged", "q4": "nothing relevant"},
        qrels=[(qid, docno.replace(" ", "-"), label) for qid, docno, label in qrels],
    )
    collection = LocalCollection(folder)
    queries, judged, of_collection = prepare_collection(collection, "x")
    _, of_references = prepare_references(collection, queries, judged, {"lenient": 2, "strict": 3}, "x")
    rows = [("q2", "gone", 1, 3.0), ("q2", "d1", 2, 2.0), ("q2", "d2", 3, 1.0), ("q10", "d3", 1, 1.0)]
    run = pl.DataFrame(rows, schema=["qid", "docno", "rank", "score"], orient="row")
    contexts, skipped = build_contexts(run, judged, collection, 50, "x")
    of_contexts = count_left_out(contexts, skipped, queries, [1, 2])
    paths = {"collection": tmp_path / "collection.json", "contexts": tmp_path / "contexts.json"}
    for path, counts in zip(paths.values(), ([*of_collection, *of_references], of_contexts), strict=True):
        path.write_text(json.dumps(counts))
    stages = [(stage, KeyedFiles(f"{{dataset}}/{stage}.json", (path,))) for stage, path in paths.items()]
    left_out = gather_left_out(stages, KeyedFiles("{dataset}", ()), KeyedFiles("{dataset}", ()))
    assert {one["what"]: one["count"] for one in left_out if one["count"]} == EXPECTED
    page = render_page(replace(read_study(**write_study(tmp_path / "study", n=8)), left_out=left_out))
    shown = page.split('id="left-out"')[1].split("</section>")[0]
    for what in EXPECTED:
        assert what in shown


def test_cut_answers_are_shown_with_their_total() -> None:
    cut = {"stage": "generation", "dataset": "d", "what": "answers cut at max_tokens", "count": 3}
    study = ReportedStudy("s", Grid.of({**GRID, "references": {}}), (), left_out=[{**cut, "detail": {"total": 15}}])
    assert origin(study)["left_out"].rows[0] == ["generation", "d", "answers cut at max_tokens", "3 of 15", "–"]


def test_answers_without_a_line_in_the_file_are_counted_on_the_page_and_the_terminal(tmp_path: Path) -> None:
    """Queries for which dense found nothing need no answer; zero-shot answers may all be absent."""
    files = write_study(tmp_path, n=8)
    path, told = files["sections"][0]["files"]["lengths"], Path(files["left_out"])
    cells = distinct(pl.read_csv(path), ("retriever", "ordering"))
    [n] = cells.filter(retriever="bm25", ordering="descending", k=2)["n"]
    cell = {"generator": "demo-lm", "ordering": "descending", "k": 2, "seed": 1, "retriever": "bm25"}
    counts = (
        (2 * n, cell),
        (2 * n, cell | {"seed": 2}),
        (n, cell | {"ordering": "random"}),
        (3, cell | {"retriever": "dense"}),
    )
    named = {"stage": "generation", "dataset": "demo", "what": UNANSWERED}
    absent = [named | {"count": count, "detail": detail} for count, detail in counts]
    told.write_text(json.dumps([*absent, named | {"what": NO_RESULTS, "count": 3, "detail": {"retriever": "dense"}}]))
    study, total = read_study(**files), cells["n"].sum() + 5 * n
    [sentence] = study.missing
    lost = f"{5 * n:,} of {total:,} answers by demo-lm for demo are missing"
    assert sentence.startswith(f"{lost} (no line in the file: {5 * n:,}), which is ")
    assert sentence.endswith("% with bm25); they have no score and are left out of all results.")
    assert last_remarks([path], told)[0] == f"ragrelay: {sentence}"
    [said] = [text for _, text, _ in warnings(facts_of(study.sections[0]), study.left_out) if "are missing" in text]
    assert said.startswith(f"{5 * n / total:.0%} of all answers") and f"(no line in the file: {5 * n:,});" in said
    zero = [named | {"count": 900, "detail": {"generator": "demo-lm", "ordering": "none", "k": 0, "seed": 1}}]
    assert "without passages" in missing_answers([cells], zero)[0]
    assert missing_answers([cells.filter(pl.col("retriever") != "zeroshot")], zero) == []
