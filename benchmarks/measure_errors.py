"""Error rates and power of the comparison of retrieval measures (annexes.measure_comparison).

    python benchmarks/measure_errors.py --out benchmarks/results/measure_errors.json

Five rankings of made-up queries have graded labels and subtopics; eight measures of their first five passages differ in
grain and correlate .4 to .9. P is a query's level, plus a signal in the measures, plus noise whose spread differs by
query: normal, or a language model's (benchmarks/columns). Zero-shot P shares the level. *Known relay* is relay.csv's
answer from both slopes. A claim is a pair verdict that isn't undecided, or *most closely*.
"""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from ragrelay.analysis import relay
from ragrelay.analysis.verdicts import ABOVE, BELOW, UNDECIDED
from ragrelay.annexes.measure_comparison.closeness import BEATEN, MOST_CLOSELY, NOT_BEATEN, compare_measures

from benchmarks.shared import record

Array = np.ndarray
SIZES = (20, 36, 50, 100, 300)
RANKINGS, QUERIES, DEPTH, SUBTOPICS, POOL = 5, 600, 5, 4, 40
COLUMNS = Path(__file__).parent / "columns" / "smollm2_pool.parquet"
CELL = {"ordering": "descending", "references": "lenient"}
CLUSTER = 4
"""Queries of a cluster, in the cases with clusters."""


def measures() -> dict[str, Array]:
    """Eight measures (rankings, queries) of the first five passages."""
    random = np.random.default_rng(900)
    density = random.beta(1.2, 2.5, QUERIES)
    shape = (RANKINGS, QUERIES, DEPTH)
    labels, topics = np.zeros(shape, int), np.zeros((*shape, SUBTOPICS), bool)
    ideal, ideal_alpha, relevant = np.zeros((QUERIES, DEPTH)), np.zeros(QUERIES), np.zeros(QUERIES)
    discount = 1 / np.log2(np.arange(DEPTH) + 2.0)
    for query in range(QUERIES):
        label = np.where(random.random(POOL) < density[query], random.choice([1, 2, 2, 3], POOL), 0)
        of_topic = random.random((POOL, SUBTOPICS)) < random.choice([0.1, 0.3, 0.6], SUBTOPICS)
        of_topic[(label >= 2) & ~of_topic.any(1), random.integers(SUBTOPICS)] = True
        of_topic[label < 2] = False
        common = random.standard_normal(POOL)
        for ranking in range(RANKINGS):
            own = random.standard_normal(POOL)
            first = np.argsort(-(0.55 * label * (0.6 + 0.1 * ranking) + 0.8 * common + 0.8 * own))[:DEPTH]
            labels[ranking, query], topics[ranking, query] = label[first], of_topic[first]
        ideal[query], relevant[query] = np.sort(label)[::-1][:DEPTH], (label >= 2).sum()
        left = list(range(POOL))
        counts = np.zeros(SUBTOPICS)
        for place in range(DEPTH):
            best = max(left, key=lambda one: float((of_topic[one] * 0.5**counts).sum()))
            ideal_alpha[query] += (of_topic[best] * 0.5**counts).sum() * discount[place]
            counts += of_topic[best]
            left.remove(best)
    is_relevant = labels >= 2
    counts = np.cumsum(topics, axis=2) - topics
    gain = 2.0**labels - 1
    found = np.cumsum(is_relevant, 2) / np.arange(1, DEPTH + 1)
    first = np.where(is_relevant.any(2), is_relevant.argmax(2) + 1.0, np.inf)
    of_ideal = (2.0**ideal - 1) * discount
    return {
        "nDCG": (gain * discount).sum(2) / np.maximum(of_ideal.sum(1), 1e-9),
        "nDCG@3": (gain * discount)[..., :3].sum(2) / np.maximum(of_ideal[:, :3].sum(1), 1e-9),
        "P": is_relevant.mean(2),
        "RR": 1 / first,
        "AP": (found * is_relevant).sum(2) / np.maximum(np.minimum(relevant, DEPTH), 1),
        "Success": is_relevant.any(2).astype(float),
        "StRecall": topics.any(2).mean(2),
        "alpha_nDCG": ((topics * 0.5**counts).sum(3) * discount).sum(2) / np.maximum(ideal_alpha, 1e-9),
    }


