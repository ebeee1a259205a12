"""Scoring: references encoded once per dataset and scorer, each distinct answer once, all cells of a retriever in one job."""


rule encode_references:
    input:
        fetched=fetched_for_scorer,
        references=references_of,
    output:
        ENCODED,
    log:
        "<logs>/encode_references/{dataset}/{scorer}.log",
    benchmark:
        "<benchmarks>/encode_references/{dataset}/{scorer}.tsv"
    conda:
        "../envs/scoring.yaml"
    threads: cores("scoring", 2)
    resources:
        **machine("scoring"),
    params:
        scorer=scorer_of,
        cache_dir=STUDY.cache_dir,
        code=code_of("encode_references.py"),
    script:
        "../workflow/scripts/encode_references.py"


rule score_answers:
    input:
        answers=filled(ANSWERS, CELLS),
        prompts=prompts_of(PROMPTS, CONTEXTS),
        zeroshot=filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS),
        # The texts of the prompts' passages, for references that are near copies of one.
        contexts=[CANDIDATES],
        references=references_of,
        encoded=ENCODED,
    output:
        SCORES,
    log:
        "<logs>/score_answers/{dataset}/{scorer}/{generator}/{retriever}.log",
    benchmark:
        "<benchmarks>/score_answers/{dataset}/{scorer}/{generator}/{retriever}.tsv"
    conda:
        "../envs/scoring.yaml"
    threads: cores("scoring", 2)
    resources:
        **machine("scoring"),
    params:
        cells=CELLS,
        contexts=CONTEXTS,
        seeds=STUDY.grid["seeds"],
        scorer=scorer_of,
        grades=grades_of,
        near_copy=STUDY.config["near_copy"],
        cache_dir=STUDY.cache_dir,
        code=code_of("score_answers.py"),
    script:
        "../workflow/scripts/score_answers.py"


use rule score_answers as score_zeroshot_answers with:
    input:
        answers=filled(ZEROSHOT_ANSWERS, ZEROSHOT_CELLS),
        prompts=prompts_of(ZEROSHOT_PROMPTS, ZEROSHOT_CELLS[:1]),
        zeroshot=[],
        contexts=[],
        references=references_of,
        encoded=ENCODED,
    output:
        ZEROSHOT_SCORES,
    log:
        "<logs>/score_answers/{dataset}/{scorer}/{generator}/zeroshot.log",
    benchmark:
        "<benchmarks>/score_answers/{dataset}/{scorer}/{generator}/zeroshot.tsv"
    params:
        cells=ZEROSHOT_CELLS,
        contexts=ZEROSHOT_CELLS[:1],
        seeds=[],
        scorer=scorer_of,
        grades=grades_of,
        near_copy=STUDY.config["near_copy"],
        cache_dir=STUDY.cache_dir,
        code=code_of("score_answers.py"),
