"""The report's tables against the analysis files that they are made from."""

import csv
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.vocabulary.columns import STUDY_PART
from ragrelay.report import statistics_tables
from ragrelay.report import transmission_tables as tables
from ragrelay.report.display.numbers import number, with_interval
from ragrelay.report.display.outputs import available, file_name, resolve
from ragrelay.report.display.sections import Section
from ragrelay.report.display.tables import records_table
from ragrelay.report.outputs import OUTPUTS, RESULT_TABLES
from ragrelay.report.reading import read_study
from ragrelay.report.study import ReportedStudy
from ragrelay.report.table1 import Value, table1, table1_frame
from ragrelay.report.table_files import write_tables

from tests.support.report_study import changed, write_study


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return write_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def study(files: dict) -> ReportedStudy:
    return read_study(**files)


@pytest.fixture(scope="module")
def section(study: ReportedStudy) -> Section:
    return study.sections[0]


def file_of(files: dict, source: str) -> Path:
    return files["sections"][0]["files"][source]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("unseen", [False, True])
def test_table1_has_the_values_and_marks_of_the_files(files: dict, section: Section, unseen: bool):
    cells = {(r["retriever"], r["ordering"], r["references"], r["k"]): r for r in rows_of(file_of(files, "utility"))}
    marks: dict[tuple, set] = {}
    for row in rows_of(file_of(files, "significance")):
        if row["significant"] == "true":
            ordering = row["against_ordering"] if row["mark"] == "‡" else row["ordering"]
            key = (row["retriever"], ordering, row["references"], row["k"], row["quantity"])
            marks.setdefault(key, set()).add(row["mark"])
    table = table1(section, unseen)
    seen = 0
    for row in table.rows:
        for quantity, column in (("utility", "mean_utility"), ("p", "mean_p")):
            for (grade, k), value in zip(table.columns, row.cells[quantity], strict=True):  # type: ignore[attr-defined]
                place = (row.retriever, row.ordering, grade, str(k))  # type: ignore[attr-defined]
                assert value.value == float(cells[place][column])
                assert set(value.marks) == marks.get((*place, quantity), set())
                seen += 1
    assert seen == 4 * 2 * 3 * 2 * 2
    assert any("†" in value for value in marks.values())
    assert any("‡" in value for value in marks.values())


def test_the_double_dagger_is_at_the_ascending_row_as_in_the_paper(section: Section):
    found = [(row.ordering, cell.marks) for row in table1(section).rows for cell in row.cells["utility"]]
    assert {ordering for ordering, marks in found if "‡" in marks} == {"ascending"}
    assert {ordering for ordering, marks in found if "†" in marks} == {"descending", "ascending"}


def test_the_best_of_each_column_is_marked(section: Section):
    for place in range(6):
        cells = [row.cells["utility"][place] for row in table1(section).rows]
        highest = max(cell.value for cell in cells)
        assert [cell.best for cell in cells] == [number(cell.value) == number(highest) for cell in cells]
    frame = table1_frame(section).filter(retriever="rel", quantity="utility", k=5, references="strict")
    assert sorted(frame["best"]) == [False, True]


def test_values_that_are_printed_alike_are_best_together(section: Section):
    cell = (pl.col("retriever") == "rel") & (pl.col("k") == 2) & (pl.col("references") == "lenient")
    values = pl.when(pl.col("ordering") == "descending").then(0.90004).otherwise(0.89996)
    twins = section["utility"].with_columns(pl.when(cell).then(values).otherwise("mean_utility").alias("mean_utility"))
    best = [row.retriever for row in table1(changed(section, utility=twins)).rows if row.cells["utility"][1].best]
    assert best == ["rel", "rel"]


def test_zero_shot_row_is_mean_p_of_the_zero_shot_answers(files: dict, section: Section):
    zero = {
        r["references"]: float(r["mean_p"]) for r in rows_of(file_of(files, "utility")) if r["retriever"] == "zeroshot"
    }
    assert table1(section).zero_shot == (zero["lenient"], zero["strict"])
    assert table1(section, unseen=True).zero_shot == ()


