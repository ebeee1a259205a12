"""List the studies in `results/` on a page: time, datasets, model and main answers."""
