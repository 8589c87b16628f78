"""Runs a tile kernel the slow, sure way: passes, code generation, checker, NumPy meanings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Block, Region, SSAValue

from pypto.codegen.kernel import build_program
from pypto.dialects import tile
from pypto.dialects.context import make_context, parse_module, print_module
from pypto.dialects.emitter import Emitter, Index
from pypto.dialects.locations import file_location
from pypto.emulator.hazards import GlobalBuffer, Hazard, check_program, trace
from pypto.passes.tik.insert_sync import InsertSync
from pypto.passes.tik.lower_to_tik import LowerToTik
from pypto.passes.tik.place_buffers import PlaceBuffers
from pypto.target.dtypes import DTYPES, DType, dtype_of
from pypto.target.memory import Space
from pypto.target.program import Program
from pypto.target.soc import Soc, soc

PAGE = 4096
POISON = 0xFF
SPLIT, COUPLED = "ascend910b1", "ascend910a"


def dtype(array: np.ndarray) -> DType:
    found = dtype_of(array.dtype)
    assert found is not None
    return found


@dataclass
class TileKernel:
    """A tile kernel under construction; ``body(kernel, handles, scalars)`` emits it."""

    body: Callable[[TileKernel, list[SSAValue], list[SSAValue]], None]
    core: str = "vector"
    granule: int = 16
    slots: int = 1
    soc: str = SPLIT
    emit: Emitter = field(init=False)

    def module(self, dtypes: Sequence[DType], scalars: int = 0) -> ModuleOp:
        types = [*map(tile.GlobalType, dtypes), *[IndexType()] * scalars]
        block = Block(arg_types=types)
        location = file_location("kernel.py", 1, 1)
        for argument in block.args:
            argument.location = location
        self.emit = Emitter.at_end(block, location)
        handles = list(block.args[: len(dtypes)])
        self.body(self, handles, list(block.args[len(dtypes) :]))
        self.emit.op(func.ReturnOp)
        kernel = func.FuncOp("kernel", FunctionType.from_lists(types, []), Region(block))
        kernel.location = location
        kernel.attributes |= {
            tile.KERNEL: StringAttr(self.core),
            tile.GRANULE: IntegerAttr(self.granule, i64),
            tile.SCHEDULE: DictionaryAttr({"slots": IntegerAttr(self.slots, i64)}),
        }
        module = ModuleOp([kernel])
        module.attributes["pypto.soc"] = StringAttr(self.soc)
        return module

    # Shorthands of the tile dialect.

    def type(self, rows: int, columns: int, name: str, space: Space = Space.UB) -> tile.TileType:
        return tile.TileType(rows, columns, DTYPES[name], space)

    def load(
        self,
        source: SSAValue,
        shape: tuple[int, int],
        valid: tuple[Index, Index],
        offset: Index = 0,
        stride: Index = 0,
        slots: int | None = None,
        space: Space = Space.UB,
    ) -> SSAValue:
        assert isinstance(source.type, tile.GlobalType)
        type = tile.TileType(*shape, source.type.dtype, space)
        operands = map(self.emit.index, (offset, stride, *valid))
        return self.emit.value(tile.LoadOp, source, *operands, type, slots=slots or self.slots)

    def store(
        self, value: SSAValue, target: SSAValue, offset: Index = 0, stride: Index = 0, **rest: bool
    ) -> None:
        operands = map(self.emit.index, (offset, stride))
        self.emit.op(tile.StoreOp, value, target, *operands, **rest)

    def store_beside(
        self, value: SSAValue, target: SSAValue, offset: Index = 0, stride: Index = 0
    ) -> None:
        """A store on any machine that leaves what lies behind its rows as it is."""
        self.store(value, target, offset, stride, merge=soc(self.soc).is_coupled)

    def apply(
        self,
        operator: str,
        *inputs: SSAValue | int | float,
        result: str = "",
        rounding: str | None = None,
    ) -> SSAValue:
        tiles = [x for x in inputs if isinstance(x, SSAValue)]
        numbers = [x for x in inputs if not isinstance(x, SSAValue)]
        like = tile.tile_type(tiles[-1])
        name = result or like.dtype.name
        return self.emit.value(
            tile.ApplyOp,
            operator,
            tiles,
            tile.TileType(*like.shape, DTYPES[name], Space.UB),
            scalar=numbers[0] if numbers else None,
            scalar_left=bool(numbers) and not isinstance(inputs[0], SSAValue),
            rounding=rounding,
        )

    def broadcast(
        self, source: SSAValue, shape: tuple[int, int], valid: tuple[Index, Index]
    ) -> SSAValue:
        type = tile.tile_type(source).with_shape(*shape)
        return self.emit.value(tile.BroadcastOp, source, *map(self.emit.index, valid), type)

    def full(
        self, value: int | float, shape: tuple[int, int], valid: tuple[Index, Index], name: str
    ) -> SSAValue:
        operands = map(self.emit.index, valid)
        return self.emit.value(tile.FullOp, value, *operands, self.type(*shape, name))

    def iota(
        self,
        shape: tuple[int, int],
        valid: tuple[Index, Index],
        steps: tuple[int, int],
        start: Index = 0,
    ) -> SSAValue:
        operands = map(self.emit.index, valid)
        return self.emit.value(
            tile.IotaOp, self.emit.index(start), *steps, *operands, self.type(*shape, "i32")
        )


def vector_kernel(
    body: Callable[[TileKernel, list[SSAValue], list[SSAValue]], None],
    machine: str,
    granule: int = 16,
    slots: int = 1,
) -> TileKernel:
    """A kernel for the vector pipe of a machine."""
    core = "aicore" if soc(machine).is_coupled else "vector"
    return TileKernel(body, core, granule, slots, machine)


@dataclass
class Run:
    arrays: list[np.ndarray]
    hazards: list[Hazard]
    program: Program
    text: str


def lowered(module: ModuleOp, machine: Soc) -> tuple[Program, str]:
    """The program of the only kernel, and its text at the tik level."""
    context = make_context()
    module.verify()
    again = parse_module(print_module(module), "again")
    for one in (LowerToTik(), PlaceBuffers(), InsertSync()):
        for each in (module, again):
            one.apply(context, each)
            each.verify()
    text = print_module(module)
    assert print_module(again) == text, "a dump of the tile level replays differently"
    kernel = next(op for op in module.ops if isinstance(op, func.FuncOp))
    return build_program(kernel, machine=machine), text


def run(
    kernel: TileKernel,
    arrays: Sequence[np.ndarray],
    scalars: Sequence[int] = (),
    outputs: int = 1,
    grid: int = 1,
) -> Run:
    """The arrays after the kernel; the last ``outputs`` of them hold nothing before."""
    machine = soc(kernel.soc)
    program, text = lowered(kernel.module([dtype(a) for a in arrays], len(scalars)), machine)
    buffers: list[GlobalBuffer] = []
    address = PAGE
    for number, array in enumerate(arrays):
        is_output = number >= len(arrays) - outputs
        buffers.append(GlobalBuffer(f"p{number}", address, array.nbytes, is_output, not is_output))
        address += -(-array.nbytes // PAGE) * PAGE + PAGE
    memory = {Space.GM: np.full(address, POISON, np.uint8)}
    for buffer, array in zip(buffers, arrays, strict=True):
        if buffer.filled:
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            memory[Space.GM][buffer.address : buffer.stop] = data
    parameters = [*(buffer.address for buffer in buffers), *scalars]
    hazards = check_program(program, machine, grid, parameters, buffers)
    for block in range(grid):
        local = {s: np.full(n, POISON, np.uint8) for s, n in machine.capacity.items()}
        execute(program, block, grid, parameters, memory | local)
    results = [
        memory[Space.GM][b.address : b.stop].view(a.dtype).reshape(a.shape)
        for b, a in zip(buffers, arrays, strict=True)
    ]
    return Run(results, hazards, program, text)


def execute(program, block, grid, parameters, memory) -> None:
    """All data instructions of a block, one after the other."""
    for dispatch in trace(program, block, grid, parameters):
        row = dispatch.form.row
        if row is not None:
            row.meaning(memory, row.family.tuple_type(*dispatch.operands), row)


def outcome(
    kernel: TileKernel,
    inputs: Sequence[np.ndarray],
    shape: tuple[int, ...],
    result: np.dtype | type,
    scalars: Sequence[int] = (),
    grid: int = 1,
) -> np.ndarray:
    """The only result of a kernel, which must be free of hazards."""
    made = run(kernel, [*inputs, np.zeros(shape, result)], scalars, 1, grid)
    assert not made.hazards, "\n".join(map(str, made.hazards[:3])) + "\n" + made.text
    return made.arrays[-1]
