"""Texts to token embeddings with weights: each distinct text encoded once, those of references kept."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log

import numpy as np
import torch

from ragrelay.bertscore.pairs import Weighted
from ragrelay.models.hubs import model_description
from ragrelay.scoring.architectures import packs
from ragrelay.scoring.encoder import Encoder


class Texts:
    """An encoder, and what it made of the references so far.

    ``layer``: the layer compared, or None for all, the embeddings below the first layer included. ``device``: as torch
    names it, or ``auto``. Attribute ``layers``: how many are compared. Raises InputError as Encoder does.
    """

    def __init__(self, model: str, layer: int | None, device: str) -> None:
        described = model_description(model, None, f"model {model!r}")
        packed = layer is not None and packs(described)
        self.encoder = Encoder({"model": model, "layer": layer, "device": device}, torch.get_num_threads(), packed)
        self.all_layers = layer is None
        self._kept: dict[str, tuple[list[int], np.ndarray]] = {}

    def weighted(
        self,
        candidates: Iterable[str],
        references: Iterable[str],
        idf: Mapping[int, float] | None,
        progress: str | None,
    ) -> dict[str, Weighted]:
        """Every distinct text with its weights: of ``idf`` by token id, or 1, and 0 for [CLS] and [SEP]."""
        distinct = dict.fromkeys(references)
        # Apart from the candidates: an array that is kept in part is kept whole.
        self._kept |= self._encoded([text for text in distinct if text not in self._kept], progress)
        others = [text for text in dict.fromkeys(candidates) if text not in self._kept]
        passing = self._encoded(others, progress)
        weigh = self._plain if idf is None else idf.__getitem__
        weighted = {}
        for text in [*distinct, *dict.fromkeys(candidates)]:
            ids, tokens = passing[text] if text in passing else self._kept[text]
            weighted[text] = Weighted(tokens, np.array([weigh(token) for token in ids], dtype=np.float32))
        return weighted

    def idf(self, texts: Sequence[str]) -> defaultdict[int, float]:
        """Inverse document frequencies by token id: log((n + 1) / (c + 1)), where c of n texts have the token."""
        empty = self.encoder.tokenizer("", add_special_tokens=True)["input_ids"]
        counts = Counter(token for ids in self.encoder.tokenise(texts) for token in set(ids or empty))
        frequencies = {token: log((len(texts) + 1) / (count + 1)) for token, count in counts.items()}
        return defaultdict(lambda: log(len(texts) + 1), frequencies)

    def _plain(self, token: int) -> float:
        return float(token not in self.encoder.weightless)

    def _encoded(self, texts: Sequence[str], progress: str | None) -> dict[str, tuple[list[int], np.ndarray]]:
        """Token ids, and tokens [layers, T, dimension], of each text."""
        ids = self.encoder.tokenise(texts)
        if self.all_layers:
            return {text: (token_ids, self._every_layer(token_ids)) for text, token_ids in zip(texts, ids, strict=True)}
        _, offsets = self.encoder.layout(ids)
        tokens = np.empty((1, int(offsets[-1]), self.encoder.dimension), dtype=self.encoder.storage)
        self.encoder.encode(ids, tokens[0], offsets, progress)
        spans = pairwise(offsets)
        return {
            text: (token_ids, tokens[:, start:end])
            for text, token_ids, (start, end) in zip(texts, ids, spans, strict=True)
        }

    @torch.inference_mode()
    def _every_layer(self, ids: Sequence[int]) -> np.ndarray:
        if not ids:
            return np.zeros((0, 0, 0), dtype=np.float32)
        batch = torch.tensor([ids], device=self.encoder.device)
        hidden = self.encoder.model(batch, attention_mask=torch.ones_like(batch), output_hidden_states=True)[-1]
        tokens = torch.stack(hidden, dim=0)[:, 0].float()
        return (tokens / tokens.norm(dim=-1, keepdim=True)).cpu().numpy()
