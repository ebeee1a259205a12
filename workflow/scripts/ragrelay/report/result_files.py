"""Every file below the results of a study: its path, the rule that makes it, its columns."""

from collections.abc import Iterator
from typing import NamedTuple

from ragrelay.display.outputs import KEYS, Figure, Table
from ragrelay.report.outputs import OUTPUTS, SOURCES


class ResultFile(NamedTuple):
    """``path`` below the results, with wildcards; ``columns``: ``module:name`` of their declaration, or empty.

    ``part``: whether the columns of vocabulary.columns.STUDY_PART come before them.
    """

    path: str
    rule: str
    about: str
    columns: str = ""
    part: bool = False


LABELS = "{dataset}/annotations/labels/{scorer}/{generator}"
STAGES = (
    ResultFile("fetched/{fetched}.json", "fetch_input", "receipt of what was fetched from a hub or a catalogue"),
    ResultFile("{dataset}/collection/queries.parquet", "prepare_collection",
               "the judged queries",
               "ragrelay.collection.base:QUERY_COLUMNS"),
    ResultFile("{dataset}/collection/qrels.parquet", "prepare_collection", "the judgements of these queries",
               "ragrelay.collection.base:QRELS_COLUMNS"),
    ResultFile("{dataset}/collection/references.parquet", "prepare_references",
               "the passages judged at or above the lowest grade", "ragrelay.collection.base:REFERENCE_COLUMNS"),
    ResultFile("{dataset}/collection/{name}left_out.json", "prepare_collection, prepare_references",
               "counts of what was left out"),
    ResultFile("indexes/{corpus}/{index}.json", "index_corpus", "receipt of an index, which is in the cache"),
    ResultFile("{dataset}/runs/{retriever}.run.gz", "build_run",
               "TREC run: qid, Q0, docno, rank from 1, score, name of the retriever; with "
               "`run_metadata`, it begins with a header of ir_metadata, in comments"),
    ResultFile("{dataset}/runs/{retriever}.doubts.json", "build_run",
               "counts of what is doubtful in a run file brought along"),
    ResultFile("{dataset}/contexts/{retriever}.skipped.parquet", "build_contexts",
               "retrieved passages without text, which were skipped", "ragrelay.retrieval.contexts:SKIPPED_COLUMNS"),
    ResultFile("{dataset}/contexts/{retriever}.parquet", "build_contexts",
               "the best passages with text of each query, to `context_depth`", "ragrelay.retrieval.contexts:COLUMNS"),
    ResultFile("{dataset}/retrieval/{retriever}.left_out.json", "measure_retrieval", "counts of what was left out"),
    ResultFile("{dataset}/prompts/{template}/{retriever}/{ordering}/k{k}.parquet", "build_prompts",
               "the prompts of a cell", "ragrelay.prompting.layout:COLUMNS"),
    ResultFile("{dataset}/generated/{generator}/{retriever}/shard{shard}.json", "generate_answers",
               "receipt of generation: keys asked for, cached and generated, tokens, seconds, engine"),
    ResultFile("{dataset}/answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet",
               "view_answers, read_answers",
               "the answers of a cell", "ragrelay.generation.answer_views:COLUMNS"),
    ResultFile("{dataset}/prompts/@{generator}/{retriever}/{ordering}/k{k}.parquet", "read_answers",
               "which passages answers that were made elsewhere had; the texts of their prompts are not known",
               "ragrelay.prompting.layout:COLUMNS"),
    ResultFile("{dataset}/prompts/@{generator}/{retriever}/passages.parquet", "read_answers",
               "these passages, after those of the retriever's own ranking", "ragrelay.retrieval.contexts:COLUMNS"),
    ResultFile("{dataset}/answers/{generator}/{retriever}/left_out.json",
               "view_answers, read_answers",
               "counts of missing answers by reason; of answers made elsewhere also of rows that were ignored"),
    ResultFile("{dataset}/references/{scorer}.json", "encode_references",
               "receipt of the references' embeddings, which are in the cache"),
    ResultFile("{dataset}/scores/{scorer}/{generator}/{retriever}.parquet", "score_answers, score_judged_answers",
               "the score of every answer against every reference set; rows of ordering `none` are zero-shot answers "
               "against the references that the retriever's contexts leave",
               "ragrelay.scoring.retriever_table:SCORE_COLUMNS"),
    ResultFile("{dataset}/scores/{scorer}/{generator}/{retriever}.left_out.json", "score_judged_answers",
               "count of the answers without a score"),
    ResultFile("{dataset}/nuggets/{scorer}/nuggets.parquet", "view_nuggets, read_nuggets",
               "the lists of nuggets that a scorer counts", "ragrelay.nuggets.lists:COLUMNS"),
    ResultFile("{dataset}/nuggets/{scorer}/left_out.json", "view_nuggets, read_nuggets",
               "counts of queries without nuggets, of lists that were cut, and of a file's lists for unknown queries"),
    ResultFile("{dataset}/nuggets/{scorer}/written/shard{shard}.json", "write_nuggets",
               "receipt of a generator's lists: keys asked for and cached, tokens, windows, lists that were cut"),
    ResultFile("{dataset}/judged/{scorer}/{generator}/{retriever}.json", "judge_answers",
               "receipt of a model's judgements of answers"),
    ResultFile("{dataset}/judged/{scorer}/{generator}/{retriever}.parquet", "judge_answers",
               "the questions that the model was asked about each answer, by their keys in the cache",
               "ragrelay.judging.asked:ASKED_COLUMNS"),
    ResultFile("{dataset}/judged/{scorer}/{generator}/checks/receipt.json", "check_judge",
               "receipt of a model's judgements of changed answers"),
    ResultFile("{dataset}/judged/{scorer}/{generator}/checks/asked.parquet", "check_judge",
               "the questions that the checks of a judge compare, by their keys in the cache",
               "ragrelay.judging.bias_checks:CHECKED_COLUMNS"),
    ResultFile("{dataset}/judged/{scorer}/{generator}/checks/scores.parquet", "score_judge_checks",
               "the scores of the checks of a judge", "ragrelay.judging.bias_checks:SCORE_COLUMNS"),
    ResultFile("{dataset}/context_use/{generator}/{retriever}.asked.parquet", "score_context_use",
               "the log-probabilities that were asked for, by their keys in the cache",
               "ragrelay.report.stage_columns:CONTEXT_USE_REQUESTS"),
    ResultFile("{dataset}/context_use/{generator}/{retriever}.parquet", "compute_context_use",
               "how likely the answers are with and without their contexts", "ragrelay.context_use.table:COLUMNS"),
    ResultFile("{dataset}/context_use/{generator}/{retriever}.json", "score_context_use",
               "receipt of teacher-forced scoring"),
    ResultFile("{dataset}/annotations/prompts/{template}/{retriever}.parquet", "build_single_prompts",
               "prompts with one passage each", "ragrelay.report.stage_columns:SINGLE_PROMPTS"),
    ResultFile("{dataset}/annotations/generated/{generator}/shard{shard}.json", "generate_single_answers",
               "receipt of generation"),
    ResultFile("{dataset}/annotations/answers/{generator}.parquet", "view_single_answers",
               "answers to single passages", "ragrelay.report.stage_columns:SINGLE_ANSWERS"),
    ResultFile("{dataset}/annotations/erag/{scorer}/{generator}.parquet", "label_passages", "eRAG's labels",
               "ragrelay.annotations.erag_labels:COLUMNS"),
    ResultFile("{dataset}/annotations/judged/{source}/{judge}.json", "judge_passages",
               "receipt of a model's judgements"),
    ResultFile("{dataset}/annotations/checks/{source}/asked.parquet", "build_check_prompts",
               "the questions that the checks of a judge of passages compare, by their keys in the cache",
               "ragrelay.annotations.passage_checks:CHECKED_PASSAGE_COLUMNS"),
    ResultFile("{dataset}/annotations/checks/{source}/prompts.parquet", "build_check_prompts",
               "the changed prompts of these checks", "ragrelay.prompting.layout:COLUMNS"),
    ResultFile("{dataset}/annotations/checks/{source}/{judge}/receipt.json", "check_passages",
               "receipt of a model's judgements of changed passages"),
    ResultFile("{dataset}/annotations/checks/{source}/{judge}/scores.parquet", "score_passage_checks",
               "the scores of the checks of a judge of passages",
               "ragrelay.annotations.passage_checks:SCORE_COLUMNS"),
    ResultFile("{dataset}/annotations/llm/{source}/{judge}.parquet", "label_by_judge",
               "a model's labels", "ragrelay.report.stage_columns:JUDGED_LABELS"),
    ResultFile("{dataset}/annotations/pages/{source}.parquet", "label_by_pages",
               "labels by gold pages", "ragrelay.annotations.gold_pages:COLUMNS"),
    ResultFile("{dataset}/annotations/file/{source}.parquet", "label_by_file", "labels from a file",
               "ragrelay.annotations.file_labels:COLUMNS"),
    ResultFile("{dataset}/annotations/{by}/{source}.left_out.json", "label_by_pages, label_by_file",
               "counts of the queries and passages that the file has no label for"),
    ResultFile(f"{LABELS}/labels.parquet", "measure_labels", "the labels of all sources",
               "ragrelay.annotations.all_sources:LABEL_COLUMNS"),
    ResultFile(f"{LABELS}/values.parquet", "measure_labels", "retrieval measures from these labels",
               "ragrelay.annotations.values:COLUMNS"),
    ResultFile("{dataset}/predictions/quality.left_out.json", "check_quality",
               "count of the passages of contexts that the file does not have"),
    ResultFile("{dataset}/predictions/terms.json", "count_terms",
               "receipt of the statistics of the corpus's words, which are in the cache"),
    ResultFile("{dataset}/predictions/contexts/{generator}/{retriever}.asked.parquet", "score_contexts",
               "the log-probabilities of contexts that were asked for, by their keys in the cache",
               "ragrelay.report.stage_columns:CONTEXT_REQUESTS"),
    ResultFile("{dataset}/predictions/contexts/{generator}/{retriever}.json", "score_contexts",
               "receipt of teacher-forced scoring of contexts"),
    ResultFile("{dataset}/predictions/contexts/{generator}/{retriever}.parquet", "compute_context_likelihoods",
               "how likely the contexts are after the query", "ragrelay.context_perplexity.job:COLUMNS"),
    ResultFile("{dataset}/predictions/reranked/{reranker}/{retriever}.parquet", "rerank_contexts",
               "scores of the contexts' passages by a reranker's model", "ragrelay.report.stage_columns:RERANKED"),
    ResultFile("{dataset}/predictions/agreement/{scorer}/{generator}/{retriever}.parquet", "score_agreement",
               "agreement of the answers over seeds, by a scorer", "ragrelay.prediction.agreement:COLUMNS"),
    ResultFile("{dataset}/predictions/{generator}/{retriever}.parquet", "predict_utility",
               "the predictors of utility and answer quality", "ragrelay.prediction.table:COLUMNS"),
    ResultFile("{dataset}/analysis/{scorer}/{generator}/prediction_sare.parquet", "evaluate_predictions",
               "by how many ranks each predictor misses each query, at the largest k",
               "ragrelay.prediction.accuracy:SARE_COLUMNS"),
    ResultFile("acu/{claims}/claims.parquet", "prepare_claims", "pairs of claim and evidence, as they were read",
               "ragrelay.report.stage_columns:CLAIMS"),
    ResultFile("acu/{claims}/prompts/{template}.parquet", "build_claim_prompts",
               "prompts of every pair, without and with the evidence", "ragrelay.report.stage_columns:CLAIM_PROMPTS"),
    ResultFile("acu/{claims}/scored/{generator}.json", "score_claims", "receipt of teacher-forced scoring"),
    ResultFile("acu/{claims}/scored/{generator}.asked.parquet", "score_claims",
               "the log-probabilities that were asked for, by their keys in the cache",
               "ragrelay.report.stage_columns:CLAIM_REQUESTS"),
    ResultFile("acu/{claims}/pairs/{generator}/{template}.parquet", "compute_acu", "ACU of every pair",
               "ragrelay.claims.pairs:COLUMNS"),
    ResultFile("acu/{claims}/characteristics.parquet", "describe_claims", "characteristics of every pair's evidence",
               "ragrelay.claims.characteristic_columns:COLUMNS"),
    ResultFile("acu/{claims}/characteristics.json", "describe_claims", "what found the entities"),
    ResultFile("plan.csv", "plan", "what every job with an engine would ask for, with estimates",
               "ragrelay.report.stage_columns:PLAN"),
    ResultFile("plan.json", "plan", "the plan's time and total, which a run with the key `budget` is checked against"),
    ResultFile("compare/{pair}/index.html", "compare_studies", "page that compares two studies"),
    ResultFile("report/provenance.json", "gather_provenance",
               "where every result came from, with hashes of queries, judgements, gold answers, runs, labels, corpus"),
    ResultFile("report/left_out.json", "gather_provenance", "all counts of what was left out or cut"),
    ResultFile("report/explorer/{dataset}_{generator}_{scorer}/{name}", "explore_queries",
               "the query explorer's data: a script per query, and `queries.json`, which lists them"),
    ResultFile("report/index.html", "write_page", "the page of the study"),
    ResultFile("report/predict.html", "report_predictions", "the page of predictions"),
    ResultFile("report/acu.html", "report_acu", "the page of a claims study"),
    ResultFile("report/tables/left_out.csv", "write_tables", "what was left out, skipped or cut, by stage",
               "ragrelay.report.origin:LEFT_OUT"),
    ResultFile("export/{dataset}/{generator}/answers.parquet", "export_answers", "every answer of a generator",
               "ragrelay.exchange.export:PLAIN_COLUMNS"),
    ResultFile("export/{dataset}/{generator}/answers.jsonl", "export_answers",
               "the same, a JSON object a line with these columns as keys"),
    ResultFile("export/{dataset}/{generator}/pyterrier/{retriever}.{ordering}.k{k}.seed{seed}.parquet",
               "export_answers", "a cell as PyTerrier-RAG's frames", "ragrelay.exchange.export:FRAME_COLUMNS"),
    ResultFile("export/{dataset}/{generator}/trec_rag/{retriever}.{ordering}.k{k}.seed{seed}.jsonl",
               "export_answers", "a cell as TREC RAG's records, in the form of 2024 with the metadata of later years"),
    ResultFile("export/tables/README.md", "export_tables", "data card of the tables: columns, units, source"),
    ResultFile("export/tables/{name}.parquet", "export_tables",
               "a table of the analysis, of all datasets, generators and scorers; its columns are in the data card"),
    ResultFile("benchmarks/{rule}/{name}.tsv", "those with a benchmark", "Snakemake's measurement of a job"),
)  # fmt: skip
"""Those that are not in the registry of outputs."""
RULES = {
    "annotations": "draw_annotations", "claims": "report_acu", "prediction": "report_predictions",
    "depth": "draw_figures_at", "reproduction": "compare_published",
}  # fmt: skip
"""Of what outputs are of, the rule that makes their files where it isn't `draw_figures` or `write_tables`."""


def result_files() -> Iterator[ResultFile]:
    """All files: those of the stages, the tables that outputs are made from, then the report's tables and figures."""
    yield from STAGES
    for source in SOURCES.values():
        yield ResultFile(source.path, source.rule, source.about, source.columns)
    for output in OUTPUTS:
        stem = "_".join([output.name, *(f"{{{key}}}" for key in KEYS[output.of])])
        rule = RULES.get(output.of)
        if isinstance(output, Figure):
            path = f"report/figures/{stem}.{{{'|'.join(output.endings)}}}"
            yield from [ResultFile(path, rule or "draw_figures", _plain(output))] if output.endings else []
            continue
        columns = output.columns or (SOURCES[output.needs[0]].columns if output.needs else "")
        for ending in output.files:
            frame = ending.endswith("csv")
            shown = ending.replace("csv", "{csv|parquet}") if frame else ending
            path = f"report/tables/{stem}.{shown}"
            yield ResultFile(path, rule or "write_tables", _plain(output), columns if frame else "", frame)


def _plain(output: Figure | Table) -> str:
    return output.title.replace("{measure}", "measure").replace("{scorer}", "the scorer")
