"""Read and check TREC runs, sort them like trec_eval, and write them with ranks from 1 and a metadata header."""

import gzip
import logging
import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import polars as pl
import yaml

import ragrelay
from ragrelay.base.display.terminal import tell_warnings
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import atomic
from ragrelay.base.io.text_lines import trec_lines
from ragrelay.collection.base import Collection
from ragrelay.retrieval.contexts import MANY
from ragrelay.retrieval.retriever import RETRIEVER_KINDS, Retriever, needed

RUN = {"qid": pl.String, "docno": pl.String, "score": pl.Float64}
GREATEST = 3.4028235e38
"""The largest single-precision number."""
log = logging.getLogger(__name__)
START, END = "# ir_metadata.start", "# ir_metadata.end"
ASKED = "the retriever's key ranked_by says whether ranks or scores are meant"
"""The warning for run files in which ranks and scores disagree."""
STAGE = {"first_stage": "reranks", "retrievers": "interpolates"}
"""Keys that name other retrievers. Each maps to the corresponding method in ir_metadata's schema."""


def read_run(path: str | Path) -> pl.DataFrame:
    """Read a plain or gzipped TREC run file (qid, Q0, docno, rank, score, tag) as qid, docno and score, in file order.

    Skips comments at the beginning, such as an ir_metadata header. Raises InputError for an invalid line.
    """
    return read_ranks(path).drop("given")


def read_ranks(path: str | Path) -> pl.DataFrame:
    """Read a TREC run file as qid, docno, score and ``given`` (the file's ranks as strings), in file order.

    Raises InputError with the line number for wrong columns, ids with invisible characters, scores that trec_eval would
    read differently, and docnos that are repeated within a query.
    """
    path, rows = Path(path), []
    seen: dict[tuple[str, str], int] = {}
    for number, (qid, _, docno, rank, text, _) in trec_lines(
        path, "qid", "Q0", "docno", "rank", "score", "tag", header=True
    ):
        try:
            score = float(text)
        except ValueError:
            score = math.nan
        # Python also accepts 1_000 and digits from other scripts. trec_eval stops at these, and uses single precision.
        if not abs(score) <= GREATEST or not text.isascii() or "_" in text:
            raise InputError(f"{path}, line {number}", f"score {text!r}", "a finite number that trec_eval can read")
        if (qid, docno) in seen:
            raise InputError(
                f"{path}, line {number}",
                f"duplicate docno {docno!r} for qid {qid!r} (first on line {seen[qid, docno]})",
                "unique docnos per query",
            )
        seen[qid, docno] = number
        rows.append((qid, docno, score, rank))
    return pl.DataFrame(rows, schema=RUN | {"given": pl.String}, orient="row")


def check_run(
    path: str | Path, queries: pl.DataFrame, collection: Collection, definition: Mapping[str, object], name: str
) -> None:
    """Check that a run file can be read for the retriever ``name`` and matches the queries and the collection.

    Raises InputError if the file can't be read, if qids and docnos are swapped, if none of the ``queries`` has a
    result, or if no docno has a text in ``collection``. Logs the numbers of doubtful lines and queries (see
    count_doubts), and prints any warnings on the terminal.
    """
    ranks = read_ranks(path)
    check_ids(ranks, str(path), queries)
    scored = RETRIEVER_KINDS.of(definition).scored(ranks, str(path), name)
    doubts = count_doubts(ranks, queries, definition)
    for doubt in doubts:
        if doubt["count"]:
            log.warning("%s: %s: %d", path, doubt["what"], doubt["count"])
    tell_warnings(str(path), doubts)
    run = ranked(scored, queries)
    if run.is_empty():
        raise InputError(path, "no results for any query", "qids of the dataset's queries")
    docnos = run.sort("rank", maintain_order=True)["docno"].unique(maintain_order=True)
    # Best ranks first, so that one lookup is enough unless something is wrong.
    slices = (docnos.slice(start, 1000) for start in range(0, len(docnos), 1000))
    if not any(collection.texts(part.to_list()) for part in slices):
        raise InputError(path, "no docno with text in the collection", "docnos of the dataset's passages")


def count_doubts(
    run: pl.DataFrame, queries: pl.DataFrame, definition: Mapping[str, object] | None = None
) -> list[dict[str, object]]:
    """Count doubtful lines and queries in ``run`` (from read_ranks); return `what`, `count` and any `warning` for each.

    A line is doubtful if its query isn't in ``queries`` (qid). A query is doubtful if its ranks differ although all its
    scores are equal, or if a score rises with the rank. Doubtful queries are counted (with a warning) only if
    ``definition`` doesn't set `ranked_by`.
    """
    known = run.join(queries.select("qid"), on="qid", how="semi")
    several = order_by_query(known).filter("ranked")
    counts = {
        "queries whose results all have one score, though their ranks differ (scores count)": (
            several.filter(pl.col("scores") == 1).height
        ),
        "queries in which a score rises with the rank (scores count)": several.filter(pl.col("rises") > 0).height,
    }
    unknown = {"what": "run lines for queries that are unknown or have no judgement", "count": len(run) - len(known)}
    if definition and definition.get("ranked_by"):
        return [unknown]
    return [unknown, *({"what": w, "count": n, **({"warning": ASKED} if n else {})} for w, n in counts.items())]


