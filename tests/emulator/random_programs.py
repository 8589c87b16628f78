"""Random straight-line programs for the checker: half-right synchronisation on little memory."""

from __future__ import annotations

import random

from pypto.target.clocks import EVENT_PAIRS
from pypto.target.memory import CoreKind, Pipe
from pypto.target.program import Program, ProgramBuilder, Register
from pypto.target.rows import BLOCK_INDEX_REGISTER
from pypto.target.soc import soc

PIPES = {
    CoreKind.VECTOR: (Pipe.V, Pipe.MTE2, Pipe.MTE3),
    CoreKind.CUBE: (Pipe.M, Pipe.MTE1, Pipe.MTE2, Pipe.FIX),
    CoreKind.AICORE: (Pipe.V, Pipe.M, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3),
}
MACHINES = {
    CoreKind.VECTOR: soc("ascend910b1"),
    CoreKind.CUBE: soc("ascend910b1"),
    CoreKind.AICORE: soc("ascend910a"),
}
# How often: a data instruction, a set, a wait, a barrier, a barrier of all pipes.
WEIGHTS = (10, 5, 5, 2, 1)


def random_program(draw: random.Random) -> Program:
    """One program of 3 to 40 instructions; GM addresses are immediates from 0."""
    core = draw.choice(tuple(PIPES))
    builder = ProgramBuilder("random", core)
    pipes = draw.sample(PIPES[core], draw.randint(2, len(PIPES[core])))
    pairs = sorted(
        (source, target)
        for source, target in EVENT_PAIRS[core]
        if {source, target} <= {*pipes, Pipe.S}
    )
    tokens: list[tuple[Pipe, Pipe, int]] = []
    for _ in range(draw.randint(3, 40)):
        what = draw.choices(range(5), WEIGHTS)[0]
        if what == 0:
            write = _coupled_data if core is CoreKind.AICORE else _data
            write(builder, draw, draw.choice(pipes))
        elif what == 1:
            flag = (*draw.choice(pairs), draw.randrange(2))
            if flag not in tokens or draw.random() < 0.02:
                tokens.append(flag)
                builder.append("set_flag", *flag)
        elif what == 2 and tokens and draw.random() < 0.98:
            builder.append("wait_flag", *tokens.pop(draw.randrange(len(tokens))))
        elif what == 2 and draw.random() < 0.1:
            builder.append("wait_flag", *draw.choice(pairs), draw.randrange(2))
        elif what == 3:
            builder.append("pipe_barrier", draw.choice(pipes))
        elif what == 4 and draw.random() < 0.5:
            builder.append("pipe_barrier", Pipe.ALL)
    for flag in tokens if draw.random() < 0.8 else []:
        builder.append("wait_flag", *flag)
    builder.append("end")
    return builder.build()


def _data(builder: ProgramBuilder, draw: random.Random, pipe: Pipe) -> None:
    def near(step: int, count: int = 4) -> int:
        return step * draw.randrange(count)

    length = draw.choice((20, 32, 100))
    shape = draw.choice(((16, 16), (64, 64)))
    if pipe is Pipe.MTE2 and builder.core is CoreKind.VECTOR:
        bursts = draw.randint(1, 3)
        builder.append(
            "copy_gm_to_ubuf_align.b16", dst=near(32, 8), src=near(16), length=length,
            bursts=bursts, dst_gap=draw.randrange(3),
        )  # fmt: skip
    elif pipe is Pipe.MTE2:
        builder.append(
            "copy_gm_to_cbuf_multi_nd2nz.b16", dst=near(256), src=near(16), rows=16,
            columns=draw.choice((16, 32)), src_row_stride=32, dst_column_stride=16,
            dst_row_stride=1,
        )  # fmt: skip
    elif pipe is Pipe.MTE3:
        builder.append(
            "copy_ubuf_to_gm_align.b16", dst=near(16), src=near(32, 8), length=length,
            bursts=draw.randint(1, 3), dst_gap=near(16),
        )  # fmt: skip
    elif pipe is Pipe.V and draw.random() < 0.5:
        builder.append(
            "vadd.f16", dst=near(32, 8), src0=near(32, 8), src1=near(32, 8),
            repeat=draw.randrange(3), dst_repeat=draw.choice((4, 8)), src0_block=draw.randrange(2),
        )  # fmt: skip
    elif pipe is Pipe.V:
        builder.append("vcadd.f32", dst=near(8, 32), src=near(32, 8), repeat=draw.randint(1, 3))
    elif pipe is Pipe.MTE1:
        to = draw.choice("ab")
        builder.append(
            f"load_cbuf_to_c{to}.b16", dst=near(512), src=near(256), repeat=draw.randint(1, 3),
            dst_gap=draw.randrange(2),
        )  # fmt: skip
    elif pipe is Pipe.M:
        m, n = draw.choice((shape, shape, (48, 64)))
        builder.append(
            "mad.f16", c=near(1024, 2), a=near(512), b=near(512), m=m, n=n, k=16,
            c_init=draw.randrange(2),
        )  # fmt: skip
    else:
        builder.append(
            "copy_matrix_cc_to_gm.f32", dst=near(64), src=near(1024, 2), m=shape[0], n=shape[1],
            dst_stride=64, src_stride=shape[0],
        )  # fmt: skip


