"""Declare the configuration keys for annotation sources and for trust in the sources."""

from typing import Annotated, Any, Literal

from pydantic import Field

from ragrelay.annexes.labels.source import ANNOTATION_KINDS
from ragrelay.base.settings import Name, Settings, Unique


class AgreementSettings(Settings):
    """Settings for comparing annotation sources with human labels, to decide how far to trust the sources."""

    people: Name | None = Field(
        None,
        description="Name of the source of human labels in `grid.annotations`, of kind `qrels` or `file`; by default, "
        "the first source of kind `qrels`.",
    )
    random_sample: bool = Field(
        False,
        description="Set this to true if the queries with human labels are a random sample of all queries. "
        "Prediction-powered intervals require this and are otherwise left out. Queries selected according to the "
        "results of retrievers or judges are not a random sample.",
    )
    least_kappa: float = Field(
        0.4,
        ge=0,
        le=1,
        description="Cohen's κ (relevant or not) below which the page warns that results depend on an unreliable "
        "source's labels.",
    )


class LabelKeys(Settings):
    """Annotation sources and their settings."""

    annotations: dict[Name, Annotated[dict[Any, Any], ANNOTATION_KINDS]] = Field(
        {},
        description="Catalogue of annotation sources. An annotation source labels passages by their relevance to a "
        "query.",
    )
    annotation_depth: int = Field(
        10,
        ge=2,
        description="Number of top passages to label in each ranking. The generator gets each passage separately.",
    )
    agreement: AgreementSettings = Field({}, validate_default=True)


class LabelGridKeys(Settings):
    """The annotation sources that a grid compares."""

    annotations: Unique[Name] = Field(
        [],
        description="Names of annotation sources in the catalogue `annotations`, whose relevance labels are "
        "compared. By default, no sources are compared. Correlations are computed for the ordering "
        "`descending`, at each of the grid's k from 2 to `annotation_depth`.",
    )
    annotation_measures: Unique[Literal["P", "Success", "R", "AP", "RR", "nDCG"]] = Field(
        ["P", "Success", "nDCG"],
        min_length=1,
        description="Measures that turn a query's labels into a number: precision (`P`, the mean label), hit ratio "
        "(`Success`, the highest label), recall (`R`), MAP (`AP`), MRR (`RR`) or `nDCG`. Only `P`, `Success` and "
        "`nDCG` support labels between 0 and 1.",
    )
