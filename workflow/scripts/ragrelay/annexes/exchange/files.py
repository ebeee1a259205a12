"""Register the export files that belong neither to a question nor to a report table."""

from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
exported_parquet = StudyFile("export/{dataset}/{generator}/answers.parquet", "export_answers",
    "a generator's answers", "ragrelay.annexes.exchange.export:PLAIN_COLUMNS")
exported_jsonl = StudyFile("export/{dataset}/{generator}/answers.jsonl", "export_answers",
    "a generator's answers as JSON lines, with the columns of `answers.parquet` as keys")
exported_pyterrier = StudyFile(
    "export/{dataset}/{generator}/pyterrier/{retriever}.{ordering}.k{k}.seed{seed}.parquet", "export_answers",
    "a cell as a PyTerrier-RAG data frame", "ragrelay.annexes.exchange.export:FRAME_COLUMNS")
exported_trec_rag = StudyFile("export/{dataset}/{generator}/trec_rag/{retriever}.{ordering}.k{k}.seed{seed}.jsonl",
    "export_answers", "a cell in TREC RAG's format: records as in 2024, with the metadata of later years")
exported_scores = StudyFile("export/{dataset}/{generator}/scores.jsonl", "export_scores",
    "all scores of a generator's answers as AutoJudge records: `run_id` (the generator, then the cell's file name), "
    "`topic_id`, `measure` (scorer and references, joined by a dot) and `value`")
data_card = StudyFile("export/tables/README.md", "export_tables", "data card for the tables: columns, units, sources")
exported_table = StudyFile("export/tables/{name}.parquet", "export_tables",
    "an analysis table for all datasets, generators and scorers; the data card describes the columns")
crate = StudyFile("ro-crate-metadata.json", "describe_results",
    "RO-Crate 1.1 metadata: the description and SHA-256 of each result file, and the software used")
# fmt: on
