"""The stages of attention on their own: cycles of a tile of 128 queries by 256 keys."""

from __future__ import annotations

from benchmarks.silicon.attention_cube import CubeWriter
from benchmarks.silicon.attention_schedule import (
    MATRIX,
    PIECE_SCORES,
    PIECE_WEIGHTS,
    RING,
    SUBS,
    TILE_SUMS,
    AttentionSchedule,
)
from benchmarks.silicon.attention_vector import VectorWriter
from pypto.target.memory import Pipe
from pypto.target.program import Program

STAGES = ("qk", "softmax", "pv", "update")
UNROLL = 2  # tiles after which all buffers are back at their first slots


def stage_program(schedule: AttentionSchedule, stage: str) -> Program:
    """All tiles of one block through one stage, without other cores to wait for."""
    schedule.check()
    if stage in ("qk", "pv"):
        return _cube(schedule, stage)
    return _vector(schedule, stage)


def _cube(schedule: AttentionSchedule, stage: str) -> Program:
    writer = CubeWriter(schedule)
    b = writer.builder
    b.set(writer.scores, writer.scores + b.block * (RING * SUBS * PIECE_SCORES))
    b.set(writer.weights, writer.weights + b.block * (RING * SUBS * PIECE_WEIGHTS))
    b.set(writer.sums, writer.sums + b.block * (RING * TILE_SUMS))
    with writer.running():
        if stage == "qk":
            writer.load(writer.l1_q, writer.q + b.block * MATRIX)
            b.sync(Pipe.MTE2, Pipe.MTE1)
        with b.loop(0, schedule.tiles, UNROLL, "tile") as first:
            for offset in range(UNROLL):
                tile = first + offset
                for sub in range(SUBS):
                    if stage == "qk":
                        writer.score(tile, sub, 0)
                    else:
                        writer.value(tile, sub, 1)
                if stage == "pv":
                    writer.drain(writer.sums + tile % RING * TILE_SUMS, 1)
    return b.build()


def _vector(schedule: AttentionSchedule, stage: str) -> Program:
    writer = VectorWriter(schedule)
    b = writer.builder
    group = b.value(b.block // 2, "group")
    b.set(b.sub_block, b.block % 2)
    b.set(writer.scores, writer.scores + group * (RING * SUBS * PIECE_SCORES))
    b.set(writer.weights, writer.weights + group * (RING * SUBS * PIECE_WEIGHTS))
    b.set(writer.sums, writer.sums + group * (RING * TILE_SUMS))
    with (
        writer.tiles.cycle(),
        writer.halves.cycle(),
        b.loop(0, schedule.tiles, UNROLL, "tile") as first,
    ):
        for offset in range(UNROLL):
            if stage == "update":
                writer.update(first + offset)
                continue
            for part in range(SUBS):
                writer.weigh(first + offset, part, first=False)
    b.barrier(Pipe.ALL)
    return b.build()
