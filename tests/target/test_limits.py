"""Limits of instruction fields: each broken one is an error that names field, value and limit."""

from __future__ import annotations

import pytest

from pypto.target.dtypes import F16, F32, I16
from pypto.target.instructions import BY_MNEMONIC, INSTRUCTIONS
from pypto.target.instructions.move_meaning import atomic_mode
from pypto.target.limits import NARROWED, LimitError, check_fields, refusal, state_limit
from pypto.target.soc import soc

ADD = {"dst": 0, "src0": 0, "src1": 0}
ND2NZ = {"dst": 0, "src": 0, "rows": 4, "columns": 4, "src_row_stride": 99}
LOAD3D = {
    "dst": 0, "src": 0, "step_k": 32, "step_m": 16, "channels": 32, "fmatrix": 8 | 8 << 16,
}  # fmt: skip
MAD = {"c": 0, "a": 0, "b": 0, "m": 1, "k": 1, "n": 1}
L1 = {"dst": 0, "src": 0, "n": 16, "m": 16, "dst_stride": 16, "src_stride": 16}
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
        (
            "copy_gm_to_ubuf_align.b32",
            {"dst": 0, "src": 0, "length": 6},
            "length = 6; .* a multiple of 4 bytes",
        ),
        (
            "copy_gm_to_cbuf_multi_nd2nz.b16",
            ND2NZ | {"nd_count": 2, "dst_nd_stride": 24},
            "dst_nd_stride = 24; .* a multiple of 16, the elements of 32 bytes",
        ),
        (
            "copy_gm_to_cbuf_multi_nd2nz.b16",
            ND2NZ | {"nd_count": 2, "columns": 17, "dst_row_stride": 2},
            "dst_row_stride = 2; .* 1 where several matrices have more than 16 columns",
        ),
        ("img2colv2_cbuf_to_ca.b16", LOAD3D | {"step_k": 24}, "step_k = 24; .* a multiple of 16"),
        ("img2colv2_cbuf_to_ca.b8", LOAD3D | {"channels": 16}, "channels = 16; .* multiple of 32"),
        ("img2colv2_cbuf_to_cb.b16", LOAD3D | {"step_m": 8}, "step_m = 8; .* a multiple of 16"),
        (
            "img2colv2_cbuf_to_ca.b16",
            LOAD3D | {"pos_k": 16},
            "step_k = 32; .* at most the 16 columns from pos_k on",
        ),
        (
            "img2colv2_cbuf_to_ca.b8",
            LOAD3D | {"transpose": 1},
            "transpose = 1; .* one-byte elements are not turned",
        ),
        (
            "img2colv2_cbuf_to_ca.b16",
            LOAD3D | {"filter_w": 9},
            "filter_w = 9; .* a filter that fits into the image and its borders",
        ),
        (
            "copy_matrix_cc_to_gm.req8",
            FIXPIPE | {"nz2nd": 0},
            "n = 16; .* a multiple of 32 while NZ stays NZ",
        ),
        ("copy_matrix_cc_to_cbuf.req8", L1 | {"n": 16}, "n = 16; .* multiple of 32 while NZ"),
        (
            "copy_matrix_cc_to_gm.f32",
            FIXPIPE | {"channel_split": 1},
            "channel_split = 1; .* 0 unless NZ of f32 stays NZ, without unit flag",
        ),
        ("copy_matrix_cc_to_gm.req8", FIXPIPE | {"channel_split": 1}, "channel_split = 1; .* 0"),
        (
            "copy_matrix_cc_to_gm.vreq8",
            FIXPIPE | {"words": 64},
            "words = 64; .* a multiple of 128",
        ),
        ("mad.f32", MAD | {"hf32": 4}, r"hf32 = 4; .* 0\.\.3"),
        (
            "mad_bias.f16",
            MAD | {"bias": 64, "n": 256},
            "bias = 64; .* bt ends at byte 1024, the access ends at 1088",
        ),
        ("copy_matrix_cc_to_gm.f32", FIXPIPE | {"m": 8193}, "m = 8193; .* at most 8192"),
        ("copy_matrix_cc_to_gm.f32", FIXPIPE | {"n": 20, "nz2nd": 0}, "n = 20; .* multiple of 16"),
    ],
)
def test_a_broken_limit_is_named(mnemonic: str, values: dict[str, int], message: str) -> None:
    row = BY_MNEMONIC[mnemonic]
    with pytest.raises(LimitError, match=message):
        check_fields(row, row.family.make(**values), soc())


