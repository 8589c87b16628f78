"""Which values of a kernel are known numbers, and how long every other value lives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from pypto.dialects import tik
from pypto.dialects.scalars import SCALAR_MEANINGS, SCALAR_OPERATIONS, constant_of


@dataclass
class Lives:
    """What code generation knows of a kernel before it emits the first row.

    ``numbers`` holds the values known as integers, ``aliases`` the values equal to another one.
    Operations have positions in program order, a second one behind their regions. ``deaths``
    lists the values whose last use is at a position; loop-carried values die with their loop and
    are not listed. ``first_uses`` lists the parameters first needed in an operation of the entry
    block.
    """

    recomputed: frozenset[SSAValue] = frozenset()
    numbers: dict[SSAValue, int] = field(default_factory=dict)
    aliases: dict[SSAValue, SSAValue] = field(default_factory=dict)
    start: dict[Operation, int] = field(default_factory=dict)
    end: dict[Operation, int] = field(default_factory=dict)
    last_use: dict[SSAValue, int] = field(default_factory=dict)
    deaths: dict[int, list[SSAValue]] = field(default_factory=lambda: defaultdict(list))
    first_uses: dict[Operation, list[SSAValue]] = field(default_factory=lambda: defaultdict(list))

    def resolve(self, value: SSAValue) -> int | SSAValue:
        """The number a value is known to be, else the value it is an alias of."""
        while value in self.aliases:
            value = self.aliases[value]
        return self.numbers.get(value, value)


def analyse(entry: Block, recomputed: frozenset[SSAValue] = frozenset()) -> Lives:
    """The lives of the values of a kernel whose body is ``entry``.

    A use of a ``recomputed`` value is a use of what it is made from; parameters among them have
    no operands.
    """
    lives = Lives(recomputed=recomputed)
    for op in _in_order(entry):
        _fold(lives, op)
    _number(lives, entry, 0)
    for op in reversed(list(_in_order(entry))):
        if _makes_values(op) and not any(result in lives.last_use for result in op.results):
            continue  # recomputed at its uses, known as a number, or dead
        for value, is_late in _uses(op):
            _use(lives, value, op, is_late)
    for value, position in lives.last_use.items():
        lives.deaths[position].append(value)
    _find_first_uses(lives, entry)
    return lives


def _in_order(block: Block) -> Iterator[Operation]:
    for op in block.ops:
        yield from op.walk()


def _fold(lives: Lives, op: Operation) -> None:
    known = [lives.resolve(operand) for operand in op.operands]
    numbers = [value for value in known if isinstance(value, int)]
    all_known = len(numbers) == len(known)
    if isinstance(op, arith.ConstantOp):
        constant = constant_of(op.result)
        if constant is not None:
            lives.numbers[op.result] = constant
    elif isinstance(op, tik.SlotOp):
        if numbers and op.allocation.place is not None:
            lives.numbers[op.result] = op.allocation.place + numbers[-1] * op.allocation.slot_bytes
    elif isinstance(op, tik.OffsetOp) and known[1] == 0:
        lives.aliases[op.result] = op.pointer
    elif isinstance(op, tik.OffsetOp) and all_known:
        lives.numbers[op.result] = sum(numbers)
    elif all_known and (mnemonic := scalar_mnemonic(op)) is not None:
        lives.numbers[op.results[0]] = SCALAR_MEANINGS[mnemonic](*numbers)


def scalar_mnemonic(op: Operation) -> str | None:
    """The scalar instruction of an operation on two integers, None for every other operation."""
    if isinstance(op, tik.CompareOp):
        return op.kind.data.value
    return SCALAR_OPERATIONS.get(type(op))


def _makes_values(op: Operation) -> bool:
    """Whether an operation does nothing but compute its results."""
    return isinstance(op, tik.SlotOp | tik.OffsetOp) or scalar_mnemonic(op) is not None


def _number(lives: Lives, block: Block, position: int) -> int:
    for op in block.ops:
        lives.start[op] = lives.end[op] = position
        position += 1
        for region in op.regions:
            for inner in region.blocks:
                position = _number(lives, inner, position)
        if op.regions:
            lives.end[op] = position
            position += 1
    return position


def _uses(op: Operation) -> list[tuple[SSAValue, bool]]:
    """The values an operation reads, and whether it reads them behind its region."""
    if isinstance(op, arith.CmpiOp):
        return []  # becomes part of the branch that uses it
    if isinstance(op, scf.ForOp):
        carried = [(value, False) for value in op.iter_args]
        return [(op.lb, False), (op.ub, True), (op.step, True), *carried]
    return [(value, False) for value in branch_operands(op)]


def branch_operands(op: Operation) -> list[SSAValue]:
    """The operands of an operation; of a branch, those of the comparison it is made from."""
    if isinstance(op, scf.IfOp) and isinstance(op.cond.owner, arith.CmpiOp):
        return list(op.cond.owner.operands)
    return list(op.operands)


def _use(lives: Lives, value: SSAValue, user: Operation, is_late: bool) -> None:
    resolved = lives.resolve(value)
    if isinstance(resolved, int) or is_carried(resolved):
        return
    if resolved in lives.recomputed and isinstance(resolved.owner, Operation):
        for operand in resolved.owner.operands:
            _use(lives, operand, user, is_late)
        return
    position = lives.end[user] if is_late else lives.start[user]
    owner = resolved.owner
    home = owner if isinstance(owner, Block) else owner.parent_block()
    inner = user
    while inner.parent_block() is not home:
        outer = inner.parent_op()
        if outer is None:
            break
        if isinstance(outer, scf.ForOp):
            # The value is needed again by the next turn of a loop that does not define it.
            position = lives.end[outer]
        inner = outer
    lives.last_use[resolved] = max(position, lives.last_use.get(resolved, -1))


def loop_depth(op: Operation) -> int:
    """How many loops an operation stands in."""
    depth = 0
    parent = op.parent_op()
    while parent is not None:
        depth += isinstance(parent, scf.ForOp)
        parent = parent.parent_op()
    return depth


def is_carried(value: SSAValue) -> bool:
    """Whether a value is an argument of the body of a loop."""
    return isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), scf.ForOp)


def _find_first_uses(lives: Lives, entry: Block) -> None:
    seen: set[SSAValue] = set()
    for op in entry.ops:
        for inner in op.walk():
            for operand in inner.operands:
                value = lives.resolve(operand)
                if isinstance(value, SSAValue) and value.owner is entry and value not in seen:
                    seen.add(value)
                    lives.first_uses[op].append(value)
