import os

import numpy as np
import pytest

from separatrix.errors import ParameterError
from separatrix.validation import number_of_threads, number_values, seed_from


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


def test_objects_are_numbered_by_value_whatever_their_identity():
    words = ["".join(["a", letter]) for letter in "xyxxz"]  # equal, and not the same objects
    values = np.array([*words, *words, None, None, 7], dtype=object)
    codes, known = number_values(np.concatenate([values] * 50))
    assert list(known) == ["ax", "ay", "az", None, 7]
    assert codes[:13].tolist() == [0, 1, 0, 0, 2, 0, 1, 0, 0, 2, 3, 3, 4]
    distinct = np.array([f"word {at}" for at in range(500)], dtype=object)
    assert number_values(distinct)[0].tolist() == list(range(500))
