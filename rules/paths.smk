"""Where files are: a pattern each, and the one way to fill it.

Everything of a study is below <results>; a pattern's wildcards are all that its file depends on. `zeroshot` is in
the place of a retriever, with ordering `none` and k 0.
"""

FETCHED = "<results>/fetched/{fetched}.json"
INDEX = "<results>/indexes/{corpus}/{index}.json"

QUERIES = "<results>/{dataset}/collection/queries.parquet"
QRELS = "<results>/{dataset}/collection/qrels.parquet"
REFERENCES = "<results>/{dataset}/collection/references.parquet"
RUN = "<results>/{dataset}/runs/{retriever}.run.gz"
RUN_DOUBTS = "<results>/{dataset}/runs/{retriever}.doubts.json"
# Passages that contexts are made of, and those without text that were skipped.
CANDIDATES = "<results>/{dataset}/contexts/{retriever}.parquet"
SKIPPED = "<results>/{dataset}/contexts/{retriever}.skipped.parquet"
MEASURES = "<results>/{dataset}/retrieval/{retriever}.parquet"
PROMPTS = "<results>/{dataset}/prompts/{template}/{retriever}/{ordering}/k{k}.parquet"
RECEIPT = "<results>/{dataset}/generated/{generator}/{retriever}/shard{shard}.json"
ANSWERS = "<results>/{dataset}/answers/{generator}/{retriever}/{ordering}/k{k}/seed{seed}.parquet"
# Of a generator whose answers are brought along, in the place of a template: which passages they were made with.
ANSWERED_WITH = "@{generator}"
PASSAGES = "<results>/{dataset}/prompts/@{generator}/{retriever}/passages.parquet"
ENCODED = "<results>/{dataset}/references/{scorer}.json"
SCORES = "<results>/{dataset}/scores/{scorer}/{generator}/{retriever}.parquet"
# With two endings: what a judge was asked about answers, and the receipt.
JUDGED_ANSWERS = "<results>/{dataset}/judged/{scorer}/{generator}/{retriever}"
# A folder: what checks of a judge ask, the receipt, and the scores.
JUDGE_CHECKS = "<results>/{dataset}/judged/{scorer}/{generator}/checks"
UTILITY = "<results>/{dataset}/utility/{scorer}/{generator}.parquet"
# Counts of what was left out, by stage.
LEFT_OUT_OF_COLLECTION = "<results>/{dataset}/collection/left_out.json"
LEFT_OUT_OF_REFERENCES = "<results>/{dataset}/collection/references.left_out.json"
LEFT_OUT_OF_CONTEXTS = "<results>/{dataset}/retrieval/{retriever}.left_out.json"
LEFT_OUT_OF_ANSWERS = (
    "<results>/{dataset}/answers/{generator}/{retriever}/left_out.json"
)
# Of a judge's scores.
LEFT_OUT_OF_SCORES = (
    "<results>/{dataset}/scores/{scorer}/{generator}/{retriever}.left_out.json"
)
# With several endings.
CONTEXT_USE = "<results>/{dataset}/context_use/{generator}/{retriever}"

SINGLE_PROMPTS = (
    "<results>/{dataset}/annotations/prompts/{template}/{retriever}.parquet"
)
SINGLE_RECEIPT = (
    "<results>/{dataset}/annotations/generated/{generator}/shard{shard}.json"
)
SINGLE_ANSWERS = "<results>/{dataset}/annotations/answers/{generator}.parquet"
JUDGED = "<results>/{dataset}/annotations/judged/{source}/{judge}.json"
# A folder: what checks of a judge of passages ask, and the changed prompts; and one of each judge, with the scores.
PASSAGE_CHECKS = "<results>/{dataset}/annotations/checks/{source}"
CHECKED_PASSAGES = "<results>/{dataset}/annotations/checks/{source}/{judge}"
LABELS_BY_ANSWERS = "<results>/{dataset}/annotations/erag/{scorer}/{generator}.parquet"
LABELS_BY_JUDGE = "<results>/{dataset}/annotations/llm/{source}/{judge}.parquet"
LABELS_BY_PAGES = "<results>/{dataset}/annotations/pages/{source}.parquet"
LABELS_BY_FILE = "<results>/{dataset}/annotations/file/{source}.parquet"
# Counts of what such a file does not have.
LEFT_OUT_OF_LABELS = "<results>/{dataset}/annotations/{by}/{source}.left_out.json"
LABELS = "<results>/{dataset}/annotations/labels/{scorer}/{generator}"
LABEL_COST = "<results>/{dataset}/annotations/cost/{generator}.csv"

