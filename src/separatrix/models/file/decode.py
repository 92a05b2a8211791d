"""From plain data back to a model: nodes are checked, only classes of the table are made."""

from __future__ import annotations

import dataclasses
import enum
import math
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import ModelFileError
from separatrix.models.file.container import DTYPES
from separatrix.models.file.encode import MAX_DEPTH, Node, fields_of, has_own_state
from separatrix.models.file.table import class_named, is_known, state_of

__all__ = ["Decoder"]

_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SEQUENCES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
_NUMBERS = {"int": "<i8", "float": "<f8", "bool": "|b1"}
_DATES = re.compile(r"<[mM]8(\[(\d{1,6})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?")
_TEXT = re.compile(r"<U(\d{1,9})")
#: Text arrays may be wider than their longest string, but a file cannot ask for any memory.
_WIDEST = 4096


class Decoder:
    """Turns nodes into values.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        The arrays that nodes point to.

    Examples
    --------
    >>> Decoder({}).decode({"$": "tuple", "items": [1, "a"]})
    (1, 'a')
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._arrays = arrays
        self._depth = 0

    def decode(self, node: Node) -> Any:
        """The value of a node; ModelFileError if it is not as `Encoder` makes them."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if not isinstance(node, dict) or not isinstance(node.get("$"), str):
            raise ModelFileError("a node of the header has no kind")
        kind = node["$"]
        read = getattr(self, f"_read_{'sequence' if kind in _SEQUENCES else kind}", None)
        if read is None:
            raise ModelFileError(f"a node of the header has the unknown kind {kind!r}")
        if self._depth > MAX_DEPTH:
            raise ModelFileError("the header is nested too deeply")
        self._depth += 1
        try:
            return read(node)
        except ModelFileError:
            raise
        except Exception as error:  # whatever a damaged node leads to, in any class of the table
            raise ModelFileError(
                f"a node of kind {kind!r} is not as it should be: {type(error).__name__}: {error}"
            ) from None
        finally:
            self._depth -= 1

    # -- numbers and lists -----------------------------------------------------------------------

    def _read_float(self, node: Node) -> float:
        return _FLOATS[node["value"]]

    def _read_sequence(self, node: Node) -> Any:
        return _SEQUENCES[node["$"]](self._items(node))

    def _items(self, node: Node) -> list[Any]:
        if "packed" not in node:
            items = node["items"]
            if not isinstance(items, list):
                raise ModelFileError("the items of a list are missing")
            return [self.decode(item) for item in items]
        packed = node["packed"]
        if "bytes" in packed:
            return self._strings(packed)
        values = self._read_array(packed["values"])
        if values.ndim != 1 or values.dtype.str != _NUMBERS[packed["type"]]:
            raise ModelFileError("a packed list is of the wrong type")
        result: list[Any] = values.tolist()
        return result

    def _strings(self, packed: Node) -> list[str]:
        data, ends = self._read_array(packed["bytes"]), self._read_array(packed["ends"])
        if data.ndim != 1 or data.dtype != np.uint8 or ends.ndim != 1 or ends.dtype != np.int64:
            raise ModelFileError("packed strings are of the wrong type")
        starts = np.concatenate([[0], ends])
        if (np.diff(starts) < 0).any() or starts[-1] != len(data):
            raise ModelFileError("packed strings do not fill their bytes")
        raw, places = data.tobytes(), starts.tolist()
        return [raw[i:j].decode("utf-8", "surrogatepass") for i, j in pairwise(places)]

    def _read_dict(self, node: Node) -> dict[Any, Any]:
        keys, values = self.decode(node["keys"]), self.decode(node["values"])
        if not isinstance(keys, list) or not isinstance(values, list):
            raise ModelFileError("a dict has no lists of keys and values")
        result = dict(zip(keys, values, strict=True))
        if len(result) < len(keys):
            raise ModelFileError("a dict repeats a key")
        return result

    def _read_slice(self, node: Node) -> slice:
        start, stop, step = map(self.decode, node["parts"])
        return slice(start, stop, step)

    def _read_dtype(self, node: Node) -> Any:
        dtype = _dtype(node["name"])
        return dtype.type if node["type"] is True else dtype

    def _read_scalar(self, node: Node) -> Any:
        if node["dtype"] == "str":
            return np.str_(_text(node["value"]))
        dtype, value = _dtype(node["dtype"]), self.decode(node["value"])
        if type(value) not in (bool, int, float):
            raise ModelFileError("a scalar is no number")
        whole = np.array(value, dtype="<i8" if dtype.kind in "mM" else dtype)
        return np.asarray(whole.view(dtype) if dtype.kind in "mM" else whole)[()]

    def _read_random_state(self, node: Node) -> np.random.RandomState:
        state = self.decode(node["state"])
        random = np.random.RandomState(0)
        random.set_state(("MT19937", np.array(state[0], dtype=np.uint32), *state[1:]))
        return random

    # -- arrays ----------------------------------------------------------------------------------

    def _read_array(self, node: Node) -> npt.NDArray[Any]:
        if not isinstance(node, dict) or node.get("$") != "array":
            raise ModelFileError("an array is missing")
        array = self._arrays[_text(node["tensor"])]
        if "at" in node:
            at, shape = node["at"], _shape(node["shape"])
            size = math.prod(shape)
            if type(at) is not int or not 0 <= at <= array.size - size:
                raise ModelFileError("an array is no part of the one it points to")
            array = array.reshape(-1)[at : at + size].reshape(shape)
        if "dtype" in node:
            dtype = _dtype(node["dtype"])
            if dtype.kind not in "mM" or array.dtype != np.int64:
                raise ModelFileError("an array of dates is of the wrong type")
            array = array.view(dtype)
        return array.T if node.get("order") == "F" else array

    def _read_text(self, node: Node) -> npt.NDArray[np.str_]:
        items, shape = self.decode(node["items"]), _shape(node["shape"])
        match = _TEXT.fullmatch(_text(node["dtype"]))
        strings = type(items) is list and all(isinstance(item, str) for item in items)
        if match is None or not strings:
            raise ModelFileError("an array of strings is of the wrong type")
        if int(match[1]) > max(_WIDEST, *map(len, items), 0):
            raise ModelFileError("an array of strings is wider than its strings")
        array: npt.NDArray[np.str_] = np.array(items, dtype=node["dtype"]).reshape(shape)
        return array

    def _read_objects(self, node: Node) -> npt.NDArray[np.object_]:
        items, shape = self.decode(node["items"]), _shape(node["shape"])
        if type(items) is not list:
            raise ModelFileError("an array of objects has no list of them")
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)

    def _read_csr(self, node: Node) -> Any:
        data, indices, indptr = (self._read_array(node[k]) for k in ("data", "indices", "indptr"))
        n_rows, n_columns = _shape(node["shape"])
        # scipy's products trust these arrays; a wrong index there would read foreign memory.
        if not (data.ndim == indices.ndim == indptr.ndim == 1 and indices.dtype == indptr.dtype):
            raise ModelFileError("the arrays of a sparse matrix do not fit each other")
        if indices.dtype not in (np.int32, np.int64) or data.dtype.kind not in "fiub":
            raise ModelFileError("the arrays of a sparse matrix are of the wrong type")
        if len(indptr) != n_rows + 1 or len(data) != len(indices):
            raise ModelFileError("the arrays of a sparse matrix do not have its shape")
        if indptr[0] != 0 or indptr[-1] != len(data) or (indptr[1:] < indptr[:-1]).any():
            raise ModelFileError("the rows of a sparse matrix do not follow each other")
        if len(indices) and (indices.min() < 0 or indices.max() >= n_columns):
            raise ModelFileError("a column of a sparse matrix is outside its shape")
        make = sp.csr_matrix if node["matrix"] is True else sp.csr_array
        return make((data, indices, indptr), shape=(n_rows, n_columns), copy=False)

    # -- objects ---------------------------------------------------------------------------------

    def _read_estimator(self, node: Node) -> Any:
        cls = _class(node)
        if not hasattr(cls, "get_params"):
            raise ModelFileError(f"{cls.__name__} is no estimator")
        params, state = node["params"], node["state"]
        _check_names(cls, params, cls._get_param_names(), "parameter")
        _check_names(cls, state, state_of(cls), "attribute")
        model = cls(**{name: self.decode(value) for name, value in params.items()})
        vars(model).update({name: self.decode(value) for name, value in state.items()})
        return _checked(model)

    def _read_part(self, node: Node) -> Any:
        cls = _class(node)
        if hasattr(cls, "get_params"):
            raise ModelFileError(f"{cls.__name__} is an estimator, not a part")
        if issubclass(cls, enum.Enum):
            return cls(self.decode(node["value"]))
        if has_own_state(cls):
            part = object.__new__(cls)
            part.__setstate__(self.decode(node["state"]))
            return _checked(part)
        _check_names(cls, node["fields"], fields_of(cls) or (), "field")
        return _checked(_record(cls, {k: self.decode(v) for k, v in node["fields"].items()}))