def count_ties(
    run: pl.DataFrame, queries: pl.DataFrame, ks: Sequence[int], meant: str | None
) -> list[dict[str, object]]:
    """Count the ``queries`` (qid) whose tied scores put different passages into the top k than the ranks do.

    A query is counted if the passages differ for any k in ``ks``. Queries are skipped if their ranks aren't distinct
    whole numbers, if all their scores are equal, or if a score rises from one rank to the next. ``run`` comes from
    read_ranks. ``meant`` is the value of `ranked_by`; if the value is `ranks` or `scores`, nothing is counted.
    """
    if meant in ("ranks", "scores"):
        return []
    run, score = run.join(queries, on="qid", how="semi"), pl.col("score") if meant is None else 0.0 - pl.col("score")
    number, single = pl.col("number"), pl.col("single")
    by_rank = run.with_columns(number=rank_number(), single=score.cast(pl.Float32)).sort("qid", "number")
    ranks = number.is_not_null() & (number.floor() == number) & number.is_unique()
    usable = ranks.all() & (single.n_unique() > 1) & ~(single.diff() > 0).any()
    by_rank = by_rank.filter(usable.over("qid")).with_columns(rank=pl.int_range(pl.len()).over("qid"))
    by_score = by_rank.sort("qid", "single", "docno", descending=[False, True, True])
    place = pl.int_range(pl.len()).over("qid")
    moved = by_score.filter(pl.any_horizontal((pl.col("rank") < k) != (place < k) for k in ks))
    turned, of = moved["qid"].n_unique(), run["qid"].n_unique()
    what = "queries in which ties put other passages into the first k than the ranks say (scores count)"
    sentence = (
        f"{turned:,} of {of:,} queries: ties in the scores put other passages into the first k than the ranks say; "
        "write scores with more decimals, or set the retriever's key ranked_by: ranks"
    )
    return [{"what": what, "count": turned, **({"sentence": sentence} if turned > MANY * of else {})}]


def rank_number() -> pl.Expr:
    """Return an expression that converts ranks (column ``given``, such as 1.0 or 01) to numbers, or to null."""
    number = pl.col("given").cast(pl.Float64, strict=False)
    return pl.when(number.is_finite()).then(number)


def order_by_query(run: pl.DataFrame) -> pl.DataFrame:
    """For each query, count the distinct scores and how often the score rises or falls from one rank to the next.

    ``run`` has qid, given (the rank as a string) and score. Returns qid, ``ranked``, ``scores`` (distinct), ``rises``
    and ``falls``; queries with a single result are left out. If a query's ranks are all equal or not all numbers,
    ``ranked`` is false and lines are compared in file order.
    """
    numbers = run.with_row_index("line").with_columns(number=rank_number(), score=pl.col("score").cast(pl.Float32))
    several = (pl.col("number").n_unique() > 1) & pl.col("number").is_not_null().all()
    place = pl.when("ranked").then("number").otherwise("line")
    in_order = (
        numbers.with_columns(ranked=several.over("qid"))
        .with_columns(place=place)
        .sort("qid", "place", "score", descending=[False, False, True], maintain_order=True)
    )
    later, change = pl.col("place").diff() > 0, pl.col("score").diff()
    per_query = in_order.group_by("qid", maintain_order=True).agg(
        results=pl.len(),
        ranked=pl.col("ranked").first(),
        scores=pl.col("score").n_unique(),
        rises=(later & (change > 0)).sum(),
        falls=(later & (change < 0)).sum(),
    )
    return per_query.filter(pl.col("results") > 1).drop("results")


def check_falling(run: pl.DataFrame, place: str, expected: str) -> None:
    """Raise InputError if the scores in ``run`` (qid, given, score) rise with the rank in most queries.

    A query's scores count as rising if they rise from one rank to the next more often than they fall. Queries without
    usable ranks are checked separately, from line to line; because lines may be in any order, scores must rise in more
    than 90% of these queries.
    """
    ordered = order_by_query(run).filter(pl.col("scores") > 1)
    for ranked, tenths, how in ((True, 5, "with the rank"), (False, 9, "from line to line, without usable ranks,")):
        queries = ordered.filter(pl.col("ranked") == ranked)
        rising = queries.filter(pl.col("rises") > pl.col("falls")).height
        if 10 * rising > tenths * queries.height:
            raise InputError(place, f"scores that rise {how} in most queries ({rising} of {queries.height})", expected)


