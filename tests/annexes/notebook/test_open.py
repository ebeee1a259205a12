"""A finished study opened in Python: the page's sentences, its figure, its tables, and the notebook of the docs."""

import hashlib
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import ragrelay
from ragrelay.annexes.notebook.study_results import Results
from ragrelay.base.errors import InputError

from tests.support.notebooks import cells, shown_by
from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.study

NOTEBOOK = "results-in-a-notebook.ipynb"


def test_answers_are_those_of_the_page(finished: Sandbox) -> None:
    page = (finished.results / "report/index.html").read_text(encoding="utf-8")
    said = [re.sub("<[^>]*>", "", text) for text in re.findall(r'<p class="said">(.*?)</p>', page, re.DOTALL)]
    answers = ragrelay.open(finished.results).answer()
    assert len(said) == len(answers) == 3
    assert [one.sentence.rstrip(".") for one in answers] == [
        " ".join(html.unescape(one).split()).rstrip(".") for one in said
    ]
    for one in answers:
        assert f"{one.topic}. {one.question} {one.sentence}" in str(answers)
        assert f"**{one.strong}**" in answers._repr_markdown_()


def rows(spec: dict[str, Any], part: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spec["datasets"][part["data"]["name"]]
    return found


def test_the_figure_shows_the_means_of_the_table(finished: Sandbox) -> None:
    study = ragrelay.open(finished.results)
    spec = study.figure(dataset="small", scorer="minilm").to_dict()
    drawn = {(row["retriever"], row["k"]): row["value"] for row in rows(spec, spec) if row["retriever"]}
    means = study["utility"].filter(ordering="descending", references="lenient")
    expected = {(row["retriever"], row["k"]): row["mean_p"] for row in means.iter_rows(named=True)}
    assert set(drawn) == set(expected) and len(drawn) == 3 * 2
    assert drawn == pytest.approx(expected, abs=1e-5)
    (zeroshot,) = [row["value"] for row in rows(spec, spec) if row["name"] == "zero-shot"]
    assert zeroshot == pytest.approx(
        study["utility"].filter(retriever="zeroshot", references="lenient")["mean_p"][0], abs=1e-5
    )


def test_what_is_not_there_is_named(finished: Sandbox, tmp_path: Path) -> None:
    study = ragrelay.open(finished.results)
    with pytest.raises(InputError, match="scorer: found 'minlm'; expected minilm"):
        study.answer(scorer="minlm")
    names = ", ".join(study.tables())
    for name, found, hint in (
        ("nope", "'nope'", ""),
        ("gains", "'gains'", "; did you mean 'gain'?"),
        ("acu", "'acu'", ""),
        ("pooled", "'pooled', which this study lacks (no pooled.csv)", ""),
    ):
        with pytest.raises(InputError) as error:
            study[name]
        assert str(error.value) == f"table of {study.folder}: found {found}; expected one of {names}{hint}"
    assert "annotations" not in names and "gain" in study.tables()
    with pytest.raises(InputError, match=r"'gain', which this study lacks .*; expected the folder of a finished study"):
        Results(tmp_path).gain()
    with pytest.raises(InputError, match="found no table of a study's results; expected the folder of a study's"):
        ragrelay.open(finished.results.parent)
    with pytest.raises(InputError, match=r"no report/provenance.json; expected .*finished study"):
        Results(tmp_path).answer()
    (tmp_path / "report").mkdir()
    (tmp_path / "report/provenance.json").write_text('{"config": ')
    with pytest.raises(InputError, match="invalid JSON"):
        Results(tmp_path).figure()
    with pytest.raises(InputError, match="no folder"):
        ragrelay.open(tmp_path / "none")


def test_the_notebook(real: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(len([line for line in cell.splitlines() if line]) for cell in cells(NOTEBOOK)) <= 15
    (real.folder / "docs").mkdir(exist_ok=True)  # where JupyterLab starts a notebook
    monkeypatch.chdir(real.folder / "docs")
    answers, figure, gain, queries = shown_by(NOTEBOOK)
    assert len(answers) == 3 and rows(figure.to_dict(), figure.to_dict())
    assert isinstance(gain, pl.DataFrame) and gain.height == 2 * 2
    assert queries["lead"].to_list() == (queries["rel"] - queries["bm25"]).to_list() and queries.height == 5


def test_the_crate(copied: Callable[[], Sandbox]) -> None:
    """The library rocrate reads that every file is there with its size and hash, and what each is."""
    from rocrate.rocrate import ROCrate

    twin = copied()
    twin.snakemake("results/small/ro-crate-metadata.json")
    crate = ROCrate(twin.results)
    parts = {entity.id: entity for entity in crate.data_entities}
    assert {"report/index.html", "report/provenance.json", "export/tables/gain.parquet"} <= set(parts)
    assert {"export/small/demo-lm/answers.jsonl", "export/tables/README.md"} <= set(parts)
    for name, entity in parts.items():
        content = (twin.results / name).read_bytes()
        assert entity["contentSize"] == str(len(content)) and entity["sha256"] == hashlib.sha256(content).hexdigest()
    assert parts["report/index.html"]["description"] == "the study's page; written by the rule write_page"
    (run,) = (entity for entity in crate.contextual_entities if entity.type == "CreateAction")
    assert {one.id for one in run["result"]} == set(parts)
    assert {"#ragrelay", "#snakemake", "#polars"} <= {one.id for one in run["instrument"]}
    assert ragrelay.open(twin.results).answer()[0].sentence in crate.description
    assert twin.planned("results/small/ro-crate-metadata.json") == {}
