"""One safe file per model: `save`, `load`, `describe`; exports to scikit-learn and ONNX."""

from separatrix.models.export import save_onnx, to_onnx, to_sklearn
from separatrix.models.file.model import ModelInfo, describe, load, save, verify
from separatrix.models.file.table import register

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
