"""The instruction table as arrays, so that the engine is the same machine code for any table."""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import NamedTuple

import numpy as np

from pypto.emulator.state import MOST_ADDRESSES
from pypto.target.instruction import Kind
from pypto.target.instructions import INSTRUCTIONS, OPCODES, SCALARS, STATE_REGISTERS, ScalarKind
from pypto.target.instructions.blocks import BLOCKS_OF_GM
from pypto.target.limits import field_on
from pypto.target.memory import SPACES, Pipe, Space
from pypto.target.rows import OPERAND_LIMIT


class Action(IntEnum):
    """What the scalar unit does with an opcode."""

    INVALID = 0
    ALU = 1
    LOAD = 2
    JUMP = 3
    BRANCH = 4
    END = 5
    STATE = 6
    SET_FLAG = 7
    WAIT_FLAG = 8
    BARRIER = 9
    CROSS_SET = 10
    CROSS_WAIT = 11
    MEMORY_LOAD = 12
    MEMORY_STORE = 13
    CACHE = 14
    DATA_BARRIER = 15
    DATA = 16


L1_READERS = (Space.L0A, Space.L0B)
ACTIONS = {kind: Action[kind.name] for kind in ScalarKind}


class Tables(NamedTuple):
    """Per opcode: what it is, where its mode registers and addresses are, how to run it.

    ``state_register``/``state_field``: for data opcodes, field k of the row takes the register;
    for STATE opcodes, the register takes operand k, or ``state_fixed`` where k is -1.
    ``body`` and ``measure`` are addresses of compiled code, 0 until a program that
    has the opcode is prepared.
    """

    action: np.ndarray  # int64[opcodes]
    operands: np.ndarray  # int64[opcodes]
    state_count: np.ndarray  # int64[opcodes]
    state_register: np.ndarray  # int64[opcodes, registers]
    state_field: np.ndarray  # int64[opcodes, registers]
    state_fixed: np.ndarray  # int64[opcodes, registers]
    address_count: np.ndarray  # int64[opcodes]
    address_space: np.ndarray  # int64[opcodes, addresses]
    gm_address: np.ndarray  # int64[opcodes]: which address is in GM, -1 for none
    gm_write: np.ndarray  # int64[opcodes]
    gm_blocks: np.ndarray  # int64[opcodes]: whether it copies whole blocks
    atomic_field: np.ndarray  # int64[opcodes]: which field is the atomic mode, -1 for none
    l2_field: np.ndarray  # int64[opcodes]: which field is the L2 mode, -1 for none
    l1_address: np.ndarray  # int64[opcodes]: which address is in L1, -1 for none
    l1_reader: np.ndarray  # int64[opcodes]: 1 fills L0A or L0B from L1
    access_bytes: np.ndarray  # int64[opcodes]: of scalar loads and stores, negative with sign
    unit_field: np.ndarray  # int64[opcodes]: which field is the unit mode, -1 for none
    unit_drains: np.ndarray  # int64[opcodes]: whether it drains L0C, else it fills it
    rows_field: np.ndarray  # int64[opcodes]: of those, which field is the number of rows
    l0c_address: np.ndarray  # int64[opcodes]: and which address is in L0C
    facts: np.ndarray  # int64[opcodes, facts]
    body: np.ndarray  # int64[opcodes]
    measure: np.ndarray  # int64[opcodes]


class OperandLimits(NamedTuple):
    """Per data opcode: ``operand_low`` to ``operand_high``, multiples of ``operand_align``.

    Bit v of ``operand_only`` says that v is legal; without any bit that is not looked at. They
    bind what comes from registers; immediates were checked when the program was made.
    """

    operand_low: np.ndarray  # int64[opcodes, OPERAND_LIMIT]
    operand_high: np.ndarray  # int64[opcodes, OPERAND_LIMIT]
    operand_align: np.ndarray  # int64[opcodes, OPERAND_LIMIT]
    operand_only: np.ndarray  # int64[opcodes, OPERAND_LIMIT]


