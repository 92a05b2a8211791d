"""BLAS is held to few threads, and let go by the last who held it."""

from __future__ import annotations

import threading

from separatrix.solvers.blas import _libraries, blas_threads


def numbers():
    return [library.get_num_threads() for library in _libraries()]


def test_blocks_nest_and_the_last_one_restores():
    before = numbers()
    with blas_threads(1):
        assert set(numbers()) <= {1}
        with blas_threads(1):
            assert set(numbers()) <= {1}
        assert set(numbers()) <= {1}
    assert numbers() == before


def test_threads_that_overlap_leave_the_number_as_it_was():
    before = numbers()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with blas_threads(1):
            inside.set()
            leave.wait(120)

    thread = threading.Thread(target=other)
    with blas_threads(1):
        thread.start()
        assert inside.wait(120)
    assert set(numbers()) <= {1}
    leave.set()
    thread.join()
    assert numbers() == before
