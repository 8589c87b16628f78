"""How long the tools take on this computer: imports, cold and warm starts, compile times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import pypto
from pypto.cli.bench import Benchmark, Row
from pypto.errors import CompileError

ROOT = Path(__file__).parents[1]
SOFTMAX = str(ROOT / "examples" / "softmax.py")
FFN = str(ROOT / "examples" / "ffn.py")
TRIALS = 3
LONGER = 1.5  # times as long as before the emulator may take
BEFORE_REQUESTS = "228c0b4"  # the last commit that timed a transfer as one piece


def seconds_of(arguments: list[str], cache: str | None = None) -> float:
    """Wall seconds of a Python process."""
    environment = os.environ | ({"PYPTO_CACHE_DIR": cache} if cache else {})
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - start


def best_of(arguments: list[str], cache: str | None = None) -> float:
    return min(seconds_of(arguments, cache) for _ in range(TRIALS))


def seconds_row(name: str, value: float, bar: float) -> Row:
    return Row(name=name, host_seconds=value, value=value, unit="s", bar=bar, ok=value <= bar)


def emulation(settings: Mapping[str, str]) -> Row:
    """The emulator's time for programs that commit ``base`` compiled, over its time there."""
    base = settings.get("base", BEFORE_REQUESTS)
    with tempfile.TemporaryDirectory() as folder:
        before, programs = Path(folder) / "before", Path(folder) / "programs"
        programs.mkdir()
        git(ROOT, base, "clone", "--quiet", str(ROOT), str(before))
        git(before, base, "checkout", "--quiet", base)
        rounds = [
            (emulator_seconds(before, programs), emulator_seconds(ROOT, programs))
            for _ in range(TRIALS)
        ]
    old, new = (
        {name: min(one[i][name] for one in rounds) for name in rounds[0][i]} for i in (0, 1)
    )
    ratios = {name: new[name] / old[name] for name in new}
    worst = max(ratios, key=lambda name: ratios[name])
    total = sum(new.values()) / sum(old.values())
    return Row(
        name="emulation",
        host_seconds=sum(new.values()),
        value=ratios[worst],
        unit=f"x {base}, {worst}; all {total:.2f}",
        bar=LONGER,
        ok=ratios[worst] <= LONGER,
    )


def git(where: Path, base: str, *arguments: str) -> None:
    done = subprocess.run(
        ["git", *arguments], cwd=where, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CompileError(
            "NO_COMMIT",
            f"commit {base} cannot be checked out: {done.stderr.strip()}",
            fix="run it in a clone with history, or give base=COMMIT",
        )


def emulator_seconds(tree: Path, programs: Path) -> dict[str, float]:
    """Seconds per kernel with the package of a checkout."""
    environment = os.environ | {"PYTHONPATH": str(tree)}
    command = [sys.executable, str(Path(__file__).parent / "_emulation.py"), str(programs)]
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(output.stdout)


def import_pypto(settings: Mapping[str, str]) -> Row:
    empty = best_of(["-c", "pass"])
    return seconds_row("import", best_of(["-c", "import pypto; pypto.kernel"]) - empty, 0.4)


def cold_run(settings: Mapping[str, str]) -> Row:
    with tempfile.TemporaryDirectory() as cache:
        value = seconds_of(["-m", "pypto.cli.main", "run", SOFTMAX], cache)
    return seconds_row("cold_run", value, 20)


def warm_run(settings: Mapping[str, str]) -> Row:
    command = ["-m", "pypto.cli.main", "run", SOFTMAX, "--no-cache"]
    seconds_of(command)
    return seconds_row("warm_run", best_of(command), 1.5)


def cached_run(settings: Mapping[str, str]) -> Row:
    command = ["-m", "pypto.cli.main", "run", SOFTMAX]
    seconds_of(command)
    return seconds_row("cached_run", best_of(command), 1.0)


def compile_seconds(function, *types: object) -> tuple[float, int]:
    """Best seconds of a compilation, and the rows of all its programs."""
    kernel = pypto.kernel(function)
    kinds = kernel.argument_types(types)
    kernel.compile_anew(kinds)
    made = [kernel.compile_anew(kinds) for _ in range(TRIALS)]
    rows = sum(len(program.rows) for program in made[0].executable.programs)
    return min(one.seconds for one in made), rows


def one_operator(x):
    return pypto.exp(x)


def compile_one_operator(settings: Mapping[str, str]) -> Row:
    value, _ = compile_seconds(one_operator, np.zeros((512, 512), np.float32))
    return seconds_row("compile_one_operator", value, 0.2)


def compile_ffn(settings: Mapping[str, str]) -> Row:
    from pypto.cli.kernel_file import load_cases

    kernel = load_cases(FFN)[0].kernel
    value, _ = compile_seconds(kernel.function)
    return seconds_row("compile_ffn", value, 1.0)


def product(a, b):
    return a @ b


def matmul_types(size: int) -> tuple[object, ...]:
    from pypto.ops.types import TensorType
    from pypto.target.dtypes import F16

    return (TensorType((size, size), F16),) * 2


def ratio_row(name: str, ratio: float) -> Row:
    return Row(name=name, value=ratio, unit="8192³ / 512³", bar=1.2, ok=abs(ratio - 1) <= 0.2)


def matmul_compile_time(settings: Mapping[str, str]) -> Row:
    small, _ = compile_seconds(product, *matmul_types(512))
    large, _ = compile_seconds(product, *matmul_types(8192))
    return ratio_row("matmul_compile_time", large / small)


def matmul_program_size(settings: Mapping[str, str]) -> Row:
    _, small = compile_seconds(product, *matmul_types(512))
    _, large = compile_seconds(product, *matmul_types(8192))
    return ratio_row("matmul_program_size", large / small)


SUITE = (
    Benchmark("import", "import pypto in a new process", import_pypto),
    Benchmark("cold_run", "pyptoc run examples/softmax.py with empty caches", cold_run),
    Benchmark("warm_run", "the same with a compile, machine code cached", warm_run),
    Benchmark("cached_run", "the same from the cache", cached_run),
    Benchmark(
        "emulation", "emulate kernels, against an earlier commit", emulation, settings=("base",)
    ),
    Benchmark("compile_one_operator", "compile exp of 512x512", compile_one_operator),
    Benchmark("compile_ffn", "compile examples/ffn.py", compile_ffn),
    Benchmark("matmul_compile_time", "compile time, 8192³ over 512³", matmul_compile_time),
    Benchmark("matmul_program_size", "program rows, 8192³ over 512³", matmul_program_size),
)
