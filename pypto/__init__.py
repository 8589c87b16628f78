"""Compile Python tensor functions to Da Vinci instruction streams and run them on an emulator.

Everything here is loaded on first use: importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypto.errors import CompileError as CompileError
    from pypto.errors import DeviceError as DeviceError
    from pypto.errors import PyptoError as PyptoError
    from pypto.ops.activation import gelu as gelu
    from pypto.ops.activation import relu as relu
    from pypto.ops.activation import sigmoid as sigmoid
    from pypto.ops.activation import silu as silu
    from pypto.ops.activation import silu as swish
    from pypto.ops.comparison import and_ as bitwise_and
    from pypto.ops.comparison import eq as eq
    from pypto.ops.comparison import eq as equal
    from pypto.ops.comparison import ge as ge
    from pypto.ops.comparison import ge as greater_equal
    from pypto.ops.comparison import gt as greater
    from pypto.ops.comparison import gt as gt
    from pypto.ops.comparison import isnan as isnan
    from pypto.ops.comparison import le as le
    from pypto.ops.comparison import le as less_equal
    from pypto.ops.comparison import logical_and as logical_and
    from pypto.ops.comparison import logical_not as logical_not
    from pypto.ops.comparison import logical_or as logical_or
    from pypto.ops.comparison import logical_xor as logical_xor
    from pypto.ops.comparison import lt as less
    from pypto.ops.comparison import lt as lt
    from pypto.ops.comparison import ne as ne
    from pypto.ops.comparison import ne as not_equal
    from pypto.ops.comparison import not_ as bitwise_not
    from pypto.ops.comparison import not_ as invert
    from pypto.ops.comparison import or_ as bitwise_or
    from pypto.ops.comparison import select as select
    from pypto.ops.comparison import select as where
    from pypto.ops.comparison import xor as bitwise_xor
    from pypto.ops.comparison import xor as xor
    from pypto.ops.creation import arange as arange
    from pypto.ops.creation import full as full
    from pypto.ops.creation import full_like as full_like
    from pypto.ops.creation import iota as iota
    from pypto.ops.creation import ones as ones
    from pypto.ops.creation import ones_like as ones_like
    from pypto.ops.creation import zeros as zeros
    from pypto.ops.creation import zeros_like as zeros_like
    from pypto.ops.elementwise import abs_ as abs
    from pypto.ops.elementwise import abs_ as absolute
    from pypto.ops.elementwise import add as add
    from pypto.ops.elementwise import cast as astype
    from pypto.ops.elementwise import cast as cast
    from pypto.ops.elementwise import clip as clamp
    from pypto.ops.elementwise import clip as clip
    from pypto.ops.elementwise import div as div
    from pypto.ops.elementwise import div as divide
    from pypto.ops.elementwise import div as true_divide
    from pypto.ops.elementwise import max_ as maximum
    from pypto.ops.elementwise import min_ as minimum
    from pypto.ops.elementwise import mul as mul
    from pypto.ops.elementwise import mul as multiply
    from pypto.ops.elementwise import neg as neg
    from pypto.ops.elementwise import neg as negative
    from pypto.ops.elementwise import sign as sign
    from pypto.ops.elementwise import square as square
    from pypto.ops.elementwise import sub as sub
    from pypto.ops.elementwise import sub as subtract
    from pypto.ops.functions import erf as erf
    from pypto.ops.functions import exp as exp
    from pypto.ops.functions import log as log
    from pypto.ops.functions import pow_ as pow
    from pypto.ops.functions import pow_ as power
    from pypto.ops.functions import reciprocal as reciprocal
    from pypto.ops.functions import rsqrt as rsqrt
    from pypto.ops.functions import sqrt as sqrt
    from pypto.ops.functions import tanh as tanh
    from pypto.ops.linear import linear as linear
    from pypto.ops.linear import matmul as bmm
    from pypto.ops.linear import matmul as matmul
    from pypto.ops.linear import matmul as mm
    from pypto.ops.movement import broadcast as broadcast
    from pypto.ops.movement import broadcast as broadcast_to
    from pypto.ops.movement import broadcast as expand
    from pypto.ops.movement import concat as cat
    from pypto.ops.movement import concat as concat
    from pypto.ops.movement import concat as concatenate
    from pypto.ops.movement import flatten as flatten
    from pypto.ops.movement import permute as permute
    from pypto.ops.movement import reshape as reshape
    from pypto.ops.movement import reshape as view
    from pypto.ops.movement import slice_ as slice
    from pypto.ops.movement import split as split
    from pypto.ops.movement import squeeze as squeeze
    from pypto.ops.movement import stack as stack
    from pypto.ops.movement import t as t
    from pypto.ops.movement import transpose as swapaxes
    from pypto.ops.movement import transpose as transpose
    from pypto.ops.movement import unsqueeze as expand_dims
    from pypto.ops.movement import unsqueeze as unsqueeze
    from pypto.ops.normalisation import layer_norm as layer_norm
    from pypto.ops.normalisation import layer_norm as layernorm
    from pypto.ops.normalisation import rms_norm as rms_norm
    from pypto.ops.normalisation import rms_norm as rmsnorm
    from pypto.ops.normalisation import softmax as softmax
    from pypto.ops.normalisation import standardize as standardize
    from pypto.ops.reduction import amax as amax
    from pypto.ops.reduction import amax as max
    from pypto.ops.reduction import amin as amin
    from pypto.ops.reduction import amin as min
    from pypto.ops.reduction import mean as mean
    from pypto.ops.reduction import reduce as reduce
    from pypto.ops.reduction import sum_ as sum
    from pypto.ops.reduction import var as var
    from pypto.ops.types import DYNAMIC as DYNAMIC
    from pypto.ops.value import Tensor as Tensor
    from pypto.runtime.kernel import Kernel as Kernel
    from pypto.runtime.kernel import kernel as kernel
    from pypto.target.dtypes import BF16 as bfloat16
    from pypto.target.dtypes import F16 as float16
    from pypto.target.dtypes import F32 as float32
    from pypto.target.dtypes import I1 as bool_
    from pypto.target.dtypes import I8 as int8
    from pypto.target.dtypes import I16 as int16
    from pypto.target.dtypes import I32 as int32
    from pypto.target.dtypes import I64 as int64
    from pypto.target.dtypes import U8 as uint8
    from pypto.target.soc import soc as soc

__version__ = "0.1.0"

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
    elif name == "__all__":
        value = [public for public in __dir__() if not public.startswith("_")]
    elif name.startswith("__"):
        raise AttributeError(f"module 'pypto' has no attribute {name!r}")
    else:
        value = import_module("pypto.runtime.lazy").operator(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES, *import_module("pypto.ops").OPERATORS})
