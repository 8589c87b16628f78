"""Random programs of 2 to 10 operators, written as a user would, on both machines at O0 and O2.

Every pass is proven, and the results of the machine lie in the bounds derived for the program.
A failing program is shown as code.
"""

from __future__ import annotations

import os
from math import prod

import numpy as np
import pytest

import pypto
from pypto.dialects.interpret import derive_bounds
from pypto.passes.pipelines import PIPELINES
from pypto.runtime.compiler import compile_module
from pypto.runtime.graph import build_graph_module
from pypto.runtime.lazy import Graph, Tensor
from pypto.runtime.session import execute

SEED = int(os.environ.get("PYPTO_SEED", "0"))
SOCS = ("ascend910b1", "ascend910a", "ascend310p3")
EXTENTS = (1, 7, 13, 37)
LARGEST = 6000  # elements of a tensor


class Writer:
    """Writes a program line by line, evaluating it lazily to know the types."""

    def __init__(self, seed: int, soc: str) -> None:
        self.random = np.random.default_rng([SEED, seed])
        self.floats = ["float32", "float16"] + ["bfloat16"] * (soc == "ascend910b1")
        self.lines: list[str] = []
        self.space: dict[str, object] = {"pypto": pypto, "np": np}
        self.names: list[str] = []
        for _ in range(self.number(1, 2)):
            self.input()

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def choose(self, options):
        return options[self.number(0, len(options) - 1)]

    def tensor(self, name: str) -> Tensor:
        tensor = self.space[name]
        assert isinstance(tensor, Tensor)
        return tensor

    def write(self, text: str) -> str:
        name = f"t{len(self.names)}"
        exec(f"{name} = {text}", self.space)
        self.lines.append(f"{name} = {text}")
        self.names.append(name)
        return name

    def input(self) -> None:
        shape = tuple(self.choose(EXTENTS) for _ in range(self.number(0, 3)))
        if shape and self.number(0, 19) == 0:
            shape = (0, *shape[1:])
        if prod(shape) > LARGEST:
            shape = shape[1:]
        dtype = self.choose([*self.floats * 2, "int32", "bool_"])
        draw = f"np.random.default_rng({self.number(0, 99)}).normal(0, 2, {shape})"
        self.write(f"pypto.Tensor(({draw}).astype(pypto.{dtype}.numpy))")

    def step(self) -> None:
        name = self.names[-1] if self.number(0, 2) else self.choose(self.names)
        tensor = self.tensor(name)
        options = [self.cast, self.compare, self.move, self.move]
        if tensor.dtype.is_float:
            options += [self.function, self.function, self.binary, self.binary, self.reduce]
        elif tensor.dtype is not pypto.bool_:
            options += [self.binary, self.binary]
        else:
            options += [self.select, self.select]
        if tensor.dtype is pypto.float16 and tensor.rank == 2 and tensor.shape[1]:
            options += [self.matmul] * 3
        self.choose(options)(name, tensor)

    def partner(self, tensor: Tensor) -> str:
        """A tensor of the same type of element that broadcasts with one, or a number."""

        def fits(other: Tensor) -> bool:
            pairs = zip(reversed(tensor.shape), reversed(other.shape), strict=False)
            return other.dtype == tensor.dtype and all(a == b or 1 in (a, b) for a, b in pairs)

        found = [name for name in self.names if fits(self.tensor(name))]
        numbers = ["2.5", "-0.5", "3"] if tensor.dtype.is_float else ["2", "-7"]
        return self.choose(numbers if self.number(0, 2) == 0 or not found else found)

    def function(self, name: str, tensor: Tensor) -> None:
        names = ["exp", "tanh", "abs", "neg", "relu", "sigmoid", "square", "sign", "gelu"]
        self.write(f"pypto.{self.choose(names)}({name})")

    def binary(self, name: str, tensor: Tensor) -> None:
        other = self.partner(tensor)
        names = ["add", "sub", "mul", "maximum", "minimum"] + ["div"] * tensor.dtype.is_float
        self.write(f"pypto.{self.choose(names)}({name}, {other})")

    def compare(self, name: str, tensor: Tensor) -> None:
        if tensor.dtype is pypto.bool_:
            self.write(f"pypto.logical_not({name})")
        else:
            names = ["lt", "le", "gt", "ge", "eq", "ne"]
            self.write(f"pypto.{self.choose(names)}({name}, {self.partner(tensor)})")

    def select(self, name: str, tensor: Tensor) -> None:
        shape = tensor.shape
        found = [n for n in self.names if self.tensor(n).shape == shape]
        yes = self.choose(found)
        if self.tensor(yes).dtype is pypto.bool_:
            self.write(f"pypto.logical_or({name}, {yes})")
        else:
            self.write(f"pypto.where({name}, {yes}, {self.choose(['1', '0'])})")

    def cast(self, name: str, tensor: Tensor) -> None:
        targets = [*self.floats] if tensor.dtype is not pypto.bool_ else [*self.floats, "int32"]
        self.write(f"pypto.cast({name}, pypto.{self.choose(targets)})")

    def reduce(self, name: str, tensor: Tensor) -> None:
        axes = [axis for axis, extent in enumerate(tensor.shape) if extent]
        if axes:
            kind, keep = self.choose(["sum", "amax", "amin", "mean"]), bool(self.number(0, 1))
            self.write(f"pypto.{kind}({name}, dim={self.choose(axes)}, keepdim={keep})")

    def matmul(self, name: str, tensor: Tensor) -> None:
        self.write(f"pypto.matmul({name}, pypto.t({name}))")

    def move(self, name: str, tensor: Tensor) -> None:
        shape, rank = tensor.shape, tensor.rank
        options = [f"pypto.reshape({name}, {(prod(shape),)})"]
        if rank < 3:
            options.append(f"pypto.unsqueeze({name}, 0)")
        if rank >= 2:
            first, second = sorted(self.random.permutation(rank)[:2].tolist())
            options += [f"pypto.transpose({name}, {first}, {second})"] * 2
            options.append(f"pypto.reshape({name}, {(shape[0] * shape[1], *shape[2:])})")
        if rank >= 1 and shape[0] > 2:
            options += [f"{name}[1:{shape[0] - 1}]", f"{name}[{shape[0] // 2}]"]
        if rank >= 1 and 2 * prod(shape) <= LARGEST:
            options.append(f"pypto.concat([{name}, {name}], dim={rank - 1})")
        if rank >= 1 and shape[0] == 1 and 7 * prod(shape) <= LARGEST:
            options += [f"pypto.broadcast_to({name}, {(7, *shape[1:])})"] * 3
        self.write(self.choose(options))

    def program(self) -> Tensor:
        """The last tensor, after 2 to 10 operators."""
        wanted = len(self.names) + self.number(2, 10)
        while len(self.names) < wanted:
            self.step()
        return self.tensor(self.names[-1])


