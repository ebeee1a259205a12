"""Write the page of a study, and its tables as CSV, Parquet and LaTeX."""

from ragrelay.claims.study import read_claims_study
from ragrelay.jobs.scripts import job_log
from ragrelay.report.reading import read_annotations, read_study
from ragrelay.report.study import OPTIONAL_FILES, SECTION_FILES
from ragrelay.report.write import TABLES, write_report

with job_log(snakemake.log[0]):
    study = read_study(
        name=snakemake.params.study,
        grid=snakemake.params.grid,
        reference_retriever=snakemake.params.reference_retriever,
        sections=snakemake.params.sections,
        retrieval_keys=snakemake.params.retrieval_keys,
        files={name: snakemake.input[name] for name in (*SECTION_FILES, *OPTIONAL_FILES) if snakemake.input.get(name)},
        retrieval=snakemake.input.retrieval,
        provenance=snakemake.input.provenance,
        left_out=snakemake.input.left_out,
        explorer=snakemake.input.explorer,
        annotations=read_annotations(
            snakemake.params.annotated,
            snakemake.input.get("annotations", []),
            snakemake.input.get("label_cost", []),
            snakemake.params.labelled,
        ),
        claims_study=read_claims_study(snakemake.input, snakemake.params.scored, snakemake.params.claims),
    )
    write_report(
        study,
        page=snakemake.output.page,
        files={name: snakemake.output.get(name, []) for name in TABLES},
        left_out=snakemake.output.get("left_out"),
        template=snakemake.input.template,
    )
