"""Reads of a matrix by all cores, tile by tile: [asc-devkit] 04_memory_access/data_copy.

Every core owns whole rows of an f16 matrix and walks them tile by tile, each tile one transfer
into the same place; nothing waits for anything.
"""

from __future__ import annotations

from benchmarks.silicon.family import Family, Outcome, Settings, base_name, timed
from pypto.target.dtypes import F16
from pypto.target.expressions import Operand, smaller
from pypto.target.memory import CoreKind
from pypto.target.one_launch import one_launch
from pypto.target.program import Program
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder


def read_program(s: Settings, core: CoreKind, cores: int) -> Program:
    """Reads the rows of this core ``times`` times, slice of columns after slice of columns."""
    builder = StructuredBuilder("read", core)
    pitch = 2 * int(s["pitch"])
    rows, columns = int(s["tile_rows"]), int(s["tile_columns"])
    own_rows, slices = int(s["rows"]) // cores, int(s["slices"])
    width = int(s["columns"]) // slices
    x = builder.buffer("x", F16)
    start = builder.value(x + builder.block * (own_rows * pitch), "first row")
    with (
        builder.loop(0, slices, name="slice") as part,
        builder.loop(0, int(s["times"]), name="time"),
        builder.loop(0, own_rows, rows, "row") as row,
        builder.loop(0, width, columns, "column") as column,
    ):
        source = start + row * pitch + part * (2 * width) + column * 2
        length: Operand = columns
        if width % columns:
            length = builder.value(smaller(width - column, columns), "length")
        if core is CoreKind.VECTOR:
            builder.issue(
                "copy_gm_to_ubuf_align.b16",
                dst=0, src=source, bursts=rows, length=length * 2, src_gap=pitch - length * 2,
            )  # fmt: skip
        else:
            builder.issue(
                "copy_gm_to_cbuf_multi_nd2nz.b16",
                dst=0, src=source, nd_count=1, rows=rows, columns=length, src_nd_stride=0,
                src_row_stride=pitch // 2, dst_column_stride=rows, dst_row_stride=1,
                dst_nd_stride=0,
            )  # fmt: skip
    return builder.build()


def measure(machine: Soc, s: Settings) -> Outcome:
    core = CoreKind.VECTOR if s["to"] == "ub" else CoreKind.CUBE
    cores = machine.cores(core)
    program = read_program(s, core, cores)
    grid = machine.cores(CoreKind.CUBE) if core is CoreKind.CUBE else cores
    shapes = {"x": (int(s["rows"]), int(s["pitch"]))}
    return timed(one_launch(base_name(machine), [program], grid, shapes), machine)


SQUARE = {"rows": 12288, "columns": 12288, "pitch": 12288, "times": 1, "slices": 1}
COPY = Family(
    name="copy",
    summary="reads of a matrix by all cores, tile by tile",
    settings=SQUARE | {"tile_rows": 64, "tile_columns": 64, "to": "ub"},
    measure=measure,
    rows={
        "V9": {"tile_rows": 1, "tile_columns": 64},
        "V10": {},
        "V11": {"tile_columns": 1024},
        "V13a": {"to": "l1"},
        "V13b": {"to": "l1", "tile_columns": 256},
        "V13c": {"to": "l1", "tile_columns": 256, "columns": 12287, "pitch": 12287},
    },
)
