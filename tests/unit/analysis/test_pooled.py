"""The study's answers over several generators and datasets, against means and pools computed plainly."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis import relay
from ragrelay.analysis.pooled import ALL_DATASETS, COLUMNS, RELAY, SYSTEMS, Sample, mean_of_generators, pool_samples
from ragrelay.analysis.systems import systems
from ragrelay.analysis.verdicts import SAY_BETTER, SAY_WORSE
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.report.display.outputs import resolve
from ragrelay.report.outputs import RESULT_TABLES
from scipy import optimize, stats

from tests.support.report_study import GRID, per_query
from tests.support.scripts import named, run_script

KINDS = {"bm25": "bm25", "dense": "dense", "rel": "oracle"}
PRIMARY = Primary("dense", "bm25", "descending", 2, "lenient", "nDCG", "minilm")
CELL = {"ordering": "descending", "k": 2, "references": "lenient"}
MARGIN = 0.02


def sample(seed: int, generators: Iterable[str] = ("a", "b", "c"), n: int = 30, scorer: str = "minilm") -> Sample:
    """Generators that share queries and rankings."""
    grid = GRID | {"retrievers": list(KINDS)}
    queries, ranked = per_query(grid, n, seed)
    random = np.random.default_rng(seed)
    utilities = {
        name: queries.with_columns(
            p=pl.col("p") + random.normal(0, 0.05, queries.height), p0=pl.col("p0") + random.normal(0, 0.01)
        )
        for name in generators
    }
    contexts = queries.select("retriever", "ordering", "k", "qid").unique()
    docnos = contexts.with_columns(docnos=pl.concat_list("retriever"))
    return Sample(f"d{seed}", scorer, PRIMARY, utilities, ranked, docnos)


def test_generators_are_averaged_per_query_and_tested_as_one_is() -> None:
    one = sample(0)
    lost = one.utilities["b"].with_columns(
        p=pl.when((pl.col("qid") == "1003") & (pl.col("retriever") == "dense")).then(None).otherwise("p")
    )
    one = one._replace(utilities={**one.utilities, "b": lost})
    table = pool_samples([one], KINDS, {"minilm": MARGIN})
    by_query = {
        key: [part.filter(retriever=key[0], qid=key[1], **CELL).select("p", "p0").row(0) for part in
              one.utilities.values()]
        for key in [(name, f"{1000 + place}") for name in KINDS for place in range(30)]
    }  # fmt: skip
    rows = [
        {"retriever": name, "qid": qid, **CELL, "p": np.mean([p for p, _ in both]),
         "p0": np.mean([p0 for _, p0 in both])}
        for (name, qid), both in by_query.items()
        if all(p is not None for p, _ in both)
    ]  # fmt: skip
    averaged = pl.DataFrame(rows)
    differences = [
        next(r["p"] for r in rows if (r["retriever"], r["qid"]) == ("dense", qid))
        - next(r["p"] for r in rows if (r["retriever"], r["qid"]) == ("bm25", qid))
        for qid in (f"{1000 + place}" for place in range(30))
        if qid != "1003"
    ]
    row = table.filter(question=SYSTEMS).row(0, named=True)
    assert (row["n"], row["n_generators"], row["generators"]) == (29, 3, "a, b, c")
    assert row["estimate"] == pytest.approx(np.mean(differences))
    assert row["error"] == pytest.approx(stats.sem(differences))
    single = systems(averaged, ["bm25", "dense"], None, PRIMARY, MARGIN).row(0, named=True)
    assert row["low"] == pytest.approx(single["low"]) and row["verdict"] == single["verdict"]
    assert row["stands"] is single["stands"]

    slopes = relay.relay(averaged, one.retrieval, one.contexts, KINDS).filter(retrievers=relay.ALL_RANKINGS, k=2)
    for adjusted in (False, True):
        mine = table.filter(question=RELAY, adjusted=adjusted).row(0, named=True)
        theirs = slopes.filter(adjusted=adjusted).row(0, named=True)
        assert mine["estimate"] == pytest.approx(theirs["slope"]) and mine["n"] == theirs["n"] == 29
        assert [mine[end] for end in ("low", "high")] == pytest.approx([theirs[end] for end in ("low", "high")])
        assert mine["verdict"] == theirs["verdict"]
    # The slope's error by the delta method, of its pair alone.
    x, p = (
        np.array([averaged_of[name, qid] for name, qid in pairs])
        for pairs, averaged_of in [
            ([("x", f"{1000 + q}") for q in range(30) if q != 3], differences_of(one, averaged)),
            ([("p", f"{1000 + q}") for q in range(30) if q != 3], differences_of(one, averaged)),
        ]
    )
    x, p = x - x.mean(), p - p.mean()
    slope = (x @ p) / (x @ x)
    error = np.sqrt(29 / 28 * np.sum((x * p - slope * x * x) ** 2)) / (x @ x)
    assert table.filter(question=RELAY, adjusted=False)["error"].item() == pytest.approx(error)


def differences_of(one: Sample, averaged: pl.DataFrame) -> dict[tuple[str, str], float]:
    x = {(r["retriever"], r["qid"]): r["value"] for r in one.retrieval.filter(k=2).iter_rows(named=True)}
    p = {(r["retriever"], r["qid"]): r["p"] for r in averaged.iter_rows(named=True)}
    found = {}
    for qid in {qid for _, qid in x}:
        found["x", qid] = x["dense", qid] - x["bm25", qid]
        if ("dense", qid) in p:
            found["p", qid] = p["dense", qid] - p["bm25", qid]
    return found


def test_datasets_are_pooled_from_five_on() -> None:
    four = [sample(seed, ["a"], 24 + 10 * seed) for seed in range(4)]
    assert ALL_DATASETS not in pool_samples(four, KINDS, {"minilm": MARGIN})["dataset"]
    five = [*four, sample(4, ["a"], 24)]
    table = pool_samples(five, KINDS, {"minilm": MARGIN})
    assert table.height == 3 * (5 + 1)
    for question, adjusted in ((SYSTEMS, None), (RELAY, False), (RELAY, True)):
        rows = table.filter(pl.col("question") == question, pl.col("adjusted").eq_missing(pl.lit(adjusted)))
        single, whole = rows.filter(pl.col("dataset") != ALL_DATASETS), rows.filter(dataset=ALL_DATASETS)
        y, v = single["estimate"].to_numpy(), single["error"].to_numpy() ** 2

        def heterogeneity(tau2: float, y: np.ndarray = y, v: np.ndarray = v) -> float:
            w = 1 / (v + tau2)
            return float(w @ (y - (w @ y) / w.sum()) ** 2) - (len(y) - 1)

        tau2 = optimize.brentq(heterogeneity, 0, 10) if heterogeneity(0) > 0 else 0.0
        w = 1 / (v + tau2)
        mean = (w @ y) / w.sum()
        error = np.sqrt(max(1.0, (w @ (y - mean) ** 2) / (len(y) - 1)) / w.sum())
        plain, reach = stats.sem(y), stats.t.ppf(0.975, 4)
        row = whole.row(0, named=True)
        assert row["estimate"] == pytest.approx(mean, abs=1e-6) and row["error"] == pytest.approx(error, rel=1e-3)
        assert row["tau"] == pytest.approx(np.sqrt(tau2), abs=1e-4)
        assert row["low"] == pytest.approx(min(mean - reach * error, y.mean() - reach * plain), rel=1e-3, abs=1e-5)
        assert row["high"] == pytest.approx(max(mean + reach * error, y.mean() + reach * plain), rel=1e-3, abs=1e-5)
        assert (row["n"], row["n_datasets"], row["stands"]) == (single["n"].sum(), 5, None)
        assert (single["stands"].null_count() < 5) is (question == SYSTEMS)


@pytest.mark.simulation
def test_generators_without_an_effect_are_seldom_said_to_have_one() -> None:
    """Three generators share half of what a query does to the answer; taken for samples of their own they'd be 20%."""
    random, said, draws, n = np.random.default_rng(3), 0, 400, 20
    qids = [f"q{place}" for place in range(n)]
    for _ in range(draws):
        shared = random.normal(0, 0.16, n)
        utilities = {}
        for name in "abc":
            p = {"bm25": np.full(n, 0.5), "dense": 0.5 + shared + random.normal(0, 0.12, n)}
            rows = [
                {"retriever": r, "qid": q, **CELL, "p": v, "p0": 0.4}
                for r in p
                for q, v in zip(qids, p[r], strict=True)
            ]
            utilities[name] = pl.DataFrame(rows)
        row = systems(mean_of_generators(list(utilities.values())), ["bm25", "dense"], None, PRIMARY, MARGIN)
        said += row["verdict"].item() in SAY_BETTER + SAY_WORSE
    assert 0 < said / draws <= 0.07


