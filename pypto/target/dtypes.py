"""Element types: one row per type, read by every level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class DType:
    """An element type: short name (``f16``), public name (``float16``), size in bytes, kind.

    ``kind`` is ``f`` (float), ``i`` (signed), ``u`` (unsigned) or ``b`` (boolean, one byte in
    global memory).
    """

    name: str
    public_name: str
    bytes: int
    kind: str

    @cached_property
    def numpy(self) -> np.dtype:
        """The NumPy dtype (ml_dtypes for ``bf16``)."""
        import numpy as np

        if self.name == "bf16":
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype("bool" if self.kind == "b" else self.public_name)

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"pypto.{self.public_name}"


F16 = DType("f16", "float16", 2, "f")
BF16 = DType("bf16", "bfloat16", 2, "f")
F32 = DType("f32", "float32", 4, "f")
I8 = DType("i8", "int8", 1, "i")
U8 = DType("u8", "uint8", 1, "u")
I16 = DType("i16", "int16", 2, "i")
I32 = DType("i32", "int32", 4, "i")
I64 = DType("i64", "int64", 8, "i")
I1 = DType("i1", "bool", 1, "b")

# Types of the machine only: instructions name them, programs have no tensors of them.
U16 = DType("u16", "uint16", 2, "u")
U32 = DType("u32", "uint32", 4, "u")

DTYPES: dict[str, DType] = {d.name: d for d in (F16, BF16, F32, I8, U8, I16, I32, I64, I1)}
FLOATS = (F16, BF16, F32)


def dtype_of(numpy_dtype: Any) -> DType | None:
    """The element type of a NumPy dtype, None when the machine has none (``float64``, ``>f4``)."""
    import numpy as np

    dtype = np.dtype(numpy_dtype)
    found = (d for d in DTYPES.values() if d.public_name == dtype.name)
    return next(found, None) if dtype.isnative else None
