"""List the files in the results that the current configuration doesn't create."""

from ragrelay.base.display.terminal import say, tell
from ragrelay.execution.jobs.stale_files import list_stale

stale = list(list_stale(snakemake.params.folder, snakemake.params.patterns, snakemake.params.kept))
if stale:
    say(*stale)
tell(f"Files in {snakemake.params.folder} that don't belong to the current configuration: {len(stale)}")
