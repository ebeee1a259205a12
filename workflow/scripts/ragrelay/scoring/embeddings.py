"""Token embeddings of many texts, stored in three flat arrays that are in memory, memory-mapped or on a GPU."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class TokenEmbeddings:
    """L2-normalised token embeddings of n texts with T tokens in total.

    ``tokens`` [T, dimension] is a float32 array, or float16 if the encoder used a 16-bit type; on a GPU, it is a
    tensor. ``weights`` [T] (bool) is False for special tokens, which have no weight in a text's score but can be
    matched. ``offsets`` [n + 1] (int64) locates texts: text i has the rows offsets[i] to offsets[i + 1] - 1. A text
    that is empty or contains only special tokens has no rows.
    """

    tokens: "np.ndarray | torch.Tensor"
    weights: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens in each text, as an int64 array [n]."""
        return np.diff(self.offsets)
