"""A small Llama whose attention is seeded by hand with a look-up-and-copy circuit.

From a plain initialisation a model this small stays at chance within the time a laptop has. So
the residual stream (WIDTH units) is laid out by hand, and the attention is set to do:

layer 0  heads 0, 1 the previous token; head 2 the latest marker (which context am I in);
         head 3 the token before the previous one
layer 1  heads 0, 1 the same token in the contexts, head 2 the same two tokens: their context's
         label comes back as a vote; head 3 brings in the token three back
layer 2  head 0 gathers the votes of the question's tokens, rare tokens first; head 1 finds where
         the last two tokens stand and votes for that context (stay where you copy); 2, 3 free
layer 3  all heads: induction (what followed the last three tokens) within the voted context

Rotary positions: with so large a base, pairs from FIRST_SLOW on hardly turn within a prompt, so
they carry content; the fast ones carry short distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from transformers import LlamaConfig, LlamaForCausalLM

WIDTH, HEADS, HEAD, LAYERS, FORWARD = 256, 4, 64, 4, 512
THETA, FIRST_SLOW = 1e12, 8
# where things stand in the residual stream
CONST, MARK, SINK, RARE = 0, 1, 2, 3
TAG, LABEL, VOTE, GATHERED = (slice(4 + 12 * i, 16 + 12 * i) for i in range(4))
TOKEN, PREVIOUS, BEFORE = slice(52, 132), slice(132, 212), slice(212, 256)
N_CONTEXTS, TAG_QUESTION, TAG_ANSWER = 10, 10, 11
CONST_SIZE, MARK_SIZE, RARE_SIZE = 0.5, 0.5, 0.6
FILL, NORM = 51, 1.35  # a unit that gives every embedding the same norm
SLOW = [*range(FIRST_SLOW, 32), *range(32 + FIRST_SLOW, 64)]  # head units that hold content
RATES = [THETA ** (-i / 32) for i in range(32)]  # radians a token, by pair


def config(vocabulary: int, bos: int, eos: int, pad: int) -> LlamaConfig:
    """The demo model's shape."""
    return LlamaConfig(
        vocab_size=vocabulary, hidden_size=WIDTH, intermediate_size=FORWARD,
        num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=HEADS,
        head_dim=HEAD, max_position_embeddings=2048, rms_norm_eps=1e-6, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": THETA},
        bos_token_id=bos, eos_token_id=eos, pad_token_id=pad, attention_dropout=0.0,
    )  # fmt: skip


def _rows(count: int, width: int, generator: torch.Generator) -> torch.Tensor:
    """Random orthonormal rows (count, width), scaled so that dot products keep their size."""
    square = torch.linalg.qr(torch.randn(width, width, generator=generator))[0]
    return square[:count] * math.sqrt(width / count)


class Seeder:
    """Writes the circuit into a model, layer by layer.

    `scale()` measures the factor that the layer's norm puts on the residual stream, so that the
    strengths below are in units of attention logits whatever the stream's size.
    """

    def __init__(self, model: LlamaForCausalLM, probe: torch.Tensor):
        self.model, self.probe = model, probe
        self.gen = torch.Generator().manual_seed(5)

    @torch.no_grad()
    def scale(self, layer: int) -> float:
        """Median of 16 / |x| over the probe's positions, x the input of `layer`."""
        out = self.model.model(self.probe, output_hidden_states=True)
        return float((math.sqrt(WIDTH) / out.hidden_states[layer].norm(dim=-1)).median())

    def attention(self, layer: int, head: int) -> tuple[torch.Tensor, ...]:
        """Views of one head's query, key, value (HEAD, WIDTH) and output (WIDTH, HEAD)."""
        att = self.model.model.layers[layer].self_attn
        rows = slice(head * HEAD, (head + 1) * HEAD)
        views = (
            att.q_proj.weight[rows],
            att.k_proj.weight[rows],
            att.v_proj.weight[rows],
            att.o_proj.weight[:, rows],
        )
        for view in views:
            view.mul_(0.3)
        return views

    def distance(self, q, k, scale: float, offset: int, strengths: dict[int, float]) -> None:
        """Logits sum_i strength_i cos(rate_i (distance - offset)): a peak at `offset` tokens."""
        for pair, strength in strengths.items():
            size = math.sqrt(8 * strength) / (CONST_SIZE * scale)
            turn = RATES[pair] * offset
            q[pair, CONST] = size * math.cos(turn)
            q[pair + 32, CONST] = -size * math.sin(turn)
            k[pair, CONST] = size

    def bias(self, q, k, scale: float, unit: int, logits: dict[int, float]) -> None:
        """Add to every query's logits by what stands in the key: {stream unit: logits}.

        Markers, tags and the sink have size MARK_SIZE, rarity RARE_SIZE, in the stream.
        """
        q[unit, CONST] = 4.0 / (CONST_SIZE * scale)
        for where, logit in logits.items():
            size = RARE_SIZE if where == RARE else MARK_SIZE
            k[unit, where] = 2.0 * logit / (size * scale)

    def match(
        self,
        q,
        k,
        scale: float,
        units: list[int],
        query: slice,
        key: slice,
        rows: torch.Tensor,
        logit: float,
    ) -> None:
        """Logits `logit` * cos(rows query, rows key), in the given slow units."""
        size = math.sqrt(8 * logit) / scale
        for unit, row in zip(units, rows, strict=True):
            q[unit, query] = size * row
            k[unit, key] = size * row

    def carry(
        self,
        v,
        o,
        scale: float,
        source: slice,
        target: slice,
        gain: float,
        rows: torch.Tensor | None = None,
    ) -> None:
        """Bring `source` (through `rows`) of the attended token into `target`, times `gain`."""
        rows = torch.eye(source.stop - source.start) if rows is None else rows
        half = math.sqrt(gain / scale)
        v[: len(rows), source] = half * rows
        for i in range(len(rows)):
            o[target.start + i, i] = half


