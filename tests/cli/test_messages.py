"""Ten kinds of bad input: what a user reads, word by word. Never a traceback, exit code 1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pypto.cli.main import main

HEAD = "import numpy as np\nimport pypto\n\n\n@pypto.kernel\n"


@dataclass(frozen=True)
class Mistake:
    """A file with a mistake, the command it is given to, and what the command says."""

    name: str
    file: str
    text: str
    command: tuple[str, ...]
    message: str


def kernel(name: str, text: str, message: str) -> Mistake:
    return Mistake(name, "kernel.py", HEAD + text, ("run", "kernel.py"), message)


MISTAKES = (
    kernel(
        "unknown name",
        "def scale(x: pypto.Tensor[(4, 8), pypto.float32]):\n"
        "    return x * factr\n\n\n"
        "factor = 2\n"
        "example_inputs = lambda: np.ones((4, 8), np.float32)\n",
        """\
kernel.py:7:16: error[UNKNOWN_NAME]: name 'factr' is not defined
    7 |     return x * factr
      |                ^~~~~
fix: did you mean 'factor'?
""",
    ),
    kernel(
        "unknown operator",
        "def normal(x):\n"
        "    return pypto.sofmax(x)\n\n\n"
        "example_inputs = lambda: np.ones((4, 8), np.float32)\n",
        """\
kernel.py:7:12: error[UNKNOWN_NAME]: pypto has no attribute 'sofmax'
    7 |     return pypto.sofmax(x)
      |            ^~~~~~~~~~~~
fix: did you mean 'softmax'?
""",
    ),
    kernel(
        "shape mismatch",
        "def product(a, b):\n"
        "    return a @ b\n\n\n"
        "example_inputs = lambda: (np.ones((4, 8), np.float16), np.ones((9, 4), np.float16))\n",
        """\
kernel.py:7:12: error[SHAPE_MISMATCH]: matmul: (4, 8) @ (9, 4): inner extents differ: 8 and 9
    7 |     return a @ b
      |            ^~~~~
note: operands of matmul: tensor<4x8xf16>, tensor<9x4xf16>
fix: transpose an operand, or check its shape
""",
    ),
    kernel(
        "wrong dtype",
        "def double(x):\n    return x * 2\n\n\nexample_inputs = lambda: np.linspace(0, 1, 8)\n",
        """\
kernel.py:6:12: error[UNSUPPORTED_DTYPE]: argument 'x' is float64, which the device does not have
    6 | def double(x):
      |            ^
note: element types: float16, bfloat16, float32, int8, uint8, int16, int32, int64, bool
fix: pass x.astype(np.float32)
""",
    ),
    kernel(
        "data-dependent if",
        "def positive(x):\n"
        "    if x > 0:\n"
        "        return x\n"
        "    return x * 0\n\n\n"
        "example_inputs = lambda: np.ones((4, 8), np.float32)\n",
        """\
kernel.py:7:8: error[DATA_DEPENDENT_IF]: 'if' depends on the values of a tensor (a tensor<4x8xi1>)
    7 |     if x > 0:
      |        ^~~~~
fix: choose element by element with pypto.where(condition, a, b)
""",
    ),
    kernel(
        "while",
        "def halved(x):\n"
        "    while True:\n"
        "        x = x * 0.5\n"
        "    return x\n\n\n"
        "example_inputs = lambda: np.ones((4, 8), np.float32)\n",
        """\
kernel.py:7:5: error[WHILE_LOOP]: 'while' is not supported inside a kernel
    7 |     while True:
      |     ^
fix: use 'for' over a range known while compiling
""",
    ),
    kernel(
        "missing return",
        "def nothing(x):\n"
        "    y = x + 1\n\n\n"
        "example_inputs = lambda: np.ones((4, 8), np.float32)\n",
        """\
kernel.py:6:5: error[MISSING_RETURN]: 'nothing' ends without returning a value
    6 | def nothing(x):
      |     ^~~~~~~
fix: end every path with 'return' and the result tensor
""",
    ),
    kernel(
        "argument larger than HBM",
        "def double(x):\n"
        "    return x * 2\n\n\n"
        "example_inputs = lambda: np.broadcast_to(np.float16(1), (2**18, 2**18))\n",
        """\
kernel.py:6:12: error[DEVICE_MEMORY_EXHAUSTED]: a (262144, 262144) float16 tensor of 128.0 GiB \
does not fit: ascend910b1 has 64.0 GiB of memory
    6 | def double(x):
      |            ^
fix: work on smaller pieces (split the batch), or use float16 instead of float32
""",
    ),
    kernel(
        "tensor larger than HBM",
        "def big(x):\n"
        "    return x + pypto.zeros((2**20, 2**20), pypto.float32)\n\n\n"
        "example_inputs = lambda: np.ones(1, np.float32)\n",
        """\
kernel.py:7:16: error[DEVICE_MEMORY_EXHAUSTED]: a (1048576, 1048576) float32 tensor of 4.0 TiB \
does not fit: ascend910b1 has 64.0 GiB of memory
    7 |     return x + pypto.zeros((2**20, 2**20), pypto.float32)
      |                ^
fix: work on smaller pieces (split the batch), or use float16 instead of float32
""",
    ),
    Mistake(
        "unknown pass",
        "module.mlir",
        "builtin.module {}\n",
        ("opt", "module.mlir", "-p", "canonicalize,decompse"),
        "error[UNKNOWN_PASS]: there is no pass 'decompse'\n"
        "note: passes: {passes}\n"
        "fix: did you mean 'decompose'?\n",
    ),
    Mistake(
        "broken module",
        "module.mlir",
        "builtin.module {\n"
        "  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "    %0 = pypto.exp %x : (tensor<4xf32>) -> tensor<4xf32\n"
        "    func.return %0 : tensor<4xf32>\n"
        "  }\n"
        "}\n",
        ("opt", "module.mlir", "-p", "dce"),
        """\
module.mlir:4:5: error[IR_SYNTAX]: Expected '>' after builtin parameter list
    4 |     func.return %0 : tensor<4xf32>
      |     ^~~~~~~~~~~
""",
    ),
    Mistake(
        "truncated executable",
        "kernel.dvbin",
        "",
        ("emulate", "kernel.dvbin"),
        "error[CONTAINER]: kernel.dvbin: is 200 bytes long, its preamble says {bytes}\n"
        "fix: make the file again\n",
    ),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_message(
    mistake: Mistake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    facts = {"passes": pass_names()}
    if mistake.file == "kernel.dvbin":
        whole = stored_executable()
        Path(mistake.file).write_bytes(whole[:200])
        facts["bytes"] = str(len(whole))
    else:
        Path(mistake.file).write_text(mistake.text)
    assert main(list(mistake.command)) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == mistake.message.format(**facts)


def pass_names() -> str:
    from pypto.passes import PASSES
    from pypto.passes.pipelines import PIPELINES

    return ", ".join([*(entry.name for entry in PASSES), *PIPELINES])


def stored_executable() -> bytes:
    from pypto.target.assembly import assemble
    from pypto.target.container import to_bytes

    text = ".soc ascend910b1\n.program nothing vector {\n  end\n}\n.launch nothing grid=1 ()\n"
    return to_bytes(assemble(text))
