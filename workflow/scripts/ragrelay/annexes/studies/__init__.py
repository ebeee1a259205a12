"""List the studies below `results/` on a page: when, on what, with which model, and what they say."""
