"""Build a judge's questions about answers: one row per answer, reference set and question."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
import polars as pl

from ragrelay.base.vocabulary.columns import integer, schema_of, text
from ragrelay.generation.likelihoods.mass import MASS
from ragrelay.prompting.layout import prompt_id
from ragrelay.questions.judging.templates import JudgeTemplate
from ragrelay.scoring.answer_cells import COLUMNS, Cell
from ragrelay.scoring.judge_scorer import JudgeCase, JudgeScorer
from ragrelay.scoring.near_copies import PassageTexts, Shown, of_context, shown_references
from ragrelay.scoring.reference_sets import QueryReferences, read_gold, read_references
from ragrelay.scoring.retriever_table import SCORE_COLUMNS, query_sets, shown_by_context
from ragrelay.scoring.sentences import numbered_citations, read_citations

ASKED_COLUMNS = {
    **{name: SCORE_COLUMNS[name] for name in (*COLUMNS, "references", "n_references", "n_near_copies")},
    "number": integer("the question's number among the questions about the answer; empty if there is no question"),
    "item": text(
        "the item that the question is about, such as a sentence or a nugget; empty if there is only one "
        "question about the answer"
    ),
    "prompt_id": text(
        "hash of the question's text, which identifies the reply's likelihoods in the cache; empty if no question was "
        "asked"
    ),
    "mass": MASS,
}
SCHEMA = schema_of(ASKED_COLUMNS)
PROMPTS = {"prompt_id": pl.String, "prompt": pl.String, "system": pl.String}
QUERIES_AT_ONCE = 500
EXAMPLES, MOST_SHOWN = 5, 30
"""How many brackets that aren't citations to show as examples, and how many characters of each."""

Contexts = Mapping[tuple[str, int], Mapping[str, Sequence[str]]]
"""For each (ordering, k), the docnos in each query's context, in prompt order."""


@dataclass(frozen=True)
class Judging:
    """The inputs that a judge needs besides the answers, shared by all jobs for a dataset and scorer.

    ``queries``: texts by qid. ``references`` maps each qid to judged passages or gold answers, and is None if the
    scorer doesn't need references. ``own`` maps each qid to the scorer's own texts, such as nuggets. ``grades`` maps
    each reference set to its lowest label. ``near_copy``: the share of common 5-grams that defines near copies.
    """

    scorer: JudgeScorer
    template: JudgeTemplate
    queries: Mapping[str, str]
    references: Mapping[str, QueryReferences] | None
    own: Mapping[str, Any]
    grades: Mapping[str, int]
    near_copy: float | None

    @property
    def qids(self) -> list[str]:
        """The queries whose answers are judged."""
        return list(self.queries if self.references is None else self.references)


class ScoreRow(NamedTuple):
    """A row in a score table; ``key`` is (qid, ordering, k, seed, references), and ``case`` the texts to judge."""

    key: tuple[str, str, int, int, str]
    near_copies: int | None
    case: JudgeCase


def judging(
    scorer: JudgeScorer,
    template: JudgeTemplate,
    queries: str | Path,
    references: Sequence[str | Path],
    own: Sequence[str | Path],
    grades: Mapping[str, int],
    near_copy: float | None,
) -> Judging:
    """Read a judge's inputs from files; ``references`` lists a file only if references are judged passages."""
    references_of: Mapping[str, QueryReferences] | None = None
    if scorer.references == "judged":
        references_of = read_references(references[0])
    elif scorer.references == "gold":
        references_of = read_gold(queries)
    texts = dict(pl.read_parquet(queries, columns=["qid", "query"], glob=False).iter_rows())
    own_texts = scorer.own([Path(path) for path in own])
    return Judging(scorer, template, texts, references_of, own_texts, grades, near_copy)


