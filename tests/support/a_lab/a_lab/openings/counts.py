"""Count the first words of answers."""

import polars as pl
from ragrelay.extend import integer, text

COLUMNS = {
    "dataset": text("name of the dataset"),
    "generator": text("name of the generator"),
    "word": text("the first word of answers"),
    "answers": integer("answers that begin with it", "answers"),
}


def count_openings(answers: pl.DataFrame) -> pl.DataFrame:
    """Return the columns ``word`` and ``answers``, the most frequent word first."""
    first = answers.select(word=pl.col("answer").str.split(" ").list.first())
    return first.group_by("word").len("answers").sort("answers", "word", descending=[True, False])
