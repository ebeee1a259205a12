"""Every pass over a text takes time that grows with its length alone, whatever characters it has.

Of CPU time, each gets many times what it takes: a pass that grows with the square takes minutes and more.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import numpy as np
import pytest
from ragrelay.base.errors import printable
from ragrelay.base.io.characters import check_query, check_text, count_unseen, is_seen
from ragrelay.base.io.secret_values import SentKey, secret_in
from ragrelay.collection.answer_formats.trec_rag import joined, read_record, split_sentences, written_record
from ragrelay.generation.tokens import PromptTokenizer
from ragrelay.questions.nuggets.writing import read_list
from ragrelay.report.display.script_json import script_json
from ragrelay.report.latex import escape
from ragrelay.scoring.near_copies import shown_references
from ragrelay.scoring.nugget_lists import folded
from ragrelay.scoring.pair_scorer import PairScorer
from ragrelay.scoring.reference_sets import QueryReferences
from ragrelay.scoring.scorer import SCORER_KINDS
from ragrelay.scoring.scorers.python import Python
from ragrelay.scoring.sentences import cited_sentences, numbered_citations

from tests.support.annex_cases import of_annexes
from tests.support.chat_model import build_chat_model
from tests.support.thoughts import told

pytestmark = pytest.mark.process

LENGTH, LIBRARIES = 100_000, 20_000
"""Characters; fewer, and of every third piece, for the passes of libraries that are slow, though linear."""
MOST_SECONDS = 20
PIECES = [
    "a", "A", "1", "_", "é", "漢", "\u200b", ".", "?!", " ", "\n", "[", "(", '"', "'", "<", "{", "-", ":", "&",
    "[1", "[1]", "[1] ", "[1, ", "[1]. ", "a [7]. ", '."', '"a', '"a", ', "a-", "A'", "a, ", "a ", "A ", "A. ", "A of ",
    "1.", "1 ", "sk-", "eyJ-", "a://", "hf_", "<think>", "\\u", "%2", "&#",
    "{} ", "N{} ", "N{}. ", "A-{}. ", "[{}]. ", "{}@",
]  # fmt: skip
"""Texts repeat one of these; {} is another number each time."""


def text_of(piece: str, length: int) -> str:
    if "{}" in piece:
        return "".join(piece.replace("{}", str(number)) for number in range(length // (len(piece) + 3)))
    return piece * (length // len(piece))


@contextmanager
def cpu_seconds(most: int) -> Iterator[None]:
    """Raise TimeoutError where the lines within take more CPU time; pytest's report then shows where they were."""

    def late(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def thought(text: str) -> object:
    answers = [
        {"answer": text, "finish_reason": "stop"},
        {"answer": f"{text}</think>{text}", "finish_reason": "length"},
    ]
    return told(answers, ("<think>", "</think>"))


def copies(text: str) -> object:
    references = QueryReferences("1", ["d1", "d2"], [text, text[::-1]], np.array([3, 2]), "hash")
    return shown_references(references, {"d1": text, "d3": text}, 0.5)


def exported(text: str) -> object:
    record = written_record("1", text, text, ["d1"], "run", {})
    read = read_record("place", record)
    assert read["answer"] == text
    return read


def scorers() -> Iterator[tuple[str, Callable[[str, str], Any]]]:
    """Every scorer that takes an answer and a reference, with a text against itself and its letters backwards."""
    keys: dict[str, list[dict[str, Any]]] = {
        "rouge": [{"variant": one, "stemmer": one != "rouge2"} for one in ("rouge1", "rouge2", "rougeL")],
        "chrf": [{"word_order": 2}],
    }
    for name in SCORER_KINDS.names():
        kind = SCORER_KINDS[name]
        if issubclass(kind, PairScorer) and kind is not Python:
            for given in keys.get(name, [{}]):
                yield " ".join([name, *map(str, given.values())]), kind(**given).pair()


def of_pair(pair: Callable[[str, str], Any], text: str) -> object:
    return pair(text, text), pair(f"a {text}", "a b")


PASSES: dict[str, Callable[[str], object]] = {
    "sentences": lambda text: joined(split_sentences(text)) == text or pytest.fail("another text"),
    "citations": lambda text: (cited_sentences(text), cited_sentences(f"a {text}")),
    "kept citations": lambda text: numbered_citations([{"text": text, "citations": ["d1"] * 99}], ["d1"]),
    "an exported record": exported,
    "near copies": copies,
    "nuggets": lambda text: (folded(text), read_list(text), read_list(f'["{text}'), read_list("", [text])),
    "secrets": secret_in,
    "a sent key": lambda text: (SentKey("sk-a1b2c3d4e5f6").is_in(text), SentKey("a1" * 20).hidden(text)),
    "a thought": thought,
    "characters": lambda text: (is_seen(text), count_unseen("texts", [text]), check_text("place", text)),
    "a query's characters": lambda text: check_query("place", text.replace("\n", " ")),
    "page": lambda text: (script_json({"text": text}), escape(text), printable(text)),
    **{name: partial(of_pair, pair) for name, pair in scorers()},
}
for of_annex in of_annexes("PASSES"):
    PASSES |= of_annex
SLOWER = ("predictors", "bleu", "chrf", "rouge", "flesch")


@pytest.mark.parametrize("name", PASSES)
def test_a_long_text(name: str) -> None:
    slower = name.startswith(SLOWER)
    for piece in PIECES[:: 3 if slower else 1]:
        text = text_of(piece, LIBRARIES if slower else LENGTH)
        with cpu_seconds(MOST_SECONDS):
            PASSES[name](text)


GROWING = ("rouge rougeL",)
"""Passes that grow with the square, as their documentation says: longest common subsequences."""
NUMBERED = [piece for piece in PIECES if "{}" in piece]


def grown(name: str, texts: Callable[[int], str]) -> tuple[float, float]:
    """CPU seconds of a pass over a text of LENGTH characters, and of one ten times as long."""
    seconds = []
    for length in (LENGTH, 10 * LENGTH):
        text, before = texts(length), process_time()
        with cpu_seconds(10 * MOST_SECONDS):
            PASSES[name](text)
        seconds.append(process_time() - before)
    return seconds[0], seconds[1]


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in PASSES if not name.startswith(GROWING)])
def test_ten_times_the_text_takes_about_ten_times_the_work(name: str) -> None:
    """Texts of a million characters repeat one piece, one with numbers, or two by turns, drawn for each pass.

    Work that grows with the square would take a hundred times.
    """
    draw = Random(name)
    one, other, numbered = draw.choice(PIECES), draw.choice(PIECES), draw.choice(NUMBERED)
    for piece in [numbered] if name in ("predictors", "bleu") else [one, numbered, one.replace("{}", "7") + other]:
        short, long = grown(name, partial(text_of, piece))
        assert long < max(3.0, 40 * short), (piece, short, long)


@pytest.mark.parametrize("chat", [False, True])
def test_tokens_of_a_long_text(chat: bool, tmp_path: Path) -> None:
    model = build_chat_model(tmp_path / "model")
    tokenizer = PromptTokenizer({"model": str(model), "trust_remote_code": False, "chat": chat})
    for piece in [*PIECES[::3], "</s>", "<s>a"]:
        with cpu_seconds(MOST_SECONDS):
            tokenizer(text_of(piece, LENGTH))


@pytest.mark.full
def test_work_that_grows_with_the_square_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PASSES, "square", lambda text: [text[:place].count("b") for place in range(0, len(text), 20)])
    short, long = grown("square", partial(text_of, "a"))
    assert long >= max(3.0, 40 * short)


def test_a_pass_that_grows_with_the_square_is_noticed() -> None:
    with pytest.raises(TimeoutError), cpu_seconds(1):
        text = text_of("a", LENGTH)
        sum(text[:place].count("b") for place in range(LENGTH))