def centred(values: Array) -> Array:
    """Values (rankings, queries) less the means of both, plus the mean of all."""
    of_query, of_ranking = values.mean(-2, keepdims=True), values.mean(-1, keepdims=True)
    return values - of_query - of_ranking + values.mean((-1, -2), keepdims=True)


MEASURES = measures()
NAMES = list(MEASURES)
UNITS = np.array([centred(values) / np.sqrt((centred(values) ** 2).sum()) for values in MEASURES.values()])
GRAM = np.einsum("arq,brq->ab", UNITS, UNITS)


def signal(*names: str) -> Array:
    """A unit signal that correlates equally with the named measures, and as little as that implies with others."""
    places = [NAMES.index(name) for name in names]
    weights = np.linalg.solve(GRAM[np.ix_(places, places)], np.ones(len(places)))
    made = np.einsum("a,arq->rq", weights, UNITS[places])
    return made / np.sqrt((made**2).sum())


class Case(NamedTuple):
    """How P follows from the measures."""

    followed: tuple[str, ...]
    r: float
    """Correlation of P's differences with each followed measure, on average; 0 for none."""
    noise: str = "normal"
    clusters: str = ""
    """`known` or `ignored`: queries come in fours with the same lists, and half of their noise is shared."""
    confounded: bool = False
    """Whether a ranking's P rises or falls with the query's mean nDCG."""
    grains: bool = False
    """Whether nDCG is compared with its own halves and thirds alone."""


def model_noise(random: np.random.Generator, n: int) -> Array:
    """A language model's differences of P (rankings, n), drawn by query."""
    return COLUMN[random.permutation(len(COLUMN))[:RANKINGS]][:, random.integers(0, COLUMN.shape[1], n)]


def model_column() -> Array:
    """A language model's P at k = 5 (rankings, queries), centred and scaled."""
    pool = pl.read_parquet(COLUMNS).filter(pl.col("references") == "lenient", pl.col("k") == DEPTH)
    wide = pool.filter(~pl.col("retriever").is_in(["ideal", "nrel"])).pivot(on="retriever", index="qid", values="p")
    values = centred(wide.sort("qid").drop("qid").to_numpy().astype(float).T)
    return np.asarray(values / values.std())


COLUMN = model_column()


