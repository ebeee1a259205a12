"""Write a preview of an unfinished study from its prompts and the stores. The preview goes outside the results."""

import tempfile
from datetime import datetime
from pathlib import Path

from ragrelay.base.display.terminal import say
from ragrelay.base.io.atomic_files import write_text
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.execution.plan.preview import Answered, Previewed, preview_answers
from ragrelay.execution.plan.preview_page import preview_lines, render_preview

params = snakemake.params
with job_log(snakemake.log[0]), tempfile.TemporaryDirectory(prefix="ragrelay-preview-") as folder:
    study = Previewed(**params.previewed, threads=snakemake.threads)
    previews = [
        preview_answers(Answered(**part), study, Path(folder) / str(place)) for place, part in enumerate(params.parts)
    ]
    lines, page = preview_lines(previews), Path(params.page)
    if any(preview.complete for preview in previews):
        made = datetime.now().astimezone()
        write_text(render_preview(params.study, previews, made, Path(params.results), page, params.clustered), page)
        lines.append(f"Preview, not the result: {page}")
    say(*lines)
