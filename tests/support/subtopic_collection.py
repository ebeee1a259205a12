"""A made-up collection whose judgements name subtopics: a passage is judged once per subtopic."""

import json
from pathlib import Path

PASSAGES = {
    "d1": "Tea is a leaf that is dried, and it is grown in the rain.",
    "d2": "Tea grows in the rain of the hills.",
    "d3": "A pump moves water.",
    "d4": "Rain falls from clouds.",
    "d5": "Buy umbrellas here.",
}
QUERIES = {"q1": "what is tea and where does it grow", "q2": "why does it rain"}
QRELS = [
    ("q1", "leaf", "d1", 2), ("q1", "rain", "d1", 1), ("q1", "leaf", "d2", 0), ("q1", "rain", "d2", 1),
    ("q1", "rain", "d3", 0), ("q2", "clouds", "d4", 1), ("q2", "clouds", "d5", -2), ("absent", "leaf", "d1", 1),
]  # fmt: skip
"""qid, subtopic, docno, label."""


def write_subtopics(folder: Path) -> Path:
    """Write the collection into ``folder``, which is returned."""
    folder.mkdir()
    passages = [json.dumps({"doc_id": docno, "text": text}) for docno, text in PASSAGES.items()]
    files = {
        "passages.jsonl": passages,
        "queries.tsv": [f"{qid}\t{text}" for qid, text in QUERIES.items()],
        "qrels.txt": [" ".join(map(str, row)) for row in QRELS],
    }
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder
