"""The frame of a tile kernel: its arguments, its extents, and its share of the tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import (
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pypto.dialects import tik, tile
from pypto.dialects.emitter import Emitter, Index
from pypto.dialects.types import type_of
from pypto.ops.types import DYNAMIC, TensorType
from pypto.passes.tik.kernels import core_of
from pypto.passes.tile.alignment import Runs, Tail, copies_whole_blocks, tail_of
from pypto.target.soc import Soc


def dynamic_positions(types: Sequence[TensorType]) -> list[int]:
    """Axes, counted from the last (0), along which some tensor has an extent known at launch.

    A kernel with dynamic extents is elementwise, so equal positions are one extent. The kernel
    takes these extents as scalar arguments in this order.
    """
    found = {
        position
        for type in types
        for position, extent in enumerate(reversed(type.shape))
        if extent == DYNAMIC
    }
    return sorted(found, reverse=True)


def position_source(types: Sequence[TensorType], position: int) -> tuple[int, int]:
    """The first tensor, and its axis, that has a dynamic extent at ``position`` from the end."""
    for index, type in enumerate(types):
        axis = type.rank - 1 - position
        if axis >= 0 and type.shape[axis] == DYNAMIC:
            return index, axis
    raise ValueError(f"no operand is dynamic at axis -{position + 1}")


@dataclass
class Frame:
    """A kernel being lowered: the tensor function and the tile function that replaces it.

    ``is_serial``: its tasks touch each other's bytes, so one core does them in order.
    """

    source: FuncOp
    function: FuncOp
    emitter: Emitter
    soc: Soc
    slots: int
    inputs: dict[SSAValue, SSAValue]
    outputs: tuple[SSAValue, ...]
    extents: dict[int, SSAValue]
    grid: int = 1
    is_serial: bool = False

    @classmethod
    def open(cls, source: FuncOp, soc: Soc, slots: int) -> Frame:
        """An empty tile function for a tensor function: a handle per tensor, then the extents."""
        results = results_of(source)
        tensors = [*source.body.block.args, *results]
        types = [type_of(value) for value in tensors]
        positions = dynamic_positions(types[: len(source.body.block.args)])
        handles = [tile.GlobalType(type.dtype) for type in types]
        block = Block(arg_types=[*handles, *(IndexType() for _ in positions)])
        for argument, value in zip(block.args, tensors, strict=False):
            owner = value.owner
            argument.location = owner.location if isinstance(owner, Operation) else value.location
            argument.name_hint = value.name_hint
        for argument in block.args[len(tensors) :]:
            argument.location = source.location
        function = FuncOp(
            source.sym_name.data,
            FunctionType.from_lists([argument.type for argument in block.args], []),
            Region(block),
        )
        function.location = source.location
        function.attributes |= source.attributes
        count = len(source.body.block.args)
        return cls(
            source=source,
            function=function,
            emitter=Emitter.at_end(block, source.location),
            soc=soc,
            slots=slots,
            inputs=dict(zip(source.body.block.args, block.args[:count], strict=True)),
            outputs=tuple(block.args[count : len(tensors)]),
            extents=dict(zip(positions, block.args[len(tensors) :], strict=True)),
        )

    @property
    def results(self) -> tuple[SSAValue, ...]:
        """The tensors the kernel computes, in the order of ``outputs``."""
        return results_of(self.source)

    def shape(self, value: SSAValue, rank: int | None = None) -> list[Index]:
        """Extents of a tensor, dynamic ones as arguments, with leading ones up to ``rank``."""
        extents = type_of(value).shape
        last = len(extents) - 1
        known: list[Index] = [
            self.extents[last - axis] if extent == DYNAMIC else extent
            for axis, extent in enumerate(extents)
        ]
        return [1] * ((rank or len(known)) - len(known)) + known

    def strides(self, value: SSAValue, rank: int | None = None) -> list[Index]:
        """Elements from one index to the next along each axis; 0 along axes of extent 1."""
        strides: list[Index] = []
        step: Index = 1
        for extent in reversed(self.shape(value, rank)):
            strides.append(0 if extent == 1 else step)
            step = self.emitter.mul(step, extent)
        return strides[::-1]

    def product(self, extents: Sequence[Index]) -> Index:
        result: Index = 1
        for extent in extents:
            result = self.emitter.mul(result, extent)
        return result

    def valid(self, extent: Index, start: Index, size: int) -> Index:
        """How much of a tile of ``size`` lies inside; a number when tiles divide the extent."""
        if isinstance(extent, int) and extent % size == 0:
            return size
        return self.emitter.min(size, self.emitter.sub(extent, start))

    @contextmanager
    def tasks(self, extents: Sequence[Index]) -> Iterator[list[Index]]:
        """A loop over this core's share of all tasks; gives the place of a task in ``extents``.

        Cores take equal runs of neighbouring tasks; the last ones may have fewer or none.
        """
        emit = self.emitter
        count = self.product(extents)
        cores = self.core_count()
        self.grid = max(self.grid, min(cores, count) if isinstance(count, int) else cores)
        block = emit.value(tik.BlockIndexOp)
        blocks = emit.value(tik.BlockCountOp)
        per_core = emit.ceil_div(count, blocks)
        start = emit.mul(block, per_core)
        mine = emit.max(0, emit.min(per_core, emit.sub(count, start)))
        with emit.for_(0, mine) as loop:
            yield self.unravel(emit.add(start, loop.index), extents)

    def core_count(self) -> int:
        """Cores of the kind the kernel runs on, that may share out its tasks."""
        return 1 if self.is_serial else self.soc.cores(core_of(self.source))

    @property
    def copies_bytes(self) -> bool:
        """Whether the machine copies any number of bytes to global memory."""
        return not copies_whole_blocks(self.soc)

    def store(
        self,
        value: SSAValue,
        output: SSAValue,
        offset: Index,
        stride: Index,
        runs: Runs,
        piece: int,
        rows: int = 1,
    ) -> None:
        """Store a tile: ``piece`` elements of each of ``rows`` adjacent ``runs``, or fewer.

        A kernel that writes back what lies behind its runs does its tasks in order.
        """
        tail = Tail.FREE if self.copies_bytes else tail_of(runs, piece, rows)
        self.is_serial = self.is_serial or tail is Tail.MERGE
        emit = self.emitter
        place = emit.index(offset), emit.index(stride)
        merge, exact = tail is Tail.MERGE, tail is Tail.EXACT
        emit.op(tile.StoreOp, value, output, *place, merge=merge, exact=exact)

    def unravel(self, task: Index, extents: Sequence[Index]) -> list[Index]:
        """The multi-index of a number, last axis fastest."""
        emit = self.emitter
        places: list[Index] = []
        for axis in range(len(extents) - 1, -1, -1):
            if all(extent == 1 for extent in extents[:axis]):
                return [0] * axis + [task, *reversed(places)]
            places.append(emit.remainder(task, extents[axis]))
            task = emit.floor_div(task, extents[axis])
        return places[::-1]

    def close(self, schedule: Mapping[str, int | str]) -> None:
        """End the function and put it in the place of the tensor function."""
        self.emitter.op(ReturnOp)
        order = {"order": "serial"} if self.is_serial else {}
        choices = {**schedule, "grid": 1 if self.is_serial else self.grid, **order}
        attributes = {name: choice_attribute(value) for name, value in choices.items()}
        self.function.attributes[tile.SCHEDULE] = DictionaryAttr(attributes)
        parent = self.source.parent_block()
        assert parent is not None
        parent.insert_op_before(self.function, self.source)
        self.source.detach()
        self.source.erase()


def choice_attribute(value: int | str) -> Attribute:
    """A number or a word of the schedule."""
    return StringAttr(value) if isinstance(value, str) else IntegerAttr(value, i64)


def results_of(function: FuncOp) -> tuple[SSAValue, ...]:
    """What a function returns."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    return tuple(last.arguments)


def static_product(extents: Sequence[Index], unknown: int) -> int:
    """The product of extents; ``unknown`` stands for each one known at launch only."""
    return prod(extent if isinstance(extent, int) else unknown for extent in extents)


def known_product(extents: Sequence[Index]) -> int | None:
    """The product of extents, None when one of them is known at launch only."""
    numbers = [extent for extent in extents if isinstance(extent, int)]
    return prod(numbers) if len(numbers) == len(extents) else None
