"""virtual -> placed: an address for every buffer of a kernel.

A buffer with one slot that only the vector pipe touches may share its bytes with others that are
alive at other times: one barrier orders them. All other buffers have bytes of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation, SSAValue

from pypto.dialects import tik
from pypto.dialects.locations import source_of
from pypto.dialects.tik_instructions import InstructionOp
from pypto.errors import CompileError
from pypto.passes.base import Pass
from pypto.passes.tik.bank_uses import TURN_BYTES, Use, lost_cycles
from pypto.passes.tik.kernels import kernels_at, mark_stage, soc_of
from pypto.passes.tik.packing import Interval, extent, pack, pack_apart
from pypto.target.instruction import Kind
from pypto.target.memory import Pipe, Space
from pypto.target.soc import Soc

# What stands for values that are known when a kernel runs: turns of a loop, elements in count mode.
TURNS = 16
USUAL = {"repeat": 32, "mask_low": 2048, "dst_repeat": 8, "src_repeat": 8}

# Start of a buffer, bytes: what the instructions that use the space demand.
ALIGNMENT: dict[Space, int] = {
    Space.L1: 512,
    Space.L0A: 512,
    Space.L0B: 512,
    Space.L0C: 1024,
    Space.UB: 32,
    Space.BT: 64,
    Space.FB: 128,
}


@dataclass(frozen=True)
class PlaceBuffers(Pass):
    """Give every local buffer an address within the memory of its core."""

    name = "place-buffers"
    exact: ClassVar[bool] = True
    requires: ClassVar[str] = "buffers without addresses, allocated in the entry block"
    ensures: ClassVar[str] = "every buffer lies in usable memory; no two overlap while in use"

    def apply(self, context: Context, module: ModuleOp) -> None:
        soc = soc_of(module)
        for kernel in kernels_at(module, tik.Stage.VIRTUAL):
            _place(kernel, soc)
            mark_stage(kernel, tik.Stage.PLACED)


def _place(kernel: func.FuncOp, soc: Soc) -> None:
    lives = _Lives(kernel)
    spaces: dict[Space, list[tik.AllocOp]] = {}
    for op in kernel.body.block.ops:
        if isinstance(op, tik.AllocOp):
            spaces.setdefault(op.space, []).append(op)
    for space, allocations in spaces.items():
        align = ALIGNMENT[space]
        for op in allocations:
            op.bytes = IntegerAttr(-(-op.slot_bytes // align) * align, i64)
        intervals = [lives.interval(op) for op in allocations]
        offsets = _apart(kernel, allocations, intervals, soc) if space is Space.UB else None
        if offsets is None:
            offsets = pack(intervals, align)
        needed = extent(intervals, offsets)
        if needed > soc.usable[space]:
            raise _too_large(kernel, space, needed, soc, allocations)
        for op, offset in zip(allocations, offsets, strict=True):
            op.address = IntegerAttr(offset, i64)


def _apart(
    kernel: func.FuncOp, allocations: list[tik.AllocOp], intervals: list[Interval], soc: Soc
) -> list[int] | None:
    """Offsets in UB at which few operands of vector instructions meet in banks; None: no room."""
    uses = list(_uses(kernel, allocations))
    of_buffer = [
        [use for use in uses if any(number == i for _, number in use.operands)]
        for i in range(len(allocations))
    ]

    def lost(number: int, places: Mapping[int, int]) -> int:
        return lost_cycles(of_buffer[number], places, soc)

    return pack_apart(intervals, soc.usable[Space.UB], lost)


def _uses(kernel: func.FuncOp, allocations: list[tik.AllocOp]) -> Iterator[Use]:
    """The vector instructions whose operands lie in known groups of banks, whatever the slot."""
    numbers = {
        op: number
        for number, op in enumerate(allocations)
        if op.slot_count == 1 or op.slot_bytes % TURN_BYTES == 0
    }
    for op in kernel.walk():
        if not isinstance(op, InstructionOp) or op.row.family.conflicts is None:
            continue
        fields: list[int] = []
        operands: list[tuple[int, int]] = []
        for position, (field, value) in enumerate(op.items()):
            if isinstance(value, SSAValue) and field.kind is Kind.ADDRESS:
                slot = tik.slot_of(value)
                operands.append((position, numbers.get(slot.allocation, -1) if slot else -1))
            fields.append(value if isinstance(value, int) else USUAL.get(field.name, 0))
        if all(number >= 0 for _, number in operands):
            weight = TURNS ** _depth(op)
            yield Use(op.row.mnemonic, tuple(fields), tuple(operands), weight)


def _depth(op: Operation) -> int:
    """How many loops an operation stands in."""
    return sum(isinstance(block.parent_op(), scf.ForOp) for block in _ancestors(op))


def _too_large(
    kernel: func.FuncOp, space: Space, needed: int, soc: Soc, allocations: list[tik.AllocOp]
) -> CompileError:
    largest = sorted(allocations, key=lambda op: -op.slot_bytes * op.slot_count)[:8]
    buffers = [f"{op.label.data}: {op.slot_count} x {op.slot_bytes} bytes" for op in largest]
    return CompileError(
        "LOCAL_MEMORY_EXHAUSTED",
        f"kernel {kernel.sym_name.data} wants {needed} bytes of {space}; {soc.name} has"
        f" {soc.usable[space]}",
        location=source_of(kernel),
        notes=(f"largest buffers: {', '.join(buffers)}",),
        fix="use smaller tiles or fewer slots, or split the kernel",
    )


class _Lives:
    """When the buffers of a kernel are in use, in positions of the program text."""

    def __init__(self, kernel: func.FuncOp) -> None:
        self.kernel = kernel
        self.position: dict[Operation, int] = {}
        self.end: dict[Operation, int] = {}
        self.users: dict[tik.AllocOp, list[Operation]] = {}
        self.shared: set[tik.AllocOp] = set()
        self._number(kernel.body.block)
        self._collect()

    def _number(self, block: Block) -> None:
        for op in block.ops:
            self.position[op] = len(self.position)
            for region in op.regions:
                for inner in region.blocks:
                    self._number(inner)
            self.end[op] = len(self.position) - 1

    def _collect(self) -> None:
        pipes: dict[tik.AllocOp, set[Pipe]] = {}
        for op in self.position:
            if isinstance(op, tik.SlotOp):
                self.users.setdefault(op.allocation, []).append(op)
            elif isinstance(op, InstructionOp):
                for _, pointer in op.address_fields():
                    slot = tik.slot_of(pointer)
                    if slot is not None:
                        self.users.setdefault(slot.allocation, []).append(op)
                        pipes.setdefault(slot.allocation, set()).add(op.row.pipe)
        self.shared = {
            op for op, found in pipes.items() if found == {Pipe.V} and op.slot_count == 1
        }

    def interval(self, allocation: tik.AllocOp) -> Interval:
        """From the first use to the last; a loop that holds only some of them counts whole."""
        size = allocation.slot_bytes * allocation.slot_count
        users = self.users.get(allocation, [])
        if allocation not in self.shared or not users:
            return Interval(0, len(self.position), size)
        block = _common_block(users)
        spans = [_child(op, block) for op in users]
        return Interval(
            min(self.position[op] for op in spans), max(self.end[op] for op in spans), size
        )


def _ancestors(op: Operation) -> Iterator[Block]:
    block = op.parent
    while block is not None:
        yield block
        parent = block.parent_op()
        block = None if parent is None else parent.parent


def _common_block(operations: list[Operation]) -> Block:
    """The innermost block that contains all operations."""
    common = list(_ancestors(operations[0]))
    for op in operations[1:]:
        mine = set(_ancestors(op))
        common = [block for block in common if block in mine]
    return common[0]


def _child(op: Operation, block: Block) -> Operation:
    """The operation of ``block`` that is or contains ``op``."""
    while op.parent is not block:
        parent = op.parent_op()
        if parent is None:
            raise CompileError("INVALID_IR", f"{op.name} stands outside of its kernel")
        op = parent
    return op
