"""Seconds that the emulator takes for a few compiled kernels, values computed, as JSON.

Run by ``host.emulation`` with one version of the package after the other on the path.
"""

from __future__ import annotations

import json
import time

import kernels
import numpy as np

from pypto.emulator.run import run
from pypto.runtime.kernel import Kernel, Options
from pypto.runtime.signature import bind

TRIALS = 5
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


def seconds_of(name: str) -> float:
    """Best seconds of a run at -O2."""
    function = getattr(kernels, name)
    draw = np.random.default_rng(0)
    inputs = tuple(draw.normal(size=shape).astype(np.float16) for shape in CASES[name])
    kernel = Kernel(function, Options(opt_level=2, use_cache=False))
    made = kernel.compilation(bind(function, inputs, {}).types)
    run(made.executable, inputs)
    found = []
    for _ in range(TRIALS):
        start = time.perf_counter()
        run(made.executable, inputs)
        found.append(time.perf_counter() - start)
    return min(found)


if __name__ == "__main__":
    print(json.dumps({name: seconds_of(name) for name in CASES}))
