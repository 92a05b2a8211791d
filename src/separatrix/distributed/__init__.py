"""The same estimators on Dask: data that outgrow memory or one machine."""

from separatrix.distributed.fitting import fit
from separatrix.distributed.memory import peak_memory
from separatrix.distributed.prediction import predict, transform
from separatrix.distributed.selection import (
    CrossValidation,
    cross_validate,
    regularization_path,
)
from separatrix.distributed.session import LostDataError

__all__ = [
    "CrossValidation",
    "LostDataError",
    "cross_validate",
    "fit",
    "peak_memory",
    "predict",
    "regularization_path",
    "transform",
]
