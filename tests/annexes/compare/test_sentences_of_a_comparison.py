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
from ragrelay.annexes.compare.tables import moved_table
from statsmodels.stats.multitest import multipletests

from tests.support.approved import approve, not_approved
from tests.unit.report.second_way import (
    PACKAGE,
    agree,
    between,
    chance,
    demo,
    ends,
    joined,
    needed,
    p_cautious,
    remark,
    undone,
    word_of,
)

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
KEYS = ["retriever", "ordering", "k", "references"]


def of_seed(seed: int) -> pl.DataFrame:
    """P of the demo's answers of one seed: KEYS, qid, f1; of the grades alone."""
    scores = demo().scores.filter(
        pl.col("k") > 0, pl.col("ordering") != "none", pl.col("references").is_in(["lenient", "strict"])
    )
    return scores.filter(seed=seed).select(*KEYS, "qid", "f1")


def test_a_comparison_says_what_the_scores_say_and_is_approved() -> None:
    """Seeds 1 and 3 are compared as if they were two studies; nrel's answers are the same in both."""
    before, after = of_seed(1), of_seed(3)
    after = pl.concat([after.filter(pl.col("retriever") != "nrel"), before.filter(retriever="nrel")])
    both = before.rename({"f1": "before"}).join(after.rename({"f1": "after"}), on=[*KEYS, "qid"])
    queries = both.with_columns(quantity=pl.lit("p"), difference=pl.col("after") - pl.col("before"))
    double = [pl.col(name) * 2 for name in ("before", "after", "difference")]
    queries = pl.concat([queries, queries.with_columns(*double, quantity=pl.lit("utility"))])
    pair = Pair(("demo", "demo"), ("lm", "other"), ("minilm", "minilm"))
    compared = Compared(
        pair, ["lenient", "strict"], {}, queries, paired_tests(queries), [("mine", "after")], {"text": 2}
    )

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
    said = []

    def moved(name: str, beside: str = "") -> str:
        values = cells[here[name]]
        p = [p_cautious(values), holm[here[name]]]
        shown = ["<0.001" if one < 0.001 else f"{one:.3f}" for one in p]
        return f"{(values > 0).sum()} {len(values)} {(values < 0).sum()} {beside} {joined(shown)}"

    for word in ("better", "worse", "undecided", "too few queries"):
        mine = [name for name in sorted(here) if words[here[name]] == word]
        counts = {n: needed(cells[here[n]]) for n in mine}
        shown = [f"{n} {ends(cells[here[n]].mean(), between(cells[here[n]]))} {moved(n, counts[n])}" for n in mine]
        said += [word.removesuffix(" queries"), *shown] if mine else []
    doubled = [
        f"{ends(2 * cells[here[name]].mean(), between(2 * cells[here[name]]))} {name} {moved(name)}"
        for name in sorted(here)
        if words[here[name]] != "still"
    ]
    of_words = ("better", "worse", "undecided", "too few queries", "still")
    count = {word: [key for key in once if words[key] == word] for word in of_words}
    few = f"{len(count['too few queries'])} too few" if count["too few queries"] else ""
    kept = [f"{word} {sum(holm[key] < 0.05 for key in count[word])}" for word in ("better", "worse")]
    n = {word: len(keys) for word, keys in count.items()}
    by_chance = chance(sum(map(len, tested.values())))
    falls = {key for key in once if words[key] != "still" and undone(cells[key], words[key])}
    fallen = remark(name for name in sorted(here) if here[name] in falls)
    names = {*here, "ascending", "lenient", "mine"}
    found = comparison_sentences(compared)
    assert found.where == "k = 5, ascending order, lenient references"
    claims = [
        f"{joined(said)} nrel {fallen}",
        f"{joined(doubled)} nrel",
        f"better {n['better']} {len(once)} worse {n['worse']} {n['undecided']} undecided {few} {n['still']} "
        f"{joined(kept)} better worse {by_chance} {remark([len(falls)] if falls else [])}",
    ]
    agree(found.sentences, claims, names)
    agree(found.limits, ["zero-shot lower", "2", "undecided", "", "mine"], names)
    others = {name: cells[key] for name, key in here.items() if words[key] != "still"}
    decided = {word: [name for name in sorted(others) if words[here[name]] == word] for word in ("better", "worse")}
    told = [f"{word} {joined(some)}" for word, some in decided.items() if some]
    most = max(
        (name for name in others if not told or words[here[name]] in decided),
        key=lambda name: abs(others[name].mean()),
    )
    values = others[most]
    answer = comparison_answer(compared, "one", "two").sentence
    few = {words[here[name]] for name in others} == {"too few queries"}
    strong = f"two {joined(told)}" if told else f"{'too few' if few else 'undecided'} two one better"
    changed = int((np.abs([cells[key] for key in here.values()]) > 0).any(axis=0).sum())
    where = "5 ascending lenient"
    scope = f"one {len(here)} {len(here) + 1}"
    change = f"{ends(values.mean(), between(values))} {most} {where} {needed(values)}"
    claim = f"{changed} {len(values)} {scope} {strong} {change} {fallen} mine"
    agree([answer], [claim], {*names, "one", "two"})
    undoes = [pl.when(quantity="p", retriever="bm25").then(pl.lit(False)).alias("stands")]
    fallen = replace(compared, tests=compared.tests.with_columns(undoes))
    sentences = [comparison_answer(fallen, "one", "two").sentence, *comparison_sentences(fallen).sentences]
    partners = "To compare mine too, name its counterpart in compare.pairs."
    undo = "A single further query with a difference of 0.25 in the other direction would overturn the verdict"
    kept = [answer.removesuffix(f" {partners}"), *found.sentences]
    assert [text.partition(" A single further")[0] for text in sentences] == kept
    of_bm25 = sum(key[0] == "bm25" for key in once)
    ends_ = [f"{undo} for bm25. {partners}", f"{undo} for bm25.", "", f"{undo} in {of_bm25} cells."]
    assert all(map(str.endswith, sentences, ends_)) and undo not in sentences[2]
    others = [
        comparison_answer(replace(compared, tests=tests.with_columns(verdict=pl.lit(word))), "one", "two").sentence
        for word, remark_column in (("too few queries", pl.col("remark")), ("better", pl.lit(None, pl.String)))
        for tests in [compared.tests.with_columns(reason=None, remark=remark_column)]
    ]
    approve(APPROVED / "comparison.txt", [answer, *others, *found.sentences, *found.limits])


