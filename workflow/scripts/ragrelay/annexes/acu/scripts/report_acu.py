"""Write the page of a claims study, and its figures as SVG, PNG and PDF."""

from importlib import import_module
from pathlib import Path

from ragrelay.annexes.acu.outputs import OUTPUTS
from ragrelay.annexes.acu.page import report_acu
from ragrelay.annexes.acu.study import read_claims_study
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.display.outputs import Figure
from ragrelay.report.figure_files import draw_figures

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    page = Path(snakemake.output.page)
    study = read_claims_study(keyed_files(params.patterns, snakemake.input))
    assert study is not None, "this job has claims"
    draw_figures(study, [output for output in OUTPUTS if isinstance(output, Figure)], page.parent / "figures")
    modules = {template: import_module(name) for template, name in params.beside.items()}
    beside = {template: (module, module.read({}, snakemake.input, None)) for template, module in modules.items()}
    report_acu(params.study, study, page, snakemake.input.template, params.notices, beside)
