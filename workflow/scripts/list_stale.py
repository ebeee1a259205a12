"""List the files below the results that the present configuration does not make."""

from ragrelay.jobs.stale_files import list_stale

found = list(list_stale(snakemake.params.folder, snakemake.params.patterns))
print(*found, f"{len(found)} files of {snakemake.params.folder} are not of the present configuration.", sep="\n")
