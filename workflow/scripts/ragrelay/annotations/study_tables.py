"""The paper's Table 1 of a whole study: annotation sources over datasets, retrievers and generators, for one scorer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.annotations.correlation import SCHEMA
from ragrelay.annotations.leads import COLUMN, with_holds
from ragrelay.annotations.leads import SCHEMA as LEADS

KEY: dict[str, type[pl.DataType]] = {"dataset": pl.String, "generator": pl.String}
TABLE: dict[str, type[pl.DataType]] = {**KEY, "kind": pl.String, **SCHEMA, "best": pl.Boolean, "holds": pl.Boolean}
LEADS_TABLE: dict[str, type[pl.DataType]] = {
    **KEY, **LEADS, "family": pl.String, "family_size": pl.Int64, "p_holm": pl.Float64, "p_bh": pl.Float64,
    "holds": pl.Boolean,
}  # fmt: skip

Keys = Sequence[Mapping[str, str]]


def gather(
    correlations: Sequence[str | Path], leads: Sequence[str | Path], keys: Keys, kinds: Mapping[str, str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Columns TABLE and LEADS_TABLE, from files by dataset and generator (``keys``, parallel to both).

    ``kinds``: the kind of each source. ``best``: no row of the same column (dataset x generator x retriever x k x
    references x quantity x coefficient) has a higher value; ``holds``: and its lead over the best row of any other
    source holds, by Holm's correction over dataset x retriever (see leads.with_holds).
    """
    rows = pl.concat([pl.DataFrame(schema={**KEY, **SCHEMA}), *_read(correlations, keys, SCHEMA)])
    tested = with_holds(pl.concat([pl.DataFrame(schema={**KEY, **LEADS}), *_read(leads, keys, LEADS)]))
    column = [*KEY, *COLUMN]
    marked = rows.join(
        tested.filter("holds").select(*column, "source", "measure", "holds"),
        on=[*column, "source", "measure"],
        how="left",
        maintain_order="left",
    )
    table = marked.with_columns(
        pl.col("source").replace_strict(dict(kinds), default=None, return_dtype=pl.String).alias("kind"),
        (pl.col("value") == pl.col("value").max().over(column)).fill_null(False).alias("best"),
        pl.col("holds").fill_null(False),
    )
    return table.select(*TABLE), tested.select(*LEADS_TABLE)


def _read(paths: Sequence[str | Path], keys: Keys, schema: Mapping[str, type[pl.DataType]]) -> list[pl.DataFrame]:
    return [
        pl.read_csv(path, schema=dict(schema)).select(*(pl.lit(key[name]).alias(name) for name in KEY), "*")
        for path, key in zip(paths, keys, strict=True)
    ]
