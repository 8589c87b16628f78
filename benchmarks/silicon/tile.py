"""Operators on tiles of UB as the sequences of instructions that [pto-isa] makes of them.

Paths through include/pto/npu/a2a3 for tiles whose valid extents are known at run time only, and
addresses as in tests/costmodel/st. Cycles are those in which the vector unit is at work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.silicon.family import Family, Outcome, Settings, active_cycles, base_name, timed
from pypto.target.dtypes import DTYPES, DType
from pypto.target.memory import BLOCK_BYTES, REPEAT_BYTES, CoreKind, Pipe
from pypto.target.one_launch import one_launch
from pypto.target.program import Program
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder

MOST_REPEATS = 255
ALL_LANES = -1
SECOND, TARGET = 0x4000, 0x8000
FAR_TARGET = 0x28000
SCRATCH = 0x11000


@dataclass(frozen=True)
class Tile:
    """A tile of ``rows`` x ``columns`` elements, row by row, and the program that works on it."""

    builder: StructuredBuilder
    dtype: DType
    rows: int
    columns: int

    @property
    def lanes(self) -> int:
        """Elements of a repeat."""
        return REPEAT_BYTES // self.dtype.bytes

    @property
    def row_bytes(self) -> int:
        return self.columns * self.dtype.bytes

    @property
    def row_blocks(self) -> int:
        return -(-self.row_bytes // BLOCK_BYTES)

    def issue(self, name: str, **operands: int) -> None:
        self.builder.issue(f"{name}.{self.dtype}", **operands)

    def barrier(self) -> None:
        self.builder.barrier(Pipe.V)

    def mask(self, lanes: int) -> None:
        """The first lanes of every repeat."""
        bits = (1 << lanes) - 1
        words = (bits >> 64, bits & (2**64 - 1))
        high, low = (word - 2**64 if word >= 2**63 else word for word in words)
        self.builder.issue("set_vector_mask", high=high, low=low)

    def all_lanes(self) -> None:
        self.builder.issue("set_vector_mask", high=ALL_LANES, low=ALL_LANES)

    def count(self, elements: int) -> None:
        """From here on instructions work on so many elements."""
        self.builder.issue("set_mask_count")
        self.builder.issue("set_vector_mask", high=0, low=elements)

    def end_count(self) -> None:
        self.builder.issue("set_mask_norm")
        self.all_lanes()

    def copy_row(self, target: int, source: int) -> None:
        """A row from UB to UB."""
        self.builder.issue(
            "copy_ubuf_to_ubuf.b32", dst=target, src=source, bursts=1, length=self.row_blocks,
            src_gap=0, dst_gap=0,
        )  # fmt: skip
        self.barrier()


def one_piece(tile: Tile, issue: Callable[[int, int], None]) -> None:
    """All elements in one instruction, in count mode where repeats do not divide them.

    ``issue(offset, repeats)`` appends the instruction.
    """
    elements = tile.rows * tile.columns
    repeats = elements // tile.lanes
    uneven = tile.columns > tile.lanes and tile.columns % tile.lanes
    if uneven or repeats > MOST_REPEATS:
        tile.count(elements)
        issue(0, 1)
        tile.end_count()
    else:
        issue(0, repeats)


def binary(tile: Tile, name: str) -> None:
    """Two tiles: rows narrower than a repeat are a repeat each."""
    addresses = {"dst": TARGET, "src0": 0, "src1": SECOND}
    if tile.columns < tile.lanes and tile.rows <= MOST_REPEATS:
        tile.mask(tile.columns)
        stride = dict.fromkeys(("dst_repeat", "src0_repeat", "src1_repeat"), tile.row_blocks)
        tile.issue(name, repeat=tile.rows, **addresses, **stride)
        tile.all_lanes()
        return

    def issue(offset: int, repeats: int) -> None:
        moved = {key: place + offset for key, place in addresses.items()}
        tile.issue(name, repeat=repeats, **moved)

    one_piece(tile, issue)


def with_scalar(tile: Tile, name: str, source: int = 0, target: int = FAR_TARGET) -> None:
    """A tile and a scalar: columns of repeats down the rows, or rows one by one."""
    per_row, tail = divmod(tile.columns, tile.lanes)
    if tile.rows < per_row + 1:
        for row in range(tile.rows):
            offset = row * tile.row_bytes
            tile.issue(name, dst=target + offset, src=source + offset, scalar=0, repeat=per_row)
        return
    strides = {"dst_repeat": tile.row_blocks, "src_repeat": tile.row_blocks}
    for i in range(per_row + bool(tail)):
        if i == per_row:
            tile.mask(tail)
        for first in range(0, tile.rows, MOST_REPEATS):
            offset = i * REPEAT_BYTES + first * tile.row_bytes
            tile.issue(
                name, dst=target + offset, src=source + offset, scalar=0,
                repeat=min(MOST_REPEATS, tile.rows - first), **strides,
            )  # fmt: skip
    if tail:
        tile.all_lanes()


def unary(tile: Tile, name: str, target: int = TARGET) -> None:
    one_piece(
        tile, lambda offset, repeats: tile.issue(name, dst=target, src=offset, repeat=repeats)
    )


def convert(tile: Tile, name: str, source_repeat: int, target_repeat: int) -> None:
    """A repeat for 64 elements."""
    tile.builder.issue(
        name, dst=TARGET, src=0, repeat=tile.rows * tile.columns // 64, dst_repeat=target_repeat,
        src_repeat=source_repeat,
    )  # fmt: skip


def divide_scalar(tile: Tile) -> None:
    """The scalar over the tile: it is spread over the target first."""
    repeats = tile.rows * tile.columns // tile.lanes
    tile.issue("vector_dup", dst=TARGET, scalar=0, repeat=repeats)
    tile.barrier()
    tile.issue("vdiv", dst=TARGET, src0=0, src1=TARGET, repeat=repeats)


def reduce_rows(tile: Tile, name: str) -> None:
    """One result of each row, which is a repeat."""
    tile.count(tile.rows * tile.lanes)
    tile.issue(
        name, dst=TARGET, src=0, repeat=1, dst_repeat=tile.columns, src_repeat=tile.row_blocks
    )
    tile.end_count()
    tile.barrier()


def reduce_columns(tile: Tile, name: str) -> None:
    """The first row, and one row after the other onto it."""
    tile.copy_row(TARGET, 0)
    if tile.rows == 1:
        return
    tile.count(tile.columns)
    for row in range(1, tile.rows):
        tile.issue(name, dst=TARGET, src0=TARGET, src1=row * tile.row_bytes, repeat=1)
        tile.barrier()
    tile.end_count()


def sum_columns_as_tree(tile: Tile) -> None:
    """Neighbouring rows onto each other, level after level."""
    count, source = tile.rows, 0
    while count > 1:
        tile.count(tile.columns)
        for i in range(count // 2):
            place = SCRATCH + i * tile.row_bytes
            pair = source + 2 * i * tile.row_bytes
            tile.issue("vadd", dst=place, src0=pair, src1=pair + tile.row_bytes, repeat=1)
        tile.barrier()
        tile.end_count()
        count, source = count // 2, SCRATCH
    tile.copy_row(FAR_TARGET, SCRATCH)


def move(tile: Tile) -> None:
    """All blocks in one copy."""
    length = tile.rows * tile.row_blocks
    tile.builder.issue(
        "copy_ubuf_to_ubuf.b32", dst=0x20000, src=0, bursts=1, length=length, src_gap=0, dst_gap=0
    )


def move_rows(tile: Tile) -> None:
    """A copy for each row, of the blocks that hold valid columns."""
    pitch = tile.row_blocks * BLOCK_BYTES
    for row in range(tile.rows):
        tile.builder.issue(
            "copy_ubuf_to_ubuf.b32", dst=0x20000 + row * pitch, src=row * pitch, bursts=1,
            length=tile.row_blocks, src_gap=0, dst_gap=0,
        )  # fmt: skip


def expand_rows(tile: Tile) -> None:
    """The scalar unit reads the first element of each row, an instruction spreads it.

    Runs without values know none, so what is spread is 0.
    """
    builder = tile.builder
    tile.count(tile.columns)
    width = 8 * tile.dtype.bytes
    for row in range(tile.rows):
        builder.sync(Pipe.V, Pipe.S)
        with builder.scope():
            builder.load(f"ld_ub.u{width}", row * tile.row_bytes)
        builder.sync(Pipe.S, Pipe.V)
        tile.issue("vector_dup", dst=TARGET + row * tile.row_bytes, scalar=0)
    tile.end_count()


OPERATORS: dict[str, Callable[[Tile], None]] = {
    "tadd": lambda tile: binary(tile, "vadd"),
    "tsub": lambda tile: binary(tile, "vsub"),
    "tmul": lambda tile: binary(tile, "vmul"),
    "tmax": lambda tile: binary(tile, "vmax"),
    "tmin": lambda tile: binary(tile, "vmin"),
    "tdiv": lambda tile: binary(tile, "vdiv"),
    "tadds": lambda tile: with_scalar(tile, "vadds"),
    "tmuls": lambda tile: with_scalar(tile, "vmuls"),
    "tmins": lambda tile: with_scalar(tile, "vmins", 0x400, TARGET + 0x400),
    "tdivs": divide_scalar,
    "tabs": lambda tile: unary(tile, "vabs"),
    "tsqrt": lambda tile: unary(tile, "vsqrt", 0x20000),
    "tsqrt_inplace": lambda tile: unary(tile, "vsqrt", 0),
    "trsqrt": lambda tile: unary(tile, "vrsqrt"),
    "tcvt_f32_to_f16": lambda tile: convert(tile, "vconv_f322f16r", 8, 4),
    "tcvt_f16_to_f32": lambda tile: convert(tile, "vconv_f162f32", 4, 8),
    "trowmax": lambda tile: reduce_rows(tile, "vcmax"),
    "trowsum": lambda tile: reduce_rows(tile, "vcadd"),
    "tcolmax": lambda tile: reduce_columns(tile, "vmax"),
    "tcolsum": lambda tile: reduce_columns(tile, "vadd"),
    "tcolsum_tree": sum_columns_as_tree,
    "trowexpand": expand_rows,
    "tmov": move,
    "tmov_rows": move_rows,
}


def tile_program(s: Settings) -> Program:
    builder = StructuredBuilder("tile", CoreKind.VECTOR)
    tile = Tile(builder, DTYPES[str(s["type"])], int(s["rows"]), int(s["columns"]))
    OPERATORS[str(s["operator"])](tile)
    return builder.build()


def measure(machine: Soc, s: Settings) -> Outcome:
    executable = one_launch(base_name(machine), [tile_program(s)], 1, {})
    return active_cycles(timed(executable, machine), Pipe.V)


def row(operator: str, dtype: str, rows: int, columns: int) -> Settings:
    return {"operator": operator, "type": dtype, "rows": rows, "columns": columns}


SQUARE = "64x64_64x64_64x64"
TILE = Family(
    name="tile",
    summary="an operator on tiles of UB",
    settings=row("tadd", "f32", 64, 64),
    measure=measure,
    rows_only=True,  # the sequences are transcribed for these tiles
    rows={
        "TAbs.half_16x256": row("tabs", "f16", 16, 256),
        "TAdd.float_64x64": row("tadd", "f32", 64, 64),
        "TAdd.int32_64x64": row("tadd", "i32", 64, 64),
        "TAdd.half_16x256": row("tadd", "f16", 16, 256),
        "TAdd.int16_64x64": row("tadd", "i16", 64, 64),
        "TAddS.int32_31x128": row("tadds", "i32", 31, 128),
        "TAddS.float_7x448": row("tadds", "f32", 7, 448),
        "TColMax.half_16x256": row("tcolmax", "f16", 16, 256),
        "TColMax.float_1x3072": row("tcolmax", "f32", 1, 3072),
        "TColSum.half_16x256": row("tcolsum", "f16", 16, 256),
        "TColSum.float_64x64_binary": row("tcolsum_tree", "f32", 64, 64),
        "TCvt.f32_to_f16_4x64": row("tcvt_f32_to_f16", "f16", 4, 64),
        "TCvt.f16_to_f32_4x64": row("tcvt_f16_to_f32", "f32", 4, 64),
        f"TDiv.case_float_{SQUARE}": row("tdiv", "f32", 64, 64),
        "TDivS.case1_tile_scalar_float_32x64": row("tdivs", "f32", 32, 64),
        f"TMax.case_float_{SQUARE}_PAD_VALUE_NULL": row("tmax", "f32", 64, 64),
        f"TMax.case_int32_{SQUARE}_PAD_VALUE_NULL": row("tmax", "i32", 64, 64),
        f"TMin.case_float_{SQUARE}_PAD_VALUE_NULL": row("tmin", "f32", 64, 64),
        f"TMin.case_int32_{SQUARE}_PAD_VALUE_NULL": row("tmin", "i32", 64, 64),
        "TMins.int16_64x64": row("tmins", "i16", 64, 64),
        "TMins.half_64x64": row("tmins", "f16", 64, 64),
        "TMul.float_64x64": row("tmul", "f32", 64, 64),
        "TMul.int32_64x64": row("tmul", "i32", 64, 64),
        "TMul.half_16x256": row("tmul", "f16", 16, 256),
        "TMulS.case3_int32_31x128": row("tmuls", "i32", 31, 128),
        "TMulS.case4_int16_15x192": row("tmuls", "i16", 15, 192),
        "TMulS.case5_float_7x448": row("tmuls", "f32", 7, 448),
        "TMulS.case6_float_256x16": row("tmuls", "f32", 256, 16),
        "TRowExpand.half_64x64": row("trowexpand", "f16", 64, 64),
        "TRowMax.float_64x64": row("trowmax", "f32", 64, 64),
        "TRowMax.half_64x128": row("trowmax", "f16", 64, 128),
        "TRowSum.float_64x64": row("trowsum", "f32", 64, 64),
        "TRowSum.half_64x128": row("trowsum", "f16", 64, 128),
        f"TRsqrt.case_float_{SQUARE}_inPlace_False": row("trsqrt", "f32", 64, 64),
        f"TRsqrt.case_half_{SQUARE}_inPlace_False": row("trsqrt", "f16", 64, 64),
        "TSqrt.float_64x64_inplace": row("tsqrt_inplace", "f32", 64, 64),
        "TSqrt.float_64x64": row("tsqrt", "f32", 64, 64),
        "TSqrt.half_64x64_inplace": row("tsqrt_inplace", "f16", 64, 64),
        "TSqrt.half_64x64": row("tsqrt", "f16", 64, 64),
        "TSub.int32_64x64": row("tsub", "i32", 64, 64),
        "TSub.half_16x256": row("tsub", "f16", 16, 256),
    },
)
