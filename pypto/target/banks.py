"""Conflicts in the banks of UB: cycles of vector repeats by geometry, on integers.

UB lies in layers of 64 KiB, each of 16 banks of 4 KiB; neighbouring blocks of 32 bytes lie in
neighbouring banks. The banks of one position in all layers are a *group* with one port to read and
one to write; a bank does one of both in a cycle [V asc-devkit bank_conflict_ub]. The results of a
repeat are written while the next one is read, so in a cycle:

* a group serves one block read and one block written,
* a bank serves one block.

A repeat takes as many cycles as its busiest group or bank, and at least its arithmetic's. A
repeat is taken to lie in the layer in which it begins, its blocks to be spread evenly over the
groups that it touches.
"""

from __future__ import annotations

from typing import NamedTuple

from pypto.target.memory import BLOCK_BYTES

GROUPS = 16
ALL_GROUPS = 2**GROUPS - 1
LAYER_BLOCKS = 65536 // BLOCK_BYTES


class Walk(NamedTuple):
    """The blocks an operand touches: ``blocks`` per repeat from ``start``; all in 32-byte blocks.

    ``blocks`` 0 stands for no operand.
    """

    start: int
    blocks: int
    block_stride: int
    repeat_stride: int


NO_WALK = Walk(0, 0, 0, 0)


class Shape(NamedTuple):
    """How a repeat of an operand lies in the groups: their bits, the most blocks in one."""

    groups: int
    crowd: int


def shape_of(walk: Walk) -> Shape:
    """The shape of a repeat whose first block lies in group 0; a block stride of 0 is one block."""
    blocks = walk.blocks if walk.block_stride > 0 else min(1, walk.blocks)
    groups = 0
    for i in range(min(blocks, GROUPS)):
        groups |= 1 << (i * walk.block_stride) % GROUPS
    distinct, stride = GROUPS, walk.block_stride
    while distinct > 1 and stride % 2 == 0:
        distinct //= 2
        stride //= 2
    return Shape(groups, (blocks + distinct - 1) // distinct)


def groups_at(shape: Shape, walk: Walk, repeat: int) -> int:
    """The groups that a repeat touches."""
    turn = (walk.start + repeat * walk.repeat_stride) % GROUPS
    return (shape.groups << turn | shape.groups >> (GROUPS - turn)) & ALL_GROUPS


def layer_at(walk: Walk, repeat: int) -> int:
    return (walk.start + repeat * walk.repeat_stride) // LAYER_BLOCKS


def repeat_cycles(
    target: Walk,
    first: Walk,
    second: Walk,
    shapes: tuple[Shape, Shape, Shape],
    repeat: int,
) -> int:
    """Cycles in which a repeat is read and the one before it is written."""
    written, one, two = shapes
    reads_one = groups_at(one, first, repeat)
    reads_two = groups_at(two, second, repeat)
    together = reads_one & reads_two != 0
    reads = one.crowd + two.crowd if together else max(one.crowd, two.crowd)
    if repeat == 0 or target.blocks == 0:
        return reads
    writes = groups_at(written, target, repeat - 1)
    place = layer_at(target, repeat - 1)
    met_one = reads_one & writes if layer_at(first, repeat) == place else 0
    met_two = reads_two & writes if layer_at(second, repeat) == place else 0
    shared = 0
    if met_one != 0:
        shared = written.crowd + one.crowd
    if met_two != 0:
        shared = max(shared, written.crowd + two.crowd)
    if met_one & met_two != 0:
        shared = written.crowd + one.crowd + two.crowd
    return max(max(reads, written.crowd), shared)


def period_of(stride: int) -> int:
    """Repeats after which an operand is in the same groups again."""
    period = GROUPS
    while period > 1 and stride % 2 == 0:
        period //= 2
        stride //= 2
    return period


def repeats_in_layer(walk: Walk, repeat: int) -> int:
    """How many repeats from this one on begin in the same layer."""
    if walk.blocks == 0 or walk.repeat_stride == 0:
        return 2**31
    room = LAYER_BLOCKS - (walk.start + repeat * walk.repeat_stride) % LAYER_BLOCKS
    return (room + walk.repeat_stride - 1) // walk.repeat_stride


def conflict_cycles(target: Walk, first: Walk, second: Walk, repeats: int, slope: int) -> int:
    """Cycles of ``repeats`` repeats at ``slope`` cycles each, bank conflicts included.

    While no operand goes on to another layer the pattern comes again after a period.
    """
    shapes = (shape_of(target), shape_of(first), shape_of(second))
    period = max(
        max(period_of(target.repeat_stride), period_of(first.repeat_stride)),
        period_of(second.repeat_stride),
    )
    total = 0
    done = 0
    while done < repeats:
        piece = min(repeats - done, repeats_in_layer(target, done))
        piece = min(piece, repeats_in_layer(first, done))
        piece = min(piece, repeats_in_layer(second, done))
        # The first repeat of a piece meets what the piece before it wrote.
        total += max(slope, repeat_cycles(target, first, second, shapes, done))
        for i in range(1, min(piece, period + 1)):
            cycles = max(slope, repeat_cycles(target, first, second, shapes, done + i))
            total += cycles * ((piece - 1 - i) // period + 1)
        done += piece
    return total