def test_a_query_whose_answer_is_the_same_is_not_listed_as_changed() -> None:
    """With another context other references are unseen, so P on them changes with the same answer."""
    before = {"retriever": "bm25", "ordering": "descending", "k": 3, "quantity": "p", "query": "why", "before": 0.5}
    changes = {"same": (0.0, 0.0), "copied": (0.0, 0.2), "other": (0.1, -0.3)}
    rows = [
        {**before, "qid": qid, "references": name, "after": 0.5 + by, "difference": by}
        for qid, of_sets in changes.items()
        for name, by in zip(("gold", "gold-unseen"), of_sets, strict=True)
    ]
    queries = pl.DataFrame(rows)
    pair = Pair(("demo", "demo"), ("lm", "lm"), ("minilm", "minilm"))
    compared = Compared(pair, ["gold"], {}, queries, paired_tests(queries))
    shown = moved_table(compared, 100).rows
    assert [row[0] for row in shown] == ["other"] and "0.100" in shown[0], "the change on all references"


def test_no_answer_changed_only_where_all_are_the_same_as_approved() -> None:
    one = of_seed(1).rename({"f1": "before"})
    queries = one.with_columns(after=pl.col("before"), quantity=pl.lit("p"), difference=pl.lit(0.0))
    pair = Pair(("demo", "demo"), ("lm", "lm"), ("minilm", "minilm"))
    compared = Compared(pair, ["lenient"], {}, queries, paired_tests(queries))
    assert comparison_answer(compared, "one", "two").sentence == "No answer’s P changed."
    of_bm25 = queries.filter(retriever="bm25")
    without = [("new", "after"), ("other", "after")]
    alone = Compared(pair, ["lenient"], {}, of_bm25, paired_tests(of_bm25), without)
    assert comparison_answer(alone, "one", "two").sentence == (
        "No answer’s P changed with bm25, the only one of 3 retrievers that has a counterpart. "
        "To compare new and other too, name their counterparts in compare.pairs."
    )
    several = replace(compared, left_out=[("new", "after")])
    assert comparison_answer(several, "one", "two").sentence == (
        "No answer’s P changed with any retriever that has a counterpart (4 of 5 do). "
        "To compare new too, name its counterpart in compare.pairs."
    )
    first = pl.when(pl.col("k") < pl.col("k").max(), pl.col("retriever") == "bm25").then(pl.col("before") + 0.1)
    moved = queries.with_columns(after=first.otherwise("before")).with_columns(
        difference=pl.col("after") - pl.col("before")
    )
    compared = replace(compared, tests=paired_tests(moved), queries=moved)
    assert comparison_answer(compared, "one", "two").sentence == (
        "No answer’s P changed: k = 5, ascending order, lenient references; P changed in 3 other cells."
    ), "k = 2 in two orderings, k = 1 once"
    unknown = pl.when(retriever="bm25").then(None).otherwise("after")
    queries = queries.with_columns(after=unknown, difference=unknown - pl.col("before"))
    compared = replace(compared, tests=paired_tests(queries), clusters=10)
    unknown_sentence = comparison_answer(compared, "one", "two").sentence
    assert unknown_sentence == "We do not know."
    approve(APPROVED / "nothing-changed.txt", [unknown_sentence, *comparison_sentences(compared).limits])


