"""Check passage judges for bias by changing prompts in ways that should not affect the labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from ragrelay.annexes.labels.single_answers import PASSAGE
from ragrelay.base.vocabulary.columns import DOCNO, QID, integer, schema_of, text
from ragrelay.base.vocabulary.judge_checks import LENGTH, PADDED, PADDING, SWAPPED
from ragrelay.prompting.layout import COLUMNS as PROMPT_COLUMNS
from ragrelay.prompting.layout import prompt_id
from ragrelay.prompting.templates import Template
from ragrelay.questions.judging.bias_checks import CHECKED_COLUMNS, sampled, score_columns

CHECKED_PASSAGE_COLUMNS = {
    "check": CHECKED_COLUMNS["check"],
    "qid": QID,
    "docno": DOCNO,
    "prompt_id": text("hash of the question's text, under which the cache stores the likelihoods of the reply words"),
    "changed_prompt_id": CHECKED_COLUMNS["changed_prompt_id"],
    "words": integer("number of words in the unchanged passage", "words"),
}
SCORE_COLUMNS = score_columns(CHECKED_PASSAGE_COLUMNS)


def changed_questions(template: Template) -> dict[str, tuple[Template, str]]:
    """Return each check's template and the text to append to passages. SWAPPED requires ``template.swapped``."""
    swapped = {SWAPPED: (replace(template, kshot=template.swapped), "")} if template.swapped else {}
    return {**swapped, PADDED: (template, f" {PADDING}")}


def build_check_prompts(
    queries: pl.DataFrame, contexts: Sequence[pl.DataFrame], template: Template, depth: int, size: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Build the prompts for all bias checks on passages at ranks 1 to ``depth``.

    ``contexts``: columns qid, rank, docno, text. Returns the checked passages (CHECKED_PASSAGE_COLUMNS) and the changed
    prompts (prompting.layout.COLUMNS). Each change is applied to a sample of ``size`` passages, and passages whose
    prompt stays the same are dropped. The check LENGTH changes nothing and uses all passages.
    """
    shown = pl.concat(contexts).filter(pl.col("rank") <= depth).unique(PASSAGE, keep="first", maintain_order=True)
    pairs = shown.join(queries.select("qid", "query"), on="qid", maintain_order="left").sort(PASSAGE)
    sample = sampled(pairs, PASSAGE, size)
    questions: list[tuple[str | int | None, ...]] = []
    prompts: list[tuple[str | list[str], ...]] = []
    for row in pairs.iter_rows(named=True):
        questions.append((LENGTH, *_key(row), _question(row, template, "")[-1], None, _words(row)))
    for check, (changed_template, suffix) in changed_questions(template).items():
        for row in sample.iter_rows(named=True):
            own, changed = _question(row, template, "")[-1], _question(row, changed_template, suffix)
            if changed[-1] != own:
                questions.append((check, *_key(row), own, changed[-1], _words(row)))
                prompts.append((row["qid"], [row["docno"]], *changed))
    tables = ((questions, CHECKED_PASSAGE_COLUMNS), (prompts, PROMPT_COLUMNS))
    checked, changed_prompts = (pl.DataFrame(rows, schema=schema_of(names), orient="row") for rows, names in tables)
    return checked, changed_prompts


def _key(row: Mapping[str, str]) -> tuple[str, str]:
    return row["qid"], row["docno"]


def _words(row: Mapping[str, str]) -> int:
    return len(row["text"].split())


def _question(row: Mapping[str, str], template: Template, suffix: str) -> tuple[str, str, str]:
    """Return the prompt, system message and id of the question about a passage followed by ``suffix``."""
    shown = [row["text"] + suffix]
    prompt, system = template.render(row["query"], shown), template.system(shown)
    return prompt, system, prompt_id(prompt, system)
