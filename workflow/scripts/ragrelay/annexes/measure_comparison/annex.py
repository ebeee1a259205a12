"""The annex that compares retrieval measures."""

from ragrelay.annexes.measure_comparison.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.annexes.measure_comparison.settings import ComparisonKeys, ComparisonSettings
from ragrelay.base.annex import Annex
from ragrelay.base.errors import InputError, one_of
from ragrelay.base.kinds import CheckedStudy
from ragrelay.base.vocabulary.names import NOT_RELAYED

PLACE = "config key 'compare_measures"


class MeasureComparison(Annex):
    """Compare retrieval measures by how closely they track answer quality (config key `compare_measures`)."""

    order = 10
    keys = ComparisonKeys
    result_tables = RESULT_TABLES
    outputs = OUTPUTS
    shown = "compare_measures"
    template = "measures.html.j2"
    link = ("measures", "Measures")

    def check(self, study: CheckedStudy) -> None:
        if study.config.get("compare_measures") is None:
            return
        settings, grid = ComparisonSettings(**study.config["compare_measures"]), study.grid
        if len(grid.measures) < 2:
            raise InputError(f"{PLACE}'", "a single measure in grid.measures", "two or more")
        ranked = [name for name in grid.retrievers if study.config["retrievers"][name]["kind"] not in NOT_RELAYED]
        if len(ranked) < 2:
            found = f"{len(ranked)} comparable retriever{'' if len(ranked) == 1 else 's'} in grid.retrievers"
            raise InputError(f"{PLACE}'", found, "two or more that rank passages without using the judgements")
        if settings.declared not in (None, *grid.measures):
            expected = one_of(grid.measures, what="a measure in grid.measures")
            raise InputError(f"{PLACE}.declared'", repr(settings.declared), expected)

    def page_params(self, study: CheckedStudy) -> object:
        return self.of_rules(study).shown
