"""The scalar registers of a kernel: taken at a definition, given back at the last use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import SSAValue

from pypto.target.rows import (
    BLOCK_COUNT_REGISTER,
    BLOCK_INDEX_REGISTER,
    REGISTER_COUNT,
    Register,
)

Place = int | Register

BLOCK_INDEX = Register(BLOCK_INDEX_REGISTER)
BLOCK_COUNT = Register(BLOCK_COUNT_REGISTER)


class OutOfRegisters(Exception):
    """More values live at one place than there are registers."""


class Registers:
    """Which value lives in which register; the two registers of the block stay apart."""

    def __init__(self) -> None:
        reserved = (BLOCK_INDEX_REGISTER, BLOCK_COUNT_REGISTER)
        self._free = [n for n in range(REGISTER_COUNT) if n not in reserved]
        self._homes: dict[SSAValue, Register] = {}

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._homes

    def __getitem__(self, value: SSAValue) -> Register:
        return self._homes[value]

    @property
    def held(self) -> tuple[SSAValue, ...]:
        """The values that have a register now."""
        return tuple(self._homes)

    def take(self) -> Register:
        """A register for a short while; ``give_back`` returns it."""
        if not self._free:
            raise OutOfRegisters
        return Register(self._free.pop(0))

    def give_back(self, register: Register) -> None:
        self._free.append(register.number)
        self._free.sort()

    def define(self, value: SSAValue) -> Register:
        """A register for a value until its ``release``."""
        self._homes[value] = self.take()
        return self._homes[value]

    def rename(self, old: SSAValue, new: SSAValue) -> None:
        """The value ``new`` takes over the register of ``old``."""
        self._homes[new] = self._homes.pop(old)

    def release(self, value: SSAValue) -> None:
        """Gives back the register of a value, if it has one."""
        register = self._homes.pop(value, None)
        if register is not None:
            self.give_back(register)


def parallel_moves(
    moves: Mapping[Register, Place], take_spare: Callable[[], Register]
) -> list[tuple[Register, Place]]:
    """Moves one after the other that together do all ``moves`` (target -> source) at once."""
    pending = {home: place for home, place in moves.items() if home != place}
    order: list[tuple[Register, Place]] = []
    while pending:
        home = next((home for home in pending if home not in pending.values()), None)
        if home is None:  # only cycles are left: keep one register's value aside
            home = next(iter(pending))
            spare = take_spare()
            order.append((spare, home))
            pending = {h: spare if place == home else place for h, place in pending.items()}
        order.append((home, pending.pop(home)))
    return order
