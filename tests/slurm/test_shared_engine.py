"""One engine serves all jobs of a shard, also where SLURM starts them one after another on nodes of its choice."""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from tests.support.cluster import Cluster
from tests.support.sandbox import Sandbox
from tests.support.slurm_study import SlurmStudy


@pytest.mark.full
def test_one_engine_starts_per_shard_where_there_is_one_gpu_and_the_prompts_are_there(
    cluster: Cluster, tmp_path: Path
) -> None:
    here = Sandbox(tmp_path / "study")
    here.config["datasets"]["small"]["shards"] = 2
    here.write_config()
    here.snakemake("all_prompts")
    study = SlurmStudy.of(here, cluster)
    sleeper = cluster.run(
        "sbatch", "--parsable", f"--account={cluster.account}", "--partition=gpu", "--gpus=1", "--output=/dev/null",
        "--wrap=sleep 600",
    ).strip()  # fmt: skip
    try:
        study.snakemake("all_answers")
    finally:
        cluster.run("scancel", sleeper)
    receipts = study.receipts()
    assert len(receipts) == 2 * (3 + 1)
    starts = Counter(name.split("/")[1] for name, receipt in receipts.items() if "start_seconds" in receipt)
    assert starts == {"shard0": 1, "shard1": 1}
    rows = pl.concat(map(pl.read_parquet, study.folder.glob("cache/answers/*/part-*.parquet")))
    assert len(rows) == study.answers_made() == rows.n_unique(["prompt_id", "seed"]), "no answer was made twice"
