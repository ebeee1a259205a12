"""List the studies in `results/` on a page, with their times, datasets, models and main answers."""
