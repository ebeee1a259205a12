"""Interventions of studies: what the key reruns of a finished one, and their effects in the optional one."""

import polars as pl
import pytest

from tests.support.changes import Changes, changed
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.gate
ITS_OWN = {
    "change_contexts", "build_changed_prompts", "generate_changed_answers", "view_changed_answers",
    "score_changed_answers", "analyse_interventions", "draw_interventions",
}  # fmt: skip
OF_THE_PAGE = {"gather_provenance", "write_tables", "write_page", "report"}


def test_answers_that_are_done_stay_where_interventions_join(
    finished: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> None:
    study = finished.copied_to(tmp_path_factory.mktemp("joined") / "study")

    def join(changes: Changes) -> None:
        changes.entry("interventions", "swap", kind="swap", retrievers=["bm25"])

    with changed(study, join):
        assert study.planned().keys() - OF_THE_PAGE == ITS_OWN


def test_passages_that_are_changed_have_effects_from_tables_to_page(optional: Sandbox) -> None:
    """What is changed is what was as it was, but for one passage; the effects are those of its answers' scores."""
    folder, report = optional.results / "small", optional.results / "report"
    scores = pl.read_parquet(folder / "interventions/scores/minilm/demo-lm/bm25.parquet")
    swapped = scores.filter(intervention="swap", k=2, references="lenient")
    arms = swapped.pivot("arm", index=["qid", "place"], values="p").with_columns(
        by=pl.col("relevant") - pl.col("other")
    )
    expected = arms.group_by("qid").agg(pl.col("by").mean())["by"].mean()
    effects = pl.read_csv(folder / "analysis/minilm/demo-lm/intervention_effects.csv")
    row = effects.filter(intervention="swap", k=2, references="lenient", part="overall").row(0, named=True)
    assert row["effect"] == pytest.approx(expected) and row["n"] == arms["qid"].n_unique() > 0
    whole = scores.filter(intervention="without", k=2, place=0, references="lenient").select("qid", "p")
    utility = pl.read_parquet(folder / "utility/minilm/demo-lm.parquet")
    cells = utility.filter(retriever="bm25", ordering="descending", k=2, references="lenient").select("qid", was="p")
    both = whole.join(cells, on="qid")
    assert both["p"].to_list() == pytest.approx(both["was"].to_list()), "the context as it was is the cell's"
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "What does one relevant passage do?" in page and "intervention_places" in page
    of_passages = pl.read_csv(folder / "analysis/minilm/demo-lm/passage_effects.csv").filter(references="lenient")
    assert set(of_passages["intervention"]) == {"without", "twice"} and both.height == whole.height > 0
    texts = [path.read_text(encoding="utf-8") for path in report.rglob("explorer/**/*.js")] + [page]
    assert any("P with it minus P without it" in text for text in texts), "the explorer has them"
