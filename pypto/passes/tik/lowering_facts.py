"""What lowering asks of a kernel as a whole: orders, uses of tiles, what may stay in place."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from pypto.dialects import tik, tile
from pypto.dialects.scalars import SCALAR_OPERATIONS
from pypto.passes.tik.lowering_elementwise import BINARY, COMPARISONS
from pypto.target.dtypes import F32
from pypto.target.memory import Space


@dataclass(frozen=True)
class InPlace:
    """A loop carries ``inside`` in, and ``next_value`` to its next turn."""

    body: Block
    inside: SSAValue
    next_value: SSAValue

    @property
    def is_safe(self) -> bool:
        """Whether ``next_value`` may overwrite ``inside``: it is made here, and read last."""
        owner = self.next_value.owner
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return False
        if isinstance(owner, scf.ForOp | tile.LoadOp):
            return False
        carried = [use.operation for use in self.next_value.uses if _is_yield(use.operation)]
        if len(carried) > 1:
            return False
        return all(self._is_before(use.operation, owner) for use in self.inside.uses)

    def _is_before(self, user: Operation, owner: Operation) -> bool:
        while user.parent is not self.body:
            parent = user.parent_op()
            if parent is None:
                return False
            user = parent
        return user is owner or user.is_before_in_block(owner)


def granule_of(kernel: func.FuncOp) -> int:
    """Elements at multiples of which rows of UB tiles begin."""
    granule = kernel.attributes.get(tile.GRANULE)
    return granule.value.data if isinstance(granule, IntegerAttr) else 1


def stored_slots(kernel: func.FuncOp) -> int:
    """Slots of what is stored, as the schedule says."""
    schedule = kernel.attributes.get(tile.SCHEDULE)
    slots = schedule.data.get("slots") if isinstance(schedule, DictionaryAttr) else None
    return slots.value.data if isinstance(slots, IntegerAttr) else 1


def yielded(body: Block) -> Sequence[SSAValue]:
    """What a block hands to the next turn of its loop."""
    last = body.last_op
    return last.arguments if isinstance(last, scf.YieldOp) else ()


def _is_yield(op: Operation) -> bool:
    return isinstance(op, scf.YieldOp)


def is_stored(value: SSAValue) -> bool:
    """Whether a tile is stored, itself or as the last value a loop carries it to."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, tile.StoreOp):
            return True
        # Operands of a loop: bounds and step, then what it carries.
        if isinstance(user, scf.ForOp) and is_stored(user.results[use.index - 3]):
            return True
    return False


def only_stored(value: SSAValue) -> bool:
    """Whether nothing computes with a tile."""
    return all(isinstance(use.operation, tile.StoreOp) for use in value.uses)


def whole_repeat_tiles(kernel: func.FuncOp) -> set[SSAValue]:
    """Tiles that comparisons read: these take whole repeats, whatever is valid.

    A carried tile counts with all values it takes on.
    """
    found: set[SSAValue] = set()
    loops = [op for op in kernel.walk() if isinstance(op, scf.ForOp)]
    for op in kernel.walk():
        if isinstance(op, tile.ApplyOp):
            makes_bits = op.operator.data == "cast" and op.tile.dtype.name == "i1"
            if makes_bits or op.operator.data in COMPARISONS:
                found.update(op.arguments)
    size = -1
    while size != len(found):
        size = len(found)
        for loop in loops:
            body = loop.body.block
            ends = zip(loop.iter_args, body.args[1:], yielded(body), loop.results, strict=True)
            for group in ends:
                if any(value in found for value in group):
                    found.update(group)
    return found


def is_absorbed(
    op: tile.BroadcastOp, absorbed: Container[SSAValue], has: Callable[[str], bool]
) -> bool:
    """Whether all that reads a broadcast can read the small tile instead.

    ``absorbed``: broadcasts of which this is known; ``has``: whether there is an instruction.
    """
    if isinstance(op.source, BlockArgument):
        return False  # it may have its next value by then
    if tile.tile_type(op.source).shape == op.tile.shape:
        return False
    name = tile.tile_type(op.source).dtype.name
    for use in op.result.uses:
        user = use.operation
        if not isinstance(user, tile.ApplyOp) or len(user.arguments) != 2:
            return False
        other = user.arguments[1 - use.index]
        has_form = has(f"{BINARY.get(user.operator.data)}.{name}")
        if not has_form or other is op.result or other in absorbed:
            return False
    return True


def is_scalar(op: Operation) -> bool:
    return type(op) in SCALAR_OPERATIONS or isinstance(op, tik.CompareOp)


def loads_first(block: Block) -> list[Operation]:
    """The operations of a block, loads and what their places are computed from in front.

    Transfers start as early as they can, and flags of several loads can be merged.
    """
    early: set[Operation] = set()
    for op in block.ops:
        if isinstance(op, tile.LoadOp):
            add_slice(op, block, early)
    if any(op.regions or isinstance(op, tile.StoreOp) for op in early):
        return list(block.ops)
    return [*(op for op in block.ops if op in early), *(op for op in block.ops if op not in early)]


def add_slice(op: Operation, block: Block, found: set[Operation]) -> None:
    if op in found:
        return
    found.add(op)
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, Operation) and owner.parent is block:
            add_slice(owner, block, found)


def packet_form(load: tile.LoadOp) -> tuple[bool, bool]:
    """Whether a packet lies in squares, and whether a single row of it lies densely."""
    extracts = [use.operation for use in load.result.uses]
    squares = packs = False
    for op in extracts:
        if isinstance(op, tile.ExtractOp):
            for_a = tile.tile_type(op.result).space is Space.L0A
            turns = for_a == (op.transpose is not None)
            squares = squares or (turns and tile.tile_type(op.result).dtype == F32)
            packs = packs or (for_a and not turns)
    return squares, packs
