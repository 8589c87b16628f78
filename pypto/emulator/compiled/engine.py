"""The event loop: all cores of a launch, one event after the other in simulated time."""

from __future__ import annotations

from pypto.emulator.compiled.dispatch import ENDED, dispatch
from pypto.emulator.compiled.effects import end, take_all_effects
from pypto.emulator.compiled.events import EFFECT, FLAG, PIPE, pop
from pypto.emulator.compiled.pipes import advance, finish, raise_flag
from pypto.emulator.compiled.raw import internal, machine_at
from pypto.emulator.state import UNITS_PER_CORE, Counter, Outcome

HEAP, NOW = int(Counter.HEAP), int(Counter.NOW)
FREE_COUNT, LOG = int(Counter.FREE_COUNT), int(Counter.LOG)
BUDGET, QUIET, GROW = int(Outcome.BUDGET), int(Outcome.QUIET), int(Outcome.GROW)
LOG_FULL, FAULT = int(Outcome.LOG_FULL), int(Outcome.FAULT)
CYCLE_LIMIT = int(Outcome.CYCLE_LIMIT)


@internal
def run_slice(words, budget):
    """Serve up to ``budget`` events of the machine at address ``words``: why it stopped."""
    m = machine_at(words)
    # One event issues at most a whole queue.
    margin = 4 * m.depth
    for _ in range(budget):
        if m.counters[HEAP] == 0:
            take_all_effects(m)
            return FAULT if m.fault[0] != 0 else QUIET
        if m.counters[HEAP] + margin > m.heap_room or m.counters[FREE_COUNT] < margin:
            return GROW
        if m.record and m.counters[LOG] + margin > m.log_room:
            return LOG_FULL
        now, phase, unit, payload = pop(m)
        m.counters[NOW] = now
        if now > m.cycle_limit:
            return CYCLE_LIMIT
        core = unit // UNITS_PER_CORE
        if phase == EFFECT:
            end(m, core, payload)
        elif phase == FLAG:
            raise_flag(m, payload, now)
        elif phase == PIPE:
            advance(m, unit, now)
        else:
            dispatch(m, core, now)
            if m.scalar_status[core] == ENDED:
                finish(m, core)
        if m.fault[0] != 0:
            return FAULT
    return BUDGET
