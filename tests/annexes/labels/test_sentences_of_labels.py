"""Every sentence on labels, with its numbers computed a second way.

As test_every_sentence.py does it for a study's page: from the single scores, answers and measures of the demo and of
public runs, by numpy, scipy, statsmodels and scikit-learn. ``LISTED`` says what each sentence claims. A number that a
page has from shuffled or drawn queries is drawn again here, from other seeds: ``{0.123~0.02}`` in an expected text is
a number of the page within 0.02 of 0.123.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from ragrelay.analysis.judge_checks import analyse_judge_checks
from ragrelay.annexes.labels import sentences as of_labels
from ragrelay.annexes.labels import trust_page as of_trust
from ragrelay.annexes.labels.agreement import Scale, agreement_tables
from ragrelay.annexes.labels.choices import label_choices
from ragrelay.annexes.labels.correlation import label_correlations
from ragrelay.annexes.labels.leads import leads
from ragrelay.annexes.labels.study import TABLES, AnnotationStudy, JudgeTrust
from ragrelay.annexes.labels.study_tables import gather
from ragrelay.annexes.labels.values import SCHEMA as VALUES
from ragrelay.annexes.labels.within_queries import label_within
from ragrelay.base.io.atomic_files import write_csv
from ragrelay.base.vocabulary.columns import named, schema_of
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from tests.support.measured_study import Measured
from tests.unit.report.second_way import MADE, Array, agree, demo, per_query
from tests.unit.report.test_every_sentence import (
    PACKAGE,
    between,
    ends,
    joined,
    many,
    p_cautious,
    unlisted,
    word_of,
)

pytestmark = pytest.mark.page
LISTED = {
    "labels within queries": (
        "repeated-measures r of a source's measure with P",
        "descending, largest k, first references",
        "retrievers; queries",
        "Fieller and jackknife",
    ),
    "labels choose": ("mean P with the chosen context less any", "as before", "queries", "cautious t, Holm"),
    "labels over queries": ("Kendall's tau", "as before, per retriever", "columns", "paired bootstrap, Holm"),
    "trust in judges": ("Cohen's kappa of relevant or not", "pairs that both label", "pairs", "interval over queries"),
    "checks of judges": (
        "mean change of the score; rho",
        "checked passages",
        "queries",
        "t and Hall's, Holm; jackknife",
    ),
}
"""Estimand, rows, n and test of every kind of sentence."""


# Labels: nDCG by the judgements, the answers' lengths, and P_0 as the null.


def values_of(measured: Measured, table: pl.DataFrame) -> pl.DataFrame:
    """Return retriever, k, references, qid, source, measure, value and n_ranked."""
    keys = ["retriever", "k", "references", "qid"]
    here = table.filter(ordering="descending")
    lengths = (
        measured.answers.filter(ordering="descending")
        .group_by("retriever", "k", "qid")
        .agg(value=pl.col("answer_tokens").mean())
    )
    of_ndcg = measured.retrieval.select("retriever", "k", "qid", "value")
    parts = [
        here.join(frame, on=["retriever", "k", "qid"]).select(*keys, "value", source=pl.lit(name))
        for name, frame in (("qrels", of_ndcg), ("length", lengths))
    ]
    parts.append(here.select(*keys, value="p0", source=pl.lit("p0")))
    values = pl.concat(parts).with_columns(measure=pl.lit("nDCG"), n_ranked=pl.col("k"))
    return values.filter(pl.col("retriever").is_in(measured.rankings))


def labelled(measured: Measured, folder: Path) -> AnnotationStudy:
    table = per_query(measured).filter(pl.col("retriever").is_in(measured.rankings), references="lenient")
    values, kinds = values_of(measured, table), dict.fromkeys(measured.rankings, "run")
    correlations = label_correlations(values, table, 300, 0)
    made = [
        correlations,
        leads(correlations, values, table, 500, 0, ["p0"]),
        label_within(values, table, kinds, ["p0"]),
        label_choices(values, table, kinds, ["p0"]),
    ]
    files = [[folder / f"{place}.csv"] for place in range(len(made))]
    for frame, (path,) in zip(made, files, strict=True):
        write_csv(named(frame, {"dataset": measured.name, "generator": "lm", "scorer": "s"}), path)
    none = {name: pl.DataFrame(schema=schema_of(columns)) for name, columns in TABLES.items()}
    gathered = gather(*files, kinds={"qrels": "qrels", "length": "file", "p0": "zeroshot"})
    return AnnotationStudy("s", none | gathered, pl.DataFrame())


def columns_of(measured: Measured) -> dict[tuple[str, str], dict[str, tuple[float, float, float]]]:
    """Return by source and retriever the value, P and utility of each query, at the largest k."""
    table = per_query(measured).filter(references="lenient", ordering="descending", k=max(measured.grid["k"]))
    rows = values_of(measured, table).join(
        table.select("retriever", "k", "references", "qid", "p", "utility"), on=["retriever", "k", "references", "qid"]
    )
    found: dict[tuple[str, str], dict[str, tuple[float, float, float]]] = {}
    for source, retriever, qid, *three in rows.select(
        "source", "retriever", "qid", "value", "p", "utility"
    ).iter_rows():
        found.setdefault((source, retriever), {})[qid] = tuple(three)
    return found


def followed() -> Measured:
    """The demo with P and some noise in place of nDCG, so that the labels of qrels choose better contexts."""
    p = per_query(demo()).filter(ordering="descending", references="lenient")
    value = pl.col("p") + pl.Series(np.random.default_rng(3).normal(0, 0.05, p.height))
    return replace(demo(), retrieval=p.select("retriever", "k", "qid", measure=pl.lit("nDCG"), value=value))


@pytest.mark.parametrize("make", [*MADE, followed])
def test_labels_say_what_the_scores_say(make: Callable[[], Measured], tmp_path: Path) -> None:
    measured = make()
    measured = replace(measured, grid={**measured.grid, "retrievers": measured.rankings[:3]})
    shown, columns = labelled(measured, tmp_path), columns_of(measured)
    agree(of_labels.label_sentences(shown), list(labels_said(measured, shown, columns)))
    chosen = {source: chosen_by(columns, source, measured.rankings) for source in ("qrels", "length")}
    answer, where = of_labels.label_answer(shown), f"{measured.name} · lm"
    better = {name: values for name, values in chosen.items() if word_of(values, *between(values)) == "better"}
    assert make is not followed or better
    if not better:
        assert answer.sentence == f"No source’s labels are shown to choose better contexts than chance: {where}."
        return
    names = sorted(better, key=lambda name: -better[name].mean())
    most = better[names[0]]
    assert answer.sentence == (
        f"Labels of {joined(names)} choose better contexts than chance: mean P changes by "
        f"{ends(most.mean(), between(most))} with {names[0]}, up to {many(len(most), 'query', 'queries')}; {where}."
    )


def chosen_by(columns: Any, source: str, rankings: list[str], place: int = 1) -> Array:
    """Per query P (1) or utility (2) with the context of the highest value, less the mean over contexts."""
    qids = sorted({qid for name in rankings for qid in columns[source, name]})
    found = []
    for qid in qids:
        of_query = [columns[source, name][qid] for name in rankings if qid in columns[source, name]]
        of_query = [one for one in of_query if one[0] is not None and one[place] is not None]
        if len(of_query) > 1:
            most = max(one[0] for one in of_query)
            best = [one[place] for one in of_query if one[0] >= most - 1e-9]
            found.append(np.mean(best) - np.mean([one[place] for one in of_query]))
    values = np.array(found)
    return np.where(np.abs(values) < 1e-12, 0.0, values)


def labels_said(measured: Measured, shown: AnnotationStudy, columns: Any) -> Iterator[str]:
    where, rankings, k = f"{measured.name} · lm", measured.rankings, max(measured.grid["k"])
    of_r = []
    for source in ("qrels", "length"):
        r, (low, high), word = within_said(columns, source, rankings, shown)
        of_r.append(f"{source} {ends(r, (low, high))} ({word})")
    yield (
        f"{where}, within queries over {len(rankings)} retrievers, r between nDCG and P: {joined(of_r)} and undefined "
        "for p0 (all passages of a query have the same label)."
    ).replace(" and length", ", length" if len(of_r) == 2 else " and length")
    tested = {source: chosen_by(columns, source, rankings) for source in ("length", "qrels")}
    words = {source: word_of(values, *between(values)) for source, values in tested.items()}
    p = multipletests([p_cautious(values) for values in tested.values()], method="holm")[1]
    texts = {"better": "better with", "worse": "worse with", "undecided": "undecided with",
             "too few queries": "of too few queries to say with"}  # fmt: skip
    shown_of = {one: f"{one} ({ends(values.mean(), between(values))})" for one, values in tested.items()}
    parts = [
        f"{text} {joined([shown_of[one] for one in tested if words[one] == word])}"
        for word, text in texts.items()
        if word in words.values()
    ]
    queries = many(max(map(len, tested.values())), "query", "queries")
    kept = sum(value < 0.05 and words[one] in ("better", "worse") for one, value in zip(tested, p, strict=True))
    utility = {source: chosen_by(columns, source, rankings, 2) for source in tested}
    changed = [f"{ends(values.mean(), between(values))} with {one}" for one, values in utility.items()]
    yield (
        f"{where}, the context with the highest nDCG by a source’s labels, compared with a random one of "
        f"{len(rankings)}, the choice of p0: mean P over up to {queries} "
        f"is {'; '.join(parts)} ({kept} after Holm’s correction); mean utility changes by {joined(changed)}."
    )
    for place, quantity, name in ((2, "utility", "utility"), (1, "p", "P")):
        yield from over_queries(measured, shown, columns, place, quantity, name, k)


def within_said(
    columns: Any, source: str, rankings: list[str], shown: AnnotationStudy
) -> tuple[float, tuple[float, float], str]:
    """r of both columns less each query's mean; its interval is the table's, whose word follows from it."""
    x, y = [], []
    for qid in sorted({qid for name in rankings for qid in columns[source, name]}):
        pairs = np.array([columns[source, name][qid][:2] for name in rankings if qid in columns[source, name]], float)
        if len(pairs) > 1:
            x += list(pairs[:, 0] - pairs[:, 0].mean())
            y += list(pairs[:, 1] - pairs[:, 1].mean())
    r = float(np.corrcoef(x, y)[0, 1])
    row = shown.tables["annotation_within"].filter(source=source, k=shown.first["k"], retrievers="all")
    low, high, p = row.select("low", "high", "p_value").row(0)
    assert low < r < high
    return r, (low, high), "undecided" if p >= 0.05 or low < 0 < high else "above zero" if low > 0 else "below zero"


def over_queries(
    measured: Measured, shown: AnnotationStudy, columns: Any, place: int, quantity: str, name: str, k: int
) -> Iterator[str]:
    """Kendall's tau per retriever; leads and intervals by a bootstrap of this file's, from another seed."""
    where = f"{measured.name} · lm"
    random, said, significant = np.random.default_rng(5), [], []
    family = {row["retriever"]: row for row in shown.tables["annotation_leads"].filter(
        k=k, quantity=quantity, coefficient="kendall", comparison="best").to_dicts()}  # fmt: skip
    of_null: dict[str, list[dict[str, Any]]] = {}
    for row in (
        shown.tables["annotation_leads"]
        .filter(k=k, quantity=quantity, coefficient="kendall", comparison="null")
        .to_dicts()
    ):
        of_null.setdefault(row["retriever"], []).append(row)
    for mine in (list(family.values()), [row for rows in of_null.values() for row in rows]):
        known = [row for row in mine if row["p_value"] is not None]
        holm = multipletests([row["p_value"] for row in known], method="holm")[1]
        assert [row["p_holm"] for row in known] == pytest.approx(list(holm))
    rows = shown.table.filter(k=k, quantity=quantity, coefficient="kendall", references="lenient")
    for retriever in measured.rankings:
        taus, pairs = {}, {}
        for source in ("qrels", "length", "p0"):
            some = [one for _, one in sorted(columns[source, retriever].items())]
            pairs[source] = np.array([(one[0], one[place]) for one in some if None not in (one[0], one[place])])
            taus[source] = float(stats.kendalltau(*pairs[source].T).statistic)
        ranked = sorted(taus, key=lambda one: -taus[one])
        of_tau = {row["source"]: row for row in rows.filter(retriever=retriever).to_dicts()}
        named = [f"{one} (nDCG) {ends(taus[one], (of_tau[one]['low'], of_tau[one]['high']))}" for one in ranked]
        first, second = ranked[:2]
        lead = family[retriever]
        both = np.column_stack([pairs[first], pairs[second][:, 0]])
        draws = [both[random.integers(0, len(both), len(both))] for _ in range(400)]
        drawn_leads = np.array([
            stats.kendalltau(x[:, 0], x[:, 1]).statistic - stats.kendalltau(x[:, 2], x[:, 1]).statistic for x in draws
        ])  # fmt: skip
        p = min(1.0, 2 * min((drawn_leads <= 0).mean(), (drawn_leads >= 0).mean()))
        assert lead["source"] == first and lead["against_source"] == second
        assert lead["lead"] == pytest.approx(taus[first] - taus[second]) and lead["p_value"] == pytest.approx(
            p, abs=0.08
        )
        sure = lead["p_holm"] < 0.05
        significant += [f"{first} in {where} · {retriever}"] if sure else []
        ahead, behind = (
            [row["source"] for row in of_null[retriever] if row["p_holm"] < 0.05 and sign * row["lead"] > 0]
            for sign in (1, -1)
        )
        ahead += [first] if sure and second == "p0" and first not in ahead else []
        behind += [second] if sure and first == "p0" and second not in behind else []
        said.append(
            f"{where} · {retriever}, {name}: {joined(named)}; {first}’s lead over {second} is "
            f"{'' if sure else 'not '}significant; ahead of the null, p0: {joined(ahead)}"
            + (f"; behind it: {joined(behind)}" if behind else "")
            + "."
        )
    over = f"{many(len(said), 'column')} (dataset · generator · retriever)"
    yield (
        f"The best source’s lead over the next in following {name} is significant in {len(significant)} of {over}, "
        f"after Holm’s correction: {joined(significant)}."
        if significant
        else f"No lead is significant: in none of {over} do the best source’s labels follow {name} more closely than "
        "the next source’s, after Holm’s correction."
    )
    yield from said


NO_TEST_OF_LABELS = "We do not know: the sources’ choices of contexts could not be tested"


# Judges: labels by people and by a judge, and its scores before and after a change that should not count, all drawn.


def judged_study() -> tuple[AnnotationStudy, pl.DataFrame, pl.DataFrame]:
    """A judge with the labels (qid, people, judge) and the scores of the checks that its table is made of."""
    random = np.random.default_rng(11)
    n = 30 * 8
    people = random.integers(0, 4, n).astype(float)
    pairs = pl.DataFrame({
        "qid": [f"q{place // 8:02d}" for place in range(n)], "docno": [f"d{place}" for place in range(n)],
        "people": people, "judge": np.where(random.random(n) < 0.6, people, random.integers(0, 4, n)),
    })  # fmt: skip
    labels = pl.concat(
        pairs.select("qid", "docno", source=pl.lit(source), references=pl.lit(""), label=column)
        for source, column in (("qrels", "people"), ("grades", "judge"))
    )
    scales = {"qrels": Scale(2.0, True, False), "grades": Scale(2.0, True, True)}
    agreement, _ = agreement_tables(labels, {}, pl.DataFrame(schema=VALUES), "qrels", scales, 300, 0)
    scores = pl.concat(
        pairs.select("qid", check=pl.lit(check), score=random.random(n), words=random.integers(5, 90, n),
                     judgements=pl.lit(1), other_words=random.integers(0, 2, n))
        .with_columns(changed_score=pl.col("score") + random.normal(shift, 0.1, n))
        for check, shift in (("reversed", 0.0), ("swapped", 0.01), ("padded", 0.05), ("length", 0.0))
    )  # fmt: skip
    named_of = {"dataset": "demo", "source": "grades", "judge": "lm"}
    tables = {name: pl.DataFrame(schema=schema_of(columns)) for name, columns in TABLES.items()}
    powered = tables["annotation_powered"]
    few = pl.DataFrame(
        [{"dataset": "demo", "low": 0.1, "n": 12}], {n: powered.schema[n] for n in ("dataset", "low", "n")}
    )
    tables["annotation_powered"] = pl.concat([powered, few], how="diagonal")
    tables["annotation_agreement"] = named(agreement, {"dataset": "demo", "generator": "lm", "scorer": "s"})
    trust = JudgeTrust(0.9, True, {"grades": ["demo-lm"]})
    return AnnotationStudy("s", tables, pl.DataFrame(), trust, analyse_judge_checks(scores, named_of)), pairs, scores


def test_trust_in_a_judge_says_what_the_labels_say() -> None:
    shown, pairs, scores = judged_study()
    kappa = cohen_kappa_score(pairs["people"].to_numpy() >= 2, pairs["judge"].to_numpy() >= 2)
    low, high = shown.tables["annotation_agreement"].filter(quantity="kappa").select("low", "high").row(0)
    assert low < kappa < high
    told = ends(kappa, (low, high), 2)
    assert of_trust.trust_warnings(shown) == [
        "demo: results from labels of grades rest on a judge whose agreement with people’s labels (qrels) is κ = "
        f"{told}, below the threshold of 0.90 (agreement.least_kappa)."
    ]
    assert of_trust.trust_warnings(replace(shown, trust=JudgeTrust(kappa - 0.01))) == []
    changes = {check: changes_by_query(scores.filter(check=check)) for check in ("reversed", "swapped", "padded")}
    ps = multipletests([p_cautious(values, cautious=False) for values in changes.values()], method="holm")[1]
    done = {
        "reversed": "Showing the judge references or passages in reverse order",
        "swapped": "Asking the judge with the parts of the question in another order",
        "padded": "Padding a passage with 38 words",
    }
    said = []
    for (check, values), p in zip(changes.items(), ps, strict=True):
        some = scores.filter(check=check)
        holm = "< 0.001" if p < 0.001 else f"= {p:.3f}"
        said.append(
            f"demo · grades · lm: {done[check]} changes the judge’s score by "
            f"{ends(values.mean(), between(values, cautious=False))} on average (240 passages of 30 queries, p {holm} "
            f"after Holm’s correction), and the likeliest word in {some['other_words'].mean():.0%} of 240 judgements."
        )
    length = scores.filter(check="length")
    rho = float(stats.spearmanr(length["words"], length["score"]).statistic)
    low, high = shown.checks.filter(check="length").select("low", "high").row(0)
    assert low < rho < high
    assert of_trust.trust_sentences(shown) == [
        f"demo, agreement with people’s labels (qrels), Cohen’s κ: grades {told}.",
        "grades asks demo-lm about passages of the answers that it made itself: a judge may favour what it has used.",
        "The configuration states that the queries with people’s labels are a random sample of all queries "
        "(agreement.random_sample). The prediction-powered intervals are valid only if this is so.",
        "People label only 12 queries. With fewer than 50, prediction-powered intervals are too narrow: in simulations "
        "with 12, nominal 95% intervals contain the true value 90% to 96% of the time.",
        *said,
        f"demo · grades · lm: Spearman’s ρ between the judge’s score and the number of words of the passage is "
        f"{ends(rho, (low, high))} (240 passages of 30 queries). This alone shows no bias: longer passages may say "
        "more.",
    ]


def changes_by_query(some: pl.DataFrame) -> Array:
    means = some.group_by("qid", maintain_order=True).agg((pl.col("changed_score") - pl.col("score")).mean())
    return means["changed_score"].to_numpy()


LABELS_OF_CHECKS = ("references or passages reversed", "parts of the question swapped", "longer answers may be better")
"""Names of checks in a table; and of answers what is said of passages above."""


@pytest.mark.parametrize(
    "module", ["annexes/labels/sentences.py", "annexes/labels/trust_page.py", "report/display/judge_checks.py"]
)
def test_a_text_of_the_page_is_listed_here(module: str) -> None:
    assert unlisted(PACKAGE / module, Path(__file__)) == []


QUESTIONS = {"Whose relevance does the generator use?"}


def test_every_kind_of_sentence_is_listed() -> None:
    assert all(len(claim) == 4 and all(claim) for claim in LISTED.values())
