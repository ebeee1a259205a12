"""Hold the token embeddings of many texts in three flat arrays, in memory, memory-mapped or on a GPU."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class TokenEmbeddings:
    """L2-normalised token embeddings of n texts with T tokens in total.

    ``tokens`` [T, dimension]: float32, or float16 if the encoder ran in a 16-bit type; a tensor if they stay on the
    GPU. ``weights`` [T], bool: False for special tokens, which don't count but can be matched. ``offsets`` [n + 1],
    int64: text i has rows offsets[i] to offsets[i + 1] - 1. A text without tokens that count (such as an empty one) has
    no rows.
    """

    tokens: "np.ndarray | torch.Tensor"
    weights: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens per text, [n], int64."""
        return np.diff(self.offsets)