def _class(node: Node) -> type[Any]:
    name = _text(node["class"])
    if not is_known(name):
        raise ModelFileError(
            f"the file holds a {name!r}, which this separatrix does not know; "
            "upgrade separatrix, register the class if it is yours, or do not trust the file"
        )
    return class_named(name)


def _record(cls: type[Any], values: dict[str, Any]) -> Any:
    """A NamedTuple or dataclass with these fields."""
    if issubclass(cls, tuple):
        return cls(**values)
    if cls.__dataclass_params__.init:
        initial = {f.name for f in dataclasses.fields(cls) if f.init}
        record = cls(**{name: value for name, value in values.items() if name in initial})
    else:  # its own __init__ takes other arguments
        initial, record = set(), object.__new__(cls)
    for name, value in values.items():
        if name not in initial:
            object.__setattr__(record, name, value)  # frozen ones too
    return record


def _checked(value: Any) -> Any:
    """What a class says about the agreement of its arrays, if it says something."""
    check = getattr(value, "__sx_check__", None)
    if check is not None:
        check()
    return value


def _check_names(cls: type[Any], values: Any, allowed: Any, what: str) -> None:
    if not isinstance(values, dict):
        raise ModelFileError(f"{cls.__name__} has no {what}s")
    unknown = set(values) - set(allowed)
    if unknown:
        raise ModelFileError(
            f"{cls.__name__} has no {what} {min(unknown)!r} in this version of its library"
        )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelFileError("a name in the header is no string")
    return value


def _shape(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(n) is int and 0 <= n < 1 << 62 for n in value):
        raise ModelFileError(f"{value!r} is no shape")
    return tuple(value)


def _dtype(name: Any) -> np.dtype[Any]:
    """A dtype by name: numbers and dates only."""
    if isinstance(name, str) and (
        name in {dtype.str for dtype in DTYPES.values()} or _DATES.fullmatch(name)
    ):
        return np.dtype(name)
    raise ModelFileError(f"{name!r} is no dtype of numbers or dates")
