"""Architectures of encoders whose texts can be encoded in blocks: the rows of several texts in one product.

A block has always the same number of rows, so that a text's numbers don't depend on what else is in its block: a matrix
product's last bits change with its shape, not with the other rows. Attention is computed text by text.
"""

from collections.abc import Mapping
from typing import Any

BLOCK_ROWS = 256
"""Rows of a block: enough for a product to reach its full speed, few enough for its results to stay in a core's cache.

It decides the last bits of scores, and is a part of their fingerprint.
"""
PACKED = ("bert", "camembert", "deberta", "deberta-v2", "electra", "roberta", "xlm-roberta")
"""Values of ``model_type`` of which only attention, which is replaced, looks at more than one row."""


def packs(described: Mapping[str, Any]) -> bool:
    """Return whether a model can encode texts in blocks, by its ``config.json``."""
    # A decoder's attention looks back only, and a convolution (large DeBERTa v2 models have one) at neighbouring rows.
    mixes_rows = described.get("is_decoder", False) or described.get("conv_kernel_size", 0)
    return described.get("model_type") in PACKED and not mixes_rows
