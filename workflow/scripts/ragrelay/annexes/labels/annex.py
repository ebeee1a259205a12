"""The annex that labels passages with several annotation sources."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from ragrelay.annexes.labels.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.labels.settings import LabelGridKeys, LabelKeys
from ragrelay.annexes.labels.source import ANNOTATION_KINDS, parts
from ragrelay.base.annex import Annex, GenerationRule, LeftOut, ReportedStudy
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.vocabulary.study_file import StudyFile


class Labels(Annex):
    """Collect passage labels from people, judges and eRAG, and correlate them with answer quality (target `erag`)."""

    order = 2
    doors = ("erag",)
    extends: ClassVar = {"AnnotationSource": "ragrelay.annexes.labels.source"}
    keys = LabelKeys
    grid_keys = LabelGridKeys
    kinds: ClassVar = {"annotations": ANNOTATION_KINDS}
    chosen = ("annotations",)
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    generates = ("generate_single_answers",)
    hashes = "ragrelay.annexes.labels.data_hashes:label_hashes"
    template = "annotations.html.j2"
    link = ("annotations", "Labels")

    def check(self, study: CheckedStudy) -> None:
        from ragrelay.annexes.labels.source_checks import check_annotations

        check_annotations(study.config, study)

    def selected(self, study: CheckedStudy) -> Mapping[str, Iterable[str]]:
        names = parts(study.config["annotations"], study.config["grid"]["annotations"])
        sources = [ANNOTATION_KINDS.of(study.config["annotations"][name]) for name in names]
        judges = [judge for source in sources for judge in source.judges(study.grid.generators)]
        return {"annotations": names, "generators": judges}

    def present(self, study: CheckedStudy) -> Mapping[str, object]:
        labels = self.of_rules(study)
        return {"annotations": bool(labels.names), "annotations.bias_checks": bool(labels.checked_sources)}

    def reported(self, reported: ReportedStudy) -> list[str]:
        scorers = self.of_rules(reported.study).annotated
        return reported.paths(reported.outputs("annotations"), scorers) if scorers else []

    def left_out(self, study: CheckedStudy) -> LeftOut:
        labels = self.of_rules(study)
        judged = self.files.left_out_of_judged_labels
        return {
            "labels": ("annotation", self.files.left_out_of_labels, labels.left_out_files),
            "judged_labels": ("annotation", judged, judged.each(labels.judged)),
        }

    def data(self, study: CheckedStudy) -> list[str]:
        return list(labels.study.grid_paths(self.files.labels)) if (labels := self.of_rules(study)).names else []

    def page_inputs(self, study: CheckedStudy) -> Mapping[str, object]:
        labels, tables = self.of_rules(study), self.files.annotation_tables
        return {**{name: path.each(labels.annotated) for name, path in tables.items()}, **labels.page_files}

    def page_patterns(self, study: CheckedStudy) -> Mapping[str, StudyFile]:
        return dict(self.files.annotation_tables)

    def page_params(self, study: CheckedStudy) -> object:
        return self.of_rules(study).trust_in_judges

    def generation(self, study: CheckedStudy) -> list[GenerationRule]:
        prompts, needed = ("single", self.files.single_prompts), self.of_rules(study).need_single_answers
        receipt = self.files.single_receipt
        return [{"rule": "generate_single_answers", "prompts": prompts, "receipt": receipt, "needed": needed}]
