"""Register the files of comparisons of studies that no question and no table of the report has."""

from ragrelay.base.vocabulary.study_file import StudyFile

comparison = StudyFile("compare/{studies}/index.html", "compare_studies", "page that compares studies with a baseline")
