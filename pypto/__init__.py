"""Compile Python tensor functions to Da Vinci instruction streams and run them on an emulator.

Everything here is loaded on first use: importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypto.errors import CompileError, DeviceError, PyptoError
    from pypto.ops.types import DYNAMIC
    from pypto.runtime.kernel import Kernel, kernel
    from pypto.runtime.lazy import Tensor
    from pypto.target.dtypes import BF16 as bfloat16
    from pypto.target.dtypes import F16 as float16
    from pypto.target.dtypes import F32 as float32
    from pypto.target.dtypes import I1 as bool_
    from pypto.target.dtypes import I8 as int8
    from pypto.target.dtypes import I16 as int16
    from pypto.target.dtypes import I32 as int32
    from pypto.target.dtypes import I64 as int64
    from pypto.target.dtypes import U8 as uint8
    from pypto.target.soc import soc

__version__ = "0.1.0"
__all__ = [
    "DYNAMIC",
    "CompileError",
    "DeviceError",
    "Kernel",
    "PyptoError",
    "Tensor",
    "bfloat16",
    "bool_",
    "float16",
    "float32",
    "int8",
    "int16",
    "int32",
    "int64",
    "kernel",
    "soc",
    "uint8",
]

# Public name -> where it lives. Operators are found in the catalogue by their own name.
_PLACES = {
    "CompileError": "pypto.errors:CompileError",
    "DeviceError": "pypto.errors:DeviceError",
    "PyptoError": "pypto.errors:PyptoError",
    "DYNAMIC": "pypto.ops.types:DYNAMIC",
    "Kernel": "pypto.runtime.kernel:Kernel",
    "Tensor": "pypto.runtime.lazy:Tensor",
    "bfloat16": "pypto.target.dtypes:BF16",
    "bool_": "pypto.target.dtypes:I1",
    "float16": "pypto.target.dtypes:F16",
    "float32": "pypto.target.dtypes:F32",
    "int16": "pypto.target.dtypes:I16",
    "int32": "pypto.target.dtypes:I32",
    "int64": "pypto.target.dtypes:I64",
    "int8": "pypto.target.dtypes:I8",
    "kernel": "pypto.runtime.kernel:kernel",
    "soc": "pypto.target.soc:soc",
    "uint8": "pypto.target.dtypes:U8",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        module, _, attribute = _PLACES[name].partition(":")
        value = getattr(import_module(module), attribute)
    elif name.startswith("__"):
        raise AttributeError(f"module 'pypto' has no attribute {name!r}")
    else:
        value = import_module("pypto.runtime.lazy").operator(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *import_module("pypto.ops").OPERATORS})
