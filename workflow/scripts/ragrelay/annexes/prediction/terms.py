"""Count a corpus's words in one pass over its passages, and store the statistics in the cache next to the indexes.

Whatever the retriever, PISA's tokenizer splits texts, Porter2 stems words, and Terrier's stopwords are removed.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import polars as pl

from ragrelay.base.display.progress import Lines
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic_folder, write_json, write_parquet
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.io.file_hashes import check_hashes, write_hashes
from ragrelay.base.io.hashing import value_hash
from ragrelay.collection.base import Collection
from ragrelay.collection.words import between_blanks, sampled, shares
from ragrelay.retrieval.bm25s_index import stemmed_words, stopwords
from ragrelay.retrieval.pisa import words

STEMMER, STOPWORDS = "porter2", "terrier"
MOST_PAIRED = 1000
"""Maximum number of distinct query words to pair; the pairs of a complete document would fill the memory."""
WORDS = {"word": pl.String, "passages": pl.Int64, "occurrences": pl.Int64, "logs": pl.Float64, "squares": pl.Float64}
TERMS, BLANKS = "terms", "blanks"
UNREAD = {
    TERMS: (words, "words in letters that the words' tokenizer drops"),
    BLANKS: (between_blanks, "words without blanks between them"),
}
"""Methods of splitting text into words, each with the reason reported if the method misses too many words."""
PAIRS = {"one": pl.String, "other": pl.String, "passages": pl.Int64}


class Word(NamedTuple):
    """A word's corpus statistics: the number of ``passages`` that contain the word, and its total ``occurrences``.

    ``logs`` and ``squares`` are sums of l and l^2 over these passages, with l = 1 + ln(occurrences in the passage).
    """

    passages: int
    occurrences: int
    logs: float
    squares: float


@dataclass(frozen=True)
class TermStatistics:
    """A corpus's total ``passages`` and ``tokens``, with statistics for selected words and for queries' word pairs.

    ``unread`` gives the reason for each method (TERMS or BLANKS) that can't split the corpus into words.
    """

    passages: int
    tokens: int
    words: Mapping[str, Word]
    pairs: Mapping[tuple[str, str], int]
    unread: Mapping[str, str] = field(default_factory=dict)


def terms(text: str) -> list[str]:
    """Return the stemmed words in ``text`` in order, without stopwords."""
    stopped = stopwords(STOPWORDS)
    return [word for word in stemmed_words(text, STEMMER) if word not in stopped]


def pairs_of(query: Iterable[str]) -> list[tuple[str, str]]:
    """Return all pairs among a query's first MOST_PAIRED distinct words; each pair is in alphabetical order."""
    return list(combinations(sorted(list(dict.fromkeys(query))[:MOST_PAIRED]), 2))


def count_terms(collection: Collection, queries: pl.DataFrame, cache_dir: str | Path) -> dict[str, object]:
    """Count words and the word pairs of ``queries`` (qid, query) in ``collection``, unless the counts are in the cache.

    Returns a receipt with the keys path (relative to the cache), passages and tokens. If a method in UNREAD misses too
    many words in the queries or passages, the key ``unread`` maps the method's name to the reason.
    """
    asked = sorted({pair for query in queries["query"] for pair in pairs_of(terms(query))})
    decisive = {"corpus": collection.corpus_identity(), "stemmer": STEMMER, "stopwords": STOPWORDS, "pairs": asked}
    relative = Path("indexes") / f"terms-{value_hash(decisive, 24)}"
    final = Path(cache_dir) / relative
    if not final.is_dir():
        check_writable("no statistics of words are in", final)
        with atomic_folder(final) as temporary:
            temporary.mkdir()
            _count(collection, asked, temporary)
            write_hashes(temporary)
    totals = json.loads((final / "totals.json").read_text(encoding="utf-8"))
    passages = list(sampled(collection))
    unread = {
        name: reason
        for name, (tokens, reason) in UNREAD.items()
        if any(shares(texts, tokens).refused for texts in (queries["query"], passages))
    }
    return {"path": str(relative), **totals} | ({"unread": unread} if unread else {})


def read_terms(receipt: str | Path, cache_dir: str | Path, wanted: Iterable[str]) -> TermStatistics:
    """Read the statistics for the words in ``wanted``, using ``receipt``. Raises InputError if a file is damaged."""
    known_receipt = json.loads(Path(receipt).read_text(encoding="utf-8"))
    folder = Path(cache_dir) / known_receipt["path"]
    try:
        check_hashes(folder, whole=False)
        totals = json.loads((folder / "totals.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError) as error:
        expected = f"intact word statistics; delete the folder and {receipt}, then run the command again"
        raise InputError(folder, f"damaged or missing files ({error})", expected) from None
    known = pl.Series("word", sorted(set(wanted)), dtype=pl.String)
    words = pl.scan_parquet(folder / "words.parquet").filter(pl.col("word").is_in(known.implode())).collect()
    pairs = pl.read_parquet(folder / "pairs.parquet")
    return TermStatistics(
        totals["passages"],
        totals["tokens"],
        {word: Word(*numbers) for word, *numbers in words.iter_rows()},
        {(one, other): passages for one, other, passages in pairs.iter_rows()},
        known_receipt.get("unread", {}),
    )


def _count(collection: Collection, asked: list[tuple[str, str]], folder: Path) -> None:
    partners: dict[str, set[str]] = {}
    for one, other in asked:
        partners.setdefault(one, set()).add(other)
    known: dict[str, list[float]] = {}
    together: Counter[tuple[str, str]] = Counter()
    passages = tokens = 0
    lines = Lines(later=True)
    for passage in collection.passages():
        occurrences_of = Counter(terms(passage["text"]))
        passages += 1
        tokens += occurrences_of.total()
        lines.say(lambda done=passages: f"words of {done:,} passages counted")  # type: ignore[misc]
        for word, occurrences in occurrences_of.items():
            counts = known.setdefault(word, [0, 0, 0.0, 0.0])
            log = 1.0 + math.log(occurrences)
            for place, more in enumerate((1, occurrences, log, log * log)):
                counts[place] += more
        for one in occurrences_of.keys() & partners.keys():
            together.update((one, other) for other in partners[one] & occurrences_of.keys())
    rows = [(word, *known[word]) for word in sorted(known)]
    write_parquet(pl.DataFrame(rows, schema=WORDS, orient="row"), folder / "words.parquet")
    pairs = [(*pair, together[pair]) for pair in asked]
    write_parquet(pl.DataFrame(pairs, schema=PAIRS, orient="row"), folder / "pairs.parquet")
    write_json({"passages": passages, "tokens": tokens}, folder / "totals.json")
