"""How programs are made smaller: pure, without proving anything."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

from pypto.dialects.constants import ConstantStore
from pypto.dialects.context import parse_module, print_module
from pypto.errors import CompileError
from pypto.runtime import bisect_simpler as simpler
from pypto.runtime.bisect_program import (
    Program,
    Size,
    build_program,
    fitted_shape,
    read_program,
)

CHAIN = """
builtin.module attributes {pypto.name = "chain"} {
  func.func @main(%x: tensor<37x20xf32>, %y: tensor<20xf32>)
      -> (tensor<37x20xf32>, tensor<37xf32>) {
    %0 = pypto.mul %x, 3.5 : (tensor<37x20xf32>) -> tensor<37x20xf32>
    %1 = pypto.add %0, %y : (tensor<37x20xf32>, tensor<20xf32>) -> tensor<37x20xf32>
    %2 = pypto.exp %1 : (tensor<37x20xf32>) -> tensor<37x20xf32>
    %3 = pypto.sum %2, dims = [1] : (tensor<37x20xf32>) -> tensor<37xf32>
    func.return %2, %3 : tensor<37x20xf32>, tensor<37xf32>
  }
}
"""


def program(text: str) -> Program:
    found = read_program(parse_module(text, "test.mlir"), ConstantStore())
    assert found is not None
    return found


def chain() -> Program:
    return program(CHAIN)


def operators(candidate: Program) -> list[str]:
    return [step.operator for step in candidate.steps]


def text_of(candidate: Program) -> str:
    return print_module(build_program(candidate, ConstantStore()), locations=False)


def shapes(candidate: Program) -> list[tuple[int, ...]]:
    return [candidate.types[ref].shape for ref in candidate.arguments]


def test_a_program_is_read_and_built_again() -> None:
    module = parse_module(CHAIN, "test.mlir")
    expected = print_module(module, locations=False).replace("%x", "%0").replace("%y", "%1")
    rebuilt = text_of(chain())
    assert rebuilt.count("pypto.") == expected.count("pypto.")
    assert text_of(program(rebuilt)) == rebuilt
    assert chain().size == Size(operators=4, elements=740)
    assert chain().attributes["pypto.name"] == StringAttr("chain")


def test_lists_and_several_results_are_read_and_built_again() -> None:
    text = """
    func.func @main(%x: tensor<6x4xf32>) -> (tensor<2x4xf32>, tensor<8x4xf32>) {
      %0, %1 = pypto.split %x, sections = [2, 4] : (tensor<6x4xf32>)
          -> (tensor<2x4xf32>, tensor<4x4xf32>)
      %2 = pypto.concat [%1, %0, %0] : (tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
          -> tensor<8x4xf32>
      func.return %0, %2 : tensor<2x4xf32>, tensor<8x4xf32>
    }
    """
    assert text_of(program(text_of(program(text)))) == text_of(program(text))


@pytest.mark.parametrize(
    "text",
    [
        "builtin.module {}",
        "func.func private @main(tensor<4xf32>) -> tensor<4xf32>",
        """
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          func.return %x : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        """,
        """
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = arith.constant 1 : index
          func.return %x : tensor<4xf32>
        }
        """,
    ],
)
def test_what_is_no_plain_program_is_not_read(text: str) -> None:
    assert read_program(parse_module(text, "test.mlir"), ConstantStore()) is None


def test_constants_are_kept_with_their_elements() -> None:
    store = ConstantStore()
    key = store.add(np.arange(6, dtype=np.float32).reshape(2, 3))
    text = f"""
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{
      %0 = pypto.constant {{resource = "{key}"}} : tensor<2x3xf32>
      %1 = pypto.add %x, %0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      func.return %1 : tensor<2x3xf32>
    }}
    """
    found = read_program(parse_module(text, "test.mlir"), store)
    assert found is not None
    (fewer,) = simpler.with_fewer_constants(found)
    assert shapes(fewer) == [(2, 3), (2, 3)]
    assert not fewer.constants
    kept = ConstantStore()
    small = simpler.with_extents(found, {3: 2})
    build_program(small, kept)
    assert [kept[name].tolist() for name in kept] == [[[0.0, 1.0], [3.0, 4.0]]]


def test_a_cut_takes_what_is_missing_as_arguments() -> None:
    middle = simpler.cut(chain(), (1, 2))
    assert operators(middle) == ["add", "exp"]
    assert sorted(shapes(middle)) == [(20,), (37, 20)]
    assert [middle.types[ref].shape for ref in middle.results] == [(37, 20)]
    last = simpler.cut(chain(), (3,))
    assert shapes(last) == [(37, 20)]
    assert [last.types[ref].shape for ref in last.results] == [(37,)]


def test_what_is_read_inside_and_returned_stays_a_result() -> None:
    assert len(simpler.cut(chain(), (2, 3)).results) == 2


def test_fewer_results_need_fewer_steps() -> None:
    whole = chain()
    assert operators(simpler.with_results(whole, whole.results[:1])) == ["mul", "add", "exp"]


def test_a_step_is_left_out() -> None:
    found = [operators(candidate) for candidate in simpler.without_one_step(chain())]
    assert found == [["add", "exp", "sum"], ["mul", "exp", "sum"], ["mul", "add", "sum"]]


def test_extents_change_wherever_they_stand() -> None:
    small = simpler.with_extents(chain(), {37: 2, 20: 3})
    assert shapes(small) == [(2, 3), (3,)]
    assert program(text_of(small)).size == Size(4, 6)


def test_extents_get_small_at_once_and_stay_different() -> None:
    tried = [shapes(candidate) for candidate in simpler.with_small_extents(chain())]
    assert tried == [[(1, 1), (1,)], [(8, 7), (7,)], [(18, 17), (17,)]]
    assert simpler.extents_of(chain()) == [37, 20]


def test_one_axis_gets_shorter_than_others_of_its_extent() -> None:
    square = program(
        """
        func.func @main(%a: tensor<17x17xf32>, %b: tensor<17x17xf32>) -> tensor<17x17xf32> {
          %0 = pypto.matmul %a, %b : (tensor<17x17xf32>, tensor<17x17xf32>) -> tensor<17x17xf32>
          func.return %0 : tensor<17x17xf32>
        }
        """
    )
    built = []
    for candidate in simpler.with_shorter_axis(square):
        try:
            text_of(candidate)
        except CompileError:
            continue
        built.append(shapes(candidate))
    assert [(1, 17), (17, 17)] in built
    assert [(17, 17), (17, 1)] in built
    assert [(17, 1), (17, 17)] not in built


def test_extents_known_at_launch_become_numbers() -> None:
    dynamic = program(
        """
        func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
          %0 = pypto.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
          func.return %0 : tensor<?x4xf32>
        }
        """
    )
    assert simpler.extents_of(dynamic) == [-1, 4]
    assert shapes(next(simpler.with_smaller_extent(dynamic, -1))) == [(1, 4)]


def test_numbers_get_simple_and_keep_their_type() -> None:
    operands = [
        candidate.steps[0].operands[1] for candidate in simpler.with_simpler_numbers(chain())
    ]
    assert operands == [1.0, 2.0, 0.0]
    assert all(isinstance(operand, float) for operand in operands)


@pytest.mark.parametrize(
    ("shape", "elements", "fitted"),
    [
        ((6, 4), 24, (6, 4)),
        ((6, 4), 12, (6, 2)),
        ((6, 4), 8, (2, 4)),
        ((6, 4), 7, (6, 4)),
        ((0, 4), 8, (2, 4)),
        ((), 1, ()),
    ],
)
def test_a_shape_is_fitted_to_a_number_of_elements(
    shape: tuple[int, ...], elements: int, fitted: tuple[int, ...]
) -> None:
    assert fitted_shape(shape, elements) == fitted


def contains(*wanted: int) -> Callable[[tuple[int, ...]], bool]:
    return lambda items: set(wanted) <= set(items)


@pytest.mark.parametrize("wanted", [(0,), (19,), (7,), (3, 4), (0, 19), (2, 9, 17)])
def test_delta_debugging_finds_what_is_needed(wanted: tuple[int, ...]) -> None:
    assert simpler.minimise(range(20), contains(*wanted)) == wanted


def test_delta_debugging_tries_few() -> None:
    tried: list[tuple[int, ...]] = []

    def fails(items: tuple[int, ...]) -> bool:
        tried.append(items)
        return 41 in items

    assert simpler.minimise(range(64), fails) == (41,)
    assert len(tried) <= 12


def test_delta_debugging_of_what_always_fails_ends_with_one() -> None:
    assert len(simpler.minimise(range(9), lambda items: True)) == 1
