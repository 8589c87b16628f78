"""SoC files: every figure has a source, a bad file is an error that names key and limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pypto.errors import CompileError
from pypto.target.memory import Space
from pypto.target.soc import DIRECTORY, SOC_NAMES, SocNumbers, soc

GOOD = (DIRECTORY / "ascend910b1.toml").read_text(encoding="utf-8")


def test_the_default_is_the_910b1() -> None:
    chip = soc()
    assert chip.name == "ascend910b1"
    assert chip == soc("Ascend910B1")
    assert (chip.cube_cores, chip.vector_cores, chip.clock_mhz) == (24, 48, 1850)
    assert chip.capacity[Space.L0C] == 131072
    assert (chip.capacity[Space.UB], chip.usable[Space.UB]) == (196608, 188416)
    assert chip.usable[Space.L1] == chip.capacity[Space.L1]
    assert hash(chip) == hash(soc("Ascend910B1"))


@pytest.mark.parametrize("name", SOC_NAMES)
def test_every_figure_has_a_graded_source(name: str) -> None:
    chip = soc(name)
    for key in (*SocNumbers._fields, "launch_us"):
        if key in chip.sources:
            assert re.match(r"\[[VMTAD]\] \w", chip.sources[key]), key
        else:
            assert getattr(chip, key) == 0, key
    for space, size in chip.capacity.items():
        assert (f"capacity.{space}" in chip.sources) == (size > 0)


def test_numbers_are_integers() -> None:
    assert all(type(n) is int for n in soc().numbers)
    assert soc().numbers.mad_gap == 14


def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace("value = 24,", "value = 20,"), encoding="utf-8")
    assert soc(path).cube_cores == 20


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clock_mhz = ", "clock = ", "has unknown keys: clock"),
        ("mad_gap = ", "# mad_gap = ", "lacks mad_gap"),
        ("value = 1850", "value = 0", r"clock_mhz = 0; it must lie in 1\.\.10000"),
        ("value = 1850", "value = 18.5", "clock_mhz = 18.5; it must be an integer"),
        ("value = 1850", "value = true", "clock_mhz = True; it must be an integer"),
        ("{ value = 24, source", "{ value = 24, origin", "must say cube_cores = { value"),
        (
            'source = "[V] hicann/pypto platform file A2A3.ini" }\ncube',
            'source = "" }\ncube',
            "no source for clock_mhz",
        ),
        ("value = 188416", "value = 200000", "usable.ub = 200000, above the capacity 196608"),
        ("l0c = ", "l0d = ", "unknown memory space: capacity.l0d"),
        ("fb = ", "# fb = ", "lacks capacity.fb"),
        (
            'value = 256, source = "[V] asc-devkit vector',
            'value = 512, source = "[V] asc-devkit vector',
            r"vector_repeat_bytes = 512; it must lie in 256\.\.256",
        ),
        ("value = 2, source", "value = 8, source", "reserved_event_ids = 8 of event_ids = 8"),
        (
            'architecture = "2201"',
            'architecture = "9999"',
            "architecture = '9999'; known: 2201, 1001",
        ),
        ('name = "ascend910b1"', "", "lacks name, a string"),
        ("[cores]", "[cores", "is not TOML"),
    ],
)
def test_a_bad_file_names_key_and_limit(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    path = tmp_path / "bad.toml"
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CompileError, match=message) as caught:
        soc(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_unknown_names_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="cannot be read"):
        soc(tmp_path / "none.toml")
    with pytest.raises(CompileError, match="no SoC is named 'gpu'") as caught:
        soc("gpu")
    assert "ascend910b1" in str(caught.value)
    with pytest.raises(CompileError, match="first-generation SoC"):
        soc("Ascend910B")
