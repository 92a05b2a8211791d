"""Saved models: one safe file each, opened for use; exports to scikit-learn and ONNX.

Names are imported on first use, so that loading a model needs no more than the model does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.models.export.onnx import save_onnx, to_onnx
    from separatrix.models.export.scikit_learn import to_sklearn
    from separatrix.models.file.model import ModelInfo, describe, load, save, verify
    from separatrix.models.file.table import register
    from separatrix.models.opened import Model, open

__all__ = [
    "Model",
    "ModelInfo",
    "describe",
    "load",
    "open",
    "register",
    "save",
    "save_onnx",
    "to_onnx",
    "to_sklearn",
    "verify",
]

_HOMES = {
    "Model": "opened",
    "open": "opened",
    "register": "file.table",
    **dict.fromkeys(("save_onnx", "to_onnx"), "export.onnx"),
    "to_sklearn": "export.scikit_learn",
    **dict.fromkeys(("ModelInfo", "describe", "load", "save", "verify"), "file.model"),
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"separatrix.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'separatrix.models' has no attribute {name!r}")
