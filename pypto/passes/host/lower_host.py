"""From calls of tensor functions to buffers and launches, for kernels that are at tile level."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from pypto.dialects import host, tile
from pypto.dialects.emitter import Emitter
from pypto.dialects.locations import source_of
from pypto.dialects.pypto import ConstantOp, TensorOperation
from pypto.dialects.types import type_of
from pypto.errors import CompileError
from pypto.ops.types import DYNAMIC, TensorType
from pypto.passes.tile.kernel_frame import dynamic_positions, position_source


def lower_host(module: ModuleOp) -> None:
    """Rebuild @main: buffers for tensors, launches for calls; nothing has a tensor type then."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    main = functions.get(host.MAIN)
    if main is not None:
        _Lowering(main, functions).run()


def buffer_type(tensor: TensorType) -> host.BufferType:
    """The buffer that holds a tensor."""
    shape = [host.DYNAMIC if extent == DYNAMIC else extent for extent in tensor.shape]
    return host.BufferType(shape, tensor.dtype)


class _Lowering:
    """Rebuilds @main with buffers."""

    def __init__(self, main: FuncOp, functions: dict[str, FuncOp]) -> None:
        self.main = main
        self.functions = functions
        source = main.body.block
        self.block = Block(arg_types=[buffer_type(type_of(value)) for value in source.args])
        self.emit = Emitter.at_end(self.block)
        self.buffers: dict[SSAValue, SSAValue] = dict(
            zip(source.args, self.block.args, strict=True)
        )
        for old, new in zip(source.args, self.block.args, strict=True):
            new.location, new.name_hint = old.location, old.name_hint
        self.returned = self.returned_types()
        self.extents = SharedExtents(source.args)
        self.count = 0

    def returned_types(self) -> dict[SSAValue, TensorType]:
        """The values whose bytes @main returns, with the type they are returned as."""
        last = self.main.body.block.last_op
        assert isinstance(last, ReturnOp)
        types: dict[SSAValue, TensorType] = {}
        for value in last.arguments:
            types[viewed(value)] = type_of(value)
        return types

    def run(self) -> None:
        for op in self.main.body.block.ops:
            self.emit.location = op.location
            self.lower(op)
        inputs = [value.type for value in self.block.args]
        last = self.block.last_op
        assert isinstance(last, host.ReturnOp)
        outputs = [value.type for value in last.operands]
        function = FuncOp(
            host.MAIN,
            FunctionType.from_lists(inputs, outputs),
            Region(self.block),
            arg_attrs=self.main.arg_attrs,
        )
        function.location = self.main.location
        function.attributes |= self.main.attributes
        if pairs := self.extents.pairs():
            function.attributes[host.EQUAL_EXTENTS] = ArrayAttr(
                DenseArrayBase.from_list(i64, pair) for pair in pairs
            )
        parent = self.main.parent_block()
        assert parent is not None
        parent.insert_op_before(function, self.main)
        self.main.detach()
        self.main.erase()

    def lower(self, op: Operation) -> None:
        match op:
            case CallOp():
                self.launch(op)
            case ConstantOp():
                type = buffer_type(type_of(op.result))
                name = f"constant{self.number()}"
                made = self.emit.value(host.ConstantOp, name, op.resource.data, type)
                self.buffers[op.result] = made
            case ReturnOp():
                self.emit.op(host.ReturnOp, [self.as_type(value) for value in op.arguments])
            case TensorOperation() if op.row.name == "reshape":
                source, result = op.operands[0], op.results[0]
                type = buffer_type(type_of(result))
                self.buffers[result] = self.emit.value(host.ViewOp, self.buffers[source], type)
            case TensorOperation() if not all(type_of(op.results[0]).shape):
                self.buffers[op.results[0]] = self.allocate(op.results[0], "empty", {})
            case _:
                raise CompileError(
                    "INVALID_IR",
                    f"@main still holds {op.name}",
                    location=source_of(op),
                    fix="run 'outline' before 'tile-kernels'",
                )

    def number(self) -> int:
        self.count += 1
        return self.count - 1

    def launch(self, op: CallOp) -> None:
        """Fresh buffers for the results, then one launch: inputs, results, dynamic extents."""
        kernel = self.functions[op.callee.string_value()]
        inputs = [self.buffers[value] for value in op.arguments]
        types = [type_of(value) for value in op.arguments]
        self.extents.unite(op.arguments, op.results)
        extents: dict[int, SSAValue] = {}
        for position in dynamic_positions(types):
            index, axis = position_source(types, position)
            extents[position] = self.emit.value(host.DimOp, inputs[index], axis)
        outputs = [self.allocate(value, kernel.sym_name.data, extents) for value in op.results]
        self.buffers.update(zip(op.results, outputs, strict=True))
        schedule = kernel.attributes[tile.SCHEDULE]
        core = kernel.attributes[tile.KERNEL]
        assert isinstance(schedule, DictionaryAttr)
        assert isinstance(core, StringAttr)
        grid = schedule.data["grid"]
        assert isinstance(grid, IntegerAttr)
        arguments = [*inputs, *outputs, *extents.values()]
        self.emit.op(host.LaunchOp, kernel.sym_name.data, arguments, grid.value.data, core.data)

    def allocate(self, value: SSAValue, label: str, extents: dict[int, SSAValue]) -> SSAValue:
        """A buffer for a value; a returned one has the type it is returned as."""
        tensor = type_of(value)
        final = self.returned.get(value, tensor)
        role = "result" if value in self.returned else "temporary"
        needed = [
            extents[final.rank - 1 - axis]
            for axis, extent in enumerate(final.shape)
            if extent == DYNAMIC
        ]
        name = f"{label}.{self.number()}"
        made = self.emit.value(host.AllocOp, name, role, buffer_type(final), needed)
        if final == tensor:
            return made
        return self.emit.value(host.ViewOp, made, buffer_type(tensor))

    def as_type(self, value: SSAValue) -> SSAValue:
        """The buffer of a returned value, under the type it is returned as."""
        return host.source_buffer(self.buffers[value])


