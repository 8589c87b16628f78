"""The program of a matrix multiplication schedule, for one cube core of its grid."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.silicon.matmul_schedule import (
    EDGE,
    F16_BYTES,
    GROUP_MODE,
    L0_SLOT,
    LEAST_FRACTALS,
    TILE_READY,
    Ahead,
    Layout,
    MatmulSchedule,
)
from pypto.target.dtypes import F16, F32
from pypto.target.expressions import Operand, Value, ceil_div, combine, smaller
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, CoreKind, Pipe, Space
from pypto.target.program import Program
from pypto.target.ring import Ring
from pypto.target.structured import StructuredBuilder

UNIT_KEEP, UNIT_FLIP = 2, 3


@dataclass(frozen=True)
class Tile:
    """One tile of C: its first row and column, how many there are, and the addresses it needs."""

    rows: Operand
    columns: Operand
    a: Operand
    b: Operand
    c: Operand


def matmul_program(schedule: MatmulSchedule) -> Program:
    """The program that all cores of the grid run."""
    schedule.check()
    return _Writer(schedule).program()


class _Writer:
    """Writes one schedule; ``a``, ``b`` and ``c`` are its buffers in global memory."""

    def __init__(self, schedule: MatmulSchedule) -> None:
        self.s = s = schedule
        self.builder = b = StructuredBuilder("matmul", CoreKind.CUBE)
        self.a = b.buffer("a", F16)
        self.b = b.buffer("b", F16)
        self.c = b.buffer("c", s.out, writes=True)
        self.l1_a = b.ring(
            "a packets", Space.L1, s.packet_a, s.depth, filler=Pipe.MTE2, drainer=Pipe.MTE1
        )
        self.l1_b = b.ring(
            "b packets", Space.L1, s.packet_b, s.depth, filler=Pipe.MTE2, drainer=Pipe.MTE1,
            address=s.l1_b,
        )  # fmt: skip
        # One flag says that a step of A and of B is in L0A and L0B, at the same addresses.
        self.l0 = b.ring("a steps", Space.L0A, L0_SLOT, 2, filler=Pipe.MTE1, drainer=Pipe.M)
        b.local("b steps", Space.L0B, L0_SLOT, slots=2)
        b.local("sums", Space.L0C, s.base_m * s.base_n * F32.bytes)

    def program(self) -> Program:
        s, b = self.s, self.builder
        b.issue("set_fmatrix", value=s.base_m | 1 << 16)
        if s.layout is Layout.ROWS_OF_N:
            b.issue("set_fmatrix_b", value=s.base_k * s.step_b | 1 << 16)
        with self.l1_a.cycle(), self.l1_b.cycle(), self.l0.cycle():
            self._panels()
        b.barrier(Pipe.ALL)
        return b.build()

    def _panels(self) -> None:
        """All panels of this core, row of panels after row of panels."""
        s, b = self.s, self.builder
        across_m, across_n = s.grid_m * s.panel_m, s.grid_n * s.panel_n
        first_m = b.value(b.block % s.grid_m * s.panel_m, "first row")
        first_n = b.value(b.block // s.grid_m * s.panel_n, "first column")
        with (
            _loop(b, first_m, s.m, across_m) as m,
            _loop(b, first_n, s.n, across_n) as n,
        ):
            self._panel(m, n)

    def _panel(self, m: Value, n: Value) -> None:
        s, b = self.s, self.builder
        m_end = m + s.panel_m if s.m % s.panel_m == 0 else smaller(m + s.panel_m, s.m)
        n_end = n + s.panel_n if s.n % s.panel_n == 0 else smaller(n + s.panel_n, s.n)
        m_end, n_end = b.value(m_end, "last row"), b.value(n_end, "last column")
        rows = (m, m_end, s.base_m, s.m % s.panel_m == 0 and s.panel_m % s.base_m == 0)
        columns = (n, n_end, s.base_n, s.n % s.panel_n == 0 and s.panel_n % s.base_n == 0)
        outer, inner = (columns, rows) if s.columns_outside else (rows, columns)
        with (
            b.loop(outer[0], outer[1], outer[2], "outer") as i,
            b.loop(inner[0], inner[1], inner[2], "inner") as j,
        ):
            row, column = (j, i) if s.columns_outside else (i, j)
            self._tile(row, column, self._extent(row, *rows), self._extent(column, *columns))

    def _extent(self, start: Value, first: Value, end: Value, size: int, whole: bool) -> Operand:
        """Rows or columns of the tile at ``start``."""
        return size if whole else self.builder.value(smaller(end - start, size), "extent")

    def _tile(self, row: Value, column: Value, rows: Operand, columns: Operand) -> None:
        s, b = self.s, self.builder
        column_bytes = {
            Layout.ROWS_OF_K: s.k * F16_BYTES,
            Layout.ROWS_OF_N: F16_BYTES,
            Layout.FRACTALS: s.k * F16_BYTES,
        }[s.layout]
        tile = Tile(
            rows,
            columns,
            b.value(self.a + row * (s.k * F16_BYTES), "tile of a"),
            b.value(self.b + column * column_bytes, "tile of b"),
            b.value(self.c + row * (s.n * s.out.bytes) + column * s.out.bytes, "tile of c"),
        )
        periods = s.k_steps // s.period
        if s.ahead is not Ahead.NOT:
            self._load_both(tile, 0, 0)
        with b.loop(0, periods, name="period") as period:
            for step in range(s.period):
                if s.ahead is Ahead.NOT:
                    self._load(tile, period, step, s.b_first)
                elif s.ahead is Ahead.ONE:
                    self._load_next(tile, period, step, periods)
                self._multiply(tile, period, step, periods)
                if s.ahead is Ahead.BEHIND_USE:
                    self._load_behind(tile, period, step, periods)
        self._store(tile)

    def _load_both(self, tile: Tile, period: Operand, packet: int) -> None:
        self._load_a(tile, period, packet)
        self._load_b(tile, period, packet)

    def _load(self, tile: Tile, period: Value, step: int, b_first: bool) -> None:
        """The packets that begin with this step."""
        s = self.s
        loads = [
            (self._load_a, step % s.step_a == 0, step // s.step_a),
            (self._load_b, step % s.step_b == 0, step // s.step_b),
        ]
        for load, begins, packet in reversed(loads) if b_first else loads:
            if begins:
                load(tile, period, packet)

    def _load_next(self, tile: Tile, period: Value, step: int, periods: int) -> None:
        """Where a packet begins, the one behind it; the last has none."""
        s = self.s
        for load, size in ((self._load_a, s.step_a), (self._load_b, s.step_b)):
            packets = s.period // size
            if step % size == 0:
                with self._unless_last(period, periods, step // size + 1 >= packets):
                    load(tile, period, step // size + 1)

    def _load_behind(self, tile: Tile, period: Value, step: int, periods: int) -> None:
        """The second packets behind the first step, then each behind the one it overwrites."""
        s, b = self.s, self.builder
        for load, size in ((self._load_b, s.step_b), (self._load_a, s.step_a)):
            packets = s.period // size
            if step == 0:
                with b.when(period.equals(0)):
                    load(tile, period, 1)
            if (step + 1) % size == 0:
                packet = step // size + 2
                with self._unless_last(period, periods, packet >= packets):
                    load(tile, period, packet)

    @contextmanager
    def _unless_last(self, period: Value, periods: int, crosses: bool) -> Iterator[None]:
        """A block left out in the last period where what it loads would be beyond K."""
        with ExitStack() as stack:
            if crosses:
                stack.enter_context(self.builder.when(period < periods - 1))
            yield

    def _packet(self, period: Operand, packet: int, size: int) -> Operand:
        """The first step of K of a packet, counted over the whole of K."""
        s, b = self.s, self.builder
        if not s.stagger:
            return period * s.period + packet * size
        first = b.block * (max(s.step_a, s.step_b) // size)
        turn = period * (s.period // size) + (first + packet)
        return turn % (s.k_steps // size) * size

    def _load_a(self, tile: Tile, period: Operand, packet: int) -> None:
        s = self.s
        k = self._packet(period, packet, s.step_a)
        with self.l1_a.filling(packet) as place:
            self._rows_of_k(
                place, tile.a + k * (s.base_k * F16_BYTES), tile.rows, s.step_a, s.base_m
            )

    def _load_b(self, tile: Tile, period: Operand, packet: int) -> None:
        s, b = self.s, self.builder
        k = self._packet(period, packet, s.step_b) * s.base_k
        with self.l1_b.filling(packet) as place:
            if s.layout is Layout.ROWS_OF_K:
                source = tile.b + k * F16_BYTES
                self._rows_of_k(place, source, tile.columns, s.step_b, s.base_n)
            elif s.layout is Layout.ROWS_OF_N:
                b.issue(
                    "copy_gm_to_cbuf_multi_nd2nz.b16",
                    dst=place, src=tile.b + k * (s.n * F16_BYTES), rows=s.base_k * s.step_b,
                    columns=tile.columns, src_row_stride=s.n,
                    dst_column_stride=s.base_k * s.step_b,
                )  # fmt: skip
            else:
                b.issue(
                    "copy_gm_to_cbuf.b32",
                    dst=place, src=tile.b + k * BLOCK_BYTES, bursts=tile.columns // EDGE,
                    length=s.base_k * s.step_b, src_gap=s.k - s.base_k * s.step_b, dst_gap=0,
                )  # fmt: skip

    def _rows_of_k(
        self, place: Operand, source: Operand, rows: Operand, steps: int, pitch: int
    ) -> None:
        """Rows that run along K, to fractals in columns of ``pitch`` rows."""
        self.builder.issue(
            "copy_gm_to_cbuf_multi_nd2nz.b16",
            dst=place, src=source, rows=rows, columns=steps * self.s.base_k,
            src_row_stride=self.s.k, dst_column_stride=pitch,
        )  # fmt: skip

    def _multiply(self, tile: Tile, period: Value, step: int, periods: int) -> None:
        """One step of K: from L1 to L0A and L0B, and into the sums."""
        s, b = self.s, self.builder
        with self.l0.filling(step) as slot, ExitStack() as stack:
            place_a = _used(stack, self.l1_a, step, s.step_a)
            place_b = _used(stack, self.l1_b, step, s.step_b)
            self._step_of_a(slot, place_a, step % s.step_a, tile.rows)
            self._step_of_b(slot, place_b, step % s.step_b, tile.columns)
        last = step == s.period - 1
        unit = UNIT_KEEP if s.unit_flag else 0
        with self.l0.draining(step) as slot:
            b.issue(
                "mad.f16",
                c=0, a=slot, b=slot, m=tile.rows, k=s.base_k, n=tile.columns,
                c_init=combine("seq", period, 0) if step == 0 else 0,
                unit_flag=unit + combine("seq", period, periods - 1) if unit and last else unit,
            )  # fmt: skip
            if s.has_small_tiles:
                self._part_mads(tile)

    def _part_mads(self, tile: Tile) -> None:
        """A barrier where the tile is so small that its sums are not ready for the next mad."""
        b = self.builder
        fractals = tile.rows // EDGE * (tile.columns // EDGE)
        if isinstance(fractals, int):
            b.barrier(Pipe.M)
            return
        with b.when(fractals < LEAST_FRACTALS):
            b.barrier(Pipe.M)

    def _step_of_a(self, slot: Operand, packet: Operand, step: int, rows: Operand) -> None:
        s = self.s
        self.builder.issue(
            "img2colv2_cbuf_to_ca.b16",
            dst=slot, src=packet + step * s.base_k * s.base_m * F16_BYTES,
            step_k=s.base_k, step_m=_whole(rows), pos_m=0, channels=s.base_k,
        )  # fmt: skip

    def _step_of_b(self, slot: Operand, packet: Operand, step: int, columns: Operand) -> None:
        s, b = self.s, self.builder
        blocks = columns // EDGE if isinstance(columns, int) else ceil_div(columns, EDGE)
        if s.layout is Layout.ROWS_OF_N:
            b.issue(
                "img2colv2_cbuf_to_cb.b16",
                dst=slot, src=packet, step_k=_whole(columns), step_m=s.base_k,
                pos_m=step * s.base_k, channels=_whole(columns), transpose=1, second=1,
            )  # fmt: skip
            return
        for block in range(s.base_k // EDGE):
            column = step * (s.base_k // EDGE) + block
            if s.layout is Layout.ROWS_OF_K:
                source, stride = packet + column * (s.base_n * BLOCK_BYTES), 1
            else:
                source, stride = packet + column * FRACTAL_BYTES, s.base_k * s.step_b // EDGE
            b.issue(
                "load_cbuf_to_cb.b16",
                dst=slot + block * FRACTAL_BYTES * blocks, src=source, index=0, repeat=blocks,
                src_stride=stride, dst_gap=0, transpose=int(s.layout is Layout.FRACTALS),
            )  # fmt: skip

    def _store(self, tile: Tile) -> None:
        """The tile to global memory, rows beside rows."""
        s, b = self.s, self.builder
        if not s.unit_flag:
            b.sync(Pipe.M, Pipe.FIX)
        b.issue(
            f"copy_matrix_cc_to_gm.{'f32' if s.out is F32 else 'f32f16'}",
            dst=tile.c, src=0, n=tile.columns, m=tile.rows, dst_stride=s.n,
            src_stride=_whole(tile.rows), unit_flag=UNIT_FLIP if s.unit_flag else 0,
        )  # fmt: skip
        if s.tells:
            b.cross_set(Pipe.FIX, GROUP_MODE, TILE_READY)
        if not s.unit_flag:
            b.sync(Pipe.FIX, Pipe.M)


def _used(stack: ExitStack, ring: Ring, step: int, size: int) -> Operand:
    """The packet of a step: waited for by its first step, given back by its last."""
    packet = step // size
    if step % size == 0:
        ring.builder.wait_flag(ring.filler, ring.drainer, ring.full + packet % ring.slots)
    if (step + 1) % size == 0:
        stack.callback(
            ring.builder.set_flag, ring.drainer, ring.filler, ring.free + packet % ring.slots
        )
    return ring.place(packet)


def _whole(count: Operand) -> Operand:
    """Rounded up to whole fractals."""
    return ceil_div(count, EDGE) * EDGE


@contextmanager
def _loop(builder: StructuredBuilder, first: Value, limit: int, step: int) -> Iterator[Value]:
    """A loop, or its only turn where the step covers everything."""
    if step >= limit:
        with builder.scope():
            yield first
        return
    with builder.loop(first, limit, step) as index:
        yield index
