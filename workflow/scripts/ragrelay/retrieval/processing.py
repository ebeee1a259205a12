"""Run a processor on a retriever's contexts, which are the first k passages for each k in the grid."""

import functools
import itertools
import logging
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.base.display.progress import Progress
from ragrelay.base.display.terminal import tell
from ragrelay.base.errors import InputError
from ragrelay.base.io.cache_mode import check_writable
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.io.missing_counts import before_work
from ragrelay.retrieval.contexts import PROCESSED_COLUMNS, shown_texts
from ragrelay.retrieval.processed_store import KEY, ORDER, SAME_AGAIN, SCHEMA, ProcessedStore
from ragrelay.retrieval.processor import PROCESSOR_KINDS, Passage, Process

log = logging.getLogger(__name__)

FLUSH_SECONDS = 60.0
SAMPLE = 20
"""Number of inputs that a job processes twice, to check that the results are equal.

If one in seven results of a processor differs, the check misses this in 5% of jobs.
"""

Given = tuple[str, tuple[Passage, ...]]
"""A processor's input: a query's text and passages."""


def process_contexts(
    queries: pl.DataFrame,
    contexts: pl.DataFrame,
    ks: Sequence[int],
    definition: Mapping[str, object],
    cache_dir: str | Path,
    place: str,
    threads: int = 1,
) -> tuple[pl.DataFrame, dict[str, object]]:
    """Return ``contexts`` with a column ``shown`` (and ``places`` if the processor moved a passage), and a receipt.

    ``queries``: columns qid and query. ``contexts``: the contexts of the retriever whose passages are processed.
    ``place``: the processor's name in messages. Each context is processed separately, so texts depend on k. Stored
    texts are reused, unless the processor reorders passages and the order isn't stored. New results are stored about
    once a minute. The receipt contains the fingerprint, the seconds, and the numbers of needed (asked), already stored
    (cached) and newly computed results (made). ``same_again`` says whether a sample of contexts gave the same results
    when processed twice; None if there are no results. Raises InputError if the processor returns passages that it
    wasn't given, or values that aren't strings. Warns on the terminal if the sample's results differ.
    """
    processor = PROCESSOR_KINDS.of(definition)
    decisive = [definition["kind"], processor.decisive(Path(cache_dir)), *processor.outside_code().values()]
    fingerprint = value_hash(decisive)
    store = ProcessedStore(cache_dir, fingerprint)
    query_of = dict(queries.select("qid", "query").iter_rows())
    start = functools.cache(lambda: processor.start(threads))
    distinct: dict[str, Given] = {}
    asked: list[tuple[str, int, str]] = []
    for qid, k, passages in _asked(contexts, sorted(ks), processor.alone):
        key = given_hash((query_of[qid], passages))
        distinct[key] = query_of[qid], passages
        asked.append((qid, k, key))
    began = time.monotonic()
    keys = pl.DataFrame({KEY[0]: list(distinct)}, schema={KEY[0]: pl.String})
    held, unordered = store.held_in_order(keys)
    tried = () if processor.alone or processor.keeps_order else _sampled(asked, unordered)
    if tried:
        before_work()
    if any(_moved(_processed(start(), distinct[key], place), distinct[key]) for key in tried):
        held = held.filter(~pl.col(KEY[0]).is_in(unordered))
    cached = set(held[KEY[0]])
    missing = {key: given for key, given in distinct.items() if key not in cached}
    if missing:
        check_writable(f"{len(missing)} of {len(distinct)} contexts are not in", store.folder)
        before_work()
        _fill(store, missing, _sampled(asked, missing), start(), place)
        held = pl.concat([held, store.held_in_order(keys.join(held, on=KEY, how="anti"))[0]])
    texts = {key: dict(zip(*lists, strict=True)) for key, *lists in store.read(held).select(*SCHEMA).iter_rows()}
    shown: dict[tuple[str, str], list[tuple[dict[str, object], int]]] = {}
    last = Counter[tuple[str, int]]()
    for qid, k, key in asked:
        for docno, text in texts[key].items():
            last[qid, k] += 1
            shown.setdefault((qid, docno), []).append(({"k": k, "text": text}, last[qid, k]))
    rows = [shown.get(passage, []) for passage in contexts.select("qid", "docno").iter_rows()]
    same = {store.metadata(part).get(SAME_AGAIN) for part in held["part"].unique()}
    receipt = {
        "fingerprint": fingerprint,
        "asked": len(distinct),
        "cached": len(cached),
        "made": len(missing),
        "seconds": round(time.monotonic() - began, 2),
        "same_again": same == {"true"} if same else None,
    }
    if receipt["same_again"] is False:
        line = f"{place}: a sample of contexts (texts or their order) differed when it was processed again; another "
        line += "cache would give other prompts"
        log.warning("%s", line)
        tell(f"ragrelay: warning: {line}")
    columns = [
        pl.Series(name, [[cell[part] for cell in row] for row in rows], dtype=PROCESSED_COLUMNS[name].dtype)
        for part, name in enumerate(("shown", "places"))
    ]
    return _in_returned_order(contexts.with_columns(columns), ks), receipt


