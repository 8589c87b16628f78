"""The vector cores' half of attention: a running softmax, and sums that are scaled as it goes on.

Operations are those of the tile library of hw-native-sys/pto-isa (TROWMAX, TROWSUM,
TROWEXPANDSUB …) for tiles of 32 x 256 and 64 x 128 f32, instruction by instruction, with a
barrier where one needs the results of another.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from benchmarks.silicon.attention_schedule import (
    GROUP_MODE,
    HEAD,
    PERIOD,
    PIECE_SCORES,
    PIECE_WEIGHTS,
    RING,
    ROWS,
    SCORES,
    SCORES_FREE,
    SLICE,
    SUB,
    SUBS,
    SUMS,
    SUMS_FREE,
    TILE,
    TILE_SUMS,
    VECTOR_ROWS,
    WEIGHTS,
    WEIGHTS_FREE,
    AttentionSchedule,
)
from pypto.target.dtypes import F16, F32
from pypto.target.expressions import Operand, Value
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES, CoreKind, Pipe, Space
from pypto.target.program import Program
from pypto.target.structured import StructuredBuilder

LANES = REPEAT_BYTES // F32.bytes
BLOCKS = REPEAT_BYTES // BLOCK_BYTES
PER_BLOCK = BLOCK_BYTES // F32.bytes
ROW_BLOCKS = TILE // PER_BLOCK
SCRATCH = 184 * 1024  # the library's own 8 KB at the end of UB
SLICE_BYTES = SLICE * TILE * F32.bytes
OUT_BYTES = VECTOR_ROWS * HEAD * F32.bytes
COLUMN_BYTES = VECTOR_ROWS * F32.bytes
REDUCTIONS = {"max": ("vcgmax.f32", "vmax.f32"), "sum": ("vcgadd.f32", "vadd.f32")}


def bits(number: float) -> int:
    """The bits of an f32."""
    return int(np.float32(number).view(np.uint32))


class VectorWriter:
    """Writes the stages of vector cores; ``turn`` counts what alternates between two buffers."""

    def __init__(self, schedule: AttentionSchedule) -> None:
        self.s = schedule
        self.builder = b = StructuredBuilder("attention_vector", CoreKind.VECTOR)
        self.scores = b.buffer("scores", F32)
        self.weights = b.buffer("weights", F16, writes=True)
        self.sums = b.buffer("sums", F32)
        self.out = b.buffer("o", F32, writes=True)
        self.running_out = b.local("running sums", Space.UB, OUT_BYTES)
        self.tiles = b.ring(
            "scores and sums", Space.UB, OUT_BYTES, 2, filler=Pipe.MTE2, drainer=Pipe.V
        )
        self.local_max = b.local("largest of a tile", Space.UB, COLUMN_BYTES)
        self.global_max = b.local("largest so far", Space.UB, COLUMN_BYTES)
        self.scratch = b.local("partial reductions", Space.UB, SLICE_BYTES // BLOCKS)
        b.local("causal mask, not used", Space.UB, SLICE_BYTES)
        self.local_sum = b.local("sum of a tile", Space.UB, COLUMN_BYTES)
        self.global_sum = b.local("sum so far", Space.UB, COLUMN_BYTES)
        self.scales = b.local("scales of earlier sums", Space.UB, COLUMN_BYTES, slots=RING)
        self.halves = b.ring(
            "weights", Space.UB, SLICE_BYTES // 2, 2, filler=Pipe.V, drainer=Pipe.MTE3
        )
        self.spread = b.local("a column, element by block", Space.UB, 8192, address=SCRATCH)
        self.turn = 0

    def op(self, mnemonic: str, **operands: Operand) -> None:
        """One vector instruction that needs the results of the one before."""
        self.builder.barrier(Pipe.V)
        self.builder.issue(mnemonic, **operands)

    def reduce(self, kind: str, target: Operand, source: Operand) -> None:
        """The largest or the sum of each of 32 rows of 256."""
        group, pair = REDUCTIONS[kind]
        folded = {"src0_block": 2, "src1_block": 2, "src0_repeat": 16, "src1_repeat": 16}
        scratch = self.scratch
        self.op(group, dst=scratch, src=source, repeat=SLICE * TILE // LANES)
        for repeat in (SLICE // 4, SLICE // 8):
            self.op(
                pair, dst=scratch, src0=scratch, src1=scratch + BLOCK_BYTES, repeat=repeat, **folded
            )
        self.op(group, dst=target, src=scratch, repeat=SLICE // BLOCKS)

    def by_rows(self, name: str, target: Operand, column: Operand, rows: int, columns: int) -> None:
        """``target`` op= the element of ``column`` of each row."""
        self.op("vbrcb.u32", dst=self.spread, src=column, repeat=rows // BLOCKS)
        pitch = columns // PER_BLOCK
        self.builder.barrier(Pipe.V)
        for offset in range(0, columns * F32.bytes, REPEAT_BYTES):
            self.builder.issue(
                name,
                dst=target + offset, src0=target + offset, src1=self.spread, repeat=rows,
                src1_block=0, dst_repeat=pitch, src0_repeat=pitch, src1_repeat=1,
            )  # fmt: skip

    def on_rows(self, mnemonic: str, **operands: Operand) -> None:
        """An instruction on one element per row of a slice."""
        b = self.builder
        b.issue("set_vector_mask", high=0, low=(1 << SLICE) - 1)
        self.op(mnemonic, repeat=1, **operands)
        b.issue("set_vector_mask", high=-1, low=-1)

    def soften(self, x: Operand, weights: Operand, scale: Operand, part: int, first: bool) -> None:
        """exp of 32 rows of scores, as f16; ``scale`` is what earlier sums must be scaled by."""
        offset = part * SLICE * F32.bytes
        local, largest = self.local_max + offset, self.global_max + offset
        local_sum, total = self.local_sum + offset, self.global_sum + offset
        repeat = SLICE * TILE // LANES
        root = bits(1 / sqrt(HEAD))
        if first:
            self.reduce("max", largest, x)
        else:
            self.reduce("max", local, x)
            self.on_rows("vmax.f32", dst=local, src0=local, src1=largest)
            self.on_rows("vsub.f32", dst=scale, src0=largest, src1=local)
            self.on_rows("vmuls.f32", dst=largest, src=local, scalar=bits(1.0))
        self.by_rows("vsub.f32", x, largest if first else local, SLICE, TILE)
        if not first:
            self.on_rows("vmuls.f32", dst=scale, src=scale, scalar=root)
        self.op("vmuls.f32", dst=x, src=x, scalar=root, repeat=repeat)
        if not first:
            self.on_rows("vexp.f32", dst=scale, src=scale)
        self.op("vexp.f32", dst=x, src=x, repeat=repeat)
        self.op("vconv_f322f16a", dst=weights, src=x, repeat=repeat, dst_repeat=BLOCKS // 2)
        if first:
            self.reduce("sum", total, x)
        else:
            self.on_rows("vmul.f32", dst=total, src0=scale, src1=total)
            self.reduce("sum", local_sum, x)
            self.on_rows("vadd.f32", dst=total, src0=total, src1=local_sum)

    def weigh(self, tile: Operand, part: int, first: bool, *, frees: bool = False) -> None:
        """32 rows of scores to weights; ``frees``: tell when they are in UB."""
        b, s = self.builder, self.tiles
        rows = (b.sub_block * VECTOR_ROWS + part * SLICE) * SUB
        slot = self.turn % 2
        with s.filling(self.turn) as place:
            source = self.scores + tile % RING * (SUBS * PIECE_SCORES) + rows * F32.bytes
            for sub in range(SUBS):
                b.issue(
                    "copy_gm_to_ubuf_align.b32",
                    dst=place + sub * SUB * F32.bytes, src=source + sub * PIECE_SCORES,
                    bursts=SLICE, length=SUB * F32.bytes, dst_gap=SUB // PER_BLOCK,
                )  # fmt: skip
            if frees:
                b.cross_set(Pipe.MTE2, GROUP_MODE, SCORES_FREE)
        with s.draining(self.turn) as place, self.halves.filling(slot) as half:
            scale = self.scales + tile % RING * COLUMN_BYTES + part * SLICE * F32.bytes
            self.soften(place, half, scale, part, first)
        b.wait_flag(Pipe.V, Pipe.MTE3, self.halves.full + slot)
        target = self.weights + tile % RING * (SUBS * PIECE_WEIGHTS) + rows * F16.bytes
        for sub in range(SUBS):
            b.issue(
                "copy_ubuf_to_gm_align.b16",
                dst=target + sub * PIECE_WEIGHTS,
                src=self.halves.place(slot) + sub * SUB * F16.bytes,
                bursts=SLICE, length=SUB * F16.bytes, src_gap=SUB * F16.bytes // BLOCK_BYTES,
            )  # fmt: skip
        b.set_flag(Pipe.MTE3, Pipe.V, self.halves.free + slot)
        self.turn += 1

    def update(
        self, tile: Operand, *, first: bool = False, last: bool = False, frees: bool = False
    ) -> None:
        """The sums of a tile into the running ones; ``last`` divides by the sum of weights."""
        b = self.builder
        source = self.sums + tile % RING * TILE_SUMS + b.sub_block * OUT_BYTES
        with self.tiles.filling(self.turn) as place:
            b.issue(
                "copy_gm_to_ubuf_align.b32",
                dst=self.running_out if first else place, src=source, bursts=1, length=OUT_BYTES,
            )  # fmt: skip
            if frees:
                b.cross_set(Pipe.MTE2, GROUP_MODE, SUMS_FREE)
        out = self.running_out
        with self.tiles.draining(self.turn) as place:
            if not first:
                scale = self.scales + tile % RING * COLUMN_BYTES
                self.by_rows("vmul.f32", out, scale, VECTOR_ROWS, HEAD)
                repeat = VECTOR_ROWS * HEAD // LANES
                self.op("vadd.f32", dst=out, src0=out, src1=place, repeat=repeat)
            if last:
                self.by_rows("vdiv.f32", out, self.global_sum, VECTOR_ROWS, HEAD)
        self.turn += 1

    def program(self) -> Program:
        s, b = self.s, self.builder
        b.set(self.scores, self.scores + b.block * (RING * SUBS * PIECE_SCORES))
        b.set(self.weights, self.weights + b.block * (RING * SUBS * PIECE_WEIGHTS))
        b.set(self.sums, self.sums + b.block * (RING * TILE_SUMS))
        with (
            self.tiles.cycle(),
            self.halves.cycle(),
            b.loop(b.block, s.blocks, b.blocks, "queries") as block,
        ):
            for tile in range(PERIOD):
                self._weigh_tile(tile, tile)
            with b.loop(0, s.tiles - PERIOD, PERIOD, "tiles") as first:
                for phase in range(PERIOD):
                    self._both(first, phase)
            for phase in range(PERIOD):
                self._take(s.tiles - PERIOD, phase)
            b.sync(Pipe.V, Pipe.MTE3)
            rows = block * ROWS + b.sub_block * VECTOR_ROWS
            b.issue(
                "copy_ubuf_to_gm_align.b32",
                dst=self.out + rows * (HEAD * F32.bytes), src=self.running_out, bursts=1,
                length=OUT_BYTES,
            )  # fmt: skip
            b.sync(Pipe.MTE3, Pipe.MTE2)
            for _ in range(s.pending):
                b.cross_wait(WEIGHTS_FREE)
        b.barrier(Pipe.ALL)
        return b.build()

    def _weigh_tile(self, tile: Operand, phase: int, ahead: Value | None = None) -> None:
        """A tile of scores; ``ahead`` is the first of the period of sums it comes before."""
        b = self.builder
        b.cross_wait(SCORES)
        for part in range(SUBS):
            if part == 0 and phase == 0 and ahead is not None:
                with b.when(ahead >= RING - PERIOD):
                    b.cross_wait(WEIGHTS_FREE)
            frees = (phase, part) == (PERIOD - 1, SUBS - 1)
            self.weigh(tile, part, first=ahead is None and phase == 0, frees=frees)
        b.cross_set(Pipe.MTE3, GROUP_MODE, WEIGHTS)

    def _both(self, first: Value, phase: int) -> None:
        """Scores of the tile a period ahead, then sums of this one."""
        self._weigh_tile(first + (phase + PERIOD), phase, first)
        self._take(first, phase)

    def _take(self, first: Operand, phase: int) -> None:
        """The sums of a tile; those of the very first tile begin the running ones."""
        s, b = self.s, self.builder
        frees = phase == PERIOD - 1
        tile = first + phase
        b.cross_wait(SUMS)
        if isinstance(first, int):
            last = first + phase == s.tiles - 1
            self.update(tile, first=first + phase == 0, last=last, frees=frees)
        elif phase > 0:
            self.update(tile, frees=frees)
        else:
            turn = self.turn
            with b.when(first.equals(0)):
                self.update(tile, first=True)
            self.turn = turn
            with b.otherwise():
                self.update(tile)


def attention_vector_program(schedule: AttentionSchedule) -> Program:
    """What vector cores run."""
    schedule.check()
    return VectorWriter(schedule).program()
