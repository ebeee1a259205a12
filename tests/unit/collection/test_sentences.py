"""Sentences in any script: nothing is lost, and ends are where a reader sees them."""

import random

import pytest
from ragrelay.collection.sentences import halves, split_sentences

SENTENCES = {
    "English": [
        "Dr. Lee grows tea in the U.S. highlands. ",
        "It costs 3.50 dollars at 5 p.m. on Monday. ",
        "Is it? ",
        "Yes!",
    ],
    "names and domains": ["J. R. R. Tolkien uses ASP.NET and Node.js. ", "He likes it."],
    "Chinese": ["第1号灯塔建于1891年。", "真的吗？", "守塔人点亮油灯！", "好"],
    "Japanese": ["東京は日本の首都です。", "人口は多い。"],
    "Hindi": ["घर नदी के पास है। ", "दीवारें पत्थर की हैं।"],
    "Arabic": ["هل هذا صحيح؟ ", "هذا جيد."],
    "Urdu": ["یہ گھر ہے۔ ", "یہ دریا ہے۔"],
    "Burmese": ["ဒါက တစ်ခု။ ", "နောက်တစ်ခု။"],
    "Amharic": ["ሰላም ነው። ", "ደህና ነው።"],
    "Armenian": ["Սա նախադասություն է։ ", "Սա երկրորդն է։"],
    "Khmer": ["នេះជាប្រយោគ។ ", "នេះជាប្រយោគទីពីរ។"],
    "Tibetan": ["བོད་ཡིག།  ", "བོད།"],
    "list": ["Two things:\n", "- Tea grows. ", "It is green.\n", "- Copper is mined"],
    "numbered list": ["1. Tea grows.\n", "2. Copper is mined.\n\n", "(3) Rain falls."],
    "numbers in a line": ["1. Tea grows. ", "2. Copper is mined."],
    "lines": ["A line that goes on\nin the next.\n\n", "A paragraph"],
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name: str) -> None:
    assert split_sentences("".join(SENTENCES[name])) == SENTENCES[name]


def test_sentences_join_to_any_text() -> None:
    """Names' initials before blanks other than ASCII's ended the library with an error."""
    draw = random.Random(3)
    pieces = [
        "A\u00a0.",
        "J. ",
        "\u2028",
        "\u3000",
        "Dr. ",
        "é",
        "e\u0301",
        "😀",
        "- ",
        "1. ",
        "។",
        "།",
        "。",
        *"ab.!?\n ()[]\"'“”",
    ]
    for _ in range(3_000):
        text = "".join(draw.choices(pieces, k=draw.randint(0, 30)))
        assert "".join(split_sentences(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so we came to the house", ["so we came ", "to the house"]),
        ("守塔人的名字", ["守塔人", "的名字"]),
        (" word", [" w", "ord"]),
        ("นี่คือที่", ["นี่คื", "อที่"]),
        ("a\u0301a\u0301", ["a\u0301", "a\u0301"]),
        ("aa\u0301", ["a", "a\u0301"]),
    ],
)
def test_halves(text: str, expected: list[str]) -> None:
    assert halves(text) == expected
