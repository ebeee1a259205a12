"""The page of a claims study, and its figures as SVG, PNG and PDF."""

from pathlib import Path

from ragrelay.claims.outputs import OUTPUTS
from ragrelay.claims.page import write_page
from ragrelay.claims.study import read_claims_study
from ragrelay.jobs.scripts import job_log
from ragrelay.report.figure_files import draw_figures

with job_log(snakemake.log[0]):
    page = Path(snakemake.output.page)
    study = read_claims_study(snakemake.input, snakemake.params.scored, snakemake.params.claims)
    draw_figures(study, [output for output in OUTPUTS if output.kind == "figure"], page.parent / "figures")
    params = snakemake.params
    write_page(params.study, study, page, snakemake.input.template, params.notices)
