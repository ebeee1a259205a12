"""Error rates and power of a panel of three judges, by the mean alone and with every mean without one judge.

    python benchmarks/panel_errors.py --out benchmarks/results/panel_errors.json

The judges' scores are latent quality and noise, clipped to 0 to 1 and rounded to quarters; they correlate .9, .7 and
.4 with quality. A query has one latent part that all its answers share. *Mean* counts studies in which the mean over
the judges has the verdict, *panel* those that keep it without every judge (panel_verdicts.bounded). *Better* comes
from systems, *it is* from both slopes of relay between three rankings, with zero-shot answers to adjust for.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from ragrelay.analysis import relay
from ragrelay.analysis.panel_verdicts import bounded
from ragrelay.analysis.systems import systems
from ragrelay.analysis.verdicts import SAY_BETTER
from ragrelay.base.vocabulary.primary import Primary

from benchmarks.shared import record

Array = np.ndarray
SIZES = (36, 100, 300)
QUALITY = (0.9, 0.7, 0.4)
"""Correlations of three judges' scores with the answers' quality."""
STEPS, MEAN = 4, 0.55
"""Steps of a score from 0 to 1, and mean quality."""
WORLDS: dict[str, tuple[float, tuple[float, float, float]]] = {
    "no difference": (0.0, (0.0, 0.0, 0.0)),
    "no difference, the worst judge favours b by .10": (0.0, (0.0, 0.0, 0.1)),
    "no difference, the worst judge favours b by .20": (0.0, (0.0, 0.0, 0.2)),
    "no difference, the best judge favours b by .20": (0.0, (0.2, 0.0, 0.0)),
    "no difference, all judges favour b by .05": (0.0, (0.05, 0.05, 0.05)),
    "b better by .10": (0.1, (0.0, 0.0, 0.0)),
    "b better by .20": (0.2, (0.0, 0.0, 0.0)),
}
"""True difference, and how much each judge favours b."""
SLOPES = {
    "no relay": (0.0, 0.0),
    "no relay, the worst judge's scores follow the measure by .3": (0.0, 0.3),
    "relay of .2": (0.2, 0.0),
}
"""True slope, and the worst judge's own."""
FALSE_AT_MOST = 0.05
PAIR = Primary("b", "a", "descending", 1, "lenient", "nDCG", "panel")
NAMES = ("all", "0", "1", "2")
"""The mean over all judges, then without each."""


def judged(latent: Array, judge: int, random: np.random.Generator, bias: Array | float = 0.0) -> Array:
    """A judge's scores of answers with ``latent`` quality, less the mean."""
    noise = np.sqrt(0.045 * (1 - QUALITY[judge] ** 2)) * random.standard_normal(latent.shape)
    return np.clip(np.round((MEAN + QUALITY[judge] * latent + noise + bias) * STEPS) / STEPS, 0, 1)


def means(scores: Array) -> dict[str, Array]:
    """The mean over the first axis, the judges, then those without each."""
    return dict(zip(NAMES, [scores.mean(0), *(np.delete(scores, judge, 0).mean(0) for judge in range(3))], strict=True))


def found_systems(n: int, draws: int, effect: float, bias: tuple[float, float, float]) -> dict[str, float]:
    """Shares of studies of ``n`` queries in which b is better: by the mean, and by the panel. A study is a cell."""
    random = np.random.default_rng([n, round(100 * effect), *(round(100 * one) for one in bias)])
    shared = 0.15 * random.standard_normal((draws, n))
    arms = [shared + 0.15 * random.standard_normal((draws, n)) + sign * effect / 2 for sign in (-1, 1)]
    scores = np.array([[judged(arm, j, random, bias[j] * place) for place, arm in enumerate(arms)] for j in range(3)])
    tables = {name: systems(_utility(mean), ["a", "b"], None, PAIR, None) for name, mean in means(scores).items()}
    panel = bounded(tables["all"], {name: tables[name] for name in NAMES[1:]})
    return {
        "mean": float(tables["all"]["verdict"].is_in(SAY_BETTER).mean()),
        "panel": float(panel["verdict"].is_in(SAY_BETTER).mean()),
    }


