"""Score answers with ROUGE, computed with the package rouge-score."""

import functools
from collections.abc import Sequence
from importlib import metadata
from typing import ClassVar, Literal

from pydantic import Field

from ragrelay.base.io.characters import composed
from ragrelay.collection.words import Tokens
from ragrelay.scoring.pair_scorer import Pair, PairScorer


class Rouge(PairScorer):
    """ROUGE F1 (Lin, 2004), computed with the package rouge-score.

    ROUGE compares words, word pairs, or the longest common subsequence. Precision is relative to the answer's words,
    and recall to the reference's words. Words consist of ASCII letters and digits only. References or answers are
    refused if more than 5% of the words contain no such character, or if most words would be split at other letters.
    Source: Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004.
    """

    drops_letters: ClassVar[bool] = True
    as_published: ClassVar[bool] = True

    variant: Literal["rouge1", "rouge2", "rougeL"] = Field(
        description="What to compare: words (`rouge1`), word pairs (`rouge2`) or the longest common subsequence "
        "(`rougeL`). The time for `rougeL` grows with the product of the texts' lengths; two texts of a million "
        "characters take 12 seconds."
    )
    stemmer: bool = Field(False, description="Compare Porter stems instead of words.")

    def decisive(self) -> dict[str, object]:
        """Return the scorer's kind and keys, and the version of rouge-score."""
        return {
            "kind": "rouge",
            "rouge-score": metadata.version("rouge-score"),
            "variant": self.variant,
            "stemmer": self.stemmer,
        }

    def words(self) -> Tokens:
        """Return rouge-score's function that splits a text into words, without stemming."""
        from rouge_score import tokenizers

        tokens: Tokens = tokenizers.DefaultTokenizer(False).tokenize
        return tokens

    def pair(self) -> Pair:
        """Return the function that computes precision, recall and F1 for an answer and a reference."""
        from rouge_score import rouge_scorer, scoring, tokenizers

        class Tokenizer(tokenizers.DefaultTokenizer):  # type: ignore[misc]
            """A tokenizer that caches the words of recent texts, so that a text in several pairs is split only once."""

            tokenize = functools.lru_cache(maxsize=1 << 14)(
                lambda self, text: tokenizers.DefaultTokenizer.tokenize(self, composed(text))
            )

        tokenizer = Tokenizer(self.stemmer)
        scorer = rouge_scorer.RougeScorer([self.variant], tokenizer=tokenizer)

        def pair(answer: str, reference: str) -> tuple[float, float, float]:
            rouge = scorer.score(reference, answer)[self.variant]
            return rouge.precision, rouge.recall, rouge.fmeasure

        def longest(answer: str, reference: str) -> tuple[float, float, float]:
            """Return the same scores as rouge-score, but without a table that takes gigabytes for long texts."""
            ours, theirs = tokenizer.tokenize(answer), tokenizer.tokenize(reference)
            if not ours or not theirs:
                return 0.0, 0.0, 0.0
            common = common_subsequence(ours, theirs)
            precision, recall = common / len(ours), common / len(theirs)
            return precision, recall, scoring.fmeasure(precision, recall)

        return longest if self.variant == "rougeL" else pair


FREQUENT = 64
"""Number of occurrences above which a word's bits are stored; all words' bits would fill the memory."""


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """Compute the length of the longest common subsequence, by dynamic programming on the bits of integers.

    Source: Hyyrö, Bit-Parallel LCS-Length Computation Revisited, AWOCA 2004. The time is proportional to the product of
    the lengths, but about 100 times shorter than with a table of numbers: two texts of 10^5 words take seconds.
    """
    places: dict[str, list[int]] = {word: [] for word in set(one) & set(other)}
    shared = [word for word in one if word in places]
    for place, word in enumerate(shared):
        places[word].append(place)
    kept: dict[str, int] = {}
    row = every = (1 << len(shared)) - 1
    for word in other:
        if word in places:
            bits = kept.get(word) or _bits(places[word], len(shared))
            if len(places[word]) > FREQUENT:
                kept[word] = bits
            here = row & bits
            row = ((row + here) | (row - here)) & every
    return len(shared) - row.bit_count()


def _bits(places: Sequence[int], length: int) -> int:
    """Return the integer with a bit set at each of ``places``, all below ``length``."""
    bits = bytearray(length // 8 + 1)
    for place in places:
        bits[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(bits, "little")