def drawn(case: Case, n: int, random: np.random.Generator) -> dict[str, relay.Cell]:
    """A study of ``n`` queries: a cell per measure."""
    clusters = np.repeat(np.arange(-(-n // CLUSTER)), CLUSTER)[:n] if case.clusters else np.arange(n)
    query = random.integers(0, QUERIES, clusters[-1] + 1)[clusters]
    share, latent = 0.0, np.zeros((RANKINGS, n))
    if case.followed:
        made = signal(*case.followed)
        correlation = np.mean([(made * UNITS[NAMES.index(name)]).sum() for name in case.followed])
        share, latent = min((case.r / correlation) ** 2, 0.95), made[:, query] * np.sqrt(RANKINGS * QUERIES)
    if case.noise == "normal":
        noise = random.standard_normal((RANKINGS, n)) * random.choice([0.3, 1.0, 1.6], n) / 1.1
    else:
        noise = model_noise(random, n)
    if case.clusters:
        noise = (noise + random.standard_normal((RANKINGS, clusters[-1] + 1))[:, clusters]) / np.sqrt(2)
    level = random.standard_normal(n)
    p = level + np.sqrt(share) * latent + np.sqrt(1 - share) * noise
    if case.confounded:
        mean = MEASURES["nDCG"].mean(0)[query]
        p = p + 2 * random.standard_normal(RANKINGS)[:, None] * (mean - mean.mean())
    zero = level + random.standard_normal(n)
    compared = dict(MEASURES)
    if case.grains:
        whole = MEASURES["nDCG"]
        compared = {"nDCG": whole, "halves": (whole > np.median(whole)).astype(float), "thirds": np.round(whole * 3)}
    context = np.repeat(np.arange(float(RANKINGS))[:, None], n, axis=1)
    cluster = clusters if case.clusters == "known" else None
    values = {name: every[:, query] for name, every in compared.items()}
    return {name: relay.Cell(context, x, p, x.mean(0), zero, None, cluster) for name, x in values.items()}


def relayed(cells: dict[str, relay.Cell]) -> pl.DataFrame:
    """The slopes of ``cells`` that relay.csv would have."""
    slopes: list[dict[str, Any]] = []
    for name, cell in cells.items():
        for adjusted in (False, True):
            fit: dict[str, Any] = {"verdict": UNDECIDED}
            if not adjusted or slopes[-1]["verdict"] == ABOVE:  # else the adjusted slope decides nothing
                fit = relay.slope(relay.all_pairs(sums for _, sums in relay.pair_sums(cell, adjusted)))
            names = {"retrievers": relay.ALL_RANKINGS, "k": DEPTH, "measure": name, "adjusted": adjusted}
            slopes.append({**CELL, **names, "verdict": fit["verdict"], "p_value": fit.get("p_value")})
    return pl.DataFrame(slopes, schema_overrides={"p_value": pl.Float64})


def population(case: Case) -> dict[str, float]:
    """The true r of each measure: over many queries."""
    cells = drawn(case, 30_000, np.random.default_rng(7))
    values = {}
    for name, cell in cells.items():
        x, p = centred(cell.x), centred(cell.p)
        values[name] = float((x * p).sum() / np.sqrt((x**2).sum() * (p**2).sum()))
    return values


def found(case: Case, n: int, draws: int) -> dict[str, float]:
    """The share of studies of ``n`` queries with each claim, and in which intervals hold together."""
    random = np.random.default_rng([n, round(100 * case.r), len(case.followed), len(case.noise), len(case.clusters)])
    true = {} if case.clusters or case.confounded else population(case)
    seen: dict[str, list[float]] = {}
    for _ in range(draws):
        cells = drawn(case, n, random)
        named = [({**CELL, "measure": name}, {DEPTH: cell}) for name, cell in cells.items()]
        slopes = relayed(cells)
        fits, pairs = (table.to_dicts() for table in compare_measures(named, slopes))
        declared = "nDCG" if case.followed in ((), ALL) else None
        of_declared = compare_measures(named, slopes, declared)[1].to_dicts() if declared else []
        verdicts = {row["measure"]: row["verdict"] for row in fits}
        most = [name for name, verdict in verdicts.items() if verdict == MOST_CLOSELY]
        both = [row for row in pairs if {row["measure"], row["against_measure"]} <= {*case.followed}]
        study = {
            "some pair": _claimed(pairs),
            "each at 95%": any((row["p_value"] or 1) < 0.05 for row in pairs),
            "declared": _claimed(of_declared),
            "most closely": bool(most),
            "another most closely": any(name not in case.followed for name in most),
            "largest": max(fits, key=lambda row: row["r"] or -1.0)["measure"] in case.followed,
            "beaten": any(verdicts.get(name) == BEATEN for name in case.followed),
            "list": sum(verdict in (NOT_BEATEN, MOST_CLOSELY) for verdict in verdicts.values()),
            "followed pair": _claimed(both),
            "first pair": pairs[0]["verdict"] == ABOVE,
            "second pair": pairs[1]["verdict"] == ABOVE,
        }
        if true:
            gaps = [true[row["measure"]] ** 2 - true[row["against_measure"]] ** 2 for row in pairs]
            study["r covered"] = all(_covers(row, true[row["measure"]]) for row in fits)
            study["differences covered"] = all(itertools.starmap(_covers, zip(pairs, gaps, strict=True)))
        for name, value in study.items():
            seen.setdefault(name, []).append(float(value))
    return {name: float(np.mean(values)) for name, values in seen.items()}


def _claimed(pairs: list[dict[str, Any]]) -> bool:
    return any(row["verdict"] in (ABOVE, BELOW) for row in pairs)


def _covers(row: dict[str, Any], true: float) -> bool:
    return row["low"] is None or row["low"] <= true <= row["high"]


ALL = tuple(NAMES)
NULLS = {
    "eight measures, r = .2": Case(ALL, 0.2),
    "eight measures, r = .4": Case(ALL, 0.4),
    "the same, a language model's noise": Case(ALL, 0.4, "model"),
    "eight measures, r = .6": Case(ALL, 0.6),
    "no measure relayed": Case((), 0.0),
    "no measure relayed, some rankings answer hard queries better": Case((), 0.0, confounded=True),
    "eight measures, r = .4, queries in clusters of four": Case(ALL, 0.4, clusters="known"),
    "the same, clusters ignored": Case(ALL, 0.4, clusters="ignored"),
}
TWO = {"nDCG and StRecall, r = .5": Case(("nDCG", "StRecall"), 0.5)}
POWER = {
    "nDCG, r = .3": Case(("nDCG",), 0.3, "model"),
    "nDCG, r = .5": Case(("nDCG",), 0.5, "model"),
    "StRecall, r = .3": Case(("StRecall",), 0.3, "model"),
    "StRecall, r = .5": Case(("StRecall",), 0.5, "model"),
}
GRAINS = {
    "nDCG, r = .3": Case(("nDCG",), 0.3, "model", grains=True),
    "nDCG, r = .5": Case(("nDCG",), 0.5, "model", grains=True),
}
LABELS = {
    **{f"eight measures, r = {r}": f"all eight measures, r = {r}" for r in (".2", ".4", ".6")},
    "the same, a language model's noise": "all eight measures, r = .4, noise from a language model's answers",
    "no measure relayed": "no measure",
    "no measure relayed, some rankings answer hard queries better":
        "no measure; some rankings' answers are better on hard queries",
    "eight measures, r = .4, queries in clusters of four": "all eight measures, r = .4, queries in clusters of four",
    "the same, clusters ignored": "all eight measures, r = .4, queries in clusters of four, but tests ignore clusters",
}  # fmt: skip
"""How the page shows some of the data in a record."""
PARTS = {"null": NULLS, "two": TWO, "power": POWER, "grain": GRAINS}
CLAIMS = {"null": ("some pair", "declared", "most closely"), "two": ("followed pair", "most closely"),
          "power": ("another most closely",), "grain": ()}  # fmt: skip
"""The claims of each part that are false."""
COLUMNS_OF: dict[str, dict[str, tuple[str, ...]]] = {
    "null": {"any pair": ("some pair", "each at 95%"), "any pair with nDCG": ("declared",),
             "verdict *most closely*": ("most closely",), "all intervals for r cover the true values": ("r covered",)},
    "two": {"verdict that nDCG and StRecall differ": ("followed pair",), "verdict *most closely*": ("most closely",),
            "all intervals for differences cover the true values": ("differences covered",)},
    "power": {"this measure has the largest r": ("largest",), "verdict *most closely*": ("most closely",),
              "*most closely* for another measure": ("another most closely",), "beaten": ("beaten",),
              "measures not beaten": ("list",)},
    "grain": {"nDCG beats its version with two values": ("first pair",),
              "nDCG beats its version rounded to thirds": ("second pair",)},
}  # fmt: skip
"""The columns of a part's table: a rate, and in parentheses the one to compare it with."""


def rates(part: str, draws: int) -> Iterator[tuple[str, record.Figure]]:
    """The rates of one part, by name."""
    for (data, case), n in itertools.product(PARTS[part].items(), SIZES):
        for name, value in found(case, n, draws).items():
            goal = "<= 0.05" if "ignored" not in data and name in CLAIMS[part] else ""
            yield f"{part}: {data}, {n} queries, {name}", record.figure(value, goal=goal)


def table(path: Path, part: str) -> str:
    """Markdown of the rates of ``part``: a row per data and number of queries."""
    known = {title: one["value"] for title, one in json.loads(path.read_text(encoding="utf-8"))["figures"].items()}
    columns = COLUMNS_OF[part]
    lines = [["P depends on", "n", *columns], ["---"] * (len(columns) + 2)]
    for data, n in itertools.product(PARTS[part], SIZES):
        cells = [[known.get(f"{part}: {data}, {n} queries, {name}") for name in names] for names in columns.values()]
        lines.append([LABELS.get(data, data) if n == SIZES[0] else "", str(n), *map(_cell, columns, cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(column: str, values: list[float | None]) -> str:
    shown = ["" if value is None else f"{value:.1f}" if column == "measures not beaten" else f"{100 * value:.0f}%"
             for value in values]  # fmt: skip
    return shown[0] if len(shown) == 1 else f"{shown[0]} ({shown[1]})"


TABLES = {f"error rates of measures, {part}": part for part in PARTS}


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--parts", nargs="*", choices=PARTS)
    given = parser.parse_args()
    parts = {part: lambda draws, part=part: rates(part, draws) for part in PARTS}
    record.write_record(given, f"{given.draws} studies for each rate", record.figures_of(given, parts),
                        ["numpy", "scipy", "polars"], "docs/error-rates.md")  # fmt: skip


if __name__ == "__main__":
    main()
