"""Compare all answers of a generator with their references, into the score store, with one model. Writes a receipt."""

from ragrelay.io.atomic_files import write_json
from ragrelay.io.keyed_files import keyed_files
from ragrelay.jobs.scripts import job_log
from ragrelay.scoring.answer_cells import AnswerCells
from ragrelay.scoring.query_scores import compare

with job_log(snakemake.log[0], snakemake.input, job=f"{snakemake.rule} {' '.join(snakemake.wildcards)}"):
    inputs, params = snakemake.input, snakemake.params
    files = keyed_files(params.patterns, inputs)
    retrievers = list(dict.fromkeys(key["retriever"] for key, _ in files["answers"].keyed))
    zeroshot = files["zeroshot"].by("ordering", "k", "seed")
    cells = {"zeroshot": lambda qids: AnswerCells(zeroshot, {}, qids)}
    for retriever in retrievers:
        answers = files["answers"].matching(retriever=retriever).by("ordering", "k", "seed")
        prompts = files["prompts"].matching(retriever=retriever).by("ordering", "k")
        cells[retriever] = lambda qids, a=answers, p=prompts: AnswerCells(a, p, qids)
    receipt = compare(cells, inputs.references, params.scorer, params.cache_dir, snakemake.threads)
    write_json(receipt, snakemake.output[0])
