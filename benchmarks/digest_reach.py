"""How many scripts' digests an edit changes: one of a line, one of a definition; by definitions and by whole modules.

    python benchmarks/digest_reach.py

The modules of kinds, which jobs name, count for no script. Lines are those of code, without docstrings and comments.
"""

import ast
import statistics

from ragrelay.execution.jobs.code_digest import LOADED, SCRIPTS, Code, Node, _defined

from tests.support import rule_files
from tests.support.code_edits import imported_files


def main() -> None:
    """Print both means of both ways."""
    code = Code(SCRIPTS)
    reached = [code.reached(name) for name in rule_files.SCRIPTS]
    imported = [imported_files([path]) for path in rule_files.SCRIPTS.values()]
    lines: dict[str, list[int]] = {"definitions": [], "modules": []}
    definitions: dict[str, list[int]] = {"definitions": [], "modules": []}
    for path in sorted({*(SCRIPTS / "ragrelay").rglob("*.py")} - {*rule_files.SCRIPTS.values()}):
        module = path.relative_to(SCRIPTS).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
        of_module = sum(path in files for files in imported)
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Import | ast.ImportFrom) or not (count := _lines(statement)):
                continue
            node = Node(module, (_defined(statement) or [LOADED])[0])
            for way, scripts_of in (("definitions", sum(node in found for found in reached)), ("modules", of_module)):
                lines[way] += [scripts_of] * count
                definitions[way].append(scripts_of)
    print(f"{len(reached)} scripts, {len(definitions['modules'])} definitions, {len(lines['modules'])} lines of code")
    for way in lines:
        print(
            f"digests by {way}: {statistics.mean(lines[way]):.2f} changed per edited line, "
            f"{statistics.mean(definitions[way]):.2f} per edited definition"
        )


def _lines(statement: ast.stmt) -> int:
    """Lines of code in a statement."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return 0
    numbers = {
        line for node in ast.walk(statement) if (line := getattr(node, "lineno", 0)) and not isinstance(node, ast.Expr)
    }
    texts = {
        line
        for node in ast.walk(statement)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    return len(numbers - texts)


if __name__ == "__main__":
    main()
