"""Compute BERTScore's precision, recall and F1 for every pair of answer and reference, by greedy matching of tokens.

Source: Zhang et al., BERTScore, ICLR 2020, section 3; follows greedy_cos_idf in bert-score 0.3.13, without idf weights.
"""

from collections.abc import Iterator

import numpy as np
import torch

from ragrelay.scoring.embeddings import TokenEmbeddings
from ragrelay.scoring.scorer import Scores
from ragrelay.scoring.workers import single_core_workers

# Padded tokens per block; their product limits the similarity matrix (float32): 512 MB on a GPU, and one answer's
# tokens × REFERENCE_TOKENS on the CPU.
REFERENCE_TOKENS = 8192
ANSWER_TOKENS = 16384


def match(
    answers: TokenEmbeddings,
    answer_rows: np.ndarray,
    references: TokenEmbeddings,
    reference_rows: np.ndarray,
    device: torch.device,
    batched: bool = False,
    threads: int = 1,
) -> Scores:
    """Score the answers at ``answer_rows`` against the references at ``reference_rows``.

    For precision, each token in the answer is matched with the reference's nearest token; precision is the mean cosine.
    Recall is computed the other way round. [CLS] and [SEP] can be matched, but aren't included in the means. F1 is the
    harmonic mean of precision and recall, or 0 if either isn't positive. A text without tokens scores 0. The scores are
    identical to bert-score's for pairs scored one at a time. (In a batch, bert-score's padding raises negative maxima
    to 0, so a score depends on the other pairs.) ``batched``: match padded batches (for a GPU).
    """
    scores = np.zeros((3, len(answer_rows), len(reference_rows)), dtype=np.float32)
    answer_blocks = list(_blocks(answers.lengths[answer_rows], ANSWER_TOKENS if batched else 0))
    for columns in _blocks(references.lengths[reference_rows], REFERENCE_TOKENS):
        padded_references = _padded(references, reference_rows[columns], device)

        def run(
            rows: np.ndarray,
            columns: np.ndarray = columns,
            padded_references: tuple[torch.Tensor, torch.Tensor] = padded_references,
        ) -> None:
            block = _match(*_padded(answers, answer_rows[rows], device), *padded_references)
            scores[:, rows[:, None], columns[None, :]] = block

        if batched:
            for rows in answer_blocks:
                run(rows)
        else:
            with single_core_workers(threads) as pool:
                for _ in pool.map(run, answer_blocks):
                    pass
    return Scores(*scores)


def _blocks(lengths: np.ndarray, most_tokens: int) -> Iterator[np.ndarray]:
    """Yield the places of non-empty texts, sorted by length, in blocks of limited padded size (at least one text)."""
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - start) * lengths[order[end]] > most_tokens:
            yield order[start:end]
            start = end


def _padded(embeddings: TokenEmbeddings, rows: np.ndarray, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Return tokens [n, longest, dimension] (float32), and weights [n, longest] that sum to 1 per text.

    Shorter texts are padded with their own first token at weight 0. This doesn't change any maximum, so no mask is
    needed.
    """
    lengths = embeddings.lengths[rows]
    steps = np.arange(lengths.max())
    inside = steps < lengths[:, None]
    places = embeddings.offsets[rows][:, None] + np.where(inside, steps, 0)
    if isinstance(embeddings.tokens, torch.Tensor):
        tokens = embeddings.tokens[torch.from_numpy(places).to(device)].float()
    else:
        tokens = torch.from_numpy(np.asarray(embeddings.tokens[places], dtype=np.float32)).to(device)
    weights = torch.from_numpy((embeddings.weights[places] & inside).astype(np.float32)).to(device)
    return tokens, weights / weights.sum(dim=1, keepdim=True)


@torch.inference_mode()
def _match(
    answers: torch.Tensor, answer_weights: torch.Tensor, references: torch.Tensor, reference_weights: torch.Tensor
) -> np.ndarray:
    """Return precision, recall and F1, [3, n_answers, n_references]."""
    cosines = answers.flatten(0, 1) @ references.flatten(0, 1).T
    cosines = cosines.view(*answers.shape[:2], *references.shape[:2])
    precision = (cosines.amax(dim=3) * answer_weights[:, :, None]).sum(dim=1)
    recall = (cosines.amax(dim=1) * reference_weights).sum(dim=2)
    # A harmonic mean needs positive numbers: near P = -R the quotient has a pole, which a maximum would select.
    f1 = torch.where((precision > 0) & (recall > 0), 2 * precision * recall / (precision + recall), 0.0)
    return torch.stack((precision, recall, f1)).cpu().numpy()
