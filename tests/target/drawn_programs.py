"""Random valid Executables: every form of the table, any legal operand."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from pypto.target.clocks import EVENT_PAIRS
from pypto.target.dtypes import DTYPES
from pypto.target.executable import (
    Buffer,
    BufferArgument,
    Dim,
    Executable,
    Launch,
    Part,
    Role,
)  # fmt: skip
from pypto.target.instructions import exists
from pypto.target.limits import LimitError, check_fields, state_limit
from pypto.target.memory import CoreKind, Pipe, Space
from pypto.target.program import CORE_PIPES, LocalBuffer, Program, ProgramBuilder
from pypto.target.rows import INT64_HIGH, INT64_LOW, Form, Operand, Register, Use, forms
from pypto.target.soc import SOC_NAMES, Soc, soc

NAMES = st.one_of(
    st.sampled_from(["x", "y", "kernel", "inf", "r3", "loop", "dim", "grid"]),
    st.text(min_size=1, max_size=6),
)
REGISTERS = st.integers(0, 31).map(Register)
DTYPE = st.sampled_from(list(DTYPES.values()))
INTEGERS = st.one_of(st.integers(-3, 100), st.integers(INT64_LOW, INT64_HIGH))


@st.composite
def operands(draw: st.DrawFn, operand: Operand, parameters: int) -> int | Register:
    if operand.use is Use.DESTINATION:
        return draw(REGISTERS)
    if operand.use is Use.PARAMETER:
        return draw(st.integers(0, parameters - 1))
    if operand.default is not None and draw(st.booleans()):
        return operand.default
    if draw(st.booleans()):
        return draw(REGISTERS)
    low, high = -(-operand.low // operand.align), operand.high // operand.align
    near = st.integers(low, min(high, low + 40))
    return draw(st.one_of(near, st.integers(low, high))) * operand.align


@st.composite
def rows(draw: st.DrawFn, builder: ProgramBuilder, form: Form, labels: int, machine: Soc) -> None:
    if form.mnemonic in ("set_flag", "wait_flag"):
        pair = draw(st.sampled_from(sorted(EVENT_PAIRS[builder.core])))
        events = st.integers(0, machine.event_ids - 1)
        builder.append(form.mnemonic, *pair, draw(st.one_of(events, REGISTERS)))
        return
    pipes = [p for p in CORE_PIPES[builder.core] if p is not Pipe.S]
    if form.mnemonic == "pipe_barrier":
        builder.append(form.mnemonic, draw(st.sampled_from([*pipes, Pipe.ALL])))
        return
    if form.mnemonic == "ffts_cross_core_sync":
        mode, number = (draw(st.one_of(st.integers(0, last), REGISTERS)) for last in (2, 15))
        builder.append(form.mnemonic, draw(st.sampled_from(pipes)), mode, number)
        return
    if form.mnemonic == "wait_flag_dev":
        builder.append(form.mnemonic, draw(st.one_of(st.integers(0, 15), REGISTERS)))
        return
    values: dict[str, int | Register | str] = {}
    for operand in form.operands:
        if operand.use is Use.LABEL:
            values[operand.name] = f"L{draw(st.integers(0, labels - 1))}"
        elif operand.use is not Use.STATE:
            values[operand.name] = draw(operands(operand, len(builder.parameters)))
    if form.row is not None:
        known = {name: value for name, value in values.items() if not isinstance(value, Register)}
        if known == values:
            known |= {operand.name: 0 for operand in form.operands if operand.use is Use.STATE}
        try:
            check_fields(form.row, known, machine)
        except LimitError:
            return
    for register, source in form.operation.state if form.operation else ():
        value = values.get(source, source) if isinstance(source, str) else source
        if isinstance(value, int) and state_limit(register, value, machine) is not None:
            return
    builder.append(form.mnemonic, **values)


@st.composite
def programs(draw: st.DrawFn, machine: Soc) -> Program:
    builder = ProgramBuilder(draw(NAMES), draw(st.sampled_from(machine.core_kinds())))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["buffer", "scalar"]))
        builder.parameter(draw(NAMES), kind, draw(st.none() | DTYPE), draw(st.booleans()))
    for _ in range(draw(st.integers(0, 2))):
        slots, size = draw(st.integers(1, 3)), draw(st.integers(0, 300))
        builder.buffers.append(
            LocalBuffer(draw(NAMES), Space.UB, draw(st.integers(0, 999)), slots * size, slots)
        )
    pipes = CORE_PIPES[builder.core]
    chosen = [
        form
        for form in forms().values()
        if (form.pipe is None or form.pipe in pipes)
        and exists(form.mnemonic, machine.architecture)
        and (form.operation is None or form.operation.space is not Space.UB or Pipe.V in pipes)
    ]
    count = draw(st.integers(0, 12))
    if draw(st.booleans()):
        for line in draw(st.lists(NAMES, max_size=3)):
            builder.at(line)
    for number in range(count):
        builder.label(f"L{number}")
        builder.at(draw(st.none() | NAMES))
        draw(rows(builder, draw(st.sampled_from(chosen)), count, machine))
    builder.append("end")
    return builder.build()


@st.composite
def executables(draw: st.DrawFn) -> Executable:
    machine = soc(draw(st.sampled_from(SOC_NAMES)))
    data = draw(st.binary(max_size=200))
    constants = {"key": np.frombuffer(data, np.uint8)}
    buffers = [
        Buffer(draw(NAMES), Role.INPUT, draw(DTYPE), (2, 3)),
        Buffer(draw(NAMES), Role.RESULT, draw(DTYPE), (Dim(0, 1), 5)),
        Buffer(draw(NAMES), Role.CONSTANT, DTYPES["u8"], (len(data),), constant="key"),
        Buffer(draw(NAMES), Role.TEMPORARY, DTYPES["f32"], (), 64, draw(st.none() | st.just(32))),
    ]
    chosen = draw(st.lists(programs(machine), min_size=1, max_size=2))
    parts = []
    for number, program in enumerate(chosen):
        arguments = [
            BufferArgument(draw(st.sampled_from((1, 3))), draw(st.integers(0, 60)))
            if parameter.kind == "buffer"
            else draw(st.one_of(INTEGERS, st.builds(Dim, st.just(0), st.integers(0, 1))))
            for parameter in program.parameters
        ]
        parts.append(Part(number, tuple(arguments)))
    grids = st.integers(1, min(24, machine.cube_cores))
    steps = [Launch(part.program, draw(grids), part.arguments) for part in parts]
    if [program.core for program in chosen] == [CoreKind.CUBE, CoreKind.VECTOR]:
        steps.append(Launch(0, draw(grids), parts[0].arguments, parts[1]))
    return Executable(
        machine.name, tuple(chosen), tuple(buffers), constants, tuple(steps), (0,), (1,)
    )
