"""Shared fixtures: the two test tiers, and the real data sets where they are present.

`@pytest.mark.slow` runs only with --runslow (`make soak`); `@pytest.mark.data("a9a", "sector")`
where these sets are present under SEPARATRIX_DATA (default: ../shared/data beside the repository).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from benchmarks.data import Data

# What takes long to import is imported where it is used: the process that only hands out tests to
# others (pytest -n) needs none of it, and they wait for it.

# No deadline: a loaded machine is not a failure. `make test` tries the same cases every time; soak
# runs look further, at random.
settings.register_profile("bounded", deadline=None, derandomize=True)
settings.register_profile("soak", deadline=None, max_examples=2000)

# Importing them adds to the registries; `tests/laws/test_toys.py` does so in a process of its own.
collect_ignore = ["toys"]

SVMLIGHT = {
    "a9a": ("a9a.gz", "a9a.t.gz"),
    "sector": ("sector.scale.gz", "sector.t.scale.gz"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--runslow", action="store_true", help="run the tests marked slow as well")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("soak" if config.getoption("--runslow") else "bounded")
    hands_out = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if not hands_out:
        no_warning = "error::separatrix.errors.ConvergenceWarning:separatrix"
        config.addinivalue_line("filterwarnings", no_warning)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("slow") and not item.config.getoption("--runslow"):
        pytest.skip("slow: run with --runslow, or `make soak`")
    for marker in item.iter_markers("data"):
        for name in marker.args or ("",):
            require_data(name)


def require_data(name: str = "") -> Path:
    """Return the folder of a data set (the folder of all of them without a name), or skip."""
    from benchmarks import data as benchmark_data

    folder = benchmark_data.data_root() / name
    if not folder.is_dir():
        pytest.skip(f"data: {folder} is absent; set SEPARATRIX_DATA to the folder of data sets")
    return folder


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder that holds the data sets; skip where it is absent."""
    return require_data()


@pytest.fixture(scope="session")
def load_data() -> Callable[[str], Data]:
    """Return a loader `name -> (X_train, y_train, X_test, y_test)` that skips absent sets.

    X is CSR for a9a, sector (float64), 20newsgroups and imdb (tf-idf in float32, vectorized once
    and kept on disk), dense for fashion_mnist, iris and digits; y holds class numbers 0 … K-1.
    The arrays are shared between tests: do not write into them.
    """
    return _load


@cache
def _load(name: str) -> Data:
    from benchmarks import data as benchmark_data

    if name in SVMLIGHT:
        return _load_svmlight(name)
    if name not in ("iris", "digits"):
        require_data(name)
    return benchmark_data.load(name)


def _load_svmlight(name: str) -> Data:
    import numpy as np
    from benchmarks.data import Data
    from sklearn.datasets import load_svmlight_files

    folder = require_data(name)
    files = [str(folder / file) for file in SVMLIGHT[name]]
    X_train, y_train, X_test, y_test = load_svmlight_files(files)
    classes = np.unique(y_train)
    return Data(
        X_train, np.searchsorted(classes, y_train), X_test, np.searchsorted(classes, y_test)
    )
