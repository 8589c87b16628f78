"""Says what stopped a run: the instruction, its source line, what it asked and the limit."""

from __future__ import annotations

from pypto.emulator.crew import Crew
from pypto.emulator.diagnosis_cross import (
    bad_cross,
    check_cross_balance,
    cross_state,
    overflow,
)
from pypto.emulator.places import location, mnemonic, where
from pypto.emulator.state import (
    EVENT_IDS,
    FLAGS_PER_CORE,
    UNIT_BLOCK_BYTES,
    UNITS_PER_CORE,
    WORKING_PIPES,
    Counter,
    Fault,
    Machine,
    ScalarStatus,
)
from pypto.errors import DeviceError, SourceLocation
from pypto.target.instruction import Kind
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.limits import field_on
from pypto.target.loaded_values import first_use
from pypto.target.memory import Pipe, Space
from pypto.target.program import Program
from pypto.target.rows import OPCODE_COLUMN, OPERAND_COLUMN, forms, forms_by_opcode
from pypto.target.soc import Soc

MOST_NOTES = 12


def flag_name(key: int) -> str:
    """``mte2 -> v, id 3`` for a flag of a core."""
    pair, event = divmod(key, EVENT_IDS)
    source, target = divmod(pair, UNITS_PER_CORE)
    return f"{WORKING_PIPES[source]} -> {WORKING_PIPES[target]}, id {event}"


def fault_error(crew: Crew, soc: Soc, machine: Machine) -> DeviceError:
    """The error for what the engine recorded in ``Machine.fault``."""
    fault, core, row, first, second, third = (int(x) for x in machine.fault)
    member = crew.of_core(core)
    program, row = member.program, row - member.row
    who = f"{program.name}, {crew.core_name(core)}"
    if fault == Fault.DOUBLE_SET:
        return DeviceError(
            "DOUBLE_SET",
            f"{who}: flag {flag_name(first)} was set at cycle {second} while it was already up",
            location=location(program, _setter(program, first)),
            notes=("one flag is one bit: a second set before the wait is lost",),
            fix="wait for the flag before it is set again, or use another event id",
        )
    if fault == Fault.OUT_OF_BOUNDS:
        return _out_of_bounds(program, soc, machine, who, row, first, second, third)
    if fault == Fault.CROSS_OVERFLOW:
        return overflow(crew, core, first, second, third)
    if fault == Fault.BAD_CROSS:
        return bad_cross(crew, core, row, first, second)
    if fault == Fault.BAD_ACCESS:
        return _bad_access(program, soc, machine, who, row, first, second)
    if fault == Fault.BAD_OPERAND:
        return _bad_operand(program, soc, who, row, first, second)
    messages = {
        Fault.BAD_EVENT: f"event id {first}, legal is 0..{second}",
        Fault.BAD_PIPE: f"pipe numbers {first} and {second} name no pair of pipes",
        Fault.BAD_ROW: f"row {row} of {len(program.rows)} cannot be run",
        Fault.BAD_PARAMETER: f"parameter {first} of {second} launch arguments",
    }
    return DeviceError(
        Fault(fault).name,
        f"{who}, {mnemonic(program, row)}: {messages[Fault(fault)]}",
        location=location(program, row),
    )


def _setter(program: Program, key: int) -> int:
    """The first row that may set a flag, -1 for none."""
    for row, columns in enumerate(program.rows.tolist()):
        if forms_by_opcode()[columns[OPCODE_COLUMN]].mnemonic == "set_flag":
            source, target = columns[OPERAND_COLUMN : OPERAND_COLUMN + 2]
            if source * UNITS_PER_CORE + target == key // EVENT_IDS:
                return row
    return -1


def _bad_operand(
    program: Program, soc: Soc, who: str, row: int, which: int, value: int
) -> DeviceError:
    name = mnemonic(program, row)
    field = BY_MNEMONIC[name].fields[which]
    limit = field_on(soc.architecture, name, field.name).complaint(value)
    origin = f"r{program.rows[row, OPERAND_COLUMN + which]}"
    if field.state:
        origin = f"mode register {field.state}"
    return DeviceError(
        Fault.BAD_OPERAND.name,
        f"{who}, {name}: {field.name} is {value} (from {origin}); {soc.name} takes {limit}",
        location=location(program, row),
        fix="correct what computes it",
    )


