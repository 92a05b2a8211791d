"""Record a session in the terminal as an animated picture: file, champion, report, page.

python tools/record_terminal.py        # runs the commands, writes docs/_static/terminal.svg
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import time
from html import escape
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "docs" / "_static" / "terminal.svg"
LEARNERS = "naive_bayes,perceptron,linear_svm,logistic_regression"
#: What is typed; the last one runs until it is ended.
COMMANDS = (
    "separatrix convert breast_cancer cancer.csv",
    f"separatrix compare cancer.csv --learners {LEARNERS} --save cancer.sx --report report.html",
    "cut -d, -f1-30 cancer.csv | sed -n '1p;2p;22p' > new.csv",
    "separatrix predict cancer.sx new.csv --proba",
    "separatrix serve cancer.sx --port 0",
)
#: Characters of a line, pixels of a character and of a line, seconds a command is looked at.
WIDTH, LETTER, LINE, PAUSE = 100, 7.3, 17, 1.2


def run(command: str, folder: str) -> tuple[list[str], float]:
    """What a command prints, and the seconds it takes."""
    separatrix = f"{sys.executable} -m separatrix"
    asked = command.replace("separatrix ", f"{separatrix} ", 1)
    environment = os.environ | {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    begun = time.perf_counter()
    if " serve " not in asked:
        done = subprocess.run(
            asked,
            shell=True,
            cwd=folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode:
            raise RuntimeError(f"{command}\n{done.stdout}")
        return done.stdout.splitlines(), time.perf_counter() - begun
    with subprocess.Popen(
        asked.split(),
        cwd=folder,
        env=environment,
        text=True,
        stderr=subprocess.PIPE,
    ) as service:
        assert service.stderr is not None
        first = service.stderr.readline().rstrip()
        service.terminate()
    return [first], time.perf_counter() - begun


def wrapped(line: str) -> list[str]:
    """A line as a terminal of this width shows it."""
    return textwrap.wrap(line, WIDTH, replace_whitespace=False, drop_whitespace=False) or [""]


def record() -> list[tuple[float, str, bool]]:
    """Second, text, and whether it was typed, of every line."""
    lines, at = [], 0.5
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            for part in wrapped(f"$ {command}"):
                lines.append((at, part, True))
            printed, seconds = run(command, folder)
            at += min(max(seconds, 0.3), 3.0)  # as long as it took, but nobody waits for imports
            for number, line in enumerate(part for text in printed for part in wrapped(text)):
                lines.append((at + 0.03 * number, line, False))
            at += PAUSE
    return lines


def draw(lines: list[tuple[float, str, bool]]) -> str:
    """The picture; with reduced motion all of it stands there at once."""
    width, height = int(WIDTH * LETTER + 32), (len(lines) + 1) * LINE + 16
    rows = []
    for row, (at, text, typed) in enumerate(lines):
        kind = ' class="typed"' if typed else ""
        rows.append(
            f'<text{kind} x="16" y="{LINE * (row + 1) + 12}" '
            f'style="animation-delay:{at:.2f}s">{escape(text)}</text>'
        )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            "<title>A file becomes a model, a report and a service</title>",
            "<style>text { font: 12px 'DejaVu Sans Mono', 'Liberation Mono', monospace;",
            "white-space: pre; fill: #d8dee9; animation: show 0.01s both; }",
            ".typed { fill: #88c0d0; font-weight: bold; }",
            "@keyframes show { from { opacity: 0 } to { opacity: 1 } }",
            "@media (prefers-reduced-motion: reduce) { text { animation: none } }</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#1d2430"/>',
            *rows,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    TARGET.write_text(draw(record()), encoding="utf-8")
    print(TARGET)
