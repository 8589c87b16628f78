"""The event heap: the earliest event first; at one time effects, flags, pipes, scalar units."""

from __future__ import annotations

from pypto.emulator.compiled.raw import internal
from pypto.emulator.state import ACTOR_BITS, PHASE_BITS, Counter, Phase

EFFECT, FLAG, PIPE, SCALAR = int(Phase.EFFECT), int(Phase.FLAG), int(Phase.PIPE), int(Phase.SCALAR)
TIME_SHIFT = ACTOR_BITS + PHASE_BITS
ACTOR_MASK = (1 << ACTOR_BITS) - 1
PHASE_MASK = (1 << PHASE_BITS) - 1
SIZE = int(Counter.HEAP)


@internal
def push(m, time, phase, unit, payload):
    """Add an event; ``payload`` breaks ties of time, phase and unit."""
    keys, payloads = m.heap_keys, m.heap_payloads
    key = (time << TIME_SHIFT) | (phase << ACTOR_BITS) | unit
    hole = m.counters[SIZE]
    m.counters[SIZE] = hole + 1
    while hole > 0:
        parent = (hole - 1) >> 1
        if keys[parent] < key or (keys[parent] == key and payloads[parent] <= payload):
            break
        keys[hole] = keys[parent]
        payloads[hole] = payloads[parent]
        hole = parent
    keys[hole] = key
    payloads[hole] = payload


@internal
def comes_first(m, time, phase, unit):
    """Whether an event would be served before all that wait."""
    key = (time << TIME_SHIFT) | (phase << ACTOR_BITS) | unit
    return m.counters[SIZE] == 0 or key < m.heap_keys[0]


@internal
def pop(m):
    """Remove the earliest event: (time, phase, unit, payload)."""
    keys, payloads = m.heap_keys, m.heap_payloads
    first, first_payload = keys[0], payloads[0]
    size = m.counters[SIZE] - 1
    m.counters[SIZE] = size
    key, payload = keys[size], payloads[size]
    hole = 0
    child = 1
    while child < size:
        right = child + 1
        if right < size and (
            keys[right] < keys[child]
            or (keys[right] == keys[child] and payloads[right] < payloads[child])
        ):
            child = right
        if key < keys[child] or (key == keys[child] and payload <= payloads[child]):
            break
        keys[hole] = keys[child]
        payloads[hole] = payloads[child]
        hole = child
        child = 2 * hole + 1
    keys[hole] = key
    payloads[hole] = payload
    phase = (first >> ACTOR_BITS) & PHASE_MASK
    return first >> TIME_SHIFT, phase, first & ACTOR_MASK, first_payload
