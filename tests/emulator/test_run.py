"""Executables on the device: buffers, dynamic extents, several launches, errors of the caller."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.placement import place
from pypto.emulator.run import run
from pypto.errors import DeviceError
from pypto.target.dtypes import BF16, F32, I1
from pypto.target.executable import Buffer, BufferArgument, Dim, Executable, Launch, Role
from pypto.target.memory import CoreKind, Pipe
from pypto.target.program import Program, ProgramBuilder, Register
from pypto.target.soc import soc

R = Register
V, MTE2, MTE3 = Pipe.V, Pipe.MTE2, Pipe.MTE3
SOC = soc("ascend910b1")


def scale(factor: float) -> Program:
    """z = x * factor for ``count`` f32 elements, at most what fits UB; one core."""
    b = ProgramBuilder("scale", CoreKind.VECTOR)
    b.parameter("x", "buffer", F32)
    b.parameter("z", "buffer", F32, writes=True)
    b.parameter("count", "scalar")
    for i in range(3):
        b.append("ldp", R(2 + i), i)
    b.append("mul", R(5), R(4), 4)
    b.append("set_mask_count")
    b.append("set_vector_mask", 0, R(4))
    b.append("copy_gm_to_ubuf_align.b32", dst=0, src=R(2), length=R(5))
    b.append("set_flag", MTE2, V, 0)
    b.append("wait_flag", MTE2, V, 0)
    bits = int(np.float32(factor).view(np.uint32))
    b.append("vmuls.f32", dst=65536, src=0, scalar=bits)
    b.append("set_flag", V, MTE3, 0)
    b.append("wait_flag", V, MTE3, 0)
    b.append("copy_ubuf_to_gm_align.b32", dst=R(3), src=65536, length=R(5))
    b.append("pipe_barrier", Pipe.ALL)
    b.append("end")
    return b.build()


def chain() -> Executable:
    """result = (input * 2) * 3 + nothing, through a temporary, of any length."""
    n = Dim(0, 0)
    buffers = (
        Buffer("x", Role.INPUT, F32, (n,)),
        Buffer("t", Role.TEMPORARY, F32, (n,)),
        Buffer("z", Role.RESULT, F32, (n,)),
    )
    steps = (
        Launch(0, 1, (BufferArgument(0), BufferArgument(1), n)),
        Launch(1, 1, (BufferArgument(1), BufferArgument(2), n)),
    )
    return Executable(SOC.name, (scale(2), scale(3)), buffers, {}, steps, (0,), (2,))


@pytest.mark.parametrize("count", [0, 1, 7, 4096])
def test_extents_known_at_launch(count: int) -> None:
    executable = chain()
    executable.validate()
    x = np.arange(count, dtype=np.float32)
    result = run(executable, [x])
    assert np.array_equal(result.results[0], x * 6)
    assert [launch.name for launch in result.profile.launches] == ["scale", "scale"]
    assert result.profile.cycles == sum(launch.cycles for launch in result.profile.launches)


def test_results_of_timing_only_runs_are_empty_and_need_no_data() -> None:
    shape_only = np.broadcast_to(np.float32(0), (4096,))
    result = run(chain(), [shape_only], timing_only=True)
    assert result.results == ()
    assert result.profile.cycles == run(chain(), [np.zeros(4096, np.float32)]).profile.cycles


def test_a_temporary_in_l2_costs_no_hbm_read() -> None:
    first, second = run(chain(), [np.zeros(4096, np.float32)]).profile.launches
    assert first.hbm_bytes == 4 * 4096
    assert second.hbm_bytes == 0


def test_constants_are_there_and_results_are_fresh() -> None:
    buffers = (
        Buffer("c", Role.CONSTANT, F32, (8,), 32, constant="key"),
        Buffer("z", Role.RESULT, F32, (8,), 32),
    )
    constant = np.arange(8, dtype=np.float32)
    step = Launch(0, 1, (BufferArgument(0), BufferArgument(1), 8))
    executable = Executable(
        SOC.name, (scale(5),), buffers, {"key": constant.view(np.uint8)}, (step,), (), (1,)
    )
    one, two = (run(executable, []).results[0] for _ in range(2))
    assert np.array_equal(one, constant * 5)
    assert not np.shares_memory(one, two)
    assert one.flags.writeable


def test_what_nobody_wrote_is_poison() -> None:
    buffers = (Buffer("z", Role.RESULT, F32, (4,), 16), Buffer("b", Role.RESULT, BF16, (2, 2)))
    executable = Executable(SOC.name, (), buffers, {}, (), (), (0, 1))
    z, b = run(executable, []).results
    assert np.isnan(z).all()
    assert b.dtype == BF16.numpy
    assert np.isnan(b.astype(np.float32)).all()


def test_rank_0_and_booleans_pass_through() -> None:
    buffers = (Buffer("x", Role.INPUT, F32, (), 4), Buffer("m", Role.INPUT, I1, (3,), 3))
    executable = Executable(SOC.name, (), buffers, {}, (), (0, 1), (0, 1))
    x, mask = np.array(3.5, np.float32), np.array([True, False, True])
    out = run(executable, [x, mask]).results
    assert out[0].shape == ()
    assert out[0] == x
    assert np.array_equal(out[1], mask)


def test_buffers_do_not_overlap_except_planned_temporaries() -> None:
    buffers = (
        Buffer("x", Role.INPUT, F32, (100,), 400),
        Buffer("t", Role.TEMPORARY, F32, (100,), 400, offset=0),
        Buffer("u", Role.TEMPORARY, F32, (300,), 1200, offset=0),
        Buffer("z", Role.RESULT, F32, (100,), 400),
    )
    executable = Executable(SOC.name, (), buffers, {}, (), (0,), (3,))
    placement = place(executable, [(100,)], SOC)
    assert placement.addresses == (1536, 0, 0, 2048)
    assert placement.total == 2560
    starts, ends, limits = placement.spans([0, 1, 2])
    assert starts.tolist() == [0, 1536]
    assert ends.tolist() == [1200, 1936]
    assert limits.tolist() == [1248, 1984]


def failure(executable: Executable, *inputs: np.ndarray) -> str:
    with pytest.raises(DeviceError) as caught:
        run(executable, list(inputs))
    return str(caught.value)


def test_wrong_inputs() -> None:
    assert "0 inputs given, 1 wanted" in failure(chain())
    text = failure(chain(), np.zeros(4, np.float64))
    assert "input x is float64[4], the program wants float32[4]" in text
    assert ".astype('float32')" in text


def test_more_than_hbm_holds() -> None:
    buffers = (Buffer("huge", Role.TEMPORARY, F32, (2**35,), 2**37),)
    text = failure(Executable(SOC.name, (), buffers, {}, (), (), ()))
    assert "DEVICE_MEMORY_EXHAUSTED" in text
    assert f"ascend910b1 has {SOC.hbm_bytes}" in text
    assert "buffer huge takes 137438953472 bytes" in text


def test_a_launch_may_touch_its_own_buffers_only() -> None:
    buffers = (
        Buffer("x", Role.INPUT, F32, (64,), 256),
        Buffer("other", Role.INPUT, F32, (4096,), 16384),
        Buffer("z", Role.RESULT, F32, (4096,), 16384),
    )
    step = Launch(0, 1, (BufferArgument(0), BufferArgument(2), 4096))
    executable = Executable(SOC.name, (scale(1),), buffers, {}, (step,), (0, 1), (2,))
    text = failure(executable, np.zeros(64, np.float32), np.zeros(4096, np.float32))
    assert "copy_gm_to_ubuf_align.b32 touches bytes 0 to 16384 of gm through src" in text
    assert "the launch's buffers are [0, 256), " in text


def test_the_summary_names_launches_and_pipes() -> None:
    text = run(chain(), [np.zeros(4096, np.float32)]).profile.summary()
    assert "scale: " in text
    assert "mte2  busy" in text
    assert "on ascend910b1" in text
