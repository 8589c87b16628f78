"""Says what stopped a run: the instruction, its source line, what it asked and the limit."""

from __future__ import annotations

from pypto.emulator.state import (
    EVENT_IDS,
    FLAGS_PER_CORE,
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
from pypto.target.memory import Pipe, Space
from pypto.target.program import Program
from pypto.target.rows import LINE_COLUMN, OPCODE_COLUMN, OPERAND_COLUMN, forms_by_opcode
from pypto.target.soc import Soc

MOST_NOTES = 12


def location(program: Program, row: int) -> SourceLocation | None:
    """The source line of a row."""
    if not 0 <= row < len(program.rows):
        return None
    line = int(program.rows[row, LINE_COLUMN])
    if line < 0:
        return None
    parts = program.lines[line].rsplit(":", 2)
    if len(parts) != 3 or not parts[1].isdigit() or not parts[2].isdigit():
        return None
    return SourceLocation(parts[0], int(parts[1]), int(parts[2]))


def mnemonic(program: Program, row: int) -> str:
    """The name of the instruction in a row."""
    if not 0 <= row < len(program.rows):
        return f"row {row}"
    form = forms_by_opcode().get(int(program.rows[row, OPCODE_COLUMN]))
    return f"opcode {program.rows[row, OPCODE_COLUMN]}" if form is None else form.mnemonic


def where(program: Program, row: int) -> str:
    """`` at file:line:column`` of a row, or its number where it has no source."""
    place = location(program, row)
    return f"row {row}" if place is None else str(place)


def flag_name(key: int) -> str:
    """``mte2 -> v, id 3`` for a flag of a core."""
    pair, event = divmod(key, EVENT_IDS)
    source, target = divmod(pair, UNITS_PER_CORE)
    return f"{WORKING_PIPES[source]} -> {WORKING_PIPES[target]}, id {event}"


def fault_error(program: Program, soc: Soc, machine: Machine) -> DeviceError:
    """The error for what the engine recorded in ``Machine.fault``."""
    fault, core, row, first, second, third = (int(x) for x in machine.fault)
    if fault == Fault.DOUBLE_SET:
        return DeviceError(
            "DOUBLE_SET",
            f"{program.name}, core {core}: flag {flag_name(first)} was set at cycle {second} "
            "while it was already up",
            location=location(program, _setter(program, first)),
            notes=("one flag is one bit: a second set before the wait is lost",),
            fix="wait for the flag before it is set again, or use another event id",
        )
    if fault == Fault.OUT_OF_BOUNDS:
        return _out_of_bounds(program, soc, machine, core, row, first, second, third)
    if fault == Fault.BAD_OPERAND:
        return _bad_operand(program, soc, core, row, first, second)
    messages = {
        Fault.BAD_EVENT: f"event id {first}, legal is 0..{second}",
        Fault.BAD_PIPE: f"pipe numbers {first} and {second} name no pair of pipes",
        Fault.BAD_ROW: f"row {row} of {len(program.rows)} cannot be run",
        Fault.BAD_PARAMETER: f"parameter {first} of {second} launch arguments",
    }
    return DeviceError(
        Fault(fault).name,
        f"{program.name}, core {core}, {mnemonic(program, row)}: {messages[Fault(fault)]}",
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
    program: Program, soc: Soc, core: int, row: int, which: int, value: int
) -> DeviceError:
    name = mnemonic(program, row)
    field = BY_MNEMONIC[name].fields[which]
    limit = field_on(soc.architecture, name, field.name).complaint(value)
    origin = f"r{program.rows[row, OPERAND_COLUMN + which]}"
    if field.state:
        origin = f"mode register {field.state}"
    return DeviceError(
        Fault.BAD_OPERAND.name,
        f"{program.name}, core {core}, {name}: {field.name} is {value} (from {origin}); "
        f"{soc.name} takes {limit}",
        location=location(program, row),
        fix="correct what computes it",
    )


def _out_of_bounds(
    program: Program,
    soc: Soc,
    machine: Machine,
    core: int,
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
        starts, ends = machine.buffer_starts.tolist(), machine.buffer_ends.tolist()
        spans = [f"[{start}, {end})" for start, end in zip(starts, ends, strict=True)]
        limit = f"the launch's buffers are {', '.join(spans[:MOST_NOTES]) or 'none'}"
        fix = "check offset, stride and valid extent against the tensor's shape"
    else:
        limit = f"{space} of {soc.name} has {soc.capacity[space]} bytes"
        fix = "check address, strides and repeat against the buffer"
    return DeviceError(
        "OUT_OF_BOUNDS",
        f"{program.name}, core {core}: {form.mnemonic} touches bytes {low} to {high} of {space} "
        f"through {field.name}; {limit}",
        location=location(program, row),
        fix=fix,
    )


def deadlock_error(program: Program, machine: Machine) -> DeviceError:
    """Nothing can happen any more, yet some core is not done: who waits for what."""
    waits: list[tuple[int, str]] = []
    for core in range(len(machine.scalar_status)):
        waits += _waits_of_core(program, machine, core)
    notes = [text for _, text in waits[:MOST_NOTES]]
    if len(waits) > MOST_NOTES:
        notes.append(f"and {len(waits) - MOST_NOTES} more")
    row, first = waits[0] if waits else (-1, "no pipe is held")
    return DeviceError(
        "DEADLOCK",
        f"{program.name} stands still at cycle {int(machine.counters[Counter.NOW])}: {first}",
        location=location(program, row),
        notes=tuple(notes[1:]),
        fix="every wait needs a set that comes before it on the other pipe",
    )


def _waits_of_core(program: Program, machine: Machine, core: int) -> list[tuple[int, str]]:
    """(row, sentence) for every unit of a core that cannot go on, flags first."""
    status = ScalarStatus(int(machine.scalar_status[core]))
    flags: list[tuple[int, str]] = []
    for unit in range(core * UNITS_PER_CORE + 1, (core + 1) * UNITS_PER_CORE):
        key = int(machine.awaited_flag[unit])
        if machine.queue_count[unit] > 0 and key >= 0:
            entry = unit * machine.depth + int(machine.queue_head[unit])
            row = int(machine.entry_row[entry])
            pipe = WORKING_PIPES[unit % UNITS_PER_CORE]
            flags.append((row, _flag_wait(program, core, pipe, row, key % FLAGS_PER_CORE)))
    if status in (ScalarStatus.ENDED, ScalarStatus.FINISHED):
        return flags
    row = int(machine.program_counter[core])
    awaits = int(machine.scalar_awaits[core])
    name = f"core {core}: the scalar unit"
    if status is ScalarStatus.FLAG:
        flags.append((row, _flag_wait(program, core, Pipe.S, row, awaits % FLAGS_PER_CORE)))
    elif status is ScalarStatus.QUEUE_FULL:
        pipe = WORKING_PIPES[awaits % UNITS_PER_CORE]
        text = f"{name} cannot dispatch at {where(program, row)}: the queue of {pipe} is full"
        flags.append((row, f"{text} ({machine.depth})"))
    elif status is ScalarStatus.DRAIN:
        flags.append((row, f"{name} waits for all pipes at {where(program, row)}"))
    return flags


def _flag_wait(program: Program, core: int, pipe: Pipe, row: int, key: int) -> str:
    setter = _setter(program, key)
    if setter < 0:
        missing = "no set_flag of that pair is in the program"
    else:
        missing = f"the set_flag at {where(program, setter)} was not reached or was used up"
    return (
        f"core {core}: {pipe} waits for flag {flag_name(key)} at {where(program, row)}; {missing}"
    )


def unbalanced_error(program: Program, machine: Machine) -> DeviceError:
    """A flag is still up when the kernel has ended."""
    place = int(machine.flags.reshape(-1).nonzero()[0][0])
    core, key = divmod(place, FLAGS_PER_CORE)
    return DeviceError(
        "UNBALANCED",
        f"{program.name}, core {core}: flag {flag_name(key)} is still up when the kernel ends",
        location=location(program, _setter(program, key)),
        notes=("the next kernel on this core would start with the flag up",),
        fix="add the missing wait_flag, or remove the set_flag",
    )


def cycle_limit_error(program: Program, machine: Machine) -> DeviceError:
    """The launch ran longer than it was allowed to."""
    core = int(machine.scalar_status.argmin())
    row = int(machine.program_counter[core])
    return DeviceError(
        "CYCLE_LIMIT",
        f"{program.name} did not end within {machine.cycle_limit} cycles; "
        f"core {core} was at {where(program, row)}",
        location=location(program, row),
        fix="raise the cycle limit if the program is right, else look for an endless loop",
    )
