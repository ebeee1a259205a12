"""Read answer files into one table, and write each cell's answer file from the answer store."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_parquet
from ragrelay.base.io.keyed_files import KeyedFiles
from ragrelay.base.vocabulary.columns import CITED_SENTENCES, QID, SEED, Column, integer, number, schema_of, text
from ragrelay.generation.store import KEY, THOUGHT, AnswerStore
from ragrelay.generation.thought_marks import CUT, NO_THOUGHT, count_unclosed

CONTEXT = {"retriever": pl.String, "ordering": pl.String, "k": pl.Int64}
COLUMNS = {
    "qid": QID,
    "prompt_id": text("hash of the prompt's texts"),
    "seed": SEED,
    "answer": text("the answer; empty if it is missing (`finish_reason` says why)"),
    "finish_reason": text("why the answer ended: `stop`, `length` (cut at max_tokens) or another reason; or why it is "
                          "missing: `refusal`, `content_filter`, `tool_calls`, `no text` (the endpoint returned none), "
                          "`too long` or `refused` (the endpoint refused the prompt), `thinking` (the thought before "
                          "the answer didn't end) or `missing` (from an imported file)"),
    "prompt_tokens": integer("number of tokens in the prompt; empty if the endpoint didn't report it", "tokens"),
    "answer_tokens": integer("number of tokens in the answer; empty if the endpoint didn't report it", "tokens"),
    "logprob": number("total log-probability of the answer's tokens, before temperature and top-k are applied", "nats"),
    "dropped_passages": integer("number of passages left out of the prompt to make it fit the window", "passages"),
    "cited_sentences": CITED_SENTENCES,
    "thought": Column(pl.String, "the model's reasoning before the answer, with start and end marks", optional=True),
    "thought_tokens": Column(pl.Int64, "number of tokens in the thought; empty if unknown", "tokens", optional=True),
    "thought_end": Column(pl.String, "how the thought ended: `mark` (at its end mark), `budget` (cut at the token "
                                     "limit, with the end mark appended), `unfinished` (it never ended, so there is "
                                     "no answer), `none` (there was no thought)", optional=True),
}  # fmt: skip
DROPPED = "passages dropped to fit the window"
MISSING = "missing answers: refused, filtered, too long a prompt, a tool call, or a thought that did not end"
CUT_THOUGHTS = "thoughts cut at their budget (the answer follows)"
UNCOUNTED = "answers whose endpoint did not say how many tokens of the prompt it read"
Context = tuple[str, int]


def read_answers(files: KeyedFiles, columns: Sequence[str], optional: Sequence[str] = ()) -> pl.DataFrame:
    """Read ``columns`` from all ``files`` into one table, and add retriever, ordering and k from the files' paths.

    Columns in ``optional`` (keys of COLUMNS) are filled with nulls for files that don't contain them.
    """
    frames = []
    for key, path in files.keyed:
        there = pl.read_parquet_schema(path) if optional else {}
        frame = pl.read_parquet(path, columns=[*columns, *(name for name in optional if name in there)])
        frames.append(
            frame.select(
                *(pl.lit(key[name], kind).alias(name) for name, kind in CONTEXT.items()),
                *columns,
                *(name if name in there else pl.lit(None, COLUMNS[name].dtype).alias(name) for name in optional),
            )
        )
    return pl.concat(frames)


def mean_lengths(files: KeyedFiles) -> pl.DataFrame:
    """Return each retriever's mean answer length per query: columns retriever, qid and tokens (null if unknown)."""
    answers = read_answers(files, ["qid", "answer", "answer_tokens"])
    tokens = pl.col("answer_tokens").filter(pl.col("answer").is_not_null()).mean()
    return answers.group_by("retriever", "qid", maintain_order=True).agg(tokens=tokens)


def read_cited_sentences(path: Path) -> pl.DataFrame:
    """Read columns qid and cited_sentences from an answer file; if cited_sentences is missing, fill it with nulls."""
    has_column = "cited_sentences" in pl.read_parquet_schema(path)
    table = pl.read_parquet(path, columns=["qid", *(["cited_sentences"] if has_column else [])], glob=False)
    return table if has_column else table.with_columns(cited_sentences=pl.lit(None, CITED_SENTENCES.dtype))


