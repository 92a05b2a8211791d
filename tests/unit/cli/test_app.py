"""The command line: exit codes, one-line errors, JSON, progress, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from separatrix.cli import app
from separatrix.cli.app import main
from separatrix.experiment import Experiment, Progress
from separatrix.registry import LEARNERS

QUICK = ["compare", "iris", "--learners", "majority_class"]


def run(words, **options):
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, **options
    )


def test_no_command_shows_the_help(capsys):
    assert main([]) == 0
    assert "Usage: separatrix" in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("separatrix ")


def test_learners_lists_the_registry(capsys):
    assert main(["learners"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [entry.name for entry in LEARNERS]


def test_compare_shows_progress_on_stderr_and_the_result_on_stdout(capsys):
    assert main(QUICK) == 0
    out, err = capsys.readouterr()
    assert "learner" in out
    assert out.startswith("Task: multiclass ('class' holds 3 classes), decided by accuracy.")
    assert out.splitlines()[-1].startswith("Champion: majority_class")
    assert [line.split(":")[0] for line in err.splitlines()] == [
        "majority_class",
        "prior_sampling",
    ]


def test_quiet_is_one_line(capsys):
    assert main([*QUICK, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.splitlines()) == 1


def test_seed_is_handed_on(capsys):
    assert main([*QUICK, "--seed", "7", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["random_state"] == 7


def test_json_is_one_document_on_stdout(capsys):
    assert main([*QUICK, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["source"] == "iris"
    assert record["champion"] == "majority_class"


USAGE, DATA = 2, 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["compare", "table.csv"], DATA, "there is no file table.csv"),
        (["compare", "iriss"], DATA, "did you mean iris?"),
        (["compare", "/"], DATA, "is a directory"),
        (["compare"], USAGE, "Missing argument"),
        (["nonsense"], USAGE, "No such command"),
        (["compar", "iris"], USAGE, "Did you mean 'compare'?"),
        (["compare", "iris", "--nonsense"], USAGE, "No such option"),
        (["compare", "iris", "--seed", "x"], USAGE, "--seed"),
        (["compare", "iris", "--seed", "-1"], USAGE, "--seed"),
        (["compare", "iris", "--threads", "0"], USAGE, "--threads"),
        (["compare", "iris", "--learners", "nonsense"], USAGE, "no learner 'nonsense'"),
        (["compare", "iris", "--learners", "squared_hinge_svm"], USAGE, "learns binary tasks"),
        (["datasets", "--format", "xml"], USAGE, "--format"),
    ],
)
def test_errors_are_one_line(words, code, message, capsys):
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("words", [["--debug", "compare", "no"], ["compare", "no", "--debug"]])
def test_debug_shows_the_traceback(words, capsys):
    assert main(words) == 1
    assert "Traceback" in capsys.readouterr().err
    assert main(["compare", "no"]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_bug_has_its_own_exit_code(monkeypatch, capsys):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(Experiment, "run", broken)
    assert main(QUICK) == 1
    err = capsys.readouterr().err
    assert "ZeroDivisionError: oops" in err
    assert "--debug" in err


def test_ctrl_c_shows_the_learners_that_were_done(monkeypatch, capsys):
    genuine = Experiment.run

    def interrupted(self, progress, **given):
        def stop(report: Progress) -> None:
            progress(report)
            if report.learner == "prior_sampling":
                raise KeyboardInterrupt

        return genuine(self, stop, **given)

    monkeypatch.setattr(Experiment, "run", interrupted)
    assert main(QUICK) == 130
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["learner", "majority_class"]
    assert "Interrupted; the test set stays sealed." in err
    assert "Traceback" not in err


SLOW = """
import sys, time
from separatrix.cli.app import main
from separatrix.experiment import run

def slow(entry, *rest, **options):
    if entry.name == "prior_sampling":
        print("ready", file=sys.stderr, flush=True)
        time.sleep(60)
    return genuine(entry, *rest, **options)

genuine, run.tune = run.tune, slow
sys.exit(main(["compare", "iris", "--learners", "majority_class"]))
"""


def test_a_real_signal_ends_the_run_at_once():
    with subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        while "ready" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "majority_class" in out
    assert "Traceback" not in err


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
    assert done.stdout.startswith("learner")
    assert done.stderr == ""
