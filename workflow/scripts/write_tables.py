"""Write the tables of a study as CSV, Parquet and LaTeX."""

from pathlib import Path

from ragrelay.display.outputs import available
from ragrelay.jobs.scripts import job_log
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.reading import read_study
from ragrelay.report.table_files import write_tables

with job_log(snakemake.log[0]):
    params = snakemake.params
    study = read_study(
        name=params.study,
        grid=params.grid,
        reference_retriever=params.reference_retriever,
        sections=params.sections,
        retrieval_keys=params.retrieval_keys,
        files={name: snakemake.input[name] for name in params.sources},
        retrieval=snakemake.input.retrieval,
        provenance=snakemake.input.provenance,
        left_out=snakemake.input.left_out,
    )
    tables = [output for output in available(OUTPUTS, study.sections[0].tables) if output.kind == "table"]
    write_tables(study, tables, Path(snakemake.output[0]).parent)
