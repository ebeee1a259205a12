"""Encode texts in blocks of fixed size, one core per block, so that embeddings don't depend on the other texts."""

from bisect import bisect_left, insort
from collections import defaultdict
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

from ragrelay.base.errors import InputError

operators: Any = torch.ops
NAME = "ragrelay_text_by_text"
DISENTANGLED = (modeling_deberta.DisentangledSelfAttention, modeling_deberta_v2.DisentangledSelfAttention)
# A context variable, because workers share a model whose layers don't pass on any other values.
_lengths: ContextVar[Sequence[int]] = ContextVar("lengths")


class PackedModel:
    """An encoder that encodes several texts together in a block of ``rows`` rows. ``model`` is modified.

    A text with more than ``rows`` tokens gets its own block, whose number of rows is a multiple of ``rows``.
    """

    def __init__(self, model: Any, padding: int, rows: int) -> None:
        self.model, self.padding, self.rows = model, padding, rows
        self.first_position = getattr(model.embeddings.position_embeddings, "padding_idx", None)
        attend_text_by_text(model)
        model.pooler = None
        for module in list(model.modules()):
            for name, child in module.named_children():
                if isinstance(child, nn.Linear):
                    setattr(module, name, InBlocks(child, rows))

    def blocks(self, order: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
        """Assign each text to the fullest block with enough room, and return the indexes of the texts in each block.

        If ``order`` begins with the longest texts, only 2 to 3% of the rows remain empty.
        """
        blocks: list[list[int]] = []
        by_room: dict[int, list[int]] = defaultdict(list)
        rooms: list[int] = []  # keys of by_room, sorted
        for place in order:
            room_place = bisect_left(rooms, lengths[place])
            if room_place < len(rooms):
                room = rooms[room_place]
                block = by_room[room].pop()
                if not by_room[room]:
                    del by_room[room], rooms[room_place]
            else:
                room, block = self._rounded(lengths[place]), len(blocks)
                blocks.append([])
            blocks[block].append(place)
            left = room - lengths[place]
            if left not in by_room:
                insort(rooms, left)
            by_room[left].append(block)
        return blocks

    @torch.inference_mode()
    def __call__(self, texts: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return a block's hidden states, [rows, dimension]: its texts' tokens in order, then padding."""
        tokens = [torch.tensor(text) for text in texts]
        lengths = list(map(len, texts))
        ids = self._filled(tokens, self.padding)
        positions = self._filled([self._positions(text) for text in tokens], self.first_position or 0)
        with texts_of(lengths):
            return self.model(ids, position_ids=positions)[0][0]

    def check(self, text: Sequence[int], place: str) -> None:
        """Raise InputError if a text's hidden states depend on the text's position in a block (start, middle or end).

        Linear algebra libraries don't rule out such differences, which may appear only on some processors.
        """
        text = text[: self.rows // 4]
        outputs = []
        for start in (0, 1 + self.rows // 3, self.rows - len(text)):
            before, after = _neighbours(text, start), _neighbours(text, self.rows - len(text) - start)
            outputs.append(self([*before, text, *after])[start : start + len(text)])
        if not all(torch.equal(outputs[0], other) for other in outputs[1:]):
            raise InputError(
                place,
                f"embeddings that depend on a text's position in a block of {self.rows} rows",
                "identical embeddings; set encoding: single in the scorer's entry to encode one text at a time",
            )

    def _rounded(self, length: int) -> int:
        return -(-length // self.rows) * self.rows

    def _filled(self, parts: Sequence[torch.Tensor], filling: int) -> torch.Tensor:
        """Concatenate ``parts`` and pad them with ``filling``: [1, rows]."""
        joined = torch.cat(list(parts))
        return nn.functional.pad(joined, (0, self._rounded(len(joined)) - len(joined)), value=filling)[None]

    def _positions(self, text: torch.Tensor) -> torch.Tensor:
        """Return positions from 0; RoBERTa's start after its padding token's id, the position of padding tokens."""
        if self.first_position is None:
            return torch.arange(len(text))
        counts = text != self.first_position
        return counts.cumsum(0) * counts + self.first_position


def _neighbours(text: Sequence[int], rows: int) -> list[Sequence[int]]:
    """Return other texts, none longer than ``text``, that fill ``rows`` rows."""
    return [text[::-1][: rows - start] for start in range(0, rows, len(text))]


def _onednn_computes_in(dtype: torch.dtype) -> bool:
    """Return whether oneDNN can compute in ``dtype``: only on x86 and ARM, and 16-bit types only beyond AVX2."""
    if not torch.backends.mkldnn.is_available():
        return False
    checks = {
        torch.bfloat16: operators.mkldnn._is_mkldnn_bf16_supported,
        torch.float16: operators.mkldnn._is_mkldnn_fp16_supported,
    }
    return dtype not in checks or bool(checks[dtype]())


class InBlocks(nn.Module):
    """A linear layer that processes ``rows`` rows at a time, so that a row's result doesn't depend on block length.

    The layer uses oneDNN, with weights arranged in advance for this number of rows, because torch's own float32 library
    reaches only half of a core's speed on AMD processors.
    """

    def __init__(self, linear: nn.Linear, rows: int) -> None:
        super().__init__()
        self.linear, self.rows = linear, rows
        reorder = operators.mkldnn._reorder_linear_weight
        self.weights = reorder(linear.weight.detach(), rows) if _onednn_computes_in(linear.weight.dtype) else None

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Apply the layer to [1, n * rows, inputs], and return [1, n * rows, outputs]."""
        if states.shape[1] <= self.rows:
            return self._product(states)
        return torch.cat([self._product(part) for part in states.split(self.rows, dim=1)], dim=1)

    def _product(self, states: torch.Tensor) -> torch.Tensor:
        if self.weights is None:
            return self.linear(states)
        return operators.mkldnn._linear_pointwise(states, self.weights, self.linear.bias, "none", [], "")


@contextmanager
def texts_of(lengths: Sequence[int]) -> Iterator[None]:
    """Set the lengths of the texts in the block that this thread encodes inside the ``with`` statement."""
    token = _lengths.set(lengths)
    try:
        yield
    finally:
        _lengths.reset(token)


def attend_text_by_text(model: Any) -> None:
    """Modify ``model`` so that tokens in a block attend only to tokens in the same text (given by ``texts_of``)."""
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
    **_: object,
) -> tuple[torch.Tensor, None]:
    """Compute attention for transformers: [1, heads, rows, dimension] to [1, rows, heads, dimension]."""
    attended = torch.zeros_like(query.transpose(1, 2))
    for rows in _texts():
        queries, keys, values = (states[:, :, rows] for states in (query, key, value))
        attended[:, rows] = scaled_dot_product_attention(queries, keys, values, scale=scaling).transpose(1, 2)
    return attended, None


class DisentangledTexts(nn.Module):
    """DeBERTa's attention (He et al., ICLR 2021; v1 to v3), computed separately for each text in a block."""

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
        """Compute attention within each text, with token distances from the top-left corner of ``relative_pos``."""
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
    """A stand-in for a DeBERTa v2 projection layer that returns rows already projected with the entire block.

    Distance embeddings, which are the same for every text, are projected only once.
    """

    def __init__(self, linear: nn.Linear, place: int = 0) -> None:
        super().__init__()
        self.linear, self.place, self.width = linear, place, 3 * linear.out_features
        self.distances: torch.Tensor | None = None

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Return this layer's third of projected rows [1, n, 3 * dimension], or project distances [1, n, dimension]."""
        if states.shape[-1] == self.width:
            return states.chunk(3, dim=-1)[self.place]
        if self.distances is None:
            self.distances = self.linear(states)
        return self.distances
