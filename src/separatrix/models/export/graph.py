"""An ONNX graph while it is built: operators, constants and inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.errors import MissingPackageError, NotSavableError

__all__ = ["TOKENIZER", "Graph", "refused"]

#: The domain of the operator `Tokenizer`, which every build of onnxruntime has.
TOKENIZER = "com.microsoft"
#: Version of the operators: the first in which strings are joined and compared.
_OPSET, _ML_OPSET, _IR = 20, 3, 9
#: The same for graphs without strings, which older runtimes know too.
_OLD_OPSET, _OLD_IR = 13, 8


def refused(what: str, why: str) -> NotSavableError:
    """The error for a part of a model that ONNX has no operators for."""
    return NotSavableError(
        f"{what} cannot be exported to ONNX: {why}; save the model as a model file instead"
    )


class Graph:
    """Operators that follow each other; results are known by their names.

    Parameters
    ----------
    dtype : dtype
        float64 or float32: of numbers in, on the way and out.
    """

    def __init__(self, dtype: Any) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingPackageError(
                "the export needs onnx, which is not installed: pip install 'separatrix[onnx]'"
            ) from None
        self.onnx, self.dtype = onnx, np.dtype(dtype)
        self.real = onnx.helper.np_dtype_to_tensor_dtype(self.dtype)
        self.integer = onnx.TensorProto.INT64
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._domains: set[str] = set()
        self._strings = False

    def input(self, name: str, width: int | None = None, *, text: bool = False) -> str:
        """A matrix of so many columns, or a vector, of numbers or of strings."""
        kind = self.onnx.TensorProto.STRING if text else self.real
        self._strings |= text
        shape: Any = ["n"] if width is None else ["n", width]
        self._inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, values: Any) -> str:
        """Numbers in the precision of the graph, whole ones as they are."""
        array = np.asarray(values)
        array = array.astype(np.int64 if array.dtype.kind in "iu" else self.dtype)
        name = f"constant{len(self._constants)}"
        array = np.ascontiguousarray(array) if array.ndim else array
        self._constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def words(self, values: list[str], shape: list[int]) -> str:
        """Strings."""
        name = f"constant{len(self._constants)}"
        held: Any = [value.encode("utf-8") for value in values]
        kind = self.onnx.TensorProto.STRING
        self._constants.append(self.onnx.helper.make_tensor(name, kind, shape, held))
        return name

    def labels(self, values: Any) -> tuple[str, int]:
        """Labels, and their type in ONNX."""
        kinds = self.onnx.TensorProto
        listed, kind = values.tolist(), values.dtype.kind
        if kind == "U" or (kind == "O" and all(isinstance(value, str) for value in listed)):
            return self.words(listed, [len(listed)]), int(kinds.STRING)
        types = {"b": kinds.BOOL, "i": kinds.INT64, "u": kinds.INT64, "f": kinds.DOUBLE}
        if kind not in types:
            raise NotSavableError(f"labels of dtype {values.dtype} have no type in ONNX")
        name = f"constant{len(self._constants)}"
        tensor = self.onnx.helper.make_tensor(name, types[kind], [len(listed)], listed)
        self._constants.append(tensor)
        return name, int(types[kind])

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator, and give the name of its result."""
        name = f"{operator}{len(self._nodes)}"
        node = self.onnx.helper.make_node(
            operator, list(inputs), [name], domain=domain, **attributes
        )
        self._nodes.append(node)
        self._domains.add(domain)
        return name

    def cast(self, name: str) -> str:
        """A result as numbers of the graph's precision."""
        return self.add("Cast", name, to=self.real)

    def column(self, name: str) -> str:
        """A vector as a matrix of one column."""
        return self.add("Reshape", name, self.constant(np.array([-1, 1])))

    def sum(self, name: str) -> str:
        """Sums of the rows of a matrix, shape (n, 1)."""
        return self.add("ReduceSum", name, self.constant(np.array([1])), keepdims=1)

    def joined(self, parts: list[str]) -> str:
        """Matrices beside each other."""
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=1)

    def log_sum(self, name: str) -> str:
        """log sum exp of the rows of a matrix, shape (n, 1)."""
        best = self.add("ArgMax", name, axis=1, keepdims=1)
        top = self.add("GatherElements", name, best, axis=1)
        total = self.sum(self.add("Exp", self.add("Sub", name, top)))
        return self.add("Add", self.add("Log", total), top)

    def taken(self, name: str, columns: Any) -> str:
        """Some columns of a matrix."""
        return self.add("Gather", name, self.constant(np.asarray(columns, np.int64)), axis=1)

    def one_hot(self, codes: str, width: int) -> str:
        """Indicators of codes of shape (n, 1); of others than 0 ... width - 1 all are zero."""
        return self.cast(self.add("Equal", codes, self.constant(np.arange(width))))

    def chosen(self, labels: str, codes: str) -> str:
        """The labels of codes of shape (n,)."""
        return self.add("Gather", labels, codes, axis=0)

    def output(self, result: str, name: str, kind: int, width: int | None = None) -> None:
        """Give a result to the outside under a name."""
        self._nodes.append(self.onnx.helper.make_node("Identity", [result], [name]))
        shape: Any = ["n"] if width is None else ["n", width]
        self._outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))

    def model(self) -> Any:
        """The checked graph."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self._nodes, "separatrix", self._inputs, self._outputs, self._constants
        )
        versions = {"": _OPSET if self._strings else _OLD_OPSET, "ai.onnx.ml": _ML_OPSET}
        versions[TOKENIZER] = 1
        sets = [helper.make_opsetid(d, versions[d]) for d in sorted(self._domains | {""})]
        made = helper.make_model(
            graph,
            opset_imports=sets,
            producer_name="separatrix",
            ir_version=_IR if self._strings else _OLD_IR,
        )
        self.onnx.checker.check_model(made)
        return made
