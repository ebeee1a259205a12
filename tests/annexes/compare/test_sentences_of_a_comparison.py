"""The sentences of a comparison, with their numbers computed a second way.

As test_every_sentence.py does it for a study's page: from the demo's single scores, by numpy, scipy and statsmodels.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from ragrelay.annexes.compare.compared import Compared
from ragrelay.annexes.compare.findings import comparison_answer, comparison_sentences
from ragrelay.annexes.compare.paired import paired_tests
from ragrelay.annexes.compare.studies import Pair
from statsmodels.stats.multitest import multipletests

from tests.support.measured_study import demo
from tests.unit.report.test_every_sentence import (
    PACKAGE,
    between,
    chance,
    ends,
    joined,
    many,
    p_cautious,
    unlisted,
    word_of,
)

pytestmark = pytest.mark.page
KEYS = ["retriever", "ordering", "k", "references"]


def of_seed(seed: int) -> pl.DataFrame:
    """P of the demo's answers of one seed: KEYS, qid, f1; of the grades alone."""
    scores = demo().scores.filter(
        pl.col("k") > 0, pl.col("ordering") != "none", pl.col("references").is_in(["lenient", "strict"])
    )
    return scores.filter(seed=seed).select(*KEYS, "qid", "f1")


def test_a_comparison_says_what_the_scores_say() -> None:
    """Seeds 1 and 3 are compared as if they were two studies; nrel's answers are the same in both."""
    before, after = of_seed(1), of_seed(3)
    after = pl.concat([after.filter(pl.col("retriever") != "nrel"), before.filter(retriever="nrel")])
    both = before.rename({"f1": "before"}).join(after.rename({"f1": "after"}), on=[*KEYS, "qid"])
    queries = both.with_columns(quantity=pl.lit("p"), difference=pl.col("after") - pl.col("before"))
    double = [pl.col(name) * 2 for name in ("before", "after", "difference")]
    queries = pl.concat([queries, queries.with_columns(*double, quantity=pl.lit("utility"))])
    pair = Pair(("demo", "demo"), ("lm", "other"), ("minilm", "minilm"))
    compared = Compared(pair, ["lenient", "strict"], {}, queries, paired_tests(queries), ["mine"], {"text": 2})

    cells = {
        key: part.sort("qid")["difference"].to_numpy()
        for key, part in both.with_columns(difference=pl.col("after") - pl.col("before"))
        .partition_by(KEYS, as_dict=True)
        .items()
    }
    cells = {key: np.where(np.abs(values) <= 1e-9, 0.0, values) for key, values in cells.items()}
    words = {
        key: "still" if not values.any() else word_of(values, *(between(values) or (None, None)))
        for key, values in cells.items()
    }
    once = [key for key in cells if key[2] > 1 or key[1] == "descending"]
    tested = {name: [key for key in once if key[3] == name and words[key] != "still"] for name in ("lenient", "strict")}
    holm = {
        key: p
        for name, keys in tested.items()
        for key, p in zip(keys, multipletests([p_cautious(cells[one]) for one in keys], method="holm")[1], strict=True)
    }
    here = {key[0]: key for key in cells if key[1:] == ("ascending", 5, "lenient")}
    texts = {"better": "better for", "worse": "worse for", "undecided": "undecided for",
             "too few queries": "of too few queries to say for"}  # fmt: skip
    said = []

    def moved(name: str) -> str:
        values = cells[here[name]]
        p = [p_cautious(values), holm[here[name]]]
        shown = ["<0.001" if one < 0.001 else f"{one:.3f}" for one in p]
        counts = f"{(values > 0).sum()} of {many(len(values), 'query', 'queries')} up, {(values < 0).sum()} down"
        return f"{counts}; p {shown[0] if p[0] < 0.001 else f'= {shown[0]}'}, {shown[1]} after Holm"

    for word, text in texts.items():
        some = [name for name in sorted(here) if words[here[name]] == word]
        mine = [f"{n} ({ends(cells[here[n]].mean(), between(cells[here[n]]))}; {moved(n)})" for n in some]
        said += [f"{text} {joined(mine)}"] if mine else []
    doubled = [
        f"by {ends(2 * cells[here[name]].mean(), between(2 * cells[here[name]]))} for {name} ({moved(name)})"
        for name in sorted(here)
        if words[here[name]] != "still"
    ]
    said.append("the same for every query of nrel")
    count = {word: [key for key in once if words[key] == word] for word in (*texts, "still")}
    few = f" (too few queries in {len(count['too few queries'])})" if count["too few queries"] else ""
    kept = {word: sum(holm[key] < 0.05 for key in count[word]) for word in ("better", "worse")}
    found = comparison_sentences(compared)
    assert found.where == "k = 5, ascending order, lenient references"
    assert found.sentences == [
        f"In the study after, by mean change over the same queries, P is {'; '.join(said)}.",
        f"Mean utility changed {joined([*doubled, 'for no query of nrel'])}.",
        f"Over all {len(once)} cells, P is better after in {len(count['better'])}, worse in "
        f"{len(count['worse'])} and undecided in "
        f"{len(count['undecided'])}{few}; in {len(count['still'])} no query changed. After Holm’s correction "
        f"{kept['better']} better and "
        f"{kept['worse']} worse; {chance(sum(map(len, tested.values())))} expected by chance if nothing had changed.",
    ]
    assert found.limits == [
        "Utility is relative to each generator’s own zero-shot answers, so a generator with a lower P₀ gains "
        "more easily; P compares the "
        "answers themselves.",
        "The studies differ in the text of 2 queries: these queries are left out of every test, table and figure here.",
        "An undecided change may still be real: the interval shows how large it could be.",
        "Answers are sampled: a change within the spread over seeds may have no other cause.",
        "Not compared, because the other study has no counterpart: mine.",
    ]
    others = {name: cells[key] for name, key in here.items() if words[key] != "still"}
    decided = {word: [name for name in sorted(others) if words[here[name]] == word] for word in ("better", "worse")}
    told = [f"{word} with {joined(names)}" for word, names in decided.items() if names]
    most = max(
        (name for name in others if not told or words[here[name]] in decided),
        key=lambda name: abs(others[name].mean()),
    )
    strong = (
        f"Answers of two are {' and '.join(told)}"
        if told
        else "We do not know whether answers of two or one are better"
    )
    values = others[most]
    assert comparison_answer(compared, "one", "two").sentence == (
        f"{strong}: P changes by {ends(values.mean(), between(values))} with {most}, {len(values)} queries."
    )


def test_no_answer_changed_only_where_all_are_the_same() -> None:
    one = of_seed(1).rename({"f1": "before"})
    queries = one.with_columns(after=pl.col("before"), quantity=pl.lit("p"), difference=pl.lit(0.0))
    pair = Pair(("demo", "demo"), ("lm", "lm"), ("minilm", "minilm"))
    compared = Compared(pair, ["lenient"], {}, queries, paired_tests(queries))
    assert comparison_answer(compared, "one", "two").sentence == "No answer’s P changed."
    unknown = pl.when(retriever="bm25").then(None).otherwise("after")
    queries = queries.with_columns(after=unknown, difference=unknown - pl.col("before"))
    assert comparison_answer(replace(compared, tests=paired_tests(queries)), "one", "two").sentence == "We do not know."


NO_VALUE = "of a cell have no value in one study or in both, and are left out of its test"
"""Of queries of one study alone: tests/annexes/compare/test_compare.py."""


def test_a_text_of_a_comparison_is_listed_here() -> None:
    assert unlisted(PACKAGE / "annexes/compare/findings.py", Path(__file__)) == []
