"""Label passages that contain a gold answer."""

import polars as pl

from ragrelay.annotations.source import Given, Source


class Containment(Source):
    """1 if the passage contains one of the query's gold answers, normalised as SQuAD does, else 0."""

    needs_gold = True

    def labels(self, given: Given) -> pl.DataFrame:
        """Label the passages of queries that have gold answers."""
        from ragrelay.scoring.squad import containment

        answered = given.passages.filter(pl.col("qid").is_in(list(given.gold)))
        labels = [
            max(containment(text, answer) for answer in given.gold[qid])
            for qid, text in answered.select("qid", "text").iter_rows()
        ]
        return given.everywhere(answered.with_columns(pl.Series("label", labels, dtype=pl.Float64)))
