"""Declare the config key for published tables."""

from typing import Literal

from pydantic import Field

from ragrelay.base.settings import File, Name, Settings


class PublishedSettings(Settings):
    """CSV files with published tables; `snakemake reproduce` compares the study's tables with these files."""

    utility: File | None = Field(
        None,
        description="Mean utility per cell: columns dataset, retriever, ordering, k, references, mean_utility, and "
        "optionally differs_from_rel (†), differs_from_reversed (‡, in the ascending row) and mean_p0.",
    )
    labels: File | None = Field(
        None,
        description="Correlations between annotation sources' labels and P: columns retriever, dataset, annotation, "
        "measure, coefficient (tau or rho), value.",
    )
    label_cost: File | None = Field(
        None, description="Cost of the generator's labels: columns dataset, end_to_end_seconds, erag_seconds."
    )
    claims: File | None = Field(None, description="Mean ACU: columns model, dataset, mean_acu.")
    names: dict[
        Literal["datasets", "retrievers", "references", "annotations", "generators", "claims"], dict[str, Name]
    ] = Field(
        {},
        description="For each configuration section, published names mapped to this study's names where they differ, "
        "e.g. `{retrievers: {rel: ideal}}`.",
    )


class PublishedKeys(Settings):
    """The config key for published tables with which the study is compared."""

    published: PublishedSettings | None = None
