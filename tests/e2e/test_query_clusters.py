"""A dataset whose queries come in clusters, from its file to the page; changes of the file make no answer."""

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import polars as pl
import pytest
from ragrelay.analysis.clusters import NOT_BY_CLUSTER

from tests.support.annex_cases import of_annexes
from tests.support.everything_study import MADE_AFTER
from tests.support.sandbox import Sandbox, jobs_of

ANALYSIS = "analysis/minilm/demo-lm"
MAKING = {"generate_answers", "view_answers", "build_run", "build_prompts", "fill_scores", "score_answers"}


def with_clusters(study: Sandbox, names: list[str]) -> None:
    """Put the study's queries, in the order of their qids, into the clusters ``names``."""
    qids = sorted(pl.read_parquet(study.results / "small/collection/queries.parquet")["qid"])
    lines = [f"{qid}\t{name}" for qid, name in zip([*qids, "unknown"], [*names[: len(qids)], "x"], strict=True)]
    (study.folder / "conversations.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_from_the_file_to_the_page(copied: Callable[[], Sandbox]) -> None:
    """The key, an edit of its file and a loss rerun what follows alone, and undone they give the same bytes."""
    study = copied()
    before = study.tables()
    n = pl.read_parquet(study.results / "small/collection/queries.parquet").height
    study.config["datasets"]["small"]["clusters"] = "conversations.tsv"
    study.write_config()
    done = study.snakemake(check=False)
    said = done.stdout + done.stderr
    assert done.returncode and "datasets.small.clusters': found no file" in said
    assert "expected a file with lines of the form qid<TAB>cluster" in said

    with_clusters(study, [str(place // 2) for place in range(n)])
    done = study.snakemake()
    assert jobs_of(done)["prepare_clusters"] == 1 and not MAKING & set(jobs_of(done))
    sizes = pl.read_csv(study.results / f"small/{ANALYSIS}/clusters.csv").row(0, named=True)
    assert (sizes["queries"], sizes["clusters"], sizes["largest"]) == (n, (n + 1) // 2, 2)
    tests = pl.read_csv(study.results / f"small/{ANALYSIS}/significance.csv")
    assert tests["p_value"].is_null().all() and NOT_BY_CLUSTER in tests["reason"].to_list()
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert f"{n} queries form {(n + 1) // 2} clusters" in page
    provenance = json.loads((study.results / "report/provenance.json").read_text(encoding="utf-8"))
    assert provenance["config"]["datasets"]["small"]["clusters"] == "conversations.tsv"
    assert provenance["data"]["small"]["clusters"]["count"] == n
    clustered = study.tables()
    assert study.planned() == {}

    with_clusters(study, [str(place) for place in range(n)])
    done = study.snakemake()
    assert jobs_of(done)["prepare_clusters"] == 1 and not MAKING & set(jobs_of(done))
    alone = {name: content for name, content in study.tables().items() if "clusters" not in name}
    changed = [name for name in alone if name in before and before[name] != alone[name]]
    assert [name for name in changed if "provenance" not in name] == [], "a cluster per query is no cluster"

    (study.folder / "conversations.tsv").write_text("q00\ta\n", encoding="utf-8")
    done = study.snakemake(check=False)
    assert done.returncode and "queries have none); expected one line qid<TAB>cluster" in done.stdout + done.stderr
    with_clusters(study, [str(place // 2) for place in range(n)])
    (study.results / "small/collection/clusters.parquet").unlink(missing_ok=True)
    study.snakemake()
    assert study.tables() == clustered

    del study.config["datasets"]["small"]["clusters"]
    study.write_config()
    done = study.snakemake()
    assert not MAKING & set(jobs_of(done))
    provenance = json.loads((study.results / "report/provenance.json").read_text(encoding="utf-8"))
    assert "clusters" not in provenance["data"]["small"], "the file that is left there is not this study's"
    after = study.tables()
    assert {name: after[name] for name in before} == before


@pytest.mark.full
def test_a_study_with_everything_on(optional: Sandbox, tmp_path: Path) -> None:
    """Every part is made without an engine; what is not by cluster keeps its bytes, and the page says which that is."""
    study = optional.copied_to(tmp_path / "study")
    before = study.contents()
    n = pl.read_parquet(study.results / "small/collection/queries.parquet").height
    with_clusters(study, [str(place // 2) for place in range(n)])
    study.config["datasets"]["small"]["clusters"] = "conversations.tsv"
    study.write_config()
    done = study.snakemake(*MADE_AFTER)
    assert not MAKING & set(jobs_of(done)) and jobs_of(done)["prepare_clusters"] == 1
    after = study.contents()
    changed = {name for name in before if after.get(name) != before[name]}
    by_cluster = {f"{name}.csv" for name in (
        "utility", "correlation", "significance", "differences", "gain", "within", "relay", "holes", "systems",
        "equivalence", "coupling", "clusters", *chain(*of_annexes("BY_CLUSTER")),
    )}  # fmt: skip
    assert {Path(name).name for name in changed if "/analysis/" in name} <= by_cluster
    for folder in ("scores", "utility", *chain(*of_annexes("UNCLUSTERED"))):
        assert not [name for name in changed if f"/{folder}/" in name and name.endswith((".csv", ".parquet"))], folder
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "other intervals are omitted or treat queries as independent" in page
    study.snakemake("plan", "preview", check=False)
    assert study.planned(*MADE_AFTER) == {}
