"""A synthetic study for the tests of the report: seeded random numbers of a realistic shape, written as files.

Means, intervals, correlations and tests are really computed from the per-query numbers (plainly, with scipy), so that
what the report says can be checked against them.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from ragrelay.analysis import (
    cluster_sizes,
    correlation,
    coupling,
    dependent,
    equivalence,
    gain,
    holes,
    relay,
    significance,
    systems,
    within,
)
from ragrelay.analysis.verdicts import TOO_FEW, WORDS_AT_LEAST, of_correlation
from ragrelay.base.vocabulary.columns import schema_of
from ragrelay.base.vocabulary.orderings import fits
from ragrelay.base.vocabulary.primary import Primary
from ragrelay.report.display.outputs import resolve
from ragrelay.report.display.sections import Section
from ragrelay.report.outputs import RESULT_TABLES
from scipy import stats

RETRIEVERS = ("bm25", "dense", "rel", "nrel")
GRID: dict[str, Any] = {
    "retrievers": list(RETRIEVERS), "orderings": ["descending", "ascending"], "k": [1, 2, 5], "seeds": [1, 2, 3],
    "measures": ["nDCG"], "kinds": {"bm25": "bm25", "dense": "dense", "rel": "oracle", "nrel": "oracle"},
}  # fmt: skip
CELL = ["retriever", "ordering", "k", "references"]
PRIMARY = Primary("dense", "bm25", "descending", 5, "lenient", "nDCG", "minilm")
FILES = ("utility", "correlation", "significance", "per_query", "differences", "variance", "positions", "spread",
         "lengths", "cost", "gain", "within", "relay", "holes", "systems", "equivalence", "coupling",
         "clusters")  # fmt: skip
"""The sources of a section."""
QUALITY = {"bm25": 0.5, "dense": 0.6, "rel": 0.95, "nrel": 0.0}
GAIN = {"bm25": 0.10, "dense": 0.13, "rel": 0.24, "nrel": -0.05}


def interval(values: np.ndarray) -> tuple[float, float]:
    """The mean's t interval (the real analysis resamples; the report doesn't care)."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean() - half, values.mean() + half


