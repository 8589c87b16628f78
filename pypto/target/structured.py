"""Programs written by hand: blocks, integer expressions, local memory and event ids.

::

    builder = StructuredBuilder("negate", CoreKind.VECTOR)
    x, y = builder.buffer("x", F16), builder.buffer("y", F16, writes=True)
    tiles = builder.ring("tile", Space.UB, 8192, 2, filler=Pipe.MTE2, drainer=Pipe.V)
    with tiles.cycle(), builder.loop(0, 16) as i:
        with tiles.filling(i) as tile:
            builder.issue("copy_gm_to_ubuf_align.b16", dst=tile, src=x + i * 8192, length=8192)
        ...
    program = builder.build()

A Value keeps its register until the block ends in which it was made; expressions over values are
computed anew wherever they are used, so keep one that is used often with ``value``. Registers are
never moved to memory: when all are taken, building fails and names who holds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pypto.errors import CompileError
from pypto.target.dtypes import DType
from pypto.target.expressions import Condition, Expression, Integer, Operand, Value
from pypto.target.memory import BLOCK_BYTES, CoreKind, Pipe, Space
from pypto.target.program import LocalBuffer, Program, ProgramBuilder
from pypto.target.ring import Ring
from pypto.target.rows import (
    BLOCK_COUNT_REGISTER,
    BLOCK_INDEX_REGISTER,
    REGISTER_COUNT,
    SUB_BLOCK_REGISTER,
    Register,
)


class StructuredBuilder:
    """Writes a Program block by block.

    ``block``, ``blocks`` and ``sub_block`` are the number of this core's block, how many there
    are, and the number of a vector core within its group.
    """

    def __init__(self, name: str, core: CoreKind) -> None:
        self.name = name
        self._rows = ProgramBuilder(name, core)
        self.block = Value("block", Register(BLOCK_INDEX_REGISTER))
        self.blocks = Value("blocks", Register(BLOCK_COUNT_REGISTER))
        self.sub_block = Value("sub_block", Register(SUB_BLOCK_REGISTER))
        special = (self.block, self.blocks, self.sub_block)
        self._holders: dict[Register, str] = {value.register: value.name for value in special}
        self._scopes: list[list[Value]] = [[]]
        self._labels = 0
        self._else_label: str | None = None
        self._taken: dict[Space, int] = {}
        self._event_ids: dict[tuple[Pipe, Pipe], int] = {}
        self._sync_ids: dict[tuple[Pipe, Pipe], int] = {}

    def buffer(self, name: str, dtype: DType | None = None, *, writes: bool = False) -> Value:
        """The address of a buffer that the launch passes."""
        return self._parameter(name, "buffer", dtype, writes)

    def scalar(self, name: str) -> Value:
        """An integer that the launch passes."""
        return self._parameter(name, "scalar", None, False)

    def _parameter(self, name: str, kind: str, dtype: DType | None, writes: bool) -> Value:
        number = self._rows.parameter(name, kind, dtype, writes)
        value = self._new(name)
        self._append("ldp", value.register, number)
        return value

    def local(
        self, name: str, space: Space, size: int, *, slots: int = 1, address: int | None = None
    ) -> int:
        """The address of ``slots`` times ``size`` bytes of local memory, behind those before.

        ``address`` puts the buffer there instead; what follows then lies behind it.
        """
        start = self._taken.get(space, 0) if address is None else address
        start = -(-start // BLOCK_BYTES) * BLOCK_BYTES
        self._taken[space] = start + size * slots
        self._rows.buffers.append(LocalBuffer(name, space, start, size * slots, slots))
        return start

    def ring(
        self,
        name: str,
        space: Space,
        size: int,
        slots: int,
        *,
        filler: Pipe,
        drainer: Pipe,
        address: int | None = None,
    ) -> Ring:
        """Slots of local memory that pipe ``filler`` writes and pipe ``drainer`` reads."""
        start = self.local(name, space, size, slots=slots, address=address)
        full = self.event_ids(filler, drainer, slots)
        free = self.event_ids(drainer, filler, slots)
        return Ring(self, name, start, size, slots, filler, drainer, full, free)

    def event_ids(self, source: Pipe, target: Pipe, count: int = 1) -> int:
        """The first of ``count`` event ids from pipe to pipe that nothing else has asked for."""
        first = self._event_ids.get((source, target), 0)
        self._event_ids[source, target] = first + count
        return first

    def value(self, start: Operand, name: str = "value") -> Value:
        """A register that holds ``start`` until ``set`` gives it another integer."""
        value = self._new(name)
        self.set(value, start)
        return value

    def set(self, value: Value, new: Operand) -> None:
        """Give a value another integer."""
        self._require_alive(value)
        if isinstance(new, Expression):
            left, right, used = self._operands(new)
            self._append(new.operation, value.register, left, right)
            self._give_back(used)
        else:
            self._append("mov", value.register, self._operand(new, []))

    @contextmanager
    def loop(
        self, start: Operand, stop: Operand, step: Operand = 1, name: str = "index"
    ) -> Iterator[Value]:
        """A block that runs for ``start``, ``start + step`` … below ``stop``."""
        with self.scope():
            index = self.value(start, name)
            limit = self._held(stop, f"{name} limit")
            stride = self._held(step, f"{name} step")
            top, exit_label = self._label("loop"), self._label("exit")
            if not (isinstance(start, int) and isinstance(stop, int) and start < stop):
                self._branch("bge", index, limit, exit_label)
            self._place(top)
            with self.scope():
                yield index
            self.set(index, index + stride)
            self._branch("blt", index, limit, top)
            self._place(exit_label)

    def _held(self, number: Operand, name: str) -> Operand:
        """A number that need not be computed anew: expressions go to a register."""
        return self.value(number, name) if isinstance(number, Expression) else number

    @contextmanager
    def when(self, condition: Condition) -> Iterator[None]:
        """A block that runs where the condition holds; ``otherwise`` may follow."""
        label = self._label("else")
        self._branch(condition.opposite, condition.left, condition.right, label)
        with self.scope():
            yield
        self._flush()
        self._else_label = label

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """A block that runs where the condition of the ``when`` just before did not hold."""
        label = self._else_label
        if label is None:
            raise self._invalid("`otherwise` does not stand right behind a `when`")
        self._else_label = None
        exit_label = self._label("end")
        self._append("jmp", exit_label)
        self._place(label)
        with self.scope():
            yield
        self._place(exit_label)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A block whose values give their registers back at its end."""
        self._scopes.append([])
        yield
        for value in self._scopes.pop():
            value.alive = False
            del self._holders[value.register]

    def issue(self, mnemonic: str, **operands: Operand) -> None:
        """One data instruction, or a write of a mode register; operands may be expressions."""
        used: list[Register] = []
        values = {name: self._operand(value, used) for name, value in operands.items()}
        self._append(mnemonic, **values)
        self._give_back(used)

    def load(self, mnemonic: str, address: Operand, name: str = "loaded") -> Value:
        """A register that holds what a scalar load (``ld_ub.i32`` …) finds at an address."""
        used: list[Register] = []
        place = self._operand(address, used)
        value = self._new(name)
        self._append(mnemonic, value.register, place)
        self._give_back(used)
        return value

    def set_flag(self, source: Pipe, target: Pipe, event: Operand) -> None:
        """Raise a flag once what ``source`` was given has ended."""
        self._synchronise("set_flag", source, target, event)

    def wait_flag(self, source: Pipe, target: Pipe, event: Operand) -> None:
        """Hold ``target`` until the flag is up, and lower it."""
        self._synchronise("wait_flag", source, target, event)

    def sync(self, source: Pipe, target: Pipe) -> None:
        """Let ``target`` go on only behind what ``source`` was given."""
        pair = source, target
        if pair not in self._sync_ids:
            self._sync_ids[pair] = self.event_ids(source, target)
        event = self._sync_ids[pair]
        self.set_flag(source, target, event)
        self.wait_flag(source, target, event)

    def barrier(self, pipe: Pipe) -> None:
        """Hold a pipe, or with ``Pipe.ALL`` dispatch, until earlier instructions have ended."""
        self._append("pipe_barrier", pipe)

    def cross_set(self, pipe: Pipe, mode: int, event: int) -> None:
        """Tell other cores once what ``pipe`` was given has ended; modes as in ``groups``."""
        self._append("ffts_cross_core_sync", pipe, mode, event)

    def cross_wait(self, event: int) -> None:
        """Dispatch nothing until other cores have told."""
        self._append("wait_flag_dev", event)

    def build(self) -> Program:
        """The Program, which ends here."""
        self._append("end")
        return self._rows.build()

    def _synchronise(self, mnemonic: str, source: Pipe, target: Pipe, event: Operand) -> None:
        used: list[Register] = []
        self._append(mnemonic, source, target, self._operand(event, used))
        self._give_back(used)

    def _branch(self, mnemonic: str, left: Operand, right: Operand, label: str) -> None:
        used: list[Register] = []
        operands = self._operand(left, used), self._operand(right, used)
        self._append(mnemonic, *operands, label)
        self._give_back(used)

    def _operand(self, operand: Operand, used: list[Register]) -> int | Register:
        """An immediate or a register; registers taken for it are added to ``used``."""
        if isinstance(operand, Value):
            self._require_alive(operand)
            return operand.register
        if not isinstance(operand, Expression):
            if isinstance(operand, Integer):
                raise TypeError(f"{operand!r} is no operand")
            return int(operand)
        left, right, inner = self._operands(operand)
        self._give_back(inner)
        register = self._take("an intermediate result")
        self._append(operand.operation, register, left, right)
        used.append(register)
        return register

    def _operands(
        self, expression: Expression
    ) -> tuple[int | Register, int | Register, list[Register]]:
        used: list[Register] = []
        left = self._operand(expression.left, used)
        return left, self._operand(expression.right, used), used

    def _new(self, name: str) -> Value:
        value = Value(name, self._take(name))
        self._scopes[-1].append(value)
        return value

    def _take(self, name: str) -> Register:
        for number in range(REGISTER_COUNT):
            register = Register(number)
            if register not in self._holders:
                self._holders[register] = name
                return register
        raise CompileError(
            "OUT_OF_REGISTERS",
            f"program {self.name}: all {REGISTER_COUNT} registers are taken, none is left for "
            f"{name}",
            notes=(f"held by {', '.join(self._holders.values())}",),
            fix="open a scope around values that are used briefly, or use the expression itself",
        )

    def _give_back(self, registers: list[Register]) -> None:
        for register in registers:
            del self._holders[register]

    def _require_alive(self, value: Value) -> None:
        if not value.alive:
            raise self._invalid(f"value {value.name} is used behind the block that made it")

    def _label(self, kind: str) -> str:
        self._labels += 1
        return f"{kind}{self._labels}"

    def _flush(self) -> None:
        """Place the label behind a `when` that has no `otherwise`."""
        if self._else_label is not None:
            self._rows.label(self._else_label)
            self._else_label = None

    def _place(self, label: str) -> None:
        self._flush()
        self._rows.label(label)

    def _append(
        self, mnemonic: str, *operands: int | Register | Pipe | str, **named: int | Register
    ) -> None:
        self._flush()
        self._rows.append(mnemonic, *operands, **named)

    def _invalid(self, message: str) -> CompileError:
        return CompileError("INVALID_PROGRAM", f"program {self.name}: {message}")
