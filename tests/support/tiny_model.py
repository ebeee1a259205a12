"""Fakes for a hub's models: tiny Llamas with a byte-level tokenizer, built on the spot."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any


def build_tiny_llama(folder: Path, window: int = 2048, seed: int = 0) -> Path:
    """Write a loadable model (about 50,000 parameters) to ``folder``; its answers are noise, the same each time."""
    import torch
    from transformers import LlamaForCausalLM

    tokenizer = _byte_tokenizer()
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    LlamaForCausalLM(_config(len(tokenizer), window, tied=True)).save_pretrained(folder)
    return folder


def build_saying_llama(folder: Path, tokens: Sequence[str], added: Mapping[str, bool], seed: int = 0) -> Path:
    """Write a model to ``folder`` that says ``tokens``, all different, from the second on after the first.

    ``added``: tokens of the tokenizer besides bytes, and whether each is special. Its layers do nothing: a token's
    vector is the output's row of the one that follows.
    """
    import torch
    from tokenizers import AddedToken
    from transformers import LlamaForCausalLM

    tokenizer = _byte_tokenizer()
    for text, special in added.items():
        tokenizer.add_tokens([AddedToken(text, special=special, normalized=False)], special_tokens=special)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    model = LlamaForCausalLM(_config(len(tokenizer), 512, tied=False))
    vectors = torch.nn.functional.normalize(torch.randn(len(tokenizer), model.config.hidden_size))
    rows = torch.zeros_like(vectors)
    for before, after in pairwise(tokenizer.convert_tokens_to_ids(list(tokens))):
        rows[after] = 10 * vectors[before]
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.model.embed_tokens.weight.copy_(vectors)
        model.lm_head.weight.copy_(rows)
    model.save_pretrained(folder)
    return folder


def _byte_tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: i for i, piece in enumerate(["<s>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")


def _config(vocabulary: int, window: int, tied: bool) -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=window,
        tie_word_embeddings=tied,
        bos_token_id=0,
        eos_token_id=1,
    )
