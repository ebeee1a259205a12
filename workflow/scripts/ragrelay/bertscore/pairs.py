"""Precision and recall of pairs of texts, from their token embeddings.

Source: Zhang et al., BERTScore, ICLR 2020, section 3; numerics as in bert_score.utils.greedy_cos_idf (0.3.13).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence


class Weighted(NamedTuple):
    """One text: ``tokens`` [layers, T, dimension], normalised, and ``weights`` [T]; T is 0 for an empty text."""

    tokens: np.ndarray
    weights: np.ndarray


@torch.inference_mode()
def match_pairs(
    pairs: Sequence[tuple[Weighted, Weighted]], layers: int, device: torch.device, at_once: int
) -> torch.Tensor:
    """Precision, recall and F1 of (candidate, reference) pairs, [layers, n, 3], float32, on the CPU.

    F1 is 2PR / (P + R), and 0 where that is not defined. A pair with an empty text scores 0. As in bert-score, P or R
    is NaN where the weights of all of a text's tokens are 0. ``at_once``: pairs of one product.
    """
    scores = torch.zeros(layers, len(pairs), 3)
    lengths = [(len(candidate.weights), len(reference.weights)) for candidate, reference in pairs]
    order = sorted((place for place, each in enumerate(lengths) if all(each)), key=lengths.__getitem__)
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
    """Tokens [layers, n, longest, dimension] and weights [n, longest] that sum to 1 per text.

    Shorter texts are filled up with their own first token at weight 0, which changes no maximum: no mask is needed.
    """
    longest = max(len(text.weights) for text in texts)
    tokens = [text.tokens[:, [*range(len(text.weights)), *[0] * (longest - len(text.weights))]] for text in texts]
    weights = pad_sequence([torch.from_numpy(text.weights) for text in texts], batch_first=True).to(device)
    stacked = torch.from_numpy(np.stack(tokens, axis=1)).to(device, torch.float32)
    return stacked, weights / weights.sum(dim=1, keepdim=True)
