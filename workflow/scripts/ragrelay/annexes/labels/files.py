"""Register the files written by labelling jobs, except the report's tables."""

from ragrelay.annexes.labels.outputs import OUTPUTS
from ragrelay.annexes.labels.questions.check_passages import CheckPassages
from ragrelay.annexes.labels.questions.judge_passages import JudgePassages
from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
single_prompts = StudyFile("{dataset}/annotations/prompts/{template}/{retriever}.parquet", "build_single_prompts",
    "prompts with one passage each", "ragrelay.annexes.labels.stage_columns:SINGLE_PROMPTS")
single_receipt = StudyFile("{dataset}/annotations/generated/{generator}/shard{shard}.json", "generate_single_answers",
    "receipt for the generated answers, which are in the cache")
single_answers = StudyFile("{dataset}/annotations/answers/{generator}.parquet",
    "view_single_answers, read_single_answers",
    "answers generated from single passages", "ragrelay.annexes.labels.single_answers:COLUMNS")
labels_by_answers = StudyFile("{dataset}/annotations/erag/{scorer}/{generator}.parquet", "label_passages",
    "eRAG's labels", "ragrelay.annexes.labels.erag_labels:COLUMNS")
passage_checks = StudyFile("{dataset}/annotations/checks/{source}/asked.parquet", "build_check_prompts",
    "the questions asked in a passage judge's bias checks, with their keys in the cache",
    "ragrelay.annexes.labels.passage_checks:CHECKED_PASSAGE_COLUMNS")
passage_checks_prompts = StudyFile("{dataset}/annotations/checks/{source}/prompts.parquet", "build_check_prompts",
    "the changed prompts for a passage judge's bias checks", "ragrelay.prompting.layout:COLUMNS")
passage_checks_scores = CheckPassages.made["scores"]
labels_by_judge = JudgePassages.made["labels"]
left_out_of_judged_labels = JudgePassages.made["left_out"]
labels_by_pages = StudyFile("{dataset}/annotations/pages/{source}.parquet", "label_by_pages", "labels from gold pages",
    "ragrelay.annexes.labels.gold_pages:COLUMNS")
labels_by_file = StudyFile("{dataset}/annotations/file/{source}.parquet", "label_by_file", "labels from a file",
    "ragrelay.annexes.labels.file_labels:COLUMNS")
left_out_of_labels = StudyFile("{dataset}/annotations/{by}/{source}.left_out.json",
    "label_by_pages, label_by_file, read_single_answers",
    "counts of queries and passages for which the file has no label or answer")
labels = StudyFile("{dataset}/annotations/labels/{scorer}/{generator}/labels.parquet", "measure_labels",
    "all sources' labels", "ragrelay.annexes.labels.study_labels:LABEL_COLUMNS")
label_values = StudyFile("{dataset}/annotations/labels/{scorer}/{generator}/values.parquet", "measure_labels",
    "retrieval measures computed from each source's labels", "ragrelay.annexes.labels.values:COLUMNS")
# fmt: on

annotation_tables = {
    output.name: StudyFile(f"report/tables/{output.name}_{{scorer}}.csv", "draw_annotations", output.title)
    for output in OUTPUTS
    if output.of == "annotations" and output.kind == "table" and output.endings
}
