"""Setting up on a bare machine: what is missing is fetched, or one sentence says what to do."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sysconfig
import threading
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL_CHAIN = ROOT / "tools" / "tool_chain.py"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and make")

#: In place of rustup's installer: a tool chain that only knows its version.
INSTALLER = """#!/bin/sh
mkdir -p "$CARGO_HOME/bin" "$RUSTUP_HOME/toolchains"
for tool in cargo rustc rustup; do
    printf '#!/bin/sh\\necho "%s VERSION (fetched) $*"\\n' "$tool" > "$CARGO_HOME/bin/$tool"
    chmod +x "$CARGO_HOME/bin/$tool"
done
"""


def script(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path):
    """A machine without Rust: what to run with, and where its programs are."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "mkdir", "chmod"):
        (programs / name).symlink_to(shutil.which(name))
    script(programs / "cc", "#!/bin/sh\n")
    home = tmp_path / "home"
    home.mkdir()
    # An environment of its own, as the starters go beside its Python, with the packages of ours.
    venv.create(tmp_path / "venv", symlinks=True)
    return {
        "PATH": str(programs),
        "HOME": str(home),
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RUSTUP_UPDATE_ROOT": "http://127.0.0.1:9",
    }


@pytest.fixture
def server(machine, tmp_path):
    """The download on this machine; how often it was asked for is in the list."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.answer(b"")

        def do_GET(self):
            asked.append(self.path)
            self.answer(INSTALLER.replace("VERSION", "1.99.0").encode())

        def answer(self, body):
            found = self.path.startswith("/dist/") and self.path.endswith("/rustup-init")
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        machine["RUSTUP_UPDATE_ROOT"] = f"http://127.0.0.1:{running.server_address[1]}"
        yield asked
        running.shutdown()
        thread.join()


def run(machine, *words, cwd=None):
    return subprocess.run(
        [str(word) for word in words],
        env=machine,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def prepare(machine, tmp_path):
    """What the Makefile does before it compiles."""
    return run(machine, tmp_path / "venv" / "bin" / "python", TOOL_CHAIN)


def tool(machine, name, version):
    folder = Path(machine["PATH"].partition(":")[0])
    script(folder / name, f"#!/bin/sh\necho '{name} {version}'\n")


def stops_with(result, *parts):
    """One line for the user, with these parts, and no traceback."""
    said = result.stdout + result.stderr
    assert result.returncode, said
    (line,) = [line for line in said.splitlines() if line.startswith("***")]
    for part in parts:
        assert part in line
    assert "Traceback" not in said


# -- Rust -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", [False, True], ids=["missing", "old"])
def test_rust_is_fetched_once_where_it_is_missing_or_too_old(machine, server, tmp_path, old):
    if old:
        tool(machine, "cargo", "1.63.0")
        tool(machine, "rustc", "1.63.0")
    first = prepare(machine, tmp_path)
    assert first.returncode == 0, first.stderr
    folder = tmp_path / "home" / ".cache" / "separatrix" / "rust-1.89"
    reason = "cargo 1.63.0 is too old" if old else "cargo is not on PATH"
    (said,) = [line for line in first.stderr.splitlines() if line.startswith("==")]
    assert reason in said
    assert f"600 MB) into {folder}" in said
    assert f"Rust from {folder} (0 MB" in first.stdout
    answer = run({"PATH": "/bin"}, tmp_path / "venv" / "bin" / "cargo", "build")
    assert answer.stdout == "cargo 1.99.0 (fetched) build\n"

    again = prepare(machine, tmp_path)
    assert again.returncode == 0
    assert again.stderr == ""
    assert f"Rust from {folder}" in again.stdout
    assert len(server) == 1


def test_rust_of_the_user_is_left_alone(machine, server, tmp_path):
    prepare(machine, tmp_path)
    tool(machine, "cargo", "1.89.0")
    tool(machine, "rustc", "1.100.0-nightly")
    result = prepare(machine, tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert not (tmp_path / "venv" / "bin" / "cargo").exists()


@pytest.mark.parametrize("answer", ["", "error: rustup could not choose a version of cargo to run"])
def test_where_the_download_is_out_of_reach_a_sentence_says_what_to_install(
    machine, tmp_path, answer
):
    if answer:  # rustup's own starters, without a tool chain behind them
        tool(machine, "cargo", f"\n{answer}")
    stops_with(prepare(machine, tmp_path), "cargo is not on PATH", "refused", "1.89", "rustup.rs")


def test_a_wrong_download_or_half_an_installation_is_not_kept(machine, server, tmp_path):
    machine["RUSTUP_UPDATE_ROOT"] += "/wrong"
    stops_with(prepare(machine, tmp_path), "404", "rustup.rs")
    half = tmp_path / "home" / ".cache" / "separatrix" / "rust-1.89" / "rustup" / "half"
    half.write_text("of a download that was interrupted", encoding="utf-8")
    machine["RUSTUP_UPDATE_ROOT"] = machine["RUSTUP_UPDATE_ROOT"].removesuffix("/wrong")
    assert prepare(machine, tmp_path).returncode == 0
    assert not half.exists()


def test_without_a_linker_nothing_is_fetched(machine, server, tmp_path):
    os.unlink(Path(machine["PATH"]) / "cc")
    stops_with(prepare(machine, tmp_path), "no cc on PATH", "gcc")
    assert server == []


def hook(machine, tmp_path, code):
    python = tmp_path / "venv" / "bin" / "python"
    return run(machine, python, "-c", f"import tool_chain as b; {code}", cwd=TOOL_CHAIN.parent)


def test_pip_asks_for_the_fetcher_only_where_it_is_needed(machine, server, tmp_path):
    ask = "print(b.get_requires_for_build_wheel())"
    assert "puccinialin" in hook(machine, tmp_path, ask).stdout
    prepare(machine, tmp_path)
    assert hook(machine, tmp_path, ask).stdout == "[]\n"


@pytest.mark.parametrize("name", ["build_wheel", "build_sdist", "prepare_metadata_for_build_wheel"])
def test_the_hooks_of_pip_fetch_rust_or_say_what_to_install(machine, server, tmp_path, name):
    here = machine["RUSTUP_UPDATE_ROOT"]
    machine["RUSTUP_UPDATE_ROOT"] = "http://127.0.0.1:9"
    stops_with(hook(machine, tmp_path, f"b.{name}"), "refused", "rustup.rs")
    machine["RUSTUP_UPDATE_ROOT"] = here
    code = f"hook = b.{name}; import shutil; print(hook.__name__, shutil.which('cargo'))"
    found = hook(machine, tmp_path, code).stdout.splitlines()[-1]
    assert found == f"{name} {tmp_path}/home/.cache/separatrix/rust-1.89/cargo/bin/cargo"


# -- make -----------------------------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path):
    """As much of a clone as is looked at before the compiler is."""
    folder = tmp_path / "clone"
    (folder / "crates").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "Cargo.toml", "Cargo.lock", "tools"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def make(clone, machine, python):
    words = ["make", "demo", f"PYTHON={python}"]
    path = f"{machine['PATH']}:{os.environ['PATH']}"
    return run({**machine, "PATH": path}, *words, cwd=clone)


#: A Python that does what is asked of it before Rust is needed, and nothing else.
PYTHON = """#!/bin/sh
case "$*" in
    *sys.exit*version_info*) exit OLD ;;
    -VV) echo "Python 3.11" ;;
    *ensurepip*) exit 0 ;;
    "-m venv"*) VENV; mkdir -p .venv/bin; ln -s "$0" .venv/bin/python ;;
    "-m pip install"*) PIP ;;
    *) exec REAL "$@" ;;
