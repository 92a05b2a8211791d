"""The build backend: maturin's hooks, behind a check that the Rust tool chain is there.

Without cargo, maturin would try to fetch a compiler of its own; we say what to install instead.
Run as a script, this file does the check alone (the Makefile does so).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def __getattr__(name: str) -> Any:
    """Return maturin's hook of that name (PEP 517, PEP 660), once the tool chain is known."""
    if name.startswith("__"):
        raise AttributeError(name)
    check_tool_chain()
    # maturin warns when it is not the backend itself; behind this file it is.
    os.environ["MATURIN_NO_MISSING_BUILD_BACKEND_WARNING"] = "1"
    import maturin

    return getattr(maturin, name)


def check_tool_chain() -> None:
    """Exit with a message that says what to install unless cargo and rustc are new enough."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    needed = manifest["workspace"]["package"]["rust-version"]
    for tool in ("cargo", "rustc"):
        found = _version(tool)
        if found is None:
            raise SystemExit(_advice(f"{tool} is not on PATH, or does not run", needed))
        if _numbers(found) < _numbers(needed):
            raise SystemExit(_advice(f"{tool} {found} is too old", needed))


def _version(tool: str) -> str | None:
    path = shutil.which(tool)
    if path is None:
        return None
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    match = re.match(rf"{tool} (\d+(?:\.\d+)+)", answer.stdout)
    return match.group(1) if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _advice(problem: str, needed: str) -> str:
    # Raised as SystemExit, so that pip shows these lines and no traceback.
    return (
        f"\nseparatrix is compiled from Rust, and {problem}.\n"
        f"Install cargo and rustc {needed} or newer from https://rustup.rs :\n"
        "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh\n"
        "then open a new shell (or put ~/.cargo/bin on PATH) and try again.\n"
    )


if __name__ == "__main__":
    check_tool_chain()