def check(seed: int) -> None:
    """Run the program of a seed at both levels; a machine may refuse none of them."""
    soc = SOCS[seed % len(SOCS)]
    writer = Writer(seed, soc)
    try:
        result = writer.program()
        for level in (0, 2):
            run(Graph(result), soc, level)
    except (Exception, AssertionError) as error:
        code = "\n".join(writer.lines)
        raise AssertionError(f"PYPTO_SEED={SEED}, program {seed} on {soc}:\n{code}") from error


def run(graph: Graph, soc: str, level: int) -> None:
    inputs = [leaf.compute() for leaf in graph.leaves]
    module, constants = build_graph_module(graph)
    (bound,) = derive_bounds(module, inputs, constants)
    pipeline = PIPELINES[f"O{level}"]
    executable = compile_module(
        module, constants, soc=soc, pipeline=pipeline, verify_each=True, inputs=inputs
    )
    (found,) = execute(executable, inputs, kernel="random", check_hazards=True).results
    assert found.shape == bound.value.shape
    wrong = np.argwhere(~np.asarray(bound.contains(found)))
    assert not len(wrong), f"-O{level}: {len(wrong)} wrong elements, the first at {wrong[0]}"


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part: int) -> None:
    for seed in range(part * 10, part * 10 + 10):
        check(seed)


@pytest.mark.full
@pytest.mark.parametrize("part", range(20))
def test_five_hundred_random_programs(part: int) -> None:
    for seed in range(100 + part * 25, 100 + part * 25 + 25):
        check(seed)
