"""Register the report's tables about battles (one set per dataset, battle and generator)."""

from ragrelay.report.display.outputs import Output, Part, ResultTable, Scope, Table

MODULE = "ragrelay.annexes.battles"
BATTLES = Scope("battles", ("dataset", "battle", "generator"))
FOLDER = "{dataset}/battles/{battle}/{generator}"
RESULT_TABLES = (
    ResultTable("battle_wins", f"{FOLDER}/wins.csv", "analyse_battles", f"{MODULE}.tables:WINS",
                "win rates by cell and pair, with contradictory votes and order bias", "battles"),
    ResultTable("battle_relay", f"{FOLDER}/relay.csv", "analyse_battles", f"{MODULE}.tables:RELAY",
                "relay, with the battle’s score instead of P", "battles"),
    ResultTable("battle_agreement", f"{FOLDER}/agreement.csv", "analyse_battles", f"{MODULE}.tables:FOLLOWS",
                "how well a battle agrees with P over queries", "battles"),
    ResultTable("battle_strengths", f"{FOLDER}/strengths.csv", "analyse_battles", f"{MODULE}.tables:STRENGTHS",
                "Bradley–Terry strengths of three or more systems", "battles"),
    ResultTable("battle_judges", f"{FOLDER}/judges.csv", "analyse_battles", f"{MODULE}.tables:JUDGES",
                "the panel's win rates with each judge left out in turn, and the agreement between judges", "battles"),
)  # fmt: skip
PARTS = {"battles": Part("Votes")}


def _table(name: str, title: str, note: str = "") -> Table:
    show = f"{MODULE}.page_tables:{name}_table"
    return Table(name, BATTLES, (name,), title, "", "battles", show, {}, note=note, limited=True)


OUTPUTS: tuple[Output, ...] = (
    _table("battle_wins", "Win rates", "Only pairs with the opponent in the primary cell have verdicts; their "
           "intervals hold simultaneously. Intervals in other rows have the same level."),
    _table("battle_relay", "Relay by the battle", "Adjusted slopes account for the query’s mean value of the measure "
           "over retrievers."),
    _table("battle_agreement", "Agreement with P", "If both merely prefer the same retriever on average, votes and P "
           "often pick the same winner by chance."),
    _table("battle_strengths", "Bradley–Terry strengths", "Strengths are log-odds against the opponent and have no "
           "verdicts. Intervals are over queries."),
    _table("battle_judges", "Judges of the panel", "The panel’s win rate without each judge, and Cohen’s κ between the "
           "judges."),
)  # fmt: skip
"""The tables on battles, in the order in which the page shows them."""
