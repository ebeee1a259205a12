"""The measures that labels are aggregated by."""

MEASURES = {
    "P": "precision",
    "Success": "hit ratio",
    "R": "recall",
    "AP": "MAP",
    "RR": "MRR",
    "nDCG": "nDCG",
}
"""The measures in ir_measures' notation, with the paper's names."""
