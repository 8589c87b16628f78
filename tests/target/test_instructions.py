"""One property for every row of the table: what it declares is what it touches.

Reads are declared: memories that agree there give the same results. Writes are declared, and
every declared byte is written unless the field says it clobbers (masked lanes, parts of
fractals).
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from pypto.target.instruction import UNBOUNDED, Access, Instruction, Kind, byte_ranges
from pypto.target.instructions import (
    BY_MNEMONIC,
    DATA_OPCODE_BASE,
    INSTRUCTIONS,
    OPCODES,
    exists,
)
from pypto.target.instructions.availability import (
    NOT_ON_2201,
    ON_COUPLED,
    SCALARS_OF,
    mnemonics_of,
)
from pypto.target.instructions.scalar import SCALARS, STATE_REGISTERS
from pypto.target.limits import check_fields
from pypto.target.memory import PATHS, SPACES, SPACES_OF_ARCHITECTURE, Pipe, Space
from pypto.target.soc import Soc, examples, soc
from tests.target.samplers import AREA, MEMORY, SAMPLERS, Draw, Memories, random_memories


def ranges(access: Access) -> list[tuple[int, int]]:
    if access.length == UNBOUNDED:
        return [(access.start, MEMORY)]
    return list(byte_ranges(access))


def a_machine_with(row: Instruction) -> Soc:
    machines = examples()
    return next(machine for machine in machines if machine.architecture in row.architectures)


def declared(row: Instruction, fields: Any) -> tuple[Memories, Memories, Memories]:
    """Per space, which bytes are read, written, and written but perhaps kept."""
    maps = tuple({s: np.zeros(MEMORY, bool) for s in SPACES} for _ in range(3))
    reads, writes, loose = maps
    addresses = [f for f in row.fields if f.kind is Kind.ADDRESS]
    footprint = row.family.footprint(fields, row.facts)
    for field, access in zip(addresses, footprint, strict=True):
        assert field.space is not None
        for start, stop in ranges(access):
            if "r" in field.role:
                reads[field.space][start:stop] = True
            if "w" in field.role:
                writes[field.space][start:stop] = True
                loose[field.space][start:stop] |= field.clobbers
    return reads, writes, loose


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("row", INSTRUCTIONS, ids=lambda row: row.mnemonic)
def test_an_instruction_touches_what_it_declares(row: Instruction, seed: int) -> None:
    draw = Draw(row, seed)
    fields = row.family.make(**SAMPLERS[row.family.name](draw))
    check_fields(row, fields, a_machine_with(row))
    reads, writes, loose = declared(row, fields)
    first = random_memories(draw, fields)
    second = {s: np.where(reads[s], first[s], first[s] ^ 0xFF) for s in SPACES}
    before = [{s: m.copy() for s, m in memory.items()} for memory in (first, second)]
    row.meaning(first, fields, row)
    row.meaning(second, fields, row)
    for space in SPACES:
        for old, new in zip(before, (first, second), strict=True):
            changed = old[space] != new[space]
            assert not np.any(changed & ~writes[space]), f"writes beyond its footprint in {space}"
        same = first[space] == second[space]
        kept = (before[0][space] == first[space]) & (before[1][space] == second[space])
        may_keep = loose[space] & (draw.partial or row.pipe is Pipe.M)
        wrong = writes[space] & ~(same | (may_keep & kept))
        assert not np.any(wrong), f"depends on undeclared bytes, or leaves some, in {space}"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "mnemonic",
    [
        "vadd.i32",
        "vnot.u16",
        "vcopy.u32",
        "vconv_i322i64",
        "vbrcb.u16",
        "copy_gm_to_ubuf_align.b8",
        "copy_ubuf_to_gm_align.b16",
        "copy_ubuf_to_ubuf.b32",
        "copy_gm_to_cbuf_multi_nd2nz.b16",
        "load_cbuf_to_cb.b16",
        "load_cbuf_to_ca_transpose.b32",
        "load_cbuf_to_cb_transpose.b8",
        "load_gm_to_cbuf.b16",
        "copy_cbuf_to_bt.b32",
        "copy_cbuf_to_fbuf.b32",
        "copy_cbuf_to_gm.b32",
        "copy_matrix_cc_to_gm.f32",
        "copy_gm_to_ubuf.b32",
        "copy_ubuf_to_gm.b32",
        "copy_gm_to_cbuf.b32",
        "copy_cbuf_to_ubuf.b32",
        "copy_ubuf_to_cbuf.b32",
        "copy_matrix_cc_to_ubuf.f32",
        "scatter_vnchwconv.b16",
    ],
)
def test_every_declared_read_matters(mnemonic: str, seed: int) -> None:
    """Rows that lose no bit of what they read: a change of any declared byte shows."""
    row = BY_MNEMONIC[mnemonic]
    draw = Draw(row, seed)
    values = SAMPLERS[row.family.name](draw)
    apart = {"dst_repeat": 32, "dst_block": 1, "relu": 0}
    values |= {name: n for name, n in apart.items() if name in values}
    if values.get("mask_mode") == 0:
        values |= {"mask_high": -1, "mask_low": -1}
    if "src1" in values:
        values["dst"] = 4 * AREA
    fields = row.family.make(**values)
    reads, _, _ = declared(row, fields)
    first = random_memories(draw, fields)
    for space in SPACES:
        places = np.flatnonzero(reads[space])
        for place in draw.random.choice(places, min(len(places), 20), replace=False):
            one = {s: m.copy() for s, m in first.items()}
            two = {s: m.copy() for s, m in first.items()}
            two[space][place] ^= 1
            row.meaning(one, fields, row)
            row.meaning(two, fields, row)
            differing = sum(int(np.sum(one[s] != two[s])) for s in SPACES)
            assert differing > 1 or one[space][place] == two[space][place]


def test_every_family_has_a_sampler() -> None:
    assert {row.family.name for row in INSTRUCTIONS} == set(SAMPLERS)


def test_architectures_have_what_their_tables_name() -> None:
    for architecture in ON_COUPLED:
        assert mnemonics_of(architecture) <= set(BY_MNEMONIC)
        assert set(NOT_ON_2201) <= mnemonics_of(architecture)
    assert mnemonics_of("1001") < mnemonics_of("2002")
    assert set(SCALARS_OF) <= {s.mnemonic for s in SCALARS}
    assert all(row.architectures for row in INSTRUCTIONS)
    for mnemonic in ("vadd.f16", "vconv_f322i32z", "scatter_vnchwconv.b16", "set_flag", "end"):
        assert exists(mnemonic, "1001")
        assert exists(mnemonic, "2201")
    for mnemonic in ("vadd.i16", "vbrcb.u16", "vmaxs.f16", "mad.f32", "vconv_f322f16r"):
        assert not exists(mnemonic, "1001")
        assert exists(mnemonic, "2201")
    for mnemonic in ("vadd.i16", "vmaxs.f16", "vgather.u16", "set_mask_count", "vconv_f162i16r"):
        assert exists(mnemonic, "2002")
    for mnemonic in ("vbrcb.u16", "mad.f32", "vshl.i32", "copy_gm_to_ubuf_align.b16", "set_fpc"):
        assert not exists(mnemonic, "2002")
    assert not exists("vadd", "2201")


def test_addresses_lie_in_memories_of_the_architecture() -> None:
    for row in INSTRUCTIONS:
        for architecture in row.architectures:
            assert set(row.spaces()) <= {Space.GM, *SPACES_OF_ARCHITECTURE[architecture]}


def test_moves_take_the_pipe_of_their_path() -> None:
    for row in INSTRUCTIONS:
        target, *sources = row.spaces()
        for source in sources if len(sources) == 1 else ():
            for architecture in row.architectures:
                assert PATHS[architecture].get((source, target)) is row.pipe, row.mnemonic


def test_opcodes_are_distinct_and_scalars_come_first() -> None:
    assert len(set(OPCODES.values())) == len(OPCODES) == len(SCALARS) + len(INSTRUCTIONS)
    assert [OPCODES[s.mnemonic] for s in SCALARS] == list(range(len(SCALARS)))
    assert all(OPCODES[row.mnemonic] >= DATA_OPCODE_BASE for row in INSTRUCTIONS)


def test_fields_fit_a_program_row_and_name_known_registers() -> None:
    for row in INSTRUCTIONS:
        assert len(row.fields) <= 20
        assert row.family.tuple_type._fields == tuple(f.name for f in row.fields)
        assert {f.state for f in row.fields if f.state} <= set(STATE_REGISTERS)
        fields = row.family.make(**SAMPLERS[row.family.name](Draw(row, 0)))
        assert pickle.loads(pickle.dumps(fields)) == fields


def cycles(mnemonic: str, machine: Soc | None = None, /, **values: int) -> tuple[int, int]:
    row = BY_MNEMONIC[mnemonic]
    numbers = (machine or soc()).numbers
    return row.family.cycles(row.family.make(**values), row.facts, numbers)


def test_lone_mads_take_the_measured_cycles() -> None:
    addresses = {"c": 0, "a": 0, "b": 0}
    assert cycles("mad.f16", **addresses, m=40, k=50, n=60)[1] == 54
    assert cycles("mad.f16", **addresses, m=128, k=128, n=64)[1] == 262
    assert cycles("mad.f32", **addresses, m=120, k=110, n=50)[1] == 902


def test_chains_of_eight_mads_take_the_measured_cycles() -> None:
    addresses = {"c": 0, "a": 0, "b": 0}
    long = 8 * cycles("mad.f16", **addresses, m=128, k=64, n=256)[0]
    short = 8 * cycles("mad.f16", **addresses, m=128, k=64, n=128)[0]
    assert long == pytest.approx(4217, rel=0.003)
    assert short == pytest.approx(2172, rel=0.006)


@pytest.mark.parametrize("repeat", [1, 64, 255])
@pytest.mark.parametrize(
    ("mnemonic", "slope", "head"),
    [
        ("vmuls.f32", 1, 26),
        ("vmaxs.f32", 1, 23),
        ("vexp.f32", 2, 31),
        ("vln.f32", 2, 33),
        ("vcadd.f32", 7, 44),
        ("vdiv.f32", 4, 31),
        ("vdiv.f16", 4, 31),
        ("vcmax.f16", 7, 33),
    ],
)
def test_vector_operations_take_the_measured_cycles(
    mnemonic: str, slope: int, head: int, repeat: int
) -> None:
    needed = {f.name: 0 for f in BY_MNEMONIC[mnemonic].fields if f.default is None}
    expected = slope * repeat + head
    assert cycles(mnemonic, **(needed | {"repeat": repeat})) == (expected, expected)


@pytest.mark.parametrize(
    ("mnemonic", "values", "expected"),
    [
        ("vmla.f32", {"repeat": 10}, 24 + 20),
        ("vmadd.f16", {"repeat": 10}, 24 + 10),
        ("vcpadd.f16", {"repeat": 10}, 24 + 10),
        ("vcmax_value_index.f32", {"repeat": 10}, 32 + 70),
        ("vcmp_lt.f16", {}, 24 + 1),
        ("vgatherb.u32", {"repeat": 21}, 24 + 64),
        ("vreducev2.u16", {"repeat": 10}, 24 + 20),
        ("vreducev2.u16", {"repeat": 3, "mask_mode": 1, "mask_low": 130}, 24 + 12),
        ("vbitsort.f32", {"repeat": 4}, 24 + 64),
        ("vmrgsort4.f32", {f"length{i}": 32 for i in range(4)} | {"repeat": 2}, 24 + 128),
        ("scatter_vnchwconv.b8", {"repeat": 8, "dst_step": 2, "dst_pair": 1}, 24 + 4 + 8),
        ("vtranspose.u16", {}, 24 + 2),
    ],
)
def test_vector_operations_take_what_the_table_of_the_vendor_says(
    mnemonic: str, values: dict[str, int], expected: int
) -> None:
    """Elements per cycle of asc-devkit, and a start-up of 24 (reductions: the measured one)."""
    needed = {f.name: 0 for f in BY_MNEMONIC[mnemonic].fields if f.default is None}
    assert cycles(mnemonic, **(needed | values)) == (expected, expected)


def test_count_mode_takes_the_cycles_of_its_repeats() -> None:
    addresses = {"dst": 0x20000, "src0": 0, "src1": 0x10100}
    assert cycles("vadd.f32", **addresses, repeat=64) == (88, 88)
    assert cycles("vadd.f32", **addresses, mask_mode=1, mask_low=4095) == (88, 88)
    assert cycles("vadd.f32", **addresses, mask_mode=1, mask_low=0) == (1, 1)


def test_load2d_moves_at_the_rate_of_its_port() -> None:
    assert cycles("load_cbuf_to_ca.b16", dst=0, src=0, repeat=10) == (20, 48)
    assert cycles("load_cbuf_to_cb.b16", dst=0, src=0, repeat=10) == (40, 68)
    assert cycles("load_cbuf_to_ca_transpose.b32", dst=0, src=0, repeat=10) == (40, 68)


def test_mads_take_a_pass_per_fractal_and_f32_a_second_one_unless_rounded() -> None:
    places = {"c": 0, "a": 0, "b": 0}
    fractals = 4 * 2 * 3
    assert cycles("mad.i8", **places, m=64, k=64, n=48) == (fractals + 14, fractals + 6)
    assert cycles("mad_bias.i8", **places, bias=0, m=64, k=64, n=48)[1] == fractals + 6
    for mode, passes in ((0, 2), (1, 1), (2, 2), (3, 1)):
        assert cycles("mad.f32", **places, m=64, k=16, n=48, hf32=mode)[1] == passes * fractals + 6


@pytest.mark.parametrize(
    ("stride", "rows", "to_l0a", "to_l0b"),
    [(1, 1, 256, 128), (1, 2, 128, 85), (1, 4, 85, 64), (1, 16, 32, 28), (2, 1, 128, 85),
     (4, 1, 64, 51), (8, 1, 32, 28), (2, 2, 85, 64), (4, 4, 42, 36), (3, 1, 32, 28),
     (6, 5, 32, 28)],
)  # fmt: skip
def test_load3d_moves_at_the_rate_of_its_strides_and_rows(
    stride: int, rows: int, to_l0a: int, to_l0b: int
) -> None:
    """Rates of the vendor's table, by column stride and rows of positions touched."""
    width = 15 * stride + 1  # 16 positions of a filter of one pixel
    window = {"step_m": 16 * rows, "step_k": 32, "stride_w": stride}
    image = {"channels": 32, "fmatrix": width | 40 << 16}
    size = 16 * rows * 32 * 2
    for target, rate in (("ca", to_l0a), ("cb", to_l0b)):
        row = f"img2colv2_cbuf_to_{target}.b16"
        occupancy = -(-size // rate)
        assert cycles(row, dst=0, src=0, **window, **image) == (occupancy, occupancy + 50)


def test_tables_and_fills_take_the_rates_of_their_paths() -> None:
    bursts = {"dst": 0, "src": 0, "bursts": 2, "length": 3}
    assert cycles("copy_cbuf_to_bt.b32", **bursts) == (2 * 3 * 64 // 32, 2 * 3 * 64 // 32 + 20)
    assert cycles("copy_cbuf_to_bt.f16", **bursts)[0] == 2 * 3 * 64 // 32
    assert cycles("copy_cbuf_to_fbuf.b32", **bursts)[0] == 2 * 3 * 128 // 32
    filled = {"dst": 0, "scalar": 0, "repeat": 2, "length": 3}
    assert cycles("create_ca_matrix.f16", **filled)[0] == 2 * 3 * 512 // 32
    assert cycles("create_cbuf_matrix.f16", **filled)[0] == 2 * 3 * 32 // 32


def test_a_drain_to_l1_takes_64_elements_a_cycle() -> None:
    tile = {"dst": 0, "src": 0, "n": 64, "m": 100, "dst_stride": 100, "src_stride": 112}
    assert cycles("copy_matrix_cc_to_cbuf.f32f16", **tile) == (100, 120)
    assert cycles("copy_matrix_cc_to_cbuf.req8", **tile, quant_pre=0) == (100, 120)


def test_fixpipe_takes_a_start_up_and_its_rows_or_the_port() -> None:
    narrow = cycles(
        "copy_matrix_cc_to_gm.f32f16", dst=0, src=0, n=16, m=100, dst_stride=16, src_stride=112
    )
    wide = cycles(
        "copy_matrix_cc_to_gm.f32", dst=0, src=0, n=256, m=118, dst_stride=256, src_stride=128
    )
    assert narrow[0] == 164 + 445
    assert wide[0] == 164 + 1024


def test_a_coupled_core_moves_at_the_rates_of_its_ports() -> None:
    """910A: 512 bytes per cycle from L0C, 128 and 256 beside L1; GM is the memory system's."""
    size = {"dst": 0, "src": 0, "bursts": 4, "length": 64}
    machine = soc("ascend910a")
    assert cycles("copy_gm_to_ubuf.b32", machine, **size) == (1, 1)
    assert cycles("copy_cbuf_to_ubuf.b32", machine, **size) == (64, 64 + 28)
    assert cycles("copy_ubuf_to_cbuf.b32", machine, **size) == (32, 32 + 28)
    drained = {"dst": 0, "src": 0, "length": 16}
    assert cycles("copy_matrix_cc_to_ubuf.f32f16", machine, **drained) == (24 + 32, 24 + 32)
    assert cycles("load_cbuf_to_ca.b16", machine, dst=0, src=0, repeat=10) == (10, 38)


def test_a_transposition_pays_for_its_address_registers() -> None:
    lists = {"dst_step": 2, "dst_pair": 1, "src_step": 2, "src_pair": 1}
    assert cycles("scatter_vnchwconv.b16", dst=0, src=0, repeat=8, **lists) == (44, 44)
