"""Seconds that the emulator takes for a few compiled kernels, values computed, as JSON.

Run by ``host.emulation`` with two versions of the package on the path in turn, on the same
programs.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import kernels
import numpy as np

from pypto.emulator.run import run
from pypto.runtime.kernel import Kernel, Options
from pypto.runtime.signature import bind
from pypto.target.assembly import assemble, disassemble
from pypto.target.executable import Executable

TRIALS = 3
ROWS, WIDTH = 4096, 1024
CASES = {
    "matmul": ((1024, 1024), (1024, 1024)),
    "ffn": ((512, 768), (768, 3072), (3072,), (3072, 768), (768,)),
    "softmax": ((ROWS, WIDTH),),
    "layer_norm": ((ROWS, WIDTH), (WIDTH,), (WIDTH,)),
    "gelu": ((ROWS, WIDTH),),
    "swish": ((ROWS, WIDTH),),
    "add": ((ROWS, WIDTH), (ROWS, WIDTH)),
}


def program(name: str, folder: Path) -> Executable:
    """The kernel at -O2 as assembly in ``folder``: compiled by whoever comes first."""
    path = folder / f"{name}.dvasm"
    if not path.exists():
        function = getattr(kernels, name)
        kernel = Kernel(function, Options(opt_level=2, use_cache=False))
        made = kernel.compilation(bind(function, inputs_of(name), {}).types)
        path.write_text(disassemble(made.executable))
    return assemble(path.read_text())


def inputs_of(name: str) -> tuple[np.ndarray, ...]:
    draw = np.random.default_rng(0)
    return tuple(draw.normal(size=shape).astype(np.float16) for shape in CASES[name])


def seconds_of(name: str, folder: Path) -> float:
    """Best seconds of a run."""
    executable, inputs = program(name, folder), inputs_of(name)
    run(executable, inputs)
    found = []
    for _ in range(TRIALS):
        start = time.perf_counter()
        run(executable, inputs)
        found.append(time.perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    print(json.dumps({name: seconds_of(name, Path(sys.argv[1])) for name in CASES}))
