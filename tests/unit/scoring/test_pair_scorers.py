"""Scorers without a model: against their libraries called directly, and against values worked out by hand."""

import math
import random
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from ragrelay.base.errors import InputError
from ragrelay.scoring.near_copies import grams
from ragrelay.scoring.scorer import Scores, Task, make_scorer
from ragrelay.scoring.scorers.rouge import Rouge
from ragrelay.scoring.squad import containment, exact_match, token_f1, words
from rouge_score.rouge_scorer import RougeScorer

ANSWERS = ["Tea grows on the cool hills of Ceylon.", "Coffee.", "", "Rain falls; rain falls on hills, always."]
REFERENCES = ["The tea plant grows on cool, rainy hills.", "Rain falls on hills.", "coffee"]
TASK = Task(ANSWERS, REFERENCES)
DEFINITIONS: dict[str, dict[str, Any]] = {
    "rouge1": {"kind": "rouge", "variant": "rouge1", "stemmer": False},
    "rouge2": {"kind": "rouge", "variant": "rouge2", "stemmer": False},
    "rougeL": {"kind": "rouge", "variant": "rougeL", "stemmer": True},
    "bleu": {"kind": "bleu"},
    "chrf": {"kind": "chrf", "word_order": 0},
    "chrf++": {"kind": "chrf", "word_order": 2},
    "exact_match": {"kind": "exact_match"},
    "token_f1": {"kind": "token_f1"},
    "containment": {"kind": "containment"},
    "length": {"kind": "length"},
}


RUSSIAN, JAPANESE, FRENCH = "Чай делают из листьев 100 лет", "1703年の茶は葉から作られる", "une tasse de thé chaud"
SEES_NO_RUSSIAN = {"rouge1", "rouge2", "rougeL"}
AS_PUBLISHED = SEES_NO_RUSSIAN | {"bleu", "chrf", "chrf++"}
SEES_NO_JAPANESE = SEES_NO_RUSSIAN | {"bleu", "chrf++", "token_f1", "containment", "length"}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_references_that_a_scorer_does_not_see(name: str) -> None:
    """An answer that equals its reference would have a score of its numbers alone, or of 0."""
    made = make_scorer(DEFINITIONS[name], Path("unused"))
    for text, unseen in ((RUSSIAN, SEES_NO_RUSSIAN), (JAPANESE, SEES_NO_JAPANESE)):
        if name in unseen:
            kind = DEFINITIONS[name]["kind"]
            message = rf"scorer of kind {kind}: found references with \d\d% .* or chrf without words"
            with pytest.raises(InputError, match=message):
                made.prepare([text])
        elif name != "length":
            assert scored(name, Task([text], [text])).f1 == pytest.approx(1.0)
    assert made.prepare([FRENCH, *REFERENCES])["texts"] == 4


@pytest.mark.parametrize("name", DEFINITIONS)
def test_answers_that_a_scorer_does_not_see(name: str) -> None:
    """Only ROUGE drops letters: for others, an answer in another script than its reference is a wrong answer."""
    made = make_scorer(DEFINITIONS[name], Path("unused"))
    if name in SEES_NO_RUSSIAN:
        with pytest.raises(InputError, match="scorer of kind rouge: found answers with 83% of the words"):
            made.check_answers(iter([RUSSIAN]))
    elif name not in AS_PUBLISHED:
        made.check_answers(pytest.fail("read in vain") for _ in "a")
    made.check_answers([FRENCH, *ANSWERS])


def scored(name: str, task: Task = TASK) -> Scores:
    made = make_scorer(DEFINITIONS[name], Path("unused"))
    made.prepare(task.references)
    return made.score([task])[0]


