"""SoC descriptions: plain numbers, every figure beside its source (``soc_file`` reads them)."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pypto.errors import CompileError
from pypto.target.groups import GROUP_VECTORS
from pypto.target.memory import ARCHITECTURES, BLOCK_BYTES, REPEAT_BYTES, CoreKind, Space

DIRECTORY = Path(__file__).parent / "socs"
SOC_NAMES: tuple[str, ...] = tuple(sorted(path.stem for path in DIRECTORY.glob("*.toml")))
DEFAULT_SOC = "ascend910b1"
# Products of f16 numbers that a cube adds up per cycle, 16 x 16 x 16 [V asc-devkit cube
# performance table of 2201; Hot Chips 31 for the first generation].
CUBE_PRODUCTS = 4096
DCACHE_LINE_BYTES = 64  # [V asc-devkit, hardware constraints of 2201]
COUPLED_ARCHITECTURES = ("1001", "2002")  # every core is cube and vector core at once
FIRST_GENERATION = (
    "ascend910b without a digit is a first-generation part (30 coupled cores at 900 MHz),"
    " not one of 910B1 to 910B4"
)


def figure(low: int, high: int, *architectures: str, unit: str = "bytes/cycle") -> Any:
    """A number a SoC file must give, within ``low``..``high``.

    With ``architectures`` only files of these give it; it is 0 on the others.
    """
    homes = architectures or ARCHITECTURES
    return field(metadata={"low": low, "high": high, "architectures": homes, "unit": unit})


@dataclass(frozen=True)
class Soc:
    """One chip. Rates are bytes per core clock cycle, per core unless said; latencies cycles."""

    name: str
    architecture: str
    clock_mhz: int = figure(1, 10_000, unit="MHz")
    cube_cores: int = figure(1, 1024, unit="cores")
    # The same cores as cube_cores where they are coupled.
    vector_cores: int = figure(1, 1024, unit="cores")
    event_ids: int = figure(1, 64, unit="ids")  # per pair of pipes
    reserved_event_ids: int = figure(0, 63, unit="ids")  # the highest ones
    queue_depth: int = figure(1, 4096, unit="instructions")
    scalar_issue: int = figure(1, 1000, unit="cycles")  # cycles per dispatched instruction
    # From a scalar load or store of UB to what follows.
    scalar_ub_access: int = figure(1, 2**16, unit="cycles")
    dcache_bytes: int = figure(DCACHE_LINE_BYTES, 2**24, unit="bytes")  # of the scalar unit, for GM
    # From a scalar load or store it holds to what follows.
    dcache_hit: int = figure(1, 2**16, unit="cycles")
    # From a set to the counters of others.
    cross_core_latency: int = figure(0, 2**16, "2201", unit="cycles")
    vector_repeat_bytes: int = figure(REPEAT_BYTES, REPEAT_BYTES, unit="bytes")
    block_bytes: int = figure(BLOCK_BYTES, BLOCK_BYTES, unit="bytes")
    hbm_bytes: int = figure(1, 2**50, unit="bytes")
    hbm_read: int = figure(1, 2**20)  # whole chip
    hbm_write: int = figure(1, 2**20)  # whole chip
    hbm_latency: int = figure(0, 2**20, unit="cycles")  # of a request that L2 cannot serve
    l2_bytes: int = figure(2**10, 2**34, unit="bytes")
    l2_bandwidth: int = figure(1, 2**20)  # whole chip
    l2_line_bandwidth: int = figure(1, 2**20)  # of one 512-byte line, all cores together
    l2_latency: int = figure(0, 2**20, unit="cycles")  # of a request that L2 serves
    gm_port_cube: int = figure(1, 2**16)
    gm_port_vector: int = figure(1, 2**16)  # the port of gm_port_cube where cores are coupled
    ub_to_gm: int = figure(1, 2**16)
    gm_latency_write: int = figure(0, 2**20, unit="cycles")
    request_window: int = figure(1, 256, unit="requests")  # requests of one pipe under way at once
    # Between starts of transfers.
    mte2_interval_hundredths: int = figure(1, 2**20, unit="cycles / 100")
    # Halves of L1 in which reads hold up writes; 0: not modelled.
    l1_banks: int = figure(0, 2, unit="banks")
    l1_read: int = figure(1, 2**16)  # what a half of L1 delivers
    # 32-byte interleave of UB; 0: not modelled.
    ub_bank_groups: int = figure(0, 16, unit="bank groups")
    l1_to_l0a: int = figure(1, 2**16)
    l1_to_l0b: int = figure(1, 2**16)
    load2d_latency: int = figure(0, 2**16, unit="cycles")
    fill_rate: int = figure(1, 2**16)  # of L0 and L1 with one value
    load3d_latency: int = figure(0, 2**16, "2201", "2002", unit="cycles")
    mad_head: int = figure(0, 2**16, unit="cycles")  # start-up of a lone mad
    mad_gap: int = figure(0, 2**16, unit="cycles")  # idle cycles between mads of a chain
    fixpipe_head: int = figure(0, 2**16, "2201", unit="cycles")
    fixpipe_row_hundredths: int = figure(0, 2**20, "2201", unit="cycles / 100")  # per row
    fixpipe_to_gm: int = figure(1, 2**16, "2201")
    fixpipe_to_l1: int = figure(1, 2**16, "2201", unit="elements/cycle")
    fixpipe_to_l1_latency: int = figure(0, 2**16, "2201", unit="cycles")
    l1_to_table: int = figure(1, 2**16, "2201")  # to BT and FB
    l1_to_table_latency: int = figure(0, 2**16, "2201", unit="cycles")
    l0c_to_ub: int = figure(1, 2**16, *COUPLED_ARCHITECTURES)
    l1_to_ub: int = figure(1, 2**16, *COUPLED_ARCHITECTURES)
    ub_to_l1: int = figure(1, 2**16, *COUPLED_ARCHITECTURES)
    launch_us: float = figure(0, 10**6, unit="us")
    capacity: dict[Space, int] = field(default_factory=dict)  # bytes per core; 0: no such memory
    usable: dict[Space, int] = field(default_factory=dict)  # bytes left to programs
    sources: dict[str, str] = field(default_factory=dict, compare=False)
    # The SoC whose file says a figure, where that is a base of this one's file.
    inherited: dict[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def numbers(self) -> SocNumbers:
        """The integers alone, as a NamedTuple that ``cycles`` and numba take."""
        return SocNumbers(*(getattr(self, name) for name in SocNumbers._fields))

    @property
    def is_coupled(self) -> bool:
        """Whether each core has the pipes of a cube core and of a vector core."""
        return self.architecture in COUPLED_ARCHITECTURES

    def cores(self, kind: CoreKind) -> int:
        """How many cores of a kind there are; 0 where the machine has none."""
        if self.is_coupled:
            return self.cube_cores if kind is CoreKind.AICORE else 0
        return {CoreKind.CUBE: self.cube_cores, CoreKind.VECTOR: self.vector_cores}.get(kind, 0)

    @property
    def core_groups(self) -> int:
        """How many groups of a cube core and its vector cores there are; 0 on coupled cores."""
        if self.is_coupled:
            return 0
        return min(self.cube_cores, self.vector_cores // GROUP_VECTORS)

    @property
    def peak_tflops(self) -> float:
        """What the cubes compute at most of f16: a product and a sum per multiplier and cycle."""
        return 2 * CUBE_PRODUCTS * self.cube_cores * self.clock_mhz * 1e-6

    @property
    def hbm_gb_per_second(self) -> float:
        """10^9 bytes per second that the whole chip reads from its memory."""
        return self.hbm_read * self.clock_mhz * 1e-3

    def gm_port(self, kind: CoreKind) -> int:
        """Bytes per cycle that a core of a kind reads from global memory."""
        return self.gm_port_vector if kind is CoreKind.VECTOR else self.gm_port_cube

    def core_kinds(self) -> tuple[CoreKind, ...]:
        """The kinds of cores there are."""
        return tuple(kind for kind in CoreKind if self.cores(kind))

    def __hash__(self) -> int:
        return hash((self.name, self.numbers))


SocNumbers = namedtuple("SocNumbers", [f.name for f in fields(Soc) if f.type == "int"])


@cache
def soc(name_or_path: str | Path = DEFAULT_SOC) -> Soc:
    """The SoC of a name (case does not matter) or of a TOML file."""
    from pypto.target.soc_file import read_soc

    text = str(name_or_path)
    if text.lower().endswith(".toml"):
        return read_soc(Path(text))
    name = text.lower()
    if name in SOC_NAMES:
        return read_soc(DIRECTORY / f"{name}.toml")
    raise unknown_soc(text)


@cache
def examples() -> tuple[Soc, ...]:
    """The SoC with the most cores of each architecture, the first of equals."""
    known = [soc(name) for name in SOC_NAMES]
    return tuple(
        max((one for one in known if one.architecture == a), key=lambda one: one.cube_cores)
        for a in ARCHITECTURES
    )


def unknown_soc(text: str) -> CompileError:
    """The error for a name no SoC has."""
    names = ", ".join(SOC_NAMES)
    if text.lower() == "ascend910b":
        return CompileError(
            "UNKNOWN_SOC",
            f"{text!r} is a first-generation SoC that has no description here",
            notes=(FIRST_GENERATION,),
            fix="name ascend910a, the nearest first-generation SoC, or ascend910b1 where the"
            " second generation is meant; or give the path of a .toml file",
        )
    return CompileError(
        "UNKNOWN_SOC",
        f"no SoC is named {text!r}",
        fix=f"name one of {names}, or give the path of a .toml file",
    )