def test_table1_frame_holds_every_value_once(section: Section):
    frame = table1_frame(section)
    assert frame.height == 2 + 4 * 2 * 3 * 2 * 2
    assert frame.select("retriever", "ordering", "quantity", "references", "k").is_unique().all()


def test_missing_cell_is_a_dash_without_marks(section: Section):
    fewer = changed(section, utility=section["utility"].filter(~((pl.col("retriever") == "rel") & (pl.col("k") == 2))))
    row = next(row for row in table1(fewer).rows if row.retriever == "rel")
    assert row.cells["utility"][1].value is None
    assert str(Value(row.cells["utility"][1].value)) == "–"


def test_correlation_table_sets_the_coefficients_side_by_side(files: dict, section: Section):
    frame = tables.wide_correlation(section)
    long = rows_of(file_of(files, "correlation"))
    assert frame.height * 3 == len(long)
    names = ["retriever", "ordering", "k", "references", "measure", "subset"]
    found = {tuple(str(row[name]) for name in names): row for row in frame.iter_rows(named=True)}
    for row in long:
        wide = found[tuple(row[name] for name in names)]
        assert wide[row["coefficient"]] == (float(row["value"]) if row["value"] else None)
        assert wide[f"{row['coefficient']}_low"] == (float(row["low"]) if row["low"] else None)
    shown = tables.correlation_table(section)
    null = [row for row in shown.rows if row[0] == "nrel"]
    assert null
    assert all(row[6] == "–" and row[-1] == "nDCG is constant" for row in null)


def test_differences_and_variances_are_those_of_their_files(files: dict, section: Section):
    shown = statistics_tables.differences_table(section)
    kept = rows_of(file_of(files, "differences"))
    assert len(shown.rows) == len(kept)
    found = {tuple(row[:6]): row[10].split(" ")[0] for row in shown.rows}
    for row in kept:
        against = f"{row['against_retriever']} {row['against_ordering']}, k = {row['against_k']}"
        key = (row["comparison"], row["retriever"], row["ordering"], row["k"], row["references"], against)
        value, low, high = (float(row[name]) if row[name] else None for name in ("difference", "low", "high"))
        assert found[key] == with_interval(value, low, high, 2).split(" ")[0]
    variances = statistics_tables.variance_table(section)
    between = {tuple(row[name] for name in ("retriever", "ordering", "k", "references")): row["variance_queries"]
               for row in rows_of(file_of(files, "variance"))}  # fmt: skip
    assert {tuple(row[:4]): row[6] for row in variances.rows} == {
        key: number(float(value), 4) for key, value in between.items()
    }
    assert {row[8] for row in variances.rows} == {"20%"}


def test_long_tables_are_cut_from_the_end_of_least_interest(section: Section):
    whole = tables.correlation_table(section)
    cut = tables.correlation_table(section, 60)
    assert (len(cut.rows), cut.left) == (60, len(whole.rows) - 60)
    kept = [row for row in cut.rows if row[3] in section.grades and row[5] == "all queries"]
    assert len(kept) == 4 * 2 * 3 * 2
    places = [whole.rows.index(row) for row in cut.rows]
    assert places == sorted(places)


def test_copying_pairs_each_grade_with_its_unseen_references(section: Section):
    frame = tables.copying_frame(section)
    assert frame.height == 4 * 2 * 3 * 2
    means = {
        (row["retriever"], row["ordering"], row["k"], row["references"]): row["mean_utility"]
        for row in section["utility"].iter_rows(named=True)
    }
    for row in frame.iter_rows(named=True):
        place = (row["retriever"], row["ordering"], row["k"])
        assert row["unseen_mean_utility"] == means[(*place, row["references"] + "-unseen")]
        assert row["mean_utility"] == means[(*place, row["references"])]


def test_records_table_keeps_nested_values_readable():
    table = records_table("jobs", [{"made": 3, "engines": {"vllm": 2}}, {"made": None, "list": [1, "x"]}])
    assert [column.numeric for column in table.columns] == [True, False, False]
    assert table.rows == [["3", "vllm: 2", "–"], ["–", "–", "1, x"]]


