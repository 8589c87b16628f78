"""The `.dvbin` file: round trips, and one clear error for every kind of damage."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from pypto.errors import DeviceError
from pypto.target.assembly import assemble
from pypto.target.container import PREAMBLE, VERSION, from_bytes, load, save, to_bytes
from pypto.target.executable import Executable
from tests.target.drawn_programs import executables
from tests.target.test_assembly import TEXT


@given(executables())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_round_trip_is_bit_for_bit(executable: Executable) -> None:
    data = to_bytes(executable)
    assert from_bytes(data) == executable
    assert to_bytes(from_bytes(data)) == data


def test_files(tmp_path: Path) -> None:
    executable = assemble(TEXT)
    save(executable, tmp_path / "double.dvbin")
    assert load(tmp_path / "double.dvbin") == executable
    with pytest.raises(DeviceError, match=r"nowhere.dvbin: cannot be read: No such file"):
        load(tmp_path / "nowhere.dvbin")


def complaint(data: bytes) -> str:
    with pytest.raises(DeviceError) as caught:
        from_bytes(data, "k.dvbin")
    assert str(caught.value).startswith("error[CONTAINER]: k.dvbin: ")
    return caught.value.message


def test_every_truncation_and_every_flipped_bit_is_noticed() -> None:
    data = to_bytes(assemble(TEXT))
    for length in range(len(data)):
        complaint(data[:length])
    draw = random.Random(1)
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << draw.randrange(8)
        complaint(bytes(flipped))
    complaint(data + b"\0")


def altered(change: object) -> bytes:
    """A file whose header was changed and whose checksum is right again."""
    data = to_bytes(assemble(TEXT))
    length = PREAMBLE.unpack_from(data)[2]
    header = json.loads(data[PREAMBLE.size : PREAMBLE.size + length])
    change(header)  # pyright: ignore[reportCallIssue]
    text = json.dumps(header).encode()
    return sealed(text, data[PREAMBLE.size + length :])


def sealed(text: bytes, rest: bytes, version: int = VERSION) -> bytes:
    magic = PREAMBLE.unpack_from(to_bytes(assemble(TEXT)))[0]
    body = text + rest
    digest = hashlib.sha256(body).digest()
    return PREAMBLE.pack(magic, version, len(text), PREAMBLE.size + len(body), digest) + body


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends at byte 0 of its preamble"),
        (b"PK\x03\x04" * 50, "no .dvbin file"),
        (sealed(b"{}", b"", version=9), "version 9, this program reads version 2 (offset 8)"),
        (sealed(b"{", b""), "header is not JSON"),
        (sealed(b"[" * 100_000, b""), "header is not JSON"),
        (sealed(b"[]", b""), "header is not a JSON object"),
        (sealed(b"{}", b""), "header field sections is not a list"),
        (altered(lambda h: h["sections"].pop()), "bytes after the last section"),
        (altered(lambda h: h["sections"][0].__setitem__(1, 10**15)), "is cut off"),
        (altered(lambda h: h["sections"][0].__setitem__(1, "9")), "field sections[1] does not"),
        (altered(lambda h: h["executable"].pop("soc")), "executable does not hold Executable"),
        (altered(lambda h: h["executable"].update(soc=3)), "executable.soc does not hold str"),
        (
            altered(lambda h: h["executable"]["steps"][0].update(grid=True)),
            "field executable.steps[0].grid does not hold int",
        ),
        (
            altered(lambda h: h["executable"]["steps"][0].update(grid=99)),
            "holds an Executable that is not valid: step 0 (double) asks for a grid of 99",
        ),
        (
            altered(lambda h: h["executable"]["programs"][0].update(core="gpu")),
            "field executable.programs[0].core does not hold CoreKind",
        ),
        (
            altered(lambda h: h["executable"]["buffers"][0].update(dtype="f99")),
            "field executable.buffers[0].dtype does not hold DType",
        ),
        (
            altered(lambda h: h["executable"]["buffers"][0]["shape"].append({"a": 1})),
            "field executable.buffers[0].shape[2] does not hold",
        ),
        (
            altered(lambda h: h["mnemonics"][0].__setitem__(0, "vfly.f16")),
            "needs the instruction vfly.f16, which is not in the table",
        ),
        (
            altered(lambda h: h["mnemonics"][0][1].__setitem__(0, "wing")),
            "has no operand wing in the table",
        ),
        (altered(lambda h: h["mnemonics"].clear()), "row 0: mnemonic"),
    ],
)
def test_damage(data: bytes, message: str) -> None:
    assert message in complaint(data)


def test_operands_are_found_by_name() -> None:
    """A file written when the table had the operands in another order, and fewer of them."""
    executable = assemble(TEXT)
    form = "vadd.f16"

    def reorder(header: dict) -> None:
        (entry,) = [one for one in header["mnemonics"] if one[0] == form]
        entry[1][1], entry[1][2] = entry[1][2], entry[1][1]
        del entry[1][4:]

    again = from_bytes(altered(reorder))
    rows, expected = again.programs[0].rows, executable.programs[0].rows.copy()
    expected[1, [5, 6]] = expected[1, [6, 5]]
    assert (rows == expected).all()