esac
"""


def stand_in(tmp_path, old=0, venv=":", pip="exit 0"):
    real = tmp_path / "venv" / "bin" / "python"
    text = PYTHON.replace("OLD", str(old)).replace("VENV", venv).replace("PIP", pip)
    text = text.replace("REAL", str(real))
    return script(tmp_path / "python", text)


def test_make_with_an_old_python(clone, machine, tmp_path):
    python = stand_in(tmp_path, old=1)
    stops_with(make(clone, machine, python), "Python 3.11 or newer", str(python), "make PYTHON=")


def test_make_without_a_network(clone, machine, tmp_path):
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "pip").symlink_to(Path(machine["PYTHONPATH"]) / "pip")
    machine |= {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9",
        "PIP_RETRIES": "0",
        "PYTHONPATH": str(tmp_path / "packages"),
    }
    result = make(clone, machine, stand_in(tmp_path, pip='exec REAL "$@"'))
    stops_with(result, "installing maturin failed", "network", "PIP_INDEX_URL", "run make again")


def test_make_with_a_full_disk(clone, machine, tmp_path):
    error = 'echo "OSError: [Errno 28] No space left on device" >&2; exit 1'
    result = make(clone, machine, stand_in(tmp_path, venv=error))
    stops_with(result, "making .venv failed", "the disk is full", "left on", "free 3 GB")


def test_make_without_rust_where_none_can_be_fetched(clone, machine, tmp_path):
    machine["PATH"] = f"{machine['PATH']}:/usr/bin:/bin"
    for name in ("cargo", "rustc"):
        tool(machine, name, "1.63.0")
    result = make(clone, machine, stand_in(tmp_path))
    stops_with(result, "cargo 1.63.0 is too old", "install cargo and rustc 1.89")


def test_an_attempt_shows_what_the_command_says_and_its_status(tmp_path):
    attempt = [str(ROOT / "tools" / "attempt.sh"), "trying"]
    good = run(None, *attempt, "sh", "-c", "echo out; echo err >&2")
    assert (good.returncode, good.stdout) == (0, "out\nerr\n")
    bad = run(None, *attempt, "sh", "-c", "echo some words; exit 3")
    assert bad.stdout == "some words\n"
    stops_with(bad, "trying failed", "messages above")
