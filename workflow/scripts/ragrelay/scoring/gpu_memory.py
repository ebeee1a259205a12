"""Decide how much of a GPU's free memory an encoder takes."""

from typing import Any

import torch

BATCH_TOKENS = 8192
"""Padded tokens of a batch, at least."""
MOST_BATCH_TOKENS = 131_072
"""From here on a larger batch is no faster: a GPU's multiplications are all at work."""
WIDTHS = 16
"""Rows of the widest layer that a token takes while a layer is computed, with room to spare: its input, queries, keys,
values and their attention, the intermediate layer before and after its activation, and what is freed late."""
SHARE = 0.5
"""Of the free memory; the other half is for what is kept there, and for the matching."""


def batch_tokens(device: torch.device, model: Any) -> int:
    """Padded tokens of a batch of ``model`` on ``device``: as many as half of its free memory holds; 8,192 on a CPU."""
    if device.type != "cuda":
        return BATCH_TOKENS
    width = max(model.config.hidden_size, getattr(model.config, "intermediate_size", 4 * model.config.hidden_size))
    free, _ = torch.cuda.mem_get_info(device)
    of_token = WIDTHS * width * next(model.parameters()).element_size()
    return int(min(MOST_BATCH_TOKENS, max(BATCH_TOKENS, SHARE * free // of_token)))


def fits(size: int, device: torch.device) -> bool:
    """Whether ``size`` bytes may be kept on ``device``: half of what is free there now."""
    return device.type != "cuda" or size <= SHARE * torch.cuda.mem_get_info(device)[0]