class SharedExtents:
    """Which extents of the arguments of @main, known at launch, are one number.

    Tensors of one call agree at axes equally far from the last.
    """

    def __init__(self, arguments: Sequence[SSAValue]) -> None:
        # Extent of a value -> the extent of an argument it equals.
        self.of: dict[tuple[SSAValue, int], tuple[int, int]] = {}
        self.parent: dict[tuple[int, int], tuple[int, int]] = {}
        for index, argument in enumerate(arguments):
            for axis, extent in enumerate(type_of(argument).shape):
                if extent == DYNAMIC:
                    self.of[argument, axis] = self.parent[index, axis] = (index, axis)

    def root(self, extent: tuple[int, int]) -> tuple[int, int]:
        while self.parent[extent] != extent:
            extent = self.parent[extent]
        return extent

    def unite(self, arguments: Sequence[SSAValue], results: Sequence[SSAValue]) -> None:
        """Note what one call equates, and where the extents of its results come from."""
        found: dict[int, tuple[int, int]] = {}
        for value in (*arguments, *results):
            shape = type_of(value).shape
            for axis, extent in enumerate(shape):
                if extent != DYNAMIC:
                    continue
                position = len(shape) - 1 - axis
                own = self.of.setdefault((value, axis), found.get(position, (0, 0)))
                first, second = sorted((self.root(found.setdefault(position, own)), self.root(own)))
                self.parent[second] = first

    def pairs(self) -> list[tuple[int, int, int, int]]:
        """Each extent that equals an earlier one, behind that one."""
        roots = {extent: self.root(extent) for extent in self.parent}
        return [(*root, *extent) for extent, root in roots.items() if root != extent]


def viewed(value: SSAValue) -> SSAValue:
    """The value whose bytes a chain of reshapes shows."""
    owner = value.owner
    while isinstance(owner, TensorOperation) and owner.row.name == "reshape":
        value = owner.operands[0]
        owner = value.owner
    return value
