"""Cases of interventions for shared tables (tests.support.annex_cases)."""

from tests.support.changes import Changes

CEILING = {"annex interventions": 3200}  # tests of it that the core had; relay's remark; public names' Args; subtopics
CONFIG = {
    "optional": {
        "interventions": {
            "swap": {"kind": "swap", "retrievers": ["bm25"]},
            "without": {"kind": "leave_out", "retrievers": ["bm25", "rel"]},
            "twice": {"kind": "duplicate", "retrievers": ["bm25"], "k": [2], "ordering": "ascending"},
        }
    }
}
GENERATED = {"generate_changed_answers": "small/interventions/generated/demo-lm/shard0.json"}
BY_CLUSTER = {"intervention_effects"}
SEVERAL = {"analyse_interventions": {"intervention_effects", "passage_effects"}}
DOCS_NOT_RUN = {
    ("docs/which-passages-help.md", "interventions:"): "keys of a study; test_interventions_rerun.py",
    ("docs/which-passages-help.md", "retrievers:"): "passages and a run of a reader of yours",
}


def remove_retriever(study: Changes, name: str) -> None:
    for intervention, keys in study.config.get("interventions", {}).items():
        study.entry("interventions", intervention, retrievers=[one for one in keys["retrievers"] if one != name])
