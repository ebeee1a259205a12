"""Rules of every annex present."""


def rules_file(annex):
    """Return its rules: of a checkout or a hosting service, or where a wheel or another package is installed."""
    own = f"../workflow/scripts/ragrelay/annexes/{annex.name}/rules.smk"
    return own if annex.package.startswith("ragrelay.") and not IN_WHEEL else annex.folder / "rules.smk"


for annex in filter(lambda annex: annex.has_rules, annexes()):

    include: rules_file(annex)
