"""``pyptoc emulate`` on a hand-written program: values, time, hazards, timeline."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pypto.cli.main import main

TEXT = """\
.soc ascend910b1
.buffer x input f16 [64]
.buffer y result f16 [64]
.program shift vector {
  .parameter x buffer f16
  .parameter y buffer f16 writes
  ldp r2, x
  ldp r3, y
  .loc "shift.py:3:9"
  copy_gm_to_ubuf_align.b16 dst=0, src=r2, bursts=1, length=128
  set_flag mte2, v, 0
  wait_flag mte2, v, 0
  set_mask_count
  set_vector_mask 0, 64
  vadds.f16 dst=0x100, src=0, scalar=1.5
  set_flag v, mte3, 0
  wait_flag v, mte3, 0
  copy_ubuf_to_gm_align.b16 dst=r3, src=0x100, bursts=1, length=128
  end
}
.launch shift grid=1 (x, y)
.inputs x
.results y
"""
X = np.arange(64, dtype=np.float16)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("shift.dvasm").write_text(TEXT)
    np.save("x.npy", X)
    return tmp_path


def test_values_and_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["emulate", "shift.dvasm", "--inputs", "x.npy", "--check", "--json", "-o", "y.npz"]
    assert main(words) == 0
    np.testing.assert_array_equal(np.load("y.npz")["y"], X + np.float16(1.5))
    (profile,) = json.loads(capsys.readouterr().out)
    assert profile["kernel"] == "shift"
    assert profile["cycles"] > 300
    assert profile["data_instructions"] == 3
    assert profile["shapes"] == [[64]]
    for pipe in profile["pipes"].values():
        assert pipe["busy"] + sum(pipe["stalls"].values()) == profile["cycles"]


def test_time_alone_needs_no_inputs_and_is_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emulate", "shift.dvasm", "--timing-only", "--json"]) == 0
    (alone,) = json.loads(capsys.readouterr().out)
    assert main(["emulate", "shift.dvasm", "--inputs", "x.npy", "--json"]) == 0
    (both,) = json.loads(capsys.readouterr().out)
    assert alone["cycles"] == both["cycles"]
    assert alone["pipes"] == both["pipes"]


def test_a_race_is_an_error_at_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("race.dvasm").write_text(TEXT.replace("mte2, v, 0", "mte2, mte3, 0"))
    assert main(["emulate", "race.dvasm", "--inputs", "x.npy", "--check"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("shift.py:3:9: error[RACE_RAW]: nothing makes the second wait")
    assert "fix: put `set_flag mte2, v, ID` after the first" in captured.err


def test_timeline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emulate", "shift.dvasm", "--timing-only", "--timeline", "t/shift.json"]) == 0
    events = json.loads(Path("t/shift.json").read_text())["traceEvents"]
    drawn = [event for event in events if event["ph"] == "X" and event["pid"] != 0]
    assert [e["name"] for e in drawn if "." in e["name"]] == [
        "copy_gm_to_ubuf_align.b16", "vadds.f16", "copy_ubuf_to_gm_align.b16",
    ]  # fmt: skip
    assert {e["args"]["source"] for e in drawn} == {"shift.py:3:9"}
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names >= {"launches", "vector core 0", "V", "MTE2", "MTE3"}
    # Nothing overlaps within a pipe.
    by_pipe: dict[int, list[tuple[float, float]]] = {}
    for event in drawn:
        by_pipe.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    for spans in by_pipe.values():
        spans.sort()
        assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(spans))


def test_wrong_number_of_inputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emulate", "shift.dvasm"]) == 1
    assert capsys.readouterr().err == (
        "error[INPUT_COUNT]: shift.dvasm takes 1 inputs, 0 are given\n"
        "note: x: float16[64]\n"
        "fix: give one .npy file each: --inputs A.npy B.npy, or only the time: --timing-only\n"
    )


def test_bfloat16_survives_npy(folder: Path) -> None:
    bits = TEXT.replace("f16 [64]", "bf16 [64]")
    Path("bits.dvasm").write_text(bits)
    np.save("x.npy", X.astype(ml_dtypes.bfloat16))
    assert main(["emulate", "bits.dvasm", "--inputs", "x.npy", "--json"]) == 0


def test_other_suffixes_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emulate", "x.npy"]) == 1
    assert "is neither a .dvbin nor a .dvasm file" in capsys.readouterr().err


def test_inputs_of_any_length_are_named_as_annotations_write_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("any.py").write_text(
        "import pypto\n\n"
        "Rows = pypto.Tensor[(pypto.DYNAMIC, 8), pypto.float16]\n\n\n"
        "@pypto.kernel\ndef more(x: Rows):\n    return x + 1\n"
    )
    assert main(["compile", "any.py", "-o", "any.dvbin"]) == 0
    capsys.readouterr()
    assert main(["emulate", "any.dvbin"]) == 1
    assert "note: x: float16[DYNAMIC, 8]\n" in capsys.readouterr().err


SUM = """\
.soc ascend910b1
.buffer x input i32 [16]
.buffer y result i32 [1]
.program total vector {
  .parameter x buffer i32
  .parameter y buffer i32 writes
  ldp r2, x
  ldp r3, y
next:
  ld_gm.i32 r4, r2
  add r5, r5, r4
  add r2, r2, 4
  bne r4, 0, next
  st_gm.b32 r3, r5
  dcci r3, 0
  pipe_barrier all
  end
}
.launch total grid=1 (x, y)
.inputs x
.results y
"""


def test_a_program_that_follows_its_data_is_checked_as_it_ran(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sum.dvasm").write_text(SUM)
    np.save("numbers.npy", np.array([3, 4, 5, 0, 7] + 11 * [1], np.int32))
    command = ["emulate", "sum.dvasm", "--inputs", "numbers.npy", "--check"]
    assert main([*command, "-o", "y.npz"]) == 0
    assert np.load("y.npz")["y"].tolist() == [12]
    Path("sum.dvasm").write_text(SUM.replace("  dcci r3, 0\n", ""))
    assert main(command) == 1
    assert "error[DCACHE_DIRTY]: a scalar store is still in the data" in capsys.readouterr().err
    assert main(["emulate", "sum.dvasm", "--timing-only"]) == 1
    assert "error[NEEDS_DATA]: total, bne at row 5: what it does depends" in capsys.readouterr().err


GROUPS = """\
.soc ascend910b1
.buffer x input f16 [64]
.program feed cube {
  .parameter x buffer f16
  ldp r2, x
  copy_gm_to_cbuf.b32 dst=0, src=r2, length=4
  ffts_cross_core_sync mte2, 2, 0
  pipe_barrier all
  end
}
.program eat vector {
  wait_flag_dev 0
  vector_dup.f16 dst=0, scalar=1.0, repeat=1
  pipe_barrier all
  end
}
.launch feed grid=2 (x), eat ()
.inputs x
"""


def test_a_launch_on_groups_of_cores_shows_both_kinds(folder: Path) -> None:
    Path("groups.dvasm").write_text(GROUPS)
    command = ["emulate", "groups.dvasm", "--inputs", "x.npy", "--check"]
    assert main([*command, "--timeline", "groups.json"]) == 0
    events = json.loads(Path("groups.json").read_text())["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    wanted = {f"cube core {i}" for i in range(2)} | {f"vector core {i}" for i in range(4)}
    assert wanted <= names
    assert {"feed + eat"} == {e["name"] for e in events if e["ph"] == "X" and e["pid"] == 0}