@pytest.mark.parametrize(
    ("mnemonic", "values", "message"),
    [
        ("vadd.f16", ADD | {"mask_mode": 1}, "mask_mode = 1; .* takes 0 only"),
        ("vadd.f16", ADD | {"repeat": 0}, r"repeat = 0; .* 1\.\.255"),
        ("vconv_f162i8", {"dst": 0, "src": 0, "repeat": 0}, r"repeat = 0; .* 1\.\.255"),
        ("vmuls.f32", {"dst": 0, "src": 0, "scalar": 0, "repeat": 0}, r"repeat = 0; .* 1\.\."),
        ("vector_dup.f32", {"dst": 0, "scalar": 0, "repeat": 0}, r"repeat = 0; .* 1\.\.255"),
        ("vcadd.f16", {"dst": 0, "src": 0, "repeat": 0}, r"repeat = 0; .* 1\.\.255"),
        ("vcmpv_lt.f32", ADD | {"repeat": 0}, r"repeat = 0; .* 1\.\.255"),
        ("vsel.f32", ADD | {"repeat": 2, "mask": 0}, "repeat = 2; .* takes 1 only"),
        ("vsel.f32", ADD | {"mask": 8}, "mask = 8; .* a multiple of 16"),
        ("vcgmax.f16", {"dst": 0, "src": 0, "dst_repeat": 0}, r"dst_repeat = 0; .* 1\.\.65535"),
        (
            "copy_ubuf_to_gm.b32",
            {"dst": 0, "src": 0, "length": 1, "atomic": 2},
            "atomic = 2; .* takes 0 or 1",
        ),
        ("load_cbuf_to_cb.b16", {"dst": 0, "src": 0, "repeat": 1, "dst_gap": 1}, "takes 0 only"),
        ("mad.f16", dict.fromkeys("cabmkn", 0) | {"k_align": 1}, "k_align = 1; .* 0 only"),
        ("mad.f16", dict.fromkeys("cabmkn", 0) | {"c_source": 1}, "c_source = 1; .* 0 only"),
        (
            "copy_matrix_cc_to_ubuf.f32",
            {"dst": 262144 - 512, "src": 0, "length": 1},
            "dst = 261632; .* ub ends at byte 262144, the access ends at 262656",
        ),
        (
            "copy_matrix_cc_to_ubuf.f32",
            {"dst": 0, "src": 512, "length": 1},
            "src = 512; .* a multiple of 1024",
        ),
    ],
)
def test_a_coupled_core_takes_less(mnemonic: str, values: dict[str, int], message: str) -> None:
    row = BY_MNEMONIC[mnemonic]
    with pytest.raises(LimitError, match=message):
        check_fields(row, row.family.make(**values), soc("ascend910a"))


@pytest.mark.parametrize(
    ("mnemonic", "values", "message"),
    [
        ("vadd.f16", ADD | {"repeat": 0}, r"repeat = 0; .* 1\.\.255"),
        ("vaddrelu.i16", ADD | {"repeat": 0}, r"repeat = 0; .* 1\.\.255"),
        (
            "vgather.u16",
            {"dst": 0, "offsets": 0, "base": 0, "dst_repeat": 256},
            r"dst_repeat = 256; .* 0\.\.255",
        ),
        (
            "copy_ubuf_to_gm.b32",
            {"dst": 0, "src": 0, "length": 1, "atomic": 13},
            "atomic = 13; .* takes 0, 1, 5 or 17",
        ),
        ("mad.f16", dict.fromkeys("cabmkn", 0) | {"unit_flag": 2}, "unit_flag = 2; .* 0 only"),
    ],
)
def test_a_core_of_310p_takes_less(mnemonic: str, values: dict[str, int], message: str) -> None:
    row = BY_MNEMONIC[mnemonic]
    with pytest.raises(LimitError, match=message):
        check_fields(row, row.family.make(**values), soc("ascend310p3"))


def test_a_core_of_310p_counts_and_selects_many_repeats() -> None:
    machine = soc("ascend310p3")
    for mnemonic, values in (
        ("vadd.f16", ADD | {"mask_mode": 1, "mask_high": 0, "mask_low": 7}),
        ("vsel.f32", ADD | {"repeat": 2, "mask": 32}),
        ("load_cbuf_to_cb.b16", {"dst": 0, "src": 0, "repeat": 0, "dst_gap": 1}),
    ):
        row = BY_MNEMONIC[mnemonic]
        check_fields(row, row.family.make(**values), machine)


def test_the_mask_of_a_selection_lies_differently() -> None:
    row = BY_MNEMONIC["vsel.f16"]
    fields = row.family.make(**ADD, mask=16)
    check_fields(row, fields, soc("ascend910a"))
    with pytest.raises(LimitError, match=r"mask = 16; .* a multiple of 32"):
        check_fields(row, fields, soc())


def test_narrower_limits_name_rows_and_fields_there_are() -> None:
    for architecture, limits in NARROWED.items():
        rows = [row for row in INSTRUCTIONS if architecture in row.architectures]
        for owner, field in limits:
            named = [r for r in rows if owner in ("", r.family.name, r.op_name)]
            assert any(field == f.name for row in named for f in row.fields), (owner, field)


def test_a_refusal_says_what_has_an_instruction() -> None:
    coupled = soc("ascend910a")
    assert refusal("vadd.f16", coupled) is None
    assert refusal("set_vector_mask", coupled) is None
    assert refusal("set_mask_count", coupled) == (
        "ascend910a (architecture 1001) has no set_mask_count; ascend910b1 and ascend310p3 have it"
    )
    assert refusal("copy_matrix_cc_to_ubuf.f32", soc()) == (
        "ascend910b1 (architecture 2201) has no copy_matrix_cc_to_ubuf.f32;"
        " ascend310p3 and ascend910a have it"
    )


def test_mode_registers_have_limits() -> None:
    coupled = soc("ascend910a")
    assert state_limit("atomic", 1, coupled) is None
    assert state_limit("atomic", 2, coupled) == "0 or 1"
    assert state_limit("atomic", 2, soc()) is None
    assert state_limit("atomic", 24, soc()) == "0..23"
    assert state_limit("mask_mode", 1, coupled) == "0 only"
    inference = soc("ascend310p3")
    assert state_limit("mask_mode", 1, inference) is None
    sums = [atomic_mode("add", dtype) for dtype in (F32, F16, I16)]
    assert [n for n in range(24) if state_limit("atomic", n, inference) is None] == [0, *sums]
    assert state_limit("atomic", 2, inference) == "0, 1, 5 or 17"


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
