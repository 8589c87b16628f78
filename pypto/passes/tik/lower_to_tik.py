"""tile -> tik (virtual): tiles become slots of buffers, tile operations machine instructions.

The map from primitives to instructions stands in the ``lowering_*`` modules. This one walks a
kernel: it gives every tile a buffer, lets loop-carried tiles stay in one, and moves loads to the
front of their block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
)
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from pypto.dialects import tik, tile
from pypto.dialects.emitter import Emitter, Index, folded
from pypto.dialects.locations import source_of
from pypto.dialects.scalars import SCALAR_MEANINGS, SCALAR_OPERATIONS
from pypto.errors import CompileError
from pypto.passes.base import Pass
from pypto.passes.tik import lowering_matrix as matrix
from pypto.passes.tik import lowering_spread as spread
from pypto.passes.tik import lowering_transfer as transfer
from pypto.passes.tik.kernels import kernels_at, mark_stage, soc_of
from pypto.passes.tik.lowering_drain import drain_to_gm, drain_to_ub
from pypto.passes.tik.lowering_elementwise import BINARY, ELEMENTWISE, Call
from pypto.passes.tik.lowering_facts import (
    InPlace,
    granule_of,
    is_absorbed,
    is_scalar,
    is_stored,
    loads_first,
    only_stored,
    packet_form,
    stored_slots,
    whole_repeat_tiles,
    yielded,
)
from pypto.passes.tik.lowering_interleave import transpose_tile
from pypto.passes.tik.lowering_reduce import reduce
from pypto.passes.tik.lowering_repeated import Repeated, on_all_rows, repeated
from pypto.passes.tik.lowering_state import Lowering, Tile
from pypto.passes.tile.alignment import Tail
from pypto.target.dtypes import I1
from pypto.target.layouts import EDGE
from pypto.target.memory import Space
from pypto.target.soc import Soc

# More stores than these in a block come at its end, together.
MOST_STORES_AT_ONCE = 3


@dataclass(frozen=True)
class LowerToTik(Pass):
    """Lower tile kernels to instructions on buffers without addresses.

    Instructions add up in their own order and have their own exp and log, so floats may change.
    """

    name = "lower-to-tik"
    exact: ClassVar[bool] = False
    requires: ClassVar[str] = "kernels at tile level; loops from 0 in steps of 1"
    ensures: ClassVar[str] = "kernels at tik level, virtual: no address, no synchronisation"

    def apply(self, context: Context, module: ModuleOp) -> None:
        for kernel in list(kernels_at(module, None)):
            lowered = _KernelLowering(kernel, soc_of(module)).lower()
            block = kernel.parent_block()
            if block is not None:
                block.insert_op_before(lowered, kernel)
            kernel.detach()
            kernel.erase()


class _KernelLowering:
    """One kernel function."""

    def __init__(self, kernel: func.FuncOp, machine: Soc) -> None:
        self.kernel = kernel
        self.parts = [Block(), Block(), Block()]
        allocations, prologue, body = map(Emitter.at_end, self.parts)
        for emitter in (allocations, prologue, body):
            emitter.location = kernel.location
        self.state = Lowering(
            body,
            allocations,
            prologue,
            kernel.sym_name.data,
            granule_of(kernel),
            stored_slots(kernel),
            machine,
        )
        self.emit = body
        self.values: dict[SSAValue, Index] = {}
        self.tiles: dict[SSAValue, Tile] = {}
        self.packets: dict[SSAValue, matrix.Packet] = {}
        self.factors: dict[SSAValue, matrix.Factor] = {}
        self.repeats: dict[SSAValue, Repeated] = {}
        self.targets: dict[SSAValue, Tile] = {}
        self.whole = whole_repeat_tiles(kernel)
        # What is left to do for tiles just loaded, and stores put off to the end of the block.
        self.loading: list[tuple[LocationAttr, Callable[[], None]]] = []
        self.storing: list[tuple[LocationAttr, Callable[[], None]]] | None = None

    def lower(self) -> func.FuncOp:
        """The kernel at the tik level."""
        source = self.kernel.body.block
        types = [
            tik.PointerType(Space.GM) if isinstance(a.type, tile.GlobalType) else IndexType()
            for a in source.args
        ]
        entry = Block(arg_types=types)
        for old, new in zip(source.args, entry.args, strict=True):
            new.location, new.name_hint = old.location, old.name_hint
            self.values[old] = new
        self.lower_block(source)
        self.emit.location = self.kernel.location
        self.emit.op(func.ReturnOp)
        for part in self.parts:
            for op in list(part.ops):
                op.detach()
                entry.add_op(op)
        lowered = func.FuncOp(
            self.kernel.sym_name.data,
            FunctionType.from_lists(types, []),
            Region(entry),
            arg_attrs=self.kernel.arg_attrs,
        )
        lowered.location = self.kernel.location
        lowered.attributes |= self.kernel.attributes
        mark_stage(lowered, tik.Stage.VIRTUAL)
        return lowered

    # Structure.

    def lower_block(self, block: Block) -> None:
        """Everything but the terminator.

        Loads come first, and many stores last, so that flags of several can be merged.
        """
        order = loads_first(block)
        saved = self.loading, self.storing
        self.loading = []
        stores = sum(isinstance(op, tile.StoreOp) for op in order)
        self.storing = [] if stores > MOST_STORES_AT_ONCE else None
        for op in order:
            self.emit.location = op.location
            if op.regions or any(map(tile.is_tile, op.operands)):
                self.run(self.loading)
            self.lower_operation(op)
        self.run(self.loading)
        self.run(self.storing or [])
        self.loading, self.storing = saved

    def run(self, waiting: list[tuple[LocationAttr, Callable[[], None]]]) -> None:
        """Emit what was put off."""
        here = self.emit.location
        for self.emit.location, emit in waiting:
            emit()
        waiting.clear()
        self.emit.location = here

    def lower_operation(self, op: Operation) -> None:
        handler = HANDLERS.get(type(op))
        if handler is not None:
            handler(self, op)
        elif is_scalar(op):
            self.lower_scalar(op)
        else:
            raise CompileError(
                "INVALID_IR", f"{op.name} has no place in a tile kernel", location=source_of(op)
            )

    def lower_constant(self, op: arith.ConstantOp) -> None:
        if isinstance(op.value, IntegerAttr):
            self.values[op.result] = op.value.value.data

    def lower_scalar(self, op: Operation) -> None:
        operands = [self.index(value) for value in op.operands]
        numbers = [value for value in operands if isinstance(value, int)]
        name = op.kind.data.value if isinstance(op, tik.CompareOp) else SCALAR_OPERATIONS[type(op)]
        if len(numbers) == len(operands):
            self.values[op.results[0]] = SCALAR_MEANINGS[name](*numbers)
        else:
            self.values[op.results[0]] = self.clone(op, operands).results[0]

    def lower_leaf(self, op: Operation) -> None:
        """An operation without operands, or whose operands are index values."""
        made = self.clone(op, [self.index(value) for value in op.operands])
        for old, new in zip(op.results, made.results, strict=True):
            self.values[old] = new

    def clone(self, op: Operation, operands: Sequence[Index]) -> Operation:
        copy = op.clone_without_regions()
        for number, operand in enumerate(operands):
            copy.operands[number] = self.emit.index(operand)
        return self.emit.insert(copy)

    def lower_branch(self, op: scf.IfOp) -> None:
        if op.results or op.false_region.blocks:
            raise CompileError(
                "INVALID_IR",
                "a branch in a tile kernel has one arm and no results",
                location=source_of(op),
            )
        condition = self.values[op.cond]
        if isinstance(condition, int):
            raise CompileError("INVALID_IR", "a branch is decided", location=source_of(op))
        with self.emit.if_(condition), self.state.scope():
            self.lower_block(op.true_region.block)

    def lower_loop(self, op: scf.ForOp) -> None:
        if folded(op.lb) != 0 or folded(op.step) != 1:
            raise CompileError(
                "INVALID_IR",
                "loops of a tile kernel run from 0 in steps of 1",
                location=source_of(op),
            )
        body = op.body.block
        carried = list(zip(op.iter_args, body.args[1:], yielded(body), op.results, strict=True))
        scalars = [group for group in carried if not tile.is_tile(group[0])]
        homes = [(g, self.home(g[0], op)) for g in carried if tile.is_tile(g[0])]
        first = [self.emit.index(self.index(group[0])) for group in scalars]
        with self.emit.for_(0, self.index(op.ub), first) as loop, self.state.scope():
            self.values[body.args[0]] = loop.index
            for (_, inside, _, _), value in zip(scalars, loop.args, strict=True):
                self.values[inside] = value
            for (_, inside, _, _), home in homes:
                self.tiles[inside] = home
            self.enter(loop.index)
            self.plan_targets(body, [(g[1], g[2], home) for g, home in homes])
            self.lower_block(body)
            self.carry([(g[2], home) for g, home in homes])
            self.leave(loop.index)
            loop.yield_(*(self.emit.index(self.index(group[2])) for group in scalars))
        for (_, _, _, result), value in zip(scalars, loop.results, strict=True):
            self.values[result] = value
        for (_, _, _, result), home in homes:
            self.tiles[result] = home

    def enter(self, turn: Index) -> None:
        if isinstance(turn, BlockArgument):
            self.state.loops.append((turn.block, {}))

    def leave(self, turn: Index) -> None:
        if isinstance(turn, BlockArgument):
            self.state.loops.pop()

    # Loop-carried tiles.

    def home(self, init: SSAValue, loop: scf.ForOp) -> Tile:
        """The buffer a carried tile stays in: that of its first value if nobody else reads it."""
        first = self.tiles[init]
        if first.type.space is Space.L0C or len(list(init.uses)) == 1:
            return first
        home = self.new_tile(loop.results[loop.iter_args.index(init)], first.rows, first.columns)
        self.state.copy(home, first)
        return home

    def plan_targets(self, body: Block, groups: list[tuple[SSAValue, SSAValue, Tile]]) -> None:
        """Make the next value of a carried tile in its place where nothing reads that later."""
        for inside, next_value, home in groups:
            if InPlace(body, inside, next_value).is_safe:
                self.targets[next_value] = home

    def carry(self, groups: list[tuple[SSAValue, Tile]]) -> None:
        """Copy the next values that were made elsewhere; all are read before one is written."""
        moves = [(self.tiles[value], home) for value, home in groups]
        moves = [(source, home) for source, home in moves if source.buffer is not home.buffer]
        homes = {home.buffer for _, home in moves}
        sources: list[Tile] = []
        for source, _ in moves:
            if source.buffer in homes:
                saved = self.state.scratch(source, source.dtype)
                self.state.copy(saved, source)
                source = saved
            sources.append(source)
        for source, (_, home) in zip(sources, moves, strict=True):
            self.state.copy(home, source)

    # Tiles.

    def index(self, value: SSAValue) -> Index:
        return self.values[value]

    def valid(self, op: tile.RootOp) -> tuple[Index, Index]:
        return self.index(op.valid_rows), self.index(op.valid_columns)

    def new_tile(self, result: SSAValue, rows: Index, columns: Index, slots: int = 1) -> Tile:
        """A place for a UB tile: that of a carried one, or a buffer of its own.

        A tile that is stored waits for its transfer in as many slots as the kernel has.
        """
        if result in self.targets:
            return self.targets[result]
        type = tile.tile_type(result)
        if type.dtype != I1 and is_stored(result):
            slots = max(slots, self.state.slots)
        owner = result.owner
        label = owner.name.partition(".")[2] if isinstance(owner, Operation) else "carried"
        buffer = self.state.allocate(label, Space.UB, self.state.bytes_of(type), slots)
        made = self.state.tile(type, rows, columns, buffer)
        is_load = isinstance(result.owner, tile.LoadOp)
        if is_load and transfer.needs_padding(self.state, type):
            self.state.fill_at_start(buffer)
        elif result in self.whole and not self.state.is_whole(made):
            if is_load or slots > 1:
                self.state.fill_at_start(buffer)
            else:
                self.state.fill_last_repeat(made)
        return made

    def inherit(self, result: SSAValue, like: Tile) -> Tile:
        """A place for a UB tile of the extents of another one."""
        return self.new_tile(result, like.rows, like.columns)

    def matrix_tile(self, result: SSAValue, rows: Index, columns: Index, slots: int) -> Tile:
        """A place for a tile of the cube; its pitch is its rows in whole fractals."""
        type = tile.tile_type(result)
        size = matrix.matrix_bytes(*type.shape, type.dtype.bytes)
        buffer = self.state.allocate(type.space.value, type.space, size, slots)
        pitch = self.emit.round_up(rows, EDGE)
        return Tile(type, rows, columns, pitch, 0, self.state.acquire(buffer), buffer)

    def lower_load(self, op: tile.LoadOp) -> None:
        rows, columns = self.valid(op)
        source = self.index(op.source)
        offset, stride = self.index(op.offset), self.index(op.row_stride)
        slots = op.slots.value.data
        assert isinstance(source, SSAValue)
        if tile.tile_type(op.result).space is Space.L1:
            made = self.matrix_tile(op.result, rows, columns, slots)
            self.packets[op.result] = matrix.load_packet(
                self.state, source, offset, stride, made, *packet_form(op)
            )
            return
        is_bits = tile.tile_type(op.result).dtype == I1
        made = self.new_tile(op.result, rows, columns, 1 if is_bits else slots)
        finish = transfer.staged_load(self.state, source, offset, stride, made, slots)
        if finish is not None:
            self.loading.append((op.location, finish))
        self.tiles[op.result] = made

    def lower_store(self, op: tile.StoreOp) -> None:
        source, target = self.tiles[op.source], self.index(op.target)
        offset, stride = self.index(op.offset), self.index(op.row_stride)
        assert isinstance(target, SSAValue)
        assert isinstance(op.target.type, tile.GlobalType)
        if source.type.space is Space.L0C:
            dtype = op.target.type.dtype
            relu = op.relu is not None
            drain_to_gm(self.state, source, target, dtype, offset, stride, relu)
            return
        ready = transfer.storable(self.state, source, stride)
        tail = Tail.MERGE if op.merge else Tail.EXACT if op.exact else Tail.FREE
        store = partial(transfer.store, self.state, ready, target, offset, stride, tail)
        # A carried tile may have its next value by the end of the block.
        if self.storing is None or isinstance(op.source, BlockArgument):
            store()
        else:
            self.storing.append((op.location, store))

    def lower_full(self, op: tile.FullOp) -> None:
        made = self.new_tile(op.result, *self.valid(op))
        spread.full(self.state, made, op.number)
        self.tiles[op.result] = made

    def lower_iota(self, op: tile.IotaOp) -> None:
        made = self.new_tile(op.result, *self.valid(op))
        steps = op.row_step.value.data, op.column_step.value.data
        spread.iota(self.state, made, self.index(op.start), *steps)
        self.tiles[op.result] = made

    def lower_apply(self, op: tile.ApplyOp) -> None:
        name = op.operator.data
        if name not in ELEMENTWISE:
            raise self.state.unsupported(f"the operator {name}", "decompose it first")
        if any(x in self.repeats for x in op.arguments):
            self.lower_repeated(op)
            return
        inputs = tuple(self.tiles[x] if isinstance(x, SSAValue) else x for x in op.inputs)
        made = self.inherit(op.result, self.tiles[op.arguments[0]])
        rounding = "rint" if op.rounding is None else op.rounding.data
        ELEMENTWISE[name](Call(self.state, name, inputs, made, rounding))
        self.tiles[op.result] = made

    def lower_repeated(self, op: tile.ApplyOp) -> None:
        """Arithmetic with a row, column or element that is not written out to the full tile."""
        first, second = op.arguments
        field, other = ("src0", "src1") if first in self.repeats else ("src1", "src0")
        small, large = (first, second) if first in self.repeats else (second, first)
        made = self.inherit(op.result, self.tiles[large])
        mnemonic = f"{BINARY[op.operator.data]}.{made.dtype}"
        operand, others = self.repeats[small], {other: self.tiles[large]}
        on_all_rows(self.state, mnemonic, made, (field,), operand, others)
        self.tiles[op.result] = made

    def lower_broadcast(self, op: tile.BroadcastOp) -> None:
        if is_absorbed(op, self.repeats, self.state.has):
            self.repeats[op.result] = repeated(self.state, self.tiles[op.source])
            return
        made = self.new_tile(op.result, *self.valid(op))
        spread.broadcast(self.state, self.tiles[op.source], made)
        self.tiles[op.result] = made

    def lower_reduce(self, op: tile.ReduceOp) -> None:
        source, axis = self.tiles[op.source], op.axis.value.data
        extents = (1, source.columns) if axis == 0 else (source.rows, 1)
        made = self.new_tile(op.result, *extents)
        reduce(self.state, op.kind.data.value, axis, source, made)
        self.tiles[op.result] = made

    def lower_gather(self, op: tile.GatherOp) -> None:
        offsets = self.tiles[op.offsets]
        made = self.inherit(op.result, offsets)
        spread.gather(self.state, self.tiles[op.source], offsets, made)
        self.tiles[op.result] = made

    def lower_transpose(self, op: tile.TransposeOp) -> None:
        source = self.tiles[op.source]
        made = self.new_tile(op.result, source.columns, source.rows)
        if not only_stored(op.result):
            # Arithmetic runs over padding, which comes from rows that are not valid.
            self.state.fill_at_start(source.buffer)
            self.state.fill_at_start(made.buffer)
        transpose_tile(self.state, source, made)
        self.tiles[op.result] = made

    def lower_extract(self, op: tile.ExtractOp) -> None:
        made = self.matrix_tile(op.result, *self.valid(op), op.slots.value.data)
        row, column = self.index(op.row), self.index(op.column)
        self.factors[op.result] = matrix.extract(
            self.state, self.packets[op.source], row, column, op.transpose is not None, made
        )

    def lower_accumulator(self, op: tile.AccumulatorOp) -> None:
        self.tiles[op.result] = self.matrix_tile(op.result, *self.valid(op), op.slots.value.data)

    def lower_drain(self, op: tile.DrainOp) -> None:
        total = self.tiles[op.source]
        made = self.inherit(op.result, total)
        drain_to_ub(self.state, total, made, op.relu is not None)
        self.tiles[op.result] = made

    def lower_mma(self, op: tile.MmaOp) -> None:
        total = self.tiles[op.accumulator]
        factors = self.factors[op.a], self.factors[op.b]
        matrix.multiply(self.state, total, *factors, self.index(op.init))
        self.tiles[op.result] = replace(total, type=tile.tile_type(op.result))


HANDLERS: dict[type[Operation], Callable[[_KernelLowering, Operation], None]] = {
    arith.ConstantOp: _KernelLowering.lower_constant,
    arith.CmpiOp: _KernelLowering.lower_leaf,
    tik.BlockIndexOp: _KernelLowering.lower_leaf,
    tik.BlockCountOp: _KernelLowering.lower_leaf,
    func.ReturnOp: lambda self, op: None,
    scf.YieldOp: lambda self, op: None,
    scf.ForOp: _KernelLowering.lower_loop,
    scf.IfOp: _KernelLowering.lower_branch,
    tile.LoadOp: _KernelLowering.lower_load,
    tile.StoreOp: _KernelLowering.lower_store,
    tile.FullOp: _KernelLowering.lower_full,
    tile.IotaOp: _KernelLowering.lower_iota,
    tile.ApplyOp: _KernelLowering.lower_apply,
    tile.BroadcastOp: _KernelLowering.lower_broadcast,
    tile.ReduceOp: _KernelLowering.lower_reduce,
    tile.GatherOp: _KernelLowering.lower_gather,
    tile.TransposeOp: _KernelLowering.lower_transpose,
    tile.ExtractOp: _KernelLowering.lower_extract,
    tile.AccumulatorOp: _KernelLowering.lower_accumulator,
    tile.MmaOp: _KernelLowering.lower_mma,
    tile.DrainOp: _KernelLowering.lower_drain,
}  # pyright: ignore[reportAssignmentType]
