"""The scorer kind ``bertscore``: every distinct text is encoded once, then matched in bulk."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragrelay.io.hashing import text_hash, value_hash
from ragrelay.models.locations import model_identity
from ragrelay.scoring.references import EncodedReferences, open_references
from ragrelay.scoring.scorers import Scores, Task

if TYPE_CHECKING:
    from ragrelay.scoring.encoder import Encoder

# Raised by hand when a change of this package changes scores.
NUMERICS = 1


class BertScorer:
    """BERTScore without idf and without baseline rescaling (Zhang et al., ICLR 2020), equal to bert-score 0.3.13.

    ``fingerprint`` hashes the model (a folder's files, or hub id and revision; both also decide the maximum length),
    the layer, the dtype, the major version of transformers (its tokenisers and architectures) and NUMERICS. Batch size,
    threads, device and torch's version stay out: in float32 they move the last bits only.
    Model and libraries are loaded when a text must be encoded, so that a full store costs nothing.
    """

    def __init__(self, definition: Mapping[str, Any], cache_dir: Path, threads: int = 1) -> None:
        self.definition, self.cache_dir, self.threads = definition, cache_dir, threads
        self.decisive = {
            "kind": "bertscore",
            "model": model_identity(definition["model"], definition.get("revision"), cache_dir=cache_dir),
            "layer": definition["layer"],
            "dtype": definition.get("dtype", "float32"),
            "transformers": version("transformers").split(".")[0],
            "numerics": NUMERICS,
        }
        self.fingerprint = value_hash(self.decisive)
        self._references: EncodedReferences | None = None

    @cached_property
    def encoder(self) -> "Encoder":
        """The loaded encoder; raises InputError for a missing model or layer."""
        from ragrelay.scoring.encoder import Encoder

        return Encoder(self.definition, self.threads)

    def prepare(self, references: Sequence[str]) -> dict[str, Any]:
        """Encode the reference texts, or open what an earlier job encoded."""
        self._references = open_references(self.cache_dir, self.fingerprint, references, lambda: self.encoder)
        return {**self._references.facts, "decisive": self.decisive}

    def score(self, tasks: Sequence[Task]) -> list[Scores]:
        """Scores per task; every distinct answer of the tasks is encoded once. ``prepare`` comes first."""
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