def view_answers(
    prompts: Mapping[Context, Path],
    store: AnswerStore,
    outputs: Mapping[tuple[str, int, int], Path],
    thinking: Sequence[str] | None = None,
    receipts: Sequence[Path] = (),
) -> list[dict[str, object]]:
    """Write an answer file for each cell, with one row per query in the order of the cell's prompt file.

    ``prompts`` is keyed by (ordering, k), and ``outputs`` by (ordering, k, seed). Each file contains the required
    columns of COLUMNS. The columns in THOUGHT are added if ``thinking`` names thought marks or an answer has a thought.
    Returns counts (`what`, `count`, `of`): dropped passages, missing answers by reason, prompts of unknown length,
    thoughts cut off at their budget, and thoughts left in answers. If an answer isn't stored, raises InputError before
    writing any file. If ``receipts`` show that the answer's prompt was too long, the error says so.
    """
    asked = pl.concat(
        pl.read_parquet(path, columns=["qid", "prompt_id"]).with_columns(ordering=pl.lit(ordering), k=pl.lit(k))
        for (ordering, k), path in prompts.items()
    )
    seeds = list(dict.fromkeys(seed for _, _, seed in outputs))
    of_seeds = pl.DataFrame({"seed": seeds}, schema={"seed": pl.Int64})
    keys = asked.select("prompt_id").unique().join(of_seeds, how="cross")
    stored = store.answers(keys, thinking)
    if len(stored) < len(keys):
        check_refused(keys.join(stored, on=KEY, how="anti")["prompt_id"], receipts)
        lacking = f"no answers for {len(keys) - len(stored)} of {len(keys)} keys"
        raise InputError(store.folder, lacking, "all answers; rerun with --forcerun generate_answers")
    # Join and partition once for all files, so that each file costs little more than its writing.
    rows = asked.join(of_seeds, how="cross").join(stored, on=["prompt_id", "seed"], how="left", maintain_order="left")
    views = rows.partition_by("ordering", "k", "seed", as_dict=True)
    has_thoughts = thinking not in (None, NO_THOUGHT) or not rows["thought_end"].is_null().all()
    names = [*schema_of(COLUMNS), *(THOUGHT if has_thoughts else ())]
    for cell, path in outputs.items():
        write_parquet(views.get(cell, rows.clear())[names], path)
    return [{"what": DROPPED, "count": rows["dropped_passages"].sum()}, *missing_of(rows, thinking)]


def missing_of(rows: pl.DataFrame, thinking: Sequence[str] | None) -> list[dict[str, object]]:
    """Count missing answers by reason, prompts of unknown length, truncated thoughts, and thoughts left in answers."""
    reasons = rows.filter(pl.col("answer").is_null()).group_by("finish_reason").len().sort("finish_reason")
    missing = [{"what": MISSING, "count": n, "of": {"finish_reason": reason}} for reason, n in reasons.iter_rows()]
    uncounted = rows["prompt_tokens"].null_count()
    counted = [{"what": UNCOUNTED, "count": uncounted}] if uncounted else []
    cut = (rows["thought_end"] == CUT).sum()
    counted += [{"what": CUT_THOUGHTS, "count": cut}] if cut else []
    return [*missing, *counted, *count_unclosed(rows["answer"], thinking)]


def check_refused(lacking: pl.Series, receipts: Sequence[Path]) -> None:
    """Raise InputError if the jobs' ``receipts`` say that a prompt in ``lacking`` (prompt ids) was too long."""
    refused = refused_prompts(receipts)
    errors = [refused[prompt_id] for prompt_id in lacking.unique(maintain_order=True) if prompt_id in refused]
    if errors:
        place, found, expected = errors[0]
        more = f" (and {len(errors) - 1} more prompts like this)" if len(errors) > 1 else ""
        raise InputError(place, found + more, expected)


def refused_prompts(receipts: Sequence[Path]) -> dict[str, Sequence[str]]:
    """Return the errors (place, found, expected) recorded in ``receipts`` for overlong prompts, keyed by prompt_id."""
    refused: dict[str, Sequence[str]] = {}
    for path in receipts:
        refused |= json.loads(Path(path).read_text(encoding="utf-8")).get("over_window", {})
    return refused
