"""The silicon comparison: its figures, its programs at small shapes, the bars of its cheap rows."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from benchmarks.silicon import FAMILIES, figures
from benchmarks.silicon.add import ADD, add_program
from benchmarks.silicon.family import Outcome, pipe_shares, pipe_us, timed
from benchmarks.silicon.figures import Figure, strict
from benchmarks.silicon.mmad import MMAD
from benchmarks.silicon.repack import C0, REPACK, repack_program
from benchmarks.silicon.tile import TILE, tile_program
from benchmarks.silicon.tile import row as tile_row
from pypto.emulator.run import run
from pypto.errors import CompileError
from pypto.target.dtypes import F16
from pypto.target.memory import CoreKind, Pipe
from pypto.target.one_launch import one_launch
from pypto.target.rows import OPCODE_COLUMN, forms_by_opcode
from pypto.target.soc import SOC_NAMES, soc
from pypto.target.structured import StructuredBuilder

BY_NAME = {family.name: family for family in FAMILIES}
WITH_BARS = [
    (family.name, name)
    for family in FAMILIES
    for name in family.rows
    if figures.figures()[name].bar is not None
]


def test_figures_and_rows_match() -> None:
    """Every figure is a row of the family it names, and every row has a figure."""
    rows = {name: family.name for family in FAMILIES for name in family.rows}
    assert {name: figure.suite for name, figure in figures.figures().items()} == rows


def test_every_figure_is_whole() -> None:
    for figure in figures.figures().values():
        assert figure.value > 0, figure.id
        assert figure.soc in SOC_NAMES, figure.id
        assert figure.unit in ("us", "cycles"), figure.id
        assert figure.what, figure.id
        assert figure.source.split()[0] in ("asc-devkit", "pto-isa", "catlass", "pypto"), figure.id


def test_a_figure_that_is_there_twice_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[V9]\nsuite = "copy"\nwhat = "a"\nsoc = "b"\nvalue = 1\nsource = "c"\n'
    for name in ("figures.toml", "figures_more.toml"):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(figures, "DATA", tmp_path)
    with pytest.raises(ValueError, match=r"figures_more\.toml has V9 again"):
        figures.figures.__wrapped__()


def test_the_strict_machine_differs_where_its_table_says() -> None:
    machine = soc("ascend910b1")
    tight = strict(machine)
    differing = {
        name for name in machine.numbers._fields if getattr(machine, name) != getattr(tight, name)
    }
    assert differing == {"l2_bandwidth", "l2_line_bandwidth", "hbm_write", "mad_gap"}


@pytest.mark.parametrize(("family", "name"), WITH_BARS)
def test_bars(family: str, name: str) -> None:
    row = BY_NAME[family].row(name, {})
    assert row.ok, f"{row.name} is off by {row.silicon_error:.1%}, its bar is {row.bar:.0%}"


def test_a_row_beside_its_figure() -> None:
    row = MMAD.row("mad_f16_128x128x64", {})
    assert (row.cycles, row.silicon_error, row.strict_error) == (262, 0.0, 0.0)
    assert row.silicon_us == 262 / 1850
    assert row.counted is False
    assert row.pipes is not None
    assert row.pipes["m"] > 0


def test_settings_of_the_command_line() -> None:
    row = MMAD.row_of_settings(
        {"soc": "ascend910b1", "m": "16", "k": "16", "n": "16", "steps": "1"}
    )
    assert (row.name, row.soc, row.cycles, row.silicon_error) == ("mmad", "ascend910b1", 7, None)
    with pytest.raises(CompileError, match=r"silicon\.mmad takes no m = 'many'"):
        MMAD.row_of_settings({"m": "many"})


def figure(**values: object) -> Figure:
    common = {"id": "x", "suite": "s", "what": "w", "soc": "ascend910b1", "source": "asc-devkit"}
    return Figure(**(common | {"value": 10.0} | values))  # pyright: ignore[reportArgumentType]


def test_what_counts() -> None:
    assert figure().counted
    assert not figure(calibrates="hbm_read").counted
    assert not figure(guessed="step sizes").counted


def lone_copy() -> Outcome:
    builder = StructuredBuilder("copy", CoreKind.VECTOR)
    x = builder.buffer("x", F16)
    with builder.when(builder.block.equals(0)):
        builder.issue("copy_gm_to_ubuf_align.b16", dst=0, src=x, length=4096)
    executable = one_launch("ascend910b1", [builder.build()], 2, {"x": (2048,)})
    return timed(executable, soc("ascend910b1"))


def test_figures_of_a_run() -> None:
    """A task is kernel, launch and prologue; a pipe's time is the mean over cores that use it."""
    outcome = lone_copy()
    profile = outcome.profile
    assert profile is not None
    assert outcome.value(figure(unit="cycles")) == profile.cycles
    assert outcome.value(figure(prologue_us=7.0)) == pytest.approx(profile.time_us + 6.1 + 7.0)
    busy = pipe_us(profile, "mte2")
    assert busy == outcome.value(figure(pipe="mte2"))
    assert 0.9 * profile.time_us < busy <= profile.time_us
    assert set(pipe_shares(profile)) == {"mte2"}
    assert pipe_us(profile, Pipe.V.value) == 0