@pytest.mark.parametrize("name", ["rouge1", "rouge2", "rougeL"])
def test_rouge_is_the_librarys(name: str) -> None:
    library = RougeScorer([name], use_stemmer=DEFINITIONS[name]["stemmer"])
    found = scored(name)
    for row, answer in enumerate(ANSWERS):
        for column, reference in enumerate(REFERENCES):
            expected = library.score(reference, answer)[name]
            values = [float(part[row, column]) for part in (found.precision, found.recall, found.f1)]
            assert values == pytest.approx([expected.precision, expected.recall, expected.fmeasure])
    assert found.f1[0, 0] > 0


def test_longest_common_subsequences_are_the_librarys() -> None:
    """The values are the same to the last bit; some words are frequent enough to be kept."""
    draw = random.Random(7)
    library, own = RougeScorer(["rougeL"]), Rouge(variant="rougeL").pair()  # type: ignore[call-arg]
    for _ in range(300):
        words = "abcdefgh"[: draw.randint(1, 8)]
        answer, reference = (" ".join(draw.choices(words, k=draw.randint(0, 200))) for _ in range(2))
        assert own(answer, reference) == tuple(library.score(reference, answer)["rougeL"])


def test_rouge_of_one_word_by_hand() -> None:
    """3 of 4 words of the answer are in the reference, and 3 of its 5 in the answer."""
    found = scored("rouge1", Task(["cool hills grow tea"], ["tea hills are so cool"]))
    assert [found.precision[0, 0], found.recall[0, 0], found.f1[0, 0]] == pytest.approx([3 / 4, 3 / 5, 2 / 3])


def test_bleu_and_chrf_are_the_librarys() -> None:
    for row, answer in enumerate(ANSWERS):
        for column, reference in enumerate(REFERENCES):
            expected = {
                "bleu": sacrebleu.sentence_bleu(answer, [reference]).score,
                "chrf": sacrebleu.sentence_chrf(answer, [reference]).score,
                "chrf++": sacrebleu.sentence_chrf(answer, [reference], word_order=2).score,
            }
            for name, value in expected.items():
                assert scored(name).f1[row, column] == pytest.approx(value / 100, abs=1e-6)
    assert scored("bleu").f1.max() > 0.1 and scored("chrf").f1[1, 2] > 0.5


@pytest.mark.parametrize("name", ["bleu", "chrf", "exact_match", "containment", "length"])
def test_single_values_have_no_precision_and_recall(name: str) -> None:
    found = scored(name)
    assert np.isnan(found.precision).all() and np.isnan(found.recall).all() and not np.isnan(found.f1).any()


def test_length_counts_words() -> None:
    assert scored("length").f1[:, 0].tolist() == [8, 1, 0, 7]


@pytest.mark.parametrize("name", DEFINITIONS)
def test_fingerprints_differ(name: str) -> None:
    found = {other: make_scorer(definition, Path("unused")).fingerprint for other, definition in DEFINITIONS.items()}
    assert list(found.values()).count(found[name]) == 1


def test_squads_normalisation() -> None:
    assert words("  The U.S.A.,  an  (old) Theory!") == ["usa", "old", "theory"]


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "f1", "contained"),
    [
        ("The Beatles", "beatles", 1, 1, 1),
        ("It was the Beatles, in 1963.", "The Beatles", 0, 2 / 6, 1),
        ("beatles the beatles", "Beatles Beatles Beatles", 0, 4 / 5, 0),
        ("a party", "art", 0, 0, 0),
        ("in 1963 or 1964", "1964 or", 0, 2 * (2 / 4 * 1) / (2 / 4 + 1), 0),
        ("", "tea", 0, 0, 0),
        ("the", "an", 0, 0, 0),
        ("The", "the.", 1, 1, 1),
        ("A.", "A", 1, 1, 1),
        ("a", "A", 1, 1, 1),
        ("The answer is A.", "A", 0, 2 * (1 / 4) / (1 / 4 + 1), 1),
        ("(a) tea", "A", 0, 2 * (1 / 2) / (1 / 2 + 1), 1),
        ("**A**: by a lamp", "A)", 0, 2 * (1 / 3) / (1 / 3 + 1), 1),
        ("B, a lamp in the house", "A", 0, 0, 0),
        ("I cannot tell.", "A", 0, 0, 0),
        ("It is The The.", "The The", 0, 2 * (2 / 4) / (2 / 4 + 1), 1),
        ("A", "Paris", 0, 0, 0),
        ("The", "The Beatles", 0, 0, 0),
        ("", "A", 0, 0, 0),
        ("+", "+", 1, 1, 1),
        ("-", "+", 0, 0, 0),
    ],
)
def test_gold_answers_by_hand(answer: str, gold: str, exact: float, f1: float, contained: float) -> None:
    assert exact_match(answer, gold) == exact
    assert token_f1(answer, gold)[2] == pytest.approx(f1)
    assert containment(answer, gold) == contained


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


