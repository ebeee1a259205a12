"""Indices by counts made by hand, and how counts treat what real texts contain."""

import pytest
from ragrelay.base import readability
from ragrelay.collection.local import LocalCollection

from tests.support.sandbox import ROOT

TEXT = "The cat's area isn't well-known. It had 3 tables, e.g. one (little) table!"
# Three sentences: "e.g." ends one, and "g." alone is too short to be counted.
SYLLABLES = {"the": 1, "cat's": 1, "area": 3, "isn't": 2, "it": 1, "had": 1, "tables": 2, "one": 1, "little": 2}
TEXTSTAT = [
    [57.605, 10.69, 8.954545, 11.300227], [67.22, 7.858333, 7.483333, 7.56875],
    [54.2775, 11.278333, 12.013333, 13.893333],
]  # fmt: skip


def test_counts_are_those_made_by_hand() -> None:
    found = readability.counts(TEXT)
    assert (found.words, found.spaced, found.sentences) == (13, 13, 3)
    assert found.letters == len("ThecatsareaisntwellknownIthad3tablesegonelittletable")
    assert found.characters == len(TEXT.replace(" ", ""))
    assert {word: readability.syllables(word) for word in SYLLABLES} == SYLLABLES


@pytest.mark.parametrize(
    ("text", "sentences"),
    [("One two three. Four five six!", 2), ("See Fig. 3 of the book.", 1), ("Yes. No.", 1), ("no end here", 1)],
)
def test_sentences(text: str, sentences: int) -> None:
    assert readability.counts(text).sentences == sentences


def test_words_that_the_dictionary_lacks_are_hyphenated() -> None:
    assert readability.syllables("zyzomatic") > 1
    assert readability.syllables("x1") == 1


def test_formulas() -> None:
    """The text has two sentences, 9 words, 11 syllables, 31 letters and 33 characters."""
    text = "The cat sat there. It had a little table."
    assert readability.counts(text) == (2, 9, 9, 11, 31, 33)
    assert readability.flesch_reading_ease(text) == pytest.approx(206.835 - 1.015 * 4.5 - 84.6 * 11 / 9)
    assert readability.flesch_kincaid_grade(text) == pytest.approx(0.39 * 4.5 + 11.8 * 11 / 9 - 15.59)
    assert readability.coleman_liau_index(text) == pytest.approx(0.058 * 3100 / 9 - 0.296 * 200 / 9 - 15.8)
    assert readability.automated_readability_index(text) == pytest.approx(4.71 * 33 / 9 + 0.5 * 4.5 - 21.43)


def test_textstats_values_on_real_passages() -> None:
    """The values are those that textstat 0.7.8 gives for the first passages of the demo."""
    passages = list(LocalCollection(ROOT / "resources/demo/collection").passages())
    assert len(passages) > 600
    found = [[index(passage["text"]) for index in readability.INDICES.values()] for passage in passages[:3]]
    assert found == [pytest.approx(values, abs=1e-6) for values in TEXTSTAT]


@pytest.mark.parametrize("text", ["", "…", "! ?"])
def test_a_text_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="without a word"):
        readability.flesch_reading_ease(text)
