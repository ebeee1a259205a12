"""Register the search-round files that don't belong to a report table."""

from ragrelay.base.vocabulary.study_file import StudyFile

MODULE = "ragrelay.annexes.rounds"
# fmt: off
checked = StudyFile("{dataset}/rounds/checked/{generator}.json", "check_rounds",
    "the number of passages in a context with all rounds, and the generator's window in tokens")
planned_prompts = StudyFile("{dataset}/rounds/{round}/planned/{template}/{retriever}.parquet",
    "estimate_round_prompts", "estimated prompts, which the plan counts", f"{MODULE}.prompts:COLUMNS")
queries = StudyFile("{dataset}/rounds/{round}/queries/{generator}.parquet", "write_round_queries",
    "the round's queries, and the passages shown before it", f"{MODULE}.queries:COLUMNS")
contexts = StudyFile("{dataset}/rounds/{round}/contexts/{generator}/{retriever}.parquet", "search_round",
    "a retriever's new passages, and their measure", f"{MODULE}.searches:COLUMNS")
prompts = StudyFile("{dataset}/rounds/{round}/prompts/{generator}/{retriever}.parquet", "search_round",
    "the prompts with all passages shown so far, followed by the retriever's new passages", f"{MODULE}.prompts:COLUMNS")
receipt = StudyFile("{dataset}/rounds/{round}/generated/{generator}/shard{shard}.json", "generate_round_answers",
    "receipt for generation")
answers = StudyFile("{dataset}/rounds/{round}/answers/{generator}/{retriever}.parquet", "view_round_answers",
    "the round's answers", f"{MODULE}.answers:COLUMNS")
left_out = StudyFile("{dataset}/rounds/{round}/answers/{generator}/{retriever}.left_out.json", "view_round_answers",
    "counts of contexts over the window, and of missing answers, by reason")
scores = StudyFile("{dataset}/rounds/{round}/scores/{scorer}/{generator}/{retriever}.parquet",
    "score_round_answers", "the scores of these answers", f"{MODULE}.scores:COLUMNS")
explored = StudyFile("{dataset}/rounds/explored/{scorer}/{generator}.parquet", "explore_rounds",
    "each query's later rounds, for the query explorer", "ragrelay.report.query_explorer.reading:BLOCK")
# fmt: on
