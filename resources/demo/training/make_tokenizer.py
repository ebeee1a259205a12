"""Train the demo model's tokenizer: lower-casing byte-level BPE plus the template's fixed parts.

Usage: python make_tokenizer.py WORK_FOLDER        (writes WORK_FOLDER/tokenizer/)

The fixed parts of the prompt template `tian2025` are single tokens, matched before lower-casing,
so that a four-layer model need not learn to read them. They are not "special": a decode keeps
` STOP`, which the stop string needs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

VOCABULARY = 6144
BOS, EOS, PAD = "<s>", "</s>", "<pad>"
PREAMBLE_CONTEXT = (
    "You are an expert at answering questions based on your own knowledge and related context. "
    "Please answer this question based on the given context. End your answer with STOP."
)
PREAMBLE_ZEROSHOT = (
    "You are an expert at answering questions based on your own knowledge. "
    "Please answer this question. End your answer with STOP."
)
CONTEXTS = [f'Context {i}: "' for i in range(1, 11)]
END_CONTEXT, QUESTION, STOP = '";\n', 'Question: "', " STOP"
CUE = '"\nNow start your answer. \nAnswer: '
NEWLINE = " \n"
FIXED = [PREAMBLE_CONTEXT, PREAMBLE_ZEROSHOT, *CONTEXTS, END_CONTEXT, QUESTION, CUE, STOP, NEWLINE]


def train(texts: list[str]) -> PreTrainedTokenizerFast:
    """BPE of VOCABULARY pieces in all; <s> is put in front when special tokens are asked for."""
    bpe = Tokenizer(models.BPE())
    bpe.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(FIXED),
        special_tokens=[BOS, EOS, PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    bpe.add_tokens([AddedToken(part, normalized=False, special=False) for part in FIXED])
    start = bpe.token_to_id(BOS)
    bpe.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A {BOS} $B", special_tokens=[(BOS, start)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        model_max_length=2048,
        clean_up_tokenization_spaces=False,
    )


def main(work: Path) -> None:
    """Train on every passage and save."""
    with (work / "passages.jsonl").open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    # Leads stand after a quote in the prompt, without a space: let BPE see words that way too.
    train(texts + [t.split(" ", 1)[0] for t in texts]).save_pretrained(work / "tokenizer")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
