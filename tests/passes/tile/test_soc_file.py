"""A machine of the user's own: its file alone changes tiles and cycles."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import pypto
from pypto.cli.main import main
from pypto.runtime.compiler import LevelRecorder, compile_function
from pypto.runtime.kernel import Kernel, Options
from pypto.runtime.signature import bind
from pypto.target.memory import Space
from pypto.target.soc import DIRECTORY, soc

# A wider port from L1 to L0B, and twice the unified buffer.
CHANGES = {"l1_to_l0b": (128, 512), "ub": (196608, 393216)}
USABLE = (188416, 376832)

KERNELS = """\
import numpy as np
import pypto


@pypto.kernel
def product(a, b):
    return a @ b


def example_inputs():
    draw = np.random.default_rng(0)
    return tuple(draw.normal(size=(256, 256)).astype(np.float16) for _ in range(2))
"""


def product(a, b):
    return a @ b


def chain(x, y):
    return pypto.exp(x * 2 + y) - pypto.maximum(x, y)


@pytest.fixture
def wide(tmp_path: Path) -> str:
    text = (DIRECTORY / "ascend910b1.toml").read_text()
    for key, (old, new) in CHANGES.items():
        text = text.replace(f"{key} = {{ value = {old},", f"{key} = {{ value = {new},")
    text = text.replace(f"ub = {{ value = {USABLE[0]},", f"ub = {{ value = {USABLE[1]},")
    path = tmp_path / "wide.toml"
    path.write_text(text.replace('name = "ascend910b1"', 'name = "wide"'))
    assert (soc(path).l1_to_l0b, soc(path).usable[Space.UB]) == (512, USABLE[1])
    return str(path)


def halves(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape).astype(np.float16)


def schedule(function, inputs, machine: str, level: int) -> dict[str, int]:
    """The numbers in ``tile.schedule`` of the only kernel."""
    recorder = LevelRecorder()
    compile_function(
        function,
        bind(function, inputs, {}).known_types,
        name="kernel",
        options=Options(soc=machine, opt_level=level),
        observer=recorder,
    )
    (found,) = re.findall(r"tile\.schedule = \{([^}]*)\}", recorder.text("tile"))
    return {name: int(number) for name, number in re.findall(r"(\w+) = (\d+) : i64", found)}


def cycles(function, inputs, machine: str, level: int) -> int:
    kernel = Kernel(function, Options(soc=machine, opt_level=level, use_cache=False))
    return kernel.run(inputs).profile.cycles


@pytest.mark.parametrize("level", [0, 2])
def test_a_wider_port_to_l0b_makes_products_faster(wide: str, level: int) -> None:
    inputs = halves(256, 256), halves(256, 256)
    assert cycles(product, inputs, wide, level) < 0.95 * cycles(
        product, inputs, "ascend910b1", level
    )


def test_a_wider_port_to_l0b_makes_tiles_wider(wide: str) -> None:
    """B is loaded faster, so a tile takes more of its columns and fewer rows of A."""
    inputs = halves(512, 2048), halves(2048, 1024)
    before, after = (schedule(product, inputs, m, 0) for m in ("ascend910b1", wide))
    assert after["n"] > before["n"]
    assert after["m"] < before["m"]


def test_a_larger_unified_buffer_makes_vector_tiles_larger(wide: str) -> None:
    inputs = halves(4096, 8192), halves(4096, 8192)
    before, after = (schedule(chain, inputs, m, 2) for m in ("ascend910b1", wide))
    assert after["rows"] * after["columns"] > before["rows"] * before["columns"]


def test_the_command_line_takes_the_file(
    wide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(KERNELS)
    found = {}
    for machine in ("ascend910b1", "wide.toml"):
        assert main(["run", "k.py", "--soc", machine, "--json", "--no-cache"]) == 0
        found[machine] = json.loads(capsys.readouterr().out)
    (usual,), (wider,) = found.values()
    assert usual["ok"]
    assert wider["ok"]
    assert wider["cycles"] < usual["cycles"]
