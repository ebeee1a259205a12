"""Cutting an encoder after a layer, as bert-score does it: later layers are removed, not only ignored."""

from typing import Any

from torch import nn

from ragrelay.errors import InputError

# Where architectures keep their list of layers, in bert-score 0.3.13's order (utils.get_model); "block" is a T5
# encoder's, taken out of its encoder-decoder.
STACKS = ("layer", "encoder.layer", "encoder.block", "block", "transformer.layer", "layers")


def cut_after(model: nn.Module, layer: int | None, place: str) -> nn.Module:
    """``model``'s encoder with its first ``layer`` layers alone; whole where None.

    Raises InputError with ``place`` where the model has fewer layers or keeps them in no known way.
    """
    encoder: Any = model.encoder if hasattr(model, "encoder") and hasattr(model, "decoder") else model
    if layer is None:
        return encoder
    if hasattr(encoder, "n_layers"):  # XLM counts instead of listing.
        _check(layer, encoder.n_layers, place)
        encoder.n_layers = layer
        return encoder
    if hasattr(encoder, "encoder") and hasattr(encoder.encoder, "albert_layer_groups"):  # ALBERT shares its layers.
        _check(layer, encoder.encoder.config.num_hidden_layers, place)
        encoder.encoder.config.num_hidden_layers = layer
        return encoder
    for path in STACKS:
        *above, name = path.split(".")
        owner = encoder
        for step in above:
            owner = getattr(owner, step, None)
        stack = getattr(owner, name, None)
        if isinstance(stack, nn.ModuleList):
            _check(layer, len(stack), place)
            setattr(owner, name, stack[:layer])
            return encoder
    raise InputError(place, f"a {type(model).__name__}", "an encoder of a kind that bert-score knows")


def _check(layer: int, available: int, place: str) -> None:
    if not 1 <= layer <= available:
        raise InputError(place, f"layer {layer}", f"a layer from 1 to {available}, which is what the model has")
