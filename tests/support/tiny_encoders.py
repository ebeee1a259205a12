"""Fakes for a hub's encoders and rerankers: tiny, with random weights, built on the spot, loaded as real ones are."""

from pathlib import Path
from typing import Any

TEXT = """a the of on in is are to and for with how does where why what heart blood pumps pump through body water well
tea grown grow hills cool rain fall falls vessels called coronary arteries runs sea computer stores numbers query
passage : [ ] q d relevant true false document"""
WORDS = TEXT.split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def _tokenizer(folder: Path, window: int) -> int:
    """Write a BERT tokenizer of whole words to ``folder``; returns the size of its vocabulary."""
    from transformers import BertTokenizer

    vocabulary = {piece: place for place, piece in enumerate([*SPECIAL, *dict.fromkeys(WORDS)])}
    BertTokenizer(vocab=vocabulary, model_max_length=window).save_pretrained(folder)
    return len(vocabulary)


def _bert(cls: Any, folder: Path, seed: int, window: int = 64, **more: Any) -> Path:
    import torch
    from transformers import BertConfig

    size = _tokenizer(folder, window)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=size,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=window,
        initializer_range=0.5,  # so that texts differ by more than rounding
        **more,
    )
    cls(config).save_pretrained(folder)
    return folder


def build_tiny_bert(folder: Path, seed: int = 0) -> Path:
    """A BERT with its tokenizer, as a hub's TCT-ColBERT or TAS-B is stored."""
    from transformers import BertModel

    return _bert(BertModel, folder, seed)


def build_tiny_sentence_encoder(folder: Path, seed: int = 0) -> Path:
    """A sentence-transformers model that averages its tokens and normalises the mean, as E5 does."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    bert = Transformer(str(build_tiny_bert(folder / "bert", seed)))
    SentenceTransformer(modules=[bert, Pooling(32, "mean"), Normalize()], device="cpu").save(str(folder / "model"))
    return folder / "model"


def build_tiny_cross_encoder(folder: Path, seed: int = 0, outputs: int = 1) -> Path:
    """A cross-encoder with ``outputs`` outputs."""
    from transformers import BertForSequenceClassification

    return _bert(BertForSequenceClassification, folder, seed, num_labels=outputs)


def build_tiny_t5(folder: Path, seed: int = 0, window: int = 32) -> Path:
    """A T5 with a word-level tokenizer and a window of ``window`` tokens, as a hub's MonoT5 is stored."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    pieces = ["<pad>", "</s>", "<unk>", *(f"▁{word}" for word in dict.fromkeys(WORDS))]
    pieces += ["▁Query:", "▁Document:", "▁Relevant:", "▁"]
    tokenizer = T5Tokenizer(vocab=[(piece, -1.0) for piece in pieces], extra_ids=0)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=len(pieces),
        d_model=32,
        d_kv=16,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        n_positions=window,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        initializer_factor=5.0,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


_RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}
_V2 = {**_RELATIVE, "position_buckets": 16, "norm_rel_ebd": "layer_norm"}
FAMILIES: dict[str, dict[str, Any]] = {
    "bert": {},
    "camembert": {"max_position_embeddings": 514},
    "deberta": _RELATIVE,
    "deberta-v2": {**_V2, "share_att_key": True},
    "electra": {"embedding_size": 16},
    "roberta": {"max_position_embeddings": 514},
    "xlm-roberta": {"max_position_embeddings": 514},
    "deberta-v2 without shared keys": {**_V2, "share_att_key": False},
    "deberta-v2 with a convolution": {**_V2, "share_att_key": True, "conv_kernel_size": 3},
    "distilbert": {},
}
"""What encoders for BERTScore are like: the type that a name begins with, and what is particular about it."""


def build_tiny_encoder(folder: Path, family: str) -> Path:
    """An encoder of FAMILIES, with a window of 512 tokens."""
    import torch
    from transformers import AutoConfig, AutoModel

    size = _tokenizer(folder, 512)
    config = AutoConfig.for_model(
        family.partition(" ")[0],
        **{
            "vocab_size": size,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "max_position_embeddings": 512,
            "initializer_range": 0.2,
            **FAMILIES[family],
        },
    )
    torch.manual_seed(0)
    AutoModel.from_config(config).save_pretrained(folder)
    return folder
