"""Correct p-values for multiple testing within families of tests."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from ragrelay.base.vocabulary.orderings import distinct_orderings

Array = npt.NDArray[np.float64]

ALPHA = 0.05


def holm(p_values: Array) -> Array:
    """Adjust p-values (n,) with Holm's step-down method (1979).

    statsmodels' ``multipletests`` gives the same results, but runs garbage collection on every call, which takes a
    tenth of a second in a process as large as an analysis.
    """
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(adjusted, 1.0)


def benjamini_hochberg(p_values: Array) -> Array:
    """Adjust p-values (n,) with the step-up method of Benjamini and Hochberg (1995), using scipy."""
    from scipy.stats import false_discovery_control  # not at the top, because dry runs don't need scipy

    adjusted: Array = false_discovery_control(p_values, method="bh")
    return adjusted


METHODS = {"holm": holm, "bh": benjamini_hochberg}


def with_adjusted(
    tests: pl.DataFrame, family: Sequence[str], p_values: Mapping[str, str], cells: Sequence[str] = ()
) -> pl.DataFrame:
    """Add family, family_size, and p-values adjusted by the Holm and Benjamini-Hochberg methods.

    ``p_values`` maps each p-value column to a prefix; the adjusted columns are called <prefix>_holm and <prefix>_bh.
    Tests with equal values in the columns ``family`` form a family. The family's size is the number of tests with a
    value in the first p-value column. The Holm method bounds the probability of any false finding in the family; the
    Benjamini-Hochberg method bounds the expected share of false findings. Adjusted p-values are null where there is no
    test. Tests with identical prompts (see ``first_alike``) count as a single test and get equal adjusted p-values.
    """
    tests = tests.with_columns(family=pl.concat_str(*family, separator=" "))
    families = tests["family"].to_numpy()
    first = first_alike(tests, [*family, *cells]) if cells else np.arange(tests.height)
    counts = first == np.arange(tests.height)
    added = {
        f"{prefix}_{name}": np.full(tests.height, np.nan) for prefix in p_values.values() for name in METHODS
    }  # fmt: skip
    sizes = np.zeros(tests.height, dtype=np.int64)
    for column, prefix in p_values.items():
        values = tests[column].cast(pl.Float64).to_numpy()
        for family_name in tests["family"].unique():
            tested = (families == family_name) & np.isfinite(values) & counts
            if column == next(iter(p_values)):
                sizes[families == family_name] = tested.sum()
            for name, method in METHODS.items() if tested.any() else ():
                added[f"{prefix}_{name}"][tested] = method(values[tested])
    return tests.with_columns(
        *(pl.Series(name, values[first]).fill_nan(None) for name, values in added.items()),
        pl.Series("family_size", sizes),
    )


def first_alike(tests: pl.DataFrame, cells: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return, for each test, the index of the first test with identical prompts (rows,).

    Tests with identical prompts have equal values in the columns ``cells`` and the same k. Orderings (columns whose
    names end with ``ordering``) are equal if they arrange k passages in the same way, as all do at k = 1.
    """
    contexts = dict.fromkeys(zip(tests["ordering"], tests["k"], strict=True))
    for name in cells:
        if name.endswith("_ordering"):
            contexts |= dict.fromkeys(zip(tests[name], tests["k"], strict=True))
    alike = distinct_orderings(contexts)
    columns = [
        [alike[context] for context in zip(tests[name], tests["k"], strict=True)]
        if name.endswith("ordering")
        else tests[name]
        for name in cells
    ]
    places: dict[tuple[object, ...], int] = {}
    return np.array(
        [places.setdefault(key, place) for place, key in enumerate(zip(tests["k"], *columns, strict=True))],
        dtype=np.intp,
    )


def distinct(tests: pl.DataFrame, cells: Sequence[str]) -> pl.DataFrame:
    """Return ``tests`` without the rows that have the same prompts as an earlier row (see ``first_alike``)."""
    return tests.filter(pl.Series(first_alike(tests, cells) == np.arange(tests.height), dtype=pl.Boolean))
