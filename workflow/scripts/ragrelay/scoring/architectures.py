"""List the encoder architectures that can encode several texts in one block, with a single matrix product.

In a matrix product, a row's last bits depend on the number of rows, but not on other rows' values. All blocks have the
same number of rows, so an embedding doesn't depend on the other texts in the block. Attention is computed per text.
"""

from collections.abc import Mapping

BLOCK_ROWS = 256
"""Rows per block: enough for a matrix product to reach full speed, few enough for its results to fit a core's cache.

The number affects the last bits of scores, so it is part of their fingerprint.
"""
PACKED = ("bert", "camembert", "deberta", "deberta-v2", "electra", "roberta", "xlm-roberta")
"""Values of ``model_type`` where only attention mixes rows; ragrelay replaces the attention."""


def packs(described: Mapping[str, object]) -> bool:
    """Return whether a model can encode texts in blocks. ``described``: the content of the model's config.json."""
    # A decoder's attention is causal, and a convolution (as in large DeBERTa v2 models) reads neighbouring rows.
    mixes_rows = described.get("is_decoder", False) or described.get("conv_kernel_size", 0)
    return described.get("model_type") in PACKED and not mixes_rows