def per_query(grid: dict[str, Any], n: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The frames utility (one row per cell and query) and retrieval (retriever, qid, measure, k, value)."""
    random = np.random.default_rng(seed)
    qids = [str(1000 + place) for place in range(n)]
    p0 = {"lenient": random.uniform(0.35, 0.7, n), "strict": random.uniform(0.3, 0.65, n)}
    rows, ranked = [], []
    for place, retriever in enumerate(grid["retrievers"]):
        quality = QUALITY.get(retriever, 0.3 + 0.05 * place)
        skill = np.clip(random.normal(quality, 0.22, n), 0, 1) * (quality > 0)
        for k in grid["k"]:
            measured = np.clip(skill + random.normal(0, 0.06, n), 0, 1) * (quality > 0)
            for measure in grid["measures"]:
                ranked.extend(
                    {"retriever": retriever, "qid": qid, "measure": measure, "k": k, "value": float(value)}
                    for qid, value in zip(qids, measured, strict=True)
                )
            for ordering in (name for name in grid["orderings"] if fits(name, k)):
                shift = 0.0 if ordering == "descending" else -0.015 * (k > 1)
                for references in ("lenient", "strict", "lenient-unseen", "strict-unseen"):
                    gain = GAIN.get(retriever, 0.05) * (0.45 if references.endswith("unseen") else 1)
                    base = p0[references.split("-")[0]]
                    p = base * (1 + gain + shift + 0.2 * (measured - quality) + random.normal(0, 0.08, n))
                    for qid, q, q0, inside in zip(qids, p, base, random.uniform(0, 1, n), strict=True):
                        rows.append(
                            {"retriever": retriever, "ordering": ordering, "k": k, "references": references, "qid": qid,
                             "p": float(q), "p0": float(q0), "utility": float((q - q0) / q0), "n_references": 4,
                             "best_in_context": float(inside > 0.4) if retriever == "rel" else float(inside > 0.8),
                             "n_seeds": 3}
                        )  # fmt: skip
    return pl.DataFrame(rows), pl.DataFrame(ranked)


def utility_table(queries: pl.DataFrame, ranked: pl.DataFrame) -> pl.DataFrame:
    found = []
    for key, part in queries.group_by(CELL, maintain_order=True):
        low, high = interval(part["utility"].drop_nulls().to_numpy())
        here = ranked.filter(pl.col("retriever") == key[0], pl.col("k") == key[2])
        means = {name[0]: mean["value"].mean() for name, mean in here.group_by("measure", maintain_order=True)}
        unseen = str(key[3]).endswith("unseen")
        found.append(
            dict(zip(CELL, key, strict=True))
            | {"n": part.height, "mean_p": part["p"].mean(), "mean_p0": part["p0"].mean(),
               "mean_utility": part["utility"].mean(), "low": low, "high": high,
               "median_utility": part["utility"].median(), "n_null": 0, "n_low_p0": 0,
               "share_best_in_context": 0.0 if unseen else part["best_in_context"].mean(), "share_unjudged": 0.04}
            | means
        )  # fmt: skip
    zeroshot = [
        {"retriever": "zeroshot", "ordering": "none", "k": 0, "references": grade, "n": p0.height,
         "mean_p": p0["p0"].mean(), "mean_p0": p0["p0"].mean()}
        for grade in ("lenient", "strict")
        for p0 in [queries.filter(pl.col("references") == grade).unique("qid")]
    ]  # fmt: skip
    return pl.DataFrame([*found, *zeroshot], infer_schema_length=None)


def correlation_table(queries: pl.DataFrame, ranked: pl.DataFrame) -> pl.DataFrame:
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    found = []
    for key, part in queries.group_by(CELL, maintain_order=True):
        here = ranked.filter(pl.col("retriever") == key[0], pl.col("k") == key[2])
        for measure in here["measure"].unique(maintain_order=True):
            both = part.join(here.filter(pl.col("measure") == measure), on="qid")
            x, y = both["value"].to_numpy(), both["utility"].to_numpy()
            for subset in ("all", "p0>=0.1"):
                for coefficient, test in tests.items():
                    row: dict[str, Any] = {"value": None, "low": None, "high": None, "n": len(x), "n_null": 0,
                                           "p_value": None, "method": None, "reason": "nDCG is constant"}  # fmt: skip
                    if x.std() > 0:
                        result = test(x, y)
                        half = 1.96 / np.sqrt(len(x) - 3)
                        ends = np.tanh(np.arctanh(result.statistic) + np.array([-half, half]))
                        row |= {"value": float(result.statistic), "low": float(ends[0]), "high": float(ends[1]),
                                "p_value": float(result.pvalue), "method": "BCa", "reason": None}  # fmt: skip
                    names = {"measure": measure, "subset": subset, "coefficient": coefficient}
                    found.append(dict(zip(CELL, key, strict=True)) | names | row)
    return pl.DataFrame(found, infer_schema_length=None)


DETECTABLE = {"pearson": 0.45, "spearman": 0.49}


def with_verdicts(correlations: pl.DataFrame) -> pl.DataFrame:
    """Add p_permutation (the plain p-value: the report doesn't care), adjusted, and the verdict of rho."""
    rows = [
        row | {"p_permutation": row["p_value"] if row["coefficient"] != "kendall" else None,
               "detectable": DETECTABLE.get(row["coefficient"]) if row["value"] is not None else None,
               "verdict": of_correlation(row["low"], row["high"], row["p_value"])
               if row["coefficient"] == "spearman" and row["value"] is not None else None}
        for row in correlations.iter_rows(named=True)
    ]  # fmt: skip
    few = [row["coefficient"] == "spearman" and row["value"] is not None and row["n"] < WORDS_AT_LEAST for row in rows]
    counts = [
        f"{row['n']} queries, but {WORDS_AT_LEAST} are needed" if one else None
        for row, one in zip(rows, few, strict=True)
    ]
    table = pl.DataFrame(rows, infer_schema_length=None).with_columns(
        verdict=pl.when(pl.Series(few)).then(pl.lit(TOO_FEW)).otherwise("verdict"),
        remark=pl.Series(counts, dtype=pl.String),
    )
    return correlation.corrected(correlation.with_adjusted(table))


def verdicts(queries: pl.DataFrame, ranked: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The tables from which the report concludes, as the analysis makes them."""
    kinds = {name: "oracle" if name in ("rel", "nrel") else "bm25" for name in ranked["retriever"].unique().sort()}
    of = {name: (queries.filter(retriever=name), ranked.filter(retriever=name).drop("retriever")) for name in kinds}
    contexts = queries.select("retriever", "ordering", "k", "qid").unique()
    contexts = contexts.with_columns(docnos=pl.concat_list("retriever"))
    return {
        "gain": gain.with_adjusted(pl.concat([gain.gains(rows, 200, 0) for rows, _ in of.values()])),
        "within": within.within_queries(queries, ranked, kinds),
        "relay": relay.relay(queries, ranked, contexts, kinds),
        "holes": pl.DataFrame(schema=holes.SCHEMA),
        "clusters": pl.DataFrame(schema=cluster_sizes.SCHEMA),
        "systems": systems.systems(queries, list(kinds), "rel", PRIMARY, 0.02),
        "equivalence": equivalence.equivalences(queries, "rel", 0.02, PRIMARY),
        "coupling": pl.concat([coupling.couplings(*both) for both in of.values()]),
    }


def significance_table(queries: pl.DataFrame) -> pl.DataFrame:
    found = []
    for key, part in queries.group_by(CELL, maintain_order=True):
        retriever, ordering, k, references = key
        rivals = [("†", "rel", "descending")] if (retriever, ordering) != ("rel", "descending") else []
        if ordering == "descending":
            rivals.append(("‡", retriever, "ascending"))
        for mark, other, other_ordering in rivals:
            versus = queries.filter(
                pl.col("retriever") == other, pl.col("ordering") == other_ordering, pl.col("k") == k,
                pl.col("references") == references,
            )  # fmt: skip
            for quantity in ("p", "utility") if versus.height else ():
                one, two = part[quantity].to_numpy(), versus[quantity].to_numpy()
                test = stats.ttest_rel(one, two)
                d_z = float(test.statistic / np.sqrt(len(one)))
                low, high = interval(one - two)
                found.append(
                    {"mark": mark} | dict(zip(CELL, key, strict=True))
                    | {"against_retriever": other, "against_ordering": other_ordering, "quantity": quantity,
                       "n": len(one), "mean_difference": float((one - two).mean()), "low": low, "high": high,
                       "d_z": d_z, "d_z_low": d_z - 0.3, "d_z_high": d_z + 0.3,
                       "p_wilcoxon": float(stats.wilcoxon(one, two).pvalue), "p_permutation": float(test.pvalue),
                       "t": float(test.statistic),
                       "p_value": float(test.pvalue), "p_holm": min(1.0, 21 * float(test.pvalue)),
                       "p_bh": min(1.0, 3 * float(test.pvalue)), "family": f"{mark} {quantity} {references}",
                       "family_size": 21, "significant": bool(test.pvalue < 0.05), "reason": None}
                )  # fmt: skip
    return (
        pl.DataFrame(found, infer_schema_length=None) if found else pl.DataFrame(schema=schema_of(significance.COLUMNS))
    )


def described(grid: dict[str, Any], seed: int) -> dict[str, pl.DataFrame]:
    """The frames positions, spread, lengths and cost, of random numbers."""
    random = np.random.default_rng(seed)
    cells = [{"retriever": r, "ordering": o, "k": k} for r in grid["retrievers"] for o in grid["orderings"]
             for k in grid["k"]]  # fmt: skip
    sets = ("lenient", "strict")
    positions = [
        {**cell, "references": references, "relevant": relevant, "position": position, "n": int(random.integers(2, 40)),
         "mean_utility": float(mean), "low": float(mean) - 0.1, "high": float(mean) + 0.1}
        for cell in cells for references in sets for relevant in ("any number", "exactly one")
        for position in range(cell["k"] + 1) for mean in [random.normal(0.2, 0.1)]
    ]  # fmt: skip
    spread = [
        {**cell, "references": references, "n": 36 if len(grid["seeds"]) > 1 else 0, "q25": 0.01, "median": 0.02,
         "q75": 0.04}
        for cell in cells for references in sets
    ]  # fmt: skip
    lengths = [
        {**cell, "n": 108, "mean_tokens": 60.5, "q05": 20.0, "q25": 40.0, "median": 61.0, "q75": 70.0, "q95": 100.0,
         "stop": 108 - cut, "length": cut, "other": 0, "blank": 0, "several": 36, "alike": 0}
        for cell in [*cells, {"retriever": "zeroshot", "ordering": "none", "k": 0}]
        for cut in [int(random.integers(5, 40))]
    ]  # fmt: skip
    tokens = {"answers": 108, "prompt_tokens": 9000, "cached_tokens": 3000, "answer_tokens": 6000}
    kinds = [*({"retriever": r, "k": k} for r in grid["retrievers"] for k in grid["k"]),
             *({"retriever": r, "k": None} for r in (*grid["retrievers"], "zeroshot", "all"))]  # fmt: skip
    cost = [{**kind, **tokens, "device_seconds": None if kind["k"] else 21.5, "made_by": "vllm 0.32.0 on cpu"}
            for kind in kinds]  # fmt: skip
    frames = {"positions": positions, "spread": spread, "lengths": lengths, "cost": cost}
    return {name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in frames.items()}


def variance_table(queries: pl.DataFrame) -> pl.DataFrame:
    """Made-up noise of the seeds beside the real spread of the queries."""
    cells = queries.group_by(CELL, maintain_order=True).agg(n=pl.len(), variance_queries=pl.col("p").var())
    noise = pl.col("variance_queries") / 4
    reliability = pl.col("variance_queries") / (pl.col("variance_queries") + noise / 3)
    return cells.with_columns(
        n_seeds=pl.lit(3.0), variance_seeds=noise, share_seeds=pl.lit(0.2), reliability=reliability,
        low=reliability - 0.05, high=reliability + 0.05, reason=pl.lit(None, pl.String),
    )  # fmt: skip


def complete(name: str, frame: pl.DataFrame, part: dict[str, str]) -> pl.DataFrame:
    """``frame`` with the declared columns of the source ``name`` that it hasn't, null but for those of ``part``."""
    columns = resolve(RESULT_TABLES[name].columns)
    added = {column: part.get(column) for column in columns if column not in frame.columns and "{" not in column}
    return frame.with_columns(
        pl.lit(value, columns[column].dtype).alias(column) for column, value in added.items()
    ).select(*(column for column in columns if "{" not in column), pl.all().exclude(*columns))


def changed(section: Section, **tables: pl.DataFrame) -> Section:
    """``section`` with other tables in the place of some."""
    return replace(section, tables={**section.tables, **tables})


def write_study(
    folder: Path, datasets: tuple[str, ...] = ("demo",), grid: dict[str, Any] | None = None, n: int = 36, seed: int = 7
) -> dict[str, Any]:
    """Write a study's files under ``folder`` and return what ``read_study`` takes."""
    grid = (grid or GRID) | {"references": {dataset: ["lenient", "strict"] for dataset in datasets}}
    sections = []
    for place, dataset in enumerate(datasets):
        here = folder / str(place)
        here.mkdir(parents=True, exist_ok=True)
        section: dict[str, Any] = {"dataset": dataset, "generator": "demo-lm", "scorer": "minilm",
                                   "utility": "relative", "files": {}, "retrieval": {}}  # fmt: skip
        if {PRIMARY.retriever, PRIMARY.reference} <= set(grid["retrievers"]):
            section["primary"] = PRIMARY._asdict()
        queries, ranked = per_query(grid, n, seed + place)
        frames = {
            "utility": utility_table(queries, ranked),
            "correlation": with_verdicts(correlation_table(queries, ranked)),
            **verdicts(queries, ranked),
            "significance": significance_table(queries),
            "differences": dependent.with_adjusted(dependent.differences(queries, ranked, 100, 0)),
            "variance": variance_table(queries),
            "per_query": queries,
            **described(grid, seed + place),
        }
        for name, frame in frames.items():
            whole = complete(name, frame, {"dataset": dataset, "generator": "demo-lm", "scorer": "minilm"})
            path = here / f"{name}{Path(RESULT_TABLES[name].path).suffix}"
            whole.write_parquet(path) if path.suffix == ".parquet" else whole.write_csv(path)
            section["files"][name] = path
        for number, retriever in enumerate(grid["retrievers"]):
            path = here / f"retrieval{number}.parquet"
            ranked.filter(pl.col("retriever") == retriever).drop("retriever").write_parquet(path)
            section["retrieval"][retriever] = path
        sections.append(section)
    provenance = {
        "config": {"study": "demo", "grid": {**grid}, "generators": {"demo-lm": {"model": "demo-lm", "top_k": 50}}},
        "versions": {"ragrelay": "0.1.0", "polars": "2.1.0", "vllm": "0.32.0"},
        "commit": "905edf7",
        "generators": {"demo-lm": {"fingerprint": "1f2e3d4c5b6a7988", "model": "demo-lm", "revision": "a1b2c3d",
                                   "engine": "vllm", "version": "0.32.0", "device": "cpu"}},
        "jobs": [{"dataset": dataset, "generator": "demo-lm", "retriever": retriever, "asked": 648, "held": 0,
                  "made": 648, "prompt_tokens": 41234, "cached_tokens": 30111, "answer_tokens": 9120, "seconds": 31.42,
                  "engines": {"vllm 0.32.0 on cpu": 648}} for dataset in datasets
                 for retriever in ("zeroshot", *grid["retrievers"])],
    }  # fmt: skip
    left_out = [
        {"stage": "collection", "dataset": datasets[0], "what": "judged passages without text", "count": 3,
         "detail": "D17, D90, D112"},
        {"stage": "scoring", "dataset": datasets[0], "what": "queries without a reference at strict", "count": 2,
         "detail": "1004, 1017"},
        {"stage": "contexts", "dataset": datasets[0], "what": "queries without results", "count": 0},
    ]  # fmt: skip
    (folder / "provenance.json").write_text(json.dumps(provenance), encoding="utf-8")
    (folder / "left_out.json").write_text(json.dumps(left_out), encoding="utf-8")
    return {
        "name": "demo", "grid": grid, "sections": sections, "reference_retriever": "rel",
        "provenance": folder / "provenance.json", "left_out": folder / "left_out.json",
    }  # fmt: skip