def test_the_script_makes_the_declared_table(tmp_path: Path) -> None:
    patterns = {
        "utility": "<results>/{dataset}/utility/{scorer}/{generator}.parquet",
        "retrieval": "<results>/{dataset}/retrieval/{retriever}.parquet",
        "prompts": "<results>/{dataset}/prompts/{template}/{retriever}/{ordering}/k{k}.parquet",
        "clusters": "<results>/{dataset}/collection/clusters.parquet",
    }
    samples = [sample(seed, ["a", "b"]) for seed in (1, 2)]
    files: dict[str, list[str]] = {name: [] for name in patterns}

    def write(name: str, frame: pl.DataFrame, **key: object) -> None:
        path = tmp_path / patterns[name].removeprefix("<results>/").format(**key)
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(path)
        files[name].append(str(path))

    sections = []
    for one in samples:
        for generator, utility in one.utilities.items():
            write("utility", utility, dataset=one.dataset, scorer="minilm", generator=generator)
            names = {"dataset": one.dataset, "scorer": "minilm", "generator": generator}
            sections.append(names | {"primary": PRIMARY._asdict()})
        for (retriever,), part in one.retrieval.group_by("retriever", maintain_order=True):
            write("retrieval", part.drop("retriever"), dataset=one.dataset, retriever=retriever)
            shown = one.contexts.filter(retriever=retriever, ordering="descending", k=2).select("qid", "docnos")
            names = {"dataset": one.dataset, "template": "t", "retriever": retriever}
            write("prompts", shown, **names, ordering="descending", k=2)
    run_script(
        "analysis/pool_samples.py",
        input=named(**files),
        output=[str(tmp_path / "pooled.csv")],
        params=SimpleNamespace(sections=sections, patterns=patterns, kinds=KINDS, margins={"minilm": MARGIN}),
        log=[str(tmp_path / "log")],
    )
    columns = resolve(RESULT_TABLES["pooled"].columns)
    assert columns == COLUMNS
    made = pl.read_csv(tmp_path / "pooled.csv", schema_overrides={name: c.dtype for name, c in columns.items()})
    expected = pool_samples(samples, KINDS, {"minilm": MARGIN})
    assert made.equals(expected)
