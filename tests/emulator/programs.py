"""Hand-written kernels for tests of the emulator, with their flags in place."""

from __future__ import annotations

from pypto.target.dtypes import F16, F32, DType
from pypto.target.executable import Buffer, BufferArgument, Executable, Launch, Role
from pypto.target.memory import CoreKind, Pipe
from pypto.target.program import Program, ProgramBuilder, Register

R = Register
MTE1, MTE2, MTE3, V, M, FIX = Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.V, Pipe.M, Pipe.FIX


def elementwise(trips: int, tile_bytes: int, file: str = "add.py") -> Program:
    """z = x + y in f32: every block adds ``trips`` tiles, double-buffered.

    Flags as in the vendor's double-buffer sample: MTE2 to V and V to MTE3 forward, V to MTE2 and
    MTE3 to V back, one id per slot.
    """
    b = ProgramBuilder("add", CoreKind.VECTOR)
    for name in ("x", "y", "z"):
        b.parameter(name, "buffer", F32, writes=name == "z")
    x, y, z, trip, slot, a_at, b_at, c_at = (R(i) for i in range(2, 10))
    b.at(f"{file}:2:1")
    for i, register in enumerate((x, y, z)):
        b.append("ldp", register, i)
    for s in range(2):
        b.append("set_flag", V, MTE2, s)
        b.append("set_flag", MTE3, V, s)
    b.append("mul", trip, R(0), trips * tile_bytes)
    for register in (x, y, z):
        b.append("add", register, register, trip)
    b.append("mov", trip, 0)
    b.append("set_mask_count")
    b.append("set_vector_mask", 0, tile_bytes // 4)
    b.append("bge", trip, trips, "done")
    b.label("loop")
    b.append("rem", slot, trip, 2)
    b.append("mul", a_at, slot, 3 * tile_bytes)
    b.append("add", b_at, a_at, tile_bytes)
    b.append("add", c_at, b_at, tile_bytes)
    b.at(f"{file}:3:5")
    b.append("wait_flag", V, MTE2, slot)
    b.append("copy_gm_to_ubuf_align.b32", dst=a_at, src=x, length=tile_bytes)
    b.append("copy_gm_to_ubuf_align.b32", dst=b_at, src=y, length=tile_bytes)
    b.append("set_flag", MTE2, V, slot)
    b.at(f"{file}:4:9")
    b.append("wait_flag", MTE2, V, slot)
    b.append("wait_flag", MTE3, V, slot)
    b.append("vadd.f32", dst=c_at, src0=a_at, src1=b_at)
    b.append("set_flag", V, MTE2, slot)
    b.append("set_flag", V, MTE3, slot)
    b.at(f"{file}:5:5")
    b.append("wait_flag", V, MTE3, slot)
    b.append("copy_ubuf_to_gm_align.b32", dst=z, src=c_at, length=tile_bytes)
    b.append("set_flag", MTE3, V, slot)
    for register in (x, y, z):
        b.append("add", register, register, tile_bytes)
    b.append("add", trip, trip, 1)
    b.append("blt", trip, trips, "loop")
    b.label("done")
    for s in range(2):
        b.append("wait_flag", V, MTE2, s)
        b.append("wait_flag", MTE3, V, s)
    b.append("pipe_barrier", Pipe.ALL)
    b.append("end")
    return b.build()


def elementwise_executable(grid: int, trips: int, tile_bytes: int) -> Executable:
    """``elementwise`` on ``grid`` vector cores."""
    count = grid * trips * tile_bytes // 4
    roles = (("x", Role.INPUT), ("y", Role.INPUT), ("z", Role.RESULT))
    buffers = tuple(Buffer(name, role, F32, (count,), 4 * count) for name, role in roles)
    step = Launch(0, grid, tuple(BufferArgument(i) for i in range(3)))
    program = elementwise(trips, tile_bytes)
    return Executable("ascend910b1", (program,), buffers, {}, (step,), (0, 1), (2,))


def matmul(m: int, k: int, n: int, tile: tuple[int, int, int], out: str = "f32f16") -> Program:
    """C[m, n] = A[m, k] x B[k, n] in f16: block i makes the output tiles i, i + blocks, ...

    K steps are double-buffered in L1 and L0, one accumulator. All extents are multiples of the
    tile's, which are multiples of 16.
    """
    tm, tk, tn = tile
    b = ProgramBuilder("matmul", CoreKind.CUBE)
    for name in ("a", "b", "c"):
        b.parameter(name, "buffer", F16, writes=name == "c")
    size_a, size_b = 2 * tm * tk, 2 * tk * tn
    out_bytes = 4 if out == "f32" else 2
    a, bb, c, tile_number, row, column = (R(i) for i in range(2, 8))
    step, slot, a1, b1, a0, b0, source, target, scratch, init = (R(i) for i in range(8, 18))
    for i, register in enumerate((a, bb, c)):
        b.append("ldp", register, i)
    for s in range(2):
        for source_pipe, target_pipe, event in ((MTE1, MTE2, s), (MTE1, MTE2, 2 + s), (M, MTE1, s)):
            b.append("set_flag", source_pipe, target_pipe, event)
    b.append("set_flag", FIX, M, 0)
    b.append("mov", tile_number, R(0))
    b.append("bge", tile_number, (m // tm) * (n // tn), "done")
    b.label("tile")
    b.append("div", row, tile_number, n // tn)
    b.append("rem", column, tile_number, n // tn)
    b.append("wait_flag", FIX, M, 0)
    b.append("mov", step, 0)
    b.label("step")
    b.append("rem", slot, step, 2)
    b.append("mul", a1, slot, size_a)
    b.append("mul", b1, slot, size_b)
    b.append("add", b1, b1, 2 * size_a)
    b.append("mul", a0, slot, size_a)
    b.append("mul", b0, slot, size_b)
    # A tile: tm rows from (row * tm, step * tk).
    b.append("mul", source, row, tm * k * 2)
    b.append("mul", scratch, step, tk * 2)
    b.append("add", source, source, scratch)
    b.append("add", source, source, a)
    b.append("wait_flag", MTE1, MTE2, slot)
    b.append(
        "copy_gm_to_cbuf_multi_nd2nz.b16",
        dst=a1, src=source, rows=tm, columns=tk, src_row_stride=k, dst_column_stride=tm,
        dst_row_stride=1,
    )  # fmt: skip
    b.append("set_flag", MTE2, MTE1, slot)
    b.append("mul", source, step, tk * n * 2)
    b.append("mul", scratch, column, tn * 2)
    b.append("add", source, source, scratch)
    b.append("add", source, source, bb)
    b.append("add", scratch, slot, 2)
    b.append("wait_flag", MTE1, MTE2, scratch)
    b.append(
        "copy_gm_to_cbuf_multi_nd2nz.b16",
        dst=b1, src=source, rows=tk, columns=tn, src_row_stride=n, dst_column_stride=tk,
        dst_row_stride=1,
    )  # fmt: skip
    b.append("set_flag", MTE2, MTE1, scratch)
    # L0A wants rows of fractals, L1 has columns of fractals: one load per row of fractals.
    b.append("wait_flag", MTE2, MTE1, slot)
    b.append("wait_flag", M, MTE1, slot)
    for i in range(tm // 16):
        b.append("add", target, a0, i * tk * 32)
        b.append(
            "load_cbuf_to_ca.b16", dst=target, src=a1, index=i, repeat=tk // 16,
            src_stride=tm // 16,
        )  # fmt: skip
    b.append("set_flag", MTE1, MTE2, slot)
    b.append("wait_flag", MTE2, MTE1, scratch)
    for i in range(tk // 16):
        b.append("add", target, b0, i * tn * 32)
        b.append(
            "load_cbuf_to_cb.b16", dst=target, src=b1, index=i, repeat=tn // 16,
            src_stride=tk // 16, transpose=1,
        )  # fmt: skip
    b.append("set_flag", MTE1, MTE2, scratch)
    b.append("set_flag", MTE1, M, slot)
    b.append("wait_flag", MTE1, M, slot)
    b.append("seq", init, step, 0)
    b.append("mad.f16", c=0, a=a0, b=b0, m=tm, k=tk, n=tn, c_init=init)
    b.append("set_flag", M, MTE1, slot)
    b.append("add", step, step, 1)
    b.append("blt", step, k // tk, "step")
    b.append("set_flag", M, FIX, 0)
    b.append("wait_flag", M, FIX, 0)
    b.append("mul", target, row, tm * n * out_bytes)
    b.append("mul", scratch, column, tn * out_bytes)
    b.append("add", target, target, scratch)
    b.append("add", target, target, c)
    b.append(
        f"copy_matrix_cc_to_gm.{out}", dst=target, src=0, n=tn, m=tm, dst_stride=n, src_stride=tm
    )
    b.append("set_flag", FIX, M, 0)
    b.append("add", tile_number, tile_number, R(1))
    b.append("blt", tile_number, (m // tm) * (n // tn), "tile")
    b.label("done")
    for s in range(2):
        for source_pipe, target_pipe, event in ((MTE1, MTE2, s), (MTE1, MTE2, 2 + s), (M, MTE1, s)):
            b.append("wait_flag", source_pipe, target_pipe, event)
    b.append("wait_flag", FIX, M, 0)
    b.append("pipe_barrier", Pipe.ALL)
    b.append("end")
    return b.build()


def matmul_executable(
    m: int, k: int, n: int, tile: tuple[int, int, int], grid: int, out: DType = F16
) -> Executable:
    """``matmul`` on ``grid`` cube cores."""
    program = matmul(m, k, n, tile, "f32" if out == F32 else "f32f16")
    shapes = (("a", Role.INPUT, F16, (m, k)), ("b", Role.INPUT, F16, (k, n)))
    buffers = (
        *(Buffer(name, role, d, s, s[0] * s[1] * d.bytes) for name, role, d, s in shapes),
        Buffer("c", Role.RESULT, out, (m, n), m * n * out.bytes),
    )
    step = Launch(0, grid, tuple(BufferArgument(i) for i in range(3)))
    return Executable("ascend910b1", (program,), buffers, {}, (step,), (0, 1), (2,))
