"""Reads SoC files (TOML); every mistake in one is an error that names key and limit."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pypto.errors import CompileError
from pypto.target.memory import (
    ARCHITECTURES,
    MEMORIES,
    SPACE_ALIGNMENT,
    SPACES_OF_ARCHITECTURE,
    VECTOR_REGISTER_BYTES,
    Space,
)
from pypto.target.soc import DIRECTORY, SOC_NAMES, Soc

FILE_BYTES = 2**20
BUFFER_BYTES = 2**24
BUFFER_TABLES = ("capacity", "usable")
BUFFER_KEYS = tuple(f"{title}." for title in BUFFER_TABLES)
# Kernels take memory by whole fractals in several slots, and keep some UB for themselves.
LEAST_BYTES = {
    Space.L1: 2**14,
    Space.L0A: 2**12,
    Space.L0B: 2**12,
    Space.L0C: 2**13,
    Space.UB: 2**15,
}
# The emulator holds the local memories of all cores of a kind at once.
ALL_BUFFERS_BYTES = 2**32


def read_soc(path: Path) -> Soc:
    """Reads and checks a SoC file and the files it is based on."""
    return Reader(path, ()).soc()


def read_document(path: Path) -> dict[str, Any]:
    """The TOML document of a file."""
    try:
        if path.is_dir():
            raise failure(path, "is a directory")
        with path.open("rb") as stream:
            data = stream.read(FILE_BYTES + 1)
    except OSError as error:
        raise failure(path, f"cannot be read: {error.strerror}") from error
    if len(data) > FILE_BYTES:
        raise failure(path, f"has more than {FILE_BYTES} bytes")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise failure(path, f"is not text in UTF-8: byte {error.start} is none") from error
    except ValueError as error:
        raise failure(path, f"is not TOML: {error}") from error
    except RecursionError as error:
        raise failure(path, "is not TOML: it is nested too deeply") from error


def failure(path: Path, problem: str, fix: str | None = None) -> CompileError:
    return CompileError("SOC_FILE", f"SoC file {path} {problem}", fix=fix)


def sizes(given: Mapping[Space, int]) -> dict[Space, int]:
    """The bytes of every local space, 0 for those a machine has not."""
    registers = {Space.VR: VECTOR_REGISTER_BYTES}
    return {space: given.get(space, 0) for space in MEMORIES} | registers


class Reader:
    """Turns a SoC file into a Soc; ``above`` are the files that lead to it by their ``base``.

    ``entries``: what stands for each figure by its key, ``mad_gap`` or ``capacity.ub``, in this
    file or in a base; ``inherited``: the SoC that says it, where that is a base.
    """

    def __init__(self, path: Path, above: tuple[Path, ...]) -> None:
        self.path = path
        self.above = (*above, path)
        document = read_document(path)
        self.texts = {k: v for k, v in document.items() if not isinstance(v, dict)}
        self.tables = {k: v for k, v in document.items() if isinstance(v, dict)}
        self.entries: dict[str, Any] = {}
        self.inherited: dict[str, str] = {}
        self.sources = {f"capacity.{Space.VR}": "[V] asc-devkit GetCmpMask: 128 bits"}

    def soc(self) -> Soc:
        name = self.text("name")
        base = self.base()
        own = self.own_entries()
        if base is not None:
            self.entries = base.entries
            self.inherited = dict.fromkeys(base.entries, base.text("name")) | base.inherited
            self.texts.setdefault("architecture", base.text("architecture"))
        self.entries |= own
        architecture = self.text("architecture")
        if architecture not in ARCHITECTURES:
            known = ", ".join(ARCHITECTURES)
            raise self.failure(f"says architecture = {architecture!r}; known: {known}")
        self.refuse(self.texts.keys() - {"name", "architecture", "base"})
        for key in own:
            self.inherited.pop(key, None)
        capacity = self.buffers("capacity", architecture)
        usable = capacity | self.buffers("usable", architecture, capacity)
        values = self.figures(architecture)
        soc = Soc(
            name=name,
            architecture=architecture,
            **values,
            capacity=sizes(capacity),
            usable=sizes(usable),
            sources=self.sources,
            inherited={k: v for k, v in self.inherited.items() if k in self.sources},
        )
        self.check_together(soc)
        return soc

    def base(self) -> Reader | None:
        """The file whose figures hold where this one says nothing, read and checked."""
        if "base" not in self.texts:
            return None
        text = self.text("base")
        if text.lower() in SOC_NAMES:
            path = DIRECTORY / f"{text.lower()}.toml"
        elif text.lower().endswith(".toml"):
            path = self.path.parent / text
        else:
            raise self.failure(
                f"says base = {text!r}, which is neither a SoC nor a .toml file",
                f"name one of {', '.join(SOC_NAMES)}, or the path of a file from where this one is",
            )
        if path.resolve() in map(Path.resolve, self.above):
            chain = " -> ".join(map(str, (*self.above, path)))
            raise self.failure(f"is its own base: {chain}", "take one base away")
        base = Reader(path, self.above)
        base.soc()
        return base

    def own_entries(self) -> dict[str, Any]:
        """What this file says of figures, by their keys."""
        entries: dict[str, Any] = {}
        for title, table in self.tables.items():
            if title in BUFFER_TABLES:
                entries |= {f"{title}.{name}": entry for name, entry in table.items()}
                continue
            if set(table) == {"value", "source"}:
                raise self.failure(f"gives {title} outside a table such as [cores]")
            twice = sorted(entries.keys() & table.keys())
            if twice:
                raise self.failure(f"says {twice[0]} twice, the second time in [{title}]")
            entries |= table
        return entries

    def failure(self, problem: str, fix: str | None = None) -> CompileError:
        return failure(self.path, problem, fix)

    def refuse(self, unknown: set[str]) -> None:
        if unknown:
            names = ", ".join(sorted(unknown))
            raise self.failure(f"has unknown keys: {names}", "remove or rename them")

    def text(self, key: str) -> str:
        value = self.texts.get(key)
        if not isinstance(value, str) or not value:
            raise self.failure(f"lacks {key}, a string")
        return value

    def figures(self, architecture: str) -> dict[str, Any]:
        """The numbers of all tables but those of the buffers."""
        wanted = {f.name: f for f in fields(Soc) if f.metadata}
        buffers = {key for key in self.entries if key.startswith(BUFFER_KEYS)}
        self.refuse(self.entries.keys() - wanted.keys() - buffers)
        values: dict[str, Any] = {}
        for name, wish in wanted.items():
            homes = wish.metadata["architectures"]
            if architecture not in homes:
                self.refuse_foreign(name, architecture, homes)
                values[name] = 0
                continue
            if name not in self.entries:
                raise self.failure(f"lacks {name}")
            kinds = (int, float) if wish.type == "float" else (int,)
            low, high = wish.metadata["low"], wish.metadata["high"]
            values[name] = self.figure(name, kinds, low, high)
        return values

    def refuse_foreign(self, key: str, architecture: str, homes: tuple[str, ...]) -> None:
        """Refuses a key of this file that the architecture has no use for."""
        if key in self.entries and key not in self.inherited:
            raise self.failure(
                f"says {key}, which architecture {architecture} has not;"
                f" only {', '.join(homes)} has it",
                "remove it",
            )

    def buffers(
        self, title: str, architecture: str, limits: Mapping[Space, int] | None = None
    ) -> dict[Space, int]:
        """The bytes of every local memory; with ``limits`` (of a capacity) none need be given."""
        sizes: dict[Space, int] = {}
        known = {f"{title}.{space}" for space in MEMORIES}
        unknown = sorted(k for k in self.entries.keys() - known if k.startswith(f"{title}."))
        if unknown:
            raise self.failure(f"has an unknown memory space: {unknown[0]}")
        for space in MEMORIES:
            key = f"{title}.{space}"
            if space not in SPACES_OF_ARCHITECTURE[architecture]:
                homes = tuple(a for a in ARCHITECTURES if space in SPACES_OF_ARCHITECTURE[a])
                self.refuse_foreign(key, architecture, homes)
            elif key in self.entries:
                unit = SPACE_ALIGNMENT[space]
                least = LEAST_BYTES.get(space, unit)
                size = self.figure(key, (int,), least, BUFFER_BYTES)
                if size % unit:
                    raise self.failure(f"says {key} = {size}; it must be a multiple of {unit}")
                if limits is not None and size > limits[space]:
                    limit = f"the capacity {limits[space]}"
                    raise self.failure(f"says {key} = {size}, above {limit}")
                sizes[space] = int(size)
            elif limits is None:
                raise self.failure(f"lacks {key}")
        return sizes

    def figure(self, name: str, kinds: tuple[type, ...], low: int, high: int) -> int | float:
        entry = self.entries[name]
        if not isinstance(entry, dict) or set(entry) != {"value", "source"}:
            raise self.failure(f'must say {name} = {{ value = …, source = "…" }}')
        value, source = entry["value"], entry["source"]
        if not isinstance(source, str) or not source:
            raise self.failure(f"gives no source for {name}")
        if isinstance(value, bool) or not isinstance(value, kinds):
            kind = "a number" if float in kinds else "an integer"
            raise self.failure(f"says {name} = {value!r}; it must be {kind}")
        if not low <= value <= high:
            raise self.failure(f"says {name} = {value}; it must lie in {low}..{high}")
        self.sources[name] = source
        return value

    def check_together(self, soc: Soc) -> None:
        """Rules between figures."""
        if soc.reserved_event_ids >= soc.event_ids:
            raise self.failure(
                f"says reserved_event_ids = {soc.reserved_event_ids} of event_ids ="
                f" {soc.event_ids}; at least one must be left to programs"
            )
        pairs = (("cube_cores", "vector_cores"), ("gm_port_cube", "gm_port_vector"))
        for first, second in pairs if soc.is_coupled else ():
            one, other = getattr(soc, first), getattr(soc, second)
            if one != other:
                raise self.failure(
                    f"says {first} = {one} and {second} = {other}; a core of architecture"
                    f" {soc.architecture} is both, so they must be equal"
                )
        held = max(soc.cube_cores, soc.vector_cores) * sum(
            soc.capacity[space] for space in MEMORIES
        )
        if held > ALL_BUFFERS_BYTES:
            raise self.failure(
                f"describes cores with {held} bytes of local memory in all;"
                f" the emulator holds at most {ALL_BUFFERS_BYTES}"
            )
