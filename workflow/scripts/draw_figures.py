"""Draw the figures of one dataset x generator x scorer as SVG, PNG and PDF."""

from pathlib import Path

from ragrelay.display.outputs import available
from ragrelay.jobs.scripts import job_log
from ragrelay.report.figure_files import draw_figures
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.reading import read_section

with job_log(snakemake.log[0]):
    params = snakemake.params
    section = read_section(
        section=params.section,
        grid=params.grid,
        reference_retriever=None,
        files={name: snakemake.input[name] for name in params.sources},
        retrieval=snakemake.input.retrieval,
        retrieval_keys=params.retrieval_keys,
    )
    figures = [output for output in available(OUTPUTS, section.tables) if output.kind == "figure"]
    draw_figures(section, figures, Path(snakemake.output[0]).parent)
