"""Which architectures have which instruction.

2201 has every row but those of ``ONLY_1001``; 1001 has what ``ON_1001`` lists [V asc-devkit
dav_c100 and the support tables of the API pages].
"""

from __future__ import annotations

from functools import cache

from pypto.target.memory import ARCHITECTURES

# Name -> suffixes of its rows on 1001, the rest of the mnemonic for casts.
ON_1001: dict[str, str] = {
    **dict.fromkeys(("vadd", "vsub", "vmul", "vmax", "vmin"), "f16 f32 i32"),
    **dict.fromkeys(("vdiv", "vabs", "vexp", "vln", "vsqrt", "vrec", "vrsqrt"), "f16 f32"),
    **dict.fromkeys(("vand", "vor", "vnot"), "u16 i16"),
    **dict.fromkeys(("vrelu", "vcadd", "vcgadd", "vcgmax", "vcgmin", "vcpadd"), "f16"),
    **dict.fromkeys(("vadds", "vmuls", "vsel"), "f16 f32"),
    **dict.fromkeys((f"vcmpv_{k}" for k in ("eq", "ne", "lt", "le", "gt", "ge")), "f16 f32"),
    "vector_dup": "f16 f32 i16 u16 i32 u32",
    "copy_ubuf_to_ubuf": "b32",
    "copy_gm_to_ubuf": "b32",
    "copy_ubuf_to_gm": "b32",
    "copy_gm_to_cbuf": "b32",
    "copy_cbuf_to_ubuf": "b32",
    "copy_ubuf_to_cbuf": "b32",
    "copy_matrix_cc_to_ubuf": "f32 f32f16",
    "scatter_vnchwconv": "b8 b16",
    "vtranspose": "u16 i16",
    **dict.fromkeys(("vcmax_value_index", "vcmin_value_index"), "f16"),
    "vaxpy": "f16 f32 f32f16",
    "vsel_mode0": "f16 f32",
    "set_cmpmask": "b128",
    "load_cbuf_to_ca": "b8 b16",
    "load_cbuf_to_cb": "b8 b16",
    "load_gm_to_ca": "b16",
    "load_gm_to_cb": "b16",
    "load_gm_to_cbuf": "b16",
    "create_ca_matrix": "f16 u32",
    "create_cb_matrix": "f16 u32",
    "mad": "f16 f16f16 i8 u8 u8i8",
}
CASTS_ON_1001: dict[str, str] = {  # the rounding modes of each cast; "-": the one without a name
    "i82f16": "-",
    "u82f16": "-",
    "deq": "-",
    "f162i8": "- f c a z",
    "f162u8": "- f c a z",
    "f162i32": "r f c a z",
    "f162f32": "-",
    "f322f16": "-",
    "i322f32": "-",
    "f322i32": "r f c a z",
}
# Rows that 2201 has not.
ONLY_1001 = (
    "copy_cbuf_to_ubuf.b32",
    "copy_ubuf_to_cbuf.b32",
    "copy_matrix_cc_to_ubuf.f32",
    "copy_matrix_cc_to_ubuf.f32f16",
    "mad.f16f16",
    "mad.u8",
    "mad.u8i8",
)
# State operations that 1001 has not: it knows no counter mode, no padding copies, no f32 in the
# cube, no second form of load3d, no fixpipe, and no choice between IEEE and saturation.
STATES_ONLY_2201 = (
    "set_mask_norm",
    "set_mask_count",
    "set_mov_pad_val",
    "set_hf32",
    "set_fmatrix",
    "set_fmatrix_b",
    "set_padding",
    "set_quant_pre",
    "set_fpc",
    "set_l2_mode",
    "set_saturation",
    "set_deqscale_table",
)
# Operations between cores, which only separate cube and vector cores have.
CROSS_CORE = ("ffts_cross_core_sync", "wait_flag_dev")

# Instructions of the machines that are missing here, and why; errors name them.
NOT_MODELLED: dict[str, str] = {
    **dict.fromkeys(
        (
            "vconv_i42f16",
            *(f"vconv_f162i4{mode}" for mode in ("", "r", "f", "c", "a", "z")),
            "mad_s4",
            "load_cbuf_to_ca_s4",
            "load_cbuf_to_cb_s4",
            "load_cbuf_to_cb_transpose_s4",
            "img2colv2_cbuf_to_ca_s4",
            "copy_matrix_cc_to_gm_b4",
            "copy_matrix_cc_to_cbuf_b4",
        ),
        "its elements have 4 bits, and none of less than a byte are modelled",
    ),
    **dict.fromkeys(
        ("mad_sp", "load_cbuf_to_cb_sp"),
        "how its indices name the kept elements of a sparse matrix is not modelled",
    ),
    **dict.fromkeys(
        ("img2col_cbuf_to_ca", "img2col_cbuf_to_cb", "img2col_cbuf_to_ub"),
        "how its repeats walk channels and filters is not documented in full;"
        " img2colv2_cbuf_to_ca unfolds images on architecture 2201",
    ),
    "set_l3d_rpt": "where repeats of load3d go is not documented; issue one load3d for each",
    "set_l1_3d_size": "images that wrap round in L1 are not modelled",
    "set_nd_para": "the unit of its source stride is in conflict; drain one matrix at a time",
    "set_lrelu_alpha": "drains have plain relu only",
    "copy_vector_cc_to_ubuf": "copy_matrix_cc_to_ubuf drains whole fractals only",
    **dict.fromkeys(
        (
            "copy_matrix_cbuf_to_cc",
            "copy_matrix_ubuf_to_cc",
            "copy_vector_ubuf_to_cc",
            "broadcast_ub_to_cc",
        ),
        "values enter L0C by multiplication only",
    ),
    "vreduce": "its strides are not documented; vreducev2 keeps elements by bits, too",
}


@cache
def mnemonics_on_1001() -> frozenset[str]:
    """Every data row of 1001 by its mnemonic."""
    rows = {f"{name}.{suffix}" for name, text in ON_1001.items() for suffix in text.split()}
    casts = {
        f"vconv_{types}{mode.strip('-')}"
        for types, modes in CASTS_ON_1001.items()
        for mode in modes.split()
    }
    return frozenset(rows | casts)


def architectures_of(mnemonic: str) -> frozenset[str]:
    """The architectures that have a data row."""
    on_1001 = mnemonic in mnemonics_on_1001()
    on_2201 = mnemonic not in ONLY_1001
    return frozenset(
        architecture
        for architecture, has in zip(ARCHITECTURES, (on_2201, on_1001), strict=True)
        if has
    )
