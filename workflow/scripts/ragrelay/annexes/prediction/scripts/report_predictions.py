"""Write the prediction page, and its figures as SVG, PNG and PDF."""

from pathlib import Path

from ragrelay.annexes.prediction.outputs import OUTPUTS
from ragrelay.annexes.prediction.page import report_predictions
from ragrelay.annexes.prediction.study import read_predicted
from ragrelay.base.io.coverage import coverage_warnings
from ragrelay.base.io.json_values import read_json
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.display.outputs import Figure
from ragrelay.report.figure_files import draw_figures

with job_log(snakemake.log[0], snakemake.input):
    params = snakemake.params
    page = Path(snakemake.output.page)
    files = keyed_files(params.patterns, snakemake.input)
    studies = [read_predicted(files, section, params.rankings) for section in params.sections]
    for study in studies:
        draw_figures(study, [output for output in OUTPUTS if isinstance(output, Figure)], page.parent / "figures")
    little = [
        {"dataset": key["dataset"], "detail": count["of"], **count}
        for key, path in files["quality_left_out"].keyed
        for count in read_json(path)
    ]
    notices = [*params.notices, *coverage_warnings(little)]
    report_predictions(params.study, studies, page, snakemake.input.template, notices)
