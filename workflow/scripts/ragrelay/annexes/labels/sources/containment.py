"""Label passages that contain a gold answer."""

import polars as pl

from ragrelay.annexes.labels.source import AnnotationSource, SourceData
from ragrelay.collection.words import between_blanks, check_words


class Containment(AnnotationSource):
    """Labels a passage 1 if it contains one of the query's gold answers (normalised as in SQuAD), otherwise 0."""

    needs_gold = True

    def labels(self, data: SourceData) -> pl.DataFrame:
        """Label the passages of queries that have gold answers."""
        from ragrelay.scoring.squad import containment

        gold = (answer for answers in data.gold.values() for answer in answers)
        expected = "a source that asks a generator"
        check_words("annotation source of kind containment", "gold answers", gold, between_blanks, expected)
        answered = data.passages.filter(pl.col("qid").is_in(list(data.gold)))
        labels = [
            max(containment(text, answer) for answer in data.gold[qid])
            for qid, text in answered.select("qid", "text").iter_rows()
        ]
        return data.everywhere(answered.with_columns(pl.Series("label", labels, dtype=pl.Float64)))
