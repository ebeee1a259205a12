"""A result file is three places: an entry in the registry, a rule, a script. Added there, it is made and listed."""

import subprocess
import sys
from pathlib import Path

from tests.support.sandbox import Sandbox

ENTRY = """
query_lengths = StudyFile("{dataset}/collection/lengths.csv", "count_letters", "letters of every query",
    "ragrelay.collection.base:QUERY_COLUMNS")
# fmt: on
"""
RULE = '''

rule count_letters:
    """Count the letters of every query."""
    input:
        files.queries,
    output:
        files.query_lengths,
    log:
        "<logs>/count_letters/{dataset}.log",
    conda:
        "../envs/analysis.yaml"
    params:
        code=code_of("count_letters.py"),
    script:
        "../workflow/scripts/count_letters.py"
'''
SCRIPT = '''"""The letters of every query."""

import polars as pl
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    queries = pl.read_parquet(snakemake.input[0])
    write_csv(queries.select("qid", letters=pl.col("query").str.len_chars()), snakemake.output[0])
'''
LIST = """
from ragrelay.execution.study.files import result_files
print(*(f"{f.path} {f.rule}: {f.about}" for f in result_files()), sep="\\n")
"""


def test_it_is_made_and_listed(tmp_path: Path) -> None:
    study = Sandbox(tmp_path / "study", queries=2)
    scripts = study.folder / "workflow/scripts"
    registry = scripts / "ragrelay/execution/study/files.py"
    text = registry.read_text(encoding="utf-8")
    registry.write_text(text.replace("# fmt: on\n", ENTRY.lstrip(), 1), encoding="utf-8")
    with (study.folder / "rules/retrieval.smk").open("a", encoding="utf-8") as rules:
        rules.write(RULE)
    (scripts / "count_letters.py").write_text(SCRIPT, encoding="utf-8")
    made = "results/small/small/collection/lengths.csv"
    Sandbox.snakemake(study, made)
    first, *rows = (study.folder / made).read_text(encoding="utf-8").splitlines()
    assert first == "qid,letters" and len(rows) == 2 and rows[0].startswith("q01,")
    assert study.planned(made) == {}
    listed = subprocess.run(
        [sys.executable, "-c", LIST], cwd=scripts, text=True, capture_output=True, check=True
    ).stdout
    assert "{dataset}/collection/lengths.csv count_letters: letters of every query" in listed
