"""Provide rules with a study's scorers, references and judge templates."""

import functools
from typing import TYPE_CHECKING

from ragrelay.base.vocabulary.names import WITHOUT_JUDGE
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.execution.study.wildcards import of_job
from ragrelay.generation.generator import may_miss_answers
from ragrelay.questions.judging.templates import load_judge_template
from ragrelay.scoring.judge_scorer import JudgeScorer
from ragrelay.scoring.scorer import SCORER_KINDS, MeasuredScorer, Scorer
from ragrelay.scoring.scorers.file import File
from ragrelay.scoring.scorers.nuggets import Nuggets
from ragrelay.scoring.scorers.panel import Panel

if TYPE_CHECKING:
    from ragrelay.execution.study.study import StudyOfRules

NOT_OF_JOBS = ("utility", "bias_checks")
"""A scorer's keys that only the analysis or the judge checks use."""


class ScoringStage:
    """A study's scorers and the inputs of scoring jobs; Snakemake rules access them as `study.scoring`.

    Rules use of_job to wrap methods whose arguments are wildcard names.
    """

    def __init__(self, study: "StudyOfRules") -> None:
        self.study = study

    @functools.cache  # noqa: B019 - a process has a single study
    def scorer(self, name: str) -> Scorer:
        """Return a scorer."""
        return SCORER_KINDS.of(self.study.scorer(name))

    def module(self, scorer: str) -> str:
        """Return the name of the module that defines a scorer's kind."""
        return SCORER_KINDS.module(self.study.scorer(scorer))

    def of_jobs(self, scorer: str) -> dict[str, object]:
        """Return a scorer's definition without the keys that only the analysis or the judge checks use."""
        return {key: value for key, value in self.study.scorer(scorer).items() if key not in NOT_OF_JOBS}

    @functools.cached_property
    def scorers(self) -> dict[str, Scorer]:
        """The grid's scorers and the judges of its panels, by name."""
        return {name: self.scorer(name) for name in self.study.used_scorers()}

    @functools.cached_property
    def judges(self) -> dict[str, JudgeScorer]:
        """The scorers whose scores come from a judge, by name."""
        return {name: scorer for name, scorer in self.scorers.items() if isinstance(scorer, JudgeScorer)}

    @functools.cached_property
    def judged_by(self) -> dict[str, str]:
        """The generator that acts as judge, for each scorer in ``judges``."""
        return {name: scorer.generator for name, scorer in self.judges.items()}

    @functools.cached_property
    def checked(self) -> list[str]:
        """The scorers whose judge is checked for bias."""
        return [name for name, scorer in self.judges.items() if scorer.bias_checks]

    @functools.cached_property
    def nuggets(self) -> dict[str, Nuggets]:
        """The scorers that use nugget lists."""
        return {name: scorer for name, scorer in self.scorers.items() if isinstance(scorer, Nuggets)}

    @functools.cached_property
    def filed(self) -> dict[str, File]:
        """The scorers whose scores are read from a file."""
        return {name: scorer for name, scorer in self.scorers.items() if isinstance(scorer, File)}

    @functools.cached_property
    def computed(self) -> list[str]:
        """The scorers that are neither judges nor panels, and whose scores aren't read from files."""
        apart = (self.judges, self.filed, self.panels)
        return [name for name in self.scorers if not any(name in group for group in apart)]

    @functools.cached_property
    def panels(self) -> dict[str, Panel]:
        """The grid's panels of judges."""
        return {name: scorer for name, scorer in self.scorers.items() if isinstance(scorer, Panel)}

    @functools.cached_property
    def parts(self) -> dict[str, list[str]]:
        """The names of each panel's parts. A part is the panel without one of its judges. Pages don't show parts."""
        return {name: [f"{name}{WITHOUT_JUDGE}{judge}" for judge in panel.of] for name, panel in self.panels.items()}

    @functools.cached_property
    def averaged(self) -> dict[str, list[str]]:
        """The judges whose scores are averaged, for each panel and each part of a panel."""
        panels = {name: panel.of for name, panel in self.panels.items()}
        parts = {part: part.split(WITHOUT_JUDGE) for of_panel in self.parts.values() for part in of_panel}
        return panels | {part: [one for one in panels[name] if one != out] for part, (name, out) in parts.items()}

    def of_panel(self, scorer: str) -> list[StudyFile]:
        """Return the score files of all judges in a panel, even if ``scorer`` is only a part of the panel."""
        return files.scores.each({"scorer": judge} for judge in self.panels[scorer.partition(WITHOUT_JUDGE)[0]].of)

    def with_parts(self, file: StudyFile, scorer: str) -> list[StudyFile]:
        """Return ``file`` for a panel, followed by the same file for each of the panel's parts."""
        return file.each({"scorer": name} for name in (scorer, *self.parts[scorer]))

    def scores_of_judges(self, scorer: str) -> list[StudyFile]:
        """Return the score files of a panel's judges for every retriever and for zero-shot."""
        return [path for file in self.of_panel(scorer) for path in file.each(self.study.retrievers_and_zeroshot)]

    def tables_of_parts(self, scorer: str) -> list[StudyFile]:
        """Return the analysis tables of a panel's parts, which limit the panel's verdicts, or [] for other scorers."""
        made = files.made_by("analyse_transmission").values()
        return [table.at(scorer=part) for part in self.parts.get(scorer, ()) for table in made]

    def loads_model(self, scorer: str) -> bool:
        """Return whether the scorer loads a model, in which case scores are computed in one job per shard."""
        kind = self.scorer(scorer)
        return isinstance(kind, MeasuredScorer) and kind.loads_model

    def references(self, scorer: str) -> StudyFile:
        """Return the file with a scorer's references: judged passages or the queries' gold answers."""
        return files.queries if self.scorer(scorer).references == "gold" else files.references

    @functools.cached_property
    def reference_files(self) -> dict[str, object]:
        """A scoring job's inputs, except the answers."""
        return {"references": of_job(self.references), "encoded": files.encoded_references}

    def receipts(self, dataset: str, generator: str, scorer: str) -> list[StudyFile]:
        """Return a scorer's score receipts, or an empty list if scores are computed when score tables are written."""
        shards = self.study.generation.shards(dataset, generator) if self.loads_model(scorer) else ()
        return files.score_receipt.each({"shard": shard} for shard in shards)

    @functools.cached_property
    def params(self) -> dict[str, object]:
        """Params for all jobs that score answers."""
        return {
            "scorer": of_job(self.of_jobs),
            "grades": of_job(self.study.reference_sets),
            "near_copy": self.study.settings.near_copy,
            "cache_dir": self.study.cache_dir,
        }

    def utility_mode(self, scorer: str) -> str:
        """Return a scorer's utility mode, `relative` or `absolute`."""
        return self.scorer(scorer).utility

    def rankings(self, generator: str, scorer: str) -> list[StudyFile]:
        """Return all retrievers' contexts, or an empty list if every query with results gets a score."""
        partial = scorer in self.filed or scorer in self.averaged
        missing = may_miss_answers(self.study.generator(generator)) or partial
        return files.contexts.each(self.study.each_retriever if missing else [])

    @functools.cache  # noqa: B019 - a process has a single study
    def judge_template(self, scorer: str) -> dict[str, object]:
        """Return the parts of the template for a scorer's judge prompts."""
        judge = self.judges[scorer]
        return vars(load_judge_template(self.study.template_path(judge.prompt, "judge_prompts"), judge.placeholders()))
