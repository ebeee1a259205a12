"""Copy a model to a node's local storage, once per node (config key ``stage_models``).

Jobs read the key from an environment variable. It isn't passed as a rule's param, because it doesn't affect results.
"""

import fcntl
import logging
import os
import shutil
import stat
from pathlib import Path

from ragrelay.base.io.atomic_files import atomic_folder
from ragrelay.base.io.hashing import value_hash
from ragrelay.base.models.hubs import fetch, on_hub
from ragrelay.base.models.locations import model_path

log = logging.getLogger(__name__)

VARIABLE = "RAGRELAY_STAGE_MODELS"


def staged_model(model: str, revision: str | None) -> str:
    """Copy ``model`` to the folder named in the environment variable VARIABLE, and return the path of the copy.

    The first job on a node copies the model; other jobs wait for the copy. If copying fails, the problem is logged and
    the original path is returned.
    """
    named = os.environ.get(VARIABLE, "")
    if not named:
        return model_path(model)
    source = fetch(model, revision, f"generator model {model!r}") if on_hub(model) else Path(model_path(model))
    folder = os.path.expandvars(Path(named).expanduser())
    if "$" in folder:
        log.warning("config key stage_models: %s isn't set here; reading %s from the original folder", named, model)
        return model_path(model)
    try:
        return str(_copied(source, Path(folder) / f"ragrelay-models-{os.getuid()}"))
    except OSError as error:
        log.warning("config key stage_models: copying failed (%s); reading %s from the original folder", error, model)
        return model_path(model)


def _copied(source: Path, folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    info = folder.lstat()
    # A node's storage is often world-writable, so don't read another user's weights or follow a link.
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{folder}: others may write to it")
    files = sorted(path for path in source.rglob("*") if path.is_file())
    states = [path.stat() for path in files]
    names = [str(path.relative_to(source)) for path in files]
    described = [[name, state.st_size, state.st_mtime_ns] for name, state in zip(names, states, strict=True)]
    copy = folder / value_hash([str(source.resolve()), described], digits=16)
    with (folder / f".{copy.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not copy.is_dir():
            needed, free = sum(state.st_size for state in states), shutil.disk_usage(folder).free
            if needed > free:
                raise OSError(f"{folder}: {free >> 20:,} MiB free, {needed >> 20:,} MiB needed")
            log.info("%s: copied to %s", source, copy)
            with atomic_folder(copy) as temporary:
                shutil.copytree(source, temporary)
    return copy
