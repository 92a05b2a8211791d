"""Checks a wheel as a stranger would meet it: what is in it, and that it works without Rust.

    python tools/check_wheel.py dist/*.whl [--python PYTHON]

The wheel is installed into an empty environment, where PATH leads to no compiler, and the demo runs
in another folder. Prints what it found; exits with 1 and a sentence where something is missing.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "separatrix"


class WheelError(Exception):
    """What is wrong with a wheel."""


def expected() -> set[str]:
    """Names of all files that the package needs: sources, stub, py.typed, templates."""
    files = (path for path in SOURCE.rglob("*") if path.is_file())
    left_out = ("__pycache__", "_core.")
    return {
        path.relative_to(SOURCE.parent).as_posix()
        for path in files
        if not any(part in path.as_posix() for part in left_out)
    } | {"separatrix/_core.pyi"}


def check_contents(wheel: Path) -> list[str]:
    """Raise WheelError unless everything is there and nothing else.

    Returns
    -------
    list of str
        Findings in words.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        texts = {
            name: archive.read(name).decode()
            for name in names
            if re.fullmatch(r"[^/]+\.dist-info/(METADATA|WHEEL|entry_points\.txt)", name)
        }
    if not re.fullmatch(r"separatrix-[^-]+-cp311-abi3-[^-]+\.whl", wheel.name):
        raise WheelError(f"{wheel.name} is not for every Python from 3.11 on (cp311-abi3)")
    module = [name for name in names if re.fullmatch(r"separatrix/_core\.[^/]*(so|pyd)", name)]
    if len(module) != 1:
        raise WheelError(f"one extension module is expected, found {module}")
    inside = {name for name in names if name.startswith("separatrix/")}
    missing, foreign = expected() - inside, inside - expected() - set(module)
    if missing or foreign:
        raise WheelError(f"missing: {sorted(missing)}; not of the package: {sorted(foreign)}")
    if not any(re.fullmatch(r"[^/]+\.dist-info/.*LICENSE", name) for name in names):
        raise WheelError("the license is missing")
    outside = sorted(n for n in names - inside if ".dist-info/" not in n and ".libs/" not in n)
    if outside:
        raise WheelError(f"files outside the package: {outside}")
    words = {name.partition("/")[2]: text for name, text in texts.items()}
    for file, line in (
        ("METADATA", "License-Expression: BSD-3-Clause"),
        ("METADATA", "Requires-Python: >=3.11"),
        ("METADATA", "Provides-Extra: report"),
        ("entry_points.txt", "separatrix=separatrix.cli.app:main"),
    ):
        if line not in words.get(file, ""):
            raise WheelError(f"{file} does not say {line!r}")
    megabytes = wheel.stat().st_size / 1e6
    return [f"{wheel.name}: {len(names)} files, {megabytes:.1f} MB"]


def check_source(archive: Path) -> list[str]:
    """Raise WheelError unless a source distribution has what a build of it needs."""
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    needed = {"pyproject.toml", "Cargo.toml", "Cargo.lock", "LICENSE", "README.md"}
    needed |= {"PKG-INFO", "tools/tool_chain.py"}
    needed |= {f"src/{name}" for name in expected()}
    for pattern in ("*/Cargo.toml", "*/src/**/*.rs"):
        needed |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "crates").glob(pattern)}
    if missing := needed - names:
        raise WheelError(f"the source distribution misses {sorted(missing)}")
    return [f"{archive.name}: {len(names)} files, {archive.stat().st_size / 1e6:.1f} MB"]


def check_installed(wheel: Path, python: str) -> list[str]:
    """Install a wheel into an empty environment and run the demo there, far from the sources."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True)
        programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        # Neither our sources nor a compiler: what a user without Rust has.
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CARGO", "RUST"))
        }
        system = kept.get("SYSTEMROOT", "") + r"\system32" if os.name == "nt" else "/nowhere"
        environment = {**kept, "PATH": f"{programs}{os.pathsep}{system}"}
        environment.pop("VIRTUAL_ENV", None)

        def run(*words: str) -> str:
            done = subprocess.run(
                words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False
            )
            if done.returncode:
                raise WheelError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}")
            return done.stdout

        runner = str(programs / "python")
        tried = f"{wheel.resolve()}[report]"
        run(runner, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", tried)
        where = run(runner, "-c", "import separatrix; print(separatrix.__file__)").strip()
        if not Path(where).resolve().is_relative_to(folder.resolve()):
            raise WheelError(f"another separatrix was imported: {where}")
        demo = ["compare", "digits", "--save", "digits.sx", "--report", "digits.html", "--quiet"]
        said = run(str(programs / "separatrix"), *demo)
        again = run(str(programs / "separatrix"), "inspect", "digits.sx", "--json")
        page = (folder / "digits.html").read_text(encoding="utf-8")
        if "</html>" not in page or "n_rows" not in again:
            raise WheelError("the demo left no whole report or model")
        version = run(runner, "-c", "import sys; print(sys.version.split()[0])").strip()
    return [f"installed with Python {version} and no Rust; demo: {said.strip()}"]


def main() -> int:
    """Check the files that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="wheels and source distributions")
    parser.add_argument("--python", default=sys.executable, help="makes the empty environment")
    asked = parser.parse_args()
    try:
        for file in asked.files:
            if file.suffix == ".whl":
                found = check_contents(file) + check_installed(file, asked.python)
            else:
                found = check_source(file)
            print("\n".join(found))
    except WheelError as error:
        print(f"\n*** {file}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
