"""Transfers to and from global memory: each is a stream of requests on its pipe.

A request is at most one 512-byte line of L2; a run of bytes that does not begin on a 128-byte
sector goes by single sectors. A pipe has a window of requests under way at once: the next one
goes when the one that many before it has returned. The port of the core, shared by its pipes,
and the servers of the memory system are served in the order of simulated time: a stream gives
way after one line or a few cycles.
"""

from __future__ import annotations

from pypto.emulator.compiled.events import PIPE, comes_first, push
from pypto.emulator.compiled.memory_system import request
from pypto.emulator.compiled.raw import internal
from pypto.emulator.state import (
    ACCESS_WORDS,
    COSTS,
    STREAM_WIDTH,
    TICKS,
    UNITS_PER_CORE,
    WINDOW_ROOM,
    Counter,
    Stream,
)
from pypto.target.memory import LINE_BYTES, SECTOR_BYTES

NOW = int(Counter.NOW)
ACTIVE, TIME, BEGIN, FLOOR = map(int, (Stream.ACTIVE, Stream.TIME, Stream.BEGIN, Stream.FLOOR))
PORT, DONE, WRITE, BYPASS = map(int, (Stream.PORT, Stream.DONE, Stream.WRITE, Stream.BYPASS))
HALF, PACE, RUNS, WHOLE = map(int, (Stream.HALF, Stream.PACE, Stream.RUNS, Stream.WHOLE))
ADDRESS, LEFT, ROW, RUN = map(int, (Stream.ADDRESS, Stream.LEFT, Stream.ROW, Stream.RUN))
ACCESS, HEAD, NEXT, LINE = map(int, (Stream.ACCESS, Stream.HEAD, Stream.NEXT, Stream.LINE))

# How far a stream goes before it lets others have their turn.
TURN_CYCLES = 8
TURN_BYTES = LINE_BYTES
# Requests after which the event loop looks at limits, even where nobody else is due.
MOST_REQUESTS = 4096


@internal
def cycles_of(ticks):
    """Whole cycles that hold so many ticks."""
    return (ticks + TICKS - 1) // TICKS


@internal
def merge(w, a):
    """Join runs that lie end to end."""
    length, edge = w[a + 5], w[a + 6]
    if w[a + 3] > 1 and w[a + 4] == length:
        w[a + 6] = (w[a + 3] - 1) * length + edge
        if w[a + 7] > 0:
            w[a + 8] += (w[a + 7] - 1) * length
        w[a + 3] = 1
        w[a + 7] = min(w[a + 7], 1)
    if w[a + 3] == 1 and w[a + 1] > 1 and w[a + 2] == w[a + 6] and w[a + 7] == 1:
        w[a + 8] += (w[a + 1] - 1) * w[a + 6]
        w[a + 1] = 1


@internal
def find_run(w, s):
    """Go on to the next run of a stream that has bytes; False at the end."""
    a = s + ACCESS
    while w[s + ROW] < w[a + 1]:
        row, run = w[s + ROW], w[s + RUN]
        last_row = row == w[a + 1] - 1
        count = w[a + 7] if last_row else w[a + 3]
        if run >= count:
            w[s + ROW] = row + 1
            w[s + RUN] = 0
            continue
        size = w[a + 5]
        if run == count - 1:
            size = w[a + 8] if last_row else w[a + 6]
        w[s + RUN] = run + 1
        if size > 0:
            low = w[a] + row * w[a + 2] + run * w[a + 4]
            w[s + ADDRESS] = low
            w[s + LEFT] = size
            w[s + WHOLE] = low % SECTOR_BYTES == 0
            return True
    return False