def _out_of_bounds(
    program: Program,
    soc: Soc,
    machine: Machine,
    who: str,
    row: int,
    which: int,
    low: int,
    high: int,
) -> DeviceError:
    form = forms_by_opcode()[int(program.rows[row, OPCODE_COLUMN])]
    assert form.row is not None
    addresses = [field for field in form.row.fields if field.kind is Kind.ADDRESS]
    # A gather finds an offset that is beyond its memory when it takes effect.
    field = addresses[which]
    high = low + form.row.dtype.bytes if which < 0 else high
    space = field.space or Space.GM
    if space is Space.GM:
        limit = _buffers(machine)
        fix = "check offset, stride and valid extent against the tensor's shape"
    else:
        limit = f"{space} of {soc.name} has {soc.capacity[space]} bytes"
        fix = "check address, strides and repeat against the buffer"
    return DeviceError(
        "OUT_OF_BOUNDS",
        f"{who}: {form.mnemonic} touches bytes {low} to {high} of {space} "
        f"through {field.name}; {limit}",
        location=location(program, row),
        fix=fix,
    )


def _buffers(machine: Machine) -> str:
    starts, ends = machine.buffer_starts.tolist(), machine.buffer_ends.tolist()
    spans = [f"[{start}, {end})" for start, end in zip(starts, ends, strict=True)]
    return f"the launch's buffers are {', '.join(spans[:MOST_NOTES]) or 'none'}"


def _bad_access(
    program: Program, soc: Soc, machine: Machine, who: str, row: int, address: int, size: int
) -> DeviceError:
    """A scalar load or store is not aligned, or touches what is not there."""
    name = mnemonic(program, row)
    operation = forms()[name].operation
    space = Space.GM if operation is None else operation.space or Space.GM
    problem = f"touches bytes {address} to {address + size} of {space}"
    limit = f"{space} of {soc.name} has {soc.capacity.get(space, 0)} bytes"
    if space is Space.GM:
        limit = _buffers(machine)
    if address % size:
        limit = f"the address must be a multiple of {size}"
    return DeviceError(
        "BAD_ACCESS",
        f"{who}: {name} {problem}; {limit}",
        location=location(program, row),
        fix="correct what computes the address",
    )


def deadlock_error(crew: Crew, machine: Machine) -> DeviceError:
    """Nothing can happen any more, yet some core is not done: who waits for what."""
    waits: list[tuple[SourceLocation | None, str]] = []
    for core in range(len(machine.scalar_status)):
        program = crew.of_core(core).program
        found = _waits_of_core(crew, machine, core)
        waits += [(location(program, row), text) for row, text in found]
    notes = [text for _, text in waits[:MOST_NOTES]]
    if len(waits) > MOST_NOTES:
        notes.append(f"and {len(waits) - MOST_NOTES} more")
    place, first = waits[0] if waits else (None, "no pipe is held")
    return DeviceError(
        "DEADLOCK",
        f"{crew.name} stands still at cycle {int(machine.counters[Counter.NOW])}: {first}",
        location=place,
        notes=tuple(notes[1:]),
        fix="every wait needs a set that comes before it on the other pipe or core",
    )


