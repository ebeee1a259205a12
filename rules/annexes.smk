"""Include the rules of all annexes."""


def rules_file(annex):
    """Return the annex's rules file, in a checkout, on a hosting service, or in an installed wheel or package."""
    own = f"../workflow/scripts/ragrelay/annexes/{annex.name}/rules.smk"
    return own if annex.package.startswith("ragrelay.") and not IN_WHEEL else annex.folder / "rules.smk"


for annex in filter(lambda annex: annex.has_rules, annexes()):

    include: rules_file(annex)
