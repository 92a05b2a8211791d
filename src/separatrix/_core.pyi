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
    def shape(self) -> tuple[int, int]: ...
    def check_finite(self) -> None: ...

def scores(design: Csr | Dense, w: _Floats, n_threads: int) -> _Floats: ...
def adjoint(design: Csr | Dense, residuals: _Floats, n_threads: int) -> _Floats: ...

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
    ) -> DualMulticlass: ...
    @property
    def n_threads(self) -> int: ...
    def run_pass(self) -> tuple[float, float, float, float]: ...
    def certificate(self) -> tuple[float, float, float]: ...
    def weights(self) -> _Floats: ...
    def duals(self) -> npt.NDArray[np.float64]: ...