def asked_about(
    answers: pl.DataFrame, contexts: Contexts, passages: PassageTexts, baseline_cells: set[Cell], by: Judging
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a judge's questions about ``answers`` (SCHEMA), and the distinct prompts (PROMPTS).

    ``answers`` has qid, ordering, k, seed, answer and cited_sentences. Answers in ``baseline_cells`` (the zero-shot
    cells in a retriever's job) are only compared with references that don't appear in the retriever's contexts. Rows
    are sorted by query, ordering, k, seed and references.
    """
    rows: list[tuple[Any, ...]] = []
    prompts: dict[str, tuple[str, str]] = {}
    for row in _rows(answers, contexts, passages, baseline_cells, by):
        if (size := by.scorer.size(row.case)) is None:
            continue
        score_row = (*row.key, size, row.near_copies)
        questions = by.scorer.questions(row.case)
        for number, question in enumerate(questions):
            name = None
            if question.texts is not None:
                prompt = by.template.render(question.texts)
                name = prompt_id(prompt, by.template.system)
                prompts[name] = (prompt, by.template.system)
            rows.append((*score_row, number, question.item, name))
        if not questions:
            rows.append((*score_row, None, None, None))
    distinct = [(name, *texts) for name, texts in prompts.items()]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row"), pl.DataFrame(distinct, schema=PROMPTS, orient="row")


class Brackets(TypedDict):
    """Counts of citations (``read``) and of brackets that aren't citations (``unread``), with examples."""

    read: int
    unread: int
    such_as: list[str]


def bracket_counts(answers: pl.DataFrame, contexts: Contexts) -> Brackets:
    """Count citations and other brackets in the ``answers`` that have a context.

    ``answers``: see asked_about. Answers whose citations are stored separately from the text are skipped.
    """
    read, unread = 0, Counter[str]()
    columns = "qid", "ordering", "k", "answer", "cited_sentences"
    for qid, ordering, k, answer, cited in answers.select(columns).iter_rows():
        if cited is None and (docnos := contexts.get((ordering, k), {}).get(qid)):
            found = read_citations(answer, docnos)
            read += len(found.numbers)
            unread.update(bracket[:MOST_SHOWN] for bracket in found.unread)
    such_as = sorted(unread, key=lambda bracket: (-unread[bracket], bracket))[:EXAMPLES]
    return {"read": read, "unread": unread.total(), "such_as": such_as}


def _rows(
    answers: pl.DataFrame, contexts: Contexts, passages: PassageTexts, baseline_cells: set[Cell], by: Judging
) -> Iterator[ScoreRow]:
    by_query = answers.sort(COLUMNS).partition_by("qid", as_dict=True)
    qids = [qid for qid in by.qids if (qid,) in by_query]
    for start in range(0, len(qids), QUERIES_AT_ONCE):
        some = qids[start : start + QUERIES_AT_ONCE]
        texts = passages.of(some)
        for qid in some:
            shown = {context: list(docnos[qid]) for context, docnos in contexts.items() if qid in docnos}
            judged = _of_query(qid, by_query[(qid,)], shown, texts[qid], baseline_cells, by)
            yield from sorted(judged, key=lambda row: row.key)


def _of_query(
    qid: str,
    answers: pl.DataFrame,
    contexts: Mapping[tuple[str, int], list[str]],
    texts: Mapping[Shown, str],
    baseline_cells: set[Cell],
    by: Judging,
) -> Iterator[ScoreRow]:
    sets = list(_sets(qid, contexts, texts, by))
    for ordering, k, seed, answer, cited in answers.select(*COLUMNS[1:], "answer", "cited_sentences").iter_rows():
        docnos = contexts.get((ordering, k), [])
        own, sentences = [of_context(texts, docno, k) for docno in docnos], numbered_citations(cited, docnos)
        is_baseline = (ordering, k, seed) in baseline_cells
        for name, unseen_at_k, references, near in sets:
            # In a retriever's job, zero-shot answers are the baseline for unseen sets and belong to no other set.
            if not is_baseline if unseen_at_k is None else is_baseline or k == unseen_at_k:
                key = (qid, ordering, k if unseen_at_k is None else unseen_at_k, seed, name)
                case = JudgeCase(qid, by.queries[qid], answer, references, own, by.own.get(qid), sentences, docnos)
                yield ScoreRow(key, near, case)


def _sets(
    qid: str, contexts: Mapping[tuple[str, int], list[str]], texts: Mapping[Shown, str], by: Judging
) -> Iterator[tuple[str, int | None, list[str], int | None]]:
    """Yield reference sets sorted by name: name, the k whose contexts it excludes (or None), texts, near copies."""
    if by.references is None:
        yield from ((name, None, [], None) for name in by.grades)
        return
    query, unseen = by.references[qid], by.scorer.references == "judged"
    passages = {(docno, k) if (docno, k) in texts else docno for (_, k), some in contexts.items() for docno in some}
    wanted = {passage: texts.get(passage, "") for passage in passages} if unseen else {}
    shown = shown_references(query, wanted, by.near_copy) if unseen else {}
    in_context = shown_by_context(query, contexts, shown) if unseen else {}
    order = np.argsort(-query.labels, kind="stable")
    sets = query_sets(query, contexts, in_context, by.grades, unseen)
    for name, left_out, members, near in sorted(sets, key=lambda named: named[0]):
        if members.any():
            kept = [query.texts[place] for place in order if members[place]]
            yield name, left_out, kept, None if np.isnan(near) else int(near)
