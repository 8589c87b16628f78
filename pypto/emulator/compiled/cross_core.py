"""Sets between cores: counters that go up once all cores that a set names have done it."""

from __future__ import annotations

from pypto.emulator.compiled.dispatch import CROSS, complain, wake
from pypto.emulator.compiled.raw import internal
from pypto.emulator.compiled.rebuild import jitted
from pypto.emulator.state import CROSS_SETS, STALL_CROSS, Fault
from pypto.target import groups
from pypto.target.groups import CROSS_IDS, MODES, MOST_COUNTED
from pypto.target.rows import OPERAND_LIMIT

CROSS_OVERFLOW = int(Fault.CROSS_OVERFLOW)
members, targets = jitted(groups.members), jitted(groups.targets)


@internal
def cross_set(m, core, entry):
    """What the event of a queued set carries: its place in ``Machine.cross_sets``."""
    mode = m.entry_fields[entry * OPERAND_LIMIT + 1]
    number = m.entry_fields[entry * OPERAND_LIMIT + 2]
    return CROSS_SETS + (core * MODES + mode) * CROSS_IDS + number


@internal
def setter(place):
    """The core that did the set of a place in ``Machine.cross_sets``."""
    return place // (CROSS_IDS * MODES)


@internal
def raise_counters(m, place, now):
    """A set takes effect; when it is the last of its members', its targets count it."""
    number = place % CROSS_IDS
    mode = place // CROSS_IDS % MODES
    core = setter(place)
    m.cross_sets[place] += 1
    count = m.cross_sets[place]
    first, stop = members(core, mode, m.first_vector, m.core_count)
    for member in range(first, stop):
        if m.cross_sets[(member * MODES + mode) * CROSS_IDS + number] < count:
            return
    first, stop = targets(core, mode, m.first_vector, m.core_count)
    for target in range(first, stop):
        counter = target * CROSS_IDS + number
        m.cross_counters[counter] += 1
        if m.cross_counters[counter] > MOST_COUNTED:
            complain(m, CROSS_OVERFLOW, core, -1, target, number, now)
            return
        if m.scalar_status[target] == CROSS and m.scalar_awaits[target] == number:
            wake(m, target, STALL_CROSS, now)