@pytest.fixture(scope="module")
def written(study: ReportedStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the tables of the study."""
    folder = tmp_path_factory.mktemp("tables")
    write_tables(study, tables_of(study), folder)
    return folder


def tables_of(study: ReportedStudy) -> list:
    found = available(OUTPUTS, study.sections[0].tables)
    return [output for output in found if output.kind == "table" and output.of in ("section", "group")]


def test_files_are_written_the_same_twice_and_are_those_that_the_registry_names(
    study: ReportedStudy, written: Path, tmp_path: Path
):
    write_tables(study, tables_of(study), tmp_path)
    one, two = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (written, tmp_path))
    assert one == two
    keys = study.sections[0].keys
    assert one.keys() == {
        file_name(output, ending, keys) for output in tables_of(study) for ending in output.endings
    } | {"left_out.csv"}
    left_out = rows_of(written / "left_out.csv")
    assert left_out[0]["what"] == "judged passages without text"
    assert left_out[0]["count"] == "3"


def test_parquet_holds_what_the_csv_does_and_both_the_declared_columns(study: ReportedStudy, written: Path):
    seen = 0
    for output in tables_of(study):
        declared = list(STUDY_PART | resolve(output.columns or RESULT_TABLES[output.needs[0]].columns))
        for ending in (ending for ending in output.endings if ending.endswith("parquet")):
            path = written / file_name(output, ending, study.sections[0].keys)
            frame = pl.read_parquet(path)
            text = pl.read_csv(path.with_suffix(".csv"), schema_overrides=frame.schema)
            assert frame.height > 0 or output.name in ("holes", "clusters"), path
            assert frame.equals(text), path
            assert frame.columns == [
                name for column in declared for name in (study.grid.measures if "{" in column else [column])
            ], path
            seen += 1
    assert seen == 20


def test_no_text_in_a_csv_file_is_a_formula_and_parquet_has_it_as_it_is(study: ReportedStudy, tmp_path: Path):
    gain = study.sections[0].rows("gain").with_columns(largest_qid=pl.lit("=1+1"), reason=pl.lit("-2"))
    section = replace(study.sections[0], tables={**study.sections[0].tables, "gain": gain})
    left_out = [{"stage": "contexts", "dataset": "dl19", "what": "@SUM(A1)", "count": -1, "detail": "\t+1"}]
    changed = replace(study, sections=(section,), left_out=left_out)
    [output] = [output for output in tables_of(study) if output.name == "gain"]
    write_tables(changed, [output], tmp_path)
    path = tmp_path / file_name(output, "csv", section.keys)
    text = pl.read_csv(path, schema_overrides={"reason": pl.String})
    assert set(text["largest_qid"]) == {"'=1+1"} and set(text["reason"]) == {"-2"}
    frame = pl.read_parquet(path.with_suffix(".parquet"))
    assert set(frame["largest_qid"]) == {"=1+1"}
    assert frame["mean_difference"].min() < 0 and text["mean_difference"].equals(frame["mean_difference"])
    [row] = rows_of(tmp_path / "left_out.csv")
    assert (row["what"], row["count"], row["detail"]) == ("'@SUM(A1)", "-1", "'\t+1")


def with_file(files: dict, source: str, path: Path) -> dict:
    """``files`` with another of ``source``."""
    [section] = files["sections"]
    return files | {"sections": [section | {"files": section["files"] | {source: path}}]}


def test_a_file_that_lacks_a_column_is_named(files: dict, tmp_path: Path):
    path = tmp_path / "utility.csv"
    pl.read_csv(file_of(files, "utility")).drop("median_utility").write_csv(path)
    with pytest.raises(InputError, match=r"utility\.csv.*expected median_utility as well"):
        read_study(**with_file(files, "utility", path))


def test_a_column_that_is_null_throughout_keeps_its_type(files: dict, tmp_path: Path):
    path = tmp_path / "correlation.csv"
    pl.read_csv(file_of(files, "correlation")).with_columns(
        pl.lit(None).alias(name) for name in ("value", "low", "high", "p_value")
    ).write_csv(path)
    section = read_study(**with_file(files, "correlation", path)).sections[0]
    assert section["correlation"].schema["value"] == pl.Float64
    assert all(row[6] == "–" for row in tables.correlation_table(section).rows)