def _first(where: slice, count: int, start: int = 0) -> slice:
    return slice(where.start + start, where.start + start + count)


def _embed(
    model: LlamaForCausalLM,
    piece: Callable[[str], int],
    parts: dict,
    rarity: torch.Tensor,
    stems: list[int],
    gen: torch.Generator,
) -> None:
    """Set the embeddings. rarity: (V,) in 0..1; stems: (V,) class of each token, -1 for none."""
    table = model.model.embed_tokens.weight
    own = torch.nn.functional.normalize(torch.randn(len(table), TOKEN.stop - TOKEN.start, generator=gen), dim=-1)
    shared = torch.nn.functional.normalize(torch.randn(max(stems) + 2, TOKEN.stop - TOKEN.start, generator=gen), dim=-1)
    stem = torch.tensor(stems)
    known = (stem >= 0).unsqueeze(1)
    mixed = torch.where(known, math.sqrt(0.45) * shared[stem] + math.sqrt(0.55) * own, own)
    start = shared[-1]
    for part in parts["contexts"]:
        mixed[piece(part)] = 0.95 * start + 0.3 * own[piece(part)]
    mixed[piece(parts["cue"])] = start
    mixed[piece(parts["stop"])] = 0.8 * own[piece(parts["end"])] + 0.6 * own[piece(parts["stop"])]
    table.mul_(0.25)
    table[:, TOKEN] = torch.nn.functional.normalize(mixed, dim=-1)
    table[:, CONST] = CONST_SIZE
    table[:, MARK : RARE + 1] = 0.0
    table[:, RARE] = RARE_SIZE * rarity
    table[:, TAG.start : GATHERED.stop] *= 0.1
    table[piece(parts["bos"]), SINK] = MARK_SIZE
    tags = [*parts["contexts"], parts["question"], parts["cue"]]
    for i, part in enumerate(tags):
        table[piece(part), MARK] = MARK_SIZE
        table[piece(part), TAG.start + i] = MARK_SIZE
        table[piece(part), RARE] = 0.0
    # Equal norms, so that no key is stronger than another through the layer norm alone.
    table[:, FILL] = 0.0
    table[:, FILL] = (NORM**2 - table.pow(2).sum(-1)).clamp(min=0).sqrt()


