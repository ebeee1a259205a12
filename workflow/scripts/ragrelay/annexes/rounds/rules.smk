"""Search rounds: each query comes from the previous answer; in each round, other retrievers search from the same state.

Round 1 is part of the grid, so jobs read the grid's files for it.
Input: queries, qrels, contexts, prompts, answers, utility, measures, references, clusters; indexes.
Output: checked, planned_prompts; queries, contexts, prompts, receipt, answers, left_out, scores of each later round, and
the tables and figures that ragrelay/annexes/rounds/outputs.py lists; answers and scores in cache_dir.
"""

from ragrelay.annexes.rounds import files as round_files
from ragrelay.annexes.rounds import rules as round_rules
from ragrelay.annexes.rounds.queries import NEXT

rounds = round_rules.of_study(study)
ROUND = {
    "round": any_of(rounds.later),
    "retriever": any_of(rounds.retrievers),
    "generator": any_of(study.asked_generators()),
}


rule check_rounds:
    """Check that the passages of all rounds together fit into the generator's window."""
    input:
        fetched=downloads.receipts_of("generator"),
        queries=files.queries,
        contexts=rounds.of_retrievers(files.contexts),
    output:
        round_files.checked,
    log:
        "<logs>/check_rounds/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
    priority: 10
    conda:
        env("generation")
    params:
        generator=of_job(generation.of_jobs),
        template=lambda wildcards: generation.template_parts(generation.template_of(wildcards.generator)),
        passages=rounds.settings and rounds.settings.k * rounds.settings.rounds,
        code=code_of("rounds/check_rounds.py"),
    script:
        "scripts/check_rounds.py"


rule estimate_round_prompts:
    """Build stand-in prompts for a retriever's later rounds, so that the plan can estimate their cost."""
    input:
        queries=files.queries,
        contexts=files.contexts,
    output:
        round_files.planned_prompts.each({"round": number} for number in rounds.later),
    log:
        "<logs>/estimate_round_prompts/{dataset}/{template}/{retriever}.log",
    wildcard_constraints:
        retriever=any_of(rounds.retrievers),
    conda:
        env("analysis")
    params:
        template=of_job(generation.template_parts),
        k=rounds.settings and rounds.settings.k,
        first=2,
        seeds=study.grid.seeds,
        code=code_of("rounds/estimate_round_prompts.py"),
    script:
        "scripts/estimate_round_prompts.py"


rule write_round_queries:
    """Build a round's queries from the reference retriever's answers in the previous round."""
    input:
        unpack(rounds.before),
        queries=files.queries,
    output:
        round_files.queries,
    log:
        "<logs>/write_round_queries/{dataset}/{generator}/round{round}.log",
    wildcard_constraints:
        **{name: ROUND[name] for name in ("round", "generator")},
    priority: 10
    conda:
        env("analysis")
    params:
        next_query=rounds.settings and rounds.settings.next_query,
        seeds=study.grid.seeds,
        code=code_of("rounds/write_round_queries.py"),
    script:
        "scripts/write_round_queries.py"


rule search_round:
    """Search with a round's queries, and build the round's prompts."""
    input:
        unpack(rounds.search_inputs),
        dataset_files=of_job(collection.files),
        questions=files.queries,
        qrels=files.qrels,
        queries=round_files.queries,
    output:
        contexts=round_files.contexts,
        prompts=round_files.prompts,
    log:
        "<logs>/search_round/{dataset}/{generator}/round{round}_{retriever}.log",
    wildcard_constraints:
        **ROUND,
    priority: 10
    conda:
        env("retrieval")
    threads: cores("retrieval", of_job(lambda retriever: retrieval.kind(retriever).threads))
    resources:
        **machine("retrieval"),
    params:
        dataset=of_job(collection.of_jobs),
        definitions=of_job(rounds.definitions),
        indexed=of_job(rounds.indexed),
        patterns={"indexes": files.index},
        drop_identical_ids=of_job(collection.drop_identical_ids),
        listing=rounds.listing,
        lowest=of_job(collection.lowest_grade),
        near_copy=study.settings.near_copy,
        template=lambda wildcards: generation.template_parts(generation.template_of(wildcards.generator)),
        cache_dir=study.cache_dir,
        code=code_of("rounds/search_round.py", of_job(rounds.search_modules), of_job(collection.module)),
    script:
        "scripts/search_round.py"


