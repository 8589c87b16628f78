"""Which architectures have which instruction.

2201 has every row but those of ``NOT_ON_2201``; the coupled architectures have what
``ON_COUPLED`` and ``CASTS_ON_COUPLED`` list [V asc-devkit dav_c100 (1001), dav_m200 (2002) and the
support tables of the API pages]. A row no table names is one of 2201 alone.
"""

from __future__ import annotations

from functools import cache

from pypto.target.memory import ARCHITECTURES

COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
# Name -> suffixes of its rows on 1001.
ON_1001: dict[str, str] = {
    **dict.fromkeys(("vadd", "vsub", "vmul", "vmax", "vmin"), "f16 f32 i32"),
    **dict.fromkeys(("vdiv", "vabs", "vexp", "vln", "vsqrt", "vrec", "vrsqrt"), "f16 f32"),
    **dict.fromkeys(("vand", "vor", "vnot"), "u16 i16"),
    **dict.fromkeys(("vrelu", "vcadd", "vcgadd", "vcgmax", "vcgmin", "vcpadd"), "f16"),
    **dict.fromkeys(("vadds", "vmuls", "vsel"), "f16 f32"),
    **dict.fromkeys((f"vcmpv_{kind}" for kind in COMPARED), "f16 f32"),
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
# What 2002 has of names that 1001 lacks, or has in fewer types. Its vreduce, its sorting of
# proposals and its casts of 16-bit integers to bytes have other forms than 2201's and no rows yet.
ON_2002: dict[str, str] = ON_1001 | {
    **dict.fromkeys(("vadd", "vsub", "vmul", "vmax", "vmin"), "f16 f32 i32 i16"),
    **dict.fromkeys(("vadds", "vmuls", "vmaxs", "vmins"), "f16 f32 i32 i16"),
    **dict.fromkeys(("vlrelu", "vmadd", "vmaddrelu", "vsel_mode1"), "f16 f32"),
    **dict.fromkeys(("vcadd", "vcgadd", "vcgmax", "vcgmin", "vcpadd"), "f16 f32"),
    **dict.fromkeys(("vcmax_value_index", "vcmin_value_index"), "f16 f32"),
    **dict.fromkeys(("vcmax_index_value", "vcmin_index_value"), "f16 f32"),
    **dict.fromkeys((f"vcmp_{kind}" for kind in COMPARED), "f16 f32"),
    **dict.fromkeys((f"vcmpvs_{kind}" for kind in COMPARED), "f16 f32"),
    **dict.fromkeys(("vaddrelu", "vsubrelu"), "f16 f32 i16"),
    "vmla": "f16 f32 f32f16",
    "vrelu": "f16 f32 i32",
    "get_cmpmask": "b128",
    "scatter_vnchwconv": "b8 b16 b32",
    "vgather": "u16 u32",
    "create_cbuf_matrix": "f16 u32",
    "img2colv2_cbuf_to_ca": "b8 b16",
    "img2colv2_cbuf_to_cb": "b16",
}
ON_COUPLED = {"2002": ON_2002, "1001": ON_1001}
# Types of a cast -> its rounding modes; "-": the one without a name.
CASTS_ON_1001: dict[str, str] = {
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
CASTS_ON_2002: dict[str, str] = CASTS_ON_1001 | {
    "i162f16": "-",
    "f162i16": "r",
    "i322i16": "-",
}
CASTS_ON_COUPLED = {"2002": CASTS_ON_2002, "1001": CASTS_ON_1001}
# Rows of 2002 that end in a cast: operation and types.
FUSED_CASTS_ON_2002 = tuple(
    f"{name}_{types}"
    for name, casts in (
        ("vaddreluconv", "f162i8 f322f16 i162i8"),
        ("vsubreluconv", "f162i8 f322f16 i162i8"),
        ("vmulconv", "f162i8 f162u8"),
    )
    for types in casts.split()
)
FUSED_CASTS_ON_COUPLED = {"2002": FUSED_CASTS_ON_2002, "1001": ()}
# Rows that 2201 has not.
NOT_ON_2201 = (
    "copy_cbuf_to_ubuf.b32",
    "copy_ubuf_to_cbuf.b32",
    "copy_matrix_cc_to_ubuf.f32",
    "copy_matrix_cc_to_ubuf.f32f16",
    "mad.f16f16",
    "mad.u8",
    "mad.u8i8",
)
# Scalar operations that not every architecture has. 1001 knows no counter mode, and its load3d is
# of another form; no coupled one has padding copies, f32 in the cube, a fixpipe, groups of cores,
# or a choice between IEEE and saturation.
SCALARS_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("set_mask_norm", "set_mask_count", "set_fmatrix", "set_padding"), ("2201", "2002")
    ),
    **dict.fromkeys(
        (
            "set_mov_pad_val",
            "set_hf32",
            "set_fmatrix_b",
            "set_quant_pre",
            "set_fpc",
            "set_l2_mode",
            "set_saturation",
            "set_deqscale_table",
            "ffts_cross_core_sync",
            "wait_flag_dev",
        ),
        ("2201",),
    ),
}

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
        " img2colv2_cbuf_to_ca unfolds images on architectures 2201 and 2002",
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
def mnemonics_of(architecture: str) -> frozenset[str]:
    """Every data row of a coupled architecture by its mnemonic."""
    tables = ON_COUPLED[architecture], CASTS_ON_COUPLED[architecture]
    rows = {f"{name}.{suffix}" for name, text in tables[0].items() for suffix in text.split()}
    casts = {
        f"vconv_{types}{mode.strip('-')}"
        for types, modes in tables[1].items()
        for mode in modes.split()
    }
    return frozenset(rows | casts | {*FUSED_CASTS_ON_COUPLED[architecture]})


@cache
def architectures_of(mnemonic: str) -> frozenset[str]:
    """The architectures that have a data row."""
    return frozenset(
        architecture
        for architecture in ARCHITECTURES
        if (
            mnemonic in mnemonics_of(architecture)
            if architecture in ON_COUPLED
            else mnemonic not in NOT_ON_2201
        )
    )


def architectures_of_scalar(mnemonic: str) -> frozenset[str]:
    """The architectures that have a scalar or a state operation."""
    return frozenset(SCALARS_OF.get(mnemonic, ARCHITECTURES))
