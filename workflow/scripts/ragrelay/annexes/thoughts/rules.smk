"""Thoughts: how many tokens generators think before they answer, with each context and without one.

Only reasoning generators (key `thinking`) have jobs.
Input: answers, clusters.
Output: the tables and the figure listed in ragrelay/annexes/thoughts/outputs.py.
"""

from ragrelay.annexes.thoughts import rules as thoughts_rules

thoughts = thoughts_rules.of_study(study)


rule describe_thoughts:
    """Summarise the lengths of a generator's thoughts in tokens, and compare them between contexts."""
    input:
        answers=generation.answers_with_context(study.retriever_cells),
        zeroshot=files.zeroshot_answers.each(study.zeroshot_cells),
        clusters=of_job(collection.clusters),
    output:
        **files.made_by("describe_thoughts"),
    log:
        "<logs>/describe_thoughts/{dataset}/{generator}.log",
    wildcard_constraints:
        generator=any_of(thoughts.generators),
    conda:
        env("analysis")
    params:
        patterns={"answers": files.answers},
        order=study.order,
        base=of_job(thoughts.base_of),
        budget=of_job(thoughts.budget_of),
        code=code_of("thoughts/describe_thoughts.py"),
    script:
        "scripts/describe_thoughts.py"


rule draw_thoughts:
    """Draw the length of a generator's thoughts against k."""
    input:
        **files.made_by("describe_thoughts"),
    output:
        reported.paths(reported.outputs("thoughts", "figure")),
    log:
        "<logs>/draw_thoughts/{dataset}_{generator}.log",
    wildcard_constraints:
        generator=any_of(thoughts.generators),
    conda:
        env("report")
    params:
        shown=thoughts.drawn,
        report=workflow.pathvars.apply("<results>/report"),
        code=code_of("thoughts/draw_thoughts.py", *reported.modules("thoughts")),
    script:
        "scripts/draw_thoughts.py"
