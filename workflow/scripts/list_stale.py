"""List the files below the results that the present configuration does not make."""

from ragrelay.display.terminal import say, tell
from ragrelay.jobs.stale_files import list_stale

found = list(list_stale(snakemake.params.folder, snakemake.params.patterns))
if found:
    say(*found)
tell(f"{len(found)} files of {snakemake.params.folder} are not of the present configuration.")
