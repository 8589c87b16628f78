"""Commands as a user types them: exit codes, what goes to stdout and what to stderr."""

from __future__ import annotations

import json

import pytest

import pypto
from pypto.cli.main import main, spread
from pypto.target.soc import SOC_NAMES


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["run"],
        ["frobnicate"],
        ["run", "x.py", "-O7"],
        ["run", "x.py", "--emit", "asm"],
        ["compile", "x.py", "--emit", "elf"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_help_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "emulated AI core" in capsys.readouterr().out
    assert main(["run", "--help"]) == 0


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pyptoc {pypto.__version__}\n"


def test_inputs_take_several_files() -> None:
    words = ["emulate", "k.dvbin", "--inputs", "a.npy", "b.npy", "--check"]
    assert spread(words, "--inputs") == [
        "emulate", "k.dvbin", "--inputs", "a.npy", "--inputs", "b.npy", "--check",
    ]  # fmt: skip


@pytest.mark.parametrize("table", ["ops", "isa", "soc"])
def test_tables_are_json_too(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([table, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert isinstance(listed, list)
    assert main([table]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= len(listed) + 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ops", "sofmax"], "error[UNKNOWN_OPERATOR]: there is no operator 'sofmax'\n"
         "fix: did you mean 'softmax'?\n"),
        (["isa", "vad.f16"], "error[UNKNOWN_INSTRUCTION]: there is no instruction 'vad.f16'\n"
         "fix: did you mean 'vadd.f16'?\n"),
        (["soc", "ascend910b7"], "error[UNKNOWN_SOC]: no SoC is named 'ascend910b7'\n"
         f"fix: name one of {', '.join(SOC_NAMES)}, or give the path of a .toml file\n"),
    ],
)  # fmt: skip
def test_unknown_rows(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == message


def test_one_instruction_shows_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["isa", "vadd.f16", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["pipe"] == "v"
    assert [field["field"] for field in row["fields"]][:3] == ["dst", "src0", "src1"]


def test_figures_of_a_machine_have_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soc", "ASCEND910B1", "--json"]) == 0
    machine = json.loads(capsys.readouterr().out)
    assert machine["clock_mhz"] == 1850
    assert machine["sources"].keys() >= {"clock_mhz", "hbm_read", "capacity.ub"}
    assert main(["soc", "ascend910b1", "ascend910b1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {}
