"""Write a study's page."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from ragrelay.base.io.atomic_files import write_json, write_text
from ragrelay.base.io.keyed_files import keyed_files
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.page import page_and_facts
from ragrelay.report.questions import read_questions
from ragrelay.report.reading import read_study, with_files
from ragrelay.report.study import AnnexPart

with job_log(snakemake.log[0], snakemake.input):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    study = read_study(
        name=params.study,
        grid=params.grid,
        reference_retriever=params.reference_retriever,
        sections=with_files(params.sections, files),
        provenance=inputs.provenance,
        left_out=inputs.left_out,
        pooled=inputs.get("pooled"),
    )
    parts = [
        AnnexPart(part, shown["module"], shown["template"], shown["link"])
        for shown in params.annexes
        if (part := import_module(shown["module"]).read(files, inputs, shown["given"]))
    ]
    study = replace(
        study,
        notices=params.notices,
        judges=params.judges,
        prompts=params.prompts,
        parts=parts,
        questions=read_questions(params.questions, inputs.asked),
    )
    page = snakemake.output[0]
    html, facts = page_and_facts(study, Path(inputs.template), Path(page))
    write_json(facts, snakemake.output.facts)
    write_text(html, page)
