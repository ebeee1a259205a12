"""How answers begin."""


rule count_openings:
    """Count the first words of answers."""
    input:
        answers=generation.answers_with_context(study.retriever_cells),
    output:
        **files.made_by("count_openings"),
    log:
        "<logs>/count_openings/{dataset}/{generator}.log",
    conda:
        env("analysis")
    params:
        code=code_of("openings/count_openings.py"),
    script:
        "scripts/count_openings.py"
