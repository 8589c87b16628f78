"""Proves an Executable ordered, or says at which lines it is not."""

from __future__ import annotations

from collections.abc import Sequence

from pypto.emulator.hazards import check_executable
from pypto.emulator.hazards_report import Hazard
from pypto.emulator.launch import LaunchLog
from pypto.errors import DeviceError, SourceLocation
from pypto.target.executable import Executable

MOST_NOTES = 8


def prove_ordered(
    executable: Executable,
    shapes: Sequence[Sequence[int]],
    *,
    compiled: bool = True,
    log: Sequence[LaunchLog] = (),
) -> list[Hazard]:
    """Raise for the first hazard and name the others; gives the mere warnings.

    ``compiled``: the program must also keep the laws that only generated code is held to.
    ``log`` of a run is needed where what the program does depends on values it loads.
    """
    found = check_executable(executable, shapes, compiled=compiled, log=log)
    errors = [hazard for hazard in found if not hazard.warning]
    if not errors:
        return found
    first, *others = errors
    notes = [*details(first), *(f"also {one.code}: {one.message}" for one in others[:MOST_NOTES])]
    if len(others) > MOST_NOTES:
        notes.append(f"and {len(others) - MOST_NOTES} more hazards")
    raise DeviceError(
        first.code,
        first.message,
        location=SourceLocation.parse(first.second.line),
        notes=tuple(notes),
        fix=first.cure or None,
    )


def details(hazard: Hazard) -> list[str]:
    """The bytes and the instructions of a hazard."""
    lines = []
    if hazard.space is not None:
        where = f" of {hazard.buffer}" if hazard.buffer else ""
        lines.append(f"bytes {hazard.start} to {hazard.stop - 1} of {hazard.space}{where}")
    if hazard.first is not None:
        lines.append(f"first {hazard.first}")
    lines.append(f"{'then' if hazard.first is not None else 'at'} {hazard.second}")
    return lines
