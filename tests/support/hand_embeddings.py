"""Token embeddings of two dimensions, written by hand, of which scores can be computed on paper."""

import numpy as np
from ragrelay.scoring.embeddings import TokenEmbeddings


def embeddings(*texts: list[tuple[tuple[float, float], bool]]) -> TokenEmbeddings:
    """Texts as lists of (vector, does it count)."""
    tokens = np.array([vector for text in texts for vector, _ in text], dtype=np.float32).reshape(-1, 2)
    weights = np.array([counts for text in texts for _, counts in text], dtype=bool)
    return TokenEmbeddings(tokens, weights, np.cumsum([0, *map(len, texts)], dtype=np.int64))
