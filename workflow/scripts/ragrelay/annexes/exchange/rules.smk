"""Export to other programs.

Input: the tables of the analysis, utility, measures; answers, prompts, queries, scores.
Output: exported_trec_rag, exported_pyterrier, exported_jsonl, exported_parquet, exported_scores, exported_table,
data_card, crate.
"""

from ragrelay.annexes.exchange import files as exported_files
from ragrelay.annexes.exchange.rules import Exports

exports = Exports(study, reported)


rule export_answers:
    """Export a generator's answers in the formats of other programs."""
    input:
        queries=files.queries,
        prompts=generation.prompts(files.prompts, study.all_cells),
        answers=files.answers.each(study.all_cells),
        passages=of_job(lambda generator: generation.passages(generator).each(study.each_retriever)),
    output:
        trec_rag=exported_files.exported_trec_rag.each(study.all_cells),
        pyterrier=exported_files.exported_pyterrier.each(study.all_cells),
        jsonl=exported_files.exported_jsonl,
        parquet=exported_files.exported_parquet,
    log:
        "<logs>/export_answers/{dataset}/{generator}.log",
    conda:
        env("analysis")
    params:
        patterns=exports.patterns,
        about=exports.about,
        code=code_of("exchange/export_answers.py"),
    script:
        "scripts/export_answers.py"


rule export_scores:
    """Export the scores of a generator's answers as AutoJudge records."""
    input:
        scores=exports.scores,
    output:
        exported_files.exported_scores,
    log:
        "<logs>/export_scores/{dataset}/{generator}.log",
    conda:
        env("analysis")
    params:
        patterns={"scores": files.scores},
        code=code_of("exchange/export_scores.py"),
    script:
        "scripts/export_scores.py"


rule export_tables:
    """Export the analysis tables as Parquet files with a data card."""
    input:
        *reported.section_files.values(),
        study.grid_paths(files.measures),
        *reported.pooled.values(),
    output:
        tables=exports.tables,
        card=exported_files.data_card,
    log:
        "<logs>/export_tables.log",
    conda:
        env("report")
    params:
        study=study.name,
        code=code_of("exchange/export_tables.py", *exports.registries),
    script:
        "scripts/export_tables.py"


rule describe_results:
    """Describe the results in an RO-Crate."""
    input:
        files.report,
        files.provenance,
        files.left_out_counts,
        *rules.export_tables.output,
        study.grid_paths(exported_files.exported_parquet),
        study.grid_paths(exported_files.exported_jsonl),
        study.grid_paths(exported_files.exported_scores),
        asked_tables,
    output:
        exported_files.crate,
    log:
        "<logs>/describe_results.log",
    conda:
        env("report")
    params:
        study=study.name,
        questions=shown_questions,
        code=code_of("exchange/describe_results.py", *exports.registries),
    script:
        "scripts/describe_results.py"


rule export:
    """Export answers and scores in other programs' formats and tables as Parquet, with a data card and an RO-Crate."""
    input:
        study.grid_paths(exported_files.exported_parquet),
        study.grid_paths(exported_files.exported_scores),
        rules.export_tables.output,
        rules.describe_results.output,