LOOK_ALIKES = [
    (decomposed("Beyoncé Knowles"), "Beyoncé Knowles"),
    (decomposed("서울특별시"), "서울특별시"),
    ("“Paris”", "Paris"),
    ("東京。", "東京"),
    ("¿Madrid?", "Madrid"),
    ("दिल्ली।", "दिल्ली"),
    ("هل هذا صحيح؟", "هل هذا صحيح"),
    ("１９４５", "1945"),
    ("ＵＳＡ", "usa"),
    ("ｱﾊﾞｼﾘ", "アバシリ"),
    ("l’Aquila", "l'Aquila"),
    ("rock´n´roll", "rock'n'roll"),
    ("1939–1945", "1939-1945"),
    ("−5", "-5"),
    ("eﬃcient", "efficient"),
    ("ten\u00a0miles", "ten miles"),
    ("co\u00adoperate\u200b", "cooperate"),
]


@pytest.mark.parametrize(("answer", "gold"), LOOK_ALIKES)
def test_texts_that_look_alike_are_equal(answer: str, gold: str) -> None:
    for ours, theirs in ((answer, gold), (gold, answer)):
        assert exact_match(ours, theirs) == token_f1(ours, theirs)[2] == containment(f"It is {ours}", theirs) == 1
    assert grams(answer.replace(".", "")) == grams(gold)


@pytest.mark.parametrize(("answer", "gold"), [("10²", "102"), ("H₂O²", "H2O2"), ("cafe", "café"), ("5½", "512")])
def test_texts_that_look_different_are_different(answer: str, gold: str) -> None:
    assert exact_match(answer, gold) == containment(answer, gold) == 0


@pytest.mark.parametrize("name", sorted(set(DEFINITIONS) - {"length"}))
def test_composed_and_decomposed_letters_have_equal_scores(name: str) -> None:
    texts = ["une tasse de thé très chaud", "Tea grows on the cool hills of São Tomé"]
    other = list(map(decomposed, texts))
    expected = scored(name, Task(texts, texts)).f1
    assert other != texts and np.diag(expected).tolist() == pytest.approx([1, 1])
    assert (scored(name, Task(other, texts)).f1 == expected).all()
    assert (scored(name, Task(texts, other)).f1 == expected).all()


@pytest.mark.parametrize("name", DEFINITIONS)
def test_answers_with_look_alikes_are_counted_where_a_definition_tells_them_apart(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """ROUGE drops all punctuation, so that only letters and digits count there."""
    answers = ["Tea “grows”.", "Tea in １９４５ or 1946, on the cool and rainy hills of old Ceylon.", "Tea", FRENCH]
    make_scorer(DEFINITIONS[name], Path("unused")).check_answers(answers)
    warned = capsys.readouterr().err
    if name in AS_PUBLISHED:
        count = 1 if name in SEES_NO_RUSSIAN else 2
        assert f"scorer of kind {DEFINITIONS[name]['kind']}: {count} of 4 answers have typographic quotes" in warned
    else:
        assert warned == ""


def test_token_f1s_parts() -> None:
    precision, recall, f1 = token_f1("tea from the green hills", "green tea")
    assert (precision, recall) == (2 / 4, 1) and math.isclose(f1, 2 / 3)