rule ask_next_query:
    """Build the prompts that ask a generator for the next round's queries."""
    input:
        dataset_files=of_job(collection.files),
        questions=files.queries,
        prompts=rounds.shown_in,
    output:
        round_files.prompts.at(retriever=NEXT),
    log:
        "<logs>/ask_next_query/{dataset}/{generator}/round{round}.log",
    wildcard_constraints:
        round=any_of(rounds.asking),
        generator=any_of(study.asked_generators()),
    priority: 10
    conda:
        env("retrieval")
    params:
        dataset=of_job(collection.of_jobs),
        template=generation.template_parts(rounds.settings.query_prompt) if rounds.asking else {},
        seeds=study.grid.seeds,
        code=code_of("rounds/ask_next_query.py", of_job(collection.module)),
    script:
        "scripts/ask_next_query.py"


use rule estimate_round_prompts as estimate_next_queries with:
    """Build stand-ins for the prompts that ask for the next queries, so that the plan can estimate their cost."""
    input:
        queries=files.queries,
        contexts=rounds.of_retrievers(files.contexts)[:1],
    output:
        round_files.planned_prompts.at(retriever=NEXT).each({"round": number} for number in rounds.asking),
    log:
        "<logs>/estimate_next_queries/{dataset}/{template}.log",
    params:
        template=generation.template_parts(rounds.settings.query_prompt) if rounds.asking else {},
        first=1,


ROUND_ANSWERED = {
    "fetched": downloads.receipts_of("generator"),
    "rounds": rounds.requests,
    "queries": files.queries,
}


use rule count_answers as count_round_answers with:
    """Count a round's answers that are missing from the store."""
    input:
        **ROUND_ANSWERED,
    output:
        missing=temp(count_file(round_files.receipt)),
    log:
        "<logs>/count_round_answers/{dataset}/{generator}/round{round}_shard{shard}.log",
    wildcard_constraints:
        round=any_of(rounds.numbers),
        generator=ROUND["generator"],
    params:
        leaves_out=True,


use rule generate_answers as generate_round_answers with:
    """Generate and store the answers to a round's prompts."""
    input:
        **ROUND_ANSWERED,
        missing=count_of(round_files.receipt),
    output:
        receipt=round_files.receipt,
    log:
        "<logs>/generate_round_answers/{dataset}/{generator}/round{round}_shard{shard}.log",
    benchmark:
        "<benchmarks>/generate_round_answers/{dataset}/{generator}/round{round}_shard{shard}.tsv"
    wildcard_constraints:
        round=any_of(rounds.numbers),
        generator=ROUND["generator"],
    params:
        leaves_out=True,


rule view_round_answers:
    """Write a round's answers from the store to a file."""
    input:
        prompts=round_files.prompts,
        receipts=following(generation.receipts(round_files.receipt)),
    output:
        answers=round_files.answers,
        left_out=round_files.left_out,
    log:
        "<logs>/view_round_answers/{dataset}/{generator}/round{round}_{retriever}.log",
    wildcard_constraints:
        round=any_of(rounds.numbers),
        retriever=any_of([*rounds.retrievers, NEXT]),
        generator=ROUND["generator"],
    conda:
        env("analysis")
    params:
        fingerprint=of_job(generation.fingerprint),
        thinking=of_job(generation.thinking),
        cache_dir=study.cache_dir,
        code=code_of("rounds/view_round_answers.py"),
    script:
        "scripts/view_round_answers.py"


