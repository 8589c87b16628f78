"""Scalar loads and stores: values, time, order with the pipes, faults, what needs data."""

from __future__ import annotations

import numpy as np
import pytest

from pypto.emulator.hazards import HazardKind, check_executable
from pypto.emulator.run import RunResult, run
from pypto.emulator.state import LOG_COLUMNS, LOG_FIELDS, STALL_KINDS, WORKING_PIPES
from pypto.errors import CompileError, DeviceError
from pypto.target.assembly import assemble
from pypto.target.executable import Executable
from pypto.target.instructions import OPCODES
from pypto.target.memory import Pipe
from pypto.target.soc import soc

COUNT = 256
SOC = soc("ascend910b1")
S = WORKING_PIPES.index(Pipe.S)
MEMORY = STALL_KINDS.index("memory")


def program(body: str, dtype: str = "i32", grid: int = 1, core: str = "vector") -> Executable:
    """A program on buffers x (input, in r2) and z (result, in r3) of 256 elements."""
    return assemble(
        f""".soc ascend910b1
.buffer x input {dtype} [{COUNT}]
.buffer z result {dtype} [{COUNT}]
.program probe {core} {{
  .parameter x buffer {dtype}
  .parameter z buffer {dtype} writes
  ldp r2, x
  ldp r3, z
{body}
  pipe_barrier all
  end
}}
.launch probe grid={grid} (x, z)
.inputs x
.results z
"""
    )


def execute(body: str, x: np.ndarray | None = None, **options: object) -> RunResult:
    data = np.arange(COUNT, dtype=np.int32) if x is None else x
    return run(program(body), [data], **options)  # pyright: ignore[reportArgumentType]


def scalar_stall(result: RunResult) -> int:
    return int(result.profile.launches[0].stalls[0, S, MEMORY])


BITS = np.array([-2, 0x7F81, -(2**31), 0x12345678], np.int32)
LOADS = [
    ("i8", 0, -2), ("u8", 0, 254), ("i8", 4, -127), ("u8", 5, 127), ("i16", 0, -2),
    ("u16", 0, 65534), ("i16", 4, 0x7F81), ("i32", 8, -(2**31)), ("u32", 8, 2**31),
    ("u32", 0, 2**32 - 2), ("i64", 8, 0x1234567880000000), ("i64", 0, 0x00007F81FFFFFFFE),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "offset", "value"), LOADS)
