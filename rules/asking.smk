"""Questions to models: for each class in ragrelay/questions/kinds, one rule asks and one rule reads the replies.

A job that asks uses one engine for all parts of a question, such as all retrievers' answers; a job that reads writes
the table for one part. The receipt is ancient(), so that asking about one part doesn't rerun the jobs that read others.

This file also analyses the checks of scorers' judges for position and length bias.
Input: the files that the question's class names; judge_checks_scores.
Output: receipts, asked rows, tables; texts and log-probabilities in cache_dir.
"""

for question in questions:

    rule:
        name:
            question.count_rule
        input:
            unpack(question.ask_inputs),
        output:
            missing=temp(count_file(question.receipt)),
        log:
            f"<logs>/{question.count_rule}/{question.ask_key}.log",
        wildcard_constraints:
            **question.ask_constraints,
        conda:
            env("generation")
        params:
            **question.ask_params,
        script:
            "../workflow/scripts/questions/count_requests.py"

    rule:
        name:
            question.question.asks
        input:
            unpack(question.ask_inputs),
            missing=count_of(question.receipt, question.of_asked(lambda name: name)),
        output:
            receipt=question.receipt,
        log:
            f"<logs>/{question.question.asks}/{question.ask_key}.log",
        benchmark:
            f"<benchmarks>/{question.question.asks}/{question.ask_key}.tsv"
        wildcard_constraints:
            **question.ask_constraints,
        conda:
            env("generation")
        threads: question.of_asked(generation.threads)
        resources:
            **with_work({**machine("engine"), "gpu": question.of_asked(generation.gpus)}),
        params:
            **question.ask_params,
            code=question.ask_code,
        script:
            "../workflow/scripts/questions/ask_question.py"

    rule:
        name:
            question.question.reads
        input:
            unpack(question.read_inputs),
        output:
            **question.read_outputs,
        log:
            f"<logs>/{question.question.reads}/{question.read_key}.log",
        wildcard_constraints:
            **question.read_constraints,
        conda:
            env("generation")
        params:
            **question.read_params,
            code=question.read_code,
        script:
            "../workflow/scripts/questions/read_replies.py"

    # For snakemake --list, because a docstring in the rule would be the same for all questions.
    names = (question.question.asks, question.question.reads, question.count_rule)
    for name, text in zip(names, (*question.question.does, question.does_count)):
        getattr(rules, name).rule.docstring = text


rule analyse_judge_checks:
    """Test whether a judge's scores depend on the order of the judge's input or the length of the answer."""
    input:
        files.judge_checks_scores,
    output:
        **files.made_by("analyse_judge_checks"),
    log:
        "<logs>/analyse_judge_checks/{dataset}/{scorer}/{generator}.log",
    conda:
        env("analysis")
    params:
        code=code_of("questions/analyse_judge_checks.py"),
    script:
        RULES.join("../workflow/scripts/questions/analyse_judge_checks.py")
