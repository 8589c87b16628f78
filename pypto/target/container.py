"""The binary file of an Executable (`.dvbin`): a checked preamble, a JSON header, raw arrays.

Preamble, little endian: magic (8 bytes), version (u32), length of the header (u64), length of
the file (u64), SHA-256 of everything after the preamble. The header names every mnemonic with its
operands, so files outlive a growing instruction table: opcodes in stored rows are positions in
that list. Arrays follow the header in the order of its ``sections``, each a name and a length.
Nothing in a file is ever executed, and no more memory is taken than the file is long.
"""

from __future__ import annotations

import hashlib
import json
import struct
import types
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from pypto.errors import DeviceError, PyptoError
from pypto.target.dtypes import DTYPES, DType
from pypto.target.executable import Executable
from pypto.target.program import Program
from pypto.target.rows import (
    LINE_COLUMN,
    MASK_COLUMN,
    OPCODE_COLUMN,
    OPERAND_COLUMN,
    PIPE_COLUMN,
    ROW_WIDTH,
    forms,
    forms_by_opcode,
)

MAGIC = b"\x93DVBIN\r\n"
VERSION = 2
PREAMBLE = struct.Struct("<8sIQQ32s")
ROW_BYTES = ROW_WIDTH * 8


def save(executable: Executable, path: str | Path) -> None:
    """Write an Executable to a file."""
    Path(path).write_bytes(to_bytes(executable))


