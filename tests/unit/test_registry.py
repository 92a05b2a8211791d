"""The table of learners: complete, static, and true to the classes it names."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from sklearn.base import is_regressor

from separatrix import registry
from separatrix.registry import C_GRID, LEARNERS

HEAVY = ("numpy", "scipy", "sklearn", "separatrix._core", "separatrix.learners.linear")


def test_names_are_unique_and_baselines_come_first():
    names = registry.names()
    assert len(set(names)) == len(names)
    flags = [learner.baseline for learner in LEARNERS]
    assert flags == sorted(flags, reverse=True)
    for task in ("binary", "multiclass", "regression"):
        able = [learner.baseline for learner in LEARNERS if task in learner.tasks]
        assert able.count(True) == 2
        assert able.count(False) >= 3


def test_reading_the_table_imports_no_family():
    code = (
        "import sys, separatrix.registry as registry; registry.names();"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


def test_grid_is_one_over_gamma_and_runs_from_simple_to_elaborate():
    gammas = [10.0**k for k in range(3, -5, -1)]
    assert pytest.approx([1 / gamma for gamma in gammas]) == C_GRID
    for learner in LEARNERS:
        assert list(learner.grid) == sorted(learner.grid)
        assert bool(learner.grid) == bool(learner.parameter) == (learner.kind != "none")


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_every_learner_loads_and_takes_its_parameters(learner):
    cls = registry.load(learner.target)
    estimator = cls(**dict(learner.params))
    if learner.features:
        cls = registry.load(learner.features)
        assert hasattr(cls(**dict(learner.feature_params)), "transform")
    accepted = inspect.signature(cls).parameters
    if learner.kind in ("path", "counts", "grid"):
        assert learner.parameter in accepted
    if learner.kind == "passes":
        assert hasattr(estimator, "partial_fit")


def test_no_learner_has_classes_and_quantities():
    for learner in LEARNERS:
        assert learner.tasks == ("regression",) or "regression" not in learner.tasks
        estimator = registry.load(learner.target)(**dict(learner.params))
        assert is_regressor(estimator) == (learner.tasks == ("regression",))


def test_names_by_task_and_lookup():
    reductions = {"one_vs_all", "all_pairs", "output_code"}
    reductions |= {one.name for one in registry.LEARNERS if one.many}
    assert set(registry.names("multiclass")) - reductions < set(registry.names("binary"))
    assert not reductions & set(registry.names("binary"))
    assert registry.get("linear_svm").parameter == "C"
    with pytest.raises(KeyError, match="majority_class"):
        registry.get("no_such_learner")
