"""What instructions compute, against NumPy: values, tails, and a matrix product end to end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pypto.target.dtypes import BF16, F16, F32, DType
from pypto.target.instructions import BY_MNEMONIC
from pypto.target.instructions.move_meaning import atomic_mode
from pypto.target.layouts import ceil_div, round_up
from pypto.target.memory import SPACES, Space

RANDOM = np.random.default_rng(5)
Memories = dict[Space, np.ndarray]


def memories() -> Memories:
    """Memories full of 0xFF: NaN in every float type."""
    return {space: np.full(1 << 16, 0xFF, np.uint8) for space in SPACES}


def put(memory: np.ndarray, start: int, values: np.ndarray) -> None:
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    memory[start : start + data.size] = data


def get(memory: np.ndarray, start: int, count: int, dtype: Any) -> np.ndarray:
    return memory[start : start + count * np.dtype(dtype).itemsize].view(dtype).copy()


def run(memory: Memories, mnemonic: str, **values: int) -> None:
    row = BY_MNEMONIC[mnemonic]
    row.meaning(memory, row.family.make(**values), row)


def vector(mnemonic: str, *operands: np.ndarray, result: Any, **values: int) -> np.ndarray:
    """One vector instruction in count mode on dense operands at 4096, 8192 ..., result at 0."""
    memory = memories()
    names = ("src",) if len(operands) == 1 else ("src0", "src1")
    for i, operand in enumerate(operands):
        put(memory[Space.UB], 4096 * (i + 1), operand)
    places = {name: 4096 * (i + 1) for i, name in enumerate(names)}
    if len(operands[0]):
        values |= {"mask_mode": 1, "mask_low": len(operands[0])}
    run(memory, mnemonic, dst=0, **places, **values)
    return get(memory[Space.UB], 0, len(operands[0]), result)


def drawn(dtype: DType, count: int = 700) -> np.ndarray:
    """Random bit patterns: every kind of number."""
    return RANDOM.integers(0, 256, count * dtype.bytes, np.uint8).view(dtype.numpy)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("vadd", np.add),
        ("vsub", np.subtract),
        ("vmul", np.multiply),
        ("vdiv", np.divide),
        ("vmax", np.maximum),
        ("vmin", np.minimum),
    ],
)
def test_float_binaries(name: str, function: np.ufunc, dtype: DType) -> None:
    a, b = drawn(dtype), drawn(dtype)
    with np.errstate(all="ignore"):
        expected = function(a, b)
    assert same(vector(f"{name}.{dtype}", a, b, result=dtype.numpy), expected)


@pytest.mark.parametrize("dtype", ["int16", "int32"])
@pytest.mark.parametrize("name", ["vadd", "vsub", "vmul"])
def test_integers_wrap(name: str, dtype: str) -> None:
    limits = np.iinfo(dtype)
    a = RANDOM.integers(limits.min, limits.max, 500, dtype)
    b = RANDOM.integers(limits.min, limits.max, 500, dtype)
    function = {"vadd": np.add, "vsub": np.subtract, "vmul": np.multiply}[name]
    short = {"int16": "i16", "int32": "i32"}[dtype]
    assert same(vector(f"{name}.{short}", a, b, result=dtype), function(a, b))


@pytest.mark.parametrize("dtype", [F16, F32])
@pytest.mark.parametrize(
    ("name", "function"), [("vexp", np.exp), ("vln", np.log), ("vsqrt", np.sqrt)]
)
def test_transcendentals_round_the_exact_value(name: str, function: np.ufunc, dtype: DType) -> None:
    a = np.concatenate([drawn(dtype), np.array([0, -0.0, np.inf, -np.inf], dtype.numpy)])
    got = vector(f"{name}.{dtype}", a, result=dtype.numpy)
    with np.errstate(all="ignore"):
        exact = function(a.astype(np.longdouble))
        assert same(got, exact.astype(np.float64).astype(dtype.numpy))


def test_relu_and_leaky_relu() -> None:
    a = np.array([-2, -0.0, 0, 3, np.nan], np.float32)
    relu = vector("vrelu.f32", a, result=np.float32)
    assert same(relu, np.array([0, 0, 0, 3, np.nan], np.float32))
    tenth = int(np.float32(0.1).view(np.uint32))
    leaky = vector("vlrelu.f32", a, result=np.float32, scalar=tenth)
    assert same(leaky, np.array([-0.2, 0, 0, 3, np.nan], np.float32))


def test_reciprocals_are_approximations() -> None:
    a = RANDOM.uniform(0.1, 10, 300).astype(np.float32)
    for name, exact in (("vrec", 1 / a), ("vrsqrt", 1 / np.sqrt(a))):
        got = vector(f"{name}.f32", a, result=np.float32)
        assert 1e-4 < np.max(np.abs(got / exact - 1)) < 2.0**-8


@pytest.mark.parametrize(("amount", "shifted"), [(3, 3), (31, 31), (32, 32), (40, 32)])
def test_shifts(amount: int, shifted: int) -> None:
    a = RANDOM.integers(-(2**31), 2**31, 100, np.int64)
    signed = vector("vshr.i32", a.astype(np.int32), result=np.int32, scalar=amount)
    unsigned = vector("vshr.u32", a.astype(np.uint32), result=np.uint32, scalar=amount)
    left = vector("vshl.u32", a.astype(np.uint32), result=np.uint32, scalar=amount)
    assert same(signed, (a >> shifted).astype(np.int32))
    assert same(unsigned, ((a & 0xFFFFFFFF) >> shifted).astype(np.uint32))
    assert same(left, (a << shifted).astype(np.uint32))


def test_casts_count_lanes_on_the_wider_type() -> None:
    half = RANDOM.normal(size=300).astype(np.float16)
    single = vector("vconv_f162f32", half, result=np.float32, src_repeat=4)
    assert same(single, half.astype(np.float32))
    back = vector("vconv_f322f16r", single, result=np.float16, dst_repeat=4)
    assert same(back, half)
    wide = vector(
        "vconv_i322i64", np.arange(-50, 50, dtype=np.int32), result=np.int64, src_repeat=4
    )
    assert same(wide, np.arange(-50, 50))
    whole = vector("vconv_f322f32a", np.array([-0.3, 2.5, -2.5], np.float32), result=np.float32)
    assert whole.tolist() == [0, 3, -3]
    assert not np.signbit(whole[0])


def test_count_mode_and_masks_leave_other_lanes() -> None:
    memory = memories()
    before = memory[Space.UB].copy()
    run(memory, "vector_dup.i32", dst=64, scalar=7, mask_mode=1, mask_low=67)
    assert get(memory[Space.UB], 64, 67, np.int32).tolist() == [7] * 67
    assert np.array_equal(memory[Space.UB][64 + 4 * 67 :], before[64 + 4 * 67 :])
    memory = memories()
    run(memory, "vector_dup.u16", dst=0, scalar=5, repeat=2, mask_high=-(2**63), mask_low=1)
    changed = np.flatnonzero(memory[Space.UB] != 0xFF) // 2
    assert sorted(set(changed.tolist())) == [0, 127, 128, 255]


def test_sums_are_trees_of_adjacent_pairs_in_the_dtype() -> None:
    memory = memories()
    put(memory[Space.UB], 4096, np.array([1, 2048, 1, 0, 1, 1, 2048, 0], np.float16))
    run(memory, "vcadd.f16", dst=0, src=4096, mask_high=0, mask_low=0b1111)
    run(memory, "vcadd.f16", dst=32, src=4096, mask_high=0, mask_low=0b11110000)
    assert get(memory[Space.UB], 0, 1, np.float16)[0] == 2048
    assert get(memory[Space.UB], 32, 1, np.float16)[0] == 2050


@pytest.mark.parametrize("columns", [1, 7, 64])
def test_row_reductions_of_a_tail(columns: int) -> None:
    memory = memories()
    rows = RANDOM.integers(-9, 9, (5, columns)).astype(np.float32)
    for r, line in enumerate(rows):
        put(memory[Space.UB], 4096 + 512 * r, line)
    mask = {"mask_low": -1 if columns == 64 else 2**columns - 1}
    for i, (name, function) in enumerate((("vcadd", np.sum), ("vcmax", np.max), ("vcmin", np.min))):
        place = {"dst": 64 * i, "src": 4096, "src_repeat": 16}
        run(memory, f"{name}.f32", repeat=5, **place, **mask)
        got = get(memory[Space.UB], 64 * i, 5, np.float32)
        assert same(got, function(rows, axis=1))


def test_block_reductions_skip_blocks_without_lanes() -> None:
    memory = memories()
    values = RANDOM.normal(size=64).astype(np.float32)
    values[3] = np.nan
    put(memory[Space.UB], 4096, values)
    run(memory, "vcgmax.f32", dst=0, src=4096, mask_low=2**50 - 1)
    got = get(memory[Space.UB], 0, 8, np.float32)
    expected = [np.max(values[8 * i : min(8 * i + 8, 50)]) for i in range(7)]
    assert same(got[:7], np.array(expected))
    assert got[7:].view(np.uint32).tolist() == [0xFFFFFFFF]


@pytest.mark.parametrize("kind", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_compare_and_select(kind: str) -> None:
    function = {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }[kind]
    memory = memories()
    ub = memory[Space.UB]
    a = RANDOM.integers(-2, 3, 256).astype(np.float16)
    b = RANDOM.integers(-2, 3, 256).astype(np.float16)
    a[3] = np.nan
    put(ub, 1024, a)
    put(ub, 2048, b)
    sources = {"src0": 1024, "src1": 2048, "repeat": 2}
    run(memory, f"vcmpv_{kind}.f16", dst=0, **sources)
    bits = np.unpackbits(ub[:32], bitorder="little").astype(bool)
    assert np.array_equal(bits, function(a, b))
    run(memory, "vsel.f16", dst=4096, mask=0, **sources)
    assert same(get(ub, 4096, 256, np.float16), np.where(bits, a, b))
    one = int(np.float16(1).view(np.uint16))
    run(memory, f"vcmpvs_{kind}.f16", dst=64, src=1024, scalar=one, repeat=2)
    bits = np.unpackbits(ub[64:96], bitorder="little").astype(bool)
    assert np.array_equal(bits, function(a, np.float16(1)))


def test_gather_and_block_broadcast() -> None:
    memory = memories()
    table = RANDOM.integers(0, 2**32, 200, np.uint32)
    index = RANDOM.integers(0, 200, 100)
    put(memory[Space.UB], 8192, table)
    put(memory[Space.UB], 4096, (4 * index).astype(np.uint32))
    run(memory, "vgather.u32", dst=0, offsets=4096, base=8192, mask_mode=1, mask_low=100)
    assert same(get(memory[Space.UB], 0, 100, np.uint32), table[index])
    run(memory, "vbrcb.u32", dst=0, src=8192, repeat=2)
    assert same(get(memory[Space.UB], 0, 128, np.uint32), np.repeat(table[:16], 8))


def test_copies_pad_to_blocks_and_combine() -> None:
    memory = memories()
    values = np.arange(21, dtype=np.float16).reshape(3, 7)
    put(memory[Space.GM], 100, values)
    seven = int(np.float16(7).view(np.uint16))
    bursts = {"bursts": 3, "length": 14}
    run(memory, "copy_gm_to_ubuf_align.b16", dst=0, src=100, left=2, pad_value=seven, **bursts)
    tile = get(memory[Space.UB], 0, 48, np.float16).reshape(3, 16)
    assert same(tile, np.pad(values, ((0, 0), (2, 7)), constant_values=7))
    put(memory[Space.GM], 1000, np.ones((3, 8), np.float16))
    add = atomic_mode("add", F16)
    place = {"dst": 1000, "src": 0, "dst_gap": 2}
    run(memory, "copy_ubuf_to_gm_align.b16", **bursts, **place, atomic=add)
    got = get(memory[Space.GM], 1000, 24, np.float16).reshape(3, 8)
    assert same(got, np.pad(tile[:, :7] + 1, ((0, 0), (0, 1)), constant_values=1))


def load_left(memory: Memories, m: int, k: int, dtype: DType) -> None:
    """A from GM address 0 to L0A: NZ in L1, then one load per row of fractals; m = 1 as a row."""
    width = 8 * dtype.bytes
    depth = 32 // dtype.bytes
    rows, steps = ceil_div(m, 16), ceil_div(k, depth)
    pitch = 1 if m == 1 else round_up(m, 16)
    strides = {"src_row_stride": k, "dst_column_stride": pitch, "dst_row_stride": 1}
    nd2nz = f"copy_gm_to_cbuf_multi_nd2nz.b{width}"
    run(memory, nd2nz, dst=0, src=0, rows=m, columns=k, **strides)
    if m == 1:
        run(memory, f"load_cbuf_to_ca.b{width}", dst=0, src=0, repeat=ceil_div(steps, 16))
        return
    for i in range(rows):
        place = {"dst": i * steps * 512, "src": 0, "index": i}
        run(memory, f"load_cbuf_to_ca.b{width}", **place, repeat=steps, src_stride=rows)


def load_right(memory: Memories, k: int, n: int, dtype: DType, transposed: bool) -> None:
    """B from GM address 32768 to L0B; ``transposed``: GM holds n rows of k."""
    width = 8 * dtype.bytes
    depth = 32 // dtype.bytes
    columns, steps = ceil_div(n, 16), ceil_div(k, depth)
    nd2nz = f"copy_gm_to_cbuf_multi_nd2nz.b{width}"
    source = {"dst": 0, "src": 32768, "dst_row_stride": 1}
    if transposed:
        sizes = {"rows": n, "columns": k, "src_row_stride": k, "dst_column_stride": 16 * columns}
        run(memory, nd2nz, **source, **sizes)
        run(memory, f"load_cbuf_to_cb.b{width}", dst=0, src=0, repeat=steps * columns)
        return
    if dtype.bytes == 2:
        sizes = {"rows": k, "columns": n, "src_row_stride": n, "dst_column_stride": 16 * steps}
        run(memory, nd2nz, **source, **sizes)
        for i in range(steps):
            place = {"dst": i * columns * 512, "src": 0, "index": i, "transpose": 1}
            run(memory, "load_cbuf_to_cb.b16", **place, repeat=columns, src_stride=steps)
        return
    for i in range(ceil_div(k, 16)):
        place = {"dst": i * columns * 1024, "src": 32768 + i * 16 * n * 4, "dst_row_stride": 1}
        sizes = {"rows": min(16, k - 16 * i), "columns": n, "src_row_stride": n}
        run(memory, nd2nz, **place, **sizes, dst_column_stride=16)
        place = {"dst": 2 * i * columns * 512, "src": 0, "index": i * columns}
        gaps = {"dst_fractal_gap": columns - 1, "src_stride": 1}
        run(memory, "load_cbuf_to_cb_transpose.b32", **place, **gaps, repeat=columns)


def load_left_transposed(memory: Memories, m: int, k: int, dtype: DType) -> None:
    """A from GM address 0, which holds k rows of m; the pitch of K in L0A is a multiple of 16."""
    width = 8 * dtype.bytes
    rows, squares = ceil_div(m, 16), ceil_div(k, 16)
    source = {"dst": 0, "src_row_stride": m, "dst_row_stride": 1, "columns": m}
    if dtype.bytes == 2:
        strides = {"rows": k, "dst_column_stride": 16 * squares}
        run(memory, "copy_gm_to_cbuf_multi_nd2nz.b16", **source, **strides, src=0)
        run(memory, "load_cbuf_to_ca.b16", dst=0, src=0, repeat=rows * squares, transpose=1)
        return
    for i in range(squares):
        sizes = {"src": i * 16 * m * 4, "rows": min(16, k - 16 * i), "dst_column_stride": 16}
        run(memory, f"copy_gm_to_cbuf_multi_nd2nz.b{width}", **source, **sizes)
        place = {"dst": 2 * i * 512, "src": 0, "repeat": rows, "dst_gap": 2 * squares - 1}
        run(memory, "load_cbuf_to_ca_transpose.b32", **place, src_stride=1)


@pytest.mark.parametrize(("m", "k", "n"), [(16, 16, 16), (2, 7, 1), (33, 37, 41)])
@pytest.mark.parametrize("dtype", [F16, F32])
def test_a_product_with_a_transposed_left_operand(dtype: DType, m: int, k: int, n: int) -> None:
    memory = memories()
    a = RANDOM.normal(size=(m, k)).astype(dtype.numpy)
    b = RANDOM.normal(size=(k, n)).astype(dtype.numpy)
    put(memory[Space.GM], 0, a.T)
    put(memory[Space.GM], 32768, b)
    load_left_transposed(memory, m, k, dtype)
    load_right(memory, k, n, dtype, transposed=False)
    aligned = int(dtype == F32)
    run(memory, f"mad.{dtype}", c=0, a=0, b=0, m=m, k=k, n=n, c_init=1, k_align=aligned)
    place = {"dst": 0, "src": 0, "dst_stride": n, "src_stride": round_up(m, 16)}
    run(memory, "copy_matrix_cc_to_gm.f32", **place, m=m, n=n)
    total = np.zeros((m, n), np.float32)
    for i in range(k):
        total += a[:, i : i + 1].astype(np.float32) * b[i].astype(np.float32)
    assert same(get(memory[Space.GM], 0, m * n, np.float32).reshape(m, n), total)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(16, 16, 16), (1, 40, 9), (2, 7, 1), (33, 37, 41)])
@pytest.mark.parametrize("dtype", [F16, BF16, F32])
def test_a_matrix_product_end_to_end(
    dtype: DType, m: int, k: int, n: int, transposed: bool
) -> None:
    memory = memories()
    a = RANDOM.normal(size=(m, k)).astype(dtype.numpy)
    b = RANDOM.normal(size=(k, n)).astype(dtype.numpy)
    put(memory[Space.GM], 0, a)
    put(memory[Space.GM], 32768, b.T if transposed else b)
    load_left(memory, m, k, dtype)
    load_right(memory, k, n, dtype, transposed)
    run(memory, f"mad.{dtype}", c=0, a=0, b=0, m=m, k=k, n=n, c_init=1)
    run(memory, f"mad.{dtype}", c=0, a=0, b=0, m=m, k=k, n=n)
    place = {"dst": 0, "src": 0, "dst_stride": n, "src_stride": round_up(m, 16)}
    suffix = {"f16": "f32f16", "bf16": "f32bf16", "f32": "f32"}[dtype.name]
    run(memory, f"copy_matrix_cc_to_gm.{suffix}", **place, m=m, n=n, relu=1)
    total = np.zeros((m, n), np.float32)
    for _ in range(2):
        for i in range(k):
            total += a[:, i : i + 1].astype(np.float32) * b[i].astype(np.float32)
    got = get(memory[Space.GM], 0, m * n, dtype.numpy).reshape(m, n)
    assert same(got, np.maximum(total, 0).astype(dtype.numpy))
