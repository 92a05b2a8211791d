"""The command line: exit codes, one-line errors, JSON, progress, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from separatrix import experiment
from separatrix.cli import app, output
from separatrix.cli.app import main
from separatrix.experiment import Progress
from separatrix.registry import LEARNERS

QUICK = ["compare", "iris", "--learner", "majority_class"]


def run(words, **options):
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, **options
    )


def test_help_names_the_commands_and_imports_nothing_heavy():
    code = (
        "import sys; from separatrix.cli.app import main; code = main(['compare', '--help']);"
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'separatrix._core'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules); sys.exit(code)"
    )
    assert "--learner" in run(["-c", code]).stdout
    assert "learners" in run(["-m", "separatrix", "--help"]).stdout


def test_help_is_instant():
    best = min(_seconds(["-m", "separatrix", "--help"]) for _ in range(3))
    assert best < 1.0


def _seconds(words):
    start = time.perf_counter()
    run(words)
    return time.perf_counter() - start


def test_no_command_shows_the_help(capsys):
    assert main([]) == 0
    assert "Usage: separatrix" in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("separatrix ")


def test_learners_lists_the_registry(capsys):
    assert main(["learners"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [entry.name for entry in LEARNERS]


def test_compare_shows_progress_on_stderr_and_the_result_on_stdout(capsys):
    assert main(QUICK) == 0
    out, err = capsys.readouterr()
    assert "learner" in out
    assert "largest absolute value on the train rows" in out
    assert out.splitlines()[-1].startswith("Champion: majority_class, test accuracy 0.3333")
    assert [line.split(":")[0] for line in err.splitlines()] == [
        "majority_class",
        "prior_sampling",
    ]


def test_quiet_is_one_line(capsys):
    assert main([*QUICK, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.splitlines()) == 1


def test_seed_is_handed_on(capsys, tmp_path):
    file = tmp_path / "result.json"
    assert main([*QUICK, "--seed", "7", "--json", str(file), "-q"]) == 0
    assert json.loads(file.read_text())["random_state"] == 7


def test_json_replaces_the_file_in_one_step(tmp_path, capsys):
    file = tmp_path / "result.json"
    file.write_text("old")
    assert main([*QUICK, "--json", str(file)]) == 0
    record = json.loads(file.read_text())
    assert record["data"] == "iris"
    assert record["champion"] == "majority_class"
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    file = tmp_path / "result.json"
    file.write_text("old")
    with pytest.raises(ValueError, match="JSON"):
        output.write_json(file, {"bad": float("nan")})
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "table.csv"], "files are not supported yet"),
        (["compare", "nonsense"], "there is no data set 'nonsense'"),
        (["compare"], "Missing argument"),
        (["nonsense"], "No such command"),
        (["compare", "iris", "--nonsense"], "No such option"),
        (["compare", "iris", "--seed", "x"], "--seed"),
        (["compare", "iris", "--seed", "-1"], "--seed"),
        (["compare", "iris", "--learner", "nonsense"], "no learner 'nonsense'"),
        (["compare", "iris", "--learner", "squared_hinge_svm"], "two classes only"),
        (["compare", "iris", "--json", "/nonexistent/x.json"], "no directory /nonexistent"),
        (["compare", "iris", "--json", "/"], "is a directory"),
    ],
)
def test_errors_are_one_line_with_exit_code_2(words, message, capsys):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("words", [["--debug", "compare", "no"], ["compare", "no", "--debug"]])
def test_debug_shows_the_traceback(words, capsys):
    assert main(words) == 2
    assert "Traceback" in capsys.readouterr().err
    assert main(["compare", "no"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_bug_has_its_own_exit_code(monkeypatch, capsys):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(experiment, "compare", broken)
    assert main(QUICK) == 1
    err = capsys.readouterr().err
    assert "ZeroDivisionError: oops" in err
    assert "--debug" in err


def test_ctrl_c_shows_the_learners_that_were_done(monkeypatch, capsys):
    genuine = experiment.compare

    def interrupted(X, y, *, progress, **options):
        def stop(report: Progress) -> None:
            progress(report)
            if report.learner == "prior_sampling":
                raise KeyboardInterrupt

        return genuine(X, y, progress=stop, **options)

    monkeypatch.setattr(experiment, "compare", interrupted)
    assert main(QUICK) == 130
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["learner", "majority_class"]
    assert "Interrupted; the test set stays sealed." in err
    assert "Traceback" not in err


SLOW = """
import sys, time
from separatrix.cli.app import main
from separatrix.experiment import run

def slow(entry, *rest):
    if entry.name == "prior_sampling":
        print("ready", file=sys.stderr, flush=True)
        time.sleep(60)
    return genuine(entry, *rest)

genuine, run.tune = run.tune, slow
sys.exit(main(["compare", "iris", "--learner", "majority_class"]))
"""


def test_a_real_signal_ends_the_run_at_once():
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        while "ready" not in process.stderr.readline():
            assert process.poll() is None
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        seconds = time.perf_counter() - start
    assert process.returncode == 130
    assert "majority_class" in out
    assert "Traceback" not in err
    assert seconds < 5


def test_ctrl_c_before_the_start(monkeypatch, capsys):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "app", interrupted)
    assert main(QUICK) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_terminal_gets_bars_and_a_table(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    assert main(QUICK) == 0
    out, err = capsys.readouterr()
    assert "━" in err
    assert "held-out 0.3333" in err
    assert "Leaderboard" in out
    assert "─" in out
    assert "majority_class" in out


def test_a_closed_pipe_is_met_in_silence():
    command = f"{sys.executable} -m separatrix learners | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("majority_class")
    assert done.stderr == ""
