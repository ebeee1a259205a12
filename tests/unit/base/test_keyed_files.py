"""What files are of, read from their paths."""

from pathlib import Path

import pytest
from ragrelay.base.io.keyed_files import KeyedFiles, keyed_files

ANSWERS = "<results>/{dataset}/answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet"
PATHS = [f"results/s/d.1/answers/lm/bm_25/descending/k{k}/seed{seed}.parquet" for k in (10, 2) for seed in (2, 1)]


def test_keys_are_those_of_the_path_in_the_order_of_the_files() -> None:
    files = keyed_files({"answers": ANSWERS}, {"answers": PATHS, "other": ["x"]})["answers"]
    key = {"dataset": "d.1", "generator": "lm", "retriever": "bm_25", "ordering": "descending", "k": 10, "seed": 2}
    assert files.keyed[0] == (key, Path(PATHS[0]))
    cells = [("descending", 10, 2), ("descending", 10, 1), ("descending", 2, 2), ("descending", 2, 1)]
    assert list(files.by("ordering", "k", "seed").items()) == list(zip(cells, map(Path, PATHS), strict=True))


@pytest.mark.parametrize("root", ["", "answers/k1/", "/nodes/7/answers/", "s3/study/"])
def test_results_may_be_anywhere(root: str) -> None:
    files = keyed_files({"runs": "<results>/{dataset}/runs/{retriever}.run.gz"}, {"runs": f"{root}d/runs/a.b.run.gz"})
    assert files["runs"].keyed == [({"dataset": "d", "retriever": "a.b"}, Path(f"{root}d/runs/a.b.run.gz"))]


def test_one_wildcard_gives_plain_values_and_a_file_that_is_named_twice_counts_once() -> None:
    given = {"costs": ["d/cost/lm.csv", "d/cost/other.csv", "d/cost/lm.csv"]}
    files = keyed_files({"costs": "<results>/{dataset}/cost/{generator}.csv"}, given)["costs"]
    assert files.by("generator") == {"lm": Path("d/cost/lm.csv"), "other": Path("d/cost/other.csv")}
    assert files.matching(generator="other").paths == (Path("d/cost/other.csv"),)
    assert files.of({"dataset": "d", "generator": "lm", "scorer": "x"}) == Path("d/cost/lm.csv")


def test_a_path_is_found_where_its_names_could_be_read_in_two_ways() -> None:
    pattern = "<results>/explorer/{dataset}_{generator}"
    files = KeyedFiles(pattern, (Path("r/explorer/a_b_c"), Path("r/explorer/a_b")))
    assert files.of({"dataset": "a", "generator": "b_c"}) == files.of({"dataset": "a_b", "generator": "c"})


def test_files_are_grouped_by_a_wildcard_in_their_order() -> None:
    files = KeyedFiles(ANSWERS, tuple(map(Path, PATHS)))
    groups = files.grouped("k")
    assert {path for paths in groups.values() for path in paths} == set(files.paths)
    assert all(files.matching(k=k).paths == tuple(paths) for k, paths in groups.items()) and len(groups) > 1


@pytest.mark.parametrize("path", ["d/runs/a.run", "d/other/a.run.gz", "runs/a.run.gz", "d/runs/x/a.run.gz"])
def test_a_path_of_another_pattern_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="does not match the pattern"):
        _ = KeyedFiles("<results>/{dataset}/runs/{retriever}.run.gz", (Path(path),)).keyed


def test_two_files_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match=r"4 files of .* but 2 by k"):
        KeyedFiles(ANSWERS, tuple(map(Path, PATHS))).by("k")
    with pytest.raises(ValueError, match="0 files"):
        KeyedFiles(ANSWERS, ()).of(
            {"dataset": "d", "generator": "g", "retriever": "r", "ordering": "o", "k": 1, "seed": 1}
        )
