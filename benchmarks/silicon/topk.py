"""The largest elements of rows: [pto-isa] kernels/manual/a2a3/topk, as its code issues it.

A core owns whole rows of f32 and takes two at a time, in two sets of buffers by turns: 32 elements
are sorted at once, lists are merged four at a time and at last two, each time into a scratch row
that is copied back, then scores and indices are taken apart. Flags are the source's: a set is
loaded again once it is sorted, and nothing holds up results behind their store. (The source takes
all elements apart and stores k of them; here it is k, as the rest would run into the next row.)
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.silicon.family import Family, Outcome, Settings, base_name, timed
from pypto.errors import CompileError
from pypto.target.dtypes import F32, U32
from pypto.target.expressions import Operand
from pypto.target.memory import BLOCK_BYTES, CoreKind, Pipe, Space
from pypto.target.one_launch import one_launch
from pypto.target.program import Program
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder

SETS = 2
ROWS = 2  # of a set
SORTED = 32
WAYS = 4
PAIR = 8
EVEN, ODD = 1, 2  # patterns of elements kept: scores, indices


@dataclass(kw_only=True)
class TopKWriter:
    """Writes the kernel for ``rows`` rows of each core."""

    builder: StructuredBuilder
    rows: int
    columns: int
    pitch: int
    k: int

    def __post_init__(self) -> None:
        length = SORTED
        while length * WAYS <= self.columns:
            length *= WAYS
        if self.columns not in (length, 2 * length) or self.rows % (SETS * ROWS) != 0:
            raise CompileError(
                "BAD_SETTING",
                f"silicon.topk: {self.rows} rows of {self.columns} on a core",
                notes=(f"a core takes {SETS * ROWS} rows a turn",),
                fix=f"columns {SORTED} times a power of 4, or twice that, and rows in fours",
            )

    @property
    def list_bytes(self) -> int:
        """A row as pairs."""
        return self.columns * PAIR

    def op(self, mnemonic: str, **operands: Operand) -> None:
        """One instruction and a barrier behind it."""
        self.builder.issue(mnemonic, **operands)
        self.builder.barrier(Pipe.V)

    def copy(self, target: int, source: int, length: int) -> None:
        self.op(
            "copy_ubuf_to_ubuf.b32", dst=target, src=source, bursts=1, length=length // BLOCK_BYTES
        )

    def merge(self, place: int, scratch: int, length: int, lists: int) -> None:
        """All lists of ``length`` pairs in groups of ``lists``, by way of the scratch row."""
        starts = [place + i * length * PAIR for i in range(lists)]
        starts += [starts[-1]] * (WAYS - lists)
        self.op(
            "vmrgsort4.f32", dst=scratch, **{f"src{i}": start for i, start in enumerate(starts)},
            **{f"length{i}": length for i in range(WAYS)}, valid=2**lists - 1,
            repeat=self.columns // (length * lists),
        )  # fmt: skip
        self.copy(place, scratch, self.list_bytes)

    def sort_row(self, target: int, place: int, scratch: int) -> None:
        """Lists of 32 pairs at ``place`` become one; its first k pairs go to ``target``."""
        length = SORTED
        while length * WAYS <= self.columns:
            self.merge(place, scratch, length, WAYS)
            length *= WAYS
        if length < self.columns:
            self.merge(place, scratch, length, 2)
        self.copy(target, place, self.k * PAIR)

    def take(self, target: int, source: int, pattern: int) -> None:
        """The scores or the indices of k pairs."""
        b = self.builder
        b.issue("set_mask_count")
        b.issue("set_vector_mask", high=0, low=2 * self.k)
        b.issue("vreducev2.u32", dst=target, src0=source, src1=source, repeat=1, pattern=pattern)
        b.issue("set_mask_norm")
        b.issue("set_vector_mask", high=-1, low=-1)

    def program(self) -> Program:
        b, width = self.builder, F32.bytes
        x, places = b.buffer("x", F32), b.buffer("places", U32)
        scores, indices = b.buffer("scores", F32, writes=True), b.buffer("i", U32, writes=True)
        lists = b.local("pairs", Space.UB, ROWS * self.list_bytes, slots=SETS)
        merged = b.local("merged pairs", Space.UB, ROWS * self.list_bytes, slots=SETS)
        numbers = b.local("indices of a row", Space.UB, self.columns * width)
        scratch = b.local("scratch rows", Space.UB, self.list_bytes, slots=SETS)
        result = ROWS * self.k * width
        best = b.local("scores", Space.UB, result, slots=SETS)
        where = b.local("indices", Space.UB, result, slots=SETS)
        source = b.local("rows", Space.UB, ROWS * self.columns * width, slots=SETS)
        free = b.event_ids(Pipe.V, Pipe.MTE2, SETS)
        full = b.event_ids(Pipe.MTE2, Pipe.V, SETS)
        done = b.event_ids(Pipe.V, Pipe.MTE3, 2 * SETS)
        self._load(numbers, places, 1, 0)
        for n in range(SETS):
            b.set_flag(Pipe.V, Pipe.MTE2, free + n)
        with b.loop(0, self.rows, SETS * ROWS, "row") as row:
            for n in range(SETS):
                first = b.block * self.rows + row + n * ROWS
                rows_in = source + n * ROWS * self.columns * width
                here = [lists + (n * ROWS + i) * self.list_bytes for i in range(ROWS)]
                there = [merged + (n * ROWS + i) * self.list_bytes for i in range(ROWS)]
                b.wait_flag(Pipe.V, Pipe.MTE2, free + n)
                self._load(rows_in, x + first * (self.pitch * width), ROWS, self.pitch)
                b.set_flag(Pipe.MTE2, Pipe.V, full + n)
                b.wait_flag(Pipe.MTE2, Pipe.V, full + n)
                for i, place in enumerate(here):
                    self.op(
                        "vbitsort.f32", dst=place, src0=rows_in + i * self.columns * width,
                        src1=numbers, repeat=self.columns // SORTED,
                    )  # fmt: skip
                b.set_flag(Pipe.V, Pipe.MTE2, free + n)
                for place, target in zip(here, there, strict=True):
                    self.sort_row(target, place, scratch + n * self.list_bytes)
                for j, (slots, pattern) in enumerate(((best, EVEN), (where, ODD))):
                    for i, place in enumerate(there):
                        target = slots + n * result + i * self.k * width
                        self.take(target, place, pattern)
                    b.set_flag(Pipe.V, Pipe.MTE3, done + n + j * SETS)
                for j, (slots, out) in enumerate(((best, scores), (where, indices))):
                    b.wait_flag(Pipe.V, Pipe.MTE3, done + n + j * SETS)
                    b.issue(
                        "copy_ubuf_to_gm_align.b32", dst=out + first * (self.k * width),
                        src=slots + n * result, bursts=ROWS, length=self.k * width,
                    )  # fmt: skip
        for n in range(SETS):
            b.wait_flag(Pipe.V, Pipe.MTE2, free + n)
        return b.build()

    def _load(self, target: int, source: Operand, rows: int, pitch: int) -> None:
        length = self.columns * F32.bytes
        self.builder.issue(
            "copy_gm_to_ubuf_align.b32", dst=target, src=source, bursts=rows, length=length,
            src_gap=max(0, pitch * F32.bytes - length),
        )  # fmt: skip


def topk_program(s: Settings) -> Program:
    """The kernel of settings."""
    return TopKWriter(
        builder=StructuredBuilder("topk", CoreKind.VECTOR), rows=int(s["rows"]) // int(s["cores"]),
        columns=int(s["columns"]), pitch=int(s["pitch"]), k=int(s["k"]),
    ).program()  # fmt: skip


def shapes_of(s: Settings) -> dict[str, tuple[int, ...]]:
    rows, columns, k = int(s["rows"]), int(s["columns"]), int(s["k"])
    return {
        "x": (rows, int(s["pitch"])), "places": (columns,), "scores": (rows, k), "i": (rows, k),
    }  # fmt: skip


def measure(machine: Soc, s: Settings) -> Outcome:
    executable = one_launch(base_name(machine), [topk_program(s)], int(s["cores"]), shapes_of(s))
    return timed(executable, machine)


TOPK = Family(
    name="topk",
    summary="the largest elements of rows, with their indices",
    settings={"rows": 4800, "columns": 1024, "pitch": 1280, "k": 1000, "cores": 48},
    measure=measure,
    rows={"V18_4800": {}, "V18_3456": {"rows": 3456}, "V18_2304": {"rows": 2304}},
)
