"""The table of docs/datasets.md against the catalogue, and against ir_datasets' own registry, without a download."""

import re

import ir_datasets
import pytest
import yaml

from tests.support.sandbox import ROOT

TEXT = (ROOT / "docs/datasets.md").read_text(encoding="utf-8")
TABLE, _, RECIPES = TEXT.partition("\n## ")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines() if line.startswith("| ")][
    1:
]
CATALOGUED = [row for row in ROWS if row[0].startswith("`")]
DATASETS = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))["datasets"]


def number(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("row", CATALOGUED, ids=lambda row: row[0].strip("`"))
def test_the_registry_has_it_as_the_page_says(row: list[str]) -> None:
    name, dataset_id, queries, passages, references, _ = (cell.strip("`") for cell in row)
    assert DATASETS[name]["id"] == dataset_id
    found = ir_datasets.load(dataset_id).metadata()
    assert (found["queries"]["count"], found["docs"]["count"]) == (number(queries), number(passages))
    labels = {int(label) for label in found["qrels"]["fields"]["relevance"]["counts_by_value"]}
    assert set(DATASETS[name]["references"].values()) == {1} and max(labels) == 1
    assert ("none is judged non-relevant" in references) == (0 not in labels)


def test_what_the_registry_lacks_is_a_recipe() -> None:
    assert len(CATALOGUED) == 6
    registered = list(ir_datasets.registry)
    recipes = re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    for row in (row for row in ROWS if row not in CATALOGUED):
        name = row[0].split(",")[0]
        assert name in recipes
        assert not any(name.lower().replace(" ", "-") in known for known in registered)


def test_no_language_is_promised_for_bm25_that_it_does_not_read() -> None:
    """MIRACL's other languages are ids of the registry like those of the table."""
    languages = {name.split("/")[1] for name in ir_datasets.registry if name.startswith("miracl/")}
    assert {"ru", "ja", "ar"} <= languages
    assert re.search(r"MIRACL has 18 languages, but BM25\s+and ROUGE can only read a few", TABLE)
    assert "Languages other than English" in RECIPES
