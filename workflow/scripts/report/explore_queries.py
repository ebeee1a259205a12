"""Write the query explorer's data for one dataset x generator x scorer, with one script per query."""

from ragrelay.base.io.keyed_files import keyed_files, of_pattern
from ragrelay.execution.jobs.scripts import job_log
from ragrelay.report.query_explorer.reading import ExplorerFiles
from ragrelay.report.query_explorer.write import explore_queries

with job_log(snakemake.log[0], snakemake.input):
    inputs = snakemake.input
    patterns = snakemake.params.patterns
    files = keyed_files(patterns, inputs)
    sources = ExplorerFiles(
        queries=inputs.queries,
        references=inputs.references,
        prompts=files["prompts"],
        answers=of_pattern(patterns["answers"], [*inputs.answers, *inputs.zeroshot]),
        scores=files["scores"].by("retriever"),
        passages=files["contexts"].by("retriever"),
        retrieval=files["retrieval"].by("retriever"),
        utility=inputs.utility,
        effects=inputs.effects,
        blocks=inputs.blocks,
    )
    explore_queries(sources, snakemake.output[0])
