"""Every estimator's own fit names separatrix.distributed.fit when it is given dask data."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest

import separatrix

da = pytest.importorskip("dask.array")


def estimators() -> list[Any]:
    found = []
    for name in sorted(separatrix.__all__):
        member = getattr(separatrix, name)
        if inspect.isclass(member) and callable(getattr(member, "fit", None)):
            found.append(member)
    return found


@pytest.mark.parametrize("kind", estimators(), ids=lambda kind: kind.__name__)
def test_fit_names_the_way(kind: Any) -> None:
    parameters = inspect.signature(kind.__init__).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.name != "self"]
    needed = [p for p in needed if p.kind is p.POSITIONAL_OR_KEYWORD]
    model = kind(*(separatrix.LogisticRegression() for _ in needed))
    X, y = da.ones((4, 2), chunks=2), da.ones(4, chunks=2)
    with pytest.raises(TypeError, match=r"separatrix\.distributed\.fit"):
        model.fit(X, y)


def test_dask_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, separatrix.distributed; assert not {'dask', 'distributed'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from separatrix.distributed import fit
    from separatrix.errors import MissingPackageError

    X = da.ones((4, 2), chunks=2)
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    monkeypatch.delattr("dask.distributed", raising=False)
    with pytest.raises(MissingPackageError, match=r"separatrix\[dask\]"):
        fit(separatrix.LogisticRegression(), X, [0, 1, 0, 1])
