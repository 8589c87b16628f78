"""What to write instead: one line of advice per Python construct a kernel cannot have."""

from __future__ import annotations

from pypto.ops import OPERATORS

BUILTIN_FIXES = {
    "print": "return the value and print it outside the kernel",
    "input": "pass the value as an argument",
    "open": "read the file outside the kernel and capture or pass the array",
    "type": "use isinstance, or x.dtype and x.shape",
    "iter": "use 'for' over a tuple, a list or a range",
    "next": "use 'for' over a tuple, a list or a range",
    "exec": "write the code out; kernels are compiled from their text",
    "eval": "write the code out; kernels are compiled from their text",
    "complex": "keep real and imaginary parts in tensors of their own",
}

# Builtins that work on tensors themselves.
TENSOR_BUILTINS = ("abs", "isinstance", "len", "pow")
_ITERATING = "a tensor has no items: take parts with pypto.split(x, parts, dim) or x[i]"
TENSOR_BUILTIN_FIXES = {
    "max": "use pypto.maximum(a, b), or pypto.max(x, dim) along an axis",
    "min": "use pypto.minimum(a, b), or pypto.min(x, dim) along an axis",
    "sum": "use pypto.sum(x, dim)",
    "float": "use x.astype(pypto.float32)",
    "int": "use x.astype(pypto.int32)",
    "bool": "compare: x != 0, and choose with pypto.where",
    "range": "use its extent: range(x.shape[0])",
    "any": "use pypto.max(condition.astype(pypto.float16), dim)",
    "all": "use pypto.min(condition.astype(pypto.float16), dim)",
    "str": "use x.shape or x.dtype in texts",
    "repr": "use x.shape or x.dtype in texts",
    "divmod": "divide with '/'",
    "round": "compute it outside the kernel",
    **dict.fromkeys(
        (
            "AssertionError", "Exception", "IndexError", "KeyError", "NotImplementedError",
            "RuntimeError", "TypeError", "ValueError",
        ),
        "use x.shape or x.dtype in texts",
    ),
}  # fmt: skip

OPERATOR_FIXES = {
    "//": "divide with '/'; there is no integer quotient on the device",
    "%": "compute remainders outside the kernel",
    "<<": "multiply by a power of two",
    ">>": "divide by a power of two with '/'",
}

STATEMENTS = {
    "While": ("while", "use 'for' over a range known while compiling"),
    "Try": ("try", "check shapes with 'if'; kernels cannot catch exceptions"),
    "TryStar": ("try", "check shapes with 'if'; kernels cannot catch exceptions"),
    "With": ("with", "move the context manager outside the kernel"),
    "Import": ("import", "import at the top of the file"),
    "ImportFrom": ("from … import", "import at the top of the file"),
    "AsyncFunctionDef": ("async def", "write it with 'def'"),
    "AsyncFor": ("async for", "use 'for'"),
    "AsyncWith": ("async with", "move the context manager outside the kernel"),
    "ClassDef": ("class", "define the class outside the kernel"),
    "Global": ("global", "return the value instead"),
    "Nonlocal": ("nonlocal", "return the value instead"),
    "Delete": ("del", "leave it out: what is not used again takes no memory"),
    "Match": ("match", "use 'if' and 'elif' on values known while compiling"),
    "TypeAlias": ("type", "define the alias outside the kernel"),
}  # fmt: skip

EXPRESSIONS = {
    "Await": ("await", "kernels are plain functions: call the function"),
    "Yield": ("yield", "return a tuple of tensors"),
    "YieldFrom": ("yield from", "return a tuple of tensors"),
    "Starred": ("*", "unpack inside a call, a tuple or a list"),
}

_OTHER_NAMES = {
    "dot": "matmul",
    "inner": "matmul",
    "fabs": "abs",
    "hstack": "concat",
    "vstack": "concat",
    "fmax": "maximum",
    "fmin": "minimum",
    "float16": "cast",
    "float32": "cast",
}


def static_builtin(name: str) -> str:
    """What to use in place of a builtin that cannot take a tensor."""
    return TENSOR_BUILTIN_FIXES.get(name, _ITERATING)


def instead_of(name: str) -> str:
    """What to use in place of a library's function of this name on a tensor."""
    found = name if name in OPERATORS and name != "reduce" else _OTHER_NAMES.get(name)
    return f"use pypto.{found}" if found else "compute it outside the kernel"
