"""What the plan says of a study's size: from a default before there are answers, then from these."""

from pathlib import Path
from typing import Any

import polars as pl
from ragrelay.analysis.systems import detectable_difference
from ragrelay.execution.plan.table import size_note

PRIMARY = {"retriever": "dense", "ordering": "descending", "k": 5, "references": "lenient"}


def part(folder: Path, n: int) -> dict[str, Any]:
    pl.DataFrame({"qid": [str(one) for one in range(n)]}).write_parquet(folder / "queries.parquet")
    files = {"queries": "queries.parquet", "systems": "systems.csv", "variance": "variance.csv"}
    paths = {name: str(folder / path) for name, path in files.items()}
    return {"dataset": "demo", "generator": "lm", "margin": 0.02, "primary": PRIMARY, "clustered": False, **paths}


def test_before_and_after_there_are_answers(tmp_path: Path) -> None:
    given = part(tmp_path, 43)
    assert size_note(given) == (
        f"demo, lm: with 43 queries, 80% of studies would detect a difference of ~{detectable_difference(43, 0.2):.3f} "
        "in mean P; equivalence at a margin of 0.02 would take ~1,051 queries (standard deviation of a difference "
        "0.20: assumed)."
    )
    assert "; equivalence" not in size_note({**given, "margin": None})
    systems = pl.DataFrame({"role": ["reference", "primary"], "sd_difference": [0.5, 0.1], "n": [30, 40]})
    systems.write_csv(given["systems"])
    other = {**PRIMARY, "retriever": "bm25"}
    variance = pl.DataFrame([{**other, "seeds_for_reliable": 9}, {**PRIMARY, "seeds_for_reliable": 4}])
    variance.write_csv(given["variance"])
    said = size_note(given)
    assert f"80% of studies would detect a difference of ~{detectable_difference(40, 0.1):.3f} in" in said
    assert "0.02 would take ~263 queries (standard deviation of a difference 0.10: this study's answers); a" in said
    assert said.endswith("; a reliability of 0.9 would take 4 seeds.")
    variance.with_columns(seeds_for_reliable=1).write_csv(given["variance"])
    assert size_note(given).endswith("; a reliability of 0.9 would take 1 seed.")
    systems.with_columns(sd_difference=pl.lit(None, pl.Float64)).write_csv(given["systems"])
    assert "with 43 queries" in size_note(given) and "assumed" in size_note(given)


def test_queries_in_clusters_are_said_to_be_taken_as_independent(tmp_path: Path) -> None:
    given = part(tmp_path, 43)
    assert size_note({**given, "clustered": True}) == (
        f"{size_note(given)} This assumes independent queries; yours come in clusters, so you need more."
    )


def test_too_few_queries(tmp_path: Path) -> None:
    assert size_note(part(tmp_path, 4)) == "demo, lm: 4 queries are too few to compare retrievers."