@pytest.mark.parametrize("space", ["gm", "ub"])
def test_every_width(space: str, dtype: str, offset: int, value: int) -> None:
    base = "r2" if space == "gm" else "0"
    fill = "" if space == "gm" else (
        "  copy_gm_to_ubuf_align.b32 dst=0, src=r2, length=16\n"
        "  set_flag mte2, s, 0\n  wait_flag mte2, s, 0\n"
    )  # fmt: skip
    body = f"""{fill}\
  mov r5, {base}
  add r5, r5, {offset}
  ld_{space}.{dtype} r6, r5
  st_gm.b64 r3, r6"""
    x = np.concatenate([BITS, np.zeros(COUNT - 4, np.int32)])
    (z,) = execute(body, x).results
    assert z[:2].view(np.int64)[0] == value


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("space", ["gm", "ub"])
def test_a_store_changes_its_bytes_alone(space: str, width: int) -> None:
    show = "" if space == "gm" else (
        "  set_flag s, mte3, 0\n  wait_flag s, mte3, 0\n"
        "  copy_ubuf_to_gm_align.b32 dst=r3, src=0, length=32\n"
    )  # fmt: skip
    base = "r3" if space == "gm" else "0"
    body = f"""\
  mov r5, {base}
  mov r6, -1
  st_{space}.b64 r5, 0
  add r7, r5, 8
  st_{space}.b64 r7, 0
  add r7, r5, 16
  st_{space}.b64 r7, 0
  add r7, r5, 24
  st_{space}.b64 r7, 0
  add r5, r5, 8
  st_{space}.b{width} r5, r6
{show}"""
    (z,) = execute(body).results
    expected = np.zeros(32, np.uint8)
    expected[8 : 8 + width // 8] = 255
    assert np.array_equal(z.view(np.uint8)[:32], expected)


LOOP = """\
  copy_gm_to_ubuf_align.b32 dst=0, src=r2, length=1024
  set_flag mte2, s, 0
  wait_flag mte2, s, 0
  mov r5, 0
  mov r6, 0
next:
  ld_ub.i32 r7, r5
  add r6, r6, r7
  add r5, r5, 4
  blt r7, 100, next
  st_gm.b32 r3, r6
  dcci r3, 0
  dsb"""


def test_a_loop_that_ends_by_what_it_reads() -> None:
    (z,) = execute(LOOP).results
    assert z[0] == sum(range(101))


def test_what_a_pipe_wrote_before_is_seen_and_what_is_stored_is_seen_by_pipes() -> None:
    body = """\
  vector_dup.i32 dst=0, scalar=7, repeat=1
  set_flag v, s, 0
  wait_flag v, s, 0
  ld_ub.i32 r5, 32
  mul r5, r5, 6
  st_ub.b32 64, r5
  set_flag s, v, 0
  wait_flag s, v, 0
  vadd.i32 dst=512, src0=0, src1=0, repeat=1
  set_flag v, mte3, 0
  wait_flag v, mte3, 0
  copy_ubuf_to_gm_align.b32 dst=r3, src=512, length=256
  pipe_barrier all
  ld_gm.i32 r6, r3
  add r7, r3, 512
  st_gm.b32 r7, r6"""
    (z,) = execute(body).results
    assert (z[0], z[16], z[17], z[128]) == (14, 84, 14, 14)


# Time


def test_an_access_of_ub_takes_a_round_trip() -> None:
    empty = execute("").profile.cycles
    body = "  ld_ub.i32 r5, 0\n  st_ub.b32 4, r5\n"
    result = execute("  st_ub.b32 0, 1\n" + body)
    assert result.profile.cycles == empty + 3 * SOC.scalar_ub_access
    assert scalar_stall(result) == 0


def test_scalar_addition_costs_what_it_is_derived_from() -> None:
    """Two loads, a store and four operations per element."""
    body = """\
  mov r5, {count}
next:
  ld_ub.i32 r6, 0
  ld_ub.i32 r7, 4
  add r8, r6, r7
  st_ub.b32 8, r8
  add r9, r9, 4
  sub r5, r5, 1
  bne r5, 0, next"""
    fill = "  st_ub.b64 0, 1\n"
    one, eleven = (execute(fill + body.format(count=n)).profile.cycles for n in (1, 11))
    assert (eleven - one) / 10 == 3 * SOC.scalar_ub_access + 4 == 34


def test_a_load_of_global_memory_waits_for_a_line_and_then_hits() -> None:
    empty = execute("").profile.cycles
    first = execute("  ld_gm.i32 r5, r2\n")
    miss = first.profile.cycles - empty
    assert SOC.hbm_latency <= miss <= SOC.hbm_latency + 8
    assert scalar_stall(first) == miss - 1
    again = execute("  ld_gm.i32 r5, r2\n  add r6, r2, 60\n  ld_gm.i32 r5, r6\n")
    assert again.profile.cycles == first.profile.cycles + 1 + SOC.dcache_hit
    # The next line is in the same 128-byte sector, so L2 holds it; so it does after dcci.
    near = execute("  ld_gm.i32 r5, r2\n  add r6, r2, 64\n  ld_gm.i32 r5, r6\n")
    assert SOC.l2_latency <= near.profile.cycles - first.profile.cycles <= SOC.l2_latency + 8
    dropped = execute("  ld_gm.i32 r5, r2\n  dcci r2, 0\n  ld_gm.i32 r5, r2\n")
    assert dropped.profile.cycles == near.profile.cycles
    other = execute("  ld_gm.i32 r5, r2\n  dcci r3, 0\n  ld_gm.i32 r5, r2\n")
    assert other.profile.cycles == again.profile.cycles
    everything = execute("  ld_gm.i32 r5, r2\n  dcci r3, 1\n  ld_gm.i32 r5, r2\n")
    assert everything.profile.cycles == dropped.profile.cycles


def test_the_log_holds_address_and_value() -> None:
    (log,) = execute("  add r5, r2, 12\n  ld_gm.i32 r6, r5\n", record=True).log
    (row,) = log.rows.tolist()
    assert row[LOG_COLUMNS.index("opcode")] == OPCODES["ld_gm.i32"]
    assert row[LOG_FIELDS : LOG_FIELDS + 2] == [12, 3]


def test_time_alone_where_nothing_depends_on_values() -> None:
    body = "  ld_gm.i32 r5, r2\n  add r5, r5, 1\n  st_gm.b32 r3, r5\n  mov r5, 0\n"
    body += "  blt r5, 0, over\nover:"
    timed = execute(body, timing_only=True).profile
    assert timed.cycles == execute(body).profile.cycles


# Faults


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  ld_ub.i32 r5, 196608\n", "probe, core 0: ld_ub.i32 touches bytes 196608 to 196612 of"
         " ub; ub of ascend910b1 has 196608 bytes"),
        ("  st_ub.b64 -8, 0\n", "st_ub.b64 touches bytes -8 to 0 of ub"),
        ("  ld_ub.i16 r5, 3\n", "touches bytes 3 to 5 of ub; the address must be a multiple of 2"),
        ("  add r5, r3, 1024\n  st_gm.b8 r5, 0\n",
         "st_gm.b8 touches bytes 2560 to 2561 of gm; the launch's buffers are [0, 1024), [1536,"),
    ],
)  # fmt: skip
def test_faults(body: str, message: str) -> None:
    with pytest.raises(DeviceError) as caught:
        execute(body)
    assert caught.value.code == "BAD_ACCESS"
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("body", "mnemonic"),
    [
        (LOOP, "blt at row 10"),
        ("  ld_gm.u32 r5, r2\n  add r6, r5, r3\n  st_gm.b32 r6, 0\n", "st_gm.b32 at row 4"),
        ("  ld_gm.u32 r5, r2\n  vector_dup.i32 dst=0, scalar=r5\n", "vector_dup.i32 at row 3"),
        ("  ld_ub.u32 r5, 0\n  min r5, r5, 3\n  set_flag v, s, r5\n", "set_flag at row 4"),
        (
            "  mov r5, 0\nagain:\n  bne r5, 0, over\n  ld_ub.u8 r5, 0\n  jmp again\nover:\n",
            "bne at row 3",
        ),
    ],
)
def test_a_run_for_time_alone_refuses_what_depends_on_values(body: str, mnemonic: str) -> None:
    with pytest.raises(DeviceError) as caught:
        execute(body, timing_only=True)
    assert caught.value.code == "NEEDS_DATA"
    assert f"probe, {mnemonic}: what it does depends on a value loaded" in caught.value.message


