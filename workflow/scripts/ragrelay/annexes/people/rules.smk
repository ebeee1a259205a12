"""People: human scores of some answers, with which the other scorers are compared (key `people`).

Input: the file with human scores, answers, scores, clusters.
Output: the tables and the figure listed in ragrelay/annexes/people/outputs.py; answers_to_score, which the last rule
writes but does not declare.
"""

from ragrelay.annexes.people import rules as people_rules

people = people_rules.of_study(study)


rule compare_people:
    """Compare the study's scorers with human scores of a dataset's answers."""
    input:
        file=people.file,
        answers=files.answers.each(people.cells),
        scores=people.scores,
        measures=files.measures.each(study.each_retriever),
        clusters=of_job(collection.clusters),
    output:
        **files.made_by("compare_people"),
    log:
        "<logs>/compare_people/{dataset}.log",
    conda:
        env("analysis")
    params:
        **people.params,
        code=code_of("people/compare_people.py"),
    script:
        "scripts/compare_people.py"


rule draw_people:
    """Draw how closely scorers agree with human scores."""
    input:
        **files.made_by("compare_people"),
    output:
        reported.paths(reported.outputs("people", "figure")),
    log:
        "<logs>/draw_people/{dataset}.log",
    conda:
        env("report")
    params:
        shown=people.drawn,
        report=workflow.pathvars.apply("<results>/report"),
        code=code_of("people/draw_people.py", *reported.modules("people")),
    script:
        "scripts/draw_people.py"


# The rule declares no outputs, so it runs whenever it is requested.
rule to_score:
    """Draw a sample of answers for people to score next, and write them to a CSV file with the existing scores."""
    input:
        queries=study.grid_paths(files.queries),
        answers=[path for cell in files.answers.each(study.all_cells) for path in study.grid_paths(cell)],
    log:
        "<logs>/to_score.log",
    localrule: True
    conda:
        env("analysis")
    params:
        **people.draw,
        code=code_of("people/to_score.py"),
    script:
        "scripts/to_score.py"
