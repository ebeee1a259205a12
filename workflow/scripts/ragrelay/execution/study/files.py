"""Registry of all files in a study's results, each with its path, columns and rule.

Rules take their paths from this registry, and docs/reference/results.md is generated from it. Some files are registered
elsewhere: the report's tables in `RESULT_TABLES` and `OUTPUTS` (report/outputs.py), tables with replies to questions in
the question's class (questions/kinds), and annexes' files in their ``files.py``.

A path contains exactly the wildcards that its file depends on. Zero-shot answers have retriever `zeroshot`, ordering
`none` and k 0.
"""

from collections.abc import Iterator, Mapping

from ragrelay.base.annex import annexes
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.questions.kinds.check_judge import CheckJudge
from ragrelay.questions.kinds.judge_answers import JudgeAnswers
from ragrelay.questions.kinds.score_context_use import ScoreContextUse
from ragrelay.questions.kinds.write_nuggets import WriteNuggets
from ragrelay.questions.question import question_files
from ragrelay.report.display.outputs import Figure, Table
from ragrelay.report.outputs import ANALYSIS, WITH_BASELINE
from ragrelay.report.registry import OUTPUTS, RESULT_TABLES

# fmt: off
fetched = StudyFile("fetched/{fetched}.json", "fetch_input", "receipt for files fetched from a hub or a catalogue")
converted = StudyFile("converted/{generator}.json", "convert_model",
    "receipt for the conversion of a generator's GGUF file; the converted model is in the cache")
queries = StudyFile("{dataset}/collection/queries.parquet", "prepare_collection, prepare_judged_subtopics",
    "the judged queries", "ragrelay.collection.base:QUERY_COLUMNS")
qrels = StudyFile("{dataset}/collection/qrels.parquet", "prepare_collection, prepare_judged_subtopics",
    "the judgements for the queries in `queries.parquet`; for a passage judged on several subtopics, the highest label",
    "ragrelay.collection.base:QRELS_COLUMNS")
subtopics = StudyFile("{dataset}/collection/subtopics.parquet", "prepare_subtopics",
    "judged subtopics, if the dataset has the key `subtopics`",
    "ragrelay.collection.subtopics.table:SUBTOPIC_COLUMNS")
clusters = StudyFile("{dataset}/collection/clusters.parquet", "prepare_clusters",
    "each query's cluster, if the dataset has the key `clusters`", "ragrelay.collection.clusters:COLUMNS")
references = StudyFile("{dataset}/collection/references.parquet", "prepare_references",
    "passages judged at or above the lowest reference grade", "ragrelay.collection.base:REFERENCE_COLUMNS")
left_out_of_collection = StudyFile("{dataset}/collection/left_out.json", "prepare_collection, prepare_judged_subtopics",
    "counts of left-out queries and judgements")
left_out_of_references = StudyFile("{dataset}/collection/references.left_out.json", "prepare_references",
    "counts of left-out references")
index = StudyFile("indexes/{corpus}/{index}.json", "index_corpus", "receipt for an index in the cache")
run = StudyFile("{dataset}/runs/{retriever}.run.gz", "build_run",
    "TREC run with the fields qid, Q0, docno, rank (from 1), score and the retriever's name; with `run_metadata`, the "
    "file begins with an ir_metadata header in comments")
run_doubts = StudyFile("{dataset}/runs/{retriever}.doubts.json", "build_run",
    "counts of doubtful rows in an imported run file")
skipped = StudyFile("{dataset}/contexts/{retriever}.skipped.parquet", "build_contexts, process_contexts",
    "retrieved passages that were skipped because they have no text", "ragrelay.retrieval.contexts:SKIPPED_COLUMNS")
contexts = StudyFile("{dataset}/contexts/{retriever}.parquet", "build_contexts, process_contexts",
    "each query's top passages with text, up to `context_depth`", "ragrelay.retrieval.contexts:PROCESSED_COLUMNS")
processed = StudyFile("{dataset}/contexts/{retriever}.processed.json", "process_contexts",
    "receipt for processing a retriever's passages (the processed texts are in the cache): contexts requested, cached "
    "and newly processed, the time in seconds, and whether a second run on a sample gave the same texts")
left_out_of_contexts = StudyFile("{dataset}/retrieval/{retriever}.left_out.json", "measure_retrieval",
    "counts of left-out passages and queries")
prompts = StudyFile("{dataset}/prompts/{template}/{retriever}/{ordering}/k{k}.parquet", "build_prompts",
    "a cell's prompts", "ragrelay.prompting.layout:COLUMNS")
receipt = StudyFile("{dataset}/generated/{generator}/shard{shard}.json", "generate_answers",
    "receipt for generation: numbers of keys requested, cached and generated, tokens, seconds and the engine")
answers = StudyFile("{dataset}/answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet",
    "view_answers, read_answers", "the answers of a single cell", "ragrelay.generation.answer_files:COLUMNS")
imported_contexts = StudyFile("{dataset}/prompts/@{generator}/{retriever}/{ordering}/k{k}.parquet", "read_answers",
    "the passages in imported answers' contexts; the prompts' texts are unknown",
    "ragrelay.prompting.layout:COLUMNS")
imported_passages = StudyFile("{dataset}/prompts/@{generator}/{retriever}/passages.parquet", "read_answers",
    "the passages in imported answers' contexts, listed after the retriever's own ranking",
    "ragrelay.retrieval.contexts:COLUMNS")
