"""Processing: what processors changed in contexts, and how many tokens they saved.

Of retrievers of the kind `processed`; no job without one.
Input: contexts, processed, answers.
Output: the table that ragrelay/annexes/processing/outputs.py lists.
"""

from ragrelay.annexes.processing import rules as processing_rules

processing = processing_rules.of_study(study)


rule describe_processing:
    """Count the changes that processors made to contexts, and the prompt tokens before and after processing."""
    input:
        before=processing.before,
        after=files.contexts.each(processing.processed),
        receipts=files.processed.each(processing.processed),
        answers=generation.answers_with_context(processing.cells),
    output:
        **files.made_by("describe_processing"),
    log:
        "<logs>/describe_processing/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(each["generator"] for each in processing.sections),
    conda:
        env("analysis")
    params:
        patterns={
            "before": files.contexts,
            "after": files.contexts,
            "receipts": files.processed,
            "answers": files.answers,
        },
        bases=processing.bases,
        ks=sorted(study.grid.k),
        code=code_of("processing/describe_processing.py"),
    script:
        "scripts/describe_processing.py"
