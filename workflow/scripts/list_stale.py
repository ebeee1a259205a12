"""List the files below the results that the present configuration does not make."""

from ragrelay.jobs.stale_files import stale_files

found = list(stale_files(snakemake.params.folder, snakemake.params.patterns))
print(*found, f"{len(found)} files of {snakemake.params.folder} are not of the present configuration.", sep="\n")
