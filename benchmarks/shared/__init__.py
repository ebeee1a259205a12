"""What the benchmarks share: how results are written, paired timing, processes that keep an engine, a study to run."""