def test_bars_that_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    harder = replace(figures.figures()["mad_f16_40x50x60"], value=60.0, bar=0.05)
    monkeypatch.setattr("benchmarks.silicon.family.figures", lambda: {"mad_f16_40x50x60": harder})
    row = MMAD.row("mad_f16_40x50x60", {})
    assert (row.bar, row.ok, row.silicon_error) == (0.05, False, pytest.approx(-0.1))


SMALL = {"rows": 7, "columns": 96}


@pytest.mark.parametrize("row", ["V2", "V3", "V4", "V5", "V6", "V7"])
def test_sums(row: str) -> None:
    """The schedules add, whatever their buffers: blocks of uneven rows, a tail, small banks."""
    settings = {**ADD.settings, **ADD.rows[row], **SMALL, "cores": 3, "elements": 80}
    shapes = dict.fromkeys("xyz", (7, 96))
    executable = one_launch("ascend910b1", [add_program(settings)], 3, shapes)
    generator = np.random.default_rng(1)
    x, y = (generator.standard_normal((7, 96)).astype(np.float16) for _ in range(2))
    (z,) = run(executable, [x, y]).results
    np.testing.assert_array_equal(z, x + y)


@pytest.mark.parametrize("row", ["V17_pitch_144", "V17_pitch_145"])
def test_repacking(row: str) -> None:
    settings = {
        **REPACK.settings, **REPACK.rows[row], "rows": 40, "columns": 512, "tile_rows": 16,
        "row_parts": 2, "column_parts": 2,
    }  # fmt: skip
    shapes = {"x": (40, 512), "z": (512 // C0, 40, C0)}
    executable = one_launch("ascend910b1", [repack_program(settings)], 4, shapes)
    x = np.arange(40 * 512).astype(np.uint16).view(np.float16).reshape(40, 512)
    (z,) = run(executable, [x]).results
    expected = x.view(np.uint16).reshape(40, 512 // C0, C0).transpose(1, 0, 2)
    np.testing.assert_array_equal(z.view(np.uint16), expected)


LADDERS = {
    "copies by size": ["V9", "V10", "V11"],
    "copies to L1": ["V13a", "V13b", "V13c"],
    "reads again": ["V14_ub_whole", "V14_ub_slices"],
    "additions": ["V2", "V3", "V4", "V5", "V6", "V7"],
}


@pytest.mark.parametrize("ladder", LADDERS)
def test_ladders_keep_their_ratios(ladder: str) -> None:
    """From step to step the emulator gains what silicon gains, within 15 %."""
    names = LADDERS[ladder]
    rows = [BY_NAME[figures.figures()[name].suite].row(name, {}) for name in names]
    for first, second in pairwise(rows):
        found, measured = first.task_us / second.task_us, first.silicon_us / second.silicon_us
        assert found == pytest.approx(measured, rel=0.15), (first.name, second.name)


def test_tile_operators() -> None:
    """Half of all golden rows that a program stands for are within 15 %."""
    errors = [abs(TILE.row(name, {}).silicon_error or 0.0) for name in TILE.rows]
    assert len(errors) >= 40
    assert median(errors) <= 0.15


def test_every_golden_row_is_measured_or_left_out() -> None:
    left_out = tomllib.loads((figures.DATA / "golden_left_out.toml").read_text())
    names = {entry["test"].removesuffix("#0") for entry in figures.golden_rows()}
    without = {name for name in names if not {name, name.split(".")[0]} & set(left_out)}
    assert without == set(TILE.rows)
    assert len(names) == 66


@pytest.mark.parametrize(
    ("settings", "mnemonics"),
    [
        (("tadd", "f32", 64, 64), ["vadd.f32"]),
        (("tadd", "i16", 64, 64), ["set_vector_mask", "vadd.i16", "set_vector_mask"]),
        (("tadds", "f32", 2, 192), ["vadds.f32"] * 2),
        (("tmuls", "f32", 256, 64), ["vmuls.f32"] * 2),
        (("trowmax", "f16", 8, 128),
         ["set_mask_count", "set_vector_mask", "vcmax.f16", "set_mask_norm", "set_vector_mask",
          "pipe_barrier"]),
        (("tcolmax", "f32", 1, 64), ["copy_ubuf_to_ubuf.b32", "pipe_barrier"]),
    ],
)  # fmt: skip
def test_paths_of_tile_operators(settings: tuple[str, str, int, int], mnemonics: list[str]) -> None:
    program = tile_program(tile_row(*settings))
    names = [forms_by_opcode()[opcode].mnemonic for opcode in program.rows[:, OPCODE_COLUMN]]
    assert names == [*mnemonics, "end"]
