"""From a fitted model to plain data: a tree of JSON nodes, and the arrays it points to.

A node is null, a boolean, a number or a string as it is, or an object whose key "$" names its kind:

    float               nan, inf, -inf
    list, tuple, set    items; or `packed`: all strings, or all numbers of one kind, in arrays
    dict                keys and values, each a node of a list, in order
    array               tensor; order "F" if the tensor holds the transpose; `at` and `shape` if it
                        is a part of the tensor; `dtype` if dates are stored as numbers
    text, objects       arrays of strings, or of other objects: a node of a list, and the shape
    csr                 data, indices, indptr, shape
    scalar, dtype, slice, random_state
    estimator           class, params, state
    part                class, and value (enumerations), fields (records) or state (own pickling)
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import NotSavableError
from separatrix.models.file.container import DTYPES
from separatrix.models.file.table import LEFT_OUT, name_of, state_of

__all__ = ["MAX_DEPTH", "Encoder", "Node", "fields_of", "has_own_state"]

Node: TypeAlias = Any

#: Lists longer than this are packed into arrays where that is possible.
_LONG = 16
#: Objects within objects; the deepest model of ours needs a dozen.
MAX_DEPTH = 40
#: Arrays smaller than this are not searched for memory that they share.
_SHARED_BYTES = 1024
_PACKED: dict[type, str] = {int: "<i8", float: "<f8", bool: "?"}


def has_own_state(cls: type[Any]) -> bool:
    """Whether a part says itself what its state is (it holds a handle, or packs itself)."""
    return hasattr(cls, "__setstate__")


def fields_of(cls: type[Any]) -> tuple[str, ...] | None:
    """Fields of a record (NamedTuple or dataclass) that are kept; None for other classes."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        names = tuple(cls._fields)
    elif dataclasses.is_dataclass(cls):
        names = tuple(field.name for field in dataclasses.fields(cls))
    else:
        return None
    return tuple(name for name in names if name not in LEFT_OUT.get(cls.__name__, ()))


