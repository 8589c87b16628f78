"""Limits of instruction fields: each broken one is an error that names field, value and limit."""

from __future__ import annotations

import pytest

from pypto.target.instructions import BY_MNEMONIC
from pypto.target.limits import LimitError, check_fields
from pypto.target.soc import soc

ADD = {"dst": 0, "src0": 0, "src1": 0}
FIXPIPE = {"dst": 0, "src": 0, "n": 16, "m": 16, "dst_stride": 16, "src_stride": 16}


@pytest.mark.parametrize(
    ("mnemonic", "values", "message"),
    [
        ("vadd.f16", ADD | {"repeat": 256}, r"vadd\.f16: repeat = 256; .* 0\.\.255"),
        ("vadd.f16", ADD | {"src0_repeat": 256}, r"src0_repeat = 256; .* 0\.\.255"),
        ("vadd.f16", ADD | {"dst_block": 0}, r"dst_block = 0; .* 1\.\.255"),
        ("vadd.f16", ADD | {"src1": 16}, "src1 = 16; .* a multiple of 32"),
        ("vadd.f16", ADD | {"dst": 196608 - 224}, "dst = 196384; .* ub ends at byte 196608"),
        ("vadd.f16", ADD | {"mask_mode": 2}, r"mask_mode = 2; .* 0\.\.1"),
        ("vcmpv_eq.f16", ADD | {"repeat": -1}, r"repeat = -1; .* 0\.\.255"),
        ("vcadd.f32", {"dst": 6, "src": 0}, "dst = 6; .* a multiple of 4"),
        ("vcgadd.f16", {"dst": 8, "src": 0}, "dst = 8; .* a multiple of 16"),
        (
            "copy_gm_to_ubuf_align.b32",
            {"dst": 0, "src": 0, "length": 4, "left": 9},
            r"left = 9; .* at most 8 elements \(32 bytes\)",
        ),
        (
            "copy_gm_to_ubuf_align.b8",
            {"dst": 0, "src": 0, "length": 2097152},
            r"length = 2097152; .* 0\.\.2097151",
        ),
        (
            "load_cbuf_to_ca.b32",
            {"dst": 0, "src": 0, "repeat": 1, "transpose": 1},
            "transpose = 1; .* only two-byte elements",
        ),
        (
            "load_cbuf_to_cb.b16",
            {"dst": 65536 - 512, "src": 0, "repeat": 2},
            "dst = 65024; .* l0b ends at byte 65536, the access ends at 66048",
        ),
        (
            "mad.f16",
            {"c": 512, "a": 0, "b": 0, "m": 1, "k": 1, "n": 1},
            "c = 512; .* a multiple of 1024",
        ),
        (
            "mad.f16",
            {"c": 0, "a": 0, "b": 0, "m": 1, "k": 4096, "n": 1},
            r"k = 4096; .* 0\.\.4095",
        ),
        (
            "mad.bf16",
            {"c": 0, "a": 0, "b": 0, "m": 1, "k": 1, "n": 1, "k_align": 1},
            "k_align = 1; .* only f32",
        ),
        ("copy_matrix_cc_to_gm.f32", FIXPIPE | {"m": 8193}, "m = 8193; .* at most 8192"),
        ("copy_matrix_cc_to_gm.f32", FIXPIPE | {"n": 20, "nz2nd": 0}, "n = 20; .* multiple of 16"),
    ],
)
def test_a_broken_limit_is_named(mnemonic: str, values: dict[str, int], message: str) -> None:
    row = BY_MNEMONIC[mnemonic]
    with pytest.raises(LimitError, match=message):
        check_fields(row, row.family.make(**values), soc())


def test_fields_known_so_far_are_checked() -> None:
    row = BY_MNEMONIC["vadd.f32"]
    check_fields(row, {"repeat": 255}, soc())
    with pytest.raises(LimitError, match="repeat = 300"):
        check_fields(row, {"repeat": 300}, soc())


def test_an_access_that_just_fits_is_legal() -> None:
    row = BY_MNEMONIC["vadd.f16"]
    count = {"mask_mode": 1, "mask_low": 136}
    fields = row.family.make(**(ADD | count | {"dst": 196608 - 288}))
    check_fields(row, fields, soc())


def test_making_fields_names_what_is_missing() -> None:
    with pytest.raises(TypeError, match=r"missing.*src1.*unknown.*source"):
        BY_MNEMONIC["vadd.f16"].family.make(dst=0, src0=0, source=0)
