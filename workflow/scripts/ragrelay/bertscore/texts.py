"""Encode each distinct text once, as weighted token embeddings, and compute precision, recall and F1 for text pairs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from ragrelay.base.models.hubs import model_description
from ragrelay.scoring.architectures import packs
from ragrelay.scoring.encoder import Encoder


class Weighted(NamedTuple):
    """A text's normalised embeddings ``tokens`` [layers, T, dimension] and ``weights`` [T]. An empty text has T = 0."""

    tokens: np.ndarray
    weights: np.ndarray


class Texts:
    """An encoder, and the embeddings of all references encoded so far.

    ``layer``: the layer to compare, or None for all layers and the input embeddings before the first layer. ``device``:
    a torch device or ``auto``. Raises InputError if the model, layer or device is unavailable.
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
        """Encode each distinct text. ``idf``: weights by token id; None means 0 for [CLS] and [SEP], 1 for others."""
        distinct = dict.fromkeys(references)
        # Encoded separately from the candidates, because keeping a slice would keep the entire array in memory.
        self._kept |= self._encoded([text for text in distinct if text not in self._kept], progress)
        others = [text for text in dict.fromkeys(candidates) if text not in self._kept]
        temporary = self._encoded(others, progress)
        weigh = self._plain if idf is None else idf.__getitem__
        weighted = {}
        for text in [*distinct, *dict.fromkeys(candidates)]:
            ids, tokens = temporary[text] if text in temporary else self._kept[text]
            weighted[text] = Weighted(tokens, np.array([weigh(token) for token in ids], dtype=np.float32))
        return weighted

    def idf(self, texts: Sequence[str]) -> defaultdict[int, float]:
        """Return inverse document frequencies by token id: log((n + 1) / (c + 1)) if c of n texts contain the token."""
        empty = self.encoder.tokenizer("", add_special_tokens=True)["input_ids"]
        counts = Counter(token for ids in self.encoder.tokenise(texts) for token in set(ids or empty))
        frequencies = {token: log((len(texts) + 1) / (count + 1)) for token, count in counts.items()}
        return defaultdict(lambda: log(len(texts) + 1), frequencies)

    def _plain(self, token: int) -> float:
        return float(token not in self.encoder.weightless)

    def _encoded(self, texts: Sequence[str], progress: str | None) -> dict[str, tuple[list[int], np.ndarray]]:
        """Return each text's token ids and embeddings [layers, T, dimension]."""
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


@torch.inference_mode()
def match_pairs(
    pairs: Sequence[tuple[Weighted, Weighted]], layers: int, device: torch.device, at_once: int
) -> torch.Tensor:
    """Return precision, recall and F1 for (candidate, reference) pairs, as a float32 tensor (layers, n, 3) on the CPU.

    F1 is 2PR / (P + R), or 0 if P + R is 0. A pair with an empty text scores 0. As in bert-score, P or R is NaN if all
    tokens in a text have weight 0. ``at_once``: number of pairs per matrix product.
    """
    scores = torch.zeros(layers, len(pairs), 3)
    lengths = [(len(candidate.weights), len(reference.weights)) for candidate, reference in pairs]
    order = sorted((place for place, pair in enumerate(lengths) if all(pair)), key=lengths.__getitem__)
    for start in range(0, len(order), at_once):
        places = order[start : start + at_once]
        candidates, references = (_padded([pairs[place][side] for place in places], device) for side in (0, 1))
        cosines = candidates[0] @ references[0].mT
        precision = (cosines.amax(dim=3) * candidates[1]).sum(dim=2)
        recall = (cosines.amax(dim=2) * references[1]).sum(dim=2)
        f1 = (2 * precision * recall / (precision + recall)).nan_to_num(nan=0.0)
        scores[:, places] = torch.stack((precision, recall, f1), dim=2).cpu()
    return scores


def _padded(texts: Sequence[Weighted], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens [layers, n, longest, dimension] and weights [n, longest], which sum to 1 for each text.

    Shorter texts are padded with copies of their first token at weight 0. This changes no maximum, so no mask is
    needed.
    """
    longest = max(len(text.weights) for text in texts)
    tokens = [text.tokens[:, [*range(len(text.weights)), *[0] * (longest - len(text.weights))]] for text in texts]
    weights = pad_sequence([torch.from_numpy(text.weights) for text in texts], batch_first=True).to(device)
    stacked = torch.from_numpy(np.stack(tokens, axis=1)).to(device, torch.float32)
    return stacked, weights / weights.sum(dim=1, keepdim=True)
