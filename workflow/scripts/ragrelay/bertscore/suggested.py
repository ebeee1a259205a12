"""Look up bert-score 0.3.13's default models and layers.

A model's default layer is the layer whose scores correlate best with human judgements on WMT16. Source: Zhang et al.,
BERTScore, ICLR 2020, appendix B, and bert-score's later additions.
"""

from ragrelay.base.errors import InputError

OTHER_LANGUAGES = "bert-base-multilingual-cased"
MODELS = {
    "en": "roberta-large",
    "en-sci": "allenai/scibert_scivocab_uncased",
    "tr": "dbmdz/bert-base-turkish-cased",
    "zh": "bert-base-chinese",
}
"""Default models by language."""

MODELS_BY_LAYER = {
    1: """
        google/bert_uncased_L-2_H-128_A-2 google/bert_uncased_L-2_H-256_A-4 google/bert_uncased_L-2_H-512_A-8
        google/byt5-small
    """,
    2: """
        facebook/blenderbot-400M-distill google/bert_uncased_L-2_H-768_A-12 sshleifer/tiny-mbart
    """,
    3: """
        google/bert_uncased_L-4_H-128_A-2 google/bert_uncased_L-4_H-256_A-4 google/bert_uncased_L-4_H-512_A-8
        google/bert_uncased_L-4_H-768_A-12
    """,
    4: """
        dbmdz/distilbert-base-turkish-cased distilbert-base-uncased-distilled-squad microsoft/deberta-v3-small
        microsoft/prophetnet-large-uncased zhiheng-huang/bert-base-uncased-embedding-relative-key
    """,
    5: """
        distilbert-base-multilingual-cased distilbert-base-uncased distilroberta-base
        google/bert_uncased_L-6_H-128_A-2 google/bert_uncased_L-6_H-256_A-4 google/bert_uncased_L-6_H-512_A-8
        google/bert_uncased_L-6_H-768_A-12 xlnet-base-cased
    """,
    6: """
        allenai/led-base-16384 facebook/bart-base google/bert_uncased_L-8_H-512_A-8 t5-small xlm-mlm-en-2048
    """,
    7: """
        allenai/longformer-base-4096 facebook/blenderbot_small-90M google/bert_uncased_L-8_H-128_A-2
        google/bert_uncased_L-8_H-256_A-4 google/bert_uncased_L-8_H-768_A-12
        microsoft/prophetnet-large-uncased-cnndm microsoft/xprophetnet-large-wiki100-cased
        roberta-base-openai-detector xlnet-large-cased
        zhiheng-huang/bert-base-uncased-embedding-relative-key-query
    """,
    8: """
        albert-xxlarge-v1 albert-xxlarge-v2 allenai/scibert_scivocab_uncased bert-base-chinese
        google/bert_uncased_L-10_H-128_A-2 google/bert_uncased_L-10_H-256_A-4
        google/bert_uncased_L-10_H-768_A-12 google/bigbird-base-trivia-itc google/mt5-small google/pegasus-large
        microsoft/mpnet-base princeton-nlp/unsup-simcse-roberta-base SpanBERT/spanbert-base-cased
    """,
    9: """
        albert-base-v2 allenai/scibert_scivocab_cased bert-base-cased-finetuned-mrpc
        bert-base-multilingual-cased bert-base-uncased facebook/bart-large-xsum
        google/bert_uncased_L-10_H-512_A-8 google/bert_uncased_L-12_H-768_A-12 google/electra-base-discriminator
        google/electra-small-generator microsoft/deberta-base microsoft/deberta-base-mnli
        microsoft/deberta-v3-base nfliu/scibert_basevocab_uncased squeezebert/squeezebert-mnli
        squeezebert/squeezebert-mnli-headless squeezebert/squeezebert-uncased vinai/bertweet-base
        xlm-roberta-base YituTech/conv-bert-medium-small
    """,
    10: """
        albert-base-v1 dbmdz/bert-base-turkish-cased facebook/bart-large facebook/bart-large-cnn
        google/bert_uncased_L-12_H-128_A-2 google/bert_uncased_L-12_H-512_A-8 google/bigbird-roberta-base
        google/electra-base-generator microsoft/deberta-v2-xlarge microsoft/deberta-v3-xsmall
        microsoft/mdeberta-v3-base princeton-nlp/sup-simcse-bert-base-uncased
        princeton-nlp/sup-simcse-roberta-base princeton-nlp/unsup-simcse-bert-base-uncased ProsusAI/finbert
        roberta-base xlm-mlm-100-1280 YituTech/conv-bert-base YituTech/conv-bert-small
    """,
    11: """
        facebook/bart-large-mnli google/bert_uncased_L-12_H-256_A-4 google/electra-small-discriminator
        google/mt5-base google/pegasus-xsum ramsrigouthamg/t5_paraphraser t5-base
    """,
    12: """
        facebook/mbart-large-50 facebook/mbart-large-50-many-to-many-mmt facebook/mbart-large-50-one-to-many-mmt
        facebook/mbart-large-cc25 facebook/mbart-large-en-ro microsoft/deberta-v3-large Vamsi/T5_Paraphrase_Paws
    """,
    13: """
        albert-xlarge-v2 princeton-nlp/unsup-simcse-roberta-large
    """,
    14: """
        albert-large-v2 allenai/longformer-large-4096 allenai/longformer-large-4096-finetuned-triviaqa
        google/bigbird-roberta-large google/electra-large-discriminator
    """,
    15: """
        roberta-large-openai-detector tuner007/pegasus_paraphrase
    """,
    16: """
        albert-xlarge-v1 microsoft/deberta-large princeton-nlp/sup-simcse-roberta-large
    """,
    17: """
        albert-large-v1 google/byt5-base microsoft/deberta-v2-xlarge-mnli roberta-large
        SpanBERT/spanbert-large-cased xlm-roberta-large
    """,
    18: """
        bert-large-uncased google/electra-large-generator khalidalt/DeBERTa-v3-large-mnli
        microsoft/deberta-large-mnli microsoft/deberta-xlarge princeton-nlp/sup-simcse-bert-large-uncased
        princeton-nlp/unsup-simcse-bert-large-uncased
    """,
    19: """
        google/mt5-large roberta-large-mnli
        zhiheng-huang/bert-large-uncased-whole-word-masking-embedding-relative-key-query
    """,
    21: """
        microsoft/deberta-v2-xxlarge
    """,
    22: """
        microsoft/deberta-v2-xxlarge-mnli
    """,
    23: """
        t5-large
    """,
    24: """
        google/mt5-xl
    """,
    30: """
        google/byt5-large
    """,
    40: """
        microsoft/deberta-xlarge-mnli
    """,
}
LAYERS = {model: layer for layer, models in MODELS_BY_LAYER.items() for model in models.split()}


def suggested_model(language: str) -> str:
    """Return the default model for a language code, such as ``en``."""
    return MODELS.get(language.lower(), OTHER_LANGUAGES)


def suggested_layer(model: str) -> int:
    """Return the default layer for ``model``. Raises InputError if the model has no default layer."""
    if model not in LAYERS:
        raise InputError("num_layers", f"none, and {model} has no default", "the layer whose embeddings are compared")
    return LAYERS[model]
