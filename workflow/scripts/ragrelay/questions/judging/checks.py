"""Check the configuration of scorers whose scores come from judges."""

from ragrelay.base.errors import InputError
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.models.locations import known_window
from ragrelay.generation.generator import check_judge
from ragrelay.prompting.templates import Template
from ragrelay.questions.judging.templates import load_judge_template
from ragrelay.questions.nuggets.prompts import load_nugget_template
from ragrelay.questions.nuggets.writing import RETRY
from ragrelay.scoring.judge_scorer import JudgeScorer
from ragrelay.scoring.scorers.nuggets import Nuggets


def check_judges(place: str, scorer: JudgeScorer, study: CheckedStudy) -> None:
    """Raise InputError, naming ``place``, if a judge can't be used with the scorer's template."""

    def template() -> Template:
        path = study.template_path(scorer.prompt, "judge_prompts")
        return Template(system_kshot=load_judge_template(path, scorer.placeholders()).system)

    check_judge(f"{place}.generator'", scorer.generator, template, study, scorer.prefix)
    if isinstance(scorer, Nuggets) and scorer.written_by is not None:
        _check_writer(place, scorer, scorer.written_by, study)


def _check_writer(place: str, scorer: Nuggets, name: str, study: CheckedStudy) -> None:
    """Raise InputError if the generator ``name`` can't write nugget lists."""

    def template() -> Template:
        path = study.template_path(scorer.list_prompt, "nugget_prompts")
        return Template(system_kshot=load_nugget_template(path).system)

    check_judge(f"{place}.written_by'", name, template, study, writes=True)
    window, tokens = (
        known_window(f"{place}.written_by'", study.config["generators"][name], study.folder),
        scorer.list_tokens,
    )
    if window is not None and RETRY * tokens >= window:
        found = f"{tokens}, but a retry with {RETRY * tokens} tokens leaves no room for a prompt (window {window})"
        raise InputError(f"{place}.list_tokens'", found, f"less than {window / RETRY:g}")
