"""Write the page of a study, and its tables as CSV, Parquet and LaTeX."""

from ragrelay.jobs import job_log
from ragrelay.report.reading import read_study
from ragrelay.report.write import TABLES, write_report

with job_log(snakemake.log[0]):
    study = read_study(
        name=snakemake.params.study,
        grid=snakemake.params.grid,
        reference_retriever=snakemake.params.reference_retriever,
        sections=snakemake.params.sections,
        retrieval_keys=snakemake.params.retrieval_keys,
        utility=snakemake.input.utility,
        correlation=snakemake.input.correlation,
        significance=snakemake.input.significance,
        differences=snakemake.input.differences,
        variance=snakemake.input.variance,
        per_query=snakemake.input.per_query,
        retrieval=snakemake.input.retrieval,
        provenance=snakemake.input.provenance,
        left_out=snakemake.input.left_out,
    )
    write_report(
        study,
        page=snakemake.output.page,
        files={name: snakemake.output.get(name, []) for name in TABLES},
        left_out=snakemake.output.get("left_out"),
        template=snakemake.input.template[0],
    )
