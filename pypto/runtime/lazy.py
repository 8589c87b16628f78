"""Lazy tensors: operators called outside a kernel record a graph, compiled when its value is asked.

The graph goes through the same Builder as a kernel's text; it is compiled at the default level
once per structure.
"""

from __future__ import annotations

import difflib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pypto.errors import CompileError, SourceLocation
from pypto.ops import OPERATORS
from pypto.ops.core import Operator, set_default_evaluator, tensors_of
from pypto.ops.types import TensorType
from pypto.ops.value import Evaluator
from pypto.ops.value import Tensor as Value
from pypto.runtime import annotations, cache, signature
from pypto.runtime.compilation import Compilation
from pypto.runtime.kernel import Options

PACKAGE = str(Path(__file__).parents[1])


@dataclass(frozen=True, eq=False)
class Node:
    """A recorded application: its operands (tensors, numbers, None) and where it was written."""

    operator: Operator
    operands: tuple[Any, ...]
    attributes: dict[str, Any]
    location: SourceLocation | None


class Tensor(Value):
    """A tensor outside kernels: an array, or a recorded operation that is computed when needed.

    As an annotation, ``Tensor[(128, 768), float16]`` gives a kernel's parameter its type.
    """

    __slots__ = ("_array", "_index", "_node")

    def __init__(self, value: Any) -> None:
        array = signature.array_of(value, "value")
        super().__init__(LAZY, signature.type_of(array, "value"))
        self._array: np.ndarray | None = frozen(array)
        self._node: Node | None = None
        self._index = 0

    @classmethod
    def recorded(cls, type: TensorType, node: Node, index: int) -> Tensor:
        """Result ``index`` of a recorded application."""
        tensor = cls.__new__(cls)
        Value.__init__(tensor, LAZY, type)
        tensor._array, tensor._node, tensor._index = None, node, index
        return tensor

    def __class_getitem__(cls, parameters: Any) -> Any:
        if not isinstance(parameters, tuple) or len(parameters) != 2:
            raise CompileError(
                "BAD_ANNOTATION",
                f"Tensor[{parameters!r}] needs a shape and an element type",
                fix="write Tensor[(128, 768), pypto.float16]",
            )
        return annotations.tensor_type(*parameters)

    @property
    def is_computed(self) -> bool:
        return self._array is not None

    def compute(self) -> np.ndarray:
        """The value (read-only), compiled and run on the default device the first time."""
        if self._array is None:
            self._array = compute(self)
            self._node = None
        return self._array

    def numpy(self) -> np.ndarray:
        """The value as an array."""
        return self.compute()

    def item(self) -> Any:
        """The value of a tensor of one element as a Python number."""
        return self.compute().item()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.compute(), dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        shown = np.array2string(self.compute(), separator=", ", prefix="pypto.Tensor(")
        return f"pypto.Tensor({shown}, {self.dtype!r})"


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, or a copy that nobody can change before it is used."""
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


class LazyEvaluator(Evaluator):
    """Records applications instead of computing them."""

    def lift(self, operand: Any) -> Value:
        return operand if isinstance(operand, Value) else Tensor(operand)

    def evaluate(
        self,
        operator: Operator,
        operands: tuple[Any, ...],
        attributes: dict[str, Any],
        result_types: tuple[TensorType, ...],
    ) -> tuple[Tensor, ...]:
        node = Node(operator, operands, attributes, caller())
        return tuple(Tensor.recorded(t, node, i) for i, t in enumerate(result_types))


LAZY = LazyEvaluator()
set_default_evaluator(LAZY)


def caller() -> SourceLocation | None:
    """The nearest line outside this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return None if frame is None else SourceLocation(frame.f_code.co_filename, frame.f_lineno, 1)


class Graph:
    """What a tensor is made of: nodes in order of evaluation, and the arrays they begin with."""

    def __init__(self, root: Tensor) -> None:
        self.nodes: list[Node] = []
        self.leaves: list[Tensor] = []
        self.root = root
        self._numbers: dict[int, int] = {}
        self._visit(root)

    def _visit(self, root: Tensor) -> None:
        pending: list[tuple[Tensor, bool]] = [(root, False)]
        while pending:
            tensor, ready = pending.pop()
            part = tensor if tensor._node is None else tensor._node
            if id(part) in self._numbers:
                continue
            if tensor._node is None:
                self._numbers[id(tensor)] = len(self.leaves)
                self.leaves.append(tensor)
            elif ready:
                self._numbers[id(part)] = len(self.nodes)
                self.nodes.append(tensor._node)
            else:
                pending.append((tensor, True))
                operands = tensors_of(tensor._node.operands)
                pending.extend((operand, False) for operand in reversed(operands))

    def place(self, tensor: Tensor) -> tuple[str, int, int]:
        """Where a tensor comes from: a leaf, or a result of a node."""
        if tensor._node is None:
            return "leaf", self._numbers[id(tensor)], 0
        return "node", self._numbers[id(tensor._node)], tensor._index

    def key(self) -> tuple[Any, ...]:
        """Equal for graphs that compile to the same program."""
        return (
            tuple(str(leaf.type) for leaf in self.leaves),
            tuple(self._node_key(node) for node in self.nodes),
            self.place(self.root),
        )

    def _node_key(self, node: Node) -> tuple[Any, ...]:
        operands = tuple(
            tuple(map(self.place, operand))
            if isinstance(operand, tuple)
            else self.place(operand)
            if isinstance(operand, Tensor)
            else (type(operand).__name__, repr(operand))
            for operand in node.operands
        )
        return node.operator.name, operands, repr(sorted(node.attributes.items()))


_programs: dict[Any, Compilation] = {}


def compute(tensor: Tensor) -> np.ndarray:
    """Compile the graph of a tensor, once per structure, and run it."""
    from pypto.runtime.session import execute

    graph = Graph(tensor)
    arrays = tuple(leaf.compute() for leaf in graph.leaves)
    options = Options()
    key = graph.key()
    if key not in _programs:
        _programs[key] = compiled(graph, key, options)
    program = _programs[key]
    run = execute(program.executable, arrays, compile_seconds=program.seconds, kernel="lazy")
    (result,) = run.results
    result.flags.writeable = False
    return result


def compiled(graph: Graph, key: tuple[Any, ...], options: Options) -> Compilation:
    """The program of a graph with its key: from the cache, or made."""
    from pypto.passes.pipelines import PIPELINES

    places = [str(node.location) for node in graph.nodes]
    name = cache.executable_key((key, places), options.soc, PIPELINES[f"O{options.opt_level}"])
    stored = name and cache.find(name, options.soc)
    if stored:
        return Compilation(stored, 0.0)

    from pypto.runtime.compiler import compile_graph

    made = compile_graph(graph, options)
    if name:
        cache.store(name, made.executable)
    return made


def operator(name: str) -> Operator:
    """The operator of a name, for ``pypto.<name>``."""
    if name in OPERATORS:
        return OPERATORS[name]
    near = difflib.get_close_matches(name, list(OPERATORS), n=1)
    advice = f"; did you mean {near[0]!r}?" if near else ""
    raise AttributeError(f"module 'pypto' has no attribute {name!r}{advice}")
