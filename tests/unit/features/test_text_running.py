"""The text vectorizer at work: long and failing input, threads, Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from separatrix.errors import DataError
from separatrix.features import TextVectorizer
from tests.unit.features.text_documents import assert_same, documents


def test_long_documents_and_many():
    long = "word " * 300_000 + "x" * 1_000_000
    X = TextVectorizer(use_idf=False, norm=None).fit_transform([long, "word"])
    assert X.toarray().tolist() == [[300_000, 1], [1, 0]]
    many = TextVectorizer(use_idf=False, norm=None).fit_transform(["ab"] * 200_000)
    assert many.shape == (200_000, 1)
    assert many.sum() == 200_000


def test_a_generator_that_fails_is_heard():
    def broken():
        yield "some text"
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="disk"):
        TextVectorizer().fit(broken())


def test_documents_before_a_failed_batch_stay_counted():
    vectorizer = TextVectorizer().partial_fit(["aa bb"])
    with pytest.raises(DataError):
        vectorizer.partial_fit(["cc dd", None])
    assert vectorizer.n_documents_ == 1
    assert vectorizer.partial_fit(["bb ee"]).n_documents_ == 2
    assert list(vectorizer.get_feature_names_out()) == ["aa", "bb", "ee"]


def test_threads_may_share_a_vectorizer():
    texts = documents(500)
    vectorizer = TextVectorizer(ngram_range=(1, 2)).fit(texts)
    expected = vectorizer.transform(texts)
    results = [None] * 4

    def work(i):
        results[i] = vectorizer.transform(texts)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for result in results:
        assert_same(result, expected)


SCRIPT = """
import os, signal, threading
from separatrix.features import TextVectorizer
texts = [" ".join(f"w{i * j % 7919}" for j in range(400)) for i in range(2000)]
vectorizer = TextVectorizer(ngram_range=(1, 2)).fit(texts[:50])

def forever():
    while True:
        yield from texts

calls = [vectorizer.transform, TextVectorizer(n_features=8).fit, TextVectorizer().fit]
for call in calls:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        call(forever())
    except KeyboardInterrupt:
        print("raised")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="POSIX signals")
def test_interrupt():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split() == ["raised"] * 3, done.stderr
