"""Every dump of a kernel, put through the rest of the pipeline, ends in the same Executable."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto.cli.main import main
from pypto.runtime.dump import remaining_pipeline

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("target", ["softmax.py", "ffn.py", "elementwise.py:scale_add_any_length"])
def test_every_dump_replays(target: str, tmp_path: Path) -> None:
    dumps, whole = tmp_path / "ir", tmp_path / "whole.dvbin"
    kernel = str(EXAMPLES / target)
    assert main(["compile", kernel, "-o", str(whole), "--dump-ir", str(dumps)]) == 0
    files = sorted(dumps.glob("*.mlir"))
    assert files[0].name == "00-input.mlir"
    assert len(files) >= 8
    for file in files:
        rest = remaining_pipeline(file.read_text())
        lowered, binary = dumps / "lowered.mlir", tmp_path / f"{file.stem}.dvbin"
        assert main(["opt", str(file), "-p", rest, "-o", str(lowered)]) == 0
        assert main(["compile", str(lowered), "--emit", "bin", "-o", str(binary)]) == 0
        assert binary.read_bytes() == whole.read_bytes(), f"{file.name} with {rest}"
    # The last dump has nothing left to run.
    assert remaining_pipeline(files[-1].read_text()) == ""
