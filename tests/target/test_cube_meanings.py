"""What the moves around the cube and its integer products do, end to end, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.target.dtypes import I8
from pypto.target.layouts import Window, round_up
from pypto.target.memory import Space
from pypto.target.quantisation import Quantisation, convert, scale_word
from tests.target.test_layouts import WINDOWS, unfolded
from tests.target.test_meanings import Memories, get, memories, put, run

RANDOM = np.random.default_rng(11)


def word_of(w: Window) -> int:
    """An image as the mode register of load3d holds it."""
    sizes = (w.width, 0), (w.height, 16), (w.left, 32), (w.right, 40), (w.top, 48), (w.bottom, 56)
    return sum(value << at for value, at in sizes)


def filter_of(w: Window) -> dict[str, int]:
    return {name: value for name, value in w._asdict().items() if "_" in name}


def load_right(memory: Memories, b: np.ndarray) -> None:
    """B [k, n] of bytes from GM 32768 to L0B by squares of 32x32 bytes."""
    k, n = b.shape
    put(memory[Space.GM], 32768, b)
    rows = {"rows": k, "columns": n, "src_row_stride": n, "dst_row_stride": 1}
    place = {"dst": 16384, "src": 32768, "dst_column_stride": round_up(k, 32)}
    run(memory, "copy_gm_to_cbuf_multi_nd2nz.b8", **rows, **place)
    across, down = -(-n // 32), -(-k // 32)
    for i in range(down):
        squares = {"src": 16384 + i * 1024, "src_stride": down, "repeat": across, "dst_gap": 1}
        run(memory, "load_cbuf_to_cb_transpose.b8", dst=i * across * 1024, **squares)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(("m", "k", "n"), [(16, 32, 32), (7, 40, 32), (33, 64, 64)])
def test_a_product_of_bytes_with_a_bias_and_a_scale_for_each_column(
    m: int, k: int, n: int, signed: bool
) -> None:
    memory = memories()
    a, b = (RANDOM.integers(-128, 128, shape, np.int8) for shape in ((m, k), (k, n)))
    bias = RANDOM.integers(-1000, 1000, n, np.int32)
    scales = np.array(
        [scale_word(RANDOM.uniform(1e-4, 1e-2), int(RANDOM.integers(-9, 9)), signed) for _ in bias]
    )
    put(memory[Space.GM], 0, a)
    rows = {"rows": m, "columns": k, "src_row_stride": k, "dst_row_stride": 1}
    run(
        memory, "copy_gm_to_cbuf_multi_nd2nz.b8", dst=0, src=0, **rows,
        dst_column_stride=round_up(m, 16),
    )  # fmt: skip
    for i in range(round_up(m, 16) // 16):
        step = {"index": i, "src_stride": round_up(m, 16) // 16, "repeat": -(-k // 32)}
        run(memory, "load_cbuf_to_ca.b8", dst=i * step["repeat"] * 512, src=0, **step)
    load_right(memory, b)
    put(memory[Space.L1], 4096 * 10, bias)
    put(memory[Space.L1], 4096 * 11, scales)
    run(memory, "copy_cbuf_to_bt.b32", dst=64, src=4096 * 10, length=-(-n * 4 // 64))
    run(memory, "copy_cbuf_to_fbuf.b32", dst=128, src=4096 * 11, length=-(-n * 8 // 128))
    run(memory, "mad_bias.i8", c=0, a=0, b=0, bias=64, m=m, k=k, n=n)
    place = {"dst": 0, "src": 0, "dst_stride": n, "src_stride": round_up(m, 16), "words": 128}
    run(memory, "copy_matrix_cc_to_gm.vreq8", **place, m=m, n=n, relu=1)
    total = a.astype(np.int32) @ b.astype(np.int32) + bias
    expected = convert(total, I8, Quantisation.INTEGER_TO_BYTE, scales, relu=True)
    assert np.array_equal(get(memory[Space.GM], 0, m * n, np.uint8).reshape(m, n), expected)


@pytest.mark.parametrize("w", WINDOWS)
@pytest.mark.parametrize("second", [0, 1])
def test_an_image_is_unfolded_into_the_left_operand(w: Window, second: int) -> None:
    """Two blocks of channels of halves; the matrix is read back from the zZ of L0A."""
    memory = memories()
    image = RANDOM.integers(0, 1000, (2, w.height, w.width, 16), np.uint16)
    put(memory[Space.L1], 64, image)
    matrix = unfolded(image, w, pad=7)
    m, k = round_up(len(matrix), 16), matrix.shape[1]
    word = {"fmatrix_b" if second else "fmatrix": word_of(w)}
    window = {"step_m": m, "step_k": k, "channels": 32, "second": second, "padding": 7}
    run(memory, "img2colv2_cbuf_to_ca.b16", dst=512, src=64, **window, **filter_of(w), **word)
    got = get(memory[Space.L0A], 512, m * k, np.uint16).reshape(m // 16, k // 16, 16, 16)
    assert np.array_equal(got.transpose(0, 2, 1, 3).reshape(m, k)[: len(matrix)], matrix)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@pytest.mark.parametrize("w", WINDOWS)
def test_an_image_is_unfolded_into_the_right_operand(w: Window, dtype: type) -> None:
    """One block of channels; rows of the matrix are k of the product, columns n."""
    memory = memories()
    depth = 32 // np.dtype(dtype).itemsize
    image = RANDOM.integers(0, 1000, (1, w.height, w.width, depth), dtype)
    put(memory[Space.L1], 0, image)
    matrix = unfolded(image, w, pad=0)
    m, k = round_up(len(matrix), 16), matrix.shape[1]
    window = {"step_m": m, "step_k": k, "channels": depth, "fmatrix": word_of(w)}
    mnemonic = f"img2colv2_cbuf_to_cb.b{8 * np.dtype(dtype).itemsize}"
    run(memory, mnemonic, dst=0, src=0, **window, **filter_of(w))
    columns = round_up(k, 16)
    got = get(memory[Space.L0B], 0, m * columns, dtype).reshape(
        m // depth, columns // 16, 16, depth
    )
    got = got.transpose(0, 3, 1, 2).reshape(m, columns)
    assert np.array_equal(got[: len(matrix), :k], matrix)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_a_transposed_window_is_the_zz_of_its_transpose(dtype: type) -> None:
    memory = memories()
    width = np.dtype(dtype).itemsize
    depth = 32 // width
    image = RANDOM.integers(0, 1000, (2, 1, 32, depth), dtype)
    put(memory[Space.L1], 0, image)
    window = {"step_m": 32, "step_k": 2 * depth, "channels": 2 * depth, "fmatrix": 32 | 1 << 16}
    run(memory, f"img2colv2_cbuf_to_ca.b{8 * width}", dst=0, src=0, **window, transpose=1)
    turned = unfolded(image, Window(32, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1), 0).T
    rows = 2 * depth // 16
    got = get(memory[Space.L0A], 0, turned.size, dtype).reshape(rows, 32 // depth, 16, depth)
    assert np.array_equal(got.transpose(0, 2, 1, 3).reshape(turned.shape), turned)


def test_several_matrices_become_fractals() -> None:
    memory = memories()
    matrices = RANDOM.integers(1, 100, (3, 5, 20), np.uint16)
    put(memory[Space.GM], 0, matrices)
    strides = {"src_nd_stride": 100, "src_row_stride": 20, "dst_column_stride": 16}
    sizes = {"nd_count": 3, "rows": 5, "columns": 20, "dst_nd_stride": 32 * 16, "dst_row_stride": 1}
    run(memory, "copy_gm_to_cbuf_multi_nd2nz.b16", dst=0, src=0, **strides, **sizes)
    got = get(memory[Space.L1], 0, 3 * 32 * 16, np.uint16).reshape(3, 2, 16, 16)
    for i, matrix in enumerate(matrices):
        whole = np.hstack([got[i, 0, :5], got[i, 1, :5]])
        assert np.array_equal(whole[:, :20], matrix)
        assert not whole[:, 20:].any()
        assert (got[i, :, 5:] == 0xFFFF).all()


@pytest.mark.parametrize("size", [1, 2, 4])
def test_squares_are_turned(size: int) -> None:
    """Two squares one over the other become their transposes side by side."""
    memory = memories()
    dtype = np.dtype(f"u{size}")
    edge, depth = (32 if size == 1 else 16), 32 // size
    squares = RANDOM.integers(0, 200, (2, edge, edge), dtype)
    stored = [s.reshape(edge, -1, depth).transpose(1, 0, 2) for s in squares]
    put(memory[Space.L1], 0, np.concatenate([s.ravel() for s in stored]))
    count = squares[0].nbytes // 512
    run(
        memory, f"load_cbuf_to_ca_transpose.b{8 * size}", dst=0, src=0, repeat=2, src_stride=1,
        dst_gap=count - 1,
    )  # fmt: skip
    got = get(memory[Space.L0A], 0, squares.size, dtype).reshape(2, -1)
    for turned, square in zip(got, squares, strict=True):
        fractals = square.T.reshape(-1, 16, edge // depth, depth).transpose(0, 2, 1, 3)
        assert np.array_equal(turned, fractals.ravel())


def test_a_load_from_gm_may_go_backwards() -> None:
    memory = memories()
    fractals = RANDOM.integers(0, 256, (4, 512), np.uint8)
    put(memory[Space.GM], 3, fractals)
    steps = {"index": 3, "repeat": 2, "src_stride": 2, "descending": 1}
    run(memory, "load_gm_to_cbuf.b16", dst=0, src=3, **steps)
    assert np.array_equal(
        get(memory[Space.L1], 0, 1024, np.uint8).reshape(2, 512), fractals[[3, 1]]
    )


@pytest.mark.parametrize(("left", "right", "filler"), [(0, 0, 5), (1, 0, 9), (0, 1, 9), (2, 3, 9)])
def test_what_fills_a_block_of_a_padding_copy(left: int, right: int, filler: int) -> None:
    """The first element of the burst, or the pad value where there are pads."""
    memory = memories()
    put(memory[Space.GM], 0, np.array([5, 6, 7, 8, 1, 2], np.uint16))
    bursts = {"dst": 0, "src": 0, "bursts": 2, "length": 6, "left": left, "right": right}
    run(memory, "copy_gm_to_ubuf_align.b16", **bursts, pad_value=9)
    for i, line in enumerate(get(memory[Space.UB], 0, 32, np.uint16).reshape(2, 16).tolist()):
        burst = [5, 6, 7] if i == 0 else [8, 1, 2]
        first = 8 if i and filler == 5 else filler
        assert line == [9] * left + burst + [first] * (13 - left)


def test_a_channel_split_halves_fractals_of_floats() -> None:
    memory = memories()
    c = RANDOM.normal(size=(16, 32)).astype(np.float32)
    put(memory[Space.L0C], 0, c.reshape(16, 2, 16).transpose(1, 0, 2))
    place = {"dst": 0, "src": 0, "dst_stride": 16, "src_stride": 16, "nz2nd": 0}
    run(memory, "copy_matrix_cc_to_gm.f32", **place, n=24, m=16, channel_split=1)
    got = get(memory[Space.GM], 0, 3 * 16 * 8, np.float32).reshape(3, 16, 8)
    assert np.array_equal(got.transpose(1, 0, 2).reshape(16, 24), c[:, :24])


def test_bytes_merge_columns_of_fractals_on_their_way_to_l1() -> None:
    memory = memories()
    c = RANDOM.integers(-100, 100, (16, 64)).astype(np.int32)
    put(memory[Space.L0C], 0, c.reshape(16, 4, 16).transpose(1, 0, 2))
    place = {"dst": 32, "src": 0, "dst_stride": 20, "src_stride": 16, "quant_pre": scale_word(1.0)}
    run(memory, "copy_matrix_cc_to_cbuf.req8", **place, n=64, m=16)
    for i in range(2):
        got = get(memory[Space.L1], 32 + i * 20 * 32, 512, np.int8).reshape(16, 32)
        assert np.array_equal(got, c[:, 32 * i : 32 * i + 32])


@pytest.mark.parametrize("mnemonic", ["create_ca_matrix", "create_cb_matrix", "create_cbuf_matrix"])
def test_fills(mnemonic: str) -> None:
    memory = memories()
    unit = 16 if mnemonic == "create_cbuf_matrix" else 256
    space = {"create_ca_matrix": Space.L0A, "create_cb_matrix": Space.L0B}.get(mnemonic, Space.L1)
    run(memory, f"{mnemonic}.f16", dst=512, scalar=0x3C00, repeat=2, length=3, gap=1)
    got = get(memory[space], 512, 8 * unit, np.float16).reshape(8, unit)
    assert (got[[0, 1, 2, 4, 5, 6]] == 1).all()
    assert np.isnan(got[[3, 7]]).all()


def test_halves_widen_on_their_way_to_the_biases() -> None:
    memory = memories()
    bias = RANDOM.normal(size=64).astype(np.float16)
    put(memory[Space.L1], 0, bias)
    run(memory, "copy_cbuf_to_bt.f16", dst=0, src=0, bursts=2, length=1, dst_gap=1)
    got = get(memory[Space.BT], 0, 80, np.float32)
    assert np.array_equal(got[:32], bias[:32].astype(np.float32))
    assert np.array_equal(got[48:], bias[32:].astype(np.float32))
