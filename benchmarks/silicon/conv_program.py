"""A 3x3 convolution on cube cores by unfolding the image on the way to L0A (load3d).

The schedule is that of kernels/manual/a2a3/conv2d_forward of hw-native-sys/pto-isa: a core takes
one image and a share of the output channels; tiles of 128 positions by 256 channels; K in steps of
48, three of which (a channel block and its filters) are one packet in L1, two packets deep.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.silicon.matmul_schedule import EDGE, F16_BYTES, L0_SLOT
from pypto.errors import CompileError
from pypto.target.dtypes import F16, F32
from pypto.target.expressions import Operand, Value, combine, larger, smaller
from pypto.target.memory import BLOCK_BYTES, FRACTAL_BYTES, CoreKind, Pipe, Space
from pypto.target.program import Program
from pypto.target.structured import StructuredBuilder

C0 = 16  # channels of a pixel of f16
SIDE = 3  # of the filter
PAD = 1
TAPS = SIDE * SIDE
SLOTS = 2
L1_FILTERS = 0x20000


@dataclass(frozen=True, kw_only=True)
class ConvSchedule:
    """``images`` of [channel_blocks, height, width, 16] f16 and ``filters`` output channels.

    Stride 1, border 1; the result is [images, filters / 16, height, width, 16] f16. The filters
    lie as [channel_blocks * 9, filters / 16, 16, 16]. The grid is ``images`` x ``shares`` cores.
    """

    images: int
    channel_blocks: int
    height: int
    width: int
    filters: int
    shares: int
    base_m: int = 128
    base_n: int = 256
    base_k: int = 48

    @property
    def cores(self) -> int:
        return self.images * self.shares

    @property
    def positions(self) -> int:
        """Positions of the filter in an image: rows of the product."""
        return self.height * self.width

    @property
    def steps(self) -> int:
        """Steps of K in a channel block, which is one packet."""
        return TAPS * C0 // self.base_k

    @property
    def most_rows(self) -> int:
        """Rows of the image that the positions of a tile can touch, and two more."""
        return -(-self.base_m // self.width) + 1 + 2 * PAD

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the buffers in global memory."""
        return {
            "x": (self.images, self.channel_blocks, self.height, self.width, C0),
            "w": (self.channel_blocks * TAPS, self.filters // EDGE, EDGE, C0),
            "y": (self.images, self.filters // C0, self.height, self.width, C0),
        }

    def check(self) -> None:
        """Raise a CompileError where the schedule does not fit the shape."""
        share = self.filters // self.shares
        whole = (
            self.filters % self.shares == 0
            and share % self.base_n == 0
            and self.channel_blocks % SLOTS == 0
            and TAPS * C0 % self.base_k == 0
            and self.positions % EDGE == 0
        )
        if not whole:
            raise CompileError(
                "SCHEDULE",
                f"conv schedule: {self.filters} filters in {self.shares} shares of tiles of "
                f"{self.base_n}, {self.channel_blocks} channel blocks two at a time, "
                f"{TAPS * C0} of K in steps of {self.base_k}, {self.positions} positions by 16 "
                "do not all come out even",
            )


def conv_program(schedule: ConvSchedule) -> Program:
    """The program that all cores of the grid run."""
    schedule.check()
    return _Writer(schedule).program()


@dataclass(frozen=True)
class Band:
    """The positions of one row of tiles: the first, how many, and the image rows they touch."""

    start: Value
    count: Operand
    top: Value
    rows: Value


class _Writer:
    """Writes one schedule; ``x``, ``w`` and ``y`` are its buffers in global memory."""

    def __init__(self, schedule: ConvSchedule) -> None:
        self.s = s = schedule
        self.builder = b = StructuredBuilder("conv", CoreKind.CUBE)
        self.x = b.buffer("x", F16)
        self.w = b.buffer("w", F16)
        self.y = b.buffer("y", F16, writes=True)
        row = s.width * BLOCK_BYTES
        filters = s.steps * s.base_k * s.base_n * F16_BYTES
        self.images = b.ring(
            "images", Space.L1, s.most_rows * row, SLOTS, filler=Pipe.MTE2, drainer=Pipe.MTE1
        )
        self.filters = b.ring(
            "filters", Space.L1, filters, SLOTS, filler=Pipe.MTE2, drainer=Pipe.MTE1,
            address=L1_FILTERS,
        )  # fmt: skip
        self.l0 = b.ring("a steps", Space.L0A, L0_SLOT, SLOTS, filler=Pipe.MTE1, drainer=Pipe.M)
        b.local("b steps", Space.L0B, L0_SLOT, slots=SLOTS)
        b.local("sums", Space.L0C, s.base_m * s.base_n * F32.bytes)

    def program(self) -> Program:
        s, b = self.s, self.builder
        share = s.filters // s.shares
        b.issue("set_padding", value=0)
        first = b.value(b.block % s.shares * share, "first filter")
        image = b.value(b.block // s.shares, "image")
        b.set(self.x, self.x + image * (s.channel_blocks * s.positions * BLOCK_BYTES))
        b.set(self.y, self.y + image * (s.filters * s.positions * F16_BYTES))
        end = b.value(first + share, "last filter")
        with (
            self.images.cycle(),
            self.filters.cycle(),
            self.l0.cycle(),
            b.loop(0, s.positions, s.base_m, "position") as start,
        ):
            band = self._band(start)
            with b.loop(first, end, s.base_n, "filter") as filters:
                self._tile(band, filters)
        b.barrier(Pipe.ALL)
        return b.build()

    def _band(self, start: Value) -> Band:
        """Finds the rows of the image, and sets the borders that remain above and below."""
        s, b = self.s, self.builder
        whole = s.positions % s.base_m == 0
        count = s.base_m if whole else b.value(smaller(s.positions - start, s.base_m), "count")
        out_top = b.value(start // s.width, "first row of positions")
        out_end = b.value((start + count - 1) // s.width, "last row of positions")
        top = b.value(larger(out_top - PAD, 0), "top")
        bottom = b.value(smaller(out_end + PAD, s.height - 1), "bottom")
        rows = b.value(bottom - top + 1, "rows")
        above = larger(PAD - out_top, 0)
        below = larger(out_end + PAD + 1 - s.height, 0)
        size = rows * (1 << 16) + (s.width | PAD << 32 | PAD << 40)
        b.issue("set_fmatrix", value=size + above * (1 << 48) + below * (1 << 56))
        return Band(start, count, top, rows)

    def _tile(self, band: Band, filters: Value) -> None:
        s, b = self.s, self.builder
        pixels = b.value(self.x + band.top * (s.width * BLOCK_BYTES), "pixels")
        weights = b.value(self.w + filters * BLOCK_BYTES, "weights")
        periods = s.channel_blocks // SLOTS
        with b.loop(0, periods, name="period") as period:
            for packet in range(SLOTS):
                self._load(band, pixels, weights, period, packet)
                for step in range(s.steps):
                    self._multiply(band, period, packet, step)
        b.sync(Pipe.M, Pipe.FIX)
        b.issue(
            "copy_matrix_cc_to_gm.f32f16",
            dst=self.y + filters * (s.positions * F16_BYTES) + band.start * BLOCK_BYTES,
            src=0, n=s.base_n, m=band.count, dst_stride=s.positions, src_stride=band.count, nz2nd=0,
        )  # fmt: skip
        b.sync(Pipe.FIX, Pipe.M)

    def _load(self, band: Band, pixels: Value, weights: Value, period: Value, packet: int) -> None:
        """A channel block of the image, and its filters for the tile."""
        s, b = self.s, self.builder
        block = period * SLOTS + packet
        with self.images.filling(packet) as place:
            b.issue(
                "copy_gm_to_cbuf.b32",
                dst=place, src=pixels + block * (s.positions * BLOCK_BYTES), bursts=1,
                length=band.rows * s.width, src_gap=0, dst_gap=0,
            )  # fmt: skip
        with self.filters.filling(packet) as place:
            b.issue(
                "copy_gm_to_cbuf.b32",
                dst=place, src=weights + block * (TAPS * s.filters * BLOCK_BYTES), bursts=TAPS,
                length=s.base_n, src_gap=s.filters - s.base_n, dst_gap=0,
            )  # fmt: skip

    def _multiply(self, band: Band, period: Value, packet: int, step: int) -> None:
        """One step of K: from L1 to L0A and L0B, and into the sums."""
        s, b = self.s, self.builder
        turn = packet * s.steps + step
        columns = s.base_k // C0
        rings = (self.images, self.filters)
        with self.l0.filling(turn) as slot:
            for ring in rings if step == 0 else ():
                b.wait_flag(Pipe.MTE2, Pipe.MTE1, ring.full + packet)
            b.issue(
                "img2colv2_cbuf_to_ca.b16",
                dst=slot, src=self.images.place(packet), step_k=s.base_k, step_m=band.count,
                pos_k=step * s.base_k, pos_m=band.start % s.width, filter_w=SIDE, filter_h=SIDE,
                channels=C0,
            )  # fmt: skip
            for column in range(columns):
                fractals = s.base_n // EDGE
                b.issue(
                    "load_cbuf_to_cb.b16",
                    dst=slot + column * fractals * FRACTAL_BYTES, src=self.filters.place(packet),
                    index=(step * columns + column) * fractals, repeat=fractals,
                )  # fmt: skip
            for ring in rings if step == s.steps - 1 else ():
                b.set_flag(Pipe.MTE1, Pipe.MTE2, ring.free + packet)
        with self.l0.draining(turn) as slot:
            b.issue(
                "mad.f16",
                c=0, a=slot, b=slot, m=band.count, k=s.base_k, n=s.base_n,
                c_init=combine("seq", period, 0) if turn == 0 else 0,
            )  # fmt: skip
