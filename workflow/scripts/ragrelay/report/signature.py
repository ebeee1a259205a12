"""Write a signature for numbers in a paper: a line that identifies the data and the models behind the numbers."""

from collections.abc import Iterator, Mapping
from typing import Any

import ragrelay
from ragrelay.base.io.hashing import value_hash

DIGITS = 8


def signature(provenance: Mapping[str, Any], dataset: str, generator: str, scorer: str) -> str:
    """Return the signature of a section's first table: pairs such as ``k:3``, separated by bars as in sacreBLEU.

    The dataset is identified by hashes of its queries and judgements, retrievers by hashes of runs and processors, the
    generator by its fingerprint, and the scorer by a hash of its definition (or of imported scores). The signature is
    empty if ``provenance`` lacks the dataset's hashes, the fingerprint or the scorer.
    """
    config = provenance.get("config") or {}
    data = (provenance.get("data") or {}).get(dataset) or {}
    fingerprint = ((provenance.get("generators") or {}).get(generator) or {}).get("fingerprint")
    definition = (config.get("scorers") or {}).get(scorer)
    if not data or not fingerprint or definition is None or "grid" not in config:
        return ""
    grid = config["grid"]
    comparisons = (provenance.get("primary") or {}).get("comparisons") or []
    primary = next((c["primary"] for c in comparisons if (c["dataset"], c["scorer"]) == (dataset, scorer)), None) or {}
    judges = [config["scorers"][judge] for judge in definition.get("of", ())]
    of_scores = data.get(f"scores {scorer}, {generator}", {}).get("hash")
    of_scores = of_scores or value_hash([definition, *judges] if judges else definition)
    hashes = [data[kind]["hash"][:DIGITS] for kind in ("queries", "judgements") if kind in data]
    names = [primary["retriever"], primary["reference"]] if primary else grid["retrievers"]
    kinds = ("run", "processor of")
    of_runs = {name: [data.get(f"{kind} {name}", {}).get("hash", "")[:DIGITS] for kind in kinds] for name in names}
    parts = {
        "data": ":".join([dataset, *hashes]),
        "references": primary.get("references"),
        "retrievers": ",".join(":".join(filter(None, [name, *hashes])) for name, hashes in of_runs.items()),
        "k": primary.get("k") or ",".join(map(str, grid["k"])),
        "ordering": primary.get("ordering") or ",".join(grid["orderings"]),
        "seeds": ",".join(map(str, grid["seeds"])),
        "generator": f"{generator}:{fingerprint[:DIGITS]}",
        "scorer": f"{scorer}:{of_scores[:DIGITS]}",
        "version": ragrelay.__version__,
    }
    return "|".join(f"{key}:{value}" for key, value in parts.items() if value is not None)


def signatures(provenance: Mapping[str, Any]) -> Iterator[str]:
    """Yield the signature of each section in the study."""
    grid = (provenance.get("config") or {}).get("grid") or {}
    for dataset in grid.get("datasets", []):
        for generator in grid.get("generators", []):
            for scorer in grid.get("scorers", []):
                if line := signature(provenance, dataset, generator, scorer):
                    yield line