def check_columns(run: pl.DataFrame, place: str, expected: str) -> None:
    """Raise InputError if docnos or scores look like ranks in most queries of ``run``, but the ranks don't."""
    numbers = run.with_columns(rank=rank_number(), number=pl.col("docno").cast(pl.Float64, strict=False))
    counted = numbers.group_by("qid").agg(
        pl.len(), docno=_counts("number"), score=_counts("score"),
        rank=_counts("rank") | (pl.col("given").n_unique() == 1), given=pl.col("given").first(),
    ).filter(pl.col("len") > 1)  # fmt: skip
    for column in ("docno", "score"):
        exchanged = counted.filter(pl.col(column) & ~pl.col("rank"))
        if 2 * exchanged.height > counted.height:
            found = (
                f"ranks in the column {column} in {exchanged.height} of {counted.height} queries, and "
                f"{exchanged['given'][0]!r} as a rank"
            )
            raise InputError(place, found, expected)


def check_ids(run: pl.DataFrame, place: str, queries: pl.DataFrame) -> None:
    """Raise InputError if qids and docnos in ``run`` seem swapped, because more docnos than qids are in ``queries``."""
    (of_qids, in_qids), (of_docnos, in_docnos) = (
        (run[column].is_in(queries["qid"].implode()).sum() / max(run.height, 1),
         run.with_columns(rank=rank_number()).group_by(column).agg(of=_counts("rank"))["of"].sum())
        for column in ("qid", "docno")
    )  # fmt: skip
    if of_docnos > of_qids and (of_qids == 0 or in_docnos + (of_docnos == 1) > in_qids):
        found = f"the dataset's qids as docnos in {of_docnos:.0%} of the lines, and as qids in {of_qids:.0%}"
        raise InputError(place, found, "the columns qid, Q0, docno, rank, score, tag in this order")


def _counts(column: str) -> pl.Expr:
    """Return whether the values are the consecutive whole numbers starting at 0 or 1, in any order."""
    values = pl.col(column)
    whole = values.is_not_null().all() & (values.floor() == values).all() & (values.n_unique() == pl.len())
    return whole & (pl.len() > 1) & values.min().is_between(0, 1) & (values.max() - values.min() == pl.len() - 1)


def without_identical_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """Drop the rows (qid, docno) in which a passage has the same id as its query."""
    return rows.filter(pl.col("qid") != pl.col("docno"))


def ranked(run: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """Sort ``run`` (qid, docno, score) like trec_eval and add ranks from 1, with queries in the order of ``queries``.

    trec_eval ignores a run's ranks. It sorts by score (as float32) and then by docno, both in descending order.
    """
    order = queries.select("qid").with_row_index("place")
    # Polars compares docnos byte by byte, like strcmp.
    return (
        run.join(order, on="qid")
        .with_columns(single=pl.col("score").cast(pl.Float32))
        .sort("place", "single", "docno", descending=[False, True, True])
        .with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("place"))
        .select("qid", "docno", "rank", "score")
    )


def write_run(run: pl.DataFrame, path: str | Path, tag: str, header: Sequence[str] = ()) -> None:
    """Write a ranked run (qid, docno, rank, score) as a gzipped TREC file. Equal runs produce identical files.

    ``header``: comment lines for the beginning of the file.
    """
    rows = (f"{qid} Q0 {docno} {rank} {score!r} {tag}" for qid, docno, rank, score in run.iter_rows())
    lines = (f"{line}\n" for line in chain(header, rows))
    with atomic(path) as temporary, temporary.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as file:
        for line in lines:
            file.write(line.encode("utf-8"))


def describe_run(
    name: str, retrievers: Mapping[str, Mapping[str, object]], dataset: str, source: Mapping[str, object]
) -> dict[str, object]:
    """Return metadata about the method and data with which the retriever ``name`` produced its run on ``dataset``.

    ``retrievers``: definitions by name. The method has one entry per retriever that the run depends on, ending with the
    retriever itself. Runs produced without human input are marked as ``automatic``. Imported runs and runs based on
    judgements aren't marked, because people may have been involved.
    """
    stages = [*(other for other in needed([name], retrievers) if other != name), name]
    kinds = [RETRIEVER_KINDS.of(retrievers[stage]) for stage in stages]
    known = not any(kind.needs_qrels or kind.files(dataset) for kind in kinds)
    collection = {"name": dataset} | ({"ir_datasets": source["id"]} if source["source"] == "ir_datasets" else {})
    return {
        "method": {
            **({"automatic": True} if known else {}),
            "score ties": "docno, descending",
            "retrieval": [_stage(stage, retrievers[stage], kind) for stage, kind in zip(stages, kinds, strict=True)],
        },
        "data": {"test collection": collection},
    }


def _stage(name: str, definition: Mapping[str, object], kind: Retriever) -> dict[str, object]:
    named = {STAGE[key]: definition[key] for key, _ in kind.stages() if key in STAGE}
    rest = {key: value for key, value in definition.items() if key not in (*STAGE, "kind") and value is not None}
    return {"name": name, "method": definition["kind"], **named, **({"params": rest} if rest else {})}


def header(described: Mapping[str, object], tag: str) -> list[str]:
    """Return a run file's header lines, which contain ``described``, the run's ``tag`` and ragrelay's version."""
    libraries = {"python": [f"ragrelay=={ragrelay.__version__}"]}
    content = {"tag": tag, "platform": {"software": {"libraries": libraries}}, **described}
    lines = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=2**20).splitlines()
    return [START, *(f"# {line}" for line in lines), END]
