"""Register the intervention files that don't belong to a report table."""

from ragrelay.base.vocabulary.study_file import StudyFile

MODULE = "ragrelay.annexes.interventions"
# fmt: off
changed_contexts = StudyFile("{dataset}/interventions/contexts/{retriever}.parquet", "change_contexts",
    "changed contexts, with the passage that each change affects and the retrieval measure",
    f"{MODULE}.contexts:COLUMNS")
changed_texts = StudyFile("{dataset}/interventions/texts/{retriever}.parquet", "change_contexts",
    "the inserted passages", f"{MODULE}.contexts:TEXT_COLUMNS")
left_out_of_changes = StudyFile("{dataset}/interventions/contexts/{retriever}.left_out.json", "change_contexts",
    "counts of queries whose context can't be changed, by reason")
changed_prompts = StudyFile("{dataset}/interventions/prompts/{template}/{retriever}.parquet", "build_changed_prompts",
    "the prompts with changed contexts", f"{MODULE}.prompts:COLUMNS")
changed_receipt = StudyFile("{dataset}/interventions/generated/{generator}/shard{shard}.json",
    "generate_changed_answers", "receipt for the generated answers, which are in the cache")
changed_answers = StudyFile("{dataset}/interventions/answers/{generator}/{retriever}.parquet", "view_changed_answers",
    "the answers to the prompts with changed contexts", f"{MODULE}.answers:COLUMNS")
left_out_of_changed_answers = StudyFile("{dataset}/interventions/answers/{generator}/{retriever}.left_out.json",
    "view_changed_answers", "numbers of changed contexts that exceed the window and of missing answers, by reason")
changed_scores = StudyFile("{dataset}/interventions/scores/{scorer}/{generator}/{retriever}.parquet",
    "score_changed_answers", "the scores of the answers", f"{MODULE}.scores:COLUMNS")
# fmt: on
