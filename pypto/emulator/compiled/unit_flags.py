"""Unit flags: multiplications and drains of L0C that wait for one another block by block.

Each 16 x 16 block of L0C has a flag. A multiplication with a unit mode waits until the flags of
its blocks are down, a drain until they are up; mode 3 flips them, mode 2 leaves them. Blocks are
finished and drained row of blocks after row of blocks, at an even pace over the instruction
[A: the vendor asks for that order where rows are stored, SetMMRowMajor]. So a drain may begin
while the multiplication still runs, no sooner than that it never reads an unfinished block, and
the next multiplication no sooner than that it never writes an undrained one. The pace of a drain
is that of its pipe: how memory holds it up is not foreseen.
"""

from __future__ import annotations

from pypto.emulator.compiled.effects import WORD
from pypto.emulator.compiled.raw import address_of, call5, internal
from pypto.emulator.state import ACCESS_WORDS, COSTS, UNIT_BLOCK_BYTES, UNITS_PER_CORE
from pypto.target.instruction import RowFacts
from pypto.target.instructions.cube import EDGE
from pypto.target.memory import PIPES, Pipe
from pypto.target.rows import OPERAND_LIMIT

FACTS = len(RowFacts._fields)
M, FIX = PIPES.index(Pipe.M), PIPES.index(Pipe.FIX)
CHECKS, FLIPS = 2, 3  # unit modes
DOWN = -1


@internal
def unit_mode(m, entry, opcode):
    """The unit mode of a queued instruction, 0 where it has none."""
    field = m.unit_field[opcode]
    return m.entry_fields[entry * OPERAND_LIMIT + field] if field >= 0 else 0


@internal
def block(m, core, w, a, stripe, column, stripes):
    """Which flag of a core belongs to a block of the access at word ``a``, -1 for none."""
    pitch = w[a + 4] if w[a + 3] > 1 else stripes * UNIT_BLOCK_BYTES
    at = (w[a] + column * pitch) // UNIT_BLOCK_BYTES + stripe
    return core * m.unit_blocks + at if 0 <= at < m.unit_blocks else -1


@internal
def ready_at(m, core, a, drains, stripes, columns, span):
    """When an instruction may begin, DOWN while a flag it waits for is to be flipped by nobody."""
    w = m.measured
    ready = 0
    count = stripes * columns
    for i in range(count):
        place = block(m, core, w, a, i // columns, i % columns, stripes)
        if place < 0:
            continue
        up = m.unit_up[place]
        if drains:
            if up == DOWN:
                m.unit_awaited[core * UNITS_PER_CORE + FIX] = place + 1
                return DOWN
            ready = max(ready, up - i * span // count)
        else:
            if up != DOWN:
                m.unit_awaited[core * UNITS_PER_CORE + M] = place + 1
                return DOWN
            ready = max(ready, m.unit_down[place] - i * span // count)
    return ready


@internal
def flip(m, core, a, drains, stripes, columns, span, now):
    """Plan when the flags of an instruction that begins now flip."""
    w = m.measured
    count = stripes * columns
    for i in range(count):
        place = block(m, core, w, a, i // columns, i % columns, stripes)
        if place < 0:
            continue
        time = now + ((i + 1) * span + count - 1) // count
        if drains:
            m.unit_up[place] = DOWN
            m.unit_down[place] = time
        else:
            m.unit_up[place] = time


@internal
def last_up(m, core, a, stripes, columns):
    """When the last block of a drain is final."""
    latest = 0
    for i in range(stripes * columns):
        place = block(m, core, m.measured, a, i // columns, i % columns, stripes)
        if place >= 0:
            latest = max(latest, m.unit_up[place])
    return latest


@internal
def pass_unit_flags(m, core, entry, opcode, mode, now):
    """Begin an instruction with a unit mode: (when it may begin, when its data are final).

    When it may begin now its flags are flipped as planned; DOWN says that no time is known yet.
    """
    fields = address_of(m.entry_fields) + entry * OPERAND_LIMIT * WORD
    facts = address_of(m.facts) + opcode * FACTS * WORD
    call5(m.measure[opcode], fields, facts, address_of(m.soc), address_of(m.measured), 1)
    a = COSTS + m.l0c_address[opcode] * ACCESS_WORDS
    drains = m.unit_drains[opcode]
    w = m.measured
    stripes = (m.entry_fields[entry * OPERAND_LIMIT + m.rows_field[opcode]] + EDGE - 1) // EDGE
    # A multiplication writes one run, whose blocks stand column after column.
    columns = w[a + 3] if drains else w[a + 5] // (UNIT_BLOCK_BYTES * max(stripes, 1))
    if w[a + 1] == 0 or w[a + 5] == 0 or stripes == 0:
        return now, now
    span = w[0] if drains else max(w[0], w[1])
    ready = ready_at(m, core, a, drains, stripes, columns, span)
    if ready == DOWN or ready > now:
        return ready, 0
    final = max(now, last_up(m, core, a, stripes, columns)) if drains else now
    if mode == FLIPS:
        flip(m, core, a, drains, stripes, columns, span, now)
    return now, final
