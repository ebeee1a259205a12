"""Register the file of answers for people to score."""

from ragrelay.base.vocabulary.study_file import StudyFile

# fmt: off
answers_to_score = StudyFile("to_score/{dataset}.csv", "to_score",
    "answers for people to score, drawn with known probabilities, with the existing scores; a spreadsheet program can "
    "open it", "ragrelay.annexes.people.drawing:COLUMNS")
# fmt: on
