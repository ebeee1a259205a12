"""Register tables and figures on the answers themselves: positions, variation over seeds, lengths, cost."""

from ragrelay.report.display.outputs import Figure, Output, ResultTable, Table

SCORES = "{dataset}/described/scores/{scorer}/{generator}"
ANSWERS = "{dataset}/described/answers/{generator}"
RESULT_TABLES = (
    ResultTable("variance", "{dataset}/analysis/{scorer}/{generator}/variance.csv", "decompose_variance",
                "ragrelay.analysis.variance:COLUMNS", "share of the variance of P due to seeds"),
    ResultTable("positions", f"{SCORES}/positions.csv", "describe_scores", "ragrelay.analysis.positions:COLUMNS",
                "mean utility by the position of a relevant passage in the prompt"),
    ResultTable("spread", f"{SCORES}/spread.csv", "describe_scores", "ragrelay.analysis.spread:COLUMNS",
                "variation of P from seed to seed"),
    ResultTable("lengths", f"{ANSWERS}/lengths.csv", "describe_answers", "ragrelay.analysis.lengths:COLUMNS",
                "how long the answers are and how they end"),
    ResultTable("cost", f"{ANSWERS}/cost.csv", "describe_answers", "ragrelay.analysis.cost:COLUMNS",
                "what the answers cost when they were generated"),
    ResultTable("judge_checks", "{dataset}/analysis/{scorer}/{generator}/judge_checks.csv", "analyse_judge_checks",
                "ragrelay.analysis.judge_checks:COLUMNS",
                "by how much a judge's scores change with the order of what it is shown and with the answer's length",
                "bias_checks"),
)  # fmt: skip
OUTPUTS: tuple[Output, ...] = (
    Table(
        "judge_checks", "section", ("judge_checks",), "The judge’s bias by position and length",
        "By how much a judge's scores change when references or passages are shown in reverse order, when the parts of "
        "its question are swapped and when answers are padded, with 95% intervals over queries; and Spearman's rho of "
        "score and length.",
        "judge", "ragrelay.report.display.judge_checks:judge_checks_table",
        note="p-values are those of a mean change of 0, adjusted over the checks of this table. Other word: share of "
        "the judgements whose likeliest word is another after the change.",
    ),
    Figure(
        "position", "section", "ragrelay.report.position:position_chart", ("positions",), "answers",
        "Utility and the position of the relevant passage",
        "Mean utility of the queries that had a relevant passage at a position of the prompt (1 is the first), and of "
        "those whose context had none, with 95% intervals; a panel per ordering. A query with several relevant "
        "passages counts at each of their positions.",
        "Queries with a relevant passage at a position of the prompt (1 is the first); “none”: no relevant passage in "
        "the context. A query with several counts at each of their positions, unless you choose exactly one. Bars are "
        "95% intervals.",
    ),
    Table(
        "positions", "section", ("positions",), "Utility by the position of the relevant passage",
        "Mean utility of the queries with a relevant passage at each position of the prompt, with 95% intervals.",
    ),
    Figure(
        "spread", "section", "ragrelay.report.spread:spread_by_k", ("spread",), "answers", "Spread from seed to seed",
        "Variation of P from seed to seed: the standard deviation of a query's P over seeds, as median and "
        "quartiles over queries, against k.",
        "Standard deviation of a query’s P over seeds: median and quartiles over queries. 0: every seed gave an "
        "equally good answer.",
    ),
    Table(
        "spread", "section", ("spread",), "Spread from seed to seed",
        "Quartiles over queries of the standard deviation of a query's P over seeds.",
    ),
    Table(
        "variance", "section", ("variance",),
        "Share of the variance of P due to seeds, and reliability of a query’s mean over seeds",
        "The share of the variance of P that is between queries and the share due to the language model's sampling "
        "(seeds), and the reliability of the mean over so many seeds.",
        "answers", "ragrelay.report.statistics_tables:variance_table", limited=True,
    ),
    Figure(
        "lengths", "section", "ragrelay.report.lengths:length_by_k", ("lengths",), "answers", "Length of the answers",
        "Tokens of the answers against k: median and quartiles over queries and seeds, a panel per ordering.",
        "Median and quartiles over queries and seeds.",
    ),
    Figure(
        "ends", "section", "ragrelay.report.lengths:ends_by_k", ("lengths",), "answers", "How the answers end",
        "How answers end: at the end-of-sequence token or a stop string, cut at max_tokens, or otherwise. Shares of "
        "answers, against k.",
        "From the full colour to the palest: at the end of the sequence (or a stop string), cut at max_tokens, "
        "otherwise.",
    ),
    Table(
        "lengths", "section", ("lengths",), "Answers: length in tokens, and ends",
        "Length of the answers in tokens, and how they end, per cell.",
        "answers", "ragrelay.report.answer_tables:length_table", limited=True,
    ),
    Figure(
        "cost", "section", "ragrelay.report.cost:tokens_by_k", ("cost",), "answers", "Cost of the answers",
        "Tokens of prompts (computed, or served from the prefix cache) and answers by retriever and k, and "
        "device time: what the answers cost when they were generated, in whichever run.",
        "Tokens of the distinct answers of all orderings and seeds. From the full colour to the palest: prompt tokens "
        "computed, prompt tokens served from the prefix cache, answer tokens. Device-seconds were measured "
        "when the answers were generated, without starting the engine.",
    ),
    Table(
        "cost", "section", ("cost",), "Cost of the answers when they were generated",
        "Tokens of prompts and answers and device time by retriever and k: what the answers cost when they were "
        "generated, in whichever run.",
        "answers", "ragrelay.report.answer_tables:cost_table",
    ),
)  # fmt: skip
"""In the order of the page."""