def _coupled_data(builder: ProgramBuilder, draw: random.Random, pipe: Pipe) -> None:
    def near(step: int, count: int = 4) -> int:
        return step * draw.randrange(count)

    first = draw.random() < 0.5
    blocks = {
        "bursts": draw.randint(1, 3),
        "length": draw.randint(1, 3),
        "src_gap": draw.randrange(2),
        "dst_gap": draw.randrange(2),
    }
    places = {"dst": near(32, 8), "src": near(32, 8)}
    if pipe is Pipe.MTE2:
        builder.append(f"copy_gm_to_{'ubuf' if first else 'cbuf'}.b32", **places, **blocks)
    elif pipe is Pipe.MTE3:
        builder.append(f"copy_ubuf_to_{'gm' if first else 'cbuf'}.b32", **places, **blocks)
    elif pipe is Pipe.MTE1 and first:
        builder.append("copy_cbuf_to_ubuf.b32", **places, **blocks)
    elif pipe is Pipe.MTE1:
        to, repeat = draw.choice("ab"), draw.randint(1, 2)
        builder.append(f"load_cbuf_to_c{to}.b16", dst=near(512), src=near(32, 8), repeat=repeat)
    elif pipe is Pipe.M:
        m, n = draw.choice(((16, 16), (32, 16), (64, 64)))
        places = {"c": near(1024, 2), "a": near(512), "b": near(512)}
        builder.append("mad.f16", **places, m=m, n=n, k=16, c_init=draw.randrange(2))
    elif first:
        rows = {"src": near(1024, 2), "length": draw.randint(1, 2)}
        builder.append("copy_matrix_cc_to_ubuf.f32f16", dst=near(32, 8), **rows)
    else:
        step = {"dst_step": 2, "dst_pair": 1, "src_step": draw.choice((0, 2))}
        source = {"src_pair": step["src_step"] // 2}
        builder.append("scatter_vnchwconv.b16", **places, **step, **source)


def random_blocks(draw: random.Random) -> Program:
    """A program whose blocks read and write parts of global memory that may overlap."""
    builder = ProgramBuilder("blocks", CoreKind.VECTOR)
    block = Register(BLOCK_INDEX_REGISTER)
    for number in range(draw.randint(1, 4)):
        address = Register(2)
        builder.append("mul", address, block, draw.choice((0, 16, 32, 64)))
        builder.append("add", address, address, draw.choice((0, 16, 48)))
        length = draw.choice((14, 16, 32))
        if draw.random() < 0.5:
            to = 256 * number
            builder.append("copy_gm_to_ubuf_align.b16", dst=to, src=address, length=length)
        else:
            builder.append("copy_ubuf_to_gm_align.b16", dst=address, src=2048, length=length)
        builder.append("pipe_barrier", Pipe.ALL)
    builder.append("end")
    return builder.build()
