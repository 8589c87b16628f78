"""Lazy tensors: a recorded graph becomes IR through the Builder, and is compiled once."""

from __future__ import annotations

import numpy as np
import pytest

import pypto
from pypto.dialects.context import print_module
from pypto.dialects.interpret import interpret
from pypto.errors import CompileError
from pypto.runtime import lazy
from pypto.runtime.graph import build_graph_module

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def module_of(tensor: pypto.Tensor) -> tuple:
    graph = lazy.Graph(tensor)  # pyright: ignore[reportArgumentType]
    return graph, *build_graph_module(graph)


def test_calls_record_and_do_not_compute() -> None:
    product = pypto.matmul(X, X.T)
    assert isinstance(product, pypto.Tensor)
    assert not product.is_computed
    assert product.shape == (2, 2)
    assert product.dtype is pypto.float32


def test_a_graph_becomes_a_module_that_means_the_same() -> None:
    x = pypto.Tensor(X)
    shared = x * 2 + 1
    total = pypto.sum(shared * shared, dim=-1)
    graph, module, constants = module_of(total)
    assert len(graph.nodes) == 4
    (result,) = interpret(module, [leaf.numpy() for leaf in graph.leaves], constants)
    np.testing.assert_array_equal(result, ((X * 2 + 1) ** 2).sum(axis=-1))


def test_operations_carry_the_line_that_made_them() -> None:
    tensor = pypto.exp(pypto.Tensor(X))
    _, module, _ = module_of(tensor)
    assert f'loc("{__file__}":' in print_module(module)


def test_what_changes_later_does_not_count() -> None:
    array = X.copy()
    tensor = pypto.Tensor(array)
    array[:] = 0
    np.testing.assert_array_equal(tensor.numpy(), X)
    assert not tensor.numpy().flags.writeable


def test_equal_structures_have_equal_keys() -> None:
    def key(scale: float, x: np.ndarray = X) -> object:
        return lazy.Graph(pypto.Tensor(x) * scale).key()  # pyright: ignore[reportArgumentType]

    assert key(2.0) == key(2.0, X + 1)
    assert len({key(2.0), key(3.0), key(2.0, X.T), key(2.0, X.astype(np.float16))}) == 4


def test_results_of_one_operation_are_told_apart() -> None:
    first, second = pypto.split(pypto.Tensor(X), 3, dim=1)[:2]
    keys = [lazy.Graph(part).key() for part in (first, second)]
    assert keys[0] != keys[1]


def test_mistakes_are_reported_at_once() -> None:
    with pytest.raises(CompileError, match="inner extents differ: 3 and 2"):
        pypto.matmul(X, X)
    with pytest.raises(CompileError, match="float64"):
        pypto.exp(X.astype(np.float64))
    with pytest.raises(CompileError, match="truth of a tensor"):
        bool(pypto.Tensor(X) > 1)
