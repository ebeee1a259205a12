"""Questions to models: for each question of ragrelay/asking/questions a job that asks, and one that reads the replies.

Input: what the question's class says.
Output: its receipt, what was asked, and its table; texts and log-probabilities in cache_dir.
"""

from ragrelay.study.asking import planned_questions, study_questions

QUESTIONS = study_questions(study)

for question in QUESTIONS:

    rule:
        name:
            question.question.asks
        input:
            unpack(question.ask_inputs),
        output:
            **question.ask_outputs,
        log:
            f"<logs>/{question.question.asks}/{question.question.key}.log",
        benchmark:
            f"<benchmarks>/{question.question.asks}/{question.question.key}.tsv"
        wildcard_constraints:
            **question.ask_constraints,
        conda:
            "../envs/generation.yaml"
        threads: question.threads
        resources:
            **machine("engine"),
            gpu=question.gpus,
        params:
            question=question.name,
            settings=question.ask_settings,
            generator=question.generator,
            fingerprint=question.fingerprint,
            cache_dir=study.cache_dir,
            code=question.ask_code,
        script:
            "../workflow/scripts/ask_question.py"

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
            "../envs/generation.yaml"
        params:
            question=question.name,
            settings=question.read_settings,
            cache_dir=study.cache_dir,
            code=question.read_code,
        script:
            "../workflow/scripts/read_replies.py"


# For snakemake --list: a docstring of a rule in a loop would be the same for all.
for question in QUESTIONS:
    for name, text in zip(
        (question.question.asks, question.question.reads), question.question.does
    ):
        getattr(rules, name).rule.docstring = text
