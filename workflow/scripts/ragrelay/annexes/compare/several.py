"""Set several studies side by side: what each did, and how it differs from the first, the baseline."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import polars as pl

from ragrelay.analysis import gain, relay
from ragrelay.analysis.multiplicity import with_adjusted
from ragrelay.annexes.compare import paired, studies
from ragrelay.annexes.compare.compared import SideStudy
from ragrelay.annexes.compare.page import TEMPLATE, render_several
from ragrelay.annexes.compare.studies import (
    Finished,
    Pair,
    Pairs,
    before_and_after,
    matched,
    open_study,
    pairs_of,
    section_pairs,
    tests_of,
)
from ragrelay.base.errors import InputError
from ragrelay.base.io.atomic_files import write_spreadsheet, write_text
from ragrelay.base.io.parquet_files import fault, read_frame, read_whole
from ragrelay.base.vocabulary.columns import (
    CELL,
    CELL_COLUMNS,
    STUDY_PART,
    Columns,
    integer,
    number,
    read_table,
    schema_of,
    text,
)

P, CHANGE, GAIN, RELAY, ADJUSTED = "p", "change", "gain", "relay", "relay adjusted"
FAMILY = (*STUDY_PART, "references")
"""Tests of all studies that are corrected together."""
TABLE = {
    "study": text("name of the study; with its folder where several have the name"),
    **{name: text(f"{name} of the first study") for name in STUDY_PART},
    **CELL_COLUMNS,
    "retriever": text(f"name of the retriever in the first study; `{relay.ALL_RANKINGS}` of relay"),
    "quantity": text(f"`{P}`: mean P; `{CHANGE}`: mean change of P from the first study, over the same queries; "
                     f"`{GAIN}`: mean gain over zero-shot; `{RELAY}`, `{ADJUSTED}`: slope of relay"),
    "measure": text("the retrieval measure of relay"),
    "n": integer("queries", "queries"),
    "value": number("the mean or slope", "of P; of slopes per 1 of the measure"),
    "low": number("lower end of its 95% interval"),
    "high": number("upper end"),
    "verdict": text("the word for it in the study's own tables; for a change that of tests.csv"),
    "stands": paired.STANDS,
    "reason": text("why there is no test"),
    "p_verdict": number("p-value of the test of a change, as in tests.csv"),
}  # fmt: skip
COLUMNS = {
    **TABLE,
    "family": text("family of the adjusted p-values"),
    "family_size": integer("tests of the family, of all studies", "tests"),
    "p_holm": number("p_verdict by Holm's correction within the family"),
    "p_bh": number("p_verdict by Benjamini and Hochberg's correction within the family"),
}
"""Columns of studies.csv."""
SCHEMA = schema_of(TABLE)


def compare_several(
    before: str | Path,
    after: Sequence[str | Path],
    pairs: Pairs,
    tests: Sequence[str | Path],
    queries: Sequence[str | Path],
    page: str | Path,
    table: str | Path,
    template: str | Path = TEMPLATE,
) -> None:
    """Compare the studies in the folders ``after`` with the one in ``before``; write a page and its table.

    ``tests``, ``queries``: tables of each one's comparison with ``before``, which compare_studies has made, next to its
    page. ``pairs`` as there; a study may lack some names. Raises InputError for a study that is not whole, and for
    a name in ``pairs`` that no study has.
    """
    baseline, others = open_study(before), [open_study(folder) for folder in after]
    _check_pairs(others, pairs)
    labels = labelled([baseline, *others])
    parts = product(*(baseline.grid[section] for section in ("datasets", "generators", "scorers")))
    sections = [Pair(*((name, name) for name in names)) for names in parts]
    retrievers = [(name, name) for name in baseline.grid["retrievers"]]
    sides = [SideStudy(baseline, labels[0], sections, retrievers)]
    for place, study in enumerate(others):
        own = pairs_of(study, pairs)
        sides.append(
            SideStudy(
                study, labels[place + 1], section_pairs(baseline, study, own),
                matched(baseline, study, "retrievers", own), Path(tests[place]).parent.name,
                read_table(tests[place], paired.COLUMNS), read_table(queries[place], studies.COLUMNS),
            )
        )  # fmt: skip
    rows = pl.concat([_rows(each) for each in sides])
    rows = with_adjusted(rows, FAMILY, {"p_verdict": "p"}, cells=("study", "quantity", "retriever", "ordering"))
    write_spreadsheet(rows.select(*COLUMNS), table)
    write_text(render_several(sides, rows, Path(template)), page)


def labelled(all_studies: Sequence[Finished]) -> list[str]:
    """Return a label for each study: its name, with its folder if another has the same."""
    names = Counter(study.name for study in all_studies)
    return [study.name if names[study.name] == 1 else f"{study.name} ({study.folder})" for study in all_studies]


def _check_pairs(others: Sequence[Finished], pairs: Pairs) -> None:
    for section, named in pairs.items():
        known = sorted({name for study in others for name in study.grid[section]})
        for name in named.values():
            if name not in known:
                raise InputError(f"config key 'compare.pairs.{section}'", repr(name), f"one of the studies': {known}")


def _rows(side: SideStudy) -> pl.DataFrame:
    """Return TABLE of one study."""
    frames = [pl.DataFrame(schema=SCHEMA)]
    for pair in side.pairs:
        found = [_means(side, pair), _gains(side, pair), _relay(side, pair), _changes(side, pair)]
        frames += [_completed(frame, side.label, pair) for frame in found]
    return pl.concat(frames)


def _completed(frame: pl.DataFrame, label: str, pair: Pair) -> pl.DataFrame:
    of_section = zip(STUDY_PART, (pair.dataset, pair.generator, pair.scorer), strict=True)
    known = {"study": pl.lit(label), **{name: pl.lit(names[0]) for name, names in of_section}}
    frame = frame.with_columns(**known)
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in SCHEMA.items()
    )


def _in_baseline(side: SideStudy, frame: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows of retrievers that are compared, with their names in the baseline."""
    own = {name: baseline for baseline, name in side.retrievers}
    return frame.filter(pl.col("retriever").is_in(list(own))).with_columns(pl.col("retriever").replace(own))


