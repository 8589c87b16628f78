"""The emulator against measured silicon; ``docs/accuracy.md`` shows the result."""

from __future__ import annotations

from benchmarks.silicon.copy import COPY
from pypto.cli.bench import Benchmark

FAMILIES = (COPY,)

SUITE: tuple[Benchmark, ...] = tuple(
    benchmark for family in FAMILIES for benchmark in family.benchmarks()
)
