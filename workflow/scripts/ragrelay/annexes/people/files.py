"""Register the file with answers for people to score."""

from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
answers_to_score = StudyFile("to_score/{dataset}.csv", "to_score",
    "answers drawn for people to score, with the probability of each draw and existing scores; you can open the file "
    "in a spreadsheet program", "ragrelay.annexes.people.drawing:COLUMNS")
# fmt: on