@internal
def open_stream(m, unit, now, which, occupancy, write, bypass, half):
    """Begin the transfer of the measured access ``which``; ``occupancy`` is the pipe's own time.

    What a pipe needs beyond the latency of a write is spread evenly over its runs.
    """
    w, s = m.streams, unit * STREAM_WIDTH
    source = COSTS + which * ACCESS_WORDS
    for j in range(ACCESS_WORDS):
        w[s + ACCESS + j] = m.measured[source + j]
    merge(w, s + ACCESS)
    runs = max(0, w[s + ACCESS + 1] - 1) * w[s + ACCESS + 3] + w[s + ACCESS + 7]
    w[s + PACE] = 0
    if write and occupancy > 1 and runs > 0:
        w[s + PACE] = max(0, occupancy * TICKS - m.write_latency) // runs
    w[s + TIME] = now * TICKS
    w[s + DONE] = now * TICKS
    w[s + BEGIN] = now
    w[s + FLOOR] = now + occupancy
    w[s + PORT] = 0
    w[s + RUNS] = 0
    w[s + WRITE] = write
    w[s + BYPASS] = bypass
    w[s + HALF] = half
    w[s + ROW] = 0
    w[s + RUN] = 0
    w[s + LEFT] = 0
    w[s + ACTIVE] = 1
    find_run(w, s)


@internal
def serve(m, unit, now):
    """Send requests until the stream has to give way; True once all are sent."""
    core = unit // UNITS_PER_CORE
    w, s = m.streams, unit * STREAM_WIDTH
    write, bypass, half = w[s + WRITE], w[s + BYPASS], w[s + HALF]
    rate = m.write_rate[core] if write else m.read_rate[core]
    time, left = w[s + TIME], w[s + LEFT]
    turn_end = (now + TURN_CYCLES) * TICKS
    moved, requests = 0, 0
    while left > 0:
        place = unit * WINDOW_ROOM + w[s + HEAD]
        time = max(time, m.window[place], m.port_free[core])
        if half >= 0 and m.l1_until[half] * TICKS > time and m.l1_reads[half] >= m.l1_rate:
            time = m.l1_until[half] * TICKS
        if time > turn_end or moved >= TURN_BYTES:
            now = time // TICKS
            if requests > MOST_REQUESTS or not comes_first(m, now, PIPE, unit):
                w[s + TIME] = time
                w[s + LEFT] = left
                push(m, now, PIPE, unit, 0)
                return False
            m.counters[NOW] = now
            turn_end = (now + TURN_CYCLES) * TICKS
            moved = 0
        low = w[s + ADDRESS]
        unit_bytes = LINE_BYTES if w[s + WHOLE] else SECTOR_BYTES
        size = min(left, unit_bytes - low % unit_bytes)
        sectors = (low + size - 1) // SECTOR_BYTES - low // SECTOR_BYTES + 1
        cost = max(sectors * SECTOR_BYTES * TICKS // rate, TICKS)
        sent = time + cost
        m.port_free[core] = sent
        line = low // LINE_BYTES + 1
        done = request(m, low, size, time, sent, write, bypass, line != w[s + LINE])
        w[s + LINE] = line
        requests += 1
        m.window[place] = done
        w[s + HEAD] = 0 if w[s + HEAD] + 1 >= m.window_size else w[s + HEAD] + 1
        w[s + DONE] = max(w[s + DONE], done)
        w[s + PORT] += cost
        w[s + ADDRESS] = low + size
        if half >= 0 and m.l1_until[half] * TICKS > time:
            cost = cost * m.l1_rate // (m.l1_rate - m.l1_reads[half])
        time += cost
        moved += size
        left -= size
        if left == 0 and find_run(w, s):
            left = w[s + LEFT]
            w[s + RUNS] += 1
            time = max(time, w[s + BEGIN] * TICKS + w[s + RUNS] * w[s + PACE])
    w[s + TIME] = time
    w[s + LEFT] = 0
    return True


@internal
def close_stream(m, unit):
    """End a transfer whose requests are all sent: its cycles on the pipe, those of work, its end.

    Reads begin at a certain interval at least, which is kept in fractions of cycles.
    """
    w, s = m.streams, unit * STREAM_WIDTH
    begin = w[s + BEGIN]
    free = max(cycles_of(w[s + TIME]), w[s + FLOOR])
    work = max(cycles_of(w[s + PORT]), w[s + FLOOR] - begin)
    if not w[s + WRITE]:
        start = w[s + NEXT] if cycles_of(w[s + NEXT]) == begin else begin * TICKS
        w[s + NEXT] = start + m.read_interval
        following = cycles_of(w[s + NEXT])
        free = max(free, following)
        work = max(work, following - begin)
    w[s + ACTIVE] = 0
    end = max(cycles_of(w[s + DONE]), free)
    return free, min(work, free - begin), end