def _in_returned_order(contexts: pl.DataFrame, ks: Sequence[int]) -> pl.DataFrame:
    """Sort each query's rows in the order of its largest context; drop ``places`` if all contexts keep the ranks."""
    falls = (pl.col("rank").diff().over("qid") < 0).any()
    if not any(shown_texts(contexts, k).sort("place").select(falls).item() for k in ks):
        return contexts.drop("places")
    deepest = shown_texts(contexts, max(ks)).select("qid", "docno", "place")
    placed = contexts.join(deepest, on=["qid", "docno"], how="left", maintain_order="left")
    return placed.select(pl.all().sort_by("place", "rank", nulls_last=True).over("qid")).drop("place")


def _moved(texts: Mapping[str, str], given: Given) -> bool:
    return [passage.docno for passage in given[1] if passage.docno in texts] != list(texts)


def _sampled(asked: Iterable[tuple[str, int, str]], of: Collection[str]) -> set[str]:
    """Draw SAMPLE keys that are in ``asked`` (qid, k, key) and ``of``, by hash, from each k in turn, largest first."""
    of_k: dict[int, set[str]] = {}
    for _, k, key in asked:
        if key in of:
            of_k.setdefault(k, set()).add(key)
    turns = itertools.zip_longest(*(sorted(of_k[k]) for k in sorted(of_k, reverse=True)))
    distinct = dict.fromkeys(key for turn in turns for key in turn if key is not None)
    return set(itertools.islice(distinct, SAMPLE))


def given_hash(given: Given) -> str:
    """Return the hash of a processor's input, which is the key of the stored result."""
    query, passages = given
    return value_hash([query, [list(passage) for passage in passages]], digits=64)


def _asked(contexts: pl.DataFrame, ks: Sequence[int], alone: bool) -> Iterator[tuple[str, int, tuple[Passage, ...]]]:
    """Yield the processor's inputs for each query and k: all passages, best first, or with ``alone`` one at a time."""
    for k in ks:
        top = shown_texts(contexts, k).sort("place").group_by("qid", maintain_order=True).agg("docno", "text")
        for qid, docnos, texts in top.iter_rows():
            passages = tuple(map(Passage, docnos, texts))
            yield from ((qid, k, (passage,)) for passage in passages) if alone else [(qid, k, passages)]


def _fill(
    store: ProcessedStore, missing: Mapping[str, Given], twice: Collection[str], process: Process, place: str
) -> None:
    """Process ``missing`` and add a part to the store about every minute and at the end, even after an error.

    Results for the keys in ``twice`` are computed twice.
    """
    progress = Progress(len(missing), "contexts processed")
    rows: list[tuple[str, list[str], list[str]]] = []
    same, flushed = True, time.monotonic()

    def flush() -> None:
        if rows:
            described = {SAME_AGAIN: str(same).lower(), ORDER: "returned"}
            store.add(pl.DataFrame(rows, schema=SCHEMA, orient="row"), described)
            rows.clear()

    try:
        for key, given in missing.items():
            texts = _processed(process, given, place)
            same &= key not in twice or list(_processed(process, given, place).items()) == list(texts.items())
            rows.append((key, list(texts), list(texts.values())))
            progress.add(1)
            if time.monotonic() - flushed >= FLUSH_SECONDS:
                flush()
                flushed = time.monotonic()
    finally:
        flush()


def _processed(process: Process, given: Given, place: str) -> dict[str, str]:
    """Return the texts that aren't blank by docno, in the order that the processor returned.

    Raises InputError for a docno that wasn't given or is repeated, and for a value that isn't a string.
    """
    query, passages = given
    texts: dict[str, str] = {}
    known = {passage.docno for passage in passages}
    for docno, text in process(query, passages):
        if docno not in known:
            raise InputError(place, f"docno {docno!r} for query {query!r}", "only docnos passed to the processor")
        if docno in texts:
            raise InputError(place, f"duplicate docno {docno!r} for query {query!r}", "one text per passage")
        if not isinstance(text, str):
            raise InputError(place, f"a {type(text).__name__} as the text of docno {docno!r}", "a string")
        texts[docno] = text
    return {docno: text for docno, text in texts.items() if text.strip()}