# Lists of nuggets, of the scorer that counts them.
NUGGETS = "<results>/{dataset}/nuggets/{scorer}/nuggets.parquet"
NUGGETS_RECEIPT = "<results>/{dataset}/nuggets/{scorer}/written/shard{shard}.json"
LEFT_OUT_OF_NUGGETS = "<results>/{dataset}/nuggets/{scorer}/left_out.json"

# Words of the corpus counted, and predictions.
TERMS = "<results>/{dataset}/predictions/terms.json"
CONTEXT_LIKELIHOODS = "<results>/{dataset}/predictions/contexts/{generator}/{retriever}"
RERANKED = "<results>/{dataset}/predictions/reranked/{reranker}/{retriever}.parquet"
AGREEMENT = (
    "<results>/{dataset}/predictions/agreement/{scorer}/{generator}/{retriever}.parquet"
)
# Count of what a file of the passages' quality does not have.
LEFT_OUT_OF_QUALITY = "<results>/{dataset}/predictions/quality.left_out.json"
PREDICTIONS = "<results>/{dataset}/predictions/{generator}/{retriever}.parquet"
PREDICTION_SARE = (
    "<results>/{dataset}/analysis/{scorer}/{generator}/prediction_sare.parquet"
)

CLAIMS = "<results>/acu/{claims}/claims.parquet"
CLAIM_PROMPTS = "<results>/acu/{claims}/prompts/{template}.parquet"
CLAIM_SCORES = "<results>/acu/{claims}/scored/{generator}"
CLAIM_PAIRS = "<results>/acu/{claims}/pairs/{generator}/{template}.parquet"
CHARACTERISTICS = "<results>/acu/{claims}/characteristics"

EXPORTED = {
    "trec_rag": "<results>/export/{dataset}/{generator}/trec_rag/{retriever}.{ordering}.k{k}.seed{seed}.jsonl",
    "pyterrier": "<results>/export/{dataset}/{generator}/pyterrier/{retriever}.{ordering}.k{k}.seed{seed}.parquet",
    "jsonl": "<results>/export/{dataset}/{generator}/answers.jsonl",
    "parquet": "<results>/export/{dataset}/{generator}/answers.parquet",
}
DATA_CARD = "<results>/export/tables/README.md"

PROVENANCE = "<results>/report/provenance.json"
LEFT_OUT_COUNTS = "<results>/report/left_out.json"
LEFT_OUT_TABLE = "<results>/report/tables/left_out.csv"
ANNOTATION_TABLES = {
    name: f"<results>/report/tables/{name}_{{scorer}}.csv"
    for name in (
        "annotations",
        "annotation_leads",
        "annotation_within",
        "annotation_choices",
        "annotation_agreement",
        "annotation_confusion",
        "annotation_powered",
    )
}
EXPLORER = "<results>/report/explorer/{dataset}_{generator}_{scorer}"
REPORT = "<results>/report/index.html"
PREDICT_REPORT = "<results>/report/predict.html"
ACU_REPORT = "<results>/report/acu.html"
COMPARISON = "<results>/compare/{pair}/index.html"
PLAN = "<results>/plan.csv"
PLAN_RECEIPT = "<results>/plan.json"


def fill(pattern, **key):
    """``pattern`` with the wildcards that ``key`` names filled, and all others left."""
    return re.sub(r"\{(\w+)\}", lambda found: str(key.get(found[1], found[0])), pattern)


def filled(pattern, keys):
    """``pattern`` filled from each of ``keys``, in their order."""
    return [fill(pattern, **key) for key in keys]


ZEROSHOT = {"retriever": "zeroshot", "ordering": "none", "k": 0}
ZEROSHOT_PROMPTS, ZEROSHOT_RECEIPT, ZEROSHOT_ANSWERS, ZEROSHOT_SCORES = (
    fill(pattern, **ZEROSHOT) for pattern in (PROMPTS, RECEIPT, ANSWERS, SCORES)
)
# Of answers that are brought along.
OWN_CONTEXTS = fill(PROMPTS, template=ANSWERED_WITH)
