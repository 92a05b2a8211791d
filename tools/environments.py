"""Runs the tests with the oldest and with the newest packages that separatrix says it works with.

    python tools/environments.py [oldest] [newest] [--wheel dist/NAME.whl] [-- WORDS FOR PYTEST]

oldest   Python 3.11 and every lower bound of pyproject.toml itself
newest   the newest Python that is found, and the newest of every package

Each environment is made anew in build/environments (by uv, which can resolve to lower bounds), gets
a wheel of this tree, and runs `pytest tests` in the way of the words, without the browser's.
Pythons are looked for on PATH and among those of pyenv; `uv python install 3.14` gets others.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "environments"
EXTRAS = (
    "plots",
    "parquet",
    "excel",
    "duckdb",
    "onnx",
    "report",
    "serve",
    "arviz",
    "images",
    "dask",
    "dev",
)
#: The Pythons that separatrix is for, newest first.
MINORS = (14, 13, 12, 11)


def pythons(minors: Iterable[int] = MINORS) -> dict[int, str]:
    """Minor version -> an interpreter of it, for those that are on this machine."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    managed = Path.home() / ".local" / "share" / "uv" / "python"
    found: dict[int, str] = {}
    for minor in minors:
        candidates = [
            shutil.which(f"python3.{minor}"),
            *sorted(map(str, pyenv.glob(f"3.{minor}.*/bin/python"))),
            *sorted(map(str, managed.glob(f"cpython-3.{minor}.*/bin/python"))),
        ]
        for name in filter(None, candidates):
            # pyenv leaves starters on PATH for versions that are not chosen; they do not run.
            asked = [str(name), "-c", "import sys; print(sys.version_info[1])"]
            answer = subprocess.run(asked, capture_output=True, text=True, check=False)
            if answer.stdout.strip() == str(minor):
                found[minor] = str(name)
                break
    return found


def find_uv() -> str:
    """The program uv: the one on PATH, or one of our own."""
    if (known := shutil.which("uv")) is not None:
        return known
    folder = PLACE / "uv"
    program = folder / "bin" / "uv"
    if not program.exists():
        venv.create(folder, with_pip=True, clear=True)
        _run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "uv>=0.5"])
    return str(program)


def build_wheel() -> Path:
    """A wheel of this tree, from what `make build` compiled."""
    folder = PLACE / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "maturin", "build", "--quiet", "--release", "--out"]
    _run([*command, str(folder)], cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def make(name: str, wheel: Path, found: dict[int, str]) -> Path:
    """The Python of a new environment: "oldest" or "newest"."""
    minor = min(found) if name == "oldest" else max(found)
    if name == "oldest" and minor != min(MINORS):
        raise SystemExit(f"*** Python 3.{min(MINORS)} was not found; found: {_names(found)}")
    folder = PLACE / name
    python = folder / "bin" / "python"
    uv = find_uv()
    # With pip in it: the tests of the set-up use that.
    _run([uv, "venv", "--quiet", "--seed", "--clear", "--python", found[minor], folder])
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    resolution = "lowest-direct" if name == "oldest" else "highest"
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    _run([*install, "--resolution", resolution, "-r", str(ROOT / "pyproject.toml"), *extras])
    _run([*install, "--no-deps", str(wheel)])
    return python


def told(python: Path) -> str:
    """Python and the packages that matter, with their versions."""
    names = ("numpy", "scipy", "scikit-learn", "narwhals", "pandas", "polars", "matplotlib", "dask")
    code = (
        "import platform; from importlib.metadata import version\n"
        f"found = [f'{{name}} {{version(name)}}' for name in {names!r}]\n"
        "print('Python', platform.python_version(), *found)"
    )
    return _answer([python, "-c", code])


def run_tests(python: Path, words: Sequence[str]) -> int:
    """Exit code of pytest in an environment, away from the sources."""
    # The package is the installed one: nothing leads to src, not even a PYTHONPATH of the caller.
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = f"{python.parent}{os.pathsep}{kept['PATH']}"
    settings = {"OMP_WAIT_POLICY": "passive", "OPENBLAS_THREAD_TIMEOUT": "4", "PATH": path}
    imported = _answer([python, "-c", "import separatrix; print(separatrix.__file__)"])
    if ROOT / "src" in Path(imported).parents:
        raise SystemExit(f"*** {python} imports the sources, not the wheel")
    pytest = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(pytest, cwd=ROOT, env={**kept, **settings}, check=False).returncode


def main(words: Sequence[str]) -> int:
    """Make the environments that are named (both by default), and run the tests in each."""
    words, pytest_words = _split(words)
    wheel = None
    if "--wheel" in words:
        at = words.index("--wheel")
        wheel = Path(words[at + 1]).resolve()
        words = [*words[:at], *words[at + 2 :]]
    if unknown := set(words) - {"oldest", "newest"}:
        raise SystemExit(f"*** oldest or newest are made, not {', '.join(sorted(unknown))}")
    found = pythons()
    print(f"== Pythons on this machine: {_names(found)}", flush=True)
    wheel = wheel or build_wheel()
    failed = []
    for name in words or ("oldest", "newest"):
        python = make(name, wheel, found)
        print(f"\n== {name}: {told(python)}", flush=True)
        if run_tests(python, pytest_words or ["tests", "--ignore=tests/browser", "-n", "auto"]):
            failed.append(name)
    if failed:
        print(f"\n*** The tests failed with the {' and the '.join(failed)} packages.")
    return len(failed)


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    at = words.index("--") if "--" in words else len(words)
    return list(words[:at]), list(words[at + 1 :])


def _names(found: Iterable[int]) -> str:
    return ", ".join(f"3.{minor}" for minor in sorted(found)) or "none"


def _answer(words: Sequence[str | Path]) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(word) for word in words],
        cwd=PLACE,
        env=kept,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()


def _run(words: Sequence[str | Path], cwd: Path | None = None) -> None:
    if subprocess.run([str(word) for word in words], cwd=cwd, check=False).returncode:
        shown = re.sub(r"\s+", " ", " ".join(map(str, words)))
        raise SystemExit(f"*** failed: {shown}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
