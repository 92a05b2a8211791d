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
    def __new__(
        cls, indptr: _Ints, indices: _Ints, data: _Floats, n_cols: int, n_threads: int
    ) -> Csr: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def check_finite(self) -> None: ...

@final
class Dense:
    def __new__(cls, values: _Floats) -> Dense: ...
    @property
    def values(self) -> _Floats: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def check_finite(self) -> None: ...

def scores(design: Csr | Dense, w: _Floats, n_threads: int) -> _Floats: ...
def adjoint(design: Csr | Dense, residuals: _Floats, n_threads: int) -> _Floats: ...
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
