"""The scorer kinds ``rouge``, ``bleu`` and ``chrf``, by the libraries that papers report, and ``length``."""

import functools
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from ragrelay.scoring.pairs import PairScorer


def rouge(definition: Mapping[str, Any]) -> PairScorer:
    """ROUGE-1, ROUGE-2 or ROUGE-L: overlap of words, of pairs of words, or longest common subsequence.

    Sources: Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004; package rouge-score (``stemmer``:
    Porter's). Precision is over the answer's words, recall over the reference's.
    """
    from rouge_score import rouge_scorer, tokenizers

    class Tokenizer(tokenizers.DefaultTokenizer):  # type: ignore[misc]
        """Every text is cut into words once for all the pairs that it is in."""

        tokenize = functools.lru_cache(maxsize=1 << 14)(tokenizers.DefaultTokenizer.tokenize)

    variant = definition["variant"]
    scorer = rouge_scorer.RougeScorer([variant], tokenizer=Tokenizer(definition["stemmer"]))

    def pair(answer: str, reference: str) -> tuple[float, float, float]:
        found = scorer.score(reference, answer)[variant]
        return found.precision, found.recall, found.fmeasure

    return PairScorer(_decisive(definition, "rouge-score", "variant", "stemmer"), pair)


def bleu(definition: Mapping[str, Any]) -> PairScorer:
    """Sentence BLEU of one answer with one reference, 0 to 1: up to 4-grams, exponential smoothing, effective order.

    Sources: Papineni et al., BLEU, ACL 2002; Post, A Call for Clarity in Reporting BLEU Scores, WMT 2018 (sacrebleu,
    its tokenizer 13a). With several references the best counts (or their mean), not BLEU's own pooling.
    """
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)
    return PairScorer(
        _decisive(definition, "sacrebleu"),
        lambda answer, reference: metric.sentence_score(answer, [reference]).score / 100,
    )


def chrf(definition: Mapping[str, Any]) -> PairScorer:
    """chrF of one answer with one reference, 0 to 1: F2 over character 6-grams; ``word_order: 2`` is chrF++.

    Sources: Popović, chrF, WMT 2015; Popović, chrF++, WMT 2017; package sacrebleu.
    """
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF(word_order=definition["word_order"])
    return PairScorer(
        _decisive(definition, "sacrebleu", "word_order"),
        lambda answer, reference: metric.sentence_score(answer, [reference]).score / 100,
    )


def length(definition: Mapping[str, Any]) -> PairScorer:
    """An answer's length in words (between blanks), whatever the reference: what other measures may really follow."""
    return PairScorer({"kind": definition["kind"]}, lambda answer, _: float(len(answer.split())))


def _decisive(definition: Mapping[str, Any], package: str, *keys: str) -> dict[str, Any]:
    return {"kind": definition["kind"], package: version(package), **{key: definition[key] for key in keys}}
