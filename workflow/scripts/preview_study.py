"""Run the workflow on the cells that have scores, as a study of its own."""

import subprocess
import sys
from pathlib import Path

import yaml
from ragrelay.io.atomic_files import write_text
from ragrelay.jobs.scripts import on_terminal
from ragrelay.planning.preview import Scored, preview_config

params = snakemake.params
with on_terminal():
    cells = [Scored(d, s, g, r, Path(path).is_file()) for d, s, g, r, path in params.scored]
    config = preview_config(params.config, cells)
overlay = Path(snakemake.log[0]).with_suffix(".yaml")
write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), overlay)
# Without a lock, since Snakemake would remove the locks of the current run.
command = [params.python, "-m", "snakemake", "--snakefile", params.snakefile, "--cores", str(snakemake.threads)]
command += ["--nolock", "--rerun-incomplete", "--configfile", str(overlay)]
sys.exit(subprocess.run(command, check=False).returncode)
