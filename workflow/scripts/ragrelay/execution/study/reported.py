"""Provide rules with the report's sections, figures and tables, and with the report's inputs."""

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from snakemake.io import report as captioned

from ragrelay.base.annex import annexes, template_folders
from ragrelay.base.io.workflow_files import ROOT
from ragrelay.base.vocabulary.names import NOT_RELAYED
from ragrelay.base.vocabulary.study_file import StudyFile
from ragrelay.execution.study import files
from ragrelay.execution.study.study import SectionKey, StudyOfRules
from ragrelay.execution.study.wildcards import Wildcards
from ragrelay.report.display.outputs import SECTION, Output, Scope, available, file_name, modules
from ragrelay.report.registry import OUTPUTS, RESULT_TABLES

OF_SECTION = "{dataset}_{generator}_{scorer}"
PAGE = ROOT / "workflow/report"
MEASURED = {"retrieval": files.measures}
OF_FILES = ("of_runs", "of_answers", "of_nuggets", "of_scores")
"""Counts that only some datasets, retrievers or scorers have."""
LEFT_OUT = {
    "of_collection": files.left_out_of_collection,
    "of_references": files.left_out_of_references,
    "of_runs": files.run_doubts,
    "of_contexts": files.left_out_of_contexts,
    "of_answers": files.left_out_of_answers,
    "of_nuggets": files.left_out_of_nuggets,
    "of_scores": files.left_out_of_scores,
}
"""Counts of the data left out, without the annexes' counts."""
LENGTHS = files.made_by("describe_answers")["lengths"]
EXPLORED = {"prompts": files.prompts, "answers": files.answers, "scores": files.scores, "retrieval": files.measures}
"""The query explorer's inputs, without the passages."""


