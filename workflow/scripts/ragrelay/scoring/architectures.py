"""List encoder architectures that can encode texts in blocks: several texts' rows in one matrix product.

All blocks have the same number of rows, so that a text's numbers don't depend on the rest of its block: the last bits
of a matrix product change with its shape, not with other rows. Attention is computed text by text.
"""

from collections.abc import Mapping

BLOCK_ROWS = 256
"""Rows of a block: enough for a product to reach its full speed, few enough for its results to stay in a core's cache.

It affects the last bits of scores, and is part of their fingerprint.
"""
PACKED = ("bert", "camembert", "deberta", "deberta-v2", "electra", "roberta", "xlm-roberta")
"""Values of ``model_type`` in which only attention, which is replaced, combines rows."""


def packs(described: Mapping[str, object]) -> bool:
    """Return whether a model can encode texts in blocks, by its ``config.json``."""
    # A decoder's attention looks back only, and a convolution (large DeBERTa v2 models have one) at neighbouring rows.
    mixes_rows = described.get("is_decoder", False) or described.get("conv_kernel_size", 0)
    return described.get("model_type") in PACKED and not mixes_rows