def test_a_title_that_says_which_queries_and_retrievers_it_counts_is_approved() -> None:
    """A query counts if P changed with any of the retrievers compared; those without a counterpart are not."""
    one = of_seed(1).filter(references="lenient", ordering="descending", k=5).rename({"f1": "before"})
    qids = one["qid"].unique(maintain_order=True)[:12]
    rose = ((pl.col("qid") == qids[0]) & (pl.col("retriever") == "bm25")) | (
        (pl.col("qid") == qids[1]) & (pl.col("retriever") == "dense"))  # fmt: skip
    after = pl.col("before") - pl.when(rose).then(0.1).otherwise(0.0)
    queries = one.filter(pl.col("qid").is_in(qids.implode())).with_columns(after=after, quantity=pl.lit("p"))
    queries = queries.with_columns(difference=pl.col("after") - pl.col("before"))
    pair = Pair(("demo", "demo"), ("lm", "lm"), ("minilm", "minilm"))

    def title(names: list[str], left_out: int, n: int = 12) -> str:
        rows = queries.filter(pl.col("retriever").is_in(names), pl.col("qid").is_in(qids[:n].implode()))
        others = [(f"new{place}", "after") for place in range(left_out)]
        compared = Compared(pair, ["lenient"], {}, rows, paired_tests(rows), others)
        return comparison_answer(compared, "one", "two").strong.partition(";")[0]

    assert title(["bm25"], 0, n=1) == "P changed for 1 of 1 query"
    titles = [
        title(["bm25"], 0), title(["bm25", "dense", "rel"], 0), title(["bm25", "dense"], 3), title(["dense"], 1),
    ]  # fmt: skip
    assert titles == [
        "P changed for 1 of 12 queries",
        "P changed for 2 of 12 queries with at least one retriever",
        "P changed for 2 of 12 queries with at least one retriever that has a counterpart (2 of 5 do)",
        "P changed for 1 of 12 queries with dense, the only one of 2 retrievers that has a counterpart",
    ]
    approve(APPROVED / "titles.txt", titles)


def test_a_text_of_a_comparison_is_approved() -> None:
    assert not_approved(PACKAGE / "annexes/compare/findings.py", APPROVED) == []
