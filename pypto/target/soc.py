"""SoC descriptions: plain numbers read from TOML files, every figure beside its source."""

from __future__ import annotations

import tomllib
from collections import namedtuple
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pypto.errors import CompileError
from pypto.target.memory import BLOCK_BYTES, LOCAL_SPACES, REPEAT_BYTES, Space

DIRECTORY = Path(__file__).parent / "socs"
SOC_NAMES: tuple[str, ...] = tuple(sorted(path.stem for path in DIRECTORY.glob("*.toml")))
DEFAULT_SOC = "ascend910b1"
ARCHITECTURES = ("2201",)


def figure(low: int, high: int) -> Any:
    """A number a SoC file must give, within ``low``..``high``."""
    return field(metadata={"low": low, "high": high})


@dataclass(frozen=True)
class Soc:
    """One chip. Rates are bytes per core clock cycle, per core unless said; latencies cycles."""

    name: str
    architecture: str
    clock_mhz: int = figure(1, 10_000)
    cube_cores: int = figure(1, 1024)
    vector_cores: int = figure(1, 1024)
    event_ids: int = figure(1, 64)  # per pair of pipes
    reserved_event_ids: int = figure(0, 63)  # the highest ones
    queue_depth: int = figure(1, 4096)
    scalar_issue: int = figure(1, 1000)  # cycles per dispatched instruction
    vector_repeat_bytes: int = figure(REPEAT_BYTES, REPEAT_BYTES)
    block_bytes: int = figure(BLOCK_BYTES, BLOCK_BYTES)
    hbm_bytes: int = figure(1, 2**50)
    hbm_read: int = figure(1, 2**20)  # whole chip
    hbm_mixed: int = figure(1, 2**20)  # whole chip, reads and writes together
    l2_bytes: int = figure(1, 2**40)
    l2_bandwidth: int = figure(1, 2**20)  # whole chip
    gm_port_cube: int = figure(1, 2**16)
    gm_port_vector: int = figure(1, 2**16)
    ub_to_gm: int = figure(1, 2**16)
    gm_latency_read: int = figure(0, 2**20)
    gm_latency_write: int = figure(0, 2**20)
    mte2_interval: int = figure(1, 2**16)  # between starts of two transfers
    l1_to_l0a: int = figure(1, 2**16)
    l1_to_l0b: int = figure(1, 2**16)
    load2d_latency: int = figure(0, 2**16)
    mad_head: int = figure(0, 2**16)  # start-up of a lone mad
    mad_gap: int = figure(0, 2**16)  # idle cycles between mads of a chain
    fixpipe_head: int = figure(0, 2**16)
    fixpipe_row_hundredths: int = figure(0, 2**20)  # hundredths of a cycle per row
    fixpipe_to_gm: int = figure(1, 2**16)
    launch_us: float = figure(0, 10**6)
    capacity: dict[Space, int] = field(default_factory=dict)  # bytes per core
    usable: dict[Space, int] = field(default_factory=dict)  # bytes left to programs
    sources: dict[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def numbers(self) -> SocNumbers:
        """The integers alone, as a NamedTuple that ``cycles`` and numba take."""
        return SocNumbers(*(getattr(self, name) for name in SocNumbers._fields))

    def __hash__(self) -> int:
        return hash((self.name, self.numbers))


SocNumbers = namedtuple("SocNumbers", [f.name for f in fields(Soc) if f.type == "int"])


@cache
def soc(name_or_path: str | Path = DEFAULT_SOC) -> Soc:
    """The SoC of a name (case does not matter) or of a TOML file."""
    text = str(name_or_path)
    if text.lower().endswith(".toml"):
        return read_soc(Path(text))
    name = text.lower()
    if name in SOC_NAMES:
        return read_soc(DIRECTORY / f"{name}.toml")
    notes = ()
    if name == "ascend910b":
        notes = ("ascend910b without a digit is the first generation, not the 910B1 to 910B4",)
    raise CompileError(
        "UNKNOWN_SOC",
        f"no SoC is named {text!r}",
        notes=notes,
        fix=f"name one of {', '.join(SOC_NAMES)}, or give the path of a .toml file",
    )


def read_soc(path: Path) -> Soc:
    """Reads and checks a SoC file."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise failure(path, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise failure(path, f"is not TOML: {error}") from error
    return Reader(path, document).soc()


def failure(path: Path, problem: str, fix: str | None = None) -> CompileError:
    return CompileError("SOC_FILE", f"SoC file {path} {problem}", fix=fix)


class Reader:
    """Turns a TOML document into a Soc; every problem is an error that names the key."""

    def __init__(self, path: Path, document: dict[str, Any]) -> None:
        self.path = path
        self.document = document
        self.sources: dict[str, str] = {}

    def soc(self) -> Soc:
        tables = {k: v for k, v in self.document.items() if isinstance(v, dict)}
        texts = {k: v for k, v in self.document.items() if not isinstance(v, dict)}
        capacity = self.buffers(tables.pop("capacity", {}), "capacity")
        usable = self.buffers(tables.pop("usable", {}), "usable")
        figures = {k: v for table in tables.values() for k, v in table.items()}
        for space in LOCAL_SPACES:
            if space not in capacity:
                raise failure(self.path, f"lacks capacity.{space}")
        for space, size in usable.items():
            if size > capacity[space]:
                limit = f"the capacity {capacity[space]}"
                raise failure(self.path, f"says usable.{space} = {size}, above {limit}")
        values = self.figures(figures)
        if values["reserved_event_ids"] >= values["event_ids"]:
            raise failure(self.path, "reserves all event ids: reserved_event_ids < event_ids")
        return Soc(
            name=self.text(texts, "name"),
            architecture=self.text(texts, "architecture", ARCHITECTURES),
            **values,
            capacity=capacity,
            usable=capacity | usable,
            sources=self.sources,
        )

    def text(self, texts: dict[str, Any], key: str, allowed: tuple[str, ...] = ()) -> str:
        value = texts.get(key)
        if not isinstance(value, str):
            raise failure(self.path, f"lacks {key}, a string")
        if allowed and value not in allowed:
            raise failure(self.path, f"says {key} = {value!r}; known: {', '.join(allowed)}")
        return value

    def figures(self, given: dict[str, Any]) -> dict[str, Any]:
        wanted = {f.name: f for f in fields(Soc) if f.metadata}
        unknown = sorted(given.keys() - wanted.keys())
        if unknown:
            raise failure(
                self.path, f"has unknown keys: {', '.join(unknown)}", "remove or rename them"
            )
        values = {}
        for name, wish in wanted.items():
            kinds = (int, float) if wish.type == "float" else (int,)
            if name not in given:
                raise failure(self.path, f"lacks {name}")
            low, high = wish.metadata["low"], wish.metadata["high"]
            values[name] = self.figure(name, given[name], kinds, low, high)
        return values

    def buffers(self, table: dict[str, Any], section: str) -> dict[Space, int]:
        sizes = {}
        for key, entry in table.items():
            if key not in LOCAL_SPACES:
                raise failure(self.path, f"has an unknown memory space: {section}.{key}")
            sizes[Space(key)] = self.figure(f"{section}.{key}", entry, (int,), 0, 2**40)
        return sizes

    def figure(
        self, name: str, entry: Any, kinds: tuple[type, ...], low: int, high: int
    ) -> int | float:
        if not isinstance(entry, dict) or set(entry) != {"value", "source"}:
            raise failure(self.path, f'must say {name} = {{ value = …, source = "…" }}')
        value, source = entry["value"], entry["source"]
        if not isinstance(source, str) or not source:
            raise failure(self.path, f"gives no source for {name}")
        if isinstance(value, bool) or not isinstance(value, kinds):
            kind = "a number" if float in kinds else "an integer"
            raise failure(self.path, f"says {name} = {value!r}; it must be {kind}")
        if not low <= value <= high:
            raise failure(self.path, f"says {name} = {value}; it must lie in {low}..{high}")
        self.sources[name] = source
        return value
