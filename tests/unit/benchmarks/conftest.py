"""Make the repository's root importable: `benchmarks` is a package beside `src`, not inside it."""

import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[3])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
