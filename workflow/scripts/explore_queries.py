"""The query explorer's data of one dataset x generator x scorer, a script per query."""

from ragrelay.explorer.reading import Sources
from ragrelay.explorer.write import write_explorer
from ragrelay.jobs.scripts import job_log

with job_log(snakemake.log[0]):
    given, params = snakemake.input, snakemake.params
    sources = Sources(
        queries=given.queries,
        references=given.references,
        prompts=given.prompts,
        contexts=params.contexts,
        answers=given.answers,
        cells=params.cells,
        scores=dict(zip(["zeroshot", *params.retrievers], given.scores, strict=True)),
        passages=dict(zip(params.retrievers, given.contexts, strict=True)),
        retrieval=dict(zip(params.retrievers, given.retrieval, strict=True)),
        utility=given.utility,
    )
    write_explorer(sources, snakemake.output[0])
