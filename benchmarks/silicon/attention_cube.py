"""The cube cores' half of attention: scores, and products of weights with values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.silicon.attention_schedule import (
    GROUP_MODE,
    HEAD,
    MATRIX,
    PERIOD,
    PIECE_SCORES,
    PIECE_WEIGHTS,
    RING,
    ROWS,
    SCORES,
    SCORES_FREE,
    SUB,
    SUBS,
    SUMS,
    SUMS_FREE,
    TILE,
    TILE_SUMS,
    WEIGHTS,
    WEIGHTS_FREE,
    AttentionSchedule,
)
from pypto.target.dtypes import F16, F32
from pypto.target.expressions import Operand, Value
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, CoreKind, Pipe, Space
from pypto.target.program import Program
from pypto.target.structured import StructuredBuilder

EDGE = 16
L0_SLOT = 32_768
SUMS_SLOT = ROWS * SUB * F32.bytes  # of L0C
UNIT_KEEP, UNIT_FLIP = 2, 3


class CubeWriter:
    """Writes the stages of cube cores; ``turn`` counts products, which alternate in L0."""

    def __init__(self, schedule: AttentionSchedule) -> None:
        self.s = schedule
        self.builder = b = StructuredBuilder("attention_cube", CoreKind.CUBE)
        self.q, self.k, self.v = (b.buffer(name, F16) for name in "qkv")
        self.scores = b.buffer("scores", F32, writes=True)
        self.weights = b.buffer("weights", F16)
        self.sums = b.buffer("sums", F32, writes=True)
        self.l1_q = b.local("q", Space.L1, MATRIX)
        self.l1_k = b.ring("k", Space.L1, MATRIX, 2, filler=Pipe.MTE2, drainer=Pipe.MTE1)
        self.l1_p = b.local("weights", Space.L1, MATRIX, slots=2)
        self.l1_v = b.ring("v", Space.L1, MATRIX, 2, filler=Pipe.MTE2, drainer=Pipe.MTE1)
        self.l0 = b.ring("a", Space.L0A, L0_SLOT, 2, filler=Pipe.MTE1, drainer=Pipe.M)
        b.local("b", Space.L0B, L0_SLOT, slots=2)
        self.l0c = b.ring("c", Space.L0C, SUMS_SLOT, 2, filler=Pipe.M, drainer=Pipe.FIX)
        self.turn = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """A block at whose beginning and end all buffers are free."""
        b = self.builder
        b.issue("set_fmatrix", value=ROWS | 1 << 16)
        b.issue("set_fmatrix_b", value=SUB | 1 << 16)
        with self.l1_k.cycle(), self.l1_v.cycle(), self.l0.cycle():
            if self.s.unit_flag:
                yield
            else:
                with self.l0c.cycle():
                    yield
        b.barrier(Pipe.ALL)

    def load(self, place: Operand, source: Operand) -> None:
        """128 rows of 128 elements that lie end to end, to fractals."""
        self.builder.issue(
            "copy_gm_to_cbuf_multi_nd2nz.b16",
            dst=place, src=source, rows=ROWS, columns=HEAD, src_row_stride=HEAD,
            dst_column_stride=ROWS,
        )  # fmt: skip

    def multiply(
        self, a: Operand, other: Operand, *, turned: bool, sums: int, first: bool, last: bool
    ) -> None:
        """128x128 of L0C, from A and from B [n, k], or ``turned`` [k, n]."""
        b = self.builder
        with self.l0.filling(self.turn) as slot:
            b.issue(
                "img2colv2_cbuf_to_ca.b16",
                dst=slot, src=a, step_k=HEAD, step_m=ROWS, pos_m=0, channels=HEAD,
            )  # fmt: skip
            if turned:
                b.issue(
                    "img2colv2_cbuf_to_cb.b16",
                    dst=slot, src=other, step_k=HEAD, step_m=SUB, pos_m=0, channels=HEAD,
                    transpose=1, second=1,
                )  # fmt: skip
            else:
                for column in range(HEAD // EDGE):
                    b.issue(
                        "load_cbuf_to_cb.b16",
                        dst=slot + column * (SUB // EDGE) * FRACTAL_BYTES,
                        src=other + column * SUB * BLOCK_BYTES, index=0, repeat=SUB // EDGE,
                    )  # fmt: skip
        with self.l0.draining(self.turn) as slot:
            if first and not self.s.unit_flag:
                b.wait_flag(Pipe.FIX, Pipe.M, self.l0c.free + sums)
            unit = (UNIT_FLIP if last else UNIT_KEEP) if self.s.unit_flag else 0
            b.issue(
                "mad.f16",
                c=self.l0c.place(sums), a=slot, b=slot, m=ROWS, k=SUB, n=HEAD, c_init=int(first),
                unit_flag=unit,
            )  # fmt: skip
            if last and not self.s.unit_flag:
                b.set_flag(Pipe.M, Pipe.FIX, self.l0c.full + sums)
        self.turn += 1

    def drain(self, target: Operand, sums: int) -> None:
        """128x128 of L0C to global memory, row behind row."""
        b = self.builder
        if not self.s.unit_flag:
            b.wait_flag(Pipe.M, Pipe.FIX, self.l0c.full + sums)
        b.issue(
            "copy_matrix_cc_to_gm.f32",
            dst=target, src=self.l0c.place(sums), n=SUB, m=ROWS, dst_stride=SUB, src_stride=ROWS,
            unit_flag=UNIT_FLIP if self.s.unit_flag else 0,
        )  # fmt: skip
        if not self.s.unit_flag:
            b.set_flag(Pipe.FIX, Pipe.M, self.l0c.free + sums)

    def score(self, tile: Operand, sub: int, sums: int, query: Operand | None = None) -> None:
        """The scores of 128 keys; ``query`` are the queries, where they are not in L1 yet."""
        b = self.builder
        with self.l1_k.filling(sub) as place:
            if query is not None:
                self.load(self.l1_q, query)
            self.load(place, self.k + (tile * TILE + sub * SUB) * (HEAD * F16.bytes))
        b.wait_flag(Pipe.MTE2, Pipe.MTE1, self.l1_k.full + sub)
        self.multiply(
            self.l1_q, self.l1_k.place(sub), turned=False, sums=sums, first=True, last=True
        )
        b.set_flag(Pipe.MTE1, Pipe.MTE2, self.l1_k.free + sub)
        self.drain(self.scores + (tile % RING * SUBS + sub) * PIECE_SCORES, sums)

    def value(self, tile: Operand, sub: int, sums: int, *, frees: bool = False) -> None:
        """The weights of 128 keys times their values; ``frees``: tell when they are in L1."""
        b = self.builder
        with self.l1_v.filling(sub) as place:
            self.load(place, self.v + (tile * TILE + sub * SUB) * (HEAD * F16.bytes))
            weights = self.weights + (tile % RING * SUBS + sub) * PIECE_WEIGHTS
            self.load(self.l1_p + sub * MATRIX, weights)
            if frees:
                b.cross_set(Pipe.MTE2, GROUP_MODE, WEIGHTS_FREE)
        b.wait_flag(Pipe.MTE2, Pipe.MTE1, self.l1_v.full + sub)
        self.multiply(
            self.l1_p + sub * MATRIX, self.l1_v.place(sub), turned=True, sums=sums,
            first=sub == 0, last=sub == SUBS - 1,
        )  # fmt: skip
        b.set_flag(Pipe.MTE1, Pipe.MTE2, self.l1_v.free + sub)


class _AttentionWriter(CubeWriter):
    """Writes the whole half, with what cube and vector cores tell each other."""

    def program(self) -> Program:
        s, b = self.s, self.builder
        b.set(self.scores, self.scores + b.block * (RING * SUBS * PIECE_SCORES))
        b.set(self.weights, self.weights + b.block * (RING * SUBS * PIECE_WEIGHTS))
        b.set(self.sums, self.sums + b.block * (RING * TILE_SUMS))
        with self.running(), b.loop(b.block, s.blocks, b.blocks, "queries") as block:
            query = b.value(self.q + block * MATRIX, "queries")
            for tile in range(PERIOD):
                for sub in range(SUBS):
                    first = query if tile + sub == 0 else None
                    self.score(tile, sub, (tile * SUBS + sub) % 2, first)
                b.cross_set(Pipe.FIX, GROUP_MODE, SCORES)
            with b.loop(0, s.tiles - PERIOD, PERIOD, "tiles") as first:
                for phase in range(PERIOD):
                    self._both(first, phase)
            for phase in range(PERIOD):
                b.cross_wait(WEIGHTS)
                for sub in range(SUBS):
                    self._weigh(s.tiles - PERIOD, phase, sub)
                self._finish(s.tiles - PERIOD, phase)
            for event in (SCORES_FREE, SUMS_FREE):
                for _ in range(s.pending):
                    b.cross_wait(event)
        return b.build()

    def _both(self, first: Value, phase: int) -> None:
        """Scores of the tile a period ahead and sums of this one, piece by piece."""
        b = self.builder
        if phase == 0:
            with b.when(first >= RING - PERIOD):
                b.cross_wait(SCORES_FREE)
        for sub in range(SUBS):
            self.score(first + (phase + PERIOD), sub, 0)
            if sub == SUBS - 1:
                b.cross_set(Pipe.FIX, GROUP_MODE, SCORES)
            if sub == 0:
                b.cross_wait(WEIGHTS)
            self._weigh(first, phase, sub)
        self._finish(first, phase)

    def _weigh(self, first: Operand, phase: int, sub: int) -> None:
        self.value(first + phase, sub, 1, frees=(phase, sub) == (PERIOD - 1, SUBS - 1))

    def _finish(self, first: Operand, phase: int) -> None:
        """The sums of a tile to their ring; before the first of a period they must be free."""
        b = self.builder
        if phase == 0 and isinstance(first, Value):
            with b.when(first >= RING):
                b.cross_wait(SUMS_FREE)
        elif phase == 0 and self.s.tiles - PERIOD >= RING:
            b.cross_wait(SUMS_FREE)
        self.drain(self.sums + (first + phase) % RING * TILE_SUMS, 1)
        b.cross_set(Pipe.FIX, GROUP_MODE, SUMS)


def attention_cube_program(schedule: AttentionSchedule) -> Program:
    """What cube cores run."""
    schedule.check()
    return _AttentionWriter(schedule).program()
