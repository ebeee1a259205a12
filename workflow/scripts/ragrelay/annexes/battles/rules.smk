"""Battles: a judge, people or a panel compares two answers to the same query (key `battles`).

Judges vote in reply to questions to a model (rules/asking.smk).
Input: answers, prompts, measures, utility, clusters; files of votes.
Output: votes, left_out, explored, and the tables listed in ragrelay/annexes/battles/outputs.py.
"""

from ragrelay.annexes.battles import files as battle_files
from ragrelay.annexes.battles import rules as battle_rules

battles = battle_rules.of_study(study)


rule read_vote_file:
    """Read votes on pairs of answers from a file."""
    input:
        file=lambda wildcards: battles.filed[wildcards.battle].file(wildcards.dataset),
        answers=files.answers.each(study.all_cells),
    output:
        votes=battle_files.votes,
        left_out=battle_files.left_out,
    log:
        "<logs>/read_vote_file/{dataset}/{battle}/{generator}.log",
    wildcard_constraints:
        battle=any_of(battles.filed),
    conda:
        env("analysis")
    params:
        **battles.placing,
        patterns={"answers": files.answers},
        code=code_of("battles/read_vote_file.py"),
    script:
        "scripts/read_vote_file.py"


rule analyse_battles:
    """Estimate a battle's win rates, order bias and relay, and how often the votes agree with P."""
    input:
        votes=battles.votes,
        measures=files.measures.each(study.each_retriever),
        prompts=generation.prompts_with_context(study.retriever_contexts),
        utility=battles.utility,
        clusters=of_job(collection.clusters),
    output:
        **files.made_by("analyse_battles"),
    log:
        "<logs>/analyse_battles/{dataset}/{battle}/{generator}.log",
    wildcard_constraints:
        battle=any_of(battles.battles),
    conda:
        env("analysis")
    params:
        **battles.params,
        patterns={
            "votes": battle_files.votes,
            "measures": files.measures,
            "prompts": files.prompts,
            "utility": files.utility,
        },
        code=code_of("battles/analyse_battles.py"),
    script:
        "scripts/analyse_battles.py"


rule explore_battles:
    """Write the compared answers and the votes on them, for the query explorer."""
    input:
        votes=battles.votes,
        answers=files.answers.each(battles.explored),
    output:
        battle_files.explored,
    log:
        "<logs>/explore_battles/{dataset}/{battle}/{generator}.log",
    wildcard_constraints:
        battle=any_of(battles.battles),
    conda:
        env("analysis")
    params:
        patterns={"votes": battle_files.votes, "answers": files.answers},
        cell=battles.cell,
        members=battles.members,
        code=code_of("battles/explore_battles.py"),
    script:
        "scripts/explore_battles.py"