class Reported:
    """Inputs, outputs and params for the rules that create the report and the other pages.

    Methods whose only argument is ``wildcards`` can be used as a rule's input, params, threads or resources.
    """

    def __init__(self, study: StudyOfRules) -> None:
        self.study = study
        self.sections = study.sections
        grid = study.grid
        self.several = len(grid.retrievers) > 1 and max(len(grid.datasets), len(grid.generators)) > 1
        """Whether several rankings are compared on more than one dataset or with more than one generator."""

    def outputs(self, of: str, kind: str | None = None) -> list[Output]:
        """Return the outputs with scope ``of`` whose result tables exist in this configuration."""
        study = self.study
        present = {
            "": True,
            "several": self.several,
            "context_use": study.settings.context_use,
            "bias_checks": bool(study.scoring.checked),
            "panels": bool(study.scoring.panels),
            "doses": self.doses,
            "rankings": sum(kind not in NOT_RELAYED for kind in study.retriever_kinds.values()) > 1,
            **{name: value for annex in annexes() for name, value in annex.present(study).items()},
        }
        known = [name for name, table in RESULT_TABLES.items() if present[table.only_with]]
        there = [output for output in available(OUTPUTS, known) if present[output.only_with]]
        return [output for output in there if output.of == of and kind in (None, output.kind)]

    def modules(self, *of: str, kind: str | None = None) -> list[str]:
        """Return the modules whose functions create the outputs in the scopes ``of``."""
        return modules(output for name in of for output in self.outputs(name, kind))

    def paths(self, outputs: Iterable[Output], parts: Iterable[Mapping[str, object]] = ()) -> list[str]:
        """Return the outputs' paths, one per format and item in ``parts``; without ``parts``, return path patterns."""
        keys = list(parts)
        return [
            captioned(
                f"<results>/report/{output.kind}s/{file_name(output, ending, part)}",
                caption=f"{_captions(output.of)}/{output.kind}_{output.name}.rst",
                category=f"{output.kind.capitalize()}s",
                labels={output.kind: output.name, **part, "format": ending},
            )
            for output in outputs
            for ending in output.endings
            for part in (
                {key: str(given[key]) if given else f"{{{key}}}" for key in output.of.keys} for given in keys or [{}]
            )
        ]

    # Sections

    @functools.cached_property
    def grid(self) -> dict[str, object]:
        """The grid, plus the names of reference sets, the retrievers' kinds and, if there are any, the `doses`."""
        references = {name: list(self.study.grades(name)) for name in self.study.grid.datasets}
        doses = {"doses": self.doses} if self.doses else {}
        return self.study.grid.mapping() | {"references": references, "kinds": self.study.retriever_kinds} | doses

    @functools.cached_property
    def doses(self) -> dict[str, list[object]]:
        """Each retriever's dose (the fixed number of relevant passages per context), and a name for the other passages.

        Retrievers without a fixed dose are left out. The mapping is empty if no retriever has the kind `graded`.
        """
        doses = {name: self.study.retrieval.kind(name).dose() for name in self.study.grid.retrievers}
        kinds = self.study.retriever_kinds
        fixed = {name: list(dose) for name, dose in doses.items() if dose is not None}
        return fixed if any(kinds[name] == "graded" for name in fixed) else {}

    @functools.cached_property
    def section_patterns(self) -> dict[str, StudyFile]:
        """The path patterns of the tables (except retrieval measures) from which a section's outputs are created."""
        needs = dict.fromkeys(need for output in self.outputs("section") for need in output.needs)
        return {name: files.tables[name] for name in needs if name not in MEASURED}

    def sections_with(self, tables: Iterable[str]) -> list[SectionKey]:
        """Return the sections that have all ``tables``. Some tables only exist for judge checks or panels."""
        scoring, wanted = self.study.scoring, set(tables)
        of_some = {"analyse_judge_checks": scoring.checked, "compare_judges": scoring.panels}
        having = [scorers for rule, scorers in of_some.items() if wanted & set(files.made_by(rule))]
        return [section for section in self.sections if all(section["scorer"] in scorers for scorers in having)]

    @functools.cached_property
    def section_files(self) -> dict[str, list[StudyFile]]:
        """The files that match each pattern in `section_patterns`."""
        return {name: path.each(self.sections_with([name])) for name, path in self.section_patterns.items()}

    @functools.cached_property
    def section_tables(self) -> list[str]:
        """The paths of the sections' tables, followed by the tables for each combination of generator and scorer."""
        groups = {(section["generator"], section["scorer"]): section for section in self.sections}.values()
        return [
            *(
                path
                for table in self.outputs("section", "table")
                for path in self.paths([table], self.sections_with(table.needs))
            ),
            *self.paths(self.outputs("group", "table"), groups),
        ]

    @functools.cached_property
    def drawn_patterns(self) -> dict[str, StudyFile]:
        """The path patterns of the tables (except retrieval measures) from which a section's figures are drawn."""
        needs = {need for figure in self.outputs("section", "figure") for need in figure.needs}
        return {name: path for name, path in self.section_patterns.items() if name in needs}

    @functools.cached_property
    def drawn(self) -> dict[str, object]:
        """Params for all jobs that draw figures."""
        return {"section": self.section_of, "patterns": self.drawn_patterns | MEASURED}

    def section_of(self, wildcards: Wildcards) -> SectionKey:
        """Return a job's section."""
        names = [wildcards[key] for key in SECTION.keys]
        return next(s for s in self.sections if [s["dataset"], s["generator"], s["scorer"]] == names)

    @functools.cached_property
    def pooled(self) -> dict[str, StudyFile]:
        """The tables that pool results over the entire study; empty if `several` is false."""
        return files.made_by("pool_samples") if self.several else {}

    @functools.cached_property
    def compared_prompts(self) -> list[StudyFile]:
        """All retrievers' prompt files with the ordering and k of a primary comparison; only the docnos are read."""
        paths = [
            files.prompts.at(
                dataset=section["dataset"],
                template=self.study.generation.template_of(section["generator"]),
                retriever=retriever,
                ordering=section["primary"]["ordering"],
                k=section["primary"]["k"],
            )
            for section in self.sections
            for retriever in self.study.grid.retrievers
            if section["primary"]
        ]
        return list(dict.fromkeys(paths))

    # Provenance

    @functools.cached_property
    def left_out_of_annexes(self) -> dict[str, tuple[str, StudyFile, Sequence[str]]]:
        """The annexes' counts of left-out data, by name. Each count is a tuple (stage, path pattern, file paths)."""
        return {name: counts for annex in annexes() for name, counts in annex.left_out(self.study).items()}

    @functools.cached_property
    def left_out_files(self) -> dict[str, Sequence[str]]:
        """The files with counts of left-out data, under the names in LEFT_OUT, followed by the annexes' files."""
        study = self.study
        datasets = study.grid.datasets
        runs = [
            {"dataset": dataset, "retriever": retriever}
            for dataset in datasets
            for retriever in study.needed_retrievers()
        ]
        answers = [
            {"dataset": dataset, "generator": generator, **retriever}
            for dataset in datasets
            for generator in study.grid.generators
            for retriever in study.retrievers_and_zeroshot
        ]
        scored = [
            {"dataset": dataset, "scorer": scorer, "generator": generator, **retriever}
            for dataset in datasets
            for scorer in (*study.scoring.judged_by, *study.scoring.filed, *study.scoring.panels)
            for generator in study.grid.generators
            for retriever in study.retrievers_and_zeroshot[: 1 if scorer in study.scoring.filed else None]
        ]
        return {
            **{name: study.grid_paths(path) for name, path in LEFT_OUT.items() if name not in OF_FILES},
            "of_runs": files.run_doubts.each(runs),
            "of_answers": files.left_out_of_answers.each(answers),
            "of_nuggets": study.grid_paths(files.left_out_of_nuggets, scorer=list(study.scoring.nuggets)),
            "of_scores": files.left_out_of_scores.each(scored),
            **{f"of_{name}": paths for name, (_, _, paths) in self.left_out_of_annexes.items()},
        }

    @functools.cached_property
    def receipts(self) -> list[StudyFile]:
        """The receipts of all jobs that generate answers."""
        return [
            files.receipt.at(dataset=dataset, generator=generator, shard=shard)
            for dataset in self.study.grid.datasets
            for generator in self.study.asked_generators()
            for shard in self.study.generation.shards(dataset, generator)
        ]

    @functools.cached_property
    def data(self) -> list[str]:
        """The data files whose hashes are recorded in the provenance."""
        paths = [path for pattern in (files.queries, files.qrels, files.run) for path in self.study.grid_paths(pattern)]
        of_annexes = [path for annex in annexes() for path in annex.data(self.study)]
        grid = self.study.grid
        brought = [
            files.contexts.at(dataset=dataset, retriever=name)
            for dataset in grid.datasets for name in grid.retrievers if self.study.retrieval.kind(name).brought(dataset)
        ]  # fmt: skip
        return [
            *paths,
            *brought,
            *self.study.collection.all_clusters,
            *self.study.collection.all_subtopics,
            *self.study.retrieval.index_receipts,
            *of_annexes,
        ]

    @functools.cached_property
    def records(self) -> dict[str, StudyFile]:
        """The annexes' files to include in the provenance, by name. Missing files are left out."""
        known = {name: path for annex in annexes() for name, path in annex.records(self.study).items()}
        return {name: path for name, path in known.items() if Path(self.study.fill(path)).is_file()}

    @functools.cached_property
    def hashes(self) -> list[str]:
        """The functions that hash the annexes' data, as ``module:name``."""
        return [annex.hashes for annex in annexes() if annex.hashes]

    # Pages

    @functools.cached_property
    def page_parts(self) -> list[str]:
        """The templates, styles and scripts of all pages, including pages from annexes."""
        folders, endings = (PAGE, *template_folders()), ("j2", "css", "js")
        return [os.path.relpath(path) for f in folders for end in endings for path in sorted(f.glob(f"*.{end}"))]

    def template(self, name: str) -> str:
        """Return a page's template."""
        [path] = [path for path in self.page_parts if Path(path).name == f"{name}.html.j2"]
        return path

    def page(self, path: StudyFile, caption: str, name: str) -> str:
        """Return the page ``path`` with a caption for Snakemake's report. ``caption``: the caption's file."""
        page: str = captioned(path, caption=caption, category="Page", labels={"page": name})
        return page

    @functools.cached_property
    def of_study(self) -> dict[str, object]:
        """Params that both the tables and the page need."""
        return {
            "study": self.study.name,
            "sections": self.sections,
            "grid": self.grid,
            "reference_retriever": self.study.settings.analysis.reference_retriever,
        }

    @functools.cached_property
    def prompt_words(self) -> dict[str, dict[str, str]]:
        """The non-empty parts of each generator's prompt template."""
        templates = {
            name: self.study.generation.template_parts(self.study.generation.template_of(name))
            for name in self.study.asked_generators()
        }
        return {
            name: {part: words for part, words in parts.items() if words and part != "code"}
            for name, parts in templates.items()
        }

    @functools.cached_property
    def page_inputs(self) -> dict[str, object]:
        """The page's inputs that don't belong to a section: pooled tables and the annexes' inputs."""
        return {
            **self.pooled,
            **{name: paths for annex in annexes() for name, paths in annex.page_inputs(self.study).items()},
        }

    @functools.cached_property
    def page_patterns(self) -> dict[str, StudyFile]:
        """The path patterns of the page's inputs."""
        return {
            **self.section_patterns,
            **MEASURED,
            **{name: path for annex in annexes() for name, path in annex.page_patterns(self.study).items()},
            "explorer": files.explorer,
        }

    @property
    def page_modules(self) -> list[str]:
        """The modules that create outputs, and the modules that create the annexes' parts of the page."""
        parts = [annex for annex in annexes() if annex.template]
        loaded = [module for annex in parts for module in annex.page_modules(self.study)]
        return [*modules(OUTPUTS), *(annex.page_part for annex in parts), *loaded]

    @functools.cached_property
    def annex_parts(self) -> list[dict[str, object]]:
        """The annexes' parts of the page: each part's module, template, link and params (``given``)."""
        return [
            {
                "module": annex.page_part,
                "template": annex.template,
                "link": annex.link,
                "given": annex.page_params(self.study),
            }
            for annex in annexes()
            if annex.template
        ]

    @functools.cached_property
    def left_out_table(self) -> str:
        """The table of left-out data, with its caption in Snakemake's report."""
        caption, labels = "../workflow/report/left_out.rst", {"table": "left_out"}
        table: str = captioned(files.left_out_table, caption=caption, category="Tables", labels=labels)
        return table

    def notices(self, generators: Iterable[str]) -> list[str]:
        """Return the notices for readers of a page that shows answers from ``generators``."""
        notices = [self.study.generator(name).get("notice") for name in sorted(generators)]
        return [notice for notice in notices if notice]

    @functools.cached_property
    def judge_notices(self) -> list[str]:
        """A notice for each judge that scores its own answers."""
        return [
            f"Scorer {scorer} asks {judge} about answers that it wrote itself: a judge may favour its own."
            for scorer, judge in self.study.scoring.judged_by.items()
            if judge in self.study.grid.generators
        ]

    # Targets

    @functools.cached_property
    def figures(self) -> list[str]:
        """The figures of all sections and the annexes' additions to the report, as plain paths without captions."""
        # The paper's k is 5. If the grid has a larger k, these figures are also drawn for k = 5.
        ks = self.study.grid.k
        at_depth = [{**section, "depth": "k5"} for section in self.sections if 5 in ks and max(ks) > 5]
        of_sections = self.paths(self.outputs("section", "figure"), self.sections)
        of_depth = self.paths(self.outputs("depth"), at_depth) if at_depth else []
        of_annexes = [path for annex in annexes() for path in annex.reported(self)]
        return list(map(str, [*of_sections, *of_depth, *of_annexes]))


@functools.cache
def _captions(scope: Scope) -> str:
    """Return the folder with captions, relative to the file with the rule that creates the outputs of ``scope``."""
    of_annexes = {output.of for annex in annexes() for output in annex.outputs}
    return "captions" if scope in of_annexes else "../workflow/report/captions"
