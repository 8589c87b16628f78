"""Says what went wrong between cores: counters too high, left over, or never raised."""

from __future__ import annotations

from pypto.emulator.crew import Crew
from pypto.emulator.places import location, mnemonic
from pypto.emulator.state import Machine
from pypto.errors import DeviceError
from pypto.target.groups import CROSS_IDS, GROUP, MODES, MOST_COUNTED, members, targets
from pypto.target.instructions.scalar import ScalarKind
from pypto.target.program import Program
from pypto.target.rows import MASK_COLUMN, OPCODE_COLUMN, OPERAND_COLUMN, forms_by_opcode

ID_OPERAND = 2  # of ffts_cross_core_sync


def overflow(crew: Crew, core: int, target: int, number: int, cycle: int) -> DeviceError:
    """A counter was raised although it held all it can."""
    program = crew.of_core(core).program
    return DeviceError(
        "CROSS_OVERFLOW",
        f"{program.name}, {crew.core_name(core)}: cross-core flag {number} was set at cycle "
        f"{cycle} while its counter on {crew.core_name(target)} stood at {MOST_COUNTED}",
        location=location(program, _setter(program, number)),
        notes=(f"a counter holds at most {MOST_COUNTED} sets that nobody has waited for",),
        fix=f"wait for a set back from that core before every set beyond the {MOST_COUNTED}th",
    )


def bad_cross(crew: Crew, core: int, row: int, number: int, mode: int) -> DeviceError:
    """A set or a wait between cores names what is not there."""
    program = crew.of_core(core).program
    fix = "correct what computes it"
    if not 0 <= number < CROSS_IDS:
        problem = f"id is {number}, legal is 0..{CROSS_IDS - 1}"
    elif not 0 <= mode < MODES:
        problem = f"mode is {mode}, legal is 0..{MODES - 1}"
    else:
        other = "a launch of one program" if not crew.is_mixed else f"{program.core} cores"
        problem = f"mode {mode} binds the cores of one group, which {other} cannot do"
        fix = "launch a program for cube cores and one for vector cores together, or use mode 0"
        if mode != GROUP and crew.is_mixed:
            fix = f"mode {GROUP} reaches the vector cores of the group"
    return DeviceError(
        "BAD_CROSS",
        f"{program.name}, {crew.core_name(core)}, {mnemonic(program, row)}: {problem}",
        location=location(program, row),
        fix=fix,
    )


def cross_state(crew: Crew, machine: Machine, core: int, number: int) -> str:
    """Who has set the flag that a core waits for, and how often."""
    said: list[str] = []
    for mode in range(MODES):
        sources = _sources(crew, core, mode)
        counts = {one: int(machine.cross_sets[one, mode, number]) for one in sources}
        if not any(counts.values()):
            continue
        least = min(counts.values())
        behind = [crew.core_name(one) for one, count in counts.items() if count == least]
        if least == 0:
            said.append(f"{', '.join(behind)} never set it")
        elif least < max(counts.values()):
            said.append(f"{', '.join(behind)} set it only {_times(least)}")
        else:
            said.append(f"{', '.join(behind)} set it {_times(least)}, all used up")
    return "; ".join(said) or "no core has set it"


def check_cross_balance(crew: Crew, machine: Machine) -> None:
    """Raise for sets between cores that nobody has waited for."""
    for core in range(len(crew.kinds)):
        for number in range(CROSS_IDS):
            left = int(machine.cross_counters[core, number])
            if left:
                message = f"cross-core flag {number} still counts {left}"
                raise _unbalanced(crew, core, number, message)
        for mode in range(MODES):
            first, stop = members(core, mode, crew.first_vector, len(crew.kinds))
            counts = machine.cross_sets[first:stop, mode]
            for number in (counts[core - first] > counts.min(axis=0)).nonzero()[0].tolist():
                message = f"cross-core flag {number} was set more often than by the others of its"
                raise _unbalanced(crew, core, number, f"{message} mode {mode}")


def _unbalanced(crew: Crew, core: int, number: int, message: str) -> DeviceError:
    program = crew.of_core(core).program
    return DeviceError(
        "UNBALANCED",
        f"{program.name}, {crew.core_name(core)}: {message} when the kernel ends",
        location=location(program, _setter(program, number)),
        notes=("the next kernel on these cores would start with it",),
        fix="give every set one wait on each core that it reaches, and all members as many sets",
    )


def _sources(crew: Crew, core: int, mode: int) -> list[int]:
    """The cores whose sets of a mode reach a core."""
    cores = range(len(crew.kinds))
    first_vector = crew.first_vector
    if mode == GROUP and not crew.is_mixed:
        return []
    reached = {one: range(*targets(one, mode, first_vector, len(cores))) for one in cores}
    return [one for one in cores if core in reached[one]]


def _setter(program: Program, number: int) -> int:
    """The first row that may set a cross-core flag, -1 for none."""
    for row, columns in enumerate(program.rows.tolist()):
        if forms_by_opcode()[columns[OPCODE_COLUMN]].kind is ScalarKind.CROSS_SET:
            from_register = columns[MASK_COLUMN] >> ID_OPERAND & 1
            if from_register or columns[OPERAND_COLUMN + ID_OPERAND] == number:
                return row
    return -1


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
