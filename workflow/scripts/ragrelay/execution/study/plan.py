"""Provide the rules `plan`, `status` and `cache` with engine jobs and their prompts, and check a run's budget."""

import functools
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from snakemake.io import apply_wildcards

from ragrelay.base.annex import GenerationRule, annexes
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.io.keyed_files import WILDCARD
from ragrelay.base.vocabulary.study_file import StudyFile, count_file
from ragrelay.execution.jobs.scripts import on_terminal
from ragrelay.execution.study import files
from ragrelay.execution.study.asking import StudyQuestion, asking_jobs, planned_questions
from ragrelay.execution.study.study import StudyOfRules
from ragrelay.execution.study.wildcards import Wildcards
from ragrelay.generation.engine_use import used_in_all
from ragrelay.generation.fingerprint import fingerprint
from ragrelay.generation.status import NAMES as STATUS_NAMES

PATTERNS = {"queries": files.queries, "contexts": files.contexts}
ANSWERED = {"prompts": files.prompts, "answers": files.answers, "ranked": files.contexts}
CELLS: GenerationRule = {
    "rule": "generate_answers", "prompts": ("prompts", files.prompts), "receipt": files.receipt, "needed": True
}  # fmt: skip
"""The rule that generates the cells' answers, in the form in which base.annex.Annex.generation lists other rules."""
NAMED_BY_RULE = ("prompts", "of_cells", "leaves_out", "counts", "real")
"""The fields of a job that its rule determines."""
SIZED_BY = {"systems": "analyse_transmission", "variance": "decompose_variance"}
"""Tables with the study's own variance, which the plan uses if they exist, each with the rule that creates it."""


def prompt_patterns(study: StudyOfRules) -> dict[str, StudyFile]:
    """Return prompt path patterns, by name, for all rules that generate answers, including rules not in the study."""
    others = dict(rule["prompts"] for annex in annexes() for rule in annex.generation(study))
    return {"prompts": files.prompts, **others}