left_out_of_answers = StudyFile("{dataset}/answers/{generator}/{retriever}/left_out.json",
    "view_answers, read_answers",
    "counts of missing answers by reason and, for imported answers, counts of ignored rows")
encoded_references = StudyFile("{dataset}/references/{scorer}.json", "encode_references",
    "receipt for encoding the references; the embeddings are in the cache")
score_receipt = StudyFile("{dataset}/scored/{scorer}/{generator}/shard{shard}.json", "fill_scores",
    "receipt for scoring; the scores are in the cache")
scores = JudgeAnswers.made["scores"]
left_out_of_scores = JudgeAnswers.made["left_out"]
nuggets = WriteNuggets.made["nuggets"]
left_out_of_nuggets = WriteNuggets.made["left_out"]
judge_checks_scores = CheckJudge.made["scores"]
context_use = ScoreContextUse.made["table"]
plan = StudyFile("plan.csv", "plan", "the requests that each engine job would make, with their estimated cost",
    "ragrelay.report.stage_columns:PLAN")
plan_receipt = StudyFile("plan.json", "plan",
    "when the plan was made, its total (limited by the key `budget`), and the numbers of shards for `shards: auto`")
provenance = StudyFile("report/provenance.json", "gather_provenance",
    "where every result comes from, with hashes of the queries, judgements, gold answers, runs, labels and corpus")
left_out_counts = StudyFile("report/left_out.json", "gather_provenance",
    "all counts of left-out or truncated data, including those in every other `left_out.json`")
explored_queries = StudyFile("report/explorer/{dataset}_{generator}_{scorer}/{name}", "explore_queries",
    "the query explorer's data: one script per query, and `queries.json`, which lists the queries")
report = StudyFile("report/index.html", "write_page", "the study's page")
facts = StudyFile("report/facts.json", "write_page", "the verdicts on the page's first screen, with the table rows "
    "that contain their numbers")
page_list = StudyFile("report/pages.js", "no rule", "a list of the study's pages, for the links in page headers; "
    "written when a run ends")
left_out_table = StudyFile("report/tables/left_out.csv", "write_tables", "counts of left-out, skipped or cut items, by "
                                                                         "stage",
    "ragrelay.report.origin:LEFT_OUT")
measurements = StudyFile("benchmarks/{rule}/{name}.tsv", "rules with a benchmark", "a job's time and memory, as "
    "measured by Snakemake")
# fmt: on


def _registered(names: Mapping[str, object]) -> list[StudyFile]:
    return [file for file in names.values() if isinstance(file, StudyFile)]


_OF_ANNEXES = [file for annex in annexes() if annex.files for file in _registered(vars(annex.files))]
_OF_QUESTION = {file: group for group in question_files() for file in group}
STAGES = list(
    dict.fromkeys(
        member
        for file in [*_registered(dict(vars())), *_OF_ANNEXES, *_OF_QUESTION]
        for member in _OF_QUESTION.get(file, [file])
    )
)
"""All registered files except the report's tables and the result tables behind them."""
tables = {name: table.file for name, table in RESULT_TABLES.items()}
"""The tables behind the report's outputs, by name."""
analysis_table = StudyFile(f"{ANALYSIS}/{{table}}.csv", "analyse_transmission", "a table of the analysis")
"""The path pattern for the tables of a dataset, scorer and generator."""
measures, utility = tables["retrieval"], tables["per_query"]
"""Tables with one row per query. The means of the second are in the table named `utility`."""

ZEROSHOT_KEY = {"retriever": "zeroshot", "ordering": "none", "k": 0}
zeroshot_prompts, zeroshot_answers, zeroshot_scores, zeroshot_left_out, imported_zeroshot = (
    file.at(**ZEROSHOT_KEY) for file in (prompts, answers, scores, left_out_of_answers, imported_contexts)
)
ANSWERED_WITH = "@{generator}"
"""Replaces the template's name for generators with imported answers, of whose prompts only the passages are known."""
explorer = StudyFile(explored_queries.path.removesuffix("/{name}"), "explore_queries", "a folder of such files")


def made_by(rule: str) -> dict[str, StudyFile]:
    """Return the tables that a rule creates, by name."""
    return {name: table for name, table in tables.items() if table.rule == rule}


def modules_of(rule: str) -> dict[str, str]:
    """Return, for each table that a rule creates, the module that declares the table's columns."""
    return {name: table.columns.partition(":")[0] for name, table in RESULT_TABLES.items() if table.rule == rule}


def result_files() -> Iterator[StudyFile]:
    """Yield all files in a study's results, with the report's tables and figures last."""
    yield from STAGES
    yield from tables.values()
    for output in OUTPUTS:
        stem = "_".join([output.name, *(f"{{{key}}}" for key in output.of.keys)])
        rule = output.of.rule
        if isinstance(output, Figure):
            path = f"report/figures/{stem}.{{{'|'.join(output.endings)}}}"
            yield from [StudyFile(path, rule or "draw_figures", _plain(output))] if output.endings else []
            continue
        columns = output.columns or (RESULT_TABLES[output.needs[0]].columns if output.needs else "")
        for ending in output.files:
            frame = ending.endswith("csv")
            shown = ending.replace("csv", "{csv|parquet}") if frame else ending
            path = f"report/tables/{stem}.{shown}"
            yield StudyFile(path, rule or "write_tables", _plain(output), columns if frame else "", frame)


def _plain(output: Figure | Table) -> str:
    return output.title.format_map(WITH_BASELINE | {"measure": "measure", "scorer": "the scorer"})