def test_a_cube_core_has_no_ub() -> None:
    with pytest.raises(CompileError, match="a cube core has no ub"):
        program("  ld_ub.i32 r5, 0", core="cube")


# Hazards


def hazards(body: str) -> set[str]:
    executable = program(body)
    log = run(executable, [np.arange(COUNT, dtype=np.int32)], record=True).log
    found = check_executable(executable, [(COUNT,)], log=log)
    return {one.code for one in found if one.kind is not HazardKind.UNWRITTEN}


V_WRITES = "  vector_dup.i32 dst=0, scalar=7, repeat=1\n"
V_TO_S = "  set_flag v, s, 0\n  wait_flag v, s, 0\n"
S_TO_V = "  set_flag s, v, 0\n  wait_flag s, v, 0\n"
LOAD_UB = "  ld_ub.i32 r5, 0\n"
STORE_GM = "  st_gm.b32 r3, 1\n"
LOAD_GM = "  ld_gm.i32 r6, r3\n"
CLEAN_GM = "  dcci r3, 0\n  dsb\n"
MOVE_GM = (
    "  vector_dup.i32 dst=0, scalar=7, repeat=1\n  set_flag v, mte3, 0\n  wait_flag v, mte3, 0\n"
    "  copy_ubuf_to_gm_align.b32 dst=r3, src=0, length=64\n"
    "  set_flag mte3, s, 0\n  wait_flag mte3, s, 0\n"
)
READ_GM = (
    "  set_flag s, mte2, 0\n  wait_flag s, mte2, 0\n"
    "  copy_gm_to_ubuf_align.b32 dst=0, src=r3, length=4\n"
)
VERDICTS = [
    ("loop", LOOP, set()),
    ("read, no flag", V_WRITES + LOAD_UB, {"RACE_RAW"}),
    ("read, flag", V_WRITES + V_TO_S + LOAD_UB, set()),
    ("overwritten, no flag back", V_WRITES + V_TO_S + LOAD_UB + "  pipe_barrier v\n" + V_WRITES,
     {"RACE_WAR"}),
    ("overwritten, flag back",
     V_WRITES + V_TO_S + LOAD_UB + S_TO_V + "  pipe_barrier v\n" + V_WRITES, set()),
    ("written, no flag", "  st_ub.b32 0, 1\n" + V_WRITES, {"RACE_WAW"}),
    ("written, flag", "  st_ub.b32 0, 1\n" + S_TO_V + V_WRITES, set()),
    ("scalar accesses are in order", "  st_ub.b32 0, 1\n" + LOAD_UB + "  st_ub.b32 0, 2\n", set()),
    ("nothing was written there", LOAD_UB, {"UNINIT_READ"}),
    ("one byte was not", "  st_ub.b16 0, 1\n  st_ub.b8 2, 1\n" + LOAD_UB, {"UNINIT_READ"}),
    ("not written back", STORE_GM, {"DCACHE_DIRTY"}),
    ("written back", STORE_GM + CLEAN_GM, set()),
    ("all written back", STORE_GM + "  dcci 0, 1\n", set()),
    ("another line written back", STORE_GM + "  dcci r2, 0\n", {"DCACHE_DIRTY"}),
    ("read past the cache", STORE_GM + READ_GM + CLEAN_GM, {"DCACHE_DIRTY"}),
    ("read after the cache", STORE_GM + CLEAN_GM + READ_GM, set()),
    ("a barrier of data is enough", STORE_GM + CLEAN_GM + READ_GM.split("\n", 2)[2], set()),
    ("neither barrier nor flag", STORE_GM + "  dcci r3, 0\n" + READ_GM.split("\n", 2)[2],
     {"RACE_RAW"}),
    ("loaded once", MOVE_GM + LOAD_GM, set()),
    ("loaded before and after", STORE_GM + CLEAN_GM + LOAD_GM + MOVE_GM + LOAD_GM,
     {"RACE_WAR", "STALE_DCACHE"}),
    ("in order", STORE_GM + CLEAN_GM + LOAD_GM + "  set_flag s, mte3, 0\n"
     "  wait_flag s, mte3, 0\n" + MOVE_GM + LOAD_GM, {"STALE_DCACHE"}),
    ("in order and fresh", STORE_GM + CLEAN_GM + LOAD_GM + "  set_flag s, mte3, 0\n"
     "  wait_flag s, mte3, 0\n" + MOVE_GM + CLEAN_GM + LOAD_GM, set()),
    ("input", "  st_gm.b32 r2, 1\n  dcci r2, 0\n", {"OUT_OF_BOUNDS"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "expected"), [v[1:] for v in VERDICTS], ids=[v[0] for v in VERDICTS]
)
def test_verdicts(body: str, expected: set[str]) -> None:
    assert hazards(body) == expected


def test_the_checker_needs_a_run_where_values_decide() -> None:
    with pytest.raises(DeviceError) as caught:
        check_executable(program(LOOP), [(COUNT,)])
    assert caught.value.code == "NEEDS_DATA"
