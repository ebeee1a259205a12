"""Encode texts as normalised token embeddings from a hidden layer, with the same results as bert-score 0.3.13.

Source: Zhang et al., BERTScore, ICLR 2020. Tokenisation, layers and weights follow bert_score/utils.py: the functions
sent_encode and get_model, and the idf dictionary, in which the token ids of [CLS] and [SEP] have weight 0.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from huggingface_hub import try_to_load_from_cache
from torch import nn
from transformers import AutoModel, AutoTokenizer
from transformers.tokenization_utils_base import LARGE_INTEGER

from ragrelay.base.display.progress import Progress
from ragrelay.base.errors import InputError
from ragrelay.base.models.hubs import check_cached
from ragrelay.base.models.locations import check_model, is_local, model_path
from ragrelay.scoring.architectures import BLOCK_ROWS
from ragrelay.scoring.embeddings import TokenEmbeddings
from ragrelay.scoring.text_packing import PackedModel
from ragrelay.scoring.workers import single_core_workers

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
TOKENISED_AT_ONCE = 1000
STORED = {np.dtype(np.float32): torch.float32, np.dtype(np.float16): torch.float16}
CHECKED = "The embedding of a text must not depend on the texts that are encoded with it."
# Attributes that hold the list of layers, in bert-score 0.3.13's order (utils.get_model). "block" belongs to a T5
# encoder that was taken out of its encoder-decoder.
STACKS = ("layer", "encoder.layer", "encoder.block", "block", "transformer.layer", "layers")
BATCH_TOKENS = 8192
"""Minimum number of padded tokens per batch."""
MOST_BATCH_TOKENS = 16_384
"""Maximum number of padded tokens per batch: enough to use a GPU fully, while larger batches need more padding."""
WIDTHS = 16
"""Memory per token while a layer is computed, in rows of the widest layer, with room to spare: input, queries, keys,
values, attention output, the intermediate layer before and after its activation, and memory that is freed late."""
SHARE = 0.5
"""Share of the free memory to use for encoding; the rest is for stored embeddings and matching."""


class Encoder:
    """An encoder that returns the token embeddings from one of the model's layers.

    ``definition``: model and layer (None for all layers); optionally revision, dtype, device and batch_tokens (None for
    as many as fit in the GPU's free memory). On a GPU, texts are encoded in padded batches (``batched`` is then true).
    On a CPU, texts are encoded one at a time or, if ``packs`` is true, in blocks (by ``packed``). Other attributes are
    ``dimension``, ``max_length`` (in tokens, including special tokens; None if unlimited), ``storage`` (the numpy type
    of embeddings) and ``commit`` (None for a local model). Raises InputError if the model, layer, dtype or GPU isn't
    available, or if a text's embeddings depend on the text's position in a block.
    """

    def __init__(self, definition: Mapping[str, Any], threads: int = 1, packs: bool = False) -> None:
        self.place = f"scorer model {definition['model']!r}"
        self.device = _device(definition.get("device", "auto"), self.place)
        self.batched = self.device.type != "cpu"
        self.threads = threads
        dtype = definition.get("dtype", "float32")
        if dtype not in DTYPES:
            raise InputError(self.place, f"dtype {dtype!r}", "one of " + ", ".join(DTYPES))
        model, self.tokenizer = _load(definition["model"], definition.get("revision"), DTYPES[dtype], self.place)
        self.commit = _commit(definition["model"], definition.get("revision"))
        self.dimension: int = model.config.hidden_size
        self.max_length = _max_length(model, self.tokenizer)
        self.storage = np.dtype(np.float32 if dtype == "float32" else np.float16)
        self.model = cut_after(model, definition["layer"], self.place).eval().to(self.device)
        self.batch_tokens = definition.get("batch_tokens") or batch_tokens(self.device, self.model)
        # By id, as in bert-score, so that a "[SEP]" typed in a text doesn't count either.
        self.weightless = {self.tokenizer.sep_token_id, self.tokenizer.cls_token_id}
        self.padding = self.tokenizer.pad_token_id or 0
        self.packed = PackedModel(self.model, self.padding, BLOCK_ROWS) if packs and not self.batched else None
        if self.packed:
            with single_core_workers(1) as worker:
                worker.submit(self.packed.check, self.tokenise([CHECKED])[0], self.place).result()

    def tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's token ids, truncated to ``max_length``, or an empty list if all tokens are special."""
        cut = {"truncation": True, "max_length": self.max_length} if self.max_length else {"truncation": False}
        rest, ids = iter(texts), []
        while some := [text.strip() for text in islice(rest, TOKENISED_AT_ONCE)]:
            ids += self.tokenizer(some, add_special_tokens=True, padding=False, verbose=False, **cut)["input_ids"]
        # A whitespace-only text counts as empty even if the model adds a token that counts (T5's end token).
        counts = (
            bool(text.strip()) and not self.weightless.issuperset(text_ids)
            for text, text_ids in zip(texts, ids, strict=True)
        )
        return [text_ids if any_counts else [] for text_ids, any_counts in zip(ids, counts, strict=True)]

    def layout(self, ids: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the arrays ``weights`` and ``offsets`` (see TokenEmbeddings) for tokenised texts."""
        offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
        weights = (token not in self.weightless for text_ids in ids for token in text_ids)
        return np.fromiter(weights, bool, count=int(offsets[-1])), offsets

    def embed(self, texts: Sequence[str]) -> TokenEmbeddings:
        """Tokenise and encode ``texts``. The embeddings are in GPU memory if they fit, otherwise in main memory."""
        ids = self.tokenise(texts)
        weights, offsets = self.layout(ids)
        shape = (int(offsets[-1]), self.dimension)
        tokens: np.ndarray | torch.Tensor = np.empty(shape, dtype=self.storage)
        if self.batched and fits_memory(tokens.nbytes, self.device):
            tokens = torch.empty(shape, dtype=STORED[self.storage], device=self.device)
        self.encode(ids, tokens, offsets)
        return TokenEmbeddings(tokens, weights, offsets)

    def encode(
        self,
        ids: Sequence[Sequence[int]],
        out: "np.ndarray | torch.Tensor",
        offsets: np.ndarray,
        progress: str | None = None,
    ) -> None:
        """Encode tokenised texts, and write the embeddings to ``out`` [T, dimension], at the rows in ``offsets``.

        On a GPU, texts of similar length are encoded together in batches of at most ``batch_tokens``. On a CPU, several
        threads encode blocks or single texts. ``progress``: a plural noun for the texts in progress messages.
        """
        # Longest first, so that a text that doesn't fit in memory fails immediately.
        order = sorted((place for place in range(len(ids)) if ids[place]), key=lambda place: (-len(ids[place]), place))
        shown = Progress(len(order), progress) if progress else None

        def run(batch: list[int]) -> None:
            embeddings = self._forward([ids[place] for place in batch])
            if isinstance(out, torch.Tensor):
                for place, embedding in zip(batch, embeddings, strict=True):
                    out[offsets[place] : offsets[place + 1]] = embedding
            else:
                for place, copied in zip(batch, self._copied(embeddings), strict=True):
                    out[offsets[place] : offsets[place + 1]] = copied
            if shown:
                shown.add(len(batch))

        if self.batched:
            for batch in _batches(order, ids, self.batch_tokens):
                run(batch)
            return
        blocks: Iterable[list[int]] = ([place] for place in order)
        if self.packed:
            blocks = self.packed.blocks(order, list(map(len, ids)))
        with single_core_workers(self.threads) as pool:
            for _ in pool.map(run, blocks):
                pass

    @torch.inference_mode()
    def _forward(self, batch: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """Return the normalised embeddings [length, dimension] for a batch or block of token ids, on the device.

        They are views of a single tensor.
        """
        lengths = list(map(len, batch))
        if self.packed:
            rows = _normalised(self.packed(batch))
            return list(rows[: sum(lengths)].split(lengths))
        ids = torch.full((len(batch), max(lengths)), self.padding, dtype=torch.long)
        mask = torch.zeros((len(batch), max(lengths)), dtype=torch.long)
        for row, token_ids in enumerate(batch):
            ids[row, : len(token_ids)] = torch.tensor(token_ids)
            mask[row, : len(token_ids)] = 1
        hidden = _normalised(self.model(ids.to(self.device), attention_mask=mask.to(self.device))[0])
        return [hidden[row, :length] for row, length in enumerate(lengths)]

    def _copied(self, embeddings: Sequence[torch.Tensor]) -> list[np.ndarray]:
        """Copy a batch's ``embeddings`` to main memory in one step."""
        lengths = list(map(len, embeddings))
        rows = (embeddings[0] if len(embeddings) == 1 else torch.cat(list(embeddings))).cpu().numpy()
        return np.split(rows.astype(self.storage, copy=False), np.cumsum(lengths)[:-1])


def _normalised(hidden: torch.Tensor) -> torch.Tensor:
    hidden = hidden.float()
    return hidden / hidden.norm(dim=-1, keepdim=True)


def _batches(order: Sequence[int], ids: Sequence[Sequence[int]], batch_tokens: int) -> Iterator[list[int]]:
    """Yield consecutive places in ``order`` whose padded size is at most ``batch_tokens`` (but at least one text)."""
    batch: list[int] = []
    for place in order:
        if batch and (len(batch) + 1) * len(ids[batch[0]]) > batch_tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _device(name: str, place: str) -> torch.device:
    available = torch.cuda.is_available()
    if name.startswith("cuda") and not available:
        raise InputError(place, "no GPU that torch can use", "a GPU, because device is cuda (auto needs none)")
    return torch.device(name if name != "auto" else "cuda" if available else "cpu")


def _load(name: str, revision: str | None, dtype: torch.dtype, place: str) -> tuple[Any, Any]:
    check_model(place, name, tokenizer=True)
    check_cached(name, revision, place)
    source = model_path(name)
    # Set explicitly, because transformers would otherwise ask on the terminal whether to run the model's code.
    options: dict[str, object] = {"trust_remote_code": False}
    if revision and not is_local(source):
        options["revision"] = revision
    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()
    verbosity = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()  # No warnings about heads that a bare encoder doesn't load.
    try:
        model = AutoModel.from_pretrained(source, dtype=dtype, **options)
        return model, AutoTokenizer.from_pretrained(source, **options)
    except Exception as error:  # the Rust library of tokenizers raises no narrower type
        reason = " ".join(str(error).split())[:200]
        expected = "an encoder's folder, or the id of a hub model that is cached or reachable"
        raise InputError(place, f"a loading error ({reason})", expected) from error
    finally:
        transformers.logging.set_verbosity(verbosity)


def _commit(name: str, revision: str | None) -> str | None:
    """Return the commit of a loaded hub model (the name of its folder in the hub's cache); None for a local model."""
    source = model_path(name)
    config = None if is_local(source) else try_to_load_from_cache(source, "config.json", revision=revision)
    return Path(config).parent.name if isinstance(config, str) else None


def _max_length(model: object, tokenizer: Any) -> int | None:
    """Return the tokenizer's limit, as bert-score does; if it has none, the number of absolute positions, if any.

    bert-score itself passes on a missing limit (1e30), which makes fast tokenizers raise OverflowError. Texts within
    the limit get the same tokens either way.
    """
    if tokenizer.model_max_length < LARGE_INTEGER:
        return tokenizer.model_max_length
    positions = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if positions is None:
        return None
    # RoBERTa's positions start after the padding index.
    return positions.num_embeddings - (0 if positions.padding_idx is None else positions.padding_idx + 1)


def cut_after(model: nn.Module, layer: int | None, place: str) -> nn.Module:
    """Remove the layers after ``layer`` (none if ``layer`` is None) from the model's encoder, and return the encoder.

    Raises InputError if the model has fewer layers or an unknown structure. ``place``: the model's name in the message.
    """
    encoder: Any = model.encoder if hasattr(model, "encoder") and hasattr(model, "decoder") else model
    if layer is None:
        return encoder
    if hasattr(encoder, "n_layers"):  # XLM has a number instead of a list.
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
    raise InputError(place, f"a {type(model).__name__}", "an encoder of a kind that bert-score supports")


def _check(layer: int, available: int, place: str) -> None:
    if not 1 <= layer <= available:
        raise InputError(place, f"layer {layer}", f"a layer from 1 to {available} (the model's last)")


def batch_tokens(device: torch.device, model: Any) -> int:
    """Return a batch size, in padded tokens, for which encoding uses at most half of the device's free memory."""
    if device.type != "cuda":
        return BATCH_TOKENS
    width = max(model.config.hidden_size, getattr(model.config, "intermediate_size", 4 * model.config.hidden_size))
    free, _ = torch.cuda.mem_get_info(device)
    of_token = WIDTHS * width * next(model.parameters()).element_size()
    return int(min(MOST_BATCH_TOKENS, max(BATCH_TOKENS, SHARE * free // of_token)))


def fits_memory(size: int, device: torch.device) -> bool:
    """Return whether ``size`` bytes are at most half of the device's free memory (always true for a CPU)."""
    return device.type != "cuda" or size <= SHARE * torch.cuda.mem_get_info(device)[0]
