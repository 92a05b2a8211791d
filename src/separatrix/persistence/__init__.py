"""One safe file per model: `save`, `load`, `describe`; exports to scikit-learn and ONNX."""

from separatrix.persistence.export import save_onnx, to_onnx, to_sklearn
from separatrix.persistence.model import ModelInfo, describe, load, save, verify
from separatrix.persistence.table import register

__all__ = [
    "ModelInfo",
    "describe",
    "load",
    "register",
    "save",
    "save_onnx",
    "to_onnx",
    "to_sklearn",
    "verify",
]
