"""Register the search-round files that don't belong to a report table."""

from ragrelay.base.vocabulary.study_file import StudyFile

MODULE = "ragrelay.annexes.rounds"
# fmt: off
checked = StudyFile("{dataset}/rounds/checked/{generator}.json", "check_rounds",
    "the number of passages in a context after all rounds, and the generator's window in tokens")
planned_prompts = StudyFile("{dataset}/rounds/{round}/planned/{template}/{retriever}.parquet",
    "estimate_round_prompts", "stand-in prompts, from which the plan estimates costs", f"{MODULE}.prompts:COLUMNS")
queries = StudyFile("{dataset}/rounds/{round}/queries/{generator}.parquet", "write_round_queries",
    "the round's queries, and the passages shown before the round", f"{MODULE}.queries:COLUMNS")
contexts = StudyFile("{dataset}/rounds/{round}/contexts/{generator}/{retriever}.parquet", "search_round",
    "a retriever's new passages, and the value of the measure", f"{MODULE}.searches:COLUMNS")
prompts = StudyFile("{dataset}/rounds/{round}/prompts/{generator}/{retriever}.parquet", "search_round",
    "the prompts with all passages shown so far, followed by the retriever's new passages", f"{MODULE}.prompts:COLUMNS")
receipt = StudyFile("{dataset}/rounds/{round}/generated/{generator}/shard{shard}.json", "generate_round_answers",
    "receipt for the generated answers, which are in the cache")
answers = StudyFile("{dataset}/rounds/{round}/answers/{generator}/{retriever}.parquet", "view_round_answers",
    "the round's answers", f"{MODULE}.answers:COLUMNS")
left_out = StudyFile("{dataset}/rounds/{round}/answers/{generator}/{retriever}.left_out.json", "view_round_answers",
    "numbers of contexts that exceed the window and of missing answers, by reason")
scores = StudyFile("{dataset}/rounds/{round}/scores/{scorer}/{generator}/{retriever}.parquet",
    "score_round_answers", "the scores of the answers", f"{MODULE}.scores:COLUMNS")
explored = StudyFile("{dataset}/rounds/explored/{scorer}/{generator}.parquet", "explore_rounds",
    "each query's later rounds, for the query explorer", "ragrelay.report.query_explorer.reading:BLOCK")
# fmt: on
