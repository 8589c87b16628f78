"""The instructions of a run as a Chrome trace: one process per core, one thread per pipe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pypto.emulator.crew import Crew
from pypto.emulator.launch import LaunchLog
from pypto.emulator.run import RunResult
from pypto.emulator.state import LOG_COLUMNS, LOG_FIELDS, WORKING_PIPES
from pypto.target.memory import CoreKind
from pypto.target.rows import LINE_COLUMN, forms_by_opcode

LAUNCHES = 0  # process that shows whole launches
FIRST_PROCESS = {CoreKind.CUBE: 1, CoreKind.AICORE: 1, CoreKind.VECTOR: 1001}
CORE, NUMBER, ROW, OPCODE, PIPE, DISPATCHED, START, FREE, END = range(len(LOG_COLUMNS))


def write_timeline(result: RunResult, path: Path) -> None:
    """Write the trace; times in it are microseconds of the device."""
    path.parent.mkdir(parents=True, exist_ok=True)
    events = list(trace_events(result))
    document = {"displayTimeUnit": "ns", "traceEvents": events}
    path.write_text(json.dumps(document, separators=(",", ":")))


def trace_events(result: RunResult) -> Iterator[dict[str, Any]]:
    """Names of processes and threads, one event per launch, one per instruction."""
    clock = result.profile.soc.clock_mhz
    yield named("process_name", LAUNCHES, 0, "launches")
    begin = 0
    seen: set[tuple[int, int]] = set()
    for log, launch in zip(result.log, result.profile.launches, strict=True):
        yield {
            "name": launch.name,
            "ph": "X",
            "pid": LAUNCHES,
            "tid": 0,
            "ts": begin / clock,
            "dur": launch.cycles / clock,
            "args": {"cycles": launch.cycles, "cores": launch.cores, "begins at cycle": begin},
        }
        for event in instruction_events(log, begin, clock):
            place = event["pid"], event["tid"]
            if place not in seen:
                seen.add(place)
                yield named("process_name", *place, core_name(log.crew, place[0]))
                yield named("thread_name", *place, WORKING_PIPES[place[1]].upper())
            yield event
        begin += launch.cycles


def core_name(crew: Crew, process: int) -> str:
    """The name of a process that shows a core of a crew."""
    kinds = (member.program.core for member in reversed(crew.members))
    kind = next(one for one in kinds if FIRST_PROCESS[one] <= process)
    return f"{kind} core {process - FIRST_PROCESS[kind]}"


def instruction_events(log: LaunchLog, begin: int, clock: int) -> Iterator[dict[str, Any]]:
    """The instructions of a launch; an event lasts while its pipe is occupied."""
    forms = forms_by_opcode()
    for row in log.rows.tolist():
        member = log.crew.of_core(row[CORE])
        program = member.program
        line = int(program.rows[row[ROW], LINE_COLUMN])
        form = forms[row[OPCODE]]
        names = [field.name for field in form.row.fields] if form.row else []
        yield {
            "name": form.mnemonic,
            "ph": "X",
            "pid": FIRST_PROCESS[program.core] + row[CORE] - member.core,
            "tid": row[PIPE],
            "ts": (begin + row[START]) / clock,
            "dur": (row[FREE] - row[START]) / clock,
            "args": {
                "source": program.lines[line] if line >= 0 else "",
                "dispatched": row[DISPATCHED],
                "start": row[START],
                "end": row[END],
                "fields": dict(zip(names, row[LOG_FIELDS:], strict=False)),
            },
        }


def named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    """A metadata event of the trace format."""
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
