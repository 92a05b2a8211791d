"""The frame of the command line: help, start, completion, tables, progress, errors."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import get_args

import numpy as np
import pytest

from separatrix.cli import experiment_options, messages
from separatrix.cli.app import COMMANDS, main
from separatrix.cli.options import THREAD_VARIABLES, Format
from separatrix.cli.tables import Table, column_texts, plain
from separatrix.progress import Bar
from separatrix.tasks.table import all_metrics, tasks

HEAVY = ("numpy", "scipy", "sklearn", "rich", "narwhals", "matplotlib", "separatrix._core")


def python(code, *words, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, **options
    )


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_imports_nothing_heavy(command):
    words = [command, "--help"] if command else ["--help"]
    code = (
        f"import sys; from separatrix.cli.app import main; code = main({words!r}); "
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]; "
        "print(heavy, file=sys.stderr); sys.exit(code)"
    )
    done = python(code)
    assert done.stderr.strip() == "[]"
    assert "Usage: separatrix" in done.stdout


def test_the_help_fits_one_screen():
    done = python(
        "from separatrix.cli.app import main; main(['--help'])",
        env={**os.environ, "COLUMNS": "80", "LINES": "24"},
    )
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    shown = [line.split()[0] for line in lines[lines.index("Commands:") + 1 :]]
    assert shown == list(COMMANDS)
    assert not any(line.endswith("...") for line in lines[1:])


def test_the_shell_completes_commands_options_and_bundled_names():
    def complete(*words):
        env = {
            **os.environ,
            "_SEPARATRIX_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["separatrix", *words]),
            "COMP_CWORD": str(len(words)),
        }
        code = "from separatrix.cli.app import main; main()"
        return python(code, env=env).stdout.split()

    assert complete("ex") == ["explain"]
    assert complete("compare", "brea") == ["breast_cancer"]
    assert "--proba" in complete("predict", "--p")


def test_completion_can_be_installed():
    # Without this the shell is looked for among the parents of the process.
    environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    code = "from separatrix.cli.app import main; main(['--show-completion', 'bash'])"
    script = python(code, env=environment)
    assert "_SEPARATRIX_COMPLETE=complete_bash" in script.stdout


def test_threads_reach_the_kernels_and_nothing_else(run, monkeypatch):
    from separatrix import experiment
    from separatrix.validation import number_of_threads

    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    seen = []
    monkeypatch.setattr(
        experiment.Experiment, "run", lambda *_, **__: seen.append(number_of_threads(None)) or 1 / 0
    )
    run("compare", "iris", "--threads", "3")
    assert seen == [3]
    assert not any(name in os.environ for name in THREAD_VARIABLES)


def test_a_signal_while_predicting_ends_with_130(home):
    code = (
        "import sys, time; from separatrix.cli.app import main\n"
        "from separatrix.models.opened import Model\n"
        "def slow(self, data):\n"
        "    print('ready', file=sys.stderr, flush=True); time.sleep(60)\n"
        "Model.take = slow\n"
        f"sys.exit(main(['predict', {str(home / 'mail.sx')!r}, {str(home / 'mail.csv')!r}]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        while "ready" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == "Interrupted.\n"


def test_debug_shows_the_traceback_and_is_forgotten(run, home):
    words = ["predict", home / "mail.sx", "nothing.csv"]
    assert "Traceback" in run(*words, "--debug").err
    assert "Traceback" in run("--debug", *words).err
    assert "Traceback" not in run(*words).err


def test_python_m_is_the_same_program(home):
    done = subprocess.run(
        [sys.executable, "-m", "separatrix", "inspect", str(home / "none.sx")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"error: {home / 'none.sx'}: no such file or directory\n"


def test_advice_is_for_the_command_line(run, home, tmp_path):
    file = tmp_path / "table.txt"
    file.write_text("a b\nc d\n", encoding="utf-8")
    done = run("predict", home / "people.sx", file)
    assert done.code == 1
    assert "give --input-format (one of conll, csv)" in done.err
    file = tmp_path / "table.csv"
    file.write_bytes("label,message\nspam,caf\xe9 money\n".encode("latin-1"))
    assert "give --encoding" in run("predict", home / "mail.sx", file).err
    done = run("predict", home / "mail.sx", file, "--encoding", "latin-1")
    assert done.code == 0
    file.write_bytes("label,message\nspam,free money\n".encode("utf-16"))
    assert "give --encoding utf-16" in run("predict", home / "mail.sx", file).err
    assert run("predict", home / "mail.sx", file, "--encoding", "utf-16").code == 0
    done = run("predict", home / "mail.sx", file, "--input-format", "xml")
    assert done.code == 2
    assert "--input-format" in done.err


def text_of(format, *tables):
    return "".join(column_texts(tables, format))


class TestTable:
    def test_texts_are_aligned_and_numbers_to_the_right(self):
        table = {"name": ["a", "bb"], "n": [1, 22]}
        assert text_of(Format.table, table) == "name   n\na      1\nbb    22\n"

    def test_no_rows_leave_the_headings(self, capsys):
        for format, told in (("csv", "name,n\n"), ("table", "name  n\n"), ("jsonl", "")):
            Table(("name", "n"), []).show(Format(format))
            assert capsys.readouterr().out == told

    def test_blocks_have_one_heading(self):
        blocks = [{"n": np.array([0, 1])}, {"n": np.array([2])}]
        assert text_of(Format.csv, *blocks) == "n\n0\n1\n2\n"
        assert text_of(Format.table, *blocks) == "n\n0\n1\n2\n"
        assert json.loads(text_of(Format.json, *blocks)) == [{"n": 0}, {"n": 1}, {"n": 2}]

    def test_values_stay_values_in_json(self):
        table = {"a": [1.5], "b": [float("nan")], "c": np.array([np.inf]), "d": [["x", "y"]]}
        expected = {"a": 1.5, "b": None, "c": None, "d": ["x", "y"]}
        assert json.loads(text_of(Format.jsonl, table)) == expected
        assert json.loads(text_of(Format.json, table)) == [expected]

    def test_cells_are_those_of_the_csv_module(self):
        words = ["a", "", 'say "x"', "1,5", "two\nlines", "cr\r", None, "ä", True, 3, 0.1]
        numbers = np.array([0.1, 1e16, 1e-5, -0.0, 1e22, 123456.789, 1 / 3, 5e-324, 2.5, 7.0, -1.0])
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        writer.writerows([["w", "n"], *zip(words, numbers.tolist(), strict=True)])
        assert text_of(Format.csv, {"w": words, "n": numbers}) == (
            buffer.getvalue().replace("cr\r", '"cr\r"')
        )
        # An empty cell alone in its row would be no row.
        assert text_of(Format.csv, {"w": ["", "x"]}) == 'w\n""\nx\n'

        assert plain((1, {"x": object})) == [1, {"x": str(object)}]


class TestWaiting:
    def test_quick_work_shows_nothing(self, capsys, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        with messages.waiting("Working") as bar:
            bar.advance(1)
        assert capsys.readouterr().err == ""

    def test_slow_work_shows_a_bar_with_the_time_left(self, capsys, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(messages, "SECONDS", 0.05)
        bar = messages.waiting("Working")
        bar.expect(4)
        with bar:
            for _ in range(4):
                time.sleep(0.15)
                bar.advance(1)
        shown = capsys.readouterr().err
        assert "Working" in shown
        assert "left" in shown
        assert "50 %" in shown

    @pytest.mark.parametrize("quiet", [True, False])
    def test_nothing_on_a_pipe_or_where_quiet(self, capsys, monkeypatch, quiet):
        monkeypatch.setattr(messages, "SECONDS", 0.01)
        if quiet:
            monkeypatch.setenv("FORCE_COLOR", "1")
        with messages.waiting("Working", quiet=quiet):
            time.sleep(0.1)
        assert capsys.readouterr().err == ""


def test_reading_a_file_moves_the_bar(home, monkeypatch):
    """The bytes of both passes are told, no more and no less."""
    seen = []
    monkeypatch.setattr(Bar, "advance", lambda self, steps: seen.append(steps))
    expected = []
    monkeypatch.setattr(Bar, "expect", lambda self, total: expected.append(total))
    assert main(["predict", str(home / "people.sx"), str(home / "people.csv"), "--out"]) == 2
    assert main(["evaluate", str(home / "people.sx"), str(home / "people.csv")]) == 0
    size = (home / "people.csv").stat().st_size
    assert expected == [2 * size]
    # A few bytes more: the delimiter is told by the first of them.
    assert 2 * size <= sum(seen) <= 4 * size


def test_the_options_of_experiments_name_all_metrics_and_tasks():
    options = (experiment_options.Metric, experiment_options.Task)
    (_, metric), (_, task) = map(get_args, options)
    assert set(re.findall(r"\w+", metric.help)) >= {*all_metrics(), "cost"}
    assert set(re.findall(r"\w+", task.help)) >= {name for one in tasks() for name in one.names}
