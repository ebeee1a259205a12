"""TREC RAG's records: what is written passes the published checks of its years, and reads back exactly."""

import json
import re
import unicodedata
from typing import Any

import jsonschema
import pytest
from ragrelay.collection.answer_formats.trec_rag import joined, read_record, split_sentences, written_record

ABOUT = {"team_id": "ragrelay", "run_desc": "study small, generator lm"}
ANSWERS = [
    "", "one", "One. Two! Three?", "It costs 3.50 dollars.  \n\nReally (yes.) And 'so.' On",
    " \tleading. and trailing \n",
    "...", "A.\u00a0B", "no end\n\n", "“Quoted.” Then", "x" * 400 + ". y", "?! . ", "Ünï. 汉字。 Done", " ",
]  # fmt: skip
SENTENCE = {
    "type": "object",
    "required": ["text", "citations"],
    "properties": {"text": {"type": "string"}, "citations": {"type": "array", "items": {"type": "integer"}}},
}
IDS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
OF_2024 = {
    "type": "object",
    "required": ["run_id", "topic_id", "topic", "references", "response_length", "answer"],
    "properties": {
        "references": {**IDS, "maxItems": 20},
        "response_length": {"type": "integer", "maximum": 400},
        "answer": {"type": "array", "items": SENTENCE},
    },
}
"""https://trec-rag.github.io/annoucements/2024-track-guidelines, apart from the collection's own ids."""
OF_2025 = {
    "type": "object",
    "required": ["metadata", "references", "answer"],
    "properties": {
        "metadata": {
            "type": "object",
            "required": ["team_id", "run_id", "narrative_id", "type", "narrative"],
            "properties": {"type": {"enum": ["automatic", "manual"]}},
        },
        "references": {**IDS, "maxItems": 100},
        "answer": {"type": "array", "items": SENTENCE},
    },
}
OF_2026 = {
    **OF_2025,
    "properties": {
        **OF_2025["properties"],
        "metadata": {"required": ["team_id", "run_id", "narrative_id", "narrative", "run_desc"]},
        "references": IDS,
        "answer": {"items": {"properties": {"citations": {"maxItems": 3}}}},
    },
}


def record(answer: str) -> dict[str, Any]:
    return json.loads(json.dumps(written_record("q1", "why", answer, ["d2", "d1"], "bm25", ABOUT)))


@pytest.mark.parametrize("answer", ANSWERS)
def test_sentences_are_slices_that_join_to_the_answer(answer: str) -> None:
    found = split_sentences(answer)
    assert "".join(found) == joined(found) == answer
    assert all(found) and (all(map(str.strip, found)) or not answer.strip())
    assert read_record("", record(answer))["answer"] == answer


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("schema", [OF_2024, OF_2025, OF_2026], ids=["2024", "2025", "2026"])
def test_records_have_the_published_form(answer: str, schema: dict[str, Any]) -> None:
    made = record(answer)
    jsonschema.validate(made, schema)
    words = sum(len(unicodedata.normalize("NFKC", one["text"].strip()).split()) for one in made["answer"])
    assert made["response_length"] == words
    assert made["metadata"]["run_id"] == made["run_id"] and made["metadata"]["narrative"] == made["topic"] == "why"


def test_sentences_end_where_a_reader_sees_an_end() -> None:
    assert split_sentences("One. Two! Three?") == ["One. ", "Two! ", "Three?"]
    assert split_sentences("It costs 3.50 dollars. (Yes.) So") == ["It costs 3.50 dollars. ", "(Yes.) ", "So"]


def test_texts_without_white_space_between_them_get_a_space() -> None:
    assert joined(["One.", "Two.", "", " Three.", "Four.\n", "Five"]) == "One. Two. Three. Four.\nFive"
    assert re.fullmatch(r"\S+", joined(["One."]))
