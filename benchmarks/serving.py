"""E2: one text model, served by `separatrix serve` and by plain FastAPI around scikit-learn.

``python -m benchmarks.serving`` prints throughput and p99 of both; ``--soak 600`` adds ten minutes
at 80 % of ours' peak, with memory before and after.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data as datasets
from benchmarks.data import Data
from benchmarks.load import Measured, http_requests, run_load
from benchmarks.spec import Outcome

ROOT = Path(__file__).parents[1]


@dataclass
class Served:
    """A service in a process of its own, and the requests for it."""

    process: subprocess.Popen[str]
    port: int
    requests: list[bytes]

    def stop(self) -> None:
        """End the service."""
        self.process.terminate()
        self.process.wait()


def _train(data: Data) -> Any:
    from sklearn.pipeline import make_pipeline

    from separatrix import LogisticRegression, TextVectorizer

    learner = LogisticRegression(C=10.0, tol=1e-3, random_state=0)
    model = make_pipeline(TextVectorizer(sublinear_tf=True), learner)
    return model.fit(data.X_train.tolist(), data.y_train)


def _start(words: list[str]) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    atexit.register(process.kill)
    return process


def prepare_ours(data: Data) -> Served:
    """Train, save, and serve the file."""
    from separatrix import save

    folder = Path(tempfile.mkdtemp(prefix="bench-serve-"))
    save(_train(data), folder / "news.sx")
    process = _start(
        ["separatrix", "serve", str(folder / "news.sx"), "--port", "0", "--no-access-log"]
    )
    assert process.stderr is not None
    told = process.stderr.readline()
    found = re.search(r":(\d+)$", told.rstrip())
    if found is None:
        raise RuntimeError(f"the service did not start: {told}{process.stderr.read()}")
    bodies = [
        json.dumps({"row": text, "probabilities": True}).encode() for text in data.X_test.tolist()
    ]
    return Served(process, int(found[1]), http_requests("/v1/predict", bodies))


def prepare_plain(data: Data, path: str = "/predict") -> Served:
    """The same weights in a pipeline of scikit-learn, behind FastAPI."""
    import joblib
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    from separatrix import to_sklearn

    ours = _train(data)
    texts = data.X_train.tolist()
    pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True).fit(texts), to_sklearn(ours[-1]))
    few = data.X_test.tolist()[:100]
    np.testing.assert_allclose(pipeline.predict_proba(few), ours.predict_proba(few), rtol=1e-9)
    file = Path(tempfile.mkdtemp(prefix="bench-serve-")) / "news.joblib"
    joblib.dump(pipeline, file)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = _start(["benchmarks.plain_service", str(file), str(port)])
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    bodies = [json.dumps({"text": text}).encode() for text in data.X_test.tolist()]
    return Served(process, port, http_requests(path, bodies))


def answer_all(served: Served) -> list[bytes]:
    """Ask for every test document once, over 64 connections."""
    import uvloop

    seen, answers = uvloop.run(run_load(served.port, served.requests))
    if seen.failed or len(answers) != len(served.requests):
        raise RuntimeError(f"{seen.failed} requests failed")
    return answers


def read(served: Served, answers: list[bytes]) -> Outcome:
    """The labels in the answers; ends the service."""
    served.stop()
    contents = [json.loads(answer) for answer in answers]
    labels = [one["predictions"][0]["label"] if "predictions" in one else one["label"]
              for one in contents]  # fmt: skip
    return Outcome(predictions=np.array(labels))


def _memory(served: Served) -> float:
    """Memory of the service in MB."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def _measure(served: Served, seconds: float, rate: float | None = None) -> Measured:
    import uvloop

    return uvloop.run(run_load(served.port, served.requests, 64, seconds, rate))[0]


def main() -> int:
    """Print throughput and p99 of both services; exit 1 where a request failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each load")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--soak", type=float, help="seconds at 80 %% of ours' peak")
    options = parser.parse_args()
    data = datasets.load("20newsgroups-text")
    both = {"separatrix": prepare_ours(data), "plain": prepare_plain(data)}
    seen: dict[str, list[Measured]] = {name: [] for name in both}
    for served in both.values():
        _measure(served, 1.0)
    for _ in range(options.repetitions):
        for name, served in both.items():
            seen[name].append(_measure(served, options.seconds))
            print(name, seen[name][-1], f"{seen[name][-1].throughput:.0f}/s", flush=True)
    middle = {
        name: (
            float(np.median([one.throughput for one in several])),
            float(np.median([one.p99 for one in several])),
        )
        for name, several in seen.items()
    }
    ours, plain = middle["separatrix"], middle["plain"]
    print(f"throughput {ours[0]:.0f}/s against {plain[0]:.0f}/s: {ours[0] / plain[0]:.1f}x")
    print(f"p99 {ours[1]:.1f} ms against {plain[1]:.1f} ms: {ours[1] / plain[1]:.3f}")
    failed = sum(one.failed for several in seen.values() for one in several)
    if options.soak:
        before = _memory(both["separatrix"])
        long = _measure(both["separatrix"], options.soak, 0.8 * ours[0])
        after = _memory(both["separatrix"])
        print(f"soak {long} {long.throughput:.0f}/s, memory {before:.0f} to {after:.0f} MB")
        failed += long.failed
    for served in both.values():
        served.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
