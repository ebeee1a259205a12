"""Draw the figures for one dataset x generator x scorer as SVG, PNG and PDF."""

from pathlib import Path

from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.display.outputs import available, file_name
from ragrelay.report.figure_files import draw_figures
from ragrelay.report.outputs import OUTPUTS
from ragrelay.report.reading import read_section, with_files

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    [files] = with_files([params.section], keyed_files(params.patterns, snakemake.input))
    section = read_section(files, grid=params.grid, reference_retriever=None)
    known = available(OUTPUTS, section.tables)
    wanted = {Path(path).name for path in snakemake.output}
    keys = dict(snakemake.wildcards.items())
    figures = [output for output in known if output.kind == "figure" and output.of == params.of and output.endings
               and file_name(output, output.endings[0], keys) in wanted]  # fmt: skip
    draw_figures(section, figures, Path(snakemake.output[0]).parent, keys)
