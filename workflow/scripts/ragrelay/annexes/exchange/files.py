"""Register the files of exports that no question and no table of the report has."""

from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
exported_parquet = StudyFile("export/{dataset}/{generator}/answers.parquet", "export_answers",
    "every answer of a generator", "ragrelay.annexes.exchange.export:PLAIN_COLUMNS")
exported_jsonl = StudyFile("export/{dataset}/{generator}/answers.jsonl", "export_answers",
    "the same, a JSON object a line with these columns as keys")
exported_pyterrier = StudyFile(
    "export/{dataset}/{generator}/pyterrier/{retriever}.{ordering}.k{k}.seed{seed}.parquet", "export_answers",
    "a cell as PyTerrier-RAG's frames", "ragrelay.annexes.exchange.export:FRAME_COLUMNS")
exported_trec_rag = StudyFile("export/{dataset}/{generator}/trec_rag/{retriever}.{ordering}.k{k}.seed{seed}.jsonl",
    "export_answers", "a cell as TREC RAG's records, in the form of 2024 with the metadata of later years")
exported_scores = StudyFile("export/{dataset}/{generator}/scores.jsonl", "export_scores",
    "every score of a generator's answers as AutoJudge's records: `run_id` (the generator, then as a cell's file is "
    "named), `topic_id`, `measure` (scorer and references, with a dot between) and `value`")
data_card = StudyFile("export/tables/README.md", "export_tables", "data card of the tables: columns, units, source")
exported_table = StudyFile("export/tables/{name}.parquet", "export_tables",
    "a table of the analysis, of all datasets, generators and scorers; its columns are in the data card")
crate = StudyFile("ro-crate-metadata.json", "describe_results",
    "RO-Crate 1.1: which of the results' files there are, what each is, its SHA-256, and the software")
# fmt: on
