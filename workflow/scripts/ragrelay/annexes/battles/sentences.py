"""Write the page's sentences about which system wins a battle, order bias, and agreement with P."""

import polars as pl

from ragrelay.analysis import relay
from ragrelay.analysis.verdicts import TOO_FEW
from ragrelay.annexes.battles.outputs import RESULT_TABLES
from ragrelay.annexes.battles.page_tables import PER
from ragrelay.annexes.battles.study import BattleShown
from ragrelay.annexes.battles.wins import LOSES, WINS
from ragrelay.base.vocabulary.names import ZEROSHOT
from ragrelay.report.display.findings import Conclusion
from ragrelay.report.display.numbers import count, counted, listing, share, with_interval
from ragrelay.report.display.tables import Row
from ragrelay.report.facts import TableRow

QUESTION = "Which answer does a judge prefer?"
MOST_CONTRADICTING = 0.5
"""If a larger share of votes is contradictory, the page says that votes depend on the order of the answers."""
SLOPES = {
    relay.IT_IS: "Where a retriever’s list is better than usual, its answer wins more often",
    relay.IT_IS_NOT: "Where a retriever’s list is better than usual, its answer wins less often",
    relay.NOT_KNOWN: "We do not know whether answers from better lists win more often",
}
TABLES = {table.name: table for table in RESULT_TABLES}
EVEN = 0.5


def battle_answer(study: BattleShown) -> Conclusion:
    """Conclude which systems win, from the win rates against the opponent in the primary comparison's cell."""
    rows = study.decided.to_dicts()
    judged = f"judged by {listing(study.battle['generator'])}"
    by = {"judge": judged, "panel": "judged by a panel", "file": "with votes from a file"}
    topic = f"Battle {study.keys['battle']}, {by[study.battle['kind']]}"
    said = "; ".join(map(_verdict, rows)) if rows else "No votes"
    key = ("ordering", "k", "retriever", "against")
    facts = tuple(TableRow(TABLES["battle_wins"], study.keys, row, key) for row in rows)
    names = tuple({name for row in rows for name in (row["retriever"], row["against"])})
    return Conclusion(topic, QUESTION, said, "; ".join(map(_rate, rows)), names, _remark(study), facts=facts)


def _verdict(row: Row) -> str:
    retriever, against = _answers(row["retriever"]), _answers(row["against"])
    if row["verdict"] in (WINS, LOSES):
        winner, loser = (retriever, against) if row["verdict"] == WINS else (against, retriever)
        return f"{winner[0].upper()}{winner[1:]} win more often than they lose against {loser}"
    if row["verdict"] == TOO_FEW:
        return f"Too few votes to compare {retriever} and {against}"
    return f"We do not know whether {retriever} or {against} win more often"


def _answers(system: str) -> str:
    return "answers without context" if system == ZEROSHOT else f"answers with {system}"


def _pair(row: Row) -> str:
    return f"{row['retriever']} against {_answers(ZEROSHOT) if row['against'] == ZEROSHOT else row['against']}"


def _rate(row: Row) -> str:
    reason = f" ({row['reason']})" if row["reason"] else ""
    if row["win_rate"] is None:
        return f"{row['retriever']}: no win rate{reason}"
    rate = with_interval(row["win_rate"], row["low"], row["high"], apart=EVEN)
    return f"{row['retriever']} has a win rate of {rate} over {counted(row['n'], 'query', 'queries')}{reason}"


def _remark(study: BattleShown) -> str:
    """Say that votes change with the order of the answers, if they mostly do."""
    rows = [row for row in study.decided.to_dicts() if (row["contradicting"] or 0) > MOST_CONTRADICTING]
    shares = [f"{share(row['contradicting'])} of the answer pairs with {row['retriever']}" for row in rows]
    return f"Votes change with the order of the answers for {listing(shares)}." if rows else ""


def battle_warnings(study: BattleShown) -> list[str]:
    """Warn about a judge whose votes mostly change when the answers swap places."""
    remark = _remark(study)
    return [f"Battle {study.keys['battle']}: {remark[0].lower()}{remark[1:]} "
            "Such a judge says little about which answer is better."] if remark else []  # fmt: skip


