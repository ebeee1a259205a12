"""Error rates and power of battles: win rates, panels, relay, agreement with P, strengths, and votes in one order.

    python benchmarks/battle_errors.py --out benchmarks/results/battle_errors.json

A judge perceives how much better one answer is, on a logit scale, with logistic noise in each order and a bonus for the
answer named first; it says tie within a zone around 0. ``WORLDS`` has one kind of judge and query each. Words are those
of ``PairScores.rate``, at 1 - 5% / m for m retrievers. Rates are shares of all studies, with their standard errors;
nominal are 5%, two-sided.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from ragrelay.analysis import relay
from ragrelay.annexes.battles.strengths import strengths
from ragrelay.annexes.battles.votes import VOTES
from ragrelay.annexes.battles.wins import LOSES, WINS, Fight, PairScores, agreement, pair_sums, win_rows
from ragrelay.base.vocabulary.columns import schema_of

from benchmarks.shared import record

Array = np.ndarray
SIZES, FOUND_SIZES = (12, 20, 36, 100, 300), (36, 100, 300)
FALSE_AT_MOST, PANEL_AT_MOST = 0.07, 0.045
PAIR, CELL = ("a", "b"), ("descending", 3)
GIVEN = dict(zip(("retriever", "against", "ordering", "k", "seed"), (*PAIR, *CELL, 1), strict=True))


class World(NamedTuple):
    """What a judge and its queries are like; by default the systems are equal."""

    bonus: float = 0.0
    """Of the answer named first, in logits."""
    spread: float = 1.0
    """Standard deviation over queries of a system's advantage."""
    tie: float = 0.3
    """Half the width of the zone of ties."""
    lead: float = 0.0
    of_cluster: int = 1


ONE_FIRST = "one order, always the same"
WORLDS = {
    "no order bias": World(),
    "order bias of 1.5 logits": World(bonus=1.5),
    "order bias of 3 logits": World(bonus=3.0, spread=0.8),
    "queries differ much": World(bonus=0.7, spread=3.0),
    "85% ties": World(bonus=0.5, tie=4.0),
    "clusters of three": World(bonus=0.7, spread=2.0, of_cluster=3),
}
FOUND = {
    "lead .3": World(bonus=0.7, lead=0.3),
    "lead .7": World(bonus=0.7, lead=0.7),
    "lead .7, order bias of 3 logits": World(bonus=3.0, lead=0.7),
    "lead .7, 60% ties": World(bonus=0.7, lead=0.7, tie=1.8),
}


LABELS = {
    "queries differ much": "large differences between queries", "clusters of three": "queries in clusters of three",
}  # fmt: skip
"""How the page shows some of the judges and queries in a record."""


def asked(random: np.random.Generator, world: World, delta: Array) -> tuple[Array, Array]:
    """A system's score in both orders, for its advantage ``delta``."""
    both = (delta + side * world.bonus + random.logistic(size=delta.shape) for side in (1, -1))
    first, second = (np.where(u > world.tie, 1.0, np.where(u < -world.tie, 0.0, 0.5)) for u in both)
    return first, second


def drawn(random: np.random.Generator, world: World, n: int) -> Array:
    """The advantage on each query; n counts clusters."""
    return world.lead + world.spread * random.standard_normal(n).repeat(world.of_cluster)


