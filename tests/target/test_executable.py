"""Executables: validation of indices, counts and sizes; equality; extents known at launch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pypto.errors import CompileError
from pypto.target.dtypes import F16, F32
from pypto.target.executable import (
    Buffer,
    BufferArgument,
    Dim,
    Executable,
    Launch,
    Part,
    Role,
    allocated_bytes,
)
from pypto.target.memory import CoreKind
from pypto.target.program import Program, ProgramBuilder


def program() -> Program:
    builder = ProgramBuilder("k", CoreKind.VECTOR)
    builder.parameter("x", "buffer", F16)
    builder.parameter("y", "buffer", F16, writes=True)
    builder.parameter("n", "scalar")
    builder.append("end")
    return builder.build()


X = Buffer("x", Role.INPUT, F16, (4, 8), 64)
Y = Buffer("y", Role.RESULT, F16, (Dim(0, 1),))
W = Buffer("w", Role.CONSTANT, F32, (2,), constant="w")
T = Buffer("t", Role.TEMPORARY, F32, (), 64, 128)
LAUNCH = Launch(0, 48, (BufferArgument(0), BufferArgument(1, 2), Dim(0, 0)))


def executable() -> Executable:
    constants = {"w": np.arange(8, dtype=np.uint8)}
    return Executable("ascend910b1", (program(),), (X, Y, W, T), constants, (LAUNCH,), (0,), (1,))


def test_valid() -> None:
    executable().validate()
    assert "program k: vector core, 1 rows, 3 parameters, grids [48]" in executable().summary()
    assert "8 bytes of constants" in executable().summary()


def test_extents() -> None:
    assert Y.resolved_shape([(4, 8)]) == (8,)
    assert Y.byte_count([(4, 8)]) == 16
    assert X.byte_count([]) == 64
    assert Buffer("z", Role.RESULT, F16, (0, 3)).byte_count([]) == 0


@pytest.mark.parametrize(("size", "allocated"), [(0, 32), (1, 64), (32, 64), (33, 96)])
def test_a_buffer_gets_whole_blocks_and_one_more(size: int, allocated: int) -> None:
    assert allocated_bytes(size) == allocated


def test_equality_is_bit_for_bit() -> None:
    one = executable()
    assert one == executable()
    assert hash(one) == hash(executable())
    other = {"w": np.array([0, 1, 2, 3, 4, 5, 6, 8], np.uint8)}
    assert replace(one, constants=other) != one
    assert replace(one, results=()) != one


def launch(**change: object) -> dict[str, object]:
    return {"steps": (replace(LAUNCH, **change),)}


def groups(grid: int = 24, **change: object) -> dict[str, object]:
    """A launch on groups of cores: a program without parameters, and the one for vector cores."""
    builder = ProgramBuilder("m", CoreKind.CUBE)
    builder.append("end")
    vector = replace(Part(0, LAUNCH.arguments), **change)
    return {"programs": (program(), builder.build()), "steps": (Launch(1, grid, (), vector),)}


def test_a_launch_on_groups_of_cores() -> None:
    made = replace(executable(), **groups())
    made.validate()
    assert "program k: vector core, 1 rows, 3 parameters, grids [24]" in made.summary()
    assert [part.program for part in made.steps[0].parts] == [1, 0]
    assert made.steps[0].all_arguments == LAUNCH.arguments


def buffers(index: int, **change: object) -> dict[str, object]:
    changed = [X, Y, W, T]
    changed[index] = replace(changed[index], **change)
    return {"buffers": tuple(changed)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (launch(program=1), "step 0 runs program 1 of 1"),
        (launch(grid=49), "step 0 (k) asks for a grid of 49; ascend910b1 has 48 vector cores"),
        (launch(grid=0), "asks for a grid of 0"),
        (
            groups(grid=25),
            "step 0 (m and k) asks for a grid of 25; ascend910b1 has 24 groups of a cube core and"
            " 2 vector cores",
        ),
        (groups(program=2), "step 0 runs program 2 of 2"),
        (
            groups(program=1),
            "step 0 (m and m) joins a program for cube cores with one for cube cores",
        ),
        (groups(arguments=()), "step 0 (k) passes 0 arguments to 3 parameters"),
        (launch(arguments=()), "passes 0 arguments to 3 parameters"),
        (launch(arguments=(3, BufferArgument(1), 1)), "parameter x wants a buffer, got the scalar"),
        (launch(arguments=(BufferArgument(0),) * 3), "parameter y is written, but buffer x is a"),
        (
            launch(arguments=(BufferArgument(0), BufferArgument(1), BufferArgument(0))),
            "parameter n wants a scalar, got buffer 0",
        ),
        (
            launch(arguments=(BufferArgument(9), BufferArgument(1), 1)),
            "parameter x names buffer 9 of 4 buffers",
        ),
        (
            launch(arguments=(BufferArgument(0, 66), BufferArgument(1), 1)),
            "points 66 bytes into x",
        ),
        (
            launch(arguments=(BufferArgument(0), BufferArgument(1), Dim(0, 2))),
            "takes axis 2 of input 0 of rank 2",
        ),
        (buffers(0, shape=(-1,)), "buffer 0 (x) has the negative extent -1"),
        (buffers(0, bytes=32), "buffer 0 (x) holds 32 bytes, its shape needs 64"),
        (buffers(0, offset=0), "of role input has a planned offset"),
        (buffers(1, shape=(Dim(1, 0),)), "takes an extent of input 1 of 1 inputs"),
        (buffers(2, constant=None), "of role constant has constant key None"),
        (buffers(2, constant="v"), "names constant v, which is not there"),
        (buffers(2, shape=(3,)), "needs 12 bytes, constant w has 8"),
        (buffers(3, constant="w"), "of role temporary has constant key 'w'"),
        ({"constants": {"w": np.zeros(2, np.float32)}}, "constant w is a 1-dimensional array"),
        ({"inputs": (4,)}, "input list names buffer 4 of 4 buffers"),
        ({"results": (-1,)}, "result list names buffer -1 of 4 buffers"),
        ({"results": (0,)}, "result list names buffer 0 (x) of role input"),
        ({"soc": "ascend999"}, "no SoC is named 'ascend999'"),
    ],
)
def test_validation_refuses(change: dict[str, object], message: str) -> None:
    with pytest.raises(CompileError) as caught:
        replace(executable(), **change).validate()
    assert message in caught.value.message