def battle_sentences(study: BattleShown) -> list[str]:
    """Write sentences about contradictory votes, order bias, missing votes, relay, agreement with P and panels."""
    told = (*map(_bias, study.decided.to_dicts()), _unasked(study), _relay(study), *_agreement(study), *_panel(study))
    return [text for text in told if text]


def _bias(row: Row) -> str:
    if row["contradicting"] is None:
        return ""
    pairs = f"{share(row['contradicting'])} of the answer pairs judged in both orders"
    said = f"{_pair(row)}: {pairs} have contradictory votes"
    bias, low, high = row["order_bias"], row["bias_low"], row["bias_high"]
    which = "second" if bias < 0 else "first"
    if low is None:
        return f"{said}."
    if low > 0 or high < 0:
        ends = sorted((abs(low), abs(high)))
        return f"{said}; being shown {which} adds {with_interval(abs(bias), *ends)} to an answer’s score."
    shown = with_interval(bias, low, high)
    return f"{said}; no order bias was detected (being shown first adds {shown} to an answer’s score)."


def _unasked(study: BattleShown) -> str:
    rows = study.decided.filter(pl.col("same") > 0).to_dicts()
    told = [f"{share(row['same'])} with {row['retriever']}" for row in rows]
    left = [f"{count(row['left_out'])} with {row['retriever']}" for row in study.decided.to_dicts() if row["left_out"]]
    said = f"Answer pairs decided without a vote because the answers are identical or one is empty: {listing(told)}."
    lost = f"Queries left out because a vote couldn’t be read: {listing(left)}."
    return " ".join([*([said] if told else []), *([lost] if left else [])])


def _relay(study: BattleShown) -> str:
    rows = study.primary("battle_relay").sort("adjusted")
    if rows.is_empty():
        return ""
    measured = rows.row(0, named=True)
    word = relay.answer_of(rows)
    if word == TOO_FEW or measured["slope"] is None:
        return f"This battle gives no verdict on relay: {measured['reason'] or 'too few queries'}."
    slopes = [_slope(row) for row in rows.to_dicts()]
    return (
        f"{SLOPES[word]}: per {PER} of {measured['measure']}, the win rate changes by {slopes[0]}, or by {slopes[1]} "
        f"at equal difficulty ({counted(measured['n'], 'query', 'queries')} whose contexts differ). Don’t compare "
        "slopes between judges, because order bias shrinks them."
    )


def _slope(row: Row) -> str:
    value, low, high = (None if row[name] is None else row[name] * PER for name in ("slope", "low", "high"))
    return with_interval(value, low, high)


def _agreement(study: BattleShown) -> list[str]:
    told = []
    first = study.primary("battle_agreement").filter(against=study.battle["opponent"])
    for row in first.unique(["retriever", "with_scorer"], keep="first", maintain_order=True).to_dicts():
        pair = _pair(row)
        if row["rho"] is None:
            told.append(f"{pair}: agreement with P from {row['with_scorer']} can’t be computed ({row['reason']}).")
            continue
        signs = "" if row["same_sign"] is None else (
            f"; on queries where neither is undecided, they favour the same answer {share(row['same_sign'])} of the "
            f"time ({share(row['by_chance'])} expected by chance)")  # fmt: skip
        why = f" ({row['reason']})" if row["reason"] else ""
        told.append(
            f"{pair}: votes correlate with the difference in P ({row['with_scorer']}, {row['references']}) at ρ = "
            f"{with_interval(row['rho'], row['low'], row['high'])} over {counted(row['n'], 'query', 'queries')}"
            f"{why}{signs}."
        )
    return told


def _panel(study: BattleShown) -> list[str]:
    table = study["battle_judges"]
    parts = table.filter(quantity="without").filter(against=study.battle["opponent"])
    told = []
    for (retriever,), rows in parts.group_by("retriever", maintain_order=True):
        each = [f"{with_interval(row['value'], row['low'], row['high'], apart=EVEN)} without {row['judge']}"
                for row in rows.to_dicts()]  # fmt: skip
        told.append(f"{retriever}: the panel’s win rate is {listing(each)}.")
    kappas = [f"{with_interval(row['value'], row['low'], row['high'])} for {row['judge']} and {row['other']}"
              for row in table.filter(quantity="kappa").drop_nulls("value").to_dicts()]  # fmt: skip
    return [*told, f"Agreement between judges’ votes (Cohen’s κ): {listing(kappas)}."] if kappas else told
