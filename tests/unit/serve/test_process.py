"""The service as a process: signals under load, reloads, the command line, the client."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, TextVectorizer, save
from separatrix.cli.app import main
from separatrix.serve import Client, ServiceError
from tests.unit.serve.served import PATIENCE, ROOT, service, texts

TOKEN = "a-token-of-some-length"


class Load(threading.Thread):
    """A connection that asks without a pause until it is told to stop, or the service hangs up."""

    def __init__(self, port, stop, fresh=False):
        super().__init__(daemon=True)
        self._port, self._stopped, self._fresh = port, stop, fresh
        self.labels, self.cut, self.refused = [], [], 0

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        body = json.dumps({"row": "free money"}).encode()
        headers = {"Content-Type": "application/json"}
        while not self._stopped.is_set():
            try:
                connection.request("POST", "/v1/predict", body, headers)
                response = connection.getresponse()
                content = response.read()
            except ConnectionRefusedError:
                self.refused += 1
                return
            except (OSError, http.client.HTTPException) as error:
                self.cut.append(repr(error))
                return
            if response.status != 200:
                self.cut.append(f"{response.status} {content!r}")
                return
            self.labels.append(json.loads(content)["predictions"][0]["label"])
            if self._fresh:
                connection.close()
            # http.client opens a new connection by itself where the old one is closed.


@pytest.fixture
def turned(tmp_path):
    """Two model files that say opposite things of one text."""
    X, y = texts()
    found = {}
    for name, labels in (("right", y), ("wrong", ["spam" if a == "ham" else "ham" for a in y])):
        found[name] = tmp_path / f"{name}.sx"
        save(make_pipeline(TextVectorizer(), LogisticRegression()).fit(X, labels), found[name])
    return found


def reload_under_load(tmp_path, turned, times):
    file = tmp_path / "mail.sx"
    shutil.copy(turned["right"], file)
    stop = threading.Event()
    with (
        service(file, options=["--no-access-log"]) as (process, port),
        Client(f"http://127.0.0.1:{port}") as client,
    ):
        loads = [Load(port, stop) for _ in range(8)]
        for load in loads:
            load.start()
        version = client.models()[0]["version"]
        for number in range(times):
            # Every third file is broken, and overwritten in place at that.
            name = ("wrong", "right")[number % 2]
            if number % 3 == 2:
                with open(file, "r+b") as stream:
                    stream.truncate(500)
                process.send_signal(signal.SIGHUP)
                wait_for(lambda: complaints(port), "the broken file is told")
            shutil.copy(turned[name], tmp_path / "next.sx")
            os.replace(tmp_path / "next.sx", file)
            process.send_signal(signal.SIGHUP)
            before = version
            wait_for(lambda b=before: client.models()[0]["version"] != b, "the new model is there")
            version = client.models()[0]["version"]
            said = client.predict(["free money"])[0]["label"]
            assert said == {"right": "spam", "wrong": "ham"}[name]
        stop.set()
        for load in loads:
            load.join(PATIENCE)
    assert [load.cut for load in loads] == [[]] * 8
    assert sum(load.refused for load in loads) == 0
    labels = [label for load in loads for label in load.labels]
    assert set(labels) == {"ham", "spam"}
    assert len(labels) > 20 * times
    assert process.returncode == 0


def complaints(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/v1/models")
    return json.loads(connection.getresponse().read())["complaints"]


def wait_for(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def test_reloads_under_load_lose_no_request(tmp_path, turned):
    reload_under_load(tmp_path, turned, 8)


@pytest.mark.slow
def test_a_hundred_reloads_under_load(tmp_path, turned):
    reload_under_load(tmp_path, turned, 100)


def stop_under_load(paths, n_connections, fresh=False):
    stop = threading.Event()
    with service(paths["mail"], options=["--no-access-log"]) as (process, port):
        loads = [Load(port, stop, fresh) for _ in range(n_connections)]
        for load in loads:
            load.start()
        wait_for(lambda: min(len(load.labels) for load in loads) > 3, "the load is there")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        stop.set()
        for load in loads:
            load.join(PATIENCE)
    assert [load.cut for load in loads] == [[]] * n_connections
    assert all(set(load.labels) == {"spam"} for load in loads)
    assert sum(load.refused for load in loads) == n_connections


def test_a_stop_under_load_cuts_no_response(paths):
    stop_under_load(paths, 8)


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [False, True], ids=["kept", "new connections"])
@pytest.mark.parametrize("time", range(10))
def test_many_stops_under_load(paths, time, fresh):
    stop_under_load(paths, 32, fresh)


def test_a_stop_finishes_what_is_under_way(paths):
    """A long request that began before the signal gets its answer."""
    with service(paths["mail"], options=["--no-access-log", "--max-rows", "300000"]) as (
        process,
        port,
    ):
        client = Client(f"http://127.0.0.1:{port}")
        found = []
        rows = [f"free money {i}" for i in range(100_000)]
        asking = threading.Thread(
            target=lambda: found.extend(client.predict(rows, probabilities=True))
        )
        metrics = Client(f"http://127.0.0.1:{port}")
        metrics.models()
        asking.start()
        wait_for(
            lambda: b"in_progress 1" in metrics._exchange("GET", "/metrics", None, ""), "it began"
        )
        process.send_signal(signal.SIGTERM)
        asking.join(PATIENCE)
        assert process.wait(PATIENCE) == 0
    assert len(found) == len(rows)


def test_watching_the_file(tmp_path, turned):
    file = tmp_path / "mail.sx"
    shutil.copy(turned["right"], file)
    with service(file, options=["--watch"]) as (_, port):
        client = Client(f"http://127.0.0.1:{port}")
        assert client.predict(["free money"])[0]["label"] == "spam"
        os.replace(turned["wrong"], file)
        wait_for(lambda: client.predict(["free money"])[0]["label"] == "ham", "it was seen")


def children(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def counted(port, what):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    return next((float(line.split()[-1]) for line in lines if line.startswith(what)), 0.0)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_several_workers(tmp_path, turned):
    file = tmp_path / "mail.sx"
    shutil.copy(turned["right"], file)
    stop = threading.Event()
    with service(file, options=["--workers", "2", "--no-access-log"]) as (process, port):
        wait_for(lambda: len(children(process)) == 2, "two workers")
        loads = [Load(port, stop, fresh) for fresh in (False, False, True)]
        for load in loads:
            load.start()
        wait_for(lambda: min(len(load.labels) for load in loads) > 20, "they are answered")
        os.replace(turned["wrong"], file)
        before = set(children(process))
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: not before & set(children(process)), "the workers were replaced")
        assert Client(f"http://127.0.0.1:{port}").predict(["free money"])[0]["label"] == "ham"
        stop.set()
        for load in loads:
            load.join(PATIENCE)
        n_answers = sum(len(load.labels) for load in loads) + 1
        rows = 'separatrix_rows_total{model="mail"}'
        wait_for(lambda: counted(port, rows) == n_answers, "all workers' answers are counted")
        file.write_bytes(b"broken")
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: complaints(port), "the broken file is told")
        assert counted(port, 'separatrix_reloads_total{result="failed"}') == 1
        first, second = children(process)
        os.kill(int(first), signal.SIGKILL)
        wait_for(lambda: {second} < set(children(process)) - {first}, "one takes its place")
        assert Client(f"http://127.0.0.1:{port}").predict(["free money"])[0]["label"] == "ham"
    assert [load.cut for load in loads] == [[]] * 3
    assert process.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_end_with_the_first_process(paths):
    with service(paths["mail"], options=["--workers", "2"]) as (process, _):
        wait_for(lambda: len(children(process)) == 2, "two workers")
        left = children(process)
        process.kill()
        process.wait()
        wait_for(lambda: not any(is_running(pid) for pid in left), "they ended too")


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_lines_of_json_in_the_log(paths):
    with service(paths["mail"], options=["--log-format", "json"]) as (process, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        for sent in ("of-mine.1", "no\tname", "x" * 65):
            connection.request("GET", "/healthz", headers={"X-Request-ID": sent})
            response = connection.getresponse()
            response.read()
            told = json.loads(process.stderr.readline())
            assert told["request_id"] == response.headers["x-request-id"]
            assert (told["request_id"] == sent) == (sent == "of-mine.1")
            assert (told["route"], told["status"], told["client"]) == ("/healthz", 200, "127.0.0.1")


class Refusing(threading.Thread):
    """A service that answers some connections with a status, or hangs up, and then well."""

    def __init__(self, answers):
        super().__init__(daemon=True)
        self._answers = answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def run(self):
        for status in self._answers:
            connection, _ = self._listener.accept()
            with connection:
                connection.recv(65536)
                if status:
                    body = b'{"models": []}' if status == 200 else b"{}"
                    head = f"HTTP/1.1 {status} told\r\nretry-after: 0\r\nconnection: close\r\n"
                    connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)


def test_the_client_comes_again():
    refusing = Refusing([429, 0, 503, 200, 503, 400])
    refusing.start()
    client = Client(f"http://127.0.0.1:{refusing.port}", retries=3)
    assert client.models() == []
    once = Client(f"http://127.0.0.1:{refusing.port}", retries=0)
    for status in (503, 400):
        with pytest.raises(ServiceError) as caught:
            once.models()
        assert caught.value.status == status


def test_the_client(paths):
    options = ["--max-concurrent", "4"]
    with service(
        paths["mail"], paths["people"], options=options, environment={"SEPARATRIX_TOKEN": TOKEN}
    ) as (_, port):
        url = f"http://127.0.0.1:{port}"
        with pytest.raises(ServiceError, match="token") as caught:
            Client(url).models()
        assert caught.value.status == 401
        assert Client(url).is_ready()
        assert not Client("http://127.0.0.1:9").is_ready()
        with Client(url, token=TOKEN) as client:
            assert [one["name"] for one in client.models()] == ["mail", "people"]
            assert client.card("mail")["classes"] == ["ham", "spam"]
            with pytest.raises(ServiceError, match="model"):
                client.predict(["a"])
            X, y = texts()
            said = client.predict(X, model="mail", probabilities=True, top=1, explain=True)
            assert [one["label"] for one in said] == y
            assert len(said[0]["explanation"]["terms"]) > 1
            cost = client.predict(X, model="mail", cost=[[0, 1], [50, 0]])
            assert {one["action"]["label"] for one in cost} == {"spam"}
            check_frames(client)
            check_streams(client)


def check_frames(client):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    rows = {"age": [30.0, float("nan")], "city": ["Rome", "Oslo"], "member": [True, False],
            "since": ["2014-03-01", "2020-03-01"]}  # fmt: skip
    expected = client.predict(pd.DataFrame(rows), model="people", probabilities=True)
    assert len(expected) == 2
    assert client.predict(pl.DataFrame(rows), model="people", probabilities=True) == expected
    table = client.predict_arrow(pa.table(rows), model="people", probabilities=True)
    assert table["label"].to_pylist() == [one["label"] for one in expected]


def check_streams(client):
    n = 30_000
    labels = [
        one["label"] for one in client.stream((f"text {i} free" for i in range(n)), model="mail")
    ]
    assert len(labels) == n
    with pytest.raises(ServiceError, match="line 2001"):
        list(client.stream(["a"] * 2000 + [3], model="mail"))
    with pytest.raises(ServiceError) as caught:
        list(client.stream([3], model="mail"))
    assert caught.value.status == 422


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 2, "MODEL"),
        (["none.sx"], 1, "none.sx"),
        (["MODEL", "--host", "0.0.0.0"], 2, "--token"),
        (["MODEL", "--token", "short"], 2, "16 characters"),
        (["MODEL", "MODEL"], 2, "both be named"),
    ],
)
def test_wrong_words(paths, words, code, told, capfd):
    words = [str(paths["mail"]) if word == "MODEL" else word for word in words]
    assert main(["serve", *words]) == code
    said = capfd.readouterr().err
    assert told in said
    assert "Traceback" not in said


def test_an_address_that_is_not_there(paths):
    words = ["--port", "1", "--host", "no.such.host.invalid", "--no-auth"]
    done = subprocess.run(
        [sys.executable, "-m", "separatrix", "serve", str(paths["mail"]), *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
