"""Register the comparison files that belong to no question and no report table."""

from ragrelay.base.vocabulary.study_file import StudyFile

comparison = StudyFile("compare/{studies}/index.html", "compare_studies", "page that compares studies with a baseline")
