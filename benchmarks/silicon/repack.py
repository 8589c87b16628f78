"""A matrix repacked by vector cores: [asc-devkit] 04_memory_access/bank_conflict_nd2nz."""

from __future__ import annotations

from benchmarks.silicon.family import Family, Outcome, Settings, base_name, timed
from pypto.target.dtypes import F16
from pypto.target.expressions import Operand, smaller
from pypto.target.memory import BLOCK_BYTES, CoreKind, Pipe, Space
from pypto.target.one_launch import one_launch
from pypto.target.program import Program
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder

TILE_COLUMNS = 128
C0 = 16  # f16 elements of a block


def repack_program(s: Settings) -> Program:
    """Rows of an f16 matrix repacked to columns of 32-byte blocks.

    Tiles of ``tile_rows`` x 128 go round two buffers; in UB the columns of a tile are
    ``column_pitch`` blocks apart. Cores share the matrix as ``row_parts`` x ``column_parts``.
    """
    rows, columns = int(s["rows"]), int(s["columns"])
    tile_rows, pitch = int(s["tile_rows"]), int(s["column_pitch"])
    row_parts, column_parts = int(s["row_parts"]), int(s["column_parts"])
    row_tiles = -(-rows // tile_rows)
    columns_each = columns // TILE_COLUMNS // column_parts
    blocks = TILE_COLUMNS // C0
    builder = StructuredBuilder("repack", CoreKind.VECTOR)
    x, z = builder.buffer("x", F16), builder.buffer("z", F16, writes=True)
    tile_bytes = tile_rows * TILE_COLUMNS * F16.bytes
    source = builder.ring("nd", Space.UB, tile_bytes, 2, filler=Pipe.MTE2, drainer=Pipe.V)
    packed_bytes = blocks * pitch * BLOCK_BYTES
    target = builder.ring("nz", Space.UB, packed_bytes, 2, filler=Pipe.V, drainer=Pipe.MTE3)
    row_part = builder.value(builder.block // column_parts, "row part")
    first_column = builder.value(builder.block % column_parts * columns_each, "first column")
    each, extra = divmod(row_tiles, row_parts)
    first_row = builder.value(row_part * each + smaller(row_part, extra), "first row")
    row_count = builder.value(each, "row count")
    with builder.when(row_part < extra):
        builder.set(row_count, each + 1)
    with source.cycle(), target.cycle(), builder.loop(0, row_count * columns_each) as i:
        row = builder.value((first_row + i // columns_each) * tile_rows, "row")
        column = builder.value((first_column + i % columns_each) * TILE_COLUMNS, "column")
        height = builder.value(smaller(rows - row, tile_rows), "height")
        with source.filling(i) as tile:
            builder.issue(
                "copy_gm_to_ubuf_align.b16", dst=tile, src=x + (row * columns + column) * 2,
                bursts=height, length=TILE_COLUMNS * 2, src_gap=(columns - TILE_COLUMNS) * 2,
            )  # fmt: skip
        with source.draining(i) as tile, target.filling(i) as packed:
            builder.issue(
                "vcopy.u16", dst=packed, src=tile, repeat=height, dst_block=pitch,
                dst_repeat=1, src_repeat=blocks,
            )  # fmt: skip
        with target.draining(i) as packed:
            write_columns(builder, z, packed, row, column, height, rows, pitch)
    return builder.build()


def write_columns(
    builder: StructuredBuilder,
    z: Operand,
    packed: Operand,
    row: Operand,
    column: Operand,
    height: Operand,
    rows: int,
    pitch: int,
) -> None:
    """The columns of a tile to their places in global memory."""
    builder.issue(
        "copy_ubuf_to_gm_align.b16",
        dst=z + (column // C0 * rows + row) * BLOCK_BYTES,
        src=packed,
        bursts=TILE_COLUMNS // C0,
        length=height * BLOCK_BYTES,
        src_gap=pitch - height,
        dst_gap=(rows - height) * BLOCK_BYTES,
    )


def measure(machine: Soc, s: Settings) -> Outcome:
    rows, columns = int(s["rows"]), int(s["columns"])
    shapes = {"x": (rows, columns), "z": (columns // C0, rows, C0)}
    cores = int(s["row_parts"]) * int(s["column_parts"])
    return timed(one_launch(base_name(machine), [repack_program(s)], cores, shapes), machine)


REPACK = Family(
    name="repack",
    summary="rows of an f16 matrix to columns of blocks, by the vector unit",
    settings={
        "rows": 8192, "columns": 8192, "tile_rows": 144, "column_pitch": 144,
        "row_parts": 6, "column_parts": 8,
    },
    measure=measure,
    rows={
        "V17_pitch_144": {}, "V17_pitch_145": {"column_pitch": 145},
        "V17_task_144": {}, "V17_task_145": {"column_pitch": 145},
    },
)  # fmt: skip