def load(path: str | Path) -> Executable:
    """Read an Executable from a file; a DeviceError names the file and what is wrong with it."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DeviceError("CONTAINER", f"{path}: cannot be read: {error.strerror}") from None
    return from_bytes(data, str(path))


def to_bytes(executable: Executable) -> bytes:
    """The contents of the file; equal Executables give equal bytes."""
    mnemonics = sorted(
        {
            forms_by_opcode()[opcode].mnemonic
            for program in executable.programs
            for opcode in program.rows[:, OPCODE_COLUMN].tolist()
        }
    )
    numbers = {forms()[name].opcode: i for i, name in enumerate(mnemonics)}
    arrays: list[tuple[str, bytes]] = []
    for program in executable.programs:
        rows = program.rows.astype("<i8")
        rows[:, OPCODE_COLUMN] = [numbers[opcode] for opcode in rows[:, OPCODE_COLUMN].tolist()]
        arrays.append((program.name, rows.tobytes()))
    arrays += [(key, executable.constants[key].tobytes()) for key in sorted(executable.constants)]
    header = {
        "executable": _encode(replace(executable, constants={})),
        "mnemonics": [[name, [o.name for o in forms()[name].operands]] for name in mnemonics],
        "sections": [[name, len(data)] for name, data in arrays],
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    body = b"".join([text, *(data for _, data in arrays)])
    digest = hashlib.sha256(body).digest()
    return PREAMBLE.pack(MAGIC, VERSION, len(text), PREAMBLE.size + len(body), digest) + body


def from_bytes(data: bytes, name: str = "<bytes>", *, soc: str | None = None) -> Executable:
    """The Executable in the contents of a file; ``name`` is the file's name for messages.

    ``soc`` replaces the name of the machine, where the file of a machine may have moved.
    """
    return _Reader(data, name).executable(soc)


class _Reader:
    """One file being read; every complaint names it."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name

    def fail(self, message: str, fix: str = "make the file again") -> DeviceError:
        return DeviceError("CONTAINER", f"{self.name}: {message}", fix=fix)

    def executable(self, soc: str | None = None) -> Executable:
        header, start = self.header()
        arrays = self.sections(header, start)
        plain = self.member(header, "executable", dict)
        if soc is not None:
            plain["soc"] = soc
        programs = self.member(plain, "programs", list)
        if len(arrays) < len(programs):
            raise self.fail(f"header: {len(arrays)} sections for {len(programs)} programs")
        for number, program in enumerate(programs):
            if not isinstance(program, dict):
                raise self.fail(f"header field executable.programs[{number}] is not an object")
            program["rows"] = self.rows(arrays[number][1], header, number)
        constants = arrays[len(programs) :]
        plain["constants"] = {key: np.frombuffer(raw, np.uint8) for key, raw in constants}
        executable = self.decode(Executable, plain, "executable")
        try:
            executable.validate()
        except PyptoError as error:
            raise self.fail(f"holds an Executable that is not valid: {error.message}") from error
        return executable

    def header(self) -> tuple[dict[str, Any], int]:
        """The JSON header and the offset of the first array."""
        if len(self.data) < PREAMBLE.size or not self.data.startswith(MAGIC):
            cut = MAGIC.startswith(self.data[: len(MAGIC)]) or self.data.startswith(MAGIC)
            what = f"ends at byte {len(self.data)} of its preamble" if cut else "no .dvbin file"
            raise self.fail(f"{what} (offset 0: magic)")
        _, version, length, total, digest = PREAMBLE.unpack_from(self.data)
        if version != VERSION:
            raise self.fail(f"version {version}, this program reads version {VERSION} (offset 8)")
        if total != len(self.data):
            raise self.fail(f"is {len(self.data)} bytes long, its preamble says {total}")
        if length > total - PREAMBLE.size:
            raise self.fail(f"a header of {length} bytes in a file of {total} (offset 12)")
        if hashlib.sha256(self.data[PREAMBLE.size :]).digest() != digest:
            raise self.fail(f"checksum does not match: changed after byte {PREAMBLE.size}")
        end = PREAMBLE.size + length
        try:
            header = json.loads(self.data[PREAMBLE.size : end])
        except (ValueError, RecursionError) as error:
            raise self.fail(f"header is not JSON: {error}") from None
        if not isinstance(header, dict):
            raise self.fail("header is not a JSON object")
        return header, end

    def member(self, parent: dict[str, Any], name: str, kind: type) -> Any:
        value = parent.get(name)
        if not isinstance(value, kind):
            raise self.fail(f"header field {name} is not a {kind.__name__}")
        return value

    def sections(self, header: dict[str, Any], offset: int) -> list[tuple[str, bytes]]:
        """The arrays after the header, with their names."""
        found: list[tuple[str, bytes]] = []
        for entry in self.member(header, "sections", list):
            key, size = self.decode(tuple[str, int], entry, "sections")
            if not 0 <= size <= len(self.data) - offset:
                raise self.fail(f"section {key} of {size} bytes at offset {offset} is cut off")
            found.append((key, self.data[offset : offset + size]))
            offset += size
        if offset != len(self.data):
            raise self.fail(f"{len(self.data) - offset} bytes after the last section")
        return found

    def rows(self, raw: bytes, header: dict[str, Any], number: int) -> np.ndarray:
        """Rows of one program with the opcodes and operand columns of this table."""
        if len(raw) % ROW_BYTES:
            raise self.fail(f"program {number}: {len(raw)} bytes are not whole rows")
        stored = np.frombuffer(raw, "<i8").reshape(-1, ROW_WIDTH)
        rows = np.zeros(stored.shape, np.int64)
        kinds = self.decode(
            tuple[tuple[str, tuple[str, ...]], ...], header.get("mnemonics"), "mnemonics"
        )
        for i, row in enumerate(stored.tolist()):
            opcode = row[OPCODE_COLUMN]
            if not 0 <= opcode < len(kinds):
                raise self.fail(f"program {number}, row {i}: mnemonic {opcode} of {len(kinds)}")
            rows[i] = self.row(row, *kinds[opcode])
        rows.flags.writeable = False
        return rows

    def row(self, row: list[int], mnemonic: str, names: tuple[str, ...]) -> list[int]:
        form = forms().get(mnemonic)
        if form is None:
            raise self.fail(f"needs the instruction {mnemonic}, which is not in the table")
        mask, columns = 0, [operand.default or 0 for operand in form.operands]
        for j, name in enumerate(names[: ROW_WIDTH - OPERAND_COLUMN]):
            position = form.index(name)
            if position is None:
                raise self.fail(f"{mnemonic} has no operand {name} in the table")
            columns[position] = row[OPERAND_COLUMN + j]
            mask |= (row[MASK_COLUMN] >> j & 1) << position
        columns += [0] * (ROW_WIDTH - OPERAND_COLUMN - len(columns))
        result = [form.opcode, row[PIPE_COLUMN], mask, row[LINE_COLUMN]]
        return result + columns

    def decode(self, kind: Any, value: Any, where: str) -> Any:
        """The value of an annotated type that JSON stands for."""
        origin, arguments = get_origin(kind), get_args(kind)
        wrong = self.fail(f"header field {where} does not hold {_describe(kind)}")
        if origin in (Union, types.UnionType):
            return self.decode_union(arguments, value, where, wrong)
        if origin is tuple:
            if not isinstance(value, list):
                raise wrong
            kinds = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
            if len(kinds) != len(value):
                raise wrong
            return tuple(
                self.decode(one, item, f"{where}[{i}]")
                for i, (one, item) in enumerate(zip(kinds, value, strict=True))
            )
        if kind is DType:
            if not isinstance(value, str) or value not in DTYPES:
                raise wrong
            return DTYPES[value]
        if is_dataclass(kind):
            return self.decode_dataclass(kind, value, where, wrong)
        if isinstance(kind, type) and issubclass(kind, Enum):
            if value not in [member.value for member in kind]:
                raise wrong
            return kind(value)
        if kind in (int, str, bool) and type(value) is not kind:
            raise wrong
        return value

    def decode_union(
        self, kinds: tuple[Any, ...], value: Any, where: str, wrong: DeviceError
    ) -> Any:
        if value is None and type(None) in kinds:
            return None
        keys = set(value) if isinstance(value, dict) else set()
        for kind in kinds:
            if type(value) is kind:
                return value
            if is_dataclass(kind) and kind is not DType and keys == _names(kind):
                return self.decode(kind, value, where)
            if kind is DType and isinstance(value, str):
                return self.decode(kind, value, where)
        raise wrong

    def decode_dataclass(self, kind: Any, value: Any, where: str, wrong: DeviceError) -> Any:
        if not isinstance(value, dict) or set(value) != _names(kind):
            raise wrong
        hints = get_type_hints(kind)
        return kind(
            **{
                name: self.decode(hints[name], item, f"{where}.{name}")
                for name, item in value.items()
            }
        )


def _names(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)}


def _describe(kind: Any) -> str:
    return getattr(kind, "__name__", None) or str(kind)


def _encode(value: Any) -> Any:
    """Frozen dataclasses as JSON objects; the rows of programs are left to the sections."""
    if isinstance(value, DType):
        return value.name
    if is_dataclass(value):
        names = _names(value) - ({"rows"} if isinstance(value, Program) else set())
        return {name: _encode(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return value
