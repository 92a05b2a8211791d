"""Partitions that share a task: the same bits, all partitions, and no more than memory allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from separatrix.distributed import placement, session
from separatrix.distributed.objective import added
from separatrix.distributed.placement import Pace, Placement
from separatrix.distributed.session import Session

N = 20
PARTS = [(number,) for number in range(N)]


def numbers(number: int) -> np.ndarray:
    """Numbers of many sizes, whose sum depends on the order."""
    generator = np.random.default_rng(number)
    return generator.normal(size=50) * 10.0 ** generator.integers(-8, 8, 50)


def scaled(values: np.ndarray, w: np.ndarray) -> tuple[np.ndarray]:
    return (values * w,)


@pytest.fixture
def run(client: Any) -> Iterator[Session]:
    with Session(client) as found:
        yield found


def known(run: Session, function: Any, parts: list[Any], seconds: float = 1e-3) -> None:
    """Set the time of a partition by hand, as if a pass had measured it on some machine.

    Partitions are grouped only once they lie somewhere: wait for that.
    """
    run.client.gather(run.keep(scaled, parts, np.ones(50)))
    run._paces[function] = Pace(seconds, nbytes=400)


def test_groups_add_in_the_same_order(run: Session) -> None:
    parts = [(future,) for future in run.keep(numbers, PARTS)]
    w = np.linspace(0.3, 0.7, 50)
    assert run._groups(scaled, parts) is None  # nothing is known of its cost
    (first,) = run.reduce(scaled, added, parts, w)
    for seconds, n_groups in [(10.0, [N]), (0.1, range(4, N)), (1e-3, range(1, 5))]:
        known(run, scaled, parts, seconds)
        groups = run._groups(scaled, parts)
        assert groups is not None
        assert len(groups) in n_groups
        assert sorted(number for group in groups for number in group) == list(range(N))
        (again,) = run.reduce(scaled, added, parts, w)
        assert (again == first).all()
        assert run._paces[scaled].seconds != seconds  # what it took was measured
    # Another order would give another sum.
    backwards = np.sum([numbers(number) * w for number in reversed(range(N))], axis=0)
    np.testing.assert_allclose(first, backwards, rtol=1e-6)
    assert (first != backwards).any()


def test_large_answers_are_added_on_the_workers(
    run: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [(future,) for future in run.keep(numbers, PARTS)]
    w = np.ones(50)
    (first,) = run.reduce(scaled, added, parts, w)
    monkeypatch.setattr(session, "_SMALL_ANSWERS", 8 * 50 * N - 1)
    assert run._groups(scaled, parts) is None
    (second,) = run.reduce(scaled, added, parts, w)
    monkeypatch.setattr(session, "_SMALL_ANSWERS", 2**20)
    monkeypatch.setattr(session, "_SMALL_ARRAYS", 0)  # weights are sent beforehand
    (third,) = run.reduce(scaled, added, parts, w)
    assert (second == first).all()
    assert (third == first).all()


def test_every_partition_is_counted(client: Any) -> None:
    seen: list[tuple[int, int]] = []
    with Session(client, lambda done, total: seen.append((done, total))) as own:
        parts = [(future,) for future in own.keep(numbers, PARTS)]
        for _ in range(2):
            own.reduce(scaled, added, parts, np.ones(50))
            assert seen[-1] == (N, N)
            assert [done for done, _ in seen] == sorted(done for done, _ in seen)
            seen.clear()


def test_partitions_that_fill_the_memory_are_asked_one_by_one(
    run: Session, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    futures = run.keep(numbers, PARTS)
    client.gather(run.keep(scaled, [(future,) for future in futures], np.ones(50)))
    places = Placement(client)
    quick = Pace(seconds=1e-3, nbytes=400)
    found = places.groups(futures, quick)
    assert found is not None
    assert len(found) <= 4
    assert set(found.values()) <= set(client.scheduler_info()["workers"])
    monkeypatch.setattr(placement, "_MEMORY_SHARE", 1e-9)
    alone = places.groups(futures, quick)
    assert alone is not None
    assert sorted(alone) == [(number,) for number in range(N)]
    monkeypatch.undo()
    slow = places.groups(futures, Pace(seconds=10.0, nbytes=400))
    assert slow is not None
    assert len(slow) == N


def test_partitions_that_are_not_there_yet(run: Session) -> None:
    first = [(future,) for future in run.keep(numbers, PARTS)]
    (wanted,) = run.reduce(scaled, added, first, np.ones(50))
    # Asked for in the same moment: nobody knows where they will lie.
    for _ in range(5):
        parts = [(future,) for future in run.keep(numbers, PARTS)]
        (found,) = run.reduce(scaled, added, parts, np.ones(50))
        assert (found == wanted).all()


def test_errors_of_a_group_are_those_of_its_partition(run: Session) -> None:
    parts = [(future,) for future in run.keep(numbers, PARTS)]
    run.reduce(scaled, added, parts, np.ones(50))
    with pytest.raises(ValueError, match="broadcast"):
        run.reduce(scaled, added, parts, np.ones(49))
