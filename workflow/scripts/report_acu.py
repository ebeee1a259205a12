"""The page of a claims study, and its figures as SVG, PNG and PDF."""

from ragrelay.claims.figures import FIGURES
from ragrelay.claims.page import draw_figures, write_page
from ragrelay.claims.study import read_claims_study
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    study = read_claims_study(snakemake.input, snakemake.params.scored, snakemake.params.claims)
    draw_figures(study, {name: snakemake.output[name] for name in FIGURES})
    write_page(snakemake.params.study, study, snakemake.output.page, snakemake.input.template)
