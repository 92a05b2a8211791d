"""The Rust tool chain of a build: the one on PATH, or a private one that is fetched once.

`pip install .` uses this file as its build backend: maturin's hooks, after `prepare`. By itself
maturin fetches a tool chain (with puccinialin) only where there is no cargo at all, and that of a
distribution is more often too old than missing. Run as a script, this file prepares the environment
whose Python runs it (the Makefile does so): a private tool chain gets starters beside that Python.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

#: What fetches Rust: rustup-init in rustup's minimal profile, into a folder of our own.
_FETCHER = "puccinialin>=0.1.14"
_SIZE = "about 600 MB"


def __getattr__(name: str) -> Any:
    """Return the hook of that name (PEP 517, PEP 660)."""
    if name.startswith("get_requires_for_build_"):
        return _requirements
    if not name.startswith(("build_", "prepare_metadata_")):
        raise AttributeError(name)
    prepare()
    # maturin warns when it is not the backend itself; behind this file it is.
    os.environ["MATURIN_NO_MISSING_BUILD_BACKEND_WARNING"] = "1"
    import maturin

    return getattr(maturin, name)


def _requirements(config_settings: Any = None) -> list[str]:
    """What the build needs beyond maturin."""
    return [] if _find() is None else [_FETCHER]


def prepare() -> Path | None:
    """Put a tool chain that is new enough on PATH, fetching one where there is none.

    Returns
    -------
    Path or None
        The folder of the private tool chain, where it is that one.
    """
    problem = _find()
    folder = private_folder()
    if problem is not None:
        _fetch(folder, problem)
    return folder if os.environ.get("RUSTUP_HOME") == str(folder / "rustup") else None


def private_folder() -> Path:
    """Where a private tool chain is kept: in the user's cache, one for each version needed."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "separatrix" / f"rust-{needed()}"


def needed() -> str:
    """The oldest Rust that compiles separatrix."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["rust-version"])


def _find() -> str | None:
    """What is wrong with the tools on PATH; None if they, or now the private ones, will do."""
    problem = _problem()
    if problem is None:
        return None
    before = dict(os.environ)
    _use(private_folder())
    if _problem() is None:
        return None
    os.environ.clear()
    os.environ.update(before)
    return problem


def _use(folder: Path) -> None:
    os.environ["RUSTUP_HOME"] = str(folder / "rustup")
    os.environ["CARGO_HOME"] = str(folder / "cargo")
    os.environ["PATH"] = f"{folder / 'cargo' / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    os.environ.pop("RUSTUP_TOOLCHAIN", None)  # a choice among the user's own


def _problem() -> str | None:
    for tool in ("cargo", "rustc"):
        found = _version(tool)
        if found is None:
            return f"{tool} is not on PATH, or does not run"
        if _numbers(found) < _numbers(needed()):
            return f"{tool} {found} is too old"
    return None


def _version(tool: str) -> str | None:
    path = shutil.which(tool)
    if path is None:
        return None
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    match = re.match(rf"{tool} (\d+(?:\.\d+)+)", answer.stdout)
    return match.group(1) if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _fetch(folder: Path, problem: str) -> None:
    """Fetch Rust into `folder`, and use it; exit with one sentence where that fails."""
    if os.name == "posix" and shutil.which("cc") is None:
        raise SystemExit(
            "\n*** separatrix is compiled from Rust, which links with the C compiler, and there is "
            "no cc on PATH: install one (apt-get install gcc libc6-dev; xcode-select --install), "
            "and try again."
        )
    from filelock import FileLock  # puccinialin needs it, too
    from puccinialin import setup_rust

    # Our own folder makes no difference to what the user has; rustup need not warn of it.
    os.environ["RUSTUP_INIT_SKIP_PATH_CHECK"] = "yes"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if _find() is None:  # another build was quicker
                return
            # Upon half an installation rustup would build one that is larger than we say.
            shutil.rmtree(folder, ignore_errors=True)
            print(f"== {problem}: fetching a private Rust ({_SIZE}) into {folder}", file=sys.stderr)
            setup_rust(folder, file=sys.stderr)
    except (Exception, SystemExit) as error:  # of httpx, of rustup, of the disk
        reason = " ".join(str(error).split()).rstrip(".")
        # As SystemExit, so that pip shows this and no traceback.
        raise SystemExit(
            f"\n*** separatrix is compiled from Rust, {problem}, and fetching one failed "
            f"({reason}): install cargo and rustc {needed()} or newer (https://rustup.rs, or a "
            "package of your system or of conda-forge), put them on PATH, and try again."
        ) from None
    if (problem_left := _find()) is not None:
        raise SystemExit(
            f"\n*** The Rust that was fetched into {folder} does not serve ({problem_left}): "
            f"remove that folder, install cargo and rustc {needed()} or newer (https://rustup.rs), "
            "and try again."
        )


def _megabytes(folder: Path) -> int:
    files = (path.lstat() for path in folder.rglob("*"))
    return round(sum(status.st_size for status in files) / 1e6)


def main() -> None:
    """Prepare the environment of this Python; say where a private tool chain is."""
    tools = ("cargo", "rustc", "rustup")
    starters = [Path(sys.prefix) / "bin" / tool for tool in tools]
    for starter in starters:  # of an earlier run; they would be taken for the user's own
        starter.unlink(missing_ok=True)
    if _find() is not None and importlib.util.find_spec("puccinialin") is None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", _FETCHER]
        if subprocess.run(pip, check=False).returncode:
            raise SystemExit(1)  # pip has said why
    folder = prepare()
    if folder is None:
        return
    for starter in starters:
        program = shlex.quote(str(folder / "cargo" / "bin" / starter.name))
        settings = [
            f"{name}={shlex.quote(os.environ[name])}" for name in ("RUSTUP_HOME", "CARGO_HOME")
        ]
        path = f'PATH={shlex.quote(str(folder / "cargo" / "bin"))}:"$PATH"'
        starter.write_text(
            f'#!/bin/sh\n{" ".join([*settings, path])} exec {program} "$@"\n', encoding="utf-8"
        )
        starter.chmod(0o755)
    print(f"== Rust from {folder} ({_megabytes(folder)} MB, kept for later builds)")


if __name__ == "__main__":
    main()