def _waits_of_core(crew: Crew, machine: Machine, core: int) -> list[tuple[int, str]]:
    """(row, sentence) for every unit of a core that cannot go on, flags first."""
    status = ScalarStatus(int(machine.scalar_status[core]))
    member, name = crew.of_core(core), crew.core_name(core)
    program = member.program
    flags: list[tuple[int, str]] = []
    for unit in range(core * UNITS_PER_CORE + 1, (core + 1) * UNITS_PER_CORE):
        key = int(machine.awaited_flag[unit])
        if machine.queue_count[unit] > 0 and key >= 0:
            entry = unit * machine.depth + int(machine.queue_head[unit])
            row = int(machine.entry_row[entry]) - member.row
            pipe = WORKING_PIPES[unit % UNITS_PER_CORE]
            flags.append((row, _flag_wait(program, name, pipe, row, key % FLAGS_PER_CORE)))
        block = int(machine.unit_awaited[unit]) - 1
        if machine.queue_count[unit] > 0 and block >= 0:
            entry = unit * machine.depth + int(machine.queue_head[unit])
            row = int(machine.entry_row[entry]) - member.row
            pipe = WORKING_PIPES[unit % UNITS_PER_CORE]
            wanted = "up" if pipe is Pipe.FIX else "down"
            address = block % machine.unit_blocks * UNIT_BLOCK_BYTES
            text = f"{name}: {pipe} waits at {where(program, row)} until the unit flag of byte "
            flags.append((row, f"{text}{address} of l0c is {wanted}"))
    if status in (ScalarStatus.ENDED, ScalarStatus.FINISHED):
        return flags
    row = int(machine.program_counter[core]) - member.row
    awaits = int(machine.scalar_awaits[core])
    scalar = f"{name}: the scalar unit"
    if status is ScalarStatus.FLAG:
        flags.append((row, _flag_wait(program, name, Pipe.S, row, awaits % FLAGS_PER_CORE)))
    elif status is ScalarStatus.CROSS:
        text = f"{scalar} waits for cross-core flag {awaits} at {where(program, row)}"
        flags.append((row, f"{text}; {cross_state(crew, machine, core, awaits)}"))
    elif status is ScalarStatus.QUEUE_FULL:
        pipe = WORKING_PIPES[awaits % UNITS_PER_CORE]
        text = f"{scalar} cannot dispatch at {where(program, row)}: the queue of {pipe} is full"
        flags.append((row, f"{text} ({machine.depth})"))
    elif status is ScalarStatus.DRAIN:
        flags.append((row, f"{scalar} waits for all pipes at {where(program, row)}"))
    return flags


def _flag_wait(program: Program, name: str, pipe: Pipe, row: int, key: int) -> str:
    setter = _setter(program, key)
    if setter < 0:
        missing = "no set_flag of that pair is in the program"
    else:
        missing = f"the set_flag at {where(program, setter)} was not reached or was used up"
    return f"{name}: {pipe} waits for flag {flag_name(key)} at {where(program, row)}; {missing}"


def check_balance(crew: Crew, machine: Machine) -> None:
    """Raise for a flag that is still up when the kernel has ended."""
    if machine.flags.any():
        place = int(machine.flags.reshape(-1).nonzero()[0][0])
        core, key = divmod(place, FLAGS_PER_CORE)
        program = crew.of_core(core).program
        raise DeviceError(
            "UNBALANCED",
            f"{program.name}, {crew.core_name(core)}: flag {flag_name(key)} is still up when the "
            "kernel ends",
            location=location(program, _setter(program, key)),
            notes=("the next kernel on this core would start with the flag up",),
            fix="add the missing wait_flag, or remove the set_flag",
        )
    if (machine.unit_up >= 0).any():
        core, block = (int(places[0]) for places in (machine.unit_up >= 0).nonzero())
        program = crew.of_core(core).program
        raise DeviceError(
            "UNBALANCED",
            f"{program.name}, {crew.core_name(core)}: the unit flag of byte "
            f"{block * UNIT_BLOCK_BYTES} of l0c is still up when the kernel ends",
            notes=("the next kernel on this core would start with the flag up",),
            fix="drain every block that a multiplication with unit_flag 3 made, by unit_flag 3",
        )
    if machine.cross_sets.any():
        check_cross_balance(crew, machine)


def refuse_unknown(program: Program) -> None:
    """Raise where what a program does depends on values that a run without data has not."""
    row = first_use(program)
    if row is None:
        return
    raise DeviceError(
        "NEEDS_DATA",
        f"{program.name}, {mnemonic(program, row)} at {where(program, row)}: what it does depends "
        "on a value loaded from memory, which a run for time alone does not know",
        location=location(program, row),
        fix="run it with data, not timing_only",
    )


def cycle_limit_error(crew: Crew, machine: Machine) -> DeviceError:
    """The launch ran longer than it was allowed to."""
    core = int(machine.scalar_status.argmin())
    member = crew.of_core(core)
    row = int(machine.program_counter[core]) - member.row
    return DeviceError(
        "CYCLE_LIMIT",
        f"{crew.name} did not end within {machine.cycle_limit} cycles; "
        f"{crew.core_name(core)} was at {where(member.program, row)}",
        location=location(member.program, row),
        fix="raise the cycle limit if the program is right, else look for an endless loop",
    )
