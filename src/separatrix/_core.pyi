"""Typed stub of the Rust extension; checked against the built module by the tests."""

from typing import Any, final

import numpy as np
import numpy.typing as npt

build_profile: str
isa: str

_Floats = npt.NDArray[np.floating[Any]]
_Ints = npt.NDArray[np.integer[Any]]

@final
class Csr:
    def __new__(cls, indptr: _Ints, indices: _Ints, data: _Floats, n_cols: int) -> Csr: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def check(self, n_threads: int) -> bool: ...

@final
class Dense:
    def __new__(cls, values: _Floats) -> Dense: ...
    @property
    def values(self) -> _Floats: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def check(self, n_threads: int) -> bool: ...

def scores(design: Csr | Dense, w: _Floats, n_threads: int) -> _Floats: ...
def adjoint(design: Csr | Dense, residuals: _Floats, n_threads: int) -> _Floats: ...
def row_scores(design: Csr | Dense, rows: _Ints, w: _Floats) -> _Floats: ...
def row_adjoint(design: Csr | Dense, rows: _Ints, residuals: _Floats) -> _Floats: ...
def curvature_rate(design: Csr | Dense, loss: str, k: int) -> float | None: ...
def scheduled_rate(name: str, rate: float, t: float, m: float, l2: float) -> float: ...
def newest_share(t: float) -> float: ...
def vote_shares(
    start: _Floats,
    gram: _Floats,
    row: _Ints,
    raised: _Ints,
    lowered: _Ints,
    size: _Floats,
    survived: _Ints,
    start_survived: int,
    n_classes: int,
    n_threads: int,
) -> _Floats: ...

@final
class Online:
    def __new__(
        cls,
        design: Csr | Dense,
        targets: _Ints,
        row_weights: _Floats | None,
        n_classes: int,
        rule: str,
        step: float,
        keep: str,
        weights: _Floats | tuple[int, int],
        average: _Floats | None,
        seen: int,
        seed: int | None,
        n_threads: int,
    ) -> Online: ...
    @property
    def seen(self) -> int: ...
    def run_epoch(self) -> int: ...
    def margin(self) -> tuple[float, float]: ...
    def weights(self) -> _Floats: ...
    def average(self) -> _Floats: ...
    def finish(self) -> tuple[_Floats, _Floats]: ...
    def log(self) -> tuple[_Ints, _Ints, _Ints, _Floats, _Ints, int]: ...

@final
class StepRule:
    def __new__(
        cls, name: str, mean_decay: float, decay: float, epsilon: float, size: int
    ) -> StepRule: ...
    def step(
        self, w: _Floats, grad: _Floats, rate: float, l1: float, l2: float, penalized: int
    ) -> None: ...

@final
class Stochastic:
    def __new__(
        cls,
        design: Csr | Dense,
        targets: _Ints,
        row_weights: _Floats | None,
        loss: str,
        cost: _Floats | None,
        weights: _Floats | tuple[int, int],
        rule: tuple[str, float, float, float],
        schedule_name: str,
        rate: float,
        intercept_share: float,
        batch_size: int,
        average: bool,
        l1: float,
        l2: float,
        penalized: int,
        seed: int | None,
    ) -> Stochastic: ...
    def run(self, n_rows: int) -> float: ...
    def mean(self) -> _Floats: ...
    def finish(self) -> _Floats: ...

@final
class DualBinary:
    def __new__(
        cls,
        design: Csr | Dense,
        y: npt.NDArray[np.float64],
        upper: npt.NDArray[np.float64],
        loss: str,
        intercept: str,
        seed: int,
        n_threads: int,
        start: npt.NDArray[np.float64] | None = None,
        intercepts: npt.NDArray[np.float64] | None = None,
    ) -> DualBinary: ...
    @property
    def n_threads(self) -> int: ...
    def run_pass(self) -> tuple[float, float, float, float]: ...
    def certificate(self) -> tuple[float, float, float]: ...
    def weights(self) -> _Floats: ...
    def duals(self) -> npt.NDArray[np.float64]: ...

