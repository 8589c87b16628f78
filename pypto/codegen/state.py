"""Mode registers: ``set_*`` is emitted only where the value changes.

The mask, the filler of padding copies, the address of a select mask and the atomic mode are fields
of instructions in the IR, but registers of the machine that instructions copy at dispatch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from xdsl.ir import Block, Operation, SSAValue

from pypto.dialects.tik_instructions import InstructionOp
from pypto.target.instructions import SCALARS, STATE_REGISTERS
from pypto.target.instructions.scalar import ZERO_AT_LAUNCH, ScalarKind, ScalarOperation

Value = int | SSAValue
SETTERS: tuple[ScalarOperation, ...] = tuple(s for s in SCALARS if s.kind is ScalarKind.STATE)


class ModeRegisters:
    """What is known of the mode registers at the current place of a program.

    ``resolve`` gives the number a value is known to be, else the value itself; ``emit`` appends
    one ``set_*`` operation with its operands. A register that no operation of the ``architecture``
    sets always holds 0, and so do some registers until they are set.
    """

    def __init__(
        self,
        resolve: Callable[[SSAValue], Value],
        emit: Callable[[str, list[Value]], None],
        architecture: str,
    ) -> None:
        self._resolve = resolve
        self._emit = emit
        set_here = {
            name
            for setter in SETTERS
            if architecture in setter.architectures
            for name, _ in setter.state
        }
        self.known: dict[str, Value] = dict.fromkeys(
            set(STATE_REGISTERS) - set_here | set(ZERO_AT_LAUNCH), 0
        )

    def wanted(self, op: InstructionOp) -> dict[str, Value]:
        """The mode registers an instruction reads, with the values it wants there."""
        return {
            field.state: value if isinstance(value, int) else self._resolve(value)
            for field, value in op.items()
            if field.state
        }

    def require(self, wanted: Mapping[str, Value]) -> None:
        """Emits what makes the registers hold ``wanted``."""
        for setter in SETTERS:
            names = dict(setter.state)
            if not names.keys() <= wanted.keys():
                continue
            fixed = {name: value for name, value in names.items() if isinstance(value, int)}
            if any(wanted[name] != value for name, value in fixed.items()):
                continue
            if all(self.known.get(name) == wanted[name] for name in names):
                continue
            self._emit(setter.mnemonic, [wanted[name] for name in names if name not in fixed])
            self.known |= {name: wanted[name] for name in names}

    def enter_loop(self, body: Block) -> None:
        """Sets what the whole body agrees on, and forgets what the body changes."""
        needs = [self.wanted(op) for op in body.walk() if isinstance(op, InstructionOp)]
        agreed: dict[str, Value] = {}
        for name in {name for need in needs for name in need}:
            values = {need[name] for need in needs if name in need}
            value = values.pop()
            if not values and not (isinstance(value, SSAValue) and _is_inside(value, body)):
                agreed[name] = value
        self.require(agreed)
        self.forget({name for need in needs for name in need} - _settable(agreed))

    def forget(self, names: Iterable[str]) -> None:
        """Nothing is known of these registers any more."""
        for name in names:
            self.known.pop(name, None)

    def meet(self, *ends: Mapping[str, Value]) -> None:
        """Keeps what holds at all ends that come together here."""
        first, *rest = ends
        self.known = {
            name: value
            for name, value in first.items()
            if all(end.get(name) == value for end in rest)
        }


def _settable(agreed: Mapping[str, Value]) -> set[str]:
    """The registers among ``agreed`` whose setter has all it needs."""
    groups = [dict(setter.state).keys() for setter in SETTERS]
    return {name for group in groups if group <= agreed.keys() for name in group}


def _is_inside(value: SSAValue, body: Block) -> bool:
    owner: Block | Operation | None = value.owner
    block = owner if isinstance(owner, Block) else owner.parent_block()
    while block is not None and block is not body:
        parent = block.parent_op()
        block = None if parent is None else parent.parent_block()
    return block is body
