"""Sums of two f16 matrices: [asc-devkit] 00_vector_compute/add_high_performance.

Every core adds whole rows, ``elements`` at a time: two copies in, one addition, one copy out.
"""

from __future__ import annotations

from benchmarks.silicon.family import Family, Outcome, Settings, base_name, timed
from pypto.target.dtypes import F16
from pypto.target.expressions import Operand, smaller
from pypto.target.memory import CoreKind, Pipe
from pypto.target.one_launch import one_launch
from pypto.target.program import Program
from pypto.target.ring import Ring
from pypto.target.soc import Soc
from pypto.target.structured import StructuredBuilder

BUFFER = 32768  # bytes of the largest copy
L2_KEEP, L2_PASS_BY = 0, 1


def ring(
    builder: StructuredBuilder, address: int, pitch: int, slots: int, filler: Pipe, drainer: Pipe
) -> Ring:
    """Slots at addresses of the source's choice, which may enclose other buffers."""
    full = builder.event_ids(filler, drainer, slots)
    free = builder.event_ids(drainer, filler, slots)
    return Ring(builder, "tile", address, pitch, slots, filler, drainer, full, free)


def add_program(s: Settings) -> Program:
    rows, columns, cores = int(s["rows"]), int(s["columns"]), int(s["cores"])
    elements, slots = int(s["elements"]), int(s["slots"])
    each, extra = divmod(rows, cores)
    builder = StructuredBuilder("add", CoreKind.VECTOR)
    x, y = builder.buffer("x", F16), builder.buffer("y", F16)
    z = builder.buffer("z", F16, writes=True)
    own_rows = builder.value(each, "own rows")
    with builder.when(builder.block < extra):
        builder.set(own_rows, each + 1)
    count = builder.value(own_rows * columns, "own elements")
    first = builder.value(builder.block * each + smaller(builder.block, extra), "first row")
    builder.set(first, first * (2 * columns))
    sources, targets = (
        ring(builder, 0, int(s["source_pitch"]), slots, Pipe.MTE2, Pipe.V),
        ring(builder, int(s["target"]), int(s["target_pitch"]), slots, Pipe.V, Pipe.MTE3),
    )
    second = int(s["second"])
    turn = builder.value(0, "turn")
    builder.issue("set_mask_count")
    with sources.cycle(), targets.cycle(), builder.loop(0, count, elements, "start") as start:
        length = builder.value(smaller(count - start, elements), "length")
        place = builder.value(first + start * 2, "place")
        with sources.filling(turn) as tile:
            if s["bypass"]:
                builder.issue("set_l2_mode", mode=L2_PASS_BY)
            copy_in(builder, tile, x + place, length)
            copy_in(builder, tile + second, y + place, length)
            if s["bypass"]:
                builder.issue("set_l2_mode", mode=L2_KEEP)
        builder.issue("set_vector_mask", high=0, low=length)
        with sources.draining(turn) as tile, targets.filling(turn) as result:
            builder.issue("vadd.f16", dst=result, src0=tile, src1=tile + second)
        with targets.draining(turn) as result:
            builder.issue("copy_ubuf_to_gm_align.b16", dst=z + place, src=result, length=length * 2)
        builder.set(turn, turn + 1)
    return builder.build()


def copy_in(builder: StructuredBuilder, tile: Operand, source: Operand, length: Operand) -> None:
    builder.issue("copy_gm_to_ubuf_align.b16", dst=tile, src=source, length=length * 2)


def measure(machine: Soc, s: Settings) -> Outcome:
    shape = (int(s["rows"]), int(s["columns"]))
    shapes = {"x": shape, "y": shape, "z": shape}
    executable = one_launch(base_name(machine), [add_program(s)], int(s["cores"]), shapes)
    return timed(executable, machine)


def scalar_program(s: Settings) -> Program:
    """One core adds element by element; the sum itself stands for the float operations."""
    elements = int(s["elements"])
    builder = StructuredBuilder("add", CoreKind.VECTOR)
    x, y = builder.buffer("x", F16), builder.buffer("y", F16)
    z = builder.buffer("z", F16, writes=True)
    second, target = BUFFER, 2 * BUFFER
    with builder.loop(0, int(s["rows"]) * int(s["columns"]) * 2, elements * 2, "place") as place:
        copy_in(builder, 0, x + place, elements)
        copy_in(builder, second, y + place, elements)
        builder.sync(Pipe.MTE2, Pipe.S)
        with builder.loop(0, elements * 2, 2, "element") as element:
            left = builder.load("ld_ub.u16", element, "left")
            right = builder.load("ld_ub.u16", element + second, "right")
            builder.issue("st_ub.b16", address=element + target, value=left + right)
        builder.sync(Pipe.S, Pipe.MTE3)
        builder.issue("copy_ubuf_to_gm_align.b16", dst=z + place, src=target, length=elements * 2)
        builder.sync(Pipe.MTE3, Pipe.S)
    return builder.build()


def measure_scalar(machine: Soc, s: Settings) -> Outcome:
    shape = (int(s["rows"]), int(s["columns"]))
    shapes = {"x": shape, "y": shape, "z": shape}
    return timed(one_launch(base_name(machine), [scalar_program(s)], 1, shapes), machine)


LARGE = {"cores": 48, "elements": 16384}
DOUBLE = LARGE | {"slots": 2, "source_pitch": 3 * BUFFER, "target_pitch": 3 * BUFFER}
# Operands 256 bytes nearer: they meet in no group of banks.
APART = DOUBLE | {
    "elements": 16256, "bypass": 1, "second": 32512, "source_pitch": 2 * BUFFER,
    "target": 4 * BUFFER, "target_pitch": 32512,
}  # fmt: skip
ADD = Family(
    name="add",
    summary="the sum of two f16 matrices",
    settings={
        "rows": 8192, "columns": 8192, "cores": 1, "elements": 4096, "slots": 1, "bypass": 0,
        "second": BUFFER, "target": 2 * BUFFER, "source_pitch": 0, "target_pitch": 0,
    },
    measure=measure,
    rows={
        "V2": {},
        "V3": {"cores": 48},
        "V4": LARGE,
        "V5": DOUBLE,
        "V6": DOUBLE | {"bypass": 1},
        "V6_vector": DOUBLE | {"bypass": 1},
        "V7": APART,
        "V7_vector": APART,
    },
)  # fmt: skip
SCALAR_ADD = Family(
    name="scalar_add",
    summary="the sum of two f16 matrices, by the scalar unit of one core",
    settings={"rows": 2, "columns": 8192, "elements": 4096},
    measure=measure_scalar,
    rows={"V1": {}},
)