class Encoder:
    """Turns values into nodes, and collects the arrays.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.encode((1, 2.5, "a"), "model")
    {'$': 'tuple', 'items': [1, 2.5, 'a']}
    >>> encoder.encode(np.zeros(2), "model.w")["$"]
    'array'
    >>> {name: array.shape for name, array in encoder.finish().items()}
    {'model.w': (2,)}
    """

    def __init__(self) -> None:
        self._pending: list[tuple[dict[str, Any], str, npt.NDArray[Any]]] = []
        self._depth = 0

    def encode(self, value: Any, path: str) -> Node:
        """The node of a value; `path` says where it stands, for errors and names of arrays."""
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            if abs(value) >= 1 << 256:
                raise NotSavableError(f"{path} is a whole number of more than 256 bits")
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
        if self._depth >= MAX_DEPTH:
            raise NotSavableError(f"{path} is nested too deeply, or holds itself")
        self._depth += 1
        try:
            return self._compound(value, path)
        finally:
            self._depth -= 1

    def _compound(self, value: Any, path: str) -> Node:
        cls = type(value)
        if cls in (list, tuple, set, frozenset):
            return self._sequence(value, path)
        if isinstance(value, dict) and cls.__module__ in ("builtins", "collections"):
            return {
                "$": "dict",
                "keys": self.encode(list(value), f"{path}.keys"),
                "values": self._sequence(list(value.values()), path, list(value)),
            }
        if isinstance(value, np.ndarray):
            return self._array(np.asarray(value), path)
        if isinstance(value, sp.csr_array | sp.csr_matrix):
            return self._csr(value, path)
        if isinstance(value, np.generic):
            return self._scalar(value, path)
        if isinstance(value, np.dtype):
            return {"$": "dtype", "name": _dtype_name(value, path), "type": False}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"$": "dtype", "name": _dtype_name(np.dtype(value), path), "type": True}
        if cls is slice:
            parts = [self.encode(v, path) for v in (value.start, value.stop, value.step)]
            return {"$": "slice", "parts": parts}
        if cls is np.random.RandomState:
            kind, *numbers = value.get_state(legacy=True)
            if kind != "MT19937":
                raise NotSavableError(f"{path} is a random generator of kind {kind}")
            return {"$": "random_state", "state": self.encode(tuple(numbers), path)}
        return self._object(value, path)

    # -- lists -----------------------------------------------------------------------------------

    def _sequence(self, values: Any, path: str, labels: list[Any] | None = None) -> Node:
        kind = type(values).__name__
        # Sets have no order of their own; the same model shall make the same file.
        items = sorted(values, key=repr) if isinstance(values, set | frozenset) else list(values)
        if len(items) > _LONG:
            packed = self._packed(items, path)
            if packed is not None:
                return {"$": kind, "packed": packed}
        names = range(len(items)) if labels is None else labels
        nodes = [
            self.encode(item, f"{path}[{name!r}]") for name, item in zip(names, items, strict=True)
        ]
        return {"$": kind, "items": nodes}

    def _packed(self, items: list[Any], path: str) -> Node | None:
        kinds = set(map(type, items))
        if len(kinds) > 1:
            return None
        (kind,) = kinds
        if kind is str:
            encoded = [item.encode("utf-8", "surrogatepass") for item in items]
            ends = np.cumsum([len(item) for item in encoded], dtype=np.int64)
            data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            return {
                "bytes": self._array(data, f"{path}.bytes"),
                "ends": self._array(ends, f"{path}.ends"),
            }
        if kind in _PACKED:
            if kind is int and not all(-(1 << 63) <= item < 1 << 63 for item in items):
                return None
            array = np.array(items, dtype=_PACKED[kind])
            return {"type": kind.__name__, "values": self._array(array, path)}
        return None

    # -- arrays ----------------------------------------------------------------------------------

    def _array(self, array: npt.NDArray[Any], path: str) -> Node:
        kind = array.dtype.kind
        if kind == "U":
            texts = self._sequence(array.ravel().tolist(), path)
            shape, dtype = list(array.shape), array.dtype.newbyteorder("<").str
            return {"$": "text", "items": texts, "shape": shape, "dtype": dtype}
        if kind == "O":
            items = self._sequence(list(array.ravel()), path)
            return {"$": "objects", "items": items, "shape": list(array.shape)}
        node: dict[str, Any] = {"$": "array"}
        if kind in "mM":
            node["dtype"] = array.dtype.newbyteorder("<").str
            array = array.astype(array.dtype.newbyteorder("<"), copy=False).view("<i8")
        native = array.dtype.newbyteorder("<")
        if native not in DTYPES.values():
            raise NotSavableError(f"{path} is an array of dtype {array.dtype}, which has no place")
        array = array.astype(native, copy=False)
        if array.flags.f_contiguous and not array.flags.c_contiguous:
            array, node["order"] = array.T, "F"
        self._pending.append((node, path, np.ascontiguousarray(array).reshape(array.shape)))
        return node

    def finish(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name; nodes made before now point to them.

        An array that is a part of the memory of another one is written once.
        """
        tensors: dict[str, npt.NDArray[Any]] = {}
        large: list[tuple[int, str]] = []
        for node, path, array in sorted(self._pending, key=lambda entry: -entry[2].nbytes):
            begin = array.__array_interface__["data"][0]
            for start, name in large if array.nbytes >= _SHARED_BYTES else ():
                whole, skipped = tensors[name], begin - start
                inside = 0 <= skipped <= whole.nbytes - array.nbytes
                if inside and whole.dtype == array.dtype and not skipped % array.itemsize:
                    node["tensor"] = name
                    if whole.shape != array.shape:
                        node |= {"at": skipped // array.itemsize, "shape": list(array.shape)}
                    break
            else:
                name, number = path, 1
                while name in tensors:
                    number += 1
                    name = f"{path}#{number}"
                node["tensor"] = name
                tensors[name] = array
                if array.nbytes >= _SHARED_BYTES:
                    large.append((begin, name))
        return tensors

    def _csr(self, value: Any, path: str) -> Node:
        return {
            "$": "csr",
            "matrix": isinstance(value, sp.csr_matrix),
            "shape": [int(n) for n in value.shape],
            **{
                part: self._array(getattr(value, part), f"{path}.{part}")
                for part in ("data", "indices", "indptr")
            },
        }

    def _scalar(self, value: np.generic, path: str) -> Node:
        if isinstance(value, np.str_):
            return {"$": "scalar", "dtype": "str", "value": str(value)}
        name = _dtype_name(value.dtype, path)
        plain = np.asarray(value)
        number = plain.view("<i8") if value.dtype.kind in "mM" else plain
        return {"$": "scalar", "dtype": name, "value": self.encode(number.item(), path)}

    # -- objects ---------------------------------------------------------------------------------

    def _object(self, value: Any, path: str) -> Node:
        cls = type(value)
        name = name_of(cls)
        if name is None:
            raise NotSavableError(
                f"{path} is of type {cls.__module__}.{cls.__qualname__}, which a model file cannot "
                "hold; files hold the classes of separatrix, scikit-learn's containers of them, "
                "your own records that `separatrix.models.register` names, numbers, strings, "
                "lists, dicts, arrays and CSR matrices"
            )
        if hasattr(value, "get_params"):
            return self._estimator(value, name, path)
        node: dict[str, Any] = {"$": "part", "class": name}
        if isinstance(value, enum.Enum):
            return node | {"value": self.encode(value.value, path)}
        if has_own_state(cls):
            # A file may keep less than a pickle does.
            state = getattr(value, "__sx_getstate__", value.__getstate__)()
            return node | {"state": self.encode(state, path)}
        fields = fields_of(cls)
        if fields is None:
            raise NotSavableError(f"{path}: class {name} declares no fields for model files")
        kept = {field: self.encode(getattr(value, field), f"{path}.{field}") for field in fields}
        return node | {"fields": kept}

    def _estimator(self, value: Any, name: str, path: str) -> Node:
        params = value.get_params(deep=False)
        present = vars(value)
        return {
            "$": "estimator",
            "class": name,
            "params": {key: self.encode(p, f"{path}.{key}") for key, p in params.items()},
            "state": {
                key: self.encode(present[key], f"{path}.{key}")
                for key in state_of(type(value))
                if key in present
            },
        }


def _dtype_name(dtype: np.dtype[Any], path: str) -> str:
    dtype = dtype.newbyteorder("<")
    if dtype not in DTYPES.values() and dtype.kind not in "mM":
        raise NotSavableError(f"{path} has dtype {dtype}, which has no place in a model file")
    return str(dtype.str)
