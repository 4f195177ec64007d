"""A graph of ONNX as it is written: each operation and constant once, with names that no column has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError

OPSET, ML_OPSET, IR = 17, 3, 8
DOUBLE, INTEGER, BOOLEAN, STRING = "DOUBLE", "INT64", "BOOL", "STRING"
_TYPES = {"f": DOUBLE, "i": INTEGER, "b": BOOLEAN}
_ML = {"LabelEncoder": "ai.onnx.ml"}


class Graph:
    """Operations in doubles; what is asked for twice is written once."""

    def __init__(self, taken: Collection[str]) -> None:
        self.inputs: dict[str, tuple[str, list[Any]]] = {}  # their types and shapes
        self._taken, self._prefix = set(taken), "_"
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._known: dict[Any, str] = {}
        try:
            import onnx
        except ImportError:
            raise InputError("onnx, which writes ONNX, is not installed; pip install 'ingenuo[onnx]'") from None
        self._onnx = onnx

    def _name(self, kind: str) -> str:
        return f"{self._prefix}{kind}_{len(self._known)}"

    def free(self, name: str) -> str:
        """A name that no column has."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """What an operation gives."""
        shown = tuple((key, str(value)) for key, value in sorted(attributes.items()))
        known = (kind, inputs, shown)
        if known not in self._known:
            name = self._name(kind)
            node = self._onnx.helper.make_node(kind, list(inputs), [name], domain=_ML.get(kind, ""), **attributes)
            self._nodes.append(node)
            self._known[known] = name
        return self._known[known]

    def constant(self, value: Any) -> str:
        """A constant: doubles, whole numbers, truth values or strings, by the type of the array."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        strings = array.dtype.kind in "OU"
        known = ("constant", array.dtype.str, array.shape, str(array.tolist()) if strings else array.tobytes())
        if known not in self._known:
            name, helper = self._name("constant"), self._onnx.helper
            if strings:
                data = [str(each).encode() for each in array.ravel().tolist()]
                found = helper.make_tensor(name, self._onnx.TensorProto.STRING, array.shape, data)
            else:
                found = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
            self._constants.append(found)
            self._known[known] = name
        return self._known[known]

    def double(self, value: Any) -> str:
        """A constant of doubles."""
        return self.constant(np.asarray(value, np.float64))

    def integer(self, value: Any) -> str:
        """A constant of whole numbers."""
        return self.constant(np.asarray(value, np.int64))

    # What is often needed.

    def add(self, a: str, b: str) -> str:
        """Their sum."""
        return self.op("Add", a, b)

    def sub(self, a: str, b: str) -> str:
        """Their difference."""
        return self.op("Sub", a, b)

    def mul(self, a: str, b: str) -> str:
        """Their product."""
        return self.op("Mul", a, b)

    def where(self, condition: str, a: str, b: str) -> str:
        """The one where a condition holds, and the other elsewhere."""
        return self.op("Where", condition, a, b)

    def cast(self, a: str, type: str) -> str:
        """As another type."""
        return self.op("Cast", a, to=getattr(self._onnx.TensorProto, type))

    def take(self, table: str, places: str, axis: int = 0) -> str:
        """The rows of a table at places (n, 1): (n, its columns)."""
        return self.op("Squeeze", self.op("Gather", table, places, axis=axis), self.integer([1]))

    def total(self, a: str, axis: int, *, keep: bool = False) -> str:
        """Sums along an axis."""
        return self.op("ReduceSum", a, self.integer([axis]), keepdims=int(keep))

    def top(self, a: str, axis: int = 1, *, keep: bool = True) -> str:
        """The largest along an axis."""
        return self.op("ReduceMax", a, axes=[axis], keepdims=int(keep))

    def join(self, parts: Sequence[str], axis: int = 1) -> str:
        """Beside each other."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=axis)

    def unsqueeze(self, a: str, *axes: int) -> str:
        """With axes of length 1 more."""
        return self.op("Unsqueeze", a, self.integer(list(axes)))

    def places(self, strings: str, known: Mapping[str, int], others: int) -> str:
        """The number of each string among those that are known, and of all the others."""
        if not known:  # an encoder has one at least
            known = {"": others}
        keys, values = list(known), list(known.values())
        return self.op("LabelEncoder", strings, keys_strings=keys, values_int64s=values, default_int64=others)

    def finish(self, outputs: Mapping[str, tuple[str, str, list[Any]]], about: Mapping[str, str]) -> bytes:
        """The file: of each output the tensor that it is, its type and its shape."""
        helper, types = self._onnx.helper, self._onnx.TensorProto
        nodes = [*self._nodes, *(helper.make_node("Identity", [of], [name]) for name, (of, _, _) in outputs.items())]
        given = [
            helper.make_tensor_value_info(name, getattr(types, type), shape)
            for name, (type, shape) in self.inputs.items()
        ]
        found = [
            helper.make_tensor_value_info(name, getattr(types, type), shape)
            for name, (_, type, shape) in outputs.items()
        ]
        graph = helper.make_graph(nodes, "ingenuo", given, found, self._constants)
        imports = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=IR, producer_name="ingenuo")
        helper.set_model_props(model, dict(about))
        self._onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString())


def type_of(array: NDArray[Any]) -> str:
    """The type of the elements of an array."""
    return _TYPES.get(array.dtype.kind, STRING)