rule count_round_scores:
    """Count a round's answers whose scores are missing from the store."""
    input:
        **scoring.reference_files,
        table=round_files.answers,
    output:
        missing=temp(count_file(round_files.scores)),
    log:
        "<logs>/count_round_scores/{dataset}/{scorer}/{generator}/round{round}_{retriever}.log",
    wildcard_constraints:
        **ROUND,
        scorer=any_of(scoring.computed),
    conda:
        env("scoring")
    params:
        scorer=of_job(scoring.of_jobs),
        cache_dir=study.cache_dir,
    script:
        RULES.join("../workflow/scripts/scoring/fill_scores.py")


rule score_round_answers:
    """Score a round's answers."""
    input:
        **scoring.reference_files,
        answers=round_files.answers,
        missing=count_if_gpu("scoring", round_files.scores),
    output:
        round_files.scores,
    log:
        "<logs>/score_round_answers/{dataset}/{scorer}/{generator}/round{round}_{retriever}.log",
    benchmark:
        "<benchmarks>/score_round_answers/{dataset}/{scorer}/{generator}/round{round}_{retriever}.tsv"
    wildcard_constraints:
        **ROUND,
        scorer=any_of(scoring.computed),
    conda:
        env("scoring")
    threads: cores("scoring")
    resources:
        **with_work(machine("scoring")),
    params:
        **scoring.params,
        code=code_of("rounds/score_round_answers.py", of_job(scoring.module)),
    script:
        "scripts/score_round_answers.py"


rule analyse_rounds:
    """Estimate relay at each step of a search, and summarise P, the ranked lists and the tokens in each round."""
    input:
        utility=files.utility,
        measures=rounds.of_retrievers(files.measures),
        first_prompts=rounds.first(files.prompts) if rounds.settings else [],
        first_answers=rounds.first_answers if rounds.settings else [],
        contexts=rounds.all_of(round_files.contexts),
        answers=rounds.all_of(round_files.answers),
        scores=rounds.all_of(round_files.scores),
        clusters=of_job(collection.clusters),
    output:
        **files.made_by("analyse_rounds"),
    log:
        "<logs>/analyse_rounds/{dataset}/{scorer}/{generator}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
        scorer=any_of(scoring.computed),
    conda:
        env("analysis")
    params:
        patterns={
            "measures": files.measures,
            "first_prompts": files.prompts,
            "first_answers": files.answers,
            "contexts": round_files.contexts,
            "answers": round_files.answers,
            "scores": round_files.scores,
        },
        retrievers=rounds.retrievers,
        listing=rounds.listing,
        seeds=study.grid.seeds,
        tested=not rounds.asking,
        code=code_of("rounds/analyse_rounds.py"),
    script:
        "scripts/analyse_rounds.py"


rule explore_rounds:
    """Write each query's rounds after the first, for the query explorer."""
    input:
        dataset_files=of_job(collection.files),
        qrels=files.qrels,
        queries=round_files.queries.each({"round": number} for number in rounds.later),
        contexts=rounds.all_of(round_files.contexts),
        answers=rounds.all_of(round_files.answers),
        scores=rounds.all_of(round_files.scores),
    output:
        round_files.explored,
    log:
        "<logs>/explore_rounds/{dataset}/{scorer}/{generator}.log",
    wildcard_constraints:
        generator=any_of(study.asked_generators()),
        scorer=any_of(scoring.computed),
    conda:
        env("retrieval")
    params:
        dataset=of_job(collection.of_jobs),
        patterns={name: getattr(round_files, name) for name in ("queries", "contexts", "answers", "scores")},
        retrievers=rounds.retrievers,
        listing=rounds.listing,
        code=code_of("rounds/explore_rounds.py", of_job(collection.module)),
    script:
        "scripts/explore_rounds.py"


rule draw_rounds:
    """Draw P for each round."""
    input:
        **files.made_by("analyse_rounds"),
    output:
        reported.paths(reported.outputs("rounds", "figure")),
    log:
        "<logs>/draw_rounds/{dataset}_{generator}_{scorer}.log",
    conda:
        env("report")
    params:
        report=workflow.pathvars.apply("<results>/report"),
        shown={name: value for name, value in rounds.shown.items() if name in ("reference", "retrievers")},
        code=code_of("rounds/draw_rounds.py", *reported.modules("rounds")),
    script:
        "scripts/draw_rounds.py"
