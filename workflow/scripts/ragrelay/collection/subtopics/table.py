"""Name the columns of judged subtopics, and the key's values."""

from ragrelay.base.vocabulary.columns import DOCNO, LABEL, QID, schema_of, text

SUBTOPIC_COLUMNS = {
    "qid": QID,
    "docno": DOCNO,
    "subtopic": text("a part of what the query asks for, such as a nugget or a hop"),
    "label": LABEL,
}
"""Columns of subtopics.parquet, one row per judged passage and subtopic."""
SCHEMA = schema_of(SUBTOPIC_COLUMNS)
HOPS = "hops"
"""The value of the key `subtopics` for which each judged passage is a subtopic."""
