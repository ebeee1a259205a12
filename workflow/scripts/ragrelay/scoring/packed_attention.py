"""Attention text by text within a block of several texts' rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface
from transformers.models.deberta import modeling_deberta
from transformers.models.deberta_v2 import modeling_deberta_v2

NAME = "ragrelay_text_by_text"
DISENTANGLED = (modeling_deberta.DisentangledSelfAttention, modeling_deberta_v2.DisentangledSelfAttention)
# Workers share a model, and its layers pass on what they know only.
_lengths: ContextVar[Sequence[int]] = ContextVar("lengths")


@contextmanager
def texts_of(lengths: Sequence[int]) -> Iterator[None]:
    """In this thread, blocks contain texts of these lengths, then filling."""
    token = _lengths.set(lengths)
    try:
        yield
    finally:
        _lengths.reset(token)


def attend_text_by_text(model: Any) -> None:
    """Change ``model``, of a type in PACKED, so that it takes one block [1, rows] at a time, within ``texts_of``."""
    disentangled = [layer.attention for layer in model.encoder.layer if isinstance(layer.attention.self, DISENTANGLED)]
    for attention in disentangled:
        attention.self = DisentangledTexts(attention.self)
    if not disentangled:
        AttentionInterface.register(NAME, _attend)
        model.set_attn_implementation(NAME)


def _texts() -> Iterator[slice]:
    for start, end in pairwise(accumulate(_lengths.get(), initial=0)):
        yield slice(start, end)


def _attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attention as transformers asks for it: [1, heads, rows, dimension] to [1, rows, heads, dimension]."""
    attended = torch.zeros_like(query.transpose(1, 2))
    for rows in _texts():
        one, other, values = (states[:, :, rows] for states in (query, key, value))
        attended[:, rows] = scaled_dot_product_attention(one, other, values, scale=scaling).transpose(1, 2)
    return attended, None


class DisentangledTexts(nn.Module):
    """DeBERTa's attention (He et al., ICLR 2021; v2 and v3 too): projections over the block, then text by text."""

    def __init__(self, attention: Any) -> None:
        super().__init__()
        self.attention = attention
        self.projections = nn.ModuleList()
        if hasattr(attention, "in_proj"):  # v1
            self.projections.append(attention.in_proj)
            attention.in_proj = nn.Identity()
            return
        for place, name in enumerate(("query_proj", "key_proj", "value_proj")):
            self.projections.append(getattr(attention, name))
            setattr(attention, name, Projected(getattr(attention, name), place))
        for name in ("pos_key_proj", "pos_query_proj"):
            if hasattr(attention, name):
                setattr(attention, name, Projected(getattr(attention, name)))

    def forward(
        self,
        hidden_states: torch.Tensor,
        attention_mask: torch.Tensor,
        output_attentions: bool = False,
        query_states: torch.Tensor | None = None,
        relative_pos: torch.Tensor | None = None,
        rel_embeddings: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, None]:
        """As the module that it replaces; distances in a text are those of the block's first rows."""
        projected = torch.cat([project(hidden_states) for project in self.projections], dim=-1)
        attended = torch.zeros_like(hidden_states)
        for rows in _texts():
            length = rows.stop - rows.start
            distances = None if relative_pos is None else relative_pos[:, :length, :length]
            everything = torch.ones(1, 1, length, length, dtype=torch.bool)
            out = self.attention(projected[:, rows], everything, relative_pos=distances, rel_embeddings=rel_embeddings)
            attended[:, rows] = out[0]
        return attended, None


class Projected(nn.Module):
    """A projection of DeBERTa v2: its third of a text's rows, already projected, or the embeddings of distances.

    These are the same for every text, and projected once.
    """

    def __init__(self, linear: nn.Linear, place: int = 0) -> None:
        super().__init__()
        self.linear, self.place, self.width = linear, place, 3 * linear.out_features
        self.distances: torch.Tensor | None = None

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[1, n, 3 * dimension] or [1, distances, dimension] to [1, n or distances, dimension]."""
        if states.shape[-1] == self.width:
            return states.chunk(3, dim=-1)[self.place]
        if self.distances is None:
            self.distances = self.linear(states)
        return self.distances
