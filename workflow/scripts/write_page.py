"""Write the page of a study."""

from pathlib import Path

from ragrelay.annotations.study import TABLES, read_annotations
from ragrelay.claims.study import read_claims_study
from ragrelay.io.atomic_files import write_text
from ragrelay.jobs.scripts import job_log
from ragrelay.report.page import render_page
from ragrelay.report.reading import read_study

with job_log(snakemake.log[0]):
    given, params = snakemake.input, snakemake.params
    study = read_study(
        name=params.study,
        grid=params.grid,
        reference_retriever=params.reference_retriever,
        sections=params.sections,
        retrieval_keys=params.retrieval_keys,
        files={name: given[name] for name in params.sources},
        retrieval=given.retrieval,
        provenance=given.provenance,
        left_out=given.left_out,
        explorer=given.explorer,
        notices=params.notices,
        annotations=read_annotations(params.annotated, {name: given[name] for name in TABLES}, given.label_cost),
        claims_study=read_claims_study(given, params.scored, params.claims),
    )
    page = snakemake.output[0]
    write_text(render_page(study, Path(given.template), Path(page)), page)
