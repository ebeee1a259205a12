"""What every sentence on labels claims, computed a second way, as test_every_sentence.py does it.

A number that a page has from shuffled or drawn queries is drawn again here, from other seeds.
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
from ragrelay.report.display.judge_checks import LABELS
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from tests.support.approved import approve, not_approved
from tests.support.measured_study import Measured
from tests.support.sandbox import ROOT
from tests.unit.report.second_way import (
    MADE,
    PACKAGE,
    Array,
    agree,
    between,
    demo,
    ends,
    joined,
    p_cautious,
    per_query,
    remark,
    undone,
    word_of,
)

pytestmark = pytest.mark.page
APPROVED = Path(__file__).parent / "approved"
WORDS = ("qrels", "length", "p0", "grades", "lm", "demo-lm", "no source", "undefined", "reverse order",
         "another order", "padding")  # fmt: skip
"""What sentences on labels tell, with the words of all pages."""

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
def test_labels_say_what_the_scores_say_and_are_approved(make: Callable[[], Measured], tmp_path: Path) -> None:
    measured = make()
    measured = replace(measured, grid={**measured.grid, "retrievers": measured.rankings[:3]})
    shown, columns = labelled(measured, tmp_path), columns_of(measured)
    said, answer = of_labels.label_sentences(shown), of_labels.label_answer(shown).sentence
    names = {*WORDS, measured.name, *measured.rankings}
    agree(said, list(labels_said(measured, shown, columns)), names)
    chosen = {source: chosen_by(columns, source, measured.rankings) for source in ("qrels", "length")}
    better = {name: values for name, values in chosen.items() if word_of(values, *between(values)) == "better"}
    assert make is not followed or better
    claim = "no source better"
    if better:
        ordered = sorted(better, key=lambda name: -better[name].mean())
        most = better[ordered[0]]
        claim = f"{joined(ordered)} better higher {ends(most.mean(), between(most))} {ordered[0]} {len(most)}"
    fallen = [name for name in sorted(better, key=lambda name: -better[name].mean()) if undone(better[name], "better")]
    agree([answer], [f"{claim} {measured.name} lm {remark(fallen)}"], names)
    approve(APPROVED / f"{make.__name__}.txt", [answer, *said])


def test_labels_that_cannot_be_tested_say_so_as_approved(tmp_path: Path) -> None:
    shown = labelled(demo(), tmp_path)
    few = shown.tables["annotation_choices"].with_columns(verdict=pl.lit("too few queries"), stands=None)
    states = [replace(shown, tables={**shown.tables, "annotation_choices": table}) for table in (few, few.clear())]
    answers = [of_labels.label_answer(state) for state in states]
    said = [text for answer in answers for text in (answer.question, answer.sentence)]
    said += [text for state in states for text in of_labels.label_sentences(state)]
    approve(APPROVED / "states-of-labels.txt", said)


def test_choices_that_do_not_stand_have_a_remark(tmp_path: Path) -> None:
    """In the sentence on choices, and in the answer, which names sources whose labels choose better contexts."""
    shown = labelled(demo(), tmp_path)
    choices = shown.tables["annotation_choices"]
    for stands in (True, False):
        said = choices.with_columns(verdict=pl.lit("better"), stands=pl.lit(stands))
        state = replace(shown, tables={**shown.tables, "annotation_choices": said})
        sentences = [of_labels.label_answer(state).sentence, *of_labels.label_sentences(state)]
        remarks = [text.partition("in the other direction would overturn the verdict")[2] for text in sentences]
        named = [text for text in remarks if text]
        assert len(named) == 2 * (not stands) and all("qrels" in text for text in named)


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
    """Repeated-measures r of a source's measure with P, Fieller and jackknife; mean P with the chosen context less any,
    cautious t, Holm; and what is over queries: descending, largest k, first references."""
    rankings, k, said = measured.rankings, max(measured.grid["k"]), [measured.name, "lm"]
    within = {source: within_said(columns, source, rankings, shown) for source in ("qrels", "length")}
    of_r = [f"{ends(r, pair)} {source} {word}" for source, (r, pair, word) in within.items()]
    yield joined([*said, len(rankings), *of_r, "undefined p0"])
    tested = {source: chosen_by(columns, source, rankings) for source in ("length", "qrels")}
    words = {source: word_of(values, *between(values)) for source, values in tested.items()}
    p = multipletests([p_cautious(values) for values in tested.values()], method="holm")[1]
    said += ["highest", str(len(rankings)), "p0", str(max(map(len, tested.values())))]
    for word in ("better", "worse", "undecided", "too few queries"):
        mine = [one for one in tested if words[one] == word]
        shown_of = (f"{one} {ends(tested[one].mean(), between(tested[one]))}" for one in mine)
        said += [word.removesuffix(" queries"), *shown_of] if mine else []
    kept = sum(value < 0.05 and words[one] in ("better", "worse") for one, value in zip(tested, p, strict=True))
    utility = {source: chosen_by(columns, source, rankings, 2) for source in tested}
    changed = [f"{ends(values.mean(), between(values))} {one}" for one, values in utility.items()]
    yield joined(
        [
            *said,
            *([kept] if kept else []),
            "significant",
            *changed,
            remark(one for one in tested if undone(tested[one], words[one])),
        ]
    )
    for place, quantity in ((2, "utility"), (1, "p")):
        yield from over_queries(measured, shown, columns, place, quantity, k)


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
    measured: Measured, shown: AnnotationStudy, columns: Any, place: int, quantity: str, k: int
) -> Iterator[str]:
    """Kendall's tau per retriever; leads and intervals by a bootstrap of this file's, from another seed."""
    where = f"{measured.name} lm"
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
        named = [f"{ends(taus[one], (of_tau[one]['low'], of_tau[one]['high']))} {one}" for one in ranked]
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
        significant += [f"{first} {where} {retriever}"] if sure else []
        ahead, behind = (
            [row["source"] for row in of_null[retriever] if row["p_holm"] < 0.05 and sign * row["lead"] > 0]
            for sign in (1, -1)
        )
        if second == "p0":
            ahead = [name for name in ahead if name != first] + [first] * sure
        if first == "p0":
            behind = [name for name in behind if name != second] + [second] * sure
        word = f"{first} {second} {'significant' if sure else 'not significant'}"
        word = "" if second == "p0" or (first == "p0" and sure) else word
        lead_of = f"{word} {joined(ahead or ['no source'])} ahead p0"
        said.append(f"{where} {retriever} {joined(named)} {lead_of} {f'{joined(behind)} behind' if behind else ''}")
    yield f"significant {len(significant)} {len(said)} {joined(significant) if significant else ''}"
    yield from said


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
    agreement, _ = agreement_tables(labels, {}, pl.DataFrame(schema=VALUES), "qrels", scales)
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


def test_trust_in_a_judge_says_what_the_labels_say_and_is_approved() -> None:
    """The page tells Cohen's kappa, the mean change of the score (t and Hall's, Holm) and rho with the length."""
    shown, pairs, scores = judged_study()
    kappa = cohen_kappa_score(pairs["people"].to_numpy() >= 2, pairs["judge"].to_numpy() >= 2)
    table = shown.tables["annotation_agreement"]
    low, high = table.filter(quantity="kappa").select("low", "high").row(0)
    assert low < kappa < high
    told, warned = ends(kappa, (low, high), 2), of_trust.trust_warnings(shown)
    names = {*WORDS, "demo"}
    agree(warned, [f"demo grades qrels {told} below 0.90"], names)
    assert of_trust.trust_warnings(replace(shown, trust=JudgeTrust(kappa - 0.01))) == []
    changes = {check: changes_by_query(scores.filter(check=check)) for check in ("reversed", "swapped", "padded")}
    ps = multipletests([p_cautious(values, cautious=False) for values in changes.values()], method="holm")[1]
    done = {"reversed": "reverse order", "swapped": "another order", "padded": "padding 38"}
    claims = [f"demo qrels {told} grades", "grades demo-lm", "", "12 fewer than 50 12 95% 90% 96%"]
    for (check, values), p in zip(changes.items(), ps, strict=True):
        changed = scores.filter(check=check)["other_words"].mean()
        holm = "< 0.001" if p < 0.001 else f"{p:.3f}"
        mean = ends(values.mean(), between(values, cautious=False))
        claims.append(f"demo grades lm {done[check]} {mean} 240 30 {holm} {changed:.0%} 240")
    length = scores.filter(check="length")
    rho = float(stats.spearmanr(length["words"], length["score"]).statistic)
    low, high = shown.checks.filter(check="length").select("low", "high").row(0)
    assert low < rho < high
    said = [*of_trust.agreement_sentences(shown), *of_trust.trust_sentences(shown)]
    agree(said, [*claims, f"demo grades lm {ends(rho, (low, high))} 240 30"], names)
    unknown = table.with_columns(
        value=pl.lit(None), reason=pl.lit("people and the source give every pair the same label")
    )
    of_one_label = replace(shown, tables={**shown.tables, "annotation_agreement": unknown})
    of_unknown = [*of_trust.trust_warnings(of_one_label), *of_trust.agreement_sentences(of_one_label)]
    approve(APPROVED / "judges.txt", [*warned, *of_unknown, *said, *LABELS.values()])


def changes_by_query(some: pl.DataFrame) -> Array:
    means = some.group_by("qid", maintain_order=True).agg((pl.col("changed_score") - pl.col("score")).mean())
    return means["changed_score"].to_numpy()


@pytest.mark.parametrize(
    "module", ["annexes/labels/sentences.py", "annexes/labels/trust_page.py", "report/display/judge_checks.py"]
)
def test_a_text_of_the_page_is_approved(module: str) -> None:
    of_answers = ROOT / "tests/unit/report/test_judge_checks_page.py"
    assert not_approved(PACKAGE / module, APPROVED, of_answers) == []
