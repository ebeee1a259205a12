"""What a scorer that asks a generator needs of a study's configuration."""

from ragrelay.generation.generator import check_judge
from ragrelay.judging.templates import load_judge_template
from ragrelay.kinds import CheckedStudy
from ragrelay.prompting.templates import Template
from ragrelay.scoring.judged_scorer import JudgedScorer


def check_answer_judge(place: str, scorer: JudgedScorer, study: CheckedStudy) -> None:
    """Raise InputError where the generator of ``scorer`` can't be asked by its template; ``place`` as Kind.check's."""

    def template() -> Template:
        path = study.template_path(scorer.prompt, "judge_prompts")
        return Template(system_kshot=load_judge_template(path, scorer.placeholders()).system)

    check_judge(f"{place}.generator'", scorer.generator, template, study)
