"""Read and write answers in TREC RAG's JSON Lines formats: one from 2024, and one from 2025 and 2026.

Formats: https://trec-rag.github.io/annoucements/2024-track-guidelines and .../2025-track-guidelines. The later format
has the additional key ``metadata``, which contains a few more keys in 2026.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragrelay.base.errors import InputError

# The look-behind makes searching a long run of dots linear.
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]+[\"'”’)\]]*\s+")


class RunId(str):
    """The name under which a run was submitted, which may differ from the retriever's name in the study."""


def _run(value: object) -> object:
    return RunId(value) if isinstance(value, str) else value


def is_trec_rag(record: Mapping[str, object]) -> bool:
    """Return whether a JSON object is a TREC RAG answer, based on a list of sentences or a key for the query's id."""
    return isinstance(record.get("answer"), list) or "topic_id" in record or "narrative_id" in _metadata(record)


def _metadata(record: Mapping[str, object]) -> Mapping[str, object]:
    metadata = record.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def read_record(place: str, record: Mapping[str, object]) -> dict[str, object]:
    """Return a TREC RAG record's qid, answer, retriever (the run_id), docnos and cited_sentences.

    The answer consists of the joined sentences. ``docnos`` are the cited references, in the record's order. Each of the
    ``cited_sentences`` has the keys text and citations (the docnos that it cites). If nothing is cited, docnos and
    cited_sentences are None. Raises InputError (at ``place``) if the record is malformed.
    """
    about = {**record, **_metadata(record)}
    _check_ids(place, record)
    qid = next((about[key] for key in ("topic_id", "narrative_id") if key in about), None)
    if not isinstance(qid, str | int) or isinstance(qid, bool):
        raise InputError(place, f"topic_id {qid!r}", "the query's id as topic_id, or as narrative_id in metadata")
    sentences, references = record.get("answer"), record.get("references", [])
    if not isinstance(sentences, list) or not all(_is_sentence(sentence) for sentence in sentences):
        raise InputError(
            place, "an answer that isn't a list of sentences", '"answer": [{"text": ..., "citations": [...]}]'
        )
    if not isinstance(references, list) or not all(isinstance(reference, str) for reference in references):
        raise InputError(place, "references that aren't a list of passage ids", '"references": ["...", ...]')
    texts = [sentence["text"] for sentence in sentences]
    known = frozenset(references)
    citations = [_cited(place, sentence.get("citations"), references, known) for sentence in sentences]
    cited = {docno for some in citations for docno in some}
    docnos = [docno for docno in dict.fromkeys(references) if docno in cited]
    parts = [{"text": text, "citations": some} for text, some in zip(texts, citations, strict=True)]
    return {
        "qid": str(qid),
        "answer": joined(texts),
        "retriever": _run(about.get("run_id")),
        "docnos": docnos or None,
        "cited_sentences": parts if cited else None,
    }


def _check_ids(place: str, record: Mapping[str, object]) -> None:
    """Raise InputError if a record gives several different ids for its query."""
    metadata = _metadata(record)
    ids = {key: record[key] for key in ("topic_id", "qid") if key in record}
    ids |= {f"metadata.{key}": metadata[key] for key in ("topic_id", "narrative_id") if key in metadata}
    first, *others = ids.items() if ids else [("", None)]
    for key, value in others:
        if str(value) != str(first[1]):
            raise InputError(place, f"{first[0]} {first[1]!r} and {key} {value!r}", "the same query id in both")


def _is_sentence(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str)


def _cited(place: str, value: object, references: list[str], ids: frozenset[str]) -> list[str]:
    """Return the docnos that ``value`` cites: ids or positions in ``references`` (from 0). Null cites none."""
    citations = [] if value is None else value
    if not isinstance(citations, list):
        raise InputError(place, f"citations {citations!r}"[:80], "a list of ids or positions of references")
    for cited in citations:
        known = cited in ids if isinstance(cited, str) else type(cited) is int and 0 <= cited < len(references)
        if not known:
            expected = "the id or zero-based position of one of the line's references"
            raise InputError(place, f"citation {cited!r}", f"{expected} (number of references: {len(references)})")
    return [cited if isinstance(cited, str) else references[cited] for cited in citations]


def joined(texts: Sequence[str]) -> str:
    """Join ``texts``, adding a space between two texts unless there is already whitespace."""
    parts: list[str] = []
    for text in filter(None, texts):
        parts.append(text if not parts or parts[-1][-1].isspace() or text[0].isspace() else f" {text}")
    return "".join(parts)


def split_sentences(answer: str) -> list[str]:
    """Split ``answer`` into sentences, each with the whitespace that follows. Use ``joined`` to restore the answer."""
    ends = [match.end() for match in _SENTENCE_END.finditer(answer)]
    cuts = [0, *(end for end in ends if end < len(answer)), len(answer)]
    return [answer[start:end] for start, end in pairwise(cuts) if end > start]


def written_record(
    qid: str,
    query: str,
    answer: str,
    docnos: Sequence[str],
    run_id: str,
    about: Mapping[str, str],
    cited_sentences: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, object]:
    """Build an answer's record in the 2024 format, with the ``metadata`` of the 2025 and 2026 format.

    The record's ``references`` are the passages in the context (``docnos``). ``cited_sentences``: as returned by
    read_record; if None, the answer is split into sentences without citations. ``about``: values for the metadata keys
    ``team_id`` and ``run_desc``.
    """
    parts = cited_sentences or [{"text": text, "citations": []} for text in split_sentences(answer)]
    texts = [part["text"] for part in parts]
    place = {docno: number for number, docno in reversed(list(enumerate(docnos)))}
    cited = [[place[docno] for docno in part["citations"]] for part in parts]
    words = sum(len(unicodedata.normalize("NFKC", text.strip()).split()) for text in texts)
    run = {"run_id": run_id, "narrative_id": qid, "narrative": query, "type": "automatic"}
    return {
        "run_id": run_id,
        "topic_id": qid,
        "topic": query,
        "references": list(docnos),
        "response_length": words,
        "answer": [{"text": text, "citations": places} for text, places in zip(texts, cited, strict=True)],
        "metadata": {**about, **run},
    }