def scored(world: World, y: Array) -> PairScores:
    """Scores less .5 as the product holds them."""
    qids = pl.Series([str(place) for place in range(len(y))])
    clusters = {qid: place // world.of_cluster for place, qid in enumerate(qids)} if world.of_cluster > 1 else None
    return PairScores(pl.DataFrame(schema=schema_of(VOTES)), qids, y, 0, clusters)


def rate(said: Iterable[bool], goal: str = "") -> record.Figure:
    """The share of studies where something is said, with its standard error."""
    values = np.array(list(said), float)
    share = float(values.mean())
    return record.figure(share, goal=goal) | {"error": float(f"{np.sqrt(share * (1 - share) / len(values)):.2g}")}


Figures = Iterator[tuple[str, record.Figure]]


def null_figures(draws: int) -> Figures:
    """Words on equal systems."""
    for (name, world), n in itertools.product(WORLDS.items(), SIZES):
        random, words, single = np.random.default_rng([n, *name.encode()]), [], []
        for _ in range(draws):
            first, second = asked(random, world, drawn(random, world, n))
            words.append(scored(world, (first + second) / 2 - 0.5).rate(0.95)["verdict"])
            single.append(scored(world, first - 0.5).rate(0.95)["verdict"])
        yield f"false word: {n} queries, {name}", rate((w in (WINS, LOSES) for w in words), f"<= {FALSE_AT_MOST}")
        yield f"false word, {ONE_FIRST}: {n} queries, {name}", rate(w in (WINS, LOSES) for w in single)
    world = WORLDS["order bias of 1.5 logits"]
    for m, n in itertools.product((4, 9), FOUND_SIZES):
        random, corrected, plain = np.random.default_rng([n, m]), [], []
        for _ in range(draws // 2):
            reference = world.spread * random.standard_normal(n)
            systems = (world.spread * random.standard_normal(n) - reference for _ in range(m))
            parts = [scored(world, np.mean(asked(random, world, delta), axis=0) - 0.5) for delta in systems]
            corrected.append(any(part.rate(1 - 0.05 / m)["verdict"] in (WINS, LOSES) for part in parts))
            plain.append(any(part.rate(0.95)["verdict"] in (WINS, LOSES) for part in parts))
        yield f"some false word: {n} queries, {m} retrievers", rate(corrected, f"<= {FALSE_AT_MOST}")
        yield f"some false word, each at 95%: {n} queries, {m} retrievers", rate(plain)
    for n in FOUND_SIZES:  # replies in the second order are unreadable more often
        random, whole, readable = np.random.default_rng([n, 6]), [], []
        for _ in range(draws):
            first, second = asked(random, World(bonus=1.5), drawn(random, World(), n))
            lost = random.random(n) < 0.35
            mean = (first + second) / 2 - 0.5
            whole.append(scored(World(), mean[~lost]).rate(0.95)["verdict"] in (WINS, LOSES))
            partly = np.where(lost, first - 0.5, mean)
            readable.append(scored(World(), partly).rate(0.95)["verdict"] in (WINS, LOSES))
        yield f"unreadable replies, left out: {n} queries", rate(whole, f"<= {FALSE_AT_MOST}")
        yield f"unreadable replies, the readable order: {n} queries", rate(readable)


def found_figures(draws: int) -> Figures:
    """Words where a system is better, and whether its interval covers the win rate."""
    for name, world in FOUND.items():
        random = np.random.default_rng([1, *name.encode()])
        truth = float(np.mean(asked(random, world, drawn(random, world, 400_000))))
        yield f"win rate: {name}", record.figure(truth)
        for n in FOUND_SIZES:
            rows = []
            for _ in range(draws // 2):
                y = np.mean(asked(random, world, drawn(random, world, n)), axis=0) - 0.5
                rows.append(scored(world, y).rate(0.95))
            yield f"found: {n} queries, {name}", rate(row["verdict"] == WINS for row in rows)
            ends = [row for row in rows if "low" in row]
            yield f"covers: {n} queries, {name}", rate(row["low"] <= truth <= row["high"] for row in ends)


def votes_of(first: Array, second: Array) -> pl.DataFrame:
    """A judge's votes as the product holds them; NaN for an order that was not shown."""
    table = pl.DataFrame({"score_first": first, "score_second": second}).fill_nan(None)
    named = table.with_columns(
        pl.Series("qid", [f"{place:04}" for place in range(len(first))]),
        *(pl.lit(value).alias(name) for name, value in GIVEN.items()),
        score=pl.mean_horizontal("score_first", "score_second"), asked=pl.lit(1),
    )  # fmt: skip
    return named.select(pl.col(name).cast(dtype) for name, dtype in schema_of(VOTES).items())


def word(*judges: tuple[Array, Array]) -> str:
    """The verdict on one pair by these judges' votes."""
    votes = {f"judge {place}": votes_of(*judge) for place, judge in enumerate(judges)}
    (row,) = win_rows(Fight(votes, [PAIR], PAIR[1], CELL, None))
    return str(row["verdict"])


def one_order_figures(draws: int) -> Figures:
    """False words by votes that people gave in one order, with an order bias."""
    world = WORLDS["order bias of 1.5 logits"]
    for share, n in itertools.product((0.5, 0.6), FOUND_SIZES):
        random, words = np.random.default_rng([n, int(10 * share)]), []
        for _ in range(draws // 2):
            first, second = asked(random, world, drawn(random, world, n))
            is_first = random.random(n) < share
            words.append(word((np.where(is_first, first, np.nan), np.where(is_first, np.nan, second))))
        said = (w in (WINS, LOSES) for w in words)
        yield f"votes in one order, false word: {n} queries, {share:.0%} first", rate(said, f"<= {FALSE_AT_MOST}")


PANELS = {
    "no effect": (0.0, 0.0, 0.0),
    "one judge favours b by 1.5 logits": (0.0, 0.0, -1.5),
    "true lead .7": (0.7, 0.7, 0.7),
    "true lead 1.5": (1.5, 1.5, 1.5),
}


def panel_figures(draws: int) -> Figures:
    """Words of a panel of three, by its mean alone and by the product's rule."""
    for (name, leads), n in itertools.product(PANELS.items(), FOUND_SIZES):
        random, by_mean, by_rule = np.random.default_rng([n, *name.encode()]), [], []
        for _ in range(draws // 4):
            delta = random.standard_normal(n)
            judges = [asked(random, World(bonus=0.7), delta + lead) for lead in leads]
            votes = np.mean([np.mean(judge, axis=0) for judge in judges], axis=0) - 0.5
            by_mean.append(scored(World(), votes).rate(0.95)["verdict"] in (WINS, LOSES))
            by_rule.append(word(*judges) in (WINS, LOSES))
        goal = "" if any(leads[:2]) else f"<= {PANEL_AT_MOST}"
        yield f"panel, by the mean: {n} queries, {name}", rate(by_mean)
        yield f"panel, by the rule: {n} queries, {name}", rate(by_rule, goal)


def relay_figures(draws: int) -> Figures:
    """Relay's answer where the measure does and does not decide, with systems' habits, difficulty and ties."""
    for slope, systems, n in itertools.product((0.0, 1.0), (2, 5), FOUND_SIZES):
        random, answers = np.random.default_rng([n, systems, int(slope)]), []
        for _ in range(draws // 2):
            hard = random.standard_normal(n)
            x = np.clip(0.5 - 0.2 * hard + 0.25 * random.standard_normal((systems, n)), 0, 1).round(1)
            quality = slope * x - 0.4 * hard + 0.6 * random.standard_normal((systems, n))
            lists = np.arange(systems)[:, None].repeat(n, axis=1).astype(float)
            world, rows = World(bonus=0.7), []
            for adjusted in (False, True):
                sums = []
                state = random.bit_generator.state
                for place in range(1, systems):
                    y = np.mean(asked(random, world, quality[place] - quality[0]), axis=0) - 0.5
                    pair = [place, 0]
                    sums.append(pair_sums(lists[pair], x[pair], y, x.mean(axis=0), adjusted))
                if not adjusted:
                    random.bit_generator.state = state
                rows.append(relay.slope(relay.all_pairs(sums)))
            columns = ("verdict", "p_value")
            frame = pl.DataFrame([{name: row.get(name) for name in columns} for row in rows])
            answers.append(relay.answer_of(frame))
        title = f"{n} queries, {systems} retrievers"
        if slope:
            yield f"relay, it is: {title}, slope {slope:g}", rate(a == relay.IT_IS for a in answers)
        else:
            said = (a in (relay.IT_IS, relay.IT_IS_NOT) for a in answers)
            yield f"relay, false word: {title}", rate(said, f"<= {FALSE_AT_MOST}")


def agreement_figures(draws: int) -> Figures:
    """Agreement with P where nothing links both within queries, but both prefer a on average."""
    for link, n in itertools.product((0.0, 1.0), FOUND_SIZES):
        random, rows = np.random.default_rng([n, int(link)]), []
        for _ in range(draws // 2):
            shared = link * random.standard_normal(n)
            y = np.mean(asked(random, World(bonus=0.7), 0.9 + shared + 0.5 * random.standard_normal(n)), axis=0) - 0.5
            d = 0.6 + shared + random.standard_normal(n)
            rows.append(agreement(y, d, None))
        found = (row.get("low") is not None and not row["low"] <= 0 <= row["high"] for row in rows)
        kind = f"linked by {link:g}" if link else "not linked"
        yield f"agreement, ρ found: {n} queries, {kind}", rate(found, "" if link else f"<= {FALSE_AT_MOST}")
        for name in ("same_sign", "by_chance"):
            yield f"agreement, {name}: {n} queries, {kind}", record.figure(float(np.mean([r[name] for r in rows])))


def strength_figures(draws: int) -> Figures:
    """Coverage of Bradley-Terry strengths of four systems, with queries or each order as units."""
    leads = np.array([0.0, 0.5, 1.0, 1.5])
    pairs = list(itertools.combinations(range(4), 2))

    def battle(random: np.random.Generator, n: int) -> Array:
        quality = leads[:, None] + 1.2 * random.standard_normal((4, n))
        return np.array([asked(random, World(bonus=1.0, tie=0.5), quality[a] - quality[b]) for a, b in pairs])

    random = np.random.default_rng(4)
    truth = [row["strength"] for row in strengths(battle(random, 40_000).mean(axis=1).T, pairs, 4)]
    for n in FOUND_SIZES:
        by_query, by_order = [], []
        for _ in range(draws // 4):
            scores = battle(random, n)
            rows = strengths(scores.mean(axis=1).T, pairs, 4)[1:]
            by_query += [row["low"] <= t <= row["high"] for row, t in zip(rows, truth[1:], strict=True) if "low" in row]
            split = np.concatenate([scores[:, side].T for side in (0, 1)])  # each order and pair a battle of its own
            alone = np.full((split.size, len(pairs)), np.nan)
            alone[np.arange(split.size), np.tile(np.arange(len(pairs)), len(split))] = split.ravel()
            rows = strengths(alone, pairs, 4)[1:]
            by_order += [row["low"] <= t <= row["high"] for row, t in zip(rows, truth[1:], strict=True) if "low" in row]
        yield f"strengths cover: {n} queries", rate(by_query)
        yield f"strengths cover, each order a battle: {n} queries", rate(by_order)


PARTS = {
    "nulls": null_figures, "found": found_figures, "one order": one_order_figures, "panels": panel_figures,
    "relay": relay_figures, "agreement": agreement_figures, "strengths": strength_figures,
}  # fmt: skip


def values(path: Path) -> dict[str, float]:
    """A record's figures."""
    return {title: one["value"] for title, one in json.loads(path.read_text(encoding="utf-8"))["figures"].items()}


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def false_table(path: Path) -> str:
    """False words in per cent, by the mean of both orders (by one order)."""
    known = values(path)

    def cell(world: str, n: int) -> str:
        both, one = (known[f"false word{more}: {n} queries, {world}"] for more in ("", f", {ONE_FIRST}"))
        return f"{100 * both:.1f} ({100 * one:.0f})"

    header = ["two equal systems", *(f"n = {n}" for n in SIZES)]
    return markdown(header, [[LABELS.get(world, world), *(cell(world, n) for n in SIZES)] for world in WORLDS])


LINES = {
    "false verdict on at least one of 4 retrievers, with intervals at level 1 − 5% / 4 (95%)":
        ("some false word: {} queries, 4 retrievers", "some false word, each at 95%: {} queries, 4 retrievers"),
    "false verdict on at least one of 9 retrievers, with intervals at level 1 − 5% / 9 (95%)":
        ("some false word: {} queries, 9 retrievers", "some false word, each at 95%: {} queries, 9 retrievers"),
    "false verdict if queries with an unreadable reply are left out (if only that reply is left out)":
        ("unreadable replies, left out: {} queries", "unreadable replies, the readable order: {} queries"),
    "false verdict if people see answers in one order and the same system is first for 50% (60%) of queries":
        ("votes in one order, false word: {} queries, 50% first",
         "votes in one order, false word: {} queries, 60% first"),
    **{f"correct verdict: {name} (interval covers the true value)":
       (f"found: {{}} queries, {name}", f"covers: {{}} queries, {name}") for name in FOUND},
    **{f"panel of three judges, {name}: verdict under the panel's rule (from the mean alone)":
       (f"panel, by the rule: {{}} queries, {name}", f"panel, by the mean: {{}} queries, {name}") for name in PANELS},
    "relay, no effect: false verdict with two retrievers (with five)":
        ("relay, false word: {} queries, 2 retrievers", "relay, false word: {} queries, 5 retrievers"),
    "relay, slope 1 (logits per 1.0 of the measure): verdict *answers improve more* with two retrievers (five)":
        ("relay, it is: {} queries, 2 retrievers, slope 1", "relay, it is: {} queries, 5 retrievers, slope 1"),
    "significant ρ between the battle's score and P, if they are unrelated (if they are related)":
        ("agreement, ρ found: {} queries, not linked", "agreement, ρ found: {} queries, linked by 1"),
    "share of queries with the same winner in the battle and in P, if they are unrelated (share expected by chance)":
        ("agreement, same_sign: {} queries, not linked", "agreement, by_chance: {} queries, not linked"),
    "strengths of four systems: interval coverage (if each order counts as a separate battle)":
        ("strengths cover: {} queries", "strengths cover, each order a battle: {} queries"),
}  # fmt: skip


def line_table(path: Path) -> str:
    """Other rates in per cent."""
    known = values(path)

    def cell(titles: Sequence[str], n: int) -> str:
        own, other = (100 * known[title.format(n)] for title in titles)
        return f"{own:.{1 if own < 10 else 0}f} ({other:.{1 if other < 10 else 0}f})"

    header = ["rate", *(f"n = {n}" for n in FOUND_SIZES)]
    return markdown(header, [[name, *(cell(titles, n) for n in FOUND_SIZES)] for name, titles in LINES.items()])


TABLES = {"false words of battles": false_table, "rates of battles": line_table}


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--draws", type=int, default=800)
    parser.add_argument("--parts", nargs="*", choices=PARTS)
    given = parser.parse_args()
    setting = f"{given.draws} studies for each rate of the parts drawn last, fewer of those with an effect"
    record.write_record(given, setting, record.figures_of(given, PARTS), ["numpy", "scipy"], "docs/error-rates.md")


if __name__ == "__main__":
    main()
