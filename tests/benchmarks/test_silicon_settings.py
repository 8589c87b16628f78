"""Settings of the silicon comparison: what a family's program is known to take, or an error."""

from __future__ import annotations

import pytest

from pypto.cli.main import main


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["silicon.copy", "to=moon"], "silicon.copy takes no to = 'moon'\nfix: name one of l1, ub"),
        (
            ["silicon.copy", "tile_rows=0"],
            "takes no tile_rows = '0'\nfix: give an integer from 1 on",
        ),
        (["silicon.copy", "tile_rows=-1"], "takes no tile_rows = '-1'"),
        (["silicon.gemm", "M=x"], "takes no M = 'x'\nfix: give an integer from 1 on"),
        (["silicon.gemm", "panel_m=-5"], "takes no panel_m = '-5'\nfix: give an integer from 0 on"),
        (
            ["silicon.tile", "operator=tpow"],
            "takes no operator = 'tpow'\nfix: name one of tabs, tadd",
        ),
        (
            ["silicon.tile", "rows=37"],
            "takes no operator = tadd, type = f32, rows = 37, columns = 64",
        ),
    ],
)
def test_what_no_program_takes_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *words]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error[BAD_SETTING]")
    assert message in error


def test_other_settings_of_a_row_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "silicon.mmad", "m=64"]) == 0
    assert "mmad" in capsys.readouterr().out
