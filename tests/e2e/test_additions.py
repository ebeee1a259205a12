"""What one adds has a home: how few files a table with its analysis and a stage touch, and that they work.

Figures: test_added_output.py; questions: test_added_question.py; kinds: tests/unit/kinds; annexes:
tests/annexes/test_taken_away.py.
"""

from collections.abc import Callable, Mapping

import polars as pl

from tests.support.sandbox import Sandbox

PACKAGE = "workflow/scripts/ragrelay"
Addition = Mapping[str, str | tuple[str, str]]
"""By file: its text, or a line of it and what follows this line."""

TABLE: Addition = {
    f"{PACKAGE}/analysis/best.py": '''"""The query with the best answer of each cell."""

import polars as pl

from ragrelay.analysis.transmission import Transmission
from ragrelay.base.vocabulary.columns import CELL, CELL_COLUMNS, QID, STUDY_PART, number

COLUMNS = {**STUDY_PART, **CELL_COLUMNS, "qid": QID, "p": number("its P", "the scorer's")}


def table(given: Transmission) -> pl.DataFrame:
    """Return the table of ``COLUMNS`` for ``given``."""
    best = given.cells.sort("p", "qid", descending=[True, False], nulls_last=True)
    return best.group_by(CELL, maintain_order=True).first().select(*CELL, "qid", "p")
''',
    f"{PACKAGE}/report/outputs.py": (
        "RESULT_TABLES = {\n    table.name: table\n    for table in (\n",
        """        ResultTable("best", f"{ANALYSIS}/best.csv", "analyse_transmission", "ragrelay.analysis.best:COLUMNS",
                    "the query with the best answer of each cell"),
""",
    ),
}
ENTRY = (
    "OUTPUTS: tuple[Output, ...] = (\n",
    """    Table("best", SECTION, ("best",), "Best answers", "Of each cell.", "answers", "as written"),
""",
)
STAGE: Addition = {
    f"{PACKAGE}/collection/query_words.py": '''"""How many words each query has."""

import polars as pl

from ragrelay.base.vocabulary.columns import QID, integer

COLUMNS = {"qid": QID, "words": integer("words of the query", "words")}


def query_words(queries: pl.DataFrame) -> pl.DataFrame:
    """Return COLUMNS."""
    return queries.select("qid", words=pl.col("query").str.split(" ").list.len().cast(pl.Int64))
''',
    "workflow/scripts/collection/count_words.py": '''"""Count the words of queries."""

import polars as pl
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.collection.query_words import query_words
from ragrelay.execution.jobs.scripts import job_log

with job_log(snakemake.log[0], snakemake.input):
    write_csv(query_words(pl.read_parquet(snakemake.input.queries)), snakemake.output[0])
''',
    f"{PACKAGE}/execution/study/files.py": (
        '    "ragrelay.collection.base:QUERY_COLUMNS")\n',
        """query_words = StudyFile("{dataset}/collection/query_words.csv", "count_words", "the words of each query",
    "ragrelay.collection.query_words:COLUMNS")
""",
    ),
    "rules/retrieval.smk": (
        '    script:\n        "../workflow/scripts/collection/prepare_collection.py"\n',
        '''

rule count_words:
    """Count the words of queries."""
    input:
        queries=files.queries,
    output:
        files.query_words,
    log:
        "<logs>/count_words/{dataset}.log",
    conda:
        env("analysis")
    params:
        code=code_of("collection/count_words.py"),
    script:
        "../workflow/scripts/collection/count_words.py"
''',
    ),
}


def add(study: Sandbox, additions: Addition) -> None:
    study.forked = False  # the forked processes have the package as it was
    for name, added in additions.items():
        path = study.folder / name
        if isinstance(added, str):
            assert not path.exists()
            path.write_text(added, encoding="utf-8")
        else:
            line, text = added
            before = path.read_text(encoding="utf-8")
            assert before.count(line) == 1, (name, line)
            path.write_text(before.replace(line, line + text), encoding="utf-8")


def test_a_table_with_its_analysis_touches_two_files(copied: Callable[[], Sandbox]) -> None:
    """The rule, the job, the report's files, the page and the files' list follow."""
    assert len(TABLE) == 2
    study = copied()
    add(study, TABLE)
    add(study, {f"{PACKAGE}/report/outputs.py": ENTRY})
    planned = study.planned()
    assert planned["analyse_transmission"] == planned["write_tables"] == planned["write_page"] == 1
    assert not {"generate_answers", "score_answers", "compute_utility"} & set(planned)
    study.snakemake("report")
    (made,) = study.results.glob("small/analysis/*/*/best.csv")
    best, utility = pl.read_csv(made), pl.read_csv(made.with_name("utility.csv"))
    cells = ["retriever", "ordering", "k", "references"]
    assert best.height == utility.filter(pl.col("retriever") != "zeroshot").height > 8
    assert best.join(utility, on=cells).filter(pl.col("p") < pl.col("mean_p")).is_empty()
    assert list((study.results / "report/tables").glob("best_*.csv"))
    page = (study.results / "report/index.html").read_text(encoding="utf-8")
    assert "Best answers" in page and study.planned() == {}


def test_a_stage_touches_four_files(copied: Callable[[], Sandbox]) -> None:
    """Its test aside, they are the function with columns, script, rule and file; an edit reruns the stage alone."""
    assert len(STAGE) == 4
    study = copied()
    add(study, STAGE)
    study.snakemake("results/small/small/collection/query_words.csv")
    made = study.results / "small/collection/query_words.csv"
    words = pl.read_csv(made)
    assert words.columns == ["qid", "words"] and words.height == 8 and words["words"].min() > 1
    target = f"results/small/{made.relative_to(study.results)}"
    assert study.planned(target) == {} == study.planned()
    function = study.folder / PACKAGE / "collection/query_words.py"
    function.write_text(function.read_text(encoding="utf-8").replace('split(" ")', 'split("e")'), encoding="utf-8")
    assert study.planned(target) == {"count_words": 1} and study.planned() == {}