def _utility(p: Array) -> pl.DataFrame:
    """Utility of ``p`` (arms, draws, n), a k per draw."""
    _, draws, n = p.shape
    arm, k, query = (axis.ravel() for axis in np.indices(p.shape))
    return pl.DataFrame({
        "retriever": np.array(["a", "b"])[arm], "ordering": PAIR.ordering, "k": k + 1, "references": PAIR.references,
        "qid": query.astype(str), "p": p.ravel(), "p0": np.full(draws * n * 2, np.nan),
    })  # fmt: skip


def found_relay(n: int, draws: int, slope: float, followed: float) -> dict[str, float]:
    """Shares of studies with the answer *it is*: by the mean, and by the panel."""
    random = np.random.default_rng([n, round(100 * slope), round(100 * followed)])
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in NAMES}
    context = np.repeat(np.arange(3.0)[:, None], n, axis=1)
    for draw in range(draws):
        x = 0.3 * random.standard_normal((3, n))
        shared = 0.15 * random.standard_normal(n)
        latent, zero = slope * x + shared + 0.12 * random.standard_normal((3, n)), shared
        scores = np.array([judged(latent, j, random, followed * x if j == 2 else 0.0) for j in range(3)])
        zeros = np.array([judged(zero, j, random) for j in range(3)])
        for (name, p), p0 in zip(means(scores).items(), means(zeros).values(), strict=True):
            cell = relay.Cell(context, x, p, x.mean(0), p0)
            for adjusted in (False, True):
                fit = relay.slope(relay.all_pairs(sums for _, sums in relay.pair_sums(cell, adjusted)))
                rows[name].append({"k": draw, "adjusted": adjusted, "reason": None, "p_value": None} | fit)
    tables = {name: pl.DataFrame(own, schema_overrides={"reason": pl.String}, infer_schema_length=None)
              .select("k", "adjusted", "verdict", "p_value", "reason") for name, own in rows.items()}  # fmt: skip
    panel = bounded(tables["all"], {name: tables[name] for name in NAMES[1:]})
    return {name: _it_is(table) for name, table in (("mean", tables["all"]), ("panel", panel))}


def _it_is(table: pl.DataFrame) -> float:
    answers = [relay.answer_of(rows) for rows in table.partition_by("k")]
    return float(np.mean([answer == relay.IT_IS for answer in answers]))


def figures(draws: int) -> Iterator[tuple[str, record.Figure]]:
    """Every rate, by name."""
    cases: Mapping[str, tuple[object, ...]] = {**WORLDS, **SLOPES}
    for (world, case), n in itertools.product(cases.items(), SIZES):
        of_pair = world in WORLDS
        found = found_systems(n, draws, *case) if of_pair else found_relay(n, draws // 2, *case)  # type: ignore[arg-type]
        false = world.startswith("no ") and not world.endswith("all judges favour b by .05")
        for by, rate in found.items():
            goal = f"<= {FALSE_AT_MOST}" if by == "panel" and false else ""
            word = "better" if of_pair else "it is"
            yield f"{word}: {world}, {n} queries, {by}", record.figure(rate, goal=goal)


def table(path: Path) -> str:
    """Markdown of a record's rates in per cent: a row per world, by the mean → by the panel in each column."""
    known = {title: one["value"] for title, one in json.loads(path.read_text(encoding="utf-8"))["figures"].items()}
    lines = [["data", "verdict", *(f"n = {n}" for n in SIZES)], ["---"] * (len(SIZES) + 2)]
    for world in (*WORLDS, *SLOPES):
        word = "better" if world in WORLDS else "it is"
        rates = [[100 * known[f"{word}: {world}, {n} queries, {by}"] for by in ("mean", "panel")] for n in SIZES]
        lines.append([world, f"*{word}*", *(f"{mean:.1f} → {panel:.1f}" for mean, panel in rates)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = record.arguments(__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    setting = f"{given.draws} studies for each rate, half as many for relay"
    record.write_record(given, setting, dict(figures(given.draws)), ["numpy", "scipy", "polars"], "docs/error-rates.md")


if __name__ == "__main__":
    main()
