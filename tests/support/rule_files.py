"""Files of rules and their scripts, of the core and of annexes."""

from ragrelay.base.annex import PACKAGE
from ragrelay.base.extensions import package_folder

from tests.support.sandbox import ROOT

_FOLDER = ROOT / "workflow/scripts"
FOLDER = package_folder(PACKAGE)
CORE_RULES = sorted((ROOT / "rules").glob("*.smk"))
RULE_FILES = [*CORE_RULES, *sorted(FOLDER.glob("*/rules.smk"))]
CORE_SCRIPTS = sorted({*_FOLDER.glob("*/*.py")} - {*_FOLDER.glob("ragrelay/*.py")})
SCRIPTS = {
    **{str(path.relative_to(_FOLDER)): path for path in CORE_SCRIPTS},
    **{f"{path.parents[1].name}/{path.name}": path for path in sorted(FOLDER.glob("*/scripts/*.py"))},
}
"""By the names that `code_digest` takes; the script of an annex begins with the annex's name."""
