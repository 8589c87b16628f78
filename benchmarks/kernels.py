"""Simulated time of compiled kernels at -O2, against their bound and against -O0; cold L2."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

import pypto
from pypto.cli.bench import Benchmark, Row
from pypto.runtime.kernel import Kernel, Options
from pypto.runtime.profile import Profile
from pypto.runtime.session import execute
from pypto.runtime.signature import bind
from pypto.target.soc import DEFAULT_SOC

HALF_OF_BASELINE = 2.0


def matmul(a, b):
    return a @ b


def ffn(x, w1, b1, w2, b2):
    return pypto.gelu(x @ w1 + b1) @ w2 + b2


def softmax(x):
    return pypto.softmax(x, dim=-1)


def layer_norm(x, weight, bias):
    return pypto.layer_norm(x, weight, bias)


def gelu(x):
    return pypto.gelu(x)


def swish(x):
    return pypto.swish(x)


def add(x, y):
    return x + y


def timed(
    function: Callable[..., Any], inputs: tuple[np.ndarray, ...], soc: str, level: int
) -> Profile:
    """The profile of one run that computes no values."""
    kernel = Kernel(function, Options(soc=soc, opt_level=level, use_cache=False))
    types = bind(function, inputs, {}).types
    made = kernel.compilation(types)
    return execute(
        made.executable, inputs, kernel=function.__name__, opt_level=level, timing_only=True
    ).profile


def zeros(shape: tuple[int, ...]) -> np.ndarray:
    """An array that takes no memory: of inputs only the shapes count here."""
    return np.broadcast_to(np.float16(0), shape)


def measure(
    name: str,
    function: Callable[..., Any],
    shapes: tuple[tuple[int, ...], ...],
    gain: float | None,
    settings: Mapping[str, str],
) -> Row:
    """One row; ``gain`` is how many times faster than -O0 it has to be, if at all."""
    inputs = tuple(map(zeros, shapes))
    start = time.perf_counter()
    soc = settings.get("soc", DEFAULT_SOC)
    profile = timed(function, inputs, soc, 2)
    seconds = time.perf_counter() - start
    baseline = timed(function, inputs, soc, 0)
    speedup = baseline.cycles / profile.cycles
    pipes = profile.device.pipes()
    return Row(
        name=name,
        soc=profile.device.soc.name,
        shape=[list(shape) for shape in shapes],
        dtype="float16",
        cycles=profile.cycles,
        time_us=profile.time_us,
        task_us=profile.device.task_us,
        utilization=max(pipe.utilization for pipe in pipes.values()),
        bound=profile.bound[0],
        bound_us=profile.bound_us,
        roofline_fraction=profile.roofline_fraction,
        baseline_us=baseline.time_us,
        host_seconds=seconds,
        value=speedup,
        unit="x -O0",
        bar=gain,
        ok=gain is None or speedup >= gain,
    )


def row(
    name: str,
    function: Callable[..., Any],
    *shapes: tuple[int, ...],
    gain: float | None = None,
) -> Benchmark:
    text = ", ".join("x".join(map(str, shape)) for shape in shapes)
    return Benchmark(
        name,
        f"{function.__name__} of {text}",
        partial(measure, name, function, shapes, gain),
        settings=("soc",),
    )


SUITE = (
    row("matmul512", matmul, (512, 512), (512, 512)),
    row("matmul2048", matmul, (2048, 2048), (2048, 2048)),
    row("matmul8192", matmul, (8192, 8192), (8192, 8192)),
    row("ffn", ffn, (512, 768), (768, 3072), (3072,), (3072, 768), (768,), gain=HALF_OF_BASELINE),
    row("softmax", softmax, (4096, 1024)),
    row("layer_norm", layer_norm, (4096, 1024), (1024,), (1024,)),
    row("gelu", gelu, (4096, 4096)),
    row("swish", swish, (4096, 4096)),
    row("add", add, (8192, 8192), (8192, 8192)),
)
