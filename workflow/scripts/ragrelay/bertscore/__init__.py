"""Compute BERTScore from Python, without a study, as a replacement for the package bert-score.

    from ragrelay.bertscore import BERTScorer, score

Signatures, scores (within 1e-5) and hash strings match bert-score 0.3.13 (Zhang et al., BERTScore, ICLR 2020). Each
distinct text is encoded once, and a BERTScorer keeps the embeddings of all references in memory.
"""

from ragrelay.bertscore.scorer import BERTScorer, score

__all__ = ["BERTScorer", "score"]
