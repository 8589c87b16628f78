"""SoC files: every figure has a source, a bad file is an error that names key and limit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pypto.errors import CompileError
from pypto.target.memory import PATHS, SPACES_OF_ARCHITECTURE, CoreKind, Pipe, Space
from pypto.target.soc import DIRECTORY, SOC_NAMES, SocNumbers, soc
from pypto.target.soc_file import ALL_BUFFERS_BYTES, FILE_BYTES

GOOD = (DIRECTORY / "ascend910b1.toml").read_text(encoding="utf-8")
COUPLED = (DIRECTORY / "ascend910a.toml").read_text(encoding="utf-8")


def test_the_default_is_the_910b1() -> None:
    chip = soc()
    assert chip.name == "ascend910b1"
    assert chip == soc("Ascend910B1")
    assert (chip.cube_cores, chip.vector_cores, chip.clock_mhz) == (24, 48, 1850)
    assert chip.capacity[Space.L0C] == 131072
    assert (chip.capacity[Space.UB], chip.usable[Space.UB]) == (196608, 188416)
    assert chip.usable[Space.L1] == chip.capacity[Space.L1]
    assert hash(chip) == hash(soc("Ascend910B1"))


def test_the_910a_has_coupled_cores() -> None:
    chip = soc("Ascend910A")
    assert chip.is_coupled
    assert not soc().is_coupled
    assert [chip.cores(kind) for kind in CoreKind] == [0, 0, 32]
    assert [soc().cores(kind) for kind in CoreKind] == [24, 48, 0]
    assert chip.core_kinds() == (CoreKind.AICORE,)
    assert (chip.capacity[Space.UB], chip.usable[Space.UB]) == (262144, 253952)
    assert chip.capacity[Space.L1] - chip.usable[Space.L1] == 512
    assert chip.capacity[Space.BT] == chip.usable[Space.FB] == chip.numbers.fixpipe_to_gm == 0
    assert soc().numbers.l0c_to_ub == 0


def test_paths_differ_between_architectures() -> None:
    assert PATHS["1001"][Space.L0C, Space.UB] is Pipe.V
    assert PATHS["1001"][Space.UB, Space.L1] is Pipe.MTE3
    assert (Space.L0C, Space.UB) not in PATHS["2201"]
    assert Space.BT not in SPACES_OF_ARCHITECTURE["1001"]
    assert Space.BT in SPACES_OF_ARCHITECTURE["2201"]


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
            "architecture = '9999'; known: 2201, 2002, 1001",
        ),
        ('name = "ascend910b1"', "", "lacks name, a string"),
        ('name = "ascend910b1"', "name = 910", "lacks name, a string"),
        ('architecture = "2201"', "", "lacks architecture, a string"),
        ("[cores]", "[cores", "is not TOML"),
        ("[cores]", 'color = "red"\n[cores]', "has unknown keys: color"),
        (
            "[cores]",
            'mad_gap = { value = 1, source = "s" }\n[cores]',
            r"gives mad_gap outside a table such as \[cores\]",
        ),
        (
            "[units]",
            '[units]\nmad_gap = { value = 1, source = "s" }',
            r"says mad_gap twice, the second time in \[cube\]",
        ),
        ("launch_us = { value = 6.1", 'launch_us = { value = "6"', "'6'; it must be a number"),
        ("launch_us = { value = 6.1", "launch_us = { value = nan", "launch_us = nan; it must lie"),
        (
            "ub = { value = 196608",
            "ub = { value = 0",
            r"capacity\.ub = 0; it must lie in 32768\.\.",
        ),
        (
            "ub = { value = 196608",
            "ub = { value = 99999",
            "ub = 99999; it must be a multiple of 32",
        ),
        (
            "l0c = { value = 131072",
            "l0c = { value = 8704",
            "8704; it must be a multiple of 1024",
        ),
        (
            "ub = { value = 188416",
            "ub = { value = 188415",
            "188415; it must be a multiple of 32",
        ),
        ("ub = { value = 196608", "ub = { value = 99999999", r"it must lie in 32768\.\.16777216"),
        ("l1 = { value = 524288", "l1 = { value = 32", r"l1 = 32; it must lie in 16384\.\."),
        ("l0a = { value = 65536", "l0a = { value = 512", r"l0a = 512; it must lie in 4096\.\."),
        ("fb = { value = 7168", "fb = { value = 100", "fb = 100; it must be a multiple of 64"),
        ("l2_bytes = { value = 201326592", "l2_bytes = { value = 1", r"l2_bytes = 1; it must lie"),
        ("ub = { value = 188416", "gm = { value = 188416", r"unknown memory space: usable\.gm"),
        ("[usable]", "[usable]\nl1 = 5", r"must say usable\.l1 = \{ value"),
        (
            "[cube]",
            '[cube]\nl0c_to_ub = { value = 512, source = "s" }',
            "says l0c_to_ub, which architecture 2201 has not; only 1001, 2002 has it",
        ),
        (
            "vector_cores = { value = 48",
            "vector_cores = { value = 1025",
            r"vector_cores = 1025; it must lie in 1\.\.1024",
        ),
    ],
)
def test_a_bad_file_names_key_and_limit(tmp_path: Path, old: str, new: str, message: str) -> None:
    refused(tmp_path, GOOD, old, new, message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("l0c_to_ub = ", "# l0c_to_ub = ", "lacks l0c_to_ub"),
        (
            "[cube]",
            '[cube]\nfixpipe_head = { value = 164, source = "s" }',
            "says fixpipe_head, which architecture 1001 has not; only 2201 has it",
        ),
        (
            "[usable]",
            '[usable]\nbt = { value = 64, source = "s" }',
            r"says usable\.bt, which architecture 1001 has not; only 2201 has it",
        ),
        (
            "vector_cores = { value = 32",
            "vector_cores = { value = 30",
            "says cube_cores = 32 and vector_cores = 30; a core of architecture 1001 is both",
        ),
        (
            "gm_port_vector = { value = 128",
            "gm_port_vector = { value = 64",
            "says gm_port_cube = 128 and gm_port_vector = 64; a core of architecture 1001 is both",
        ),
        ("event_ids = { value = 4", "event_ids = { value = 65", r"event_ids = 65; .* 1\.\.64"),
    ],
)
def test_a_bad_file_of_coupled_cores_too(tmp_path: Path, old: str, new: str, message: str) -> None:
    refused(tmp_path, COUPLED, old, new, message)


def refused(tmp_path: Path, text: str, old: str, new: str, message: str) -> None:
    """The text with one change is one error that names the file and what is wrong."""
    assert old in text
    path = tmp_path / "bad.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CompileError, match=message) as caught:
        soc(path)
    assert str(caught.value).startswith(f"error[SOC_FILE]: SoC file {path} ")


def test_local_memories_of_all_cores_are_bounded(tmp_path: Path) -> None:
    text = COUPLED.replace("_cores = { value = 32", "_cores = { value = 1024")
    text = text.replace("value = 262144", "value = 16777216")
    path = tmp_path / "wide.toml"
    path.write_text(text, encoding="utf-8")
    held = 1024 * (2 * 2**24 + 2**20 + 2 * 2**16)
    message = f"cores with {held} bytes of local memory in all; .* at most {ALL_BUFFERS_BYTES}"
    with pytest.raises(CompileError, match=message):
        soc(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bytes(range(256)), "is not text in UTF-8: byte 128 is none"),
        (b"\x00\x01\x02", "is not TOML"),
        (b"", "lacks name, a string"),
        (b"a = " + b"[" * 5000, "is not TOML: it is nested too deeply"),
        (b"#" * (FILE_BYTES + 1), f"has more than {FILE_BYTES} bytes"),
    ],
    ids=["bytes", "zeros", "empty", "nested", "huge"],
)
def test_junk_is_an_error(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "junk.toml"
    path.write_bytes(data)
    with pytest.raises(CompileError, match=re.escape(message)):
        soc(path)


def test_a_directory_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "folder.toml"
    path.mkdir()
    with pytest.raises(CompileError, match="is a directory"):
        soc(path)


@pytest.mark.parametrize("name", ["Ascend910B", "ascend910b"])
def test_a_910b_without_a_digit_is_of_the_first_generation(name: str) -> None:
    with pytest.raises(CompileError) as caught:
        soc(name)
    assert str(caught.value) == (
        f"error[UNKNOWN_SOC]: {name!r} is a first-generation SoC that has no description here\n"
        "note: ascend910b without a digit is a first-generation part (30 coupled cores at 900 MHz),"
        " not one of 910B1 to 910B4\n"
        "fix: name ascend910a, the nearest first-generation SoC, or ascend910b1 where the second"
        " generation is meant; or give the path of a .toml file"
    )


def test_a_missing_file_and_unknown_names_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="cannot be read"):
        soc(tmp_path / "none.toml")
    with pytest.raises(CompileError, match="no SoC is named 'gpu'") as caught:
        soc("gpu")
    assert f"fix: name one of {', '.join(SOC_NAMES)}, or give the path" in str(caught.value)


DERIVED = """
name = "mine"
base = "ascend910b1"
[cores]
clock_mhz = { value = 2000, source = "[A] a wish" }
"""


def written(tmp_path: Path, text: str, name: str = "mine.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_may_build_on_another(tmp_path: Path) -> None:
    mine, base = soc(written(tmp_path, DERIVED)), soc()
    assert (mine.name, mine.architecture, mine.clock_mhz) == ("mine", "2201", 2000)
    assert mine.sources["clock_mhz"] == "[A] a wish"
    assert mine.numbers == base.numbers._replace(clock_mhz=2000)
    assert (mine.capacity, mine.usable) == (base.capacity, base.usable)
    assert mine.sources["mad_gap"] == base.sources["mad_gap"]
    assert "clock_mhz" not in mine.inherited
    assert mine.inherited["mad_gap"] == mine.inherited["usable.ub"] == "ascend910b1"
    assert base.inherited == {}


def test_the_base_of_a_base_is_named(tmp_path: Path) -> None:
    written(tmp_path, DERIVED, "first.toml")
    text = 'name = "second"\nbase = "first.toml"\n[usable]\n'
    text += 'ub = { value = 131072, source = "[A] less" }\n'
    second = soc(written(tmp_path, text, "second.toml"))
    assert (second.clock_mhz, second.inherited["clock_mhz"]) == (2000, "mine")
    assert second.inherited["mad_gap"] == "ascend910b1"
    assert second.usable[Space.UB] == 131072
    assert "usable.ub" not in second.inherited


def test_what_another_architecture_lacks_is_not_inherited(tmp_path: Path) -> None:
    text = DERIVED.replace('base = "ascend910b1"', 'base = "ascend310p3"\narchitecture = "1001"')
    mine = soc(written(tmp_path, text))
    assert mine.load3d_latency == 0
    assert "load3d_latency" not in mine.inherited
    assert mine.is_coupled


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"ascend910b1"', '"ascend911"', "base = 'ascend911', which is neither a SoC nor a .toml"),
        ('"ascend910b1"', "910", "lacks base, a string"),
        ('"ascend910b1"', '"mine.toml"', "is its own base: .*mine.toml -> .*mine.toml"),
        ("clock_mhz", "clock", "has unknown keys: clock"),
        (
            "[cores]",
            '[coupling]\nl0c_to_ub = { value = 1, source = "s" }\n[cores]',
            "says l0c_to_ub, which architecture 2201 has not",
        ),
        (
            "[cores]",
            '[capacity]\nub = { value = 131072, source = "s" }\n[cores]',
            "usable.ub = 188416, above the capacity 131072",
        ),
        ("\n[cores]", '\narchitecture = "1001"\n[cores]', "lacks l0c_to_ub"),
    ],
)
def test_mistakes_with_a_base(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, DERIVED.replace(old, new))
    with pytest.raises(CompileError, match=message) as caught:
        soc(path)
    assert caught.value.code == "SOC_FILE"


def test_files_that_build_on_each_other_are_an_error(tmp_path: Path) -> None:
    for name, base in (("a", "b"), ("b", "c"), ("c", "b")):
        written(tmp_path, DERIVED.replace("ascend910b1", f"{base}.toml"), f"{name}.toml")
    with pytest.raises(CompileError) as caught:
        soc(tmp_path / "a.toml")
    a, b, c = (tmp_path / f"{name}.toml" for name in "abc")
    assert str(caught.value) == (
        f"error[SOC_FILE]: SoC file {c} is its own base: {a} -> {b} -> {c} -> {b}\n"
        "fix: take one base away"
    )


def test_a_mistake_in_a_base_names_the_base(tmp_path: Path) -> None:
    bad = written(tmp_path, DERIVED.replace("value = 2000", "value = 0"), "bad.toml")
    path = written(tmp_path, DERIVED.replace("ascend910b1", "bad.toml"))
    with pytest.raises(CompileError, match=re.escape(f"SoC file {bad} says clock_mhz = 0")):
        soc(path)
    missing = written(tmp_path, DERIVED.replace("ascend910b1", "none.toml"))
    with pytest.raises(CompileError, match=r"none\.toml cannot be read: No such file"):
        soc(missing.rename(tmp_path / "lost.toml"))


@pytest.mark.parametrize(
    ("name", "kinds", "clock", "terabytes"),
    [
        ("ascend310", [0, 0, 2], 680, 0.09),
        ("ascend310p3", [0, 0, 8], 1060, 0.14),
        ("ascend910b2", [24, 48, 0], 1800, 1.5),
        ("ascend910b3", [20, 40, 0], 1800, 1.5),
        ("ascend910b4", [20, 40, 0], 1500, 0.96),
        ("ascend910c", [24, 48, 0], 1850, 1.5),
    ],
)
def test_the_other_machines(name: str, kinds: list[int], clock: int, terabytes: float) -> None:
    chip = soc(name)
    assert [chip.cores(kind) for kind in CoreKind] == kinds
    assert chip.clock_mhz == clock
    assert chip.hbm_gb_per_second == pytest.approx(1000 * terabytes, rel=0.04)
