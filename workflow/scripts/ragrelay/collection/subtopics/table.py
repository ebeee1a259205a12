"""Define the columns of subtopic judgements, and the special value `hops` of the key `subtopics`."""

from ragrelay.base.vocabulary.columns import DOCNO, LABEL, QID, schema_of, text

SUBTOPIC_COLUMNS = {
    "qid": QID,
    "docno": DOCNO,
    "subtopic": text("name of the subtopic: one part of what the query asks for, such as a nugget or a hop"),
    "label": LABEL,
}
"""The columns of subtopics.parquet, which has one row per judged passage and subtopic."""
SCHEMA = schema_of(SUBTOPIC_COLUMNS)
HOPS = "hops"
"""The value of the key `subtopics` that makes each judged passage a subtopic."""
