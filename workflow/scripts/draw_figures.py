"""Draw the figures of one dataset x generator x scorer as SVG, PNG and PDF."""

from ragrelay.jobs.scripts import job_log
from ragrelay.report.draw import FIGURES, draw_section
from ragrelay.report.reading import read_section
from ragrelay.report.study import FIGURE_FILES

with job_log(snakemake.log[0]):
    section = read_section(
        section=snakemake.params.section,
        grid=snakemake.params.grid,
        files={name: snakemake.input[name] for name in FIGURE_FILES},
        retrieval=snakemake.input.retrieval,
        retrieval_keys=snakemake.params.retrieval_keys,
    )
    draw_section(section, {name: snakemake.output[name] for name in FIGURES})
