"""The emulator against measured silicon; ``docs/accuracy.md`` shows the result."""

from __future__ import annotations

from benchmarks.silicon.add import ADD, SCALAR_ADD
from benchmarks.silicon.attention import ATTENTION
from benchmarks.silicon.bank import BANK
from benchmarks.silicon.conv import CONV
from benchmarks.silicon.copy import COPY
from benchmarks.silicon.gemm import GEMM
from benchmarks.silicon.l2 import L2
from benchmarks.silicon.load import LOAD
from benchmarks.silicon.mmad import MMAD
from benchmarks.silicon.repack import REPACK
from benchmarks.silicon.tile import TILE
from benchmarks.silicon.topk import TOPK
from benchmarks.silicon.vector import VECTOR
from pypto.cli.bench import Benchmark

FAMILIES = (
    MMAD,
    VECTOR,
    TILE,
    LOAD,
    BANK,
    COPY,
    L2,
    ADD,
    SCALAR_ADD,
    REPACK,
    TOPK,
    GEMM,
    CONV,
    ATTENTION,
)

SUITE: tuple[Benchmark, ...] = tuple(
    benchmark for family in FAMILIES for benchmark in family.benchmarks()
)