@torch.no_grad()
def build(
    conf: LlamaConfig,
    piece: Callable[[str], int],
    parts: dict,
    rarity: torch.Tensor,
    stems: list[int],
    probe: torch.Tensor,
) -> LlamaForCausalLM:
    """The seeded model. probe: (B, T) ids of typical prompts, to measure the norms on."""
    torch.manual_seed(11)
    model = LlamaForCausalLM(conf)
    s = Seeder(model, probe)
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.mul_(0.15)
        layer.mlp.down_proj.weight.mul_(0.15)
    _embed(model, piece, parts, rarity, stems, s.gen)
    contexts = range(LABEL.start, LABEL.start + N_CONTEXTS)
    votes = {VOTE.start + i: 1.5 for i in range(N_CONTEXTS)}
    in_context = lambda logit: dict.fromkeys(contexts, logit)  # noqa: E731

    scale = s.scale(0)
    for head in (0, 1):
        q, k, v, o = s.attention(0, head)
        s.distance(q, k, scale, 1, {0: 40, 1: 30, 2: 20, 3: 10})
        s.carry(v, o, scale, _first(TOKEN, 40, 40 * head), _first(PREVIOUS, 40, 40 * head), 1.0)
    q, k, v, o = s.attention(0, 2)
    s.distance(q, k, scale, 0, {4: 10, 5: 25, 6: 25, 7: 10})
    s.bias(q, k, scale, SLOW[-1], {MARK: 75})
    s.carry(v, o, scale, TAG, LABEL, 1.0)
    to_before = _rows(44, 80, s.gen) * math.sqrt(44 / 80)
    q, k, v, o = s.attention(0, 3)
    s.distance(q, k, scale, 2, {0: 40, 1: 30, 2: 20, 3: 10})
    s.carry(v, o, scale, TOKEN, BEFORE, 1.0, to_before)

    scale = s.scale(1)
    for head in (0, 1):
        q, k, v, o = s.attention(1, head)
        s.match(q, k, scale, SLOW[:46], TOKEN, TOKEN, _rows(46, 80, s.gen), 40)
        s.bias(q, k, scale, SLOW[46], {**in_context(6), SINK: 26})
        s.carry(v, o, scale, _first(LABEL, 10), _first(VOTE, 10), 1.2)
    q, k, v, o = s.attention(1, 2)
    s.match(q, k, scale, SLOW[:23], TOKEN, TOKEN, _rows(23, 80, s.gen), 20)
    s.match(q, k, scale, SLOW[23:46], PREVIOUS, PREVIOUS, _rows(23, 80, s.gen), 20)
    s.bias(q, k, scale, SLOW[46], {**in_context(6), SINK: 32})
    s.carry(v, o, scale, _first(LABEL, 10), _first(VOTE, 10), 1.2)
    turn = _rows(44, 44, s.gen)
    q, k, v, o = s.attention(1, 3)
    s.distance(q, k, scale, 1, {0: 40, 1: 30, 2: 20, 3: 10})
    s.carry(v, o, scale, BEFORE, BEFORE, THIRD, turn)

    scale = s.scale(2)
    q, k, v, o = s.attention(2, 0)
    s.bias(q, k, scale, SLOW[0], {**votes, LABEL.start + TAG_QUESTION: 7, SINK: 2, RARE: 1.5})
    s.carry(v, o, scale, _first(VOTE, 10), _first(GATHERED, 10), 2.0)
    q, k, v, o = s.attention(2, 1)
    _induction(s, q, k, scale, (to_before, turn), (24, 20), 20, 15)
    s.bias(q, k, scale, SLOW[44], {**in_context(8), SINK: 26})
    s.carry(v, o, scale, _first(LABEL, 10), _first(GATHERED, 10), 0.7)

    scale = s.scale(3)
    for head in range(4):
        q, k, v, o = s.attention(3, head)
        _induction(s, q, k, scale, (to_before, turn), (20, 16), 44, 12)
        for i in range(10):
            size = math.sqrt(8 * VOTE_LOGIT / MARK_SIZE) / scale
            q[SLOW[36 + i], GATHERED.start + i] = size
            k[SLOW[36 + i], LABEL.start + i] = size
        s.bias(q, k, scale, SLOW[46], {**in_context(10), SINK: 8})
        half = _first(TOKEN, 40, 40 * (head % 2))
        s.carry(v, o, scale, half, half, 1.5)
    return model


VOTE_LOGIT = 12.0
THIRD = 0.8  # strength of the token three back beside the one two back


def _induction(
    s: Seeder,
    q,
    k,
    scale: float,
    maps: tuple[torch.Tensor, torch.Tensor],
    counts: tuple[int, int],
    one: float,
    two: float,
) -> None:
    """Match (token, previous, before) of the query against (previous, before, third) of the key.

    The third token back shares the key's BEFORE units, turned by `turn`: without it a pair of
    words that stands twice in a passage sends the copy into a loop.
    """
    n, m = counts
    to_before, turn = maps
    s.match(q, k, scale, SLOW[:n], TOKEN, PREVIOUS, _rows(n, 80, s.gen), one)
    rows = _rows(m, 44, s.gen) * math.sqrt(80 / 44)
    size = math.sqrt(8 * two) / scale
    for unit, row in zip(SLOW[n : n + m], rows, strict=True):
        q[unit, PREVIOUS] = size * (row @ to_before)
        q[unit, BEFORE] = size * (row @ turn)
        k[unit, BEFORE] = size * row