@final
class DualMulticlass:
    def __new__(
        cls,
        design: Csr | Dense,
        y: npt.NDArray[np.int64],
        upper: npt.NDArray[np.float64],
        n_classes: int,
        loss: str,
        cost: npt.NDArray[np.float64] | None,
        intercept: str,
        seed: int,
        n_threads: int,
        start: npt.NDArray[np.float64] | None = None,
        intercepts: npt.NDArray[np.float64] | None = None,
    ) -> DualMulticlass: ...
    @property
    def n_threads(self) -> int: ...
    def run_pass(self) -> tuple[float, float, float, float]: ...
    def certificate(self) -> tuple[float, float, float]: ...
    def weights(self) -> _Floats: ...
    def duals(self) -> npt.NDArray[np.float64]: ...

def losses_at(
    loss: str,
    scores: _Floats,
    targets: npt.NDArray[Any],
    row_weights: _Floats | None,
    n_threads: int,
) -> tuple[float, _Floats]: ...
def fused_value_and_grad(
    design: Csr | Dense,
    loss: str,
    targets: npt.NDArray[Any],
    row_weights: _Floats | None,
    w: _Floats,
    n_threads: int,
) -> tuple[float, npt.NDArray[np.float64]]: ...
def gram(
    design: Dense,
    rows: npt.NDArray[np.int64] | None,
    weights: _Floats,
    intercept: bool,
    n_threads: int,
) -> _Floats: ...
def label_gram(
    design: Dense,
    rows: npt.NDArray[np.int64] | None,
    weights: npt.NDArray[np.float64],
    kept: int,
    intercept: bool,
    n_threads: int,
) -> npt.NDArray[np.float64]: ...
def fixed_moves(
    rows: tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.float64],
    ],
    products: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def interior_moves(
    rows: tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.float64],
    ],
    fixed: npt.NDArray[np.float64],
    lifts: npt.NDArray[np.float64],
    ds: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]: ...
def quadratic_descent(
    hessian: npt.NDArray[np.float64],
    gradient: npt.NDArray[np.float64],
    start: npt.NDArray[np.float64],
    l1: npt.NDArray[np.float64],
    l2: npt.NDArray[np.float64],
    tolerance: float,
    max_sweeps: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int, float]: ...
def column_descent(
    design: Csr | Dense,
    columns: npt.NDArray[np.int64],
    curvature: _Floats,
    gradient: npt.NDArray[np.float64],
    start: npt.NDArray[np.float64],
    l1: npt.NDArray[np.float64],
    l2: npt.NDArray[np.float64],
    tolerance: float,
    max_sweeps: int,
    seed: int,
) -> tuple[npt.NDArray[np.float64], int, float]: ...
def column_gram(
    design: Csr, columns: npt.NDArray[np.int64], weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]: ...
def survey(
    design: Csr | Dense, n_threads: int
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.uint8],
    npt.NDArray[np.uint8],
]: ...
def count(
    design: Csr | Dense,
    kinds: npt.NDArray[np.uint8],
    sizes: npt.NDArray[np.int64] | None,
    threshold: float,
    targets: npt.NDArray[np.int64],
    row_weights: npt.NDArray[np.float64] | None,
    n_classes: int,
    n_threads: int,
) -> (
    tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
    ]
    | None
): ...
def joint_likelihood(
    design: Csr | Dense,
    kinds: npt.NDArray[np.uint8],
    sizes: npt.NDArray[np.int64] | None,
    threshold: float,
    start: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    base: npt.NDArray[np.float64],
    mean: npt.NDArray[np.float64],
    table: npt.NDArray[np.float64],
    n_threads: int,
) -> npt.NDArray[np.float64] | None: ...
def class_scatter(
    design: Dense,
    targets: npt.NDArray[np.int64],
    row_weights: npt.NDArray[np.float64] | None,
    n_classes: int,
    pooled: bool,
    n_threads: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
