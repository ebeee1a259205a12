"""Rules of every annex present."""

for annex in filter(lambda annex: annex.has_rules, annexes()):

    include: f"../workflow/scripts/ragrelay/annexes/{annex.name}/rules.smk"
