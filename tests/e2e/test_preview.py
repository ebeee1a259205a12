"""The target preview, of a study whose run is not finished."""

from collections.abc import Callable

from tests.support.sandbox import Sandbox


def test_the_page_of_the_cells_that_have_scores(copied: Callable[[], Sandbox]) -> None:
    """The study and the cache are as before; what it lacks is on the page; the run goes on as if it had not been."""
    study = copied()
    scores = study.results / "small/scores/minilm/demo-lm/rel.parquet"
    (study.folder / "aside.parquet").write_bytes(scores.read_bytes())
    scores.unlink()
    planned, contents = study.planned(), study.contents()
    stored = {path: path.read_bytes() for path in (study.folder / "cache").rglob("*") if path.is_file()}
    lock = study.folder / ".snakemake/locks/0.output.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("results/small/small/scores/minilm/demo-lm/rel.parquet\n")

    told = study.snakemake("preview")

    assert lock.exists(), "it removed the lock of a run that goes on"
    lock.unlink()
    page = study.results.with_name("small-preview") / "report/index.html"
    assert f"The page: {page.relative_to(study.folder)}" in told.stdout + told.stderr
    text = page.read_text(encoding="utf-8")
    assert "Preview of 3 of 4 tables of scores: it lacks retrievers rel." in text
    assert study.planned() == planned and study.contents() == contents
    assert {path: path.read_bytes() for path in (study.folder / "cache").rglob("*") if path.is_file()} == stored
    study.snakemake(str(scores.relative_to(study.folder)))
    assert scores.read_bytes() == (study.folder / "aside.parquet").read_bytes()
