"""Write what the pages say into the files that tests compare it with: python -m tools.approved_pages

A page that cannot be made here, for want of data, keeps its file.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.approved import RENEW

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    files = [
        file for file in sorted((ROOT / "tests").rglob("test_*.py")) if "import approve" in file.read_text("utf-8")
    ]
    tests = [sys.executable, "-m", "pytest", "-q", "-k", "approved", *map(str, files)]
    sys.exit(subprocess.run(tests, cwd=ROOT, env={**os.environ, RENEW: "1"}, check=False).returncode)
