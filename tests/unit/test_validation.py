import os

import pytest

from separatrix.errors import ParameterError
from separatrix.validation import number_of_threads, seed_from


def test_threads_from_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5,2")
    monkeypatch.delenv("SEPARATRIX_NUM_THREADS", raising=False)
    assert number_of_threads(None) == 5
    monkeypatch.setenv("SEPARATRIX_NUM_THREADS", "7")
    assert number_of_threads(None) == 7
    assert number_of_threads(2) == 2
    monkeypatch.setenv("SEPARATRIX_NUM_THREADS", "many")
    with pytest.raises(ParameterError, match="SEPARATRIX_NUM_THREADS"):
        number_of_threads(None)


def test_negative_numbers_count_from_the_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert number_of_threads(-1) == 8
    assert number_of_threads(-3) == 6
    assert number_of_threads(-100) == 1
    with pytest.raises(ParameterError):
        number_of_threads(0)


def test_seeds_are_repeatable():
    assert seed_from(3) == seed_from(3)
    assert seed_from(3) != seed_from(4)