@cache
def operand_limits(architecture: str) -> OperandLimits:
    """What the machines of an architecture take."""
    shape = (max(OPCODES.values()) + 1, OPERAND_LIMIT)
    made = OperandLimits(*(np.ones(shape, np.int64) for _ in OperandLimits._fields))
    for row in INSTRUCTIONS:
        for i, plain in enumerate(row.fields):
            field = field_on(architecture, row.mnemonic, plain.name)
            at = OPCODES[row.mnemonic], i
            made.operand_low[at], made.operand_high[at] = field.low, field.high
            made.operand_align[at] = field.align
            made.operand_only[at] = sum(1 << v for v in (0, *field.only)) if field.only else 0
    return made


@cache
def tables() -> Tables:
    """The arrays of the whole instruction table; shared by all launches of the process."""
    opcodes = max(OPCODES.values()) + 1
    registers = len(STATE_REGISTERS)
    facts = len(INSTRUCTIONS[0].facts)

    def zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int64)

    made = Tables(
        action=zeros(opcodes),
        operands=zeros(opcodes),
        state_count=zeros(opcodes),
        state_register=zeros(opcodes, registers),
        state_field=zeros(opcodes, registers),
        state_fixed=zeros(opcodes, registers),
        address_count=zeros(opcodes),
        address_space=zeros(opcodes, MOST_ADDRESSES),
        gm_address=np.full(opcodes, -1, np.int64),
        gm_write=zeros(opcodes),
        gm_blocks=zeros(opcodes),
        atomic_field=np.full(opcodes, -1, np.int64),
        l2_field=np.full(opcodes, -1, np.int64),
        l1_address=np.full(opcodes, -1, np.int64),
        l1_reader=zeros(opcodes),
        access_bytes=zeros(opcodes),
        unit_field=np.full(opcodes, -1, np.int64),
        unit_drains=zeros(opcodes),
        rows_field=zeros(opcodes),
        l0c_address=zeros(opcodes),
        facts=zeros(opcodes, facts),
        body=zeros(opcodes),
        measure=zeros(opcodes),
    )
    _fill_scalars(made)
    _fill_rows(made)
    return made


def _fill_scalars(made: Tables) -> None:
    for operation in SCALARS:
        opcode = OPCODES[operation.mnemonic]
        made.action[opcode] = ACTIONS[operation.kind]
        made.operands[opcode] = len(operation.operands)
        if operation.space is not None:
            made.address_space[opcode, 0] = SPACES.index(operation.space)
            made.access_bytes[opcode] = operation.width * (-1 if operation.signed else 1)
        made.state_count[opcode] = len(operation.state)
        for i, (register, source) in enumerate(operation.state):
            made.state_register[opcode, i] = STATE_REGISTERS.index(register)
            if isinstance(source, str):
                made.state_field[opcode, i] = operation.operands.index(source)
            else:
                made.state_field[opcode, i] = -1
                made.state_fixed[opcode, i] = source


def _fill_rows(made: Tables) -> None:
    for row in INSTRUCTIONS:
        opcode = OPCODES[row.mnemonic]
        made.action[opcode] = Action.DATA
        made.operands[opcode] = len(row.fields)
        made.facts[opcode] = row.facts
        made.gm_blocks[opcode] = row.family in BLOCKS_OF_GM
        states = [(i, f.state) for i, f in enumerate(row.fields) if f.state]
        made.state_count[opcode] = len(states)
        for position, (i, register) in enumerate(states):
            made.state_field[opcode, position] = i
            made.state_register[opcode, position] = STATE_REGISTERS.index(register)
        made.atomic_field[opcode] = next((i for i, name in states if name == "atomic"), -1)
        made.l2_field[opcode] = next((i for i, name in states if name == "l2_mode"), -1)
        names = [field.name for field in row.fields]
        if "unit_flag" in names:
            made.unit_field[opcode] = names.index("unit_flag")
            made.unit_drains[opcode] = row.pipe is Pipe.FIX
            made.rows_field[opcode] = names.index("m")
            made.l0c_address[opcode] = row.spaces().index(Space.L0C)
        addresses = [f for f in row.fields if f.kind is Kind.ADDRESS]
        made.address_count[opcode] = len(addresses)
        for i, field in enumerate(addresses):
            assert field.space is not None
            made.address_space[opcode, i] = SPACES.index(field.space)
            if field.space is Space.L1:
                made.l1_address[opcode] = i
                made.l1_reader[opcode] = row.spaces()[0] in L1_READERS
            if field.space is Space.GM:
                made.gm_address[opcode] = i
                made.gm_write[opcode] = "w" in field.role