def _means(side: SideStudy, pair: Pair) -> pl.DataFrame:
    path = f"{pair.dataset[-1]}/utility/{pair.scorer[-1]}/{pair.generator[-1]}.parquet"
    utility = _in_baseline(side, read_whole(side.study.folder / path, side.study.name, read_frame))
    means = utility.drop_nulls("p").group_by(CELL, maintain_order=True)
    return means.agg(quantity=pl.lit(P), n=pl.len(), value=pl.col("p").mean())


def _analysed(side: SideStudy, pair: Pair, name: str, columns: Columns) -> pl.DataFrame:
    """Read a table of the study's own analysis. Raises InputError for a missing or damaged one."""

    def read(path: Path) -> pl.DataFrame:
        try:
            return read_table(path, columns)
        except pl.exceptions.PolarsError as error:
            raise ValueError(fault(error)) from None

    folder = side.study.folder / pair.dataset[-1] / "analysis" / pair.scorer[-1] / pair.generator[-1]
    path = folder / f"{name}.csv"
    return read_whole(path, side.study.name, read)


def _gains(side: SideStudy, pair: Pair) -> pl.DataFrame:
    gains = _analysed(side, pair, "gain", gain.COLUMNS)
    found = _in_baseline(side, gains).select(
        *CELL, "n", "low", "high", "verdict", "stands", "reason", pl.col("mean_difference").alias("value")
    )
    return found.with_columns(quantity=pl.lit(GAIN))


def _relay(side: SideStudy, pair: Pair) -> pl.DataFrame:
    """Return both slopes over all rankings, with relay's answer as the verdict of both."""
    table = _analysed(side, pair, "relay", relay.COLUMNS)
    table = table.filter(retrievers=relay.ALL_RANKINGS).drop_nulls("k")
    where = ["ordering", "k", "references", "measure"]
    words = [
        {**row, "verdict": relay.answer(table, *row.values())}
        for row in table.select(where).unique(maintain_order=True).iter_rows(named=True)
    ]
    answers = pl.DataFrame(words, schema={**{name: table.schema[name] for name in where}, "verdict": pl.String})
    return table.select(*where, "adjusted", "n", "low", "high", "reason", value="slope").join(answers, on=where).select(
        pl.lit(relay.ALL_RANKINGS).alias("retriever"), *where, "n", "value", "low", "high", "verdict", "reason",
        pl.when("adjusted").then(pl.lit(ADJUSTED)).otherwise(pl.lit(RELAY)).alias("quantity"),
    )  # fmt: skip


def _changes(side: SideStudy, pair: Pair) -> pl.DataFrame:
    if side.tests is None:
        return pl.DataFrame()
    shown = {before_and_after(*names): names[0] for names in side.retrievers}
    return tests_of(pair, side.tests).filter(quantity=paired.DECIDES).select(
        *CELL, "n", "low", "high", "verdict", "stands", "reason", "p_verdict",
        pl.col("mean_difference").alias("value"), pl.lit(CHANGE).alias("quantity"),
    ).with_columns(pl.col("retriever").replace(shown))  # fmt: skip