class Plan:
    """Jobs, inputs and params for the rules `plan`, `status` and `cache`.

    Methods whose only argument is ``wildcards`` can be used as a rule's input or params.
    """

    def __init__(self, study: StudyOfRules, questions: list[StudyQuestion]) -> None:
        self.study, self.questions, self.fill = study, questions, study.fill
        self.budget: dict[str, Any] = study.config.get("budget", {})

    @functools.cached_property
    def generators(self) -> list[str]:
        """The grid's generators that run on an engine, followed by other generators that questions use."""
        of_questions = [job["generator"] for job in asking_jobs(self.questions, self.fill)]
        return list(dict.fromkeys([*self.study.asked_generators(), *of_questions]))

    @functools.cached_property
    def fetched(self) -> list[StudyFile]:
        """The download receipts of the plan's generators."""
        return [path for name in self.generators for path in self.study.downloads.receipts("generators", name)]

    @functools.cached_property
    def generation(self) -> list[GenerationRule]:
        """The rules that generate answers: `generate_answers`, and the annexes' rules that the study needs."""
        return [CELLS, *(rule for annex in annexes() for rule in annex.generation(self.study) if rule["needed"])]

    @functools.cached_property
    def generation_jobs(self) -> list[dict[str, Any]]:
        """All jobs that generate answers, as mappings with the fields of execution.plan.work.Job, except ``files``."""
        jobs = []
        for dataset in self.study.grid.datasets:
            for generator in self.study.asked_generators():
                shards = len(self.study.generation.shards(dataset, generator))
                split = {"dataset": dataset, "generator": generator, "shards": shards}
                for rule in self.generation:
                    given = {"prompts": rule["prompts"][0], "of_cells": rule is CELLS}
                    given |= {"leaves_out": True} if rule.get("leaves_out") else {}
                    if "planned" in rule:
                        real = rule["prompts"][1].at(dataset=dataset, generator=generator, **rule["stage"][1])
                        given |= {"prompts": rule["planned"][0], "real": self.fill(real)}
                        given |= {"retriever": rule["stage"][0], "wildcards": rule["stage"][1]}
                    count = count_file(rule["receipt"]).at(dataset=dataset, generator=generator)
                    given["counts"] = [self.fill(count)]
                    jobs.append({**split, "rule": rule["rule"], **given})
        return jobs

    @functools.cached_property
    def jobs(self) -> list[dict[str, Any]]:
        """The jobs that generate answers (without input files) and the jobs that ask questions (with input files)."""
        return [*self.generation_jobs, *planned_questions(self.questions, self.fill)]

    @functools.cached_property
    def prompts(self) -> dict[str, list[StudyFile]]:
        """The plan's input files, by name: prompts, and the questions' inputs that don't come from an engine."""
        templates = list(dict.fromkeys(map(self.study.generation.template_of, self.study.asked_generators())))
        names = self.study.grid.retrievers
        cells = [*files.prompts.each(self.study.contexts), files.zeroshot_prompts]
        question_inputs = [
            path
            for job in self.jobs
            for parts in job.get("parts", ())
            for part in parts
            for paths in part["files"].values()
            for path in paths
        ]
        of_others: dict[str, list[StudyFile]] = {}
        for rule in [rule for rule in self.generation if rule is not CELLS]:
            name, pattern = rule.get("planned", rule["prompts"])
            path = pattern.at(**rule["stage"][1]) if "stage" in rule else pattern
            paths = self.study.grid_paths(path, template=templates, retriever=rule.get("retrievers", names))
            of_others.setdefault(name, []).extend(paths)
        return {
            "prompts": [path for cell in cells for path in self.study.grid_paths(cell, template=templates)],
            **of_others,
            "asked": list(dict.fromkeys(question_inputs)),
        }

    @functools.cached_property
    def fingerprints(self) -> dict[str, str]:
        """The fingerprints of the plan's generators."""
        known = {name: self.study.fingerprints[name] for name in self.study.asked_generators()}
        others = [name for name in self.generators if name not in self.study.fingerprints]
        return known | {
            name: fingerprint(self.study.generator(name), cache_dir=self.study.cache_dir) for name in others
        }

    @functools.cached_property
    def asked(self) -> dict[str, Any]:
        """The generators, templates and seeds that the plan needs."""
        study = self.study
        return {
            "generators": {name: study.downloads.with_conversion(name) for name in self.generators},
            "templates": {
                name: study.generation.template_parts(study.generation.template_of(name)) for name in self.generators
            },
            "seeds": study.grid.seeds,
        }

    @functools.cached_property
    def hash(self) -> str:
        """A hash of everything that determines the plan, except the content of files."""
        # Use the configuration's numbers of shards, because the plan itself may choose others.
        shards = {name: self.study.dataset(name)["shards"] for name in self.study.grid.datasets}
        jobs = [{**job, "shards": shards[job["dataset"]]} if "shards" in job else job for job in self.jobs]
        jobs = [{name: value for name, value in job.items() if name not in NAMED_BY_RULE} for job in jobs]
        return value_hash([self.asked, jobs, self.fingerprints])

    def auto_shards(self, wildcards: Wildcards) -> list[dict[str, object]]:
        """Return the fields of AutoShards for each dataset and generator; empty if the key `shards` isn't set."""
        splits, results = [], Path(self.fill("<results>"))
        for dataset in self.study.grid.datasets if "shards" in self.study.config else ():
            for generator in self.study.asked_generators():
                key = {"dataset": dataset, "generator": generator}
                receipts = [WILDCARD.sub("*", rule["receipt"].at(**key).path) for rule in self.generation]
                splits.append(
                    {
                        **key,
                        "shards": len(self.study.generation.shards(**key)),
                        "planned": generator in self.study.generation.planned_shards.get(dataset, {}),
                        "begun": any(any(results.glob(receipt)) for receipt in receipts),
                    }
                )
        return splits

    @functools.cached_property
    def sizes(self) -> list[dict[str, Any]]:
        """For each dataset and generator, data for estimating which difference the primary comparison can detect."""
        sizes = []
        for dataset in self.study.grid.datasets:
            for generator in self.study.grid.generators:
                if not (primary := self.study.primary(dataset)):
                    continue
                part = {"dataset": dataset, "generator": generator}
                tables = {name: files.made_by(rule)[name] for name, rule in SIZED_BY.items()}
                sizes.append(
                    {
                        **part,
                        "margin": self.study.margin(primary["scorer"]),
                        "primary": primary,
                        "clustered": bool(self.study.collection.cluster_files(dataset)),
                        "queries": self.fill(files.queries.at(**part)),
                        **{n: self.fill(table.at(**part, scorer=primary["scorer"])) for n, table in tables.items()},
                    }
                )
        return sizes

    @property
    def params(self) -> dict[str, object]:
        """Params for the rule `plan`; some are functions of the wildcards."""
        return {
            **self.asked,
            "cache_dir": self.study.cache_dir,
            "processed": lambda wildcards: files.processed,
            "patterns": PATTERNS | dict(rule.get("planned", rule["prompts"]) for rule in self.generation),
            "csv": self.fill(files.plan),
            "receipt": self.fill(files.plan_receipt),
            "logs": self.fill("<logs>"),
            "jobs": lambda wildcards: self.jobs,
            "fingerprints": lambda wildcards: self.fingerprints,
            "of": lambda wildcards: self.hash,
            "auto_shards": self.auto_shards,
            "sizes": self.sizes,
            "notes": lambda wildcards: [line for annex in annexes() for line in annex.planned(self.study)],
            "budget": self.budget,
        }

    def missing(self, to_run: Iterable[object]) -> tuple[dict[str, int], str]:
        """Return the plan's numbers of missing keys, by count file, and the plan's date. ``to_run``: the next jobs."""
        from ragrelay.execution.plan.budget import missing_by_plan  # only cluster dry runs need it

        return missing_by_plan(Path(self.fill(files.plan_receipt)), self.hash, *self._files(to_run))

    def _files(self, to_run: Iterable[Any]) -> tuple[set[Path], list[Path]]:
        """Return the files that the plan is based on, and the outputs of the jobs ``to_run``."""
        planned = {Path(self.fill(path)) for paths in self.prompts.values() for path in paths}
        return planned, [Path(path) for job in to_run for path in job.output]

    def check_run(self, to_run: Iterable[Any]) -> None:
        """Check the jobs ``to_run`` against the budget, if there is one and any of the jobs needs an engine."""
        jobs = list(to_run)
        if self.budget and {job.rule.name for job in jobs} & {job["rule"] for job in self.jobs}:
            from ragrelay.execution.plan.budget import check_budget  # here, as few runs need it

            planned, outputs = self._files(jobs)
            with on_terminal():
                receipt, used = Path(self.fill(files.plan_receipt)), used_in_all(Path(self.fill("<logs>")))
                check_budget(self.budget, receipt, self.hash, planned, outputs, used)

    def shards(self, rules: Any) -> list[dict[str, Any]]:
        """Return every job that runs an engine, with its receipt and log. ``rules``: the workflow's rules."""
        jobs = []
        for job in self.generation_jobs:
            rule = getattr(rules, job["rule"]).rule
            patterns = {"receipt": str(rule.output[0]), "log": str(rule.log[0])}
            key = {name: job.get(name, "") for name in STATUS_NAMES} | {"job": job["rule"]}
            for shard in range(job["shards"]):
                of_shard = {**key, **job.get("wildcards", {}), "shard": shard}
                jobs.append({**key, **{name: apply_wildcards(path, of_shard) for name, path in patterns.items()}})
        return [*jobs, *asking_jobs(self.questions, self.fill)]

    def previewed_answers(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """Return the fields of execution.plan.preview.Answered, as one mapping for each dataset and generator."""
        study, parts = self.study, []
        for dataset, generator in itertools.product(study.grid.datasets, study.grid.generators):
            imported = generator in study.generation.imported
            key = {"dataset": dataset, "generator": generator, "template": study.generation.template_of(generator)}
            passages = study.generation.passages(generator)
            named = {
                "prompts": [*files.prompts.each(study.retriever_contexts), files.zeroshot_prompts],
                "answers": files.answers.each(study.all_cells),
                "passages": passages.each(study.each_retriever),
                "ranked": list(
                    dict.fromkeys(p for s in study.grid.scorers for p in study.scoring.rankings(generator, s))
                ),
                "queries": [files.queries],
            }
            parts.append(
                {
                    "dataset": dataset,
                    "generator": generator,
                    "fingerprint": None if imported else study.fingerprints[generator],
                    "thinking": None if imported else study.generation.thinking(generator),
                    "files": {name: [self.fill(path.at(**key)) for path in paths] for name, paths in named.items()},
                    "patterns": {**ANSWERED, "passages": passages},
                    "scorers": [self._previewed_scorer(key | {"scorer": name}) for name in study.grid.scorers],
                }
            )
        return parts

    def _previewed_scorer(self, key: dict[str, str]) -> dict[str, object]:
        """Return the arguments for execution.plan.preview.Scored."""
        study, dataset, scorer = self.study, key["dataset"], key["scorer"]
        return {
            "name": scorer,
            "definition": study.scoring.of_jobs(scorer),
            "references": [
                self.fill(study.scoring.references(scorer).at(**key)),
                study.reference_sets(dataset, scorer),
                study.settings.near_copy,
            ],
            "mode": study.scoring.utility_mode(scorer),
            "primary": study.primary(dataset, scorer),
        }

    @property
    def previewed(self) -> dict[str, object]:
        """The retrievers, seeds and settings for the preview: the fields of Previewed, except ``threads``."""
        study = self.study
        return {
            "retrievers": study.grid.retrievers,
            "seeds": study.grid.seeds,
            "counted": study.counted_at_zero(),
            "reference_retriever": study.config["analysis"]["reference_retriever"],
            "margins": study.margins,
            **study.draws,
            "cache_dir": study.cache_dir,
        }

    def used(self, asked: dict[str, dict[str, int]]) -> dict[str, Any]:
        """Return the fields of report.used.Benchmarks, by name. ``asked``: the profile's resource requests by rule."""
        logs = self.fill("<logs>")
        gpus = {
            f"{rule}/{dataset}/{generator}": self.study.generation.gpus(generator)
            for rule in [each["rule"] for each in self.generation]
            for dataset in self.study.grid.datasets
            for generator in self.study.asked_generators()
        }
        for job in asking_jobs(self.questions, self.fill):
            benchmark = str(Path(job["log"]).relative_to(logs).with_suffix(".tsv"))
            gpus[benchmark] = self.study.generation.gpus(job["generator"])
        return {"folder": self.fill("<benchmarks>"), "plan": self.fill(files.plan), "asked": asked, "gpus": gpus}

    def cache_needs(self, rules: object, indexes: Iterable[StudyFile]) -> dict[str, object]:
        """Return the fields of execution.plan.cache.Needed, by name. ``indexes``: receipts for the study's indexes."""
        from ragrelay.generation.likelihoods.continuations import without_chat
        from ragrelay.generation.likelihoods.store import likelihood_fingerprint
        from ragrelay.questions.nuggets.writing import Limits
        from ragrelay.scoring.scorer import make_scorer

        study, cache_dir = self.study, self.study.cache_dir
        asked = [study.generator(name) for name in self.generators]
        scored = [without_chat(definition) for definition in asked] + asked
        for kind in study.scoring.nuggets.values():
            if kind.written_by:
                asked += Limits(**kind.limits()).definitions(study.generator(kind.written_by))
        names = [fingerprint(definition, cache_dir=cache_dir) for definition in asked]
        names += [likelihood_fingerprint(definition, cache_dir) for definition in scored]
        names += [make_scorer(study.scorer(name), cache_dir).fingerprint for name in study.scoring.computed]
        names += [Path(kept["path"]).name for name in self.generators if (kept := study.downloads.conversion(name))]
        encoded = study.grid_paths(files.encoded_references, scorer=study.scoring.computed)
        receipts = [*(job["receipt"] for job in self.shards(rules)), *map(self.fill, [*indexes, *encoded])]
        return {"study": study.name, "names": [*names, *study.fingerprints.values()], "receipts": receipts}
