"""``pyptoc isa`` and ``soc`` for more than one machine, and a program of a coupled core."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pypto.cli.main import main
from pypto.target.assembly import disassemble
from pypto.target.soc import SOC_NAMES
from tests.emulator.coupled_programs import tour

Capture = pytest.CaptureFixture[str]


def printed(capsys: Capture, *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_the_list_of_machines_says_what_cores_they_have(capsys: Capture) -> None:
    lines = {line.split()[0]: line.split()[1:] for line in printed(capsys, "soc").splitlines()[2:]}
    assert list(lines) == list(SOC_NAMES)
    sizes = "256 KB 1024 KB 256 KB 8 MB 91"
    assert " ".join(lines["ascend310"]) == f"1001 2 aicore 680 11.1 {sizes}"
    sizes = "192 KB 512 KB 128 KB 192 MB 1502"
    assert " ".join(lines["ascend910b1"]) == f"2201 24 cube, 48 vector 1850 363.7 {sizes}"


# Peaks as the vendor's platform files and vllm-ascend-workspace state them.
@pytest.mark.parametrize(
    ("name", "tflops"),
    [
        ("ascend310p3", 69.5),
        ("ascend910a", 262.1),
        ("ascend910b1", 363.7),
        ("ascend910b2", 353.9),
        ("ascend910b3", 294.9),
        ("ascend910b4", 245.8),
        ("ascend910c", 363.7),
    ],
)
def test_peaks_are_those_the_vendor_states(capsys: Capture, name: str, tflops: float) -> None:
    assert json.loads(printed(capsys, "soc", name, "--json"))["peak_f16_tflops"] == tflops


def test_an_inherited_figure_says_from_where(capsys: Capture) -> None:
    shown = json.loads(printed(capsys, "soc", "ascend910b4", "--json"))
    assert (shown["mad_gap"], shown["inherited"]["mad_gap"]) == (14, "ascend910b1")
    assert shown["sources"]["mad_gap"].startswith("[M] asc-devkit mmad chains")
    assert "clock_mhz" not in shown["inherited"]
    lines = printed(capsys, "soc", "ascend910b4").splitlines()
    assert lines[0].split() == ["figure", "value", "unit", "from", "source"]
    words = [line.split()[:5] for line in lines]
    assert ["mad_gap", "14", "cycles", "ascend910b1", "[M]"] in words
    assert ["clock_mhz", "1500", "MHz", "[V]", "vllm-ascend-workspace"] in words


def test_a_file_of_ones_own_is_shown_and_compared(tmp_path: Path, capsys: Capture) -> None:
    text = 'name = "mine"\nbase = "ascend910b1"\n[cores]\n'
    text += 'cube_cores = { value = 12, source = "[A] half of them" }\n'
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    lines = [line.split() for line in printed(capsys, "soc", str(path)).splitlines()]
    assert ["cube_cores", "12", "cores", "[A]", "half", "of", "them"] in lines
    assert json.loads(printed(capsys, "soc", str(path), "ascend910b1", "--json")) == {
        "name": ["mine", "ascend910b1"],
        "cube_cores": [12, 24],
        "peak_f16_tflops": [181.9, 363.7],
    }


def test_an_unknown_machine_is_an_error(capsys: Capture) -> None:
    assert main(["soc", "ascend910b1", "ascend911"]) == 1
    assert capsys.readouterr().err == (
        "error[UNKNOWN_SOC]: no SoC is named 'ascend911'\n"
        f"fix: name one of {', '.join(SOC_NAMES)}, or give the path of a .toml file\n"
    )


def test_a_machine_shows_only_what_it_has(capsys: Capture) -> None:
    figures = json.loads(printed(capsys, "soc", "ascend910a", "--json"))
    assert figures["l0c_to_ub"] == 512
    assert not {"fixpipe_head", "capacity.bt", "usable.fb"} & figures.keys()
    text = printed(capsys, "soc", "ascend910a")
    assert "l1_to_ub" in text
    assert "[A] as the platform files of 310 and 310P; not stated for 910A" in text


def test_machines_are_compared(capsys: Capture) -> None:
    pairs = json.loads(printed(capsys, "soc", "ascend910a", "ascend910b1", "--json"))
    assert pairs["capacity.ub"] == [262144, 196608]
    assert pairs["l0c_to_ub"] == [512, None]
    assert pairs["fixpipe_to_gm"] == [None, 118]
    assert "block_bytes" not in pairs
    lines = printed(capsys, "soc", "ascend910a", "ascend910b1").splitlines()
    assert ["l0c_to_ub", "512", "-", "bytes/cycle"] in [line.split() for line in lines]


def test_instructions_say_which_architectures_have_them(capsys: Capture) -> None:
    rows = {row["mnemonic"]: row for row in json.loads(printed(capsys, "isa", "--json"))}
    assert rows["vadd.f16"]["architectures"] == ["1001", "2002", "2201"]
    assert rows["vbrcb.u16"]["architectures"] == ["2201"]
    assert rows["copy_cbuf_to_ubuf.b32"]["architectures"] == ["1001", "2002"]
    assert rows["set_mask_count"]["architectures"] == ["2002", "2201"]
    lines = [line.split()[:3] for line in printed(capsys, "isa").splitlines()]
    assert ["set_mask_count", "s", "2002"] in lines


def test_a_machine_chooses_instructions_and_limits(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "isa", "--soc", "ascend910a", "--json"))
    assert all("1001" in row["architectures"] for row in rows)
    (row,) = json.loads(printed(capsys, "isa", "vsel.f16", "--soc", "ascend910a", "--json"))
    fields = {field["field"]: field for field in row["fields"]}
    assert (fields["repeat"]["range"], fields["mask"]["align"]) == ("1..1", 16)
    (row,) = json.loads(printed(capsys, "isa", "vsel.f16", "--json"))
    fields = {field["field"]: field for field in row["fields"]}
    assert (fields["repeat"]["range"], fields["mask"]["align"]) == ("0..255", 32)
    names = [r["mnemonic"] for r in json.loads(printed(capsys, "isa", "vadd", "--json"))]
    assert names == ["vadd.f16", "vadd.f32", "vadd.i32", "vadd.i16"]
    rows = json.loads(printed(capsys, "isa", "vadd", "--soc", "ascend910a", "--json"))
    assert [r["mnemonic"] for r in rows] == names[:3]


def test_an_instruction_the_machine_lacks_is_an_error(capsys: Capture) -> None:
    assert main(["isa", "vmaxs.f16", "--soc", "ascend910a"]) == 1
    assert capsys.readouterr().err == (
        "error[UNKNOWN_INSTRUCTION]: ascend910a (architecture 1001) has no vmaxs.f16;"
        " ascend910b1 and ascend310p3 have it\n"
    )


def test_a_program_of_a_coupled_core_is_emulated(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tour.dvasm").write_text(disassemble(tour()), encoding="utf-8")
    x = np.linspace(-1, 1, 37).astype(np.float16)
    np.save("x.npy", x)
    words = ("emulate", "tour.dvasm", "--inputs", "x.npy", "-o", "z.npz", "--check", "--json")
    (profile,) = json.loads(printed(capsys, *words))
    assert profile["soc"] == "ascend910a"
    assert profile["cores"] == 1
    assert np.array_equal(np.load("z.npz")["z"], 2 * np.maximum(x, 0))
