"""Register the battle files that don't belong to a report table."""

from ragrelay.annexes.battles.questions.judge_pairs import JudgePairs
from ragrelay.base.vocabulary.study_file import StudyFile

votes = JudgePairs.made["votes"]
left_out = JudgePairs.made["left_out"]
explored = StudyFile("{dataset}/battles/{battle}/{generator}/explored.parquet", "explore_battles",
    "the compared answers in the primary cell, with their votes, for the query explorer",
    "ragrelay.report.query_explorer.reading:BLOCK")  # fmt: skip
