"""Facts about tiles that need a look at their kernel: what may stay in place, what is compared."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func, scf
from xdsl.ir import Block, Operation, SSAValue

from pypto.dialects import tile
from pypto.passes.tik.lowering_elementwise import COMPARISONS


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
            ends = body.last_op.arguments if isinstance(body.last_op, scf.YieldOp) else ()
            for group in zip(loop.iter_args, body.args[1:], ends, loop.results, strict=True):
                if any(value in found for value in group):
                    found.update(group)
    return found
