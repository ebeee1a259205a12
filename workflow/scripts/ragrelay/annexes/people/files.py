"""Register the file with answers for people to score."""

from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
answers_to_score = StudyFile("to_score/{dataset}.csv", "to_score",
    "answers for people to score, drawn with known probabilities, with the existing scores; you can open the file in a "
    "spreadsheet program", "ragrelay.annexes.people.drawing:COLUMNS")
# fmt: on
